"""Convert lane programs to other languages: random games as straight-line code.

    Network ──LaneProgram──→ chunks ──→ c_language

| file                 | what it does                                                                     |
|----------------------|----------------------------------------------------------------------------------|
| `chunks`             | splits a program into chunks that become functions, and reuses rows between them |
| `c_language`         | the chunks as C, with the tables that `random_games.c.in` reads                  |
| `random_games.c.in`  | the runtime for all games: seeds, statistics, the command line                   |

A writer for another language is a file like `c_language`: it writes the expressions of
`network.lanes.operation` in its own syntax, and follows the protocol of `network.lanes.Play`;
`benchmarks/interpreted.py` does so in Python.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from herbrand.convert.lanes.c_language import c_source

if TYPE_CHECKING:
    from herbrand.machine.state_machine import StateMachine

__all__ = ["c", "text"]


def text(game: StateMachine, *, program: str = "playing") -> str:
    """Return a lane program of a game as text, one operation a line: `playing` or `evaluating`."""
    from herbrand.network.lanes import LaneProgram

    return str(getattr(LaneProgram, program)(game.network))


def c(game: StateMachine) -> str:
    """Return C source that plays random games."""
    return c_source(game.network, game.name)
