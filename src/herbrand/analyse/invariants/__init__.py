"""Invariants of all reachable states, found on the network and proved by induction.

Takes the network of a game, as frames over a SAT solver; gives groups of fluents, sums, measures of progress
and their certificates.  Imports `exploration` for random play, and what lies below `analyse`.

| module       | what it gives                                                                     |
|--------------|-----------------------------------------------------------------------------------|
| `sat`        | a SAT solver over the literals of a circuit, with a deadline                      |
| `frames`     | states and steps of a game inside a circuit                                       |
| `groups`     | groups of fluents of which exactly one, or at most one, is true                   |
| `domains`    | transition distances within groups of fluents                                     |
| `sums`       | weighted sums that no step changes                                                |
| `parity`     | sets of fluents of which no step changes an odd number                            |
| `counters`   | groups and counters that agree with the board, proved one joint move after another |
| `sum_limits`, `wandering` | what `counters` assumes of sums, and random play that violates it        |
| `cases`      | all steps of a game, one joint move after the other                               |
| `arithmetic` | sums and comparisons of whole numbers in a circuit                                |
| `exposed`    | games in which a role sees derived atoms, so that the network has them            |
| `dependencies` | arguments of derived relations that determine others                            |
| `ranking`    | measures of progress: weighted sums that grow with every step                     |
| `latches`    | fluents that change at most once                                                  |
| `estimate`   | admissible estimates of the steps to a goal of a puzzle                            |
| `hopeless`   | conditions under which a role cannot win any more                                 |
| `loose`      | a game with fewer terminal states, which over-approximates the original           |
| `reachable`  | a smaller network, equivalent in reachable states                                |
| `induction`  | proofs that a state cannot be reached                                             |
| `invariant`, `derived`, `plain` | their certificates, checked by another solver on another encoding |
"""
