"""Compare two games, rather than two texts.

First the rules: `find_renaming` looks for a renaming that makes them equal.  If there is
none, the games are played side by side (`compare_play`): different rules may have the same plays.

| verdict   | meaning                                                                |
|-----------|------------------------------------------------------------------------|
| "rules"   | the same rules, perhaps under other names                              |
| "play"    | different rules, but the same plays: all states were compared          |
| "differs" | the games differ after some joint moves                                |
| "unknown" | no difference found within the budget                                  |
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from herbrand.errors import BudgetExceeded
from herbrand.verify.diff.behaviour import Behaviour, PlayDifference, agreement, compare_play
from herbrand.verify.diff.renaming import Renaming, Symbol, find_renaming

if TYPE_CHECKING:
    from herbrand.machine.state_machine import StateMachine

__all__ = [
    "Behaviour",
    "Diff",
    "PlayDifference",
    "Renaming",
    "Symbol",
    "agreement",
    "compare_play",
    "diff",
    "find_renaming",
]


@dataclass(frozen=True, slots=True)
class Diff:
    """The result of `diff`."""

    verdict: str
    """"rules", "play", "differs" or "unknown"."""
    renaming: Renaming
    behaviour: Behaviour | None = None
    """None where the rules are the same."""

    @property
    def difference(self) -> PlayDifference | None:
        """The first difference in play, if any."""
        return self.behaviour.difference if self.behaviour is not None else None


def diff(
    first: StateMachine, second: StateMachine, *, states: int = 10_000, seconds: float = 20.0, seed: int = 0
) -> Diff:
    """Compare two games; see the module.

    Each part takes at most half of the seconds.  Raises `GameError` for a game that cannot be played.
    """
    first.require_playable()
    second.require_playable()
    try:
        renaming = find_renaming(first.rules, second.rules, seconds=seconds / 2)
    except BudgetExceeded:
        renaming = Renaming(False, {})  # equal names are assumed to mean the same
    if renaming.same:
        return Diff("rules", renaming)
    behaviour = compare_play(first, second, renaming.names, states=states, seconds=seconds / 2, seed=seed)
    same = "play" if behaviour.is_complete else "unknown"
    return Diff(same if behaviour.difference is None else "differs", renaming, behaviour)
