"""Groups of fluents that may be mutually exclusive, judging by their syntax."""

from __future__ import annotations

from collections import defaultdict
from itertools import combinations
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from herbrand.rules.terms import TermTable

__all__ = ["alternatives"]

_MOST_PATTERNS = 4
"""Above this many arguments, only one, two or all arguments of a fluent are varied."""
_MOST_PAIRS = 6
"""Above this many arguments, only one or all arguments are varied."""
_MOST_FLUENTS = 50_000
"""Maximum size of a group."""


def alternatives(terms: TermTable, fluents: Sequence[int]) -> list[tuple[int, list[int]]]:
    """Return groups of fluents (indices) that differ in some arguments only, such as all `(cell 1 1 ?)`.

    They are candidates: two of a group may be true together.  Each comes with the number of its family, the
    groups of one pattern: all groups `(cell ? ? ?)` in which the last argument varies.
    """
    groups_by_pattern: defaultdict[tuple[object, object], list[int]] = defaultdict(list)
    for place, fluent in enumerate(fluents):
        args = terms.args[fluent]
        functor = terms.functor[fluent]
        if not args:
            groups_by_pattern["constants", ()].append(place)
            continue
        sizes: Iterable[int] = range(1, len(args) + 1)
        if len(args) > _MOST_PATTERNS:
            sizes = (1, 2, len(args)) if len(args) <= _MOST_PAIRS else (1, len(args))
        for size in sizes:
            for varied in combinations(range(len(args)), size):
                fixed = tuple(arg for i, arg in enumerate(args) if i not in varied)
                groups_by_pattern[(functor, varied), fixed].append(place)
        groups_by_pattern["alike", args].append(place)
    families: dict[object, int] = {}
    groups: dict[tuple[int, ...], int] = {}
    for (family, _), places in groups_by_pattern.items():
        if 2 <= len(places) <= _MOST_FLUENTS:
            if family == "alike":
                family = tuple(terms.functor[fluents[place]] for place in places)
            if tuple(places) not in groups:  # a family is numbered when it gets its first group
                groups[tuple(places)] = families.setdefault(family, len(families))
    return [(family, list(places)) for places, family in groups.items()]
