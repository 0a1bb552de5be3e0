"""Lets each call that disks, memory and the system can refuse fail once, one call after another.

This is how SQLite tests itself: work is done with its first such call failing, then with the second, and so
on, until it ends before a call fails.  After each failure the error must be a clear one, all databases must
verify, no file may hold a part of its contents, and resuming must give the result of undisturbed work.

The calls are those on databases (connecting, statements, results, commits), on files below a folder (opening,
writing, flushing to the disk, renaming) and starts of processes.  `FaultInjector` replaces them by ones that
count; `SCENARIOS` are the kinds of work.  Each case runs in a forked process, so POSIX is needed.
"""

from __future__ import annotations

import builtins
import contextlib
import errno
import importlib
import io
import json
import multiprocessing.util
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import traceback
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any, Final, Self

from case_report import CaseReport

from herbrand.errors import HerbrandError
from herbrand.evolve.gallery import write_gallery
from herbrand.evolve.search import GameSearch, SearchSettings
from herbrand.game import load
from herbrand.match.records import Store
from herbrand.match.records.verifier import Verifier
from herbrand.match.tournament import Tournament
from herbrand.match.tournament.runner import plan_with

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from herbrand.evolve.blocks.design import Design
    from herbrand.evolve.search.evaluate import Proofs
    from herbrand.game import Game

__all__ = ["ERRORS", "SCENARIOS", "FaultInjector", "try_faults"]

ERRORS: Final = ("input/output", "full", "memory")
"""The errors of a failing call: of the device, of a full disk or table, or `MemoryError`."""
_CASE_SECONDS: Final = 120
"""A case that takes longer counts as hanging."""


