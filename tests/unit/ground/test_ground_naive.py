"""What is ground means the same as what a plain grounder gives: all instances of all rules, by exhaustive matching.

That one is slow and simple.  A fluent may be true if `init` or `next` may derive it, a move may be made if it may be
legal, and a negated condition may always hold; the atoms that may hold are the least fixpoint of the rules read so.
"""

from __future__ import annotations

import random
from collections import Counter
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from strategies import games

import herbrand
from herbrand.engine.on_network import NetworkEngine
from herbrand.ground import encode, ground
from herbrand.ground.encode import INTERFACE
from herbrand.ground.program import GroundProgram
from herbrand.network import wire
from herbrand.rules.clauses import Call, Differ, DisjunctionCall, Program
from herbrand.rules.terms import TermTable
from herbrand.verify import verify_playouts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from herbrand.check.rules import Rules
    from herbrand.rules.clauses import Goal, Pattern

_Atom: TypeAlias = tuple[str, tuple[int, ...]]
"""A relation with its arity, such as `cell/3`, and ground terms."""
_Instance: TypeAlias = tuple[_Atom, tuple[_Atom, ...], tuple[_Atom, ...]]
"""A head, its positive conditions, its negated conditions."""
_Binding: TypeAlias = dict[str, int]


def ground_naively(rules: Rules) -> GroundProgram:
    """Ground the rules of a (small) game."""
    terms = TermTable(rules.spelling, folds_case=rules.tree.folds_case)
    program = Program(rules.normal.rules, terms)
    possible: dict[_Atom, None] = {}
    while True:
        instances = dict.fromkeys(_instances(program, possible))
        derived = dict.fromkeys(head for head, _, _ in instances)
        for name, args in list(derived):
            if name in ("init/1", "next/1"):
                derived["true/1", args] = None
            elif name == "legal/2":
                derived["does/2", args] = None
        if derived == possible:
            break
        possible = derived
    always = _always(instances, possible)
    number = {atom: 0 if atom in always else i for i, atom in enumerate(sorted(possible), 1)}
    remaining = [
        (head, holds, fails)
        for head, holds, fails in instances
        if head not in always and not always.intersection(fails)
    ]
    bodies = [
        [number[atom] for atom in holds if atom not in always]
        + [-number[atom] for atom in fails if atom in number]
        for _, holds, fails in remaining
    ]
    named = {
        name: np.array(
            [[i, *args] for (relation, args), i in number.items() if relation == f"{name}/{arity}"], np.int64
        ).reshape(-1, 1 + arity)
        for name, arity in (*INTERFACE, ("true", 1), ("does", 2))
    }
    return GroundProgram(
        terms,
        np.array([number[head] for head, _, _ in remaining], np.int32),
        np.cumsum([0, *map(len, bodies)]).astype(np.int64),
        np.array([literal for body in bodies for literal in body], np.int32),
        len(possible),
        named,
    )


def _always(instances: Iterable[_Instance], possible: dict[_Atom, None]) -> set[_Atom]:
    """Return the atoms that hold in every state: derived without fluents, moves or possible negated atoms."""
    always: set[_Atom] = set()
    while True:
        derived = {
            head
            for head, holds, fails in instances
            if always.issuperset(holds) and possible.keys().isdisjoint(fails)
        }
        if derived == always:
            return always
        always = derived


def _instances(program: Program, possible: dict[_Atom, None]) -> Iterator[_Instance]:
    extension: dict[str, list[tuple[int, ...]]] = {}
    for name, args in possible:
        extension.setdefault(name, []).append(args)
    for predicate in list(program.predicates):
        name = f"{predicate.name}/{predicate.arity}"
        if predicate.name.startswith("or "):
            continue  # disjunctions are expanded in the bodies that contain them
        for row in predicate.rows:
            yield (name, row), (), ()
        for clause in predicate.clauses:
            for body in _without_disjunctions(clause.body):
                for binding in _bindings(program, body, extension, {}):
                    calls = [goal for goal in body if isinstance(goal, Call)]
                    holds = tuple(_atom(program, c, binding) for c in calls if not c.negated)
                    fails = tuple(_atom(program, c, binding) for c in calls if c.negated)
                    head = tuple(_term(program, arg, binding) for arg in clause.head)
                    yield (name, head), holds, fails


def _without_disjunctions(body: tuple[Goal, ...]) -> Iterator[tuple[Goal, ...]]:
    for i, goal in enumerate(body):
        if isinstance(goal, DisjunctionCall):
            for part in goal.disjuncts:
                yield from _without_disjunctions((*body[:i], *part, *body[i + 1 :]))
            return
    yield body


