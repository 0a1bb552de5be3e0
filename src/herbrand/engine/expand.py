"""`Expander`: many states of a game at once, as rows of bits in numpy arrays.

A *packed* state is a row of `words` 64-bit words; bit `f % 64` of word `f // 64` says whether the
fluent numbered `f` is true.  All methods take an array of packed states, `uint64 [n, words]`, and
answer for all of them in one pass over the network, 512 states at a time (`herbrand.core`):

    >>> import herbrand
    >>> expander = herbrand.load("ticTacToe").expander
    >>> start = expander.initial
    >>> after = expander.expand(start)
    >>> len(after), after.states.shape == (9, expander.words)
    (9, True)
    >>> after.joint_move(0)
    ('(mark 1 1)', 'noop')
    >>> expander.terminal(after.states).any()
    np.False_

Moves are numbered for each role from 0, in the order of `Expander.moves[role]`.  Rows of equal
states are equal, so that they can be hashed, sorted and compared as bytes.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from herbrand import core
from herbrand.errors import GameError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from herbrand.network.network import Network

__all__ = ["Expander", "Expansion", "Legal", "Rollouts", "States", "any_of", "new_generator"]

States: TypeAlias = NDArray[np.uint64]
"""Packed states, [n, words]."""

JOINTS = 1 << 20
"""How many joint moves are listed at once."""
_GENERATOR = 32
"""Words of random state: four for each word of a row."""


@dataclass(frozen=True, slots=True)
class Legal:
    """What can be done in some states."""

    over: NDArray[np.bool_]
    """[n] whether the state is terminal; the legal moves of such states mean nothing."""
    bits: NDArray[np.uint64]
    """[n, ...] the sets of legal moves, packed; the moves of each role begin with a new word."""
    places: NDArray[np.int64]
    """[roles + 1] the first word of each role in `bits`."""
    sizes: tuple[int, ...]
    """How many moves each role has, legal or not."""

    def mask(self, role: int) -> NDArray[np.bool_]:
        """Return which moves of a role are legal, [n, moves of the role]."""
        mine = np.ascontiguousarray(self.bits[:, self.places[role] : self.places[role + 1]])
        if not mine.size:
            return np.zeros((len(self.over), self.sizes[role]), np.bool_)
        little = mine.astype("<u8", copy=False).view(np.uint8)
        return np.unpackbits(little, axis=1, bitorder="little", count=self.sizes[role]).view(np.bool_)

    def counts(self) -> NDArray[np.int64]:
        """Return how many legal moves each role has, [n, roles]."""
        ones = np.bitwise_count(self.bits) if hasattr(np, "bitwise_count") else _bit_count(self.bits)
        return np.stack(
            [
                ones[:, a:b].sum(axis=1, dtype=np.int64)
                for a, b in zip(self.places[:-1], self.places[1:], strict=True)
            ],
            axis=1,
        )

    def joint_counts(self) -> NDArray[np.int64]:
        """Return how many joint moves each state has, [n]; 0 where it is terminal.

        A number that does not fit is 2**62.
        """
        counts: NDArray[np.int64] = core.joint_counts(self.over, self.bits, self.places.tolist())
        return counts


@dataclass(frozen=True, slots=True)
class Expansion:
    """The successors of some states."""

    expander: Expander
    parents: NDArray[np.int64]
    """[k] the number of the state that each successor comes from; ascending."""
    moves: NDArray[np.int32]
    """[k, roles] the joint move made, each role's moves numbered from 0."""
    states: States
    """[k, words] the successors; equal ones are listed as often as there are joint moves to them."""

    def __len__(self) -> int:
        return len(self.parents)

    def joint_move(self, k: int) -> tuple[str, ...]:
        """Return the k-th joint move as KIF, in role order."""
        return self.expander.joint_move(self.moves[k])


@dataclass(frozen=True, slots=True)
class Rollouts:
    """How random games from given states ended."""

    goals: NDArray[np.int16]
    """[n, roles] goal values; `core.NO_VALUE`, `SEVERAL_VALUES` or `STUCK` where there is none."""
    lengths: NDArray[np.int64]
    """[n] steps played."""
    truncated: NDArray[np.bool_]
    """[n] whether the game reached the limit of steps; its goals are those of its last state."""
    line: tuple[tuple[str, ...], ...] = ()
    """The joint moves of the game that was watched, as KIF."""
    complete: bool = True
    """Whether all games were played."""


