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

from typing import TYPE_CHECKING

from herbrand.runtime.exports import exports

if TYPE_CHECKING:
    from herbrand.convert.movereader import MoveReader as MoveReader
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
    from herbrand.runtime.limits import Limits as Limits
    from herbrand.syntax import read as read

__version__ = "0.2.0.dev0"

__all__, __getattr__, __dir__ = exports(
    __name__,
    {
        "diagnostic": ("Diagnostic", "Severity"),
        "errors": ("BudgetExceeded", "GameError", "HerbrandError", "IllegalMoveError", "InvalidMoveError"),
        "game": ("Game", "load", "loads"),
        "machine.moves": ("Move",),
        "machine.state": ("State",),
        "convert.movereader": ("MoveReader",),
        "runtime.limits": ("Limits",),
        "syntax": ("read",),
    },
)
__all__ += ["__version__"]
