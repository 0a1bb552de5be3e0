"""`check_pgx_like`: whether an environment keeps the conventions of Pgx."""

from __future__ import annotations

from dataclasses import FrozenInstanceError
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from herbrand.envs.pgx import Env

__all__ = ["check_pgx_like"]


def check_pgx_like(env: Env, *, games: int = 3, max_steps: int = 200, seed: int = 0) -> None:
    """Raise `AssertionError` when an environment in JAX does not do what Pgx's environments do.

    Looked at are shapes and types of `init` and `step` in random games, that states are frozen, that an
    illegal action ends the game with -1 for who made it, that finished games stay with rewards 0 and all
    actions legal, and that `jit` and `vmap` change nothing.
    """
    import jax
    import jax.numpy as jnp

    key = jax.random.PRNGKey(seed)
    init, step = jax.jit(env.init), jax.jit(env.step)
    rng = np.random.default_rng(seed)

    def shaped(state: Any) -> None:
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
        shaped(state)
        try:
            state.rewards = None
        except FrozenInstanceError:
            pass
        else:
            raise AssertionError("states can be changed")
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
                many = jax.vmap(env.step)(
                    jax.tree_util.tree_map(lambda x: jnp.stack([x, x]), state),
                    jnp.array([action, action]),
                    jnp.stack([draw, draw]),
                )
                once = step(state, action, draw)
                for one, two in zip(*map(jax.tree_util.tree_leaves, (once, many)), strict=True):
                    assert bool((two[1] == one).all()), "vmap changes results"
            state = step(state, action, draw)
            shaped(state)
            assert int(state._step_count) == before + 1
            if bool(state.terminated) or bool(state.truncated):
                assert bool(state.legal_action_mask.all())
                after = step(state, 0, draw)
                assert not bool(after.rewards.any())
                assert bool(after.terminated) == bool(state.terminated)
                assert bool((after.observation == state.observation).all())
                break
            assert not bool(state.rewards.any()), "rewards come at the end"
