"""The rule evaluator against the definition, and the cases the language makes hard."""

from pathlib import Path

import pytest

import herbrand
from herbrand import BudgetExceeded, GameError, Limits
from herbrand.verify import verify_playouts

PRELUDE = """
(role r)
(init (s 0))
(legal r go)
(goal r 100)
(<= terminal (true (s end)))
"""


def ask(rules: str, query: str, engine_facts: tuple[str, ...] = ()) -> list[dict[str, str]]:
    game = herbrand.loads(PRELUDE + rules)
    state = game.state(engine_facts) if engine_facts else game.initial_state()
    return state.ask(query)


def values(rules: str, query: str) -> list[str]:
    return [answer["x"] for answer in ask(rules, query)]


FACTS = "(q a) (q b) (q c) (r1 a) (s1 b) (e a b) (e b c) (e c a)"


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ("(<= (p ?x) (q ?x) (not (or (r1 ?x) (s1 ?x))))", ["c"]),
        ("(<= (p ?x) (q ?x) (or (r1 ?x) (s1 ?x)))", ["a", "b"]),
        ("(<= (p ?x) (and (q ?x) (not (r1 ?x))))", ["b", "c"]),
        ("(<= (p ?x) (not (r1 ?x)) (q ?x))", ["b", "c"]),
        ("(<= (p ?x) (distinct ?x ?y) (q ?x) (s1 ?y))", ["a", "c"]),
        ("(<= (p ?x) (q ?x) (not (distinct ?x ?y)) (s1 ?y))", ["b"]),
        ("(<= (p ?x) (q ?x) (not (and (r1 ?x) (q ?x))))", ["b", "c"]),
        ("(<= (p ?x) (q ?x) (or (and (r1 ?x) (not (s1 ?x))) (distinct ?x a)))", ["a", "b", "c"]),
        ("(<= (p ?x) (q ?x) (or))", []),
        ("(<= (p ?x) (q ?x) (and))", ["a", "b", "c"]),
        ("(<= (p ?x) (q ?x) (not (not (r1 ?x))))", ["a"]),
        ("(<= (p ?x) (q ?x) (not (undefined ?x)))", ["a", "b", "c"]),
        ("(<= (p ?x) (q ?x) (undefined))", []),
        ("(<= (p ?x) (e ?x ?y) (e ?y ?z) (e ?z ?x))", ["a", "b", "c"]),
        ("(<= (p ?x) (e ?x ?x))", []),
        ("(<= (p ?x) (or (e ?x ?y) (e ?y ?x)) (r1 ?y))", ["b", "c"]),
        ("(<= (p A) (q a))", ["A"]),
    ],
)
def test_connectives(rule: str, expected: list[str]) -> None:
    """Every connective means what it says, wherever it stands in the body."""
    assert values(FACTS + rule, "(p ?x)") == expected or values(FACTS + rule, "(p ?x)") == [
        e.lower() for e in expected
    ]


@pytest.mark.parametrize(
    "rules",
    [
        "(<= (path ?x ?y) (e ?x ?y)) (<= (path ?x ?z) (e ?x ?y) (path ?y ?z))",
        "(<= (path ?x ?y) (e ?x ?y)) (<= (path ?x ?z) (path ?x ?y) (e ?y ?z))",
        "(<= (path ?x ?y) (e ?x ?y)) (<= (path ?x ?z) (path ?x ?y) (path ?y ?z))",
        "(<= (path ?x ?y) (step2 ?x ?y)) (<= (step2 ?x ?y) (e ?x ?y)) (<= (step2 ?x ?z) (path ?x ?y) (e ?y ?z))",
    ],
)
@pytest.mark.parametrize("query", ["(path a ?x)", "(path ?x a)", "(path a c)", "(path c d)"])
def test_recursion_over_cyclic_data(rules: str, query: str) -> None:
    """Left, right, double and mutual recursion give the closure whichever argument is bound."""
    found = ask(FACTS + "(e d e)" + rules, query)
    assert len(found) == {"(path a ?x)": 3, "(path ?x a)": 3, "(path a c)": 1, "(path c d)": 0}[query]


