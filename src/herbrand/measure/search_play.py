"""Measures of search play: fairness under good play, skill, depth, and the course of games."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import numpy as np

from herbrand.measure.batch_play import UNKNOWN, play_games
from herbrand.measure.beliefs import PARTICLES
from herbrand.measure.course import measure_course
from herbrand.measure.random_play import mean_measure, measure_fairness
from herbrand.measure.sample import outcomes_of
from herbrand.measure.value import Measure
from herbrand.play.search.forest import EACH, WIDEST

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from numpy.typing import NDArray

    from herbrand.measure.batch_play import PlayedGames
    from herbrand.measure.beliefs import NetworkGame
    from herbrand.measure.effort import Effort
    from herbrand.measure.sample import Sample

__all__ = ["SearchPlay"]

_MIN_COMPLETION: Final = 0.5
"""Completion in random play below which there is no search play."""
_PREFIX: Final = "search_"
_FAIR: Final = frozenset(f"{_PREFIX}{name}" for name in ("length", "balance", "draws", "first_mover"))
_COURSE: Final = frozenset({"drama", "lead_change", "uncertainty"})
_METHOD: Final = "search play"
# a cost model, in seconds or in gate evaluations
_EXPAND_SECONDS: Final = 5e-6
"""Overhead of expanding a position."""
_SUCCESSOR_SECONDS: Final = 0.6e-6
"""Making one successor."""
_GATE_SECONDS: Final = 1.5e-11
"""Evaluating a gate in one playout."""
_GATES_PER_MOVE: Final = 8
"""Cost of choosing a move, for each move of the game."""
_GATES_PER_STEP: Final = 200
"""Overhead of a step."""
_LOOP_ITERATIONS: Final = 4
"""Typical number of evaluations of gates in loops."""
_STEPS_PER_PARTICLE: Final = 8
"""Cost of updating one state of a belief sample, in steps of a playout."""
_MAX_DEPLETED: Final = 0.005
"""Share of moves without a search above which there is a note."""


class SearchPlay:
    """Measures a game by games between players that search."""

    def __init__(self, sample: Sample, effort: Effort, seed: int) -> None:
        self.sample = sample
        self.effort = effort
        """The requested effort, reduced to its `work`."""
        self.seed = seed
        self.played = sample.traced
        """The games of `measures`, once it was called."""
        self.obstacle = self._obstacle(effort)
        """Why nothing can be measured, or None."""

    def _obstacle(self, effort: Effort) -> str | None:
        sample, game = self.sample, self.sample.game
        if not effort.pairs:
            return f"skipped at effort {effort.name}"
        if sample.network_game is None:
            return f"no search without a network: {game.engine_reason}"
        if not game.players:
            return "the game has no role but chance"
        if not sample.traced.choices.any():
            return "no role ever has a choice"
        ended = float(sample.outcomes.ended.mean())
        if ended < _MIN_COMPLETION:
            return f"only {100 * ended:.0f} % of playouts end"
        choices = float(sample.traced.choices.mean())
        within = effort.within(self._expansion_seconds(), choices, self._belief_seconds())
        if within is None:
            return f"the game is too large for the effort {effort.name}"
        self.effort = within
        return None

    def _expansion_seconds(self) -> float:
        """Estimate the seconds to expand a position in the middle of a game."""
        sample = self.sample
        branching = float(sample.traced.legal.sum() / sample.traced.choices.sum())
        games = max(EACH, min(branching, WIDEST))
        steps = games * 0.5 * float(sample.traced.lengths.mean())
        gates = steps * self._gates_per_step
        return _EXPAND_SECONDS + branching * _SUCCESSOR_SECONDS + gates * _GATE_SECONDS

    def _belief_seconds(self) -> float:
        """Estimate the seconds to update a role's belief sample before a move."""
        if not self._network_game.hidden:
            return 0.0
        return _STEPS_PER_PARTICLE * PARTICLES * self._gates_per_step * _GATE_SECONDS

    @property
    def _network_game(self) -> NetworkGame:
        """The game on the network, which there is without an obstacle."""
        assert self.sample.network_game is not None
        return self.sample.network_game

    @property
    def _gates_per_step(self) -> int:
        """Estimate the cost of a step of a playout, in gate evaluations."""
        network = self._network_game.expander.network
        rows = network.inputs + network.gates + len(network.fluents)
        if len(network.loops):
            rows *= _LOOP_ITERATIONS
        return rows + _GATES_PER_MOVE * len(network.moves) + _GATES_PER_STEP

    def measures(self, wanted: Collection[str]) -> list[Measure]:
        """Return at least the wanted measures.

        All games are played in one batch: self-play of the strongest player, its contest with random play,
        and the contest of each rung of the ladder with the one below.
        """
        sample, network_game = self.sample, self._network_game
        players = list(network_game.players)
        pairs, ladder = self.effort.pairs, (0, *self.effort.rungs)
        needs_self_play = not _FAIR.union(_COURSE).isdisjoint(wanted)
        contests = [(self.effort.searcher, 0)] if "skill" in wanted else []
        if "depth" in wanted:
            contests += zip(ladder[1:], ladder, strict=False)
        parts = [np.zeros((0, network_game.roles), np.int64)]
        if needs_self_play:
            parts.append(self._seats(np.full((pairs, len(players)), ladder[-1])))
        sides = _sides(len(players), pairs)
        parts += [self._seats(np.where(sides, strong, weak)) for strong, weak in contests]
        seed, course_seed = np.random.SeedSequence((self.seed, 1)).spawn(2)
        keep = pairs if needs_self_play else 0
        played = play_games(
            network_game, np.concatenate(parts), seed=seed, max_steps=sample.max_steps, keep=keep
        )
        self.played = played
        measures: list[Measure] = []
        if needs_self_play:
            self_play = played.first_games(pairs)
            measures += self._measure_self_play(self_play)
            if len(players) > 1 and not _COURSE.isdisjoint(wanted):
                random, estimates = np.random.default_rng(course_seed), self.effort.estimates
                measures += measure_course(
                    network_game, self_play, estimates, max_steps=sample.max_steps, random=random
                )
        begin = keep
        gains = []
        for _ in contests:
            gains.append(_pair_gains(played.goals[begin : begin + 2 * pairs, players], sides))
            begin += 2 * pairs
        if "skill" in wanted:
            measures.append(_measure_skill(gains.pop(0)))
        if gains:
            measures.append(_measure_depth(gains))
        return measures

    def notes(self, requested: Effort) -> list[str]:
        """Return remarks on a reduced effort and on searches with hidden information."""
        done, notes = self.effort, []
        if (done.pairs, done.rungs) != (requested.pairs, requested.rungs):
            players = ", ".join(map(str, done.rungs))
            pairs = f"{done.pairs} pairs of games instead of {requested.pairs}"
            notes.append(f"a large game: {pairs}, players that expand {players} positions before a move")
        if self.sample.network_game is not None and self.sample.network_game.hidden:
            notes.append("hidden information: players search from states consistent with their percepts")
            share = float(self.played.depleted.sum() / max(1, self.played.searched.sum()))
            if share >= _MAX_DEPLETED:
                notes.append(f"{100 * share:.0f} % of their moves were random, since no such state was found")
        return notes

    def _seats(self, budgets: NDArray[np.int64]) -> NDArray[np.int64]:
        """Spread budgets of players, [games, players], to all roles, [games, roles]."""
        network_game = self._network_game
        seats = np.zeros((len(budgets), network_game.roles), np.int64)
        seats[:, list(network_game.players)] = budgets
        return seats

    def _measure_self_play(self, played: PlayedGames) -> list[Measure]:
        outcomes = outcomes_of(self.sample.game, played)
        lengths = outcomes.lengths[outcomes.ended].astype(float)
        measures = [mean_measure(f"{_PREFIX}length", lengths, _METHOD, unit="steps")]
        if len(self.sample.game.players) > 1:
            measures += measure_fairness(outcomes, self.sample.game.players, _METHOD, _PREFIX)
        return measures


