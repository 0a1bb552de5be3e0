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

    from herbrand.machine.network_state import MoveObjects
    from herbrand.machine.state_code import StateCode
    from herbrand.rules.interface import Engine

__all__ = ["StateMachine"]


class StateMachine(GameDescription):
    """The state machine that the rules of a game define."""

    _vocabulary: MoveObjects | None = None

    def initial_state(self, engine: str = "auto") -> State:
        """Return the initial state, evaluated by an engine that its successors share.

        "auto" is the network if the game grounds within the limits (see `engine`), which takes a moment to
        build and makes every step fast; "rules" needs no preparation.  Raises `GameError` for a game with
        errors, `BudgetExceeded` if preparing the engine exceeds the limits.
        """
        chosen = self.engine_object(engine)
        return self._state(chosen, chosen.initial())

    def state(self, facts: Iterable[str], engine: str = "auto") -> State:
        """Return the state in which exactly these fluents, as KIF, are true.

        Raises `InvalidMoveError` for a text that is not a ground term, and `GameError` for a fluent that the
        network does not have; "auto" falls back to the rules in that case.
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
            from herbrand.machine.network_state import MoveObjects, NetworkState

            assert isinstance(engine, NetworkEngine)
            if self._vocabulary is None:
                self._vocabulary = MoveObjects(self.roles, engine)
            return NetworkState(self, engine, key, self._vocabulary)
        return State(self, engine, key)

    @cached_property
    def inputs(self) -> dict[str, tuple[Move, ...]]:
        """The feasible moves by role, sorted: those of `input`, or derived without any."""
        by_role: dict[str, set[str]] = {role: set() for role in self.roles}
        pairs = self.declared("input", 2) or [
            (role, move) for role, moves in self.possible.inputs.items() for move in moves
        ]
        for role, move in pairs:
            by_role.setdefault(role, set()).add(move)
        return {role: tuple(map(Move, sorted(moves))) for role, moves in by_role.items()}

    @cached_property
    def state_code(self) -> StateCode:
        """The numbering of the states, with `encode` and `decode`."""
        from herbrand.machine.state_code import StateCode

        return StateCode(self)