def test_recursion_that_depends_on_the_state() -> None:
    """A recursive relation over fluents is computed anew in each state."""
    rules = """
    (<= (linked ?x ?y) (true (edge ?x ?y)))
    (<= (linked ?x ?z) (linked ?x ?y) (true (edge ?y ?z)))
    """
    game = herbrand.loads(PRELUDE + rules)
    one = game.state(["(edge a b)", "(edge b c)"])
    two = game.state(["(edge a b)", "(edge c d)"])
    assert [answer["x"] for answer in one.ask("(linked a ?x)")] == ["b", "c"]
    assert [answer["x"] for answer in two.ask("(linked a ?x)")] == ["b"]


def test_negation_of_the_same_relation_is_stratified_by_rule() -> None:
    """A relation may be negated in its own definition when no rule depends on its own negation."""
    game = herbrand.loads("""
    (role a) (role b) (init (won a)) (<= (legal ?r noop) (role ?r)) (<= terminal (true (won a)))
    (<= (goal ?r 100) (true (won ?r)))
    (<= (goal ?r 0) (role ?r) (not (goal ?r 100)))
    """)
    assert game.initial_state().goals == {"a": 100, "b": 0}


def test_compound_terms_in_heads_and_bodies() -> None:
    """Terms are built and taken apart by recursion."""
    rules = """
    (le a) (le b)
    (list nil)
    (<= (list (cons ?x nil)) (le ?x))
    (<= (list (cons ?x (cons ?y nil))) (le ?x) (le ?y))
    (<= (last (cons ?x nil) ?x) (le ?x))
    (<= (last (cons ?y ?rest) ?x) (list (cons ?y ?rest)) (list ?rest) (last ?rest ?x))
    """
    assert values(rules, "(last (cons a (cons b nil)) ?x)") == ["b"]
    assert len(ask(rules, "(last ?l ?x)")) == 2 + 4


def test_legal_inside_next() -> None:
    """`legal` in the body of a `next` rule speaks of the current state."""
    game = herbrand.loads("""
    (role r) (init (n 1)) (<= (legal r go) (true (n 1))) (legal r stay)
    (<= (canGo) (legal r go)) (<= (next could) (canGo) (does r stay))
    (<= (next (n 2)) (does r go)) (goal r 0) (<= terminal (true never))
    """)
    state = game.initial_state()
    assert state.next(["stay"]).facts == {"could"}
    assert state.next(["stay"]).next(["stay"]).facts == frozenset()


def test_goals_may_be_computed_undefined_or_several() -> None:
    """A computed value counts; none or several give None and the set."""
    game = herbrand.loads("""
    (role a) (role b) (role c) (init (score 30)) (<= (legal ?r noop) (role ?r)) (<= terminal (true (score 1)))
    (<= (goal a ?n) (true (score ?n))) (goal b 1) (goal b 2)
    (<= (goal c 5) (true (score 5)))
    """)
    state = game.initial_state()
    assert state.goals == {"a": 30, "b": None, "c": None}
    assert state.goal_values("b") == ("1", "2")
    assert state.goal_values("c") == ()


def test_many_disjunctions_do_not_multiply() -> None:
    """Thirty binary disjunctions in one body are tested one by one."""
    ors = " ".join(f"(or (q ?x{i}) (r1 ?x{i}))" for i in range(30))
    args = " ".join(f"(t ?x{i})" for i in range(30))
    assert ask(FACTS + f"(t a) (<= (p ok) {args} {ors})", "(p ?x)") == [{"x": "ok"}]


def test_deep_joins_fit_into_python() -> None:
    """A body with more unbound variables than Python nests blocks is cut into functions."""
    chain = " ".join(f"(e ?x{i} ?x{i + 1})" for i in range(40))
    outputs = " ".join(f"?x{i}" for i in range(41))
    assert len(ask(FACTS + f"(<= (p {outputs}) {chain})", f"(p {outputs})")) == 3


def test_unbounded_terms_end_at_the_budget() -> None:
    """Rules that grow terms for ever give a clear answer within the limits."""
    game = herbrand.loads(
        """(role r) (init (n 0)) (legal r go) (goal r 0) (<= terminal (true (n done)))
        (<= (next (n (s ?x))) (true (n ?x)))""",
        limits=Limits(seconds=5),
    )
    state = game.initial_state("rules")

    def grow(state: herbrand.State) -> None:
        for _ in range(1000):
            state = state.next(["go"])

    with pytest.raises(BudgetExceeded, match="nested"):
        grow(state)


