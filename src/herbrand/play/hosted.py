"""`python -m herbrand.play.hosted`: the subprocess behind a `ProcessPlayer`.

Reads one JSON request per line on standard input and answers each with one line.
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


class _PlayerHost:
    """Handles requests for the player of this process."""

    def __init__(self) -> None:
        self.player: Player | None = None
        self.game: Any = None
        self.role = ""

    def handle(self, request: dict[str, Any]) -> str:
        """Create a player, prepare it, or let it select a move, depending on the request's key."""
        if "begin" in request:
            if self.player is not None:
                self.player.stop()
            self.player, self.game, self.role = _create_player(request["begin"])
            return "ready"
        if self.player is None:
            raise ValueError("no player: `begin` must come first")
        if "start" in request:
            self.player.start(self.game, self.role, request["start"])
            return "ready"
        return _select_move(self.player, self.game, request["select"])


def _create_player(settings: dict[str, Any]) -> tuple[Player, Any, str]:
    if settings["megabytes"] is not None:
        limit_memory(settings["megabytes"])
    game = pickle.loads(base64.b64decode(settings["game"]))  # noqa: S301  # written by our own parent
    player = make_player(settings["player"], seed=settings["seed"], ponder=settings["ponder"] or None)
    return player, game, settings["role"]


def _select_move(player: Player, game: Any, request: dict[str, Any]) -> str:
    started = time.monotonic()
    player.receive_history(
        tuple(HistoryStep(move, frozenset(percepts)) for move, percepts in request["history"])
    )
    state = game.state(request["facts"], engine="rules")
    left = request["clock"] - (time.monotonic() - started)
    return str(player.select(state, max(0.0, left)))


if __name__ == "__main__":
    serve(_PlayerHost().handle, lambda error: RequestError(f"{type(error).__name__}: {error}"))
