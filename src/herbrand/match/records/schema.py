"""The tables of a database of records, and its migrations.

Each migration runs once, in order and in a transaction; the table `migration` records when.  The
`application_id` of the file distinguishes it from databases of other programs.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Final

from herbrand.match.records.digest import store_all
from herbrand.match.records.record import RecordError

if TYPE_CHECKING:
    import sqlite3

__all__ = [
    "APPLICATION",
    "MIGRATIONS",
    "VERSION",
    "WITH_DIGESTS",
    "WITH_TOURNAMENTS",
    "WITH_WORKERS",
    "expected_schema",
    "migrate",
    "stored_schema",
    "stored_version",
]

APPLICATION: Final = 0x48524244
"""`HRBD`."""

MIGRATIONS: Final = tuple(
    (what, Path(__file__).with_name(f"{what}.sql").read_text(encoding="utf-8"))
    for what in ("matches", "tournaments", "digests", "workers")
)
"""Description and SQL statements of each migration; those of the past must not change."""
VERSION: Final = len(MIGRATIONS)
WITH_TOURNAMENTS: Final = 2
"""The first version that has tournaments."""
WITH_DIGESTS: Final = 3
"""The first version whose matches and tournaments have digests."""
WITH_WORKERS: Final = 4
"""The first version that has the workers of matches, and purged records."""


def migrate(connection: sqlite3.Connection) -> None:
    """Migrate a database, or create one in an empty file; `RecordError` for one that is not ours or newer."""
    if stored_version(connection) == VERSION:
        return
    connection.execute("BEGIN EXCLUSIVE")  # another program may be creating the same file
    try:
        version = stored_version(connection)
        if not version:
            connection.execute(f"PRAGMA application_id = {APPLICATION}")
            connection.execute(
                "CREATE TABLE migration"
                " (version INTEGER PRIMARY KEY, what TEXT NOT NULL, applied REAL NOT NULL)"
            )
        for number, (what, statements) in enumerate(MIGRATIONS[version:], start=version + 1):
            for statement in statements.split(";"):
                if statement.strip():
                    connection.execute(statement)
            connection.execute("INSERT INTO migration VALUES (?, ?, ?)", (number, what, time.time()))
        if version < WITH_DIGESTS:
            store_all(connection)
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def stored_version(connection: sqlite3.Connection) -> int:
    """Return the version of a database, 0 for an empty file.

    Raises `RecordError` for the database of another program or a newer herbrand.
    """
    if connection.in_transaction:
        return _read_version(connection)
    connection.execute("BEGIN")  # another program may be creating the database
    try:
        return _read_version(connection)
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def _read_version(connection: sqlite3.Connection) -> int:
    application = connection.execute("PRAGMA application_id").fetchone()[0]
    tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    if application != APPLICATION:
        if tables or application:
            raise RecordError("not a herbrand match database")
        return 0
    rows = connection.execute("SELECT version, what FROM migration ORDER BY version").fetchall()
    version = len(rows)
    if rows and isinstance(rows[-1][0], int) and rows[-1][0] > VERSION:
        raise RecordError(
            f"the database has version {rows[-1][0]}, newer than the supported {VERSION}: update herbrand"
        )
    if not rows or rows != [(number, what) for number, (what, _) in enumerate(MIGRATIONS[:version], start=1)]:
        raise RecordError("damaged: the list of its migrations is wrong")
    return version


def expected_schema(version: int) -> set[tuple[str, str]]:
    """Return name and SQL of each table and index of a version."""
    statements = [
        statement.strip()
        for _, migration in MIGRATIONS[:version]
        for statement in migration.split(";")
        if statement.strip()
    ]
    return {(statement.split()[2], statement) for statement in statements}


def stored_schema(connection: sqlite3.Connection) -> set[tuple[str, str]]:
    """Return name and SQL of each table and index of a database."""
    return set(connection.execute("SELECT name, sql FROM sqlite_master"))
