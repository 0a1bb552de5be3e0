% Checks by the rules in game.pl, and nothing else, that evidence.pl shows the claim in claim.pl:
%
%   swipl check.pl
%
% The last two are read as terms and never run as programs.
% It prints `accepted` and exits with 0, or `refused` and a reason with 1.

:- initialization(main, main).
:- use_module(game).
:- discontiguous check/1.
:- dynamic claim/1, step/2, loop/1, states/1, choice/2, plan/2, reply/3, possible/2, lead/3.
:- dynamic never/2, kept/1, sum/1, shortest/1, longest/1, dead/4, ahead/2.
:- dynamic chosen/3, planned/3, believed/2, answered/4, seen/2, finished/2.
:- dynamic numbered/3, edge/2, distance/2, ended/2, lasting/2, alive/2, expected/2.

main :-
    (   catch(checked, refused(Reason), refuse(Reason))
    ->  writeln(accepted)
    ;   refuse(claim)
    ).

checked :-
    read_facts('claim.pl', [claim/1]),
    read_facts('evidence.pl', [
        step/2, loop/1, states/1, choice/2, plan/2, reply/3, possible/2, lead/3,
        never/2, kept/1, sum/1, shortest/1, longest/1, dead/4, ahead/2
    ]),
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
    forall(plan(Belief, Move), (belief(Belief, States), key(States, Key, Sorted), assertz(planned(Key, Sorted, Move)))),
    forall(possible(Number, Belief), (belief(Belief, States), sort(States, Sorted), assertz(believed(Number, Sorted)))),
    forall(reply(State, Move, Inputs), (key(State, Key, Sorted), assertz(answered(Key, Sorted, Move, Inputs)))).

belief(Belief, States) :- maplist(sort, Belief, States).

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
at_end(end, [State|_]) :- terminal(State).
at_end(dead(Aim), [State|_]) :- \+ terminal(State), number_of(State, Id, _), spread([Id-State], 0), \+ target(Aim, _).
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
    actions(State, Actions),
    demand(Actions \== [], stuck(State)),
    include(memberchk(does(Role, Move)), Actions, Following),
    successors(State, Following, States),
    forall(member(Next, States), win_by_choices(Next, Role, Value, [State|Path])),
    finish(State).

finish(State) :- key(State, Key, _), assertz(finished(Key, State)).

% -- strategies of a role that does not see everything: plan(States, Move), for all states that are possible ----

check(uniform(Role, Value)) :-
    first(State),
    demand(\+ terminal(State), over),
    win_by_plan([State], Role, Value, []).

win_by_plan(Belief, _, _, _) :- key(Belief, Key, _), finished(Key, Belief), !.
win_by_plan(Belief, Role, Value, Path) :-
    demand(\+ memberchk(Belief, Path), recurs(Belief)),
    demand((key(Belief, Key, _), planned(Key, Belief, Move)), no_choice(Belief)),
    findall(Seen-Next, (member(State, Belief), goes_on(State, Role, Move, Value, Seen, Next)), Pairs),
    sort(Pairs, Sorted),
    group_pairs_by_key(Sorted, Groups),
    forall(member(_-States, Groups), win_by_plan(States, Role, Value, [Belief|Path])),
    finish(Belief).

% Each state that can follow the move and is no end, with what the role sees.
goes_on(State, Role, Move, Value, Seen, Next) :-
    demand((legals(State, Role, Moves), memberchk(Move, Moves)), illegal_choice(State, Move)),
    actions(State, Actions),
    demand(Actions \== [], stuck(State)),
    member(Inputs, Actions),
    memberchk(does(Role, Move), Inputs),
    after(State, Inputs, Next),
    (   terminal(Next)
    ->  demand(goals_of(Next, Role, [Value]), ends_otherwise(Next)),
        fail
    ;   percepts(State, Inputs, Role, Percepts),
        sort(Percepts, Seen)
    ).

% -- what such a role can be shown, so that it does not win: possible(Number, States), from 1, and
%    lead(Number, Move, Number) for each move that cannot end the game otherwise ----------------------------------

check(mislead(Role, Value)) :-
    first(State),
    demand(\+ terminal(State), over),
    demand(believed(1, [State]), no_belief(1)),
    mislead([1], Role, Value).

mislead([], _, _).
mislead([Number|Others], Role, Value) :-
    (   finished(Number, Number)
    ->  Following = []
    ;   assertz(finished(Number, Number)),
        once(believed(Number, States)),
        misled(Number, States, Role, Value, Following)
    ),
    append(Following, Others, Rest),
    mislead(Rest, Role, Value).

misled(_, States, _, _, []) :- member(State, States), stuck(State, _), !.
misled(Number, States, Role, Value, Following) :-
    common_moves(States, Role, Moves),
    findall(To, (member(Move, Moves), led(Number, States, Role, Move, Value, To)), Following).

