"""Games for Gymnasium: one role is the agent, the others are filled by players or by chance.

    >>> import gymnasium
    >>> import herbrand.envs.gymnasium
    >>> env = gymnasium.make("herbrand/ticTacToe-v0", role="xplayer", opponent="random")
    >>> seen, info = env.reset(seed=1)
    >>> seen.shape, info["action_mask"].sum()
    ((3, 3, 5), np.int64(9))

Importing this module makes the bundled games known to Gymnasium's registry.  `make_vec` gives `Batch`, which
moves thousands of games along together on `BatchEnv`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from herbrand.envs.batch import BatchEnv
from herbrand.envs.session import MAX_STEPS, RENDER_MODES, Playing
from herbrand.envs.single import load_game, require
from herbrand.errors import GameError

if TYPE_CHECKING:
    from herbrand.game import Game
    from herbrand.machine.state import State
    from herbrand.play.interface import Player

_WHAT: Final = "the interface to Gymnasium"
gymnasium: Any = require("gymnasium", _WHAT, "rl")
_vector: Any = require("gymnasium.vector", _WHAT, "rl")
_batched: Any = require("gymnasium.vector.utils", _WHAT, "rl")

__all__ = ["Batch", "Solo", "make", "make_batch"]

_MODES: Final = {"next": "NEXT_STEP", "same": "SAME_STEP", "off": "DISABLED"}
PLAY_SECONDS: Final = 1.0


def _agent(game: Game, role: str | None) -> str:
    """Return the role of the agent, by default the first player."""
    agent = game.players[0] if role is None else game.roles[game.role_index(role)]
    if agent not in game.players:
        raise GameError(f"`{agent}` is played by chance (players: {', '.join(game.players)})")
    return agent


class Solo(Playing, gymnasium.Env):  # type: ignore[misc]
    """One role of a game as the agent.

    The agent is asked where it has something to decide; steps in between are made by the others.  Opponents
    are players of `herbrand.play`, which see the whole state, so in games with `sees` only "random" and
    "legal" may play.
    """

    metadata: dict[str, Any] = {"render_modes": list(RENDER_MODES), "render_fps": 1}  # noqa: RUF012

    def __init__(
        self,
        game: Game,
        *,
        role: str | None = None,
        opponent: str | Player | dict[str, str | Player] = "random",
        play_seconds: float = PLAY_SECONDS,
        max_steps: int = MAX_STEPS,
        reward_range: tuple[float, float] = (-1.0, 1.0),
        render_mode: str | None = None,
        illegal: str = "raise",
    ) -> None:
        """`opponent` is a player or the name of one, or such for each other role.

        `illegal` says what an illegal action does: "raise", or "replace" it by the next legal one.
        """
        super().__init__(
            game, max_steps=max_steps, reward_range=reward_range, illegal=illegal, render_mode=render_mode
        )
        players = self.session.form.players
        self.role = _agent(game, role)
        self._me = players.index(self.role)
        self._play_seconds = play_seconds
        others = [p for p in players if p != self.role]
        opponents = dict(opponent) if isinstance(opponent, dict) else dict.fromkeys(others, opponent)
        if set(opponents) != set(others):
            raise ValueError(
                f"opponents are wanted for {', '.join(others) or 'nobody'}, not {', '.join(opponents)}"
            )
        seeing = [name for name in opponents.values() if name not in ("random", "legal")]
        if game.has_percepts and seeing:
            raise GameError(
                f"player `{seeing[0]}` would see what the game hides; only random and legal may play it"
            )
        self._opponent_choices = opponents
        self._opponents: dict[str, Player] = {}
        self.observation_space = gymnasium.spaces.Box(0, 1, self.session.shape, np.int8)
        self.action_space = gymnasium.spaces.Discrete(len(self.session.form.actions[self._me]))

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begin a new game, or in `options["state"]`, and go on to where the agent decides."""
        from herbrand.play import make_player

        gymnasium.Env.reset(self, seed=seed)
        if seed is not None or not self._opponents:
            self._opponents = {
                role: make_player(player, seed=int(self.np_random.integers(2**31)))
                if isinstance(player, str)
                else player
                for role, player in self._opponent_choices.items()
            }
        self._start(None if seed is None else int(self.np_random.integers(2**31)), options)
        for role, player in self._opponents.items():
            player.start(self.game, role, self._play_seconds)
        self._advance()
        return self._observation(), self._info()

    def set_state(self, state: State) -> tuple[Any, dict[str, Any]]:
        """Go to a state as if the game had begun there."""
        self.session.go(state)
        self._advance()
        return self._observation(), self._info()

    def step(self, action: int) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Make a move and go on to the agent's next decision; raises `IllegalMoveError`."""
        rewards = self.session.play({**self._replies(), self._me: int(action)})
        total = rewards[self._me] + self._advance()
        ended = bool(self.session.terminated), bool(self.session.truncated)
        return self._observation(), float(total), *ended, self._info()

    def action_masks(self) -> Any:
        """Return which actions are legal, as sb3-contrib's MaskablePPO asks for them."""
        return self.session.mask(self._me).astype(np.bool_)

    def has_choice(self) -> bool:
        """Whether the agent has more than one legal action."""
        return self.session.has_choice(self._me)

    def action_name(self, action: int) -> str:
        """The move that an action is, as KIF."""
        return self.session.action_name(self._me, action)

    def _advance(self) -> float:
        """Make steps until the agent decides or the game is over; return their rewards."""
        session, total = self.session, 0.0
        while not (session.terminated or session.truncated):
            if self._me in session.form.deciders(session.state):
                break
            total += session.play(self._replies())[self._me]
        return total

    def _replies(self) -> dict[int, int]:
        """The actions of the opponents in this state."""
        session, form = self.session, self.session.form
        replies = {}
        for role, player in self._opponents.items():
            at = form.players.index(role)
            if session.has_choice(at):
                replies[at] = form.number(role, player.select(session.state, self._play_seconds))
        return replies

    def _observation(self) -> Any:
        return self.session.observe(self._me)

    def _info(self) -> dict[str, Any]:
        return {"action_mask": self.session.mask(self._me)}


