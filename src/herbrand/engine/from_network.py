"""Random playouts on a network, 512 games at a time."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from herbrand.core import Playouts, Stop
from herbrand.engine.playouts import Simulation, goal_statistics, goal_value, stuck_in
from herbrand.runtime.limits import UNLIMITED, time_spent

if TYPE_CHECKING:
    from collections.abc import Callable

    from herbrand.network.network import Network
    from herbrand.runtime.limits import Limits

__all__ = ["BatchSimulator"]

_PROGRESS_SECONDS = 0.1


@dataclass(frozen=True, slots=True)
class BatchSimulator:
    """Plays random games on a network, one in each lane."""

    network: Network
    walk: bool = False
    """Whether to interpret the lane program instead of compiling it; the games are the same."""

    def play(
        self,
        name: str,
        *,
        playouts: int,
        seed: int,
        max_steps: int,
        limits: Limits = UNLIMITED,
        progress: Callable[[int, int], None] | None = None,
        stop: Stop | None = None,
    ) -> Simulation:
        """Play `playouts` games to their end and return their statistics.

        Every lane plays a fixed share of the games, so that short games are not over-represented.  The same
        `seed` and `playouts` give the same games.  When the time of `limits` is up, or `stop` is set, only
        the games finished so far are counted, which favours short ones; `stopped` of the result gives the
        reason.
        """
        stop = stop or Stop()
        clock = limits.start()
        started = time.thread_time()
        # compiling the program counts as time played
        games = Playouts(self.network.circuit, playouts, seed % (1 << 64), max_steps, walk=self.walk)
        done, stopped = False, None
        while not done and stopped is None:
            done = games.play(min(clock.left(), _PROGRESS_SECONDS), stop)
            if progress is not None:
                progress(games.played, playouts)
            if not done and stop.is_set:
                stopped = "stopped"
            elif not done and not clock.left():
                stopped = f"over budget: {time_spent(limits.seconds)}"
        return self._result(name, games, seed, time.thread_time() - started, stopped)

    def _result(
        self, name: str, games: Playouts, seed: int, seconds: float, stopped: str | None
    ) -> Simulation:
        network = self.network
        text = network.terms.text
        values: list[Counter[int]] = [Counter() for _ in network.roles]
        undefined = [games.ended] * len(network.roles)
        for (role, term), count in zip(network.goals.tolist(), games.goals.tolist(), strict=True):
            value = goal_value(text(term))
            if count and value is not None:
                values[role][value] += count
                undefined[role] -= count
        lengths, transitions = games.lengths, games.transitions
        return Simulation(
            game=name,
            engine="network",
            seed=seed,
            playouts=games.played,
            truncated=games.truncated,
            transitions=transitions,
            lengths={int(n): int(lengths[n]) for n in np.flatnonzero(lengths)},
            goals={
                text(role): goal_statistics(counts, missing)
                for role, counts, missing in zip(network.roles, values, undefined, strict=True)
            },
            seconds=seconds,
            stopped=stopped,
            stuck=games.stuck,
            stuck_in=self._describe_stuck(games) if games.stuck else None,
            branching={
                text(role): total / max(transitions + games.stuck, 1)
                for role, total in zip(network.roles, games.choices.tolist(), strict=True)
            },
        )

    def _describe_stuck(self, games: Playouts) -> str:
        network = self.network
        role = network.terms.text(network.roles[games.stuck_role])
        bits = np.unpackbits(games.stuck_state.astype("<u8").view(np.uint8), bitorder="little")
        fluents = network.fluents[np.flatnonzero(bits[: len(network.fluents)])].tolist()
        return stuck_in(role, map(network.terms.text, fluents))
