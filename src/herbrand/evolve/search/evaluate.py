"""Make, sift, measure and prove one candidate; in whatever process this runs."""

from __future__ import annotations

import os
import time
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, TypeAlias

from herbrand.errors import BudgetExceeded, HerbrandError
from herbrand.evolve.random_designs import random_design
from herbrand.evolve.search.axes import cell_of
from herbrand.evolve.search.candidate import Candidate, EvaluationJob
from herbrand.evolve.search.filters import CHEAP, reason_against
from herbrand.evolve.search.quality import RUNGS, quality
from herbrand.evolve.variation import Lineage, Variant, cross, cross_rules, mutate, mutate_rules

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from herbrand.evolve.blocks.design import Design
    from herbrand.game import Game
    from herbrand.network.network import Network

__all__ = ["Proofs", "admission", "digest", "evaluate", "look_at"]

Proofs: TypeAlias = tuple[dict[str, str], str, dict[str, float]]
"""Verdicts by property, what is against the game (empty if nothing), and seconds by stage."""
PROOF_SECONDS = 4.0
"""Seconds that the proofs about one game may take."""


def evaluate(job: EvaluationJob) -> Candidate:
    """Make the candidate that a job asks for, and measure it unless a filter holds it back.

    The result depends on the job alone.
    """
    clock = _Clock()
    variant = _vary(job)
    clock.lap("variation")
    return _looked_at(variant, job, clock)


def look_at(variant: Variant, job: EvaluationJob) -> Candidate:
    """Look at a game that is there already as `evaluate` does, with the settings of a job.

    Stages are in the order of their costs: check, random games of the network, all measures.
    """
    return _looked_at(variant, job, _Clock())


def _looked_at(variant: Variant, job: EvaluationJob, clock: _Clock) -> Candidate:
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
    """Go through the stages; each says what is against the game, if anything."""
    design = candidate.design
    assert design is not None
    warned = [d.message for d in game.diagnostics if d.severity.value != "note"]
    clock.lap("check")
    yield warned[0] if warned else ""
    gates = game.network.gates
    clock.lap("ground")
    yield f"more than {job.settings.gates} gates" if gates > job.settings.gates else ""
    candidate.network = digest(game.network)
    yield "plays as a game before" if candidate.network in job.known else ""
    cheap = _cheap(game, job.seed)
    clock.lap("random games")
    yield reason_against(cheap)
    measures = (job.measure or _Measuring(job.settings.pairs))(game, job.seed)
    rounded = {name: round(value, 6) for name, value in measures.items()}
    candidate.measures = {**cheap, **rounded, "gates": gates}
    clock.lap("measures")
    candidate.quality = quality(candidate.measures)
    candidate.cell = cell_of(design, candidate.measures)


def admission(design: Design, seconds: float = PROOF_SECONDS) -> Proofs:
    """Decide what must hold of a game that is kept: it ends, all can act, each player can win.

    What is refuted is against it, and so is an end that is not proved; what else is unknown within the budget
    is not.
    """
    from herbrand.analyse.budget import Budget
    from herbrand.analyse.proofs.prove import analyse

    clock, game = _Clock(), design.game()
    wanted = ["termination", "playability"]
    won = _all_win_at_random(game)
    if not won:
        wanted.append("weak_winnability")
    budget = Budget(seconds=seconds, states=20_000)
    found = analyse(game, wanted, budget=budget, values=False, remarks=False).properties
    clock.lap("proofs")
    verdicts = {
        name: f"{verdict.answer} ({verdict.method})" if verdict.is_known else verdict.answer
        for name, verdict in found.items()
    }
    if won:
        verdicts["weak_winnability"] = "proved (random games)"
    against = [name for name, verdict in found.items() if verdict.answer == "refuted"]
    if not found["termination"].is_known:
        against.append("termination")
    return verdicts, f"not proved: {', '.join(against)}" if against else "", clock.laps


def _all_win_at_random(game: Game) -> bool:
    """Whether each player wins some of many random games, so that each can win."""
    found = game.expander.rollouts(game.expander.initial, seed=1, each=1024, max_steps=300)
    wins = (found.goals == 100) & ~found.truncated[:, None]
    return all(wins[:, game.role_index(role)].any() for role in game.players)


def digest(network: Network) -> str:
    """Return what is the same for equal networks, gate by gate, and for no others."""
    names = [network.terms.text(int(term)) for term in (*network.fluents, *network.moves[:, 1])]
    found = blake2b(repr((names, network.terminal)).encode(), digest_size=16)
    for part in (network.left, network.right, network.legal, network.next, network.goal, network.sees):
        found.update(part.tobytes())
    found.update(network.initial.tobytes())
    return found.hexdigest()


def _vary(job: EvaluationJob) -> Variant:
    """Make the design."""
    if job.operator == "random":
        design = random_design(job.seed, job.settings.families)
        return Variant(design, Lineage("random", job.seed))
    vary: Any = {"mutate": mutate, "cross": cross, "mutate_rules": mutate_rules, "cross_rules": cross_rules}
    found: Variant = vary[job.operator](*job.parents, job.seed)
    return found


def _cheap(game: Game, seed: int) -> dict[str, float]:
    from herbrand.measure import measure

    found = measure(game, effort="cheap", seed=seed, only=CHEAP)
    return {name: round(value, 6) for name, value in found.values.items()}


class _Measuring:
    """All measures of `herbrand.measure`, from fewer games than for games that are to be kept."""

    def __init__(self, pairs: int) -> None:
        self.pairs = pairs

    def __call__(self, game: Game, seed: int) -> Mapping[str, float]:
        from herbrand.measure import Effort, measure

        effort = Effort("evolve", pairs=self.pairs, rungs=RUNGS, estimates=32, work=2.0)
        return measure(game, effort=effort, seed=seed).values


class _Clock:
    """Processor seconds of each stage, those of child processes too."""

    def __init__(self) -> None:
        self.laps: dict[str, float] = {}
        self._last = self._now()

    def lap(self, stage: str) -> None:
        """Count what was spent since the last lap as that of a stage."""
        now = self._now()
        self.laps[stage] = round(now - self._last, 4)
        self._last = now

    @staticmethod
    def _now() -> float:
        spent = os.times()
        return spent.children_user + spent.children_system + time.process_time()
