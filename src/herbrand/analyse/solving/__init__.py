"""Values and plans: what a game is worth under best play, and how a goal is reached.

Takes a game; gives values with strategies, plans, and lines of play found by guided search.  Imports
`exploration`, `invariants`, and what lies below `analyse`.

| module      | what it gives                                                              |
|-------------|----------------------------------------------------------------------------|
| `solve`     | values of all states by retrograde analysis                                |
| `matrix`    | values of matrix games in exact fractions, for simultaneous moves          |
| `by_search` | values of games with too many states, by alpha-beta                        |
| `minimax/`  | alpha-beta on the network, iteration by iteration                          |
| `symmetry`  | exchanges of fluents and moves that leave the rules as they are            |
| `plan`      | shortest plans of games with one role                                      |
| `astar`     | A* with the estimates of `invariants.estimate`                             |
| `guided`, `climb`, `aim` | search for a line of play to a state that satisfies a condition |
| `distance`  | heuristic distances to such states                                         |
"""
