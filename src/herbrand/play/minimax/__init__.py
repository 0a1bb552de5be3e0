"""Alpha-beta for players: learned evaluation functions, and reports on moves.

The search itself is `herbrand.analyse.solving.minimax`.

| module     | what it does                                                                |
|------------|-----------------------------------------------------------------------------|
| `learning` | learns the weights of an evaluation function by regression on playouts      |
| `engine`   | `AlphaBetaEngine`: the search, with reports on the moves                    |

Sources: heuristics from the rules of a game (Kuhlmann, Dresner and Stone 2006; Clune 2007).
"""

from __future__ import annotations
