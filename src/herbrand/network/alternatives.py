"""Fluents that perhaps exclude each other, by how they are written."""

from __future__ import annotations

from collections import defaultdict
from itertools import combinations
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from herbrand.rules.terms import TermTable

__all__ = ["alternatives"]

_MOST_PATTERNS = 4
"""Functions with more arguments than this are varied in one or two arguments, or in all."""
_MOST_PAIRS = 6
"""Functions with more arguments than this are varied in one argument, or in all."""
_MOST_FLUENTS = 4000
"""Larger groups are left out."""


def alternatives(terms: TermTable, fluents: Sequence[int]) -> list[tuple[int, list[int]]]:
    """Return groups of fluents, by their places, that differ in some arguments only: all `(cell 1 1 ?)`.

    Whether never two of them are true is not known: these are candidates.  With each goes the
    number of its family, of those that are written alike: all `(cell ? ? ?)` in which the last one varies.
    """
    found: defaultdict[tuple[object, object], list[int]] = defaultdict(list)
    for place, fluent in enumerate(fluents):
        args = terms.args[fluent]
        functor = terms.functor[fluent]
        if not args:
            found["constants", ()].append(place)
            continue
        sizes: Iterable[int] = range(1, len(args) + 1)
        if len(args) > _MOST_PATTERNS:
            sizes = (1, 2, len(args)) if len(args) <= _MOST_PAIRS else (1, len(args))
        for size in sizes:
            for varied in combinations(range(len(args)), size):
                fixed = tuple(arg for i, arg in enumerate(args) if i not in varied)
                found[(functor, varied), fixed].append(place)
        found["alike", args].append(place)
    families: dict[object, int] = {}
    groups: dict[tuple[int, ...], int] = {}
    for (family, _), places in found.items():
        if 2 <= len(places) <= _MOST_FLUENTS:
            if family == "alike":
                family = tuple(terms.functor[fluents[place]] for place in places)
            groups.setdefault(tuple(places), families.setdefault(family, len(families)))
    return [(family, list(places)) for places, family in groups.items()]
