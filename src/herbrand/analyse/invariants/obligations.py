"""What a check of a certificate asks other programs: recorded as files that anybody can ask again."""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["Obligation", "is_recording", "record", "recording"]

_recorded: ContextVar[list[Obligation] | None] = ContextVar("obligations", default=None)


@dataclass(frozen=True, slots=True)
class Obligation:
    """A question whose answer a certificate depends on."""

    form: Literal["lp", "cnf"]
    """A logic program for clingo, or clauses in DIMACS for a SAT solver."""
    text: str
    satisfiable: bool
    """The answer."""
    means: str
    """What follows from the answer, in words."""


@contextmanager
def recording() -> Iterator[list[Obligation]]:
    """Collect the questions that are asked in the block, in this thread."""
    obligations: list[Obligation] = []
    token = _recorded.set(obligations)
    try:
        yield obligations
    finally:
        _recorded.reset(token)


def is_recording() -> bool:
    """Return whether questions are collected."""
    return _recorded.get() is not None


def record(form: Literal["lp", "cnf"], text: Callable[[], str], means: str, *, satisfiable: bool) -> None:
    """Add a question with its answer, if they are collected."""
    obligations = _recorded.get()
    if obligations is not None:
        obligations.append(Obligation(form, text(), satisfiable, means))
