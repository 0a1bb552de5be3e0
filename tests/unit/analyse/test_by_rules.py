"""Random play by the rules, where no network is built."""

from __future__ import annotations

import pytest

import herbrand
from herbrand.analyse import Budget, analyse
from herbrand.analyse.exploration.by_rules import play_by_rules
from herbrand.analyse.exploration.replay import holds

FAULTY = """
(role a) (role b) (init (at 0)) (succ 0 1) (succ 1 2)
(<= (legal a ?m) (move ?m)) (move stay) (move on)
(<= (legal b wait) (not (true (at 2))))
(<= (legal b wait) (true (at 2)) (true tired))
(<= (next (at ?n)) (true (at ?n)) (does a stay))
(<= (next (at ?n)) (true (at ?m)) (succ ?m ?n) (does a on))
(<= (next tired) (true (at 1)) (does a stay))
(<= (next tired) (true tired))
(<= terminal (true (at 2)) (true tired))
(goal a 100)
(<= (goal b 0) (not (true tired)))
"""


def test_every_kind_of_line_is_found_and_holds() -> None:
    """Wins, recurring states, stuck roles and ends without goal values are found, and the rules agree."""
    game = herbrand.loads(FAULTY)
    game.forgo_network("nothing")
    found = play_by_rules(game, ["termination", "playability", "goals"], [0, 1], 100, 20.0)
    claims = {"termination": "cycle", "playability": "stuck", "goals": "no goal"}
    assert set(found.refutations) == set(claims)
    for name, claim in claims.items():
        assert holds(game, claim, found.refutations[name]), name
    assert found.refutations["playability"].role == found.refutations["goals"].role == "b"
    assert found.wins.keys() == {0}
    assert holds(game, "win", found.wins[0])


def test_a_game_without_a_network_is_won() -> None:
    """What random play shows is part of the analysis; what it does not show stays open."""
    game = herbrand.game.load("ticTacToe")
    game.forgo_network("nothing")
    analysis = analyse(game, ["weak_winnability", "goals"], budget=Budget(2.0))
    won = analysis.properties["weak_winnability"]
    assert won.answer == "proved"
    assert won.method == "random play"
    assert all(inner.checked and inner.witness is not None for inner in won.roles.values())
    assert analysis.properties["goals"].answer == "unknown"
    assert any("random games by the rules" in note for note in analysis.notes)


@pytest.mark.parametrize("wanted", [["weak_winnability"], ["termination"], []])
def test_play_ends_when_all_was_found_or_the_time_is_up(wanted: list[str]) -> None:
    """Nothing is claimed of games that do not end."""
    game = herbrand.loads("(role a) (init x) (legal a m) (next x) (<= terminal (true y)) (goal a 0)")
    found = play_by_rules(game, wanted, [0], 100, 0.2)
    assert not found.wins
    assert ("termination" in found.refutations) == bool(wanted)
