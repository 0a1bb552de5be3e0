"""The questions of a certificate check to other programs, recorded as files that can be checked again."""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["AS_CLAUSES", "Obligation", "is_only_recording", "is_recording", "record", "recording"]

AS_CLAUSES: Final = " (as clauses)"
"""Ends `Obligation.means` of a question that is asked once more, in clauses."""
_recording: ContextVar[tuple[list[Obligation], bool] | None] = ContextVar("obligations", default=None)
"""The questions so far, and whether they are answered."""


@dataclass(frozen=True, slots=True)
class Obligation:
    """A question whose answer a certificate depends on."""

    form: Literal["lp", "cnf"]
    """A logic program for clingo, or clauses in DIMACS for a SAT solver."""
    text: str
    """The question, which has to be unsatisfiable."""
    means: str
    """The conclusion if it is, in words."""
    repeats: bool = False
    """Whether it only repeats another question for another program."""


@contextmanager
def recording(*, solve: bool = True) -> Iterator[list[Obligation]]:
    """Collect the questions that are asked in the block, in this thread.

    Without `solve` nothing is answered: each question counts as unsatisfiable, as the certificate says.
    """
    obligations: list[Obligation] = []
    token = _recording.set((obligations, solve))
    try:
        yield obligations
    finally:
        _recording.reset(token)


def is_recording() -> bool:
    """Return whether questions are collected."""
    return _recording.get() is not None


def is_only_recording() -> bool:
    """Return whether questions are collected without being answered."""
    current = _recording.get()
    return current is not None and not current[1]


def record(form: Literal["lp", "cnf"], text: Callable[[], str], means: str) -> None:
    """Add a question that is unsatisfiable, if they are collected."""
    current = _recording.get()
    if current is not None:
        current[0].append(Obligation(form, text(), means))
