"""One game at a time: the common base of the interfaces to single states.

`Form` numbers the actions of every player and says whose turn it is; it is made once for a game.
Actions are numbered as in `BatchEnv`.
"""

from __future__ import annotations

from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from herbrand.envs.planes import View, find_board, make_view
from herbrand.envs.turns import find_turns
from herbrand.errors import optional_import
from herbrand.runtime.limits import Limits

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType

    from numpy.typing import NDArray

    from herbrand.game import Game
    from herbrand.machine.moves import Move
    from herbrand.machine.state import State

__all__ = ["Form", "form_of", "load_game", "longest_play", "require"]


class Form:
    """A game as learning programs see it: players, numbered actions, turn order, observations."""

    def __init__(self, game: Game) -> None:
        """Play some random games to find out; raises as `BatchEnv` does."""
        turn_order = find_turns(game)
        self.game = game
        self.players = game.players
        self.by_turns = turn_order.by_turns
        """Whether one player moves at a time, as far as random games tell."""
        self.idle = turn_order.idle
        """The moves of the network that wait while another player chooses."""
        walker = game.walker()
        self.moves: tuple[tuple[str, ...], ...] = tuple(map(tuple, walker.moves))
        """For each role its moves in the order of their numbers."""
        by_role = dict(zip(game.roles, self.moves, strict=True))
        self._numbers = {role: {move: i for i, move in enumerate(moves)} for role, moves in by_role.items()}
        self._idle = {
            role: {move for move, place in zip(moves, inputs, strict=True) if self.idle[place]}
            for role, moves, inputs in zip(game.roles, self.moves, walker.inputs, strict=True)
        }
        self.actions = tuple(by_role[role] for role in game.players)
        """For each player the moves by their numbers, as KIF."""
        self.chance_moves = by_role.get(game.chance_role or "", ())
        """The outcomes of chance by their numbers, as KIF; empty in games without chance."""
        self.num_actions = max(map(len, self.actions))

    @cached_property
    def percepts(self) -> dict[str, dict[str, int]]:
        """For each role the numbers of its possible percepts, in games with `sees`."""
        numbers: dict[str, dict[str, int]] = {role: {} for role in self.game.roles}
        network = self.game.network
        for role, term in network.percepts.tolist() if self.game.has_percepts else ():
            role_numbers = numbers[self.game.roles[role]]
            role_numbers[network.terms.text(term)] = len(role_numbers)
        return numbers

    @property
    def entry_size(self) -> int:
        """The elements for a move and percepts of one step."""
        return self.num_actions + max(map(len, self.percepts.values()))

    def encode(self, player: int, line: Sequence[str], row: NDArray[Any]) -> None:
        """Put a player's move and percepts into a row of zeros."""
        move, *percepts = line
        role = self.players[player]
        row[self.number(role, move)] = 1
        for text in percepts:
            row[self.num_actions + self.percepts[role][text]] = 1

    @cached_property
    def view(self) -> View:
        """Planes where there is a board, else the fluents."""
        return make_view(self.game.expander.fluent_names, find_board(self.game))

    @cached_property
    def _element(self) -> dict[str, NDArray[np.int64]]:
        """The elements of the view that a fluent fills."""
        names, columns = self.game.expander.fluent_names, self.view.columns
        return {names[f]: np.flatnonzero(columns == f) for f in set(columns.tolist()) - {-1}}

    def observe(self, state: State) -> NDArray[np.float32]:
        """Return the view of a state, flat."""
        seen = np.zeros(len(self.view.columns), np.float32)
        for fact in state.facts:
            places = self._element.get(fact)
            if places is not None:
                seen[places] = 1
        return seen

    def number(self, role: str, move: Move | str) -> int:
        """Return the number of a move of a role."""
        return self._numbers[role][str(move)]

    def legal(self, state: State, role: str) -> list[int]:
        """Return the numbers of the legal moves of a role, ascending."""
        numbers = self._numbers[role]
        return sorted(numbers[str(move)] for move in state.legal_moves(role))

    def deciders(self, state: State) -> tuple[int, ...]:
        """Return the players who have something to decide, counting `players`.

        These are the players with a choice; without any, the first player whose move is not idle; and none
        where all wait.
        """
        legal = [state.legal_moves(role) for role in self.players]
        choosing = tuple(p for p, moves in enumerate(legal) if len(moves) > 1)
        if choosing:
            return choosing
        for p, (role, moves) in enumerate(zip(self.players, legal, strict=True)):
            if moves and moves[0] not in self._idle[role]:
                return (p,)
        return ()


@lru_cache(maxsize=16)
def form_of(game: Game) -> Form:
    """Return the form of a game, kept for some games."""
    return Form(game)


def longest_play(game: Game, *, states: int = 50_000) -> int | None:
    """Return a number of steps in which every play ends; None when none is found.

    Either a step counter proves it, or all states that are reachable after 1, 2, ... steps are listed, if
    these are at most `states` in total.
    """
    from herbrand.check.step_counter import step_counter

    counter = step_counter(game.tree.statements)
    if counter is not None:
        return counter.bound
    expander = game.expander
    level, total, steps = expander.initial, 1, 0
    while len(level):
        legal = expander.legal(level)
        if int(legal.joint_counts().sum()) > 4 * states:
            return None
        level = np.unique(expander.expand(level, legal).states, axis=0)
        total += len(level)
        if total > states:
            return None
        steps += 1
    return max(1, steps - 1)


def load_game(
    game: Game | str, parameters: dict[str, Any] | None = None, options: dict[str, Any] | None = None
) -> Game:
    """Return a game, given as such, as a path or as a bundled name, with values of its parameters.

    Keyword arguments of an environment, `options`, that have the names of parameters are values of these, and
    are taken out.
    """
    from herbrand.game import Game as GameClass
    from herbrand.game import load

    if isinstance(game, GameClass):
        if parameters:
            raise ValueError("parameters are given when a game is loaded")
        return game
    values = dict(parameters or {})
    loaded = load(game, limits=Limits(seconds=120), parameters=values)
    named = {p.name for p in loaded.parameters}.intersection(options or {})
    if options is None or not named:
        return loaded
    values |= {name: options.pop(name) for name in sorted(named)}
    return load(game, limits=loaded.limits, parameters=values)


def require(module: str, feature: str, extra: str) -> ModuleType:
    """Import an optional library; `MissingExtra` where it is not installed."""
    from importlib import import_module

    with optional_import(feature, extra):
        return import_module(module)
