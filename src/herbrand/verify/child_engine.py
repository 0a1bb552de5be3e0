"""`ChildEngine`: what engines have in common that let a child process evaluate the rules."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING

from herbrand.errors import GameError
from herbrand.rules.interface import FluentKeys
from herbrand.rules.terms import TermTable

if TYPE_CHECKING:
    from herbrand.check.rules import Rules
    from herbrand.runtime.limits import Limits
    from herbrand.runtime.line_process import LineProcess

__all__ = ["ChildEngine"]


class ChildEngine(FluentKeys):
    """An engine (`interface.Engine`) with a child process; subclasses create it and write its queries.

    Thread-safe: one call at a time.  Every call may raise `BudgetExceeded` after `limits.seconds`; the next
    call restarts the child process.
    """

    clock = staticmethod(time.monotonic)
    """Clock for benchmarks: processor time would not include the child process."""
    in_order = False

    _child: LineProcess

    def __init__(self, rules: Rules, limits: Limits) -> None:
        if rules.errors:
            raise GameError(f"{rules.tree.source.name} has errors", rules.errors)
        self.limits = limits
        self.terms = TermTable(rules.spelling, folds_case=rules.tree.folds_case)
        self.roles = tuple(map(self.terms.intern, rules.roles))
        self._lock = RLock()
        self._state: frozenset[int] | None = None
        """The last state that the child was sent."""
        self._texts: dict[int, str] = {}
        """Terms in the syntax of the child."""
        self._numbers: dict[str, int] = {}
        self._temporary = tempfile.TemporaryDirectory(prefix="herbrand-")
        self._folder = Path(self._temporary.name)

    def close(self) -> None:
        """End the child process; the next query starts another."""
        with self._lock:
            self._child.close()
            self._state = None

    def _text(self, number: int) -> str:
        """Return a term in the syntax of the child."""
        text = self._texts.get(number)
        if text is None:
            text = self._texts[number] = self._written(number)
        return text

    def _number(self, text: str) -> int:
        number = self._numbers.get(text)
        if number is None:
            number = self._numbers[text] = self._read(text)
        return number

    def _written(self, number: int) -> str:
        """Return a term in the syntax of the child, not cached."""
        raise NotImplementedError

    def _read(self, text: str) -> int:
        """Return the number of a term in an answer, not cached."""
        raise NotImplementedError
