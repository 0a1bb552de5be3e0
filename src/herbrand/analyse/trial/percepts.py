"""Checks of percepts by sampled plays: whether roles can know their legal moves, the end and their goals.

For each role of a random play, all states are tracked that are consistent with its own moves and its
percepts.  A sample can find faults, but not prove their absence.
"""

from __future__ import annotations

import math
import random
import time
from itertools import product
from typing import TYPE_CHECKING, Any, Final

from herbrand.analyse.trial.findings import Findings
from herbrand.check.checks.play import UNDECLARED_PERCEPT, UNKNOWN_END, UNKNOWN_GOAL, UNKNOWN_LEGAL_MOVES
from herbrand.errors import BudgetExceeded

if TYPE_CHECKING:
    from herbrand.diagnostic import Diagnostic
    from herbrand.machine.state import State
    from herbrand.machine.state_machine import StateMachine

__all__ = ["knowledge_checks"]


MOST_MOVES: Final = 400
"""The most joint moves that are evaluated for one role in one play."""


def knowledge_checks(
    game: StateMachine,
    *,
    playouts: int = 5,
    seed: int = 0,
    max_steps: int = 100,
    moves: int = MOST_MOVES,
    deadline: float = math.inf,
) -> tuple[Diagnostic, ...]:
    """Play at random and report the first fault of each kind; nothing without `sees`.

    A role is tracked in a play until that takes more than `moves` joint moves.  Stops
    silently when the budget of the game ends, and at `deadline`, by the clock of `time.process_time`.
    """
    if not game.has_percepts:
        return ()
    findings = _PerceptFindings(game)
    chance = random.Random(seed)
    try:
        for _ in range(playouts):
            _play(game, findings, chance, max_steps, moves, deadline)
    except BudgetExceeded:
        pass
    return findings.diagnostics


def _play(
    game: StateMachine,
    findings: _PerceptFindings,
    chance: random.Random,
    max_steps: int,
    moves: int,
    deadline: float,
) -> None:
    state: State = game.initial_state("rules")
    players = [role for role in game.roles if role.lower() != "random"]
    possible: dict[str, set[Any]] = {role: {state} for role in players}
    budget = dict.fromkeys(players, moves)
    path: list[str] = []
    while len(path) < max_steps and time.process_time() < deadline:
        legal = state.legal_moves()
        if state.is_terminal or not all(legal.values()):
            break
        joint = {role: chance.choice(list(legal[role])) for role in game.roles}
        path.append(" ".join(str(joint[role]) for role in game.roles))
        after: dict[str, set[Any]] = {}
        for role, states in possible.items():
            percepts = set(state.percepts(joint, role))
            findings.check_declared(role, percepts, path)
            following = _following(game, states, role, joint[role], percepts, budget)
            if following is not None:
                after[role] = following
        possible = after
        state = state.next(joint)
        for role, states in possible.items():
            findings.check_agreement(role, states, path)
            possible[role] = {other for other in states if other.is_terminal == state.is_terminal}


def _following(
    game: StateMachine, states: set[Any], role: str, move: Any, percepts: set[str], budget: dict[str, int]
) -> set[Any] | None:
    """Return the states that a role considers possible one step later; None when its budget is spent."""
    following: set[Any] = set()
    for state in states:
        legal = state.legal_moves()
        if move not in legal[role]:
            continue
        options = [[move] if name == role else list(legal[name]) for name in game.roles]
        for joint in product(*options):
            budget[role] -= 1
            if budget[role] < 0:
                return None
            if set(state.percepts(joint, role)) == percepts:
                following.add(state.next(joint))
    return following


class _PerceptFindings(Findings):
    """The diagnostics from the plays, one for each check."""

    def __init__(self, game: StateMachine) -> None:
        super().__init__(game)
        self.percepts: frozenset[tuple[str, str]] | None = None
        if any(rule.head.key == ("percept", 2) for rule in game.tree.statements):
            answers = game.initial_state("rules").ask("(percept ?r ?p)")
            self.percepts = frozenset((a["r"].lower(), a["p"].lower()) for a in answers)

    def check_declared(self, role: str, percepts: set[str], path: list[str]) -> None:
        """Check that `percept` declares the percepts of a role."""
        if self.percepts is not None:
            undeclared = [p for p in percepts if (role.lower(), p.lower()) not in self.percepts]
            if undeclared:
                message = f"`{role}` sees `{min(undeclared)}`, but no `percept` lists it"
                self.add(UNDECLARED_PERCEPT, "percept", message, path)

    def check_agreement(self, role: str, states: set[Any], path: list[str]) -> None:
        """Check that the states that a role considers possible agree in what it must know."""
        ordered = sorted(states, key=lambda state: sorted(state.facts))
        ended = [state for state in ordered if state.is_terminal]
        going = [state for state in ordered if not state.is_terminal]
        if ended and going:
            message = f"`{role}` cannot know from its percepts whether the game is over"
            self.add(UNKNOWN_END, "terminal", message, path)
        options = [(state, list(map(str, state.legal_moves()[role]))) for state in going]
        other = next((entry for entry in options if entry[1] != options[0][1]), None)
        if other is not None:
            uncertain = min(set(options[0][1]) ^ set(other[1]))
            message = f"`{role}` cannot know whether `{uncertain}` is legal"
            difference = _difference(role, options[0][0], other[0])
            self.add(UNKNOWN_LEGAL_MOVES, "legal", message, path, difference)
        results = [(state, state.goal_values(role)) for state in ended]
        different = next((entry for entry in results if entry[1] != results[0][1]), None)
        if different is not None:
            values = sorted({*results[0][1], *different[1]}, key=lambda value: (len(value), value))
            message = f"`{role}` cannot know at the end which of these it gets: {', '.join(values)}"
            self.add(UNKNOWN_GOAL, "goal", message, path, _difference(role, results[0][0], different[0]))


def _difference(role: str, state: State, other: State) -> str:
    """Describe the difference between two states that a role cannot distinguish."""
    only, extra = sorted(state.facts - other.facts), sorted(other.facts - state.facts)
    left = " ".join(only[:4]) or "nothing"
    right = " ".join(extra[:4]) or "nothing"
    return f"`{role}` cannot distinguish a state with {left} from one with {right} instead"
