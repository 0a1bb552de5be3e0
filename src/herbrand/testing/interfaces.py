"""Runs the conformance tests of OpenSpiel, PettingZoo and Gymnasium on a game.

Each function raises `AssertionError` if a test fails, `MissingExtra` if the library is not installed, and
`GameError` if the interface does not support the game.
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
    """Suppress output and warnings: naming conventions do not apply, and illegal actions are handled."""
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        yield


def check_openspiel(game: Any, *, plays: int = 3, interface: bool = True, states: int = 400) -> int:
    """Run OpenSpiel's tests on a game from `pyspiel.load_game`; return the number of tests run.

    These are its random simulation with serialization of states and, with `interface`, its API test on
    `states` states of random play.
    """
    from herbrand.envs.single import require

    pyspiel: Any = require("pyspiel", "a test with OpenSpiel", "openspiel")
    with _quiet():
        pyspiel.random_sim_test(game, num_sims=plays, serialize=True, verbose=False)
    if not interface:
        return 1
    from open_spiel.integration_tests import api_test

    original = api_test.sample_some_states

    class Fewer:
        @staticmethod
        def sample_some_states(game: Any, max_states: int) -> Any:
            return original.sample_some_states(game, max_states=min(max_states, states))

    case = type("Case", (api_test.EnforceAPIOnPartialTreeBase,), {"game": game, "game_name": str(game)})
    result = unittest.TestResult()
    try:
        api_test.sample_some_states = Fewer
        unittest.defaultTestLoader.loadTestsFromTestCase(case).run(result)
    finally:
        api_test.sample_some_states = original
    failures = result.errors + result.failures
    assert not failures, failures[0][1]
    return 1 + result.testsRun


def check_pettingzoo(
    game: Game | str, kind: Literal["aec", "parallel"], *, cycles: int = 60, **options: Any
) -> int:
    """Run PettingZoo's tests on the AEC or the parallel interface; return the number of tests run.

    These are the API test with masks in either place, the seed test, the render test (AEC only), and the test
    of `max_cycles`, which assumes that no play ends within four steps.
    """
    from herbrand.envs.pettingzoo import env, parallel_env
    from herbrand.envs.single import load_game

    loaded = load_game(game)
    with _quiet():
        test: Any = import_module("pettingzoo.test")

        def together(**more: Any) -> Any:
            # without a mask, the library's tests draw illegal actions
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
        is_long = loaded.simulate(500, seed=1).length["min"] > 6
        if is_long:
            module = SimpleNamespace(
                parallel_env=together,
                env=lambda **more: in_turn(illegal="replace", skip_forced=False, **more),
            )
            test.max_cycles_test(module)
    return (3 if kind == "parallel" else 4) + is_long


def check_gymnasium(game: Game | str, *, max_steps: int = 40, **options: Any) -> int:
    """Run Gymnasium's checker for the first player against random ones; return the number of tests run.

    The checker also draws illegal actions, which are replaced; then a game of legal actions is played.
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
