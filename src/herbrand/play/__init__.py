"""Players: programs that choose moves.

A player is told the game, its role and a clock, then asked for a move in one state after another.
It may be stopped at any time, from another thread, and then answers soon.  What a
player needs to know is in `interface`; players are found by name through `registry`, which other
packages extend with entry points of the group `herbrand.players`.

| name         | file              | how it chooses                                                          |
|--------------|-------------------|-------------------------------------------------------------------------|
| `legal`      | `simple`          | always the first legal move                                             |
| `random`     | `simple`          | any legal move, evenly                                                  |
| `greedy`     | `greedy`          | the move after which its goal value is best, one step ahead             |
| `montecarlo` | `montecarlo`      | the move after which random games end best                              |
| `mcts`       | `mcts`, `search/` | a tree of the moves that look best, judged by random games, with proofs |
| `alphabeta`  | `alphabeta`       | looks ahead step by step, values what it sees by what it learned        |
| `puzzle`     | `puzzle`          | for one role: the next move of a shortest plan                          |
| `solved`     | `solved`          | small games: by the value of every state                                |
| `ismcts`     | `ismcts`          | where something is hidden: by what it did and saw alone                 |
| `meta`       | `meta`            | as the player does that suits the game                                  |

`process:NAME` is the player NAME in a process of its own (`processes`).  What a player found out
before its last move is its `report`, an `PlayerReport`.
"""

from __future__ import annotations

from herbrand.play.explanation import MoveReport, PlayerReport
from herbrand.play.interface import Player
from herbrand.play.registry import PlayerInfo, make_player, players

__all__ = ["MoveReport", "Player", "PlayerInfo", "PlayerReport", "make_player", "players"]
