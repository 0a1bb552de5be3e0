"""Annotations of a played match: how a player evaluates each move, and which better moves were missed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from herbrand.play.registry import make_player

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from herbrand.game import Game
    from herbrand.machine.moves import Move
    from herbrand.machine.state import State
    from herbrand.play.explanation import MoveReport, PlayerReport
    from herbrand.play.interface import Player

__all__ = ["GRADES", "Annotation", "annotate"]

GRADES: Final = ((30.0, "blunder"), (15.0, "mistake"), (5.0, "inaccuracy"))
"""Thresholds of the points lost, of a hundred, and the grade from each on."""
_SHOWN_STEPS = 6
_START_CLOCK = 60.0


@dataclass(frozen=True, slots=True)
class Annotation:
    """A player's evaluation of one move of one role."""

    step: int
    """Counted from 1."""
    role: str
    move: str
    explanation: PlayerReport | None
    """The player's report on all legal moves; None if it keeps none."""

    @property
    def played(self) -> MoveReport | None:
        """The report on the move that was played."""
        if self.explanation is None:
            return None
        return next((r for r in self.explanation.moves if r.move.lower() == self.move.lower()), None)

    @property
    def best(self) -> MoveReport | None:
        """The report on the move that the player would have chosen."""
        return None if self.explanation is None or not self.explanation.moves else self.explanation.best

    @property
    def lost(self) -> float | None:
        """Value of the best move minus that of the played one, from 0 to 100; None if either is unknown."""
        played, best = self.played, self.best
        if played is None or best is None:
            return None
        if played.move == best.move:
            return 0.0
        if played.value is None or best.value is None:
            return None
        return max(0.0, best.value - played.value)

    @property
    def grade(self) -> str:
        """One of `GRADES`, `best`, `good`, `unknown`, or `gives away a sure N` for a proved value N."""
        lost, played, best = self.lost, self.played, self.best
        if lost is None or played is None or best is None:
            return "unknown"
        if best.move == played.move or (played.proved is not None and played.proved == best.proved):
            return "best"
        if best.proved is not None and played.at_most < best.proved:
            return f"gives away a sure {best.proved:g}"
        return next((name for least, name in GRADES if lost >= least), "good")

    def as_json(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            "step": self.step,
            "role": self.role,
            "move": self.move,
            "grade": self.grade,
            "lost": None if self.lost is None else round(self.lost, 2),
            "explanation": None if self.explanation is None else self.explanation.as_json(),
        }

    def __str__(self) -> str:
        """One line: the move, its value and grade, and a better move with its expected line."""
        played, best = self.played, self.best
        text = f"{self.role} {self.move}: {_shown(played)}, {self.grade}"
        if best is None or played is None or self.grade in ("best", "unknown"):
            return text
        line = ["/".join(move for move in joint if move != "noop") for joint in best.line[:_SHOWN_STEPS]]
        expected = f": {' '.join(line)}" if len(line) > 1 else ""
        return f"{text}; {best.move} {_shown(best)}{expected}"


def _shown(report: MoveReport | None) -> str:
    if report is None or report.value is None:
        return "?"
    return f"{report.value:.1f}" if report.proved is None else f"{report.proved:g} proved"


def annotate(
    game: Game,
    state: State,
    moves: Iterable[Sequence[Move | str]],
    *,
    player: str = "mcts",
    clock: float = 1.0,
    seed: int = 0,
    first: int = 1,
) -> Iterator[Annotation]:
    """Yield annotations by `player` of the joint moves from `state` on, with `clock` seconds for each move.

    `first` is the number of the first step.  Forced moves and those of chance are skipped.  The player sees
    the whole state, even in games with hidden information.  Raises `IllegalMoveError` for an illegal move.
    """
    players: dict[str, Player] = {}
    for step, joint in enumerate(moves, start=first):
        for role, move in zip(game.roles, joint, strict=True):
            if role == game.chance_role or len(state.legal_moves(role)) < 2:
                continue
            if role not in players:
                players[role] = make_player(player, seed=seed)
                players[role].start(game, role, _START_CLOCK)
            players[role].select(state, clock)
            report = players[role].report()
            yield Annotation(step, role, str(move), report)
        state = state.next(joint)
