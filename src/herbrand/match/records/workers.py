"""The worker that played each match of a tournament, and the removal of results of misbehaving workers.

A worker says its own name, `HOST/PROCESS`; HOST stands for all workers of a computer.  Records that are
purged no longer count, but are kept as JSON documents in the table `purged`, each with the reason.
"""

from __future__ import annotations

import json
import os
import socket
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from herbrand.match.records.document import write_document
from herbrand.match.records.record import RecordError
from herbrand.match.records.schema import WITH_WORKERS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from herbrand.match.records.record import MatchRecord
    from herbrand.match.records.store import Store

__all__ = ["WorkerResults", "assign", "purge", "retry", "set_aside", "this_worker", "workers"]

_IS_WORKER: Final = "({0} = :worker OR substr({0}, 1, length(:worker) + 1) = :worker || '/')"


@dataclass(frozen=True, slots=True)
class WorkerResults:
    """The work of one worker for the tournaments of a database."""

    name: str
    matches: tuple[str, ...]
    """The ids of matches that count."""
    purged: tuple[tuple[str, str], ...]
    """The ids of matches that were purged or refused, and why."""


def this_worker() -> str:
    """Return the name of this process as a worker."""
    return f"{socket.gethostname()}/{os.getpid()}"


def assign(store: Store, match: str, worker: str) -> None:
    """Note that a worker played a match, or a part of it."""
    with store.writing() as connection:
        number = store.number(match)
        query = "SELECT 1 FROM worker WHERE match = ? AND name = ?"
        if not connection.execute(query, (number, worker)).fetchone():
            store.insert("match", number, "worker", match=number, name=worker)


def workers(store: Store) -> list[WorkerResults]:
    """Return the results of each worker, by name; none for matches recorded before workers were noted."""
    if store.schema_version < WITH_WORKERS:
        return []
    with store.reading():
        played = store.query("SELECT name, id FROM worker JOIN match ON match = number ORDER BY number")
        purged = store.query("SELECT worker, match, reason FROM purged ORDER BY number")
    names = sorted({row[0] for row in (*played, *purged)})
    return [
        WorkerResults(
            name,
            tuple(match for worker, match in played if worker == name),
            tuple((match, reason) for worker, match, reason in purged if worker == name),
        )
        for name in names
    ]


def purge(store: Store, worker: str, reason: str) -> list[str]:
    """Take back all results of a worker, or of all workers of a host; return the ids of the matches.

    They are moved to `purged`, and their tournaments are without them: resumed, they play them again.
    """
    with store.writing() as connection:
        select = "SELECT DISTINCT number, id, name FROM worker JOIN match ON match = number WHERE "
        rows = connection.execute(
            f"{select}{_IS_WORKER.format('name')} ORDER BY number", {"worker": worker}
        ).fetchall()
        for number, match, name in rows:
            _free_pairing(store, "match", number)
            try:
                record = store.load(match)
            except RecordError:  # damaged: there is nothing to keep
                record = None
            _keep(store, name, match, reason, record)
            connection.execute("DELETE FROM match WHERE number = ?", (number,))
            connection.execute("DELETE FROM digest WHERE kind = 'match' AND number = ?", (number,))
        select = "SELECT match FROM purged WHERE "
        refused = connection.execute(f"{select}{_IS_WORKER.format('worker')}", {"worker": worker}).fetchall()
        retry(store, [match for (match,) in refused])
    return [match for _, match, _ in rows]


def set_aside(store: Store, worker: str, match: str, reason: str, record: MatchRecord | None) -> None:
    """Keep a record that a worker sent, and that was refused, among the purged ones."""
    with store.writing():
        _keep(store, worker, match, reason, record)


def retry(store: Store, matches: Iterable[str]) -> None:
    """Let tournaments play these matches again if they were left without a result."""
    with store.writing() as connection:
        for match in matches:
            row = connection.execute("SELECT failure FROM pairing WHERE id = ?", (match,)).fetchone()
            if row is not None and row[0] is not None:
                _free_pairing(store, "id", match)


def _keep(store: Store, worker: str, match: str, reason: str, record: MatchRecord | None) -> None:
    text = None if record is None else json.dumps(write_document(record), ensure_ascii=False)
    values = {"worker": worker, "match": match, "reason": reason, "record": text}
    store.insert("purged", None, "purged", time=time.time(), **values)


def _free_pairing(store: Store, column: str, value: int | str) -> None:
    """Leave the pairing of a match without a result, as if it had never been attempted."""
    rows = store.query(f"SELECT number, tournament FROM pairing WHERE {column} = ?", (value,))  # noqa: S608
    for number, tournament in rows:
        free = {"match": None, "failure": None, "attempts": 0}
        store.change("tournament", tournament, "pairing", {"number": number}, free)
