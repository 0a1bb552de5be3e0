"""The values of a game under best play of every role, on the graph of all reachable states (`explore`).

| game                               | method                                       | result          |
|------------------------------------|----------------------------------------------|-----------------|
| turn-taking, every play ends       | backward induction (Zermelo 1913; Kuhn 1953) | `value`         |
| two roles, constant sum            | matrix games from the end (Shapley 1953)     | `value`         |
| other simultaneous games           | matrix games, each role against all others   | `guaranteed`    |
| endless plays, no chance           | retrograde analysis (Thompson 1986)          | `guaranteed`, * |

(*) and `value` where the guaranteed values of both roles add up to the constant sum, or where one role can
force its greatest goal value.  Moves of `random` are equally likely, and values are then expectations.  With
more than two roles, or without a constant sum, `value` is that of one subgame-perfect equilibrium, in which
every role takes the first of its best moves; `ties` counts the states in which another best move is worth
something else to the others.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from herbrand.analyse.budget import Budget
from herbrand.errors import BudgetExceeded, GameError, optional_import

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from herbrand.analyse.exploration.explore import StateSpace
    from herbrand.analyse.verdict import Moves
    from herbrand.machine.state import State
    from herbrand.machine.state_machine import StateMachine

__all__ = ["Solution", "solve", "solve_space"]

_LARGE = 8
"""Matrix games in which both sides have more moves than this are solved in floating point."""


@dataclass(frozen=True)
class Solution:
    """The values of a game in its initial state."""

    method: str
    value: dict[str, float] | None
    """The value of each role under best play; None where only `guaranteed` is known."""
    guaranteed: dict[str, float]
    """The value that each role can force (an expectation, where there is chance or mixing)."""
    line: Moves = ()
    """Best play from the start, up to the end or the first state where chance or mixing decides."""
    root: tuple[tuple[str, str, dict[str, float]], ...] = ()
    """For each move of the role that chooses first: role, move, and the values after it; best first."""
    ties: int = 0
    """States in which a role has several best moves with different values for the others."""
    mixed: int = 0
    """States in which every optimal strategy is mixed."""
    states: int = 0
    seconds: float = 0.0
    notes: tuple[str, ...] = field(default=())

    def as_json(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            "method": self.method,
            "value": self.value,
            "guaranteed": self.guaranteed,
            "line": [list(joint) for joint in self.line],
            "root": [{"role": role, "move": move, "value": value} for role, move, value in self.root],
            "ties": self.ties,
            "mixed_states": self.mixed,
            "states": self.states,
            "seconds": round(self.seconds, 3),
            "notes": list(self.notes),
        }


def solve(game: StateMachine, *, start: State | None = None, budget: Budget | None = None) -> Solution:
    """Solve a game, from the initial state or from another one.

    Raises `BudgetExceeded` when its states cannot all be found within the budget, `GameError` when
    no method applies: information is hidden (see `herbrand.analyse.knowledge`), a role can get stuck, a
    terminal state lacks goal values, or plays with chance need not end.
    """
    from herbrand.analyse.exploration.explore import explore

    game.require_playable()
    budget = budget or Budget()
    expander = game.expander
    first = None if start is None else expander.pack([start.facts])
    space = explore(expander, start=first, budget=budget)
    if not space.complete:
        raise BudgetExceeded(space.stopped or "", f"{len(space.states)} states found")
    return solve_space(space, budget)


def solve_space(space: StateSpace, budget: Budget) -> Solution:
    """Solve a game whose states are all known; raises as `solve` does."""
    started = time.monotonic()
    solver = GraphSolver(space, budget)
    result = solver.solve()
    return Solution(
        **result, states=len(space.states), seconds=time.monotonic() - started, notes=tuple(solver.notes)
    )


class GraphSolver:
    """The methods on one graph of states."""

    def __init__(self, space: StateSpace, budget: Budget) -> None:
        self.space = space
        self.budget = budget
        self.roles = space.expander.roles
        self.chance = space.expander.chance
        self.players = [r for r in range(len(self.roles)) if r != self.chance]
        self.notes: list[str] = []
        self.length: NDArray[Any] = np.zeros(0, np.int32)
        """[states] after backward induction: the length of best play."""
        if len(space.expander.network.sees):
            raise GameError("roles do not see everything; see `herbrand.analyse.knowledge`")
        if len(space.stuck):
            raise GameError("a role can get stuck: no legal move before the game is over")
        ends = space.goals[space.over][:, self.players]
        if (ends < 0).any():
            raise GameError("the game can end without one goal value for every role")
        if not len(ends):
            raise GameError("no play ever ends")
        sums = ends.astype(np.int64).sum(axis=1)
        self.sum = int(sums[0]) if (sums == sums[0]).all() else None
        players = space.counts[:, self.players] if self.players else space.counts
        self.turns = bool(((players > 1).sum(axis=1)[~space.over[: len(players)]] <= 1).all())

    def solve(self) -> dict[str, Any]:
        if not self.space.acyclic:
            return self._retrograde()
        if self.turns:
            return self._turns()
        return self._matrices()

    # -- finite plays ---------------------------------------------------------------------

    def leaves(self) -> NDArray[Any]:
        """Return the goals in terminal states, [states, roles], and 0 elsewhere."""
        values = np.zeros((len(self.space.states), len(self.roles)), np.float64)
        values[self.space.over] = np.maximum(self.space.goals[self.space.over], 0)
        return values

    def induce(self, values: NDArray[Any], best: NDArray[Any], role: int) -> tuple[int, int]:
        """Run backward induction; return the numbers of ties and of mixed states."""
        space = self.space
        length = self.length = np.zeros(len(space.states), np.int32)
        begin, ties, mixed = len(space.states), 0, 0
        solved: dict[bytes, float] = {}
        while True:
            begin, more, payoffs = space.graph.induce(
                space.over, space.sequence, begin, self.chance, role, 100.0, values, length, best
            )
            ties += more
            if begin < 0:
                return ties, mixed
            mixed += 1
            if self.budget.left <= 0:
                raise BudgetExceeded(f"{self.budget.seconds:.3g} seconds", f"{mixed} matrix games solved")
            state = int(space.sequence[begin])
            rows = int(space.counts[state, role])
            payoffs = payoffs.reshape(rows, -1)
            key = payoffs.tobytes() + bytes([rows % 251])
            if key not in solved:
                solved[key] = _mixed_value(payoffs)
            values[state, role] = solved[key]
            best[state] = -1

    def _turns(self) -> dict[str, Any]:
        values, best = self.leaves(), np.full(len(self.space.states), -1, np.int32)
        ties, _ = self.induce(values, best, -1)
        constant = self.sum is not None and len(self.players) <= 2
        value = self._named(values[0])
        return {
            "method": "expectation" if self.chance >= 0 else "backward induction",
            "value": value,
            "guaranteed": value if constant else self.guarantees()[0],
            "line": self._line(lambda state, _: max(0, int(best[state]))),
            "root": self._root(values),
            "ties": 0 if constant else ties,
        }

    def _matrices(self) -> dict[str, Any]:
        guaranteed, mixed = self.guarantees()
        value = guaranteed if self.sum is not None and len(self.players) == 2 else None
        if value is None:
            self.notes.append(
                "several roles choose at once, without a constant sum: "
                "only guaranteed values are known, not the result of play"
            )
        return {"method": "matrix games", "value": value, "guaranteed": guaranteed, "mixed": mixed}

    def guarantees(self) -> tuple[dict[str, float], int]:
        """Return what each role can force against all others, and the greatest number of mixed states."""
        guaranteed, mixed = {}, 0
        best = np.full(len(self.space.states), -1, np.int32)
        for role in self.players:
            values = self.leaves()
            _, more = self.induce(values, best, role)
            mixed = max(mixed, more)
            guaranteed[self.roles[role]] = _number(values[0, role])
        return guaranteed, mixed

    # -- endless plays -------------------------------------------------------------------

    def _retrograde(self) -> dict[str, Any]:
        """Find the highest goal value that each role can force within finitely many steps."""
        from herbrand.analyse.exploration.by_states import strong

        space = self.space
        if self.chance >= 0:
            raise GameError("plays with chance need not end")
        guaranteed: dict[str, float] = {}
        forced: dict[int, NDArray[np.int32]] = {}
        """For each role the number of its move in each state by which it forces that value, or 0."""
        for role in self.players:
            for goal in sorted({int(v) for v in space.goals[space.over, role]}, reverse=True):
                rank, move = strong(space, role, space.over & (space.goals[:, role] >= goal))
                if rank[0] >= 0:
                    guaranteed[self.roles[role]] = goal
                    forced[role] = np.where(rank > 0, move, 0)
                    break
        value: dict[str, float] | None = None
        if len(self.players) == 1 and guaranteed:
            value = guaranteed
        elif self.sum is not None and len(self.players) == 2:
            if len(guaranteed) == 2 and sum(guaranteed.values()) == self.sum:
                value = guaranteed
            for role in self.players:
                name = self.roles[role]
                if guaranteed.get(name) == int(space.goals[space.over, role].max()):
                    value = {self.roles[r]: self.sum - guaranteed[name] for r in self.players}
                    value[name] = guaranteed[name]
        if value is None:
            self.notes.append("plays need not end: values that no role can force may stay undecided")
        line: Moves = ()
        if value is not None and self.turns:  # all forcing strategies at once, each by its own ranks
            line = self._line(lambda state, role: int(forced[role][state]) if role in forced else 0)
        return {"method": "retrograde analysis", "value": value, "guaranteed": guaranteed, "line": line}

    # -- results --------------------------------------------------------------------------

    def _named(self, values: NDArray[Any]) -> dict[str, float]:
        return {self.roles[r]: _number(values[r]) for r in self.players}

    def _line(self, choice: Callable[[int, int], int]) -> Moves:
        """Follow choices, by state and role, up to the end or the first state where chance decides."""
        space, state, path = self.space, 0, [0]
        while not space.over[state] and (space.acyclic or len(path) <= 10_000):
            if self.chance >= 0 and space.counts[state, self.chance] > 1:
                break
            edge = 0
            for role, count in enumerate(space.counts[state].tolist()):
                edge = edge * count + (choice(state, role) if count > 1 else 0)
            state = int(space.children[space.starts[state] + edge])
            path.append(state)
        return space.line_along(path)

    def _root(self, values: NDArray[Any]) -> tuple[tuple[str, str, dict[str, float]], ...]:
        """Return the values after each move of the role that chooses first."""
        from herbrand.analyse.exploration.by_states import edges_with_move, move_of

        space = self.space
        choosers = [r for r in self.players if space.counts[0, r] > 1]
        if space.over[0] or len(choosers) != 1:
            return ()
        role = choosers[0]
        moves = []
        for number in range(int(space.counts[0, role])):
            after = values[space.children[edges_with_move(space, 0, role, number)]].mean(axis=0)
            moves.append((self.roles[role], move_of(space, 0, role, number), self._named(after)))
        moves.sort(key=lambda entry: -entry[2][self.roles[role]])
        return tuple(moves)


def _number(value: float) -> float:
    """Return an integral value as an `int`."""
    return int(value) if float(value).is_integer() else float(value)


def _mixed_value(payoffs: NDArray[Any]) -> float:
    """Return the value of a matrix game for the row player."""
    if min(payoffs.shape) <= _LARGE:
        from herbrand.analyse.solving.matrix import matrix_value

        exact = [[Fraction(x).limit_denominator(10**9) for x in row] for row in payoffs.tolist()]
        return float(matrix_value(exact)[0])
    with optional_import("solving matrix games with many moves", "analyse"):
        from scipy.optimize import linprog
    rows, columns = payoffs.shape
    solution = linprog(
        np.append(np.zeros(rows), -1.0),
        A_ub=np.hstack([-payoffs.T, np.ones((columns, 1))]),
        b_ub=np.zeros(columns),
        A_eq=np.append(np.ones(rows), 0.0)[None, :],
        b_eq=[1.0],
        bounds=[(0, None)] * rows + [(None, None)],
    )
    return float(-solution.fun)
