"""Gymnasium's own tests pass on our games, one at a time and in batches."""

from __future__ import annotations

import numpy as np
import pytest

gymnasium = pytest.importorskip("gymnasium", reason="the extra `rl` is not installed")

from environment_checks import check_gymnasium  # noqa: E402
from gymnasium.vector import AutoresetMode  # noqa: E402

import herbrand  # noqa: E402
from herbrand import GameError  # noqa: E402
from herbrand.envs.gymnasium import make, make_batch  # noqa: E402

GAMES = ["eightPuzzle", "lightsOut", "ticTacToe", "rockPaperScissors", "kuhn", "trefoil", "montyHall"]


@pytest.mark.slow_except(
    "rockPaperScissors", "ticTacToe", "lightsOut", "kuhn", "eightPuzzle", "montyHall", "nim", "hanoi"
)
@pytest.mark.parametrize("name", GAMES)
def test_the_checker_passes(name: str) -> None:
    """`check_env` finds nothing wrong, and a game with masks ends, or is cut off."""
    assert check_gymnasium(herbrand.load(name), max_steps=40) == 2


def test_opponents_are_players() -> None:
    """A greedy opponent takes a win at once; with hidden information only players that do not look may play."""
    env = make("ticTacToe", opponent="greedy")
    env.reset(seed=1)
    names = [env.action_name(a) for a in range(env.action_space.n)]
    board = "oobxbbxbb"
    facts = [f"(cell {i // 3 + 1} {i % 3 + 1} {mark})" for i, mark in enumerate(board)]
    kept = env.unwrapped.state_value.game.state([*facts, "(control xplayer)"])
    env.set_state(kept)
    _, reward, terminated, _, _ = env.step(names.index("(mark 3 3)"))
    assert terminated
    assert reward == -1
    env.reset(options={"state": kept})
    assert env.state_value == kept
    with pytest.raises(GameError, match="would see what the game hides"):
        make("kuhn", opponent="greedy")
    with pytest.raises(GameError, match="played by chance"):
        make("kuhn", role="random")
    with pytest.raises(ValueError, match="opponents are wanted for oplayer"):
        make("ticTacToe", opponent={"nobody": "random"})


def test_the_same_seed_gives_the_same_game() -> None:
    """Opponents and chance follow the seed."""
    games = []
    for _ in range(2):
        env = make("connectFour", role="yellow")
        seen, info = env.reset(seed=5)
        told = [seen.tobytes()]
        for _ in range(6):
            seen, _, terminated, _, info = env.step(int(info["action_mask"].argmax()))
            told.append(seen.tobytes())
            if terminated:
                break
        games.append(told)
    assert games[0] == games[1]


def test_render_draws_the_board() -> None:
    """The text of the state is the drawing of `herbrand show`."""
    env = gymnasium.make("herbrand/ticTacToe-v0", render_mode="ansi")
    env.reset()
    assert env.render().splitlines()[1] == "1 . . ."
    drawn = gymnasium.make("herbrand/ticTacToe-v0", render_mode="rgb_array")
    drawn.reset()
    empty = drawn.render()
    drawn.step(4)
    assert empty.shape == drawn.render().shape
    assert (empty != drawn.render()).any()


@pytest.mark.slow_except("eightPuzzle", "rockPaperScissors")
@pytest.mark.parametrize("name", ["eightPuzzle", "ticTacToe", "rockPaperScissors", "connectFour"])
@pytest.mark.parametrize("mode", ["next", "same", "off"])
def test_batches(name: str, mode: str) -> None:
    """A batch is always at the agent's turn, ends and begins again as its mode says, and rewards come at ends."""
    env = gymnasium.make_vec(
        f"herbrand/{name}-v0",
        num_envs=70,
        vectorization_mode="vector_entry_point",
        auto_reset=mode,
        max_steps=30,
    )
    assert env.metadata["autoreset_mode"] in AutoresetMode
    seen, info = env.reset(seed=1)
    assert env.observation_space.contains(seen)
    before = np.zeros(70, bool)
    met = 0
    batch = env.unwrapped.batch
    for _ in range(45):
        mask = info["action_mask"]
        assert mask.any(axis=1).all()
        seen, rewards, terminated, truncated, info = env.step(mask.argmax(axis=1))
        ended = terminated | truncated
        assert not rewards[~terminated].any()
        assert not (terminated & truncated).any()
        assert env.observation_space.contains(seen)
        if mode == "next":
            assert not ended[before].any()
            assert not rewards[before].any()
            before = ended
            assert (batch.over == ended).all()
        elif mode == "same":
            assert not batch.over.any()
            assert (ended.any() and "final_obs" in info) or not ended.any()
            if ended.any():
                assert (info["_final_obs"] == ended).all()
                assert info["final_obs"][ended].any(axis=tuple(range(1, seen.ndim))).all()
        else:
            assert (batch.over | ~ended).all()
            if batch.over.any():
                seen, info = env.reset(options={"reset_mask": batch.over})
                assert not batch.over.any()
        met += ended.sum()
    assert met


def test_parameters_are_keyword_arguments() -> None:
    """For one game and for many; `parameters` gives them by name."""
    for made in make("mnk", M=4), gymnasium.make("herbrand/mnk-v0", M=4).unwrapped:
        assert {p.name: p.value for p in made.game.parameters} == {"M": 4, "N": 3, "K": 3}
    many = make_batch("mnk", 2, M=4)
    assert many.single_observation_space.shape[:2] == (3, 4)


def test_batches_that_make_no_sense_are_refused() -> None:
    """What a game hides cannot be shown in a batch to one of several players."""
    with pytest.raises(GameError, match="show what the game hides"):
        make_batch("kuhn", 3)
    assert make_batch("mastermind", 3).num_envs == 3
