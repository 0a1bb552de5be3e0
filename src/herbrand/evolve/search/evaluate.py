"""Creates, filters, measures and proves one candidate."""

from __future__ import annotations

import os
import time
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

from herbrand.errors import BudgetExceeded, HerbrandError
from herbrand.evolve.random_designs import random_design
from herbrand.evolve.search.candidate import Candidate, EvaluationJob
from herbrand.evolve.search.judging import CHEAP, RUNGS, cell_of, quality, reason_against
from herbrand.evolve.variation import Lineage, Variant, cross, cross_rules, mutate, mutate_rules

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from herbrand.evolve.blocks.design import Design
    from herbrand.game import Game

__all__ = ["Proofs", "admission", "evaluate", "look_at"]

Proofs: TypeAlias = tuple[dict[str, str], str, dict[str, float]]
"""Verdicts by property, the reason against the game (empty if none), and seconds by stage."""
PROOF_SECONDS = 4.0
"""Time limit for the proofs about one game."""


def evaluate(job: EvaluationJob) -> Candidate:
    """Create the candidate of a job, and measure it if it passes the filters; depends only on the job."""
    clock = _Clock()
    variant = _vary(job)
    clock.lap("variation")
    return _evaluate(variant, job, clock)


def look_at(variant: Variant, job: EvaluationJob) -> Candidate:
    """Evaluate an existing game as `evaluate` does, with the settings of a job.

    Stages are in the order of their costs: check, random games on the network, all measures.
    """
    return _evaluate(variant, job, _Clock())


def _evaluate(variant: Variant, job: EvaluationJob, clock: _Clock) -> Candidate:
    candidate = Candidate(variant.design, variant.lineage, seconds=clock.laps)
    if variant.design is None:
        candidate.reason = "no variation was a game"
        return candidate
    try:
        for reason in _stages(candidate, variant.design.game(), job, clock):
            if reason:
                candidate.reason = reason
                break
    except BudgetExceeded as error:
        candidate.reason = f"over budget: {error}"
    except HerbrandError as error:
        candidate.reason = f"not playable: {error}"
    return candidate


def _stages(candidate: Candidate, game: Game, job: EvaluationJob, clock: _Clock) -> Iterator[str]:
    """Run the stages; yield the reason against the game after each, or an empty string."""
    design = candidate.design
    assert design is not None
    warned = [d.message for d in game.diagnostics if d.severity.value != "note"]
    clock.lap("check")
    yield warned[0] if warned else ""
    gates = game.network.gates
    clock.lap("ground")
    yield f"more than {job.settings.gates} gates" if gates > job.settings.gates else ""
    candidate.network = game.network.digest
    yield "plays as a game before" if candidate.network in job.known else ""
    cheap = _cheap(game, job.seed)
    clock.lap("random games")
    yield reason_against(cheap)
    measures = (job.measure or partial(_all_measures, pairs=job.settings.pairs))(game, job.seed)
    rounded = {name: round(value, 6) for name, value in measures.items()}
    candidate.measures = {**cheap, **rounded, "gates": gates}
    clock.lap("measures")
    candidate.quality = quality(candidate.measures)
    candidate.cell = cell_of(design, candidate.measures)


def admission(design: Design, seconds: float = PROOF_SECONDS) -> Proofs:
    """Decide the required properties of a game: termination, playability, weak winnability.

    A game is rejected if one of them is refuted or if termination is not proved; the others may remain
    unknown within the budget.
    """
    from herbrand.analyse import Budget, analyse, missing_solver

    clock, game = _Clock(), design.game()
    properties = ["termination", "playability"]
    all_win = _all_win_at_random(game)
    if not all_win:
        properties.append("weak_winnability")
    budget = Budget(seconds=seconds, states=20_000)
    decided = analyse(game, properties, budget=budget, values=False, remarks=False).properties
    clock.lap("proofs")
    without = f" without {extra}" if (extra := missing_solver()) else ""
    unknown = f"unknown (not decided in {seconds:g} s{without})"
    verdicts = {
        name: f"{verdict.answer} ({verdict.method})" if verdict.is_known else unknown
        for name, verdict in decided.items()
    }
    if all_win:
        verdicts["weak_winnability"] = "proved (random games)"
    missing = [name for name, verdict in decided.items() if verdict.answer == "refuted"]
    if not decided["termination"].is_known:
        missing.append("termination")
    return verdicts, f"not proved: {', '.join(missing)}" if missing else "", clock.laps


def _all_win_at_random(game: Game) -> bool:
    """Whether each player wins some of many random games, which proves that each can win."""
    rollouts = game.expander.rollouts(game.expander.initial, seed=1, each=1024, max_steps=300)
    wins = (rollouts.goals == 100) & ~rollouts.truncated[:, None]
    return all(wins[:, game.role_index(role)].any() for role in game.players)


def _vary(job: EvaluationJob) -> Variant:
    """Create the design of a job."""
    if job.operator == "random":
        return Variant(random_design(job.seed, job.settings.families), Lineage("random", job.seed))
    vary: Any = {"mutate": mutate, "cross": cross, "mutate_rules": mutate_rules, "cross_rules": cross_rules}
    variant: Variant = vary[job.operator](*job.parents, job.seed)
    return variant


def _cheap(game: Game, seed: int) -> dict[str, float]:
    from herbrand.measure import measure

    measures = measure(game, effort="cheap", seed=seed, only=CHEAP)
    return {name: round(value, 6) for name, value in measures.values.items()}


def _all_measures(game: Game, seed: int, *, pairs: int) -> Mapping[str, float]:
    """Return all measures of `herbrand.measure`, from fewer games than usual."""
    from herbrand.measure import Effort, measure

    effort = Effort("evolve", pairs=pairs, rungs=RUNGS, estimates=32, work=2.0)
    return measure(game, effort=effort, seed=seed).values


class _Clock:
    """Processor seconds of each stage, including child processes."""

    def __init__(self) -> None:
        self.laps: dict[str, float] = {}
        self._last = self._now()

    def lap(self, stage: str) -> None:
        """Attribute the time since the last lap to a stage."""
        now = self._now()
        self.laps[stage] = round(now - self._last, 4)
        self._last = now

    @staticmethod
    def _now() -> float:
        process_times = os.times()
        return process_times.children_user + process_times.children_system + time.process_time()
