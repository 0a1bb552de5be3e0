%% cartprod(+S, L) is det
% S is a list of lists, so finds cartesian product for any number of players  
cartprod(S, L) :-
  findall(R, cart(S, R), L).

cart([], []).
cart([[A | _] | T], [A | R]) :-
  cart(T, R).
cart([[_ | B] | T], R) :-
  cart([B | T], R).

actions(State, Actions) :-
  findall(Role, role(Role), Roles),
  maplist(legals(State), Roles, Legals),
  cartprod(Legals, Actions).

legals(State, Role, Legals) :-
  memberchk(control(Role), State),
  marks(Role, State, [], Legals).

legals(State, Role, [does(Role, noop)]) :-
  \+memberchk(control(Role), State).

marks(_, [], Unsorted, Legals) :-
  sort(Unsorted, Legals).

marks(Control, [cell(X, Y, b)|State], Legals, Acc) :- !,
  marks(Control, State, [does(Control, mark(X, Y))|Legals], Acc).

marks(Control, [_|State], Legals, Acc) :- 
  marks(Control, State, Legals, Acc).
