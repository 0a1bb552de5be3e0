"""Alpha-beta: proved values agree with solved games, searches can be interrupted, values are learned."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import pytest

import herbrand
from herbrand.analyse.knowledge.histories import history
from herbrand.analyse.solving.minimax.judge import LOWER, SCALE, no_judge
from herbrand.analyse.solving.minimax.search import DEEPEST, AlphaBetaSearch
from herbrand.core import TranspositionTable
from herbrand.play import make_player
from herbrand.play.alphabeta import AlphaBetaPlayer, move_reports
from herbrand.play.learning import evaluate_states
from herbrand.play.mcts import MctsPlayer
from herbrand.play.solved import solve_for_role

if TYPE_CHECKING:
    from herbrand.machine.state import State
    from herbrand.play.learning import LearnedJudge


RandomState = Callable[[herbrand.Game, int, int], "State"]


@pytest.mark.parametrize("name", ["ticTacToe", "nim"])
def test_what_is_proved_is_the_value(name: str, random_state: RandomState) -> None:
    """From many positions, for both roles: the value of retrograde analysis, and a move that keeps it."""
    game = herbrand.load(name)
    expander = game.expander
    for role in range(2):
        policy = solve_for_role(game, role, 600, states=100_000, megabytes=500)
        search = AlphaBetaSearch(game.network, role, memory=1 << 20, exact=True)
        for seed in range(25):
            root = expander.pack([random_state(game, seed % 6, seed).facts])
            search.move_to(root)
            search.run(100_000)
            place = policy.find(root)
            assert place is not None
            assert search.is_solved
            assert round(search.value) == round(policy.values[place])
            if expander.legal(root).counts()[0, role] < 2:
                continue
            values = {move: value for move, value, _ in policy.options(place)}
            assert values[search.move_text(search.choice)] == policy.values[place]
            for report in move_reports(search):
                assert report.at_least <= values[report.move] <= report.at_most
                if report.proved is not None:
                    assert values[report.move] == report.proved


def test_searching_in_slices_is_searching(small_connect_four: herbrand.Game) -> None:
    """A search that is interrupted all the time finds the same in as many positions."""
    network = small_connect_four.network
    found = []
    for most in (3, 1_000_000):
        search = AlphaBetaSearch(network, 0, memory=1 << 20)
        search.move_to(search.expander.initial)
        while search.depth < 9:
            search.slice(most)
        found.append((search.value, search.choice, search.nodes))
    assert found[0] == found[1]


@pytest.mark.parametrize(("name", "depth"), [("connectFour", 4), ("breakthrough", 3), ("ticTacToe", 5)])
def test_so_many_steps_ahead_the_value_is_that_of_plain_minimax(
    name: str, depth: int, random_state: RandomState
) -> None:
    """Where all leaves are valued by what is legal in them, whatever is evaluated together with them."""
    game = herbrand.load(name)
    expander = game.expander
    judge = no_judge(2)._replace(mobility=np.array([700.0, -400.0]))
    for seed in range(4):
        root = expander.pack([random_state(game, 3 + seed, seed).facts])
        search = AlphaBetaSearch(game.network, 0, memory=1 << 20, judge=judge, exact=True)
        search.move_to(root)
        while search.depth < depth and not search.is_solved:
            search.slice(7 * seed + 1)
        levels, parents = [root], []
        for _ in range(search.depth):
            after = expander.expand(levels[-1])
            levels.append(after.states)
            parents.append(after.parents)
        values = judge.valuer(game.network, 0).values(levels[-1]).astype(float)
        for ply in reversed(range(search.depth)):
            # proved ends count as less the further away they are
            legal = expander.legal(levels[ply])
            mine = legal.counts()[:, 0] > 1
            over = expander.terminal(levels[ply + 1])
            values[over] -= (ply + 1) * np.sign(values[over] - 50 * SCALE)
            low, high = np.full(len(mine), np.inf), np.full(len(mine), -np.inf)
            np.minimum.at(low, parents[ply], values)
            np.maximum.at(high, parents[ply], values)
            ends = judge.valuer(game.network, 0).values(levels[ply]).astype(float)
            values = np.where(legal.over, ends, np.where(mine, high, low))
        assert search.value == values[0] / SCALE


def test_forced_wins_are_taken_the_short_way(about_to_win: State) -> None:
    """Three in a row is finished at once, and the explanation says that it is proved."""
    player = make_player("alphabeta", seed=3)
    player.start(about_to_win.game, "xplayer", 600)
    assert player.select(about_to_win, 5) == "(mark 1 3)"
    report = player.report()
    assert report is not None
    assert (report.best.move, report.best.proved, report.best.plies) == ("(mark 1 3)", 100, 1)
    assert "searched to depth 1," in str(report) or "searched to depth 2," in str(report)


def test_a_table_gives_back_what_it_took() -> None:
    """Values, depths, bounds and moves survive; a state that is not there is not found."""
    table = TranspositionTable(1 << 16)
    assert table.bytes == 1 << 16
    chance = random.Random(1)
    for _ in range(200):
        key = chance.getrandbits(64)
        value, depth, move = chance.randrange(100 * SCALE), chance.randrange(DEEPEST), chance.randrange(9999)
        table.store(key, value, depth, LOWER, True, move)
        assert table.probe(key) == (value, depth, LOWER, True, move)
        assert table.probe(key ^ (1 << 40)) is None
    table.touch()
    assert table.bytes == 1 << 16
    assert table.probe(key) is None
    with pytest.raises(ValueError, match="depth"):
        table.store(1, 0, 512, LOWER, True, 0)


@pytest.mark.slow
def test_values_are_learned_from_random_games(
    random_state: RandomState, learned: tuple[herbrand.Game, LearnedJudge]
) -> None:
    """In breakthrough, who is ahead is told well enough, and both ways of evaluating agree."""
    game, lesson = learned
    assert 0 < lesson.features < len(lesson.judge.literals)  # fluents have weights as novelties, too
    assert lesson.explained > 0.3
    states = np.concatenate([game.expander.pack([random_state(game, 10, s).facts]) for s in range(20)])
    values = evaluate_states(game.expander, 0, states, lesson.judge)
    assert values.std() > SCALE
    search = AlphaBetaSearch(game.network, 0, memory=1 << 20, judge=lesson.judge)
    for state, value in zip(states, values, strict=True):
        search.move_to(state[None, :])
        assert abs(search.core.root_value() - min(max(value, SCALE // 2), 99.5 * SCALE)) <= 1


@pytest.mark.parametrize(
    ("name", "why"),
    [("rockPaperScissors", "at the same time"), ("kuhn", "hidden information")],
)
def test_what_alpha_beta_cannot_play_it_hands_over(name: str, why: str) -> None:
    """Moves at once, hidden things and chance are for tree searches, and the report says so."""
    game = herbrand.load(name)
    player = AlphaBetaPlayer(seed=1, learning=False)
    player.start(game, game.players[0], 600)
    state, moves = game.initial_state(), []
    while len(state.legal_moves(player.role)) == 1:
        moves.append(state.random_joint_move(random.Random(1)))
        state = state.next(moves[-1])
    player.receive_history(history(game, player.role, moves))
    assert state.is_legal(player.role, player.select(state, 0.2))
    assert why in player.note()


def test_a_look_ahead_helps_the_tree_search(
    small_connect_four: herbrand.Game, random_state: RandomState
) -> None:
    """A win that is too long for the random games of a short search is proved by the look ahead."""
    game = small_connect_four
    state = random_state(game, 6, 4)
    role = next(role for role in game.players if len(state.legal_moves(role)) > 1)
    sure = AlphaBetaSearch(game.network, game.role_index(role), memory=1 << 22, exact=True)
    sure.move_to(game.expander.pack([state.facts]))
    sure.run(300_000)
    assert sure.is_solved
    player = MctsPlayer(seed=1, memory=100, playouts=200_000)
    player.start(game, role, 600)
    assert player._match.probe is not None
    move = player.select(state, 60)
    after = {str(m): sure_value(game, role, state, str(m)) for m in state.legal_moves(role)}
    assert after[str(move)] == max(after.values())


def sure_value(game: herbrand.Game, role: str, state: State, move: str) -> float:
    """The value after a move, by an exact search."""
    joint = {r: legal[0] for r, legal in state.legal_moves().items()}
    after = state.next({**joint, role: move})
    if after.is_terminal:
        return float(after.goal(role) or 0)
    search = AlphaBetaSearch(game.network, game.role_index(role), memory=1 << 22, exact=True)
    search.move_to(game.expander.pack([after.facts]))
    search.run(300_000)
    assert search.is_solved
    return float(round(search.value))


@pytest.mark.parametrize("who", ["mcts(playouts=20000)", "alphabeta(nodes=20000)"])
@pytest.mark.parametrize("name", ["ticTacToe", "nim"])
def test_won_positions_are_won(who: str, name: str, random_state: RandomState) -> None:
    """Against an opponent that keeps as much as it can."""
    game = herbrand.load(name)
    policy = [solve_for_role(game, role, 600, states=100_000, megabytes=500) for role in range(2)]
    tried = 0
    for seed in range(60):
        state = random_state(game, seed % 5, seed)
        place = policy[0].find(game.expander.pack([state.facts]))
        assert place is not None
        if policy[0].values[place] == 50:
            continue
        winner = 0 if policy[0].values[place] == 100 else 1
        player = make_player(who, seed=seed)
        player.start(game, game.roles[winner], 600)
        while not state.is_terminal:
            joint = [legal[0] for legal in state.legal_moves().values()]
            if len(state.legal_moves(game.roles[winner])) > 1:
                joint[winner] = player.select(state, 60)
            elif len(state.legal_moves(game.roles[1 - winner])) > 1:
                place = policy[1 - winner].find(game.expander.pack([state.facts]))
                assert place is not None
                best = policy[1 - winner].options(place)[0][0]
                joint[1 - winner] = next(m for m in state.legal_moves(game.roles[1 - winner]) if m == best)
            state = state.next(joint)
        assert state.goal(game.roles[winner]) == 100
        tried += 1
        if tried == 2:
            break
    assert tried == 2
