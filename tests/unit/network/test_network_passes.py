"""Passes over networks: smaller, and equal in every state and in every game."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis.strategies import integers
from strategies import games

import herbrand
from herbrand.engine.from_network import BatchSimulator
from herbrand.ground import ground
from herbrand.network import Network, optimised, wire
from herbrand.network.passes import PASSES
from herbrand.network.passes.factor import factor

if TYPE_CHECKING:
    from collections.abc import Callable

GAMES = ["ticTacToe", "connectFour", "breakthrough", "nim", "rockPaperScissors", "montyHall", "tron", "kuhn"]
STEPS = pytest.mark.parametrize("step", [*PASSES, optimised])


def built(game: herbrand.Game) -> Network:
    """The network before any pass."""
    program = ground(game.rules)
    return wire(program, [program.terms.intern(role) for role in game.rules.roles])


def answers(network: Network, seed: int) -> dict[str, Any]:
    """What the outputs are for 512 random states and sets of moves, evaluated in the plainest way there is."""
    random = np.random.default_rng(seed)
    rows = [0] * (network.inputs + network.gates)
    count = len(network.fluents) + len(network.moves)
    for i in range(1, 1 + count):
        rows[i] = int.from_bytes(random.bytes(64), "little")
    every = (1 << 512) - 1

    def value(literal: int) -> int:
        return rows[literal >> 1] ^ (every if literal & 1 else 0)

    def gates(begin: int, end: int) -> None:
        pairs = zip(network.left[begin:end].tolist(), network.right[begin:end].tolist(), strict=True)
        for g, (a, b) in enumerate(pairs, network.inputs + begin):
            rows[g] = value(a) & value(b)

    at = 0
    for first, last, begin, end in sorted(network.loops.tolist()):
        gates(at, first)
        while True:
            gates(first, last)
            now = [value(literal) for literal in network.feedback[begin:end].tolist()]
            if now == rows[1 + count + begin : 1 + count + end]:
                break
            rows[1 + count + begin : 1 + count + end] = now
        at = last
    gates(at, network.gates)
    names = ("legal", "next", "goal", "sees")
    found = {name: [value(literal) for literal in getattr(network, name).tolist()] for name in names}
    return {**found, "terminal": value(network.terminal)}


@STEPS
@pytest.mark.parametrize("name", GAMES)
def test_passes_keep_every_answer(step: Callable[[Network], Network], name: str) -> None:
    """On random states, reachable or not, and random moves, every output is as before."""
    before = built(herbrand.load(name))
    after = step(before)
    assert after.gates <= before.gates
    assert after.cones[2] == after.gates
    assert (after.fluents == before.fluents).all()
    for seed in range(2):
        assert answers(after, seed) == answers(before, seed)


@STEPS
def test_passes_keep_the_games(step: Callable[[Network], Network]) -> None:
    """With the same seed the very same random games are played."""
    before = built(herbrand.load("connectFour"))
    one, two = (
        BatchSimulator(network).play("", playouts=2000, seed=3, max_steps=100)
        for network in (before, step(before))
    )
    assert one.lengths == two.lengths
    assert one.goals == two.goals
    assert one.branching == two.branching


@settings(max_examples=3, deadline=None, suppress_health_check=list(HealthCheck))
@given(games())
def test_passes_keep_made_games(text: str) -> None:
    """Random small games, some with recursion in their states, keep every answer."""
    before = built(herbrand.loads(text))
    assert answers(optimised(before), 1) == answers(before, 1)


def network_of(left: list[int], right: list[int], legal: list[int], inputs: int) -> Network:
    """A network of one role with fluents alone, all gates in the first cone."""
    base = built(herbrand.load("nim"))
    gates = len(left)
    none = np.zeros(0, np.int32)
    pairs = np.zeros((0, 2), np.int64)
    return replace(
        base,
        fluents=np.arange(inputs, dtype=np.int64),
        moves=np.zeros((len(legal), 2), np.int64)[:0],
        left=np.array(left, np.int32),
        right=np.array(right, np.int32),
        legal=none,
        next=np.array([*legal, *[0] * (inputs - len(legal))], np.int32),
        terminal=0,
        goal=none,
        goals=pairs,
        sees=none,
        percepts=pairs,
        initial=np.zeros(inputs, np.bool_),
        cones=(0, gates, gates),
    )


def test_large_and_looping_networks_stay_as_they_are() -> None:
    """One for which the passes would need too much memory, and one in which gates depend on each other."""
    network = herbrand.load("ticTacToe").network
    assert optimised(network, megabytes=0) is network
    looping = replace(network, loops=np.array([[1, 2, 0, 1]], np.int32))
    assert factor(looping) is looping


def test_common_factors_are_taken_out() -> None:
    """`(a and b) or (a and c) or (a and d)` needs three gates, not five."""
    a, b, c, d = 2, 4, 6, 8
    ab, ac, ad, two, three = 10, 12, 14, 16, 18
    before = network_of([a, a, a, ab ^ 1, two], [b, c, d, ac ^ 1, ad ^ 1], [three ^ 1], 4)
    after = factor(before)
    assert (before.gates, after.gates) == (5, 3)
    assert answers(after, 0) == answers(before, 0)


def test_common_pairs_are_shared() -> None:
    """`a and b and c` and `a and b and d` share a gate however they were written."""
    a, b, c, d = 2, 4, 6, 8
    before = network_of([a, 10, b, 14], [c, b, d, a], [12, 16], 4)
    after = factor(before)
    assert (before.gates, after.gates) == (4, 3)
    assert answers(after, 0) == answers(before, 0)


def test_rules_of_pieces_become_smaller() -> None:
    """Where the same conditions stand in many rules, gates go, even in a sheet written with care."""
    before = built(herbrand.load("breakthrough"))
    assert optimised(before).gates < 0.95 * before.gates


@pytest.mark.slow_except("connectFour")
@pytest.mark.parametrize("name", ["connectFour", "checkers"])
def test_what_excludes_each_other_is_said_once(name: str) -> None:
    """With groups proved, the network is smaller, and random games are the very same."""
    pytest.importorskip("pysat", reason="the extra `analyse` is not installed")
    from herbrand.analyse.invariants.reachable import for_reachable_states

    before = herbrand.load(name).network
    after = for_reachable_states(before, seconds=300)
    assert after.gates < before.gates
    one, two = (
        BatchSimulator(network).play("", playouts=1000, seed=4, max_steps=80) for network in (before, after)
    )
    assert (one.lengths, one.goals, one.branching) == (two.lengths, two.goals, two.branching)


@settings(max_examples=30, deadline=None)
@given(integers(0, 1 << 32))
def test_exclusion_keeps_the_answers_of_states_that_keep_to_it(seed: int) -> None:
    """Random graphs and groups: outputs are equal in all states in which never two of a group are true."""
    random = np.random.default_rng(seed)
    inputs, gates = 6, 40
    operands = [random.integers(2, 2 * (1 + inputs + g), 2).tolist() for g in range(gates)]
    outputs = random.integers(2, 2 * (1 + inputs + gates), 5).tolist()
    groups = [random.choice(inputs, 3, replace=False).tolist() for _ in range(2)]
    before = network_of([a for a, _ in operands], [b for _, b in operands], outputs, inputs)
    after = factor(before, groups)
    assert after.gates <= before.gates
    checked = 0
    for state in product((False, True), repeat=inputs):
        if all(sum(state[fluent] for fluent in group) < 2 for group in groups):
            assert outputs_in(after, state) == outputs_in(before, state)
            checked += 1
    assert checked > 10


def outputs_in(network: Network, state: tuple[bool, ...]) -> list[bool]:
    """The outputs in one state."""
    values = [False, *state, *[False] * network.gates]
    for g, (a, b) in enumerate(
        zip(network.left.tolist(), network.right.tolist(), strict=True), network.inputs
    ):
        values[g] = (values[a >> 1] ^ (a & 1)) and (values[b >> 1] ^ (b & 1))
    return [bool(values[literal >> 1] ^ (literal & 1)) for literal in network.next.tolist()]


def test_what_is_excluded_need_not_be_denied() -> None:
    """`a and not b` is `a` where a excludes b, and `a and b` is false."""
    a, b, c = 2, 4, 6
    before = network_of([a, a, 8], [b ^ 1, b, c], [12, 10], 3)
    after = factor(before, [(0, 1)])
    assert after.gates == 1
    assert after.next.tolist()[1] == 0
