% Checks by the rules in game.pl, and nothing else, that evidence.pl shows the claim in claim.pl:
%
%   swipl check.pl
%
% The last two are read as terms and never run as programs.
% It prints `accepted` and exits with 0, or `refused` and a reason with 1.

:- initialization(main, main).
:- use_module(game).
:- dynamic claim/1, step/2, loop/1, states/1, choice/2, reply/3.
:- dynamic chosen/3, answered/4, seen/2, finished/2.

main :-
    (   catch(checked, refused(Reason), refuse(Reason))
    ->  writeln(accepted)
    ;   refuse(claim)
    ).

checked :-
    read_facts('claim.pl', [claim/1]),
    read_facts('evidence.pl', [step/2, loop/1, states/1, choice/2, reply/3]),
    index_evidence,
    findall(Claim, claim(Claim), Claims),
    demand(Claims = [_], one_claim),
    Claims = [Claim],
    check(Claim).

read_facts(File, Names) :-
    setup_call_cleanup(open(File, read, Stream, [encoding(utf8)]), read_facts_from(Stream, Names), close(Stream)).

read_facts_from(Stream, Names) :-
    read_term(Stream, Term, []),
    (   Term == end_of_file
    ->  true
    ;   demand((ground(Term), functor(Term, Name, Arity), memberchk(Name/Arity, Names)), no_evidence(Term)),
        assertz(Term),
        read_facts_from(Stream, Names)
    ).

refuse(Reason) :-
    format("refused: ~q~n", [Reason]),
    halt(1).

% States are sorted lists; they are looked up by a hash.
index_evidence :-
    forall(choice(State, Move), (key(State, Key, Sorted), assertz(chosen(Key, Sorted, Move)))),
    forall(reply(State, Move, Inputs), (key(State, Key, Sorted), assertz(answered(Key, Sorted, Move, Inputs)))).

key(State, Key, Sorted) :-
    sort(State, Sorted),
    term_hash(Sorted, Key).

first(State) :- initial(Fluents), sort(Fluents, State).

after(State, Inputs, Next) :- next(State, Inputs, Fluents), sort(Fluents, Next).

demand(Goal, Reason) :- ( call(Goal) -> true ; throw(refused(Reason)) ).

legal_inputs(State, Inputs) :-
    roles(Roles),
    maplist(input_of, Roles, Inputs),
    forall(member(does(Role, Move), Inputs), (legals(State, Role, Moves), memberchk(Move, Moves))).

input_of(Role, does(Role, _)).

goals_of(State, Role, Goals) :-
    values(State, Values),
    findall(Goal, member(value(Role, Goal), Values), Goals).

is_value(Goal) :- integer(Goal), Goal >= 0, Goal =< 100.

one_goal(State, Role) :- goals_of(State, Role, [Goal]), is_value(Goal).

stuck(State, Role) :- roles(Roles), member(Role, Roles), legals(State, Role, []).

% -- plays: step(Number, Inputs), from 1 ------------------------------------------------------------

check(play(Claim)) :-
    first(State),
    aggregate_all(count, step(_, _), Steps),
    play(1, Steps, State, [State], States),
    at_end(Claim, States).

play(Number, Steps, _, States, States) :- Number > Steps, !.
play(Number, Steps, State, Before, States) :-
    demand(step(Number, Inputs), no_step(Number)),
    demand(\+ terminal(State), over_before(Number)),
    demand(legal_inputs(State, Inputs), illegal(Number)),
    after(State, Inputs, Next),
    Following is Number + 1,
    play(Following, Steps, Next, [Next|Before], States).

% States come last first.
at_end(win(Role), [State|_]) :- terminal(State), goals_of(State, Role, [100]).
at_end(stuck, [State|_]) :- \+ terminal(State), once(stuck(State, _)).
at_end(no_goal, [State|_]) :- terminal(State), player(Role), \+ one_goal(State, Role), !.
at_end(cycle, States) :-
    loop(First),
    States = [State|Before],
    length(Before, Last),
    First < Last,
    reverse(States, Forwards),
    nth0(First, Forwards, State).
at_end(decrease, [State|_]) :- player(Role), \+ one_goal(State, Role), !.
at_end(decrease, [State, Before|_]) :-
    player(Role),
    goals_of(Before, Role, [Old]),
    goals_of(State, Role, [New]),
    New < Old, !.

player(Role) :- roles(Roles), member(Role, Roles), Role \== random.

% -- strategies: choice(State, Move) -----------------------------------------------------------------

check(strategy(Role, Value)) :-
    first(State),
    win_by_choices(State, Role, Value, []).

win_by_choices(State, _, _, _) :- key(State, Key, _), finished(Key, State), !.
win_by_choices(State, Role, Value, _) :-
    terminal(State), !,
    demand(goals_of(State, Role, [Value]), ends_otherwise(State)),
    finish(State).
win_by_choices(State, Role, Value, Path) :-
    demand(\+ memberchk(State, Path), recurs(State)),
    demand((key(State, Key, _), chosen(Key, State, Move)), no_choice(State)),
    demand((legals(State, Role, Moves), memberchk(Move, Moves)), illegal_choice(State, Move)),
    demand(\+ stuck(State, _), stuck(State)),
    actions(State, Actions),
    forall(
        ( member(Inputs, Actions), memberchk(does(Role, Move), Inputs) ),
        ( after(State, Inputs, Next), win_by_choices(Next, Role, Value, [State|Path]) )
    ),
    finish(State).

