"""Random games in which some moves are chosen more often than others."""

from __future__ import annotations

import math

import pytest

import herbrand
from herbrand.errors import InvalidMoveError

COIN = """
(role chooser) (role other)
(init begun)
(<= (legal chooser ?m) (weight ?m ?v))
(legal other noop)
(<= (next (took ?m)) (does chooser ?m))
(<= terminal (true (took ?m)))
(<= (goal chooser ?v) (true (took ?m)) (weight ?m ?v))
(goal other 0)
(weight a 10) (weight (b 1) 20) (weight c 70)
"""


@pytest.mark.parametrize("engine", ["network", "rules"])
@pytest.mark.parametrize("as_function", [False, True])
def test_moves_are_taken_in_proportion_to_their_weights(engine: str, as_function: bool) -> None:
    """The shares are those of the weights, within four standard errors."""
    table = {"Chooser": {"(B 1)": 2, "c": 5}}
    weights = (lambda role, move: table["Chooser"].get(move.replace("b", "B"), 1)) if as_function else table
    played = herbrand.loads(COIN).simulate(
        16_000 if engine == "network" else 4_000, seed=3, engine=engine, weights=weights
    )
    shares = played.goals["chooser"].distribution
    for value, weight in ((10, 1), (20, 2), (70, 5)):
        expected = weight / 8
        error = math.sqrt(expected * (1 - expected) / played.playouts)
        assert abs(shares[value] / played.playouts - expected) < 4 * error
    assert not played.branching


@pytest.mark.parametrize("game", ["hex", "connectFour", "kuhn", "tron"])
def test_equal_weights_change_nothing_but_the_luck(game: str) -> None:
    """With the same weight for all moves, games are as long and end as they do without."""
    loaded = herbrand.load(game)
    plain = loaded.simulate(4000, seed=1, engine="network")
    same = loaded.simulate(4000, seed=2, engine="network", weights=lambda _role, _move: 3)
    for one, other in [(plain.length_interval, same.length_interval)] + [
        (plain.goals[role].interval, same.goals[role].interval) for role in loaded.roles
    ]:
        if one is not None and other is not None:
            width = (one[1] - one[0]) + (other[1] - other[0]) + 1e-9
            assert abs(sum(one) - sum(other)) / 2 < 1.5 * width


def test_networks_and_rules_agree_on_a_policy() -> None:
    """Who prefers the middle column wins more often, and equally often by both engines."""
    game = herbrand.load("connectFour")
    prefer = {"red": {f"(drop {column})": 4 for column in (3, 4)}}
    fast = game.simulate(6000, seed=5, engine="network", weights=prefer)
    plain = game.simulate(6000, seed=6, engine="network")
    slow = game.simulate(150, seed=7, engine="rules", weights=prefer)
    assert fast.goals["red"].interval[0] > plain.goals["red"].interval[1]
    (low, high), (least, most) = fast.goals["red"].interval, slow.goals["red"].interval
    assert low < most + 3
    assert least - 3 < high


@pytest.mark.parametrize("weight", [0, -1, 1.5, "3", 256, None])
def test_bad_weights_are_refused(weight: object) -> None:
    """A weight is a small whole number."""
    game = herbrand.loads(COIN)
    for engine in ("network", "rules"):
        with pytest.raises(ValueError, match="a weight is a whole number from 1 to 255"):
            game.simulate(10, engine=engine, weights={"chooser": {"a": weight}})
    with pytest.raises(ValueError, match=r"no role `chosser` \(roles: chooser, other\)"):
        game.simulate(10, weights={"chosser": {}})
    with pytest.raises(InvalidMoveError):
        game.simulate(10, weights={"chooser": {"(a": 1}})
