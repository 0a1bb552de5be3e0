"""States that the network engine answers for, with as little Python on the way as possible.

They are `State`s in every respect; only the questions that players ask in every step are
answered here from what the engine gave when the state was made: whether it is terminal and
which moves are legal.
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

__all__ = ["MoveObjects", "QuickState"]


class MoveObjects:
    """The moves of a network engine as `Move`s, made once, and what is asked about states in these terms."""

    __slots__ = ("answer", "answer_of_role", "go_on", "of", "state")

    def __init__(self, roles: Sequence[str], engine: NetworkEngine) -> None:
        moves = [[Move.trusted(text) for text in mine] for mine in engine.walker.moves]
        self.of = [{move: move for move in mine} for mine in moves]
        """For each role the moves by what they are equal to."""
        names = MoveNames(engine.walker.memory, roles, moves)
        self.state, self.go_on = names.state, names.go_on
        self.answer, self.answer_of_role = names.answer, names.answer_of_role


class QuickState(State):
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
        found: list[Move] | dict[str, list[Move]]
        if role is None:
            found = self._vocabulary.answer(self._answers)
        else:
            index = self.game.role_numbers.get(role)
            if index is None:
                index = self.game.role_index(role)
            found = self._vocabulary.answer_of_role(self._answers, index)
        return found

    @property
    def goals(self) -> dict[str, int | None]:
        """The goal value of each role, 0 to 100; None unless the rules give exactly one."""
        return dict(zip(self.game.roles, self._engine.values(self.key), strict=True))

    def next(self, joint_move: JointMove) -> State:
        """Return the state after a joint move."""
        vocabulary = self._vocabulary
        found = vocabulary.go_on(self.key, joint_move)
        if found is None:
            found = self._go_on_by_text(joint_move)
            if found is None:
                return super().next(joint_move)
        state = _new(QuickState)
        state.game = self.game
        state._engine = self._engine
        state._hash = None
        state._vocabulary = vocabulary
        state.key, state._answers, state.is_terminal = found
        return state  # type: ignore[no-any-return]

    def _go_on_by_text(self, joint_move: JointMove) -> Any:
        """Answer `go_on` for moves that are not all the very objects that were given out."""
        ours = []
        for known, move in zip(self._vocabulary.of, self.in_order(joint_move), strict=True):
            found = known.get(move if isinstance(move, Move) else Move(move))
            if found is None:
                return None
            ours.append(found)
        return self._vocabulary.go_on(self.key, ours)


_new: Any = object.__new__
