"""Random playouts on several cores, with results that do not depend on how many there are.

The playouts are cut into parts by their number alone; each part has a seed of its own, derived from
the one given, and is played by one thread.  Parts are merged in their order.
"""

from __future__ import annotations

import os
import threading
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from herbrand.core import LANES, Stop
from herbrand.engine.from_network import BatchSimulator
from herbrand.engine.playouts import goal_statistics
from herbrand.runtime.limits import UNLIMITED

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from herbrand.engine.playouts import Simulation
    from herbrand.network.network import Network
    from herbrand.runtime.limits import Limits

__all__ = ["available_threads", "merge", "play"]

_GAMES_A_LANE = 32
"""Parts are at least so long that lanes that wait for the last games cost little."""
_PARTS = 16


def available_threads() -> int:
    """Return how many cores this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on every system
        return os.cpu_count() or 1


def parts(playouts: int, lanes: int) -> list[int]:
    """Return how many playouts each part has."""
    count = max(1, min(_PARTS, playouts // (_GAMES_A_LANE * lanes)))
    return [playouts // count + (i < playouts % count) for i in range(count)]


def seeds(seed: int, count: int) -> list[int]:
    """Return the seeds of parts: SplitMix (Steele, Lea and Flood 2014) from the one given."""
    found = []
    for part in range(1, count + 1):
        word = (seed + part * 0x9E3779B97F4A7C15) % (1 << 64)
        word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9 % (1 << 64)
        word = (word ^ (word >> 27)) * 0x94D049BB133111EB % (1 << 64)
        found.append(word ^ (word >> 31))
    return found


def play(
    network: Network,
    name: str,
    *,
    playouts: int,
    seed: int,
    max_steps: int,
    threads: int | None = None,
    limits: Limits = UNLIMITED,
    progress: Callable[[int, int], None] | None = None,
) -> Simulation:
    """Play random games on several cores; see `BatchSimulator.play`.

    `threads` is how many cores to use, all available ones if None.  `seconds` of the result is
    the processor time of all threads together.
    """
    sizes = parts(playouts, LANES)
    simulator = BatchSimulator(network)
    if len(sizes) == 1:
        return simulator.play(
            name, playouts=playouts, seed=seed, max_steps=max_steps, limits=limits, progress=progress
        )
    own_seeds = seeds(seed, len(sizes))
    clock = limits.start()
    done, lock, stop = [0] * len(sizes), threading.Lock(), Stop()

    def one(part: int) -> Simulation | None:
        def advanced(count: int, of: int) -> None:
            del of
            with lock:
                done[part] = count
                if progress is not None:
                    progress(sum(done), playouts)

        left = limits.seconds - clock.elapsed()
        if stop.is_set or (part and left <= 0):  # the first part always has something to tell
            return None
        return simulator.play(
            name,
            playouts=sizes[part],
            seed=own_seeds[part],
            max_steps=max_steps,
            limits=replace(limits, seconds=max(left, 0.0)),
            progress=advanced,
            stop=stop,
        )

    found: list[Simulation | None] = [None] * len(sizes)
    failures: list[BaseException] = []
    waiting = list(reversed(range(len(sizes))))

    def work() -> None:
        try:
            while True:
                with lock:
                    if not waiting:
                        return
                    part = waiting.pop()
                found[part] = one(part)
        except BaseException as error:  # noqa: BLE001  # raised where the threads meet again
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
        stop.set()  # an interrupt reaches this thread alone
    if failures:
        raise failures[0]
    played = [simulation for simulation in found if simulation is not None]
    whole = merge(played, seed=seed)
    if len(played) < len(sizes) or whole.stopped is not None:
        whole = replace(whole, stopped=f"over budget: {limits.seconds:g} seconds")
    return whole


def merge(simulations: Sequence[Simulation], *, seed: int) -> Simulation:
    """Return the statistics of several runs of one game as those of one run."""
    first = simulations[0]
    transitions = sum(part.transitions for part in simulations)
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
        transitions=transitions,
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
