"""Tasks on workers: results do not depend on who computes them, and no worker or driver that dies loses more than one."""

from __future__ import annotations

import json
import os
import pickle
import re
import sqlite3
import time
from concurrent.futures import Future, ThreadPoolExecutor
from multiprocessing.context import SpawnProcess
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

import herbrand
from herbrand.cli.main import cli
from herbrand.errors import BudgetExceeded, HerbrandError, MissingExtra, MissingProgram
from herbrand.runtime.cluster import Runner, Task, TaskProgress, connect, run_tasks, values
from herbrand.runtime.cluster.edition import edition
from herbrand.runtime.cluster.results import ResultFile
from herbrand.runtime.cluster.tasks import perform
from herbrand.runtime.limits import Limits
from herbrand.runtime.pool import WorkerLost, WorkerPool

if TYPE_CHECKING:
    from pathlib import Path


def square(number: int, delay: float = 0.0) -> int:
    """A task."""
    time.sleep(delay)
    return number * number


def failing(number: int) -> int:
    """A task that fails."""
    raise BudgetExceeded(f"{number} seconds", "half of it")


def squares(count: int, delay: float = 0.0) -> list[Task]:
    """Tasks of which the first end last."""
    return [Task(f"square-{n}", square, (n, delay * (count - n))) for n in range(count)]


@pytest.fixture(scope="module")
def pool() -> Any:
    """Two processes for all tests of this file."""
    workers = WorkerPool(2)
    yield workers
    workers.shutdown(wait=False)


# -- tasks ---------------------------------------------------------------------------------------------


def test_results_are_in_the_order_of_tasks() -> None:
    """This process, and threads that end in another order, give the same list."""
    expected = [n * n for n in range(6)]
    assert values(run_tasks(squares(6))) == expected
    ended: list[str] = []
    with ThreadPoolExecutor(6) as threads:
        found = run_tasks(
            squares(6, 0.02),
            executor=threads,
            progress=lambda now: ended.append(now.latest.name) if now.latest else None,
        )
    assert values(found) == expected
    assert ended != [result.name for result in found]


def test_progress_has_the_time_that_is_left() -> None:
    """It counts to the end, and the estimate falls to 0."""
    seen: list[TaskProgress] = []
    run_tasks(squares(4, 0.01), progress=seen.append)
    assert [now.done for now in seen] == [0, 1, 2, 3, 4]
    assert seen[0].left is None
    assert seen[-1].left == 0
    assert seen[1].left is not None
    assert seen[1].left == pytest.approx(3 * seen[1].seconds)


def test_a_failure_has_its_task() -> None:
    """The other tasks have results; `values` raises for the first failure, by its name."""
    found = run_tasks([Task("fails-1", failing, (3,)), *squares(2)])
    assert [result.failed for result in found] == [True, False, False]
    assert (found[0].kind, found[0].error, found[0].attempts) == (
        "BudgetExceeded",
        "over budget: 3 seconds (half of it)",
        1,
    )
    with pytest.raises(HerbrandError, match="`fails-1` failed: over budget"):
        values(found)


def test_a_worker_whose_system_refuses_something_gets_the_task_again() -> None:
    """Twice more, as memory or files may be free again; then the task fails with the number of attempts."""
    calls = []

    def refused() -> None:
        calls.append(1)
        raise OSError("no file left")

    (result,) = run_tasks([Task("refused", refused)])
    assert (len(calls), result.error, result.kind) == (3, "no file left (3 attempts)", "OSError")


def test_another_edition_is_refused() -> None:
    """A worker with another version or other code computes nothing, and says which it has."""

    class Elsewhere(ThreadPoolExecutor):
        def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
            assert args[0] == edition()
            return super().submit(fn, "0.1.0 (12345678)", *args[1:], **kwargs)

    with Elsewhere(1) as workers:
        (result,) = run_tasks([Task("square", square, (2,))], executor=workers)
    assert result.kind == "WorkerRefused"
    assert f"has herbrand {edition()}, not 0.1.0 (12345678): install the same" in result.error
    assert perform(edition(), Task("square", square, (3,))).value == 9
    assert edition().startswith(herbrand.__version__)


def test_tasks_that_cannot_be_sent_fail(pool: WorkerPool) -> None:
    """A function of another module's inside fails by name, and the rest goes on."""
    found = run_tasks([Task("local", lambda: 1), Task("sum", sum, ([1, 2],))], executor=pool)
    assert "pickle" in found[0].error
    assert found[1].value == 3


