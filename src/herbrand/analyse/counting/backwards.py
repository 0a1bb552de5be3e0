"""Goal values that a role can force, by backward induction on decision diagrams of sets of states.

For games in which no state is reached after two different numbers of steps, and in which the number of steps
says which role chooses.  From the last step to the first one, the states in which the role can force a goal
value are those ends that give it, those from which a move of its own leads to such a state, and those from
which every move of another role does (Edelkamp and Kissmann 2008, "Symbolic classification of general
two-player games").
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from herbrand.errors import GameError
from herbrand.network.network import GOAL_VALUES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from herbrand.analyse.counting.relation import Relation
    from herbrand.analyse.counting.state_sets import StateSets, SymbolicSet

__all__ = ["Backwards", "StepAnswer"]


@dataclass(frozen=True, slots=True)
class StepAnswer:
    """The states of a step in which the question has the answer yes."""

    step: int
    states: int
    nodes: int
    total: int | None
    """The sum of the goal values of all roles, where it was the same in all ends so far."""
    values: tuple[int, ...]
    """The goal values of the role in all ends so far, ascending."""


class Backwards:
    """Answers questions about the states of all steps."""

    def __init__(self, relation: Relation, sets: StateSets, by_step: Sequence[SymbolicSet]) -> None:
        """Prepare for questions; `by_step` are the states of each step.

        Raises `GameError` where several roles may choose at once.
        """
        self._relation = relation
        self._sets = sets
        self._by_step = by_step
        self._choosers = []
        for step in range(len(by_step)):
            choosers = relation.choosers(step)
            if len(choosers) > 1:
                raise GameError(f"several roles may choose after {step} steps")
            self._choosers.append(choosers[0] if choosers else -1)
        self._values: dict[int, dict[int, list[int]]] = {}
        """For each role, its goal values with the literals that are true where it has them."""
        for role, text, literal in relation.goals:
            value = GOAL_VALUES.get(text)
            if value is not None:
                self._values.setdefault(role, {}).setdefault(value, []).append(literal)
        self._role = self._goal = 0
        self._step = len(by_step)
        self._empty = sets.new(0)
        self._holding = self._first = self._empty
        self._at_ends: set[int] = set()
        self._sums: set[int] = set()
        self._is_constant = len(self._values) <= 2

    def ask(self, role: int, goal: int) -> None:
        """Ask whether a role can force at least a goal value."""
        self._role, self._goal = role, goal
        self._at_ends = set()
        self._step = len(self._by_step)
        self._holding = self._first = self._empty

    def retreat(self) -> StepAnswer:
        """Answer the question for the states of one step less; step 0 has the answer for the game.

        Raises `GameError` where an end has not one goal value for the role, or a role has no legal move.
        """
        self._step -= 1
        step, sets = self._step, self._sets
        here = self._by_step[step]
        later = self._by_step[step + 1] if step + 1 < len(self._by_step) else self._empty
        on = sets.going_on(here, step)
        holding = self._at_the_end(sets.subtract(here, on))
        if on:
            if any(sets.where(on, stuck) for stuck in self._relation.stuck(step) if stuck.satisfiable()):
                raise GameError(f"a role has no legal move in a state after {step} steps")
            if self._choosers[step] == self._role:
                more = sets.intersect(sets.before(self._holding, step), on)
            else:
                more = sets.subtract(on, sets.before(sets.subtract(later, self._holding), step))
            holding = sets.unite(holding, more)
        if not step:  # those after the first move are asked for
            self._first = self._holding
        self._holding = holding
        states, nodes = sets.measure(holding)
        total = next(iter(self._sums)) if self._is_constant and len(self._sums) == 1 else None
        return StepAnswer(step, states, nodes, total, tuple(sorted(self._at_ends)))

    def holds(self, fluents: Sequence[int]) -> bool:
        """Return whether the role can force it from a state after the first move."""
        return bool(self._sets.intersect(self._sets.state(fluents), self._first))

    def _at_the_end(self, ends: SymbolicSet) -> SymbolicSet:
        """Return the ends that give the role at least the goal value; notes the sums of goal values."""
        sets = self._sets
        reached, rest = self._empty, ends
        for value, with_value in self._with_values(self._role, ends):
            if sets.intersect(with_value, rest).number != with_value.number:
                raise GameError("a role has several goal values at an end of the game")
            rest = sets.subtract(rest, with_value)
            self._at_ends.add(value)
            if value >= self._goal:
                reached = sets.unite(reached, with_value)
            if self._is_constant:
                self._add_sums(value, with_value)
        if rest:
            raise GameError("a role has no goal value at an end of the game")
        return reached

    def _add_sums(self, value: int, ends: SymbolicSet) -> None:
        """Note the sums of the goal values in ends at which the role has a value."""
        others = [role for role in self._values if role != self._role]
        if not others:
            self._sums.add(value)
            return
        rest = ends
        for other, with_value in self._with_values(others[0], ends):
            self._sums.add(value + other)
            rest = self._sets.subtract(rest, with_value)
        self._is_constant = not rest and len(self._sums) <= 1

    def _with_values(self, role: int, ends: SymbolicSet) -> Iterator[tuple[int, SymbolicSet]]:
        """Yield the goal values of a role with the ends that have them."""
        sets = self._sets
        cache: dict[int, SymbolicSet] = {}
        for value, literals in self._values[role].items() if ends else ():
            with_value = self._empty
            for literal in literals:
                with_value = sets.unite(with_value, sets.satisfying(ends, literal, self._step, cache))
            if with_value:
                yield value, with_value
