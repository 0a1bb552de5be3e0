"""Boards whose cells have names only: a map, laid out from the neighbours that the rules state.

Where places are called `a1` or `kitchen` and no two arguments say where they are, a relation such as
`(adjacent hall kitchen)` still tells which are near each other.  Places are drawn such that distances on
paper are as much like the number of steps between them as can be: stress majorization, begun with classical
scaling (Gansner, Koren and North 2004).  The same relation gives the same map.
"""

from __future__ import annotations

from collections import defaultdict, deque
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from herbrand.draw.terms import natural

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["LARGEST_MAP", "Map", "arranged", "read_map"]

LARGEST_MAP: Final = 64
"""Most places of a readable map."""
SMALLEST_MAP: Final = 4
MOST_ROADS: Final = 6
"""Most roads from a place on average; with more, the drawing would be unreadable."""
_ROUNDS: Final = 300


@dataclass(frozen=True)
class Map:
    """Places and which of them are beside each other."""

    places: tuple[str, ...]
    roads: frozenset[tuple[str, str]]


def read_map(pairs: Iterable[tuple[str, ...]], roles: Iterable[str] = ()) -> Map | None:
    """Return the map that a relation between two things draws.

    None where it is none: of too few or too many places, of numbers, of roles, with roads nearly
    everywhere, an order of things one after another, or between things of two kinds.
    """
    roads = {(a, b) for a, b in pairs if a != b}
    edges = frozenset((min(road), max(road)) for road in roads)
    places = {place for road in roads for place in road}
    if not SMALLEST_MAP <= len(places) <= LARGEST_MAP or 2 * len(edges) > MOST_ROADS * len(places):
        return None
    if all(map(str.isdecimal, places)) or {p.lower() for p in places} & {role.lower() for role in roles}:
        return None
    starts, ends = {a for a, _ in roads}, {b for _, b in roads}
    if len(starts) == len(ends) == len(roads) < len(places) or not starts & ends:
        return None
    return Map(tuple(sorted(places, key=natural)), edges)


@lru_cache(maxsize=64)
def arranged(places: tuple[str, ...], roads: frozenset[tuple[str, str]]) -> Mapping[str, tuple[float, float]]:
    """Return where the places are; neighbours are about 1 from each other, and the map is wider than high."""
    import numpy as np

    steps = np.array(_steps(places, roads), dtype=float)
    n = len(places)
    centre = np.eye(n) - 1.0 / n
    values, vectors = np.linalg.eigh(-0.5 * centre @ steps**2 @ centre)
    x = vectors[:, -2:] * np.sqrt(np.maximum(values[-2:], 1e-9))
    x += 1e-3 * np.stack([np.cos(np.arange(n)), np.sin(np.arange(n))], axis=1)  # no two in one place
    weights = 1.0 / (steps + np.eye(n)) ** 2 * (1 - np.eye(n))
    inverse = np.linalg.pinv(np.diag(weights.sum(axis=1)) - weights)
    for _ in range(_ROUNDS):
        apart = np.linalg.norm(x[:, None] - x[None], axis=2)
        pull = -weights * steps / np.maximum(apart, 1e-6) * (1 - np.eye(n))
        x = inverse @ ((pull - np.diag(pull.sum(axis=1))) @ x)
    _, axes = np.linalg.eigh(np.cov(x.T))
    x = (x - x.mean(axis=0)) @ axes[:, ::-1]
    x *= np.where(x[0] > 0, -1.0, 1.0)  # the first place at the left, and above
    return {place: (float(a), float(b)) for place, (a, b) in zip(places, x - x.min(axis=0), strict=True)}


def _steps(places: tuple[str, ...], roads: frozenset[tuple[str, str]]) -> list[list[int]]:
    """Return how many roads lead from each place to each; one more than the most where none does."""
    beside: dict[str, list[str]] = defaultdict(list)
    for a, b in roads:
        beside[a].append(b)
        beside[b].append(a)
    rows: list[dict[str, int]] = []
    for start in places:
        distances, waiting = {start: 0}, deque([start])
        while waiting:
            here = waiting.popleft()
            for other in beside[here]:
                if other not in distances:
                    distances[other] = distances[here] + 1
                    waiting.append(other)
        rows.append(distances)
    most = 1 + max(max(row.values()) for row in rows)
    return [[row.get(place, most) for place in places] for row in rows]
