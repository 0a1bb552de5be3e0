"""Beam search in games that are products of parts, guided by pattern databases.

For a few parts at a time, a *pattern*, the steps to the values that the goal asks for are computed for all
their values and kept in a table (pattern databases, Culberson and Schaeffer 1998).  The sum over several
divisions of all parts into patterns guides beams of increasing width, each with other divisions.  It is no
lower bound, since a move counts for several patterns, but tells much more than single parts do: Rubik's cube
takes seconds.  Failure proves nothing.
"""

from __future__ import annotations

import time
from itertools import count, islice
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from herbrand.analyse.solving.guided import traced
from herbrand.analyse.solving.parts import find_parts

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import NDArray

    from herbrand.analyse.solving.parts import IndependentPart
    from herbrand.analyse.verdict import Moves
    from herbrand.engine.expand import Expander

__all__ = ["PatternSearch"]

_TABLE = 400_000
"""The most entries of a table."""
_SUCCESSORS = 5_000_000
"""The most successors of the entries of a table, and of the states of a beam."""
_DIVISIONS = 3
"""Divisions of the parts into patterns for each beam."""
_WIDTHS = (1 << 10, 1 << 13, 1 << 16, 1 << 18)
"""Widths of beams in order; the last one repeats."""
_ENDS = 4
"""The most ends that are tried."""
_MISSES = 16
"""Lines to an end that turn out to be illegal, after which it is given up: more than the parts matters."""
_LONGEST = 600
_GAMES = 256
_FAR = 255
"""The distance of values from which none is reached that the goal asks for."""

Values = list["NDArray[np.int32]"]
"""For each part, its value in some states, [n]."""


class PatternSearch:
    """A search for a line of play to one of several ends, for a game with one role.

    An end is what it asks of fluents, by index in the network.
    """

    def __init__(self, expander: Expander, ends: Iterable[Mapping[int, bool]]) -> None:
        self.expander = expander
        self._ends = list(islice(ends, _ENDS))
        self._puzzles: list[_Puzzle] = []
        self._numbers = count()
        """The numbers of the next beams."""

    def run(self, deadline: float) -> Moves | None:
        """Return a line; later calls go on with other beams.

        None when no line was found by the deadline, a time of `time.monotonic`, or where the fluents do not
        belong to small parts (`find_parts`).
        """
        expander = self.expander
        for end in self._ends[len(self._puzzles) :]:
            parts = find_parts(expander, end, deadline)
            if parts is None:
                return None
            self._puzzles.append(_Puzzle(parts, end))
        if all(puzzle.is_hopeless for puzzle in self._puzzles):
            return None
        games = expander.rollouts(np.repeat(expander.initial, _GAMES, axis=0), seed=0, max_steps=_LONGEST)
        longest = _LONGEST if games.truncated.any() else int(games.lengths.max())
        while hopeful := [puzzle for puzzle in self._puzzles if not puzzle.is_hopeless]:
            number = next(self._numbers)
            for puzzle in hopeful:
                line = puzzle.search(number, longest, deadline)
                if line is not None and _is_played(expander, line):
                    return tuple(expander.joint_move([move]) for move in line)
                puzzle.misses += line is not None
            if time.monotonic() > deadline:
                return None
        return None


def _is_played(expander: Expander, line: list[int]) -> bool:
    """Return whether the moves of a line are legal, and the game is over at its end and not before."""
    state = expander.initial
    for move in line:
        legal = expander.legal(state)
        if legal.over[0] or not legal.mask(0)[0, move]:
            return False
        state = expander.step(state, np.array([[move]], np.int32))
    return bool(expander.terminal(state)[0])


