"""Checks that a database is whole before anything is read from it or written to it.

A file is examined through a connection that cannot write: opening a damaged database for writing lets SQLite
copy a write-ahead log into it, which could be the log of another file.
"""

from __future__ import annotations

import contextlib
import sqlite3
import time
from typing import TYPE_CHECKING, Final

from herbrand.match.records.digest import OWNERS, compute, tables
from herbrand.match.records.record import RecordError, rules_hash
from herbrand.match.records.schema import (
    WITH_DIGESTS,
    WITH_WORKERS,
    expected_schema,
    stored_schema,
    stored_version,
)

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["digest_holds", "file_findings", "log_of", "require_whole"]

_MAGIC: Final = b"SQLite format 3\0"
_HEADER_BYTES: Final = 100
_JOURNAL_TRIES: Final = 10
_JOURNAL_PAUSE: Final = 0.03
"""Seconds between checks of whether a journal has disappeared."""
_MAX_FINDINGS: Final = 5
"""How many of SQLite's findings are reported."""


def require_whole(path: Path, *, seconds: float) -> None:
    """Raise `RecordError` unless a file is a whole database of records, or empty.

    SQLite's `quick_check` reads the file once.  `seconds` is how long to wait for other programs.
    """
    if _is_empty(path):
        return
    log = log_of(path)
    if not log.exists():
        try:  # without a log, a file can be examined without creating anything beside it
            _examine(path, "mode=ro&immutable=1", seconds)
        except (RecordError, sqlite3.Error):
            if not log.exists() and _has_log_format(path):
                raise
        else:
            return
    _examine(path, "mode=ro", seconds)  # another program is creating or writing it, or was killed


def log_of(path: Path) -> Path:
    """Return the path of the write-ahead log of a database."""
    return path.with_name(f"{path.name}-wal")


def _is_empty(path: Path) -> bool:
    """Whether nothing has been written to a file; `RecordError` if it cannot be a database."""
    try:
        with path.open("rb") as file:
            header = file.read(_HEADER_BYTES)
    except OSError as error:
        raise RecordError(f"it cannot be read: {(error.strerror or str(error)).lower()}") from error
    if not header:
        log = log_of(path)
        if log.exists() and log.stat().st_size:
            raise RecordError(f"damaged: the file is empty, but its log `{log.name}` is not")
        return True
    if not header.startswith(_MAGIC):
        raise RecordError("not a herbrand match database")
    return False


def _examine(path: Path, mode: str, seconds: float) -> None:
    journal = path.with_name(f"{path.name}-journal")
    if journal.exists():
        for _ in range(_JOURNAL_TRIES):  # there is one for a moment while a new database gets its log
            if not (journal.exists() and _has_log_format(path)):
                break
            time.sleep(_JOURNAL_PAUSE)
        else:
            raise RecordError(f"damaged: the journal `{journal.name}` does not belong to it")
        mode = "mode=rw"  # a killed program was creating the database: SQLite has to undo that
    uri = f"{path.absolute().as_uri()}?{mode}"
    with contextlib.closing(sqlite3.connect(uri, uri=True, timeout=seconds)) as connection:
        version = stored_version(connection)
        if version and not expected_schema(version) <= stored_schema(connection):
            raise RecordError("damaged: its tables differ from those that herbrand creates")
        findings = _lines(connection, "quick_check")
        if findings:
            raise RecordError(f"damaged: {'; '.join(findings)}")


def file_findings(connection: sqlite3.Connection, version: int) -> list[str]:
    """Return the defects of a database of this version: of its pages, indexes, references and digests."""
    findings = _lines(connection, "integrity_check")
    for table, _, parent, _ in connection.execute("PRAGMA foreign_key_check").fetchmany(_MAX_FINDINGS):
        if parent != "rulesheet":  # a match without rules says so itself
            findings.append(f"a row of table `{table}` refers to a missing row of `{parent}`")
    for claimed, text in connection.execute("SELECT hash, text FROM rulesheet"):
        if not isinstance(text, str) or rules_hash(text) != claimed:
            findings.append(f"the rules with the hash {claimed} are damaged")
    if version < WITH_DIGESTS:
        return findings
    for kind in OWNERS.keys() & tables(connection):
        rows = connection.execute(
            f"SELECT number FROM digest WHERE kind = ? EXCEPT SELECT number FROM {kind}",  # noqa: S608
            (kind,),
        )
        findings += [f"{kind} number {number} is missing" for (number,) in rows.fetchmany(_MAX_FINDINGS)]
    for number, name in connection.execute("SELECT number, name FROM tournament").fetchall():
        if not digest_holds(connection, "tournament", number):
            findings.append(f"tournament `{name}` does not match its digest")
    if version >= WITH_WORKERS:
        for number, match in connection.execute("SELECT number, match FROM purged").fetchall():
            if not digest_holds(connection, "purged", number):
                findings.append(f"the purged record of match `{match}` does not match its digest")
    return findings


def digest_holds(connection: sqlite3.Connection, kind: str, number: int) -> bool:
    """Whether the rows of a match or tournament are those that were written."""
    rows = connection.execute("SELECT value FROM digest WHERE kind = ? AND number = ?", (kind, number))
    return rows.fetchall() == [(compute(connection, kind, number),)]


def _lines(connection: sqlite3.Connection, check: str) -> list[str]:
    """Return what one of SQLite's checks finds."""
    rows = connection.execute(f"PRAGMA {check}({_MAX_FINDINGS})").fetchall()
    lines = [" ".join(str(text).split()).removeprefix("*** in database main *** ") for (text,) in rows]
    return [] if lines == ["ok"] else lines


def _has_log_format(path: Path) -> bool:
    """Whether a database uses a write-ahead log: then it never has a rollback journal."""
    with path.open("rb") as file:
        return file.read(_HEADER_BYTES)[18:20] == b"\x02\x02"
