"""What checks say, in the notation of the sheet, and where they look."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from herbrand.check import check
from herbrand.check.checks.base import Sheet
from herbrand.syntax import read

if TYPE_CHECKING:
    from herbrand.diagnostic import Diagnostic


def found(text: str, name: str) -> list[Diagnostic]:
    """The diagnostics of one check."""
    return [d for d in check(read(text, "prefix")).diagnostics if d.check == name]


@pytest.mark.parametrize(
    ("notation", "text", "written"),
    [
        ("prefix", "(role r)", ["f", "(f a)", "(f a b)"]),
        ("infix", "role(r).", ["f", "f(a)", "f(a, b)"]),
    ],
)
def test_names_are_applied_in_the_notation_of_the_sheet(notation: str, text: str, written: list[str]) -> None:
    """With arguments or without."""
    sheet = Sheet(read(text, notation))
    assert [sheet.apply("f", *args) for args in ((), ("a",), ("a", "b"))] == written


@pytest.mark.parametrize(
    "body", ["(true q)", "(does r m)", "(legal r m)", "(goal r 100)", "terminal", "(s a)"]
)
def test_the_initial_state_depends_on_nothing_that_changes(body: str) -> None:
    """Each keyword that depends on the state is reported under `init`, also through a relation."""
    assert found(f"(role r) (<= (init p) {body}) (<= (s a) (true q))", "dynamic-init")


def test_the_initial_state_may_depend_on_relations_that_never_change() -> None:
    """Static relations are no finding."""
    assert not found("(role r) (<= (init p) (s a)) (s a)", "dynamic-init")


def test_functions_are_compared_inside_of_distinct() -> None:
    """Both sides count as uses of their functions."""
    for sides in ("(f ?x) a", "a (f ?x)"):
        text = f"(role r) (init (p (f a b))) (<= (q ?x) (true (p ?x)) (distinct {sides}))"
        assert len(found(text, "function-arity")) == 1, sides


def test_up_to_three_unbound_variables_are_named() -> None:
    """One by its name, three with `and`."""
    one = found("(<= p (not (q ?x a)))", "unsafe-negation")
    assert one[0].message == "`?x` occurs only inside `not`"
    three = found("(<= p (not (q ?x ?y ?z)))", "unsafe-negation")
    assert three[0].message == "`?x` and `?y` and `?z` occur only inside `not`"


@pytest.mark.parametrize("text", ["", "; only a comment", "(role r", "(<= (legal r m) (((("])
def test_no_definition_is_missing_where_nothing_was_read(text: str) -> None:
    """Neither `base` nor `input` is missed in an empty sheet, or after an error that may have hidden them."""
    assert not found(text, "missing-base-or-input")
    assert found("(role r)", "missing-base-or-input")
