"""`StateMachine`: a game description and its states."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from herbrand.engine.description import GameDescription
from herbrand.errors import GameError
from herbrand.machine.moves import Move
from herbrand.machine.state import State

if TYPE_CHECKING:
    from collections.abc import Iterable

    from herbrand.machine.quick import MoveObjects
    from herbrand.machine.state_code import StateCode
    from herbrand.rules.interface import Engine

__all__ = ["StateMachine"]


class StateMachine(GameDescription):
    """A game as the state machine that its rules define: the initial state, and any other one."""

    _vocabulary: MoveObjects | None = None

    def initial_state(self, engine: str = "auto") -> State:
        """Return the initial state.

        The states that follow are answered for by the same engine.  "auto" takes the network
        where the game grounds within the limits (see `engine`), which takes a moment and
        makes every later step fast; "rules" is ready at once.  Raises `GameError` when the
        game has errors, `BudgetExceeded` when preparing the engine takes more than the
        limits allow.
        """
        chosen = self.engine_object(engine)
        return self._state(chosen, chosen.initial())

    def state(self, facts: Iterable[str], engine: str = "auto") -> State:
        """Return the state in which exactly these fluents, given as KIF, are true.

        Raises `InvalidMoveError` for a text that is no ground term, `GameError` when the network
        was asked for and has no such fluent ("auto" evaluates the rules then).
        """
        facts = list(facts)
        chosen = self.engine_object(engine)
        try:
            key = chosen.key(map(chosen.terms.read, facts))
        except GameError:
            if engine != "auto":
                raise
            chosen = self.engine_object("rules")
            key = chosen.key(map(chosen.terms.read, facts))
        return self._state(chosen, key)

    def _state(self, engine: Engine, key: Any) -> State:
        if engine.name == "network":
            from herbrand.engine.on_network import NetworkEngine
            from herbrand.machine.quick import MoveObjects, QuickState

            assert isinstance(engine, NetworkEngine)
            if self._vocabulary is None:
                self._vocabulary = MoveObjects(self.roles, engine)
            return QuickState(self, engine, key, self._vocabulary)
        return State(self, engine, key)

    @cached_property
    def inputs(self) -> dict[str, tuple[Move, ...]]:
        """The feasible moves by role, sorted: as declared, or derived if none are."""
        declared = self.declared("input", 2)
        found: dict[str, set[str]] = {role: set() for role in self.roles}
        if declared:
            for role, move in declared:
                found.setdefault(role, set()).add(move)
        else:
            for role, moves in self.possible.inputs.items():
                found.setdefault(role, set()).update(moves)
        return {role: tuple(map(Move, sorted(moves))) for role, moves in found.items()}

    @cached_property
    def state_code(self) -> StateCode:
        """The numbering of the states: `encode` and `decode` turn states into integers and back."""
        from herbrand.machine.state_code import StateCode

        return StateCode(self)
