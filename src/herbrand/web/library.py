"""The games there are: bundled ones, those of folders, and texts that people give."""

from __future__ import annotations

import hashlib
import re
import threading
from collections import OrderedDict
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import TYPE_CHECKING, Any, Final

from herbrand import games

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

__all__ = ["Library", "LibraryEntry", "NotThere"]

MOST_BYTES: Final = 1_000_000
"""A larger text is not taken."""
MOST_GIVEN: Final = 64
"""So many texts that people gave are kept, the latest."""
MOST_FILES: Final = 2_000


class NotThere(LookupError):
    """No game has this name."""


MOST_SAID: Final = 1500
"""Characters of a comment that are shown."""
_COMMENT: Final = re.compile(r"\s*(;+|%+|//+)\s?")


@dataclass(frozen=True)
class LibraryEntry:
    """One game of the library."""

    key: str
    """Its name in addresses: letters, digits, `.`, `_` and `-`."""
    title: str
    text: str
    notation: str
    shelf: str
    """"bundled", the name of a folder, or "yours"."""
    source: str = ""
    """The file, for hints beside it; empty for a text that was given."""
    description: str = ""
    features: tuple[str, ...] = ()
    roles: tuple[str, ...] = ()


class Library:
    """Finds games by name.  Names from outside are only ever looked up, never made into paths."""

    def __init__(self, folders: Iterable[Path] = ()) -> None:
        self._bundled = {name.lower(): name for name in games.names()}
        self._files: dict[str, tuple[Path, str]] = {}
        for folder in folders:
            self._index(folder)
        self._given: OrderedDict[str, LibraryEntry] = OrderedDict()
        self._learned: dict[str, tuple[str, tuple[str, ...], tuple[str, ...]]] = {}
        """By key: the text of which it is known, roles, features."""
        self._lock = threading.Lock()

    def _index(self, folder: Path) -> None:
        """Note the rulesheets of a folder."""
        for path in sorted(folder.iterdir()):
            if path.suffix in games.ENDINGS and path.is_file() and len(self._files) < MOST_FILES:
                key = "".join(c if c.isalnum() or c in "._-" else "-" for c in path.stem)
                while key.lower() in self._bundled or key.lower() in self._files:
                    key += "-file"
                self._files[key.lower()] = (path, folder.name or str(folder))

    def entries(self) -> list[LibraryEntry]:
        """Return all games, those that people gave first."""
        with self._lock:
            given = list(reversed(self._given.values()))
        names = [*(entry.key for entry in given), *self._files, *self._bundled]
        return [*map(self.find, names)]

    def find(self, key: str) -> LibraryEntry:
        """Return the game of a name; `NotThere` if there is none."""
        folded = key.lower()
        with self._lock:
            found = self._given.get(folded)
        if found is None and folded in self._files:
            found = self._from_file(folded)
        if found is not None:
            text, roles, features = self._learned.get(folded, ("", (), ()))
            return replace(found, roles=roles, features=features) if text == found.text else found
        if folded in self._bundled:
            return _bundled(self._bundled[folded])
        raise NotThere(key)

    def learn(self, entry: LibraryEntry, roles: Iterable[str], features: Iterable[str]) -> None:
        """Remember what a child found out about a game that nobody described."""
        if entry.shelf != "bundled":
            self._learned[entry.key.lower()] = entry.text, tuple(roles), tuple(features)

    def _from_file(self, key: str) -> LibraryEntry:
        from herbrand.syntax.files import decode

        path, shelf = self._files[key]
        try:
            data = path.read_bytes()[:MOST_BYTES]
        except OSError as error:
            raise NotThere(key) from error
        text = decode(data, path.name)[0].text
        return LibraryEntry(key, path.stem, text, _notation(path.suffix), shelf, str(path), _said(text))

    def give(self, text: str, notation: str, title: str) -> LibraryEntry:
        """Keep a text under a name that follows from it."""
        key = "own-" + hashlib.sha256(f"{notation}\\n{title}\\n{text}".encode()).hexdigest()[:12]
        entry = LibraryEntry(key, title, text, notation, "yours")
        with self._lock:
            self._given[key] = entry
            self._given.move_to_end(key)
            while len(self._given) > MOST_GIVEN:
                self._given.popitem(last=False)
        return entry


def _said(text: str) -> str:
    """Return the sentences of the comment that a rulesheet begins with; not its title, legend and author."""
    lines = []
    for line in text.splitlines():
        if line.strip() and not _COMMENT.match(line):
            break
        lines.append(_COMMENT.sub("", line, count=1).strip())
    paragraphs = [" ".join(part.split("\n")) for part in "\n".join(lines).split("\n\n")]
    before = takewhile(lambda part: not part.startswith("Author"), paragraphs)
    return " ".join(part for part in before if part[:1].isupper() and part.endswith("."))[:MOST_SAID]


def _bundled(name: str) -> LibraryEntry:
    path = games.path(name)
    info: dict[str, Any] = games.info(name)
    return LibraryEntry(
        name,
        str(info.get("title", name)) + (" (GGDL)" if path.suffix == ".ggd" and "." in name else ""),
        games.text(name),
        _notation(path.suffix),
        "bundled",
        str(path),
        str(info.get("description", "")),
        tuple(info.get("features", ())),
        tuple(info.get("roles", ())),
    )


def _notation(ending: str) -> str:
    return {".hrf": "infix", ".pl": "prolog", ".ggd": "ggdl"}.get(ending, "prefix")
