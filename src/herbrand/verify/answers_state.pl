% The module of the game stands for `@@`.
:- dynamic last/1.
last([]).

answers(same, Inputs, Question, Answers) :- !, last(State), answered(Question, State, Inputs, Answers).
answers(State, Inputs, Question, Answers) :-
    retractall(last(_)),
    assertz(last(State)),
    answered(Question, State, Inputs, Answers).

answered(init, _, _, Answers) :- @@:initial(Answers).
answered(legal(Role), State, _, Answers) :- @@:legals(State, Role, Answers).
answered(goal(Role), State, _, Answers) :-
    @@:values(State, Values),
    findall(Value, member(value(Role, Value), Values), Answers).
answered(sees(Role), State, Inputs, Answers) :- @@:percepts(State, Inputs, Role, Answers).
answered(next, State, Inputs, Answers) :- @@:next(State, Inputs, Answers).
answered(terminal, State, _, Answers) :- ( @@:terminal(State) -> Answers = [yes] ; Answers = [] ).
