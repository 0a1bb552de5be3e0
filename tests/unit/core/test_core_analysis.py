"""The core's graphs, tables and searches: what does not fit is an error, and searches can be ended at any time."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest

import herbrand
from herbrand.analyse.solving.minimax.judge import SCALE, no_judge
from herbrand.analyse.solving.minimax.search import AlphaBetaSearch
from herbrand.core import Judge, StateGraph, StateTable, Survey, evaluate_ternary

I32, I64 = np.int32, np.int64


def graph(children: list[int], counts: list[list[int]], states: int) -> StateGraph:
    """A graph whose edges are products of counts."""
    starts = np.concatenate([[0], np.cumsum(np.prod(counts, axis=1))]).astype(I64)
    return StateGraph(starts, np.array(children, I32), np.array(counts, I32), states)


def test_a_graph_that_is_none_is_an_error() -> None:
    """Children, starts, counts, sequences and roles out of range are refused by what meets them."""
    good = graph([1, 2], [[2, 1]], 3)
    sequence, longest = good.order()
    assert sequence.tolist() == [0, 1, 2]
    assert longest.tolist() == [0, 1, 1]
    target = np.array([False, False, True])
    assert [x.tolist() for x in good.force(target, 0, sequence)] == [[1, -1, 0], [1, -1, -1]]
    assert [x.tolist() for x in good.force(target, 1)] == [[-1, -1, 0], [-1, -1, -1]]
    for children in ([1, 3], [1, -1]):
        with pytest.raises(ValueError, match="child"):
            graph(children, [[2, 1]], 3).order()
    with pytest.raises(ValueError, match="starts"):
        StateGraph(np.array([0, 5], I64), np.array([0], I32), np.ones((1, 1), I32), 1).order()
    with pytest.raises(ValueError, match="product"):
        StateGraph(np.array([0, 2], I64), np.array([0, 0], I32), np.array([[3]], I32), 1).force(target[:1], 0)
    with pytest.raises(ValueError, match="no state"):
        good.count_plays(np.array([7], I32))
    with pytest.raises(ValueError, match="role"):
        good.force(target, 2)
    with pytest.raises(ValueError, match="move"):
        good.reply(0, 2, 0, np.zeros(3, I32))
    with pytest.raises(ValueError, match="each state"):
        good.force(target[:2], 0)
    with pytest.raises(TypeError):
        good.force(target.astype(np.int8), 0)
    values, room = np.zeros((3, 2)), np.zeros(3, I32)
    with pytest.raises(ValueError, match="sequence"):
        good.induce(target, sequence, 4, -1, -1, 100.0, values, room, room)
    with pytest.raises(ValueError, match="role"):
        good.induce(target, sequence, 3, -1, 2, 100.0, values, room, room)


def test_a_table_has_no_more_states_than_there_is_room() -> None:
    """Arrays that are too short, of other shapes or types are refused."""
    table = StateTable(2)
    rows, origins = np.zeros((3, 2), np.uint64), np.zeros(3, I64)
    states, parents = np.zeros((3, 2), np.uint64), np.zeros(3, I32)
    assert table.insert(states, parents, rows, origins, 5).tolist() == [0, 0, 0]
    assert (table.count, parents[0]) == (1, 5)
    with pytest.raises(ValueError, match="room"):
        table.insert(states, parents, rows, origins, 5)
    with pytest.raises(ValueError, match="words"):
        table.insert(states, parents, rows[:, :1].copy(), origins, 5)
    with pytest.raises(ValueError, match="origin"):
        table.insert(states, parents, rows[:1], origins, 5)
    with pytest.raises(TypeError):
        table.insert(states.view(I64), parents, rows, origins, 5)


def test_what_does_not_fit_a_circuit_is_an_error() -> None:
    """Surveys, ternary values, judges and roots of another game."""
    game = herbrand.load("ticTacToe")
    circuit, words = game.network.circuit, game.expander.words
    legal, over = np.zeros((1, circuit.legal_words), np.uint64), np.zeros(1, np.bool_)
    with pytest.raises(ValueError, match="words"):
        Survey(circuit).add(
            np.zeros((1, words + 1), np.uint64), over, legal, np.zeros((1, 2), I32), np.zeros(2, I64)
        )
    with pytest.raises(ValueError, match="node"):
        evaluate_ternary(circuit, over, over)
    with pytest.raises(ValueError, match="feature"):
        no_judge(2, [2 * (1 + circuit.fluents)]).valuer(game.network, 0)  # a move
    with pytest.raises(ValueError, match="role"):
        no_judge(2).valuer(game.network, 2)
    with pytest.raises(ValueError, match="mobility"):
        no_judge(3).valuer(game.network, 0)
    with pytest.raises(ValueError, match="256"):
        Judge(np.zeros(0, I32), np.zeros((8, 2), I32), np.zeros(2), np.zeros(2), 0.0)
    search = AlphaBetaSearch(game.network, 0, memory=0)
    with pytest.raises(ValueError, match="words"):
        search.core.move_to(np.zeros(words + 1, np.uint64))
    assert search.chooser < 0  # no root yet
    assert search.root() == []


def test_features_are_what_gates_are() -> None:
    """Fluents and gates as features, inverted or not, are those of plain evaluation; values are goals at the end."""
    game = herbrand.load("breakthrough")
    network, expander = game.network, game.expander
    states = expander.expand(expander.initial).states
    fluents, first = expander.fluents, network.inputs
    legal = expander.legal(states)
    literals = np.concatenate(
        [2 * np.arange(1, 1 + fluents), 2 * np.arange(1, 1 + fluents) + 1, network.legal]
    )
    known = (literals >> 1 <= fluents) | (literals >> 1 >= first)
    valuer = no_judge(2, literals[known]).valuer(network, 0)
    packed = valuer.features(states)
    bits = np.unpackbits(packed.view(np.uint8), axis=1, bitorder="little", count=int(known.sum())).view(
        np.bool_
    )
    plain = expander.bits(states)
    moves = np.concatenate([legal.mask(0), legal.mask(1)], axis=1)
    expected = np.concatenate([plain, ~plain, moves], axis=1)[:, known]
    assert (bits == expected).all()
    assert (valuer.values(states) == 50 * SCALE).all()


def test_a_search_ends_soon_after_it_is_told(small_connect_four: herbrand.Game) -> None:
    """From another thread, which meanwhile asks what is known; then it goes on."""
    search = AlphaBetaSearch(small_connect_four.network, 0, memory=1 << 20)
    search.move_to(search.expander.initial)
    thread = threading.Thread(
        target=lambda: [search.slice(1 << 40) for _ in range(100) if not search.stop.is_set]
    )
    thread.start()
    time.sleep(0.1)
    search.stop.set()
    told = time.process_time()  # what it does, however long the machine is busy with others
    thread.join(60)
    assert not thread.is_alive()
    assert time.process_time() - told < 0.5
    assert len(search.root()) in {0, 5}
    search.stop.clear()
    nodes = search.nodes
    search.slice(10)
    assert search.is_done or search.nodes > nodes
