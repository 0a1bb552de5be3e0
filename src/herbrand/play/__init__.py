"""Players: programs that choose moves.

A player gets the game, its role and a start clock, then selects a move in one state after another.  `stop`
may be called from another thread at any time and makes a running call return soon.  `interface` has the base
class; `registry` finds players by name, and other packages add theirs as entry points of the group
`herbrand.players`.

| name         | file              | how it chooses                                                          |
|--------------|-------------------|-------------------------------------------------------------------------|
| `legal`      | `simple`          | the first legal move                                                    |
| `random`     | `simple`          | a legal move drawn uniformly                                            |
| `greedy`     | `simple`          | the highest goal value after one step                                   |
| `montecarlo` | `montecarlo`      | flat Monte Carlo: the best mean over playouts                           |
| `mcts`       | `mcts`, `search/` | Monte-Carlo tree search, with exact proofs beside it                    |
| `alphabeta`  | `alphabeta`       | iterative-deepening alpha-beta with a learned evaluation function       |
| `puzzle`     | `puzzle`          | one role: the next move of a shortest plan                              |
| `solved`     | `solved`          | small games: the value of every state                                   |
| `learned`    | `learned`         | alpha-beta with values learned by self-play (`training/`)               |
| `ismcts`     | `ismcts`          | hidden information: tree search over information sets                   |
| `meta`       | `meta`            | picks the player that suits the game                                    |

`process:NAME` runs the player NAME in a subprocess (`processes`).  `Player.report` returns the search
statistics behind its last move as a `PlayerReport`.
"""

from __future__ import annotations

from herbrand.play.explanation import MoveReport, PlayerReport
from herbrand.play.interface import Player
from herbrand.play.registry import NoSuchPlayer, PlayerInfo, make_player, players

__all__ = ["MoveReport", "NoSuchPlayer", "Player", "PlayerInfo", "PlayerReport", "make_player", "players"]
