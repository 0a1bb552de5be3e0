"""What is concluded from a crowd of requests: slow pages, wrong answers and too many processes are found."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from previews import crowd, summarise

REPORT: dict[str, Any] = {
    "home": {"pictures": [0.01, 0.29], "matches": [0.02]},
    "hello": [0.001, 0.4],
    "wrong_homes": 0,
    "pictures": {"answered": 60},
    "matches": {"answered": 10, "busy": 15},
    "children": 11,
}


def lost(report: dict[str, Any]) -> list[str]:
    """Everything that was lost in two rounds, of which the other went well."""
    return [failure for case in summarise([REPORT, report]) for failure in case.failures]


def test_a_crowd_that_was_served_lost_nothing() -> None:
    """To be told that the server is busy is no loss."""
    assert not lost(REPORT)
    assert [case.tried for case in summarise([REPORT, REPORT])] == [120, 4, 50, 2, 4, 11]


@pytest.mark.parametrize(
    ("key", "value", "failure"),
    [
        ("home", {"pictures": [0.01, 0.31], "matches": []}, "0.310 s"),
        ("wrong_homes", 1, "not the home page"),
        ("pictures", {"answered": 59, "status 500": 1}, "status 500"),
        ("children", 25, "25 processes"),
    ],
)
def test_what_goes_wrong_in_a_crowd_is_found(key: str, value: object, failure: str) -> None:
    """Each kind of loss, once."""
    assert lost({**copy.deepcopy(REPORT), key: value}) == [failure]


def test_a_small_crowd_is_served() -> None:
    """With the application itself: all pictures are drawn, and matches begin."""
    report = crowd(1, 1)
    assert report["pictures"] == {"answered": 1}
    assert report["matches"] == {"answered": 1}
    assert not report["wrong_homes"]
    assert 1 <= report["children"] <= 3
