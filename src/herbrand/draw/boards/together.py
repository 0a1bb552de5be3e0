"""Fluents that say one thing only together, and fluents that are no board: whose turn, towers, lists."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from typing import TYPE_CHECKING

from herbrand.draw.boards.layers import LONGEST_ROW

if TYPE_CHECKING:
    from collections.abc import Mapping

    from herbrand.draw.boards.layers import Row, Shape

__all__ = [
    "axes",
    "is_control",
    "is_ground",
    "is_permutation",
    "is_tower",
    "joined",
    "joined_base",
    "partitions",
]

_GROUND = re.compile(r"(clear|table|on[-_]?table)\d*\Z", re.IGNORECASE)
_CHAIN = re.compile(r"on\d*\Z|stack|above", re.IGNORECASE)


def is_control(shape: Shape, base: list[Row], states: list[list[Row]], roles: set[str]) -> bool:
    """Whether a fluent says whose turn it is."""
    name, arity = shape
    if arity != 1 or len(roles) < 2:
        return False
    values = {parts[1].lower() for parts in base if parts[0] == name and len(parts) == 2}
    if not values <= roles or len(values) < 2:
        return False
    counts = [sum(p[0] == name and len(p) == 2 for p in state) for state in states]
    return max(counts) <= 1 and 2 * sum(counts) >= len(counts)


def partitions(states: list[list[Row]], base: list[Row], control: set[str]) -> tuple[tuple[Row, int], ...]:
    """Find groups of relations such that, in every state, each place is an argument of exactly one."""
    groups: list[tuple[Row, int]] = []
    for arity in (1, 2):
        domains: dict[str, set[Row]] = defaultdict(set)
        for parts in base:
            if len(parts) == arity + 1 and parts[0] not in control:
                domains[parts[0]].add(parts[1:])
        by_domain: dict[frozenset[Row], list[str]] = defaultdict(list)
        for name, domain in sorted(domains.items()):
            by_domain[frozenset(domain)].append(name)
        for places_of, names in by_domain.items():
            places = {place[0] for place in places_of}
            if not 3 <= len(places) <= LONGEST_ROW or not 2 <= len(names) <= 6:
                continue
            members = set(names)
            counted = [
                Counter(parts[1:] for parts in state if parts[0] in members and len(parts) == arity + 1)
                for state in states
            ]
            if all(set(count) == places_of and max(count.values()) == 1 for count in counted):
                groups.append((tuple(names), arity))
    return tuple(groups)


def axes(shapes: Mapping[Shape, int]) -> tuple[tuple[str, str, str], ...]:
    """Find pairs of fluents such as `(x1 3)` and `(y1 5)` that give one place."""
    pairs = []
    for name, arity in sorted(shapes):
        if arity not in (1, 2):
            continue
        match = re.fullmatch(r"(pos|position|loc|at)?[-_]?x[-_]?(\d*)", name, re.IGNORECASE)
        other = re.sub("x", "y", name, flags=re.IGNORECASE)
        if match and (other, arity) in shapes:
            pairs.append((name, other, f"place{match[2]}"))
    return tuple(pairs)


def joined(
    facts: list[Row], partitions: tuple[tuple[Row, int], ...], axes: tuple[tuple[str, str, str], ...]
) -> list[Row]:
    """Join facts that only together give a content or a place into facts of one artificial fluent."""
    if not partitions and not axes:
        return facts
    joint = {(name, arity): "/".join(names) for names, arity in partitions for name in names}
    first = {x: (y, new) for x, y, new in axes}
    ups = {y for _, y, _ in axes}
    heights = {(p[0], p[1:-1]): p[-1] for p in facts if p[0] in ups}
    result = []
    for parts in facts:
        shape = (parts[0], len(parts) - 1)
        if shape in joint:
            result.append((joint[shape], *parts[1:], parts[0]))
        elif parts[0] in first:
            y, new = first[parts[0]]
            up = heights.get((y, parts[1:-1]))
            if up is not None:
                result.append((new, *(parts[1:-1] or (new,)), parts[-1], up))
        elif parts[0] not in ups:
            result.append(parts)
    return result


def joined_base(
    base: list[Row], partitions: tuple[tuple[Row, int], ...], axes: tuple[tuple[str, str, str], ...]
) -> list[Row]:
    """Join all possible facts likewise: every height is combined with every place."""
    result = joined([p for p in base if p[0] not in {n for a in axes for n in a[:2]}], partitions, ())
    for x, y, new in axes:
        ups = sorted({p[-1] for p in base if p[0] == y})
        result += [(new, *(p[1:-1] or (new,)), p[-1], up) for p in base if p[0] == x for up in ups]
    return result


def is_tower(shape: Shape, states: list[list[Row]]) -> bool:
    """Whether a fluent with two arguments puts the first on top of the second."""
    if shape[1] != 2 or not _CHAIN.match(shape[0]):
        return False
    seen = [state for state in states if state]
    if not seen:
        return False
    for state in seen:
        below = {parts[1]: parts[2] for parts in state}
        if len(below) != len(state):
            return False
        for start in below:
            here, steps = start, 0
            while here in below and steps <= len(below):
                here, steps = below[here], steps + 1
            if steps > len(below):
                return False
    return True


def is_permutation(states: list[list[Row]], base: list[Row]) -> bool:
    """Whether a fluent is one list of different things in each state."""
    if not base or len(base[0]) < 5 or any(len(state) != 1 for state in states):
        return False
    return all(len(set(state[0][1:])) == len(state[0]) - 1 for state in states)


def is_ground(shape: Shape) -> bool:
    """Whether a fluent repeats what towers show: which things are clear, or stand on the table."""
    return shape[1] == 1 and bool(_GROUND.match(shape[0]))
