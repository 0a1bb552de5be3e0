"""The tables of a database of records, and its migrations.

Each migration runs once, in order and in a transaction; the table `migration` records when.  The
`application_id` of the file distinguishes it from databases of other programs.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Final

from herbrand.match.records.record import RecordError

if TYPE_CHECKING:
    import sqlite3

__all__ = ["APPLICATION", "MIGRATIONS", "VERSION", "migrate"]

APPLICATION: Final = 0x48524244
"""`HRBD`."""


MIGRATIONS: Final = tuple(
    (what, Path(__file__).with_name(f"{what}.sql").read_text(encoding="utf-8"))
    for what in ("matches", "tournaments")
)
"""Description and SQL statements of each migration; those of the past must not change."""
VERSION: Final = len(MIGRATIONS)


def migrate(connection: sqlite3.Connection) -> None:
    """Migrate a database to the newest version; raise `RecordError` for another program's or a newer one."""
    application = connection.execute("PRAGMA application_id").fetchone()[0]
    tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    if application != APPLICATION and (tables or application):
        raise RecordError("not a herbrand match database")
    if application == APPLICATION and _version(connection) == VERSION:
        return
    connection.execute("BEGIN EXCLUSIVE")  # another program may be creating the same file
    try:
        version = 0
        if connection.execute("PRAGMA application_id").fetchone()[0] == APPLICATION:
            version = _version(connection)
        else:
            connection.execute(f"PRAGMA application_id = {APPLICATION}")
            connection.execute(
                "CREATE TABLE migration"
                " (version INTEGER PRIMARY KEY, what TEXT NOT NULL, applied REAL NOT NULL)"
            )
        if version > VERSION:
            raise RecordError(
                f"the database has version {version}, newer than the supported {VERSION}: update herbrand"
            )
        for number, (what, statements) in enumerate(MIGRATIONS[version:], start=version + 1):
            for statement in statements.split(";"):
                if statement.strip():
                    connection.execute(statement)
            connection.execute("INSERT INTO migration VALUES (?, ?, ?)", (number, what, time.time()))
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def _version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("SELECT coalesce(max(version), 0) FROM migration").fetchone()[0])
