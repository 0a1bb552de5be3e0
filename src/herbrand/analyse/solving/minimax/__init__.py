"""Alpha-beta search on the network of a game, for one role against all others.

The search itself, with its transposition table, is `herbrand.core.AlphaBeta`.  The parts here:

| module   | what it does                                                        |
|----------|---------------------------------------------------------------------|
| `judge`  | `LinearJudge`: the weights of a heuristic value                     |
| `search` | `AlphaBetaSearch`: iterative deepening                               |

A *value* is the role's goal times `SCALE`; proved ends are shifted by their distance, so that wins are
taken soon and losses late.  All other roles are assumed to play against the role.
"""

from __future__ import annotations
