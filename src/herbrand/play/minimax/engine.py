"""`AlphaBetaEngine`: an alpha-beta search with reports on the moves at the root."""

from __future__ import annotations

from herbrand.analyse.solving.minimax.judge import EXACT, SCALE, UPPER
from herbrand.analyse.solving.minimax.search import AlphaBetaSearch, steps_to
from herbrand.play.explanation import MoveReport

__all__ = ["AlphaBetaEngine"]


class AlphaBetaEngine(AlphaBetaSearch):
    """An `AlphaBetaSearch` of a player."""

    def reports(self) -> list[MoveReport]:
        """Return a report on each move at the root, best first."""
        reports = []
        for move in self.root():
            mean = None if move.value < 0 else move.value / SCALE
            has_proof = move.proved and move.value >= 0
            goal = float(round(move.value / SCALE))
            proved = goal if has_proof and move.bound == EXACT else None
            reports.append(
                MoveReport(
                    self.move_text(move.move),
                    move.nodes,
                    None if mean is None else min(max(mean, 0.0), 100.0),
                    proved=proved,
                    at_least=proved if proved is not None else 0.0,
                    at_most=goal if has_proof and move.bound in (EXACT, UPPER) else 100.0,
                    plies=(steps_to(move.value) or None) if proved is not None else None,
                    line=self.line() if move.move == self.choice else (),
                )
            )
        text = self.move_text(self.choice) if self.choice >= 0 else ""
        reports.sort(
            key=lambda report: (report.move != text, -(report.mean if report.mean is not None else -1))
        )
        return reports
