"""Random playouts on several cores or machines, with results that do not depend on their number.

The number of playouts alone decides how they are divided into parts; each part has its own seed, derived
from the seed of the call, and is played by one thread, here or on a worker.  Results are merged in the
order of the parts.
"""

from __future__ import annotations

import math
import os
import threading
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol

from herbrand.core import LANES, Stop
from herbrand.engine.from_network import BatchSimulator
from herbrand.engine.playouts import Simulation, goal_statistics
from herbrand.engine.weights import weight_function, weighted
from herbrand.errors import BudgetExceeded
from herbrand.runtime.limits import UNLIMITED, Limits, time_spent

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from concurrent.futures import Executor

    from herbrand.engine.weights import Weights
    from herbrand.network.network import Network
    from herbrand.runtime.cluster.results import ResultFile

__all__ = ["available_threads", "merge", "play", "play_on"]

_GAMES_A_LANE = 32
"""Minimum length of a part: lanes that idle while the last games end are then few."""
_PARTS = 16
"""Number of parts, except for very many playouts: ..."""
_MOST_GAMES = 1 << 24
"""... the number of playouts in a part, for clusters with more workers."""


class _HasNetwork(Protocol):
    """A `GameDescription`, which imports this module."""

    name: str

    @property
    def network(self) -> Network: ...


