"""A whole game as information sets: the sequence form of its extensive form.

All plays are expanded in parallel, one joint move at a time.  A player has a
*history* (own moves and percepts so far); where it has a choice, the history is an
*information set*, and its earlier choices are its *sequence* (Koller, Megiddo and von
Stengel, *Fast Algorithms for Finding Randomized Strategies in Game Trees*, 1994).  Players
have perfect recall, so that a history determines the sequence.

Plays that lead to the same state with the same histories are one node: their futures are
the same, and their probabilities add up.  The game is then fully described by its *leaves*: a
sequence of each player, the probability of the moves of `random`, and the payoffs.
Simultaneous moves need no order, since no player sees another's move first.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import count, product
from typing import TYPE_CHECKING, Any, TypeAlias

from herbrand.analyse.knowledge.histories import FIRST_KEY, extended_key, state_key
from herbrand.analyse.knowledge.states import legal_moves, single_goal
from herbrand.errors import BudgetExceeded, GameError
from herbrand.runtime.limits import DEFAULT, Limits

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator

    from herbrand.machine.state_machine import StateMachine
    from herbrand.rules.interface import Engine

__all__ = ["InformationSet", "Leaf", "PlayerDecisions", "Unfolding", "unfold"]

_Node: TypeAlias = tuple[Any, tuple[int, ...], tuple[int, ...]]
"""A state, the history of each player, the sequence of each player."""

MOST_NODES = 200_000
"""The most nodes: states with the histories that lead there."""


@dataclass(frozen=True, slots=True)
class InformationSet:
    """A history after which a player has a choice."""

    history: tuple[str, ...]
    """Own choices, and percepts as "saw (dealt jack)", in order."""
    parent: int
    """The sequence of own moves that leads here."""
    moves: tuple[str, ...]
    """The legal moves, sorted."""
    first: int
    """The number of the sequence that ends with the first move; those of the other moves follow."""
    key: bytes
    """`histories.history_key` of the history; without `sees`, `state_key` of the state, which several
    information sets may share."""

    def __str__(self) -> str:
        return "; ".join(self.history) if self.history else "(at the start)"


@dataclass(frozen=True, slots=True)
class PlayerDecisions:
    """All information sets of a player."""

    role: str
    sets: tuple[InformationSet, ...]
    """Ordered by the number of earlier own choices."""
    levels: tuple[int, ...]
    """Offsets in `sets` of each number of earlier choices, and the end."""

    @property
    def sequences(self) -> int:
        """The number of sequences; number 0 is the empty one."""
        return 1 + sum(len(one.moves) for one in self.sets)


@dataclass(frozen=True, slots=True)
class Leaf:
    """Plays that end with the same sequences and the same goals."""

    sequences: tuple[int, ...]
    """One for each player."""
    weight: Fraction
    """The total probability of the moves of `random` in these plays."""
    goals: tuple[int, ...]
    """One for each player."""


@dataclass(frozen=True, slots=True)
class Unfolding:
    """A game as information sets and leaves; see the module."""

    game: str
    players: tuple[PlayerDecisions, ...]
    leaves: tuple[Leaf, ...]
    nodes: int
    """The number of states with histories."""
    steps: int
    """The length of the longest play."""

    @property
    def constant_sum(self) -> int | None:
        """The sum of all players' goals, if it is the same at all leaves; else None."""
        sums = {sum(leaf.goals) for leaf in self.leaves}
        return sums.pop() if len(sums) == 1 else None

    def __str__(self) -> str:
        lines = []
        for player in self.players:
            lines.append(f"{player.role}: {len(player.sets)} information sets")
            lines += [f"  {one}: {' | '.join(one.moves)}" for one in player.sets]
        lines.append(f"{len(self.leaves)} leaves, {self.nodes} nodes, {self.steps} steps")
        return "\n".join(lines)


class _Histories:
    """Numbers the histories of one player; equal histories have equal numbers."""

    def __init__(self, role: str) -> None:
        self.role = role
        self.words: list[tuple[str, ...]] = [()]
        """Each history in words."""
        self.keys: list[bytes] = [FIRST_KEY]
        """The key of each history."""
        self.numbers: dict[tuple[int, int, Hashable], int] = {}
        self.legal: dict[int, tuple[int, ...]] = {}
        self.sets: dict[int, tuple[int, int]] = {}
        """For each history with a choice, the sequence before it and that of its first move."""
        self.depths: list[int] = [0]
        """The number of choices in each sequence."""

    def add_choice(self, history: int, sequence: int, moves: tuple[int, ...]) -> None:
        """Record the legal moves after a history; raises `GameError` when they vary."""
        if self.legal.setdefault(history, moves) != moves:
            remembered = "; ".join(self.words[history]) or "nothing so far"
            raise GameError(f"{self.role} cannot know its legal moves after: {remembered}")
        if len(moves) > 1 and history not in self.sets:
            self.sets[history] = sequence, len(self.depths)
            self.depths += [self.depths[sequence] + 1] * len(moves)

    def extend(
        self,
        history: int,
        move: int,
        seen: Hashable,
        words: Callable[[], Iterable[str]],
        key: Callable[[bytes], bytes],
    ) -> int:
        """Return the history after one more move and its percepts."""
        step = history, move, seen
        number = self.numbers.get(step)
        if number is None:
            number = self.numbers[step] = len(self.words)
            self.words.append((*self.words[history], *words()))
            self.keys.append(key(self.keys[history]))
        return number


