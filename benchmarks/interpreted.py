"""Random playouts on an interpreted lane program: the slow reference for the core.

The shortest program that does what `network.lanes.PlayRows` requires of its caller; `core.Playouts` and the C
source that `convert` writes must produce the same numbers from the same seed.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from herbrand.core import LANES
from herbrand.network.lane_machine import LaneMachine
from herbrand.network.lanes import LaneProgram

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from herbrand.network.lanes import Draw, PlayRows
    from herbrand.network.network import Network

__all__ = ["InterpretedPlayouts"]

_MASK = (1 << 64) - 1


class InterpretedPlayouts:
    """Uniformly random games from the initial state, 512 at a time; the constructor plays all of them.

    The attributes are those of `core.Playouts`, except that `lengths` is a counter.  `machine` creates the
    interpreter of a lane program.
    """

    def __init__(
        self,
        network: Network,
        playouts: int,
        seed: int,
        max_steps: int,
        *,
        arity: int = 3,
        machine: Callable[[LaneProgram], LaneMachine] = LaneMachine,
    ) -> None:
        self.played = self.ended = self.truncated = self.stuck = 0
        self.stuck_role = -1
        self.stuck_fluents: list[int] = []
        """The fluents that were true in the first state in which a role had no legal move."""
        self.lengths: Counter[int] = Counter()
        self.goals = np.zeros(len(network.goals), np.int64)
        self.choices = np.zeros(len(network.roles), np.int64)
        self._machine = machine(LaneProgram.playing(network, arity=arity))
        self._start = np.zeros(LANES, np.int64)
        self._quota = np.array([playouts // LANES + (lane < playouts % LANES) for lane in range(LANES)])
        self._max_steps = max_steps
        self._seed(seed)
        step = since_flush = 0
        while self._quota.any():
            if not self._advance(step):  # an assumption of the program does not hold
                self._flush()  # the two programs have different counters
                before, fluents = self._machine.state, len(network.fluents)
                self._machine = machine(LaneProgram.playing(network, assume=False, arity=arity))
                self._machine.state[:fluents] = before[:fluents]
                since_flush = 0
                continue
            step += 1
            since_flush += 1
            if since_flush == self._play.flush_steps:
                self._flush()
                since_flush = 0
        self._flush()

    @property
    def transitions(self) -> int:
        """Steps made."""
        return sum(length * games for length, games in self.lengths.items())

    @property
    def _play(self) -> PlayRows:
        play = self._machine.program.play
        assert play is not None
        return play

    def _seed(self, seed: int) -> None:
        numbers = _split_mix(seed)
        self._random = _split_mix(next(numbers))
        self._machine.state[np.flatnonzero(self._play.initial)] = ~np.uint64(0)
        words = self._machine.rows.shape[1]
        self._generator = np.array([next(numbers) for _ in range(4 * words)], np.uint64).reshape(4, words)

    def _random_row(self) -> NDArray[np.uint64]:
        """Return the next random row: one xoshiro256+ for each word of 64 lanes (Blackman and Vigna 2021)."""
        s = self._generator
        row: NDArray[np.uint64] = s[0] + s[3]
        shifted = s[1] << np.uint64(17)
        s[2] ^= s[0]
        s[3] ^= s[1]
        s[1] ^= s[2]
        s[0] ^= s[3]
        s[2] ^= shifted
        s[3] = s[3] << np.uint64(45) | s[3] >> np.uint64(19)
        return row

    def _advance(self, step: int) -> bool:
        """Make one step of all games; return False if an assumption of the program does not hold."""
        machine, play, rows = self._machine, self._play, self._machine.rows
        active = self._quota > 0
        is_late = active & (step - self._start >= self._max_steps)
        rows[play.active], rows[play.late] = _packed(active), _packed(is_late)
        for i in range(play.randoms):
            rows[play.random + i] = self._random_row()
        machine.run("legal")
        if rows[play.conflict].any():
            return False
        for choice in play.choices:
            self._draw_again(choice)
        over, stuck = self._lanes(play.over), self._lanes(play.stuck)
        if over.any():
            machine.run("goals")
            for k, row in enumerate(machine.program.goal_rows):
                self.goals[k] += self._lanes(row).sum()
        late = is_late & ~over
        self.ended += int(over.sum())
        self.stuck += int(stuck.sum())
        self.truncated += int(late.sum())
        if stuck.any() and self.stuck_role < 0:
            self._note_stuck(play.stuck_roles)
        ends = over | stuck | late
        self.lengths.update((step - self._start[ends]).tolist())
        self._start[ends] = step + 1
        self._quota[ends] -= 1
        self.played += int(ends.sum())
        rows[play.restart] = _packed(ends)
        machine.run("next")
        machine.exchange()
        return True

    def _lanes(self, row: int) -> NDArray[np.bool_]:
        """[lanes] a row as booleans."""
        return _unpacked(self._machine.rows[row])

    def _numbers(self, rows: Sequence[int]) -> NDArray[np.int64]:
        """[lanes] numbers from their bits, the lowest first."""
        numbers = np.zeros(LANES, np.int64)
        for bit, row in enumerate(rows):
            numbers += self._lanes(row).astype(np.int64) << bit
        return numbers

    def _draw_again(self, choice: Draw) -> None:
        """Draw the ranks of the chosen moves anew in lanes where the program's draw was rejected."""
        counts, rank = map(self._numbers, (choice.count, choice.rank))
        for lane in np.flatnonzero(self._lanes(choice.again)).tolist():
            rank[lane] = _below(self._random, int(counts[lane]))
        for bit, row in enumerate(choice.rank):
            self._machine.rows[row] = _packed(rank >> bit & 1 != 0)

    def _note_stuck(self, rows: Sequence[int]) -> None:
        lanes = [np.flatnonzero(self._lanes(row)).tolist() for row in rows]
        self.stuck_role = next(role for role, stuck in enumerate(lanes) if stuck)
        lane = lanes[self.stuck_role][0]
        fluents = range(len(self._play.initial))
        self.stuck_fluents = [f for f in fluents if _unpacked(self._machine.state[f])[lane]]

    def _flush(self) -> None:
        """Add the program's counters of legal moves to `choices` and reset them."""
        for role, (first, bits) in enumerate(self._play.counters):
            self.choices[role] += self._numbers(range(2 + first, 2 + first + bits)).sum()
            self._machine.state[first : first + bits] = 0


def _packed(lanes: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """[words] from booleans."""
    return np.packbits(lanes, bitorder="little").view("<u8").astype(np.uint64)


def _unpacked(row: NDArray[np.uint64]) -> NDArray[np.bool_]:
    return np.unpackbits(row.astype("<u8").view(np.uint8), bitorder="little").astype(np.bool_)


def _split_mix(state: int) -> Iterator[int]:
    """Yield the numbers of SplitMix (Steele, Lea and Flood 2014)."""
    while True:
        state = (state + 0x9E3779B97F4A7C15) & _MASK
        word = state
        word = (word ^ word >> 30) * 0xBF58476D1CE4E5B9 & _MASK
        word = (word ^ word >> 27) * 0x94D049BB133111EB & _MASK
        yield word ^ word >> 31


def _below(numbers: Iterator[int], bound: int) -> int:
    """Return a number below `bound`, each equally likely (Lemire 2019)."""
    while True:
        product = next(numbers) * bound
        if product & _MASK >= (1 << 64) % bound:
            return product >> 64
