"""States as people see them in the terminal: what `show` and `play` share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from herbrand.draw.text import columns_first, draw, table
from herbrand.errors import BudgetExceeded, HerbrandError
from herbrand.runtime.limits import Limits

if TYPE_CHECKING:
    from herbrand.game import Game
    from herbrand.machine.state import State

__all__ = ["Painter", "goals_line"]

QUICK: Final = Limits(seconds=3, megabytes=1000)
"""How long to look for the size of a board that the rules do not declare."""
MOST_BASE: Final = 200_000
"""More declared fluents than this are not listed just to know the size of a board."""


class Painter:
    """Draws the states of one game alike: the boards keep their size and their letters."""

    def __init__(self, game: Game) -> None:
        self._columns_first = columns_first(game.tree.statements)
        self._known: set[str] = set()
        self._asked = False

    def __call__(self, state: State) -> str:
        """Draw a state, as a board where it looks like one, else as a table of facts."""
        if not self._asked:
            self._asked = True
            self._known |= _declared(state) or _derived(state)
        self._known |= state.facts
        drawing = draw(state.facts, self._known, columns_first=self._columns_first)
        return drawing or table(state.facts) or "(no facts)"


def _declared(state: State) -> set[str]:
    """Return what the rules declare with `base`; nothing when they do not, or it takes too long."""
    try:
        answers = state.ask("(base ?fluent)")
    except BudgetExceeded:
        return set()
    if len(answers) > MOST_BASE:
        return set()
    return {next(iter(answer.values())) for answer in answers}


def _derived(state: State) -> set[str]:
    """Return what can be true as far as that is quick to find out."""
    from herbrand.ground.possible import possible

    try:
        found = possible(state.game.rules, limits=QUICK).base
    except HerbrandError:
        return set()
    return set(found) if len(found) <= MOST_BASE else set()


def goals_line(state: State) -> str:
    """Say what everybody gets, in role order; `-` where the rules give no single number."""
    return ", ".join(f"{role} {'-' if value is None else value}" for role, value in state.goals.items())
