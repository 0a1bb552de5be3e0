"""PettingZoo's own tests pass on our games, and the environments do what their pages say."""

from __future__ import annotations

import warnings
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("pettingzoo", reason="the extra `rl` is not installed")

from pettingzoo.test import (
    api_test,
    max_cycles_test,
    parallel_api_test,
    parallel_seed_test,
    render_test,
    seed_test,
)

import herbrand
from herbrand import IllegalMoveError
from herbrand.envs.pettingzoo import env, parallel_env

GAMES = ["ticTacToe", "rockPaperScissors", "kuhn", "trefoil", "hanoi", "tron", "montyHall"]


@pytest.mark.parametrize("masks", ["observation", "info"])
@pytest.mark.parametrize("name", GAMES)
def test_agents_in_turn(name: str, masks: str) -> None:
    """The tests of interfaces, seeds and rendering pass, with masks in either place."""
    game = herbrand.load(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # names of roles are the game's own
        api_test(env(game, masks=masks), num_cycles=60)
        if masks == "observation":
            seed_test(lambda: env(game), num_cycles=40)
            render_test(lambda render_mode="ansi": env(game, render_mode=render_mode))


@pytest.mark.parametrize("name", GAMES)
def test_agents_together(name: str) -> None:
    """The tests of the parallel interface pass: every role moves in every step."""
    game = herbrand.load(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        parallel_api_test(parallel_env(game), num_cycles=60)
        parallel_seed_test(lambda: parallel_env(game, illegal="replace"), num_cycles=40)


def test_cycles_are_counted() -> None:
    """PettingZoo's test of the limit passes on a game that lasts longer; the end is a truncation."""
    make = SimpleNamespace(
        parallel_env=lambda **options: parallel_env("eightPuzzle", illegal="replace", **options),
        env=lambda **options: env("eightPuzzle", illegal="replace", **options),
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        max_cycles_test(make)
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
    game.set_state(kept)
    assert game.state_value == kept
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


def test_the_registry_makes_games() -> None:
    """Bundled games are in PettingZoo's registry, where it has one; parameters are arguments."""
    registry = pytest.importorskip("pettingzoo.env_registry.registration")
    made = registry.make("aec", "herbrand/ticTacToe-v0")
    assert made.metadata["name"] == "ticTacToe_v0"
    assert registry.make("parallel", "herbrand/mnk-v0", parameters={"M": 4}).game.parameters[0].value == 4


def test_hidden_cards_are_not_seen() -> None:
    """In Kuhn poker a player's observation is its own card and what it was told, and says nothing of the other's."""
    seen = {}
    for seed in range(30):
        game = env("kuhn")
        game.reset(seed=seed)
        facts = game.state_value.facts
        card = next(f for f in facts if f.startswith("(holds first"))
        seen.setdefault(card, set()).add(game.observe("first")["observation"].tobytes())
    assert len(seen) == 3
    assert all(len(arrays) == 1 for arrays in seen.values())
    assert len(set.union(*seen.values())) == 3
    assert np.frombuffer(next(iter(seen[card])), np.int8).any()
