"""Tests of environments: those of OpenSpiel, PettingZoo and Gymnasium, and comparisons with the rules.

Each function raises `AssertionError` if a test fails, `MissingExtra` if the library is not installed, and
`GameError` if the interface does not support the game.
"""

from __future__ import annotations

import contextlib
import io
import unittest
import warnings
from dataclasses import FrozenInstanceError
from importlib import import_module
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from herbrand.envs.batch import BatchEnv, BatchStep
    from herbrand.envs.pgx import PgxEnv
    from herbrand.game import Game


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


def check_batch_env(game: Game, *, n: int = 70, max_steps: int = 60, seed: int = 5) -> BatchEnv:
    """Play random games in a batch and compare them with the rules; raise `AssertionError` for a difference.

    Compares legal moves, turns, observations, successors, termination and rewards of the first and the last
    game and of those around the boundary of a machine word.  Return the environment.
    """
    from herbrand.envs.batch import BatchEnv

    env = BatchEnv(game, n, seed=seed, auto_reset="off", max_steps=max_steps, reward_range=(0, 100))
    now = env.reset()
    lanes = sorted({0, min(63, n - 1), min(64, n - 1), n - 1})
    agree(env, now, lanes)
    for _ in range(max_steps):
        before, over, player = game.expander.facts(env.states), env.over, now.player
        actions = env.sample()
        now = env.step(actions)
        after = game.expander.facts(env.states)
        for lane in lanes:
            state = game.state(before[lane], engine="rules")
            if over[lane]:
                assert after[lane] == before[lane], "a finished game has changed"
                assert not now.rewards[lane].any()
                continue
            joint = {}
            for p, role in enumerate(env.players):
                if env.by_turns and p != player[lane]:
                    (joint[role],) = state.legal_moves(role)
                else:
                    joint[role] = env.actions[p][actions[lane] if env.by_turns else actions[lane, p]]
            outcomes = {s.facts: s for s in state.outcomes(joint)}
            assert after[lane] in outcomes, "the next state is wrong"
            follower = outcomes[after[lane]]
            assert bool(now.terminated[lane]) == follower.is_terminal
            if follower.is_terminal:
                assert now.rewards[lane].tolist() == [follower.goal(role) for role in env.players]
            assert bool(now.truncated[lane]) == (not follower.is_terminal and env.steps[lane] >= max_steps)
        agree(env, now, lanes)
        if env.over.all():
            break
    assert env.over.any(), "no game ended"
    return env


def agree(env: BatchEnv, now: BatchStep, lanes: Sequence[int]) -> None:
    """Compare legal moves, turns and observations with the rules; raise `AssertionError` for a difference."""
    facts = env.game.expander.facts(env.states)
    for lane in lanes:
        if env.over[lane]:
            assert now.legal[lane].all()
            continue
        state = env.game.state(facts[lane], engine="rules")
        assert not state.is_terminal
        choices = []
        for p, role in enumerate(env.players):
            legal = {env.actions[p].index(str(move)) for move in state.legal_moves(role)}
            choices.append(len(legal))
            if not env.by_turns:
                assert set(np.flatnonzero(now.legal[lane, p])) == legal
            elif now.player[lane] == p:
                assert set(np.flatnonzero(now.legal[lane])) == legal
        if env.by_turns and max(choices) > 1:
            assert choices[now.player[lane]] == max(choices)
        seen = np.array([c >= 0 and env.fluents[c] in facts[lane] for c in env.view.columns.tolist()])
        assert (now.observation[lane].reshape(-1) == seen).all()


def check_pgx_like(env: PgxEnv, *, games: int = 3, max_steps: int = 200, seed: int = 0) -> None:
    """Test that an environment in JAX behaves like those of Pgx; raise `AssertionError` for a difference.

    Checks shapes and types of `init` and `step` in random games, that states are immutable, that an illegal
    action ends the game with reward -1 for its player, that finished games do not change, have rewards 0 and
    all actions legal, and that `jit` and `vmap` give the same results.
    """
    import jax
    import jax.numpy as jnp

    key = jax.random.PRNGKey(seed)
    init, step = jax.jit(env.init), jax.jit(env.step)
    rng = np.random.default_rng(seed)

    def check_shapes(state: Any) -> None:
        assert state.current_player.dtype == jnp.int32
        assert state.observation.shape == tuple(env.observation_shape)
        assert state.legal_action_mask.shape == (env.num_actions,)
        assert state.legal_action_mask.dtype == jnp.bool_
        assert state.rewards.shape == (env.num_players,)
        assert state.rewards.dtype == jnp.float32
        assert state.terminated.dtype == state.truncated.dtype == jnp.bool_
        assert 0 <= int(state.current_player) < env.num_players
        assert bool(state.legal_action_mask.any())
        assert bool((env.observe(state) == state.observation).all())

    for game in range(games):
        key, begin = jax.random.split(key)
        state = init(begin)
        check_shapes(state)
        try:
            state.rewards = None
        except FrozenInstanceError:
            pass
        else:
            raise AssertionError("states are mutable")
        assert not bool(state.terminated)
        mask = np.asarray(state.legal_action_mask)
        if not mask.all():
            wrong = step(state, int(np.argmin(mask)), key)
            assert bool(wrong.terminated)
            assert float(wrong.rewards[state.current_player]) == -1
            assert bool(wrong.legal_action_mask.all())
        for _ in range(max_steps):
            key, draw = jax.random.split(key)
            action = int(rng.choice(np.flatnonzero(np.asarray(state.legal_action_mask))))
            before = int(state._step_count)
            if game == 0 and before == 0:
                many = jax.jit(jax.vmap(env.step))(
                    jax.tree_util.tree_map(lambda x: jnp.stack([x, x]), state),
                    jnp.array([action, action]),
                    jnp.stack([draw, draw]),
                )
                once = step(state, action, draw)
                for one, two in zip(*map(jax.tree_util.tree_leaves, (once, many)), strict=True):
                    assert bool((two[1] == one).all()), "vmap changes results"
            state = step(state, action, draw)
            check_shapes(state)
            assert int(state._step_count) == before + 1
            if bool(state.terminated) or bool(state.truncated):
                assert bool(state.legal_action_mask.all())
                after = step(state, 0, draw)
                assert not bool(after.rewards.any())
                assert bool(after.terminated) == bool(state.terminated)
                assert bool((after.observation == state.observation).all())
                break
            assert not bool(state.rewards.any()), "rewards come at the end"
