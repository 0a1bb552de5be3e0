"""The exceptions herbrand raises.

*Diagnostics* (`herbrand.diagnostic`) are about the user's game: data, many at once, with
places.  *Exceptions* are about one call: raised at once, few kinds, each also a subclass of
the builtin exception that a caller would expect.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from herbrand.diagnostic import Diagnostic

__all__ = [
    "BudgetExceeded",
    "GameError",
    "HerbrandError",
    "IllegalMoveError",
    "InternalError",
    "InvalidMoveError",
    "MissingExtra",
    "MissingProgram",
    "Stopped",
    "optional_import",
]


class HerbrandError(Exception):
    """Base class of all exceptions that herbrand raises deliberately."""

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle an exception independently of the arguments of its class."""
        return _restored, (type(self), self.args), self.__dict__


def _restored(kind: type[HerbrandError], args: tuple[object, ...]) -> HerbrandError:
    error = kind.__new__(kind)
    BaseException.__init__(error, *args)
    return error


class GameError(HerbrandError, ValueError):
    """The game cannot be used for the requested operation; `diagnostics` says why."""

    def __init__(self, message: str, diagnostics: Sequence[Diagnostic] = ()) -> None:
        super().__init__(message)
        self.diagnostics: tuple[Diagnostic, ...] = tuple(diagnostics)
        """The errors that prevent it, in textual order; may be empty."""


class InvalidMoveError(HerbrandError, ValueError):
    """The text cannot be read as a move (or a fact) at all."""


class IllegalMoveError(HerbrandError, ValueError):
    """The move can be read, but is not legal for this role in this state."""


class BudgetExceeded(HerbrandError, RuntimeError):
    """A limit of `herbrand.Limits` was reached before the result was complete.

    `spent` names the exhausted limit; `reached` describes the progress up to then.
    """

    def __init__(self, spent: str, reached: str = "") -> None:
        super().__init__(f"over budget: {spent}" + (f" ({reached})" if reached else ""))
        self.spent = spent
        self.reached = reached


class Stopped(BudgetExceeded):
    """A call into the compiled core ended early: its `Stop` was set, or its deadline has passed."""

    def __init__(self, spent: str = "stopped before there was an answer", reached: str = "") -> None:
        super().__init__(spent, reached)


class ProtocolError(HerbrandError, ValueError):
    """A peer sent a malformed or oversized protocol message."""


class MissingExtra(HerbrandError, ImportError):
    """An optional library is not installed; the message names the extra to install."""

    def __init__(self, feature: str, extra: str) -> None:
        super().__init__(f"{feature} needs an optional library: pip install 'herbrand[{extra}]'")
        self.feature = feature
        self.extra = extra


@contextmanager
def optional_import(feature: str, extra: str) -> Iterator[None]:
    """Raise `MissingExtra` where an import in the block fails."""
    try:
        yield
    except ImportError as error:
        raise MissingExtra(feature, extra) from error


class MissingProgram(HerbrandError, OSError):
    """An external program is not installed; the message names it and where to get it."""

    def __init__(self, feature: str, program: str, source: str) -> None:
        super().__init__(f"{feature} needs the program `{program}`, which was not found ({source})")
        self.feature = feature
        self.program = program


class InternalError(HerbrandError, AssertionError):
    """A bug in herbrand itself.  Please report it together with the rulesheet."""

    def __init__(self, message: str) -> None:
        super().__init__(f"{message}: this is a bug in herbrand, please report it with the rulesheet")
