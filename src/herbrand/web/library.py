"""The games of the library: bundled games, rulesheets in folders, and texts from users."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from dataclasses import dataclass, replace
from functools import cache
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Final

from herbrand import games
from herbrand.runtime.files import write_atomically
from herbrand.syntax.files import SUFFIXES
from herbrand.syntax.preface import preface

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

__all__ = ["ENDINGS", "AlreadyThere", "Library", "LibraryEntry", "NotThere"]

MAX_BYTES: Final = 1_000_000
"""Size limit of a text."""
MAX_USER_TEXTS: Final = 64
"""Size of the cache of texts from users."""
ENDINGS: Final = {"prefix": ".kif", "infix": ".hrf", "prolog": ".pl", "ggdl": ".ggd"}
MAX_FILES: Final = 2_000
MAX_DESCRIPTION: Final = 1500
"""Characters of a description taken from a comment."""


class NotThere(LookupError):
    """There is no game with this name."""


class AlreadyThere(Exception):
    """There is another file of this name."""


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
    """The file, beside which drawing hints may lie; empty for texts from users."""
    description: str = ""
    features: tuple[str, ...] = ()
    roles: tuple[str, ...] = ()

    @property
    def file(self) -> str:
        """Its name in commands."""
        return self.key if self.shelf == "bundled" else PurePath(self.source).name or "FILE"

    @property
    def rules(self) -> dict[str, str]:
        """What a subprocess needs to read it."""
        name = self.title if self.shelf == "yours" else self.key
        return {"text": self.text, "notation": self.notation, "name": name, "source": self.source}

    @property
    def searchable(self) -> str:
        """The text that searches look at, in lower case."""
        words = (self.key, self.title, *self.roles, *self.features, self.shelf, self.description)
        return " ".join(words).lower()

    def matches(self, query: str, feature: str) -> bool:
        """Whether the entry has all words of a query, and a feature unless that is empty."""
        has_words = all(word in self.searchable for word in query.lower().split())
        return has_words and (not feature or feature in self.features)


class Library:
    """The games by name.  Names in requests are only looked up, never turned into paths."""

    def __init__(self, folders: Iterable[Path] = (), saved: Path | None = None) -> None:
        """`saved` is the folder into which users save texts; its games come first."""
        self._bundled = {name.lower(): name for name in games.names()}
        self._files: dict[str, tuple[Path, str]] = {}
        self.saved = saved
        if saved is not None and saved.is_dir():
            self._index(saved)
        for folder in folders:
            if saved is None or folder.resolve() != saved.resolve():
                self._index(folder)
        self._user_texts: OrderedDict[str, LibraryEntry] = OrderedDict()
        self._metadata: dict[str, tuple[str, tuple[str, ...], tuple[str, ...]]] = {}
        """By key: text, roles and features."""
        self._read: dict[str, tuple[tuple[int, ...], LibraryEntry]] = {}
        """Files by key: the identity of the file when it was read, and its entry."""
        self._lock = threading.Lock()

    def _index(self, folder: Path) -> None:
        """Add the rulesheets of a folder."""
        for path in sorted(folder.iterdir()):
            is_sheet = path.suffix in games.ENDINGS and path.is_file() and _is_inside(path)
            if is_sheet and len(self._files) < MAX_FILES:
                self._add_file(path)

    def _add_file(self, path: Path) -> str:
        """Add a rulesheet; return its key."""
        existing = next((key for key, (other, _) in self._files.items() if other == path), None)
        if existing is not None:
            return existing
        key = "".join(c if c.isalnum() or c in "._-" else "-" for c in path.stem)
        while key.lower() in self._bundled or key.lower() in self._files:
            key += "-file"
        shelf = "saved" if path.parent == self.saved else path.parent.name or str(path.parent)
        self._files[key.lower()] = (path, shelf)
        return key

    def save(self, text: str, notation: str, title: str, *, opened: str = "", replacing: bool = False) -> str:
        """Write a text into the folder of saved games; return its key.

        Raises `AlreadyThere` if there is a file of this title with another text, unless that is the one that
        was `opened`, given by its key, or `replacing`; `OSError` if it cannot be written.
        """
        from herbrand.syntax.files import detect

        if self.saved is None:
            raise OSError("the server was started without a folder for saved games")
        stem = "".join(c if c.isalnum() or c in "-_ " else "-" for c in title).strip(" -")[:60] or "game"
        path = self.saved / f"{stem}{ENDINGS[detect(text) if notation == 'auto' else notation]}"
        with self._lock:
            self.saved.mkdir(parents=True, exist_ok=True)
            is_own = self._files.get(opened.lower(), (None, ""))[0] == path
            if path.exists() and not (is_own or replacing) and path.read_bytes() != text.encode():
                raise AlreadyThere(path.name)
            if path.is_symlink() or len(self._files) >= MAX_FILES:
                raise OSError(f"`{path.name}` cannot be written")
            write_atomically(path, text)
            return self._add_file(path)

    def entries(self) -> list[LibraryEntry]:
        """Return all games, texts from users first."""
        with self._lock:
            user_keys = list(reversed(self._user_texts))
        return [*map(self.find, [*user_keys, *self._files, *self._bundled])]

    def find(self, key: str) -> LibraryEntry:
        """Return the game with a name; raise `NotThere` if there is none."""
        folded = key.lower()
        with self._lock:
            entry = self._user_texts.get(folded)
        if entry is None and folded in self._files:
            entry = self._from_file(folded)
        if entry is not None:
            text, roles, features = self._metadata.get(folded, ("", (), ()))
            return replace(entry, roles=roles, features=features) if text == entry.text else entry
        if folded in self._bundled:
            return _bundled(self._bundled[folded])
        raise NotThere(key)

    def add_metadata(self, entry: LibraryEntry, roles: Iterable[str], features: Iterable[str]) -> None:
        """Store roles and features of a game that is not bundled."""
        if entry.shelf != "bundled":
            self._metadata[entry.key.lower()] = entry.text, tuple(roles), tuple(features)

    def _from_file(self, key: str) -> LibraryEntry:
        from herbrand.syntax.files import decode

        path, shelf = self._files[key]
        try:
            status = path.stat()
            identity = status.st_dev, status.st_ino, status.st_mtime_ns, status.st_size
            cached_identity, entry = self._read.get(key, ((), None))
            if entry is not None and cached_identity == identity:
                return entry
            if not _is_inside(path):  # it has become a link since the folder was read
                raise NotThere(key)
            data = path.read_bytes()[:MAX_BYTES]
        except OSError as error:
            raise NotThere(key) from error
        text = decode(data, path.name)[0].text
        entry = LibraryEntry(
            key, path.stem, text, SUFFIXES[path.suffix], shelf, str(path), _description(text)
        )
        self._read[key] = identity, entry
        return entry

    def add(self, text: str, notation: str, title: str) -> LibraryEntry:
        """Add a text from a user under a key derived from its hash."""
        key = "own-" + hashlib.sha256(f"{notation}\\n{title}\\n{text}".encode()).hexdigest()[:12]
        entry = LibraryEntry(key, title, text, notation, "yours")
        with self._lock:
            self._user_texts[key] = entry
            self._user_texts.move_to_end(key)
            while len(self._user_texts) > MAX_USER_TEXTS:
                self._user_texts.popitem(last=False)
        return entry


def _is_inside(path: Path) -> bool:
    """Whether a file belongs to its folder: links must not expose files outside of it."""
    return path.resolve().is_relative_to(path.parent.resolve())


def _description(text: str) -> str:
    """Return the sentences of a rulesheet's initial comment."""
    return " ".join(preface(text))[:MAX_DESCRIPTION]


@cache
def _bundled(name: str) -> LibraryEntry:
    path = games.path(name)
    info: dict[str, Any] = games.info(name)
    return LibraryEntry(
        name,
        str(info.get("title", name)) + (" (GGDL)" if path.suffix == ".ggd" and "." in name else ""),
        games.text(name),
        SUFFIXES[path.suffix],
        "bundled",
        str(path),
        str(info.get("description", "")),
        tuple(info.get("features", ())),
        tuple(info.get("roles", ())),
    )
