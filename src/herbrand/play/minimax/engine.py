"""`AlphaBeta`: an alpha-beta search that reports on moves, as players do."""

from __future__ import annotations

from herbrand.analyse.minimax.nodes import SCALE
from herbrand.analyse.minimax.search import Search, steps_to
from herbrand.analyse.minimax.table import EXACT, UPPER
from herbrand.play.explanation import MoveReport

__all__ = ["AlphaBeta"]


class AlphaBeta(Search):
    """The search of a player."""

    def reports(self) -> list[MoveReport]:
        """Return what is known about each move at the root, best first."""
        rows, notes = self.rows, self.notes
        first, count = 1, int(self.frames.successors[0]) if self.choice >= 0 else 0
        found = []
        for k in range(count):
            value, bound = int(notes.value[k]), int(notes.bound[k])
            mean = None if value < 0 else value / SCALE
            sure = bool(notes.proved[k]) and value >= 0
            proved = float(round(value / SCALE)) if sure and bound == EXACT else None
            found.append(
                MoveReport(
                    self.move_text(int(rows.move[first + k])),
                    int(notes.nodes[k]),
                    None if mean is None else min(max(mean, 0.0), 100.0),
                    proved=proved,
                    at_least=proved if proved is not None else 0.0,
                    at_most=float(round(value / SCALE)) if sure and bound in (EXACT, UPPER) else 100.0,
                    plies=(steps_to(value) or None) if proved is not None else None,
                    line=self.line() if int(rows.move[first + k]) == self.choice else (),
                )
            )
        text = self.move_text(self.choice) if self.choice >= 0 else ""
        found.sort(
            key=lambda report: (report.move != text, -(report.mean if report.mean is not None else -1))
        )
        return found
