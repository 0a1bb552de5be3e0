"""Beam search for a line of play to some kind of state, guided by estimated distances.

Of all states after each step, only those with the least distance continue (Lowerre 1976), in wider
and wider beams until time is up.  This finds lines that random play does not: cooperative wins, solutions
of puzzles.  Failure proves nothing.
"""

from __future__ import annotations

import time
from itertools import count, islice, product
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from herbrand.analyse.verdict import Moves
    from herbrand.engine.expand import Expander, Legal, States

__all__ = ["guided_line", "keys_of", "sampled", "traced"]

_WIDTHS = (8, 64, 512, 4096, 16384)
"""Beam widths in order; the last one repeats."""
_EACH = 32
"""The most joint moves that are sampled in a state, when there are too many for all."""
_ALL = 40_000
"""Most joint moves from the states of a beam for which all are tried."""
_LONGEST = 600
_PREFERENCES = (0.0, 1.0, -1.0)
"""Tie-breaking among equal distances: none, or weights that favour few moves, or many."""


def guided_line(
    expander: Expander,
    distances: Sequence[Callable[[States], NDArray[np.float32]]],
    deadline: float,
    *,
    seeds: Iterator[int] | None = None,
    beams: int | None = None,
) -> Moves | None:
    """Return a line of play to a state with distance 0; None when none was found by the deadline.

    `distances`, one or more, are used in turns; all are 0 in the same states.  `deadline` is a time of
    `time.monotonic`; `seeds` gives the seeds of the beams, of which greater ones are wider, so that a later
    call can continue; `beams` limits their number.  Terminal states end a line.
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
        line = beam.run(deadline)
        if line is not None or beam.exhausted:
            return line
    return None


class _Beam:
    """One beam."""

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
        """Whether no state was dropped so far."""
        self.history: list[tuple[NDArray[np.int64], NDArray[np.int32]]] = []
        """For each step, the index in the previous beam and the joint move of each state."""

    def run(self, deadline: float) -> Moves | None:
        """Search until a line is found, the beam is empty or time is up."""
        expander = self.expander
        states = expander.initial
        visited = set(keys_of(states))
        for _ in range(_LONGEST):
            if time.monotonic() > deadline:
                self.exhausted = False
                return None
            legal = expander.legal(states)
            self.exhausted = self.exhausted and int(legal.joint_counts().sum()) <= _ALL
            parents, moves, after = sampled(expander, states, legal, self.rng, _ALL)
            if not len(after):
                return None
            keys = reversed(list(enumerate(keys_of(after))))
            fresh = {key: place for place, key in keys if key not in visited}
            if not fresh:
                return None
            visited.update(fresh)
            places = np.fromiter(sorted(fresh.values()), np.int64)
            parents, moves, after = parents[places], moves[places], after[places]
            distances = self.distance(after)
            self.history.append((parents, moves))
            if not distances.all():
                return tuple(map(expander.joint_move, traced(self.history, int(distances.argmin()))))
            chosen = self._chosen(after, distances)
            self.history[-1] = (parents[chosen], moves[chosen])
            states = after[chosen]
        self.exhausted = False
        return None

    def _chosen(self, states: States, distances: NDArray[np.float32]) -> NDArray[np.int64]:
        """Return the indices of the states that continue."""
        if len(states) <= self.width:
            return np.arange(len(states))
        self.exhausted = False
        counts = np.minimum(self.expander.legal(states).joint_counts(), 1 << 20)
        going = np.flatnonzero(counts)  # without dead ends
        if len(going) <= self.width:
            return going
        rank = distances[going] + self.rng.random(len(going), np.float32) / 4
        if self.preference:
            options = counts[going]
            rank += np.float32(self.preference / 2) * (options / int(options.max())).astype(np.float32)
        return going[np.argpartition(rank, self.width)[: self.width]]


def traced(history: Sequence[tuple[NDArray[Any], NDArray[np.int32]]], place: int) -> list[Any]:
    """Return the moves to a state after the last step.

    `history` has for each step the state before it, by its place after the last one, and the move of each.
    """
    made = []
    for parents, moves in reversed(history):
        made.append(moves[place])
        place = int(parents[place])
    return made[::-1]


def sampled(
    expander: Expander, states: States, legal: Legal, rng: np.random.Generator, most: int
) -> tuple[NDArray[np.int64], NDArray[np.int32], States]:
    """Return parents, joint moves and successors: all, or a random sample if there are more than `most`."""
    counts = legal.joint_counts()
    if int(counts.sum()) <= most:
        expansion = expander.expand(states, legal)
        return expansion.parents, expansion.moves, expansion.states
    going = np.flatnonzero(counts > 0)
    each = max(2, min(_EACH, most // max(1, len(going))))
    parents = np.repeat(going, each)
    moves = np.zeros((len(parents), len(expander.roles)), np.int32)
    for role in range(len(expander.roles)):
        mask = legal.mask(role)[parents]
        moves[:, role] = (mask * (rng.random(mask.shape, np.float32) + 1)).argmax(axis=1)
    return parents, moves, expander.step(states, moves, parents)


def keys_of(states: States) -> list[bytes]:
    """Return states as hashable keys."""
    rows = np.ascontiguousarray(states)
    return [bytes(row) for row in rows.view(f"V{rows.shape[1] * 8}").ravel()]
