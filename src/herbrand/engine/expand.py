"""`Expander`: evaluates many states of a game at once, as rows of bits in numpy arrays.

A *packed* state is a row of `words` 64-bit words; bit `f % 64` of word `f // 64` is set if fluent number
`f` is true.  All methods take an array of packed states, `uint64 [n, words]`, and evaluate the network for
512 of them at a time (`herbrand.core`):

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
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from herbrand import core
from herbrand.errors import GameError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from herbrand.network.network import Network

__all__ = ["Expander", "Expansion", "Legal", "Rollouts", "States", "new_generator", "sample_true", "unpack"]

States: TypeAlias = NDArray[np.uint64]
"""Packed states, [n, words]."""

CHUNK_JOINTS = 1 << 20
"""Default number of joint moves in a chunk of `Expander.expansions`."""
_GENERATOR = 32
"""Words of random state: four for each word of a row."""


@dataclass(frozen=True, slots=True)
class Legal:
    """The legal moves of some states."""

    over: NDArray[np.bool_]
    """[n] whether the state is terminal; the legal moves of such states are undefined."""
    bits: NDArray[np.uint64]
    """[n, words] the sets of legal moves, packed; the moves of each role begin at a new word."""
    places: NDArray[np.int64]
    """[roles + 1] the first word of each role in `bits`."""
    sizes: tuple[int, ...]
    """The number of moves of each role, legal or not."""

    def mask(self, role: int) -> NDArray[np.bool_]:
        """Return which moves of a role are legal, [n, moves of the role]."""
        return unpack(self.bits[:, self.places[role] : self.places[role + 1]], self.sizes[role])

    def counts(self) -> NDArray[np.int64]:
        """Return the number of legal moves of each role, [n, roles]."""
        ones = _bit_count(self.bits)
        return np.stack([ones[:, a:b].sum(axis=1, dtype=np.int64) for a, b in pairwise(self.places)], axis=1)

    @property
    def going(self) -> NDArray[np.bool_]:
        """[n] Whether the game goes on: the state is not terminal, and every role has a legal move."""
        return ~self.over & (self.counts() > 0).all(axis=1)

    def sample(self, role: int, random: np.random.Generator) -> NDArray[np.int32]:
        """Return a random legal move of a role in each state, [n], all equally likely; 0 without any."""
        words = self.bits[:, self.places[role] : self.places[role + 1]]
        rows = np.arange(len(words))
        if not words.size:
            return np.zeros(len(words), np.int32)
        counts = _bit_count(words).cumsum(axis=1, dtype=np.int64)
        ranks = (random.random(len(words)) * counts[:, -1]).astype(np.int64) + 1
        at = (counts >= ranks[:, None]).argmax(axis=1)
        before = np.where(at > 0, counts[rows, at - 1], 0)
        bits = unpack(words[rows, at][:, None], 64).cumsum(axis=1, dtype=np.int8)
        moves = 64 * at + (bits >= (ranks - before)[:, None]).argmax(axis=1)
        return np.where(counts[:, -1] > 0, moves, 0).astype(np.int32)

    def sample_joint(self, random: np.random.Generator) -> NDArray[np.int32]:
        """Return a random joint move in each state, [n, roles], as `sample` for each role."""
        return np.stack([self.sample(role, random) for role in range(len(self.sizes))], axis=1)

    def preferring(self, preferred: NDArray[np.uint64]) -> Legal:
        """Return only preferred moves for each role that has one.

        The set of preferred moves is packed by `Expander.pack_moves`.
        """
        bits = self.bits.copy()
        for a, b in pairwise(self.places):
            chosen = bits[:, a:b] & preferred[a:b]
            has_one = chosen.any(axis=1)
            bits[has_one, a:b] = chosen[has_one]
        return Legal(self.over, bits, self.places, self.sizes)

    def joint_counts(self) -> NDArray[np.int64]:
        """Return the number of joint moves of each state, [n]; 0 where it is terminal.

        Numbers are capped at 2**62.
        """
        return core.joint_counts(self.over, self.bits, self.places.tolist())


@dataclass(frozen=True, slots=True)
class Expansion:
    """The successors of some states."""

    expander: Expander
    parents: NDArray[np.int64]
    """[k] the index of the state that each successor comes from; ascending."""
    moves: NDArray[np.int32]
    """[k, roles] the joint move made, each role's moves numbered from 0."""
    states: States
    """[k, words] the successors, one for each joint move: equal states may occur repeatedly."""

    def __len__(self) -> int:
        return len(self.parents)

    def joint_move(self, k: int) -> tuple[str, ...]:
        """Return the k-th joint move as KIF, in role order."""
        return self.expander.joint_move(self.moves[k])


