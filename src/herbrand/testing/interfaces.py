"""The tests that OpenSpiel, PettingZoo and Gymnasium ship for games of others, run on one of ours.

Each function raises `AssertionError` where such a test finds something wrong, `MissingExtra` where the
library is not installed, and `GameError` where a game does not fit the interface, as the interface does.
"""

from __future__ import annotations

import contextlib
import io
import unittest
import warnings
from importlib import import_module
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from herbrand.game import Game

__all__ = ["check_gymnasium", "check_openspiel", "check_pettingzoo"]


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Without advice: names of roles are the game's own, and an illegal action is no crash."""
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        yield


def check_openspiel(game: Any, *, plays: int = 3, interface: bool = True, states: int = 400) -> int:
    """Run OpenSpiel's tests on one of its games, as `pyspiel.load_game` gives it; return how many were run.

    Those are its random simulation, in which states are stored and read back, and, with `interface`, its
    test of interfaces on `states` states of random play.
    """
    from herbrand.envs.single import require

    pyspiel: Any = require("pyspiel", "a test with OpenSpiel", "openspiel")
    with _quiet():
        pyspiel.random_sim_test(game, num_sims=plays, serialize=True, verbose=False)
    if not interface:
        return 1
    from open_spiel.integration_tests import api_test

    sampled = api_test.sample_some_states

    class Fewer:
        @staticmethod
        def sample_some_states(game: Any, max_states: int) -> Any:
            return sampled.sample_some_states(game, max_states=min(max_states, states))

    case = type("Case", (api_test.EnforceAPIOnPartialTreeBase,), {"game": game, "game_name": str(game)})
    result = unittest.TestResult()
    try:
        api_test.sample_some_states = Fewer
        unittest.defaultTestLoader.loadTestsFromTestCase(case).run(result)
    finally:
        api_test.sample_some_states = sampled
    wrong = result.errors + result.failures
    assert not wrong, wrong[0][1]
    return 1 + result.testsRun


def check_pettingzoo(
    game: Game | str, kind: Literal["aec", "parallel"], *, cycles: int = 60, **options: Any
) -> int:
    """Run PettingZoo's tests on the agents in turn, or together; return how many were run.

    Those of its interface with masks in either place, of seeds, of rendering (in turn only), and of the
    limit of cycles where no play is over after four steps, which it takes for granted.
    """
    from herbrand.envs.pettingzoo import env, parallel_env
    from herbrand.envs.single import load_game

    loaded = load_game(game)
    with _quiet():
        test: Any = import_module("pettingzoo.test")

        def together(**more: Any) -> Any:
            # without a mask, the tests of the library draw any action
            return parallel_env(loaded, **{"illegal": "replace", **options, **more})

        def in_turn(**more: Any) -> Any:
            return env(loaded, **{**options, **more})

        for masks in ("observation", "info"):
            if kind == "parallel":
                test.parallel_api_test(together(masks=masks), num_cycles=cycles)
            else:
                test.api_test(in_turn(masks=masks), num_cycles=cycles)
        if kind == "parallel":
            test.parallel_seed_test(together, num_cycles=cycles)
        else:
            test.seed_test(in_turn, num_cycles=cycles)
            test.render_test(lambda render_mode="ansi": in_turn(render_mode=render_mode))
        lasting = loaded.simulate(500, seed=1).length["min"] > 6
        if lasting:
            made = SimpleNamespace(
                parallel_env=together,
                env=lambda **more: in_turn(illegal="replace", skip_forced=False, **more),
            )
            test.max_cycles_test(made)
    return (3 if kind == "parallel" else 4) + lasting


def check_gymnasium(game: Game | str, *, max_steps: int = 40, **options: Any) -> int:
    """Run Gymnasium's checker on the first player, the others playing at random; return how many were run.

    The checker draws any actions, so illegal ones are replaced; a game of legal ones follows.
    """
    from gymnasium.utils.env_checker import check_env

    from herbrand.envs.gymnasium import make

    with _quiet():
        check_env(make(game, max_steps=max_steps, illegal="replace", **options), skip_render_check=True)
    env = make(game, max_steps=max_steps, **options)
    env.reset(seed=3)
    chance = np.random.default_rng(3)
    for _ in range(max_steps):
        legal = np.flatnonzero(env.action_masks())
        seen, reward, terminated, truncated, info = env.step(int(chance.choice(legal)))
        assert env.observation_space.contains(seen)
        assert bool((info["action_mask"] == env.action_masks()).all())
        if terminated or truncated:
            return 2
        assert not reward, "rewards come at the end"
    raise AssertionError(f"the game did not end after {max_steps} steps")
