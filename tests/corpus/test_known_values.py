"""Sheets of the collection whose numbers of states, values and shortest plans are known from other programs."""

from __future__ import annotations

import re
from functools import reduce
from operator import xor
from typing import TYPE_CHECKING

import pytest

import herbrand
from herbrand.analyse.budget import Budget
from herbrand.analyse.exploration.explore import explore
from herbrand.analyse.solving.plan import find_plan
from herbrand.analyse.solving.solve import solve_space

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.corpus

STATES = {"nim1": 344, "nim2": 2162, "ticTacToe": 5478, "hanoi": 2753}


def load(corpus: Path, name: str) -> herbrand.Game:
    """A sheet of the collection."""
    return herbrand.load(corpus / "rulesheets" / f"{name}.kif")


@pytest.mark.parametrize("name", ["nim1", "nim2", "nim3", "nim4"])
def test_nim_is_won_by_the_nim_sum(corpus_dir: Path, name: str) -> None:
    """The first player wins if the heaps, as binary numbers, do not cancel out (Bouton 1901)."""
    game = load(corpus_dir, name)
    heaps = [int(n) for n in re.findall(r"\(heap \w+ (\d+)\)", " ".join(game.initial_state().facts))]
    assert len(heaps) == 4
    space = explore(game.expander)
    solution = solve_space(space, Budget())
    assert len(space.states) == STATES.get(name, len(space.states))
    assert solution.value is not None
    first = 100 if reduce(xor, heaps) else 0
    assert list(solution.value.values()) == [first, 100 - first]


@pytest.mark.parametrize("name", ["ticTacToe", "hanoi"])
def test_states_of_other_sheets(corpus_dir: Path, name: str) -> None:
    """As many states as were counted elsewhere."""
    assert len(explore(load(corpus_dir, name).expander).states) == STATES[name]


def test_connect_four_ply_by_ply(corpus_dir: Path) -> None:
    """The sheet is 8 wide and 6 high."""
    game = load(corpus_dir, "connectFour")
    space = explore(game.expander, budget=Budget(120, states=45_000), edges=False)
    assert space.profile[:7] == [1, 8, 64, 344, 1800, 7456, 31368]


@pytest.mark.parametrize(("name", "steps"), [("lightsOut", 9), ("hanoi", 31)])
def test_shortest_plans(corpus_dir: Path, name: str, steps: int) -> None:
    """Nine presses put out the lights; five discs take 31 moves."""
    plan = find_plan(load(corpus_dir, name), budget=Budget(400))
    assert plan.moves is not None
    assert (len(plan.moves), plan.shortest) == (steps, True)
