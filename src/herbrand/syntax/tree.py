"""`Tree`: a parsed rulesheet, in any notation."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from herbrand.diagnostic import Diagnostic, Source
    from herbrand.syntax.ggdl.program import Declarations
    from herbrand.syntax.nodes import Comment, Rule

__all__ = ["Skipped", "Tree"]


@dataclass(frozen=True, slots=True)
class Skipped:
    """A statement with errors that the reader could not repair."""

    start: int
    end: int
    name: str | None
    """The relation that it is about; None where that cannot be told."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Tree:
    """A parsed rulesheet: statements in textual order, comments, and the diagnostics of the reader.

    Two trees are equal when their statements are.
    """

    statements: tuple[Rule, ...]
    source: Source
    notation: str = "prefix"
    """The notation of the source: "prefix", "infix", "prolog" or "ggdl"."""
    comments: tuple[Comment, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    _: KW_ONLY
    skipped: tuple[Skipped, ...] = ()
    """Statements that are missing because of their errors, in textual order."""
    folds_case: bool = True
    """False only for the case-sensitive interpretation."""
    ggdl: Declarations | None = None
    """Declarations of a GGDL text besides its rules: parameters, types, fluents."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Tree) and self.statements == other.statements

    def __hash__(self) -> int:
        return hash(self.statements)

    def __repr__(self) -> str:
        return f"Tree({self.source.name!r}, {len(self.statements)} statements)"

    def __str__(self) -> str:
        """Canonical prefix text: one statement a line, lower case."""
        return "\n".join(map(str, self.statements))
