"""Weak winnability in games with too many states to list, of which few come up while a win is in reach."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

from herbrand.analyse.exploration import by_states
from herbrand.analyse.exploration.explore import explore
from herbrand.analyse.invariants.hopeless import CutShort, find_hopeless
from herbrand.convert.cut_short import cut_short

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from herbrand.analyse.budget import Budget
    from herbrand.analyse.verdict import Verdict
    from herbrand.machine.state_machine import StateMachine

__all__ = ["weak_while_in_reach"]

_MOST_SECONDS: Final = 30.0
"""The most seconds for finding where a role cannot win any more."""


def weak_while_in_reach(
    game: StateMachine, roles: Sequence[int], budget: Budget
) -> Iterator[tuple[int, Verdict]]:
    """Yield the verdicts on whether roles, by number, can get 100, where they are found.

    All states are listed of the game that also ends where the role cannot win any more.  Raises
    `BudgetExceeded`, and `MissingExtra` where no SAT solver is installed.
    """
    seconds = min(_MOST_SECONDS, 0.2 * budget.left / max(len(roles), 1))
    found = find_hopeless(game.expander, roles, seconds)
    for place, (role, hopeless) in enumerate(found.items()):
        began = time.monotonic()
        share = budget.share(1 / (len(found) - place))
        shorter = cut_short(game, hopeless.conditions)
        shorter.network_within(share.left)
        verdict = by_states.weak(explore(shorter.expander, budget=share.share(1.0)), role, 100)
        if verdict.answer == "refuted" and verdict.certificate is not None:
            name = game.roles[role]
            verdict = verdict.with_(
                reason=f"{name} cannot win any more when it has not won yet",
                certificate=CutShort(hopeless, verdict.certificate),
            )
        if verdict.is_known:
            yield role, verdict.with_(seconds=time.monotonic() - began)
