"""Digests that show whether the rows of a match, tournament or purged record are those that were written.

The digest of a match (or another owner) is the sum of the SHA-256 values of its rows modulo 2^256.  A sum can
be updated row by row in the transaction that changes the rows, and does not depend on their order.  It
detects damage by disks and programs; against people who can write to the file, use `signing`.
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence

__all__ = ["OWNERS", "compute", "row_value", "store_all", "tables", "to_text"]

OWNERS: Final = {
    "match": {
        "match": "number",
        "seat": "match",
        "step": "match",
        "move": "match",
        "message": "match",
        "problem": "match",
        "remark": "match",
        "signature": "match",
        "worker": "match",
    },
    "tournament": {"tournament": "number", "pairing": "tournament"},
    "purged": {"purged": "number"},
}
"""For each kind of owner, its tables and the column of each that has the owner's number."""
_MODULUS: Final = 1 << 256


def row_value(table: str, row: Sequence[Any]) -> int:
    """Return the summand of a row as read from the database, all its columns in order.

    Whole numbers count as integers: SQLite returns a column of real numbers differently before it is stored.
    """
    values = [int(value) if isinstance(value, float) and value.is_integer() else value for value in row]
    text = json.dumps([table, *values], separators=(",", ":"), default=lambda blob: blob.hex())
    return int.from_bytes(hashlib.sha256(text.encode()).digest())


def to_text(value: int) -> str:
    """Return a sum of row values as 64 hexadecimal digits."""
    return f"{value % _MODULUS:064x}"


def tables(connection: sqlite3.Connection) -> set[str]:
    """Return the names of the tables of a database."""
    return {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}


def compute(connection: sqlite3.Connection, kind: str, number: int) -> str:
    """Return the digest of the rows that a match or tournament has now."""
    total = 0
    present = tables(connection)  # an older database has fewer
    for table, column in OWNERS[kind].items():
        if table not in present:
            continue
        rows = connection.execute(f"SELECT * FROM {table} WHERE {column} = ?", (number,))  # noqa: S608
        total += sum(row_value(table, row) for row in rows)
    return to_text(total)


def store_all(connection: sqlite3.Connection) -> None:
    """Store the digests of all matches and tournaments, for a database that has none."""
    for kind in OWNERS:
        for (number,) in connection.execute(f"SELECT number FROM {kind}").fetchall():  # noqa: S608
            connection.execute(
                "INSERT INTO digest VALUES (?, ?, ?)", (kind, number, compute(connection, kind, number))
            )
