"""Evidence from states: exhaustive exploration, random play, and certificates that the rules check.

Takes a game; gives state spaces, lines of play, verdicts.  Imports the budgets and verdicts of
`analyse` and what lies below it.

| module         | what it gives                                                             |
|----------------|---------------------------------------------------------------------------|
| `explore`      | every reachable state with its depth and successors; perft                |
| `on_disk`      | every reachable state in sorted files, for games larger than memory       |
| `state_files`  | these files, and a journal of what is finished                            |
| `codes`        | states in as few bits as they need, and sorted sets of them               |
| `walks`        | lines of play found by random play                                        |
| `by_rules`     | the same by the rules, where there is no network                          |
| `replay`       | checks of witnesses and certificates by the rules alone                   |
| `certificates` | state sets, policies and spoilers that prove a verdict                    |
| `by_states`    | verdicts from the graph of states: what a role can force                  |
| `conformant`   | whether a role wins with actions fixed beforehand                         |
"""
