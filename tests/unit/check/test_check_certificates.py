"""The finite-state certificate and the step counter: what they find, and what they must not claim."""

from __future__ import annotations

import pytest

import herbrand
from herbrand.check.finite import FiniteCertificate, finite_certificate
from herbrand.check.step_counter import StepCounter, step_counter
from herbrand.syntax import read


def finite(text: str) -> FiniteCertificate:
    return finite_certificate(read(text, "prefix").statements)


def counter(text: str) -> StepCounter | None:
    return step_counter(read(text, "prefix").statements)


GROWING = {
    "a successor": "(init (n z)) (<= (next (n (s ?x))) (true (n ?x)))",
    "whole facts wrapped by a helper": (
        "(init a) (<= (keep ?p) (true ?p)) (<= (next (wrap ?p)) (keep ?p)) (<= (next ?p) (true ?p))"
    ),
    "whole facts wrapped at once": "(init a) (<= (next (wrap ?p)) (true ?p))",
    "moves remembered inside of moves": (
        "(init (last a)) (<= (legal r (again ?m)) (true (last ?m))) (<= (next (last ?m)) (does r ?m))"
    ),
    "a list of moves": (
        "(init (list nil)) (legal r a) (<= (next (list (cons ?m ?l))) (does r ?m) (true (list ?l)))"
    ),
    "one alternative of two": (
        "(init (p a)) (small a) (<= (h ?x) (or (small ?x) (true (p ?x)))) (<= (next (p (f ?x))) (h ?x))"
    ),
    "growth in turns through two propositions": (
        "(init (a z)) (<= (next (b (f ?x))) (true (a ?x))) (<= (next (a ?x)) (true (b ?x)))"
    ),
    "growth in the second argument": "(init (p a b)) (<= (next (p ?x (g ?y ?x))) (true (p ?x ?y)))",
    "a static relation": "(nat z) (<= (nat (s ?x)) (nat ?x))",
    "a whole fact or a term from elsewhere": (
        "(init (p a)) (<= (next (did ?m)) (or (does r ?m) (h ?m))) (<= (h (f ?x)) (true (did ?x)))"
    ),
    "a variable that nothing binds": "(<= (next (p ?x)) (true q))",
    "a fact with a variable": "(init (p ?x))",
}


@pytest.mark.parametrize("text", GROWING.values(), ids=GROWING)
def test_growing_terms_get_no_certificate(text: str) -> None:
    """The certificate is sound: these have infinitely many terms."""
    certificate = finite(text)
    assert not certificate
    assert certificate.culprit is not None
    assert certificate.culprit[0] in read(text, "prefix").statements


FINITE = {
    "no functions": "(init p) (<= (next q) (true p))",
    "a board": (
        "(init (cell 1 1 b)) (<= (next (cell ?x ?y x)) (does r (mark ?x ?y)))"
        " (<= (legal r (mark ?x ?y)) (true (cell ?x ?y b))) (<= (next ?p) (true ?p) (not terminal))"
    ),
    "moves through a helper": (
        "(init (at a)) (<= (legal r ?m) (possible ?m)) (<= (possible (go ?x)) (true (at ?x)))"
        " (<= (next (at ?x)) (chosen (go ?x))) (<= (chosen ?m) (does r ?m))"
    ),
    "a counter with successor facts": "(succ 1 2) (init (n 1)) (<= (next (n ?y)) (true (n ?x)) (succ ?x ?y))",
    "wrapped and unwrapped": (
        "(init (a z)) (<= (next (b (f ?x))) (true (a ?x))) (<= (next (a ?x)) (true (b (f ?x))))"
    ),
    "a role chosen by a constant move": (
        "(role r) (<= (legal ?r noop) (role ?r)) (<= (next (control ?r)) (does ?r noop))"
    ),
    "growth of what is never true": "(init (m a)) (<= (next (n (s ?x))) (true (n ?x)))",
    "growth of what is never nested so deep": (
        "(init (n a)) (<= (next (n (s (s (s ?x))))) (true (n (f (f ?x)))))"
    ),
    "conjunctions in a disjunction": (
        "(succ 1 2) (init (n 1))"
        " (<= (next (n ?y)) (true (n ?x)) (or (and (succ ?x ?y) (not p)) (and (succ ?y ?x) p)))"
    ),
    "growth that a static relation limits": (
        "(init (p a)) (shape (f (f a))) (<= (next (p (f ?x))) (true (p ?x)) (shape (f ?x)))"
    ),
}


@pytest.mark.parametrize("text", FINITE.values(), ids=FINITE)
def test_games_that_pass_terms_around_get_it(text: str) -> None:
    """What does not build terms in a cycle has finitely many states."""
    assert finite(text), str(finite(text))


def test_depths_bound_the_terms() -> None:
    """The certificate says how deep terms are where they are deeper than constants."""
    certificate = finite("(init (at (pos 1 (row 2)))) (<= (next (was ?p)) (true (at ?p)))")
    assert certificate.depths == {"true (at/1) argument 1": 2, "true (was/1) argument 1": 2}
    assert str(certificate) == "finitely many states: no term is nested deeper than 2"


COUNTER = """
(role a) (role b) (init (step 1)) (succ 1 2) (succ 2 3) (succ 3 4)
(<= (legal ?r wait) (role ?r)) (goal a 100)
"""
STEP = "(<= (next (step ?y)) (true (step ?x)) (succ ?x ?y))"
END = "(<= terminal (true (step 4)))"


