"""How far a game is from those that are known: by its rules, and by how random games of it go."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files as resources
from typing import TYPE_CHECKING, Final

from herbrand.measure.structure import Fingerprint, distance, fingerprint
from herbrand.measure.value import Measure

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from herbrand.game import Game
    from herbrand.measure.value import Measures

__all__ = ["BEHAVIOUR", "Known", "behaviour", "bundled", "play_novelty", "rule_novelty"]

BEHAVIOUR: Final[Mapping[str, Callable[[float], float]]] = {
    "completion": lambda value: value,
    "length": lambda value: min(1.0, math.log2(1 + value) / 9),
    "branching": lambda value: min(1.0, math.log2(max(1.0, value)) / 7),
    "agency": lambda value: value,
    "balance": lambda value: value,
    "draws": lambda value: value,
    "first_mover": lambda value: value,
}
"""The measures that behaviour is compared by, and how each is brought to 0...1."""
_TABLE: Final = "bundled.json"
"""Behaviours of the bundled games, as `benchmarks/measures.py` measured them."""


@dataclass(frozen=True)
class Known:
    """A game to compare with."""

    name: str
    game: Game | None = None
    """Where the rules are; None compares by behaviour only."""
    behaviour: Mapping[str, float] | None = None
    """As `behaviour` returns it; None compares by rules only."""

    @cached_property
    def fingerprint(self) -> Fingerprint | None:
        """The fingerprint of the rules, made when first asked for."""
        return None if self.game is None or self.game.rules.errors else fingerprint(self.game.rules)


def behaviour(measures: Measures) -> dict[str, float]:
    """Return how random games go: each measure of `BEHAVIOUR` that there is, from 0 to 1."""
    values = measures.values
    return {name: scale(values[name]) for name, scale in BEHAVIOUR.items() if name in values}


def apart(one: Mapping[str, float], other: Mapping[str, float]) -> float:
    """Return how different two games' behaviours are: the mean difference.

    A measure that only one of them has counts as a whole difference.
    """
    names = one.keys() | other.keys()
    if not names:
        return 0.0
    gaps = (abs(one[n] - other[n]) if n in one and n in other else 1.0 for n in names)
    return sum(gaps) / len(names)


@cache
def bundled() -> tuple[Known, ...]:
    """Return the bundled games; their rules are read when they are compared with for the first time."""
    from herbrand import games
    from herbrand.game import load

    table: dict[str, dict[str, float]] = json.loads(
        resources("herbrand.measure").joinpath(_TABLE).read_text(encoding="utf-8")
    )
    return tuple(Known(name, load(name), table.get(name)) for name in games.names())


def rule_novelty(game: Game, known: Iterable[Known]) -> Measure:
    """Measure how different the rules are from those of the most similar known game."""
    mine = fingerprint(game.rules)
    found = [
        (distance(mine, other.fingerprint), other.name) for other in known if other.fingerprint is not None
    ]
    return _nearest("rule_novelty", found)


def play_novelty(measures: Measures, known: Iterable[Known]) -> Measure:
    """Measure how differently random games go from those of the most similar known game."""
    mine = behaviour(measures)
    if not mine:
        return Measure("play_novelty", None, method="comparison", note="no random game was played")
    found = [(apart(mine, other.behaviour), other.name) for other in known if other.behaviour is not None]
    return _nearest("play_novelty", found)


def _nearest(name: str, found: list[tuple[float, str]]) -> Measure:
    if not found:
        return Measure(name, None, method="comparison", note="there is no game to compare with")
    value, nearest = min(found)
    return Measure(name, value, 0.0, "comparison", note=f"of {len(found)} games {nearest} is most similar")