common_moves([State], Role, Moves) :- !, legals(State, Role, Moves).
common_moves([State|States], Role, Moves) :-
    legals(State, Role, Own),
    common_moves(States, Role, Others),
    intersection(Own, Others, Moves).

led(Number, States, Role, Move, Value, To) :-
    findall(Seen-Next, (member(State, States), outcome(State, Role, Move, Value, Seen, Next)), Pairs),
    \+ memberchk(lost-_, Pairs),
    sort(Pairs, Sorted),
    group_pairs_by_key(Sorted, Groups),
    demand(lead(Number, Move, To), no_lead(Number, Move)),
    demand((believed(To, Belief), memberchk(_-Belief, Groups)), other_belief(Number, Move)).

% What the role sees, or `lost` where the game ends without the value.
outcome(State, Role, Move, Value, Seen, Next) :-
    actions(State, Actions),
    member(Inputs, Actions),
    memberchk(does(Role, Move), Inputs),
    after(State, Inputs, Next),
    (   terminal(Next)
    ->  \+ goals_of(Next, Role, [Value]),
        Seen = lost
    ;   percepts(State, Inputs, Role, Percepts),
        sort(Percepts, Seen)
    ).

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
    actions(State, Actions),
    demand(Actions \== [], stuck(State)),
    key(State, Key, _),
    (   chosen(Key, State, Choice)
    ->  demand(is_choice(State, Side, Choice), illegal_choice(State, Choice)),
        include(memberchk(Choice), Actions, Following)
    ;   Following = Actions
    ),
    successors(State, Following, States),
    forall(member(Next, States), forced(Next, Side, Claim, [State|Path])),
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
    (   Claim == no_cycle
    ->  no_cycle(State, []),
        aggregate_all(count, finished(_, _), Count)
    ;   explore([State], Claim),
        aggregate_all(count, seen(_, _), Count)
    ),
    findall(Number, states(Number), Numbers),
    demand(Numbers == [Count], states(Count)).

explore([], _).
explore([State|Others], Claim) :-
    key(State, Key, _),
    (   seen(Key, State)
    ->  explore(Others, Claim)
    ;   assertz(seen(Key, State)),
        actions_unless_over(State, Actions, IsOver),
        demand(holds(Claim, State, Actions, IsOver), not(Claim, State)),
        successors(State, Actions, Following),
        demand(keeps(Claim, State, Following), not(Claim, State)),
        append(Following, Others, States),
        explore(States, Claim)
    ).

actions_unless_over(State, [], true) :- terminal(State), !.
actions_unless_over(State, Actions, false) :- actions(State, Actions).

successors(State, Actions, States) :-
    findall(Next, (member(Inputs, Actions), after(State, Inputs, Next)), States).

% Where a role has no legal move there are no actions.
holds(playable, _, Actions, IsOver) :- ( IsOver == true -> true ; Actions \== [] ).
holds(goals, State, _, IsOver) :- ( IsOver == true -> forall(player(Role), one_goal(State, Role)) ; true ).
holds(monotonic, State, _, _) :- forall(player(Role), one_goal(State, Role)).
holds(below(Role, Value), State, _, IsOver) :- ( IsOver == true -> \+ goals_of(State, Role, [Value]) ; true ).

keeps(monotonic, State, Following) :- !,
    forall(
        ( member(Next, Following), player(Role) ),
        ( goals_of(State, Role, [Old]), goals_of(Next, Role, [New]), New >= Old )
    ).
keeps(_, _, _).

no_cycle(State, _) :- key(State, Key, _), finished(Key, State), !.
no_cycle(State, Path) :-
    demand(\+ memberchk(State, Path), recurs(State)),
    actions_unless_over(State, Actions, _),
    successors(State, Actions, Following),
    forall(member(Next, Following), no_cycle(Next, [State|Path])),
    finish(State).

% -- remarks on all states: facts of evidence.pl -----------------------------------------------------------
%
%   states(N)                there are N of them
%   never(K, state)          the percept remark(K), which game.pl adds, is seen in none
%   never(K, move)           nor after any legal joint move
%   kept(Fluent)             no step makes it false
%   sum(N)                   goal values add up to N at each end
%   shortest(N), longest(N)  steps to an end
%   dead(Aim, N, Of, Steps)  of the Of states that are not terminal, N do not lead to an end (Aim is `end`) or
%                            to one with a goal value (`value(Role, Goal)`), the nearest after so many Steps
%   ahead(Role, N)           Role alone has a choice at first, and is ahead by N hundredths of a point, on
%                            average over random play

check(remarks) :-
    first(State),
    number_of(State, Id, _),
    spread([Id-State], 0),
    aggregate_all(count, numbered(_, _, _), Count),
    findall(Number, states(Number), Numbers),
    demand(Numbers == [Count], states(Count)),
    forall((sum(Sum), ended(_, End)), demand(adds_up(End, Sum), not(sum(Sum), End))),
    forall(shortest(Steps), demand(aggregate_all(min(D), (ended(E, _), distance(E, D)), Steps), shortest(Steps))),
    forall(longest(Steps), demand(lasts(Id, Steps, []), longest(Steps))),
    forall(dead(Aim, N, Of, Steps), demand(dead_ends(Aim, N, Of, Steps), dead(Aim, N, Of, Steps))),
    forall(ahead(Role, N), demand(is_ahead(Id, State, Role, N), ahead(Role, N))).