@pytest.mark.parametrize(
    ("rules", "bound"),
    [
        (STEP + END, 3),
        (STEP + "(<= terminal (true (step 2)) (true (step 3)))" + END, 3),
        (STEP.replace("(succ", "(not terminal) (succ") + END, 3),
        (STEP.replace("(succ", "(does ?r ?m) (role ?r) (succ") + END, 3),
        (STEP.replace("(succ", "(does b ?m) (succ") + END, 3),
        (STEP + "(<= (next (step 1)) (does a go))" + END, 3),
        (STEP + "(<= late (true (step ?x)) (last ?x)) (last 4) (<= terminal (or won late)) (<= terminal late)", 3),
        ("(<= (next (step ?y)) (true (step ?x)) (plus ?x ?y)) (<= (plus ?x ?y) (succ ?x ?y))" + END, 3),
        (
            """
            (init (digits 1 1)) (<= (next (digits ?t ?y)) (true (digits ?t ?x)) (succ ?x ?y))
            (<= (next (digits ?u 1)) (true (digits ?t 4)) (succ ?t ?u))
            (<= terminal (true (digits 2 2)))
            """,
            5,
        ),
        (
            "(<= (next (step ?y)) (true (step ?x)) (plus ?x ?y)) (last 4)"
            "(<= (plus ?x ?y) (succ ?x ?y) (distinct ?x ?y) (not (last ?x)))" + END,
            3,
        ),
        ("(<= terminal (true (step 1)))", 0),
        ("(next (late 1)) (<= terminal (true (late 1)) (true (step ?x)))" + STEP, 1),
        (STEP + "(<= terminal (true (step ?x)) (distinct ?x 1) (distinct ?x 2))", 2),
        (STEP + "(early 1) (early 2) (<= terminal (true (step ?x)) (not (early ?x)))", 2),
        (
            """
            (init (at (p 1 (q a)))) (<= (next (at (p ?y ?z))) (true (at (p ?x ?z))) (succ ?x ?y))
            (<= terminal (true (at (p 1)))) (<= terminal (true (at 4))) (<= terminal (true (at (p 3 (q a)))))
            """,
            2,
        ),
        (
            STEP
            + """
            (<= (reach 1 ?x) (true (step ?x))) (<= (reach ?a ?y) (reach ?a ?x) (edge ?x ?y))
            (edge 2 5) (edge 5 6) (<= terminal (reach 1 6))
            """,
            1,
        ),
    ],
)  # fmt: skip
def test_step_counters_are_found(rules: str, bound: int) -> None:
    """The bound is the first step in which `terminal` is certain."""
    found = counter(COUNTER + rules)
    assert found is not None
    assert found.bound == bound
    assert f"at most {bound} steps" in str(found)


@pytest.mark.parametrize(
    "rules",
    [
        STEP,
        STEP + "(<= terminal (true (step 5)))",
        STEP.replace("(succ", "(does a go) (succ") + END,
        STEP.replace("(succ", "(true open) (succ") + END,
        STEP.replace("(succ", "(not (true stop)) (succ") + END,
        STEP + "(<= terminal (true (step 4)) (true won))",
        STEP + "(<= terminal (true (step 4)) (not (true going)))",
        STEP.replace("(succ", "(does nobody ?m) (succ") + END,
        "(<= (next (step ?x)) (true (step ?x)))" + END,
        "(succ 3 1) " + STEP + "(<= terminal (true (step 9)))",
        "(<= (next ?f) (true ?f)) (<= terminal (true (step 1)) (true ?f))",
        STEP.replace("(succ", "(legal a wait) (succ") + END,
        STEP.replace("(succ", "(or (succ 1 1) (succ 2 2)) (succ") + END,
        "(<= (next (step ?y)) (true (step 1)))" + END,
    ],
)
def test_uncertain_counters_are_not_claimed(rules: str) -> None:
    """A counter that a move or another proposition can stop proves nothing here."""
    assert counter(COUNTER + rules) is None


def test_a_counter_that_doubles_is_given_up() -> None:
    """Its term grows twofold with each step: hashing it would soon take for ever."""
    tree = read("(role a) (init (s 0)) (<= (next (s (f ?x ?x))) (true (s ?x))) (<= terminal (true (s 9)))")
    assert step_counter(tree.statements) is None


def test_a_search_for_a_counter_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """A text without roles has no steps; one that takes too much work is given up."""
    assert counter((COUNTER + STEP + END).replace("(role a) (role b)", "")) is None
    monkeypatch.setattr("herbrand.check.step_counter.WORK", 3)
    assert counter(COUNTER + STEP + END) is None


def test_a_certificate_that_does_not_hold_names_the_rule() -> None:
    """If there is one."""
    growing = "(<= (next (n (s ?x))) (true (n ?x)))"
    text = "not known to have finitely many states"
    assert str(finite(f"(init (n z)) {growing}")) == f"{text}: terms may grow through {growing}"
    assert str(FiniteCertificate(holds=False)) == text


def test_a_rule_with_too_many_instances_gets_no_certificate() -> None:
    """Each variable for a whole fluent stands for every function symbol."""
    facts = " ".join(f"(init (f{n} a))" for n in range(30))
    body = " ".join(f"(true ?{name}) (keep ?{name})" for name in "abcd")
    certificate = finite(f"{facts} (<= (keep ?p) (true ?p)) (<= (next (f0 ?a)) {body})")
    assert not certificate
    assert "(next (f0 ?a))" in str(certificate)


def test_bounds_hold_in_play() -> None:
    """No random play of a bundled game is longer than its bound, and some have one."""
    bounded = 0
    for name in ("nim", "hanoi", "eightPuzzle", "lightsOut"):
        game = herbrand.load(name)
        found = step_counter(game.tree.statements)
        if found is not None:
            bounded += 1
            assert game.simulate(5, seed=1).length["max"] <= found.bound
    assert bounded
