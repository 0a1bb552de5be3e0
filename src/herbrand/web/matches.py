"""Matches, which are stored in the database of records, and the pool of subprocesses for actions on texts."""

from __future__ import annotations

import json
import secrets
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from herbrand import __version__
from herbrand.match.records import MatchRecord, RecordError, Store
from herbrand.match.records.record import new_token
from herbrand.runtime.json_process import RequestError
from herbrand.web.child import MEGABYTES, Busy, Child, ChildLost, Turnstile
from herbrand.web.table import FRIEND, PERSON, PREPARATION

if TYPE_CHECKING:
    from pathlib import Path

    from herbrand.web.library import LibraryEntry

__all__ = ["ChildPool", "Matches", "NoMatch", "WebMatch"]

MAX_OPEN: Final = 8
"""Matches with a subprocess; beyond, that of the least recently used one ends until the match goes on."""
OPEN_SECONDS: Final = 40.0
"""Time limit for reading a game and analysing how to draw it."""
MAX_OPENING: Final = 2
"""Matches that are opened at once; a few more wait, further ones are `Busy`."""
STEP_SECONDS: Final = 70.0
"""Time limit for one step, beyond the clocks of players: the first one waits until they have prepared."""
CHANGES: Final = ("move", "advance", "undo", "resign")
"""Actions that change the record of the match."""


class NoMatch(LookupError):
    """There is no match with this key."""


class WebMatch:
    """One match with its subprocess and settings."""

    def __init__(self, record: MatchRecord, database: Path, child: Child, number: int) -> None:
        self.key = record.id
        self.settings: dict[str, Any] = record.settings
        self.game = record.game
        self.rules = record.rules
        self._database = database
        self._child = child
        self._number = number
        self._steps = len(record.moves)
        self._is_running = record.status == "running"
        self._changing = threading.Lock()

    @property
    def title(self) -> str:
        """The name of the game for people."""
        return str(self.settings["title"])

    @property
    def used(self) -> float:
        """Time of the last request, on the monotonic clock."""
        return self._child.used

    @property
    def is_alive(self) -> bool:
        """Whether the subprocess is running."""
        return self._child.is_alive

    def friend_of(self, secret: str) -> str | None:
        """Return the role that the link with a secret gives to a friend."""
        role = self.settings.get("friends", {}).get(secret)
        return None if role is None else str(role)

    def ask(self, do: str, **arguments: Any) -> Any:
        """Send a request to the subprocess; raises what `Child.ask` raises."""
        clock = float(self.settings.get("clock") or 10.0)
        seconds = STEP_SECONDS + clock * 8
        if do not in CHANGES:
            return self._child.ask(do, seconds=seconds, **arguments)
        with self._changing:
            change = self._child.ask(do, seconds=seconds, **arguments)
            try:
                self._record(change)
            except BaseException:
                self.close()  # it will resume from its record
                raise
        return change

    def _record(self, change: dict[str, Any]) -> None:
        """Write the changes to the database."""
        steps, moves, goals = change["steps"], change["moves"], change["goals"]
        is_running = goals is None and not change["resigned"]
        if steps == self._steps and is_running == self._is_running:
            return
        now = time.time()
        with Store(self._database, check=False) as store, store.writing():
            if steps < self._steps or (is_running and not self._is_running):
                store.take_back(self._number, steps)
            elif steps - self._steps != len(moves):
                raise RecordError(f"match `{self.key}` went on elsewhere")
            for i, joint in enumerate(moves if steps > self._steps else ()):
                seen = {int(k): tuple(v) for k, v in change["percepts"][i].items() if v}
                store.add_step(self._number, self._steps + i + 1, now, tuple(joint), seen)
            if goals is not None:
                store.end(self._number, "completed", "terminal", now, dict(enumerate(goals)))
            elif change["resigned"]:
                store.end(self._number, "cut", f"resigned {change['resigned']}", now, None)
        self._steps, self._is_running = steps, is_running

    def close(self) -> None:
        """End the subprocess."""
        self._child.close()


