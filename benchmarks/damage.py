"""Damages databases of match records in seeded ways, and checks that no damage passes for a whole database.

Each damaged copy is verified and opened for writing.  A damage is *refused* if `Verifier.verify_database` has
findings, and *harmless* if it has none and the rows are those of a state that the database once had (after
a flipped bit in an unused byte, say, or with a log cut short).  Everything else is a failure: an exception
that is not a `HerbrandError`, a verification that misses a changed row, a damaged file that is written to, a
damage that can no longer be seen after a match was appended.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import random
import shutil
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from case_report import CaseReport

from herbrand.errors import HerbrandError
from herbrand.game import load
from herbrand.match.protocol.manager import Manager, MatchSettings, seats_for
from herbrand.match.protocol.seats import LocalSeat
from herbrand.match.records import Store
from herbrand.match.records.recorder import Recorder
from herbrand.match.records.verifier import Verifier
from herbrand.match.tournament import Tournament
from herbrand.match.tournament.runner import plan_with
from herbrand.play import make_player

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from herbrand.match.protocol.events import Event
    from herbrand.match.records import MatchRecord

__all__ = ["DAMAGES", "DamageBench"]

_GAMES: Final = ("rockPaperScissors", "kuhn", "ticTacToe")
_TABLES: Final = {
    "rulesheet": 1,
    "match": 1,
    "seat": 2,
    "step": 2,
    "move": 3,
    "message": 1,
    "problem": 1,
    "remark": 1,
    "signature": 1,
    "tournament": 1,
    "pairing": 1,
    "digest": 2,
}
"""The tables whose rows must not change, with the number of columns that order them."""


class DamageBench:
    """Databases of short matches in a folder, and damaged copies of them.

    `closed.db` was closed in order, `killed.db` has a log with the last match, as after `kill -9`, and
    `other.db` has other matches.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.verifier = Verifier()
        self.states: set[str] = set()
        """The digests of all states that an undamaged database had when it was copied."""
        self.addition = self._record(folder / "other.db", seed=2, kill=False)
        self._record(folder / "closed.db", seed=1, kill=False)
        self._record(folder / "killed.db", seed=3, kill=True)

    def run(self, numbers: Sequence[int], *, seed: int = 0) -> list[CaseReport]:
        """Try the damages with these numbers; return a report for each kind."""
        reports = {kind: CaseReport(kind) for kind in DAMAGES}
        kinds = list(DAMAGES)
        for number in numbers:
            kind = kinds[number % len(kinds)]
            report = reports[kind]
            report.tried += 1
            try:
                report.outcomes[self._try(kind, random.Random(f"{seed}:{number}"))] += 1
            except _Failure as failure:
                report.failures.append(f"{number}: {failure}")
        return list(reports.values())

    # -- databases ------------------------------------------------------------------------------

    def _record(self, path: Path, *, seed: int, kill: bool) -> MatchRecord:
        """Write a database, and note its states; return its first match."""
        with Store(path) as store:
            for number, name in enumerate(_GAMES):
                _play(store, name, f"{path.stem}.{number}", seed + number)
            players = {"legal": "legal", "random": "random"}
            plan = plan_with({"kuhn": load("kuhn")}, players, name="small", start_clock=5, play_clock=5)
            with ThreadPoolExecutor(1) as executor:
                Tournament.create(store, plan).run(executor, shared=True)
            first = store.load(f"{path.stem}.0")
            if kill:
                store.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
                store.connection.execute("PRAGMA wal_autocheckpoint = 0")
                self.states.add(_state(store.connection))
                _play(store, _GAMES[0], "last", seed, after=lambda: self.states.add(_state(store.connection)))
                for suffix in ("", "-wal"):
                    shutil.copy(f"{path}{suffix}", f"{path}{suffix}.kept")
            self.states.add(_state(store.connection))
        if kill:
            for suffix in ("", "-wal"):
                shutil.move(f"{path}{suffix}.kept", f"{path}{suffix}")
        return first

    # -- one damage -------------------------------------------------------------------------------

    def _try(self, kind: str, chance: random.Random) -> str:
        path = self.folder / "damaged" / "matches.db"
        shutil.rmtree(path.parent, ignore_errors=True)
        path.parent.mkdir()
        base = "killed" if kind.startswith("log") else chance.choice(("closed", "killed"))
        for suffix in ("", "-wal"):
            original = self.folder / f"{base}.db{suffix}"
            if original.exists():
                shutil.copy(original, f"{path}{suffix}")
        DAMAGES[kind](_Copy(path, self.folder, chance))
        before = _contents(path)
        findings = self._verify(path)
        if _contents(path) != before and findings:
            raise _Failure("verification changed a damaged file")
        if not findings and _rows(path) not in self.states:
            raise _Failure("verified, but rows are not as they were written")
        self._append(path, findings)
        return "refused" if findings else "harmless"

    def _verify(self, path: Path) -> list[str]:
        try:
            return [
                f"{verification.name}: {finding}"
                for verification in self.verifier.verify_database(path)
                for finding in verification.findings
            ]
        except HerbrandError as error:
            return [str(error)]
        except Exception as error:
            raise _Failure(f"verification raised {error!r}") from error

    def _append(self, path: Path, findings: Sequence[str]) -> None:
        """Open the file for writing as `match --record` does, and append a match if it opens."""
        before = _contents(path)
        if path.is_file() and not before:
            return  # an empty file becomes a new database
        rows = _rows(path)
        try:
            with Store(path) as store:
                store.save(self.addition)
        except HerbrandError:
            if findings and _contents(path) != before and _rows(path) != rows:
                raise _Failure("a damaged file was refused, but changed") from None
            if not findings:
                raise _Failure("refused for writing, but verified") from None
            return
        except Exception as error:
            raise _Failure(f"opening for writing raised {error!r}") from error
        after = self._verify(path)
        if findings and not after:
            raise _Failure(f"appending a match hid a damage: {findings[0]}")
        if any(self.addition.id in finding for finding in after) or (after and not findings):
            raise _Failure(f"a match that was appended does not verify: {after[0]}")


