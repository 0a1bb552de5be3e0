"""A whole game as information sets: the sequence form of its extensive form.

All plays are followed together, one joint move at a time.  A player is described by its
*history* (own moves and percepts so far); where it has a choice, the history is an
*information set*, and the choices it made before are its *sequence* (Koller, Megiddo and von
Stengel, *Fast Algorithms for Finding Randomized Strategies in Game Trees*, 1994).  Players
remember everything, so that a history has one sequence.

Plays that lead to the same state with the same histories are one node: whatever follows is
the same, and their chances add up.  A game is then no more than the list of its *leaves*: a
sequence of each player, the chance that `random` plays along, and what each player gets.
Moves made at the same time need no order here, since nobody sees the other's first.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING, Any, TypeAlias

from herbrand.analyse.knowledge.outcome import single_goal
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
"""How many nodes (states with the histories that lead there) are followed."""


@dataclass(frozen=True, slots=True)
class InformationSet:
    """What a player can know when it has to choose."""

    history: tuple[str, ...]
    """Own choices, and percepts as "saw (dealt jack)", in the order in which they came."""
    parent: int
    """The sequence of own moves that leads here."""
    moves: tuple[str, ...]
    """The legal moves, sorted."""
    first: int
    """The number of the sequence that goes on with the first of the moves; the others follow."""

    def __str__(self) -> str:
        return "; ".join(self.history) if self.history else "(at the start)"


@dataclass(frozen=True, slots=True)
class PlayerDecisions:
    """All that a player may have to decide."""

    role: str
    sets: tuple[InformationSet, ...]
    """Ordered by the number of own choices before; what comes later is never before it."""
    levels: tuple[int, ...]
    """Where in `sets` each number of choices begins, and the end."""

    @property
    def sequences(self) -> int:
        """How many sequences of own moves there are; number 0 is the empty one."""
        return 1 + sum(len(one.moves) for one in self.sets)


@dataclass(frozen=True, slots=True)
class Leaf:
    """Plays that end with the same sequences and the same goals."""

    sequences: tuple[int, ...]
    """One for each player."""
    weight: Fraction
    """The chance that `random` plays along, over all plays that this leaf stands for."""
    goals: tuple[int, ...]
    """One for each player."""


@dataclass(frozen=True, slots=True)
class Unfolding:
    """A game as information sets and leaves; see the module."""

    game: str
    players: tuple[PlayerDecisions, ...]
    leaves: tuple[Leaf, ...]
    nodes: int
    """States with histories that were followed."""
    steps: int
    """The length of the longest play."""

    @property
    def constant_sum(self) -> int | None:
        """What the goals of all players add up to, when it is always the same; else None."""
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
        """What a person would remember of each history."""
        self.numbers: dict[tuple[int, int, Hashable], int] = {}
        self.legal: dict[int, tuple[int, ...]] = {}
        self.sets: dict[int, tuple[int, int]] = {}
        """History with a choice -> the sequence before, and the sequence of its first move."""
        self.depths: list[int] = [0]
        """How many choices each sequence has."""

    def meet(self, history: int, sequence: int, moves: tuple[int, ...]) -> None:
        """Note the legal moves after a history; `GameError` when they are not always the same."""
        if self.legal.setdefault(history, moves) != moves:
            told = "; ".join(self.words[history]) or "nothing so far"
            raise GameError(f"{self.role} cannot know its legal moves after: {told}")
        if len(moves) > 1 and history not in self.sets:
            self.sets[history] = sequence, len(self.depths)
            self.depths += [self.depths[sequence] + 1] * len(moves)

    def extended(self, history: int, move: int, seen: Hashable, words: Callable[[], Iterable[str]]) -> int:
        """Return the history that goes on with a move and what was seen."""
        key = history, move, seen
        number = self.numbers.get(key)
        if number is None:
            number = self.numbers[key] = len(self.words)
            self.words.append((*self.words[history], *words()))
        return number


def unfold(
    game: StateMachine, *, engine: str = "auto", nodes: int = MOST_NODES, limits: Limits = DEFAULT
) -> Unfolding:
    """Follow all plays of a game and return its information sets and leaves.

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
    nothing = (0,) * len(places)
    frontier: dict[_Node, Fraction] = {(machine.initial(), nothing, nothing): Fraction(1)}
    followed = steps = 0
    while frontier:
        followed += len(frontier)
        after: dict[_Node, Fraction] = {}
        for (key, histories, sequences), weight in frontier.items():
            if clock.elapsed() > limits.seconds:
                raise BudgetExceeded(
                    f"{limits.seconds:g} seconds", f"{followed} nodes, {steps} joint moves deep"
                )
            if machine.terminal(key):
                end = sequences, tuple(single_goal(game, machine, key, i) for i in places)
                leaves[end] = leaves.get(end, Fraction(0)) + weight
                continue
            legal = [tuple(sorted(machine.legal(key, i), key=text)) for i in range(len(game.roles))]
            if () in legal:
                role = game.roles[legal.index(())]
                raise GameError(f"{role} has no legal move, and the game is not over")
            for table, i, history, sequence in zip(tables, places, histories, sequences, strict=True):
                table.meet(history, sequence, legal[i])
            share = weight if chance is None else weight / len(legal[chance])
            for joint in product(*legal):
                grown = [
                    _step(game, machine, table, key, history, joint, i, free=len(legal[i]) > 1)
                    for table, i, history in zip(tables, places, histories, strict=True)
                ]
                chosen = [
                    table.sets[history][1] + legal[i].index(joint[i]) if len(legal[i]) > 1 else sequence
                    for table, i, history, sequence in zip(tables, places, histories, sequences, strict=True)
                ]
                node = machine.successor(key, joint), tuple(grown), tuple(chosen)
                after[node] = after.get(node, Fraction(0)) + share
            if followed + len(after) > nodes:
                raise BudgetExceeded(f"{nodes} nodes of the game tree", f"{steps + 1} joint moves deep")
        frontier = after
        steps += bool(after)
    ordered = [_ordered(table, text) for table in tables]
    return Unfolding(
        game.name,
        tuple(player for player, _ in ordered),
        tuple(
            Leaf(tuple(order[s] for (_, order), s in zip(ordered, found, strict=True)), weight, goals)
            for (found, goals), weight in leaves.items()
        ),
        followed,
        steps,
    )


