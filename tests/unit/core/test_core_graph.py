"""What the core does with graphs of gates and batches of games: numbers that are wrong are refused."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import herbrand
from herbrand import core
from herbrand.envs import BatchEnv
from herbrand.network import graph


def i4(*numbers: int) -> np.ndarray:
    """Return an array of 32-bit numbers."""
    return np.array(numbers, np.int32)


def value(gates: core.GateGraph, literal: int, inputs: dict[int, bool]) -> bool:
    """Evaluate a literal with the values of variables."""
    node = literal >> 1
    if node == 0:
        found = False
    elif gates.left[node] < 0:
        found = inputs[node]
    else:
        found = all(value(gates, int(side[node]), inputs) for side in (gates.left, gates.right))
    return found != bool(literal & 1)


def test_equal_gates_are_one_and_constants_fold() -> None:
    """Operands are sorted; what is known needs no gate."""
    gates = core.GateGraph()
    a, b = 2 * gates.variables(2), 4
    both = gates.conjunction(a, b)
    assert both == gates.conjunction(b, a) == 2 * (gates.nodes - 1)
    assert [gates.conjunction(*pair) for pair in ((a, a), (a, 1), (a, 0), (a, a ^ 1))] == [a, a, 0, 0]
    assert gates.nodes == 4


def test_one_of_some_literals() -> None:
    """`only_one` and `all_of` say what they should for all values."""
    gates = core.GateGraph()
    first = gates.variables(4)
    literals = i4(*(2 * (first + i) + (i == 2) for i in range(4)))
    one, most = gates.only_one(literals)
    every = gates.all_of(literals)
    for bits in itertools.product((False, True), repeat=4):
        inputs = {first + i: bit for i, bit in enumerate(bits)}
        total = sum(bits[i] != (i == 2) for i in range(4))
        assert value(gates, one, inputs) == (total == 1)
        assert value(gates, most, inputs) == (total <= 1)
        assert value(gates, every, inputs) == (total == 4)
    assert gates.all_of(i4()) == 1


def test_arrays_outlive_growth() -> None:
    """What was asked for before a graph grew still shows what it showed."""
    gates = core.GateGraph()
    gates.variables(2)
    gates.conjunction(2, 4)
    before = gates.left
    gates.variables(1 << 17)
    assert before[:4].tolist() == gates.left[:4].tolist() == [-1, -1, -1, 2]
    assert gates.conjunction(4, 2) == 6
    del gates
    assert before[3] == 2


def test_components_come_in_the_order_of_what_they_need() -> None:
    """Tarjan's algorithm on 0 -> 1 <-> 2 -> 3, 4."""
    order, component = graph.strong_components(np.array([0, 1, 2, 4, 4, 4]), i4(1, 2, 1, 3), 5)
    assert order.tolist().index(3) < order.tolist().index(2)
    assert component[1] == component[2]
    assert len(set(component.tolist())) == 4
    assert order.tolist().index(0) > order.tolist().index(1)


def test_wrong_numbers_are_refused() -> None:
    """Indices out of range, lengths that do not fit and other types are errors, never a crash."""
    none, loops = i4(), np.zeros((0, 4), np.int32)
    gates = core.GateGraph()
    gates.variables(3)
    big = i4(2, 4, 1 << 29)
    for wrong in (
        lambda: gates.all_of(big),
        lambda: gates.only_one(i4(-1)),
        lambda: gates.conjunction(2, 99),
        lambda: gates.variables(-1),
        lambda: gates.variables(1 << 40),
        lambda: gates.copy(i4(2), i4(99), 2, 0, 1, i4(0, 2, 0)),
        lambda: gates.copy(i4(2), i4(2), 2, 0, 1, i4(0, 99, 0)),
        lambda: gates.copy(i4(2), i4(2), 2, 0, 1, i4(0, 2)),
        lambda: gates.copy(i4(2), i4(2), 2, 0, 2, i4(0, 2, 0, 0)),
        lambda: gates.copy(i4(2), i4(2), -1, 0, 1, i4(0, 2, 0)),
        lambda: core.strong_components(np.array([0, 1]), i4(7), 1),
        lambda: core.strong_components(np.array([0, 9]), i4(0), 1),
        lambda: core.strong_components(np.array([0, 0]), i4(0), 4),
        lambda: core.mark_cone(i4(2), i4(2), 2, 2, none, loops, i4(44)),
        lambda: core.mark_cone(i4(2), i4(), 2, 2, none, loops, i4(4)),
        lambda: core.mark_cone(i4(2), i4(2), 2, 2, none, np.array([[0, 7, 0, 0]], np.int32), i4(4)),
        lambda: core.unknown_cone(i4(-1, 44), i4(-1, 2), np.zeros(2, np.int8), i4(0, 0), 1),
        lambda: core.unknown_cone(i4(-1, 0), i4(-1, 0), np.zeros(1, np.int8), i4(0), 1),
        lambda: core.conjuncts(i4(90), i4(2), 2, 4),
        lambda: core.conjuncts(i4(2), i4(2), 2, -3),
        lambda: core.cone_sizes(i4(2), i4(2), 2, i4(90), 5),
        lambda: core.build_gates(
            i4(0), i4(0), np.array([0, 1]), i4(0), np.array([0, 1]), i4(9), i4(-1), 4, 2
        ),
        lambda: core.build_gates(i4(0), i4(0), np.array([5, 9]), i4(0), np.array([0, 0]), i4(), i4(-1), 4, 2),
    ):
        with pytest.raises((ValueError, OverflowError)):
            wrong()
    for given in (np.array([2.0]), np.array([[2]], np.int32), "no array"):
        with pytest.raises(TypeError):
            gates.all_of(given)  # type: ignore[arg-type]