def _bindings(
    program: Program, body: tuple[Goal, ...], extension: dict[str, list[tuple[int, ...]]], binding: _Binding
) -> Iterator[_Binding]:
    """Yield all bindings of the variables under which the body may hold."""
    positive = [goal for goal in body if isinstance(goal, Call) and not goal.negated]
    if not positive:
        tests = (goal for goal in body if isinstance(goal, Differ))
        if all(_term(program, t.left, binding) != _term(program, t.right, binding) for t in tests):
            yield binding
        return
    first = positive[0]
    rest = tuple(goal for goal in body if goal is not first)
    name, patterns = _call(first)
    for row in extension.get(name, ()):
        extended = dict(binding)
        if all(_match(program, pattern, t, extended) for pattern, t in zip(patterns, row, strict=True)):
            yield from _bindings(program, rest, extension, extended)


def _call(call: Call) -> tuple[str, tuple[Pattern, ...]]:
    """Return the relation and its arguments; a fluent is an argument of `true/1`."""
    predicate = call.predicate
    if predicate.kind == "fluent":
        return "true/1", ((predicate.functor, *call.args),)
    return f"{predicate.name}/{predicate.arity}", call.args


def _atom(program: Program, call: Call, binding: _Binding) -> _Atom:
    name, args = _call(call)
    return name, tuple(_term(program, arg, binding) for arg in args)


def _term(program: Program, pattern: Pattern, binding: _Binding) -> int:
    if isinstance(pattern, int):
        return pattern
    if isinstance(pattern, str):
        return binding[pattern]
    functor = pattern[0]
    assert isinstance(functor, int)
    return program.terms.cons[(functor, *(_term(program, arg, binding) for arg in pattern[1:]))]


def _match(program: Program, pattern: Pattern, term: int, binding: _Binding) -> bool:
    """Whether a term is an instance of a pattern under `binding`, which it extends."""
    if isinstance(pattern, int):
        return pattern == term
    if isinstance(pattern, str):
        return binding.setdefault(pattern, term) == term
    functors, args = program.terms.functor, program.terms.args
    return functors[term] == pattern[0] and all(
        _match(program, part, t, binding) for part, t in zip(pattern[1:], args[term], strict=True)
    )


# -- comparisons ---------------------------------------------------------------------------------


def agree(text: str, steps: int = 12) -> None:
    """Play one random game and ask networks made from both groundings everything in every state."""
    rules = herbrand.loads(text).rules
    assert not rules.errors
    plain, shrunk, ours = ground_naively(rules), ground(rules, shrink=False), ground(rules)
    engines = [
        NetworkEngine(wire(p, [p.terms.intern(r) for r in rules.roles])) for p in (plain, shrunk, ours)
    ]
    rng = random.Random(0)
    keys = [engine.initial() for engine in engines]
    for _ in range(steps):
        seen = []
        for engine, key in zip(engines, keys, strict=True):
            name = engine.terms.text
            seen.append(
                (
                    sorted(map(name, engine.fluents(key))),
                    [sorted(map(name, engine.legal(key, i))) for i in range(len(rules.roles))],
                    engine.terminal(key),
                    [sorted(map(name, engine.goals(key, i))) for i in range(len(rules.roles))],
                )
            )
        assert seen[0] == seen[1] == seen[2], text
        _, legal, terminal, _ = seen[0]
        if terminal or not all(legal):
            return
        joint = [rng.choice(moves) for moves in legal]
        for i, engine in enumerate(engines):
            keys[i] = engine.successor(keys[i], list(map(engine.terms.read, joint)))


@pytest.mark.parametrize("name", ["nim", "rockPaperScissors", "montyHall", "kuhn", "lightsOut", "ticTacToe"])
def test_bundled_games(name: str) -> None:
    """Small bundled games mean the same however they are ground."""
    agree(herbrand.load(name).tree.source.text)


@settings(
    deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large], max_examples=4
)
@given(games())
def test_random_games(text: str) -> None:
    """So do random games."""
    agree(text, 4)


