"""What a role knows, as people see it in the terminal: what `show` and `play` share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from herbrand.cli.output import columns, count, remark
from herbrand.draw.text import table

if TYPE_CHECKING:
    from collections.abc import Sequence
    from fractions import Fraction

    from herbrand.analyse.knowledge import Knowledge
    from herbrand.game import Game
    from herbrand.machine.state import State

__all__ = ["facts_text", "knowledge_after", "told_text"]

EVENLY: Final = "(the chances take the other players to choose evenly among their legal moves)"
SHOWN: Final = 24
"""More open facts than this are counted."""


def knowledge_after(game: Game, role: str, played: Sequence[tuple[str, ...]], state: State) -> Knowledge:
    """Return what a role knows after a play that led to `state`; warn where it is not enough to move."""
    from herbrand.analyse.knowledge import history, possible_states

    known = possible_states(game, role, history(game, role, played), over=state.is_terminal)
    if known.uncertain_moves:
        listed = ", ".join(map(str, known.uncertain_moves[:6]))
        remark(f"warning: {role} cannot know whether these moves are legal: {listed} [I10]")
    return known


def told_text(known: Knowledge) -> str:
    """Say what is sure, what is open, and what can be done."""
    states = count(len(known.weights), "possible state")
    sample = "" if known.exact else " (a sample, not all)"
    parts = [f"what {known.role} knows after {count(len(known.history), 'step')}: {states}{sample}"]
    if known.history:
        width = len(str(len(known.history)))
        parts.append(
            "\n".join(
                f"{number:>{width}}  played {step.move}, saw {' '.join(sorted(step.percepts)) or 'nothing'}"
                for number, step in enumerate(known.history, start=1)
            )
        )
    parts += facts_text(known)
    parts += _ruled_out(known)
    if known.is_over:
        goals = ", ".join(f"{'-' if value is None else value} ({p})" for value, p in known.goals.items())
        parts.append(f"the game is over: {known.role} gets {goals}")
    elif known.legal_moves:
        sure = columns(map(str, known.legal_moves), indent="  ")
        parts.append(f"surely legal\n{sure}")
    else:
        parts.append("no move is surely legal")
    if len(known.weights) > 1 and len(known.game.players) > 1:
        parts.append(EVENLY)
    return "\n\n".join(parts)


def facts_text(known: Knowledge) -> list[str]:
    """Say which fluents are surely true, and which ones perhaps."""
    found = [f"surely true\n{_indented(table(known.sure))}" if known.sure else "nothing is surely true"]
    if known.open:
        found.append(f"perhaps true\n{_chances(known.open)}")
    return found


def _ruled_out(known: Knowledge) -> list[str]:
    """Say which fluents are surely false, of the relations that something is open about: all are too many."""
    from herbrand.errors import BudgetExceeded

    asked = {_relation(fact) for fact in known.open}
    try:
        false = sorted(fact for fact in known.ruled_out if _relation(fact) in asked)
    except BudgetExceeded:
        return []
    if not false:
        return []
    more = f"\n  and {len(false) - SHOWN} more" if len(false) > SHOWN else ""
    return [f"surely false\n{columns(false[:SHOWN], indent='  ')}{more}"]


def _relation(fact: str) -> str:
    """Return the name of a fluent.

    >>> _relation("(holds first jack)"), _relation("raining")
    ('holds', 'raining')
    """
    return fact.strip("(").split(" ", 1)[0]


def _chances(facts: dict[str, Fraction]) -> str:
    """List facts with their chances, likeliest first."""
    ordered = sorted(facts.items(), key=lambda one: (-one[1], one[0]))
    shown = [f"{_number(chance)} {fact}" for fact, chance in ordered[:SHOWN]]
    more = f"\n  and {len(ordered) - SHOWN} more" if len(ordered) > SHOWN else ""
    return columns(shown, indent="  ") + more


def _number(chance: Fraction) -> str:
    """Write a chance as a fraction while that is short."""
    return str(chance) if chance.denominator < 1000 else f"{float(chance):.4f}"


def _indented(text: str) -> str:
    return "\n".join(f"  {line}" if line else line for line in text.splitlines())
