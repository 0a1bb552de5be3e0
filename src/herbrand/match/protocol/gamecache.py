"""A bounded cache of the games that managers have sent to a player server.

`CachedGame.game` returns as soon as the rules are read, checked and ready for evaluation, so that every state
has its legal moves.  `CachedGame.improve` builds the network and the closed move reader in a background
thread.
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

__all__ = ["CachedGame", "GameCache", "free_memory", "searches", "tree_megabytes"]

LARGE_RULES_CHARS = 65536
"""Longer rules are loaded one at a time, which bounds memory whatever the number of matches; their memory is
returned to the system afterwards."""
_CACHE_SIZE = 4
"""Games in the cache."""
_BASE_MEGABYTES = 50
"""Python, the libraries, and memory that is freed but not yet returned to the system."""
_LEAST_FREE_MEGABYTES = 50
_SEARCH_MEGABYTES = 12
"""Memory of a search on a network beside its tree."""
_RESERVE_MEGABYTES = 25
"""Memory that the grounder must leave."""
_LEAST_BUILDER_MEGABYTES = 30
"""Memory without which building a network is not begun."""
_ATOM_BYTES = 500
"""Memory of a derived atom including its share of tables and indexes."""
_RULES_SECONDS = 60.0
"""Time limit of one evaluation of the rules, independent of the clocks of a match."""
_READER_SECONDS = 5.0


def tree_megabytes(memory: int) -> float:
    """Return the megabytes for the search trees of a process that may take `memory` megabytes."""
    return 0.4 * _free(memory)


def searches(memory: int, tree: float) -> int:
    """Return how many players may search networks, with trees of `tree` megabytes, in `memory` megabytes."""
    return max(1, int(_free(memory) / (_SEARCH_MEGABYTES + tree)))


def _free(memory: int) -> int:
    return max(_LEAST_FREE_MEGABYTES, memory - _BASE_MEGABYTES)


def free_memory() -> None:
    """Collect garbage and return free memory to the system; takes 0.1 to 0.2 s."""
    gc.collect()
    release_memory()


class CachedGame:
    """A game that is loaded once, in the first thread that needs it, while other threads block."""

    def __init__(self, rules: str, cache: GameCache, *, network: bool) -> None:
        self.rules = rules
        self.network = network
        """Whether a network and a reader may be built; if not, the rules are evaluated throughout."""
        self.improved = threading.Event()
        """Set when the network and the reader are built, or building them has failed."""
        self.reader: MoveReader | None = None
        """None until it is built, and for games whose moves cannot be listed."""
        self._cache = cache
        self._lock = threading.RLock()
        self._game: Game | None = None
        self._improving = False

    def game(self, deadline: float) -> Game:
        """Return the game, loaded before a deadline on the monotonic clock; `GameError` if not playable."""
        with self._lock:
            if self._game is None:
                try:
                    is_large = len(self.rules) >= LARGE_RULES_CHARS
                    self._game = self._load_exclusively(deadline) if is_large else self._load(deadline)
                finally:
                    release_memory()
            return self._game

    def improve(self) -> None:
        """Start building the network and the move reader in a background thread."""
        with self._lock:
            if not self.network:
                self.improved.set()
            elif self._game is not None and not self._improving:
                self._improving = True
                threading.Thread(target=self._improve, args=(self._game,), daemon=True).start()

    def _improve(self, game: Game) -> None:
        with self._cache.builder_lock:  # building takes much more memory than the result
            left = self._cache.memory - int(resident_megabytes()) - _RESERVE_MEGABYTES
            try:
                if left < _LEAST_BUILDER_MEGABYTES:
                    game.forgo_network("memory")
                    return
                game.limits = replace(game.limits, megabytes=min(left, game.limits.megabytes))
                if game.engine == "network":
                    game.initial_state("network")
                self.reader = reader_within(game, _READER_SECONDS)
            except (HerbrandError, MemoryError):  # fall back on evaluating rules and comparing move texts
                pass
            finally:
                release_memory()
                self.improved.set()

    def _load(self, deadline: float) -> Game:
        limits = self._cache.limits
        seconds = min(limits.seconds, max(1.0, deadline - time.monotonic()))
        tree = read(self.rules, "prefix", "<rules>")
        game = Game(tree, name="rules", limits=replace(limits, seconds=seconds))
        game.require_playable()
        if not self.network:
            game.forgo_network("memory")
        game.initial_state("rules")
        return game

    def _load_exclusively(self, deadline: float) -> Game:
        """Load a large game while no other large game is being loaded."""
        if not self._cache.large_lock.acquire(timeout=max(1.0, deadline - time.monotonic())):
            raise BudgetExceeded("the start clock", "other large rulesheets were being read")
        try:
            return self._load(deadline)
        except HerbrandError as error:
            failure = error.with_traceback(None)  # its frames would keep the half-built game alive
            failure.__context__ = failure.__cause__ = None
        finally:
            self._cache.large_lock.release()
        raise failure


class GameCache:
    """The games of the most recent matches, since managers often play the same game many times.

    `memory` is the target for the whole process with the grounder that it starts, in megabytes.
    """

    def __init__(self, *, memory: int) -> None:
        keep_large_blocks_apart()
        free = _free(memory)
        self.memory = memory
        self.limits = Limits(
            seconds=_RULES_SECONDS, atoms=(free << 20) // _ATOM_BYTES, megabytes=int(0.8 * free)
        )
        self.large_lock = threading.Lock()
        """Held while a large game is loaded, ..."""
        self.builder_lock = threading.Lock()
        """... and while a network is built."""
        self._full = memory - free // 2
        self._lock = threading.Lock()
        self._games: dict[tuple[str, bool], CachedGame] = {}
        """By rules and whether they may become a network, the least recently used first."""

    def is_full(self) -> bool:
        """Whether most of the memory is in use."""
        return resident_megabytes() > self._full

    def get(self, rules: str, *, network: bool = True) -> CachedGame:
        """Return the game with these rules, new or cached; without `network`, one that never builds one."""
        key = rules, network
        with self._lock:
            game = self._games.pop(key, None)
            if game is None:
                if self.is_full():
                    self._games.clear()
                    free_memory()
                game = CachedGame(rules, self, network=network)
            if len(rules) < LARGE_RULES_CHARS:
                self._games[key] = game
            while len(self._games) > _CACHE_SIZE:
                del self._games[next(iter(self._games))]
            return game
