"""Playouts on several cores."""

import dataclasses

import pytest

import herbrand
from herbrand.engine.from_network import BatchSimulator
from herbrand.engine.parallel import merge, parts, play
from herbrand.engine.playouts import Simulation


def same(simulation: Simulation) -> Simulation:
    """Leave the time out."""
    return dataclasses.replace(simulation, seconds=0.0)


def test_the_number_of_threads_does_not_matter() -> None:
    """The same seed gives the same games on one, two and three cores."""
    network = herbrand.load("ticTacToe").network
    runs = [
        play(network, "", playouts=70_001, seed=5, max_steps=100, threads=threads) for threads in (1, 2, 3)
    ]
    assert same(runs[0]) == same(runs[1]) == same(runs[2])
    assert runs[0].playouts == 70_001 == sum(runs[0].lengths.values())
    assert len(parts(70_001, 512)) > 2
    other = play(network, "", playouts=70_001, seed=6, max_steps=100)
    assert same(other) != same(runs[0])


def test_parts_add_up() -> None:
    """Every number of playouts is cut into parts that differ by one at most."""
    for playouts in (1, 511, 16_384, 100_000, 10**7 + 3):
        sizes = parts(playouts, 512)
        assert sum(sizes) == playouts
        assert max(sizes) - min(sizes) <= 1
        assert len(sizes) == 1 or min(sizes) >= 512


def test_merging_adds_up() -> None:
    """What runs had in common is added, means are weighted."""
    network = herbrand.load("connectFour").network
    runs = [BatchSimulator(network).play("", playouts=n, seed=n, max_steps=100) for n in (600, 1200)]
    whole = merge(runs, seed=1)
    assert whole.playouts == 1800
    assert whole.transitions == sum(run.transitions for run in runs)
    for role in whole.goals:
        means = [run.goals[role].mean for run in runs]
        assert whole.goals[role].mean == pytest.approx((600 * means[0] + 1200 * means[1]) / 1800)
    assert (
        min(r.branching["red"] for r in runs)
        <= whole.branching["red"]
        <= max(r.branching["red"] for r in runs)
    )


def test_a_budget_holds_for_all_parts_together() -> None:
    """When the time is up, what was played is told, whatever part it belongs to."""
    network = herbrand.load("connectFour").network
    run = play(
        network, "", playouts=2_000_000_000, seed=1, max_steps=200, limits=herbrand.Limits(seconds=0.25)
    )
    assert run.stopped == "over budget: 0.25 seconds"
    assert 0 < run.playouts < 2_000_000_000


def test_a_budget_that_is_over_at_once_is_told() -> None:
    """Even then there is an answer: what the first part played."""
    network = herbrand.load("ticTacToe").network
    run = play(network, "", playouts=10**8, seed=1, max_steps=100, limits=herbrand.Limits(seconds=1e-9))
    assert run.stopped == "over budget: 1e-09 seconds"
    assert run.playouts < 10**8
