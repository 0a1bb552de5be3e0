"""A player in a process of its own: what crashes, hangs or eats memory there costs a move, not the match.

Whenever it does not answer in time, or has died, a legal move is drawn instead and `incidents` has one
more line; the process is started again for the next move.
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

_HURRY = 0.03
"""Seconds taken off a clock for the way to the process and back."""
_GRACE = 0.02
"""Seconds after a clock at which a process is given up."""
_BEGIN = 30.0
"""Seconds that a new process may take to import what it needs."""


class ProcessPlayer(Player):
    """Lets another player, named `player`, choose in a process of its own.

    `megabytes` bounds the memory of the process where the system can do that; None for no bound.
    """

    def __init__(self, player: str, seed: int | None = None, *, megabytes: int | None = None) -> None:
        super().__init__(seed)
        self.player = player
        self.megabytes = megabytes
        self.incidents: list[str] = []
        """What went wrong, one line for each move that had to be replaced."""
        self._seed = seed
        self._history: History = ()
        self._child = self._new_child()
        self._began = False
        self._starter: threading.Thread | None = None

    def _new_child(self) -> JsonProcess:
        return JsonProcess(f"the player `{self.player}`", [sys.executable, "-m", "herbrand.play.hosted"])

    def prepare(self, deadline: float) -> None:
        """Start the process and the player in it; it may go on getting ready when the clock has run out."""
        self.incidents = []
        self._history = ()
        self._restart(deadline - time.monotonic())
        while self._starter is not None and self._starter.is_alive() and self.may_go_on(deadline):
            self._starter.join(0.02)

    def _restart(self, seconds: float) -> None:
        """Start the process in the background; the player in it gets about so many seconds to prepare."""
        self._began = False
        if self._starter is not None and self._starter.is_alive():  # it waits for answers about another match
            self._child.close()
            self._child = self._new_child()
        setting = {
            "player": self.player, "seed": self._seed, "role": self.role, "megabytes": self.megabytes,
        }  # fmt: skip
        arguments = (self._child, self.game, setting, max(0.0, seconds))
        self._starter = threading.Thread(target=self._begin, args=arguments, daemon=True)
        self._starter.start()

    def _begin(self, child: JsonProcess, game: Game, setting: dict[str, Any], seconds: float) -> None:
        setting["game"] = base64.b64encode(pickle.dumps(game)).decode()
        started = time.monotonic()

        def is_over() -> bool:
            return self.stopped or child is not self._child

        try:
            child.request({"begin": setting}, _BEGIN)
            if not is_over():
                left = max(0.0, seconds - (time.monotonic() - started))
                child.request({"start": 0.9 * left}, left + _BEGIN)
        except (HerbrandError, OSError, ValueError) as error:
            if not is_over():
                self.incidents.append(f"it did not start: {error}")
            return
        if is_over():
            child.close()
        else:
            self._began = True

    def told(self, history: History) -> None:
        """Remember what is to be passed on."""
        self._history = history

    def select(self, state: State, play_clock: float) -> Move:
        """Ask the process; draw a legal move when it does not answer."""
        deadline = self.until(play_clock)
        moves = self.options(state)
        if len(moves) == 1:
            return moves[0]
        if play_clock <= _HURRY or self.stopped:
            return self.chance.choice(moves)
        if not self._is_ready(deadline - _HURRY):
            return self._replaced(moves, "the process is not ready")
        try:
            left = deadline - time.monotonic()
            question = {
                "facts": sorted(state.facts),
                "history": [[step.move, sorted(step.percepts)] for step in self._history],
                "clock": max(0.0, left - _HURRY),
            }
            text = self._child.request({"select": question}, max(0.0, left) + _GRACE)
        except (HerbrandError, OSError, ValueError, KeyError, TypeError) as error:
            return self.chance.choice(moves) if self.stopped else self._replaced(moves, str(error))
        found = next((move for move in moves if str(move) == text), None)
        return self._replaced(moves, f"`{text}` is not legal") if found is None else found

    def _is_ready(self, deadline: float) -> bool:
        """Whether the process can be asked before the deadline; one that has died is started again."""
        starting = self._starter is not None and self._starter.is_alive()
        if not starting and not (self._began and self._child.is_running):
            self._restart(0.0)
        while self._starter is not None and self._starter.is_alive() and self.may_go_on(deadline):
            self._starter.join(max(0.0, min(0.02, deadline - time.monotonic())))
        return self._began and self._child.is_running

    def _replaced(self, moves: list[Move], reason: str) -> Move:
        move = self.chance.choice(moves)
        self.incidents.append(f"{reason}; `{move}` was drawn instead")
        return move

    def stop(self) -> None:
        """End the match and the process."""
        super().stop()
        self._child.close()
