"""Random playouts on a network, thousands of games at a time."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from herbrand.limits import UNLIMITED
from herbrand.simulate.playouts import Simulation, goal_statistics, goal_value, stuck_in
from herbrand.simulate.rows import share_rows

if TYPE_CHECKING:
    from collections.abc import Callable

    from herbrand.limits import Limits
    from herbrand.network.network import Network
    from herbrand.simulate.rows import Rows
    from herbrand.simulate.straight import Straight

__all__ = ["BatchSimulator", "choose_width"]

_SCRATCH = 10
_BITS = 12
_ROWS_FOR_WIDE = 40_000
_PLAYOUTS_FOR_WIDE = 4096
_PIECES = 9
"""The place of the compiled pieces among the arguments of `kernel.play`."""
_MOST_COMPILING = 10.0
_WORTH = 4
"""How many times as long as compiling takes there must be to play."""


def choose_width(network: Network, playouts: int) -> int:
    """Return how many words a row should have.

    Wide rows amortise the walk over the gates, narrow ones fit larger networks into the
    cache.  Only two widths are used, because each is compiled once (and kept on disk).
    """
    rows = network.inputs + network.gates + len(network.fluents)
    return 16 if rows < _ROWS_FOR_WIDE and playouts >= _PLAYOUTS_FOR_WIDE else 8


@dataclass(slots=True)
class BatchSimulator:
    """Plays random games on a network, 64 to a word."""

    network: Network
    width: int
    """Words in a row, a power of two; `64 * width` games are played at once."""
    straight: bool | None = None
    """Whether gates get machine code of their own (`straight.straighten`): None for where it pays.

    The games are the same in any case.
    """
    _shared: Rows = field(init=False, repr=False)
    _code: Straight | None = field(default=None, init=False, repr=False)
    """The code, once there is some: all runs share it."""
    _looked: bool = field(default=False, init=False, repr=False)
    """Whether code was looked for on disk, which takes as long as a thousand short games."""

    def __post_init__(self) -> None:
        if self.width < 1 or self.width & (self.width - 1):
            raise ValueError(f"a row has 1, 2, 4, 8, ... words, not {self.width}")
        self._shared = share_rows(self.network)

    def play(
        self,
        name: str,
        *,
        playouts: int,
        seed: int,
        max_steps: int,
        limits: Limits = UNLIMITED,
        progress: Callable[[int, int], None] | None = None,
    ) -> Simulation:
        """Play `playouts` games to their end and return their statistics.

        Every lane plays a share fixed beforehand, so that short games are not preferred.  The
        same seed, width and number give the same games.  When the time of `limits` is up, the
        games finished so far are counted, which does prefer short ones; `stopped` says so.
        """
        from herbrand.simulate import kernel

        play: Any = kernel.play
        lanes = 64 * self.width
        quota = np.full(lanes, playouts // lanes, np.int64)
        quota[: playouts % lanes] += 1
        if not self._looked and self.straight is not False:
            self._code, self._looked = self.code(only_kept=self.straight is None), True
        code = self._code
        arguments, counters = self._prepare(quota, seed, max_steps, code)
        play(*arguments, 0, 0, max_steps, *counters.values())  # compiles, the first time
        started, clock = time.thread_time(), limits.start()
        step, passes, stopped = 0, 16, None
        while counters["totals"][1] < playouts:
            before = time.monotonic()
            step = play(*arguments, step, passes, max_steps, *counters.values())
            spent = time.monotonic() - before
            passes = max(1, min(4 * passes, 100_000, int(passes * 0.1 / max(spent, 1e-6))))
            if progress is not None:
                progress(int(counters["totals"][1]), playouts)
            left = limits.seconds - clock.elapsed()
            if left < 0:
                stopped = f"over budget: {limits.seconds:g} seconds"
                break
            if code is None and self.straight is None:
                spent = time.thread_time() - started
                rest = spent * (playouts / max(int(counters["totals"][1]), 1) - 1)
                if self._pays(spent, min(rest, left)):
                    code = self._code = self.code()
                    assert code is not None
                    arguments = (*arguments[:_PIECES], code.pieces, *arguments[_PIECES + 1 :])
        return self._result(name, counters, seed, time.thread_time() - started, stopped)

    def code(self, *, only_kept: bool = False, seconds: float | None = None) -> Straight | None:
        """Return the machine code of the gates; with `only_kept` None unless it was compiled before."""
        from herbrand.simulate.straight import SECONDS, straighten

        return straighten(
            self.network,
            self._shared,
            self.width,
            only_kept=only_kept,
            seconds=SECONDS if seconds is None else seconds,
        )

    def _pays(self, spent: float, rest: float) -> bool:
        """Return whether code of its own is worth its compilation, after so many seconds with so many to go.

        Compiling is begun when walking has taken as long as it will take, so that at most twice the
        time is spent whatever comes.
        """
        from herbrand.simulate.straight import expected_seconds

        expected = expected_seconds(self.network)
        return expected < _MOST_COMPILING and spent > expected and rest > _WORTH * expected

    def _prepare(
        self, quota: Any, seed: int, max_steps: int, code: Straight | None = None
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        from herbrand.simulate.kernel import FEW
        from herbrand.simulate.straight import nothing

        network, words = self.network, self.width
        fluents, moves = len(network.fluents), len(network.moves)
        roles = len(network.roles)
        shared = self._shared
        early = np.flatnonzero((shared.next >> 1 > 0) & (shared.next >> 1 < network.inputs))
        bounds = np.searchsorted(network.moves[:, 0], np.arange(roles + 1)).astype(np.int64)
        largest = int(np.diff(bounds).max(initial=0))
        scratch = shared.count
        state = scratch + _SCRATCH
        buffer = state + 4
        rank = buffer + len(early)
        total = rank + _BITS
        size = total + _BITS
        rows = np.zeros((size, words), np.uint64)
        rows[state : state + 4] = (
            np.random.SeedSequence(seed).generate_state(4 * words, np.uint64).reshape(4, words)
        )
        rows[1 : 1 + fluents][network.initial] = np.uint64(0xFFFFFFFFFFFFFFFF)
        bits_set = (quota > 0).reshape(words, 64)
        rows[scratch] = (bits_set.astype(np.uint64) << np.arange(64, dtype=np.uint64)).sum(
            axis=1, dtype=np.uint64
        )
        by_role = np.argsort(network.goals[:, 0], kind="stable")
        following = shared.next.copy()
        following[early] = 2 * (buffer + np.arange(len(early)))
        arguments = (
            rows.reshape(-1),
            (0,) * words,
            shared.left,
            shared.right,
            shared.out,
            np.array(network.cones, np.int64),
            network.loops[np.argsort(network.loops[:, 0])],
            shared.feedback,
            1 + fluents + moves,
            nothing() if code is None else code.pieces,
            fluents,
            following,
            shared.next[early],
            network.initial,
            1 + fluents,
            shared.legal,
            bounds,
            shared.terminal,
            shared.goal[by_role],
            network.goals[by_role, 0].copy(),
            scratch,
            np.array([state, buffer, rank, total], np.int64),
            quota,
            np.zeros(64 * words, np.int64),
        )
        counters = {
            "histogram": np.zeros(max_steps + 2, np.int64),
            "goal_counts": np.zeros(len(by_role), np.int64),
            "undefined": np.zeros(roles, np.int64),
            "branching": np.zeros(roles, np.int64),
            "totals": np.zeros(6, np.int64),
            "touched": np.zeros(roles * 64 * words, np.int64),
            "lists": np.zeros((64 * words, largest if largest > FEW else 1), np.int32),
            "listed": np.zeros(64 * words, np.int64),
            "example": np.zeros(fluents, np.uint8),
        }
        return arguments, counters

    def _result(
        self, name: str, counters: dict[str, Any], seed: int, seconds: float, stopped: str | None
    ) -> Simulation:
        network = self.network
        text = network.terms.text
        transitions, played, truncated, stuck = counters["totals"][:4].tolist()
        by_role = np.argsort(network.goals[:, 0], kind="stable")
        values: list[Counter[int]] = [Counter() for _ in network.roles]
        undefined = counters["undefined"].tolist()
        for (role, term), count in zip(
            network.goals[by_role].tolist(), counters["goal_counts"].tolist(), strict=True
        ):
            value = goal_value(text(term))
            if not count:
                continue
            if value is not None:
                values[role][value] += count
            else:
                undefined[role] += count
        lengths = counters["histogram"]
        return Simulation(
            game=name,
            engine="network",
            seed=seed,
            playouts=played,
            truncated=truncated,
            transitions=transitions,
            lengths={int(n): int(lengths[n]) for n in np.flatnonzero(lengths)},
            goals={
                text(role): goal_statistics(counts, missing)
                for role, counts, missing in zip(network.roles, values, undefined, strict=True)
            },
            seconds=seconds,
            stopped=stopped,
            stuck=stuck,
            stuck_in=self._stuck(counters) if stuck else None,
            branching={
                text(role): total / max(transitions + stuck, 1)
                for role, total in zip(network.roles, counters["branching"].tolist(), strict=True)
            },
        )

    def _stuck(self, counters: dict[str, Any]) -> str:
        network = self.network
        role = network.terms.text(network.roles[int(counters["totals"][4])])
        fluents = network.fluents[counters["example"] != 0].tolist()
        return stuck_in(role, map(network.terms.text, fluents))
