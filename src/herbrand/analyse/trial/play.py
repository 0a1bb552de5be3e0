"""Checks that evaluate the rules of a game: its initial state and sampled plays.

A sample can find faults, but not prove their absence.
"""

from __future__ import annotations

import difflib
import math
import random
import re
import time
from typing import TYPE_CHECKING

from herbrand.analyse.trial.findings import Findings
from herbrand.analyse.trial.never import never_checks
from herbrand.analyse.trial.percepts import knowledge_checks
from herbrand.check.checks.base import ERROR, WARNING
from herbrand.check.checks.goals import is_goal_value
from herbrand.check.checks.play import (
    IMPOSSIBLE_DECLARATION,
    INITIAL_STATE_TERMINAL,
    NO_GOAL,
    NO_LEGAL_MOVE,
    SEVERAL_GOALS,
    UNDECLARED_BASE,
    UNDECLARED_INPUT,
)
from herbrand.diagnostic import Edit, Fix, Span
from herbrand.errors import BudgetExceeded
from herbrand.syntax.nodes import Variable

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from herbrand.diagnostic import Diagnostic
    from herbrand.machine.state import State
    from herbrand.machine.state_machine import StateMachine

__all__ = ["brief_checks", "initial_checks", "play_checks", "possible_checks", "sampled_checks"]


def brief_checks(game: StateMachine, *, seconds: float = 1.0, seed: int = 0) -> tuple[Diagnostic, ...]:
    """Run the checks that evaluate the rules, for about `seconds` of processor time, without grounding.

    Returns nothing for a game with errors.  The limits of the game should be as short, since the time is
    checked between states only.
    """
    if game.rules.errors:
        return ()
    if game.is_epistemic:  # the knowledge of roles depends on the play, which states do not have
        return never_checks(game.rules)
    deadline = time.process_time() + seconds
    try:
        return (
            *never_checks(game.rules),
            *initial_checks(game),
            *sampled_checks(game, playouts=20, seed=seed, deadline=deadline),
            *knowledge_checks(game, playouts=2, seed=seed, deadline=deadline),
        )
    except BudgetExceeded:
        return ()


def play_checks(game: StateMachine, *, playouts: int = 5, seed: int = 0) -> tuple[Diagnostic, ...]:
    """Run all checks that evaluate the rules; nothing for a game with errors."""
    if game.rules.errors:
        return ()
    if game.is_epistemic:
        return never_checks(game.rules)
    return (
        *never_checks(game.rules),
        *initial_checks(game),
        *sampled_checks(game, playouts=playouts, seed=seed),
        *knowledge_checks(game, playouts=playouts, seed=seed),
        *possible_checks(game),
    )


def initial_checks(game: StateMachine) -> tuple[Diagnostic, ...]:
    """Check the initial state."""
    state: State = game.initial_state("rules")
    if not state.is_terminal:
        return ()
    findings = Findings(game)
    advice = "`herbrand show --why terminal` shows the rule that applies"
    findings.add(INITIAL_STATE_TERMINAL, "terminal", "the initial state is terminal", help=advice)
    return findings.diagnostics


def possible_checks(game: StateMachine) -> tuple[Diagnostic, ...]:
    """Report declared fluents and moves that are impossible; nothing where that takes too long."""
    declared = _declared(game)
    if declared == (None, None):
        return ()
    try:
        possible = game.possible
    except BudgetExceeded:
        return ()
    bases, inputs = declared[0] or frozenset(), declared[1] or frozenset()
    reachable = {fact.lower() for fact in possible.base}
    playable = {(role.lower(), move.lower()) for role, moves in possible.inputs.items() for move in moves}
    findings = Findings(game)
    for name, extra, total, never in (
        ("base", sorted(bases - reachable), len(bases), "be true"),
        ("input", sorted(map(" ".join, inputs - playable)), len(inputs), "be legal"),
    ):
        if extra:
            message = f"{len(extra)} of {total} declared with `{name}` can never {never}: `{extra[0]}`"
            message += ", …" if len(extra) > 1 else ""
            findings.add(IMPOSSIBLE_DECLARATION, name, message)
    return findings.diagnostics


