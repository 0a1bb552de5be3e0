"""Sheets of the collection of which one of two roles can force a win: listing their states says so, too."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import herbrand
from herbrand.analyse.budget import Budget
from herbrand.analyse.exploration.by_states import strong_of
from herbrand.analyse.exploration.explore import explore
from herbrand.analyse.proofs.determined import prove_determined

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.corpus

SMALL = 12_000
"""Bytes of a sheet."""


def test_who_can_force_a_win_is_one_of_the_two(corpus_dir: Path) -> None:
    """In each sheet with few states that is shown to be determined."""
    winners: dict[str, list[str]] = {}
    for sheet in sorted((corpus_dir / "rulesheets").glob("*.kif")):
        game = herbrand.load(sheet)
        if sheet.stat().st_size > SMALL or len(game.players) != 2:
            continue
        try:
            game.network_within(5.0)
            space = explore(game.expander, budget=Budget(5, states=20_000))
        except herbrand.BudgetExceeded:
            continue
        if space.complete and prove_determined(game, Budget(5)) is not None:
            answers = (strong_of(space, role, 100).answer for role in range(2))
            winners[game.name] = [r for r, a in zip(game.roles, answers, strict=True) if a == "proved"]
    assert {"nim1", "nim2", "tictactoe-init1"} <= winners.keys()
    assert all(len(roles) == 1 for roles in winners.values()), winners
