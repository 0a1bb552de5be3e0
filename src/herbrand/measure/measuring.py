"""`measure`: all measures of a game, or some of them."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from herbrand.measure.catalogue import CATALOGUE
from herbrand.measure.effort import EFFORTS, FULL, Effort
from herbrand.measure.value import Measure, Measures

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from herbrand.game import Game
    from herbrand.measure.novelty import Known
    from herbrand.measure.sample import Sample

__all__ = ["measure"]

_GROUPS = ("rules", "random play", "search play", "comparison")


def measure(
    game: Game,
    *,
    effort: str | Effort = FULL,
    seed: int = 0,
    only: Iterable[str] | None = None,
    known: Iterable[Known] | None = None,
    seconds: float | None = None,
) -> Measures:
    """Measure a game: its rules, random games of it, games between players that search.

    `effort` is "cheap" (rules and random games), "full", "thorough", or an `Effort`; `only` are the
    measures wanted, all of `CATALOGUE` if None, and nothing is played that they do not need.  `known` are
    the games that novelty is measured against, the bundled ones if None.  The same effort and seed give the
    same result, however many cores there are and whatever else runs on them.  Where the game has no network
    within its limits, a few random games are played by evaluating the rules, and nothing is searched.

    After `seconds` of the clock no further group of measures is begun; those left out say so.
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
    return _Measuring(game, chosen, seed, frozenset(wanted), known, seconds).all()


class _Measuring:
    def __init__(
        self,
        game: Game,
        effort: Effort,
        seed: int,
        wanted: frozenset[str],
        known: Iterable[Known] | None,
        seconds: float | None,
    ) -> None:
        self.game = game
        self.effort = effort
        self.seed = seed
        self.wanted = wanted
        self.known = known
        self.began, self.spent = time.monotonic(), time.thread_time()
        self.seconds = seconds
        self.found: dict[str, Measure] = {}
        self.notes: list[str] = []
        self.sample: Sample
        self.compares_play = "play_novelty" in wanted

    def all(self) -> Measures:
        """Take the measures, group by group."""
        for name in CATALOGUE:
            definition = CATALOGUE[name]
            if definition.players > len(self.game.players):
                self._none([name], "one role is alone" if self.game.players else "nobody plays")
        groups: dict[str, Callable[[], None]] = {
            "rules": self._rules,
            "random play": self._random,
            "search play": self._search,
            "comparison": self._compare,
        }
        for group in _GROUPS:
            mine = [name for name in CATALOGUE if CATALOGUE[name].group == group]
            needed = self.wanted.intersection(mine) or (group == "random play" and self._needs_random())
            if not needed:
                continue
            late = self.seconds is not None and time.monotonic() - self.began > self.seconds
            if late and group in ("random play", "search play"):
                self._none(mine, f"not taken: {self.seconds:g} seconds were spent before")
            else:
                groups[group]()
        return self._result(self.wanted)

    def _result(self, names: Iterable[str]) -> Measures:
        taken = {name: self.found[name] for name in CATALOGUE if name in names and name in self.found}
        spent = time.thread_time() - self.spent
        return Measures(self.game.name, self.effort.name, self.seed, taken, tuple(self.notes), spent)

    def _needs_random(self) -> bool:
        return self.compares_play or any(CATALOGUE[name].group == "search play" for name in self.wanted)

    def _none(self, names: Iterable[str], note: str) -> None:
        """Say why some measures have no value, unless they have one."""
        for name in names:
            definition = CATALOGUE[name]
            self.found.setdefault(
                name, Measure(name, None, method=definition.group, unit=definition.unit, note=note)
            )

    def _keep(self, measures: Iterable[Measure]) -> None:
        for found in measures:
            self.found.setdefault(found.name, found)

    # -- groups ---------------------------------------------------------------------------

    def _rules(self) -> None:
        from herbrand.measure.structure import sizes

        self._keep(sizes(self.game.rules))

    def _random(self) -> None:
        from herbrand.measure.sample import sample

        self.sample = sample(self.game, self.effort, self.seed)
        self._keep(self.sample.measures())

    def _search(self) -> None:
        from herbrand.measure.search_play import Searched

        searched = Searched(self.sample, self.effort, self.seed)
        if searched.obstacle is None:
            self._keep(searched.measures(self.wanted))
            self.notes += searched.notes(self.effort)
        names = [name for name in CATALOGUE if CATALOGUE[name].group == "search play"]
        self._none(names, searched.obstacle or "not asked for")

    def _compare(self) -> None:
        from herbrand.measure.novelty import bundled, play_novelty, rule_novelty

        known = tuple(bundled() if self.known is None else self.known)
        if "rule_novelty" in self.wanted:
            self._keep([rule_novelty(self.game, known)])
        if self.compares_play:
            self._keep([play_novelty(self._result(CATALOGUE), known)])
