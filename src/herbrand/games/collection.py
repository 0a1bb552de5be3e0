"""Collections of games in folders with the layout of game repositories.

    games/NAME/METADATA      JSON: gameName, rulesheet, stylesheet, user_interface, description, numRoles
    games/NAME/NAME.kif      the files that it names, which are version 0
    games/NAME/v1/...        later versions; their METADATA inherits missing keys from the one above
    games/NAME/v0/...        version 0, if the folder of the game has no METADATA itself

A folder of rulesheets without METADATA is a collection, too, as is the folder of a single game or a single
rulesheet.  `Entry.problem` describes the error of an invalid game.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urljoin, urlsplit

from herbrand.errors import HerbrandError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["Collection", "Entry", "fetch", "read_collection"]

_METADATA: Final = "METADATA"
_ENDINGS: Final = (".kif", ".gdl", ".hrf", ".pl", ".ggd")
_VERSION: Final = re.compile(r"v(0|[1-9][0-9]{0,4})")
_MAX_BYTES: Final = 16 * 2**20


@dataclass(frozen=True, slots=True)
class Entry:
    """One version of a game in a collection."""

    name: str
    """Name of its folder, or of its file without suffix."""
    version: int
    """0 for files in the folder itself, N for those in `vN`."""
    title: str
    rulesheet: Path | None
    """The file of the rules; None if there is none (see `problem`)."""
    stylesheet: str | None = None
    """Name of the XSL file that renders states in browsers."""
    description: Path | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    """The content of METADATA."""
    problem: str | None = None

    def as_json(self) -> dict[str, Any]:
        """Return the entry as JSON values."""
        return {
            "name": self.name,
            "version": self.version,
            "title": self.title,
            "rulesheet": self.rulesheet and str(self.rulesheet),
            "stylesheet": self.stylesheet,
            "description": self.description and str(self.description),
            "metadata": dict(self.metadata),
            "problem": self.problem,
        }


class Collection:
    """The games of a folder."""

    def __init__(self, path: Path, entries: tuple[Entry, ...]) -> None:
        self.path = path
        self.entries = entries
        """All versions of all games, by name and version."""

    def __len__(self) -> int:
        return len(self.names())

    def names(self) -> tuple[str, ...]:
        """Return the names of the games in case-insensitive order."""
        return tuple(dict.fromkeys(entry.name for entry in self.entries))

    def versions(self, name: str) -> tuple[Entry, ...]:
        """Return the versions of a game, the oldest first; `HerbrandError` for an unknown game."""
        versions = tuple(entry for entry in self.entries if entry.name.lower() == name.lower())
        if not versions:
            near = get_close_matches(name, self.names(), n=1)
            hint = f" (did you mean `{near[0]}`?)" if near else ""
            raise HerbrandError(f"no game `{name}` in {self.path}{hint}")
        return versions

    def entry(self, name: str) -> Entry:
        """Return the newest version of a game, or version N of `NAME/vN`."""
        name, _, version = name.partition("/")
        versions = self.versions(name)
        if not version:
            return versions[-1]
        for entry in versions:
            if f"v{entry.version}" == version:
                return entry
        available = ", ".join(f"v{entry.version}" for entry in versions)
        raise HerbrandError(f"no version `{version}` of `{name}` in {self.path} (versions: {available})")


def read_collection(path: str | Path) -> Collection:
    """Read the games of a folder, of a repository with a folder `games`, or of a single file.

    Raises `HerbrandError` if there is no game, `OSError` if the path does not exist.
    """
    root = Path(path)
    if not root.exists():
        raise FileNotFoundError(2, "no such file or folder", str(root))
    if root.is_file():
        entries = [Entry(root.stem, 0, root.stem, root)]
    elif (root / _METADATA).is_file():
        entries = list(_game(root))
    else:
        folder = root / "games" if (root / "games").is_dir() else root
        places = {file.parent for file in folder.glob(f"*/{_METADATA}")}
        places |= {file.parent.parent for file in folder.glob(f"*/v[0-9]*/{_METADATA}")}
        games = sorted(places, key=lambda place: place.name.lower())
        entries = [entry for place in games for entry in _game(place)]
        if not entries:
            files = sorted(folder.iterdir(), key=lambda file: file.name.lower())
            entries = [
                Entry(file.stem, 0, file.stem, file)
                for file in files
                if file.suffix in _ENDINGS and file.is_file()
            ]
    if not entries:
        raise HerbrandError(f"no games in {root}: neither folders with METADATA nor rulesheets")
    return Collection(root, tuple(entries))


def _game(folder: Path) -> Iterator[Entry]:
    """Yield the versions of the game in a folder."""
    base: dict[str, Any] = {}
    is_first = (folder / _METADATA).is_file()
    if is_first:
        base, problem = _metadata(folder / _METADATA)
        yield _entry(folder, 0, base, folder, problem)
    later = [
        (int(match[1]), child)
        for child in folder.iterdir()
        if child.is_dir() and (match := _VERSION.fullmatch(child.name)) and not (is_first and match[1] == "0")
    ]
    for number, child in sorted(later):
        own, problem = _metadata(child / _METADATA) if (child / _METADATA).is_file() else ({}, None)
        yield _entry(folder, number, {**base, **own}, child, problem)


def _metadata(file: Path) -> tuple[dict[str, Any], str | None]:
    try:
        value = json.loads(file.read_text(encoding="utf-8-sig", errors="replace"))
    except (ValueError, RecursionError) as error:
        return {}, f"METADATA is not JSON: {error}"
    if not isinstance(value, dict):
        return {}, "METADATA is not a JSON object"
    return value, None


def _entry(folder: Path, version: int, metadata: dict[str, Any], place: Path, problem: str | None) -> Entry:
    def text(key: str) -> str | None:
        value = metadata.get(key)
        return value if isinstance(value, str) and value else None

    named = text("rulesheet")
    rulesheet = _inside(folder, place, named) if named else None
    if rulesheet is None and problem is None:
        problem = f"no rulesheet `{named}`" if named else "METADATA names no rulesheet"
    described = text("description")
    description = _inside(folder, place, described) if described else None
    title = text("gameName") or folder.name
    return Entry(folder.name, version, title, rulesheet, text("stylesheet"), description, metadata, problem)


def _inside(folder: Path, place: Path, name: str) -> Path | None:
    """Return a file of a game; None if it does not exist or is outside the game's folder."""
    for base in dict.fromkeys((place, folder)):
        file = base / name
        if file.is_file() and file.resolve().is_relative_to(folder.resolve()):
            return file
        if name.endswith(_ENDINGS):
            break  # a version never uses the rules of another one
    return None


