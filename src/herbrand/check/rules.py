"""`Rules`: a checked rulesheet, the input of all later stages."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from herbrand.check.dependency import DependencyGraph
    from herbrand.check.normal import NormalForm
    from herbrand.diagnostic import Diagnostic
    from herbrand.syntax.nodes import Term
    from herbrand.syntax.tree import Tree

__all__ = ["Rules"]


class Rules:
    """A checked rulesheet.

    Created by `herbrand.check.check`, also for sheets with errors; `errors` lists what prevents
    playing it.  `str` gives the rules in normal form.
    """

    def __init__(self, tree: Tree, diagnostics: tuple[Diagnostic, ...] = ()) -> None:
        self.tree = tree
        self.diagnostics = diagnostics
        """All diagnostics of the reader and the checks, in textual order."""

    def __repr__(self) -> str:
        return f"Rules({self.tree.source.name!r}, {len(self.tree.statements)} statements)"

    def __str__(self) -> str:
        return "\n".join(map(str, self.normal.rules))

    @property
    def errors(self) -> tuple[Diagnostic, ...]:
        """The diagnostics that make the game unplayable."""
        return tuple(d for d in self.diagnostics if d.is_error)

    @cached_property
    def roles(self) -> tuple[Term, ...]:
        """The roles in the textual order of their facts, each once."""
        heads = (rule.head for rule in self.tree.statements if rule.is_fact)
        return tuple(dict.fromkeys(head.args[0] for head in heads if head.key == ("role", 1)))

    @cached_property
    def normal(self) -> NormalForm:
        """The rules in normal form, for evaluators."""
        from herbrand.check.normal import normalise

        return normalise(self.tree.statements)

    @cached_property
    def graph(self) -> DependencyGraph:
        """The dependency graph of the relations, with components and strata."""
        from herbrand.check.dependency import dependency_graph

        return dependency_graph(self.tree.statements)

    @cached_property
    def spelling(self) -> dict[str, str]:
        """Display spelling of every constant and function name: its first occurrence."""
        from herbrand.syntax.names import first_spellings

        return first_spellings(self.tree.statements)
