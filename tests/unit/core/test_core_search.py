"""The tree in the core: what a round does, step by step, and that wrong numbers are refused, not followed."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import herbrand
from herbrand.core import Round, SearchTree, StateEvaluator, Stop
from herbrand.engine.expand import new_generator
from herbrand.play.search.policy import UNIFORM, PlayoutPolicy, learn_mast_weights
from herbrand.play.search.tree import ALONE, BUSY, LEAF, Search

if TYPE_CHECKING:
    from collections.abc import Callable

    from herbrand.engine import expand


@pytest.fixture(scope="module")
def expander() -> expand.Expander:
    """Tic-tac-toe."""
    return herbrand.load("ticTacToe").expander


def planted(expander: expand.Expander, **options: Any) -> tuple[SearchTree, Round]:
    """A tree with the initial state as position 0, and a round."""
    tree = SearchTree(expander.network.circuit, memory=1 << 20, seed=1, **options)
    assert tree.add(expander.initial) == 0
    return tree, Round(tree)


def drawn(work: Round, games: int) -> None:
    """End a round with games of five steps that all are drawn."""
    work.backpropagate(np.full((games, 2), 50, np.int16), np.full(games, 5))


def test_a_round_expands_the_root_and_counts_every_game(expander: expand.Expander) -> None:
    """All nine squares; while games are under way nothing else starts from the same positions."""
    tree, work = planted(expander)
    root = np.zeros(1, np.int64)
    assert work.expand(root, most=1, widest=512, weight=1.0) == 9
    assert (work.rows, work.asked, tree.positions, tree.arms) == (9, 1, 1, 10)
    assert tree.kind[0] == ALONE
    assert tree.sizes[0].tolist() == [9, 1]
    assert tree.seen[0] == BUSY
    after = expander.expand(expander.initial).states
    assert work.starts().tolist() == after.tolist()
    assert [tree.find(after[k : k + 1]) for k in range(9)] == [-1] * 9
    assert [tree.after(0, [k, 9]) for k in range(9)] == [-1] * 9
    other = Round(tree)
    assert other.expand(root, most=4, widest=512, weight=1.0) == 0
    other.abandon()
    drawn(work, 18)
    assert tree.games[0] == 18.0
    assert tree.arm_count[:10].tolist() == [2.0] * 9 + [18.0]
    assert tree.total[0].tolist() == [9.0, 9.0]
    assert tree.sum == 1.0
    assert (tree.arm_virtual[:10] == 0).all()
    assert tree.seen[0] == 0
    assert work.line(3) == [int(tree.move[3])]


def test_positions_after_a_root_are_added_with_what_is_known_of_them(expander: expand.Expander) -> None:
    """All of them, before the second round; and then the one that it goes to is expanded."""
    tree, work = planted(expander)
    root = np.zeros(1, np.int64)
    work.expand(root, most=1, widest=512, weight=1.0)
    drawn(work, 18)
    assert work.expand(root, most=1, widest=512, weight=1.0) == 8
    work.abandon()
    after = expander.expand(expander.initial).states
    assert tree.state[1:10].tolist() == after.tolist()
    assert [tree.find(after[k : k + 1]) for k in range(9)] == list(range(1, 10))
    assert [tree.after(0, [k, 9]) for k in range(9)] == list(range(1, 10))
    assert sorted(tree.kind[:10].tolist()) == [LEAF] * 8 + [ALONE] * 2
    assert tree.games[1:10].tolist() == [2.0] * 9
    assert tree.total[1:10].tolist() == [[1.0, 1.0]] * 9


def test_what_is_proved_of_a_move_is_carried_up(expander: expand.Expander) -> None:
    """A sure win decides for both, as the values add up to one."""
    tree, work = planted(expander)
    work.expand(np.zeros(1, np.int64), most=1, widest=512, weight=1.0)
    drawn(work, 9)
    work.expand(np.zeros(1, np.int64), most=1, widest=512, weight=1.0)
    work.abandon()
    assert not tree.tighten(0)
    tree.prove(4, [1.0, 0.0], [1.0, 0.0], 2)
    assert tree.is_exact(4)
    assert tree.tighten(0)
    assert tree.is_exact(0)
    assert (tree.low[0].tolist(), tree.plies[0]) == ([1.0, 0.0], 3)
    best = tree.best_moves(np.zeros(1, np.int64), np.zeros(1, np.int64))
    assert best.tolist() == [int(tree.move[3])]


@pytest.mark.parametrize("name", ["connectFour", "tron", "ticTacToe"])
@pytest.mark.parametrize("weighted", [False, True])
def test_whole_rounds_are_the_same_rounds(name: str, *, weighted: bool) -> None:
    """The core alone does what rounds do of which Python plays the games, bit for bit."""
    game = herbrand.load(name)
    policy = (
        PlayoutPolicy(weights=learn_mast_weights(game.expander, seed=1, games=512)) if weighted else UNIFORM
    )
    one, other = (Search(game.network, memory=1 << 22, seed=3, amaf=100.0, policy=policy) for _ in range(2))
    for search in (one, other):
        search.move_to(search.expander.initial)
    for _ in range(12):
        one.workers[0].round()
        other.workers[0].rounds(0.0)
    assert one.playouts == other.playouts > 0
    assert one.positions == other.positions
    for array in ("games", "total", "low", "high", "kind", "state"):
        here, there = (getattr(search.tree, array)[: one.positions] for search in (one, other))
        assert (here == there).all()
    for array in ("arm_count", "arm_total", "amaf_count", "amaf_total"):
        here, there = (getattr(search.tree, array)[: one.tree.arms] for search in (one, other))
        assert (here == there).all()


@pytest.mark.parametrize("reference", [0.0, 20.0])
def test_positions_with_few_playouts_ask_an_ancestor(expander: expand.Expander, reference: float) -> None:
    """Games in which x takes the centre are won: positions two steps on try it first if they refer to the root."""
    tree, work = planted(expander, amaf=1e6, exploration=0.5, reference=reference)
    centre = [str(move) for move in expander.moves[0]].index("(mark 2 2)")
    root, generator = np.zeros(1, np.int64), np.random.default_rng(1)
    first = []
    for number in range(400):
        teaches = number < 30  # afterwards all is drawn
        wins = int(generator.integers(2)) if teaches else 0
        known = tree.positions
        work.expand(root, most=1, widest=1, weight=1.0)
        played = np.zeros((int(expander.bounds[-1]), 1), np.uint64)
        played[centre] = wins
        goals = [100 * wins, 100 - 100 * wins] if teaches else [50, 50]
        work.backpropagate(np.array([goals], np.int16), np.array([5]), played)
        if number < 60 or tree.positions == known:
            continue
        for at in range(1, known):
            arms = range(int(tree.first[at]), int(tree.first[at] + tree.sizes[at, 0]))
            legal = [int(tree.move[arm]) for arm in arms]
            taken = [arm for arm in arms if tree.arm_child[arm] >= 0]
            is_first = len(taken) == 1 and tree.arm_child[taken[0]] == known
            if tree.kind[at] == ALONE and len(legal) > 1 and centre in legal and is_first:
                first.append(int(tree.move[taken[0]]) == centre)
    assert len(first) > 10
    assert np.mean(first) > 0.7 if reference else np.mean(first) < 0.4


def test_whole_rounds_end_when_they_are_told_to() -> None:
    """By the clock, by `stop`, and where nothing is left to find."""
    search = Search(herbrand.load("connectFour").network, memory=1 << 24, seed=1)
    search.move_to(search.expander.initial)
    threading.Timer(0.1, search.stop.set).start()
    began = time.monotonic()
    search.workers[0].rounds(60.0)
    assert time.monotonic() - began < 30
    before = search.playouts
    assert before > 0
    assert (search.tree.arm_virtual[: search.tree.arms] == 0).all()
    search.workers[0].rounds(60.0)
    assert search.playouts == before
    search.stop.clear()
    search.workers[0].rounds(1e-9)
    assert search.playouts == before + 512
    small = Search(herbrand.load("ticTacToe").network, memory=1 << 24, seed=1)
    small.move_to(small.expander.initial)
    small.run(lambda: True, seconds=0.01)
    assert small.is_solved


def test_equal_states_are_kept_apart_by_labels(expander: expand.Expander) -> None:
    """Each of them has a tree of its own, unless the tree has no labels."""
    states = np.repeat(expander.initial, 3, axis=0)
    circuit = expander.network.circuit
    assert SearchTree(circuit, memory=1, labelled=True).plant(states).tolist() == [0, 1, 2]
    assert SearchTree(circuit, memory=1).plant(states).tolist() == [0, 0, 0]


def test_a_round_of_a_tree_that_forgot_is_refused(expander: expand.Expander) -> None:
    """Its positions have other numbers, or are gone."""
    tree, work = planted(expander)
    work.expand(np.zeros(1, np.int64), most=1, widest=512, weight=1.0)
    tree.forget(0)
    with pytest.raises(ValueError, match="forgotten"):
        drawn(work, 9)
    with pytest.raises(ValueError, match="forgotten"):
        work.starts()
    work.abandon()
    with pytest.raises(ValueError, match="no round"):
        drawn(work, 9)
    with pytest.raises(ValueError, match="no such place"):
        work.line(0)


ROOTS = np.zeros(1, np.int64)
GENERATOR = new_generator(1)
PLAYERS = StateEvaluator(herbrand.load("ticTacToe").network.circuit)
OTHERS = StateEvaluator(herbrand.load("connectFour").network.circuit)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda tree, work: work.expand(ROOTS + 10, most=1, widest=1, weight=1.0),
        lambda tree, work: work.expand(ROOTS - 1, most=1, widest=1, weight=1.0),
        lambda tree, work: work.expand(ROOTS[:0], most=1, widest=1, weight=1.0),
        lambda tree, work: work.expand(ROOTS, most=0, widest=1, weight=1.0),
        lambda tree, work: work.expand(ROOTS, most=1, widest=1, weight=float("nan")),
        lambda tree, work: work.backpropagate(np.zeros((9, 3), np.int16), np.zeros(9, np.int64)),
        lambda tree, work: work.backpropagate(np.zeros((9, 2), np.int16), np.zeros(8, np.int64)),
        lambda tree, work: work.backpropagate(
            np.zeros((65, 2), np.int16), np.zeros(65, np.int64), np.zeros((19, 1), np.uint64)
        ),
        lambda tree, work: work.backpropagate(
            np.zeros((9, 2), np.int16), np.zeros(9, np.int64), np.zeros((3, 1), np.uint64)
        ),
        lambda tree, work: work.line(9),
        lambda tree, work: work.line(-1),
        lambda tree, work: tree.forget(10),
        lambda tree, work: tree.is_exact(-1),
        lambda tree, work: tree.tighten(10),
        lambda tree, work: tree.after(0, [0]),
        lambda tree, work: tree.after(0, [9, 9]),
        lambda tree, work: tree.after(1, [0, 9]),
        lambda tree, work: tree.prove(0, [0.0], [1.0], 0),
        lambda tree, work: tree.prove(0, [0.5, 0.0], [0.4, 1.0], 0),
        lambda tree, work: tree.prove(0, [float("nan"), 0.0], [1.0, 1.0], 0),
        lambda tree, work: tree.find(np.zeros((2, tree.words), np.uint64)),
        lambda tree, work: tree.add(np.zeros((1, tree.words + 1), np.uint64)),
        lambda tree, work: tree.best_moves(ROOTS, ROOTS + 2),
        lambda tree, work: tree.best_moves(ROOTS + 10, ROOTS),
        lambda tree, work: tree.add_up(ROOTS, ROOTS + 1, ROOTS, 10),
        lambda tree, work: tree.add_up(ROOTS, ROOTS, ROOTS, 1),
        lambda tree, work: Round(tree, ways=0),
        lambda tree, work: work.run(10, PLAYERS, GENERATOR, Stop()),
        lambda tree, work: work.run(0, PLAYERS, GENERATOR[:8], Stop()),
        lambda tree, work: work.run(0, PLAYERS, GENERATOR, Stop(), each=0.0),
        lambda tree, work: work.run(0, PLAYERS, GENERATOR, Stop(), places=np.zeros(3, np.int64)),
        lambda tree, work: work.run(0, PLAYERS, GENERATOR, Stop(), places=np.full(20, 21, np.int64)),
        lambda tree, work: work.run(0, OTHERS, GENERATOR, Stop()),
        lambda tree, work: work.expand(ROOTS.astype(np.int32), most=1, widest=1, weight=1.0),
        lambda tree, work: work.expand(np.zeros(4, np.int64)[::2], most=1, widest=1, weight=1.0),
        lambda tree, work: tree.games.__setitem__(0, 1.0),
        lambda tree, work: Round(None),
    ],
)
def test_wrong_numbers_are_refused(
    expander: expand.Expander, wrong: Callable[[SearchTree, Round], Any]
) -> None:
    """Each is an error of Python's, and the tree goes on as before."""
    tree, work = planted(expander)
    work.expand(ROOTS, most=1, widest=512, weight=1.0)
    with pytest.raises((TypeError, ValueError)):
        wrong(tree, work)
    work.abandon()
    assert work.expand(ROOTS, most=64, widest=512, weight=1.0) > 9
    drawn(work, 512)


@pytest.mark.parametrize(
    "options",
    [
        {"memory": -1}, {"memory": 1, "most": 0}, {"memory": 1, "most": 1 << 40}, {"memory": 1, "chance": 2},
        {"memory": 1, "exploration": float("nan")}, {"memory": 1, "amaf": -1.0}, {"memory": 1, "seed": -1},
        {"memory": 1, "reference": float("inf")},
    ],
)  # fmt: skip
def test_wrong_settings_are_refused(expander: expand.Expander, options: dict[str, Any]) -> None:
    """A tree that cannot be is not made."""
    with pytest.raises((TypeError, ValueError)):
        SearchTree(expander.network.circuit, **options)
