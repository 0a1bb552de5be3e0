"""`NetworkState`: states of the network engine, with a fast path through the core.

The core computes `is_terminal` and the legal moves when a state is made, and looks up `Move` objects itself,
so that a step of a match runs little Python.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

from herbrand.core import MoveNames
from herbrand.machine.moves import Move
from herbrand.machine.state import JointMove, State

if TYPE_CHECKING:
    from collections.abc import Sequence

    from herbrand.engine.description import GameDescription
    from herbrand.engine.on_network import NetworkEngine

__all__ = ["MoveObjects", "NetworkState"]


class MoveObjects:
    """The moves of a network engine as `Move` objects, and the core's functions that return them."""

    __slots__ = ("answer", "answer_of_role", "go_on", "of", "state")

    def __init__(self, roles: Sequence[str], engine: NetworkEngine) -> None:
        moves = [[Move.trusted(text) for text in texts] for texts in engine.walker.moves]
        self.of = [{move: move for move in role_moves} for role_moves in moves]
        """For each role, a map from any equal move to the object that the core knows."""
        names = MoveNames(engine.walker.memory, roles, moves)
        self.state, self.go_on = names.state, names.go_on
        self.answer, self.answer_of_role = names.answer, names.answer_of_role


class NetworkState(State):
    """A state of the network engine."""

    __slots__ = ("_answers", "_vocabulary", "is_terminal")

    _engine: NetworkEngine
    is_terminal: bool
    """Whether the game is over."""

    def __init__(
        self, game: GameDescription, engine: NetworkEngine, key: bytes, vocabulary: MoveObjects
    ) -> None:
        super().__init__(game, engine, key)
        self._vocabulary = vocabulary
        self._answers, self.is_terminal = vocabulary.state(key)

    @overload
    def legal_moves(self) -> dict[str, list[Move]]: ...
    @overload
    def legal_moves(self, role: str) -> list[Move]: ...
    def legal_moves(self, role: str | None = None) -> list[Move] | dict[str, list[Move]]:
        """Return the legal moves of a role, sorted, each once; without a role those of all."""
        moves: list[Move] | dict[str, list[Move]]
        if role is None:
            moves = self._vocabulary.answer(self._answers)
        else:
            index = self.game.role_numbers.get(role)
            if index is None:
                index = self.game.role_index(role)
            moves = self._vocabulary.answer_of_role(self._answers, index)
        return moves

    @property
    def goals(self) -> dict[str, int | None]:
        """The goal value of each role, 0 to 100; None unless the rules give exactly one."""
        return dict(zip(self.game.roles, self._engine.values(self.key), strict=True))

    def next(self, joint_move: JointMove) -> State:
        """Return the state after a joint move."""
        vocabulary = self._vocabulary
        successor = vocabulary.go_on(self.key, joint_move)
        if successor is None:
            successor = self._successor_of_equal_moves(joint_move)
            if successor is None:
                return super().next(joint_move)
        state = _new(NetworkState)
        state.game = self.game
        state._engine = self._engine
        state._hash = None
        state._vocabulary = vocabulary
        state.key, state._answers, state.is_terminal = successor
        return state  # type: ignore[no-any-return]

    def _successor_of_equal_moves(self, joint_move: JointMove) -> Any:
        """Call `go_on` with the objects that the core knows; None for a move of no role."""
        objects = []
        for by_move, move in zip(self._vocabulary.of, self.in_order(joint_move), strict=True):
            move_object = by_move.get(move if isinstance(move, Move) else Move(move))
            if move_object is None:
                return None
            objects.append(move_object)
        return self._vocabulary.go_on(self.key, objects)


_new: Any = object.__new__
