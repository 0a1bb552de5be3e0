"""Verdicts and budgets as data."""

import json

import pytest

from herbrand.analyse.budget import Budget
from herbrand.analyse.verdict import Verdict, Witness


def test_a_refuted_verdict_shows_its_witness_as_a_list_of_joint_moves() -> None:
    """The JSON has the promised keys, and the witness can be given to `herbrand show`."""
    witness = Witness((("(mark 1 1)", "noop"), ("noop", "(mark 2 2)")), role="xplayer", shortest=True)
    verdict = Verdict("refuted", "exploration", "xplayer has no legal move", witness, checked=True)
    shape = json.loads(json.dumps(verdict.as_json()))
    assert shape["verdict"] == "refuted"
    assert shape["method"] == "exploration"
    assert shape["witness"] == [["(mark 1 1)", "noop"], ["noop", "(mark 2 2)"]]
    assert shape["role"] == "xplayer"
    assert witness.as_command("game.kif") == (
        'herbrand show game.kif --moves "(mark 1 1), noop; noop, (mark 2 2)"'
    )


def test_unknown_says_why_and_has_no_witness() -> None:
    """An unknown verdict is not decided, and keeps what it was told about the bound."""
    verdict = Verdict.unknown("60 seconds were spent", depth=12)
    assert not verdict.is_known
    assert verdict.as_json()["witness"] is None
    assert verdict.as_json()["depth"] == 12


def test_results_by_role_stand_inside() -> None:
    """Verdicts of roles are nested in the JSON of the property."""
    inner = Verdict("proved", "exploration", "xplayer can win", Witness((("a",),)))
    shape = Verdict("proved", "exploration", roles={"xplayer": inner}).as_json()
    assert shape["roles"]["xplayer"]["witness"] == [["a"]]


def test_a_share_of_a_budget_is_a_part_of_what_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    """Half of what is left after 4 of 10 seconds is 3 seconds, from now."""
    monkeypatch.setattr("time.monotonic", lambda: 104.0)
    budget = Budget(seconds=10.0, started=100.0)
    assert (budget.left, budget.elapsed) == (6.0, 4.0)
    share = budget.share(0.5)
    assert (share.seconds, share.left, share.elapsed) == (3.0, 3.0, 0.0)
