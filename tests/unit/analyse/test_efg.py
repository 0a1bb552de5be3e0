"""The extensive form as a text that Gambit and OpenSpiel read."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

import herbrand
from herbrand.analyse.knowledge.efg import write
from herbrand.cli.main import cli
from herbrand.errors import BudgetExceeded, GameError

COINS = """EFG 2 R "coinMatching" { "even" "odd" }
""

p "" 1 1 "" { "(lay heads)" "(lay tails)" } 0
p "" 2 1 "" { "(lay heads)" "(lay tails)" } 0
t "" 1 "" { 100 0 }
t "" 2 "" { 0 100 }
p "" 2 1 "" { "(lay heads)" "(lay tails)" } 0
t "" 2 "" { 0 100 }
t "" 3 "" { 60 40 }
"""


def test_a_tree_line_by_line():
    """Odd does not know what even laid: its two nodes are in one information set."""
    assert write(herbrand.load("coinMatching")) == COINS
    outcome = CliRunner().invoke(cli, ["convert", "coinMatching", "--to", "efg"], catch_exceptions=False)
    assert outcome.stdout == COINS


def test_chance_and_moves_at_once():
    """Monty Hall: nine beginnings of a third each; the candidate never sees where the car was hidden."""
    lines = write(herbrand.load("montyHall")).splitlines()[3:]
    assert lines[0] == 'c "" 1 "" { "(hide 1)" 1/3 "(hide 2)" 1/3 "(hide 3)" 1/3 } 0'
    assert lines[1] == 'p "" 1 1 "" { "(choose 1)" "(choose 2)" "(choose 3)" } 0'
    assert sum(line.startswith("t") for line in lines) == 24
    assert len({line for line in lines if line.startswith("p")}) == 7


@pytest.mark.parametrize(
    ("name", "value"), [("kuhn", 875 / 18), ("coinMatching", 37.5), ("liarsDice", 500 / 9)]
)
def test_openspiel_finds_the_same_values(name, value):
    """Regret minimisation of OpenSpiel on the written tree comes to the value that `solve` proves."""
    pyspiel = pytest.importorskip("pyspiel")
    game = pyspiel.load_efg_game(write(herbrand.load(name)))
    solver = pyspiel.CFRPlusSolver(game)
    for _ in range(300):
        solver.evaluate_and_update_policy()
    found = pyspiel.expected_returns(game.new_initial_state(), solver.average_policy(), -1, True)
    assert found[0] == pytest.approx(value, abs=0.2)
    assert found[0] + found[1] == pytest.approx(100)


def test_what_is_too_large_or_wrong_is_refused():
    """Budgets and games that cannot be played raise what they should."""
    with pytest.raises(BudgetExceeded, match="50 nodes"):
        write(herbrand.load("leduc"), nodes=50)
    with pytest.raises(GameError, match="cannot know its legal moves"):
        write(
            herbrand.loads("""(role a) (role random) (init (step 0)) (sees a x) (goal a 0)
            (<= (legal random (put ?n)) (true (step 0)) (num ?n)) (num 1) (num 2)
            (<= (legal random wait) (true (step 1))) (<= (legal a wait) (true (step 0)))
            (<= (legal a (take ?n)) (true (lies ?m)) (num ?n)) (<= (legal a (only ?n)) (true (lies ?n)))
            (<= (next (lies ?n)) (does random (put ?n))) (<= (next (step 1)) (true (step 0)))
            (<= (next over) (true (step 1))) (<= terminal (true over))""")
        )
