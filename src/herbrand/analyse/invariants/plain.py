"""Certificates by SAT over several steps, checked by a plain encoding and another solver.

The searches unroll a game in a circuit that folds and shares gates; here every gate of every
step has its own variable and its three clauses, and the solver is CaDiCaL, for large networks MiniSat.
Only `network.unroll` is common to both.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from herbrand.analyse.invariants.obligations import (
    AS_CLAUSES,
    is_only_recording,
    is_recording,
    record,
    recording,
)
from herbrand.analyse.invariants.sat import library
from herbrand.errors import BudgetExceeded
from herbrand.network.unroll import unrolled

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from herbrand.analyse.invariants.invariant import Invariant
    from herbrand.analyse.invariants.obligations import Obligation
    from herbrand.machine.state_machine import StateMachine

__all__ = [
    "Exhausted",
    "KInduction",
    "RuleClauses",
    "ask_change",
    "ask_step",
    "asked_again",
    "keeps_changing",
]

_LARGE = 30_000
"""With more gates, questions can take so long that the solver must be one that watches the clock."""
_CONFLICTS, _PROPAGATIONS = 1000, 10_000_000
"""The most of each between two looks at the clock."""
_MOST_CLAUSES = 20_000_000
_MOST_RECORDED = 3_000_000
"""Clauses that are written to one file."""


@dataclass(frozen=True, slots=True)
class Exhausted:
    """No play is longer than `steps`, and none visits a wanted state."""

    wanted: str
    """The unreachable states, as in `Invariant.wanted`; empty for the length alone."""
    steps: int

    kind = "exhausted bound"

    def as_json(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {"never": self.wanted, "steps": self.steps}

    def check(self, game: StateMachine, seconds: float) -> bool:
        """Check that no depth has a wanted state and that no play is longer; see `verdict.Certificate`."""
        encoding = RuleClauses(game, seconds)
        frame = encoding.frame(initial=True)
        if self.wanted and is_recording():
            return self._check_at_once(encoding, frame)
        for step in range(self.steps + 1):
            if self.wanted and encoding.possible(
                encoding.wanted(frame, self.wanted), means=f"not after {step} steps: {self.wanted}"
            ):
                return False
            encoding.require_step(frame)
            if step < self.steps:
                frame = encoding.after(frame)
        return not encoding.possible(means=f"no play has more than {self.steps} steps")

    def _check_at_once(self, encoding: RuleClauses, frame: int) -> bool:
        """Ask about all depths in one question: a file for each would repeat the steps of all before."""
        ways = [encoding.wanted(frame, self.wanted)]
        step_made = 0
        for step in range(self.steps + 1):
            before, step_made = step_made, encoding.new()
            if before:
                encoding.add([-step_made, before])
            encoding.require_step(frame, when=step_made)
            if step < self.steps:
                frame = encoding.after(frame)
                ways.append(encoding.new())
                encoding.add([-ways[-1], step_made])
                encoding.add([-ways[-1], encoding.wanted(frame, self.wanted)])
        encoding.add([*ways, step_made])
        return not encoding.possible(
            means=f"no play has more than {self.steps} steps, or gets to: {self.wanted}"
        )


@dataclass(frozen=True, slots=True)
class KInduction:
    """No wanted state occurs in the first `steps` steps, nor after `steps` consecutive states without one."""

    wanted: str
    steps: int
    invariant: Invariant
    """A strengthening that holds in every reachable state."""

    kind = "k-induction"

    def as_json(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {"never": self.wanted, "steps": self.steps, "invariant": self.invariant.as_json()}

    def check(self, game: StateMachine, seconds: float) -> bool:
        """Check base, step and invariant; see `verdict.Certificate`."""
        started = time.monotonic()
        if not self.invariant.check(game, seconds):
            return False
        return self.check_steps(game, seconds - (time.monotonic() - started))

    def check_steps(self, game: StateMachine, seconds: float) -> bool:
        """Check base and step."""
        deadline = time.monotonic() + seconds
        first = f"not in the first {self.steps} steps: {self.wanted}"
        later = f"not after {self.steps} steps without it: {self.wanted}"
        for initial in (True, False):
            encoding = RuleClauses(game, deadline - time.monotonic())
            frame = encoding.frame(initial=initial)
            for _ in range(self.steps):
                wanted = encoding.wanted(frame, self.wanted)
                if initial and encoding.possible(wanted, means=first):
                    return False
                encoding.add([-wanted])
                if not initial:
                    encoding.require(frame, self.invariant)
                encoding.require_step(frame)
                frame = encoding.after(frame)
            if not initial:
                encoding.require(frame, self.invariant)
                if encoding.possible(encoding.wanted(frame, self.wanted), means=later):
                    return False
        return True


def keeps_changing(
    game: StateMachine, invariant: Invariant, fluents: Sequence[str], steps: int, seconds: float
) -> bool:
    """Return whether `steps` consecutive steps always change one of some fluents, given an invariant.

    Raises `BudgetExceeded` after `seconds`.
    """
    encoding = RuleClauses(game, seconds)
    frame = encoding.frame()
    for _ in range(steps):
        encoding.require(frame, invariant)
        encoding.require_step(frame)
        before, frame = frame, encoding.after(frame)
        for name in fluents:
            old, new = encoding.fluent(before, name), encoding.fluent(frame, name)
            encoding.add([old, -new])
            encoding.add([-old, new])
    return not encoding.possible(means=f"of {steps} consecutive steps, one changes one of the fluents")


def asked_again(ask: Callable[[], None]) -> list[Obligation]:
    """Return questions in clauses, not answered, that others ask in another way.

    There are none if they cannot be written: too large, or about fluents that the network does not have.
    """
    try:
        with recording(solve=False) as obligations:
            ask()
    except (BudgetExceeded, KeyError):
        return []
    return [replace(one, means=one.means + AS_CLAUSES, repeats=True) for one in obligations]


def ask_step(game: StateMachine, invariant: Invariant, seconds: float) -> None:
    """Ask whether an invariant without sums holds initially and after each step, and excludes the fault."""
    encoding = RuleClauses(game, seconds)
    encoding.break_in(encoding.frame(initial=True), invariant)
    encoding.possible(means="the invariant holds in the initial state")
    encoding = RuleClauses(game, seconds)
    frame = encoding.frame()
    encoding.require(frame, invariant)
    if invariant.wanted:
        encoding.possible(
            encoding.wanted(frame, invariant.wanted),
            means=f"the invariant excludes: {invariant.wanted}",
        )
    encoding.require_step(frame)
    encoding.break_in(encoding.after(frame), invariant)
    encoding.possible(means="the invariant holds after each legal step from a state in which it holds")


def ask_change(
    game: StateMachine, invariant: Invariant, rising: Iterable[str], falling: Iterable[str], seconds: float
) -> None:
    """Ask whether fluents change once, one of them in each step, given an invariant without sums."""
    encoding = RuleClauses(game, seconds)
    frame = encoding.frame()
    encoding.require(frame, invariant)
    encoding.require_step(frame)
    after = encoding.after(frame)
    changes = [(encoding.fluent(frame, name), encoding.fluent(after, name)) for name in rising]
    changes += [(-encoding.fluent(frame, name), -encoding.fluent(after, name)) for name in falling]
    backs = [encoding.implying(before, -then) for before, then in changes]
    some = encoding.new()
    encoding.add([-some, *backs])
    encoding.possible(some, means="no legal step takes back a change of one of the fluents")
    same = encoding.new()
    for before, then in changes:
        encoding.add([-same, before, -then])
    encoding.possible(same, means="each legal step changes one of the fluents")


class RuleClauses:
    """Frames as clauses: node n of frame k is variable `k * nodes + n + 1`."""

    def __init__(self, game: StateMachine, seconds: float) -> None:
        self.seconds = seconds
        self.deadline = time.monotonic() + seconds
        self.network = unrolled(game.network)
        self._is_large = self.network.gates > _LARGE
        name = "minisat22" if self._is_large else "cadical153"
        self.solver: Any = None if is_only_recording() else library().Solver(name=name)
        self._recorded: list[list[int]] | None = [] if is_recording() else None
        text = self.network.terms.text
        self.roles = [text(role) for role in self.network.roles]
        self.players = [i for i, role in enumerate(self.roles) if role.lower() != "random"]
        owner = self.network.moves[:, 0]
        self._moves = [np.flatnonzero(owner == role).tolist() for role in range(len(self.roles))]
        """The moves of each role."""
        self.fluents = {text(fluent): i for i, fluent in enumerate(self.network.fluents.tolist())}
        self._values = [(role, text(value)) for role, value in self.network.goals.tolist()]
        self.last = 0
        self.clauses = 0

    def new(self) -> int:
        """Return a new variable."""
        self.last += 1
        return self.last

    def implying(self, *literals: int) -> int:
        """Return a new variable that implies some literals."""
        variable = self.new()
        for literal in literals:
            self.add([-variable, literal])
        return variable

    def all_of(self, literals: Sequence[int]) -> int:
        """Return a new variable that is equivalent to a conjunction of literals."""
        variable = self.implying(*literals)
        self.add([variable, *(-literal for literal in literals)])
        return variable

    def add(self, clause: list[int]) -> None:
        """Add a clause."""
        self.clauses += 1
        if self.solver is not None:
            self.solver.add_clause(clause)
        if self._recorded is not None:
            self._recorded.append(clause)

    def _append(self, clauses: list[list[int]]) -> None:
        self.clauses += len(clauses)
        if self.solver is not None:
            self.solver.append_formula(clauses)
        if self._recorded is not None:
            self._recorded += clauses

    def signed(self, frame: int, literals: NDArray[np.int32]) -> list[int]:
        """Return literals of the network as signed variables of a frame."""
        variables: list[int] = ((frame + (literals >> 1)) * (1 - 2 * (literals & 1))).tolist()
        return variables

    def fluent(self, frame: int, name: str) -> int:
        """Return the variable of a fluent."""
        return frame + 1 + self.fluents[name]

    def move(self, frame: int, number: int) -> int:
        """Return the variable of a move, by its number in the network."""
        return frame + 1 + len(self.network.fluents) + number

    def terminal(self, frame: int) -> int:
        """Return the literal that the game is over."""
        return self.signed(frame, np.array([self.network.terminal]))[0]

    def frame(self, *, initial: bool = False) -> int:
        """Add a state with all its gates; return the variable of its node 0."""
        network = self.network
        first = self.last + 1
        self.last += network.inputs + network.gates
        gates = first + network.inputs + np.arange(network.gates)
        a, b = (np.array(self.signed(first, side), np.int64) for side in (network.left, network.right))
        pairs = [np.stack((-gates, a), 1), np.stack((-gates, b), 1)]
        self._append(np.concatenate(pairs).tolist())
        self._append(np.stack((gates, -a, -b), 1).tolist())
        limit = _MOST_CLAUSES if self._recorded is None else _MOST_RECORDED
        if self.clauses > limit:
            raise BudgetExceeded(f"{limit} clauses", "while checking a certificate")
        self.add([-first])
        if initial:
            for i, value in enumerate(network.initial.tolist()):
                self.add([first + 1 + i if value else -(first + 1 + i)])
        return first

    def require_step(self, frame: int, when: int | None = None) -> None:
        """Require a step: the state is not terminal and each role makes one legal move.

        With `when`, a literal, this is required where it is true; elsewhere a role makes at most one.
        """
        unless = [] if when is None else [-when]
        self.add([*unless, -self.terminal(frame)])
        legal = self.signed(frame, self.network.legal)
        for own_moves in self._moves:
            chosen = [self.move(frame, m) for m in own_moves]
            for m, move in zip(own_moves, chosen, strict=True):
                self.add([-move, legal[m]])
            self.add([*unless, *chosen])
            self.exactly(chosen, at_least=False)

    def exactly(self, literals: list[int], *, at_least: bool, when: int | None = None) -> None:
        """Require at most one literal, or exactly one (sequential counter, Sinz 2005).

        With `when`, a variable, this is required where it is true.
        """
        unless = [] if when is None else [-when]
        if at_least:
            self.add([*unless, *literals])
        before = None
        for literal in literals:
            prefix = self.new()
            self.add([-literal, prefix])
            if before is not None:
                self.add([-before, prefix])
                self.add([*unless, -before, -literal])
            before = prefix

    def after(self, frame: int) -> int:
        """Add the state after a step; return the variable of its node 0."""
        following = self.frame()
        for i, literal in enumerate(self.signed(frame, self.network.next)):
            self.add([-(following + 1 + i), literal])
            self.add([following + 1 + i, -literal])
        return following

    def literals(self, frame: int, clause: Iterable[tuple[str, bool]]) -> list[int]:
        """Return the literals of fluents with their values."""
        return [self.fluent(frame, name) if value else -self.fluent(frame, name) for name, value in clause]

    def require(self, frame: int, invariant: Invariant) -> None:
        """Require an invariant, without its sums, in a state."""
        for groups, some in ((invariant.exactly, True), (invariant.never_two, False)):
            for group in groups:
                self.exactly([self.fluent(frame, name) for name in group], at_least=some)
        for clause in invariant.clauses:
            self.add(self.literals(frame, clause))

    def group_faults(self, literals: Sequence[int], *, some: bool) -> list[int]:
        """Return variables that imply that two of some literals are true, or none if `some` should be."""
        faults, before = [], 0
        if some:
            faults.append(self.implying(*(-literal for literal in literals)))
        for literal in literals:
            if before:
                faults.append(self.implying(literal, before))
            earlier = self.new()  # only if one of the literals up to here is true
            self.add([-earlier, literal, *([before] if before else [])])
            before = earlier
        return faults

    def break_in(self, frame: int, invariant: Invariant) -> None:
        """Require that an invariant, without its sums, does not hold in a state."""
        faults = []
        for groups, some in ((invariant.exactly, True), (invariant.never_two, False)):
            for group in groups:
                faults += self.group_faults([self.fluent(frame, name) for name in group], some=some)
        for clause in invariant.clauses:
            faults.append(self.implying(*(-literal for literal in self.literals(frame, clause))))
        if not faults:  # an empty clause would not be accepted by all programs
            faults.append(self.new())
            self.add([-faults[-1]])
        self.add(faults)

    def wanted(self, frame: int, name: str) -> int:
        """Return a variable that is equivalent to a state being a wanted one."""
        kind, _, role_name = name.partition(" ")
        terminal = self.terminal(frame)
        result = self.new()
        if kind == "playability":
            legal = self.signed(frame, self.network.legal)
            stuck = [self.all_of([-legal[m] for m in own_moves]) for own_moves in self._moves]
            self._both(result, -terminal, stuck)
        elif kind == "win":
            role = self.roles.index(role_name)
            values = self.goals(frame, role)
            self._both(result, terminal, [self.alone("100", values)] if "100" in values else [])
        else:
            self._both(result, terminal, [w for role in self.players for w in self._faults(frame, role)])
        return result

    def alone(self, value: str, values: dict[str, int]) -> int:
        """Return a variable that is equivalent to one goal value and no other."""
        return self.all_of([x if text == value else -x for text, x in values.items()])

    def goals(self, frame: int, role: int) -> dict[str, int]:
        """Return the literals of the goal values of a role."""
        literals = zip(self._values, self.signed(frame, self.network.goal), strict=True)
        return {text: x for (owner, text), x in literals if owner == role}

    def _faults(self, frame: int, role: int) -> list[int]:
        values = self.goals(frame, role)
        proper = [
            x
            for text, x in values.items()
            if text.isdecimal() and str(int(text)) == text and int(text) <= 100
        ]
        faults = [x for x in values.values() if x not in proper]
        none = self.all_of([-x for x in proper])
        two = [self.all_of((a, b)) for i, a in enumerate(proper) for b in proper[:i]]
        return [*faults, *two, none]

    def _both(self, result: int, first: int, ways: list[int]) -> None:
        """Define a variable as `first` and some of `ways`."""
        self.add([-result, first])
        self.add([-result, *ways])
        for way in ways:
            self.add([result, -first, -way])

    def possible(self, *assumed: int, means: str) -> bool:
        """Return whether all clauses and assumptions are satisfiable together.

        `means` is what follows if they are not, for the record (`obligations`).
        """
        if time.monotonic() > self.deadline:
            raise BudgetExceeded(f"{self.seconds:g} seconds", "while checking a certificate")
        satisfiable = self.solver is not None and self._solve(list(assumed))
        if not satisfiable:
            record("cnf", lambda: self._dimacs(assumed), means)
        return satisfiable

    def _solve(self, assumed: list[int]) -> bool:
        while self._is_large:  # CaDiCaL cannot be stopped
            self.solver.conf_budget(_CONFLICTS)
            self.solver.prop_budget(_PROPAGATIONS)
            answer = self.solver.solve_limited(assumptions=assumed, expect_interrupt=True)
            if answer is not None:
                return bool(answer)
            if time.monotonic() > self.deadline:
                raise BudgetExceeded(f"{self.seconds:g} seconds", "while checking a certificate")
        return bool(self.solver.solve(assumptions=assumed))

    def _dimacs(self, assumed: Iterable[int]) -> str:
        """Return the clauses and assumptions as text; comments name the variables of the first state."""
        clauses = [*(self._recorded or ()), *([literal] for literal in assumed)]
        names = [f"c {2 + i} {name}" for name, i in self.fluents.items()]
        lines = [" ".join(map(str, (*clause, 0))) for clause in clauses]
        return "\n".join([*names, f"p cnf {self.last} {len(clauses)}", *lines, ""])
