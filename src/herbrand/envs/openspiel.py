"""Games for OpenSpiel: `register("connectFour")` makes one that `pyspiel.load_game` finds.

A node of OpenSpiel's tree is a state of ours together with the moves that were already chosen in it.  In each
state the players who have something to decide are asked one after the other, or at once at a simultaneous
node; then `random` draws at a chance node if it has a choice; then the step is made.  States in
which everybody waits are passed over.

The Python object of a state has one attribute, an immutable `_Node`, because OpenSpiel copies a state by
copying its attributes deeply and stores it by pickling them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from herbrand.envs.openspiel_structs import (
    ImageObserver,
    action_struct,
    actions_of,
    node_parts,
    observation_struct,
    state_struct,
)
from herbrand.envs.single import Form, form_of, load_game, longest_play, require
from herbrand.errors import GameError

if TYPE_CHECKING:
    from herbrand.game import Game
    from herbrand.machine.state import State

__all__ = ["load", "match_trace", "register", "replay_trace"]

MAX_STEPS: Final = 1000
LARGEST_TENSOR: Final = 1 << 16
"""Tensors of information states that would be longer are not offered."""

_CHANCE: Final = -1
_SIMULTANEOUS: Final = -2
_TERMINAL: Final = -4


class _Table:
    """The data that all nodes of one registered game share."""

    def __init__(self, name: str, game: Game, options: dict[str, Any]) -> None:
        self.name = name
        self.game = game
        self.form: Form = form_of(game)
        self.low, self.high = options["reward_range"]
        self.simultaneous = not self.form.by_turns and not options["turn_based"]
        self.has_percepts = game.has_percepts
        max_steps, longest = options["max_steps"], longest_play(game)
        self.max_steps = min(max_steps or longest or MAX_STEPS, longest or MAX_STEPS)
        self.bounded = longest is not None or max_steps is not None
        self.total = options["constant_sum"]
        places = len(self.form.players) if not self.form.by_turns and not self.simultaneous else 1
        self.max_length = self.max_steps * places
        self.start = _Node(self, game.initial_state("network"), (), ((),) * len(self.form.players), 0, None)

    def value(self, goal: int | None) -> float:
        """The utility of a goal value; a player without one gets the middle."""
        return float(self.low + (self.high - self.low) * (50 if goal is None else goal) / 100)


_TABLES: dict[tuple[str, tuple[tuple[str, Any], ...]], _Table] = {}


@dataclass(slots=True, eq=False)
class _Node:
    """A state and the moves already chosen in it; immutable."""

    table: _Table
    state: State
    chosen: tuple[int | None, ...]
    """The number of the chosen move by player, None for a pending choice; empty before the first."""
    informed: tuple[tuple[tuple[str, ...], ...], ...]
    """By player, for every step, its move and percepts; empty in games without `sees`."""
    steps: int
    drawn: int | None
    waiting: int = field(init=False)
    """The player to act, or a number for chance, simultaneous moves, a terminal node, a forced step."""

    def __post_init__(self) -> None:
        self.waiting = self._waiting()

    def _waiting(self) -> int:
        table, state = self.table, self.state
        if state.is_terminal or self.steps >= table.max_steps:
            return _TERMINAL
        deciders = table.form.deciders(state)
        open_ = [p for p in deciders if not self.chosen or self.chosen[p] is None]
        if open_:
            return _SIMULTANEOUS if table.simultaneous and len(deciders) > 1 else open_[0]
        role = table.game.chance_role
        if role is not None and self.drawn is None and len(state.legal_moves(role)) > 1:
            return _CHANCE
        return _CHANCE - 100  # no role has a choice: the step is made at once

    def settled(self) -> _Node:
        """This node, or the first one after it with a choice."""
        node = self
        while node.waiting < _CHANCE - 50:
            node = node.step()
        return node

    def choose(self, player: int, action: int) -> _Node:
        """The node after a player, or chance, chose."""
        chosen, drawn = self.chosen, self.drawn
        if player == _CHANCE:
            drawn = action
        else:
            before = chosen or (None,) * len(self.table.form.players)
            chosen = (*before[:player], action, *before[player + 1 :])
        return _Node(self.table, self.state, chosen, self.informed, self.steps, drawn).settled()

    def choose_all(self, actions: list[int]) -> _Node:
        """The node after all players chose at once."""
        return _Node(self.table, self.state, tuple(actions), self.informed, self.steps, None).settled()

    def step(self) -> _Node:
        """The node after the joint move."""
        table, state = self.table, self.state
        game, form = table.game, table.form
        joint = {}
        for p, role in enumerate(form.players):
            action = self.chosen[p] if self.chosen else None
            joint[role] = state.legal_moves(role)[0] if action is None else form.actions[p][action]
        if game.chance_role is not None:
            forced = state.legal_moves(game.chance_role)[0]
            joint[game.chance_role] = forced if self.drawn is None else form.chance_moves[self.drawn]
        informed = self.informed
        if table.has_percepts:
            percepts = [state.percepts(joint, role) for role in form.players]
            informed = tuple(
                (*before, (str(joint[role]), *seen))
                for before, role, seen in zip(informed, form.players, percepts, strict=True)
            )
        return _Node(table, state.next(joint), (), informed, self.steps + 1, None)

    def __deepcopy__(self, memo: dict[int, Any]) -> _Node:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        key = next(key for key, table in _TABLES.items() if table is self.table)
        facts = tuple(sorted(self.state.facts))
        return _rebuilt, (*key, facts, self.chosen, self.informed, self.steps, self.drawn)


def _rebuilt(
    name: str,
    parameters: tuple[tuple[str, Any], ...],
    facts: tuple[str, ...],
    chosen: tuple[int | None, ...],
    informed: tuple[tuple[tuple[str, ...], ...], ...],
    steps: int,
    drawn: int | None,
) -> _Node:
    table = _TABLES[name, parameters]
    return _Node(table, table.game.state(facts, engine="network"), chosen, informed, steps, drawn)


def register(
    game: Game | str,
    *,
    name: str | None = None,
    turn_based: bool = False,
    max_steps: int | None = None,
    constant_sum: int | None = None,
    reward_range: tuple[float, float] = (0, 100),
) -> str:
    """Make a game known to OpenSpiel; return the name by which `pyspiel.load_game` finds it.

    `game` is a game, a path, or the name of a bundled one; the parameters of a GGDL game become
    parameters of the game in OpenSpiel: `pyspiel.load_game("herbrand_mnk(M=4)")`.  `turn_based` asks
    players who choose at once one after the other, each without seeing what the others chose.

    Plays end after `max_steps` steps, 1000 where no bound is found (`single.longest_play`); whoever has no
    goal value then gets the middle of `reward_range`, which is what goal values 0 and 100 give.
    `constant_sum` declares that the goal values of the players always have this sum, which is
    checked at the end of every play; bundled games that are known for it need not be declared.  With a
    `reward_range` around zero, such as (-1, 1), the game of two players is then a zero-sum game.

    Raises `MissingExtra` without OpenSpiel, `GameError` as `BatchEnv` does and for a name that is taken.
    """
    pyspiel: Any = require("pyspiel", "the interface to OpenSpiel", "openspiel")
    loaded = load_game(game)
    short = name or f"herbrand_{loaded.name}"
    if short in pyspiel.registered_names():
        raise GameError(f"OpenSpiel has a game `{short}` already; give another name")
    if constant_sum is None and isinstance(game, str):
        constant_sum = _known_sum(game)
    options = {
        "turn_based": turn_based,
        "max_steps": max_steps,
        "constant_sum": constant_sum,
        "reward_range": reward_range,
    }
    first = _Table(short, loaded, options)
    _TABLES[short, ()] = first
    parameters = {p.name: p.value for p in loaded.parameters if isinstance(p.value, int | str)}
    type_of = pyspiel.GameType
    chance, information = type_of.ChanceMode, type_of.Information
    hidden = loaded.has_percepts or (turn_based and not first.form.by_turns)
    game_type = type_of(
        short_name=short,
        long_name=f"{loaded.name} (herbrand)",
        dynamics=type_of.Dynamics.SIMULTANEOUS if first.simultaneous else type_of.Dynamics.SEQUENTIAL,
        chance_mode=chance.DETERMINISTIC if loaded.chance_role is None else chance.EXPLICIT_STOCHASTIC,
        information=information.IMPERFECT_INFORMATION if hidden else information.PERFECT_INFORMATION,
        utility=_utility(pyspiel, first),
        reward_model=type_of.RewardModel.TERMINAL,
        max_num_players=len(first.form.players),
        min_num_players=len(first.form.players),
        provides_information_state_string=True,
        provides_information_state_tensor=0 < _history_size(first) <= LARGEST_TENSOR,
        provides_observation_string=True,
        provides_observation_tensor=True,
        provides_factored_observation_string=False,
        parameter_specification=parameters,
    )

    def table_of(params: dict[str, Any]) -> _Table:
        changed = {k: v for k, v in params.items() if k in parameters and v != parameters[k]}
        key = short, tuple(sorted(changed.items()))
        if key not in _TABLES:
            if not isinstance(game, str):
                raise GameError("a game that was loaded before has its parameters already; register its file")
            _TABLES[key] = _Table(short, load_game(game, {**parameters, **changed}), options)
        return _TABLES[key]

    pyspiel.register_game(game_type, _game_class(pyspiel, game_type, table_of))
    return short


def load(game: Game | str, **options: Any) -> Any:
    """Register a game, if its name is not taken, with options as for `register`; return OpenSpiel's game."""
    pyspiel: Any = require("pyspiel", "the interface to OpenSpiel", "openspiel")
    short = options.get("name") or f"herbrand_{load_game(game).name}"
    if (short, ()) not in _TABLES:
        register(game, **options)
    return pyspiel.load_game(short)