finish(State) :- key(State, Key, _), assertz(finished(Key, State)).

% -- moves of one side that force a goal value: choice(State, does(Role, Move)) where it has a choice ------

check(at_least(Role, Goal)) :-
    first(State),
    forced(State, [Role], at_least(Role, Goal), []).
check(less_than(Role, Goal)) :-
    roles(Roles),
    subtract(Roles, [Role, random], Others),
    first(State),
    forced(State, Others, less_than(Role, Goal), []).

forced(State, _, _, _) :- key(State, Key, _), finished(Key, State), !.
forced(State, _, Claim, _) :-
    terminal(State), !,
    demand(ends_in(Claim, State), ends_otherwise(State)),
    finish(State).
forced(State, Side, Claim, Path) :-
    demand(\+ memberchk(State, Path), recurs(State)),
    demand(\+ stuck(State, _), stuck(State)),
    actions(State, Actions),
    key(State, Key, _),
    (   chosen(Key, State, Choice)
    ->  demand(is_choice(State, Side, Choice), illegal_choice(State, Choice)),
        include(memberchk(Choice), Actions, Following)
    ;   Following = Actions
    ),
    forall(
        member(Inputs, Following),
        ( after(State, Inputs, Next), forced(Next, Side, Claim, [State|Path]) )
    ),
    finish(State).

is_choice(State, Side, does(Role, Move)) :-
    memberchk(Role, Side),
    legals(State, Role, Moves),
    memberchk(Move, Moves).

ends_in(at_least(Role, Goal), State) :- goals_of(State, Role, [Value]), is_value(Value), Value >= Goal.
ends_in(less_than(Role, Goal), State) :- goals_of(State, Role, [Value]), is_value(Value), Value < Goal.

% -- replies that keep a role from a value: reply(State, Move, Inputs) ------------------------------------

check(spoil(Role, Value)) :-
    first(State),
    spoil([State], Role, Value).

spoil([], _, _).
spoil([State|Others], Role, Value) :-
    key(State, Key, _),
    (   seen(Key, State)
    ->  spoil(Others, Role, Value)
    ;   assertz(seen(Key, State)),
        spoiled(State, Role, Value, Following),
        append(Following, Others, States),
        spoil(States, Role, Value)
    ).

spoiled(State, Role, Value, []) :-
    terminal(State), !,
    demand(\+ goals_of(State, Role, [Value]), gets_it(State)).
spoiled(State, _, _, []) :- stuck(State, _), !.
spoiled(State, Role, _, Following) :-
    legals(State, Role, Moves),
    key(State, Key, _),
    findall(
        Next,
        ( member(Move, Moves),
          demand(answered(Key, State, Move, Inputs), no_reply(State, Move)),
          demand((memberchk(does(Role, Move), Inputs), legal_inputs(State, Inputs)), illegal_reply(State, Move)),
          after(State, Inputs, Next)
        ),
        Following
    ).

% -- claims about all states -----------------------------------------------------------------------------

check(all_states(Claim)) :-
    first(State),
    explore([State], Claim),
    aggregate_all(count, seen(_, _), Count),
    findall(Number, states(Number), Numbers),
    demand(Numbers == [Count], states(Count)),
    ( Claim == no_cycle -> no_cycle(State, []) ; true ).

explore([], _).
explore([State|Others], Claim) :-
    key(State, Key, _),
    (   seen(Key, State)
    ->  explore(Others, Claim)
    ;   assertz(seen(Key, State)),
        demand(holds(Claim, State), not(Claim, State)),
        ( terminal(State) -> Following = [] ; successors(State, Following) ),
        demand(keeps(Claim, State, Following), not(Claim, State)),
        append(Following, Others, States),
        explore(States, Claim)
    ).

successors(State, States) :-
    actions(State, Actions),
    findall(Next, (member(Inputs, Actions), after(State, Inputs, Next)), States).

holds(playable, State) :- ( terminal(State) -> true ; \+ stuck(State, _) ).
holds(goals, State) :- ( terminal(State) -> forall(player(Role), one_goal(State, Role)) ; true ).
holds(monotonic, State) :- forall(player(Role), one_goal(State, Role)).
holds(below(Role, Value), State) :- ( terminal(State) -> \+ goals_of(State, Role, [Value]) ; true ).
holds(no_cycle, _).

keeps(monotonic, State, Following) :- !,
    forall(
        ( member(Next, Following), player(Role) ),
        ( goals_of(State, Role, [Old]), goals_of(Next, Role, [New]), New >= Old )
    ).
keeps(_, _, _).

no_cycle(State, _) :- key(State, Key, _), finished(Key, State), !.
no_cycle(State, Path) :-
    demand(\+ memberchk(State, Path), recurs(State)),
    ( terminal(State) -> Following = [] ; successors(State, Following) ),
    forall(member(Next, Following), no_cycle(Next, [State|Path])),
    finish(State).
