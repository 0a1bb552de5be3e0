"""What games between players that search tell: fairness under good play, skill, depth, and how games go."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import numpy as np

from herbrand.measure.course import course
from herbrand.measure.lines import RANDOM, UNKNOWN, Chooser, Flat, play_lines
from herbrand.measure.random_play import average, fairness
from herbrand.measure.sample import outcomes_of
from herbrand.measure.value import Measure

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from numpy.typing import NDArray

    from herbrand.measure.effort import Effort
    from herbrand.measure.lines import Lines, Table
    from herbrand.measure.sample import Sample

__all__ = ["Searched", "contest", "ladder", "self_play"]

_FEW_END: Final = 0.5
"""Games of which fewer random games end are not searched."""
_PREFIX: Final = "search_"
_COURSE: Final = frozenset({"drama", "lead_change", "uncertainty"})
_HOW: Final = "search play"


class Searched:
    """Measures a game by play with search, as far as the effort goes."""

    def __init__(self, sample: Sample, effort: Effort, seed: int) -> None:
        self.sample = sample
        self.effort = effort
        self.seeds = np.random.SeedSequence((seed, 1)).spawn(4)
        self.obstacle = self._obstacle()
        """Why nothing can be measured, or None."""

    def _obstacle(self) -> str | None:
        sample, game = self.sample, self.sample.game
        if not self.effort.pairs:
            return f"not taken: the effort is {self.effort.name}"
        if sample.table is None:
            return f"nothing is searched: {game.engine_reason}"
        if not game.players:
            return "nobody plays"
        if not sample.lines.choices.any():
            return "nobody ever has a choice"
        ended = float(sample.outcomes.ended.mean())
        if ended < _FEW_END:
            return f"nothing is searched: {100 * ended:.0f} % of random games end"
        if game.has_percepts:
            return "roles do not see everything, and the players that measure this would"
        return None

    def measures(self, wanted: Collection[str]) -> list[Measure]:
        """Return the wanted measures, and some that came with them."""
        sample, table = self.sample, self.sample.table
        assert table is not None
        players = [Flat(games, sample.max_steps) for games in self.effort.rungs]
        found: list[Measure] = []
        fair = {f"{_PREFIX}{name}" for name in ("length", "balance", "draws", "first_mover")}
        if not _COURSE.union(fair).isdisjoint(wanted):
            lines = self_play(
                table, players[-1], self.effort.pairs, seed=self.seeds[0], max_steps=sample.max_steps
            )
            found += self._fair(lines)
            if len(table.players) > 1 and not _COURSE.isdisjoint(wanted):
                random = np.random.default_rng(self.seeds[1])
                found += course(
                    table, lines, self.effort.estimates, max_steps=sample.max_steps, random=random
                )
        if "skill" in wanted:
            gains = contest(
                table, players[-1], RANDOM, self.effort.pairs, seed=self.seeds[2], max_steps=sample.max_steps
            )
            found.append(_skill(gains))
        if "depth" in wanted:
            found.append(
                ladder(table, players, self.effort.pairs, seed=self.seeds[3], max_steps=sample.max_steps)
            )
        return found

    def _fair(self, lines: Lines) -> list[Measure]:
        outcomes = outcomes_of(self.sample.game, lines)
        lengths = outcomes.lengths[outcomes.ended].astype(float)
        found = [average(f"{_PREFIX}length", lengths, _HOW, unit="steps")]
        if len(self.sample.game.players) > 1:
            found += fairness(outcomes, self.sample.game.players, _HOW, _PREFIX)
        return found


def self_play(
    table: Table, chooser: Chooser, games: int, *, seed: np.random.SeedSequence, max_steps: int
) -> Lines:
    """Play games in which one chooser has all roles, and keep their states."""
    everywhere = np.arange(games)
    seats = [(everywhere, role, chooser) for role in table.players]
    return play_lines(table, seats, games, seed=seed, max_steps=max_steps, keep=True)


def contest(
    table: Table,
    strong: Chooser,
    weak: Chooser,
    pairs: int,
    *,
    seed: np.random.SeedSequence,
    max_steps: int,
) -> NDArray[np.float64]:
    """Return for each pair of games what a strong chooser gets more than a weak one, from -1 to 1.

    In the second game of a pair every role has the other chooser.  With two roles that share a fixed sum
    this is how many games the strong one wins more than it loses; with one role, how much more it reaches.
    """
    games, players = 2 * pairs, table.players
    is_strong = np.zeros((games, len(players)), np.bool_)
    half = max(1, len(players) // 2)
    for pair in range(pairs):
        places = (np.arange(half) + pair) % len(players)  # every role equally often
        is_strong[2 * pair, places] = True
        is_strong[2 * pair + 1] = ~is_strong[2 * pair]
    seats = []
    for place, role in enumerate(players):
        for chooser, mine in ((strong, is_strong[:, place]), (weak, ~is_strong[:, place])):
            seats.append((np.flatnonzero(mine), role, chooser))
    lines = play_lines(table, seats, games, seed=seed, max_steps=max_steps)
    goals = lines.goals[:, list(players)]
    values = np.where(goals < 0, UNKNOWN, goals) / 100.0
    gains: NDArray[np.float64] = (
        np.where(is_strong, values, -values).reshape(pairs, 2, -1).sum(axis=1).mean(axis=1)
    )
    return gains


def ladder(
    table: Table, rungs: Sequence[Chooser], pairs: int, *, seed: np.random.SeedSequence, max_steps: int
) -> Measure:
    """Measure how long the ladder of players is: each meets the one below, the first meets random play."""
    gains, errors = [], []
    below: Chooser = RANDOM
    for rung, part in zip(rungs, seed.spawn(len(rungs)), strict=True):
        mean, error = _gain(contest(table, rung, below, pairs, seed=part, max_steps=max_steps))
        gains.append(mean)
        errors.append(error)
        below = rung
    value = sum(max(0.0, gain) for gain in gains)
    note = "by rung: " + ", ".join(f"{gain:.2f}" for gain in gains)
    total = math.sqrt(sum(error**2 for error in errors))
    return Measure("depth", value, total, _HOW, pairs * len(rungs), "rungs", note)


def _gain(gains: NDArray[np.float64]) -> tuple[float, float]:
    """Mean and standard error; if all are equal, the error as if one of them could differ by all there is."""
    n = len(gains)
    spread = float(gains.var(ddof=1)) if n > 1 else 0.0
    return float(gains.mean()), math.sqrt((spread or 1.0 / (n + 2)) / n)


def _skill(gains: NDArray[np.float64]) -> Measure:
    mean, error = _gain(gains)
    note = f"searching is worse than chance: {mean:.2f}" if mean < -2 * error else ""
    return Measure("skill", max(0.0, mean), error, _HOW, len(gains), note=note)