def match_trace(state: Any) -> dict[str, Any]:
    """Return the match that led to a state of OpenSpiel, as JSON values.

    For each node with an action it has the state and the moves made; then the last state and the returns.
    `replay_trace` plays it again.
    """
    game = state.get_game()
    node = game.new_initial_state()
    steps: list[dict[str, Any]] = []
    history = list(state.history())
    while history:
        width = game.num_players() if node.is_simultaneous_node() else 1
        actions, history = history[:width], history[width:]
        players = range(width) if node.is_simultaneous_node() else [node.current_player()]
        moves = [action_struct(node.at, p, a) for p, a in zip(players, actions, strict=True)]
        steps.append({"state": state_struct(node.at), "actions": moves})
        node.apply_actions(actions) if node.is_simultaneous_node() else node.apply_action(actions[0])
    end = {"state": state_struct(node.at), "returns": list(node.returns()), "is_terminal": node.is_terminal()}
    return {"game": str(game), "players": list(game.table.form.players), "steps": steps, **end}


def replay_trace(game: Any, trace: dict[str, Any]) -> Any:
    """Return the state of OpenSpiel at the end of a trace; `GameError` if the game does not match it."""
    node = game.new_initial_state()
    for number, step in enumerate(trace["steps"]):
        if state_struct(node.at) != step["state"]:
            raise GameError(f"step {number} of the trace begins in another state")
        actions = [actions_of(node.at, move)[0] for move in step["actions"]]
        if node.is_simultaneous_node():
            node.apply_actions(actions)
        else:
            node.apply_action(actions[0])
    if state_struct(node.at) != trace["state"]:
        raise GameError("the trace ends in another state")
    return node


