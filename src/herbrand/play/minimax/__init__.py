"""The player's part of alpha-beta: values learned from the rules, and reports on moves.

The search itself is `herbrand.analyse.solving.minimax`.

| module     | what it does                                                                                  |
|------------|-----------------------------------------------------------------------------------------------|
| `learning` | the weights of a heuristic value, by regression on the ends of random and not so random games |
| `engine`   | `AlphaBeta`: the search, with reports on the moves                                            |

Sources: heuristics from the rules of a game (Kuhlmann, Dresner and Stone 2006; Clune 2007).
"""

from __future__ import annotations
