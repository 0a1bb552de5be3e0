"""Solve games: values under best play, and plans that reach a goal.

Takes a game; gives values with strategies, plans, and lines of play found by guided search.  Imports
`exploration`, `invariants`, and what lies below `analyse`.

| module      | what it gives                                                              |
|-------------|----------------------------------------------------------------------------|
| `solve`     | values of all states by retrograde analysis                                |
| `matrix`    | values of matrix games in exact fractions, for simultaneous moves          |
| `value`     | `value_of`: the value of a game by whichever method gets farthest          |
| `solved_value` | what these give: bounds, best moves, and how they were proved             |
| `forcing`   | which goal values roles can force, by proof-number search in the core      |
| `certain`   | strong winnability of any game, with strategies, by `forcing`              |
| `by_search` | values of games with too many states to list, by `forcing`                 |
| `by_diagrams` | values of games whose sets of states are regular, from decision diagrams   |
| `on_disk`   | values of games larger than memory, from files of all their states          |
| `strategy`  | strategies in files, taken from proofs and replayed by the rules           |
| `minimax/`  | alpha-beta on the network, iteration by iteration                          |
| `symmetry`  | permutations of fluents and moves that preserve the rules                   |
| `plan`      | shortest plans of games with one role                                      |
| `astar`     | A* with the estimates of `invariants.estimate`                             |
| `guided`, `climb`, `aim` | search for a line of play to a state that satisfies a condition |
| `distance`  | heuristic distances to such states                                         |
| `patterns`  | beams that pattern databases guide, in games that are products of `parts`  |
"""
