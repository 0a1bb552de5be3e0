"""`BatchEnv`: many games of one kind, moved along together, as numpy arrays.

    >>> from herbrand.envs import BatchEnv
    >>> import herbrand
    >>> env = BatchEnv(herbrand.load("ticTacToe"), 4)
    >>> now = env.reset(seed=1)
    >>> now.observation.shape, now.legal.shape, now.player.tolist()
    ((4, 3, 3, 5), (4, 10), [0, 0, 0, 0])
    >>> now = env.step(env.sample())
    >>> now.rewards.shape, now.terminated.any(), now.player.tolist()
    ((4, 2), np.False_, [1, 1, 1, 1])

Inside, a game is one bit of each machine word; nothing is done game by game but unpacking what is asked for.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np

from herbrand.core import Env
from herbrand.envs.planes import View, find_board, make_view
from herbrand.envs.turns import find_turns
from herbrand.errors import GameError, IllegalMoveError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from herbrand.core import EnvOutcome
    from herbrand.draw.boards.squares import BoardCell
    from herbrand.game import Game

__all__ = ["LARGEST", "BatchEnv", "BatchStep"]

LARGEST: Final = 1 << 20
"""Most games of a batch."""
MAX_STEPS: Final = 1000
_MODES: Final = {"off": 0, "next": 1, "same": 2}
KEPT_BYTES: Final = 1 << 28
"""Most memory for keeping the values of states until the next step; beyond it, they are evaluated again."""


@dataclass(frozen=True, slots=True)
class BatchStep:
    """The result of a reset or a step; row i of every array is game i."""

    observation: NDArray[Any]
    """[n, *shape of the view]; packed: [n, words], bit e % 64 of word e // 64 being element e."""
    legal: NDArray[Any]
    """[n, actions] for the player to move, or [n, players, actions] where all move at once; all ones where
    the game is over; packed like observations."""
    player: NDArray[np.int8]
    """[n] whose turn it is, counting `BatchEnv.players`; 0 where all move at once."""
    rewards: NDArray[np.float32]
    """[n, players] what this step gave each player: the goal values where a game ended, else 0."""
    terminated: NDArray[np.bool_]
    """[n] this step came to a terminal state."""
    truncated: NDArray[np.bool_]
    """[n] this step reached the limit of steps, or a state in which a role has no legal move."""
    final_observation: NDArray[Any] | None = None
    """With `auto_reset="same"`: the observation before games that ended began again; other rows are as in
    `observation`, or anything.  None where no game ended."""
    percepts: NDArray[np.bool_] | None = None
    """[n, percepts] what held of `sees` in this step, in the order of `BatchEnv.percepts`; None in games
    without."""