class _Failure(Exception):
    """What went wrong in a case."""


def _play(
    store: Store, name: str, match: str, seed: int, *, after: Callable[[], None] = lambda: None
) -> None:
    """Record a match of random players; `after` is called after each event."""
    game = load(name)
    recorder = Recorder(store)

    def listen(event: Event) -> None:
        recorder(event)
        after()

    settings = MatchSettings(start_clock=20, play_clock=20, seed=seed)
    seats = [LocalSeat(make_player("random", seed=seed + n), name=f"r{n}") for n in range(len(game.players))]
    manager = Manager(game, settings, listener=listen)
    asyncio.run(manager.play(seats_for(game, seats), match_id=match))


def _state(connection: sqlite3.Connection) -> str:
    """Return a digest of all rows."""
    digest = hashlib.sha256()
    for table, keys in _TABLES.items():
        order = ", ".join(str(key) for key in range(1, keys + 1))
        for row in connection.execute(f"SELECT * FROM {table} ORDER BY {order}"):  # noqa: S608
            digest.update(repr((table, row)).encode())
    return digest.hexdigest()


def _rows(path: Path) -> str | None:
    """Return a digest of all rows of a database and its log, without changing them; None if it has none."""
    try:
        with Store(path, write=False) as store:
            return _state(store.connection)
    except (HerbrandError, sqlite3.Error):
        return None


def _contents(path: Path) -> dict[str, bytes]:
    """Return the contents of a database and its log; an empty log counts as none."""
    files = {name: path.with_name(path.name + name) for name in ("", "-wal", "-journal")}
    return {name: file.read_bytes() for name, file in files.items() if file.is_file() and file.stat().st_size}


# -- damages ------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Copy:
    """A copy of a database to be damaged."""

    path: Path
    folder: Path
    """Where the other databases are."""
    chance: random.Random

    @property
    def log(self) -> Path:
        return self.path.with_name(self.path.name + "-wal")

    def change(self, file: Path, edit: Callable[[bytearray, random.Random], Any]) -> None:
        """Edit the bytes of a file in place."""
        data = bytearray(file.read_bytes())
        edit(data, self.chance)
        file.write_bytes(data)

    def other(self) -> bytes:
        """Return the contents of a database with other matches."""
        return (self.folder / "other.db").read_bytes()


def _flip(data: bytearray, chance: random.Random, *, below: int | None = None) -> None:
    data[chance.randrange(below or len(data))] ^= 1 << chance.randrange(8)


def _flip_header(data: bytearray, chance: random.Random) -> None:
    _flip(data, chance, below=100)


def _overwrite(data: bytearray, chance: random.Random) -> None:
    start, size = chance.randrange(len(data)), chance.randrange(1, 600)
    data[start : start + size] = chance.randbytes(len(data[start : start + size]))


def _change_text(data: bytearray, chance: random.Random) -> None:
    """Replace a letter or digit within text by another."""
    words = [at for at in range(100, len(data)) if chr(data[at - 1]).isalnum() and chr(data[at]).isalnum()]
    at = chance.choice(words)
    data[at] = chance.choice([byte for byte in b"0123456789abcdefghijklmnopqrstuvwxyz" if byte != data[at]])


def _truncate(data: bytearray, chance: random.Random) -> None:
    del data[chance.randrange(len(data)) :]