def _known_sum(name: str) -> int | None:
    """The sum of goal values of a bundled game, where it is known to be constant."""
    from herbrand import games

    return 100 if name in games.names() and "zero-sum" in games.info(name).get("features", ()) else None


def _sum(table: _Table) -> float | None:
    """The sum of the utilities of all players, where it is always the same."""
    if table.total is None:
        return None
    return float(len(table.form.players) * table.low + (table.high - table.low) * table.total / 100)


def _utility(pyspiel: Any, table: _Table) -> Any:
    kinds, total = pyspiel.GameType.Utility, _sum(table)
    if total is None:
        return kinds.GENERAL_SUM
    return kinds.ZERO_SUM if total == 0 else kinds.CONSTANT_SUM


def _history_size(table: _Table) -> int:
    """The length of the tensor of an information state; 0 where the length of plays is not bounded."""
    return table.max_steps * _entry_size(table) if table.bounded else 0


def _entry_size(table: _Table) -> int:
    """The elements for one step: the own move and percepts, or every player's move and the drawn one."""
    return table.form.entry_size if table.has_percepts else len(table.form.view.columns)


def _game_class(pyspiel: Any, game_type: Any, table_of: Any) -> type:
    """The class of games that OpenSpiel makes for a registered name."""

    class State(pyspiel.State):  # type: ignore[misc]
        """A node of the tree; everything is in `_at`."""

        def __init__(self, game: Any) -> None:
            super().__init__(game)
            self.at = game.table.start.settled()

        def current_player(self) -> int:
            return int(self.at.waiting)

        def is_terminal(self) -> bool:
            return bool(self.at.waiting == _TERMINAL)

        def _legal_actions(self, player: int) -> list[int]:
            at = self.at
            form = at.table.form
            return form.legal(at.state, form.players[player])  # type: ignore[no-any-return]

        def chance_outcomes(self) -> list[tuple[int, float]]:
            at = self.at
            actions = at.table.form.legal(at.state, at.table.game.chance_role)
            return [(action, 1 / len(actions)) for action in actions]

        def _apply_action(self, action: int) -> None:
            self.at = self.at.choose(self.at.waiting, action)

        def _apply_actions(self, actions: list[int]) -> None:
            self.at = self.at.choose_all(actions)

        def _action_to_string(self, player: int, action: int) -> str:
            form = self.at.table.form
            return str((form.chance_moves if player == _CHANCE else form.actions[player])[action])

        def _to_struct(self) -> dict[str, Any]:
            return state_struct(self.at)

        def _action_to_struct(self, player: int, action: int) -> dict[str, Any]:
            return action_struct(self.at, player, action)

        def _struct_to_actions(self, struct: Any) -> list[int]:
            return actions_of(self.at, struct)

        def _to_observation_struct(self, player: int) -> dict[str, Any]:
            return observation_struct(self.at, player)

        def returns(self) -> list[float]:
            return _returns(self.at)

        def __str__(self) -> str:
            return _text(self.at)

    class Game(pyspiel.Game):  # type: ignore[misc]
        """A game of herbrand."""

        def __init__(self, params: dict[str, Any] | None = None) -> None:
            self.table = table_of(params or {})
            table = self.table
            form = table.form
            information = {
                "num_distinct_actions": form.num_actions,
                "max_chance_outcomes": len(form.chance_moves),
                "num_players": len(form.players),
                "min_utility": float(min(table.low, table.high)),
                "max_utility": float(max(table.low, table.high)),
                "max_game_length": table.max_length,
            }
            total = _sum(table)
            if total is not None:
                information["utility_sum"] = total
            super().__init__(game_type, pyspiel.GameInfo(**information), params or {})

        def new_initial_state(self, state: Any = None) -> Any:
            new = State(self)
            if state is not None:
                new.at = _Node(self.table, **node_parts(self.table, state)).settled()
            return new

        def max_chance_nodes_in_history(self) -> int:
            return 0 if self.table.game.chance_role is None else int(self.table.max_steps)

        def make_py_observer(self, iig_obs_type: Any = None, params: Any = None) -> Any:
            if params and set(params) <= {"image"}:
                return ImageObserver(self.table, int(params["image"]))
            if params:
                raise ValueError(f'observers take the parameter "image", not {params}')
            recall = iig_obs_type is not None and iig_obs_type.perfect_recall
            private = iig_obs_type is None or iig_obs_type.private_info != pyspiel.PrivateInfoType.NONE
            public = iig_obs_type is None or iig_obs_type.public_info
            return _Observer(self.table, recall=recall, private=private, public=public)

    return Game


