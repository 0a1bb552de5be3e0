"""Random networks: every back end gives the same bits.  `benchmarks/fuzz_networks.py` goes on for as long as it is let."""

from __future__ import annotations

from typing import Any

import fuzz_networks
import numpy as np
import pytest

from herbrand import core
from herbrand.engine.expand import Expander
from herbrand.network.network import Network
from herbrand.rules.terms import TermTable


@pytest.mark.parametrize("case", [2, 3, 6, 10])  # short ones
def test_random_networks(case: int) -> None:
    """States, choices of moves, random games, and circuits with some numbers changed."""
    fuzz_networks.check(case, compiled=case % 10 == 0)


@pytest.mark.slow
@pytest.mark.parametrize("case", [1, 4, 5, 7, 8, *range(11, 26), *range(1000, 1100)])
def test_more_random_networks(case: int) -> None:
    """The same, for longer."""
    fuzz_networks.check(case, compiled=case % 10 == 0)


@pytest.mark.parametrize(
    "shape",
    [
        {"fluents": 0, "moves": (), "gates": (0, 0, 0), "goals": 0, "percepts": 0},
        {"fluents": 1, "moves": (1,), "gates": (0, 0, 0), "constant": 1.0},
        {"fluents": 3, "moves": (0, 5, 0), "gates": (9, 9, 9)},
        {"fluents": 130, "moves": (2, 1), "gates": (40, 40, 10)},
        {"fluents": 5, "moves": (4, 3), "gates": (20, 20, 20), "loops": 3},
        {"fluents": 5, "moves": (65, 130), "gates": (20, 20, 20)},
        {"fluents": 9, "moves": (6, 5), "gates": (9, 9, 9), "groups": (2, 4)},
        pytest.param(
            {"fluents": 15, "moves": (6, 5), "gates": (9, 9, 9), "groups": (2, 4), "late": True},
            marks=pytest.mark.slow,
        ),
    ],
    ids=lambda shape: " ".join(f"{name} {value}" for name, value in shape.items()),
)
def test_networks_at_an_edge(shape: dict[str, Any]) -> None:
    """What random shapes seldom are."""
    chance = np.random.default_rng(7)
    made = fuzz_networks.Shape(**shape)
    network = fuzz_networks.random_network(chance, made)
    fuzz_networks.check_evaluation(network, made, chance)
    fuzz_networks.check_choice(network, made, chance)
    fuzz_networks.check_games(network, made, chance, compiled=False)
    fuzz_networks.check_refusal(network, chance)


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"legal": [1, 6]}, "`legal` depends on what is not computed for it"),  # a move
        ({"terminal": 14}, "`terminal` depends on"),  # a gate of the second cone
        ({"goal": [14]}, "`goal` depends on"),
        ({"left": [10, 10, 2]}, "a gate depends on"),  # feedback before its loop
        ({"feedback": [15]}, "depends on its own opposite"),
        ({"loops": [[1, 2, 0, 1], [2, 3, 0, 1]]}, "loops share feedback"),
    ],
)
def test_circuits_that_cannot_be_evaluated_in_their_order_are_refused(
    changed: dict[str, Any], why: str
) -> None:
    """What is read before it is computed would be anything; a loop through its opposite might never end."""

    def numbers(*of: int) -> np.ndarray[Any, Any]:
        return np.array(of, np.int32)

    # nodes: false, two fluents, two moves, feedback; gates: one of the first cone, a loop, one of goals
    right: dict[str, Any] = {
        "fluents": 2, "roles": 1, "left": numbers(2, 10, 2), "right": numbers(4, 12, 4), "feedback": numbers(14),
        "loops": np.array([[1, 2, 0, 1]], np.int32), "legal": numbers(1, 12), "move_role": numbers(0, 0),
        "next": numbers(14, 6), "terminal": 12, "goal": numbers(16), "goal_role": numbers(0),
        "goal_value": np.array([50], np.int16), "sees": numbers(), "sees_role": numbers(),
        "initial": np.zeros(1, np.uint64), "cones": [1, 2, 3],
    }  # fmt: skip
    core.make_circuit(**right)
    with pytest.raises(ValueError, match=f"no circuit: .*{why}"):
        core.make_circuit(**(right | {name: _as_array(value) for name, value in changed.items()}))


def _as_array(value: int | list[Any]) -> Any:
    return value if isinstance(value, int) else np.array(value, np.int32)


def test_a_long_chain_of_gates_is_compiled_in_a_time_that_grows_with_its_length() -> None:
    """The last of 50 000 gates has all others in its cone, and so has nearly every gate before it."""
    fluents, gates = 300, 50_000
    chance = np.random.default_rng(3)
    terms = TermTable()
    first = 1 + fluents + 1
    chain = np.arange(first, first + gates - 1)
    literals = (
        2 * (1 + chance.integers(fluents, size=gates)) + 1
    )  # true in most states, so that all gates matter
    none = np.zeros(0, np.int32)
    network = Network(
        terms=terms,
        roles=(terms.constant("player"),),
        fluents=np.array([terms.constant(f"fluent{f}") for f in range(fluents)], np.int64),
        moves=np.array([[0, terms.constant("wait")]], np.int64),
        left=np.concatenate([[2], 2 * chain + chance.integers(2, size=gates - 1)]).astype(np.int32),
        right=literals.astype(np.int32),
        feedback=none,
        loops=none.reshape(0, 4),
        legal=np.ones(1, np.int32),
        next=np.zeros(fluents, np.int32),
        terminal=int(2 * (first + gates - 1)),
        goal=none,
        goals=np.zeros((0, 2), np.int64),
        sees=none,
        percepts=np.zeros((0, 2), np.int64),
        initial=np.zeros(fluents, np.bool_),
        cones=(gates, gates, gates),
    )
    states = chance.random((64, fluents)) < 0.02
    expected = fuzz_networks.evaluated(network, states.T, np.zeros((1, 64), np.bool_))(network.terminal)
    expander = Expander(network)
    over = expander.terminal(expander.pack_bits(states))
    assert np.array_equal(over, expected)
    assert 0 < over.sum() < 64