class BatchEnv:
    """`n` games that are stepped together.

    In games with alternating turns (`envs.turns`), an action is one number for each game, the move of the
    player to move; otherwise there is one for each player.  `turns` overrides the detected turn order.
    """

    def __init__(
        self,
        game: Game,
        n: int,
        *,
        seed: int | None = None,
        observe: Literal["auto", "planes", "fluents"] | View = "auto",
        board: Mapping[str, BoardCell] | None = None,
        channels_first: bool = False,
        dtype: Any = np.bool_,
        auto_reset: Literal["next", "same", "off"] = "next",
        turns: bool | None = None,
        max_steps: int = MAX_STEPS,
        reward_range: tuple[float, float] = (-1.0, 1.0),
    ) -> None:
        """Prepare for `n` games, 1 to 2**20; they begin with `reset`.

        `dtype` is that of observations and legal moves: bool, int8, uint8, float32, or uint64 for packed
        bits.
        `auto_reset` says what happens to games that are over: "next" begins them again in the next
        step, whose action is ignored (Gymnasium's next-step), "same" at once, "off" leaves them.
        `reward_range` is what goal values 0 and 100 give.  `board` declares where fluents stand
        instead of finding it out.  Raises `GameError` and `BudgetExceeded` as `Game.network` does,
        `GameError` too for a game that is over at once or has no player.
        """
        if not 1 <= n <= LARGEST:
            raise ValueError(f"a batch has 1 to {LARGEST} games, not {n}")
        if auto_reset not in _MODES:
            raise ValueError(f"auto_reset is one of {', '.join(_MODES)}, not {auto_reset!r}")
        if max_steps < 1:
            raise ValueError(f"max_steps is 1 or more, not {max_steps}")
        self.dtype = np.dtype(dtype)
        if self.dtype not in (np.bool_, np.int8, np.uint8, np.float32, np.uint64):
            raise ValueError(f"dtype is bool, int8, uint8, float32 or uint64 (packed), not {self.dtype}")
        self.game = game
        self.n = n
        self.auto_reset = auto_reset
        self.max_steps = max_steps
        self.players: tuple[str, ...] = game.players
        """The roles that choose."""
        turn_order = find_turns(game)
        if turns and not turn_order.by_turns:
            raise GameError("the game does not go by turns: two players have a choice at the same time")
        self.by_turns = turn_order.by_turns if turns is None else turns
        """Whether one player moves at a time."""
        self.fluents: tuple[str, ...] = game.expander.fluent_names
        self.view = self._view(observe, board, channels_first)
        """The view that observations show."""
        walker = game.walker()
        indices = [game.roles.index(role) for role in self.players]
        self.actions: tuple[tuple[str, ...], ...] = tuple(tuple(walker.moves[i]) for i in indices)
        """For each player the moves by their numbers, as KIF."""
        self.num_actions = max(map(len, self.actions))
        self._chance_role = -1 if game.chance_role is None else game.roles.index(game.chance_role)
        self._inputs = walker.inputs
        drawn = () if self._chance_role < 0 else walker.moves[self._chance_role]
        self.chance_moves: tuple[str, ...] = tuple(drawn)
        """The outcomes of chance by their numbers, as KIF; empty in games without chance."""
        self.percepts: tuple[tuple[str, str], ...] = self._percepts()
        """The pairs of role and percept that `sees` can give."""
        self._env = self._new_env(walker.inputs, indices, turn_order.idle, reward_range)
        self._sow(seed)
        self._started = False

    # -- shapes ---------------------------------------------------------------------------

    @property
    def observation_shape(self) -> tuple[int, ...]:
        """The shape of one observation, not packed."""
        return self.view.shape

    @property
    def legal_shape(self) -> tuple[int, ...]:
        """The shape of the legal moves of one game, not packed."""
        return (self.num_actions,) if self.by_turns else (len(self.players), self.num_actions)

    @property
    def action_shape(self) -> tuple[int, ...]:
        """The shape of the actions of one game."""
        return () if self.by_turns else (len(self.players),)

    def __repr__(self) -> str:
        how = "by turns" if self.by_turns else "all at once"
        return f"<BatchEnv {self.game.name}: {self.n} games, {how}, {self.num_actions} actions>"

    # -- playing --------------------------------------------------------------------------

    def reset(self, *, seed: int | None = None, where: NDArray[np.bool_] | None = None) -> BatchStep:
        """Restart games: all, or those for which `where`, [n], is true; a seed makes chance reproducible.

        Without a seed the random numbers continue.
        """
        if seed is not None:
            self._sow(seed)
        arrays = _StepArrays(self, self._env)
        self._env.begin(_flags(True if where is None else where, self.n), *arrays.present)
        self._started = True
        return self._step(arrays, final=False)

    def step(
        self, actions: NDArray[Any] | Sequence[Any], *, where: NDArray[np.bool_] | None = None
    ) -> BatchStep:
        """Make a move in every game: `actions` has the shape [n, *action_shape].

        Games for which `where`, [n], is false stay as they are, and so do those of them that are over.
        Raises `IllegalMoveError`, and moves nothing, when an action is not legal in a game that is not over.
        """
        return self._advance(actions, None, where)

    def chance_probabilities(self) -> NDArray[np.float32]:
        """Return how likely each outcome of chance is in each game, [n, outcomes].

        Outcomes are in the order of `chance_moves`.  They sum to 1 in each game that is not over.  Raises
        `GameError` for games without chance.
        """
        numbers = self._chance_numbers
        self._require_started()
        expander = self.game.expander
        legal = expander.legal(self.states).mask(self._chance_role)
        possible = legal[:, numbers - expander.bounds[self._chance_role]].astype(np.float32)
        odds: NDArray[np.float32] = possible / np.maximum(possible.sum(axis=1, keepdims=True), 1)
        return odds

    def stochastic_step(
        self,
        actions: NDArray[Any] | Sequence[Any],
        outcomes: NDArray[Any] | Sequence[int],
        *,
        where: NDArray[np.bool_] | None = None,
    ) -> BatchStep:
        """Make a move in every game as `step` does, with given outcomes of chance, [n], instead of draws.

        An outcome is the number of a move in `chance_moves`; those of games that do not move are ignored.
        Raises `IllegalMoveError`, and moves nothing, when one is not possible, `GameError` for games
        without chance.
        """
        numbers = self._chance_numbers
        drawn = np.asarray(outcomes, np.int64)
        if drawn.shape != (self.n,):
            raise ValueError(f"outcomes have the shape [{self.n}], not {list(drawn.shape)}")
        in_range = (drawn >= 0) & (drawn < len(numbers))
        chosen = np.where(in_range, numbers[drawn * in_range], -1).astype(np.int32)
        return self._advance(actions, chosen, where)

    def _advance(
        self,
        actions: NDArray[Any] | Sequence[Any],
        outcomes: NDArray[np.int32] | None,
        where: NDArray[np.bool_] | None,
    ) -> BatchStep:
        numbers = np.ascontiguousarray(actions, np.int32)
        if numbers.shape != (self.n, *self.action_shape):
            raise ValueError(
                f"actions have the shape {[self.n, *self.action_shape]}, not {list(numbers.shape)}"
            )
        numbers = numbers.reshape(self.n, -1)
        self._require_started()
        held = None if where is None else 1 - _flags(where, self.n)
        arrays = _StepArrays(self, self._env)
        step: Any = self._env.step  # type checkers do not know how many arrays there are
        chance = () if outcomes is None else (outcomes,)
        outcome: EnvOutcome = step(numbers, held, *arrays.present, *arrays.gained, *chance)
        if outcome.illegal >= 0:
            raise IllegalMoveError(self._refusal(outcome.illegal, numbers[outcome.illegal].tolist()))
        if outcomes is not None and outcome.illegal_outcome >= 0:
            raise IllegalMoveError(f"the outcome of chance is not possible in game {outcome.illegal_outcome}")
        if outcome.clash and self.by_turns:
            raise GameError(
                "the game does not go by turns after all: two players have a choice; use turns=False"
            )
        if outcome.goalless:
            raise GameError("a game ended in a state in which some player has not exactly one goal value")
        return self._step(arrays, final=True)

    def sample(self) -> NDArray[np.int32]:
        """Return random legal actions, [n, *action_shape], all equally likely; any where a game is over."""
        self._require_started()
        actions = np.zeros((self.n, 1 if self.by_turns else len(self.players)), np.int32)
        self._env.sample(actions)
        return actions[:, 0] if self.by_turns else actions

    # -- states ---------------------------------------------------------------------------

    @property
    def states(self) -> NDArray[np.uint64]:
        """The present states, packed as `Game.expander` takes them, [n, words]."""
        return self._unpacked(np.arange(len(self.fluents), dtype=np.int32), np.uint64)

    @property
    def steps(self) -> NDArray[np.int32]:
        """How many steps each game has taken, [n]."""
        return self._env.steps

    @property
    def over(self) -> NDArray[np.bool_]:
        """Whether each game is over and waits for a reset, [n]."""
        return self._env.over.view(np.bool_)

    def observe(self, view: View, dtype: Any = np.bool_) -> NDArray[Any]:
        """Return another view of the present states, [n, *shape]."""
        values = self._unpacked(view.columns, dtype)
        return values if np.dtype(dtype) == np.uint64 else values.reshape(self.n, *view.shape)

    # -- inside ---------------------------------------------------------------------------

    @property
    def _chance_numbers(self) -> NDArray[np.int32]:
        """The moves of chance by the numbers of outcomes, as numbers in the network."""
        if self._chance_role < 0:
            raise GameError("this game has no chance moves")
        return np.array(self._inputs[self._chance_role], np.int32)

    def _view(self, observe: str | View, board: Mapping[str, BoardCell] | None, channels_first: bool) -> View:
        if isinstance(observe, View):
            return observe
        if observe not in ("auto", "planes", "fluents"):
            raise ValueError(f"observe is auto, planes, fluents or a View, not {observe!r}")
        if observe == "fluents":
            return make_view(self.fluents, None)
        if board is None:
            board = find_board(self.game)
        if not board and observe == "planes":
            raise GameError("no board was found among the facts; declare one, or observe fluents")
        rest = True if observe == "planes" else None
        return make_view(self.fluents, board, channels_first=channels_first, rest=rest)

    def _percepts(self) -> tuple[tuple[str, str], ...]:
        network = self.game.network
        if not self.game.has_percepts:
            return ()
        text = network.terms.text
        return tuple((self.game.roles[role], text(term)) for role, term in network.percepts.tolist())

    def _new_env(
        self,
        inputs: Sequence[Sequence[int]],
        players: Sequence[int],
        idle: NDArray[np.bool_],
        reward_range: tuple[float, float],
    ) -> Env:
        game = self.game
        number = np.full((len(players), self.num_actions), -1, np.int32)
        for p, role in enumerate(players):
            number[p, : len(inputs[role])] = inputs[role]
        return Env(
            circuit=game.network.circuit,
            lanes=self.n,
            players=np.array(players, np.int32),
            number=number,
            idle=idle.astype(np.uint8),
            columns=_int32(self.view.columns),
            chance=self._chance_role,
            by_turns=self.by_turns,
            packed=self.dtype == np.uint64,
            percepts=bool(self.percepts),
            reset=_MODES[self.auto_reset],
            max_steps=self.max_steps,
            low=reward_range[0],
            high=reward_range[1],
            keep=KEPT_BYTES,
        )

    def _sow(self, seed: int | None) -> None:
        self._env.sow(
            np.random.SeedSequence(seed).generate_state(self._env.seed_words, np.uint64).astype(np.uint64)
        )

    def _step(self, arrays: _StepArrays, *, final: bool) -> BatchStep:
        n, dtype = self.n, self.dtype
        rewards, terminated, truncated, percepts, last = arrays.gained
        if not final:
            for array in (rewards, terminated, truncated, percepts):
                array.fill(0)
        seen = (n, -(-len(self.view.columns) // 64)) if dtype == np.uint64 else (n, *self.view.shape)
        legal = (n, -(-prod(self.legal_shape) // 64)) if dtype == np.uint64 else (n, *self.legal_shape)
        ended = final and self.auto_reset == "same" and (terminated.any() or truncated.any())
        return BatchStep(
            _shaped(arrays.observation, seen, dtype),
            _shaped(arrays.legal, legal, dtype),
            arrays.player.view(np.int8),
            rewards,
            terminated.view(np.bool_),
            truncated.view(np.bool_),
            _shaped(last, seen, dtype) if ended else None,
            percepts.view(np.bool_).reshape(n, -1) if self.percepts else None,
        )

    def _unpacked(self, columns: NDArray[np.int32], dtype: Any) -> NDArray[Any]:
        kind = np.dtype(dtype)
        packed = kind == np.uint64
        words = -(-len(columns) // 64)
        out = np.empty(self.n * (8 * words if packed else len(columns)), np.uint8)
        self._env.observe(_int32(columns), packed, out)
        return _shaped(out, (self.n, words if packed else len(columns)), kind)

    def _require_started(self) -> None:
        if not self._started:
            raise RuntimeError("call `reset` before the first step")

    def _refusal(self, lane: int, actions: Sequence[int]) -> str:
        players = [int(self._env.to_move[lane])] if self.by_turns else range(len(self.players))
        state = self.game.state(self.game.expander.facts(self.states[lane : lane + 1])[0])
        for p, action in zip(players, actions, strict=True):
            role = self.players[p]
            legal = state.legal_moves(role)
            in_range = 0 <= action < len(self.actions[p])
            if not in_range or self.actions[p][action] not in map(str, legal):
                move = f" (`{self.actions[p][action]}`)" if in_range else ""
                named = [f"{self.actions[p].index(str(m))} `{m}`" for m in legal[:6]]
                more = f", ... {len(legal) - 6} more" if len(legal) > 6 else ""
                shown = ", ".join(named) + more
                return f"game {lane}: action {action}{move} is not legal for {role} (legal: {shown})"
        return f"game {lane}: an action is not legal"


class _StepArrays:
    """New arrays for `BatchStep`, as the core fills them: bytes, or words as bytes."""

    def __init__(self, env: BatchEnv, core: Env) -> None:
        n = env.n
        self.observation = core.room(core.observation_bytes)
        self.legal = core.room(core.legal_bytes)
        self.player = core.room(n)
        self.present = self.observation, self.legal, self.player
        self.gained = (
            core.room(4 * n * len(env.players)).view(np.float32).reshape(n, -1),
            core.room(n),
            core.room(n),
            core.room(core.percept_bytes),
            core.room(core.observation_bytes if env.auto_reset == "same" else 0),
        )


def _flags(condition: Any, n: int) -> NDArray[np.uint8]:
    """Return so many bytes, 1 where something is true."""
    flags = np.empty(n, np.bool_)
    flags[:] = condition
    return flags.view(np.uint8)


def _int32(numbers: NDArray[Any]) -> NDArray[np.int32]:
    return np.ascontiguousarray(numbers, np.int32)


def _shaped(bytes_: NDArray[np.uint8], shape: tuple[int, ...], dtype: Any) -> NDArray[Any]:
    if dtype == np.uint64:
        return bytes_.view(np.uint64).reshape(shape)
    values = bytes_.reshape(shape)
    return values.astype(np.float32) if dtype == np.float32 else values.view(dtype)