def _step(
    game: StateMachine,
    machine: Engine,
    table: _Histories,
    key: Any,
    history: int,
    joint: tuple[int, ...],
    i: int,
    *,
    free: bool,
) -> int:
    """Return the history of role i after a joint move."""
    text = machine.terms.text
    seen: tuple[int, ...] = joint
    if game.has_percepts:
        seen = tuple(sorted(set(machine.percepts(key, joint, i))))

    def words() -> Iterator[str]:
        if free:
            yield text(joint[i])
        if game.has_percepts:
            told = sorted(map(text, seen))
        else:
            told = [
                f"(did {role} {text(m)})"
                for k, (role, m) in enumerate(zip(game.roles, joint, strict=True))
                if k != i
            ]
        if told:
            yield f"saw {' '.join(told)}"

    return table.extended(history, joint[i], seen, words)


def _ordered(table: _Histories, text: Callable[[int], str]) -> tuple[PlayerDecisions, list[int]]:
    """Number the sequences by level; return the player, and the new number of each old one."""
    order = [0] * len(table.depths)
    sets = sorted(table.sets.items(), key=lambda one: (table.depths[one[1][0]], table.words[one[0]]))
    used = 1
    for history, (_, first) in sets:
        for k in range(len(table.legal[history])):
            order[first + k] = used + k
        used += len(table.legal[history])
    made = tuple(
        InformationSet(
            table.words[history], order[parent], tuple(map(text, table.legal[history])), order[first]
        )
        for history, (parent, first) in sets
    )
    depths = [table.depths[parent] for _, (parent, _) in sets]
    levels = [k for k in range(len(depths)) if k == 0 or depths[k] != depths[k - 1]]
    return PlayerDecisions(table.role, made, (*levels, len(made))), order
