next(State, Inputs, Next) :-
  next_(State, Inputs, [], Next).

next_([], _, Reversed, Nexts) :-
  reverse(Reversed, Nexts).

% next(cell(M, N, x)) :- does(white, mark(M, N)), true(cell(M, N, b)).
next_([cell(M, N, b)|State], [does(white, mark(M, N)), does(black, noop)], Nexts, Acc) :-
  next_(State, [does(black, noop), does(white, mark(M, N))], [cell(M, N, x)|Nexts], Acc).

% next(cell(M, N, o)) :- does(black, mark(M, N)), true(cell(M, N, b)).
next_([cell(M, N, b)|State], [does(white, noop), does(black, mark(M, N))], Nexts, Acc) :-
  next_(State, [does(black, mark(M, N)), does(white, noop)], [cell(M, N, o)|Nexts], Acc).

% next(cell(M, N, b)) :- does(_W, mark(J, K)), true(cell(M, N, b)), (M \= J ; N \= K).
next_([cell(M, N, b)|State], Inputs, Nexts, Acc) :-
  memberchk(does(_, mark(J, K)), Inputs),
  (M \= J ; N \= K),
  next_(State, Inputs, [cell(M, N, b)|Nexts], Acc).

% next(cell(M, N, W)) :- true(cell(M, N, W)), W \= b.
next_([cell(M, N, W)|State], Inputs, Nexts, Acc) :-
  W \= b,
  next_(State, Inputs, [cell(M, N, W)|Nexts], Acc).

% next(control(white)) :- true(control(black)).
next_([control(white)|State], Inputs, Nexts, Acc) :-
  next_(State, Inputs, [control(black)|Nexts], Acc).

% next(control(black)) :- true(control(white)).
next_([control(black)|State], Inputs, Nexts, Acc) :-
  next_(State, Inputs, [control(white)|Nexts], Acc).
