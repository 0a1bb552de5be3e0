"""What one sentence knows while it is translated: its variables, types, board, and places."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from herbrand.syntax.names import fresh
from herbrand.syntax.nodes import Variable

if TYPE_CHECKING:
    from collections.abc import Container

    from herbrand.syntax.ggdl import nodes as n
    from herbrand.syntax.ggdl.report import Place
    from herbrand.syntax.nodes import Atom, Term

__all__ = ["Scope", "Work"]

_VARIABLE: Final = re.compile(r"\?(\w+)|\b(_?[A-Z]\w*)")


@dataclass(slots=True)
class Work:
    """A sentence to be translated, and the board that it belongs to."""

    number: int
    """Of the sentence of the program that it stands in."""
    sentence: n.Sentence
    surface: n.SurfaceSentence | None = None
    instance: str | None = None
    """The one board that it is about; None if it is about all boards of the surface."""
    lets: dict[str, n.Expr] = field(default_factory=dict)
    members: frozenset[tuple[str, int]] = frozenset()
    """Relations that belong to the board, with the number of arguments as written."""
    local: dict[str, Term] = field(default_factory=dict)
    """Constants of the surface."""


class Scope:
    """The names of one sentence."""

    def __init__(self, work: Work, declared: Container[str] = ()) -> None:
        self.work = work
        self.sentence = work.sentence
        self.plain = work.sentence.plain
        text = work.sentence.source.text[work.sentence.start : work.sentence.end]
        self.used = {
            (marked or plain).lower().replace("'", "_p")
            for marked, plain in _VARIABLE.findall(text)
            if marked or (self.plain and plain not in declared)
        }
        self.typed: dict[str, list[Atom]] = {}
        """For each variable the conditions that its type says."""
        self.types: dict[str, str] = {}
        """The type of a variable, where it is known."""
        self.generated: set[str] = set()
        """Variables introduced by the translation."""
        self.board: Term | None = None
        """The board that the sentence is about."""
        self.rename: dict[str, str] = {}
        """Other names for the variables of the sentence."""

    def span(self, place: Place) -> tuple[int, int]:
        """Return the offsets to report: those of the `consult` for a sentence of another file."""
        if self.sentence.imported:
            return self.sentence.imported
        return place if isinstance(place, tuple) else (place.start, place.end)

    def fresh(self, name: str, place: Place) -> Variable:
        """Make a variable that the sentence does not use."""
        new = fresh(name, self.used)
        self.generated.add(new)
        return Variable(new, None, *self.span(place))
