"""What a player thinks of the moves of a match that was played: which were good, and what was missed."""

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
"""Points lost, of a hundred, from which on a move is called so."""
_SHOWN = 6
_START = 60.0
"""Seconds that a player has to get ready, at most."""


@dataclass(frozen=True, slots=True)
class Annotation:
    """What is thought of one move of one role."""

    step: int
    """Counted from 1."""
    role: str
    move: str
    explanation: PlayerReport | None
    """What was found out about the moves there were; None if the player does not say."""

    @property
    def played(self) -> MoveReport | None:
        """What is known about the move that was made."""
        if self.explanation is None:
            return None
        return next((r for r in self.explanation.moves if r.move.lower() == self.move.lower()), None)

    @property
    def best(self) -> MoveReport | None:
        """What is known about the move that the player would have made."""
        return None if self.explanation is None or not self.explanation.moves else self.explanation.best

    @property
    def lost(self) -> float | None:
        """How much less the move is worth than the best one, from 0 to 100; None if that is not known."""
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
        """One of `GRADES`, `best`, `good`, or `unknown`; a sure result given away is said to be so."""
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
        """One line: the move with its value, its grade, and what was better."""
        played, best = self.played, self.best
        text = f"{self.role} {self.move}: {_shown(played)}, {self.grade}"
        if best is None or played is None or self.grade in ("best", "unknown"):
            return text
        line = ["/".join(move for move in joint if move != "noop") for joint in best.line[:_SHOWN]]
        going_on = f": {' '.join(line)}" if len(line) > 1 else ""
        return f"{text}; {best.move} {_shown(best)}{going_on}"


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
    """Yield what `player` thinks of the moves of a match from `state` on, with `clock` seconds for each.

    `first` is the number of the first step.  Moves where there was no choice, and those of chance, are left
    out.  The player sees the whole state, also where the rules hide some of it from the role.  Raises
    `IllegalMoveError` for a match that was not played so.
    """
    players: dict[str, Player] = {}
    for step, joint in enumerate(moves, start=first):
        for role, move in zip(game.roles, joint, strict=True):
            if role == game.chance_role or len(state.legal_moves(role)) < 2:
                continue
            if role not in players:
                players[role] = make_player(player, seed=seed)
                players[role].start(game, role, _START)
            players[role].select(state, clock)
            report = players[role].report()
            yield Annotation(step, role, str(move), report)
        state = state.next(joint)
