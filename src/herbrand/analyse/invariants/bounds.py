"""Certificates that every play ends, checked on the rules by an answer set solver.

Fluents that change at most once, or weights whose sum grows: both bound the number of steps.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from herbrand.analyse.invariants.invariant import Invariant, RulesProgram
from herbrand.analyse.invariants.plain import keeps_changing

if TYPE_CHECKING:
    from herbrand.machine.state_machine import StateMachine

__all__ = ["Bound", "ProgressMeasure"]


@dataclass(frozen=True, slots=True)
class Bound:
    """Fluents that change at most once, one of them within every few steps, which bounds the length of plays.

    `invariant` holds in every reachable state; the check relies on it.
    """

    rising: tuple[str, ...]
    """Fluents that stay true once true."""
    falling: tuple[str, ...]
    """Fluents that stay false once false."""
    invariant: Invariant
    within: int = 1
    """Among this many consecutive steps, one changes a fluent."""

    kind = "fluents that change once"

    @property
    def steps(self) -> int:
        """A bound on the length of plays."""
        return self.within * (len(self.rising) + len(self.falling) + 1) - 1

    def as_json(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {
            "steps": self.steps,
            "within": self.within,
            "rising": list(self.rising),
            "falling": list(self.falling),
            "invariant": self.invariant.as_json(),
        }

    def check(self, game: StateMachine, seconds: float) -> bool:
        """Check on the rules that the fluents change so; see `verdict.Certificate`."""
        rules = RulesProgram(game, seconds)
        if not self.invariant.holds_by_rules(game, rules):
            return False
        term = rules.term
        steps = [*self.invariant.as_program(rules, "true", broken=False), *rules.step()]
        back = [f"back :- true({term(f)}), not next({term(f)})." for f in self.rising]
        back += [f"back :- next({term(f)}), not true({term(f)})." for f in self.falling]
        if rules.possible(
            [*steps, *back, ":- not back."], "no legal step takes back a change of one of the fluents"
        ):
            return False
        if self.within > 1:
            fluents = (*self.rising, *self.falling)
            return keeps_changing(game, self.invariant, fluents, self.within, rules.seconds_left)
        change = [f":- next({term(f)}), not true({term(f)})." for f in self.rising]
        change += [f":- true({term(f)}), not next({term(f)})." for f in self.falling]
        return not rules.possible([*steps, *change], "each legal step changes one of the fluents")


@dataclass(frozen=True, slots=True)
class ProgressMeasure:
    """Weights of fluents whose sum grows with every step, so that no state recurs and plays end.

    `invariant` holds in every reachable state; the check relies on it.  Steps may also change no fluent
    with a weight, such as a pass in reversi, but never `within` of them in a row.
    """

    weights: tuple[tuple[str, int], ...]
    """Fluents and their weights; all others have weight 0."""
    invariant: Invariant
    within: int = 1
    """Among this many consecutive steps, one makes the sum grow."""

    kind = "measure of progress"

    @property
    def steps(self) -> int:
        """A bound on the length of plays, from the range of the sum."""
        weights = dict(self.weights)
        low = high = 0
        for group in self.invariant.exactly:
            coefficients = [weights.pop(name, 0) for name in group]
            low, high = low + min(coefficients), high + max(coefficients)
        most = high - low + sum(map(abs, weights.values()))
        return self.within * (most + 1) - 1

    def as_json(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {
            "steps": self.steps,
            "within": self.within,
            "weights": dict(self.weights),
            "invariant": self.invariant.as_json(),
        }

    def check(self, game: StateMachine, seconds: float) -> bool:
        """Check on the rules that the sum grows; see `verdict.Certificate`."""
        rules = RulesProgram(game, seconds)
        if not self.invariant.holds_by_rules(game, rules):
            return False
        lines = rules.growth(self.weights, "> 0")
        steps = [*self.invariant.as_program(rules, "true", broken=False), *rules.step()]
        if self.within > 1:
            steps += ["moved :- up(_).", "moved :- down(_).", ":- not moved."]
        if rules.possible([*steps, *lines], "the sum grows with each legal step (that changes it)"):
            return False
        fluents = [name for name, _ in self.weights]
        return self.within == 1 or keeps_changing(
            game, self.invariant, fluents, self.within, rules.seconds_left
        )
