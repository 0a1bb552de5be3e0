"""Shortest plans for games with one role.

Three searches for shortest plans, of which the first to succeed answers:

*states*
    Breadth first through packed states (`explore`).  The first plan is a shortest one, and when all
    states are known and none has the goal value, there is no plan.

*estimates*
    A* (`astar`), where an admissible estimate can be found (`estimate`).  It skips states from which the
    goal is too far away, and so reaches greater depths.

*steps*
    An answer set solver looks for plans of 0, 1, 2, ... steps, one length after the other
    (Kautz and Selman 1992; with clingo, Gebser et al. 2019).  Each step has a copy of the network with
    one rule for each gate, so that loops keep the meaning of the rules.  Each length without a plan is
    refuted.  This reaches depths at which states no longer fit in memory, but cannot prove that there is
    no plan of any length.

and others for plans that may be longer (`any_plans`): beams that pattern databases guide (`patterns`), a SAT
solver with little time for each length (`horizon`), and beams and parallel games that approach the goal
(`Aim`).
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from herbrand.analyse.budget import Budget
from herbrand.engine.playouts import goal_value
from herbrand.errors import BudgetExceeded, GameError, MissingExtra

if TYPE_CHECKING:
    from collections.abc import Callable

    from herbrand.analyse.verdict import Moves
    from herbrand.machine.state_machine import StateMachine
    from herbrand.network.network import Network

__all__ = [
    "Plan",
    "any_plans",
    "find_plan",
    "plan_beyond",
    "plan_by_estimates",
    "plan_by_states",
    "plan_by_steps",
]

_ESTIMATING = 20.0
"""The most seconds of the search for an estimate."""
_FILLING = 0.4
"""The fraction of the time for any plan spent on ends that moves of the first state can reach."""
_PATTERNS = 0.7
"""Likewise, on beams that pattern databases guide."""
_SOLVING = 0.4
"""The fraction of the rest that a SAT solver has for plans of each length, before beams."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The result of a search for a plan."""

    value: int
    moves: Moves | None
    """A plan, if one was found."""
    shortest: bool
    """Whether no shorter plan exists."""
    exists: bool | None
    """Whether there is a plan; None when unknown."""
    method: str
    refuted: int
    """A number of steps that every plan exceeds; -1 when unknown."""
    seconds: float

    def as_json(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            "value": self.value,
            "moves": None if self.moves is None else [list(joint) for joint in self.moves],
            "steps": None if self.moves is None else len(self.moves),
            "shortest": self.shortest,
            "exists": self.exists,
            "method": self.method,
            "no_plan_up_to": self.refuted,
            "seconds": round(self.seconds, 3),
        }


def find_plan(
    game: StateMachine,
    value: int = 100,
    *,
    budget: Budget | None = None,
    progress: Callable[[str, int, int], None] | None = None,
) -> Plan:
    """Find a shortest plan for a goal value in a one-role game, by states, by estimates and then by steps.

    Raises `GameError` for a game with several roles, `BudgetExceeded` when it has no network.
    """
    budget = budget or Budget()
    game.require_playable()
    if len(game.roles) != 1:
        raise GameError(f"a plan is for one role; {game.name} has {len(game.roles)}")
    by_states = plan_by_states(game, value, budget=budget.share(0.4), progress=progress)
    if by_states.exists is not None:
        return by_states
    beyond = plan_beyond(game, value, budget=budget.share(1.0), refuted=by_states.refuted, progress=progress)
    return beyond if beyond.exists is not None or beyond.refuted > by_states.refuted else by_states


def plan_beyond(
    game: StateMachine,
    value: int,
    *,
    budget: Budget,
    refuted: int,
    progress: Callable[[str, int, int], None] | None = None,
) -> Plan:
    """Find a plan in a game with too many states; plans of up to `refuted` steps are already refuted."""
    by_estimates = plan_by_estimates(
        game, value, budget=budget.share(0.5), refuted=refuted, progress=progress
    )
    if by_estimates.exists is not None:
        return by_estimates
    by_steps = plan_by_steps(
        game.network, value, budget=budget.share(1.0), refuted=by_estimates.refuted, progress=progress
    )
    return by_steps if by_steps.moves is not None or by_steps.refuted > by_estimates.refuted else by_estimates


