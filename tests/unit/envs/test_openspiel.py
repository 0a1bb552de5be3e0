"""OpenSpiel plays our games, and they are its own where it has them."""

from __future__ import annotations

import json
import pickle
import random
import unittest

import numpy as np
import pytest

pyspiel = pytest.importorskip("pyspiel", reason="the extra `openspiel` is not installed")

from environment_checks import check_openspiel  # noqa: E402

import herbrand  # noqa: E402
from herbrand import GameError  # noqa: E402
from herbrand.analyse.knowledge import solve  # noqa: E402
from herbrand.envs.openspiel import load, match_trace, register, replay_trace  # noqa: E402

GAMES = [
    "ticTacToe",
    "kuhn",
    "rockPaperScissors",
    "nim",
    "montyHall",
    "trefoil",
    "liarsDice",
    "hiddenTreasure",
]
"""A selection; `benchmarks/interfaces.py` takes all."""


@pytest.mark.slow_except(
    "ticTacToe",
    "liarsDice",
    "kuhn",
    "hiddenTreasure",
    "nim",
    "rockPaperScissors",
    "montyHall",
    "hanoi",
    "eightPuzzle",
)
@pytest.mark.parametrize("name", GAMES)
def test_the_tests_of_the_library_pass(name: str) -> None:
    """Random simulation with states stored and read back, and the test of interfaces on some states."""
    assert check_openspiel(load(name), plays=1, states=6) == 6


@pytest.mark.parametrize("name", ["ticTacToe", "kuhn", "leduc", "rockPaperScissors"])
def test_observers_agree(name: str) -> None:
    """Tensors and strings of states can be had for every player at every node."""
    game = load(name)
    rng = random.Random(1)
    state = game.new_initial_state()
    while not state.is_terminal():
        if not state.is_chance_node():
            for player in range(game.num_players()):
                assert state.observation_string(player)
                assert state.information_state_string(player)
                assert len(state.observation_tensor(player)) == np.prod(game.observation_tensor_shape())
                if game.get_type().provides_information_state_tensor:
                    tensor = state.information_state_tensor(player)
                    assert len(tensor) == np.prod(game.information_state_tensor_shape())
                    assert tensor[player] == 1
        if state.is_simultaneous_node():
            state.apply_actions([rng.choice(state.legal_actions(p)) for p in range(game.num_players())])
        else:
            state.apply_action(rng.choice(state.legal_actions()))
    assert state.returns() == [float(x) for x in state.returns()]


def translated(name: str, text: str) -> str:
    """The move of ours that an action of OpenSpiel is."""
    if name == "ticTacToe":
        row, column = text[text.index("(") + 1 : -1].split(",")
        return f"(mark {int(row) + 1} {int(column) + 1})"
    if name == "connectFour":
        return f"(drop {int(text[1:]) + 1})"
    if name == "breakthrough":
        # here white begins, from below; there black, from above
        a, i, b, j = text[:4]
        return f"(move {a} {9 - int(i)} {b} {9 - int(j)})"
    if name == "hex":
        return f"(place {ord(text[0]) - ord('a') + 1} {text[1:]})"
    return text


def compare_games(name: str, theirs: str, count: int, seed: int) -> int:
    """Play random games in both; return how many nodes were compared."""
    short = f"scaled_{name}"
    if short not in pyspiel.registered_names():
        register(name, name=short, reward_range=(-1, 1))
    ours, other = pyspiel.load_game(short), pyspiel.load_game(theirs)
    rng = random.Random(seed)
    compared = 0
    for _ in range(count):
        a, b = ours.new_initial_state(), other.new_initial_state()
        while not b.is_terminal():
            assert not a.is_terminal()
            assert a.current_player() == b.current_player()
            mine = {a.action_to_string(action): action for action in a.legal_actions()}
            its = {translated(name, b.action_to_string(action)): action for action in b.legal_actions()}
            assert mine.keys() == its.keys()
            move = rng.choice(sorted(mine))
            a.apply_action(mine[move])
            b.apply_action(its[move])
            compared += 1
        assert a.is_terminal()
        assert a.returns() == b.returns()
    return compared


