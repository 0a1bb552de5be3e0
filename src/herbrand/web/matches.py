"""Running matches, and the pool of subprocesses for actions on texts."""

from __future__ import annotations

import secrets
import threading
from typing import TYPE_CHECKING, Any, Final

from herbrand.runtime.json_process import RequestError
from herbrand.web.child import MAX_WAITING, MEGABYTES, Child, ChildLost, Turnstile

if TYPE_CHECKING:
    from herbrand.web.library import LibraryEntry

__all__ = ["ChildPool", "Matches", "NoMatch", "WebMatch"]

MAX_MATCHES: Final = 8
"""Beyond this number the least recently used match is closed."""
OPEN_SECONDS: Final = 40.0
"""Time limit for reading a game and analysing how to draw it."""
MAX_OPENING: Final = 2
"""Matches that are opened at once; a few more wait, further ones are `Busy`."""
WAITING: Final = {"pictures": 64}
"""Requests that may wait in a queue, where it is not `MAX_WAITING`: one page shows many pictures."""
STEP_SECONDS: Final = 30.0
"""Time limit for one step, beyond the clocks of players."""


class NoMatch(LookupError):
    """There is no match with this key, or it was closed."""


class WebMatch:
    """One match with its subprocess and settings."""

    def __init__(self, entry: LibraryEntry, settings: dict[str, Any]) -> None:
        self.key = secrets.token_urlsafe(9)
        self.entry = entry
        self.settings = settings
        self._child = Child()
        try:
            self._child.ask(
                "open",
                seconds=OPEN_SECONDS,
                text=entry.text,
                notation=entry.notation,
                name=entry.title if entry.shelf == "yours" else entry.key,
                source=entry.source,
                **settings,
            )
        except (RequestError, ChildLost):
            self._child.close()
            raise

    @property
    def used(self) -> float:
        """Time of the last request, on the monotonic clock."""
        return self._child.used

    def ask(self, do: str, **arguments: Any) -> Any:
        """Send a request to the subprocess; raises what `Child.ask` raises."""
        clock = float(self.settings.get("clock", 1.0))
        return self._child.ask(do, seconds=STEP_SECONDS + clock * 8, **arguments)

    def close(self) -> None:
        """End the subprocess."""
        self._child.close()


class Matches:
    """All running matches by key."""

    def __init__(self) -> None:
        self._matches: dict[str, WebMatch] = {}
        self._lock = threading.Lock()
        self._opening = Turnstile(MAX_OPENING)

    def begin(self, entry: LibraryEntry, settings: dict[str, Any]) -> WebMatch:
        """Start a match, in place of the least recently used one if there are many.

        Raises what `Child.ask` raises.
        """
        with self._opening.pass_through():
            with self._lock:
                while len(self._matches) >= MAX_MATCHES:
                    oldest = min(self._matches.values(), key=lambda running: running.used)
                    del self._matches[oldest.key]
                    oldest.close()
            match = WebMatch(entry, settings)
            with self._lock:
                self._matches[match.key] = match
        return match

    def find(self, key: str) -> WebMatch:
        """Return the match with a key; raise `NoMatch` if there is none."""
        with self._lock:
            if key not in self._matches:
                raise NoMatch(key)
            return self._matches[key]

    def close(self) -> None:
        """Close all matches."""
        with self._lock:
            for match in self._matches.values():
                match.close()
            self._matches.clear()


class ChildPool:
    """Named subprocesses for actions on texts, so that slow actions do not delay quick ones."""

    def __init__(self, worker: str = "herbrand.web.worker", *, megabytes: int = MEGABYTES) -> None:
        self._worker, self._megabytes = worker, megabytes
        self._children: dict[str, Child] = {}
        self._lock = threading.Lock()

    def ask(self, do: str, *, queue: str = "quick", seconds: float = 25.0, **arguments: Any) -> Any:
        """Send a request to the subprocess named `queue`, which is started if it does not run."""
        with self._lock:
            child = self._children.get(queue)
            if child is None or not child.is_alive:
                waiting = WAITING.get(queue, MAX_WAITING)
                child = self._children[queue] = Child(
                    megabytes=self._megabytes, waiting=waiting, worker=self._worker
                )
        return child.ask(do, seconds=seconds, **arguments)

    def close(self) -> None:
        """End the subprocesses."""
        with self._lock:
            for child in self._children.values():
                child.close()
            self._children.clear()
