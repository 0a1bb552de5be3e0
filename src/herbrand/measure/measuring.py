"""`measure`: computes all measures of a game, or some of them."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from herbrand.errors import BudgetExceeded
from herbrand.measure.catalogue import CATALOGUE
from herbrand.measure.effort import EFFORTS, FULL, Effort
from herbrand.measure.value import Measure, Measures
from herbrand.runtime.limits import seconds_left, time_limit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from herbrand.game import Game
    from herbrand.measure.novelty import KnownGame
    from herbrand.measure.sample import Sample

__all__ = ["measure"]


def measure(
    game: Game,
    *,
    effort: str | Effort = FULL,
    seed: int = 0,
    only: Iterable[str] | None = None,
    known: Iterable[KnownGame] | None = None,
    seconds: float | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> Measures:
    """Measure a game by its rules, random play and search play.

    `effort` is "cheap" (rules and random play), "full", "thorough", or an `Effort`; `only` names measures,
    all of `CATALOGUE` if None, and limits play to what they need.  Novelty is measured against the `known`
    games, the bundled ones if None.  The same effort and seed give the same result on any machine.  Without a
    network within the game's limits, a few playouts evaluate the rules, and search play is skipped.

    `progress` is called with the name of each group of measures that starts.

    No group of measures starts after `seconds` of wall time, and one under way stops; skipped measures have a
    note that says so.
    Raises `GameError` for a game with errors, `ValueError` for an unknown measure or effort.
    """
    chosen = EFFORTS.get(effort) if isinstance(effort, str) else effort
    if chosen is None:
        raise ValueError(f"no effort {effort!r} (there are {', '.join(EFFORTS)})")
    wanted = tuple(CATALOGUE if only is None else only)
    for name in wanted:
        if name not in CATALOGUE:
            raise ValueError(f"no measure {name!r} (there are {', '.join(CATALOGUE)})")
    game.require_playable()
    return _Measuring(game, chosen, seed, frozenset(wanted), known, seconds).all(progress)


@dataclass
class _Measuring:
    game: Game
    effort: Effort
    seed: int
    wanted: frozenset[str]
    known: Iterable[KnownGame] | None
    seconds: float | None
    measures: dict[str, Measure] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    sample: Sample = field(init=False)

    def __post_init__(self) -> None:
        self.began, self.processor_start = time.monotonic(), time.thread_time()
        self.needs_behaviour = "play_novelty" in self.wanted

    def all(self, progress: Callable[[str], None]) -> Measures:
        """Take the measures, group by group."""
        for name, definition in CATALOGUE.items():
            if definition.players > len(self.game.players):
                note = "the game has one role" if self.game.players else "the game has no role but chance"
                self._set_missing([name], note)
        groups: dict[str, Callable[[], None]] = {
            "rules": self._rules,
            "random play": self._random,
            "search play": self._search,
            "comparison": self._compare,
        }
        searches = any(CATALOGUE[name].group == "search play" for name in self.wanted)
        needs_random = self.needs_behaviour or searches
        for group, take in groups.items():
            in_group = [name for name in CATALOGUE if CATALOGUE[name].group == group]
            needed = self.wanted.intersection(in_group) or (group == "random play" and needs_random)
            if not needed:
                continue
            if self._is_late and group != "rules":
                self._set_missing(in_group, f"skipped: {self.seconds:.3g} seconds had passed")
                continue
            progress(group)
            try:
                with time_limit(self._left):
                    take()
            except BudgetExceeded:
                if not self._is_late:
                    raise
                self._set_missing(in_group, f"stopped after {self.seconds:.3g} seconds")
        return self._result(self.wanted)

    @property
    def _left(self) -> float:
        """The remaining seconds."""
        if self.seconds is None:
            return math.inf
        return max(0.0, min(self.began + self.seconds - time.monotonic(), seconds_left()))

    @property
    def _is_late(self) -> bool:
        return not self._left

    def _result(self, names: Iterable[str]) -> Measures:
        results = {name: self.measures[name] for name in CATALOGUE if name in names and name in self.measures}
        elapsed = time.thread_time() - self.processor_start
        return Measures(self.game.name, self.effort.name, self.seed, results, tuple(self.notes), elapsed)

    def _set_missing(self, names: Iterable[str], note: str) -> None:
        """Add measures without a value, and why, unless they are present."""
        for name in names:
            definition = CATALOGUE[name]
            self.measures.setdefault(
                name, Measure(name, None, method=definition.group, unit=definition.unit, note=note)
            )

    def _keep(self, measures: Iterable[Measure]) -> None:
        for measure in measures:
            self.measures.setdefault(measure.name, measure)

    # -- groups ---------------------------------------------------------------------------

    def _rules(self) -> None:
        from herbrand.measure.structure import measure_rules

        self._keep(measure_rules(self.game.rules))

    def _random(self) -> None:
        from herbrand.measure.sample import sample

        self.sample = sample(self.game, self.effort, self.seed)
        self._keep(self.sample.measures())

    def _search(self) -> None:
        from herbrand.measure.search_play import SearchPlay

        search_play = SearchPlay(self.sample, self.effort, self.seed)
        if search_play.obstacle is None:
            self._keep(search_play.measures(self.wanted))
            self.notes += search_play.notes(self.effort)
        names = [name for name in CATALOGUE if CATALOGUE[name].group == "search play"]
        self._set_missing(names, search_play.obstacle or "not requested")

    def _compare(self) -> None:
        from herbrand.measure.novelty import bundled, play_novelty, rule_novelty

        known = tuple(bundled() if self.known is None else self.known)
        if "rule_novelty" in self.wanted:
            self._keep([rule_novelty(self.game, known)])
        if self.needs_behaviour:
            self._keep([play_novelty(self._result(CATALOGUE), known)])