class _Puzzle:
    """A product of parts, with what an end asks of them, and the moves that change something."""

    def __init__(self, parts: list[IndependentPart], end: Mapping[int, bool]) -> None:
        changing = np.any([(part.after != np.arange(len(part.values))).any(axis=1) for part in parts], axis=0)
        self.moves = np.flatnonzero(changing)
        self.after = [part.after[self.moves] for part in parts]
        self.legal = [part.legal[self.moves] for part in parts]
        self.wanted = [part.satisfying(end) for part in parts]
        self.sizes = [len(part.values) for part in parts]
        self.misses = 0
        """Lines that turned out to be illegal."""
        self._is_exhausted = not len(self.moves)
        """Whether nothing changes, or a beam has had room for all states and found no line."""

    @property
    def is_hopeless(self) -> bool:
        """Whether other beams would find nothing new, or no legal line."""
        return self._is_exhausted or self.misses >= _MISSES

    def search(self, number: int, longest: int, deadline: float) -> list[int] | None:
        """Run a beam, wider for a greater number; return the moves of a line, by number in the game."""
        rng = np.random.default_rng(number)
        patterns = []
        for division in [self._divide(rng) for _ in range(_DIVISIONS)]:
            for pattern in division:
                if time.monotonic() > deadline:
                    return None
                patterns.append(_Pattern(self, pattern))
        width = min(_WIDTHS[min(number, len(_WIDTHS) - 1)], _SUCCESSORS // len(self.moves))
        beam = _Beam(self, patterns, width, rng)
        line = beam.run(longest, deadline)
        self._is_exhausted = line is None and beam.has_all and time.monotonic() <= deadline
        return None if line is None else self.moves[line].tolist()

    def _divide(self, rng: np.random.Generator) -> list[list[int]]:
        """Divide the parts at random into patterns with tables that are not too large."""
        most = min(_TABLE, _SUCCESSORS // len(self.moves))
        patterns: list[list[int]] = []
        for part in rng.permutation(len(self.sizes)).tolist():
            for pattern in patterns:
                if prod(self.sizes[one] for one in (part, *pattern)) <= most:
                    pattern.append(part)
                    break
            else:
                patterns.append([part])
        return patterns


class _Pattern:
    """Some parts, with a table of the steps to values of theirs that are wanted."""

    def __init__(self, puzzle: _Puzzle, parts: list[int]) -> None:
        self.parts = parts
        sizes = [puzzle.sizes[part] for part in parts]
        self.weights = np.array([prod(sizes[place + 1 :]) for place in range(len(sizes))], np.int32)
        self.steps = np.full(prod(sizes), _FAR, np.uint8)
        """[entries] the index of an entry is the sum of the numbers of its values times `weights`."""
        grid = np.indices(sizes, np.int32).reshape(len(parts), -1)
        near = np.all([puzzle.wanted[part][at] for part, at in zip(parts, grid, strict=True)], axis=0)
        self.steps[near] = 0
        after = [
            self._index([puzzle.after[part][move][at] for part, at in zip(parts, grid, strict=True)])
            for move in range(len(puzzle.moves))
        ]
        for steps in range(_FAR - 1):
            nearer = self.steps == steps
            reached = (self.steps == _FAR) & np.any([nearer[entries] for entries in after], axis=0)
            if not reached.any():
                break
            self.steps[reached] = steps + 1

    def _index(self, values: Values) -> NDArray[np.int32]:
        """Return the entries of values of the pattern's parts."""
        index = np.zeros(len(values[0]), np.int32)
        for weight, value in zip(self.weights, values, strict=True):
            index += value * weight
        return index

    def distances(self, values: Values) -> NDArray[np.uint8]:
        """Return the steps from states, given by the values of all parts, [n]."""
        return self.steps[self._index([values[part] for part in self.parts])]


class _Beam:
    """A beam: of all states after each step, those with the least sum of distances go on (Lowerre 1976)."""

    def __init__(
        self, puzzle: _Puzzle, patterns: list[_Pattern], width: int, rng: np.random.Generator
    ) -> None:
        self.puzzle, self.patterns, self.width, self.rng = puzzle, patterns, width, rng
        self.keys = [rng.integers(1 << 63, size=size, dtype=np.uint64) for size in puzzle.sizes]
        """Random numbers of the values of each part, which are combined to those of states (Zobrist 1970)."""
        self.history: list[tuple[NDArray[np.int32], NDArray[np.int32]]] = []
        """For each step, the index in the beam before it and the move of each state."""
        self.has_all = True
        """Whether no state has been left out."""

    def run(self, longest: int, deadline: float) -> list[int] | None:
        """Return a line of up to `longest` moves to a wanted state; None if none was found in time."""
        puzzle = self.puzzle
        values: Values = [np.zeros(1, np.int32) for _ in puzzle.sizes]
        earlier = [self._hashes(values)]
        for step in range(longest + 1):
            found = np.all([want[at] for want, at in zip(puzzle.wanted, values, strict=True)], axis=0)
            if found.any():
                return traced(self.history, int(found.argmax()))
            if step == longest:
                break
            parents, moves, hashes, distances = self._successors(values)
            hashes, first = np.unique(hashes, return_index=True)
            fresh = ~np.any([np.isin(hashes, some, assume_unique=True) for some in earlier], axis=0)
            hashes, first = hashes[fresh], first[fresh]
            if not len(first) or time.monotonic() > deadline:
                return None
            if len(first) > self.width:
                self.has_all = False
                rank = distances[first] + self.rng.random(len(first), np.float32)
                chosen = np.sort(np.argpartition(rank, self.width)[: self.width])
                hashes, first = hashes[chosen], first[chosen]
            earlier = [earlier[-1], hashes]
            parents, moves = parents[first], moves[first]
            self.history.append((parents, moves))
            values = [after[moves, at[parents]] for after, at in zip(puzzle.after, values, strict=True)]
        return None

    def _successors(
        self, values: Values
    ) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.uint64], NDArray[np.float32]]:
        """Return the parents, moves, hashes and sums of distances of all successors."""
        parents, moves, hashes, distances = [], [], [], []
        for move in range(len(self.puzzle.moves)):
            legal = np.all(
                [legal[move][at] for legal, at in zip(self.puzzle.legal, values, strict=True)], axis=0
            )
            going = np.flatnonzero(legal).astype(np.int32)
            new = [after[move][at[going]] for after, at in zip(self.puzzle.after, values, strict=True)]
            parents.append(going)
            moves.append(np.full(len(going), move, np.int32))
            hashes.append(self._hashes(new))
            total = np.zeros(len(going), np.float32)
            for pattern in self.patterns:
                total += pattern.distances(new)
            distances.append(total)
        return tuple(np.concatenate(rows) for rows in (parents, moves, hashes, distances))  # type: ignore[return-value]

    def _hashes(self, values: Values) -> NDArray[np.uint64]:
        total = np.zeros(len(values[0]), np.uint64)
        for keys, at in zip(self.keys, values, strict=True):
            total ^= keys[at]
        return total