def plan_by_states(
    game: StateMachine, value: int, *, budget: Budget, progress: Callable[[str, int, int], None] | None = None
) -> Plan:
    """Search breadth first through the states, up to the first with the goal value."""
    from herbrand.analyse.exploration.explore import explore

    checked = 0

    def reached(explorer: Any) -> bool:
        nonlocal checked
        chunk = slice(checked, explorer.expanded)
        checked = explorer.expanded
        return bool((explorer.over[chunk] & (explorer.goals[chunk, 0] == value)).any())

    space = explore(
        game.expander,
        budget=budget,
        edges=False,
        stop=reached,
        progress=None if progress is None else lambda states, expanded: progress("states", expanded, states),
    )
    won = np.flatnonzero(space.over & (space.goals[:, 0] == value))
    if len(won):
        line = space.line_to(int(won[0]))
        return Plan(value, line, True, True, "breadth-first search", len(line) - 1, space.seconds)
    if space.complete:
        return Plan(value, None, False, False, "breadth-first search", space.depth, space.seconds)
    return Plan(value, None, False, None, "breadth-first search", space.finished_depth, space.seconds)


def plan_by_estimates(
    game: StateMachine,
    value: int,
    *,
    budget: Budget,
    refuted: int = -1,
    progress: Callable[[str, int, int], None] | None = None,
) -> Plan:
    """Search by A*, if there is an estimate; plans of up to `refuted` steps are already refuted."""
    from herbrand.analyse.invariants.estimate import find_estimate
    from herbrand.analyse.solving.astar import shortest_line

    began = time.monotonic()
    method = "A*"
    try:
        seconds = min(_ESTIMATING, 0.3 * budget.left)
        estimate = find_estimate(game.expander, value, time.monotonic() + seconds)
    except (BudgetExceeded, MissingExtra):
        estimate = None
    if estimate is None:
        return Plan(value, None, False, None, method, refuted, time.monotonic() - began)
    result = shortest_line(
        game.expander,
        value,
        estimate,
        budget,
        None if progress is None else lambda states, _: progress("states", states, states),
    )
    seconds = time.monotonic() - began
    exists = result.line is not None if result.complete else None
    refuted = max(refuted, result.refuted)
    return Plan(value, result.line, exists is True, exists, method, refuted, seconds)


def plan_by_steps(
    network: Network,
    value: int,
    *,
    budget: Budget,
    refuted: int = -1,
    most: int = 1000,
    progress: Callable[[str, int, int], None] | None = None,
) -> Plan:
    """Search by length, up to `most` steps; plans of up to `refuted` steps are already refuted."""
    began = time.monotonic()
    steps = _Steps(network, value)
    for length in range(most + 1):
        if progress is not None:
            progress("steps", length, length)
        try:
            steps.extend(budget)
            moves = steps.solve(budget) if length > refuted else None
        except BudgetExceeded:
            break
        if moves is not None:
            return Plan(value, moves, True, True, "answer set planning", length - 1, time.monotonic() - began)
        refuted = max(refuted, length)
    return Plan(value, None, False, None, "answer set planning", refuted, time.monotonic() - began)


def any_plans(game: StateMachine, value: int) -> Callable[[float], Plan | None]:
    """Return a search for any plan, which takes some seconds at a time and goes on in the next call.

    It returns None where it has not found one.
    """
    from herbrand.analyse.exploration.walks import play
    from herbrand.analyse.solving.aim import Aim
    from herbrand.analyse.solving.horizon import line_of_some_length

    aim: Aim | None = None

    def search(seconds: float) -> Plan | None:
        nonlocal aim
        began, method = time.monotonic(), "a SAT solver"
        highest = value == 100  # compatible moves and distances are for no other value
        moves = None
        try:
            if aim is None:
                aim = Aim(game.expander, play(game.expander, began + 0.1 * seconds).states, 0.1 * seconds)
            if highest:
                moves = aim.win_by_filling(0, began + _FILLING * seconds)
            if moves is None:
                method = "pattern databases"
                moves = aim.win_by_patterns(0, time.monotonic() + _PATTERNS * seconds, value)
            if moves is None:
                method = "a SAT solver"
                left = began + seconds - time.monotonic()
                until = time.monotonic() + (_SOLVING * left if highest else left)
                moves = line_of_some_length(game.expander, 0, value, until)
            if moves is None and highest:
                method = "guided search"
                moves = aim.win(0, began + seconds)
        except (BudgetExceeded, MissingExtra):
            return None
        elapsed = time.monotonic() - began
        return None if moves is None else Plan(value, moves, False, True, method, -1, elapsed)

    return search