@pytest.mark.parametrize(
    "error",
    [
        BudgetExceeded("3 s", "half"),
        MissingExtra("this", "cluster"),
        MissingProgram("this", "swipl", "nowhere"),
        herbrand.GameError("bad", ()),
    ],
)
def test_errors_can_be_sent(error: HerbrandError) -> None:
    """Pickled exceptions are the same, whatever arguments their classes take."""
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is type(error)
    assert str(copy) == str(error)
    assert copy.__dict__ == error.__dict__


# -- processes -----------------------------------------------------------------------------------------


DIES_ONCE = """
import os, pathlib, signal
mark = pathlib.Path({mark!r})
if not mark.exists():
    mark.touch()
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_killed_worker_costs_its_task_only(pool: WorkerPool, tmp_path: Path) -> None:
    """It is sent again; one that always ends its process fails by name, after three attempts."""
    once = DIES_ONCE.format(mark=str(tmp_path / "mark"))
    tasks = [
        Task("dies-always", os._exit, (7,)),
        Task("dies-once", exec, (once,)),
        *(Task(f"power-{n}", pow, (n, 3)) for n in range(6)),
    ]
    found = run_tasks(tasks, executor=pool)
    assert found[0].kind == "WorkerLost"
    assert found[0].error == "its worker process ended (exit status 7) (3 attempts)"
    assert (found[1].error, found[1].attempts) == ("", 2)
    assert [result.value for result in found[2:]] == [n**3 for n in range(6)]
    assert {result.attempts for result in found[2:]} == {1}


def test_a_worker_that_cannot_be_started_fails_its_task(monkeypatch: pytest.MonkeyPatch) -> None:
    """The next task tries again, and closing the pool has nothing to end."""
    workers = WorkerPool(1, megabytes=300)
    with monkeypatch.context() as patch:
        patch.setattr(SpawnProcess, "start", lambda _: (_ for _ in ()).throw(OSError("too many processes")))
        (failed,) = run_tasks([Task("sum", sum, ([1, 2],))], executor=workers, attempts=1)
        assert "too many processes" in failed.error
        workers.shutdown(wait=False, cancel_futures=True)


def test_a_worker_beyond_its_memory_is_stopped() -> None:
    """The task fails with the limit; the next one finds a worker."""
    workers = WorkerPool(1, megabytes=300)
    hog = "import time\nblock = bytearray(500_000_000)\nblock[::4096] = b'x' * len(block[::4096])\ntime.sleep(5)"
    try:
        found = run_tasks(
            [Task("hog", exec, (hog,)), Task("sum", sum, ([1, 2],))], executor=workers, attempts=1
        )
    finally:
        workers.shutdown(wait=False)
    assert "300 MB" in found[0].error or found[0].kind == "WorkerLost"
    assert found[1].value == 3


def test_a_pool_that_is_shut_down_ends_its_tasks() -> None:
    """Without waiting for them: neither those under way nor those that wait."""
    workers = WorkerPool(1)
    first, second = workers.submit(time.sleep, 60), workers.submit(time.sleep, 60)
    while not workers.processes:
        time.sleep(0.01)
    began = time.monotonic()
    workers.shutdown(wait=False, cancel_futures=True)
    assert time.monotonic() - began < 30  # the tasks take a minute
    assert isinstance(first.exception(), WorkerLost)
    assert second.cancelled()
    with pytest.raises(RuntimeError):
        workers.submit(time.sleep, 0)


# -- results -------------------------------------------------------------------------------------------


def test_a_driver_that_is_interrupted_goes_on(tmp_path: Path) -> None:
    """What has a result is not computed again, and the results are those of an uninterrupted run."""
    calls: list[int] = []

    def counted(number: int) -> dict[str, int]:
        calls.append(number)
        return {"square": number * number}

    def kill(now: TaskProgress) -> None:
        if now.done == 3:
            raise KeyboardInterrupt

    tasks = [Task(f"square-{n}", counted, (n,)) for n in range(5)]
    with ResultFile(tmp_path / "r.db", "test") as results, pytest.raises(KeyboardInterrupt):
        run_tasks(tasks, results=results, progress=kill)
    assert calls == [0, 1, 2]
    for _ in range(2):
        with ResultFile(tmp_path / "r.db", "test") as results:
            assert values(run_tasks(tasks, results=results)) == [{"square": n * n} for n in range(5)]
    assert calls == [0, 1, 2, 3, 4]


def test_a_lost_worker_is_tried_again_by_the_next_driver(tmp_path: Path) -> None:
    """Failures of tasks are kept; those of workers are not."""
    errors: dict[str, Exception] = {"a": WorkerLost("killed"), "b": BudgetExceeded("1 s")}
    calls: list[str] = []

    def fails(name: str) -> None:
        calls.append(name)
        raise errors[name]

    tasks = [Task(name, fails, (name,)) for name in "ab"]
    for _ in range(2):
        with ResultFile(tmp_path / "r.db", "test") as results:
            kinds = [each.kind for each in run_tasks(tasks, results=results, attempts=1)]
            assert kinds == ["WorkerLost", "BudgetExceeded"]
    assert calls == ["a", "b", "a"]


def test_results_of_something_else_are_refused(tmp_path: Path) -> None:
    """Of other settings, other rules, another command, another version; and files that are none."""
    path = tmp_path / "r.db"
    game, other = herbrand.load("nim"), herbrand.load("ticTacToe")
    with ResultFile(path, "test") as results:
        run_tasks([Task("roles", str, (game,))], results=results)
    with ResultFile(path, "test") as results:
        assert run_tasks([Task("roles", str, (game,))], results=results)[0].value == "nim"
        with pytest.raises(HerbrandError, match="`roles` for other rules or settings"):
            run_tasks([Task("roles", str, (other,))], results=results)
        with pytest.raises(HerbrandError, match="`roles` for other rules or settings"):
            run_tasks([Task("roles", repr, (game,))], results=results)
    with pytest.raises(HerbrandError, match="results of `test`, not of `other`"):
        ResultFile(path, "other")
    with sqlite3.connect(path) as connection:
        connection.execute("update run set version = '0.0.1'")
    with pytest.raises(HerbrandError, match=r"another herbrand, 0.0.1"):
        ResultFile(path, "test")
    (tmp_path / "text.db").write_text("no database" * 100)
    with pytest.raises(HerbrandError, match="cannot use"):
        ResultFile(tmp_path / "text.db", "test")
    with sqlite3.connect(tmp_path / "else.db") as connection:
        connection.execute("create table notes (text)")
    with pytest.raises(HerbrandError, match="is another database"):
        ResultFile(tmp_path / "else.db", "test")


# -- games ---------------------------------------------------------------------------------------------


def test_random_games_are_the_same_on_any_executor(pool: WorkerPool) -> None:
    """Threads, one or three, and processes play the games that this process plays."""
    game = herbrand.load("ticTacToe")
    options: dict[str, Any] = {"playouts": 70_000, "seed": 5}
    expected = {**game.simulate(**options).as_json(), "seconds": 0, "transitions_per_s": 0}
    assert expected["playouts"] == 70_000
    steps: list[int] = []
    for workers in (ThreadPoolExecutor(1), ThreadPoolExecutor(3), pool):
        found = game.simulate(
            **options, executor=workers, progress=lambda done, of: steps.append(done)
        ).as_json()
        assert {**found, "seconds": 0, "transitions_per_s": 0} == expected
    assert max(steps) == 70_000
    weighted = game.simulate(**options, weights={"xplayer": {"(mark 2 2)": 9}})
    with ThreadPoolExecutor(2) as threads:
        found = game.simulate(**options, weights={"xplayer": {"(mark 2 2)": 9}}, executor=threads)
    assert found.goals == weighted.goals


def test_random_games_go_on_from_a_file_of_results(tmp_path: Path) -> None:
    """A call without time leaves the parts that were played; the next one plays the others."""
    game, path = herbrand.load("ticTacToe"), tmp_path / "games.db"
    options: dict[str, Any] = {"playouts": 70_000, "seed": 5}
    expected = {**game.simulate(**options).as_json(), "seconds": 0, "transitions_per_s": 0}
    with ThreadPoolExecutor(1) as threads:
        with ResultFile(path, "test") as file, pytest.raises(BudgetExceeded, match="parts played"):
            game.simulate(**options, executor=threads, results=file, limits=Limits(seconds=0.0))
        with ResultFile(path, "test") as file:
            found = game.simulate(**options, executor=threads, results=file).as_json()
            again = game.simulate(**options, executor=threads, results=file).as_json()
            with pytest.raises(HerbrandError, match="for other rules or settings"):
                game.simulate(**{**options, "seed": 6}, executor=threads, results=file)
    assert {**found, "seconds": 0, "transitions_per_s": 0} == expected
    assert again == found, "the seconds are those of the first time"
    with (
        pytest.raises(ValueError, match="results are those of an executor"),
        ResultFile(path, "test") as file,
    ):
        game.simulate(**options, results=file)


def run(*words: str) -> tuple[int, str, str]:
    """Exit code and outputs of a command."""
    outcome = CliRunner().invoke(cli, words)
    return outcome.exit_code, outcome.stdout, outcome.stderr


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with three rulesheets, one of them faulty."""
    sheets = tmp_path / "sheets"
    sheets.mkdir()
    for name in ("nim", "rockPaperScissors"):
        (sheets / f"{name}.kif").write_bytes(herbrand.games.path(name).read_bytes())
    (sheets / "bad.kif").write_text("(role a) (legal a ?x)")
    return sheets


