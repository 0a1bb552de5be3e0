"""Values of games in which the two players could change places.

If an automorphism of the rules exchanges the players, what one can guarantee, the other can, too.  In a
finite game with perfect recall, mixed strategies have a value (von Neumann 1928; Kuhn 1953 for hidden
information); with goals of constant sum each player's is half of the sum, however large the game is.
"""

from __future__ import annotations

import time
from fractions import Fraction
from typing import TYPE_CHECKING

from herbrand.analyse.budget import Budget
from herbrand.analyse.exploration.walks import play
from herbrand.analyse.invariants.frames import System
from herbrand.analyse.invariants.groups import find_groups
from herbrand.analyse.invariants.induction import prove_unreachable
from herbrand.analyse.proofs.prove import analyse
from herbrand.analyse.solving.symmetry import find_symmetries
from herbrand.errors import BudgetExceeded, GameError

if TYPE_CHECKING:
    from herbrand.analyse.invariants.frames import Frame
    from herbrand.machine.state_machine import StateMachine

__all__ = ["value_by_exchange"]

_PLAYOUTS = 100


def value_by_exchange(game: StateMachine, *, budget: Budget | None = None) -> dict[str, Fraction] | None:
    """Return the value of a game for its two players if a symmetry of the rules exchanges them; else None.

    That every play ends, with goal values of the same sum, is proved.  None as well if a proof fails.
    """
    budget = budget or Budget(20.0)
    if len(game.players) != 2:
        return None
    try:
        symmetries = find_symmetries(game, budget=budget.share(0.3), exchanging=True)
        if not any(f"(role {role})" in images for images in symmetries.generators for role in game.players):
            return None
        sums = {sum(goals) for goals in _sampled_goals(game)}
        if len(sums) != 1 or not _has_sum(game, total := sums.pop(), budget.share(0.3)):
            return None
        proof = analyse(
            game, ("termination", "goals"), budget=budget, values=False, remarks=False, exploring=0.2
        )
    except (BudgetExceeded, GameError):
        return None
    if not all(verdict.answer == "proved" for verdict in proof.properties.values()):
        return None
    return dict.fromkeys(game.players, Fraction(total, 2))


def _sampled_goals(game: StateMachine) -> list[list[int]]:
    """Return the goal values of the players at the ends of some random plays, without truncated ones."""
    players = [game.role_index(role) for role in game.players]
    expander = game.expander
    ends = expander.rollouts(expander.initial, each=_PLAYOUTS, seed=0)
    return ends.goals[~ends.truncated][:, players].tolist()  # type: ignore[no-any-return]


def _has_sum(game: StateMachine, total: int, budget: Budget) -> bool:
    """Whether no terminal state has goal values of another sum, as groups of fluents show (`groups`)."""
    system = System(game.network)
    one, two = (game.role_index(role) for role in game.players)

    def other(frame: Frame) -> int:
        values = list(zip(system.goal_values, frame.goal().tolist(), strict=True))
        pairs = [
            system.circuit.all_of((frame.terminal, x, y))
            for (role, mine), x in values
            for (rival, theirs), y in values
            if role == one and rival == two and int(mine) + int(theirs) != total
        ]
        return system.circuit.any_of(pairs)

    sample = play(game.expander, time.monotonic() + 0.1 * budget.left)
    groups = find_groups(system, time.monotonic() + 0.5 * budget.left, sample.states, simple=True)
    return bool(prove_unreachable(system, groups, {"sum": other}, time.monotonic() + budget.left, 0))