@dataclass(frozen=True, slots=True)
class Rollouts:
    """The results of random games from given states."""

    goals: NDArray[np.int16]
    """[n, roles] goal values, or `core.NO_VALUE`, `SEVERAL_VALUES` or `STUCK`."""
    lengths: NDArray[np.int64]
    """[n] steps played."""
    truncated: NDArray[np.bool_]
    """[n] whether the game reached the step limit; its goals are those of its last state."""
    line: tuple[tuple[str, ...], ...] = ()
    """The joint moves of the watched game, as KIF."""
    complete: bool = True
    """Whether all games were played to the end, False if `stop` was set."""


class Expander:
    """Evaluates many packed states of one game at once; see the module.

    Thread-safe.
    """

    def __init__(self, network: Network) -> None:
        self.network = network
        self.fluents = len(network.fluents)
        """The number of fluents: the bits of a packed state that are used."""
        self.roles: tuple[str, ...] = tuple(map(network.terms.text, network.roles))
        self.chance = next((r for r, name in enumerate(self.roles) if name.lower() == "random"), -1)
        """The number of the role `random`; -1 without one."""
        self.core = core.StateEvaluator(network.circuit)
        """The evaluator of the core that does the work."""
        self.words: int = network.circuit.state_words
        """The number of 64-bit words of a packed state."""
        self.bounds = np.array(network.circuit.bounds, np.int64)
        """[roles + 1] the first move of each role among those of all roles; last, their number."""
        self.places = np.array(network.circuit.places, np.int64)
        """[roles + 1] the first word of each role in a packed set of legal moves; see `Legal`."""
        self.sizes: tuple[int, ...] = tuple(np.diff(self.bounds).tolist())
        """The number of moves of each role."""
        self._places_of = {term: i for i, term in enumerate(network.fluents.tolist())}

    # -- names ----------------------------------------------------------------------------

    @cached_property
    def moves(self) -> tuple[tuple[str, ...], ...]:
        """The moves of each role as KIF, in the order of their numbers."""
        text = self.network.terms.text
        every = [text(move) for move in self.network.moves[:, 1].tolist()]
        return tuple(tuple(every[a:b]) for a, b in pairwise(self.bounds))

    @cached_property
    def move_numbers(self) -> tuple[dict[str, int], ...]:
        """For each role the numbers of its moves by their texts in lower case."""
        return tuple({move.lower(): i for i, move in enumerate(moves)} for moves in self.moves)

    @cached_property
    def fluent_names(self) -> tuple[str, ...]:
        """The fluents as KIF, in the order of their bits."""
        return tuple(map(self.network.terms.text, self.network.fluents.tolist()))

    def joint_move(self, numbers: Sequence[int] | NDArray[Any]) -> tuple[str, ...]:
        """Return a joint move, given as move numbers, as KIF."""
        return tuple(self.moves[role][number] for role, number in enumerate(numbers))

    # -- packing --------------------------------------------------------------------------

    @cached_property
    def initial(self) -> States:
        """The initial state, [1, words]."""
        return self.pack_bits(self.network.initial[None, :])

    @cached_property
    def percept_masks(self) -> NDArray[np.uint64]:
        """[roles, words] the percepts of each role, packed as by `observed`."""
        count = len(self.network.sees)
        is_percept_of = np.zeros((len(self.roles), 64 * -(-count // 64)), np.bool_)
        is_percept_of[self.network.percepts[:, 0], np.arange(count)] = True
        return _words(is_percept_of)

    def pack_moves(self, masks: Sequence[NDArray[np.bool_]]) -> NDArray[np.uint64]:
        """Pack a set of moves, given as a mask for each role, like a row of `Legal.bits`."""
        padded = np.zeros((1, 64 * int(self.places[-1])), np.bool_)
        for mask, place in zip(masks, self.places.tolist(), strict=False):
            padded[0, 64 * place : 64 * place + len(mask)] = mask
        packed: NDArray[np.uint64] = _words(padded)[0]
        return packed

    def pack_bits(self, bits: NDArray[np.bool_]) -> States:
        """Pack states given as truth values of the fluents, [n, fluents]."""
        padded = np.zeros((len(bits), 64 * self.words), np.bool_)
        padded[:, : self.fluents] = bits
        return _words(padded)

    def bits(self, states: States) -> NDArray[np.bool_]:
        """Return the truth values of the fluents, [n, fluents]; the inverse of `pack_bits`."""
        return unpack(states, self.fluents)

    def pack(self, states: Iterable[Iterable[str]]) -> States:
        """Pack states given as sets of facts in KIF, such as the `facts` of `State` objects.

        Raises `GameError` if a fluent is true in no reachable state, or absent although it is true in
        all of them, and `InvalidMoveError` if a text is not a ground term.
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
        bits = np.array(rows, np.bool_).reshape(-1, self.fluents)
        missing = np.flatnonzero((self.network.always > bits).any(0))
        if len(missing):
            always = self.fluent_names[missing[0]]
            raise GameError(f"`{always}` is true in every reachable state")
        return self.pack_bits(bits)

    def facts(self, states: States) -> list[frozenset[str]]:
        """Return the facts of each state; the inverse of `pack`."""
        names = self.fluent_names
        return [frozenset(names[f] for f in np.flatnonzero(row)) for row in self.bits(states)]

    # -- evaluation -----------------------------------------------------------------------

    def legal(self, states: States) -> Legal:
        """Return which states are terminal, and the legal moves in each."""
        over, bits = self.core.legal(self._checked(states))
        return Legal(over, bits, self.places, self.sizes)

    def terminal(self, states: States) -> NDArray[np.bool_]:
        """Return which states are terminal, [n]."""
        return self.legal(states).over

    def goals(self, states: States) -> NDArray[np.int16]:
        """Return the goal values, [n, roles], or `core.NO_VALUE` or `SEVERAL_VALUES`."""
        return self.core.goals(self._checked(states))

    def step(self, states: States, moves: NDArray[Any], parents: NDArray[np.int64] | None = None) -> States:
        """Return the states after joint moves, [k, words].

        `moves`, [k, roles], has the numbers of the moves, -1 for a role that does nothing; row i is made
        in state i, or in state `parents[i]` if `parents` is given.  Legality is not checked.
        """
        return self._step(states, moves, parents)[0]

    def percepts(self, states: States, moves: NDArray[Any]) -> NDArray[np.bool_]:
        """Return which of `network.percepts` hold for joint moves (GDL-II), [k, percepts]."""
        return unpack(self.observed(states, moves)[1], len(self.network.sees))

    def observed(self, states: States, moves: NDArray[Any]) -> tuple[States, NDArray[np.uint64]]:
        """Return the states after joint moves, as `step` does, and the percepts of the moves, packed.

        Bit `i % 64` of word `i // 64` is set if percept i of `network.percepts` is seen.
        """
        return self._step(states, moves, None, sees=True)

    def expand(self, states: States, legal: Legal | None = None) -> Expansion:
        """Return all successors of the states, one for each legal joint move.

        Terminal states and states in which a role has no legal move have no successors.  Memory grows
        with the number of joint moves; `expansions` bounds it.
        """
        (expansion,) = self.expansions(states, legal, joints=1 << 62)
        return expansion

    def expansions(
        self,
        states: States,
        legal: Legal | None = None,
        *,
        joints: int = CHUNK_JOINTS,
        starts: NDArray[np.int64] | None = None,
    ) -> Iterator[Expansion]:
        """Yield the successors of the states in chunks of at most `joints`; at least one chunk, maybe empty.

        `starts`, [n + 1], are the prefix sums of `legal.joint_counts()`, if the caller has them.
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

        Games `i * each` to `i * each + each - 1` begin in state i.  The same seed and arguments give the same
        games.  The moves of game `watched` are recorded in `line`, -1 records none.  Setting `stop` from
        another thread ends the games within a step; the result is then not `complete` and its arrays
        undefined.
        """
        states = self._checked(states)
        ended = self.core.rollouts(states, None, new_generator(seed), max_steps, stop, watched, each=each)
        lengths = ended.lengths
        truncated = lengths < 0
        lengths[truncated] = -1 - lengths[truncated]
        line = tuple(map(self.joint_move, ended.line.tolist()))
        return Rollouts(ended.goals, lengths, truncated, line, ended.complete)

    # -- internals ------------------------------------------------------------------------

    def _step(
        self, states: States, moves: NDArray[Any], parents: NDArray[np.int64] | None, *, sees: bool = False
    ) -> tuple[States, NDArray[np.uint64]]:
        numbers = np.ascontiguousarray(moves, np.int32)
        if numbers.ndim != 2 or numbers.shape[1] != len(self.roles):
            raise ValueError(f"joint moves are an array [k, {len(self.roles)}], not {list(numbers.shape)}")
        states = self._checked(states)
        if parents is None and len(numbers) != len(states):
            raise ValueError(f"{len(numbers)} joint moves for {len(states)} states")
        if parents is not None:
            parents = np.ascontiguousarray(parents, np.int64)
        return self.core.step(states, numbers, parents, sees)

    def _checked(self, states: States) -> States:
        states = np.ascontiguousarray(states, np.uint64)
        if states.ndim != 2 or states.shape[1] != self.words:
            raise ValueError(f"packed states are an array [n, {self.words}], not {list(states.shape)}")
        return states


def new_generator(seed: int) -> NDArray[np.uint64]:
    """Return the state of a random generator for `core.StateEvaluator.rollouts`, which advances it."""
    return np.asarray(np.random.SeedSequence(seed).generate_state(_GENERATOR, np.uint64), np.uint64)


def sample_true(mask: NDArray[np.bool_], random: np.random.Generator) -> NDArray[np.int64]:
    """Return the index of a random true entry of each row, each equally likely; 0 for a row without one."""
    narrow = np.int16 if mask.shape[1] < 1 << 15 else np.int64  # memory bandwidth dominates
    counts = mask.cumsum(axis=1, dtype=narrow)
    ranks = (random.random(len(mask)) * counts[:, -1]).astype(narrow) + 1
    chosen: NDArray[np.int64] = (counts >= ranks[:, None]).argmax(axis=1)
    return chosen


def unpack(words: NDArray[np.uint64], count: int) -> NDArray[np.bool_]:
    """Return the first bits of rows of words, [n, count]."""
    little = np.ascontiguousarray(words).astype("<u8", copy=False).view(np.uint8)
    return np.unpackbits(little, axis=1, bitorder="little", count=count).view(np.bool_)


def _words(bits: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """Pack rows of bits, [n, 64 words], into [n, words]."""
    packed = np.packbits(bits, axis=1, bitorder="little").view("<u8")
    return packed.astype(np.uint64, copy=False)


def _bit_count(words: NDArray[np.uint64]) -> NDArray[np.uint8]:
    """Return the number of bits of each word."""
    counts: NDArray[np.uint8]
    if hasattr(np, "bitwise_count"):
        counts = np.bitwise_count(words)
    else:  # before NumPy 2
        counts = np.unpackbits(words[..., None].copy().view(np.uint8), axis=-1).sum(axis=-1, dtype=np.uint8)
    return counts
