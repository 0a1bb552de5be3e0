"""What a role knows: what holds in every state that it holds possible."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

from herbrand.errors import BudgetExceeded

if TYPE_CHECKING:
    from collections.abc import Callable

    from herbrand.analyse.knowledge.histories import History
    from herbrand.machine.moves import Move
    from herbrand.machine.state import State
    from herbrand.machine.state_machine import StateMachine

__all__ = ["Knowledge"]

LISTING_SECONDS = 3.0
"""How long the base propositions may be looked for, where the rules do not list them."""


@dataclass(frozen=True)
class Knowledge:
    """The states that a role holds possible after a history, and what follows from them."""

    game: StateMachine
    role: str
    history: History
    weights: dict[State, Fraction]
    """The possible states with their chances, likeliest first; the chances add up to 1."""
    exact: bool
    """Whether these are all possible states; else they are a sample, and what is called sure may not be."""

    @cached_property
    def chances(self) -> dict[str, Fraction]:
        """How likely each fluent is that is true in some possible state; by fluent, sorted."""
        found: dict[str, Fraction] = {}
        for state, weight in self.weights.items():
            for fact in state.facts:
                found[fact] = found.get(fact, Fraction(0)) + weight
        return dict(sorted(found.items()))

    @property
    def sure(self) -> frozenset[str]:
        """The fluents that are true in every possible state."""
        return frozenset(fact for fact, chance in self.chances.items() if chance == 1)

    @property
    def open(self) -> dict[str, Fraction]:
        """The fluents that are true in some possible states only, with their chances, sorted."""
        return {fact: chance for fact, chance in self.chances.items() if chance < 1}

    @cached_property
    def ruled_out(self) -> frozenset[str]:
        """The fluents that are surely false: the base propositions that are true in no possible state.

        Raises `BudgetExceeded` where these cannot be listed in `LISTING_SECONDS`.
        """
        from herbrand.engine.description import GameDescription

        limits = replace(self.game.limits, seconds=min(LISTING_SECONDS, self.game.limits.seconds))
        known = "base" in self.game.__dict__ or "possible" in self.game.__dict__
        game = self.game if known else GameDescription(self.game.tree, limits=limits)
        possible = {fact.lower() for fact in self.chances}
        return frozenset(fact for fact in game.base if fact.lower() not in possible)

    def knows(self, query: str) -> bool | None:
        """Whether an atom such as "(true (holds first king))" is known to hold, or not to.

        None if it is open.  Raises as `State.ask` does.
        """
        found = {bool(state.ask(query)) for state in self.weights}
        return found.pop() if len(found) == 1 else None

    def chance(self, query: str) -> Fraction:
        """Return how likely an atom is to hold."""
        return self._chance(lambda state: bool(state.ask(query)))

    def _chance(self, holds: Callable[[State], bool]) -> Fraction:
        return sum((weight for state, weight in self.weights.items() if holds(state)), Fraction(0))

    @cached_property
    def is_over(self) -> bool | None:
        """Whether the role knows that the game is over, or goes on; None where it knows neither."""
        ended = {state.is_terminal for state in self.weights}
        return ended.pop() if len(ended) == 1 else None

    @cached_property
    def legal_moves(self) -> list[Move]:
        """The moves that are legal in every possible state in which the game goes on, sorted."""
        return self._moves[0]

    @cached_property
    def uncertain_moves(self) -> list[Move]:
        """The moves that are legal in some of these states only, sorted; none in a game as it should be."""
        return self._moves[1]

    @cached_property
    def _moves(self) -> tuple[list[Move], list[Move]]:
        options = [set(state.legal_moves(self.role)) for state in self.weights if not state.is_terminal]
        if not options:
            return [], []
        sure = set.intersection(*options)
        return sorted(sure), sorted(set.union(*options) - sure)

    @cached_property
    def goals(self) -> dict[int | None, Fraction]:
        """The role's goal values with their chances, over the possible states, ascending."""
        found: dict[int | None, Fraction] = {}
        for state, weight in self.weights.items():
            value = state.goal(self.role)
            found[value] = found.get(value, Fraction(0)) + weight
        return dict(sorted(found.items(), key=lambda one: -1 if one[0] is None else one[0]))

    def _listed_ruled_out(self) -> list[str] | None:
        try:
            return sorted(self.ruled_out)
        except BudgetExceeded:
            return None

    def as_json(self) -> dict[str, Any]:
        """Return everything as JSON-ready data; chances as texts such as "1/3".

        "ruled_out" is null where the base propositions cannot be listed.
        """
        return {
            "role": self.role,
            "exact": self.exact,
            "history": [{"move": step.move, "percepts": sorted(step.percepts)} for step in self.history],
            "states": [
                {"facts": sorted(state.facts), "chance": str(weight)}
                for state, weight in self.weights.items()
            ],
            "sure": sorted(self.sure),
            "ruled_out": self._listed_ruled_out(),
            "open": {fact: str(chance) for fact, chance in self.open.items()},
            "over": self.is_over,
            "legal": list(map(str, self.legal_moves)),
            "perhaps_legal": list(map(str, self.uncertain_moves)),
            "goals": {str(value): str(chance) for value, chance in self.goals.items() if value is not None},
        }
