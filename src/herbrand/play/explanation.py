"""Reports of players on a search: statistics of each move, as data and as text."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

__all__ = ["MoveReport", "PlayerReport"]

_BAR_WIDTH = 20
_SHOWN_STEPS = 6
_SHOWN_MOVES = 20


@dataclass(frozen=True, slots=True)
class MoveReport:
    """Statistics of one move.  Values are goal values of the role, from 0 to 100."""

    move: str
    """As KIF."""
    visits: int
    """Playouts or positions searched after the move."""
    mean: float | None
    """Mean value of these playouts, or the value of the search; None without visits."""
    proved: float | None = None
    """The value under best play of all roles, if it is proved."""
    at_least: float = 0.0
    """Proved lower bound."""
    at_most: float = 100.0
    """Proved upper bound."""
    plies: int | None = None
    """The number of steps that the proof of a value looks ahead."""
    line: tuple[tuple[str, ...], ...] = ()
    """The expected joint moves as KIF, the first with this move in it."""
    chance: float | None = None
    """The probability of the move, where the player drew it by a strategy."""

    @property
    def value(self) -> float | None:
        """The proved value, or else the mean."""
        return self.mean if self.proved is None else self.proved

    def as_json(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            **asdict(self),
            "mean": None if self.mean is None else round(self.mean, 2),
            "line": [list(joint) for joint in self.line],
            "chance": None if self.chance is None else round(self.chance, 4),
        }


@dataclass(frozen=True, slots=True)
class PlayerReport:
    """Statistics of a player's search for its last move."""

    player: str
    role: str
    moves: tuple[MoveReport, ...]
    """Best first; the first is the chosen one."""
    seconds: float
    visits: int = 0
    """Playouts or positions in total, including those reused from earlier moves."""
    positions: int = 0
    """Positions in memory."""
    notes: tuple[str, ...] = ()
    """Remarks on the search, as text."""

    @property
    def best(self) -> MoveReport:
        """The report on the chosen move."""
        return self.moves[0]

    def with_choice(self, move: str) -> PlayerReport:
        """Return the report with the move that was made as the first, also if the search did not see it."""
        chosen = next((one for one in self.moves if one.move == move), MoveReport(move, 0, None))
        return replace(self, moves=(chosen, *(one for one in self.moves if one is not chosen)))

    def without_proofs(self) -> PlayerReport:
        """Return the report with the values of proofs as estimates.

        They are no more than that where a player proved them for a state that it only guessed.
        """
        moves = (replace(m, mean=m.value, proved=None, at_least=0.0, at_most=100.0) for m in self.moves)
        return replace(self, moves=tuple(moves))

    def _repr_html_(self) -> str:
        """Return a table of the moves with their expected lines, for notebooks."""
        from herbrand.runtime.notebook import block, table

        rows = []
        for report in self.moves[:_SHOWN_MOVES]:
            sure = "" if report.proved is None else " proved"
            value = None if report.value is None else f"{report.value:.1f}{sure}"
            line = "; ".join(" ".join(joint) for joint in report.line[:_SHOWN_STEPS])
            rows.append((report.move, report.visits, value, line))
        return block(
            f"{self.player} plays {self.role}",
            table(rows, ("move", "games", "value", "expected"), numbers=(1, 2)),
            "; ".join(self.notes),
            note=f"{self.visits} games, {self.positions} positions",
        )

    def as_json(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            "player": self.player,
            "role": self.role,
            "seconds": round(self.seconds, 4),
            "visits": self.visits,
            "positions": self.positions,
            "notes": list(self.notes),
            "moves": [move.as_json() for move in self.moves],
        }

    def table(self, most: int = 8) -> str:
        """Return a text with a line for each of the `most` best moves, the expected line and the notes."""
        shown = self.moves[:most]
        width = max((len(report.move) for report in shown), default=0)
        digits = max((len(str(report.visits)) for report in shown), default=0)
        lines = [_line(report, width, digits) for report in shown]
        hidden = len(self.moves) - most
        if hidden > 0:
            lines.append(f"... {hidden} more")
        if self.moves and len(self.best.line) > 1:
            steps = ["/".join(move for move in joint if move != "noop") for joint in self.best.line]
            ellipsis = " ..." if len(steps) > _SHOWN_STEPS else ""
            lines.append(f"expected: {' '.join(steps[:_SHOWN_STEPS])}{ellipsis}")
        lines += self.notes
        return "\n".join(lines)

    def __str__(self) -> str:
        """The table."""
        return self.table()


def _line(report: MoveReport, width: int, digits: int) -> str:
    value = report.value
    if value is None:
        return f"{report.move:{width}}  {'':{_BAR_WIDTH}}     ?"
    full = round(_BAR_WIDTH * value / 100)
    bar = "█" * full + "░" * (_BAR_WIDTH - full)
    if report.proved is None:
        sure = f"  at least {report.at_least:g}" if report.at_least > 0 else ""
        visits = f"{report.visits:{digits}} visit{'s' if report.visits != 1 else ''}"
        if report.chance is not None:
            visits = f"{report.chance:4.0%} of the time"
        return f"{report.move:{width}}  {bar} {value:5.1f}  {visits}{sure}"
    steps = f" in {report.plies} step{'s' if report.plies != 1 else ''}" if report.plies else ""
    return f"{report.move:{width}}  {bar} {value:5.1f}  proved{steps}"
