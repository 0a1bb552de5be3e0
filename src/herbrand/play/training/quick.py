"""`improve_judge`: a few seconds of self-play before a match."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

from herbrand.errors import BudgetExceeded
from herbrand.play.training.trainer import Settings, Trainer

if TYPE_CHECKING:
    from collections.abc import Callable

    from herbrand.game import Game
    from herbrand.play.learning import LearnedJudge
    from herbrand.play.training.trainer import Snapshot

__all__ = ["improve_judge"]

_SHARE: Final = 0.9
"""Share of the time for self-play; the rest is for building searches."""
_SNAPSHOT_SECONDS: Final = 2.5
_MOST_SNAPSHOTS: Final = 12


def improve_judge(
    game: Game,
    role: int,
    learned: LearnedJudge,
    *,
    seed: int,
    seconds: float,
    stopped: Callable[[], bool] = lambda: False,
) -> LearnedJudge | None:
    """Return better values for a role, learned by self-play in about `seconds`; None if there are none.

    Values at several times are compared in games in which both sides look one step ahead: self-play does not
    improve them steadily.  Raises `GameError` for games in which values cannot be learned so.
    """
    began = time.monotonic()
    until = began + _SHARE * seconds
    trainer = Trainer.start(game, Settings(seed, batch=1), {role: learned}, until=until)

    def check(_: Trainer, __: Snapshot | None) -> None:
        if stopped():
            raise BudgetExceeded("the match is over")

    left = max(0.0, until - time.monotonic())
    snapshots = max(1, min(_MOST_SNAPSHOTS, int(left / _SNAPSHOT_SECONDS)))
    try:
        trainer.run(seconds=left, until=until, snapshots=snapshots, listener=check)
    except BudgetExceeded:
        return None
    if trainer.elo <= 0 or stopped():
        return None
    model = trainer.best
    return learned._replace(
        judge=model.judge(role), features=len(model.literals), gates=model.gates, self_played=trainer.games,
        seconds=learned.seconds + time.monotonic() - began,
    )  # fmt: skip
