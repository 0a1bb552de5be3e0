"""States that the network engine answers for, with as little Python on the way as possible.

They are `State`s in every respect; only the questions that players ask in every step are
answered here from what the engine gave when the state was made: whether it is terminal and
which moves are legal.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

from herbrand.machine.moves import Move
from herbrand.machine.state import JointMove, State

if TYPE_CHECKING:
    from herbrand.game import Game
    from herbrand.simulate.on_network import NetworkEngine

__all__ = ["QuickState", "Vocabulary"]


class Vocabulary:
    """The moves of a network engine as `Move`s, made once; a list for each role."""

    __slots__ = ("inputs", "moves", "of")

    def __init__(self, engine: NetworkEngine) -> None:
        self.moves = [[Move._trusted(text) for text in moves] for moves in engine.walker.moves]
        self.inputs = [
            {id(move): m for move, m in zip(moves, inputs, strict=True)}
            for moves, inputs in zip(self.moves, engine.walker.inputs, strict=True)
        ]
        """The inputs of the network for those very objects; other moves are looked up by their text."""
        self.of = [{move: move for move in moves} for moves in self.moves]


class QuickState(State):
    """A state of the network engine."""

    __slots__ = ("_answers", "_vocabulary")

    _engine: NetworkEngine

    def __init__(
        self,
        game: Game,
        engine: NetworkEngine,
        key: bytes,
        vocabulary: Vocabulary,
        answers: list[int] | None = None,
    ) -> None:
        self.game = game
        self._engine = engine
        self._key = key
        self._hash = None
        self._vocabulary = vocabulary
        self._answers = answers if answers is not None else engine.answers(key)

    @property
    def is_terminal(self) -> bool:
        """Whether the game is over."""
        return self._answers[0] != 0

    @overload
    def legal_moves(self) -> dict[str, list[Move]]: ...
    @overload
    def legal_moves(self, role: str) -> list[Move]: ...
    def legal_moves(self, role: str | None = None) -> list[Move] | dict[str, list[Move]]:
        """Return the legal moves of a role, sorted, each once; without a role those of all."""
        answers = self._answers
        if role is not None:
            index = self.game._role_numbers.get(role)
            if index is None:
                index = self.game.role_index(role)
            at = 1
            for _ in range(index):
                at += 1 + answers[at]
            moves = self._vocabulary.moves[index]
            at += 1
            return [moves[i] for i in answers[at : at + answers[at - 1]]]
        at = 1
        found = {}
        for name, moves in zip(self.game.roles, self._vocabulary.moves, strict=True):
            at += 1
            end = at + answers[at - 1]
            found[name] = [moves[i] for i in answers[at:end]]
            at = end
        return found

    @property
    def goals(self) -> dict[str, int | None]:
        """The goal value of each role, 0 to 100; None unless the rules give exactly one."""
        return dict(zip(self.game.roles, self._engine.values(self._key), strict=True))

    def next(self, joint_move: JointMove) -> State:
        """Return the state after a joint move."""
        vocabulary = self._vocabulary
        given: Any = joint_move
        if given.__class__ is not tuple and given.__class__ is not list:
            given = self._in_order(given)
        inputs = []
        try:
            for known, move in zip(vocabulary.inputs, given, strict=True):
                inputs.append(known[id(move)])
        except KeyError:
            return self._next_by_text(given)
        except ValueError:
            return super().next(given)
        found = self._engine.advance(self._key, inputs)
        if found is None:
            return super().next(given)
        state = _new(QuickState)
        state.game = self.game
        state._engine = self._engine
        state._hash = None
        state._vocabulary = vocabulary
        state._key, state._answers = found
        return state  # type: ignore[no-any-return]

    def _next_by_text(self, joint_move: JointMove) -> State:
        """Make a joint move in which some moves are not the objects that the engine gave out."""
        ours = []
        for known, move in zip(self._vocabulary.of, self._in_order(joint_move), strict=True):
            found = known.get(move if isinstance(move, Move) else Move(move))
            if found is None:
                return super().next(joint_move)
            ours.append(found)
        return self.next(ours)


_new: Any = object.__new__