class _Steps:
    """The game, unrolled step by step in an answer set solver."""

    def __init__(self, network: Network, value: int) -> None:
        import clingo

        self.network = network
        self.control = clingo.Control(["--warn=none"])
        self.wanted = [
            int(literal)
            for literal, (_, term) in zip(network.goal.tolist(), network.goals.tolist(), strict=True)
            if goal_value(network.terms.text(term)) == value
        ]
        self.others = [int(x) for x in network.goal.tolist() if int(x) not in self.wanted]
        self.does: list[list[int]] = []
        """The atoms of the moves, for each step."""
        self.nodes: list[int] = []
        """The solver literals of the nodes in the last state."""
        self.over = 0
        """The solver literal that the game is over in the last state."""
        self.query = 0
        """An external atom: while true, the plan must end in the last state with the value."""
        with self.control.backend() as backend:
            self.true = backend.add_atom()
            backend.add_rule([self.true])

    def extend(self, budget: Budget) -> None:
        """Add one more state; from the second on with the step that leads to it."""
        network = self.network
        if budget.left <= 0:
            raise BudgetExceeded(f"{budget.seconds:.3g} seconds", f"{len(self.does)} steps")
        with self.control.backend() as backend:
            if self.nodes:
                backend.add_rule([], [self.over])  # the previous state is not terminal
                state = self._solver_literals(network.next)
            else:
                state = [self.true if x else -self.true for x in network.initial.tolist()]
            does = [backend.add_atom() for _ in range(len(network.moves))]
            self.nodes = self._gates(backend, state, does)
            self.over = self._solver_literals(np.array([network.terminal]))[0]
            legal = self._solver_literals(network.legal)
            for atom, allowed in zip(does, legal, strict=True):
                backend.add_rule([atom], [allowed], choice=True)
            some = backend.add_atom()
            for atom in does:
                backend.add_rule([some], [atom])
            backend.add_rule([], [-some, -self.over])  # each state has a move or is terminal
            several = backend.add_atom()
            backend.add_weight_rule([several], 2, [(atom, 1) for atom in does])
            backend.add_rule([], [several])
            self.does.append(does)
            end = backend.add_atom()
            self.query = backend.add_atom()
            backend.add_external(self.query)
            backend.add_rule([], [self.query, -end])
            won = self._solver_literals(np.array(self.wanted, np.int64))
            lost = self._solver_literals(np.array(self.others, np.int64))
            for goal in won:
                backend.add_rule([end], [self.over, goal, *(-x for x in lost)])

    def _gates(self, backend: Any, state: list[int], does: list[int]) -> list[int]:
        """Add a rule for each gate; return the solver literals of all nodes.

        A gate in a loop has one atom for being true and one for being false, each with its own rules: so
        loops have positive rules only, and the stable models give least fixpoints.
        """
        network = self.network
        feedback = [backend.add_atom() for _ in range(len(network.feedback))]
        nodes = [-self.true, *state, *does, *feedback]
        false_atoms: dict[int, int] = {}
        inside = np.zeros(network.gates, np.bool_)
        for first, last, _, _ in network.loops.tolist():
            inside[first:last] = True

        def solver_literal(literal: int) -> int:
            """Return the solver literal of a literal of the network."""
            node = nodes[literal >> 1]
            signed: int = false_atoms.get(literal >> 1, -node) if literal & 1 else node
            return signed

        true = self.true
        gates = zip(network.left.tolist(), network.right.tolist(), inside.tolist(), strict=True)
        for left, right, looped in gates:
            a, b = solver_literal(left), solver_literal(right)
            if looped:
                atom, not_atom = backend.add_atom(), backend.add_atom()
                backend.add_rule([atom], [a, b])
                backend.add_rule([not_atom], [solver_literal(left ^ 1)])
                backend.add_rule([not_atom], [solver_literal(right ^ 1)])
                false_atoms[len(nodes)] = not_atom
                nodes.append(atom)
            elif a == -true or b == -true or a == -b:
                nodes.append(-true)
            elif a in (true, b):
                nodes.append(b)
            elif b == true:
                nodes.append(a)
            else:
                atom = backend.add_atom()
                backend.add_rule([atom], [a, b])
                nodes.append(atom)
        for atom, source in zip(feedback, network.feedback.tolist(), strict=True):
            backend.add_rule([atom], [solver_literal(source)])
        return nodes

    def _solver_literals(self, literals: Any) -> list[int]:
        """Return the solver literals of literals of the network in the last state."""
        return [-self.nodes[x >> 1] if x & 1 else self.nodes[x >> 1] for x in literals.tolist()]

    def solve(self, budget: Budget) -> Moves | None:
        """Return a plan that ends in the last state, or None."""
        plan: Moves | None = None

        def keep(model: Any) -> bool:
            nonlocal plan
            text, moves = self.network.terms.text, self.network.moves
            choices = [
                next(m for m, atom in enumerate(does) if model.is_true(atom)) for does in self.does[:-1]
            ]
            plan = tuple((text(int(moves[m, 1])),) for m in choices)
            return False

        self.control.assign_external(self.query, True)
        with self.control.solve(on_model=keep, async_=True) as handle:
            while not handle.wait(min(0.2, max(budget.left, 0.001))):
                if budget.left <= 0:
                    handle.cancel()
                    raise BudgetExceeded(f"{budget.seconds:.3g} seconds", f"{len(self.does) - 1} steps")
            handle.get()
        self.control.release_external(self.query)
        return plan
