"""A player in a subprocess: a crash, a hang or a memory leak there costs a move, not the match.

When the subprocess misses the clock or has died, a random legal move is played and recorded in `incidents`;
the subprocess is restarted for the next move.
"""

from __future__ import annotations

import base64
import pickle
import sys
import threading
import time
from typing import TYPE_CHECKING, Any

from herbrand.errors import HerbrandError
from herbrand.play.interface import Player
from herbrand.runtime.json_process import JsonProcess

if TYPE_CHECKING:
    from herbrand.analyse.knowledge.histories import History
    from herbrand.game import Game
    from herbrand.machine.moves import Move
    from herbrand.machine.state import State

__all__ = ["ProcessPlayer"]

_ROUND_TRIP = 0.03
"""Seconds subtracted from a clock for communication with the subprocess."""
_GRACE = 0.02
"""Seconds after the end of a clock at which a request times out."""
_STARTUP_TIMEOUT = 30.0
"""Seconds that a new subprocess may take for its imports."""


class ProcessPlayer(Player):
    """Runs another player, by its registered name `player`, in a subprocess.

    `megabytes` bounds the memory of the subprocess where the system supports that; None for no bound.  With
    `ponder` it thinks while others do, if the player can.
    """

    def __init__(
        self, player: str, seed: int | None = None, *, megabytes: int | None = None, ponder: bool = False
    ) -> None:
        super().__init__(seed)
        self.player = player
        self.megabytes = megabytes
        self.ponder = ponder
        self.incidents: list[str] = []
        """One line for each failed start and each move that was replaced by a random one."""
        self._seed = seed
        self._history: History = ()
        self._child = self._new_child()
        self._is_started = False
        self._start_thread: threading.Thread | None = None

    def _new_child(self) -> JsonProcess:
        return JsonProcess(f"the player `{self.player}`", [sys.executable, "-m", "herbrand.play.hosted"])

    def prepare(self, deadline: float) -> None:
        """Start the subprocess and its player, which may keep preparing after the clock has run out."""
        self.incidents = []
        self._history = ()
        self._restart(deadline - time.monotonic())
        self._wait_for_start(deadline)

    @property
    def _is_starting(self) -> bool:
        return self._start_thread is not None and self._start_thread.is_alive()

    def _wait_for_start(self, deadline: float) -> None:
        thread = self._start_thread
        while thread is not None and thread.is_alive() and self.has_time(deadline):
            thread.join(max(0.0, min(0.02, deadline - time.monotonic())))

    def _restart(self, seconds: float) -> None:
        """Start the subprocess in the background and give its player about `seconds` to prepare."""
        self._is_started = False
        if self._is_starting:  # its requests are about another match
            self._child.close()
            self._child = self._new_child()
        settings = {
            "player": self.player, "seed": self._seed, "role": self.role, "megabytes": self.megabytes,
            "ponder": self.ponder,
        }  # fmt: skip
        arguments = (self._child, self.game, settings, max(0.0, seconds))
        self._start_thread = threading.Thread(target=self._start_child, args=arguments, daemon=True)
        self._start_thread.start()

    def _start_child(self, child: JsonProcess, game: Game, settings: dict[str, Any], seconds: float) -> None:
        settings["game"] = base64.b64encode(pickle.dumps(game)).decode()
        started = time.monotonic()

        def is_over() -> bool:
            return self.stopped or child is not self._child

        try:
            child.request({"begin": settings}, _STARTUP_TIMEOUT)
            if not is_over():
                left = max(0.0, seconds - (time.monotonic() - started))
                child.request({"start": 0.9 * left}, left + _STARTUP_TIMEOUT)
        except (HerbrandError, OSError, ValueError) as error:
            if not is_over():
                self.incidents.append(f"the player process did not start: {error}")
            return
        if is_over():
            child.close()
        else:
            self._is_started = True

    def receive_history(self, history: History) -> None:
        """Keep the history for the next request."""
        self._history = history

    def select(self, state: State, play_clock: float) -> Move:
        """Return the move of the subprocess, or a random legal move when it fails."""
        deadline = self.deadline_after(play_clock)
        moves = self.options(state)
        if len(moves) == 1:
            return moves[0]
        if play_clock <= _ROUND_TRIP or self.stopped:
            return self.chance.choice(moves)
        if not self._is_ready(deadline - _ROUND_TRIP):
            return self._substitute_move(moves, "the player process is not ready")
        try:
            left = deadline - time.monotonic()
            request = {
                "facts": sorted(state.facts),
                "history": [[step.move, sorted(step.percepts)] for step in self._history],
                "clock": max(0.0, left - _ROUND_TRIP),
            }
            text = self._child.request({"select": request}, max(0.0, left) + _GRACE)
        except (HerbrandError, OSError, ValueError, KeyError, TypeError) as error:
            return self.chance.choice(moves) if self.stopped else self._substitute_move(moves, str(error))
        selected = next((move for move in moves if str(move) == text), None)
        return self._substitute_move(moves, f"`{text}` is not legal") if selected is None else selected

    def _is_ready(self, deadline: float) -> bool:
        """Whether the subprocess is ready before the deadline; restarts one that has died."""
        if not self._is_starting and not (self._is_started and self._child.is_running):
            self._restart(0.0)
        self._wait_for_start(deadline)
        return self._is_started and self._child.is_running

    def _substitute_move(self, moves: list[Move], reason: str) -> Move:
        move = self.chance.choice(moves)
        self.incidents.append(f"{reason}; played `{move}` at random")
        return move

    def stop(self) -> None:
        """End the match and the subprocess."""
        super().stop()
        self._child.close()
