"""`GameSearch`: draw batches of candidates, look at them in as many processes as there are, keep the best."""

from __future__ import annotations

import time
from collections import Counter
from concurrent.futures import BrokenExecutor, ProcessPoolExecutor
from dataclasses import dataclass, field, replace
from random import Random
from typing import TYPE_CHECKING, Final, TypeVar

from herbrand.evolve.blocks.rewritten import Rewritten
from herbrand.evolve.search.archive import Archive
from herbrand.evolve.search.candidate import Candidate, EvaluationJob, SearchSettings
from herbrand.evolve.search.evaluate import Proofs, admission, evaluate
from herbrand.evolve.search.store import SearchStore
from herbrand.evolve.variation.lineage import Lineage
from herbrand.runtime.pool import process_pool, terminate

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from concurrent.futures import Executor, Future
    from pathlib import Path

    from herbrand.evolve.blocks.design import Design
    from herbrand.game import Game

__all__ = ["GameSearch", "SearchProgress"]

T = TypeVar("T")
OPERATORS: Final = {"random": 10, "mutate": 50, "cross": 20, "mutate_rules": 15, "cross_rules": 5}
"""How often each is used, once there are games to be varied."""
_TICK: Final = 1.0
"""Seconds between two looks at a batch that is under way."""
FEW: Final = 4
"""With fewer games in the archive than this, candidates are random."""


@dataclass(slots=True)
class SearchProgress:
    """How far a search has come."""

    seconds: float
    """Since it was started, this time."""
    candidates: int
    """Looked at, all in all."""
    measured: int
    """Those that passed the filters, so that all measures were taken."""
    reasons: Counter[str]
    """Why the others were thrown away."""
    archive: Archive
    spent: Counter[str] = field(default_factory=Counter)
    """Processor seconds of each stage, over all candidates."""
    latest: Candidate | None = None
    """The last one that came into the archive."""
    under_way: int = 0
    """Candidates of batches that are not finished which were looked at, too."""


