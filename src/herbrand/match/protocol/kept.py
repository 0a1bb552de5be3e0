"""The games that a player on the network has been sent: made once, kept for further matches, within bounds.

A game is `game` as soon as its rules are read, checked and can be evaluated: then every state has its legal
moves.  What makes playing faster is made by `improve` in the background, where nobody waits for it: the
network of the game, and the closed reader of its moves.
"""

from __future__ import annotations

import gc
import threading
import time
from dataclasses import replace
from typing import TYPE_CHECKING

from herbrand.errors import BudgetExceeded, HerbrandError
from herbrand.game import Game
from herbrand.match.protocol.view import reader_within
from herbrand.runtime.limits import Limits
from herbrand.runtime.memory import keep_large_blocks_apart, release_memory, resident_megabytes
from herbrand.syntax import read

if TYPE_CHECKING:
    from herbrand.convert.movereader import MoveReader

__all__ = ["MEMORY", "MUCH", "Games", "Kept", "tidy", "tree_megabytes"]

MEMORY = 300
"""Megabytes that a player on the network takes at most, as long as nobody allows more."""
MUCH = 65536
"""Characters from which a message is large: large ones are read one at a time, so that memory is bounded
whatever the number of peers, and what they needed is given back to the system."""
_GAMES = 4
"""How many games are kept."""
_BASE = 110
"""Megabytes that Python and the libraries take, and what is freed but not given back yet."""
_ATOM = 500
"""Bytes that a derived atom takes, tables, indexes and all."""
_SECONDS = 60.0
"""What a question to the rules may take, whatever clocks a manager sets."""
_READER_SECONDS = 5.0


def tree_megabytes(memory: int) -> float:
    """Return how many megabytes a player may remember, when the whole may take `memory`."""
    return 0.4 * _free(memory)


def _free(memory: int) -> int:
    return max(50, memory - _BASE)


def tidy() -> None:
    """Free what nobody uses any more, and give it back to the system, in a tenth of a second or two."""
    gc.collect()
    release_memory()


class Kept:
    """A game that is made once, in the thread that first needs it; others that need it wait."""

    def __init__(self, rules: str, large: threading.Lock, limits: Limits) -> None:
        self.rules = rules
        self.improved = threading.Event()
        """Set when the network and the reader are there, or cannot be made."""
        self.reader: MoveReader | None = None
        """None while it is not there, and where the moves could not be listed."""
        self._large = large
        self._limits = limits
        self._lock = threading.RLock()
        self._game: Game | None = None
        self._improving = False

    def game(self, until: float) -> Game:
        """Return the game, made by a time on the monotonic clock; `GameError` if it cannot be played."""
        with self._lock:
            if self._game is None:
                try:
                    self._game = self._made(until) if len(self.rules) < MUCH else self._made_alone(until)
                finally:
                    release_memory()
            return self._game

    def improve(self) -> None:
        """Begin to make what playing the game is faster with."""
        with self._lock:
            if self._game is not None and not self._improving:
                self._improving = True
                threading.Thread(target=self._improve, args=(self._game,), daemon=True).start()

    def _improve(self, game: Game) -> None:
        try:
            if game.engine == "network":
                game.initial_state("network")
            self.reader = reader_within(game, _READER_SECONDS)
        except (HerbrandError, MemoryError):  # then the rules are evaluated, and moves compared
            pass
        finally:
            release_memory()
            self.improved.set()

    def _made(self, until: float) -> Game:
        seconds = min(self._limits.seconds, max(1.0, until - time.monotonic()))
        tree = read(self.rules, "prefix", "<rules>")
        game = Game(tree, name="rules", limits=replace(self._limits, seconds=seconds))
        game.require_playable()
        game.initial_state("rules")
        return game

    def _made_alone(self, until: float) -> Game:
        """Make a large game, while no other large one is made."""
        if not self._large.acquire(timeout=max(1.0, until - time.monotonic())):
            raise BudgetExceeded("the start clock", "other large rulesheets were being read")
        try:
            return self._made(until)
        except HerbrandError as error:
            failure = error.with_traceback(None)  # whose frames would hold what was made so far
            failure.__context__ = failure.__cause__ = None
        finally:
            self._large.release()
        raise failure


class Games:
    """The games of the last matches, because managers play the same one many times.

    `memory` is how many megabytes the whole process should take.
    """

    def __init__(self, *, memory: int = MEMORY) -> None:
        keep_large_blocks_apart()
        free = _free(memory)
        self._limits = Limits(seconds=_SECONDS, atoms=(free << 20) // _ATOM, megabytes=int(0.8 * free))
        self._full = memory - free // 2
        self._lock = threading.Lock()
        self._large = threading.Lock()
        self._kept: dict[str, Kept] = {}

    def is_full(self) -> bool:
        """Whether most of the memory is taken."""
        return resident_megabytes() > self._full

    def get(self, rules: str) -> Kept:
        """Return the game with these rules, new or kept."""
        with self._lock:
            kept = self._kept.pop(rules, None)
            if kept is None:
                if self.is_full():  # then for what is played alone
                    self._kept.clear()
                    tidy()
                kept = Kept(rules, self._large, self._limits)
            if len(rules) < MUCH:
                self._kept[rules] = kept
            while len(self._kept) > _GAMES:
                del self._kept[next(iter(self._kept))]
            return kept