BOTH = {
    "ticTacToe": "tic_tac_toe",
    "connectFour": "connect_four",
    "breakthrough": "breakthrough",
    "hex": "hex(board_size=9)",
}


@pytest.mark.parametrize(
    ("name", "count"), [("ticTacToe", 60), ("connectFour", 20), ("breakthrough", 2), ("hex", 2)]
)
def test_board_games_are_those_of_openspiel(name: str, count: int) -> None:
    """Along random games the legal actions and the returns are those of OpenSpiel's own game."""
    assert compare_games(name, BOTH[name], count, seed=1) > 5 * count


@pytest.mark.slow
@pytest.mark.parametrize("name", BOTH)
def test_a_thousand_games_are_those_of_openspiel(name: str) -> None:
    """The same along a thousand random games."""
    assert compare_games(name, BOTH[name], 1000, seed=7) > 5000


CARDS = ("jack", "queen", "king")


def test_kuhn_poker_is_that_of_openspiel() -> None:
    """In every play of Kuhn poker there are as many actions, and 25 points are a chip."""
    other = pyspiel.load_game("kuhn_poker")
    meaning = {"Pass": ("check", "fold"), "Bet": ("bet", "call")}
    plays = 0

    def follow(a: object, b: object) -> None:
        nonlocal plays
        if b.is_terminal():
            plays += 1
            assert a.is_terminal()
            assert a.returns() == [50 + 25 * chips for chips in b.returns()]
            return
        assert a.current_player() == b.current_player()
        assert len(a.legal_actions()) == len(b.legal_actions()) == 2
        for action in b.legal_actions():
            names = meaning[b.action_to_string(action)]
            (mine,) = (m for m in a.legal_actions() if a.action_to_string(m) in names)
            follow(a.child(mine), b.child(action))

    for deal in load("kuhn").new_initial_state().legal_actions():
        a, b = load("kuhn").new_initial_state(), other.new_initial_state()
        cards = a.action_to_string(deal).strip("()").split()[1:]
        a.apply_action(deal)
        for card in cards:
            b.apply_action(CARDS.index(card))
        follow(a, b)
    assert plays == 30


