"""A SAT solver over the literals of an `UnrolledCircuit`, with a deadline."""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from herbrand.errors import BudgetExceeded, MissingExtra, optional_import
from herbrand.network.graph import unknown_cone
from herbrand.runtime.collector import suspend_collector
from herbrand.runtime.limits import require_time

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from herbrand.network.circuit import UnrolledCircuit

__all__ = ["Assignment", "Solver", "library", "missing_solver"]

_CONFLICTS = 1000
"""Conflicts between two checks of the clock."""
_PROPAGATIONS = 10_000_000
"""Propagations between two checks: in large circuits conflicts are rare."""


def library() -> Any:
    """Return the library of SAT solvers; raises `MissingExtra` where it is not installed."""
    with optional_import("proving properties of games", "analyse"):
        from pysat import solvers
    return solvers


def missing_solver() -> str:
    """Return what to install for proofs that need a SAT solver; an empty text where it is installed."""
    try:
        library()
    except MissingExtra as error:
        return f"pip install 'herbrand[{error.extra}]'"
    return ""


_MEMORY_SPENT = "the memory", "of a SAT solver"


@contextmanager
def _within_its_memory() -> Iterator[None]:
    """Turn the end of what a solver can address, with numbers of 32 bits, into `BudgetExceeded`."""
    try:
        yield
    except MemoryError as error:
        raise BudgetExceeded(*_MEMORY_SPENT) from error


