"""Fixes are applied to the text until none is left: one can reveal the next."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from herbrand.check import check
from herbrand.check.catalogue import CHECKS
from herbrand.diagnostic import Severity, apply_fixes
from herbrand.syntax import read

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from herbrand.diagnostic import Diagnostic
    from herbrand.syntax.ggdl.program import Value
    from herbrand.syntax.tree import Tree

__all__ = ["fixed", "is_tolerated", "without_oddities"]

ROUNDS: Final = 10
"""Maximum rounds of fixing."""


def fixed(
    tree: Tree,
    diagnose: Callable[[Tree], Iterable[Diagnostic]],
    notation: str = "auto",
    parameters: Mapping[str, Value] | None = None,
) -> tuple[Tree, Counter[str]]:
    """Return the tree of the text after all fixes that `diagnose` suggests, and how many of which check."""
    fixes: Counter[str] = Counter()
    for _ in range(ROUNDS):
        text, applied = apply_fixes(tree.source.text, tuple(diagnose(tree)))
        if not applied or text == tree.source.text:
            break
        fixes.update(d.check for d in applied)
        tree = read(text, tree.notation if notation == "auto" else notation, tree.source.name, parameters)
    return tree, fixes


def is_tolerated(diagnostic: Diagnostic) -> bool:
    """Whether it is a warning only because the checks are not strict."""
    entry = CHECKS.get(diagnostic.check)
    return diagnostic.severity is Severity.WARNING and entry is not None and entry.spec


def without_oddities(tree: Tree) -> Tree:
    """Return the tree of a text after the fixes of faults that are tolerated with a warning."""
    return fixed(tree, lambda other: filter(is_tolerated, check(other).diagnostics))[0]