% Visits states at a distance, then those that follow, until there are no new ones.
spread([], _) :- !.
spread(States, Distance) :-
    findall(Next, (member(Id-State, States), visited(Id, State, Distance, Next)), Following),
    Further is Distance + 1,
    spread(Following, Further).

visited(Id, State, Distance, To-Next) :-
    assertz(distance(Id, Distance)),
    demand(unseen(State, [], state), seen_in(State)),
    (   terminal(State)
    ->  demand(unseen(State, [], move), seen_in(State)),
        assertz(ended(Id, State)),
        fail
    ;   actions(State, Actions),
        member(Inputs, Actions),
        demand(unseen(State, Inputs, move), seen_after(State, Inputs)),
        after(State, Inputs, Next),
        forall((kept(Fluent), memberchk(Fluent, State)), demand(memberchk(Fluent, Next), lost(Fluent, State, Inputs))),
        number_of(Next, To, IsNew),
        assertz(edge(Id, To)),
        IsNew == true
    ).

unseen(State, Inputs, Level) :-
    (   once(never(_, Level))
    ->  roles([Observer|_]),
        percepts(State, Inputs, Observer, Percepts),
        \+ ( member(remark(K), Percepts), never(K, Level) )
    ;   true
    ).

number_of(State, Id, IsNew) :-
    key(State, Key, _),
    (   numbered(Key, State, Id)
    ->  IsNew = false
    ;   flag(states, Id, Id + 1),
        assertz(numbered(Key, State, Id)),
        IsNew = true
    ).

adds_up(State, Sum) :-
    all_goals(State, Goals),
    sum_list(Goals, Sum).

all_goals(State, Goals) :-
    forall(player(Role), one_goal(State, Role)),
    findall(Goal, (player(Role), goals_of(State, Role, [Goal])), Goals).

% lasts(Id, Steps, Path): the most steps from a state to an end; -1 if there is none.
lasts(Id, Steps, _) :- lasting(Id, Steps), !.
lasts(Id, Steps, Path) :-
    demand(\+ memberchk(Id, Path), recurs(Id)),
    ( ended(Id, _) -> Least = 0 ; Least = -1 ),
    findall(To, edge(Id, To), Followers),
    sort(Followers, Once),
    foldl(longer([Id|Path]), Once, Least, Steps),
    assertz(lasting(Id, Steps)).

longer(Path, To, Before, Steps) :-
    lasts(To, More, Path),
    ( More >= 0 -> Steps is max(Before, More + 1) ; Steps = Before ).

dead_ends(Aim, Count, Of, Steps) :-
    findall(Id, target(Aim, Id), Targets),
    mark_alive(Targets, Aim),
    aggregate_all(count, (numbered(_, _, Id), \+ ended(Id, _)), Of),
    findall(Distance, (numbered(_, _, Id), \+ ended(Id, _), \+ alive(Id, Aim), distance(Id, Distance)), Distances),
    length(Distances, Count),
    min_list(Distances, Steps).

target(end, Id) :- ended(Id, _).
target(value(Role, Goal), Id) :- ended(Id, State), goals_of(State, Role, [Goal]).

mark_alive([], _).
mark_alive([Id|Others], Aim) :-
    (   alive(Id, Aim)
    ->  mark_alive(Others, Aim)
    ;   assertz(alive(Id, Aim)),
        findall(Before, edge(Before, Id), Earlier),
        append(Earlier, Others, Rest),
        mark_alive(Rest, Aim)
    ).

is_ahead(Id, State, Role, Hundredths) :-
    findall(Player, (player(Player), legals(State, Player, [_, _|_])), [Role]),
    lasts(Id, _, []),
    expects(Id, Means),
    findall(Player, player(Player), Players),
    nth0(Place, Players, Role),
    nth0(Place, Means, Mine, Others),
    max_list(Others, Best),
    abs(100 * (Mine - Best) - Hundredths) =< 51 rdiv 100.

% expects(Id, Means): the average of each player's goal value over random play, exactly.
expects(Id, Means) :- expected(Id, Means), !.
expects(Id, Means) :-
    (   ended(Id, State)
    ->  all_goals(State, Means)
    ;   findall(To, edge(Id, To), Followers),
        maplist(expects, Followers, [First|Rows]),
        foldl(maplist(added), Rows, First, Sums),
        length(Followers, Number),
        maplist(divided(Number), Sums, Means)
    ),
    assertz(expected(Id, Means)).

added(A, B, Sum) :- Sum is A + B.

divided(Number, Sum, Mean) :- Mean is Sum rdiv Number.
