"""Novelty: the distance of a game to known games, by its rules and by its random play."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files as resources
from typing import TYPE_CHECKING, Final

from herbrand.measure.structure import Fingerprint, distance, fingerprint
from herbrand.measure.value import Measure
from herbrand.runtime.limits import require_time

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from herbrand.game import Game
    from herbrand.measure.value import Measures

__all__ = ["BEHAVIOUR", "KnownGame", "behaviour", "bundled", "play_novelty", "rule_novelty"]

BEHAVIOUR: Final[Mapping[str, Callable[[float], float]]] = {
    "completion": lambda value: value,
    "length": lambda value: min(1.0, math.log2(1 + value) / 9),
    "branching": lambda value: min(1.0, math.log2(max(1.0, value)) / 7),
    "agency": lambda value: value,
    "balance": lambda value: value,
    "draws": lambda value: value,
    "first_mover": lambda value: value,
}
"""The measures of random play that are compared, each with its scaling to 0...1."""
_TABLE: Final = "bundled.json"
"""Behaviours of the bundled games, written by `benchmarks/measures.py`."""


@dataclass(frozen=True)
class KnownGame:
    """A game that others are compared with."""

    name: str
    game: Game | None = None
    """The rules; None to compare by behaviour only."""
    behaviour: Mapping[str, float] | None = None
    """As `behaviour` returns it; None to compare by rules only."""

    @cached_property
    def fingerprint(self) -> Fingerprint | None:
        """The fingerprint of the rules; None without rules or with errors in them."""
        require_time()
        return None if self.game is None or self.game.rules.errors else fingerprint(self.game.rules)


def behaviour(measures: Measures) -> dict[str, float]:
    """Return the measures of `BEHAVIOUR` that have a value, scaled to 0...1."""
    values = measures.values
    return {name: scale(values[name]) for name, scale in BEHAVIOUR.items() if name in values}


def behaviour_distance(one: Mapping[str, float], other: Mapping[str, float]) -> float:
    """Return the mean absolute difference; a measure that only one of them has counts as 1."""
    names = one.keys() | other.keys()
    if not names:
        return 0.0
    gaps = (abs(one[n] - other[n]) if n in one and n in other else 1.0 for n in names)
    return sum(gaps) / len(names)


@cache
def bundled() -> tuple[KnownGame, ...]:
    """Return the bundled games, whose rules are read on first comparison."""
    from herbrand import games
    from herbrand.game import load

    table: dict[str, dict[str, float]] = json.loads(
        resources("herbrand.measure").joinpath(_TABLE).read_text(encoding="utf-8")
    )
    bundled_games = []
    for name in games.names():
        require_time()
        bundled_games.append(KnownGame(name, load(name), table.get(name)))
    return tuple(bundled_games)


def rule_novelty(game: Game, known: Iterable[KnownGame]) -> Measure:
    """Measure the distance of the rules to the most similar known game."""
    own = fingerprint(game.rules)
    prints = ((other.name, other.fingerprint) for other in known)
    return _nearest("rule_novelty", [(distance(own, one), name) for name, one in prints if one is not None])


def play_novelty(measures: Measures, known: Iterable[KnownGame]) -> Measure:
    """Measure the distance of random play to the most similar known game."""
    own = behaviour(measures)
    if not own:
        return Measure("play_novelty", None, method="comparison", note="no random game was played")
    plays = ((other.name, other.behaviour) for other in known)
    distances = [(behaviour_distance(own, one), name) for name, one in plays if one is not None]
    return _nearest("play_novelty", distances)


def _nearest(name: str, distances: list[tuple[float, str]]) -> Measure:
    if not distances:
        return Measure(name, None, method="comparison", note="no game to compare with")
    value, nearest = min(distances)
    note = f"of {len(distances)} games {nearest} is most similar"
    return Measure(name, value, 0.0, "comparison", note=note)
