% Answers queries about a game, one term a line: ask(State, Inputs, Question), `same` for the last state.
:- module(herbrand_server, [serve/0]).
:- use_module(library(lists)).

serve :-
    set_stream(user_input, encoding(utf8)),
    set_stream(user_output, encoding(utf8)),
    set_stream(user_output, buffer(full)),
    prompt(_, ''),
    repeat,
    read_term(user_input, Query, []),
    (   Query == end_of_file
    ->  !
    ;   catch(reply(Query), Error, complain(Error)),
        nl(user_output),
        flush_output(user_output),
        fail
    ).

reply(ask(State, Inputs, Question)) :-
    answers(State, Inputs, Question, Answers),
    write(ok),
    forall(member(Answer, Answers), (put_char('\t'), kif(Answer))).

complain(error(resource_error(What), _)) :- !, write('resource\t'), print(What).
complain(Error) :- message_to_codes(Error, Text), write('error\t'), write(Text).

message_to_codes(Error, Text) :-
    with_output_to(string(All), print_message_lines(current_output, '', [])),
    format(string(Text), '~q~w', [Error, All]).

kif(Term) :- compound(Term), !,
    Term =.. [Name|Arguments],
    put_char('('), write(Name),
    forall(member(Argument, Arguments), (put_char(' '), kif(Argument))),
    put_char(')').
kif(Term) :- write(Term).
