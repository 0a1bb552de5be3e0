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

from contextlib import suppress
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np

from herbrand.envs.planes import View, find_board, make_view
from herbrand.envs.turns import find_turns, noting
from herbrand.errors import GameError, IllegalMoveError
from herbrand.simulate.playouts import goal_value
from herbrand.simulate.rows import share_rows

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from herbrand.draw.text import Cell
    from herbrand.game import Game

__all__ = ["LARGEST", "BatchEnv", "Step"]

LARGEST: Final = 1 << 20
"""So many games at most."""
MAX_STEPS: Final = 1000
_MODES: Final = {"off": 0, "next": 1, "same": 2}
KEPT_BYTES: Final = 1 << 28
"""Up to so much memory the values of a state are kept until the next step; else they are evaluated again."""
_SLACK: Final = 64
_BITS: Final = 12


@dataclass(frozen=True, slots=True)
class Step:
    """What is known after a reset or a step; row i of every array is game i."""

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
    """`n` games moved along together.

    By turns, where the game goes so (`envs.turns`), actions are one number for each game, that of the move
    of the player to move; else one for each player.  `turns` overrides what was found.
    """

    def __init__(
        self,
        game: Game,
        n: int,
        *,
        seed: int | None = None,
        observe: Literal["auto", "planes", "fluents"] | View = "auto",
        board: Mapping[str, Cell] | None = None,
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
        if not self.players:
            raise GameError("no role chooses anything: all is left to `random`")
        with noting():
            found = find_turns(game)
        if not len(found.states):
            raise GameError("the initial state is terminal, or a role has no legal move in it")
        if turns and not found.by_turns:
            raise GameError("the game does not go by turns: two players have a choice at the same time")
        self.by_turns = found.by_turns if turns is None else turns
        """Whether one player moves at a time."""
        self.fluents: tuple[str, ...] = game.expander.fluent_names
        self.view = self._view(observe, board, channels_first, found.states)
        """What observations show."""
        walker = game.walker()
        indices = [game.roles.index(role) for role in self.players]
        self.actions: tuple[tuple[str, ...], ...] = tuple(tuple(walker.moves[i]) for i in indices)
        """For each player the moves by their numbers, as KIF."""
        self.num_actions = max(map(len, self.actions))
        self.percepts: tuple[tuple[str, str], ...] = self._percepts()
        """The pairs of role and percept that `sees` can give."""
        self._reward_range = reward_range
        self._seed = seed
        with noting():
            self._prepare(walker.inputs, indices, found.idle)

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

    def reset(self, *, seed: int | None = None, where: NDArray[np.bool_] | None = None) -> Step:
        """Begin games anew: all, or those for which `where`, [n], is true; a seed makes chance repeat.

        Without a seed chance goes on as it is.
        """
        from herbrand.envs import kernel

        if seed is not None:
            self._sow(seed)
        fresh = np.zeros(self._blocks * self._lanes, np.bool_)
        fresh[: self.n] = True if where is None else where
        words = np.packbits(fresh, bitorder="little").view(np.uint64).reshape(self._blocks, -1)
        told = self._outputs()
        errors = np.zeros(3, np.int64)
        kernel.begin(
            *self._machine, *self._tables, self._store, told, words, self.game.network.initial, errors, self.n
        )
        self._started = True
        return self._step(told, final=False)

    def step(self, actions: NDArray[Any] | Sequence[Any], *, where: NDArray[np.bool_] | None = None) -> Step:
        """Make a move in every game: `actions` has the shape [n, *action_shape].

        Games for which `where`, [n], is false stay as they are, and so do those of them that are over.
        Raises `IllegalMoveError`, and moves nothing, when an action is not legal in a game that is not over.
        """
        from herbrand.envs import kernel

        given = np.ascontiguousarray(actions, np.int32)
        if given.shape != (self.n, *self.action_shape):
            raise ValueError(
                f"actions have the shape {[self.n, *self.action_shape]}, not {list(given.shape)}"
            )
        given = given.reshape(self.n, -1)
        self._require_started()
        if where is None:
            held = self._held_none
        else:
            still = np.zeros(self._blocks * self._lanes, np.bool_)
            still[: self.n] = ~np.asarray(where, np.bool_)
            held = np.packbits(still, bitorder="little").view(np.uint64).reshape(self._blocks, -1)
        wrong = kernel.check(given, self._numbers, self._store, held, self._width, self.by_turns, self.n)
        if wrong >= 0:
            raise IllegalMoveError(self._refusal(int(wrong), given[wrong].tolist()))
        told = self._outputs()
        errors = np.zeros(3, np.int64)
        kernel.advance(
            *self._machine, *self._tables, self._store, told, given, self._start, _MODES[self.auto_reset],
            self.max_steps, held, errors, self.n,
        )  # fmt: skip
        if errors[1] and self.by_turns:
            raise GameError(
                "the game does not go by turns after all: two players have a choice; use turns=False"
            )
        if errors[2]:
            raise GameError("a game ended in a state in which some player has not exactly one goal value")
        return self._step(told, final=True)

    def sample(self) -> NDArray[np.int32]:
        """Return random legal actions, [n, *action_shape], all equally likely; any where a game is over."""
        from herbrand.envs import kernel

        self._require_started()
        actions = np.zeros((self.n, 1 if self.by_turns else len(self.players)), np.int32)
        rows, width, _ = self._machine
        _, roles, scratch, _ = self._tables
        kernel.sample(rows[0], width, roles, scratch, self._store, self._dice, actions, self.by_turns, self.n)
        return actions[:, 0] if self.by_turns else actions

    # -- states ---------------------------------------------------------------------------

    @property
    def states(self) -> NDArray[np.uint64]:
        """The present states, packed as `Game.expander` takes them, [n, words]."""
        columns = np.arange(len(self.fluents), dtype=np.int32)
        return self._unpacked(columns, np.uint64)

    @property
    def steps(self) -> NDArray[np.int32]:
        """How many steps each game has taken, [n]."""
        steps: NDArray[np.int32] = self._store[5][: self.n].copy()
        return steps

    @property
    def over(self) -> NDArray[np.bool_]:
        """Which games are over and wait, [n]."""
        bits = np.unpackbits(self._store[3].reshape(-1).view(np.uint8), bitorder="little")
        return bits[: self.n].view(np.bool_)

    def observe(self, view: View, dtype: Any = np.bool_) -> NDArray[Any]:
        """Return another view of the present states, [n, *shape]."""
        found = self._unpacked(view.columns, dtype)
        return found if np.dtype(dtype) == np.uint64 else found.reshape(self.n, *view.shape)

    # -- inside ---------------------------------------------------------------------------

    def _view(
        self,
        observe: str | View,
        board: Mapping[str, Cell] | None,
        channels_first: bool,
        states: NDArray[np.uint64],
    ) -> View:
        if isinstance(observe, View):
            return observe
        if observe not in ("auto", "planes", "fluents"):
            raise ValueError(f"observe is auto, planes, fluents or a View, not {observe!r}")
        if observe == "fluents":
            return make_view(self.fluents, None)
        if board is None:
            some = states[np.linspace(0, len(states) - 1, 64).astype(np.int64)]
            board = find_board(self.game, self.game.expander.facts(some))
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

    def _prepare(
        self, inputs: Sequence[Sequence[int]], players: Sequence[int], idle: NDArray[np.bool_]
    ) -> None:
        """Lay out rows and blocks; see `kernel`."""
        from herbrand.envs import kernel
        from herbrand.simulate.kernel import FEW

        game, network = self.game, self.game.network
        self._width = 8  # one word, for up to 64 games, is not faster and has to be compiled, too
        self._lanes = 64 * self._width
        self._blocks = -(-self.n // self._lanes)
        rows = share_rows(network, sees=bool(self.percepts))
        fluents, moves = len(network.fluents), len(network.moves)
        bounds = np.searchsorted(network.moves[:, 0], np.arange(len(network.roles) + 1)).astype(np.int64)
        chance = -1 if game.chance_role is None else game.roles.index(game.chance_role)
        if chance >= 0 and bounds[chance + 1] - bounds[chance] > FEW:
            raise GameError(f"`random` has more than {FEW} moves, too many to draw from")
        self._numbers = np.full((len(players), self.num_actions), -1, np.int32)
        for p, role in enumerate(players):
            self._numbers[p, : len(inputs[role])] = inputs[role]
        legal_rows = self.num_actions if self.by_turns else len(players) * self.num_actions
        largest = max(len(self.view.columns), legal_rows, len(self.percepts), moves, fluents)
        squares = 64 * (-(-largest // 64))
        sizes = [fluents, moves, len(players), len(players), self.num_actions, squares, _BITS, _BITS, 4, 8]
        places = np.concatenate([[rows.count], rows.count + np.cumsum(sizes)]).astype(np.int64)
        size = (int(places[-1]) + 1) * self._width
        self._kept = self._blocks * size * 8 <= KEPT_BYTES
        v = _aligned(self._blocks if self._kept else 1, size)
        circuit = (
            rows.left, rows.right, rows.out, np.array(network.cones, np.int64),
            network.loops[np.argsort(network.loops[:, 0])] if len(network.loops) else network.loops,
            rows.feedback, 1 + fluents + moves, fluents, 1 + fluents, int(places[-1]),
        )  # fmt: skip
        low, high = self._reward_range
        values = [goal_value(network.terms.text(term)) for term in network.goals[:, 1].tolist()]
        by_role = {role: p for p, role in enumerate(players)}
        goal_player = np.array(
            [
                -1 if value is None else by_role.get(int(role), -1)
                for role, value in zip(network.goals[:, 0], values, strict=True)
            ],
            np.int64,
        )
        scaled = np.array([low + (high - low) * (value or 0) / 100 for value in values], np.float32)
        literals = (rows.next, rows.legal, rows.terminal, rows.goal, goal_player, scaled, rows.sees)
        roles = (bounds, np.array(players, np.int64), chance, self._numbers, idle)
        columns = (self._literals(self.view.columns), self.by_turns, self.dtype == np.uint64)
        self._machine: Any = (v, (0,) * self._width, circuit)
        self._tables: Any = (literals, roles, tuple(places[:-1].tolist()), columns)
        padded = self._blocks * self._lanes
        shape = self._blocks, self._width
        states = np.zeros((self._blocks, fluents, self._width), np.uint64)
        states[:, network.initial] = ~np.uint64(0)
        self._store: Any = (
            states,
            np.zeros((self._blocks, moves, self._width), np.uint64),
            np.zeros((self._blocks, len(players), self._width), np.uint64),
            np.zeros(shape, np.uint64),
            np.zeros((self._blocks, 4, self._width), np.uint64),
            np.zeros(padded, np.int32),
            np.zeros(padded + _SLACK, np.uint8),
        )
        packed = self.dtype == np.uint64
        legal = prod(self.legal_shape)
        self._sizes = (
            self._size(len(self.view.columns), self.dtype),
            self._size(legal, self.dtype),
            self._size(len(self.view.columns), self.dtype) if self.auto_reset == "same" else 0,
            self._size(len(self.percepts), np.bool_),
        )
        self._shapes = (
            (self.n, -(-len(self.view.columns) // 64)) if packed else (self.n, *self.view.shape),
            (self.n, -(-legal // 64)) if packed else (self.n, *self.legal_shape),
            (self.n, len(self.percepts)),
        )
        self._held_none = np.zeros(shape, np.uint64)
        self._dice = np.zeros((self._blocks, 4, self._width), np.uint64)
        self._sow(self._seed)
        self._started = False
        begun = self.reset()
        first = (self._store[1][0, :, 0] & np.uint64(1)).astype(np.bool_)
        # what the rows of the network hold in the initial state
        values = (v[0].reshape(-1, self._width)[: rows.count, 0] & np.uint64(1)).astype(np.bool_)
        self._start = (network.initial, first, int(begun.player[0]), values)
        if not kernel.advance.signatures:  # compile what a step needs, while somebody is told of it
            with suppress(GameError):
                self.step(self.sample())
            self._sow(self._seed)
        self._started = False

    def _sow(self, seed: int | None) -> None:
        words = np.random.SeedSequence(seed).generate_state(2 * self._dice.size, np.uint64)
        self._store[4][:] = words[: self._dice.size].reshape(self._dice.shape)
        self._dice[:] = words[self._dice.size :].reshape(self._dice.shape)

    @staticmethod
    def _literals(columns: NDArray[np.int32]) -> NDArray[np.int32]:
        return np.where(columns < 0, 0, 2 * (1 + columns)).astype(np.int32)

    def _size(self, elements: int, dtype: Any) -> int:
        """How long an array for so many elements of each game is, with room for what is written past them."""
        return self.n * (8 * -(-elements // 64) if dtype == np.uint64 else elements) + _SLACK

    def _outputs(self) -> tuple[NDArray[Any], ...]:
        """New arrays for `Step`."""
        n = self.n
        seen, legal, final, percepts = self._sizes
        return (
            np.empty(seen, np.uint8),
            np.empty(legal, np.uint8),
            np.empty(n + _SLACK, np.uint8),
            np.empty((n, len(self.players)), np.float32),
            np.empty(n + _SLACK, np.uint8),
            np.empty(n + _SLACK, np.uint8),
            np.empty(percepts, np.uint8),
            np.empty(final, np.uint8),
        )

    def _step(self, told: tuple[NDArray[Any], ...], *, final: bool) -> Step:
        n, dtype = self.n, self.dtype
        if not final:
            for array in told[3:7]:
                array.fill(0)
        terminated = told[4][:n].view(np.bool_)
        truncated = told[5][:n].view(np.bool_)
        last = None
        if final and self.auto_reset == "same" and (terminated.any() or truncated.any()):
            last = _shaped(told[7], self._shapes[0], dtype)
        return Step(
            _shaped(told[0], self._shapes[0], dtype),
            _shaped(told[1], self._shapes[1], dtype),
            told[2][:n].view(np.int8),
            told[3],
            terminated,
            truncated,
            last,
            _shaped(told[6], self._shapes[2], np.dtype(np.bool_)) if self.percepts else None,
        )

    def _unpacked(self, columns: NDArray[np.int32], dtype: Any) -> NDArray[Any]:
        from herbrand.envs import kernel

        kind = np.dtype(dtype)
        groups = -(-len(columns) // 64)
        packed = kind == np.uint64
        out = np.empty(self._size(len(columns), kind), np.uint8)
        rows, width, _ = self._machine
        place = self._tables[2][0]
        literals = np.where(columns < 0, 0, 2 * (place + columns)).astype(np.int32)
        kernel.unpack(
            rows[0], width, self._store[0], place, literals, self._tables[2][5], out,
            packed, self.n,
        )  # fmt: skip
        return _shaped(out, (self.n, groups if packed else len(columns)), kind)

    def _require_started(self) -> None:
        if not self._started:
            raise RuntimeError("call `reset` before the first step")

    def _refusal(self, lane: int, given: Sequence[int]) -> str:
        players = [int(self._store[6][lane])] if self.by_turns else range(len(self.players))
        state = self.game.state(self.game.expander.facts(self.states[lane : lane + 1])[0])
        for p, action in zip(players, given, strict=True):
            role = self.players[p]
            legal = state.legal_moves(role)
            known = 0 <= action < len(self.actions[p])
            if not known or self.actions[p][action] not in map(str, legal):
                move = f" (`{self.actions[p][action]}`)" if known else ""
                named = [f"{self.actions[p].index(str(m))} `{m}`" for m in legal[:6]]
                more = f", ... {len(legal) - 6} more" if len(legal) > 6 else ""
                shown = ", ".join(named) + more
                return f"game {lane}: action {action}{move} is not legal for {role} (legal: {shown})"
        return f"game {lane}: an action is not legal"


def _aligned(blocks: int, words: int) -> NDArray[np.uint64]:
    """Return zeros, [blocks, words], that begin where a line of the cache does."""
    room = np.zeros(blocks * words + 8, np.uint64)
    skip = -room.ctypes.data % 64 // 8
    return room[skip : skip + blocks * words].reshape(blocks, words)


def _shaped(buffer: NDArray[np.uint8], shape: tuple[int, ...], dtype: Any) -> NDArray[Any]:
    """Return the beginning of a buffer of bytes as an array."""
    if dtype == np.uint64:
        return buffer[: 8 * prod(shape)].view(np.uint64).reshape(shape)
    found = buffer[: prod(shape)].reshape(shape)
    return found.astype(np.float32) if dtype == np.float32 else found.view(dtype)