class Expander:
    """Answers about many packed states of one game at once; see the module.

    Any number of threads can ask at the same time.
    """

    def __init__(self, network: Network) -> None:
        self.network = network
        self.fluents = len(network.fluents)
        """How many fluents there are: the bits of a packed state that are used."""
        self.roles: tuple[str, ...] = tuple(map(network.terms.text, network.roles))
        self.core = core.StateEvaluator(network.circuit)
        """What computes the answers."""
        self.words: int = network.circuit.state_words
        """How many words a packed state has."""
        self.bounds = np.array(network.circuit.bounds, np.int64)
        """[roles + 1] the first move of each role among those of all roles, and how many these are."""
        self.places = np.array(network.circuit.places, np.int64)
        """[roles + 1] the first word of each role in a packed set of legal moves; see `Legal`."""
        self.sizes: tuple[int, ...] = tuple(np.diff(self.bounds).tolist())
        """How many moves each role has."""
        self._places_of = {term: i for i, term in enumerate(network.fluents.tolist())}

    # -- names ----------------------------------------------------------------------------

    @cached_property
    def moves(self) -> tuple[tuple[str, ...], ...]:
        """The moves of each role as KIF, in the order of their numbers."""
        text = self.network.terms.text
        every = [text(move) for move in self.network.moves[:, 1].tolist()]
        return tuple(tuple(every[a:b]) for a, b in zip(self.bounds[:-1], self.bounds[1:], strict=True))

    @cached_property
    def move_numbers(self) -> tuple[dict[str, int], ...]:
        """For each role the number of a move by its text, in lower case."""
        return tuple({move.lower(): i for i, move in enumerate(mine)} for mine in self.moves)

    @cached_property
    def fluent_names(self) -> tuple[str, ...]:
        """The fluents as KIF, in the order of their bits."""
        return tuple(map(self.network.terms.text, self.network.fluents.tolist()))

    def joint_move(self, numbers: Sequence[int] | NDArray[Any]) -> tuple[str, ...]:
        """Return a joint move, given by its numbers, as KIF."""
        return tuple(self.moves[role][number] for role, number in enumerate(numbers))

    # -- packing --------------------------------------------------------------------------

    @cached_property
    def initial(self) -> States:
        """The initial state, [1, words]."""
        return self.pack_bits(self.network.initial[None, :])

    def pack_bits(self, bits: NDArray[np.bool_]) -> States:
        """Pack states given as truth values of the fluents, [n, fluents]."""
        padded = np.zeros((len(bits), 64 * self.words), np.bool_)
        padded[:, : self.fluents] = bits
        packed = np.packbits(padded, axis=1, bitorder="little")
        return packed.view("<u8").astype(np.uint64, copy=False)

    def bits(self, states: States) -> NDArray[np.bool_]:
        """Return the truth values of the fluents, [n, fluents]; the inverse of `pack_bits`."""
        little = np.ascontiguousarray(states).astype("<u8", copy=False).view(np.uint8)
        return np.unpackbits(little, axis=1, bitorder="little", count=self.fluents).view(np.bool_)

    def pack(self, states: Iterable[Iterable[str]]) -> States:
        """Pack states given as facts in KIF, or as `State` objects' `facts`.

        Raises `GameError` for a fluent that is true in no reachable state, or missing and true in
        all of them, `InvalidMoveError` for a text that is no ground term.
        """
        terms = self.network.terms
        rows = []
        for facts in states:
            row = np.zeros(self.fluents, np.bool_)
            for fact in facts:
                number = terms.find(terms.parse(fact))
                place = None if number is None else self._places_of.get(number)
                if place is None:
                    raise GameError(f"`{fact}` is true in no reachable state")
                row[place] = True
            rows.append(row)
        found = np.array(rows, np.bool_).reshape(-1, self.fluents)
        missing = np.flatnonzero((self.network.always > found).any(0))
        if len(missing):
            always = self.fluent_names[missing[0]]
            raise GameError(f"`{always}` is true in every reachable state, and the network is for these")
        return self.pack_bits(found)

    def facts(self, states: States) -> list[frozenset[str]]:
        """Return the facts of each state; the inverse of `pack`."""
        names = self.fluent_names
        return [frozenset(names[f] for f in np.flatnonzero(row)) for row in self.bits(states)]

    # -- questions ------------------------------------------------------------------------

    def legal(self, states: States) -> Legal:
        """Return which states are terminal, and the legal moves in each."""
        over, bits = self.core.legal(self._checked(states))
        return Legal(over, bits, self.places, self.sizes)

    def terminal(self, states: States) -> NDArray[np.bool_]:
        """Return which states are terminal, [n]."""
        return self.legal(states).over

    def goals(self, states: States) -> NDArray[np.int16]:
        """Return the goal values, [n, roles]; `core.NO_VALUE` or `SEVERAL_VALUES` where there is none."""
        values: NDArray[np.int16] = self.core.goals(self._checked(states))
        return values

    def step(self, states: States, moves: NDArray[Any], parents: NDArray[np.int64] | None = None) -> States:
        """Return the states after joint moves, [k, words].

        `moves`, [k, roles], has the numbers of the moves, -1 for a role that does nothing; row i is made
        in state i, or in state `parents[i]` where `parents` is given.  Legality is not checked.
        """
        return self._step(states, moves, parents)[0]

    def percepts(self, states: States, moves: NDArray[Any]) -> NDArray[np.bool_]:
        """Return what the roles see of joint moves (GDL-II), [k, percepts of `network.percepts`]."""
        little = self.observed(states, moves)[1].astype("<u8", copy=False).view(np.uint8)
        count = len(self.network.sees)
        return np.unpackbits(little, axis=1, bitorder="little", count=count).view(np.bool_)

    def observed(self, states: States, moves: NDArray[Any]) -> tuple[States, NDArray[np.uint64]]:
        """Return the states after joint moves, as `step`, and what `percepts` are seen of them, as bits.

        Bit `i % 64` of word `i // 64` is the i-th of `network.percepts`.
        """
        return self._step(states, moves, sees=True)

    def expand(self, states: States, legal: Legal | None = None) -> Expansion:
        """Return all successors of the states, one for each legal joint move.

        Terminal states and states in which a role has no legal move have none.  Memory grows
        with the number of joint moves; see `expansions`.
        """
        pieces = list(self.expansions(states, legal, joints=1 << 62))
        return pieces[0]

    def expansions(
        self,
        states: States,
        legal: Legal | None = None,
        *,
        joints: int = JOINTS,
        starts: NDArray[np.int64] | None = None,
    ) -> Iterator[Expansion]:
        """Yield the successors of the states in pieces of at most so many; at least one piece.

        `starts`, [n + 1], are the sums of the numbers of joint moves, where they are known.
        """
        states = self._checked(states)
        if legal is None:
            legal = self.legal(states)
        if starts is None:
            starts = np.concatenate([[0], np.cumsum(legal.joint_counts())]).astype(np.int64)
        total, begin = int(starts[-1]), 0
        while True:
            size = min(joints, total - begin)
            parents, moves = self.core.joints(legal.bits, starts, begin, size)
            yield Expansion(self, parents, moves, self.core.step(states, moves, parents)[0])
            begin += size
            if begin >= total:
                return

    def rollouts(
        self,
        states: States,
        *,
        seed: int,
        each: int = 1,
        max_steps: int = 1000,
        watched: int = -1,
        stop: core.Stop | None = None,
    ) -> Rollouts:
        """Play uniformly random games from the states to their end, `each` from every state.

        Games `i * each` to `i * each + each - 1` begin in state i.  The same seed and arguments
        give the same games, whichever is watched; -1 watches none.  Another thread can end them within a
        step by `stop`; then the answer is not `complete`, and tells nothing.
        """
        states = self._checked(states)
        ended = self.core.rollouts(states, None, new_generator(seed), max_steps, stop, watched, each=each)
        lengths = ended.lengths
        truncated = lengths < 0
        lengths[truncated] = -1 - lengths[truncated]
        line = tuple(map(self.joint_move, ended.line.tolist()))
        return Rollouts(ended.goals, lengths, truncated, line, ended.complete)

    # -- inside ---------------------------------------------------------------------------

    def _step(
        self,
        states: States,
        moves: NDArray[Any],
        parents: NDArray[np.int64] | None = None,
        *,
        sees: bool = False,
    ) -> tuple[States, NDArray[np.uint64]]:
        numbers = np.ascontiguousarray(moves, np.int32)
        if numbers.ndim != 2 or numbers.shape[1] != len(self.roles):
            raise ValueError(f"joint moves are an array [k, {len(self.roles)}], not {list(numbers.shape)}")
        states = self._checked(states)
        if parents is None and len(numbers) != len(states):
            raise ValueError(f"{len(numbers)} joint moves for {len(states)} states")
        if parents is not None:
            parents = np.ascontiguousarray(parents, np.int64)
        made: tuple[States, NDArray[np.uint64]] = self.core.step(states, numbers, parents, sees)
        return made

    def _checked(self, states: States) -> States:
        states = np.ascontiguousarray(states, np.uint64)
        if states.ndim != 2 or states.shape[1] != self.words:
            raise ValueError(f"packed states are an array [n, {self.words}], not {list(states.shape)}")
        return states


def new_generator(seed: int) -> NDArray[np.uint64]:
    """Return the state of a generator for `core.StateEvaluator.rollouts`, which it uses up."""
    return np.asarray(np.random.SeedSequence(seed).generate_state(_GENERATOR, np.uint64), np.uint64)


def any_of(mask: NDArray[np.bool_], random: np.random.Generator) -> NDArray[np.int64]:
    """Return the place of any true entry in each row; of a row without one, 0."""
    narrow = np.int16 if mask.shape[1] < 1 << 15 else np.int64  # what is counted is read once more
    seen = mask.cumsum(axis=1, dtype=narrow)
    ranks = (random.random(len(mask)) * seen[:, -1]).astype(narrow) + 1
    place: NDArray[np.int64] = (seen >= ranks[:, None]).argmax(axis=1)
    return place


def _bit_count(words: NDArray[np.uint64]) -> NDArray[np.uint8]:
    """Count bits where numpy, before version 2, cannot."""
    bits = np.unpackbits(words[..., None].view(np.uint8), axis=-1)
    counts: NDArray[np.uint8] = bits.sum(axis=-1, dtype=np.uint8)
    return counts
