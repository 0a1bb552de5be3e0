"""`Knowledge`: the facts that a role knows, by the states that it considers possible."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

from herbrand.errors import BudgetExceeded

if TYPE_CHECKING:
    from herbrand.analyse.knowledge.histories import History
    from herbrand.machine.moves import Move
    from herbrand.machine.state import State
    from herbrand.machine.state_machine import StateMachine

__all__ = ["Knowledge"]

LISTING_SECONDS = 3.0
"""Time limit for listing the base propositions, where the rules have no `base`."""


@dataclass(frozen=True)
class Knowledge:
    """The states that a role considers possible after a history, and the facts and moves certain in them."""

    game: StateMachine
    role: str
    history: History
    weights: dict[State, Fraction]
    """The possible states with their probabilities, likeliest first; these add up to 1."""
    exact: bool
    """Whether these are all possible states; if they are a sample, `sure` facts need not be certain."""

    @cached_property
    def chances(self) -> dict[str, Fraction]:
        """The probability of each fluent that is true in some possible state, sorted by fluent."""
        chances: dict[str, Fraction] = {}
        for state, weight in self.weights.items():
            for fact in state.facts:
                chances[fact] = chances.get(fact, Fraction(0)) + weight
        return dict(sorted(chances.items()))

    @property
    def sure(self) -> frozenset[str]:
        """The fluents that are true in every possible state."""
        return frozenset(fact for fact, chance in self.chances.items() if chance == 1)

    @property
    def open(self) -> dict[str, Fraction]:
        """The fluents that are true in some, but not all possible states, with probabilities, sorted."""
        return {fact: chance for fact, chance in self.chances.items() if chance < 1}

    @cached_property
    def ruled_out(self) -> frozenset[str]:
        """The fluents that are certainly false: base propositions that are true in no possible state.

        Raises `BudgetExceeded` where these cannot be listed in `LISTING_SECONDS`.
        """
        from herbrand.engine.description import GameDescription

        limits = replace(self.game.limits, seconds=min(LISTING_SECONDS, self.game.limits.seconds))
        is_listed = "base" in self.game.__dict__ or "possible" in self.game.__dict__
        game = self.game if is_listed else GameDescription(self.game.tree, limits=limits)
        possible = {fact.lower() for fact in self.chances}
        return frozenset(fact for fact in game.base if fact.lower() not in possible)

    def knows(self, query: str) -> bool | None:
        """Return whether an atom such as "(true (holds first king))" is known to be true or false.

        None if it is unknown.  Raises as `State.ask` does.
        """
        answers = {bool(state.ask(query)) for state in self.weights}
        return answers.pop() if len(answers) == 1 else None

    def chance(self, query: str) -> Fraction:
        """Return the probability of an atom."""
        return sum((weight for state, weight in self.weights.items() if state.ask(query)), Fraction(0))

    @cached_property
    def is_over(self) -> bool | None:
        """Whether the game is over; None where the role does not know."""
        ended = {state.is_terminal for state in self.weights}
        return ended.pop() if len(ended) == 1 else None

    @cached_property
    def legal_moves(self) -> list[Move]:
        """The moves that are legal in every possible non-terminal state, sorted."""
        return self._moves[0]

    @cached_property
    def uncertain_moves(self) -> list[Move]:
        """The moves that are legal in some of these states only, sorted; empty in well-formed games."""
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
        """The role's goal values over the possible states with their probabilities, ascending."""
        goals: dict[int | None, Fraction] = {}
        for state, weight in self.weights.items():
            value = state.goal(self.role)
            goals[value] = goals.get(value, Fraction(0)) + weight
        return dict(sorted(goals.items(), key=lambda entry: -1 if entry[0] is None else entry[0]))

    def _listed_ruled_out(self) -> list[str] | None:
        try:
            return sorted(self.ruled_out)
        except BudgetExceeded:
            return None

    def as_json(self) -> dict[str, Any]:
        """Return everything as JSON-ready data; probabilities as texts such as "1/3".

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
