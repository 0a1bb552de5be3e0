"""`Tree`: a parsed rulesheet, in any notation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from herbrand.diagnostic import Diagnostic, Source
    from herbrand.syntax.ggdl.program import Declarations
    from herbrand.syntax.nodes import Comment, Rule

__all__ = ["Tree"]


class Tree:
    """A parsed rulesheet: statements in textual order, comments, and the diagnostics of the reader.

    Two trees are equal when their statements are.
    """

    __slots__ = ("comments", "diagnostics", "folds_case", "ggdl", "notation", "source", "statements")

    def __init__(
        self,
        statements: tuple[Rule, ...],
        source: Source,
        notation: str = "prefix",
        comments: tuple[Comment, ...] = (),
        diagnostics: tuple[Diagnostic, ...] = (),
        *,
        folds_case: bool = True,
        ggdl: Declarations | None = None,
    ) -> None:
        self.statements: Final = statements
        self.source: Final = source
        self.notation: Final = notation
        """The notation of the source: "prefix", "infix", "prolog" or "ggdl"."""
        self.comments: Final = comments
        self.folds_case: Final = folds_case
        """False only for the case-sensitive interpretation (`herbrand.syntax.case`)."""
        self.diagnostics: Final = diagnostics
        self.ggdl: Final = ggdl
        """Declarations of a GGDL text besides its rules: parameters, types, fluents."""

    def with_statements(self, statements: tuple[Rule, ...], *, folds_case: bool | None = None) -> Tree:
        """Return a copy of the tree with other statements."""
        folds = self.folds_case if folds_case is None else folds_case
        return Tree(
            statements,
            self.source,
            self.notation,
            self.comments,
            self.diagnostics,
            folds_case=folds,
            ggdl=self.ggdl,
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Tree) and self.statements == other.statements

    def __hash__(self) -> int:
        return hash(self.statements)

    def __repr__(self) -> str:
        return f"Tree({self.source.name!r}, {len(self.statements)} statements)"

    def __str__(self) -> str:
        """Canonical prefix text: one statement a line, lower case."""
        return "\n".join(map(str, self.statements))