def sampled_checks(
    game: StateMachine,
    *,
    playouts: int = 5,
    seed: int = 0,
    max_steps: int = 300,
    deadline: float = math.inf,
) -> tuple[Diagnostic, ...]:
    """Play at random and report the first fault of each kind in goals, declarations and legal moves.

    Stops silently when the budget of the game ends, and at `deadline`, by the clock of `time.process_time`.
    """
    sample = _Sample(game)
    chance = random.Random(seed)
    try:
        for _ in range(playouts):
            state: State = game.initial_state("rules")
            path: list[str] = []
            while sample.check(state, path) and len(path) < max_steps:
                moves = state.legal_moves()
                joint = tuple(chance.choice(list(moves[role])) for role in game.roles)
                path.append(" ".join(map(str, joint)))
                if time.process_time() > deadline:
                    return sample.diagnostics
                state = state.next(joint)
    except BudgetExceeded:
        pass
    return sample.diagnostics


class _Sample(Findings):
    """The diagnostics from sampled plays, one for each check and severity."""

    def __init__(self, game: StateMachine) -> None:
        super().__init__(game)
        self.bases, self.inputs = _declared(game)

    def check(self, state: State, path: list[str]) -> bool:
        """Check one state; return whether the play can continue."""
        ended = state.is_terminal
        self._goals(state, path, ended=ended)
        if self.bases is not None and (UNDECLARED_BASE.name, "base", ERROR) not in self.reports:
            undeclared = sorted(fact for fact in state.facts if fact.lower() not in self.bases)
            if undeclared:
                fact = undeclared[0]
                help_text, fix = self._base_remedy(fact, initially=not path)
                message = f"`{fact}` is true, but no `base` lists it"
                place = _source_of(self.game, fact, "next" if path else "init")
                self.add(UNDECLARED_BASE, "base", message, path, help=help_text, place=place, fix=fix)
        if ended:
            return False
        moves = state.legal_moves()
        for role in self.game.roles:
            if self.inputs is not None and (UNDECLARED_INPUT.name, "input", ERROR) not in self.reports:
                for move in moves[role]:
                    if (role.lower(), str(move).lower()) not in self.inputs:
                        message = f"`{move}` is legal for `{role}`, but no `input` lists it"
                        place = _source_of(self.game, str(move), "legal")
                        inputs = [text for own, text in self.inputs if own == role.lower()]
                        advice = _declare("input", str(move), inputs)
                        fix = _declaration(self.game, "input", f"{role} {move}")
                        self.add(UNDECLARED_INPUT, "input", message, path, help=advice, place=place, fix=fix)
                        break
            if not moves[role]:
                message = f"`{role}` has no legal move, and the game is not over"
                severity = ERROR if role.lower() == "random" else None
                self.add(NO_LEGAL_MOVE, "legal", message, path, severity=severity)
        return all(moves[role] for role in self.game.roles)

    def _base_remedy(self, fact: str, *, initially: bool) -> tuple[str, Fix | None]:
        """Add a role, spell an initial fluent as declared if it occurs nowhere else, or declare it."""
        close = difflib.get_close_matches(fact.lower(), self.bases or (), n=1, cutoff=0.75)
        declare = _declaration(self.game, "base", fact)
        if not close:
            return _declare("base", fact, ()), declare
        words, declared = _words(fact), _words(close[0])
        strange = {word.lower() for word in words} - {*declared}
        text = self.game.tree.source.text
        role = self._missing_role(words, declared)
        if role is not None:
            at = next(rule.end for rule in reversed(self.game.tree.statements) if rule.head.name == "role")
            missing = f"(role {role})" if self.game.tree.notation == "prefix" else f"role({role})"
            return f"is `{missing}` missing?", Fix(f"add `{missing}`", (Edit(Span(at, at), f"\n{missing}"),))
        place = _source_of(self.game, fact, "init") if initially else None
        if place is not None and self.game.tree.notation == "prefix":
            at = text.lower().find(fact.lower(), place.start, place.end)
            is_alone = len(strange) == 1 and text.lower().count(min(strange)) == 1
            if at >= 0 and (is_alone or (len(words) != len(declared) and not strange)):
                fix = Fix(f"write `{close[0]}`", (Edit(Span(at, at + len(fact)), close[0]),))
                return f"did you mean `{close[0]}`? Otherwise declare it with `base`", fix
        return _declare("base", fact, self.bases or ()), declare

    def _missing_role(self, words: list[str], declared: list[str]) -> str | None:
        """Return the word of a fluent that stands where a declared one has a role, if rules use it, too."""
        roles = {role.lower() for role in self.game.roles}
        used = re.findall(r"[^\s()?]+", self.game.tree.source.text.lower())
        differences = [pair for pair in zip(words, declared, strict=False) if pair[0].lower() != pair[1]]
        if len(words) != len(declared) or len(differences) != 1:
            return None
        word, other = differences[0]
        is_role = word.lower() in roles
        return word if other in roles and not is_role and used.count(word.lower()) > 2 else None

    def _goals(self, state: State, path: list[str], *, ended: bool) -> None:
        from herbrand.check.checks.goals import GOAL_VALUE

        for role in self.game.roles:
            values = state.goal_values(role)
            bad = [value for value in values if not is_goal_value(value)]
            if bad:
                self.add(GOAL_VALUE, "goal", f"`{bad[0]}`, for `{role}`, is not a goal value", path)
            if len(values) > 1:
                where = "the terminal state" if ended else "a state"
                message = f"`{role}` has several goal values in {where}: {', '.join(values[:6])}"
                self.add(SEVERAL_GOALS, "goal", message, path, severity=ERROR if ended else WARNING)
            elif ended and not values and role != "random":
                self.add(NO_GOAL, "goal", f"`{role}` has no goal value in a terminal state", path)


