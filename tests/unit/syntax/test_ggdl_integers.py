"""Arithmetic of GGDL: exact in conditions, bounded where its result is assigned."""

from __future__ import annotations

from itertools import product

import pytest

import herbrand
from herbrand.syntax.ggdl import relax

PAIR = """
role a
data pts := 0 .. 5
base x = pts
base y = pts
init ( x := 0; y := 0 )
a -> put(?i:pts, ?j:pts) ==> ( x = ?i; y = ?j )
{rules}
terminal :- {condition}
a $= 100 :- {condition}
a $= 0 :- not ({condition})
"""

CONDITIONS = [
    ("x + y >= 8", lambda x, y: x + y >= 8),
    ("x + y > 6 and y < 5", lambda x, y: x + y > 6 and y < 5),
    ("x * y == 20", lambda x, y: x * y == 20),
    ("x - y < 0 - 3", lambda x, y: x - y < -3),
    ("(x + y) * 2 >= 3 * (y + 2)", lambda x, y: (x + y) * 2 >= 3 * (y + 2)),
    ("x + y + x > 12 or x * x == y + y + 8", lambda x, y: x + y + x > 12 or x * x == y + y + 8),
    ("x + y # 9 and x * y # 0", lambda x, y: x + y != 9 and x * y != 0),
    ("not (x + y <= 7) and not (y * y < 16)", lambda x, y: x + y > 7 and y * y >= 16),
    ("Total(?t) and ?t * 2 > 15", lambda x, y: (x + y) * 2 > 15),
    ("not Large(_)", lambda x, y: not x * y >= 10),
]


@pytest.mark.parametrize(("condition", "meaning"), CONDITIONS, ids=[text for text, _ in CONDITIONS])
def test_sums_in_conditions_may_leave_the_integers_of_the_game(condition, meaning):
    """`x + y >= 8` holds for 4 and 4, though no fluent is ever 8: at the end, in goals and in relations."""
    rules = "Total(?t) :- ?t == x + y" if "Total" in condition else ""
    rules += "Large(?p) :- ?p == x * y and ?p >= 10" if "Large" in condition else ""
    game = herbrand.loads(PAIR.format(rules=rules, condition=condition), name="pair")
    assert not game.rules.diagnostics
    first = game.initial_state()
    for x, y in product(range(6), repeat=2):
        if first.is_terminal:
            break
        state = first.next([f"(put {x} {y})"])
        assert state.is_terminal == meaning(x, y), (x, y)
        assert state.goals == {"a": 100 if meaning(x, y) else 0}


def test_an_assigned_sum_that_leaves_the_integers_is_not_assigned():
    """A condition needs 4 + 2, but the effect that adds as much still does nothing, and says so."""
    text = """
    role a
    data pts := 0 .. 5
    base x = pts
    init x := 4
    a -> up ==> x = x + 2
    a -> down ==> x = x - 1
    terminal :- x + 2 == 3
    a $= 100 :- x + 2 > 5
    a $= 0 :- x + 2 <= 5
    """
    game = herbrand.loads(text, name="up")
    assert [d.check for d in game.rules.diagnostics] == ["integer-range", "integer-range"]
    state = game.initial_state()
    assert state.goals == {"a": 100}
    assert state.next(["up"]).facts == state.facts
    three = state.next(["down"])
    assert {str(fact) for fact in three.next(["up"]).facts} == {"(x 5)"}
    assert three.goals == {"a": 0}


def test_arithmetic_that_grows_without_end_is_an_error(monkeypatch):
    """`Count(?n + 1) :- Count(?n)` has no last number."""
    monkeypatch.setattr(relax, "MAX_FACTS", 20_000)
    text = """
    role a
    init x := 1
    a -> wait ==> x = 1
    Count(0)
    Count(?n + 1) :- Count(?n)
    terminal :- Count(?n) and ?n > 7
    a $= 50
    """
    game = herbrand.loads(text, name="endless")
    assert any("grow without bound" in d.message for d in game.rules.errors)
