"""That a role never gets 100 in a game, which is what restricted games and joint wins are asked."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

from herbrand.analyse.exploration import by_states
from herbrand.analyse.exploration.explore import explore
from herbrand.analyse.exploration.walks import random_states
from herbrand.analyse.proofs.symbolic import prove

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from herbrand.analyse.budget import Budget
    from herbrand.analyse.verdict import Certificate
    from herbrand.engine.expand import Expander
    from herbrand.machine.state_machine import StateMachine

__all__ = ["never_wins", "wins_at_random"]

_GAMES: Final = 256
_LOOKING: Final = 1.0
"""The most seconds for random games."""
_EXPLORING: Final = 0.3
"""Share of the time for listing the states."""


def wins_at_random(expander: Expander, role: int, allowed: NDArray[np.uint64] | None = None) -> bool:
    """Return whether a role gets 100 in some random games; `allowed` moves as in `random_states`."""
    until = time.monotonic() + _LOOKING
    for bits in random_states(expander, _GAMES, until, allowed):
        states = expander.pack_bits(bits)
        if (expander.goals(states[expander.terminal(states)])[:, role] == 100).any():
            return True
    return False


def never_wins(game: StateMachine, role: int, budget: Budget) -> Certificate | None:
    """Return a certificate that a role gets 100 in no reachable terminal state; None if that is not shown.

    Raises `BudgetExceeded`, and `MissingExtra` where no SAT solver is installed.
    """
    game.network_within(budget.left)
    verdict = by_states.weak(explore(game.expander, budget=budget.share(_EXPLORING)), role, 100)
    if not verdict.is_known:
        weak = prove(game, ["weak_winnability"], budget.share(1.0), only_proofs=True)
        verdict = weak["weak_winnability"].roles[game.roles[role]]
    return verdict.certificate if verdict.answer == "refuted" else None