def _words(text: str) -> list[str]:
    """Return the names in a fluent."""
    return text.replace("(", " ").replace(")", " ").split()


def _source_of(game: StateMachine, text: str, relation: str) -> Span | None:
    """Return the place of the first statement whose head can be this fluent or move."""
    name = text.strip("()").split()[0].lower()
    heads = [rule.head for rule in game.tree.statements if rule.head.name == relation and rule.head.args]
    same = [head for head in heads if str(head.args[-1]).lower() == text.lower()]
    alike = [head for head in heads if isinstance(head.args[-1], Variable) or head.args[-1].name == name]
    return (same or alike)[0].span if same or alike else None


def _declaration(game: StateMachine, relation: str, text: str) -> Fix | None:
    """Add a fact after the last declaration of a prefix sheet; none about nested terms, which may grow."""
    ends = [rule.end for rule in game.tree.statements if rule.head.name == relation]
    if game.tree.notation != "prefix" or not ends or not ends[-1] or text.count("(") > 1:
        return None
    return Fix(f"declare it with `{relation}`", (Edit(Span(ends[-1], ends[-1]), f"\n({relation} {text})"),))


def _declare(relation: str, text: str, declared: Collection[str]) -> str:
    """Return the remedy for something undeclared: another spelling, or a declaration."""
    close = difflib.get_close_matches(text.lower(), declared, n=1, cutoff=0.75)
    remedy = f"declare it with `{relation}`"
    return f"did you mean `{close[0]}`? Otherwise {remedy}" if close else remedy


def _declared(game: StateMachine) -> tuple[frozenset[str] | None, frozenset[tuple[str, str]] | None]:
    """Return the declarations of `base` and `input`, in lower case; None where the rules have none."""
    defined = {rule.head.key for rule in game.tree.statements}
    state: State = game.initial_state("rules")
    bases = inputs = None
    if ("base", 1) in defined:
        bases = frozenset(_answer(a, "p").lower() for a in state.ask("(base ?p)"))
    if ("input", 2) in defined:
        answers = state.ask("(input ?r ?m)")
        inputs = frozenset((_answer(a, "r").lower(), _answer(a, "m").lower()) for a in answers)
    return bases, inputs


def _answer(answer: Mapping[str, str], name: str) -> str:
    return answer[name] if name in answer else answer[f"?{name}"]
