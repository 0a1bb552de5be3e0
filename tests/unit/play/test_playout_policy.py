"""How the games after a leaf are played: weights, learned values of unfinished games, ways for one role."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

import herbrand
from herbrand.play.search.beam import Beam
from herbrand.play.search.policy import PlayoutPolicy, learn_mast_weights, playout_expander
from herbrand.play.search.tree import Search

if TYPE_CHECKING:
    from herbrand.play.learning import LearnedJudge

CHOICE = """
(role a) (init (n 0))
(<= (legal a left) (true (n 0))) (<= (legal a right) (true (n 0)))
(<= (legal a up) (true (n 1))) (<= (legal a down) (true (n 1)))
(<= (next (n ?y)) (true (n ?x)) (succ ?x ?y)) (succ 0 1) (succ 1 2)
(<= (next took) (does a right))
(<= (next took) (true took))
(<= terminal (true (n 2)))
(<= (goal a 100) (true took)) (<= (goal a 0) (not (true took)))
"""
"""The first of two moves decides."""


def test_moves_that_go_with_good_results_weigh_more() -> None:
    """What always wins weighs most, what always loses least, and a move that makes no difference 2."""
    expander = herbrand.loads(CHOICE).expander
    weights = learn_mast_weights(expander, seed=1, games=512)
    assert (weights == learn_mast_weights(expander, seed=1, games=512)).all()
    assert dict(zip(expander.moves[0], weights.tolist(), strict=True)) == {
        "left": 1, "right": 8, "up": 2, "down": 2
    }  # fmt: skip


def test_weights_change_the_games_and_nothing_else(small_connect_four: herbrand.Game) -> None:
    """States are the same; with all the weight on a column it is filled first."""
    expander = small_connect_four.expander
    weights = np.ones(int(expander.bounds[-1]), np.int64)
    for role in range(2):
        weights[expander.bounds[role] + expander.move_numbers[role]["(drop 2)"]] = 200
    heavy = playout_expander(expander, PlayoutPolicy(weights=weights))
    assert heavy.fluent_names == expander.fluent_names
    ends = heavy.rollouts(heavy.initial, seed=1, each=64, max_steps=4)
    assert ends.truncated.all()
    line = heavy.rollouts(heavy.initial, seed=1, each=64, max_steps=4, watched=0).line
    assert sum("(drop 2)" in joint for joint in line) >= 3


@pytest.mark.parametrize("name", ["ticTacToe", "hex"])
def test_a_search_with_weights_counts_the_moves_of_the_game(name: str) -> None:
    """Also games in which a move came later, where a move has several places among those to choose from."""
    game = herbrand.load(name)
    weights = learn_mast_weights(game.expander, seed=1, games=512)
    policy = PlayoutPolicy(weights=weights)
    search = Search(game.network, memory=1 << 25, seed=1, amaf=200.0, policy=policy)
    search.move_to(search.expander.initial)
    for _ in range(4):
        search.round()
    tree, root = search.tree, search.root
    arms = slice(int(tree.first[root]), int(tree.first[root] + tree.sizes[root, 0]))
    assert (tree.amaf_count[arms] >= tree.arm_count[arms]).all()
    assert (tree.amaf_count[arms] > 0).all()
    assert (tree.amaf_total[arms] <= tree.amaf_count[arms]).all()


def test_games_that_are_cut_off_count_what_was_learned(learned: tuple[herbrand.Game, LearnedJudge]) -> None:
    """In breakthrough games end after four steps, values of both roles add up, and one more piece ahead is better."""
    game, lesson = learned
    assert lesson.features
    search = Search(game.network, memory=1 << 26, seed=1, policy=PlayoutPolicy(cutoff=4, judge=lesson.judge))
    expander = search.expander
    means = []
    for more in ("(cell d 4 black)", "(cell d 5 white)"):
        search.move_to(expander.pack([[*game.initial_state().facts, more]]))
        for _ in range(2):
            search.round()
        tree, root = search.tree, search.root
        positions = search.positions
        assert np.allclose(tree.total[:positions].sum(axis=1), tree.games[:positions])
        means.append(float(tree.total[root, 0] / tree.games[root]))
    assert means[0] < means[1]


@pytest.mark.parametrize("name", ["lightsOut", "hanoi", "eightPuzzle"])
def test_a_way_is_found_and_leads_to_its_value(name: str) -> None:
    """What the moves that were found lead to is what was promised, by the rules; more time finds no less."""
    game = herbrand.load(name)
    beam = Beam(game.network, seed=1)
    promised = []
    for _ in range(60):
        beam.run_step()
        promised.append(beam.value)
    assert promised == sorted(promised)
    state = game.initial_state("rules")
    for number in beam.moves:
        state = state.next([beam.expander.moves[0][number]])
    assert state.is_terminal
    assert state.goal(game.roles[0]) == round(100 * beam.value)
