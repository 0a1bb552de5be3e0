"""The candidates of a search in SQLite, a batch per transaction.

A killed search loses only its unfinished batches, which are drawn again.
"""

from __future__ import annotations

import contextlib
import json
import sqlite3
from typing import TYPE_CHECKING

from herbrand.errors import HerbrandError
from herbrand.evolve.search.candidate import Candidate, SearchSettings

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

__all__ = ["SearchStore"]

_VERSION = 2
_SCHEMA = """
create table if not exists search (version integer not null, settings text not null);
create table if not exists candidates (
    number integer primary key, batch integer not null, name text not null, reason text not null,
    quality real not null, cell text not null, content text not null
);
create index if not exists by_batch on candidates (batch);
"""


class SearchStore:
    """The database of one search."""

    def __init__(self, path: Path | str) -> None:
        self.path = path
        try:
            self._db = sqlite3.connect(path)
            (finding,) = self._db.execute("pragma quick_check(1)").fetchone()
            if finding != "ok":
                raise HerbrandError(f"{path} is damaged: {finding}")
            self._db.executescript(_SCHEMA)
            self._db.execute("pragma journal_mode = wal")
        except sqlite3.Error as error:
            raise HerbrandError(f"{path} is not a search database: {error}") from error

    @contextlib.contextmanager
    def _errors(self, verb: str) -> Iterator[None]:
        """Raise errors of SQLite, and contents that are not those of a search, as `HerbrandError`."""
        try:
            yield
        except (sqlite3.Error, ValueError, TypeError, LookupError) as error:
            raise HerbrandError(f"cannot {verb} {self.path}, a search database: {error}") from error

    def settings(self, settings: SearchSettings) -> SearchSettings:
        """Store the settings of a new search, or check those of an existing one; return them.

        Raises `HerbrandError` if the search has other settings.
        """
        stored = self.begun()
        if stored is None:
            text = json.dumps(settings.as_json())
            with self._errors("write to"), self._db:
                self._db.execute("insert into search values (?, ?)", (_VERSION, text))
            return settings
        if stored != settings:
            new, old = settings.as_json(), stored.as_json()
            differences = ", ".join(f"{n} {old[n]}, not {new[n]}" for n in new if new[n] != old[n])
            raise HerbrandError(f"the search in {self.path} began with {differences}")
        return stored

    def begun(self) -> SearchSettings | None:
        """Return the settings of an existing search, or None."""
        with self._errors("read"):
            row = self._db.execute("select version, settings from search").fetchone()
            if row is None:
                return None
            if row[0] != _VERSION:
                raise HerbrandError(f"{self.path} was written by another version of herbrand")
            return SearchSettings.from_json(json.loads(row[1]))

    def add(self, batch: int, candidates: Sequence[Candidate]) -> None:
        """Store a batch."""
        rows = [
            (c.number, batch, c.name, c.reason, c.quality, " ".join(c.cell), json.dumps(c.as_json()))
            for c in candidates
        ]
        with self._errors("write to"), self._db:
            self._db.executemany("insert into candidates values (?, ?, ?, ?, ?, ?, ?)", rows)

    def batches(self) -> list[list[Candidate]]:
        """Return the candidates of all batches in order."""
        batches: list[list[Candidate]] = []
        with self._errors("read"):
            for batch, content in self._db.execute("select batch, content from candidates order by number"):
                while len(batches) <= batch:
                    batches.append([])
                batches[batch].append(Candidate.from_json(json.loads(content)))
        return batches

    def close(self) -> None:
        """Close the database."""
        self._db.close()