def _truncate_pages(data: bytearray, chance: random.Random) -> None:
    del data[_page_size(data) * chance.randrange(len(data) // _page_size(data)) :]


def _page_size(data: bytes | bytearray) -> int:
    return int.from_bytes(data[16:18]) or 4096


def _two_pages(data: bytearray, chance: random.Random) -> tuple[slice, slice]:
    size = _page_size(data)
    one, two = chance.sample(range(len(data) // size), 2)
    return slice(one * size, one * size + size), slice(two * size, two * size + size)


def _swap_pages(data: bytearray, chance: random.Random) -> None:
    one, two = _two_pages(data, chance)
    data[one], data[two] = data[two], data[one]


def _duplicate_page(data: bytearray, chance: random.Random) -> None:
    one, two = _two_pages(data, chance)
    data[one] = data[two]


def _zero_page(data: bytearray, chance: random.Random) -> None:
    one, _ = _two_pages(data, chance)
    data[one] = bytes(_page_size(data))


def _append(data: bytearray, chance: random.Random) -> None:
    data += chance.choice((chance.randbytes(chance.randrange(1, 9000)), data[-4096:]))


def _foreign_page(copy: _Copy) -> None:
    """Overwrite a page by one of another database."""
    other = copy.other()

    def edit(data: bytearray, chance: random.Random) -> None:
        one, _ = _two_pages(data, chance)
        two, _ = _two_pages(bytearray(other), chance)
        data[one] = other[one] if chance.random() < 0.5 and one.stop <= len(other) else other[two]

    copy.change(copy.path, edit)


def _foreign_log(copy: _Copy) -> None:
    """Put a log beside the database that is of other matches, of an older state, or noise."""
    source = copy.chance.choice(("killed", "older", "noise"))
    if source == "killed":
        shutil.copy(copy.folder / "closed.db", copy.path)
    elif source == "older":  # the log has been copied into the database, which has changed since
        with closing(sqlite3.connect(copy.path)) as connection:
            kept = copy.log.read_bytes()
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            connection.execute("UPDATE digest SET number = number")
            connection.execute("DELETE FROM remark")
            connection.commit()
        copy.log.write_bytes(kept)
    else:
        copy.log.write_bytes(copy.chance.randbytes(copy.chance.randrange(1, 9000)))


def _no_log(copy: _Copy) -> None:
    copy.log.unlink()


def _foreign_journal(copy: _Copy) -> None:
    """Put a rollback journal beside the database, which would overwrite its pages."""
    scratch = copy.path.with_name("scratch.db")
    with closing(sqlite3.connect(scratch, isolation_level=None)) as connection:
        connection.execute("CREATE TABLE t (x)")
        connection.execute("PRAGMA cache_size = 1")
        connection.execute("INSERT INTO t VALUES (zeroblob(90000))")
        connection.execute("BEGIN")
        connection.execute("UPDATE t SET x = randomblob(90000)")
        journal = scratch.with_name("scratch.db-journal").read_bytes()
        connection.execute("ROLLBACK")
    copy.path.with_name(copy.path.name + "-journal").write_bytes(journal)


def _other_application(copy: _Copy) -> None:
    """Replace the database by a file of another program."""
    copy.log.unlink(missing_ok=True)
    kind = copy.chance.choice(("database", "ours", "text", "json", "noise"))
    copy.path.unlink()
    if kind in ("database", "ours"):
        with closing(sqlite3.connect(copy.path)) as connection:
            connection.execute("CREATE TABLE match (number)")
            if kind == "ours":
                connection.execute("PRAGMA application_id = 0x48524244")
            connection.commit()
        return
    texts = {"text": b"Dear diary,\n", "json": b'{"matches": []}'}
    copy.path.write_bytes(texts.get(kind) or copy.chance.randbytes(5000))


def _empty(copy: _Copy) -> None:
    copy.path.write_bytes(b"")


def _folder(copy: _Copy) -> None:
    copy.path.unlink()
    copy.path.mkdir()


def _unreadable(copy: _Copy) -> None:
    if os.geteuid() == 0:  # may read everything: a loop of links is as unreadable
        copy.path.unlink()
        copy.path.symlink_to(copy.path)
    else:
        copy.path.chmod(0)


def _in_file(edit: Callable[[bytearray, random.Random], Any]) -> Callable[[_Copy], None]:
    return lambda copy: copy.change(copy.path, edit)


def _in_log(edit: Callable[[bytearray, random.Random], Any]) -> Callable[[_Copy], None]:
    return lambda copy: copy.change(copy.log, edit)


DAMAGES: Final[dict[str, Callable[[_Copy], None]]] = {
    "flipped bit": _in_file(_flip),
    "flipped bit in the header": _in_file(_flip_header),
    "changed text": _in_file(_change_text),
    "overwritten bytes": _in_file(_overwrite),
    "truncated": _in_file(_truncate),
    "truncated by pages": _in_file(_truncate_pages),
    "swapped pages": _in_file(_swap_pages),
    "duplicated page": _in_file(_duplicate_page),
    "zeroed page": _in_file(_zero_page),
    "page of another database": _foreign_page,
    "appended bytes": _in_file(_append),
    "log: flipped bit": _in_log(_flip),
    "log: changed text": _in_log(_change_text),
    "log: truncated": _in_log(_truncate),
    "log: missing": _no_log,
    "log: of another database": _foreign_log,
    "journal of another database": _foreign_journal,
    "file of another program": _other_application,
    "empty file": _empty,
    "folder": _folder,
    "unreadable": _unreadable,
}
"""The kinds of damage."""
