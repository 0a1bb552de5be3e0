"""What can be proved about a game: termination, playability, winnability, values, plans, automata.

Everything here works on packed states (`herbrand.simulate.expand`) or on the network of the game, and
what it finds is checked again by the rules (`replay`).  Verdicts are proved, refuted or unknown,
never guessed.

| module                          | what it gives                                                        |
|---------------------------------|----------------------------------------------------------------------|
| `verdict`, `budget`             | answers and limits, as data                                          |
| `prove`                         | `analyse`: decides properties by all means below                     |
| `explore`, `table`              | every reachable state, in a hash set; counts                         |
| `by_states`, `graph`            | verdicts from the graph of states; what a role can force             |
| `conformant`                    | winning with actions fixed beforehand                                |
| `ternary`                       | what is certain after so many steps, whatever is played              |
| `symbolic` and what it imports  | induction, bounded model checking, property-directed reachability    |
| `static`                        | playability from the text of the rules                               |
| `ranking`, `latches`            | measures of progress, fluents that change once: by these plays end   |
| `walks`, `guided`, `distance`   | random play; search for lines of play by the distance to their ends  |
| `certificates`, `replay`        | the second look, by the rules alone                                  |
| `solve`, `matrix`               | values under best play                                               |
| `by_search`, `minimax`          | values of games with too many states, by alpha-beta                  |
| `plan`                          | shortest plans of games with one role                                |
| `observe`, `tendency`           | remarks: what never matters, who chooses, what moving first is worth |
| `reachable`                     | a smaller network, for reachable states alone                        |
| `symmetry`                      | exchanges of fluents and moves that leave the rules as they are      |
| `automaton`, `automaton_svg`    | the game as Q, q0, Σ, δ, F, with exports                             |
"""
