% The module of the game stands for `@@`.
answers(State, Inputs, Question, Answers) :-
    ( State == same -> true ; @@:update_state(State) ),
    ( Inputs == [] -> true ; @@:update_inputs(Inputs) ),
    answers(Question, Answers).

answers(init, Answers) :- findall(Fluent, @@:init(Fluent), Found), sort(Found, Answers).
answers(legal(Role), Answers) :- findall(Move, @@:legal(Role, Move), Found), sort(Found, Answers).
answers(goal(Role), Answers) :- findall(Value, @@:goal(Role, Value), Found), sort(Found, Answers).
answers(sees(Role), Answers) :- findall(Percept, @@:sees(Role, Percept), Found), sort(Found, Answers).
answers(next, Answers) :- findall(Fluent, @@:next(Fluent), Found), sort(Found, Answers).
answers(terminal, Answers) :- ( @@:terminal -> Answers = [yes] ; Answers = [] ).
