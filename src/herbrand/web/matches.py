"""The matches that are played, and the children that look at texts."""

from __future__ import annotations

import secrets
import threading
from typing import TYPE_CHECKING, Any, Final

from herbrand.runtime.json_process import RequestError
from herbrand.web.child import Child, ChildLost

if TYPE_CHECKING:
    from herbrand.web.library import LibraryEntry

__all__ = ["Desks", "Matches", "NoMatch", "WebMatch"]

MOST_MATCHES: Final = 8
"""The match that was not touched for longest is ended when there would be more."""
OPENING: Final = 40.0
"""Seconds to read a game and find out how to draw it."""
THINKING: Final = 30.0
"""Seconds beyond the clock for one step."""


class NoMatch(LookupError):
    """No match has this name, or it was ended."""


class WebMatch:
    """One match: its child, and what it was begun with."""

    def __init__(self, entry: LibraryEntry, settings: dict[str, Any]) -> None:
        self.key = secrets.token_urlsafe(9)
        self.entry = entry
        self.settings = settings
        self._child = Child()
        try:
            self._child.ask(
                "open",
                seconds=OPENING,
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
        """When it was touched last."""
        return self._child.used

    def ask(self, do: str, **arguments: Any) -> Any:
        """Ask the child; `RequestError`, `ChildLost` as there."""
        clock = float(self.settings.get("clock", 1.0))
        return self._child.ask(do, seconds=THINKING + clock * 8, **arguments)

    def close(self) -> None:
        """End it."""
        self._child.close()


class Matches:
    """All matches, by their names."""

    def __init__(self) -> None:
        self._matches: dict[str, WebMatch] = {}
        self._lock = threading.Lock()

    def begin(self, entry: LibraryEntry, settings: dict[str, Any]) -> WebMatch:
        """Begin a match; raises what `Child.ask` raises."""
        match = WebMatch(entry, settings)
        with self._lock:
            self._matches[match.key] = match
            while len(self._matches) > MOST_MATCHES:
                oldest = min(self._matches.values(), key=lambda one: one.used)
                del self._matches[oldest.key]
                oldest.close()
        return match

    def find(self, key: str) -> WebMatch:
        """Return a match; `NoMatch` if there is none of that name."""
        with self._lock:
            if key not in self._matches:
                raise NoMatch(key)
            return self._matches[key]

    def close(self) -> None:
        """End all."""
        with self._lock:
            for match in self._matches.values():
                match.close()
            self._matches.clear()


class Desks:
    """Children that look at texts: one for what has to be quick, others for what may take long."""

    def __init__(self) -> None:
        self._children: dict[str, Child] = {}
        self._lock = threading.Lock()

    def ask(self, do: str, *, place: str = "quick", seconds: float = 25.0, **arguments: Any) -> Any:
        """Ask the child of a name; one that was lost is replaced at the next question."""
        with self._lock:
            child = self._children.get(place)
            if child is None or not child.alive:
                child = self._children[place] = Child()
        return child.ask(do, seconds=seconds, **arguments)

    def close(self) -> None:
        """End the children."""
        with self._lock:
            for child in self._children.values():
                child.close()
            self._children.clear()
