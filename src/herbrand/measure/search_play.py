"""What games between players that search tell: fairness under good play, skill, depth, and how games go."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import numpy as np

from herbrand.measure.course import course
from herbrand.measure.lines import UNKNOWN, play_lines
from herbrand.measure.random_play import average, fairness
from herbrand.measure.sample import outcomes_of
from herbrand.measure.value import Measure
from herbrand.measure.worlds import PARTICLES
from herbrand.play.search.forest import EACH, WIDEST

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from numpy.typing import NDArray

    from herbrand.measure.effort import Effort
    from herbrand.measure.lines import PlayedGames
    from herbrand.measure.sample import Sample
    from herbrand.network.network import Network

__all__ = ["Searched"]

_FEW_END: Final = 0.5
"""Games of which fewer random games end are not searched."""
_PREFIX: Final = "search_"
_FAIR: Final = frozenset(f"{_PREFIX}{name}" for name in ("length", "balance", "draws", "first_mover"))
_COURSE: Final = frozenset({"drama", "lead_change", "uncertainty"})
_HOW: Final = "search play"
_ROUND: Final = 5e-6
"""Seconds to open a position, besides what follows."""
_POSITION: Final = 0.6e-6
"""Seconds to make one of its successors."""
_GATE: Final = 1.5e-11
"""Seconds to evaluate a gate in one random game."""
_PER_MOVE: Final = 8
"""Gates that choosing a move costs as much as, for each move that there is."""
_PER_STEP: Final = 200
"""Gates that a step costs as much as, besides."""
_TURNS: Final = 4
"""How often loops are evaluated, about."""
_LOST: Final = 0.005
"""A larger share of moves that were not searched for is told."""
_FOLLOWED: Final = 8
"""Steps that following one state of what can be possible costs as much as, in each step of a game."""


class Searched:
    """Measures a game by play with search, as far as the effort goes."""

    def __init__(self, sample: Sample, effort: Effort, seed: int) -> None:
        self.sample = sample
        self.effort = effort
        """As much of the effort that was asked for as fits into its work."""
        self.seed = seed
        self.lines = sample.lines
        """The games that were played."""
        self.obstacle = self._obstacle(effort)
        """Why nothing can be measured, or None."""

    def _obstacle(self, effort: Effort) -> str | None:
        sample, game = self.sample, self.sample.game
        if not effort.pairs:
            return f"not taken: the effort is {effort.name}"
        if sample.table is None:
            return f"nothing is searched: {game.engine_reason}"
        if not game.players:
            return "nobody plays"
        if not sample.lines.choices.any():
            return "nobody ever has a choice"
        ended = float(sample.outcomes.ended.mean())
        if ended < _FEW_END:
            return f"only {100 * ended:.0f} % of random games end"
        within = effort.within(self._opening(), float(sample.lines.choices.mean()), self._looking())
        if within is None:
            return f"the game is too large for the effort {effort.name}"
        self.effort = within
        return None

    def _opening(self) -> float:
        """Return about how many seconds it takes to open a position in the middle of a game."""
        sample, table = self.sample, self.sample.table
        assert table is not None
        wide = float(sample.lines.legal.sum() / sample.lines.choices.sum())
        games = max(EACH, min(wide, WIDEST))
        steps = games * 0.5 * float(sample.lines.lengths.mean())
        return _ROUND + wide * _POSITION + steps * self._rows(table.expander.network) * _GATE

    def _looking(self) -> float:
        """Return about how many seconds a role needs to follow what it can hold possible, each time."""
        table = self.sample.table
        assert table is not None
        return _FOLLOWED * PARTICLES * self._rows(table.expander.network) * _GATE if table.hidden else 0.0

    @staticmethod
    def _rows(network: Network) -> int:
        """Return how many gates a step of a random game costs about as much as."""
        rows = network.inputs + network.gates + len(network.fluents)
        if len(network.loops):
            rows *= _TURNS
        return rows + _PER_MOVE * len(network.moves) + _PER_STEP

    def measures(self, wanted: Collection[str]) -> list[Measure]:
        """Return the wanted measures, and some that came with them.

        All games are played side by side: those of the strongest player with itself, its contest with random
        play, and the contest of each rung of the ladder with the one below.
        """
        sample, table = self.sample, self.sample.table
        assert table is not None
        pairs, ladder = self.effort.pairs, (0, *self.effort.rungs)
        alone = not _FAIR.union(_COURSE).isdisjoint(wanted)
        contests = [(self.effort.searcher, 0)] if "skill" in wanted else []
        if "depth" in wanted:
            contests += zip(ladder[1:], ladder, strict=False)
        parts = [np.zeros((0, table.roles), np.int64)]
        if alone:
            parts.append(self._seats(np.full((pairs, len(table.players)), ladder[-1])))
        sides = _sides(len(table.players), pairs)
        parts += [self._seats(np.where(sides, strong, weak)) for strong, weak in contests]
        seed, course_seed = np.random.SeedSequence((self.seed, 1)).spawn(2)
        lines = play_lines(
            table, np.concatenate(parts), seed=seed, max_steps=sample.max_steps, keep=pairs if alone else 0
        )
        self.lines = lines
        found: list[Measure] = []
        begin = 0
        if alone:
            begin = pairs
            own = lines.first_games(pairs)
            found += self._fair(own)
            if len(table.players) > 1 and not _COURSE.isdisjoint(wanted):
                random = np.random.default_rng(course_seed)
                found += course(table, own, self.effort.estimates, max_steps=sample.max_steps, random=random)
        gains = []
        for _ in contests:
            goals = lines.goals[begin : begin + 2 * pairs, list(table.players)]
            gains.append(_gains(goals, sides))
            begin += 2 * pairs
        if "skill" in wanted:
            found.append(_skill(gains.pop(0)))
        if gains:
            found.append(_depth(gains))
        return found

    def notes(self, asked: Effort) -> list[str]:
        """Say what was left out of the effort asked for, and how players search who see too little."""
        done, told = self.effort, []
        if (done.pairs, done.rungs) != (asked.pairs, asked.rungs):
            players = ", ".join(map(str, done.rungs))
            kept = f"{done.pairs} pairs of games instead of {asked.pairs}"
            told.append(f"a large game: {kept}, players that open {players} positions before a move")
        if self.sample.table is not None and self.sample.table.hidden:
            told.append("something is hidden: players search in states that fit what they have seen")
            share = float(self.lines.lost.sum() / max(1, self.lines.searched.sum()))
            if share >= _LOST:
                told.append(f"before {100 * share:.0f} % of their moves there was none, and they drew lots")
        return told

    def _seats(self, budgets: NDArray[np.int64]) -> NDArray[np.int64]:
        """Give budgets of players, [games, players], to the roles, [games, roles]."""
        table = self.sample.table
        assert table is not None
        seats = np.zeros((len(budgets), table.roles), np.int64)
        seats[:, list(table.players)] = budgets
        return seats

    def _fair(self, lines: PlayedGames) -> list[Measure]:
        outcomes = outcomes_of(self.sample.game, lines)
        lengths = outcomes.lengths[outcomes.ended].astype(float)
        found = [average(f"{_PREFIX}length", lengths, _HOW, unit="steps")]
        if len(self.sample.game.players) > 1:
            found += fairness(outcomes, self.sample.game.players, _HOW, _PREFIX)
        return found


def _sides(players: int, pairs: int) -> NDArray[np.bool_]:
    """Say which players are the strong ones in each game of a contest, [2 * pairs, players].

    In the second game of a pair everybody has the other side; every player has each as often.
    """
    strong = np.zeros((2 * pairs, players), np.bool_)
    half = max(1, players // 2)
    for pair in range(pairs):
        places = (np.arange(half) + pair) % players
        strong[2 * pair, places] = True
        strong[2 * pair + 1] = ~strong[2 * pair]
    return strong


def _gains(goals: NDArray[np.int16], strong: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return for each pair of games what the strong side gets more than the weak one, from -1 to 1.

    It is a mean over the roles.  With two roles that share a fixed sum this is how many games the strong
    side wins more than it loses; with one role, how much more it reaches.
    """
    values = np.where(goals < 0, UNKNOWN, goals) / 100.0
    signed = np.where(strong, values, -values).reshape(len(goals) // 2, 2, -1)
    gains: NDArray[np.float64] = signed.sum(axis=1).mean(axis=1)
    return gains


def _depth(rungs: Sequence[NDArray[np.float64]]) -> Measure:
    """Add up what each rung gains over the one below."""
    gains, errors = zip(*map(_gain, rungs), strict=True)
    value = sum(max(0.0, gain) for gain in gains)
    note = "by rung: " + ", ".join(f"{gain:.2f}" for gain in gains)
    total = math.sqrt(sum(error**2 for error in errors))
    return Measure("depth", value, total, _HOW, sum(map(len, rungs)), "rungs", note)


def _gain(gains: NDArray[np.float64]) -> tuple[float, float]:
    """Mean and standard error; if all are equal, the error as if one of them could differ by all there is."""
    n = len(gains)
    spread = float(gains.var(ddof=1)) if n > 1 else 0.0
    return float(gains.mean()), math.sqrt((spread or 1.0 / (n + 2)) / n)


def _skill(gains: NDArray[np.float64]) -> Measure:
    mean, error = _gain(gains)
    note = f"searching is worse than chance: {mean:.2f}" if mean < -2 * error else ""
    return Measure("skill", max(0.0, mean), error, _HOW, len(gains), note=note)