class GameSearch:
    """A search for games, kept in a database.

    The same settings give the same archive after the same number of batches, whatever executes them and
    however often the search was interrupted.
    """

    def __init__(
        self,
        database: Path | str,
        settings: SearchSettings = SearchSettings(),  # noqa: B008  # immutable
        *,
        measure: Callable[[Game, int], Mapping[str, float]] | None = None,
        prove: Callable[[Design], Proofs] = admission,
    ) -> None:
        """Begin a search, or go on with the one in the database.

        `measure` measures a game by a seed, as `herbrand.measure` if None; `prove` decides what is admitted.
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
        """Go on for so many seconds, or until there are so many batches in all; return the archive.

        Without an `executor`, `jobs` processes are started, one for each core if None.  What is under way
        when the time is over is left; it will be done when the search goes on.  `listener` hears of every
        batch, and about once a second of what is `under_way`.
        """
        began = time.monotonic()
        pool = executor if executor is not None else process_pool(jobs)
        latest: Candidate | None = None
        under_way: list[list[Future[Candidate]]] = []
        try:
            # The next batch is drawn from the archive before the last one, the one after it from the last.
            drawn = self.batches
            for archive in (self._before, self.archive):
                if batches is None or drawn < batches:
                    under_way.append([pool.submit(evaluate, job) for job in self._draw(drawn, archive)])
                    drawn += 1

            def tell() -> None:
                if listener is not None:
                    told = self.progress(time.monotonic() - began, latest)
                    told.under_way = sum(future.done() for futures in under_way for future in futures)
                    listener(told)

            while under_way:
                found = _wait(under_way[0], began + seconds, tell)
                if found is None:
                    break
                under_way.pop(0)
                if any(isinstance(result, BrokenExecutor) for result in found) and executor is None:
                    pool.shutdown(wait=False, cancel_futures=True)
                    pool, under_way = process_pool(jobs), []
                    found = [_alone(job) for job in self._draw(self.batches, self._before)]
                latest = self._finish(found, pool, tell) or latest
                if listener is not None:
                    listener(self.progress(time.monotonic() - began, latest))
                while len(under_way) < 2 and (batches is None or drawn < batches):
                    again = self.batches + len(under_way)
                    archive = self._before if again == self.batches else self.archive
                    under_way.append([pool.submit(evaluate, job) for job in self._draw(again, archive)])
                    drawn = again + 1
        finally:
            for future in (future for batch in under_way for future in batch):
                future.cancel()
            if isinstance(pool, ProcessPoolExecutor) and executor is None:
                terminate(pool)
        return self.archive

    def progress(self, seconds: float = 0.0, latest: Candidate | None = None) -> SearchProgress:
        """Return how far the search has come."""
        return SearchProgress(
            seconds, self.candidates, self.measured, self.reasons, self.archive, self.spent, latest
        )

    def everything(self) -> list[Candidate]:
        """Return all candidates there ever were, from the database."""
        return [candidate for batch in self.store.batches() for candidate in batch]

    def close(self) -> None:
        """Close the database."""
        self.store.close()

    # -- batches --------------------------------------------------------------------------

    def _draw(self, batch: int, archive: Archive) -> list[EvaluationJob]:
        """Say which candidates a batch has; depends on the seed, its number and the archive."""
        chance = Random(f"{self.settings.seed}:{batch}")
        elites = archive.elites()
        known = frozenset(candidate.network for candidate in elites)
        return [
            replace(self._job(batch * self.settings.batch + place, elites, chance), known=known)
            for place in range(self.settings.batch)
        ]

    def _job(self, number: int, elites: list[Candidate], chance: Random) -> EvaluationJob:
        seed = chance.getrandbits(48)
        (operator,) = chance.choices(list(OPERATORS), list(OPERATORS.values()))
        if number < self.settings.first or len(elites) < FEW:
            operator = "random"
        if operator == "random":
            return EvaluationJob("random", seed, (), self.settings, self.measure)
        designs = [candidate.design for candidate in elites if candidate.design is not None]
        mother = chance.choice(designs)
        if isinstance(mother, Rewritten):
            operator = {"mutate": "mutate_rules", "cross": "cross_rules"}.get(operator, operator)
        if operator == "cross":
            mates = [design for design in designs if type(design) is type(mother) and design != mother]
        else:
            mates = [design for design in designs if design != mother]
        if operator.startswith("cross") and not mates:
            operator = operator.replace("cross", "mutate")
        parents = (mother, chance.choice(mates)) if operator.startswith("cross") else (mother,)
        return EvaluationJob(operator, seed, parents, self.settings, self.measure)

    def _finish(
        self, found: Sequence[Candidate | BaseException], pool: Executor, tick: Callable[[], None]
    ) -> Candidate | None:
        """Prove what deserves it, keep the batch, and return the last one that came into the archive."""
        batch = []
        first = self.batches * self.settings.batch
        for number, result in enumerate(found, first):
            candidate = (
                Candidate(None, Lineage("-", 0), f"failed: {result}")
                if isinstance(result, BaseException)
                else result
            )
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
        promising = [candidate for candidate in batch if self.archive.wants(candidate)]
        proofs = [(c, pool.submit(self.prove, c.design)) for c in promising if c.design is not None]
        _wait([future for _, future in proofs], float("inf"), tick)
        for candidate, future in proofs:
            error = future.exception()
            if error is not None:
                candidate.reason = f"failed: {error}"
                continue
            candidate.proofs, candidate.reason, spent = future.result()
            candidate.seconds |= spent
        self.store.add(self.batches, batch)
        return self._count(batch)

    def _count(self, batch: Sequence[Candidate]) -> Candidate | None:
        """Take a batch into the archive and the statistics."""
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


def _alone(job: EvaluationJob) -> Candidate | BaseException:
    """Do one job after a process died, in a pool of its own: so that only what kills it is lost."""
    with process_pool(1) as own:
        future = own.submit(evaluate, job)
        return future.exception() or future.result()


def _wait(
    futures: list[Future[T]], deadline: float, tick: Callable[[], None]
) -> list[T | BaseException] | None:
    """Return the results; None if they are not all there in time.  Ticks about once a second."""
    from concurrent.futures import wait

    open_: Collection[Future[T]] = futures
    while open_:
        left = deadline - time.monotonic()
        if left <= 0:
            return None
        _, open_ = wait(futures, min(left, _TICK))
        if open_:
            tick()
    return [future.exception() or future.result() for future in futures]
