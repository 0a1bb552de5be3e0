"""`python -m herbrand.play.hosted`: the process in which a `ProcessPlayer` has another player choose.

It reads requests as lines of JSON on standard input and answers each with a line.
"""

from __future__ import annotations

import base64
import pickle
import time
from typing import TYPE_CHECKING, Any

from herbrand.analyse.knowledge.histories import HistoryStep
from herbrand.play.registry import make_player
from herbrand.runtime.json_process import RequestError, serve
from herbrand.runtime.memory import limit_memory

if TYPE_CHECKING:
    from herbrand.play.interface import Player

__all__: list[str] = []


class _Hosted:
    """Answers requests for the player of this process."""

    def __init__(self) -> None:
        self.player: Player | None = None
        self.game: Any = None
        self.role = ""

    def answer(self, question: dict[str, Any]) -> str:
        """Begin with a player, prepare it, or have it select a move."""
        if "begin" in question:
            if self.player is not None:
                self.player.stop()
            self.player, self.game, self.role = _begun(question["begin"])
            return "ready"
        if self.player is None:
            raise ValueError("there is no player yet")
        if "start" in question:
            self.player.start(self.game, self.role, question["start"])
            return "ready"
        return _selected(self.player, self.game, question["select"])


def _begun(setting: dict[str, Any]) -> tuple[Player, Any, str]:
    if setting["megabytes"] is not None:
        limit_memory(setting["megabytes"])
    game = pickle.loads(base64.b64decode(setting["game"]))  # noqa: S301  # written by our own parent
    return make_player(setting["player"], seed=setting["seed"]), game, setting["role"]


def _selected(player: Player, game: Any, question: dict[str, Any]) -> str:
    started = time.monotonic()
    player.told(tuple(HistoryStep(move, frozenset(seen)) for move, seen in question["history"]))
    state = game.state(question["facts"], engine="rules")
    left = question["clock"] - (time.monotonic() - started)
    return str(player.select(state, max(0.0, left)))


if __name__ == "__main__":
    serve(_Hosted().answer, lambda error: RequestError(f"{type(error).__name__}: {error}"))