class Batch(_vector.VectorEnv):  # type: ignore[misc]
    """Many games at once on `BatchEnv`, one role of each being the agent, the others random.

    The agent's games are always at its turn, or over.  Masks are in `infos["action_mask"]`.
    """

    def __init__(
        self,
        game: Game,
        num_envs: int = 1,
        *,
        role: str | None = None,
        auto_reset: str = "next",
        max_steps: int = MAX_STEPS,
        reward_range: tuple[float, float] = (-1.0, 1.0),
        **options: Any,
    ) -> None:
        """`auto_reset` and further options are those of `BatchEnv`."""
        self.batch = BatchEnv(
            game,
            num_envs,
            dtype=np.int8,
            auto_reset=auto_reset,  # type: ignore[arg-type]
            max_steps=max_steps,
            reward_range=reward_range,
            **options,
        )
        players = self.batch.players
        self.role = _agent(game, role)
        if game.has_percepts and len(players) > 1:
            raise GameError("a batch would show what the game hides from the agent; use `Solo`")
        self._me = players.index(self.role)
        self.num_envs = num_envs
        mode = getattr(_vector.AutoresetMode, _MODES[auto_reset])
        self.metadata = {"autoreset_mode": mode, "render_modes": []}
        self.single_observation_space = gymnasium.spaces.Box(0, 1, self.batch.observation_shape, np.int8)
        self.single_action_space = gymnasium.spaces.Discrete(self.batch.num_actions)
        self.observation_space = _batched.batch_space(self.single_observation_space, num_envs)
        self.action_space = _batched.batch_space(self.single_action_space, num_envs)
        self._everywhere = np.ones(num_envs, np.bool_)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Restart all games, or those of `options["reset_mask"]`."""
        super().reset(seed=seed)
        where = (options or {}).get("reset_mask")
        now = self.batch.reset(
            seed=None if seed is None else int(self.np_random.integers(2**31)), where=where
        )
        now, *_ = self._advance(now)
        return now.observation, self._info(now)

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """Make the agent's moves and those of the others up to its next turn."""
        batch = self.batch
        moves = np.asarray(actions, np.int32)
        if not batch.by_turns:
            joint = batch.sample()
            joint[:, self._me] = moves
            moves = joint
        now = batch.step(moves)
        first = now.rewards[:, self._me].copy(), now.terminated.copy(), now.truncated.copy()
        final_observation = now.final_observation
        ended = first[1] | first[2]
        now, rewards, terminated, truncated, last = self._advance(now)
        info = self._info(now)
        if final_observation is not None or last is not None:
            final = np.zeros_like(now.observation)
            for seen, where in ((final_observation, ended), (last, (terminated | truncated) & ~ended)):
                if seen is not None:
                    final[where] = seen[where]
            info["final_obs"] = final
            info["_final_obs"] = ended | terminated | truncated
        rewards = (first[0] + rewards).astype(np.float64)
        return now.observation, rewards, first[1] | terminated, first[2] | truncated, info

    def action_masks(self) -> Any:
        """Return which actions are legal in every game, [num_envs, actions]."""
        return self._mask.astype(np.bool_)

    def _advance(self, now: Any) -> tuple[Any, Any, Any, Any, Any]:
        """Let the others move at random until it is the agent's turn in all games that are not over."""
        batch = self.batch
        rewards = np.zeros(self.num_envs, np.float32)
        terminated = np.zeros(self.num_envs, np.bool_)
        truncated = np.zeros(self.num_envs, np.bool_)
        last = None
        while batch.by_turns and len(batch.players) > 1:
            waiting = (now.player != self._me) & ~batch.over
            if not waiting.any():
                break
            now = batch.step(batch.sample(), where=waiting)
            rewards += now.rewards[:, self._me]
            ended = now.terminated | now.truncated
            terminated |= now.terminated
            truncated |= now.truncated
            if now.final_observation is not None:
                seen = now.final_observation
                where = ended.reshape(-1, *[1] * (seen.ndim - 1))
                last = seen if last is None else np.where(where, seen, last)
        return now, rewards, terminated, truncated, last

    def _info(self, now: Any) -> dict[str, Any]:
        self._mask = now.legal if self.batch.by_turns else now.legal[:, self._me]
        return {"action_mask": self._mask, "_action_mask": self._everywhere.copy()}


def make(game: Game | str, *, parameters: dict[str, Any] | None = None, **options: Any) -> Solo:
    """Return one game with one role as the agent; options as for `Solo`.

    Parameters of a GGDL game are keyword arguments too, `make("mnk", M=5)`, or are given in `parameters`.
    """
    return Solo(load_game(game, parameters, options), **options)


def make_batch(
    game: Game | str, num_envs: int = 1, *, parameters: dict[str, Any] | None = None, **options: Any
) -> Batch:
    """Return many games at once as Gymnasium's `VectorEnv`; options as for `Batch`."""
    return Batch(load_game(game, parameters, options), num_envs, **options)


def _register() -> None:
    """Make the bundled games known to the registry of Gymnasium."""
    from herbrand import games

    for name in games.names():
        gymnasium.register(
            id=f"herbrand/{name}-v0",
            entry_point=f"{__name__}:make",
            vector_entry_point=f"{__name__}:make_batch",
            kwargs={"game": name},
        )


_register()
