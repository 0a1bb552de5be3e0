"""Games in JAX play as the rules say, under jit and vmap, with the conventions of Pgx."""

from __future__ import annotations

import numpy as np
import pytest

jax = pytest.importorskip("jax", reason="the extra `jax` is not installed")

import jax.numpy as jnp  # noqa: E402
from environment_checks import check_pgx_like  # noqa: E402

import herbrand  # noqa: E402
from herbrand import GameError  # noqa: E402
from herbrand.envs.pgx import make, recurrent_fn  # noqa: E402


@pytest.mark.parametrize("name", ["ticTacToe", "rockPaperScissors"])
def test_games_follow_the_conventions(name: str) -> None:
    """The check of interfaces passes: shapes, types, ends, illegal actions, jit and vmap."""
    check_pgx_like(make(name), games=2, max_steps=12)


@pytest.mark.parametrize("name", ["ticTacToe", "hex", "rockPaperScissors"])
def test_steps_are_those_of_the_rules(name: str) -> None:
    """Along random games of a batch that does not fill its words, states and masks are those of the rules."""
    game = herbrand.load(name)
    env = make(game)
    n = 37
    state = jax.vmap(env.init)(jax.random.split(jax.random.PRNGKey(1), n))
    step = jax.jit(jax.vmap(env.step))
    rng = np.random.default_rng(1)
    names = game.expander.fluent_names
    for _ in range(25):
        fluents, chosen, seats = (np.asarray(x) for x in (state._fluents, state._chosen, state._seats))
        for lane in (0, 31, 32, 36):
            if state.terminated[lane]:
                continue
            ours = game.state(
                [f for f, true in zip(names, fluents[lane], strict=True) if true], engine="rules"
            )
            role = int(np.argmax(seats[lane] == int(state.current_player[lane])))
            legal = {env.form.number(game.players[role], m) for m in ours.legal_moves(game.players[role])}
            assert set(np.flatnonzero(state.legal_action_mask[lane])) == legal
            assert not ours.is_terminal
            assert chosen[lane][role] == -1
        mask = np.asarray(state.legal_action_mask)
        before, ended = state, np.asarray(state.terminated)
        state = step(state, jnp.asarray(np.argmax(mask * rng.random(mask.shape), axis=1)))
        for lane in np.flatnonzero(np.asarray(state.terminated) & ~ended)[:3]:
            facts = [f for f, true in zip(names, np.asarray(state._fluents[lane]), strict=True) if true]
            ours = game.state(facts, engine="rules")
            assert ours.is_terminal
            by_role = np.asarray(state.rewards[lane])[np.asarray(before._seats[lane])]
            assert by_role.tolist() == pytest.approx([ours.goal(r) / 50 - 1 for r in game.players])


def test_chance_needs_a_key() -> None:
    """A game of one player against chance takes a key for each step, and repeats with it."""
    env = make("montyHall")
    state = env.init(jax.random.PRNGKey(0))
    with pytest.raises(ValueError, match="needs a key"):
        env.step(state, 0)
    ends = []
    for seed in (1, 1):
        at = state
        for i in range(4):
            at = env.step(at, at.legal_action_mask.argmax(), jax.random.PRNGKey(seed + i))
        ends.append(np.asarray(at._fluents).tolist())
    assert ends[0] == ends[1]
    with pytest.raises(GameError, match="what the game hides"):
        make("kuhn")


def test_search_can_step_through_the_rules() -> None:
    """`recurrent_fn` gives mctx rewards of who moved, discounts by whose turn comes, and masked logits."""
    env = make("ticTacToe")
    model = recurrent_fn(
        env, lambda params, seen: (jnp.zeros((len(seen), env.num_actions)) + params, jnp.ones(len(seen)))
    )
    state = jax.vmap(env.init)(jax.random.split(jax.random.PRNGKey(3), 2))
    names = env.form.actions[0]
    for move in ("(mark 1 1)", "(mark 2 1)", "(mark 1 2)", "(mark 2 2)", "(mark 1 3)"):
        out, state = model(0.5, jax.random.PRNGKey(0), jnp.full(2, names.index(move)), state)
        last = move == "(mark 1 3)"
        assert out.discount.tolist() == ([0.0, 0.0] if last else [-1.0, -1.0])
        assert out.reward.tolist() == ([1.0, 1.0] if last else [0.0, 0.0])
    assert out.value.tolist() == [0.0, 0.0]


def test_chance_can_be_chosen() -> None:
    """Given outcomes lead to the states of the rules, with uniform probabilities."""
    game = herbrand.load("montyHall")
    env = make(game)
    step = jax.jit(env.stochastic_step)
    state = env.init(jax.random.PRNGKey(0))
    names = game.expander.fluent_names
    while not bool(state.terminated):
        odds = np.asarray(env.chance_probabilities(state))
        assert odds.sum() == pytest.approx(1)
        action = int(np.argmax(state.legal_action_mask))
        facts = [f for f, true in zip(names, np.asarray(state._fluents), strict=True) if true]
        ours = game.state(facts, engine="rules")
        possible = set(map(str, ours.legal_moves(game.chance_role)))
        assert {env.chance_moves[k] for k in np.flatnonzero(odds)} == possible
        outcome = int(np.flatnonzero(odds)[-1])
        state = step(state, action, outcome)
        joint = {"candidate": env.form.actions[0][action], "random": env.chance_moves[outcome]}
        reached = {f for f, true in zip(names, np.asarray(state._fluents), strict=True) if true}
        assert ours.next(joint).facts == reached
    assert make("nim").chance_moves == ()
    assert make("nim").chance_probabilities(state).tolist() == [1.0]
