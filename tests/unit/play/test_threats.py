"""Threats: what is missing for the end of the game, as gates that change nothing else."""

from __future__ import annotations

from functools import cache
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import pytest

import herbrand
from herbrand.analyse.solving.minimax.judge import no_judge
from herbrand.engine.expand import Expander, sample_true
from herbrand.play.learning import learn_judge, sample_states
from herbrand.play.threats import NO_GATES, find_threats, with_gates

if TYPE_CHECKING:
    from herbrand.engine.expand import States

SIZES = {"ticTacToe": (3, 3, 3), "connectFour": (7, 6, 4)}
"""Columns, rows, and the length of a line."""


def states_of(expander: Expander, steps: int, generator: np.random.Generator) -> States:
    """Return states of the first steps of random games."""
    states = expander.initial
    layers = []
    for _ in range(steps):
        after = expander.expand(states).states
        states = after[generator.permutation(len(after))[:40]]
        layers.append(states)
    return np.concatenate(layers)


@cache
def lines(game: str) -> list[list[tuple[int, int]]]:
    """Return the cells of each line of a board."""
    columns, rows, length = SIZES[game]
    board = set(product(range(1, columns + 1), range(1, rows + 1)))
    found = []
    for (x, y), (a, b) in product(sorted(board), ((0, 1), (1, 0), (1, 1), (1, -1))):
        cells = [(x + k * a, y + k * b) for k in range(length)]
        found += [cells] if board.issuperset(cells) else []
    return found


def threats_by_hand(game: str, facts: set[str]) -> set[tuple[int, str]]:
    """Return the threats in a state, as steps and fluents."""
    players = ("x", "o") if game == "ticTacToe" else ("red", "yellow")
    cells = {cell for line in lines(game) for cell in line}
    holder = {
        (x, y): next((who for who in players if f"(cell {x} {y} {who})" in facts), None) for x, y in cells
    }
    found = set()
    for who, (x, y) in product(players, cells):
        if holder[x, y] is not None:
            continue
        if game == "connectFour" and y == 6:  # the game also ends when all columns are full
            free = sum(holder[column, 6] is None for column in range(1, 8))
            found |= {(free, f"(cell {x} {y} {who})")} if free <= 2 else set()
        for line in lines(game):
            if (x, y) in line:
                others = [holder[cell] for cell in line if cell != (x, y)]
                if others.count(who) == len(line) - 1:
                    found.add((1, f"(cell {x} {y} {who})"))
                if others.count(who) == len(line) - 2 and None in others:
                    found.add((2, f"(cell {x} {y} {who})"))
    return found


@pytest.mark.parametrize("name", sorted(SIZES))
def test_threats_are_those_of_the_board(name: str) -> None:
    """One step: all but one cell of a line are taken; two steps: all but two, which are free."""
    game = herbrand.load(name)
    expander = game.expander
    states = sample_states(expander, np.random.default_rng(0))
    threats = find_threats(expander, states)[-1]
    states = states[:100]
    literals = 2 * threats.nodes
    valuer = no_judge(2, literals).valuer(with_gates(game.network, threats.gates), 0)
    packed = valuer.features(states)
    bits = np.unpackbits(packed.view(np.uint8), axis=1, bitorder="little", count=len(literals))
    names = expander.fluent_names
    steps, fluents = threats.missing.T.tolist()
    seen = 0
    for facts, row in zip(expander.facts(states), bits, strict=True):
        found = {(steps[k], names[fluents[k]]) for k in np.flatnonzero(row)}
        assert found == threats_by_hand(name, set(facts))
        seen += len(found)
    assert seen > 500


def random_gates(expander: Expander, count: int, generator: np.random.Generator) -> np.ndarray:
    """Return gates over fluents, gates of the first cone, and one another."""
    network = expander.network
    border = network.inputs + network.gates
    known = [*range(1, 1 + expander.fluents), *range(network.inputs, network.inputs + network.cones[0])]
    known += range(border, border + count)
    rows = []
    for k in range(count):
        nodes = generator.integers(0, len(known) - count + k, 2)
        rows.append([2 * known[n] + int(generator.integers(2)) for n in nodes])
    return np.array(rows, np.int32)


@pytest.mark.parametrize("name", ["ticTacToe", "connectFour", "hex", "trefoil", "kuhn"])
def test_more_gates_change_nothing(name: str) -> None:
    """With threats, and with any other gates, all outputs are the same in states of random games."""
    game = herbrand.load(name)
    expander = game.expander
    generator = np.random.default_rng(1)
    states = states_of(expander, 7, generator)
    threats = find_threats(expander, states)
    assert len(threats) == {"hex": 2, "ticTacToe": 2, "connectFour": 2, "trefoil": 2}.get(name, 0)
    legal = expander.legal(states)
    joint = [sample_true(legal.mask(role), generator) for role in range(len(expander.roles))]
    moves = np.stack(joint, axis=1)
    for gates in (*(each.gates for each in threats), NO_GATES, random_gates(expander, 50, generator)):
        other = Expander(with_gates(game.network, gates))
        assert other.network.gates == game.network.gates + len(gates)
        same = other.legal(states)
        assert np.array_equal(same.bits, legal.bits)
        assert np.array_equal(same.over, legal.over)
        after = expander.step(states, moves)
        assert np.array_equal(other.step(states, moves), after)
        assert np.array_equal(other.goals(after), expander.goals(after))
        assert np.array_equal(other.terminal(after), expander.terminal(after))


def test_threats_explain_more_or_are_left_out() -> None:
    """In tic-tac-toe most of the variance; where nothing ends by a conjunction, all is as without."""
    expander = herbrand.load("ticTacToe").expander
    plain, learned = (learn_judge(expander, 0, threats=threats) for threats in (False, True))
    assert learned.explained > plain.explained + 0.3
    assert len(learned.gates)
    assert not len(plain.gates)
    expander = herbrand.load("nim").expander
    plain, learned = (learn_judge(expander, 0, threats=threats) for threats in (False, True))
    assert not len(learned.gates)
    assert learned.explained == plain.explained
    assert np.array_equal(learned.judge.table, plain.judge.table)


def test_gates_over_other_nodes_are_refused() -> None:
    """Operands must be known once the legal moves are."""
    network = herbrand.load("ticTacToe").network
    move, later = 2 * (1 + len(network.fluents)), 2 * (network.inputs + network.gates - 1)
    for operand in (-2, 2 * (network.inputs + network.gates), 1 << 30, move, later):
        with pytest.raises(ValueError, match=r"operands|depend"):
            with_gates(network, np.array([[operand, 3]], np.int32)).circuit  # noqa: B018