def _sides(players: int, pairs: int) -> NDArray[np.bool_]:
    """Return which players are on the strong side in each game of a contest, [2 * pairs, players].

    In the second game of a pair the sides are swapped.
    """
    strong = np.zeros((2 * pairs, players), np.bool_)
    half = max(1, players // 2)
    for pair in range(pairs):
        places = (np.arange(half) + pair) % players
        strong[2 * pair, places] = True
        strong[2 * pair + 1] = ~strong[2 * pair]
    return strong


def _pair_gains(goals: NDArray[np.int16], strong: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return the gain of the strong side over the weak one for each pair of games, from -1 to 1.

    It is a mean over the roles.  With two roles of constant sum it is the wins minus the losses of the strong
    side; with one role, the difference of the goal values.
    """
    values = np.where(goals < 0, UNKNOWN, goals) / 100.0
    signed = np.where(strong, values, -values).reshape(len(goals) // 2, 2, -1)
    gains: NDArray[np.float64] = signed.sum(axis=1).mean(axis=1)
    return gains


def _measure_depth(rungs: Sequence[NDArray[np.float64]]) -> Measure:
    """Add up the gains of the rungs over the ones below."""
    gains, errors = zip(*map(_mean_gain, rungs), strict=True)
    value = sum(max(0.0, gain) for gain in gains)
    note = "by rung: " + ", ".join(f"{gain:.2f}" for gain in gains)
    total = math.sqrt(sum(error**2 for error in errors))
    return Measure("depth", value, total, _METHOD, sum(map(len, rungs)), "rungs", note)


def _mean_gain(gains: NDArray[np.float64]) -> tuple[float, float]:
    """Return mean and standard error; equal gains get the error of one in n + 2 differing by 1."""
    n = len(gains)
    spread = float(gains.var(ddof=1)) if n > 1 else 0.0
    return float(gains.mean()), math.sqrt((spread or 1.0 / (n + 2)) / n)


def _measure_skill(gains: NDArray[np.float64]) -> Measure:
    mean, error = _mean_gain(gains)
    note = f"searching is worse than chance: {mean:.2f}" if mean < -2 * error else ""
    return Measure("skill", max(0.0, mean), error, _METHOD, len(gains), note=note)
