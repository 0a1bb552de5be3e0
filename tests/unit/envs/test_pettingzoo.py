"""PettingZoo's own tests pass on our games, and the environments do what their pages say."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("pettingzoo", reason="the extra `rl` is not installed")

from environment_checks import check_pettingzoo

import herbrand
from herbrand import GameError, IllegalMoveError
from herbrand.envs.pettingzoo import env, parallel_env

GAMES = ["ticTacToe", "rockPaperScissors", "kuhn", "trefoil", "hanoi", "eightPuzzle", "montyHall"]
"""A selection; `benchmarks/interfaces.py` takes all."""


@pytest.mark.slow_except("ticTacToe", "eightPuzzle", "rockPaperScissors", "hanoi", "kuhn", "montyHall", "nim")
@pytest.mark.parametrize("name", GAMES)
def test_the_tests_of_the_library_pass(name: str) -> None:
    """Interfaces, seeds, rendering and the limit of cycles, agents in turn and together, masks in either place."""
    game = herbrand.load(name)
    lasting = name in ("hanoi", "eightPuzzle", "trefoil")  # never over after few steps
    assert check_pettingzoo(game, "aec", cycles=30, max_cycles=50) == 4 + lasting
    assert check_pettingzoo(game, "parallel", cycles=30, max_cycles=50) == 3 + lasting


def test_cycles_are_counted() -> None:
    """The end by the limit is a truncation, without a reward."""
    game = parallel_env("eightPuzzle", max_cycles=2)
    seen, _ = game.reset()
    agent = game.agents[0]
    for _ in range(2):
        seen, rewards, terminated, truncated, _ = game.step({agent: int(seen[agent]["action_mask"].argmax())})
    assert truncated[agent]
    assert not terminated[agent]
    assert rewards[agent] == 0
    assert game.agents == []


def test_a_game_of_tic_tac_toe() -> None:
    """Agents alternate, waiting is skipped, the winner has 1 and the loser -1."""
    game = env("ticTacToe")
    game.reset()
    for move, agent in zip(
        ("(mark 1 1)", "(mark 2 1)", "(mark 1 2)", "(mark 2 2)", "(mark 1 3)"),
        ["xplayer", "oplayer"] * 3,
        strict=False,
    ):
        assert game.agent_selection == agent
        assert game.has_choice(agent)
        actions = [game.action_name(agent, a) for a in range(game.action_space(agent).n)]
        game.step(actions.index(move))
    assert game.rewards == {"xplayer": 1.0, "oplayer": -1.0}
    assert all(game.terminations.values())
    every = env("ticTacToe", skip_forced=False)
    every.reset()
    every.step(0)
    assert every.agent_selection == "oplayer"
    assert not every.has_choice("oplayer")
    assert every.observe("xplayer")["action_mask"].sum() == 0


def test_states_can_be_kept_and_set() -> None:
    """`state_value` is a value; `set_state` goes back to it; `state` is an array of the declared space."""
    game = env("connectFour")
    game.reset()
    kept = game.state_value
    game.step(0)
    assert game.state_value != kept
    later = game.state_value
    game.set_state(kept)
    assert game.state_value == kept
    game.reset(seed=1, options={"state": later})
    assert game.state_value == later
    together = parallel_env("connectFour")
    _, infos = together.reset(options={"state": later})
    assert {agent for agent in together.agents if infos[agent]["has_choice"]} == {game.agent_selection}
    assert game.infos[game.agent_selection]["has_choice"]
    assert game.state_space.contains(game.state())


def test_illegal_actions_are_refused() -> None:
    """The message names the action, the role and what is legal; nothing moves."""
    game = env("ticTacToe")
    game.reset()
    with pytest.raises(
        IllegalMoveError, match=r"action 9 is not legal for xplayer \(legal: 0 `\(mark 1 1\)`"
    ):
        game.step(9)
    assert game.agent_selection == "xplayer"
    together = parallel_env("ticTacToe")
    together.reset()
    with pytest.raises(IllegalMoveError, match="for oplayer"):
        together.step({"xplayer": 0, "oplayer": 0})
    with pytest.raises(ValueError, match="masks"):
        env("ticTacToe", masks="nowhere")


def test_parameters_are_keyword_arguments() -> None:
    """Or given as `parameters`; a word that is no parameter of the game is an option of the environment."""
    for made in (env("mnk", M=5, K=4, masks="info"), parallel_env("mnk", parameters={"M": 5}, K=4)):
        assert {p.name: p.value for p in made.game.parameters} == {"M": 5, "N": 3, "K": 4}
    with pytest.raises(GameError, match="1 to 19"):
        env("mnk", M=50)
    with pytest.raises(TypeError):
        env("mnk", Q=5)


def test_the_registry_makes_games() -> None:
    """Bundled games are in PettingZoo's registry, where it has one; parameters are arguments."""
    registry = pytest.importorskip("pettingzoo.env_registry.registration")
    made = registry.make("aec", "herbrand/ticTacToe-v0")
    assert made.metadata["name"] == "ticTacToe_v0"
    assert registry.make("parallel", "herbrand/mnk-v0", parameters={"M": 4}).game.parameters[0].value == 4


def test_hidden_cards_are_not_seen() -> None:
    """In Kuhn poker a player's observation is its own card and what it was told, and says nothing of the other's."""
    seen = {}
    game = env("kuhn")
    for seed in range(30):
        game.reset(seed=seed)
        facts = game.state_value.facts
        card = next(f for f in facts if f.startswith("(holds first"))
        seen.setdefault(card, set()).add(game.observe("first")["observation"].tobytes())
    assert len(seen) == 3
    assert all(len(arrays) == 1 for arrays in seen.values())
    assert len(set.union(*seen.values())) == 3
    assert np.frombuffer(next(iter(seen[card])), np.int8).any()
