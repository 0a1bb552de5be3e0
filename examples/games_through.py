"""The same games through each interface, for `learn_by_self_play.py`.

`Games` is the protocol that the learner needs.  All interfaces number actions alike and have the same planes;
finished games restart at once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from herbrand.envs import BatchEnv, form_of
from herbrand.play import Player

if TYPE_CHECKING:
    from herbrand import Game, Move, State


class Step(Protocol):
    """The arrays after a step of n games; `herbrand.envs.BatchStep` has them."""

    @property
    def observation(self) -> NDArray[Any]:
        """The boards, [n, rows, columns, planes]."""

    @property
    def legal(self) -> NDArray[np.bool_]:
        """The legal actions of the player to move, [n, actions]."""

    @property
    def player(self) -> NDArray[Any]:
        """The player to move, [n]."""

    @property
    def rewards(self) -> NDArray[Any]:
        """The rewards of the last step, [n, players]."""

    @property
    def terminated(self) -> NDArray[np.bool_]:
        """The games that this step ended, [n]; they have restarted."""

    @property
    def truncated(self) -> NDArray[np.bool_]:
        """The games that this step cut off, [n]."""


@dataclass
class Rows:
    """A `Step` assembled row by row."""

    observation: NDArray[Any]
    legal: NDArray[np.bool_]
    player: NDArray[Any]
    rewards: NDArray[Any]
    terminated: NDArray[np.bool_]
    truncated: NDArray[np.bool_]


class Games(Protocol):
    """Some games that are stepped together."""

    def reset(self) -> Step:
        """Begin all games."""

    def step(self, actions: NDArray[Any]) -> Step:
        """Make a move in each game."""


Chooser = Callable[[NDArray[Any], NDArray[np.bool_], int], int]
"""Chooses an action from a board, a mask and the player to move: for a learner as its own opponent."""


class Single:
    """Single games in a list; their results are stacked."""

    def __init__(self, n: int) -> None:
        self.n = n

    def begin(self, i: int) -> None:
        """Begin game i."""
        raise NotImplementedError

    def move(self, i: int, action: int) -> tuple[list[float], bool, bool]:
        """Make a move in game i; return rewards by player, whether it is over and whether it was cut off."""
        raise NotImplementedError

    def look(self, i: int) -> tuple[NDArray[Any], NDArray[Any], int]:
        """Return the board of game i, the mask, and the player to move."""
        raise NotImplementedError

    def reset(self) -> Rows:
        """Begin all games."""
        for i in range(self.n):
            self.begin(i)
        return self._rows([([0.0, 0.0], False, False)] * self.n)

    def step(self, actions: NDArray[Any]) -> Rows:
        """Make a move in each game; finished games restart."""
        results = []
        for i in range(self.n):
            results.append(self.move(i, int(actions[i])))
            if results[-1][1] or results[-1][2]:
                self.begin(i)
        return self._rows(results)

    def _rows(self, results: list[tuple[list[float], bool, bool]]) -> Rows:
        boards, masks, players = zip(*map(self.look, range(self.n)), strict=True)
        rewards, over, cut = zip(*results, strict=True)
        return Rows(
            np.stack(boards),
            np.stack(masks).astype(np.bool_),
            np.array(players),
            np.array(rewards, np.float32),
            np.array(over),
            np.array(cut),
        )


class ThroughOpenSpiel(Single):
    """States of OpenSpiel."""

    def __init__(self, game: Game, n: int) -> None:
        super().__init__(n)
        from herbrand.envs.openspiel import load

        self.game = load(game, reward_range=(-1, 1))
        self.shape = BatchEnv(game, 1).observation_shape
        self.states: list[Any] = [None] * n

    def begin(self, i: int) -> None:
        """Begin game i."""
        self.states[i] = self.game.new_initial_state()

    def move(self, i: int, action: int) -> tuple[list[float], bool, bool]:
        """Make a move in game i."""
        state = self.states[i]
        state.apply_action(action)
        return state.returns(), state.is_terminal(), False

    def look(self, i: int) -> tuple[NDArray[Any], NDArray[Any], int]:
        """Return the board of game i, the mask, and the player to move."""
        state = self.states[i]
        board = np.array(state.observation_tensor())[-int(np.prod(self.shape)) :].reshape(self.shape)
        return board, np.array(state.legal_actions_mask()), state.current_player()


class ThroughPettingZoo(Single):
    """Environments of PettingZoo, one agent after the other."""

    def __init__(self, game: Game, n: int) -> None:
        super().__init__(n)
        from herbrand.envs.pettingzoo import env

        self.envs = [env(game) for _ in range(n)]

    def begin(self, i: int) -> None:
        """Begin game i."""
        self.envs[i].reset()

    def move(self, i: int, action: int) -> tuple[list[float], bool, bool]:
        """Make a move in game i."""
        env = self.envs[i]
        env.step(action)
        return (
            [env.rewards[agent] for agent in env.possible_agents],
            all(env.terminations.values()),
            all(env.truncations.values()),
        )

    def look(self, i: int) -> tuple[NDArray[Any], NDArray[Any], int]:
        """Return the board of game i, the mask, and the player to move."""
        env = self.envs[i]
        seen = env.observe(env.agent_selection)
        return seen["observation"], seen["action_mask"], env.possible_agents.index(env.agent_selection)


class Itself(Player):
    """The learner as an opponent in Gymnasium."""

    def __init__(self, choose: Chooser) -> None:
        super().__init__()
        self.choose = choose

    def select(self, state: State, clock: float) -> Move:
        """Return a move."""
        del clock
        form, moves = form_of(self.game), state.legal_moves(self.role)
        mask = np.zeros(form.num_actions, np.bool_)
        mask[form.legal(state, self.role)] = True
        board = form.observe(state).reshape(form.view.shape)
        action = self.choose(board, mask, self.game.players.index(self.role))
        return next(move for move in moves if form.number(self.role, move) == action)


class ThroughGymnasium(Single):
    """Environments of Gymnasium: the agent is red in half of them; its opponent is the learner itself."""

    def __init__(self, game: Game, n: int, choose: Chooser) -> None:
        super().__init__(n)
        from herbrand.envs.gymnasium import make

        self.envs = [make(game, role=game.players[i % 2], opponent=Itself(choose)) for i in range(n)]
        self.seen: list[Any] = [None] * n

    def begin(self, i: int) -> None:
        """Begin game i."""
        self.seen[i], _ = self.envs[i].reset()

    def move(self, i: int, action: int) -> tuple[list[float], bool, bool]:
        """Make a move in game i."""
        self.seen[i], reward, over, cut, _ = self.envs[i].step(action)
        return [reward, -reward] if i % 2 == 0 else [-reward, reward], over, cut

    def look(self, i: int) -> tuple[NDArray[Any], NDArray[Any], int]:
        """Return the board of game i, the mask, and the player to move: always the agent."""
        return self.seen[i], self.envs[i].action_masks(), i % 2


class ThroughJax:
    """A batch in JAX."""

    def __init__(self, game: Game, n: int, seed: int) -> None:
        import jax

        from herbrand.envs.pgx import PgxEnv

        self.jax, self.env, self.n = jax, PgxEnv(game), n
        self.key = jax.random.PRNGKey(seed)
        self.red = BatchEnv(game, 1).view.names.index(f"(control {game.players[0]})")
        env = self.env

        def again(state: Any, action: Any, key: Any) -> tuple[Any, Any, Any, Any]:
            after = env.step(state, action)
            fresh = env.init(key)
            over = after.terminated | after.truncated
            begun = jax.tree_util.tree_map(lambda a, b: jax.numpy.where(over, a, b), fresh, after)
            return begun, after.rewards[state.current_player], after.terminated, after.truncated

        self.move = jax.jit(jax.vmap(again))
        self.state: Any = None

    def _keys(self) -> Any:
        self.key, drawn = self.jax.random.split(self.key)
        return self.jax.random.split(drawn, self.n)

    def reset(self) -> Rows:
        """Begin all games."""
        self.state = self.jax.vmap(self.env.init)(self._keys())
        none = np.zeros(self.n, np.bool_)
        return self._rows(np.zeros((self.n, 2), np.float32), none, none)

    def step(self, actions: NDArray[Any]) -> Rows:
        """Make a move in each game."""
        mover = self._mover()
        self.state, gained, over, cut = self.move(self.state, self.jax.numpy.asarray(actions), self._keys())
        rewards = np.empty((self.n, 2), np.float32)
        rewards[np.arange(self.n), mover] = gained
        rewards[np.arange(self.n), 1 - mover] = -np.asarray(gained)
        return self._rows(rewards, np.asarray(over), np.asarray(cut))

    def _mover(self) -> NDArray[np.int64]:
        """The role to move, from the planes: as in Pgx, players get their roles at random."""
        return 1 - np.asarray(self.state.observation)[:, 0, 0, self.red].astype(np.int64)

    def _rows(self, rewards: NDArray[Any], over: NDArray[np.bool_], cut: NDArray[np.bool_]) -> Rows:
        state = self.state
        return Rows(
            np.asarray(state.observation),
            np.asarray(state.legal_action_mask),
            self._mover(),
            rewards,
            over,
            cut,
        )


INTERFACES = ("batch", "openspiel", "pettingzoo", "gymnasium", "jax")


def games_through(interface: str, game: Game, n: int, seed: int, choose: Chooser) -> Games:
    """Return games of the interface with that name."""
    if interface == "openspiel":
        return ThroughOpenSpiel(game, n)
    if interface == "pettingzoo":
        return ThroughPettingZoo(game, n)
    if interface == "gymnasium":
        return ThroughGymnasium(game, n, choose)
    if interface == "jax":
        return ThroughJax(game, n, seed)
    return BatchEnv(game, n, seed=seed, auto_reset="same")