def test_a_collection_is_analysed_and_resumed(folder: Path, tmp_path: Path) -> None:
    """One table; the second call reads the file of results; the faulty sheet is reported by name."""
    words = ("analyse", str(folder), "--jobs", "1", "--results", str(tmp_path / "a.db"))
    status, out, err = run(*words)
    assert status == 1
    assert "error: analyse-bad: " in err
    assert [line.split()[0] for line in out.splitlines()] == ["game", "nim", "rockPaperScissors"]
    assert "232" in out
    with sqlite3.connect(tmp_path / "a.db") as connection:
        before = connection.execute("select name, written from result order by name").fetchall()
    assert [name for name, _ in before] == ["analyse-bad", "analyse-nim", "analyse-rockPaperScissors"]
    status, out, _ = run(*words, "--json")
    assert [row["game"] for row in json.loads(out)] == ["nim", "rockPaperScissors"]
    with sqlite3.connect(tmp_path / "a.db") as connection:
        assert connection.execute("select name, written from result order by name").fetchall() == before
    assert "for other rules or settings" in run(*words, "--budget", "5")[2]


def test_a_folder_is_solved(folder: Path, tmp_path: Path) -> None:
    """One line for each game; one whose roles do not see everything is reported."""
    (folder / "bad.kif").unlink()
    (folder / "kuhn.kif").write_bytes(herbrand.games.path("kuhn").read_bytes())
    words = ("solve", str(folder), "--jobs", "1", "--results", str(tmp_path / "s.db"))
    status, out, err = run(*words)
    assert status == 1
    assert "error: solve-kuhn: roles do not see everything" in err
    assert [line.split()[0] for line in out.splitlines()] == ["game", "nim", "rockPaperScissors"]
    assert "first 100, second 0" in out
    assert run(*words, "-o", str(tmp_path / "x.npz"))[0] == 2