def _returns(node: _Node) -> list[float]:
    table = node.table
    if node.waiting != _TERMINAL:
        return [0.0] * len(table.form.players)
    values = [node.state.goals[role] for role in table.form.players]
    if node.state.is_terminal:
        missing = [r for r, goal in zip(table.form.players, values, strict=True) if goal is None]
        if missing:
            raise GameError(f"the rules give {', '.join(missing)} not exactly one goal value at the end")
        if table.total is not None and sum(goal or 0 for goal in values) != table.total:
            raise GameError(f"goal values {values} at the end do not have the declared sum {table.total}")
    else:
        values = [None] * len(values)
    return [table.value(goal) for goal in values]


def _text(node: _Node) -> str:
    """Render a state for people: a board where there is one, and the pending choices."""
    lines = [node.table.game.artist.text(node.state)]
    form = node.table.form
    for p, action in enumerate(node.chosen):
        if action is not None:
            lines.append(f"{form.players[p]} chose {form.actions[p][action]}")
    return "\n".join(lines)


class _Observer:
    """Observer of a player: its percepts in games with `sees`, else the whole state."""

    def __init__(self, table: _Table, *, recall: bool, private: bool, public: bool) -> None:
        """`private` and `public` say what is asked for; percepts count as private."""
        self._table, self._recall, self._private, self._public = table, recall, private, public
        form = table.form
        pieces: list[tuple[str, tuple[int, ...]]] = [("player", (len(form.players),))]
        if table.has_percepts and private:
            steps = (table.max_steps if _history_size(table) else 0,) if recall else ()
            pieces.append(("percepts", (*steps, _entry_size(table))))
        elif public and not table.has_percepts:
            pieces.append(("state", form.view.shape))
        if private and not form.by_turns:
            pieces.append(("own_choice", (form.num_actions,)))
        self.tensor = np.zeros(sum(int(np.prod(shape)) for _, shape in pieces), np.float32)
        self.dict: dict[str, Any] = {}
        at = 0
        for name, shape in pieces:
            size = int(np.prod(shape))
            self.dict[name] = self.tensor[at : at + size].reshape(shape)
            at += size

    def set_from(self, state: Any, player: int) -> None:
        """Fill in the tensor for a player."""
        node: _Node = state.at
        form = self._table.form
        self.tensor.fill(0)
        self.dict["player"][player] = 1
        if "state" in self.dict:
            self.dict["state"].reshape(-1)[:] = form.observe(node.state)
        if "percepts" in self.dict:
            history = node.informed[player]
            rows = self.dict["percepts"] if self._recall else self.dict["percepts"][None]
            first = 0 if self._recall else max(0, len(history) - 1)
            for row, line in zip(rows, history[first:], strict=False):
                form.encode(player, line, row)
        if "own_choice" in self.dict and node.chosen:
            action = node.chosen[player]
            if action is not None:
                self.dict["own_choice"][action] = 1

    def string_from(self, state: Any, player: int) -> str:
        """Return the observation of a player as text."""
        node: _Node = state.at
        table, form = self._table, self._table.form
        lines = [form.players[player]] if self._public else []
        if not table.has_percepts:
            if not self._public:
                return ""
            lines.append("\n".join(sorted(node.state.facts)))
        elif self._private:
            history = node.informed[player]
            shown = [" ".join(line) for line in (history if self._recall else history[-1:])]
            lines += shown or ["no percepts yet"]
        if self._private and node.chosen and node.chosen[player] is not None:
            lines.append(f"chose {form.actions[player][node.chosen[player] or 0]}")
        return "\n".join(lines)
