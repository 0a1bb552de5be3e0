"""`Store`: a database of match records."""

from __future__ import annotations

import contextlib
import json
import sqlite3
import time
from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self

from herbrand.match.protocol.manager import Problem
from herbrand.match.records.digest import row_value, to_text
from herbrand.match.records.integrity import digest_holds, file_findings, log_of, require_whole
from herbrand.match.records.record import MatchRecord, MessageRecord, RecordError
from herbrand.match.records.schema import WITH_DIGESTS, migrate, stored_version
from herbrand.match.records.shape import require_shape

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

__all__ = ["NO_DIGEST", "Store"]

NO_DIGEST: Final = "it does not match its digest"

BUSY_SECONDS = 30.0
"""Time limit for acquiring the write lock."""
_SIGNATURE: Final = ("algorithm", "public_key", "value")
_SUMMARY: Final = ("id", "game", "status", "reason", "started", "origin", "steps", "problems")
_SEAT: Final = ("role", "player", "goal")
_PLAIN: Final = (
    "id", "token", "game", "started", "ended", "status", "reason", "start_clock", "play_clock", "software",
    "origin",
)  # fmt: skip
"""The columns of a match that have values of a `MatchRecord` as they are."""


class Store:
    """Match records in an SQLite file, or in memory with `:memory:`.

    Several programs may write to one file at the same time (write-ahead log).  Committed transactions survive
    a killed program; a power failure may lose the most recent ones, but leaves the database consistent.  An
    object belongs to one thread.

    Raises `RecordError` for a file that is not such a database or is damaged, before anything is written to
    it.  That reads the whole file; `check=False` omits it for a file that has just been checked.  With
    `write=False` nothing is ever written, not even what a killed program left in the log, and an older
    database is read as it is; otherwise it is upgraded.
    """

    def __init__(
        self, path: str | Path, *, create: bool = True, write: bool = True, check: bool = True
    ) -> None:
        self.path = str(path)
        self._added: Counter[tuple[str, int]] = Counter()
        """The additions of the current transaction to digests, by kind and number of the owner."""
        self._is_writing = False
        """Whether a transaction of `writing` is open."""
        with self._errors("use"):
            if self.path != ":memory:":
                if Path(path).is_symlink() or Path(path).exists():
                    if check:
                        require_whole(Path(path), seconds=BUSY_SECONDS)
                elif not (create and write):
                    raise RecordError(f"there is no database `{path}`")
        with self._errors("open"):
            self.connection = self._connect() if write else self._connect_to_read()
        try:
            with self._errors("use"):
                self.connection.execute("PRAGMA foreign_keys = ON")
                if write:
                    migrate(self.connection)
                    self._begin_log()
                    self.connection.execute("PRAGMA synchronous = NORMAL")
                self.schema_version = stored_version(self.connection)
                """The version of its tables; below `WITH_DIGESTS` there are no digests."""
                if not self.schema_version:
                    raise RecordError("nothing is recorded in it")
        except BaseException:
            self.connection.close()
            raise

    def _begin_log(self) -> None:
        """Use a write-ahead log; SQLite does not wait for a program that is just doing the same."""
        until = time.monotonic() + BUSY_SECONDS
        while True:
            try:
                self.connection.execute("PRAGMA journal_mode = WAL")
            except sqlite3.OperationalError as error:
                if "locked" not in str(error) or time.monotonic() > until:
                    raise
            else:
                return
            time.sleep(0.02)

    def _connect(self) -> sqlite3.Connection:
        return sqlite3.connect(self.path, timeout=BUSY_SECONDS, isolation_level=None)

    def _connect_to_read(self) -> sqlite3.Connection:
        """Return a connection that writes nothing.

        Closing the last connection that may write copies the log into the database, so where there is a log,
        the file is opened read-only; where there is none, that would leave an empty one behind.
        """
        path = Path(self.path).absolute()
        if log_of(path).exists():
            uri = f"{path.as_uri()}?mode=ro"
            return sqlite3.connect(uri, uri=True, timeout=BUSY_SECONDS, isolation_level=None)
        connection = self._connect()
        connection.execute("PRAGMA query_only = ON")
        return connection

    def close(self) -> None:
        """Close the file."""
        self.connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextlib.contextmanager
    def _errors(self, verb: str) -> Iterator[None]:
        """Raise errors of SQLite, and values that it cannot store, as `RecordError` with the path."""
        try:
            yield
        except RecordError as error:
            if f"`{self.path}`" in str(error):
                raise
            raise RecordError(f"cannot {verb} `{self.path}`: {error}") from error
        except (sqlite3.Error, OverflowError, UnicodeError) as error:
            raise RecordError(f"cannot {verb} `{self.path}`: {error}") from error

    @contextlib.contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """Open a transaction, or join the current one.

        All changes to matches and tournaments are made by `insert`, `change` and `delete`, which keep the
        digests.
        """
        if self._is_writing:
            yield self.connection
            return
        with self._errors("write to"):
            try:
                if self.connection.in_transaction:  # one that could not be ended would hold this one up
                    self.connection.execute("ROLLBACK")
                self.connection.execute("BEGIN IMMEDIATE")
                self._is_writing = True
                yield self.connection
                self._update_digests()
                self.connection.execute("COMMIT")
            except BaseException:
                self._roll_back()
                raise
            finally:
                self._is_writing = False
                self._added.clear()

    def _roll_back(self) -> None:
        """End a transaction; if that fails, the next one or closing the file does."""
        if self.connection.in_transaction:
            with contextlib.suppress(sqlite3.Error):
                self.connection.execute("ROLLBACK")

    @contextlib.contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Read one state of the database, whatever other programs write meanwhile."""
        with self._errors("read"):
            if self.connection.in_transaction:
                yield self.connection
                return
            self.connection.execute("BEGIN")
            try:
                yield self.connection
            finally:
                self._roll_back()

    def query(self, sql: str, values: Sequence[Any] = ()) -> list[Any]:
        """Return all rows of a query; `RecordError` if the database cannot be read."""
        with self._errors("read"):
            return self.connection.execute(sql, values).fetchall()

    # -- rows with digests ------------------------------------------------------------------

    def insert(self, kind: str, number: int | None, table: str, /, **values: Any) -> int:
        """Insert a row, given by its columns, of a match, tournament or purged record (`kind`), in `writing`.

        `number` is that of the owner, None for the row of the owner itself, which begins its digest.  Returns
        the number of the row.
        """
        columns, places = ", ".join(values), ", ".join(f":{name}" for name in values)
        cursor = self.connection.execute(
            f"INSERT INTO {table} ({columns}) VALUES ({places}) RETURNING *",  # noqa: S608
            values,
        )
        (row,) = cursor.fetchall()
        assert cursor.lastrowid is not None
        if number is None:
            number = cursor.lastrowid
            self.connection.execute("INSERT INTO digest VALUES (?, ?, ?)", (kind, number, to_text(0)))
        self._added[kind, number] += row_value(table, row)
        return cursor.lastrowid

    def change(
        self, kind: str, number: int, table: str, where: Mapping[str, Any], values: Mapping[str, Any]
    ) -> None:
        """Update the rows with the values `where` of a match or tournament, within `writing`."""
        condition = " AND ".join(f"{column} = ?" for column in where)
        settings = ", ".join(f"{column} = ?" for column in values)
        keys = tuple(where.values())
        before = self.connection.execute(f"SELECT * FROM {table} WHERE {condition}", keys).fetchall()  # noqa: S608
        after = self.connection.execute(
            f"UPDATE {table} SET {settings} WHERE {condition} RETURNING *",  # noqa: S608
            (*values.values(), *keys),
        ).fetchall()
        added = sum(row_value(table, row) for row in after) - sum(row_value(table, row) for row in before)
        self._added[kind, number] += added

    def delete(self, kind: str, number: int, table: str, where: Mapping[str, Any]) -> None:
        """Delete the rows with the values `where` of a match or tournament, within `writing`."""
        condition = " AND ".join(f"{column} = ?" for column in where)
        rows = self.connection.execute(
            f"DELETE FROM {table} WHERE {condition} RETURNING *",  # noqa: S608
            tuple(where.values()),
        ).fetchall()
        self._added[kind, number] -= sum(row_value(table, row) for row in rows)

    def _update_digests(self) -> None:
        for (kind, number), added in self._added.items():
            row = self.connection.execute(
                "SELECT value FROM digest WHERE kind = ? AND number = ?", (kind, number)
            ).fetchone()
            if row is None:
                raise RecordError(f"cannot write to `{self.path}`: {kind} number {number} has no digest")
            self.connection.execute(
                "UPDATE digest SET value = ? WHERE kind = ? AND number = ?",
                (to_text(int(row[0], 16) + added), kind, number),
            )

    def findings(self) -> list[str]:
        """Return the defects of the database as a whole: pages, indexes, references, tournaments.

        Matches are checked one by one with `is_intact`.
        """
        with self.reading() as connection:
            return file_findings(connection, self.schema_version)

    def is_intact(self, kind: str, number: int) -> bool | None:
        """Whether the rows of a match or tournament (`kind`) are those that were written; None if unknown."""
        if self.schema_version < WITH_DIGESTS:
            return None
        with self.reading() as connection:
            return digest_holds(connection, kind, number)

    def load_intact(self, match: str) -> MatchRecord:
        """Return the record of a match; `RecordError` if its rows are not those that were written."""
        with self.reading():
            record = self.load(match)
            if self.is_intact("match", self.number(match)) is False:
                raise RecordError(f"match `{match}` in `{self.path}` is damaged: {NO_DIGEST}")
            return record

    # -- reading ----------------------------------------------------------------------------

    def ids(self, *, status: str | None = None) -> list[str]:
        """Return the match ids in the order in which the matches began."""
        where, values = ("WHERE status = ?", [status]) if status else ("", [])
        return [name for (name,) in self.query(f"SELECT id FROM match {where} ORDER BY number", values)]  # noqa: S608

    def version(self) -> int:
        """Return a number that changes when another program has written to the file."""
        return int(self.query("PRAGMA data_version")[0][0])

    def number(self, match: str) -> int:
        """Return the row number of a match; `RecordError` for an unknown id."""
        rows = self.query("SELECT number FROM match WHERE id = ?", (match,))
        if not rows:
            raise RecordError(f"no match `{match}` in `{self.path}`")
        return int(rows[0][0])

    def summaries(self, *, latest: int = -1) -> list[dict[str, Any]]:
        """Return summaries of the matches in the order in which they began; the `latest` N unless negative.

        Keys: `id`, `game`, `status`, `reason`, `started`, `origin`, `steps`, `problems`, `seats`.
        """
        summaries = []
        with self.reading():
            rows = self.query(
                "SELECT number, id, game, status, reason, started, origin,"
                " (SELECT count(*) FROM step WHERE step.match = match.number),"
                " (SELECT count(*) FROM problem WHERE problem.match = match.number)"
                " FROM match ORDER BY number DESC LIMIT ?",
                (latest,),
            )
            for number, *values in reversed(rows):
                seats = [dict(zip(_SEAT, seat, strict=True)) for seat in self._seats(number)]
                summaries.append({**dict(zip(_SUMMARY, values, strict=True)), "seats": seats})
        return summaries

    def _seats(self, number: int) -> list[tuple[str, str | None, int | None]]:
        """Return the role, player and goal of each seat of a match."""
        statement = "SELECT role, player, goal FROM seat WHERE match = ? ORDER BY place"
        return self.query(statement, (number,))

    def load(self, match: str) -> MatchRecord:
        """Return the record of a match; `RecordError` for an unknown id or damaged data."""
        number = self.number(match)
        try:
            with self.reading():
                record = self._read(number)
            require_shape(record)
        except (ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
            raise RecordError(f"match `{match}` in `{self.path}` is damaged: {error}") from error
        return record

    def _read(self, number: int) -> MatchRecord:
        query = self.connection.execute  # `reading` turns its errors into `RecordError`
        rules, claimed, seed, settings, scramble, names, opening, *plain = query(
            f"SELECT text, rulesheet, seed, settings, scramble, names, opening, {', '.join(_PLAIN)}"  # noqa: S608
            " FROM match LEFT JOIN rulesheet ON hash = rulesheet WHERE number = ?",
            (number,),
        ).fetchone()
        if rules is None:
            raise ValueError(f"no rules with the hash {claimed}")
        seats = self._seats(number)
        record = MatchRecord(
            **dict(zip(_PLAIN, plain, strict=True)),
            rules=rules,
            roles=tuple(role for role, _, _ in seats),
            players={role: player for role, player, _ in seats if player is not None},
            seed=None if seed is None else int(seed),
            settings=json.loads(settings),
            scramble=None if scramble is None else int(scramble),
            names=None if names is None else dict(json.loads(names)),
            opening=[tuple(joint) for joint in json.loads(opening)],
            claimed_hash=claimed,
        )
        if record.status == "completed" or any(goal is not None for _, _, goal in seats):
            record.goals = {role: goal for role, _, goal in seats}
        steps = query("SELECT step, time FROM step WHERE match = ? ORDER BY step", (number,)).fetchall()
        record.step_times = [at for _, at in steps]
        for place, (step, _) in enumerate(steps, start=1):
            if step != place:
                raise ValueError(f"step {place} is missing")
            moves = query(
                "SELECT move, percepts, place FROM move WHERE match = ? AND step = ? ORDER BY place",
                (number, step),
            ).fetchall()
            record.moves.append(tuple(move for move, _, _ in moves))
            seen = {record.roles[at]: tuple(json.loads(text)) for _, text, at in moves if text is not None}
            if seen:
                record.percepts.append(seen)
        record.messages = [
            _message(row)
            for row in query(
                "SELECT step, role, kind, text, sent, seconds, reply, counts, problem, notes FROM message"
                " WHERE match = ? ORDER BY number",
                (number,),
            )
        ]
        record.problems = [
            Problem(*row)
            for row in query(
                "SELECT step, role, kind, reply, note, played FROM problem WHERE match = ? ORDER BY number",
                (number,),
            )
        ]
        for signed in query("SELECT algorithm, public_key, value FROM signature WHERE match = ?", (number,)):
            record.signature = dict(zip(_SIGNATURE, signed, strict=True))
        return record

    def remarks(self, match: str) -> list[tuple[float, str]]:
        """Return remarks about a match, such as that it was resumed, with their times."""
        statement = "SELECT time, text FROM remark WHERE match = ? ORDER BY number"
        return self.query(statement, (self.number(match),))

    # -- writing ----------------------------------------------------------------------------

    def begin(self, record: MatchRecord) -> int:
        """Insert a match without its steps and return its row number; `RecordError` for a duplicate id."""
        with self.writing() as connection:
            if connection.execute("SELECT 1 FROM match WHERE id = ?", (record.id,)).fetchone():
                raise RecordError(f"match `{record.id}` is in `{self.path}` already")
            connection.execute("INSERT OR IGNORE INTO rulesheet VALUES (?, ?)", (record.hash, record.rules))
            row = connection.execute("SELECT text FROM rulesheet WHERE hash = ?", (record.hash,)).fetchone()
            if row != (record.rules,):
                raise RecordError(f"the rules of {record.game} in `{self.path}` are damaged")
            number = self.insert(
                "match",
                None,
                "match",
                **{column: getattr(record, column) for column in _PLAIN},
                rulesheet=record.hash,
                seed=None if record.seed is None else str(record.seed),
                settings=json.dumps(record.settings),
                scramble=None if record.scramble is None else str(record.scramble),
                names=None if record.names is None else json.dumps(record.names),
                opening=json.dumps(record.opening),
            )
            for place, role in enumerate(record.roles):
                player = record.players.get(role)
                self.insert("match", number, "seat", match=number, place=place, role=role, player=player)
        return number

    def add_step(
        self, number: int, step: int, at: float, moves: tuple[str, ...], percepts: dict[int, tuple[str, ...]]
    ) -> None:
        """Insert a step; percepts are given by index of the role."""
        with self.writing():
            key = {"match": number, "step": step}
            self.insert("match", number, "step", **key, time=at)
            for place, move in enumerate(moves):
                seen = json.dumps(percepts[place]) if place in percepts else None
                self.insert("match", number, "move", **key, place=place, move=move, percepts=seen)

    def take_back(self, number: int, steps: int) -> None:
        """Delete all steps after the first `steps`, and the end of the match."""
        with self.writing():
            last = self.query("SELECT max(step) FROM step WHERE match = ?", (number,))[0][0] or 0
            for step in range(steps + 1, last + 1):
                for table in ("move", "step"):
                    self.delete("match", number, table, {"match": number, "step": step})
            seats = self.query("SELECT place FROM seat WHERE match = ?", (number,))
            self.end(number, "running", "running", None, {place: None for (place,) in seats})

    def add_message(self, number: int, message: MessageRecord) -> None:
        """Insert a message and its answer."""
        with self.writing():
            values = {**asdict(message), "notes": json.dumps(message.notes)}
            self.insert("match", number, "message", match=number, **values)

    def add_problem(self, number: int, problem: Problem) -> None:
        """Insert a problem."""
        with self.writing():
            self.insert("match", number, "problem", match=number, **asdict(problem))

    def add_remark(self, number: int, text: str) -> None:
        """Insert a remark about a match."""
        with self.writing():
            self.insert("match", number, "remark", match=number, time=time.time(), text=text)

    def end(
        self, number: int, status: str, reason: str, ended: float | None, goals: dict[int, int | None] | None
    ) -> None:
        """Update the status of a match; goals are given by index of the role."""
        with self.writing():
            ending = {"status": status, "reason": reason, "ended": ended}
            self.change("match", number, "match", {"number": number}, ending)
            for place, goal in (goals or {}).items():
                self.change("match", number, "seat", {"match": number, "place": place}, {"goal": goal})

    def sign(self, match: str, signature: dict[str, str]) -> None:
        """Insert or replace the signature of a match."""
        with self.writing():
            number = self.number(match)
            self.delete("match", number, "signature", {"match": number})
            parts = {name: signature[name] for name in _SIGNATURE}
            self.insert("match", number, "signature", match=number, signed=time.time(), **parts)

    def save(self, record: MatchRecord) -> None:
        """Insert a whole record; `RecordError` for a duplicate id or token."""
        places = {role: place for place, role in enumerate(record.roles)}
        with self.writing() as connection:
            if connection.execute("SELECT 1 FROM match WHERE token = ?", (record.token,)).fetchone():
                raise RecordError(f"the record of match `{record.id}` is in `{self.path}` already")
            number = self.begin(record)
            for step, moves in enumerate(record.moves, start=1):
                seen = record.percepts[step - 1] if step <= len(record.percepts) else {}
                self.add_step(
                    number,
                    step,
                    record.step_times[step - 1] if step <= len(record.step_times) else record.started,
                    moves,
                    {places[role]: texts for role, texts in seen.items()},
                )
            for message in record.messages:
                self.add_message(number, message)
            for problem in record.problems:
                self.add_problem(number, problem)
            goals = None
            if record.goals is not None:
                goals = {places[role]: goal for role, goal in record.goals.items()}
            self.end(number, record.status, record.reason, record.ended, goals)
            if record.signature is not None:
                self.sign(record.id, record.signature)


def _message(row: tuple[Any, ...]) -> MessageRecord:
    step, role, kind, text, sent, seconds, reply, counts, problem, notes = row
    counts, notes = bool(counts), tuple(json.loads(notes))
    return MessageRecord(step, role, kind, text, sent, seconds, reply, counts, problem, notes)