def test_a_folder_is_measured_as_its_files_are(folder: Path) -> None:
    """In the same order, with the same numbers."""
    (folder / "bad.kif").unlink()
    words = ("--budget", "cheap", "--only", "length,draws", "--json")
    _, alone, _ = run("measure", str(folder / "nim.kif"), str(folder / "rockPaperScissors.kif"), *words)
    _, together, _ = run("measure", str(folder), *words, "--jobs", "1")
    measured = [[{**row, "seconds": 0} for row in json.loads(text)] for text in (alone, together)]
    assert measured[0] == measured[1]
    assert len(measured[0]) == 2


@pytest.mark.slow
@pytest.mark.parametrize(
    "words",
    [
        ("tasks", "make", "nim", "--evolved", "1", "-n", "1", "--kind", "legal"),
        ("simulate", "nim", "-n", "40000", "--seed", "3", "--json"),
        ("count", "nim", "ticTacToe", "--json"),
        ("analyse", "nim", "ticTacToe", "--json"),
    ],
    ids=lambda words: words[0],
)
def test_commands_give_the_same_with_processes(words: tuple[str, ...]) -> None:
    """And with a Dask scheduler, but for what depends on clocks."""
    clocks = re.compile(r'"(seconds|transitions_per_s|megabytes)": [\d.]+')
    once, again = (clocks.sub("", run(*words, "--jobs", jobs)[1]) for jobs in "12")
    assert once == again
    assert len(once) > 100


