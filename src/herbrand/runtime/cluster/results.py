"""`ResultFile`: the results of tasks in SQLite, each written in a transaction when it arrives."""

from __future__ import annotations

import contextlib
import json
import sqlite3
import time
from typing import TYPE_CHECKING, Any, Final, Self

from herbrand import __version__
from herbrand.errors import HerbrandError
from herbrand.runtime.cluster.tasks import TaskResult

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from herbrand.runtime.cluster.tasks import Task

__all__ = ["ResultFile"]

_REPEATED: Final = {"WorkerLost", "WorkerRefused", "MemoryError", "OSError"}
"""Kinds of errors that the next run may not have."""
APPLICATION: Final = 0x48524254
"""`HRBT`."""
_SCHEMA: Final = """
create table run (command text not null, version text not null, began real not null);
create table result (
    name text primary key, digest text not null, value text, error text not null, kind text not null,
    seconds real not null, worker text not null, attempts integer not null, written real not null
);
"""


class ResultFile:
    """The results of one command, whose values are data for JSON.

    A killed driver loses only what had not arrived.  Raises `HerbrandError` for a file that is something
    else, is damaged, or belongs to another command or version of herbrand.
    """

    def __init__(self, path: Path | str, command: str) -> None:
        self.path = str(path)
        with self._errors("use"):
            self._db = sqlite3.connect(path, timeout=30.0, isolation_level=None)
            try:
                self._open(command)
            except BaseException:
                self._db.close()
                raise

    def _open(self, command: str) -> None:
        (finding,) = self._db.execute("pragma quick_check(1)").fetchone()
        if finding != "ok":
            raise HerbrandError(f"`{self.path}` is damaged: {finding}")
        application = self._db.execute("pragma application_id").fetchone()[0]
        if application != APPLICATION:
            if application or self._db.execute("select count(*) from sqlite_master").fetchone()[0]:
                raise HerbrandError(f"`{self.path}` is another database, not one of results")
            self._db.execute("pragma journal_mode = wal")
            self._db.executescript(f"begin; {_SCHEMA} pragma application_id = {APPLICATION}; commit;")
            begun = command, __version__, time.time()
            self._db.execute("insert into run values (?, ?, ?)", begun)
        self._db.execute("pragma synchronous = normal")
        other, version = self._db.execute("select command, version from run").fetchone() or (command, "")
        if other != command:
            raise HerbrandError(
                f"`{self.path}` has the results of `{other}`, not of `{command}`: name another file"
            )
        if version != __version__:
            raise HerbrandError(f"`{self.path}` was begun by another herbrand, {version}: name another file")

    @contextlib.contextmanager
    def _errors(self, verb: str) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, ValueError) as error:
            raise HerbrandError(f"cannot {verb} `{self.path}`: {error}") from error

    def known(self, task: Task) -> TaskResult | None:
        """Return the result of a task, unless there is none yet or its worker failed.

        Raises `HerbrandError` for the result of a task of this name with other rules or settings.
        """
        with self._errors("read"):
            select = "select digest, value, error, kind, seconds, worker, attempts from result where name = ?"
            row = self._db.execute(select, (task.name,)).fetchone()
            if row is None or row[3] in _REPEATED:
                return None
            if row[0] != task.digest:
                of = f"`{self.path}` has a result of `{task.name}`"
                raise HerbrandError(f"{of} for other rules or settings: name another file")
            value = None if row[1] is None else json.loads(row[1])
            return TaskResult(task.name, value, *row[2:])

    def add(self, task: Task, result: TaskResult) -> Any:
        """Write a result, and return its value as `known` will."""
        text = None if result.failed else json.dumps(result.value)
        row = (
            *(task.name, task.digest, text, result.error, result.kind),
            *(result.seconds, result.worker, result.attempts, time.time()),
        )
        with self._errors("write to"):
            self._db.execute("insert or replace into result values (?, ?, ?, ?, ?, ?, ?, ?, ?)", row)
        return None if text is None else json.loads(text)

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
