"""Games in JAX with the interface of Pgx: `init`, `step`, `observe`, to be used under `jit` and `vmap`.

    >>> import jax
    >>> from herbrand.envs.pgx import make
    >>> env = make("ticTacToe")
    >>> state = jax.vmap(env.init)(jax.random.split(jax.random.PRNGKey(0), 3))
    >>> state.legal_action_mask.sum(axis=1).tolist()
    [9, 9, 9]
    >>> state = jax.vmap(env.step)(state, state.legal_action_mask.argmax(axis=1))
    >>> state.rewards.tolist()
    [[0.0, 0.0], [0.0, 0.0], [0.0, 0.0]]

Under `vmap` games become bits of 32-bit words, and the network is evaluated on those (`layers`).

The conventions are those of Pgx: an illegal action ends the game with -1 for who made it; a finished game
stays, with rewards 0; at the end every action is legal; which player has which role is drawn by `init`.
Players who choose at once are asked one after the other.  Unlike in Pgx an observation is the same for all
players.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from herbrand.engine.playouts import goal_value
from herbrand.envs.layers import evaluate, layers_of
from herbrand.envs.single import form_of, load_game, require
from herbrand.errors import GameError

if TYPE_CHECKING:
    from collections.abc import Callable

    from herbrand.game import Game

jax: Any = require("jax", "the interface in the manner of Pgx", "jax")
jnp: Any = require("jax.numpy", "the interface in the manner of Pgx", "jax")

__all__ = ["PgxEnv", "PgxState", "RecurrentFnOutput", "make", "recurrent_fn"]


@dataclass(frozen=True)
class PgxState:
    """One game, or under `vmap` many; a tree of arrays."""

    current_player: Any
    """int32: the player to move."""
    observation: Any
    """bool: the view of the state."""
    rewards: Any
    """float32 [players]: what the last step gave, by player."""
    terminated: Any
    truncated: Any
    legal_action_mask: Any
    """bool [actions]."""
    _step_count: Any
    _fluents: Any
    """bool [fluents]."""
    _chosen: Any
    """int32 [players]: by role the action chosen in this step, -1 before."""
    _seats: Any
    """int32 [players]: by role the player who has it."""

    def replace(self, **changes: Any) -> PgxState:
        """Return a copy with some arrays replaced."""
        return dataclasses.replace(self, **changes)

    def _repr_html_(self) -> str:
        """A table of the fields of the state, for notebooks."""
        from herbrand.runtime.notebook import table

        names = [field.name for field in dataclasses.fields(self)]
        shown = [name for name in names if name not in ("observation", "_fluents")]
        return table([(name, np.asarray(getattr(self, name)).tolist()) for name in shown])


jax.tree_util.register_dataclass(
    PgxState, data_fields=[field.name for field in dataclasses.fields(PgxState)], meta_fields=[]
)


class PgxEnv:
    """A game; see the module."""

    version = "v0"

    def __init__(
        self, game: Game, *, max_steps: int = 1000, reward_range: tuple[float, float] = (-1.0, 1.0)
    ) -> None:
        """Raises `GameError` for games that hide something, and as `BatchEnv` does."""
        if game.has_percepts and len(game.players) > 1:
            raise GameError("an observation would show what the game hides; use the interface to OpenSpiel")
        self.game = game
        self.form = form_of(game)
        self.max_steps = max_steps
        network = self._network = game.network
        self._layers = layers_of(network)
        fluents, moves = len(network.fluents), len(network.moves)
        self._cuts = np.cumsum([moves, fluents, 1]).tolist()
        inputs = game.walker().inputs
        players = [game.roles.index(role) for role in game.players]
        self._numbers = np.full((len(players), self.num_actions), moves, np.int32)
        for p, role in enumerate(players):
            self._numbers[p, : len(inputs[role])] = inputs[role]
        self._active = np.append(~self.form.idle, False)
        chance = None if game.chance_role is None else game.roles.index(game.chance_role)
        self._chance = None if chance is None else np.array(inputs[chance], np.int32)
        self.chance_moves = self.form.chance_moves
        """The outcomes of chance by their numbers, as KIF; empty in games without chance."""
        low, high = reward_range
        by_role = {role: p for p, role in enumerate(players)}
        worth = np.zeros((len(players), len(network.goal)), np.float32)
        for k, (role, term) in enumerate(network.goals.tolist()):
            value = goal_value(network.terms.text(term))
            if role in by_role and value is not None:
                worth[by_role[role], k] = low + (high - low) * value / 100
        self._worth = worth
        self._columns = np.where(self.form.view.columns < 0, fluents, self.form.view.columns)
        self._infer = jax.custom_batching.custom_vmap(lambda inputs: self._batch(inputs[None])[0])
        self._infer.def_vmap(lambda size, batched, inputs: (self._batch(inputs), True))  # noqa: ARG005

    id = property(lambda self: f"herbrand/{self.game.name}")
    num_players = property(lambda self: len(self.game.players))
    num_actions = property(lambda self: self.form.num_actions)
    observation_shape = property(lambda self: self.form.view.shape)

    def __repr__(self) -> str:
        sizes = f"{self.num_players} players, {self.num_actions} actions, {self._layers.depth} layers"
        return f"<Env {self.id}: {sizes}>"

    def init(self, key: Any) -> PgxState:
        """Return the initial state; `key` draws the player of each role."""
        fluents = jnp.asarray(self._network.initial)
        players = self.num_players
        state = PgxState(
            current_player=jnp.int32(0),
            observation=self._view(fluents),
            rewards=jnp.zeros(players, jnp.float32),
            terminated=jnp.bool_(False),
            truncated=jnp.bool_(False),
            legal_action_mask=jnp.ones(self.num_actions, jnp.bool_),
            _step_count=jnp.int32(0),
            _fluents=fluents,
            _chosen=jnp.full(players, -1, jnp.int32),
            _seats=jax.random.permutation(key, players).astype(jnp.int32),
        )
        return self._with_turn(state, self._legal(fluents)[0])

    def step(self, state: PgxState, action: Any, key: Any = None) -> PgxState:
        """Return the state after an action; games with chance need a `key`."""
        if self._chance is None:
            return self.stochastic_step(state, action, 0)
        if key is None:
            raise ValueError("the game has chance: step(state, action, key) needs a key")
        odds = self.chance_probabilities(state)
        return self.stochastic_step(state, action, jax.random.choice(key, len(odds), p=odds))

    def chance_probabilities(self, state: PgxState) -> Any:
        """Return how likely each outcome of chance is in a state, float32 [outcomes].

        Outcomes are in the order of `chance_moves`.  They count for an action that completes a joint move,
        and sum to 1; [1] in games without chance.
        """
        if self._chance is None:
            return jnp.ones(1, jnp.float32)
        possible = self._legal(state._fluents)[0][jnp.asarray(self._chance)]
        first = jnp.arange(len(self._chance)) == 0
        return jnp.where(possible.any(), possible, first) / jnp.maximum(possible.sum(), 1).astype(jnp.float32)

    def stochastic_step(self, state: PgxState, action: Any, outcome: Any) -> PgxState:
        """Return the state after an action and a given outcome of chance, its number in `chance_moves`.

        An impossible outcome is replaced by the first possible one; in games without chance it is ignored.
        """
        over = state.terminated | state.truncated
        illegal = ~over & ~state.legal_action_mask[action]
        moved = self._moved(state.replace(_step_count=state._step_count + 1), action, outcome)
        players = self.num_players
        blamed = jnp.full(players, players - 1, jnp.float32).at[state.current_player].set(-1.0)
        lost = state.replace(rewards=blamed, terminated=jnp.bool_(True), _step_count=state._step_count + 1)
        stays = state.replace(rewards=jnp.zeros_like(state.rewards))

        def choose(a: Any, b: Any, c: Any) -> Any:
            return jnp.where(over, a, jnp.where(illegal, b, c))

        result: PgxState = jax.tree_util.tree_map(choose, stays, lost, moved)
        done = result.terminated | result.truncated
        return result.replace(legal_action_mask=result.legal_action_mask | done)

    def observe(self, state: PgxState) -> Any:
        """Return the observation of a state."""
        return self._view(state._fluents)

    # -- inside ---------------------------------------------------------------------------

    def _batch(self, inputs: Any) -> Any:
        """Outputs of the network, bool [n, outputs], for fluents and moves, bool [n, inputs]."""
        n, width = inputs.shape
        words = -(-n // 32)
        places = jnp.arange(32, dtype=jnp.uint32)
        padded = jnp.zeros((32 * words, width), jnp.uint32).at[:n].set(inputs.astype(jnp.uint32))
        packed = (padded.reshape(words, 32, width) << places[None, :, None]).sum(axis=1, dtype=jnp.uint32)
        outputs = evaluate(self._layers, packed.T).T
        bits = (outputs[:, None, :] >> places[None, :, None]) & 1
        return bits.reshape(32 * words, -1)[:n].astype(jnp.bool_)

    def _outputs(self, fluents: Any, moves: Any) -> tuple[Any, Any, Any, Any]:
        """Legal moves, next fluents, terminal, goals."""
        outputs = self._infer(jnp.concatenate([fluents, moves]))
        a, b, c = self._cuts
        return outputs[:a], outputs[a:b], outputs[b], outputs[c:]

    def _legal(self, fluents: Any) -> tuple[Any, Any, Any]:
        """Legal moves with one that never is at the end, terminal, goals."""
        none = jnp.zeros(len(self._network.moves), jnp.bool_)
        legal, _, terminal, goals = self._outputs(fluents, none)
        return jnp.append(legal, False), terminal, goals

    def _view(self, fluents: Any) -> Any:
        return jnp.append(fluents, False)[self._columns].reshape(self.observation_shape)

    def _with_turn(self, state: PgxState, legal: Any) -> PgxState:
        """Set the current player and its legal actions."""
        options = legal[self._numbers]
        choosing = (options.sum(axis=1) > 1) & (state._chosen < 0)
        acting = (options & self._active[self._numbers]).any(axis=1)
        role = jnp.where(choosing.any(), choosing.argmax(), acting.argmax())
        return state.replace(current_player=state._seats[role], legal_action_mask=options[role])

    def _moved(self, state: PgxState, action: Any, outcome: Any) -> PgxState:
        legal = self._legal(state._fluents)[0]
        options = legal[self._numbers]
        role = jnp.argmax(state._seats == state.current_player)
        chosen = state._chosen.at[role].set(action)
        waiting = ((options.sum(axis=1) > 1) & (chosen < 0)).any()
        indices = jnp.where(chosen < 0, options.argmax(axis=1), chosen)
        numbers = jnp.asarray(self._numbers)[jnp.arange(len(indices)), indices]
        moves = jnp.zeros(len(legal), jnp.bool_).at[numbers].set(True)
        if self._chance is not None:
            places = jnp.asarray(self._chance)
            possible = legal[places]
            moves = moves.at[places[jnp.where(possible[outcome], outcome, possible.argmax())]].set(True)
        following = self._outputs(state._fluents, moves[:-1])[1]
        fluents = jnp.where(waiting, state._fluents, following)
        legal, terminal, goals = self._legal(fluents)
        terminal = terminal & ~waiting
        by_role = jnp.where(terminal, (self._worth * goals).sum(axis=1), 0.0)
        after = state.replace(
            observation=self._view(fluents),
            rewards=jnp.zeros_like(state.rewards).at[state._seats].set(by_role),
            terminated=terminal,
            truncated=~terminal & (state._step_count >= self.max_steps),
            _fluents=fluents,
            _chosen=jnp.where(waiting, chosen, jnp.full_like(chosen, -1)),
        )
        return self._with_turn(after, legal)


class RecurrentFnOutput(NamedTuple):
    """The output of a model for one step of mctx, with the fields of `mctx.RecurrentFnOutput`."""

    reward: Any
    discount: Any
    prior_logits: Any
    value: Any


def recurrent_fn(
    env: PgxEnv, policy_value: Callable[[Any, Any], tuple[Any, Any]]
) -> Callable[[Any, Any, Any, Any], tuple[RecurrentFnOutput, Any]]:
    """Return the `recurrent_fn` of mctx that plays by the rules of a game.

    The embedding is a batch of `PgxState`.  `policy_value(params, observations)` gives logits, [n, actions],
    values, [n], for the player to move.  The discount is -1 where the next decision is another player's, 1
    where it is the same one's, 0 at the end.
    """

    def step(params: Any, key: Any, action: Any, embedding: Any) -> tuple[RecurrentFnOutput, Any]:
        mover = embedding.current_player
        n = len(mover)
        state = jax.vmap(env.step)(embedding, action, jax.random.split(key, n))
        logits, value = policy_value(params, state.observation)
        logits = jnp.where(state.legal_action_mask, logits, jnp.finfo(logits.dtype).min)
        over = state.terminated | state.truncated
        discount = jnp.where(over, 0.0, jnp.where(state.current_player == mover, 1.0, -1.0))
        reward = state.rewards[jnp.arange(n), mover]
        return RecurrentFnOutput(reward, discount, logits, jnp.where(over, 0.0, value)), state

    return step


def make(game: Game | str, *, parameters: dict[str, Any] | None = None, **options: Any) -> PgxEnv:
    """Return a game, given as such, by its path or its bundled name, as a `PgxEnv` with its options."""
    return PgxEnv(load_game(game, parameters, options), **options)