@pytest.mark.parametrize("count", [40, pytest.param(1000, marks=pytest.mark.slow)])
def test_leduc_is_that_of_openspiel(count: int) -> None:
    """Along random deals and bets of Leduc hold'em actions and returns agree; 3 points are a chip."""
    ours, other = load("leduc"), pyspiel.load_game("leduc_poker")
    meaning = {"check": "Call", "call": "Call", "raise": "Raise", "fold": "Fold"}
    rng = random.Random(4)
    for _ in range(count):
        a, b = ours.new_initial_state(), other.new_initial_state()
        while not b.is_terminal():
            assert a.current_player() == b.current_player()
            action = rng.choice(a.legal_actions())
            text = a.action_to_string(action)
            if a.is_chance_node():
                words = text.strip("()").split()[1:]
                a.apply_action(action)
                for rank in words[::2]:
                    b.apply_action(next(m for m in b.legal_actions() if m // 2 == CARDS.index(rank)))
                continue
            mine = {meaning[a.action_to_string(m)] for m in a.legal_actions()}
            its = {b.action_to_string(m): m for m in b.legal_actions()}
            assert mine == its.keys()
            a.apply_action(action)
            b.apply_action(its[meaning[text]])
        assert a.returns() == [50 + 3 * chips for chips in b.returns()]


def test_algorithms_of_openspiel_run() -> None:
    """Values by its alpha-beta, MCTS, CFR, exploitability and its list of states are the known ones."""
    from open_spiel.python.algorithms import cfr, exploitability, get_all_states, mcts, minimax

    if "scaled_ticTacToe3" not in pyspiel.registered_names():
        register("ticTacToe", name="scaled_ticTacToe3", reward_range=(-1, 1))
    small = pyspiel.load_game("scaled_ticTacToe3")
    state = small.new_initial_state()
    for move in ("(mark 1 1)", "(mark 2 1)", "(mark 2 2)", "(mark 1 2)"):
        state.apply_action(state.string_to_action(move))
    value, action = minimax.alpha_beta_search(small, state=state)
    assert value == 1

    def lost(after: object) -> bool:
        """Whether the player to move, or who would be, loses."""
        if after.is_terminal():
            return after.returns()[1] == -1
        return minimax.alpha_beta_search(small, state=after)[0] == -1

    assert lost(state.child(action))
    chance = np.random.RandomState(1)
    bot = mcts.MCTSBot(small, 2, 300, mcts.RandomRolloutEvaluator(1, chance), random_state=chance)
    assert lost(state.child(bot.step(state)))
    kuhn = load("kuhn")
    solver = cfr.CFRSolver(kuhn)
    before = exploitability.exploitability(kuhn, solver.average_policy())
    for _ in range(60):
        solver.evaluate_and_update_policy()
    after = exploitability.exploitability(kuhn, solver.average_policy())
    assert after < 0.1 * before  # 25 points are a chip
    states = get_all_states.get_all_states(kuhn, include_chance_states=True)
    assert len(states) == 55  # 1 + 6 + 12 + 12 + 6 decisions and deals, and 30 ends, by their histories


def test_the_linear_program_of_openspiel_has_our_value_of_kuhn_poker() -> None:
    """As a zero-sum game Kuhn poker is worth -1/36 there, half of -1/18 as a chip is half a unit."""
    pytest.importorskip("cvxpy", reason="OpenSpiel's linear programs need cvxpy")
    pytest.importorskip("ecos", reason="OpenSpiel's linear programs need ecos")
    from open_spiel.python.algorithms import sequence_form_lp

    if "zero_sum_kuhn" not in pyspiel.registered_names():
        register("kuhn", name="zero_sum_kuhn", reward_range=(-1, 1))
    value = sequence_form_lp.solve_zero_sum_game(pyspiel.load_game("zero_sum_kuhn"))[0]
    exact = solve(herbrand.load("kuhn")).value
    assert exact is not None
    assert value == pytest.approx(float(exact["first"] - 50) / 50, abs=1e-6)


def test_players_who_choose_at_once_can_be_asked_one_by_one() -> None:
    """The turn-based view hides what was chosen, and ends with the same returns."""
    once = pyspiel.load_game(register("rockPaperScissors", name="rps_at_once"))
    turns = pyspiel.load_game(register("rockPaperScissors", name="rps_by_turns", turn_based=True))
    pyspiel.random_sim_test(turns, num_sims=3, serialize=True, verbose=False)
    a, b = once.new_initial_state(), turns.new_initial_state()
    assert a.is_simultaneous_node()
    while not a.is_terminal():
        joint = [a.legal_actions(0)[0], a.legal_actions(1)[-1]]
        a.apply_actions(joint)
        before = b.information_state_string(1)
        b.apply_action(joint[0])
        assert b.current_player() == 1
        assert b.information_state_string(1) == before
        assert "chose" in b.information_state_string(0)
        b.apply_action(joint[1])
    assert b.is_terminal()
    assert a.returns() == b.returns()


def test_parameters_of_games_are_parameters_in_openspiel() -> None:
    """`mnk` can be loaded with another board; wrong names and sums are refused."""
    register("mnk", name="mnk_of_ours")
    game = pyspiel.load_game("mnk_of_ours", {"M": 4, "N": 3, "K": 3})
    assert game.num_distinct_actions() > pyspiel.load_game("mnk_of_ours(M=3,N=3,K=3)").num_distinct_actions()
    pyspiel.random_sim_test(game, num_sims=2, serialize=True, verbose=False)
    with pytest.raises(GameError, match="has a game `mnk_of_ours` already"):
        register("mnk", name="mnk_of_ours")
    wrong = pyspiel.load_game(register("hanoi", name="hanoi_wrong", constant_sum=12))
    state = wrong.new_initial_state()
    while not state.is_terminal():
        state.apply_action(state.legal_actions()[-1])
    with pytest.raises(GameError, match="do not have the declared sum"):
        state.returns()


def test_states_are_copied_and_pickled() -> None:
    """A copy goes on alone; a pickled node comes back equal in what it says."""
    state = load("leduc").new_initial_state()
    copy = state.clone()
    copy.apply_action(copy.legal_actions()[0])
    assert state.is_chance_node()
    assert not copy.is_chance_node()
    back = pickle.loads(pickle.dumps(copy.at))
    assert back.state == copy.at.state
    assert back.informed == copy.at.informed


def test_the_whole_tree_of_a_game_passes() -> None:
    """OpenSpiel's test of the whole tree finds nothing wrong on Kuhn poker."""
    from open_spiel.integration_tests import api_test

    case = type("Kuhn", (api_test.EnforceAPIOnFullTreeBase,), {"game": load("kuhn"), "game_name": "kuhn"})
    result = unittest.TestResult()
    with pytest.MonkeyPatch.context() as patch:
        # chance, playable and terminal nodes (one deal here, of both cards), and information states
        patch.setitem(api_test.TOTAL_NUM_STATES, "kuhn", (1, 24, 30))
        patch.setitem(api_test.PERFECT_RECALL_NUM_STATES, "kuhn", 12)
        unittest.defaultTestLoader.loadTestsFromTestCase(case).run(result)
    assert result.testsRun > 3
    assert not result.errors + result.failures, (result.errors + result.failures)[0][1]


@pytest.mark.parametrize("name", ["ticTacToe", "kuhn", "rockPaperScissors", "montyHall", "nim"])
def test_structs_and_traces_lead_back_to_states_and_actions(name: str) -> None:
    """A state, an action and a match as JSON are the same ones again; observations hide what is hidden."""
    game = load(name)
    rng = random.Random(2)
    state = game.new_initial_state()
    while not state.is_terminal():
        struct = json.loads(state.to_struct().to_json())
        assert struct["game"] == name
        again = game.new_initial_state(state.to_struct())
        assert str(again) == str(state)
        assert again.current_player() == state.current_player()
        assert str(game.new_initial_state(struct)) == str(state)
        if state.is_simultaneous_node():
            actions = [rng.choice(state.legal_actions(player)) for player in range(game.num_players())]
            for player, action in enumerate(actions):
                moved = json.loads(state.action_to_struct(player, action).to_json())
                assert moved["move"] == state.action_to_string(player, action)
            state.apply_actions(actions)
            continue
        player, action = state.current_player(), rng.choice(state.legal_actions())
        moved = state.action_to_struct(player, action)
        assert state.struct_to_actions(moved) == [action]
        assert json.loads(moved.to_json())["move"] == state.action_to_string(player, action)
        for one in range(game.num_players()):
            seen = json.loads(state.to_observation_struct(one).to_json())
            assert ("facts" in seen) != herbrand.load(name).has_percepts
        state.apply_action_struct(moved)
    trace = json.loads(json.dumps(match_trace(state)))
    assert trace["is_terminal"]
    assert trace["returns"] == state.returns()
    assert str(replay_trace(game, trace)) == str(state)
    trace["steps"][0]["actions"] = trace["steps"][0]["actions"][::-1]
    trace["steps"][0]["state"]["facts"] = trace["steps"][0]["state"]["facts"][1:]
    with pytest.raises(GameError, match="begins in another state"):
        replay_trace(game, trace)


def test_structs_have_names_and_arguments() -> None:
    state = load("ticTacToe").new_initial_state()
    assert state.action_to_struct(0, 0).to_dict() == {
        "role": "xplayer",
        "move": "(mark 1 1)",
        "name": "mark",
        "arguments": ["1", "1"],
    }
    with pytest.raises(GameError, match="no state of ticTacToe"):
        load("ticTacToe").new_initial_state({"moon": "full"})


def test_observers_of_images() -> None:
    """All pictures of a game have the same size; hidden information is not drawn."""
    pytest.importorskip("resvg_py", reason="needs herbrand[pictures]")
    game = load("ticTacToe")
    observer = game.make_py_observer(params={"image": 64})
    state = game.new_initial_state()
    observer.set_from(state, 0)
    empty = observer.dict["image"].copy()
    assert max(empty.shape[:2]) == 64
    assert empty.shape[2] == 3
    assert 0 <= empty.min() < empty.max() <= 1
    state.apply_action(0)
    observer.set_from(state, 0)
    assert (observer.dict["image"] != empty).any()
    assert observer.tensor.size == empty.size
    assert "x at 1 1" in observer.string_from(state, 0)
    with pytest.raises(GameError, match="would show what the game hides"):
        load("kuhn").make_py_observer(params={"image": 64})