class FaultInjector:
    """A context in which the call with the number `at` (from 1) fails once, with an error of `ERRORS`.

    Calls on files count if they are below `folder`.  With `at` 0 no call fails, and `calls` is their number.
    """

    def __init__(self, folder: Path, at: int, error: str) -> None:
        self.folder = str(folder.resolve())
        self.at = at
        self.error = error
        self.calls = 0
        self.failed: str | None = None
        """The call that failed."""
        self._originals: list[tuple[Any, str, Any]] = []

    def __enter__(self) -> Self:
        self._replace(sqlite3, "connect", self._connect)
        opener = self._opener(builtins.open)
        self._replace(builtins, "open", opener)
        self._replace(io, "open", opener)
        for name in ("open", "replace", "rename", "fsync", "mkdir"):
            self._replace(os, name, self._system_call(name, getattr(os, name)))
        self._replace(subprocess.Popen, "__init__", self._starter(subprocess.Popen.__init__))
        spawn = "spawnv_passfds"
        self._replace(multiprocessing.util, spawn, self._starter(getattr(multiprocessing.util, spawn)))
        return self

    def __exit__(self, *_: object) -> None:
        for owner, name, original in reversed(self._originals):
            setattr(owner, name, original)

    def _replace(self, owner: Any, name: str, value: Any) -> None:
        self._originals.append((owner, name, getattr(owner, name)))
        setattr(owner, name, value)

    def is_due(self, call: str) -> bool:
        """Count a call; return True if it is the one that fails."""
        self.calls += 1
        if self.calls != self.at:
            return False
        self.failed = call
        return True

    def system_error(self, path: object = None, *, starting: bool = False) -> Exception:
        """Return the error of a call of the operating system."""
        if self.error == "memory":
            return MemoryError()
        if starting:
            number = errno.EAGAIN if self.error == "full" else errno.EMFILE
        else:
            number = errno.ENOSPC if self.error == "full" else errno.EIO
        return OSError(number, os.strerror(number), *([] if path is None else [str(path)]))

    def database_error(self, connection: sqlite3.Connection | None = None) -> Exception:
        """Return the error of a call on a database; with a full disk, SQLite has undone the transaction."""
        if self.error == "memory":
            return MemoryError()
        if self.error == "full":
            if connection is not None and connection.in_transaction:
                sqlite3.Connection.rollback(connection)
            return sqlite3.OperationalError("database or disk is full")
        return sqlite3.OperationalError("disk I/O error")

    # -- replacements -----------------------------------------------------------------------------

    def _connect(self, database: Any, *args: Any, **options: Any) -> sqlite3.Connection:
        if self.is_due(f"connect to {Path(str(database)).name}"):
            raise self.database_error()
        connection = _Connection(database, *args, **options)
        connection.injector = self
        return connection

    def _is_below(self, path: object) -> bool:
        if not isinstance(path, str | os.PathLike):
            return False
        return os.path.realpath(os.fspath(path)).startswith(self.folder)

    def _opener(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def opener(file: Any, mode: str = "r", *args: Any, **options: Any) -> Any:
            writes = any(letter in mode for letter in "wax+")
            if not self._is_below(file):
                return original(file, mode, *args, **options)
            if self.is_due(f"open {Path(file).name} ({mode})"):
                raise self.system_error(file)
            opened = original(file, mode, *args, **options)
            return _File(opened, self, str(file)) if writes else opened

        return opener

    def _system_call(self, name: str, original: Callable[..., Any]) -> Callable[..., Any]:
        def call(first: Any, *args: Any, **options: Any) -> Any:
            counts = name == "fsync" or self._is_below(first)
            if counts and self.is_due(f"{name} {first if name == 'fsync' else Path(first).name}"):
                raise self.system_error(None if name == "fsync" else first)
            return original(first, *args, **options)

        return call

    def _starter(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def start(*args: Any, **options: Any) -> Any:
            if self.is_due("start a process"):
                raise self.system_error(starting=True)
            return original(*args, **options)

        return start


class _Connection(sqlite3.Connection):
    """A connection whose calls can fail."""

    injector: FaultInjector

    def cursor(self, factory: Any = None) -> Any:
        del factory
        return super().cursor(_Cursor)

    def execute(self, *args: Any) -> Any:
        return self.cursor().execute(*args)

    def executemany(self, *args: Any) -> Any:
        return self.cursor().executemany(*args)

    def executescript(self, *args: Any) -> Any:
        return self.cursor().executescript(*args)

    def commit(self) -> None:
        if self.injector.is_due("commit"):
            raise self.injector.database_error(self)
        super().commit()

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> Any:
        if kind is None:
            try:
                self.commit()
            except BaseException:
                self.rollback()
                raise
        else:
            self.rollback()
        return False


class _Cursor(sqlite3.Cursor):
    """A cursor whose calls can fail."""

    def _check(self, call: str) -> None:
        connection = self.connection
        assert isinstance(connection, _Connection)
        if connection.injector.is_due(call):
            raise connection.injector.database_error(connection)

    def execute(self, *args: Any) -> Any:
        self._check(" ".join(str(args[0]).split())[:50])
        return super().execute(*args)

    def executemany(self, *args: Any) -> Any:
        self._check(" ".join(str(args[0]).split())[:50])
        return super().executemany(*args)

    def executescript(self, *args: Any) -> Any:
        self._check("script")
        return super().executescript(*args)

    def fetchall(self) -> Any:
        self._check("fetch all rows")
        return super().fetchall()

    def fetchone(self) -> Any:
        self._check("fetch a row")
        return super().fetchone()


class _File:
    """A file whose writing can fail after half of the data."""

    def __init__(self, file: Any, injector: FaultInjector, path: str) -> None:
        self._file, self._injector, self._path = file, injector, path

    def write(self, data: Any) -> int:
        if self._injector.is_due(f"write {Path(self._path).name}"):
            self._file.write(data[: len(data) // 2])
            self._file.flush()
            raise self._injector.system_error()
        return int(self._file.write(data))

    def flush(self) -> None:
        if self._injector.is_due(f"flush {Path(self._path).name}"):
            raise self._injector.system_error()
        self._file.flush()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()


# -- cases ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Scenario:
    """Work in a folder, in which a call fails."""

    prepare: Callable[[Path], object]
    """Writes what there is before."""
    work: Callable[[Path], int]
    """Does the work; returns the exit status."""
    resume: Callable[[Path], int]
    """Completes the work after a failure."""
    result: Callable[[Path], Any]
    """Returns the result as JSON-ready data."""
    is_fixed: bool = True
    """Whether the result is the same if a failure is handled without an error."""


def try_faults(
    folder: Path, *, names: Iterable[str] = (), limit: int | None = None, seed: int = 0
) -> list[CaseReport]:
    """Let each call of scenarios fail (of all scenarios without `names`); return a report for each.

    The errors take turns; another `seed` begins with another one.  With `limit`, at most so many calls of
    each scenario fail, drawn from the seed.
    """
    return [
        _try_scenario(name, folder / name.replace(" ", "-"), limit, Random(seed))
        for name in names or SCENARIOS
    ]


def _try_scenario(name: str, folder: Path, limit: int | None, chance: Random) -> CaseReport:
    scenario = SCENARIOS[name]
    report = CaseReport(name)
    before, work = folder / "before", folder / "work"
    before.mkdir(parents=True)
    prepared = _in_child(folder, lambda: {"value": scenario.prepare(before) and None})
    undisturbed = _work(scenario, before, work, 0, ERRORS[0])
    if "error" in prepared or undisturbed.get("status") != 0:
        raise RuntimeError(f"{name} fails without a fault: {prepared} {undisturbed}")
    _import_modules(undisturbed["modules"])
    expected = _in_child(folder, lambda: {"value": scenario.result(work)})["value"]
    cases = list(range(1, undisturbed["calls"] + 1))
    if limit is not None and limit < len(cases):
        cases = sorted(chance.sample(cases, limit))
    first = chance.randrange(len(ERRORS))
    for at in cases:
        error = ERRORS[(first + at) % len(ERRORS)]
        done = _work(scenario, before, work, at, error)
        outcome, failure = _judge(scenario, work, done, expected)
        if done.get("failed") is None and not failure:
            continue  # the work ended before this call, as a schedule of threads may have it
        report.tried += 1
        if failure:
            report.failures.append(f"call {at} ({done.get('failed')}), {error}: {failure}")
        else:
            report.outcomes[outcome] += 1
    return report


def _import_modules(names: Iterable[str]) -> None:
    """Import what the work imports, so that the forked processes need not."""
    for name in names:
        if name.startswith("herbrand.") and name not in sys.modules:
            importlib.import_module(name)


def _work(scenario: Scenario, before: Path, work: Path, at: int, error: str) -> dict[str, Any]:
    """Do the work in a copy of the folder with a failing call."""
    shutil.rmtree(work, ignore_errors=True)
    shutil.copytree(before, work)

    def run() -> dict[str, Any]:
        with FaultInjector(work, at, error) as injector:
            status = scenario.work(work)
        modules = [] if at else sorted(sys.modules)
        return {"status": status, "calls": injector.calls, "failed": injector.failed, "modules": modules}

    return _in_child(work.parent, run)


def _judge(scenario: Scenario, work: Path, done: Mapping[str, Any], expected: Any) -> tuple[str, str]:
    """Return how a case ended, and what went wrong."""
    if "error" in done:
        return "", str(done["error"])
    if done["status"] and not any(word in done["output"] for word in ("error: ", "cannot ")):
        return "", f"exit status {done['status']} without a message: {done['output'][-300:]}"

    def complete() -> dict[str, Any]:
        """Look at what was left behind, resume, and look again."""
        damage, status = _damage(work), 0
        if done["status"] and not damage:
            status = scenario.resume(work)
        return {"damage": damage or _damage(work), "status": status, "result": scenario.result(work)}

    after = _in_child(work.parent, complete)
    if "error" in after:
        return "", f"cannot be completed: {after['error']}"
    if after["damage"]:
        return "", f"damaged: {after['damage']}"
    if after["status"]:
        return "", f"cannot be resumed: {after['output'][-300:]}"
    if after["result"] != expected and (done["status"] or scenario.is_fixed):
        return "", f"another result: {after['result']}, not {expected}"
    return ("reported and resumed" if done["status"] else "handled"), ""


def _damage(folder: Path) -> list[str]:
    """Return what is wrong with the files of a folder."""
    findings = []
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        if path.name.startswith("."):
            findings.append(f"{path.name} was left behind")
        elif path.suffix == ".db" and path.stat().st_size:
            findings += _database_damage(path)
        elif path.suffix == ".json":
            json.loads(path.read_text(encoding="utf-8"))
        elif (
            path.suffix in (".html", ".svg")
            and not path.read_text("utf-8").rstrip().endswith(f"</{path.suffix[1:]}>")
        ) or (path.suffix == ".pem" and "-----END" not in path.read_text(encoding="utf-8")):
            findings.append(f"{path.name} is not whole")
    return findings


def _database_damage(path: Path) -> list[str]:
    with contextlib.closing(sqlite3.connect(path)) as connection:
        findings = [text for (text,) in connection.execute("PRAGMA integrity_check") if text != "ok"]
        is_ours = connection.execute("PRAGMA application_id").fetchone()[0] != 0
    if is_ours:
        findings += [
            f"{verification.name}: {finding}"
            for verification in Verifier().verify_database(path)
            for finding in verification.findings
        ]
    return findings


def _in_child(folder: Path, work: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Run a function in a forked process; return its value with `output`, or what went wrong as `error`."""
    output, answer = folder / "output.txt", folder / "answer.txt"
    answer.unlink(missing_ok=True)
    process = os.fork()
    if not process:
        _run_in_child(output, answer, work)
    written = _wait(process)
    text = output.read_text(encoding="utf-8", errors="replace")
    if "Traceback (most recent call last)" in text or not answer.exists():
        return {"error": f"{written or 'a traceback'}: {text[-1500:]}"}
    value: dict[str, Any] = json.loads(answer.read_text(encoding="utf-8"))
    return {**value, "output": text}


def _run_in_child(output: Path, answer: Path, work: Callable[[], dict[str, Any]]) -> None:
    """Run a function, write its value and what it prints to files, and end this process."""
    handle = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(handle, 1)
    os.dup2(handle, 2)
    sys.stdout = sys.stderr = os.fdopen(1, "w", encoding="utf-8", errors="backslashreplace")
    try:
        answer.write_text(json.dumps(work()), encoding="utf-8")
    except BaseException:  # noqa: BLE001  # the parent reads it
        traceback.print_exc()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


def _wait(process: int) -> str:
    """Wait for a process; return how it ended if it did not end by itself."""
    previous = signal.signal(signal.SIGALRM, lambda *_: os.kill(process, signal.SIGKILL))
    signal.alarm(_CASE_SECONDS)
    try:
        _, status = os.waitpid(process, 0)
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, previous)
    return f"ended by signal {os.WTERMSIG(status)}" if os.WIFSIGNALED(status) else ""


# -- scenarios -----------------------------------------------------------------------------------


def _command(*words: str | Path) -> int:
    """Run a command of herbrand, which is no part of the library; return its exit status."""
    main = importlib.import_module("herbrand.cli.main").main
    try:
        main(list(map(str, words)), "herbrand")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 0
    return 0


def _library(work: Callable[[], object]) -> int:
    """Use the library as a command would: print the errors that commands print; return the exit status."""
    try:
        work()
    except (HerbrandError, OSError, MemoryError) as error:
        print(f"error: {error!r}")
        return 1
    return 0


_MATCH: Final = ("match", "rockPaperScissors", "--start-clock", "20", "--play-clock", "20", "--id", "m")
_LEGAL: Final = ("--player", "legal", "--player", "legal")


def _record(folder: Path) -> int:
    events = folder / "events.jsonl"
    return _command(*_MATCH, *_LEGAL, "--record", folder / "m.db", "--events", events)


def _record_with_process(folder: Path) -> int:
    players = ("--player", "process:legal", "--player", "legal")
    return _command(*_MATCH, *players, "--record", folder / "m.db")


def _go_on(folder: Path) -> int:
    events = folder / "events.jsonl"
    return _command("match", "--resume", "--id", "m", "--record", folder / "m.db", "--events", events)


def _resume(folder: Path) -> int:
    """Resume the match if it was begun; otherwise begin it."""
    path = folder / "m.db"
    if path.exists() and path.stat().st_size:
        with Store(path) as store:
            begun = store.load("m").status if "m" in store.ids() else None
        if begun == "completed":
            return 0
        if begun is not None:
            return _go_on(folder)
    return _record(folder)


def _interrupt(folder: Path) -> None:
    """Record the first step of a match."""
    _record(folder)
    with Store(folder / "m.db") as store:
        record = store.load("m")
    for path in folder.iterdir():
        path.unlink()
    record.status = record.reason = "running"
    record.ended = record.goals = None
    record.moves, record.step_times = record.moves[:1], record.step_times[:1]
    record.messages = [message for message in record.messages if message.step < 1]
    with Store(folder / "m.db") as store:
        store.save(record)


def _played(folder: Path) -> Any:
    with Store(folder / "m.db") as store:
        record = store.load("m")
    events = folder / "events.jsonl"
    if events.exists():
        for line in events.read_text(encoding="utf-8").splitlines():
            json.loads(line)
    return [record.status, [list(joint) for joint in record.moves], record.goals]


def _export(folder: Path) -> int:
    return _command("record", "export", folder / "m.db", "--to", folder / "out")


def _exported(folder: Path) -> Any:
    return {path.name: json.loads(path.read_text("utf-8"))["moves"] for path in folder.glob("out/*.json")}


def _prepare_import(folder: Path) -> None:
    _record(folder)
    _export(folder)
    (folder / "m.db").rename(folder / "source.db")


def _import(folder: Path) -> int:
    return _command("record", "import", folder / "m.db", folder / "out" / "m.json")


def _resume_import(folder: Path) -> int:
    if (folder / "m.db").exists() and (folder / "m.db").stat().st_size:
        with Store(folder / "m.db") as store:
            if "m" in store.ids():
                return 0
    return _import(folder)


def _sign(folder: Path) -> int:
    key = folder / "key.pem"
    if not key.exists() and (status := _command("record", "keygen", key)):
        return status
    return _command("record", "sign", folder / "m.db", "--key", key)


def _signed(folder: Path) -> Any:
    with Store(folder / "m.db") as store:
        return store.load("m").signature is not None


_PLAYERS: Final = {"legal": "legal", "random": "random"}


def _tournament(folder: Path) -> int:
    players = [word for name in _PLAYERS for word in ("--player", name)]
    clocks = ("--start-clock", "20", "--play-clock", "20", "--workers", "1", "--name", "t")
    return _command("tournament", "kuhn", *players, *clocks, "--record", folder / "t.db", *_drawn(folder))


def _drawn(folder: Path) -> tuple[str | Path, ...]:
    return ("--html", folder / "t.html", "--plot", folder / "t.svg")


def _resume_tournament(folder: Path) -> int:
    path = folder / "t.db"
    if path.exists() and path.stat().st_size:
        with Store(path) as store:
            begun = Tournament.names(store)
        if begun:
            return _command("tournament", "--resume", "--record", path, "--workers", "1", *_drawn(folder))
    return _tournament(folder)


def _tournament_on_threads(folder: Path) -> int:
    def play() -> None:
        plan = plan_with({"kuhn": load("kuhn")}, _PLAYERS, name="t", start_clock=20, play_clock=20)
        with Store(folder / "t.db") as store, ThreadPoolExecutor(1) as executor:
            begun = Tournament.names(store)
            tournament = Tournament(store, "t") if begun else Tournament.create(store, plan)
            tournament.run(executor, shared=True)

    return _library(play)


def _standings(folder: Path) -> Any:
    with Store(folder / "t.db") as store:
        results = Tournament(store, "t").results()
    pages = [path.name for path in sorted(folder.iterdir()) if path.suffix in (".html", ".svg")]
    return [results.played, results.unsettled, [row["games"] for row in results.table], pages]


class _Inline(Executor):
    """Runs jobs at once, in this thread."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **options: Any) -> Future[Any]:
        future: Future[Any] = Future()
        try:
            future.set_result(fn(*args, **options))
        except Exception as error:  # noqa: BLE001  # an executor keeps any error for the caller
            future.set_exception(error)
        return future


def _measures(game: Game, seed: int) -> dict[str, float]:
    """Return measures of a game that cost no time."""
    del seed
    length = float(len(game.name))
    return {"search_length": length, "branching": 3.0, "search_balance": 0.9, "skill": 0.8, "depth": 1.0}


def _proofs(design: Design) -> Proofs:
    """Return proofs of a game that cost no time."""
    del design
    return {"termination": "proved"}, "", {}


def _evolve(folder: Path) -> int:
    def search() -> None:
        settings = SearchSettings(seed=5, batch=2, first=2, families=("board",))
        run = GameSearch(folder / "search.db", settings, measure=_measures, prove=_proofs)
        run.run(batches=2, executor=_Inline())
        write_gallery(folder, run.progress(), run.everything(), "prefix")
        run.close()

    return _library(search)


def _evolved(folder: Path) -> Any:
    games = json.loads((folder / "games.json").read_text(encoding="utf-8"))
    sheets = sorted(path.name for path in (folder / "games").iterdir())
    return [sorted(game["name"] for game in games), sheets, (folder / "index.html").exists()]


def _nothing(folder: Path) -> None:
    """Prepare nothing."""
    del folder


SCENARIOS: Final = {
    "record a match": Scenario(_nothing, _record, _resume, _played),
    "record a match of a process": Scenario(_nothing, _record_with_process, _resume, _played, is_fixed=False),
    "resume a match": Scenario(_interrupt, _go_on, _resume, _played),
    "export matches": Scenario(_record, _export, _export, _exported),
    "import a match": Scenario(_prepare_import, _import, _resume_import, _played),
    "sign a match": Scenario(_record, _sign, _sign, _signed),
    "tournament": Scenario(_nothing, _tournament, _resume_tournament, _standings),
    "tournament on threads": Scenario(_nothing, _tournament_on_threads, _tournament_on_threads, _standings),
    "search for games": Scenario(_nothing, _evolve, _evolve, _evolved),
}
"""The kinds of work, by name."""
