"""What can become true and legal while GGDL is read: the least model, however it is computed."""

from __future__ import annotations

import random

import pytest

from herbrand.errors import BudgetExceeded
from herbrand.syntax import read
from herbrand.syntax.ggdl import relax as module
from herbrand.syntax.ggdl.relax import relax

RULES = """
(<= (path ?x ?y) (edge ?x ?y))
(<= (path ?x ?z) (path ?x ?y) (path ?y ?z))
(init (at a0))
(<= (legal walker (go ?x ?y)) (true (at ?x)) (path ?x ?y) (not (edge ?y ?x)) (not (true (at ?y))))
(<= (next (at ?y)) (does walker (go ?x ?y)))
(<= (next (seen ?x ?y)) (true (at ?x)) (does ?r (go ?x ?y)) (distinct ?x ?y))
(<= (next ?f) (true ?f) (does walker ?m))
(<= (next (met ?x)) (true (seen ?x ?y)) (true (seen ?y ?x)))
"""


@pytest.mark.parametrize("seed", range(12))
def test_the_least_model_is_found(seed):
    """Reachability by hand gives the same; a relation may be needed twice by one rule, or by itself."""
    chance = random.Random(seed)
    nodes = [f"a{i}" for i in range(7)]
    edges = {(chance.choice(nodes), chance.choice(nodes)) for _ in range(9)}
    text = " ".join(f"(edge {x} {y})" for x, y in sorted(edges)) + RULES
    wanted = [("true", name, arity) for name, arity in (("at", 1), ("seen", 2), ("met", 1))]
    model = relax(read(text, "prefix").statements, wanted, {}, None)
    path = set(edges)
    while more := {(x, w) for x, y in path for z, w in path if y == z} - path:
        path |= more
    at = {"a0"}
    while more := {y for x, y in path if x in at and (y, x) not in edges} - at:
        at |= more
    go = {(x, y) for x, y in path if x in at and (y, x) not in edges}
    seen = {(x, y) for x, y in go if x != y}
    assert model.rows(("", "path", 2)) == path
    assert model.fluents("at", 1) == {(x,) for x in at}
    assert model.actions("go", 2) == {("walker", x, y) for x, y in go}
    assert model.fluents("seen", 2) == seen
    assert model.fluents("met", 1) == {(x,) for x, y in seen if (y, x) in seen}


def test_terms_that_grow_for_ever_and_long_searches_end(monkeypatch):
    """Depth and steps are bounded."""
    grows = read("(init (n z)) (<= (next (n (s ?x))) (true (n ?x)))", "prefix").statements
    with pytest.raises(BudgetExceeded, match="grow without bound"):
        relax(grows, [("true", "n", 1)], {}, None)
    monkeypatch.setattr(module, "MAX_STEPS", 1000)
    text = " ".join(f"(d {i})" for i in range(40)) + "(<= (q ?a ?b ?c) (d ?a) (d ?b) (d ?c))"
    with pytest.raises(BudgetExceeded, match="too many steps"):
        relax(read(text, "prefix").statements, [("", "q", 3)], {}, None)
