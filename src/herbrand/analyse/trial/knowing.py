"""What players can know, met in play: checks that follow what a role can hold possible (I10, percepts).

A play is made at random, and for each role all states are kept that the play could have led to as
far as that role can tell from its own moves and its percepts.  A sample can find faults, not
prove that there are none.
"""

from __future__ import annotations

import random
from itertools import product
from typing import TYPE_CHECKING, Any, Final

from herbrand.check.checks.play import UNDECLARED_PERCEPT, UNKNOWN_END, UNKNOWN_GOAL, UNKNOWN_LEGAL_MOVES
from herbrand.diagnostic import Diagnostic, Span
from herbrand.errors import BudgetExceeded

if TYPE_CHECKING:
    from herbrand.check.checks.base import Check
    from herbrand.machine.state import State
    from herbrand.machine.state_machine import StateMachine

__all__ = ["knowledge_checks"]


MOST_MOVES: Final = 400
"""Joint moves made for one role in one play."""


def knowledge_checks(
    game: StateMachine, *, playouts: int = 5, seed: int = 0, max_steps: int = 100, moves: int = MOST_MOVES
) -> tuple[Diagnostic, ...]:
    """Play at random and report each kind of fault when it is first met; nothing without `sees`.

    A play is followed for a role as long as that takes at most so many joint `moves`.  Stops
    quietly where the budget of the game ends.
    """
    if not any(rule.head.key == ("sees", 2) for rule in game.tree.statements):
        return ()
    found = _Found(game)
    chance = random.Random(seed)
    try:
        for _ in range(playouts):
            _play(game, found, chance, max_steps, moves)
    except BudgetExceeded:
        pass
    return tuple(found.reports.values())


def _play(game: StateMachine, found: _Found, chance: random.Random, max_steps: int, moves: int) -> None:
    state: State = game.initial_state("rules")
    players = [role for role in game.roles if role.lower() != "random"]
    possible: dict[str, set[Any]] = {role: {state} for role in players}
    left = dict.fromkeys(players, moves)
    path: list[str] = []
    while len(path) < max_steps:
        legal = state.legal_moves()
        if state.is_terminal or not all(legal.values()):
            break
        joint = {role: chance.choice(list(legal[role])) for role in game.roles}
        path.append(" ".join(str(joint[role]) for role in game.roles))
        after: dict[str, set[Any]] = {}
        for role, states in possible.items():
            seen = set(state.percepts(joint, role))
            found.declared(role, seen, path)
            following = _following(game, states, role, joint[role], seen, left)
            if following is not None:
                after[role] = following
        possible = after
        state = state.next(joint)
        for role, states in possible.items():
            found.compare(role, states, path)
            possible[role] = {one for one in states if one.is_terminal == state.is_terminal}


def _following(
    game: StateMachine, states: set[Any], role: str, move: Any, seen: set[str], left: dict[str, int]
) -> set[Any] | None:
    """Return what a role holds possible one step later; None when that is too much work."""
    found: set[Any] = set()
    for state in states:
        legal = state.legal_moves()
        if move not in legal[role]:
            continue
        options = [[move] if one == role else list(legal[one]) for one in game.roles]
        for joint in product(*options):
            left[role] -= 1
            if left[role] < 0:
                return None
            if set(state.percepts(joint, role)) == seen:
                found.add(state.next(joint))
    return found


class _Found:
    """What the plays have shown."""

    def __init__(self, game: StateMachine) -> None:
        self.game = game
        self.reports: dict[str, Diagnostic] = {}
        self.percepts: frozenset[tuple[str, str]] | None = None
        if any(rule.head.key == ("percept", 2) for rule in game.tree.statements):
            answers = game.initial_state("rules").ask("(percept ?r ?p)")
            self.percepts = frozenset((a["r"].lower(), a["p"].lower()) for a in answers)

    def declared(self, role: str, seen: set[str], path: list[str]) -> None:
        """Compare percepts with what `percept` declares."""
        if self.percepts is not None:
            loose = sorted(one for one in seen if (role.lower(), one.lower()) not in self.percepts)
            if loose:
                self._add(
                    UNDECLARED_PERCEPT,
                    "percept",
                    f"`{role}` sees `{loose[0]}`, but no `percept` lists it",
                    path,
                )

    def compare(self, role: str, states: set[Any], path: list[str]) -> None:
        """Compare the states that a role holds possible."""
        ordered = sorted(states, key=lambda state: sorted(state.facts))
        ended = [state for state in ordered if state.is_terminal]
        going = [state for state in ordered if not state.is_terminal]
        if ended and going:
            self._add(
                UNKNOWN_END,
                "terminal",
                f"`{role}` cannot know from its percepts whether the game is over",
                path,
            )
        options = [(state, list(map(str, state.legal_moves()[role]))) for state in going]
        other = next((one for one in options if one[1] != options[0][1]), None)
        if other is not None:
            doubtful = sorted(set(options[0][1]) ^ set(other[1]))
            self._add(
                UNKNOWN_LEGAL_MOVES,
                "legal",
                f"`{role}` cannot know whether `{doubtful[0]}` is legal",
                path,
                _difference(role, options[0][0], other[0]),
            )
        results = [(state, state.goal_values(role)) for state in ended]
        unlike = next((one for one in results if one[1] != results[0][1]), None)
        if unlike is not None:
            values = sorted({*results[0][1], *unlike[1]}, key=lambda value: (len(value), value))
            self._add(
                UNKNOWN_GOAL,
                "goal",
                f"`{role}` cannot know at the end which of these it gets: {', '.join(values)}",
                path,
                _difference(role, results[0][0], unlike[0]),
            )

    def _add(self, check: Check, relation: str, message: str, path: list[str], *more: str) -> None:
        if check.name not in self.reports:
            shown = "; ".join(path[:40]) + ("; …" if len(path) > 40 else "")
            tree = self.game.tree
            span = next(
                (rule.head.span for rule in tree.statements if rule.head.name == relation), Span(0, 0)
            )
            notes = (f"after {len(path)} {'step' if len(path) == 1 else 'steps'}: {shown}", *more)
            self.reports[check.name] = Diagnostic(
                check.name, check.severity, message, tree.source, span, notes=notes
            )


def _difference(role: str, one: State, other: State) -> str:
    """Say in what two states differ that a role cannot tell apart."""
    only, extra = sorted(one.facts - other.facts), sorted(other.facts - one.facts)
    left = " ".join(only[:4]) or "nothing"
    right = " ".join(extra[:4]) or "nothing"
    return f"to `{role}` both are possible: {left} in one state, {right} in its place in another"
