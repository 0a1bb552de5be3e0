"""Knowledge of roles as text, for `show` and `play`."""

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

__all__ = ["facts_text", "knowledge_after", "knowledge_text"]

UNIFORM: Final = "(probabilities assume that the other players choose uniformly among their legal moves)"
SHOWN: Final = 24
"""Maximum number of facts listed in each group."""


def knowledge_after(game: Game, role: str, played: Sequence[tuple[str, ...]], state: State) -> Knowledge:
    """Return the knowledge of a role after a play; warn if it cannot know its legal moves in `state`."""
    from herbrand.analyse.knowledge import history, possible_states

    knowledge = possible_states(game, role, history(game, role, played), over=state.is_terminal)
    if knowledge.uncertain_moves:
        listed = ", ".join(map(str, knowledge.uncertain_moves[:6]))
        remark(f"warning: {role} cannot know whether these moves are legal: {listed} [I10]")
    return knowledge


def knowledge_text(knowledge: Knowledge) -> str:
    """Describe what a role knows: history, certain and possible facts, moves."""
    states = count(len(knowledge.weights), "possible state")
    sample = "" if knowledge.exact else " (a sample, not all)"
    parts = [f"what {knowledge.role} knows after {count(len(knowledge.history), 'step')}: {states}{sample}"]
    if knowledge.history:
        width = len(str(len(knowledge.history)))
        parts.append(
            "\n".join(
                f"{number:>{width}}  played {step.move}, saw {' '.join(sorted(step.percepts)) or 'nothing'}"
                for number, step in enumerate(knowledge.history, start=1)
            )
        )
    parts += facts_text(knowledge)
    parts += _false_facts(knowledge)
    if knowledge.is_over:
        goals = ", ".join(f"{'-' if value is None else value} ({p})" for value, p in knowledge.goals.items())
        parts.append(f"the game is over: {knowledge.role} gets {goals}")
    elif knowledge.legal_moves:
        sure = columns(map(str, knowledge.legal_moves), indent="  ")
        parts.append(f"surely legal\n{sure}")
    else:
        parts.append("no move is surely legal")
    if len(knowledge.weights) > 1 and len(knowledge.game.players) > 1:
        parts.append(UNIFORM)
    return "\n\n".join(parts)


def facts_text(knowledge: Knowledge) -> list[str]:
    """List the fluents that are certainly or possibly true."""
    parts = [
        f"surely true\n{_indented(table(knowledge.sure))}" if knowledge.sure else "nothing is surely true"
    ]
    if knowledge.open:
        parts.append(f"perhaps true\n{_chances(knowledge.open)}")
    return parts


def _false_facts(knowledge: Knowledge) -> list[str]:
    """List the fluents that are certainly false, for relations that also have uncertain fluents."""
    from herbrand.errors import BudgetExceeded

    uncertain = {_relation(fact) for fact in knowledge.open}
    try:
        false = sorted(fact for fact in knowledge.ruled_out if _relation(fact) in uncertain)
    except BudgetExceeded:
        return []
    if not false:
        return []
    return [f"surely false\n{_some(false)}"]


def _relation(fact: str) -> str:
    """Return the name of a fluent.

    >>> _relation("(holds first jack)"), _relation("raining")
    ('holds', 'raining')
    """
    return fact.strip("(").split(" ", 1)[0]


def _chances(facts: dict[str, Fraction]) -> str:
    """List facts with their probabilities, the likeliest first."""
    ordered = sorted(facts.items(), key=lambda item: (-item[1], item[0]))
    return _some([f"{_number(chance)} {fact}" for fact, chance in ordered])


def _some(facts: Sequence[str]) -> str:
    """Arrange the first facts in columns, and say how many more there are."""
    more = f"\n  and {len(facts) - SHOWN} more" if len(facts) > SHOWN else ""
    return columns(facts[:SHOWN], indent="  ") + more


def _number(chance: Fraction) -> str:
    """Format a probability as a fraction if that is short."""
    return str(chance) if chance.denominator < 1000 else f"{float(chance):.4f}"


def _indented(text: str) -> str:
    return "\n".join(f"  {line}" if line else line for line in text.splitlines())
