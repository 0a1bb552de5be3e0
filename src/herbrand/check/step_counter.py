"""A certificate that every play terminates: a step counter.

Some fluents are certain: whatever is played, they are true after k steps.  The first
ones are the `init` facts; the certain fluents of each step follow from those of the step
before by the rules whose conditions only require certain fluents, static facts, and
that any move is made at all.  If `terminal` follows from the certain fluents after k steps,
every play has ended by then.

The usual counter is `(next (step ?y)) <= (true (step ?x)) (succ ?x ?y)` with
`terminal <= (true (step 30))`; counters of several digits, counters that stop with
`(not terminal)` and counters behind helper relations are found in the same way.

The certificate assumes that every role always has a legal move; otherwise a play ends as well.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

from herbrand.syntax.ground import Ground, as_text, has_size, instance, match
from herbrand.syntax.nodes import Atom, Constant, Distinct, Not, Rule, Variable, variables_of
from herbrand.syntax.tokens import ARITY

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from herbrand.syntax.nodes import Literal, Term

__all__ = ["StepCounter", "step_counter"]

WORK: Final = 100_000
"""Budget: number of facts examined before the search is abandoned."""
MOST_SYMBOLS: Final = 1000
"""A fact that has as many grows from step to step, perhaps twofold."""

_Fact: TypeAlias = tuple[Ground, ...]
_Key: TypeAlias = tuple[str, int]
_Facts: TypeAlias = "dict[_Key, _Relation]"


@dataclass(frozen=True, slots=True)
class StepCounter:
    """Every play ends after at most `bound` steps."""

    bound: int
    fluents: tuple[str, ...]
    """Names of the fluents that the proof uses."""
    last: tuple[str, ...]
    """The certain fluents after `bound` steps, which make the state terminal."""

    def __str__(self) -> str:
        return f"every play ends after at most {self.bound} steps: then {', '.join(self.last)} is true"


class _Exhausted(Exception):
    """The budget is exhausted."""


def step_counter(statements: Iterable[Rule]) -> StepCounter | None:
    """Search for a step counter; None if the search fails, which proves nothing.

    Sound for any rulesheet without errors.  Gives up after a fixed amount of work.
    """
    rules = list(dict.fromkeys(statements))
    if not any(rule.head.name == "role" for rule in rules):
        return None
    program = _Program(rules)
    if not program.terminal_rules:
        return None
    try:
        return program.run()
    except _Exhausted:
        return None


class _Relation:
    """Facts of one relation, indexed by each argument on demand."""

    __slots__ = ("_index", "facts")

    def __init__(self) -> None:
        self.facts: dict[_Fact, None] = {}
        self._index: dict[int, dict[Ground, list[_Fact]]] = {}

    def add(self, fact: _Fact) -> bool:
        if fact in self.facts:
            return False
        self.facts[fact] = None
        for position, table in self._index.items():
            table.setdefault(fact[position], []).append(fact)
        return True

    def matching(self, position: int, value: Ground) -> Sequence[_Fact]:
        table = self._index.get(position)
        if table is None:
            table = self._index[position] = {}
            for fact in self.facts:
                table.setdefault(fact[position], []).append(fact)
        return table.get(value, ())


@dataclass(frozen=True, slots=True)
class _Clause:
    """A usable rule: positive atoms, then tests on ground terms."""

    head: _Key
    args: tuple[Term, ...]
    atoms: tuple[tuple[_Key, tuple[Term, ...]], ...]
    tests: tuple[Distinct | Not, ...]


class _Program:
    """The part of a rulesheet that does not depend on the moves."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self.work = WORK
        self.facts_only = {rule.head.key for rule in rules} - {rule.head.key for rule in rules if rule.body}
        self.static: _Facts = {}
        self.initial: list[Ground] = []
        clauses: list[_Clause] = []
        for rule in rules:
            ground = next(variables_of(rule.head), None) is None
            if rule.is_fact and ground:
                if rule.head.key == ("init", 1):
                    self.initial.append(instance(rule.head.args[0], {}))
                elif rule.head.name not in ("true", "does", "next", "legal", "goal"):
                    self._add(self.static, rule.head.key, tuple(instance(a, {}) for a in rule.head.args))
            if rule.body and rule.head.name not in ("init", "true", "does", "legal", "goal", "base", "input"):
                clause = self._clause(rule)
                if clause is not None:
                    clauses.append(clause)
            elif rule.is_fact and rule.head.key == ("next", 1) and ground:
                clauses.append(_Clause(_fluent(rule.head), rule.head.args[0].args, (), ()))
        self.clauses = self._relevant(clauses)
        self.terminal_rules = [c for c in self.clauses if c.head == ("terminal", 0)]
        self.steps = [c for c in self.clauses if c.head[0].startswith("true ")]
        self.helpers = [c for c in self.clauses if not c.head[0].startswith("true ")]
        needed = {key for c in self.clauses for key, _ in c.atoms}
        self.needed = {key for key in needed if key[0].startswith("true ")}

    def run(self) -> StepCounter | None:
        """Compute the certain fluents of each step until the game ends or they repeat."""
        certain = {(key, fact) for key, fact in map(_flat_value, self.initial) if key in self.needed}
        visited: set[frozenset[tuple[_Key, _Fact]]] = set()
        names = tuple(sorted(key[0].removeprefix("true ") for key in self.needed))
        bound = 0
        while certain:
            facts: _Facts = {}
            for key, fact in certain:
                self._add(facts, key, fact)
            if self._derive(facts):
                named = ((key[0].removeprefix("true "), fact) for key, fact in certain)
                last = sorted(as_text((name, *fact) if fact else name) for name, fact in named)
                return StepCounter(bound, names, tuple(last))
            snapshot = frozenset(certain)
            if snapshot in visited:
                return None
            visited.add(snapshot)
            certain = {(clause.head, fact) for clause in self.steps for fact in self._solve(clause, facts)}
            if any(has_size(fact, MOST_SYMBOLS) for _, fact in certain):
                raise _Exhausted
            bound += 1
        return None

    def _derive(self, facts: _Facts) -> bool:
        """Add the consequences of the helper rules; return whether `terminal` is one of them."""
        changed = True
        while changed:
            changed = False
            for clause in self.helpers:
                for fact in list(self._solve(clause, facts)):
                    if clause.head == ("terminal", 0):
                        return True
                    changed |= self._add(facts, clause.head, fact)
        return False

    # -- usable rules ----------------------------------------------------------------------------

    def _clause(self, rule: Rule) -> _Clause | None:
        """Make a clause of a rule; None if a condition may be uncertain."""
        atoms: list[tuple[_Key, tuple[Term, ...]]] = []
        tests: list[Distinct | Not] = []
        head = rule.head
        is_next = head.key == ("next", 1)
        if is_next and isinstance(head.args[0], Variable):
            return None
        counts = Counter(variable.name for variable in variables_of(rule))
        bound: set[str] = set()
        for literal in rule.body:
            if isinstance(literal, Atom):
                if literal.key == ("true", 1):
                    if isinstance(literal.args[0], Variable):
                        return None
                    atoms.append((_fluent(literal), literal.args[0].args))
                elif literal.key == ("does", 2):
                    role, move = literal.args
                    if not is_next or not isinstance(move, Variable) or counts[move.name] > 1:
                        return None
                    atoms.append((("role", 1), (role,)))  # every role moves in every step
                elif literal.name in ARITY and literal.name != "role":
                    return None
                else:
                    atoms.append((literal.key, literal.args))
                bound |= {v.name for v in variables_of(literal)}
            elif isinstance(literal, Distinct):
                tests.append(literal)
            elif isinstance(literal, Not):
                inner: Literal = literal.literal
                if is_next and isinstance(inner, Atom) and inner.key == ("terminal", 0):
                    continue  # there is a next state only when this one is not terminal
                if not isinstance(inner, Atom) or not self._is_closed(inner.key):
                    return None
                tests.append(literal)
            else:
                return None
        if any(v.name not in bound for part in (head, *tests) for v in variables_of(part)):
            return None
        key, args = (_fluent(head), head.args[0].args) if is_next else (head.key, head.args)
        return _Clause(key, args, tuple(_ordered(atoms)), tuple(tests))

    def _is_closed(self, key: _Key) -> bool:
        """Whether a relation is defined by facts alone."""
        dynamic = ("true", "does", "next", "legal", "goal", "init", "terminal")
        return key in self.facts_only and key[0] not in dynamic

    def _relevant(self, clauses: list[_Clause]) -> list[_Clause]:
        """Keep the clauses that `terminal` depends on and that can apply."""
        while True:
            derivable = {c.head for c in clauses} | self.static.keys()
            derivable |= {_flat_value(value)[0] for value in self.initial}
            applicable = [c for c in clauses if all(key in derivable for key, _ in c.atoms)]
            if len(applicable) == len(clauses):
                break
            clauses = applicable
        needed: set[_Key] = {("terminal", 0)}
        while True:
            added = {key for c in clauses if c.head in needed for key, _ in c.atoms} - needed
            if not added:
                return [c for c in clauses if c.head in needed]
            needed |= added

    # -- evaluation ------------------------------------------------------------------------------

    def _solve(self, clause: _Clause, derived: _Facts) -> Iterator[_Fact]:
        """Yield the heads that follow from static and known facts."""
        yield from self._join(clause, 0, {}, derived)

    def _join(self, clause: _Clause, at: int, binding: dict[str, Ground], derived: _Facts) -> Iterator[_Fact]:
        if at == len(clause.atoms):
            if all(self._holds(test, binding) for test in clause.tests):
                yield tuple(instance(arg, binding) for arg in clause.args)
            return
        key, args = clause.atoms[at]
        for facts in (self.static, derived):
            relation = facts.get(key)
            if relation is None:
                continue
            candidates: Iterable[_Fact] = tuple(relation.facts)
            for position, arg in enumerate(args):
                if isinstance(arg, Constant) or (isinstance(arg, Variable) and arg.name in binding):
                    candidates = relation.matching(position, instance(arg, binding))
                    break
            for fact in candidates:
                self.work -= 1
                if self.work < 0:
                    raise _Exhausted
                extended = match(args, fact, binding)
                if extended is not None:
                    yield from self._join(clause, at + 1, extended, derived)

    def _holds(self, test: Distinct | Not, binding: dict[str, Ground]) -> bool:
        if isinstance(test, Distinct):
            return instance(test.left, binding) != instance(test.right, binding)
        atom = test.literal
        assert isinstance(atom, Atom)
        relation = self.static.get(atom.key)
        return relation is None or tuple(instance(a, binding) for a in atom.args) not in relation.facts

    @staticmethod
    def _add(facts: _Facts, key: _Key, fact: _Fact) -> bool:
        relation = facts.get(key)
        if relation is None:
            relation = facts[key] = _Relation()
        return relation.add(fact)


def _ordered(atoms: list[tuple[_Key, tuple[Term, ...]]]) -> list[tuple[_Key, tuple[Term, ...]]]:
    """Order atoms by the share of bound arguments, fluents first, since there are few."""
    remaining = list(atoms)
    ordered: list[tuple[_Key, tuple[Term, ...]]] = []
    bound: set[str] = set()
    while remaining:
        best = max(
            remaining,
            key=lambda atom: (
                sum(all(v.name in bound for v in variables_of(arg)) for arg in atom[1]) / (len(atom[1]) or 1),
                atom[0][0].startswith("true "),
            ),
        )
        remaining.remove(best)
        ordered.append(best)
        bound |= {v.name for arg in best[1] for v in variables_of(arg)}
    return ordered


def _fluent(atom: Atom) -> _Key:
    """Return the relation that represents the fluents of one function."""
    term = atom.args[0]
    assert not isinstance(term, Variable)
    return f"true {term.name}", len(term.args)


def _flat_value(value: Ground) -> tuple[_Key, _Fact]:
    if isinstance(value, str):
        return (f"true {value}", 0), ()
    return (f"true {value[0]}", len(value) - 1), value[1:]
