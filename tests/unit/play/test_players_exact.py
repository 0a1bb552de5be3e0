"""Players that know: shortest plans, solved games, and the one that picks the others."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pytest

import herbrand
from herbrand.analyse.solving.minimax.judge import no_judge
from herbrand.analyse.solving.plan import Plan, find_plan
from herbrand.play.alphabeta import AlphaBetaPlayer
from herbrand.play.learning import LearnedJudge
from herbrand.play.mcts import MctsPlayer
from herbrand.play.meta import MetaPlayer
from herbrand.play.puzzle import PuzzlePlayer
from herbrand.play.registry import make_player
from herbrand.play.search.rules_search import RulesSearch
from herbrand.play.solved import SolvedPlayer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from herbrand.game import Game

TURNING = """
(role a) (role b) (init (at 0)) (init (turn a))
(succ 0 1) (succ 1 2) (succ 2 3) (succ 3 0)
(<= (legal ?r forth) (true (turn ?r))) (<= (legal ?r back) (true (turn ?r)))
(<= (legal ?r stop) (true (turn ?r)) (true (at 2)))
(<= (legal ?r wait) (role ?r) (not (true (turn ?r))))
(<= (next (at ?y)) (true (at ?x)) (does ?r forth) (succ ?x ?y))
(<= (next (at ?x)) (true (at ?y)) (does ?r back) (succ ?x ?y))
(<= (next (won ?r)) (does ?r stop))
(<= (next (turn b)) (true (turn a))) (<= (next (turn a)) (true (turn b)))
(<= terminal (true (won ?r)))
(<= (goal ?r 100) (true (won ?r)))
(<= (goal ?r 0) (role ?r) (true (won ?s)) (distinct ?r ?s))
(<= (goal ?r 50) (role ?r) (not won)) (<= won (true (won ?r)))
"""
"""Whoever moves at place 2 wins; the two walk in circles."""


@pytest.mark.slow_except("hanoi")
@pytest.mark.parametrize("name", ["hanoi", "eightPuzzle"])
def test_a_puzzle_is_solved_in_as_few_steps_as_possible(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The player takes as many steps as the shortest plan has, if it is given the time to find it."""
    monkeypatch.setattr("herbrand.play.puzzle._FIRST", 100.0)
    game = herbrand.load(name)
    player = PuzzlePlayer(seed=1)
    player.start(game, game.roles[0], 600)
    plan = find_plan(game)
    assert plan.moves is not None
    state, steps = game.initial_state("rules"), 0
    while not state.is_terminal:
        state = state.next([player.select(state, 1)])
        steps += 1
    assert state.goal(game.roles[0]) == 100
    assert steps == len(plan.moves)


