"""What is different between two games, rather than between two texts.

First the rules: `find_renaming` looks for other names under which they are the same.  If there are
none, the games are played side by side (`compare_play`): different rules may play the same.

| verdict   | meaning                                                                |
|-----------|------------------------------------------------------------------------|
| "rules"   | the same rules, perhaps under other names                              |
| "play"    | different rules; all states were compared, and nobody can tell the games apart |
| "differs" | there are joint moves after which they differ                          |
| "unknown" | no difference was found within the budget                              |
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from herbrand.errors import BudgetExceeded
from herbrand.verify.diff.behaviour import Behaviour, PlayDifference, compare_play
from herbrand.verify.diff.renaming import Renaming, Symbol, find_renaming

if TYPE_CHECKING:
    from herbrand.machine.state_machine import StateMachine

__all__ = [
    "Behaviour",
    "Diff",
    "PlayDifference",
    "Renaming",
    "Symbol",
    "compare_play",
    "diff",
    "find_renaming",
]


@dataclass(frozen=True, slots=True)
class Diff:
    """What was found about two games."""

    verdict: str
    """"rules", "play", "differs" or "unknown"."""
    renaming: Renaming
    behaviour: Behaviour | None = None
    """None where the rules are the same."""

    @property
    def difference(self) -> PlayDifference | None:
        """Where the games part, if they do."""
        return self.behaviour.difference if self.behaviour is not None else None


def diff(
    first: StateMachine, second: StateMachine, *, states: int = 10_000, seconds: float = 20.0, seed: int = 0
) -> Diff:
    """Compare two games; see the module.

    Half of the seconds are for each part, at most.  Raises `GameError` for a game that cannot be
    played.
    """
    first.require_playable()
    second.require_playable()
    try:
        renaming = find_renaming(first.rules, second.rules, seconds=seconds / 2)
    except BudgetExceeded:
        renaming = Renaming(False, {})  # names are taken to mean the same
    if renaming.same:
        return Diff("rules", renaming)
    found = compare_play(first, second, renaming.names, states=states, seconds=seconds / 2, seed=seed)
    if found.difference is not None:
        verdict = "differs"
    else:
        verdict = "play" if found.is_complete else "unknown"
    return Diff(verdict, renaming, found)