def test_an_env_refuses_what_does_not_fit() -> None:
    """Every array of `Env` has one length."""
    circuit = herbrand.load("ticTacToe").network.circuit
    proper = {
        "circuit": circuit,
        "lanes": 3,
        "players": i4(0, 1),
        "number": np.array([[0, 1], [10, -1]], np.int32),
        "idle": np.zeros(circuit.moves, np.uint8),
        "columns": i4(0, -1),
        "chance": -1,
        "by_turns": True,
        "packed": False,
        "percepts": False,
        "reset": 1,
        "max_steps": 9,
        "low": 0.0,
        "high": 1.0,
        "keep": 0,
    }
    for name, wrong in (
        ("lanes", 0),
        ("players", i4(0, 2)),
        ("players", i4(1, 0)),
        ("number", np.array([[0, 10], [10, 11]], np.int32)),
        ("number", np.array([[0, 1]], np.int32)),
        ("idle", np.zeros(3, np.uint8)),
        ("columns", i4(29)),
        ("chance", 2),
        ("reset", 3),
        ("max_steps", 0),
    ):
        with pytest.raises(ValueError):
            core.Env(**{**proper, name: wrong})
    env = core.Env(**proper)
    room = np.zeros(6, np.uint8), np.zeros(6, np.uint8), np.zeros(3, np.uint8)
    env.begin(np.ones(3, np.uint8), *room)
    assert env.to_move.tolist() == [0, 0, 0]
    gained = np.zeros((3, 2), np.float32), np.zeros(3, np.uint8), np.zeros(3, np.uint8)
    none = np.zeros(0, np.uint8)
    with pytest.raises(ValueError, match="`actions`"):
        env.step(np.zeros((3, 2), np.int32), None, *room, *gained, none, none)
    with pytest.raises(ValueError, match="`last`"):
        env.step(np.zeros((3, 1), np.int32), None, *room, *gained, none, room[0])
    with pytest.raises(ValueError, match="`observation`"):
        env.begin(np.ones(3, np.uint8), none, *room[1:])
    with pytest.raises(TypeError):
        env.begin(np.ones(3, np.int32), *room)
    assert env.step(np.full((3, 1), 2, np.int32), None, *room, *gained, none, none).illegal == 0
    assert env.step(np.full((3, 1), -1, np.int32), None, *room, *gained, none, none).illegal == 0


@pytest.mark.slow_except("same", "off")
@pytest.mark.parametrize("reset", ["next", "same", "off"])
def test_all_levels_of_the_processor_play_the_same_games(reset: str) -> None:
    """Kernels differ in speed only; numbers of lanes that fill no block are no exception."""
    seen = []
    best = core.level()
    try:
        for level in core.levels():
            core.use_level(level)
            told = []
            for name, n in (("connectFour", 530), ("tron", 65), ("kuhn", 513)):
                env = BatchEnv(herbrand.load(name), n, seed=5, auto_reset=reset)  # type: ignore[arg-type]
                env.reset(seed=6)
                for _ in range(25):
                    now = env.step(env.sample())
                    told += [now.observation, now.legal, now.player, now.rewards, now.terminated, env.states]
            seen.append(b"".join(array.tobytes() for array in told))
    finally:
        core.use_level(best)
    assert all(one == seen[0] for one in seen)
