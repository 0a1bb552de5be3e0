"""Write the rules of a game in GDL; get a checker, a simulator, players and analyses.

    >>> import herbrand
    >>> game = herbrand.load("ticTacToe")
    >>> state = game.initial_state()
    >>> [str(move) for move in state.legal_moves("oplayer")]
    ['noop']

Importing this package loads nothing outside the standard library; each name below is
imported when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from herbrand.diagnostic import Diagnostic as Diagnostic
    from herbrand.diagnostic import Severity as Severity
    from herbrand.errors import BudgetExceeded as BudgetExceeded
    from herbrand.errors import GameError as GameError
    from herbrand.errors import HerbrandError as HerbrandError
    from herbrand.errors import IllegalMoveError as IllegalMoveError
    from herbrand.errors import InvalidMoveError as InvalidMoveError
    from herbrand.game import Game as Game
    from herbrand.game import load as load
    from herbrand.game import loads as loads
    from herbrand.machine.moves import Move as Move
    from herbrand.machine.state import State as State
    from herbrand.movereader import MoveReader as MoveReader
    from herbrand.runtime.limits import Limits as Limits
    from herbrand.syntax import read as read

__version__ = "0.1.0"

_HOME = {
    "BudgetExceeded": "herbrand.errors",
    "Diagnostic": "herbrand.diagnostic",
    "Game": "herbrand.game",
    "GameError": "herbrand.errors",
    "HerbrandError": "herbrand.errors",
    "IllegalMoveError": "herbrand.errors",
    "InvalidMoveError": "herbrand.errors",
    "Limits": "herbrand.runtime.limits",
    "Move": "herbrand.machine.moves",
    "MoveReader": "herbrand.movereader",
    "Severity": "herbrand.diagnostic",
    "State": "herbrand.machine.state",
    "load": "herbrand.game",
    "loads": "herbrand.game",
    "read": "herbrand.syntax",
}

__all__ = [  # noqa: PLE0604  # the names are strings
    *sorted(_HOME),
    "__version__",
]


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module 'herbrand' has no attribute {name!r}")
    value: object = getattr(import_module(_HOME[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
