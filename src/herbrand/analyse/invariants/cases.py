"""All steps of a game, one joint move after the other.

With the joint move given, a step changes few fluents and most of the network folds away, so that a SAT solver
decides questions about each step at once that are hard for all steps together.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from herbrand.analyse.invariants.arithmetic import all_sums, greater, growth_of, total_of
from herbrand.analyse.invariants.frames import Frame
from herbrand.analyse.invariants.groups import number_exclusive, require
from herbrand.analyse.invariants.sat import Solver
from herbrand.errors import BudgetExceeded
from herbrand.network.circuit import implied

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from herbrand.analyse.invariants.frames import System
    from herbrand.analyse.invariants.groups import Group
    from herbrand.engine.expand import Expander

__all__ = ["Case", "StepCases"]

_CASES = 20_000
"""The most joint moves."""
_QUICK = 300
"""Solver conflicts for whether a fluent can change in a case at all."""
_BATCH = 20
"""Cases for which one solver is asked."""
_STEPS = 60
"""So many counterexamples are enough for new weights."""
_SEVERAL = 3
"""With so many possible moves a role counts as having a choice."""
_FEW = 16
"""The most terms of a sum that are tried one by one."""
_SUMS = 3000
"""The most distinct sums."""
Side = tuple[int, bool]
"""A group of fluents, and whether their weights are positive."""
Step = tuple["NDArray[np.bool_]", tuple[int, ...]]
"""A state, [fluents], and a joint move."""


@dataclass(frozen=True, slots=True)
class Case:
    """One joint move, with its preconditions and effects."""

    joint: tuple[int, ...]
    implied: tuple[int, ...]
    """Values of fluents that it needs; the rest of the network has been simplified with them."""
    when: tuple[int, ...]
    """Literals that hold exactly where it is legal and the game is not over."""
    changes: tuple[tuple[int, int, int], ...]
    """Fluents that it may change, each with the literals of its values before and after."""


class StepCases:
    """All steps from states in which the groups hold, one case for each joint move.

    Fluents that a legal move determines are substituted as constants, so that most of the network folds
    away and only the few fluents remain that the move changes.
    """

    def __init__(
        self, system: System, groups: Sequence[Group], deadline: float, *, passing: bool = False
    ) -> None:
        self.system = system
        self.passing = passing
        """Whether `counterexamples` ignores steps that change no fluent with a weight."""
        self.circuit = system.circuit
        self.deadline = deadline
        self.state: NDArray[np.int32] = self.circuit.variables(len(system.network.fluents))
        self.groups = groups
        self._required: list[tuple[int, ...]] = []
        self.solver = self._new_solver()
        self.others: dict[int, set[int]] = {}
        """Fluents that are false when one is true."""
        self.group = number_exclusive(groups, len(self.state))
        for group in groups:
            if not group.some:
                for fluent in group.fluents:
                    self.others.setdefault(fluent, set()).update(group.fluents)
        self.cases: list[Case] = []
        self._next = 0
        """The case that is asked about next."""

    def close(self) -> None:
        """Free the solver's memory."""
        self.solver.close()

    def require(self, clause: tuple[int, ...]) -> None:
        """Require that one of some literals is true."""
        self._required.append(clause)
        self.solver.add(clause)

    def _new_solver(self) -> Solver:
        solver = Solver(self.circuit, self.deadline)
        require(solver, self.state, self.groups)
        for clause in self._required:
            solver.add(clause)
        return solver

    def list_cases(self) -> bool:
        """List the cases, on the first call; return whether there are at most `_CASES`."""
        if not self.cases:
            self.cases = list(islice(self._split({}, {}), _CASES + 1))
        return len(self.cases) <= _CASES

    def _split(self, values: Mapping[int, int], moves: Mapping[int, int]) -> Iterator[Case]:
        """Yield the cases with given values of some fluents and moves of some roles."""
        if time.monotonic() > self.deadline:
            raise BudgetExceeded("the time", "while joint moves were being listed")
        state = self.state.copy()
        for fluent, value in values.items():
            state[fluent] = value
        frame = Frame(self.system, state)
        if frame.terminal == 1:
            return
        options = []
        for role, own_moves in enumerate(self.system.moves):
            options.append(
                [moves[role]] if role in moves else own_moves[frame.legal[own_moves] != 0].tolist()
            )
        if not all(options) or any(frame.legal[m] == 0 for m in moves.values()):
            return
        if moves:
            when = [frame.terminal ^ 1, *(int(frame.legal[m]) for m in moves.values())]
            when += self._literals(values)
            options = [self._possible(frame, choices, when) for choices in options]
            if not all(options):
                return
        undecided = [role for role, choices in enumerate(options) if len(choices) > 1]
        if not undecided:
            yield self._case(frame, values, tuple(choices[0] for choices in options))
            return
        role = undecided[0]
        for move in options[role]:
            more = self._implied_values(int(frame.legal[move]), values)
            if more is not None:
                yield from self._split(more, {**moves, role: move})

    def _possible(self, frame: Frame, moves: list[int], when: Sequence[int]) -> list[int]:
        """Return those moves of a role that can be legal where some literals are true; all if several can be.

        Where roles take turns, the form of the rules does not always tell that the others have one move.
        """
        possible: list[int] = []
        rest = moves if len(moves) > 1 else []
        while rest:
            if len(possible) >= _SEVERAL:
                return moves
            if not self.solver.solve(self.circuit.any_of(frame.legal[rest]), *when):
                return possible
            model = self.solver.model()
            possible += [move for move in rest if model(int(frame.legal[move]))]
            rest = [move for move in rest if move not in possible]
        return moves

    def _implied_values(self, literal: int, values: Mapping[int, int]) -> dict[int, int] | None:
        """Return `values` with those that a literal implies; None if it contradicts them."""
        demanded = dict(values)
        first = int(self.state[0]) >> 1 if len(self.state) else 0
        for known in implied(self.circuit, (literal,)):
            fluent = (known >> 1) - first
            if not 0 <= fluent < len(self.state):
                continue
            true = 1 - (known & 1)
            for place in self.others.get(fluent, ()) if true else ():
                if place != fluent and demanded.setdefault(place, 0):
                    return None
            if demanded.setdefault(fluent, true) != true:
                return None
        return demanded

    def _literals(self, values: Mapping[int, int]) -> list[int]:
        """Return the literals that fluents have some values."""
        return [int(self.state[fluent]) ^ (1 - value) for fluent, value in values.items()]

    def _case(self, frame: Frame, values: Mapping[int, int], joint: tuple[int, ...]) -> Case:
        network = self.system.network
        choices = np.zeros(len(network.moves), np.int32)
        choices[list(joint)] = 1
        first = 1 + len(network.fluents)
        frame.value[first : first + len(choices)] = choices
        self.circuit.copy(network, frame.value, network.cones[0], network.cones[1])
        after = frame.literals(network.next)
        implied = self._literals(values)
        when = [*implied, frame.terminal ^ 1, *(int(frame.legal[m]) for m in joint)]
        different = np.flatnonzero(frame.state != after).tolist()
        changes = tuple((f, int(frame.state[f]), int(after[f])) for f in different)
        return Case(joint, tuple(implied), tuple(dict.fromkeys(when)), changes)

    def counterexamples(self, weights: NDArray[np.int64], most: int = 0) -> list[Step]:
        """Return steps that make the sum grow by at most `most`, some of them if there are many.

        Each is a state with a joint move; there is at most one for each case.
        """
        return self._steps(lambda case: self._no_growth(case, weights, most))

    def changing_steps(self, weights: NDArray[np.int64], assumed: Sequence[int]) -> list[Step]:
        """Return steps that change the sum, from states with some literals true; see `counterexamples`.

        Raises `BudgetExceeded` beyond `_SUMS` distinct sums.
        """
        return self._steps(lambda case: self._change(case, weights), assumed)

    def _steps(self, target: Callable[[Case], int], assumed: Sequence[int] = ()) -> list[Step]:
        """Return a step of each case in which the literal of `target` can be true.

        If there are many, only some, of cases after those that the last call looked at.
        """
        steps = []
        for case in self.in_turn():
            literal = target(case)
            if literal and self.solver.solve(literal, *assumed, *case.when):
                steps.append(self.solver_step(case))
                if len(steps) >= _STEPS:
                    break
        return steps

    def solver_step(self, case: Case) -> Step:
        """Return the step of a case that the solver found last."""
        return self.solver.model().values(self.state), case.joint

    def possible(self, case: Case, *literals: int) -> bool:
        """Return whether a step of a case makes some literals true; then the solver has a model.

        What a move needs at least often decides that, and conditions for it to be legal can be large.
        """
        solver = self.solver
        return solver.solve(*literals, *case.implied) and solver.solve(*literals, *case.when)

    def in_turn(self, every: int = 1) -> Iterator[Case]:
        """Yield each case, or one of `every`, once, beginning with the one after the last that was yielded.

        There is a new solver every now and then: with each answer it gives values to all that it knows of.
        """
        begin = self._next
        for number in range(0, len(self.cases), every):
            if number // every % _BATCH == 0:
                self.solver.close()
                self.solver = self._new_solver()
            self._next = (begin + number + 1) % len(self.cases)
            yield self.cases[begin + number - len(self.cases)]

    def changes(self, expander: Expander, steps: Sequence[Step]) -> NDArray[np.int8]:
        """Return the distinct changes of the fluents in steps, [n, fluents]: -1, 0 or 1."""
        states = expander.pack_bits(np.array([state for state, _ in steps], np.bool_))
        first = np.array(expander.network.circuit.bounds[:-1], np.int32)
        moves = np.array([joint for _, joint in steps], np.int32) - first
        after = expander.bits(expander.step(states, moves)).astype(np.int8)
        distinct: NDArray[np.int8] = np.unique(after - expander.bits(states), axis=0)
        return distinct

    def _no_growth(self, case: Case, weights: NDArray[np.int64], most: int) -> int:
        """Return the literal that the sum grows by at most `most`."""
        circuit = self.circuit
        terms = self._terms(case, weights)
        up, down = [], []
        for side in dict.fromkeys(term[0] for term in terms):
            ways = [term for term in terms if term[0] == side]
            up.append(self._amount([(weight, come) for _, weight, come, _ in ways]))
            down.append(self._amount([(weight, gone) for _, weight, _, gone in ways]))
        (down if most > 0 else up).append([abs(most) >> bit & 1 for bit in range(most.bit_length())])
        none = greater(circuit, total_of(circuit, up), total_of(circuit, down)) ^ 1
        if not self.passing:
            return none
        moving = [literal for term in terms for literal in term[2:]]
        return circuit.all_of((none, circuit.any_of(moving)))

    def _amount(self, ways: Sequence[tuple[int, int]]) -> list[int]:
        """Return the bits of the weight that is added where at most one literal is true; lowest first."""
        most = max((weight for weight, literal in ways if literal), default=0)
        return [
            self.circuit.any_of([literal for weight, literal in ways if weight >> bit & 1])
            for bit in range(most.bit_length())
        ]

    def by_group(self, case: Case, weights: NDArray[np.int64]) -> dict[int, list[tuple[int, int, int]]]:
        """Return what a case changes of a sum, by group: weights with their literals before and after."""
        changes: dict[int, list[tuple[int, int, int]]] = {}
        for fluent, before, after in case.changes:
            if weights[fluent]:
                weight = int(weights[fluent])
                changes.setdefault(int(self.group[fluent]), []).append((weight, before, after))
        return changes

    def _change(self, case: Case, weights: NDArray[np.int64]) -> int:
        """Return the literal that the sum changes in a case."""
        ways = (growth_of(self.circuit, some).items() for some in self.by_group(case, weights).values())
        sums = all_sums(self.circuit, ways, _SUMS)
        if sums is None:
            raise BudgetExceeded(f"{_SUMS} sums", "after a step")
        return sums.get(0, 0) ^ 1

    def _terms(self, case: Case, weights: NDArray[np.int64]) -> list[tuple[Side, int, int, int]]:
        """Return the terms of the change: positive weights, with the literals of being added and subtracted.

        The first element is the group with the sign of the weight: of terms with an equal one, at most one is
        added, and at most one subtracted.

        Fluents of equal weight in one group are merged, and literals that are only permuted among fluents of
        equal weight, as when a board is rotated, cancel out.
        """
        circuit, solver = self.circuit, self.solver
        by_weight: dict[tuple[int, int], list[tuple[int, int]]] = {}
        for fluent, before, after in case.changes:
            weight = int(weights[fluent])
            if weight:
                by_weight.setdefault((self.group[fluent], weight), []).append((before, after))
        merged = []
        counts: dict[int, int] = {}
        for (group, weight), pairs in by_weight.items():
            before, after = (circuit.any_of(side) for side in zip(*pairs, strict=True))
            merged.append((group, weight, before, after))
            for literal, amount in ((before, -weight), (after, weight)):
                sign = -1 if literal & 1 else 1
                counts[literal >> 1] = counts.get(literal >> 1, 0) + sign * amount
        terms = []
        for group, weight, before, after in merged:
            gone, come = (int(counts[literal >> 1] == 0) for literal in (before, after))
            if gone and come:
                continue
            if not gone and not come:
                up, down = circuit.all_of((before ^ 1, after)), circuit.all_of((before, after ^ 1))
            else:
                up, down = (after, 0) if gone else (0, before)
            if weight < 0:
                up, down = down, up
            if len(merged) <= _FEW:
                up, down = (
                    0 if literal and solver.attempt(_QUICK, literal, *case.implied) is False else literal
                    for literal in (up, down)
                )
            if up or down:
                terms.append(((group, weight > 0), abs(weight), up, down))
        return terms
