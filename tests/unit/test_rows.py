"""Rows that several gates share."""

import numpy as np
import pytest

import herbrand
from herbrand.network.network import Network
from herbrand.simulate.rows import share_rows


def evaluate(network: Network, values: np.ndarray, begin: int, end: int, parts: tuple) -> None:
    """Evaluate gates as `network.py` says, on any assignment of rows."""
    left, right, out, feedback = parts
    first_back = 1 + len(network.fluents) + len(network.moves)

    def literal(x: int) -> bool:
        return bool(values[x >> 1]) != bool(x & 1)

    def run(a: int, b: int) -> None:
        for g in range(a, b):
            values[out[g]] = literal(left[g]) and literal(right[g])

    at = begin
    for a, b, c, d in sorted(network.loops.tolist()):
        if begin <= a < end:
            run(at, a)
            values[first_back + c : first_back + d] = False
            while True:
                run(a, b)
                new = [literal(feedback[f]) for f in range(c, d)]
                if new == values[first_back + c : first_back + d].tolist():
                    break
                values[first_back + c : first_back + d] = new
            at = b
    run(at, end)


@pytest.mark.parametrize("name", ["ticTacToe", "hex", "trefoil", "connectFour", "kuhn", "tron"])
def test_outputs_survive_until_they_are_read(name: str) -> None:
    """Evaluated in the order legal, goals, next, with goals or without, all outputs are what they were."""
    network = herbrand.load(name).network
    rows = share_rows(network)
    plain = (
        network.left,
        network.right,
        np.arange(network.inputs, network.inputs + network.gates),
        network.feedback,
    )
    shared = (rows.left, rows.right, rows.out, rows.feedback)
    a, b, c = network.cones
    rng = np.random.default_rng(3)

    def read(values: np.ndarray, literals: np.ndarray) -> list[bool]:
        return (values[literals >> 1] != (literals & 1).astype(bool)).tolist()

    for with_goals in (True, False, True):
        inputs = rng.random(1 + len(network.fluents) + len(network.moves)) < 0.3
        inputs[0] = False
        one = np.zeros(network.inputs + network.gates, bool)
        two = rng.random(rows.count) < 0.5  # whatever was there before
        for values in (one, two):
            values[: len(inputs)] = inputs
        evaluate(network, one, 0, a, plain)
        evaluate(network, two, 0, a, shared)
        if with_goals:
            evaluate(network, one, b, c, plain)
            evaluate(network, two, b, c, shared)
            assert read(one, network.goal) == read(two, rows.goal)
        assert read(one, network.legal) == read(two, rows.legal)
        assert read(one, np.array([network.terminal])) == read(two, np.array([rows.terminal]))
        evaluate(network, one, a, b, plain)
        evaluate(network, two, a, b, shared)
        assert read(one, network.next) == read(two, rows.next)


def test_few_rows_are_enough() -> None:
    """Most gates share a row; inputs keep theirs."""
    network = herbrand.load("reversi").network
    rows = share_rows(network)
    assert network.inputs < rows.count < network.inputs + network.gates // 10
    assert rows.out.min() >= network.inputs
    assert rows.out.max() == rows.count - 1