class Solver:
    """Decides whether literals of a circuit can be true together.

    Gates are encoded as clauses when a literal that depends on them is first used (Tseitin
    1968), trees of them as one conjunction.  `deadline` is a time of `time.monotonic`; past it,
    queries raise `BudgetExceeded`.
    """

    def __init__(self, circuit: UnrolledCircuit, deadline: float) -> None:
        self.circuit = circuit
        self.deadline = deadline
        self._assumed: dict[int, int] = {}
        self._state = np.zeros(0, np.int8)
        self._uses = np.zeros(0, np.int32)
        self._variables: dict[int, int] = {}
        """The solver's numbers of nodes, in order of use: it takes time for each number below the largest."""
        self._unclosed: list[int] = []
        """Numbered nodes of `UnrolledCircuit.closed` about which the solver does not know that yet."""
        self._solver: Any = library().Glucose4()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *rest: object) -> None:
        self.close()

    def close(self) -> None:
        """Free the memory; the solver cannot be used afterwards."""
        self._solver.delete()

    def _signed(self, literal: int) -> int:
        """Return a literal in the solver's numbering; add the clauses of its cone first."""
        node = literal >> 1
        if node >= len(self._state):
            size = max(2 * len(self._state), len(self.circuit.left))
            self._state = np.concatenate((self._state, np.zeros(size - len(self._state), np.int8)))
            self._uses = np.concatenate((self._uses, np.zeros(size - len(self._uses), np.int32)))
        if self._state[node] != 1 and self.circuit.left[node] >= 0:
            with _within_its_memory():
                self._encode(node)
        variable = self._variable(node)
        return -variable if literal & 1 else variable

    def _variable(self, node: int) -> int:
        """Return the solver's number of a node."""
        number = self._variables.get(node)
        if number is None:
            number = self._variables[node] = len(self._variables) + 1
            if node in self.circuit.closed:
                self._unclosed.append(node)
        return number

    def _close(self) -> None:
        """Add that values are closed which are fed back; this may need more of them."""
        while self._unclosed:
            node = self._unclosed.pop()
            self.add((2 * node, self.circuit.closed[node] ^ 1))

    def _encode(self, node: int) -> None:
        """Add the clauses of all gates in the cone of a gate."""
        circuit, add, variable = self.circuit, self._solver.add_clause, self._variable
        rows = unknown_cone(circuit.left, circuit.right, self._state, self._uses, node)
        with suspend_collector():  # the many small lists would trigger full collections
            numbers = rows.tolist()
            at = 0
            while at < len(numbers):
                gate, end = variable(numbers[at]), at + 2 + numbers[at + 1]
                inputs = [-variable(x >> 1) if x & 1 else variable(x >> 1) for x in numbers[at + 2 : end]]
                for literal in inputs:
                    add((-gate, literal))
                add([gate, *[-literal for literal in inputs]])
                at = end

    def add(self, literals: Iterable[int]) -> None:
        """Add a clause: one of the literals is true; `BudgetExceeded` when `time_limit` is over."""
        require_time()
        row = set(literals)
        if 1 in row or any(literal ^ 1 in row for literal in row):
            return
        clause = [self._signed(literal) for literal in row if literal]
        try:  # not `_within_its_memory`, which would take longer than most clauses
            self._solver.add_clause(clause)
        except MemoryError as error:
            raise BudgetExceeded(*_MEMORY_SPENT) from error
        if row <= {0}:
            never = self._variable(int(self.circuit.variables(1)[0]) >> 1)
            self._solver.append_formula([[never], [-never]])

    def some_of(self, literals: Iterable[int]) -> int:
        """Return a new literal that requires one of some literals."""
        some = int(self.circuit.variables(1)[0])
        self.add([some ^ 1, *literals])
        return some

    def at_most_one(self, literals: list[int], when: int = 1) -> None:
        """Add clauses: if `when` is true, at most one of the literals is (sequential counter, Sinz 2005)."""
        if len(literals) <= 5:
            for i, a in enumerate(literals):
                for b in literals[:i]:
                    self.add((when ^ 1, a ^ 1, b ^ 1))
            return
        prefix = self.circuit.variables(len(literals)).tolist()
        for i, literal in enumerate(literals):
            self.add((literal ^ 1, prefix[i], when ^ 1))
            if i:
                self.add((prefix[i - 1] ^ 1, prefix[i], when ^ 1))
                self.add((prefix[i - 1] ^ 1, literal ^ 1, when ^ 1))

    def solve(self, *assumed: int) -> bool:
        """Return whether all clauses and assumptions are satisfiable together."""
        while True:
            answer = self.attempt(_CONFLICTS, *assumed)
            if answer is not None:
                return answer

    def unbroken(self, broken: Sequence[int], holds: Sequence[int]) -> list[int]:
        """Return the largest part of some properties, by place, of which none is broken where all of it hold.

        Those that are broken are dropped until there are none (Flanagan and Leino 2001, "Houdini").
        """
        places = list(range(len(broken)))
        while places:
            some = self.some_of(broken[place] for place in places)
            if not self.solve(some, *(holds[place] for place in places)):
                break
            model = self.model()
            places = [place for place in places if not model(broken[place])]
            self.add([some ^ 1])
        return places

    def attempt(self, conflicts: int, *assumed: int) -> bool | None:
        """Return the answer of `solve`, or None after a number of conflicts."""
        if 0 in assumed:
            return False
        self._assumed = {self._signed(literal): literal for literal in assumed if literal != 1}
        self._close()
        if time.monotonic() > self.deadline:
            raise BudgetExceeded("the time", "while a SAT solver was working")
        self._solver.conf_budget(conflicts)
        self._solver.prop_budget(_PROPAGATIONS)
        with _within_its_memory():  # other threads, such as a player's whose clock runs, go on meanwhile
            answer: bool | None = self._solver.solve_limited(list(self._assumed), expect_interrupt=True)
        return answer

    def guess(self, true: Iterable[int], false: Iterable[int]) -> None:
        """Set the values that the solver tries first for literals (phase saving)."""
        self._solver.set_phases([*map(self._signed, true), *(-self._signed(x) for x in false)])

    def core(self) -> set[int]:
        """Return assumptions that are unsatisfiable together, after the answer False."""
        return {self._assumed[number] for number in self._solver.get_core() or ()}

    def impossible(self, conflicts: int) -> bool:
        """Return whether the clauses are shown unsatisfiable within a number of conflicts."""
        return self.attempt(conflicts) is False

    def model(self) -> Assignment:
        """Return the satisfying assignment, after the answer True."""
        return Assignment(self._solver.get_model() or [], self._variables)


class Assignment:
    """Values of literals; variables unknown to the solver are false."""

    def __init__(self, model: list[int], variables: Mapping[int, int]) -> None:
        self._model = model
        """[variable - 1] the variable, or minus the variable if it is false."""
        self._variables = variables

    def __call__(self, literal: int) -> bool:
        """Return the value of a literal."""
        if literal < 2:
            return bool(literal)
        variable = self._variables.get(literal >> 1, 0)
        return (0 < variable <= len(self._model) and self._model[variable - 1] > 0) ^ bool(literal & 1)

    def values(self, literals: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Return the values of literals."""
        return np.array([self(literal) for literal in literals.tolist()], np.bool_)
