"""`GameSearch`: draws batches of candidates, evaluates them in parallel, keeps the best."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, field, replace
from random import Random
from typing import TYPE_CHECKING, Final

from herbrand.evolve.blocks.rewritten import Rewritten
from herbrand.evolve.search.archive import Archive
from herbrand.evolve.search.candidate import Candidate, EvaluationJob, SearchSettings
from herbrand.evolve.search.evaluate import Proofs, admission, evaluate
from herbrand.evolve.search.store import SearchStore
from herbrand.evolve.variation.lineage import Lineage
from herbrand.runtime.cluster import Runner, Task, TaskResult
from herbrand.runtime.pool import WorkerPool

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from concurrent.futures import Executor, Future
    from pathlib import Path

    from herbrand.evolve.blocks.design import Design
    from herbrand.game import Game

__all__ = ["GameSearch", "SearchProgress"]

OPERATORS: Final = {"random": 10, "mutate": 50, "cross": 20, "mutate_rules": 15, "cross_rules": 5}
"""Weights of the operators."""
_TICK: Final = 1.0
"""Seconds between progress reports."""
_TASKS: Final = 256
"""Most tasks of a batch, approximately."""
MIN_ELITES: Final = 4
"""With fewer games in the archive, candidates are random."""


@dataclass(slots=True)
class SearchProgress:
    """The progress of a search."""

    seconds: float
    """Since this run was started."""
    candidates: int
    """Number of candidates in all runs."""
    measured: int
    """Number of candidates that passed the filters."""
    reasons: Counter[str]
    """Why the others were discarded."""
    archive: Archive
    spent: Counter[str] = field(default_factory=Counter)
    """Processor seconds of each stage, over all candidates."""
    latest: Candidate | None = None
    """The last one that was added to the archive."""
    under_way: int = 0
    """Number of evaluated candidates in unfinished batches."""


class GameSearch:
    """A search for games, stored in a database.

    The archive depends only on the settings and the number of batches, not on the executor or interruptions.
    """

    def __init__(
        self,
        database: Path | str,
        settings: SearchSettings = SearchSettings(),  # noqa: B008  # immutable
        *,
        measure: Callable[[Game, int], Mapping[str, float]] | None = None,
        prove: Callable[[Design], Proofs] = admission,
    ) -> None:
        """Start a search, or resume the one in the database.

        `measure` measures a game with a seed (by default `herbrand.measure`); `prove` decides about
        admission.
        """
        self.store = SearchStore(database)
        self.settings = self.store.settings(settings)
        self.measure = measure
        self.prove = prove
        self.archive = Archive()
        self._before = Archive()
        """The archive without the last batch."""
        self.batches = 0
        self.candidates = 0
        self.measured = 0
        self.reasons: Counter[str] = Counter()
        self.spent: Counter[str] = Counter()
        for batch in self.store.batches():
            self._count(batch)

    def run(
        self,
        *,
        seconds: float = float("inf"),
        batches: int | None = None,
        executor: Executor | None = None,
        jobs: int | None = None,
        listener: Callable[[SearchProgress], None] | None = None,
    ) -> Archive:
        """Search for some seconds, or up to a total number of batches; return the archive.

        Without an `executor`, `jobs` processes are started, by default one per core.  Unfinished batches are
        abandoned at the end of the time, and repeated when the search is resumed.  `listener` is called after
        every batch and about once a second.
        """
        began = time.monotonic()
        pool = executor if executor is not None else WorkerPool(jobs)
        runner = Runner(pool)
        latest: Candidate | None = None
        under_way: list[list[Future[TaskResult]]] = []
        try:
            # The next batch is drawn from the archive without the last batch, the one after it from all.
            drawn = self.batches
            for archive in (self._before, self.archive):
                if batches is None or drawn < batches:
                    under_way.append(self._submit(runner, drawn, archive))
                    drawn += 1

            def report() -> None:
                if listener is not None:
                    progress = self.progress(time.monotonic() - began, latest)
                    done = sum(future.done() for futures in under_way for future in futures)
                    progress.under_way = done * self._group
                    listener(progress)

            while under_way:
                results = _wait(under_way[0], began + seconds, report)
                if results is None:
                    break
                under_way.pop(0)
                latest = self._finish(results, runner, report) or latest
                if listener is not None:
                    listener(self.progress(time.monotonic() - began, latest))
                while len(under_way) < 2 and (batches is None or drawn < batches):
                    batch = self.batches + len(under_way)
                    archive = self._before if batch == self.batches else self.archive
                    under_way.append(self._submit(runner, batch, archive))
                    drawn = batch + 1
        finally:
            for future in (future for futures in under_way for future in futures):
                future.cancel()
            if executor is None:
                pool.shutdown(wait=False, cancel_futures=True)
        return self.archive

    def progress(self, seconds: float = 0.0, latest: Candidate | None = None) -> SearchProgress:
        """Return the progress of the search."""
        return SearchProgress(
            seconds, self.candidates, self.measured, self.reasons, self.archive, self.spent, latest
        )

    def everything(self) -> list[Candidate]:
        """Return all candidates, from the database."""
        return [candidate for batch in self.store.batches() for candidate in batch]

    def close(self) -> None:
        """Close the database."""
        self.store.close()

    # -- batches --------------------------------------------------------------------------

    def _submit(self, runner: Runner, batch: int, archive: Archive) -> list[Future[TaskResult]]:
        """Have the candidates of a batch evaluated, each alone or several in a task."""
        jobs, size = self._draw(batch, archive), self._group
        return [
            runner.submit(Task(f"evolve-{batch:04}-{at:02}", _evaluate_all, (jobs[at : at + size],)))
            for at in range(0, len(jobs), size)
        ]

    @property
    def _group(self) -> int:
        """Candidates of a task: one, except in so large batches that tasks would keep a scheduler busy."""
        return max(1, self.settings.batch // _TASKS)

    def _apart(
        self, groups: Sequence[TaskResult], runner: Runner, tick: Callable[[], None]
    ) -> list[TaskResult]:
        """Return the results of single candidates; those of a task that failed are evaluated alone."""
        size = self._group
        results: list[TaskResult] = []
        for group in groups:
            if not group.failed:
                results += [replace(group, value=candidate) for candidate in group.value]
            elif size == 1:
                results.append(group)
            else:
                at = len(results)
                jobs = self._draw(self.batches, self._before)[at : at + size]
                alone = [
                    runner.submit(Task(f"{group.name}-{n}", _evaluate_all, ([job],)))
                    for n, job in enumerate(jobs)
                ]
                for result in _wait(alone, float("inf"), tick) or []:
                    results.append(result if result.failed else replace(result, value=result.value[0]))
        return results

    def _draw(self, batch: int, archive: Archive) -> list[EvaluationJob]:
        """Return the jobs of a batch; depends only on the seed, its number and the archive."""
        chance = Random(f"{self.settings.seed}:{batch}")
        elites = archive.elites()
        fingerprints = frozenset(candidate.network for candidate in elites)
        return [
            replace(self._job(batch * self.settings.batch + place, elites, chance), known=fingerprints)
            for place in range(self.settings.batch)
        ]

    def _job(self, number: int, elites: list[Candidate], chance: Random) -> EvaluationJob:
        seed = chance.getrandbits(48)
        (operator,) = chance.choices(list(OPERATORS), list(OPERATORS.values()))
        if operator == "random" or number < self.settings.first or len(elites) < MIN_ELITES:
            return EvaluationJob("random", seed, (), self.settings, self.measure)
        designs = [candidate.design for candidate in elites if candidate.design is not None]
        mother = chance.choice(designs)
        if isinstance(mother, Rewritten):
            operator = {"mutate": "mutate_rules", "cross": "cross_rules"}.get(operator, operator)
        mates = [design for design in designs if design != mother]
        if operator == "cross":
            mates = [design for design in mates if type(design) is type(mother)]
        if operator.startswith("cross") and not mates:
            operator = operator.replace("cross", "mutate")
        parents = (mother, chance.choice(mates)) if operator.startswith("cross") else (mother,)
        return EvaluationJob(operator, seed, parents, self.settings, self.measure)

    def _finish(
        self, results: Sequence[TaskResult], runner: Runner, tick: Callable[[], None]
    ) -> Candidate | None:
        """Prove the promising candidates, store the batch, and return the last one added to the archive."""
        batch = []
        first = self.batches * self.settings.batch
        for number, result in enumerate(self._apart(results, runner, tick), first):
            failed = Candidate(None, Lineage("-", 0), f"failed: {result.error}")
            candidate: Candidate = failed if result.failed else result.value
            candidate.number = number
            batch.append(candidate)
        names, networks = set(self.archive.names), set(self.archive.networks)
        for candidate in batch:
            if candidate.design is not None and not candidate.reason and candidate.name in names:
                candidate.reason = "seen before"
            elif not candidate.reason and candidate.network in networks:
                candidate.reason = "plays as a game before"
            names.add(candidate.name)
            networks.add(candidate.network)
        promising = [one for one in batch if one.design is not None and self.archive.wants(one)]
        proofs = [
            runner.submit(Task(f"prove-{candidate.number:06}", self.prove, (candidate.design,)))
            for candidate in promising
        ]
        for candidate, result in zip(promising, _wait(proofs, float("inf"), tick) or [], strict=True):
            if result.failed:
                candidate.reason = f"failed: {result.error}"
                continue
            candidate.proofs, candidate.reason, stage_seconds = result.value
            candidate.seconds |= stage_seconds
        self.store.add(self.batches, batch)
        return self._count(batch)

    def _count(self, batch: Sequence[Candidate]) -> Candidate | None:
        """Add a batch to the archive and the statistics."""
        self._before = self.archive.copy()
        latest = None
        for candidate in batch:
            if self.archive.add(candidate):
                latest = candidate
            self.candidates += 1
            self.measured += candidate.measured
            if candidate.reason:
                self.reasons[candidate.reason.split(":")[0]] += 1
            self.spent.update(candidate.seconds)
        self.batches += 1
        return latest


def _evaluate_all(jobs: Sequence[EvaluationJob]) -> list[Candidate]:
    return [evaluate(job) for job in jobs]


def _wait(
    futures: list[Future[TaskResult]], deadline: float, tick: Callable[[], None]
) -> list[TaskResult] | None:
    """Return the results, or None at the deadline; call `tick` about once a second."""
    from concurrent.futures import wait

    pending: Collection[Future[TaskResult]] = futures
    while pending:
        left = deadline - time.monotonic()
        if left <= 0:
            return None
        _, pending = wait(futures, min(left, _TICK))
        if pending:
            tick()
    return [future.result() for future in futures]
