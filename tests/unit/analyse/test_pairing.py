"""Strong winnability refuted by opponents who take the other one of a pair."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import corrupted
import pytest

import herbrand
from herbrand.analyse.budget import Budget
from herbrand.analyse.exploration.by_states import strong_of
from herbrand.analyse.exploration.explore import explore
from herbrand.analyse.proofs.pairing import refute_by_pairs
from herbrand.analyse.proofs.prove import analyse
from herbrand.analyse.proofs.restricted import RestrictedPlay

if TYPE_CHECKING:
    from collections.abc import Sequence


def game_of(places: int, *rows: Sequence[str]) -> herbrand.Game:
    """Return the game in which who has all places of a row first wins."""
    return herbrand.loads(corrupted.in_rows(places, *rows))


@pytest.mark.parametrize("rows", [("12", "34"), ("125", "345", "126"), ("123", "145", "246")])
def test_who_needs_both_of_a_pair_cannot_force_a_win(rows: tuple[str, ...]) -> None:
    """As listing the states says; the rules accept it, but not a reply to something else."""
    game = game_of(6, *rows)
    space = explore(game.expander)
    verdicts = dict(refute_by_pairs(game, [0, 1], Budget(30)))
    for role, name in enumerate(game.roles):
        assert strong_of(space, role, 100).answer == "refuted"
        certificate = verdicts[role].certificate
        assert isinstance(certificate, RestrictedPlay)
        assert certificate.check(game, 30)
        replies = certificate.as_json()["replies"]
        assert list(replies) == [game.roles[1 - role]]
        assert all(when.startswith(f"(has {name} ") for when, _ in replies[game.roles[1 - role]])
        first, *others = certificate.preferences
        for wrong in (
            replace(first, move="(take 6)"),
            replace(first, when="(turn x)"),
            replace(first, role=name),
        ):
            assert not replace(certificate, preferences=(wrong, *others)).check(game, 30)


def test_nothing_is_said_where_no_choice_of_pairs_is_left() -> None:
    """Whoever begins takes the place that two rows share; all three of a triangle cannot be paired."""
    for rows in (("12", "23"), ("12", "23", "13")):
        game = game_of(4, *rows)
        assert strong_of(explore(game.expander), 0, 100).answer == "proved"
        assert not list(refute_by_pairs(game, [0, 1], Budget(30)))


def test_an_analysis_finds_it() -> None:
    """Five in a row on a board of 5 by 5, in a second or two."""
    cells = "abcdefghijklmnopqrstuvwxy"
    rows = [cells[n : n + 5] for n in range(0, 25, 5)]
    rows += ["".join(column) for column in zip(*rows, strict=True)]
    rows += [cells[::6], cells[4:24:4]]
    numbered = [[str(1 + cells.index(cell)) for cell in row] for row in rows]
    game = game_of(25, *numbered)
    result = analyse(game, ["strong_winnability"], budget=Budget(60, states=1000), values=False)
    verdict = result.properties["strong_winnability"]
    assert (verdict.answer, verdict.method, verdict.checked) == ("refuted", RestrictedPlay.kind, True)
    assert "both places of a pair" in verdict.roles["x"].reason