def unfold(
    game: StateMachine, *, engine: str = "auto", nodes: int = MOST_NODES, limits: Limits = DEFAULT
) -> Unfolding:
    """Expand all plays of a game and return its information sets and leaves.

    Raises `BudgetExceeded` with more than `nodes` nodes, and `GameError` when the game cannot
    be played by its rules: a role has no legal move, or no single goal value at the end, or
    cannot know its legal moves.
    """
    machine = game.engine_object(engine)
    text = machine.terms.text
    chance = None if game.chance_role is None else game.role_index(game.chance_role)
    places = [i for i in range(len(game.roles)) if i != chance]
    tables = [_Histories(game.roles[i]) for i in places]
    clock = limits.start()
    leaves: dict[tuple[tuple[int, ...], tuple[int, ...]], Fraction] = {}
    if not game.has_percepts:
        for table in tables:
            table.keys[0] = state_key(map(text, machine.fluents(machine.initial())))
    start = (0,) * len(places)
    frontier: dict[_Node, Fraction] = {(machine.initial(), start, start): Fraction(1)}
    expanded = steps = 0
    while frontier:
        expanded += len(frontier)
        after: dict[_Node, Fraction] = {}
        for (key, histories, sequences), weight in frontier.items():
            if clock.elapsed() > limits.seconds:
                progress = f"{expanded} nodes, {steps} joint moves deep"
                raise BudgetExceeded(f"{limits.seconds:g} seconds", progress)
            if machine.terminal(key):
                end = sequences, tuple(single_goal(game, machine, key, i) for i in places)
                leaves[end] = leaves.get(end, Fraction(0)) + weight
                continue
            legal = legal_moves(game, machine, key)
            for table, i, history, sequence in zip(tables, places, histories, sequences, strict=True):
                table.add_choice(history, sequence, legal[i])
            share = weight if chance is None else weight / len(legal[chance])
            for joint in product(*legal):
                successor = machine.successor(key, joint)
                extended = [
                    _step(game, machine, table, (key, successor), history, joint, i, free=len(legal[i]) > 1)
                    for table, i, history in zip(tables, places, histories, strict=True)
                ]
                chosen = [
                    table.sets[history][1] + legal[i].index(joint[i]) if len(legal[i]) > 1 else sequence
                    for table, i, history, sequence in zip(tables, places, histories, sequences, strict=True)
                ]
                node = successor, tuple(extended), tuple(chosen)
                after[node] = after.get(node, Fraction(0)) + share
            if expanded + len(after) > nodes:
                raise BudgetExceeded(f"{nodes} nodes of the game tree", f"{steps + 1} joint moves deep")
        frontier = after
        steps += bool(after)
    ordered = [_ordered(table, text) for table in tables]
    return Unfolding(
        game.name,
        tuple(player for player, _ in ordered),
        tuple(
            Leaf(tuple(order[s] for (_, order), s in zip(ordered, chosen, strict=True)), weight, goals)
            for (chosen, goals), weight in leaves.items()
        ),
        expanded,
        steps,
    )


def _step(
    game: StateMachine,
    machine: Engine,
    table: _Histories,
    states: tuple[Any, Any],
    history: int,
    joint: tuple[int, ...],
    i: int,
    *,
    free: bool,
) -> int:
    """Return the history of role i after a joint move, which leads from the first state to the second."""
    text = machine.terms.text
    percepts: tuple[int, ...] = joint
    if game.has_percepts:
        percepts = tuple(sorted(set(machine.percepts(states[0], joint, i))))

    def words() -> Iterator[str]:
        if free:
            yield text(joint[i])
        if game.has_percepts:
            remembered = sorted(map(text, percepts))
        else:
            made = enumerate(zip(game.roles, joint, strict=True))
            remembered = [f"(did {role} {text(m)})" for k, (role, m) in made if k != i]
        if remembered:
            yield f"saw {' '.join(remembered)}"

    def key(before: bytes) -> bytes:
        if game.has_percepts:
            return extended_key(before, text(joint[i]), map(text, percepts))
        return state_key(map(text, machine.fluents(states[1])))

    return table.extend(history, joint[i], percepts, words, key)


def _ordered(table: _Histories, text: Callable[[int], str]) -> tuple[PlayerDecisions, list[int]]:
    """Number the sequences by level; return the player, and the new number of each old one."""
    order = [0] * len(table.depths)
    sets = sorted(table.sets.items(), key=lambda one: (table.depths[one[1][0]], table.words[one[0]]))
    numbers = count(1)
    for history, (_, first) in sets:
        for k in range(len(table.legal[history])):
            order[first + k] = next(numbers)
    information_sets = tuple(
        InformationSet(
            table.words[history],
            order[parent],
            tuple(map(text, table.legal[history])),
            order[first],
            table.keys[history],
        )
        for history, (parent, first) in sets
    )
    depths = [table.depths[parent] for _, (parent, _) in sets]
    levels = [k for k in range(len(depths)) if k == 0 or depths[k] != depths[k - 1]]
    return PlayerDecisions(table.role, information_sets, (*levels, len(information_sets))), order
