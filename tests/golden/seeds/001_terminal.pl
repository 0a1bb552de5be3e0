terminal(State) :- line(State, x).
terminal(State) :- line(State, o).
terminal(State) :- \+open(State).