def test_wrong_uses_say_what_to_do(tmp_path: Path) -> None:
    """Two kinds of workers at once, a folder without rulesheets, a scheduler that is not there."""
    assert "give one of them" in run("simulate", "nim", "--jobs", "1", "--cluster", "tcp://127.0.0.1:9")[2]
    assert "no rulesheet in the folder" in run("measure", str(tmp_path))[2]
    pytest.importorskip("distributed")
    with pytest.raises(
        HerbrandError, match=r"no Dask scheduler answers at `tcp://127.0.0.1:9`.*dask scheduler"
    ):
        connect("tcp://127.0.0.1:9", seconds=0.2)


# -- Dask ----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def scheduler() -> Any:
    """A Dask scheduler with two workers in threads of this process."""
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None, protocol="tcp"
    ) as cluster:
        yield cluster


def test_a_dask_scheduler_plays_the_same_and_shows_names(scheduler: Any) -> None:
    """Its keys begin with the names of tasks; two runs do not share keys."""
    executor = connect(scheduler.scheduler_address)
    keys: list[str] = []
    submit = executor.client.submit

    def spy(*args: Any, key: str, **options: Any) -> Any:
        keys.append(key)
        return submit(*args, key=key, **options)

    executor.client.submit = spy
    game = herbrand.load("ticTacToe")
    try:
        found = [game.simulate(40_000, seed=5, executor=executor) for _ in range(2)]
    finally:
        executor.shutdown()
    assert found[0].goals == found[1].goals == game.simulate(40_000, seed=5).goals
    assert len(set(keys)) == len(keys) == 4
    assert sorted(key.rsplit("-", 1)[0] for key in keys[:2]) == [
        "simulate-ticTacToe-0001",
        "simulate-ticTacToe-0002",
    ]


def test_the_option_cluster_reaches_it(scheduler: Any) -> None:
    """A command on the scheduler prints what it prints alone."""
    words = ("simulate", "nim", "-n", "40000", "--seed", "3", "--json")
    alone, there = (
        json.loads(run(*words, *more)[1]) for more in ((), ("--cluster", scheduler.scheduler_address))
    )
    assert {**alone, "seconds": 0, "transitions_per_s": 0} == {**there, "seconds": 0, "transitions_per_s": 0}


def test_workers_with_another_edition_get_no_tasks(scheduler: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """One of two is refused, and named; all tasks go to the other; with none left the error says why."""
    executor = connect(scheduler.scheduler_address)
    try:
        first, second = executor.client.run(edition)
        monkeypatch.setattr(executor.client, "run", lambda *_, **__: {first: "0.1.0 (0)", second: edition()})
        assert executor.look_at_workers() == [second]
        assert executor.refused == {first: "it has herbrand 0.1.0 (0)"}
        addresses = {executor.submit(_address).result(10) for _ in range(6)}
        assert addresses == {second}
        monkeypatch.setattr(
            executor.client, "run", lambda *_, **__: dict.fromkeys((first, second), "0.1.0 (0)")
        )
        with pytest.raises(HerbrandError, match=r"no worker of .* has herbrand .*it has herbrand 0.1.0"):
            executor.look_at_workers()
    finally:
        executor.shutdown()


def _address() -> str:
    from distributed import get_worker

    return str(get_worker().address)


@pytest.mark.parametrize("close", [False, True])
def test_a_scheduler_that_is_lost_for_a_moment_gets_the_tasks_again(scheduler: Any, close: bool) -> None:
    """All futures of Dask are cancelled when its connection ends; ours end with their values."""
    executor = connect(scheduler.scheduler_address)
    try:
        runner = Runner(executor)
        futures = [runner.submit(Task(f"slow-{n}", square, (n, 0.1))) for n in range(4)]

        async def cut() -> None:
            executor.client.scheduler_comm.comm.abort()

        if close:  # as Dask does if it cannot reconnect for a while
            executor.client.close()
        else:
            executor.client.sync(cut)
        futures.append(runner.submit(Task("later", square, (5,))))
        assert [future.result(60).value for future in futures] == [0, 1, 4, 9, 25]
    finally:
        executor.shutdown()
