"""Certificates that some states are unreachable, checked on the rules by an answer set solver.

The searches that find them work on the network with a SAT solver.  The check believes neither: it
grounds the rules again and solves them as logic programs with clingo.  The network only says which fluents
never change, which is checked with the rest.
"""

from __future__ import annotations

import subprocess
import tempfile
import time
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from herbrand.analyse.invariants.obligations import is_only_recording, is_recording, record
from herbrand.errors import BudgetExceeded, InternalError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from herbrand.machine.state_machine import StateMachine

__all__ = ["Invariant", "RulesProgram", "clause_texts", "has_answer_set"]

Clause = tuple[tuple[str, bool], ...]
"""A disjunction: fluents with their values."""
Sum = tuple[tuple[str, int], ...]
"""Fluents and their weights; all others have weight 0."""
_states: WeakKeyDictionary[StateMachine, str] = WeakKeyDictionary()
"""The rules of games over a freely chosen state, which all questions about them share."""


def clause_texts(clauses: Iterable[Clause]) -> list[list[str]]:
    """Return fluents with their values as texts, as they stand in JSON."""
    return [[name if value else f"(not {name})" for name, value in clause] for clause in clauses]


@dataclass(frozen=True, slots=True)
class Invariant:
    """A property of all reachable states that excludes the wanted ones.

    It holds initially; every legal step from a non-terminal state in which it holds leads to one in which it
    holds; and it holds in no wanted state.
    """

    wanted: str
    """The unreachable states: `playability`, `goals` or `win ROLE` (`network.as_aiger`); may be empty."""
    exactly: tuple[tuple[str, ...], ...] = ()
    """Groups of fluents of which exactly one is true."""
    never_two: tuple[tuple[str, ...], ...] = ()
    """Groups of fluents of which never two are true."""
    clauses: tuple[Clause, ...] = ()
    sums: tuple[Sum, ...] = ()
    """Weighted sums of the true fluents that no step changes."""
    parities: tuple[tuple[str, ...], ...] = ()
    """Sets of fluents of which no step changes whether an odd number is true."""

    kind = "inductive invariant"

    def as_json(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {
            "never": self.wanted,
            "exactly_one": [list(group) for group in self.exactly],
            "never_two": [list(group) for group in self.never_two],
            "clauses": clause_texts(self.clauses),
            "constant_sums": [dict(weights) for weights in self.sums],
            "constant_parities": [list(fluents) for fluents in self.parities],
        }

    def check(self, game: StateMachine, seconds: float) -> bool:
        """Check the three parts on the rules; see `verdict.Certificate`."""
        return self.holds_by_rules(game, RulesProgram(game, seconds))

    def holds_by_rules(self, game: StateMachine, rules: RulesProgram) -> bool:
        """Check the three parts on rules that are grounded already."""
        true = game.initial_state("rules").facts
        holds = self.as_program(rules, "true", broken=False)
        if is_recording():
            if rules.possible(
                [*rules.state(true), *self.as_program(rules, "true", broken=True)],
                "the invariant holds in the initial state",
            ):
                return False
        elif not (self._holds_in(true) and rules.holds_unchanging(true)):
            return False
        same = self._same(rules, true)
        broken = [*holds, *rules.step(), *self.as_program(rules, "next", broken=True)]
        means = "the invariant holds after each legal step from a state in which it holds"
        # without the sums the query is faster and often suffices
        suffices = same and not is_recording() and not rules.possible(broken)
        if not suffices and rules.possible([*broken, *same], means):
            return False
        for weights in self.sums:
            changes = [*holds, *rules.step(), *rules.growth(weights, "= 0")]
            means = "no legal step from a state in which the invariant holds changes this sum"
            if (is_recording() or rules.possible(changes)) and rules.possible([*changes, *same], means):
                return False
        for fluents in self.parities:
            means = "no legal step from a state in which the invariant holds changes this parity"
            if rules.possible([*holds, *rules.step(), *rules.odd_change(fluents)], means):
                return False
        return not self.wanted or not rules.possible(
            [*holds, *same, *rules.wanted(self.wanted)], f"the invariant excludes: {self.wanted}"
        )

    def _holds_in(self, true: frozenset[str]) -> bool:
        """Return whether the state with the fluents `true` satisfies the groups and clauses."""
        for group in (*self.exactly, *self.never_two):
            count = sum(fluent in true for fluent in group)
            if count > 1 or (count == 0 and group in self.exactly):
                return False
        return all(any((name in true) == value for name, value in clause) for clause in self.clauses)

    def _same(self, rules: RulesProgram, true: frozenset[str]) -> list[str]:
        """Constrain the sums and parities to those of a state, which has the fluents `true`.

        Fluents of equal weight in one group share a tuple in the sum, since never two of them are true.
        """
        group_of = {name: i for i, group in enumerate((*self.exactly, *self.never_two)) for name in group}
        lines = []
        for weights in self.sums:
            total = sum(weight for name, weight in weights if name in true)
            terms = (
                f"{weight},{f'g{group_of[name]}' if name in group_of else i}: true({rules.term(name)})"
                for i, (name, weight) in enumerate(weights)
            )
            lines.append(f":- #sum{{ {'; '.join(terms)} }} != {total}.")
        for fluents in self.parities:
            terms = (f"{i}: true({rules.term(name)})" for i, name in enumerate(fluents))
            other = 1 - sum(name in true for name in fluents) % 2
            lines.append(f":- N = #count{{ {'; '.join(terms)} }}, N \\ 2 = {other}.")
        return lines

    def as_program(self, rules: RulesProgram, relation: str, *, broken: bool) -> list[str]:
        """Constrain a state (`relation` is `true` or `next`) to satisfy the invariant, or to violate it.

        Fluents that never change count as part of it, since the network has no others.
        """
        head = "broken " if broken else ""
        lines = [":- not broken."] if broken else []
        exactly = frozenset(self.exactly)
        for group in (*self.exactly, *self.never_two):
            terms = "; ".join(f"{i}: {relation}({rules.term(name)})" for i, name in enumerate(group))
            sign = "!= 1" if group in exactly else "> 1"
            lines.append(f"{head}:- #count{{ {terms} }} {sign}.")
        lines += rules.unchanging(relation, head)
        for clause in self.clauses:
            body = ", ".join(
                f"{'not ' if value else ''}{relation}({rules.term(name)})" for name, value in clause
            )
            lines.append(f"{head}:- {body}." if body else f"{head}:- true.")
        return lines


class RulesProgram:
    """The rules of a game as a program for clingo, for queries about one state and one step.

    A state is any set of fluents from the grounding: `true` is chosen freely.
    """

    def __init__(self, game: StateMachine, seconds: float) -> None:
        from herbrand.ground.encode import encode
        from herbrand.rules.clauses import Program
        from herbrand.rules.terms import TermTable

        self.deadline = time.monotonic() + seconds
        self.terms = TermTable(game.rules.spelling, folds_case=game.rules.tree.folds_case)
        program = encode(Program(game.rules.normal.rules, self.terms)).splitlines()
        self.text = "\n".join(line for line in program if not line.startswith("#show"))
        self.game = game
        terms = map(self.terms.intern, game.rules.roles)
        self.roles = {name: self._number(term) for name, term in zip(game.roles, terms, strict=True)}
        """The roles by name, as terms in the program's encoding."""

    @property
    def seconds_left(self) -> float:
        """The time until the deadline."""
        return self.deadline - time.monotonic()

    def term(self, text: str) -> str:
        """Return a term in the program's encoding."""
        return self._number(self.terms.read(text))

    def _number(self, number: int) -> str:
        args = self.terms.args[number]
        if not args:
            return str(number)
        return f"f{self.terms.functor[number]}({','.join(map(self._number, args))})"

    def step(self) -> list[str]:
        """Constrain the step: the state is not terminal, and each role makes one legal move."""
        return [
            *(f"player({role})." for role in self.roles.values()),
            ":- terminal.",
            ":- does(R,M), not player(R).",
            ":- player(R), #count{ M : does(R,M) } != 1.",
            ":- does(R,M), not legal(R,M).",
        ]

    def growth(self, weights: Sum, excluded: str) -> list[str]:
        """Exclude growth of a sum by certain amounts, such as `> 0`."""
        lines = []
        terms = []
        for i, (name, weight) in enumerate(weights):
            term = self.term(name)
            lines.append(f"up({i}) :- next({term}), not true({term}).")
            lines.append(f"down({i}) :- true({term}), not next({term}).")
            terms += [f"{weight},{i},0: up({i})", f"{-weight},{i},1: down({i})"]
        return [*lines, f":- #sum{{ {'; '.join(terms)} }} {excluded}."]

    def odd_change(self, fluents: Sequence[str]) -> list[str]:
        """Constrain an odd number of some fluents to change."""
        lines = []
        for i, term in enumerate(map(self.term, fluents)):
            lines.append(f"flip({i}) :- next({term}), not true({term}).")
            lines.append(f"flip({i}) :- true({term}), not next({term}).")
        return [*lines, ":- N = #count{ I: flip(I) }, N \\ 2 = 0."]

    def state(self, true: Iterable[str]) -> list[str]:
        """Constrain the state to the one with these fluents."""
        terms = [self.term(name) for name in sorted(true)]
        return [*(f"here({term})." for term in terms), ":- here(F), not true(F).", ":- true(F), not here(F)."]

    @cached_property
    def _unchanging(self) -> tuple[list[str], list[str]]:
        """The fluents that are always true, and those of the grounding that never are, as terms.

        The network need not be trusted for this: the queries that use it ask whether it holds initially
        and after each step.
        """
        network = self.game.network_within(max(self.seconds_left, 0.01))
        names = map(network.terms.text, network.fluents.tolist())
        varies = {self.term(name): is_always for name, is_always in zip(names, network.always, strict=True)}
        initial = [self.term(name) for name in sorted(self.game.initial_state("rules").facts)]
        always = [term for term in initial if varies.get(term, True)]
        self._any_state()
        possible = (
            line[len("fluent(") : -2]
            for line in _states[self.game].splitlines()
            if line.startswith("fluent(")
        )
        handled = {*varies, *initial}
        return always, [term for term in possible if term not in handled]

    def unchanging(self, relation: str, head: str = "") -> list[str]:
        """Constrain fluents that never change to have their values, or one not to; see `as_program`."""
        always, never = self._unchanging
        facts = [*(f"always({term})." for term in always), *(f"never({term})." for term in never)]
        lines = [f"{head}:- always(F), not {relation}(F)."] if always else []
        return [*facts, *lines, *([f"{head}:- never(F), {relation}(F)."] if never else [])]

    def holds_unchanging(self, true: frozenset[str]) -> bool:
        """Return whether a state, with the fluents `true`, has those that never change."""
        always, never = self._unchanging
        terms = {self.term(name) for name in true}
        return terms.issuperset(always) and terms.isdisjoint(never)

    def wanted(self, name: str) -> list[str]:
        """Constrain the state to be a wanted one; see `Invariant.wanted`."""
        kind, _, role = name.partition(" ")
        if kind == "playability":
            lines = [f"player({term})." for term in self.roles.values()]
            can = ["can(R) :- legal(R,M).", "fault :- player(R), not can(R)."]
            return [*lines, *can, ":- terminal.", ":- not fault."]
        if kind == "win":
            hundred = self.term("100")
            alone = f":- goal({self.roles[role]},V), V != {hundred}."
            return [":- not terminal.", *self.has(role, 100), alone]
        if kind == "goals":
            lines = [f"player({self.roles[player]})." for player in self.game.players]
            lines += [f"value({self.term(str(value))})." for value in range(101)]
            counted = "fault :- player(R), #count{ V : goal(R,V) } != 1."
            odd = "fault :- player(R), goal(R,V), not value(V)."
            return [*lines, counted, odd, ":- not terminal.", ":- not fault."]
        raise ValueError(f"no property {name!r}")

    def has(self, role: str, value: int) -> list[str]:
        """Constrain a role to have a goal value in the state, terminal or not, and perhaps others."""
        return [f":- not goal({self.roles[role]},{self.term(str(value))})."]

    def possible(self, lines: Sequence[str], means: str = "") -> bool:
        """Return whether some state and moves satisfy the constraints; raises `BudgetExceeded`.

        `means` is what follows if none do; with it, the query is recorded (`obligations`).
        """
        text = "\n".join([self._any_state(), _DEFINED, *lines])
        if is_only_recording():
            record("lp", lambda: text, means)
            return False
        satisfiable = has_answer_set(text, self.deadline)
        if means and not satisfiable:
            record("lp", lambda: text, means)
        return satisfiable

    def _any_state(self) -> str:
        """Return the rules of the game over a freely chosen state.

        The fluents are listed as facts: derived from `next`, a fluent that only supports itself would be
        unfounded and so in no answer set.
        """
        if self.game not in _states:
            atoms, message = _run_clingo(_GROUND, self.text + _SHOW, self.deadline)
            facts = [f"fluent({term})." for term in _shown(atoms)]
            if not facts:
                raise InternalError(f"clingo rejected the query: {message.strip().splitlines()[:1]}")
            rules = [line for line in self.text.splitlines() if not line.startswith("{true(F)}")]
            _states[self.game] = "\n".join([*rules, "{true(F)} :- fluent(F).", *facts])
        return _states[self.game]


def has_answer_set(text: str, deadline: float) -> bool:
    """Return whether a program for clingo has an answer set; raises `BudgetExceeded` past the deadline."""
    answer, message = _run_clingo(_SOLVE, text, deadline)
    if "SATISFIABLE" not in answer:
        raise InternalError(f"clingo rejected the query: {message.strip().splitlines()[:1]}")
    return "UNSATISFIABLE" not in answer


def _run_clingo(options: Sequence[str], text: str, deadline: float) -> tuple[str, str]:
    """Run clingo on a text in a subprocess; return its output and error messages."""
    from herbrand.ground.clingo_child import clingo_command

    seconds = max(deadline - time.monotonic(), 0.01)
    with tempfile.TemporaryDirectory(prefix="herbrand-") as folder:
        file = Path(folder) / "question.lp"
        file.write_text(text + "\n", encoding="ascii")
        try:
            done = subprocess.run(  # noqa: S603  # our own interpreter
                clingo_command("--warn=none", *options, str(file)),
                capture_output=True,
                timeout=seconds,
                check=False,
                stdin=subprocess.DEVNULL,
                text=True,
                errors="replace",
            )
        except subprocess.TimeoutExpired:
            raise BudgetExceeded(f"{seconds:.3g} seconds", "while checking a certificate") from None
    return done.stdout, done.stderr


_DEFINED = (
    "#defined terminal/0. #defined true/1. #defined does/2. #defined legal/2. #defined next/1. "
    "#defined goal/2. #defined broken/0. #defined hopeless/0. #defined lasting/0. #defined back/0. "
    "#defined up/1. #defined down/1. #defined here/1."
)
"""Declares all relations of queries, which a game or a query may not use."""
_SOLVE = ("--quiet=2", "--models=1")
_GROUND = ("--mode=gringo", "--output=intermediate")
_SHOW = """
#show.
#show F : true(F).
"""


def _shown(output: str) -> Iterator[str]:
    """Yield the terms in `#show` statements of the aspif format: lines `4 LENGTH TEXT CONDITION`."""
    for line in output.splitlines():
        if line.startswith("4 "):
            _, length, rest = line.split(" ", 2)
            yield rest[: int(length)]