class Matches:
    """The matches of a database, some of which have a subprocess."""

    def __init__(self, database: Path) -> None:
        self._database = database
        self._open: dict[str, WebMatch] = {}
        self._versions: dict[str, int] = {}
        """How often the view of a match has changed since the server was started."""
        self._boot = secrets.token_urlsafe(6)
        self._lock = threading.Lock()
        self._opening = Turnstile(MAX_OPENING)
        self._spare: Child | None = None
        """A subprocess that has started already, so that the next match begins sooner."""

    def begin(self, entry: LibraryEntry, settings: dict[str, Any]) -> WebMatch:
        """Start a match.

        `settings` are `seats`, by role, `clock` in seconds or None, and `parameters`.  Raises what
        `Child.ask` raises, and `RecordError`.
        """
        rules = entry.rules
        with self._opening.pass_through():
            child = self._child()
            opened = self._ask_to_open(child, **rules, **settings)
            word = "".join(c for c in entry.key if c.isascii() and (c.isalnum() or c in "-_"))[:40] or "game"
            friends = [role for role, seat in settings["seats"].items() if seat == FRIEND]
            people = {PERSON: "person", FRIEND: "person elsewhere"}
            seats = {role: settings["seats"].get(role, "random") for role in opened["players"]}
            record = MatchRecord(
                f"{word}.{secrets.token_urlsafe(6)}",
                new_token(),
                rules["name"],
                opened["rules"],
                tuple(opened["roles"]),
                {role: people.get(seat, seat) for role, seat in seats.items()},
                time.time(),
                None,
                "running",
                "running",
                round(PREPARATION),
                round(settings.get("clock") or 0),
                None,
                {
                    **settings,
                    "key": entry.key,
                    "title": entry.title,
                    "friends": {secrets.token_urlsafe(18): role for role in friends},
                },
                software=f"herbrand {__version__}",
                origin="web",
            )
            try:
                with Store(self._database, check=False) as store:
                    number = store.begin(record)
            except BaseException:
                child.close()
                raise
            return self._add(WebMatch(record, self._database, child, number))

    def find(self, key: str) -> WebMatch:
        """Return a match, resumed if needed; raise `NoMatch` if there is none, else as `begin`."""
        match = self._running(key)
        if match is not None:
            return match
        with self._opening.pass_through():
            match = self._running(key)
            if match is not None:
                return match
            record, number = self._load(key)
            word, _, role = record.reason.partition(" ")
            child = self._child()
            self._ask_to_open(
                child,
                text=record.rules,
                notation="prefix",
                name=record.game,
                seats=record.settings["seats"],
                clock=record.settings.get("clock"),
                moves=[list(joint) for joint in record.moves],
                resigned=role if word == "resigned" else "",
                solution=record.settings.get("solution"),
            )
            return self._add(WebMatch(record, self._database, child, number))

    def find_friend(self, secret: str) -> tuple[WebMatch, str]:
        """Return the match and role of a friend with this secret; raise `NoMatch` if there is none."""
        with self._lock:
            running = list(self._open.values())
        for match in running:
            role = match.friend_of(secret)
            if role is not None:
                return match, role
        with Store(self._database, write=False, check=False) as store:
            rows = store.query(
                "SELECT id, settings FROM match WHERE origin = 'web' AND instr(settings, ?)", (secret,)
            )
        for key, settings in rows:
            role = json.loads(settings).get("friends", {}).get(secret)
            if role is not None:
                return self.find(key), role
        raise NoMatch(secret)

    def version(self, key: str) -> str:
        """Return a text that changes whenever the view of a match changes."""
        with self._lock:
            return f"{self._boot}.{self._versions.get(key, 0)}"

    def change(self, match: WebMatch, do: str, **arguments: Any) -> Any:
        """Perform an action of a match that may change its view."""
        answer = match.ask(do, **arguments)
        with self._lock:
            self._versions[match.key] = self._versions.get(match.key, 0) + 1
        return answer

    def _running(self, key: str) -> WebMatch | None:
        with self._lock:
            match = self._open.get(key)
            if match is not None and not match.is_alive:
                del self._open[key]
                match = None
            return match

    def _load(self, key: str) -> tuple[MatchRecord, int]:
        try:
            with Store(self._database, write=False, check=False) as store:
                record = store.load(key)
                number = store.number(key)
        except RecordError as error:
            raise NoMatch(key) from error
        if record.origin != "web" or "seats" not in record.settings:
            raise NoMatch(key)
        return record, number

    def warm_up(self) -> None:
        """Start a subprocess for the next match, unless there is one; returns at once."""
        with self._lock:
            if self._spare is not None and self._spare.is_alive:
                return
            spare = self._spare = Child()

        def import_modules() -> None:
            with suppress(ChildLost, Busy):
                spare.ask("warm_up")

        threading.Thread(target=import_modules, daemon=True).start()

    def _child(self) -> Child:
        """Return a subprocess, and start the one after it."""
        with self._lock:
            child, self._spare = self._spare, None
        self.warm_up()
        return child if child is not None and child.is_alive else Child()

    def _ask_to_open(self, child: Child, **arguments: Any) -> Any:
        try:
            return child.ask("open", seconds=OPEN_SECONDS, **arguments)
        except (RequestError, ChildLost):
            child.close()
            raise

    def _add(self, match: WebMatch) -> WebMatch:
        with self._lock:
            while len(self._open) >= MAX_OPEN:
                oldest = min(self._open.values(), key=lambda running: running.used)
                del self._open[oldest.key]
                oldest.close()
            self._open[match.key] = match
        return match

    def close(self) -> None:
        """End all subprocesses."""
        with self._lock:
            for match in self._open.values():
                match.close()
            self._open.clear()
            if self._spare is not None:
                self._spare.close()


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
                child = self._children[queue] = Child(megabytes=self._megabytes, worker=self._worker)
        return child.ask(do, seconds=seconds, **arguments)

    def close(self) -> None:
        """End the subprocesses."""
        with self._lock:
            for child in self._children.values():
                child.close()
            self._children.clear()
