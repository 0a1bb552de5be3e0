"""The tables of a database of records, and its migrations.

Each migration runs once, in order and in a transaction; the table `migration` records when.  The
`application_id` of the file distinguishes it from databases of other programs.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

from herbrand.match.records.record import RecordError

if TYPE_CHECKING:
    import sqlite3

__all__ = ["APPLICATION", "MIGRATIONS", "VERSION", "migrate"]

APPLICATION: Final = 0x48524244
"""`HRBD`."""

_MATCHES: Final = """
CREATE TABLE rulesheet (
  hash TEXT PRIMARY KEY,
  text TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE match (
  number INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  token TEXT NOT NULL UNIQUE,
  game TEXT NOT NULL,
  rulesheet TEXT NOT NULL REFERENCES rulesheet (hash),
  started REAL NOT NULL,
  ended REAL,
  status TEXT NOT NULL CHECK (status IN ('running', 'completed', 'cut', 'aborted')),
  reason TEXT NOT NULL,
  start_clock INTEGER NOT NULL,
  play_clock INTEGER NOT NULL,
  seed TEXT,
  settings TEXT NOT NULL,
  scramble TEXT,
  names TEXT,
  opening TEXT NOT NULL,
  software TEXT NOT NULL,
  origin TEXT NOT NULL
);
CREATE INDEX match_status ON match (status);
CREATE TABLE seat (
  match INTEGER NOT NULL REFERENCES match (number) ON DELETE CASCADE,
  place INTEGER NOT NULL,
  role TEXT NOT NULL,
  player TEXT,
  goal INTEGER,
  PRIMARY KEY (match, place)
) WITHOUT ROWID;
CREATE TABLE step (
  match INTEGER NOT NULL REFERENCES match (number) ON DELETE CASCADE,
  step INTEGER NOT NULL,
  time REAL NOT NULL,
  PRIMARY KEY (match, step)
) WITHOUT ROWID;
CREATE TABLE move (
  match INTEGER NOT NULL REFERENCES match (number) ON DELETE CASCADE,
  step INTEGER NOT NULL,
  place INTEGER NOT NULL,
  move TEXT NOT NULL,
  percepts TEXT,
  PRIMARY KEY (match, step, place)
) WITHOUT ROWID;
CREATE TABLE message (
  number INTEGER PRIMARY KEY,
  match INTEGER NOT NULL REFERENCES match (number) ON DELETE CASCADE,
  step INTEGER NOT NULL,
  role TEXT NOT NULL,
  kind TEXT NOT NULL,
  text TEXT,
  sent REAL NOT NULL,
  seconds REAL NOT NULL,
  reply TEXT,
  counts INTEGER NOT NULL,
  problem TEXT,
  notes TEXT NOT NULL
);
CREATE INDEX message_match ON message (match);
CREATE TABLE problem (
  number INTEGER PRIMARY KEY,
  match INTEGER NOT NULL REFERENCES match (number) ON DELETE CASCADE,
  step INTEGER NOT NULL,
  role TEXT NOT NULL,
  kind TEXT NOT NULL,
  reply TEXT,
  note TEXT NOT NULL,
  played TEXT
);
CREATE INDEX problem_match ON problem (match);
CREATE TABLE remark (
  number INTEGER PRIMARY KEY,
  match INTEGER NOT NULL REFERENCES match (number) ON DELETE CASCADE,
  time REAL NOT NULL,
  text TEXT NOT NULL
);
CREATE TABLE signature (
  match INTEGER PRIMARY KEY REFERENCES match (number) ON DELETE CASCADE,
  algorithm TEXT NOT NULL,
  public_key TEXT NOT NULL,
  value TEXT NOT NULL,
  signed REAL NOT NULL
);
"""

_TOURNAMENTS: Final = """
CREATE TABLE tournament (
  number INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  created REAL NOT NULL,
  plan TEXT NOT NULL
);
CREATE TABLE pairing (
  number INTEGER PRIMARY KEY,
  tournament INTEGER NOT NULL REFERENCES tournament (number) ON DELETE CASCADE,
  round INTEGER NOT NULL,
  encounter INTEGER NOT NULL,
  leg INTEGER NOT NULL,
  game TEXT NOT NULL,
  players TEXT NOT NULL,
  seats TEXT NOT NULL,
  seed TEXT NOT NULL,
  id TEXT UNIQUE,
  match INTEGER UNIQUE REFERENCES match (number),
  attempts INTEGER NOT NULL DEFAULT 0,
  failure TEXT,
  UNIQUE (tournament, round, encounter, leg)
);
"""

MIGRATIONS: Final[tuple[tuple[str, str], ...]] = (("matches", _MATCHES), ("tournaments", _TOURNAMENTS))
"""Description and SQL statements of each migration."""
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
