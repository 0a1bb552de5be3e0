"""`Store`: a database of match records."""

from __future__ import annotations

import contextlib
import json
import sqlite3
import time
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from herbrand.match.protocol.manager import Problem
from herbrand.match.records.record import MatchRecord, MessageRecord, RecordError
from herbrand.match.records.schema import migrate
from herbrand.match.records.shape import require_shape

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Store"]

BUSY_SECONDS = 30.0
"""Time limit for acquiring the write lock."""
_SIGNATURE = ("algorithm", "public_key", "value")


class Store:
    """Match records in an SQLite file, or in memory with `:memory:`.

    Several programs may write to one file at the same time (write-ahead log).  Committed transactions survive
    a killed program; a power failure may lose the most recent ones, but leaves the database consistent.  An
    object belongs to one thread.  Raises `RecordError` for a file that is not such a database.
    """

    def __init__(self, path: str | Path, *, create: bool = True) -> None:
        self.path = str(path)
        if not create and not Path(path).is_file():
            raise RecordError(f"there is no database `{path}`")
        try:
            self.connection = sqlite3.connect(self.path, timeout=BUSY_SECONDS, isolation_level=None)
        except sqlite3.Error as error:
            raise RecordError(f"cannot open `{path}`: {error}") from error
        try:
            self.connection.execute("PRAGMA foreign_keys = ON")
            migrate(self.connection)
            self.connection.execute("PRAGMA journal_mode = WAL")
            self.connection.execute("PRAGMA synchronous = NORMAL")
        except sqlite3.Error as error:
            self.connection.close()
            raise RecordError(f"cannot use `{path}`: {error}") from error
        except RecordError as error:
            self.connection.close()
            raise RecordError(f"cannot use `{path}`: {error}") from error

    def close(self) -> None:
        """Close the file."""
        self.connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextlib.contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """Open a transaction, or join the current one."""
        if self.connection.in_transaction:
            yield self.connection
            return
        try:
            self.connection.execute("BEGIN IMMEDIATE")
            try:
                yield self.connection
            except BaseException:
                self.connection.execute("ROLLBACK")
                raise
            self.connection.execute("COMMIT")
        except sqlite3.Error as error:
            raise RecordError(f"cannot write to `{self.path}`: {error}") from error

    # -- reading ----------------------------------------------------------------------------

    def ids(self, *, status: str | None = None) -> list[str]:
        """Return the match ids in the order in which the matches began."""
        where, values = ("WHERE status = ?", [status]) if status else ("", [])
        rows = self.connection.execute(f"SELECT id FROM match {where} ORDER BY number", values)  # noqa: S608
        return [name for (name,) in rows]

    def version(self) -> int:
        """Return a number that changes when another program has written to the file."""
        return int(self.connection.execute("PRAGMA data_version").fetchone()[0])

    def number(self, match: str) -> int:
        """Return the row number of a match; `RecordError` for an unknown id."""
        row = self.connection.execute("SELECT number FROM match WHERE id = ?", (match,)).fetchone()
        if row is None:
            raise RecordError(f"no match `{match}` in `{self.path}`")
        return int(row[0])

    def summaries(self, *, latest: int = -1) -> list[dict[str, Any]]:
        """Return summaries of the matches in the order in which they began; the `latest` N unless negative.

        Keys: `id`, `game`, `status`, `reason`, `started`, `steps`, `problems`, `seats`.
        """
        summaries = []
        rows = self.connection.execute(
            "SELECT number, id, game, status, reason, started,"
            " (SELECT count(*) FROM step WHERE step.match = match.number),"
            " (SELECT count(*) FROM problem WHERE problem.match = match.number)"
            " FROM match ORDER BY number DESC LIMIT ?",
            (latest,),
        ).fetchall()
        for number, name, game, status, reason, started, steps, problems in reversed(rows):
            seats = self.connection.execute(
                "SELECT role, player, goal FROM seat WHERE match = ? ORDER BY place", (number,)
            )
            summaries.append(
                {
                    "id": name,
                    "game": game,
                    "status": status,
                    "reason": reason,
                    "started": started,
                    "steps": steps,
                    "problems": problems,
                    "seats": [{"role": role, "player": player, "goal": goal} for role, player, goal in seats],
                }
            )
        return summaries

    def load(self, match: str) -> MatchRecord:
        """Return the record of a match; `RecordError` for an unknown id or damaged data."""
        number = self.number(match)
        try:
            record = self._read(number)
            require_shape(record)
        except (ValueError, TypeError, KeyError, IndexError, AttributeError) as error:
            raise RecordError(f"match `{match}` in `{self.path}` is damaged: {error}") from error
        return record

    def _read(self, number: int) -> MatchRecord:
        query = self.connection.execute
        row = query(
            "SELECT id, token, game, text, rulesheet, started, ended, status, reason, start_clock,"
            " play_clock, seed, settings, scramble, names, opening, software, origin"
            " FROM match LEFT JOIN rulesheet ON hash = rulesheet WHERE number = ?",
            (number,),
        ).fetchone()
        name, token, game, rules, claimed, started, ended, status, reason, start, play, seed, *rest = row
        settings, scramble, names, opening, software, origin = rest
        if rules is None:
            raise ValueError(f"no rules with the hash {claimed}")
        seats = query(
            "SELECT role, player, goal FROM seat WHERE match = ? ORDER BY place", (number,)
        ).fetchall()
        record = MatchRecord(
            name,
            token,
            game,
            rules,
            tuple(role for role, _, _ in seats),
            {role: player for role, player, _ in seats if player is not None},
            started,
            ended,
            status,
            reason,
            start,
            play,
            None if seed is None else int(seed),
            json.loads(settings),
            None if scramble is None else int(scramble),
            None if names is None else dict(json.loads(names)),
            [tuple(joint) for joint in json.loads(opening)],
            software=software,
            origin=origin,
            claimed_hash=claimed,
        )
        if status == "completed" or any(goal is not None for _, _, goal in seats):
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
        signed = query(
            "SELECT algorithm, public_key, value FROM signature WHERE match = ?", (number,)
        ).fetchone()
        if signed is not None:
            record.signature = dict(zip(_SIGNATURE, signed, strict=True))
        return record

    def remarks(self, match: str) -> list[tuple[float, str]]:
        """Return remarks about a match, such as that it was resumed, with their times."""
        statement = "SELECT time, text FROM remark WHERE match = ? ORDER BY number"
        return self.connection.execute(statement, (self.number(match),)).fetchall()

    # -- writing ----------------------------------------------------------------------------

    def begin(self, record: MatchRecord) -> int:
        """Insert a match without its steps and return its row number; `RecordError` for a duplicate id."""
        with self.writing() as connection:
            if connection.execute("SELECT 1 FROM match WHERE id = ?", (record.id,)).fetchone():
                raise RecordError(f"match `{record.id}` is in `{self.path}` already")
            connection.execute("INSERT OR IGNORE INTO rulesheet VALUES (?, ?)", (record.hash, record.rules))
            row = _insert(
                connection,
                "match",
                id=record.id,
                token=record.token,
                game=record.game,
                rulesheet=record.hash,
                started=record.started,
                ended=record.ended,
                status=record.status,
                reason=record.reason,
                start_clock=record.start_clock,
                play_clock=record.play_clock,
                seed=None if record.seed is None else str(record.seed),
                settings=json.dumps(record.settings),
                scramble=None if record.scramble is None else str(record.scramble),
                names=None if record.names is None else json.dumps(record.names),
                opening=json.dumps(record.opening),
                software=record.software,
                origin=record.origin,
            )
            number = row.lastrowid
            assert number is not None
            connection.executemany(
                "INSERT INTO seat (match, place, role, player) VALUES (?, ?, ?, ?)",
                [(number, at, role, record.players.get(role)) for at, role in enumerate(record.roles)],
            )
        return number

    def add_step(
        self,
        number: int,
        step: int,
        at: float,
        moves: tuple[str, ...],
        percepts: dict[int, tuple[str, ...]],
    ) -> None:
        """Insert a step; percepts are given by index of the role."""
        with self.writing() as connection:
            connection.execute("INSERT INTO step VALUES (?, ?, ?)", (number, step, at))
            connection.executemany(
                "INSERT INTO move VALUES (?, ?, ?, ?, ?)",
                [
                    (number, step, place, move, json.dumps(percepts[place]) if place in percepts else None)
                    for place, move in enumerate(moves)
                ],
            )

    def add_message(self, number: int, message: MessageRecord) -> None:
        """Insert a message and its answer."""
        with self.writing() as connection:
            _insert(
                connection,
                "message",
                **{**asdict(message), "match": number, "notes": json.dumps(message.notes)},
            )

    def add_problem(self, number: int, problem: Problem) -> None:
        """Insert a problem."""
        with self.writing() as connection:
            _insert(connection, "problem", match=number, **asdict(problem))

    def add_remark(self, number: int, text: str) -> None:
        """Insert a remark about a match."""
        with self.writing() as connection:
            _insert(connection, "remark", match=number, time=time.time(), text=text)

    def end(
        self, number: int, status: str, reason: str, ended: float | None, goals: dict[int, int | None] | None
    ) -> None:
        """Update the status of a match; goals are given by index of the role."""
        with self.writing() as connection:
            connection.execute(
                "UPDATE match SET status = ?, reason = ?, ended = ? WHERE number = ?",
                (status, reason, ended, number),
            )
            connection.executemany(
                "UPDATE seat SET goal = ? WHERE match = ? AND place = ?",
                [(goal, number, place) for place, goal in (goals or {}).items()],
            )

    def sign(self, match: str, signature: dict[str, str]) -> None:
        """Insert or replace the signature of a match."""
        with self.writing() as connection:
            number = self.number(match)
            connection.execute("DELETE FROM signature WHERE match = ?", (number,))
            parts = {name: signature[name] for name in _SIGNATURE}
            _insert(connection, "signature", match=number, signed=time.time(), **parts)

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


def _insert(connection: sqlite3.Connection, table: str, **values: Any) -> sqlite3.Cursor:
    """Insert a row, given by the names of its columns."""
    columns, places = ", ".join(values), ", ".join(f":{name}" for name in values)
    return connection.execute(f"INSERT INTO {table} ({columns}) VALUES ({places})", values)  # noqa: S608
