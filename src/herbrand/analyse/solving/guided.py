"""Search for a line of play to some kind of state, guided by how far states are from it.

A beam: of all states found after each step only those that seem nearest go on (Lowerre 1976), with
wider and wider beams as long as there is time.  It finds lines that random play does not: wins that all
roles must work together for, ends of puzzles.  That nothing is found proves nothing.
"""

from __future__ import annotations

import time
from itertools import count, islice, product
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from herbrand.analyse.verdict import Moves
    from herbrand.engine.expand import Expander, Legal, States

__all__ = ["guided_line", "keys_of", "sampled"]

_WIDTHS = (8, 64, 512, 4096, 16384)
"""States that go on after a step; the last one again and again."""
_EACH = 32
"""Joint moves tried in a state at most, for a beam of that many states and more; chosen at random."""
_ALL = 40_000
"""As long as there are no more than so many joint moves from the states of a beam, all are tried."""
_LONGEST = 600
_PREFERENCES = (0.0, 1.0, -1.0)
"""Of states that are equally far, those with few moves are preferred, or those with many, or neither."""


def guided_line(
    expander: Expander,
    distances: Sequence[Callable[[States], NDArray[np.float32]]],
    deadline: float,
    *,
    longest: int = _LONGEST,
    seeds: Iterator[int] | None = None,
    beams: int | None = None,
) -> Moves | None:
    """Return a line of play to a state with distance 0; None when none was found by the deadline.

    `distances`, one or more, are followed in turns; all are 0 in the same states.  `deadline` is a time of
    `time.monotonic`; `seeds` gives the numbers of the beams, which become wider, to go on with them
    another time; `beams` is how many there are at most.  States in which the game is over end a line.
    """
    if distances[0](expander.initial)[0] == 0:
        return ()
    ways = list(product(distances, _PREFERENCES))
    for seed in islice(seeds or count(), beams):
        if time.monotonic() > deadline:
            break
        width = _WIDTHS[min(seed // len(ways), len(_WIDTHS) - 1)]
        distance, preference = ways[seed % len(ways)]
        beam = _Beam(expander, distance, width, preference, seed)
        line = beam.run(deadline, longest)
        if line is not None:
            return line
        if beam.exhausted:
            break
    return None


class _Beam:
    """One search."""

    def __init__(
        self,
        expander: Expander,
        distance: Callable[[States], NDArray[np.float32]],
        width: int,
        preference: float,
        seed: int,
    ) -> None:
        self.expander = expander
        self.distance = distance
        self.width = width
        self.preference = preference
        self.rng = np.random.default_rng(seed)
        self.exhausted = True
        """No state was left out."""
        self.history: list[tuple[NDArray[np.int64], NDArray[np.int32]]] = []
        """For each step the states it came from, by their places in the beam, and the joint moves."""

    def run(self, deadline: float, longest: int) -> Moves | None:
        """Search until a line is found, nothing is left or the time is up."""
        expander = self.expander
        states = expander.initial
        met = set(keys_of(states))
        for _ in range(longest):
            if time.monotonic() > deadline:
                self.exhausted = False
                return None
            legal = expander.legal(states)
            self.exhausted = self.exhausted and int(legal.joint_counts().sum()) <= _ALL
            parents, moves, after = sampled(expander, states, legal, self.rng, _ALL)
            if not len(after):
                return None
            keys = keys_of(after)
            fresh = {key: place for place, key in reversed(list(enumerate(keys))) if key not in met}
            if not fresh:
                return None
            met.update(fresh)
            places = np.fromiter(sorted(fresh.values()), np.int64)
            parents, moves, after = parents[places], moves[places], after[places]
            far = self.distance(after)
            self.history.append((parents, moves))
            if not far.all():
                return self._line(int((far == 0).argmax()))
            chosen = self._chosen(after, far)
            self.history[-1] = (parents[chosen], moves[chosen])
            states = after[chosen]
        self.exhausted = False
        return None

    def _chosen(self, states: States, far: NDArray[np.float32]) -> NDArray[np.int64]:
        """Return which states go on."""
        if len(states) <= self.width:
            return np.arange(len(states))
        self.exhausted = False
        counts = np.minimum(self.expander.legal(states).joint_counts(), 1 << 20)
        going = np.flatnonzero(counts)  # the others lead nowhere
        if len(going) <= self.width:
            return going
        rank = far[going] + self.rng.random(len(going), np.float32) / 4
        if self.preference:
            few = counts[going]
            rank += np.float32(self.preference / 2) * (few / int(few.max())).astype(np.float32)
        return going[np.argpartition(rank, self.width)[: self.width]]

    def _line(self, place: int) -> Moves:
        """Follow the history back from a state found after the last step."""
        found = []
        for parents, moves in reversed(self.history):
            found.append(self.expander.joint_move(moves[place]))
            place = int(parents[place])
        return tuple(reversed(found))


def sampled(
    expander: Expander, states: States, legal: Legal, rng: np.random.Generator, most: int
) -> tuple[NDArray[np.int64], NDArray[np.int32], States]:
    """Return where successors come from, the joint moves, and the successors: all, or some at random.

    There are some where there would be more than `most`.
    """
    counts = legal.joint_counts()
    if int(counts.sum()) <= most:
        found = expander.expand(states, legal)
        return found.parents, found.moves, found.states
    going = np.flatnonzero(counts > 0)
    each = max(2, min(_EACH, most // max(1, len(going))))
    parents = np.repeat(going, each)
    moves = np.zeros((len(parents), len(expander.roles)), np.int32)
    for role in range(len(expander.roles)):
        mask = legal.mask(role)[parents]
        moves[:, role] = (mask * (rng.random(mask.shape, np.float32) + 1)).argmax(axis=1)
    return parents, moves, expander.step(states, moves, parents)


def keys_of(states: States) -> list[bytes]:
    """Return states as keys of a set."""
    rows = np.ascontiguousarray(states)
    return [bytes(row) for row in rows.view(f"V{rows.shape[1] * 8}").ravel()]