def fetch(url: str, *, seconds: float = 20.0) -> tuple[str, str]:
    """Return name and text of the rulesheet at the URL of a file or of a game in a repository.

    A URL that ends with `/` must give the JSON metadata of a game, which names the file.  Schemes are http,
    https and file, the size limit is 16 MiB.  Raises `HerbrandError` if there is no rulesheet.
    """
    if url.endswith("/"):
        try:
            value = json.loads(_download(url, seconds))
        except ValueError:
            raise HerbrandError(f"{url}: no JSON metadata of a game") from None
        named = value.get("rulesheet") if isinstance(value, dict) else None
        if not isinstance(named, str) or not named:
            raise HerbrandError(f"{url}: names no rulesheet")
        target = urljoin(url, named)
        if urlsplit(target)[:2] != urlsplit(url)[:2]:
            raise HerbrandError(f"{url}: the rulesheet is on another server ({target})")
        url = target
    text = _download(url, seconds).decode("utf-8", errors="replace")
    return Path(urlsplit(url).path).stem or "game", text


def _download(url: str, seconds: float) -> bytes:
    from urllib.error import URLError
    from urllib.request import urlopen

    if urlsplit(url).scheme not in ("http", "https", "file"):
        raise HerbrandError(f"cannot read `{url}`: not http, https or file")
    try:
        with urlopen(url, timeout=seconds) as answer:  # noqa: S310  # the schemes are checked above
            data: bytes = answer.read(_MAX_BYTES + 1)
    except (URLError, OSError, ValueError) as error:
        raise HerbrandError(f"cannot read `{url}`: {getattr(error, 'reason', error)}") from None
    if len(data) > _MAX_BYTES:
        raise HerbrandError(f"cannot read `{url}`: more than {_MAX_BYTES >> 20} MiB")
    return data