@settings(
    deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large], max_examples=4
)
@given(games())
def test_random_games_on_demand(text: str) -> None:
    """So do random games when every relation is evaluated on demand."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("herbrand.ground.demand.LARGE", 0)
        patch.setattr("herbrand.ground.demand.HUGE", 0)
        agree(text, 4)


SUMS = """
(role a) (role b) (init start)
(<= (legal ?r (say ?n)) (role ?r) (number ?n))
(<= (next (said ?r ?n)) (does ?r (say ?n)))
(<= (next (both ?z)) (does a (say ?x)) (does b (say ?y)) (sum ?x ?y ?z) (not (odd ?z)))
(<= (goal ?r 100) (true (both ?z)) (role ?r) (not (true (said ?r ?z))))
(<= terminal (true (both n8)))
(<= (number n0)) (<= (number ?y) (++ ?x ?y))
(odd n1) (<= (odd ?z) (++ ?x ?y) (++ ?y ?z) (odd ?x))
(<= (sum ?x n0 ?x) (number ?x))
(<= (sum ?x ?y ?z) (++ ?p ?y) (sum ?x ?p ?q) (++ ?q ?z))
""" + " ".join(f"(++ n{i} n{i + 1})" for i in range(9))


@pytest.mark.parametrize("large", [0, 20, 200])
def test_arithmetic_on_demand(monkeypatch: pytest.MonkeyPatch, large: int) -> None:
    """Recursion, negation below it and results that are asked for stay what they are."""
    monkeypatch.setattr("herbrand.ground.demand.LARGE", large)
    monkeypatch.setattr("herbrand.ground.demand.HUGE", large)
    agree(SUMS)


def test_what_is_asked_for_and_negated_is_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """A relation of which some rows are asked for elsewhere has all of them where it is negated."""
    monkeypatch.setattr("herbrand.ground.demand.LARGE", 0)
    monkeypatch.setattr("herbrand.ground.demand.HUGE", 0)
    agree(
        """(role r) (object a) (object b) (<= (legal ?r wait) (role ?r)) (<= terminal (true (step 5)))
        (<= (p ?x ?z) (distinct ?z ?y) (object ?y) (object ?x) (object ?z))
        (<= (goal r 30) (q ?y ?x) (not (or (edge ?z ?z) s)) (edge a ?y) (p ?x ?z))
        (<= terminal (object ?z) (object ?y) (p ?x a) (not (p b ?z)))"""
    )


def test_what_is_not_asked_for_is_not_ground(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of all sums only those are ground that some state can ask for."""
    text = (
        SUMS.replace("(say ?n)) (role ?r) (number ?n)", "(say ?n)) (role ?r) (small ?n)")
        + "(small n1) (small n2)"
    )
    rules = herbrand.loads(text).rules
    monkeypatch.setattr("herbrand.ground.demand.HUGE", 1e12)
    whole = ground(rules).rules
    monkeypatch.setattr("herbrand.ground.demand.HUGE", 100)
    monkeypatch.setattr("herbrand.ground.demand.LARGE", 50)
    assert ground(rules).rules <= whole


def test_calls_keep_what_belongs_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of `(minus ?x ?y ?z)` a game that subtracts 1 and 3 asks for few ?y with each ?x, not for all pairs."""
    clingo = pytest.importorskip("clingo")
    last = 60
    text = """
    (role r) (init (points 30)) (legal r small) (legal r large) (<= terminal (true (points 0)))
    (<= (goal r ?x) (true (points ?x)))
    (<= (next (points ?y)) (does r small) (true (points ?x)) (minus ?x 1 ?y))
    (<= (next (points ?y)) (does r large) (true (points ?x)) (minus ?x 3 ?y))
    (number 0) (<= (number ?y) (succ ?x ?y))
    (<= (minus ?x 0 ?x) (number ?x))
    (<= (minus 0 ?x 0) (number ?x))
    (<= (minus ?x ?y ?z) (succ ?x1 ?x) (succ ?y1 ?y) (minus ?x1 ?y1 ?z))
    """ + " ".join(f"(succ {i} {i + 1})" for i in range(last))
    monkeypatch.setattr("herbrand.ground.demand.HUGE", 100)
    monkeypatch.setattr("herbrand.ground.demand.LARGE", 50)
    game = herbrand.loads(text)
    report = verify_playouts(game, engines=("rules", "network"), playouts=3, seed=5)
    assert report.ok, report.difference
    rules = game.rules
    program = Program(rules.normal.rules, TermTable(rules.spelling))
    control = clingo.Control(["--warn=none"])
    control.add("base", [], encode.encode(program, INTERFACE, shrink=True))
    control.ground([("base", [])])
    rows = Counter((atom.symbol.name, len(atom.symbol.arguments)) for atom in control.symbolic_atoms)
    assert max(rows.values()) < last * last / 4


CELLS = range(1, 15)
SLIDE = (
    "(role r) (role s) (init (control r)) (init (at r 1)) (init (at s 14)) (init (stone 4)) (init (stone 9))"
    + "".join(f"(cell {i}) (init (free {i}))" for i in CELLS)
    + "".join(f"(succ {i} {i + 1})" for i in CELLS[:-1])
    + """
