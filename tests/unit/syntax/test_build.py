"""Rules made in Python."""

from __future__ import annotations

import pytest
from tree_builder import both, distinct, either, f, fact, no, rule, sheet, v

from herbrand.syntax import read


def test_rules_made_in_python_are_those_read_from_text():
    """Numbers and texts are constants, whatever their case; iterables of rules are taken in order."""
    made = sheet(
        fact(f("role", "White")),
        (fact(f("index", n)) for n in (1, 2)),
        rule("p", no("q"), either("r", both("s", f("t", v.X))), distinct(v.X, 3)),
    )
    text = "(role White) (index 1) (index 2) (<= p (not q) (or r (and s (t ?X))) (distinct ?X 3))"
    assert made.statements == read(text, "prefix").statements


def test_a_head_is_an_atom_and_a_condition_no_variable():
    """Anything else is a mistake of the caller."""
    with pytest.raises(TypeError, match="the head of a rule is an atom"):
        rule(no("p"), "q")
    with pytest.raises(TypeError, match=r"a variable is not a literal: \?x"):
        rule("p", v.x)