def available_threads() -> int:
    """Return how many cores this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # missing on macOS and Windows
        return os.cpu_count() or 1


def parts(playouts: int, lanes: int) -> list[int]:
    """Return how many playouts each part has."""
    count = max(1, min(max(_PARTS, playouts // _MOST_GAMES), playouts // (_GAMES_A_LANE * lanes)))
    return [playouts // count + (i < playouts % count) for i in range(count)]


def seeds(seed: int, count: int) -> list[int]:
    """Return the seeds of the parts: outputs of SplitMix (Steele, Lea and Flood 2014) from `seed`."""
    numbers = []
    for part in range(1, count + 1):
        word = (seed + part * 0x9E3779B97F4A7C15) % (1 << 64)
        word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9 % (1 << 64)
        word = (word ^ (word >> 27)) * 0x94D049BB133111EB % (1 << 64)
        numbers.append(word ^ (word >> 31))
    return numbers


def play(
    network: Network,
    name: str,
    *,
    playouts: int,
    seed: int,
    max_steps: int,
    threads: int | None = None,
    limits: Limits = UNLIMITED,
    weights: Weights | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Simulation:
    """Play random games on several cores; see `BatchSimulator.play`.

    `threads` is the number of cores to use, None for all available.  `seconds` of the result is the total
    processor time of all threads.
    """
    sizes = parts(playouts, LANES)
    simulator = _simulator(network, weights)
    if len(sizes) == 1:
        return simulator.play(
            name, playouts=playouts, seed=seed, max_steps=max_steps, limits=limits, progress=progress
        )
    own_seeds = seeds(seed, len(sizes))
    clock = limits.start()
    done, lock, stop = [0] * len(sizes), threading.Lock(), Stop()

    def play_part(part: int) -> Simulation | None:
        def report(count: int, of: int) -> None:
            del of
            with lock:
                done[part] = count
                if progress is not None:
                    progress(sum(done), playouts)

        left = clock.left()
        if stop.is_set or (part and not left):  # the first part always returns a result
            return None
        return simulator.play(
            name,
            playouts=sizes[part],
            seed=own_seeds[part],
            max_steps=max_steps,
            limits=replace(limits, seconds=left),
            progress=report,
            stop=stop,
        )

    results: list[Simulation | None] = [None] * len(sizes)
    failures: list[BaseException] = []
    queue = list(reversed(range(len(sizes))))

    def work() -> None:
        try:
            while True:
                with lock:
                    if not queue:
                        return
                    part = queue.pop()
                results[part] = play_part(part)
        except BaseException as error:  # noqa: BLE001  # reraised by the calling thread
            failures.append(error)
            stop.set()

    others = [
        threading.Thread(target=work)
        for _ in range(min(max(1, threads or available_threads()), len(sizes)) - 1)
    ]
    try:
        for thread in others:
            thread.start()
        work()
        for thread in others:
            thread.join()
    finally:
        stop.set()  # signals interrupt only the main thread
    if failures:
        raise failures[0]
    played = [simulation for simulation in results if simulation is not None]
    merged = merge(played, seed=seed)
    if len(played) < len(sizes) or merged.stopped is not None:
        merged = replace(merged, stopped=f"over budget: {time_spent(limits.seconds)}")
    return merged


def play_on(
    executor: Executor,
    game: _HasNetwork,
    *,
    playouts: int,
    seed: int,
    max_steps: int,
    limits: Limits = UNLIMITED,
    weights: Weights | None = None,
    progress: Callable[[int, int], None] | None = None,
    results: ResultFile | None = None,
) -> Simulation:
    """Play the games of `play` on the workers of an executor, with the same result.

    With `results` parts are written there as they come, and those that are there are not played again;
    when the time of `limits` is up, `BudgetExceeded` is raised, and the next call goes on.  Raises
    `HerbrandError` if a part fails, for example since its worker was lost several times.
    """
    from herbrand.runtime.cluster import Task, TaskProgress, run_tasks, values

    sizes = parts(playouts, LANES)
    own_seeds = seeds(seed, len(sizes)) if len(sizes) > 1 else [seed]
    function = _play_part if results is None else _part_as_data
    # a file of results has whole parts only, independent of the time of this call
    seconds = limits.seconds if results is None else math.inf
    tasks = [
        Task(f"simulate-{game.name}-{number:04}", function, (game, size, own, max_steps, seconds, weights))
        for number, (size, own) in enumerate(zip(sizes, own_seeds, strict=True), 1)
    ]
    clock = limits.start()

    def report(now: TaskProgress) -> None:
        if progress is not None:
            progress(playouts * now.done // now.of, playouts)
        if results is not None and now.done < now.of and not clock.left():
            raise BudgetExceeded(time_spent(limits.seconds), f"{now.done} of {now.of} parts played")

    part_results = values(run_tasks(tasks, executor=executor, results=results, progress=report))
    played = part_results if results is None else [Simulation.from_data(data) for data in part_results]
    merged = merge(played, seed=seed)
    if merged.stopped is not None:
        merged = replace(merged, stopped=f"over budget: {time_spent(limits.seconds)}")
    return merged


def _part_as_data(*arguments: Any) -> dict[str, Any]:
    return _play_part(*arguments).as_data()


def _play_part(
    game: _HasNetwork, playouts: int, seed: int, max_steps: int, seconds: float, weights: Weights | None
) -> Simulation:
    return _simulator(game.network, weights).play(
        game.name, playouts=playouts, seed=seed, max_steps=max_steps, limits=Limits(seconds=seconds)
    )


def _simulator(network: Network, weights: Weights | None) -> BatchSimulator:
    """Return what plays on a network, with moves in proportion to weights if there are any."""
    if weights is not None:
        network = weighted(network, weight_function(weights, network.terms, network.roles))
    return BatchSimulator(network)


def merge(simulations: Sequence[Simulation], *, seed: int) -> Simulation:
    """Combine the statistics of several runs of one game."""
    first = simulations[0]
    visited = [part.transitions + part.stuck for part in simulations]
    lengths: Counter[int] = Counter()
    for part in simulations:
        lengths.update(part.lengths)
    goals = {}
    for role in first.goals:
        counts: Counter[int] = Counter()
        for part in simulations:
            counts.update(part.goals[role].distribution)
        goals[role] = goal_statistics(counts, sum(part.goals[role].undefined for part in simulations))
    return replace(
        first,
        seed=seed,
        playouts=sum(part.playouts for part in simulations),
        truncated=sum(part.truncated for part in simulations),
        stuck=sum(part.stuck for part in simulations),
        stuck_in=next((part.stuck_in for part in simulations if part.stuck_in), None),
        transitions=sum(part.transitions for part in simulations),
        lengths=dict(sorted(lengths.items())),
        goals=goals,
        seconds=sum(part.seconds for part in simulations),
        stopped=next((part.stopped for part in simulations if part.stopped), None),
        branching={
            role: sum(
                part.branching[role] * states for part, states in zip(simulations, visited, strict=True)
            )
            / max(sum(visited), 1)
            for role in first.branching
        },
    )