(other r s) (other s r) (inner 5) (inner 6) (inner 7)
(<= (next (control ?s)) (true (control ?r)) (other ?r ?s))
(<= (legal ?r wait) (role ?r) (not (true (control ?r))))
(<= (legal ?r (go ?x ?y)) (true (control ?r)) (true (at ?r ?x)) (cell ?y) (distinct ?x ?y)
    (not (seen ?r ?y ?x)))
(<= (legal ?r (take ?y)) (true (control ?r)) (true (at ?r ?x)) (true (stone ?y)) (reach ?x ?y ?x))
(<= (legal ?r (stay ?y)) (true (control ?r)) (true (at ?r ?x)) (cell ?y) (not (near ?x ?y 5)) (not (near ?x ?y ?x)))
(<= (next (at ?r ?y)) (does ?r (go ?x ?y)))
(<= (next (at ?r ?x)) (true (at ?r ?x)) (not (gone ?r)))
(<= (gone ?r) (does ?r (go ?x ?y)))
(<= (next (stone ?y)) (true (stone ?y)) (not (taken ?y)))
(<= (taken ?y) (does ?r (take ?y)))
(<= (next (free ?x)) (cell ?x) (not (covered ?x)))
(<= (covered ?x) (true (at ?r ?x)))
(<= (seen ?r ?y ?ignored) (other ?r ?s) (true (at ?s ?z)) (reach ?z ?y ?ignored))
(<= (seen ?r ?y ?ignored) (true (stone ?z)) (succ ?z ?y) (cell ?ignored) (role ?r))
(<= (reach ?x ?y ?ignored) (or (clear ?x ?y ?ignored) (clear ?y ?x ?ignored)))
(<= (clear ?x ?y ?ignored) (succ ?x ?y) (cell ?ignored))
(<= (clear ?x ?y ?ignored) (succ ?x ?ignored) (clear ?ignored ?y ?ignored))
(<= (clear ?x ?y ?ignored) (succ ?x ?z) (true (free ?z)) (clear ?z ?y ?ignored))
(<= (near ?x ?y ?z) (true (free ?x)) (succ ?x ?y) (inner ?z))
(<= (near ?x ?y ?z) (true (free ?z)) (true (free ?y)) (true (free ?x)) (succ ?x ?z))
(<= (goal ?r 100) (role ?r) (not (true (stone 4))) (not (true (stone 9))))
(<= (goal ?r 0) (role ?r) (true (stone ?x)))
(<= terminal (not (true (stone 4))) (not (true (stone 9))))
"""
)
"""Pieces on a line that see along free cells; `near` is asked for cells that are not all in its domain."""


@pytest.fixture
def narrow(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Let all rules be taken apart that can be, however small; return how many relations each game had then."""
    found: list[int] = []
    done = False
    real = encode.narrowed
    monkeypatch.setattr("herbrand.ground.narrow.BROAD", 0)

    def narrowed(*args: object) -> object:
        nonlocal done
        fewer = real(*args)  # type: ignore[arg-type]
        found.append(0 if fewer is None else len(fewer))
        done = fewer is not None
        return fewer

    def pays(*_: object) -> bool:
        nonlocal done
        before, done = done, False
        return not before

    monkeypatch.setattr(encode, "narrowed", narrowed)
    monkeypatch.setattr(encode, "pays", pays)
    return found


@pytest.mark.slow
def test_arguments_that_a_derivation_does_not_look_at(narrow: list[int]) -> None:
    """Whatever asks, negated, with constants or outside of a domain, gets the same answers."""
    agree(SLIDE, 8)
    assert any(narrow)


@pytest.mark.slow_except("ticTacToe", "nim", "kuhn")
@pytest.mark.parametrize("name", ["ticTacToe", "kuhn", "nim", "breakthrough"])
def test_bundled_games_taken_apart(name: str, narrow: list[int]) -> None:
    """So do games that gain nothing from it."""
    agree(herbrand.load(name).tree.source.text, 4)
    assert narrow


@settings(
    deadline=None,
    suppress_health_check=[
        HealthCheck.too_slow,
        HealthCheck.data_too_large,
        HealthCheck.function_scoped_fixture,
    ],
    max_examples=3,
)
@given(text=games())
def test_random_games_taken_apart(text: str, narrow: list[int]) -> None:
    """And random ones."""
    agree(text, 4)
    assert narrow


def test_squares_that_are_ignored_cost_little(monkeypatch: pytest.MonkeyPatch) -> None:
    """With paths apart from squares on them there are fewer rules than for each path and each square."""
    rules = herbrand.loads(SLIDE).rules
    before = ground(rules).rules
    monkeypatch.setattr("herbrand.ground.narrow.BROAD", 100)
    monkeypatch.setattr("herbrand.ground.demand.HUGE", 2500)
    assert ground(rules).rules < 0.8 * before
