"""The normal form of rules: equalities are solved, constants folded, disjunctions of equalities split."""

from __future__ import annotations

import pytest

from herbrand.check.normal import normalise
from herbrand.errors import GameError
from herbrand.syntax import read

FORMS = [
    ("(p a) (p a)", "(p a)"),
    ("(<= (p ?x) (q ?x) (not (not (r ?x))))", "(<= (p ?x) (q ?x) (r ?x))"),
    ("(<= (p ?x) (q ?x) (not (distinct ?x (f ?y))))", "(<= (p (f ?y)) (q (f ?y)))"),
    ("(<= (p ?x) (q ?x) (not (distinct (g ?x) (f ?y))))", ""),
    ("(<= (p ?x) (q ?x) (distinct ?x ?x))", ""),
    ("(<= (p ?x) (q ?x) (distinct a b))", "(<= (p ?x) (q ?x))"),
    ("(<= (p ?x) (q ?x) (or (r ?x) (distinct a b)))", "(<= (p ?x) (q ?x))"),
    ("(<= (p ?x) (q ?x) (or (r ?x) (distinct a a) (r ?x)))", "(<= (p ?x) (q ?x) (r ?x))"),
    ("(<= (p ?x) (q ?x) (not (or (r ?x) (not (s ?x)))))", "(<= (p ?x) (q ?x) (not (r ?x)) (s ?x))"),
    ("(<= (p ?x) (q ?x) (or (r ?x) (or (s ?x) (t ?x))))", "(<= (p ?x) (q ?x) (or (r ?x) (s ?x) (t ?x)))"),
    ("(<= (p ?x) (q ?x) (or (not (distinct ?x 1)) (r ?x)))", "(<= (p 1) (q 1)) (<= (p ?x) (q ?x) (r ?x))"),
    (
        "(<= (p ?x) (q ?x) (or (and (not (distinct ?x 1)) (r ?x)) (s ?x)))",
        "(<= (p 1) (q 1) (r 1)) (<= (p ?x) (q ?x) (s ?x))",
    ),
    (
        "(<= (p ?x) (q ?x) (not (and (distinct ?x 1) (distinct ?x 2))))",
        "(<= (p 1) (q 1)) (<= (p 2) (q 2))",
    ),
    ("(<= (p ?x) (q ?x) (not (distinct ?x (f ?x))))", ""),
    ("(<= (p ?x ?y) (q ?x ?y) (not (distinct (f ?x b) (f a ?y))))", "(<= (p a b) (q a b))"),
]
"""Rules, and their normal form."""


@pytest.mark.parametrize(("rules", "form"), FORMS)
def test_rules_are_brought_into_normal_form(rules: str, form: str) -> None:
    """Every rule of the form has its source."""
    found = normalise(read(rules, "prefix").statements)
    assert " ".join(map(str, found.rules)) == form
    assert len(found.origins) == len(found.rules)


def test_a_rule_that_splits_into_too_many_is_refused() -> None:
    """Two alternatives in each of twenty disjunctions are a million rules."""
    choices = " ".join(f"(or (not (distinct ?x{n} 1)) (q ?x{n}))" for n in range(20))
    with pytest.raises(GameError, match="splits into 1048576 rules"):
        normalise(read(f"(<= p {choices})", "prefix").statements)
