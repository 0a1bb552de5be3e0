"""`Findings`: the first finding of each check in sampled plays."""

from __future__ import annotations

from typing import TYPE_CHECKING

from herbrand.diagnostic import Diagnostic, Severity, Span

if TYPE_CHECKING:
    from collections.abc import Sequence

    from herbrand.check.checks.base import Check
    from herbrand.diagnostic import Fix
    from herbrand.machine.state_machine import StateMachine

__all__ = ["Findings"]

_SHOWN_MOVES = 40


class Findings:
    """Diagnostics of a game, one for each check, relation and severity."""

    def __init__(self, game: StateMachine) -> None:
        self.game = game
        self.reports: dict[tuple[str, str, Severity], Diagnostic] = {}

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """The diagnostics, in the order of their discovery."""
        return tuple(self.reports.values())

    def add(
        self,
        check: Check,
        relation: str,
        message: str,
        path: Sequence[str] | None = None,
        *notes: str,
        severity: Severity | None = None,
        help: str | None = None,  # noqa: A002  # the name of the field
        place: Span | None = None,
        fix: Fix | None = None,
    ) -> None:
        """Add a diagnostic at `place`, by default the first rule for the relation, unless there is one.

        `path` has the joint moves before the finding, for a note; None for findings without a play.
        """
        level = severity or check.severity
        if (check.name, relation, level) in self.reports:
            return
        if path:
            moves = "; ".join(path[:_SHOWN_MOVES]) + ("; …" if len(path) > _SHOWN_MOVES else "")
            notes = (f"after {len(path)} {'step' if len(path) == 1 else 'steps'}: {moves}", *notes)
        elif path is not None:
            notes = ("in the initial state", *notes)
        tree = self.game.tree
        span = place or next((r.head.span for r in tree.statements if r.head.name == relation), Span(0, 0))
        self.reports[check.name, relation, level] = Diagnostic(
            check.name, level, message, tree.source, span, help=help, notes=notes, fix=fix
        )