def test_budget_of_seconds_and_atoms() -> None:
    """A join without end stops at the time limit, a flood of answers at the atoms limit."""
    digits = " ".join(f"(d {i})" for i in range(60))
    body = " ".join(f"(d ?x{i})" for i in range(8))
    rules = (
        f"{PRELUDE} {digits} (<= (legal r (m {' '.join(f'?x{i}' for i in range(8))})) {body} (true (s 0)))"
    )
    with pytest.raises(BudgetExceeded, match="seconds"):
        herbrand.loads(rules, limits=Limits(seconds=0.5)).initial_state("rules").legal_moves("r")
    with pytest.raises(BudgetExceeded, match="atoms"):
        herbrand.loads(rules, limits=Limits(seconds=60, atoms=10_000)).initial_state("rules").legal_moves("r")


def test_engine_works_on_after_a_budget() -> None:
    """A question that ran out of budget leaves no half-filled table behind."""
    digits = " ".join(f"(d {i})" for i in range(300))
    game = herbrand.loads(
        f"{PRELUDE} {digits} (<= (big ?x ?y ?z) (d ?x) (d ?y) (d ?z) (true (s 0)))"
        "(<= (link ?x ?y) (d ?x) (d ?y) (true (s 0))) (<= (link ?x ?z) (link ?x ?y) (big ?y ?z ?w))",
        limits=Limits(seconds=20, atoms=50_000),
    )
    state = game.initial_state()
    with pytest.raises(BudgetExceeded):
        state.ask("(link 1 ?x)")
    assert state.ask("(true (s ?x))") == [{"x": "0"}]
    assert [str(m) for m in state.legal_moves("r")] == ["go"]


def test_not_stratified_is_refused() -> None:
    """A rule that depends on its own negation has no meaning: the game does not start."""
    game = herbrand.loads(PRELUDE + "(q a) (<= (p ?x) (q ?x) (not (p ?x))) (<= terminal (p a))")
    with pytest.raises(GameError):
        game.initial_state()


@pytest.mark.slow_except("nim", "hanoi", "rockPaperScissors", "connectFour", "kuhn", "ticTacToe", "montyHall")
@pytest.mark.parametrize(
    "name",
    [
        "ticTacToe",
        "nim",
        "rockPaperScissors",
        "prisonersDilemma",
        "hanoi",
        "connectFour",
        "montyHall",
        "kuhn",
    ],
)
def test_agrees_with_the_definition(name: str) -> None:
    """On bundled games the evaluator gives the answers of the naive perfect model."""
    report = verify_playouts(herbrand.load(name), playouts=2, seed=7, max_steps=4)
    assert report.ok, report.difference
    assert report.states > 2


def test_planning_a_huge_rule_ends_at_the_budget() -> None:
    """Ordering thousands of joined conditions is work like any other: it stops at the limit."""
    chain = " ".join(f"(e ?x{i} ?x{i + 1})" for i in range(1500))
    game = herbrand.loads(f"{PRELUDE} {FACTS} (<= (p ?x0) {chain})", limits=Limits(seconds=0.1))
    with pytest.raises(BudgetExceeded, match="seconds"):
        game.initial_state("rules").ask("(p ?x)")


def test_what_is_frequent_is_asked_for_late(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Most squares are blank: a rule goes through its few pieces, and looks then whether a square is blank."""
    squares = " ".join(f"(init (cell {i} b))" for i in range(30)) + "".join(
        f"(init (cell {i} p{i}))" for i in range(30, 40)
    )
    source = tmp_path / "pieces.kif"
    source.write_text(
        f"{squares} (init (piece 35)) (init (piece 36)) (init (piece 37)) (succ 35 1) (succ 36 2) (succ 37 3)"
        "(role r) (legal r stay) (<= (reach ?x) (true (piece ?p)) (succ ?p ?x))"
        "(<= (next (moved ?x)) (true (cell ?x b)) (reach ?x)) (goal r 0) (<= terminal (true (cell 1 p)))"
    )
    monkeypatch.setenv("HERBRAND_DUMP", str(tmp_path / "code"))
    state = herbrand.load(source).initial_state(engine="rules")
    assert state.next(["stay"]).facts == {"(moved 1)", "(moved 2)", "(moved 3)"}
    written = sorted((tmp_path / "code").iterdir())
    assert [file.name for file in written[:1]] == ["pieces.kif.rules1.py"]
    text = "".join(file.read_text() for file in written)
    rule = text[text.index("# (<= (next (moved ?x))") :].split("# ")[1]
    assert "for x_0 in p" in rule