def test_a_puzzle_is_solved_where_no_shortest_plan_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Then any plan will do, as for lights out."""
    game = herbrand.load("blocksWorld")
    nothing = Plan(100, None, False, None, "none", -1, 0.0)
    monkeypatch.setattr("herbrand.analyse.solving.plan.find_plan", lambda *_, **__: nothing)
    player = PuzzlePlayer(seed=1)
    player.start(game, game.roles[0], 600)
    state = game.initial_state("rules")
    while not state.is_terminal:
        state = state.next([player.select(state, 1)])
        assert "a plan of" in str(player.report())
    assert state.goal(game.roles[0]) == 100


def test_a_player_of_puzzles_hands_over_what_it_cannot_do() -> None:
    """With two roles it says so, and tree search chooses."""
    game = herbrand.load("ticTacToe")
    player = PuzzlePlayer(seed=1)
    player.start(game, "xplayer", 600)
    state = game.initial_state()
    assert state.is_legal("xplayer", player.select(state, 0.3))
    report = player.report()
    assert report is not None
    assert "plans are for one role" in str(report)


@pytest.mark.parametrize("name", ["ticTacToe", "nim"])
def test_a_solved_game_is_never_given_away(name: str) -> None:
    """Against chance, as either role, the value is kept."""
    from herbrand.analyse.solving.solve import solve

    game = herbrand.load(name)
    value = solve(game).value
    assert value is not None
    for seed in range(4):
        role = game.roles[seed % 2]
        player = SolvedPlayer(seed=seed)
        player.start(game, role, 600)
        assert player.policy is not None
        state, chance = game.initial_state(), random.Random(seed)
        while not state.is_terminal:
            joint = {r: chance.choice(moves) for r, moves in state.legal_moves().items()}
            joint[role] = player.select(state, 1)
            report = player.report()
            if report is not None:
                assert report.best.proved is not None
                assert report.best.proved >= value[role]
            state = state.next(joint)
        goal = state.goal(role)
        assert goal is not None
        assert goal >= value[role]


def test_a_game_without_end_is_won_where_it_can_be() -> None:
    """Where plays can go on for ever, a forced win makes progress, and the opponent is kept from his."""
    game = herbrand.loads(TURNING)
    for role, at, move in (("a", 2, "stop"), ("b", 3, "forth"), ("b", 1, "back")):
        player = SolvedPlayer(seed=1)
        player.start(game, role, 600)
        assert player.policy is not None
        state = game.state([f"(at {at})", f"(turn {role})"])
        assert player.select(state, 1) == move
        report = player.report()
        assert report is not None
        assert report.best.proved == (100 if role == "a" else 50)


def test_moves_at_once_are_not_solved() -> None:
    """The player says why, and still answers."""
    game = herbrand.load("rockPaperScissors")
    player = SolvedPlayer(seed=1)
    player.start(game, game.roles[0], 600)
    assert player.policy is None
    state = game.initial_state()
    for _ in range(120):  # until what plays instead is ready
        assert state.is_legal(game.roles[0], player.select(state, 0.5))
        if player.report() is not None:
            break
    assert "several roles choose at the same time" in str(player.report())


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("hanoi", "one role"),
        ("nim", "the game is solved"),
        ("rockPaperScissors", "choose at the same time in step 1"),
    ],
)
def test_the_player_for_any_game_says_why(name: str, reason: str) -> None:
    """Games for one, small games and moves at once get the player that suits them."""
    game = herbrand.load(name)
    player = MetaPlayer(seed=1)
    player.start(game, game.roles[0], 600)
    assert reason in player.reason
    state = game.initial_state()
    assert state.is_legal(game.roles[0], player.select(state, 0.05))
    assert player.reason in str(player.report())


@pytest.mark.parametrize(
    ("name", "explained", "chosen"),
    [
        ("breakthrough", 0.5, "alpha-beta, since the learned evaluation explains 50%"),
        ("breakthrough", 0.1, "tree search, since the learned evaluation explains 10%"),
        ("connectFour", None, "tree search, since decisive-move playouts"),
        ("ticTacToe", None, "tree search, since pieces are only placed"),
    ],
)
def test_alpha_beta_is_picked_where_values_can_be_learned(
    name: str, explained: float | None, chosen: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two who take turns, too many states, enough explained; where tree search is better nothing is learned."""
    learned: list[LearnedJudge] = []

    def study(self: AlphaBetaPlayer, game: Game, role: int, seconds: float) -> Iterator[dict[str, Any]]:
        assert role == game.role_index(self.role)
        assert seconds > 0
        assert explained is not None
        learned.append(LearnedJudge(no_judge(2), 1, 1, explained, 0.1))
        yield {"learned": learned[-1], "_engines": []}

    monkeypatch.setattr(AlphaBetaPlayer, "study", study)
    monkeypatch.setattr("herbrand.play.meta._MAX_SOLVED_STATES", 10)
    game = herbrand.game.load(name)
    player = MetaPlayer(seed=1, memory=100)
    player.start(game, game.roles[0], 600)
    assert len(learned) == (explained is not None)
    assert chosen in player.reason
    assert isinstance(player._deputy, AlphaBetaPlayer) is chosen.startswith("alpha-beta")
    state = game.initial_state()
    assert state.is_legal(game.roles[0], player.select(state, 0.05))


CLAIMS = """
(role a) (role b) (init start)
(legal a claim) (legal a share) (legal b noop)
(<= (next claimed) (does a claim)) (<= (next shared) (does a share))
(<= terminal (true claimed)) (<= terminal (true shared))
(<= (goal a 100) (true claimed)) (<= (goal a 0) (true claimed)) (<= (goal b 0) (true claimed))
(<= (goal a 40) (true shared)) (<= (goal b 60) (true shared))
"""
"""With the move `claim` the rules give role a two goal values, and so it has no result."""


@pytest.mark.parametrize(
    "name",
    [
        "mcts(playouts=600)",
        "alphabeta(nodes=50,threads=1)",
        "solved",
        "montecarlo(playouts=600)",
        "greedy",
        "meta",
    ],
)
def test_a_goal_value_that_conflicts_is_worth_nothing(name: str) -> None:
    """Any player takes 40 points rather than an end at which a match manager finds no goal value for it."""
    game = herbrand.loads(CLAIMS)
    player = make_player(name, seed=1)
    player.start(game, "a", 600)
    assert player.select(game.initial_state(), 5) == "share"
    report = player.report()
    if report is not None and report.moves[0].proved is not None:
        assert report.moves[0].proved == 40
    player.stop()


def test_the_search_without_a_network_counts_conflicting_goals_alike() -> None:
    """A playout with `claim` adds nothing to its sum."""
    game = herbrand.loads(CLAIMS)
    search = RulesSearch("a", 1)
    search.move_to(game.initial_state())
    search.run(lambda: search.playouts < 40)
    assert {report.move: report.mean for report in search.reports()} == pytest.approx(
        {"claim": 0, "share": 40}
    )


def test_the_value_of_an_end_with_conflicting_goals_is_proved() -> None:
    """It is 0 for both roles, so that their goals have no constant sum."""
    game = herbrand.loads(CLAIMS)
    player = MctsPlayer(seed=1, playouts=600)
    player.start(game, "a", 600)
    player.select(game.initial_state(), 5)
    search = player._match.search
    assert search is not None
    tree = search.tree
    child = int(tree.arm_child[int(tree.first[search.root])])
    assert tree.low[child].tolist() == tree.high[child].tolist() == [0.0, 0.0]
    assert tree.sum == -1.0
