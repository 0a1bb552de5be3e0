"""Explanations: derivations of what holds, and the conditions that fail of what does not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import herbrand
from herbrand import GameError, InvalidMoveError

GOLDEN = Path(__file__).parents[2] / "golden" / "explanations.txt"
RULES = """
(role red) (role blue)
(init (cell 1 free)) (init (cell 2 free)) (init (cell 3 Stone)) (init (step 0))
(succ 0 1) (succ 1 2)
(<= (legal red (put ?x)) (true (cell ?x free)) (not (blocked ?x)))
(<= (legal blue wait))
(<= (blocked ?x) (true (cell ?x free)) (beside ?x ?y) (true (cell ?y Stone)) (distinct ?x ?y))
(<= (beside ?x ?y) (or (succ ?x ?y) (succ ?y ?x)))
(beside 2 3)
(<= (calm ?x) (true (cell ?x ?v)) (not (or (blocked ?x) (true (cell ?x Stone)))))
(<= (open ?r) (role ?r) (or (legal ?r (put 1)) (and (true (step 2)) (calm 3))))
(<= (ready ?r) (role ?r) (or (and (true (step 0)) (calm 1)) (legal ?r (put 2))))
(<= (other ?x ?y) (succ ?x ?z) (succ ?z ?y) (distinct ?x ?z) (distinct ?y 2))
(<= (reach ?x ?y) (succ ?x ?y))
(<= (reach ?x ?z) (reach ?x ?y) (reach ?y ?z))
(<= (next (cell ?x Stone)) (does red (put ?x)))
(<= (next (step ?y)) (true (step ?x)) (succ ?x ?y))
(<= (goal ?r 50) (role ?r))
(<= terminal (true (step 2)) (open red))
"""
QUERIES = (
    *(
        "(cell 1 free)",
        "(true (cell 1 free))",
        "(cell 1 stone)",
        "(true (cell 1 stone))",
        "(legal red (put 1))",
    ),
    *("(legal red (put 2))", "(legal red ?m)", "(open red)", "(open blue)", "(ready blue)", "(calm 3)"),
    *("(other 0 2)", "(reach 0 2)", "(reach 2 0)", "(reach ?x 0)", "terminal", "(beside 1 3)", "(succ 2 1)"),
    *("(blocked 1)", "(nothing 1)"),
)
AFTER_MOVES = ("(next (cell 1 stone))", "(next (cell 2 Stone))", "(does red (put 1))", "(does red (put 2))")


@pytest.fixture(scope="module")
def state() -> herbrand.State:
    return herbrand.loads(RULES).initial_state("rules")


def test_explanations_are_as_reviewed(state: herbrand.State, update: bool) -> None:
    """Each step has its reason and line: rules with `and`, `or`, `not` and `distinct`, facts, recursion, failures."""
    joint = ("(put 1)", "wait")
    answers = [(query, state.why(query)) for query in QUERIES]
    answers += [(query, state.why(query, joint)) for query in AFTER_MOVES]
    text = "\n".join(f"{query}? {'yes' if answer.holds else 'no'}\n{answer}\n" for query, answer in answers)
    if update:
        GOLDEN.write_text(text, encoding="utf-8")
    assert text == GOLDEN.read_text(encoding="utf-8")


def test_explanations_have_all_forms(state: herbrand.State) -> None:
    """JSON has the nodes that the text draws; HTML has its lines."""
    answer = state.why("(reach 0 2)")
    tree = json.loads(json.dumps(answer.as_json()))
    assert (tree["text"], tree["holds"], tree["reason"], tree["line"]) == ("(reach 0 2)", True, "by rule", 15)
    assert [child["text"] for child in tree["children"]] == ["(reach 0 1)", "(reach 1 2)"]
    html = answer._repr_html_()
    assert "(reach 0 2)   [by rule, line 15]" in html
    assert "fact, line 4" in html


def test_what_cannot_be_explained_is_refused(state: herbrand.State) -> None:
    """A variable is no atom, and what depends on moves needs them, also within a rule."""
    with pytest.raises(InvalidMoveError, match="`\\?x` is a variable"):
        state.why("?x")
    for query in ("(next (cell 1 stone))", "(does red ?m)"):
        with pytest.raises(GameError, match="a joint move is required"):
            state.why(query)
