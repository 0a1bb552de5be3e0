"""Measure work on several workers: overhead, efficiency, and what workers and networks that fail cost.

    python benchmarks/scaling.py [--parts NAME...] [--workers N...] [--json FILE]

| part         | what it measures                                                                        |
|--------------|-----------------------------------------------------------------------------------------|
| `overhead`   | processor time for a task that does nothing: this process, `WorkerPool`, Dask           |
| `efficiency` | random games of connect four: share of all processor time that is spent in the games    |
| `faults`     | four workers, of which two are killed and one is stopped (SIGSTOP)                      |
| `network`    | two workers in network namespaces; one is cut off for ten seconds (Linux, root)         |
| `commands`   | each command with two workers, one of which is killed: the output is that of one        |
| `evolve`     | the costs of a search, and a simulation of it with up to 1 000 workers                  |
| `train`      | the costs of a training, and what up to 1 000 workers would do in it                    |

Times are processor times of all processes together where nothing else is said, so that other programs on the
machine disturb little; on a machine with two processors more than two workers show overhead only.  Dask's
workers are processes with 600 MB each, its scheduler is in this process.
"""

from __future__ import annotations

import argparse
import heapq
import json
import os
import random
import re
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil

import herbrand
from herbrand.runtime.cluster import Task, TaskProgress, connect, run_tasks
from herbrand.runtime.cluster.results import ResultFile
from herbrand.runtime.pool import WorkerPool

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from concurrent.futures import Executor

MEMORY = "600MB"
NOTHING = 500
"""Tasks that do nothing."""
GAMES = 1 << 28
"""Random games of connect four, in 16 parts."""
SLEEPS = 150
"""Tasks that wait for a tenth of a second each."""
TTL = "60s"
"""How long a worker may be silent."""


def processor_time() -> float:
    """Return the seconds of this process and its descendants, those that ended included."""
    me = psutil.Process()
    total = 0.0
    for process in [me, *me.children(recursive=True)]:
        try:
            times = process.cpu_times()
        except psutil.Error:
            continue
        total += times.user + times.system + times.children_user + times.children_system
    return total


@contextmanager
def dask(workers: int, **settings: Any) -> Iterator[Any]:
    """Yield a `LocalCluster` of processes with limited memory."""
    import dask.config
    from distributed import LocalCluster

    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 10, **settings}),
        LocalCluster(
            n_workers=workers, threads_per_worker=1, memory_limit=MEMORY, dashboard_address=":0"
        ) as cluster,
    ):
        cluster.wait_for_workers(workers)
        yield cluster


@contextmanager
def executor_of(kind: str, workers: int) -> Iterator[Executor | None]:
    """Yield an executor of a kind."""
    if kind == "this process":
        yield None
        return
    with ExitStack() as stack:
        if kind == "WorkerPool":
            executor: Any = WorkerPool(workers, megabytes=600)
        else:
            executor = connect(stack.enter_context(dask(workers)).scheduler_address)
        try:
            yield executor
        finally:
            executor.shutdown(wait=False)


# -- parts ---------------------------------------------------------------------------------------------


def overhead(workers: list[int]) -> list[dict[str, Any]]:
    """Measure tasks that do nothing."""
    rows = []
    for kind, counts in (("this process", [1]), ("WorkerPool", workers), ("Dask", workers)):
        for count in counts:
            with executor_of(kind, count) as executor:
                run_tasks(
                    [Task(f"warm-{n}", time.sleep, (0.1,)) for n in range(4 * count)], executor=executor
                )
                driver = time.process_time()
                spent, began = processor_time(), time.monotonic()
                run_tasks([Task(f"sum-{n}", sum, ([n, 1],)) for n in range(NOTHING)], executor=executor)
                wall, spent = time.monotonic() - began, processor_time() - spent
                driver = time.process_time() - driver
            rows.append(
                {
                    "executor": kind,
                    "workers": count,
                    "tasks": NOTHING,
                    "driver_ms_per_task": round(1000 * driver / NOTHING, 3),
                    "cpu_ms_per_task": round(1000 * spent / NOTHING, 3),
                    "wall_ms_per_task": round(1000 * wall / NOTHING, 3),
                }
            )
            print(rows[-1], flush=True)
    return rows


def efficiency(workers: list[int]) -> list[dict[str, Any]]:
    """Measure random games, which are the same each time."""
    game = herbrand.load("connectFour")
    alone = game.simulate(GAMES, seed=1, threads=1)
    rows = []
    for kind in ("WorkerPool", "Dask"):
        for count in workers:
            with executor_of(kind, count) as executor:
                # every worker builds the network before
                game.simulate(GAMES >> 6, seed=2, executor=executor)
                spent, began = processor_time(), time.monotonic()
                found = game.simulate(GAMES, seed=1, executor=executor)
                wall, spent = time.monotonic() - began, processor_time() - spent
            rows.append(
                {
                    "executor": kind,
                    "workers": count,
                    "parts": 16,
                    "games_cpu_s": round(found.seconds, 2),
                    "cpu_s": round(spent, 2),
                    "efficiency": round(found.seconds / spent, 3),
                    "wall_s": round(wall, 2),
                    "same": found.goals == alone.goals and found.lengths == alone.lengths,
                }
            )
            print(rows[-1], flush=True)
    return rows


WAIT = """
import os, time
time.sleep({seconds})
with open({log!r}, 'a') as file:
    file.write('{name}\\n')
"""


def _watched(
    executor: Any, folder: Path, seconds: float, at: dict[int, Callable[[], None]]
) -> dict[str, Any]:
    """Run tasks that note it; do something when so many are done; return what was lost or doubled."""
    log, database = folder / "ran.txt", folder / "results.db"
    tasks = [
        Task(f"wait-{n}", exec, (WAIT.format(seconds=seconds, log=str(log), name=f"wait-{n}"),))
        for n in range(SLEEPS)
    ]
    done: list[str] = []

    def report(now: TaskProgress) -> None:
        if now.latest is not None:
            done.append(now.latest.name)
            if len(done) in at:
                at.pop(len(done))()

    began = time.monotonic()
    with ResultFile(database, "scaling") as results:
        found = run_tasks(tasks, executor=executor, results=results, progress=report)
    wall = time.monotonic() - began
    with sqlite3.connect(database) as connection:
        ((rows, names),) = connection.execute("select count(*), count(distinct name) from result").fetchall()
    ran = log.read_text(encoding="utf-8").split()
    return {
        "tasks": SLEEPS,
        "lost": sum(result.failed for result in found),
        "reported_twice": len(done) - len(set(done)),
        "rows": rows,
        "names": names,
        "ran_twice": len(ran) - len(set(ran)),
        "wall_s": round(wall, 1),
    }


def faults(_: list[int]) -> list[dict[str, Any]]:
    """Kill two workers of four, and stop a third one."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        ttl = {"distributed.scheduler.worker-ttl": TTL}
        with dask(4, **ttl) as cluster:
            executor = connect(cluster.scheduler_address)
            processes = list(executor.client.run(os.getpid).values())
            kill = {
                60: lambda: os.kill(processes[0], signal.SIGKILL),
                90: lambda: os.kill(processes[1], signal.SIGSTOP),
                120: lambda: os.kill(processes[2], signal.SIGKILL),
            }
            try:
                rows.append({"executor": "Dask", **_watched(executor, Path(folder), 0.1, kill)})
            finally:
                for process in processes[1:2]:
                    if psutil.pid_exists(process):
                        os.kill(process, signal.SIGCONT)
                executor.shutdown()
        print(rows[-1], flush=True)
    with tempfile.TemporaryDirectory() as folder:
        pool = WorkerPool(4, megabytes=600)
        stopped: list[int] = []

        def stop() -> None:
            stopped.append(pool.processes[-1])
            os.kill(stopped[0], signal.SIGSTOP)
            threading.Timer(10, os.kill, (stopped[0], signal.SIGCONT)).start()

        kill = {
            60: lambda: os.kill(pool.processes[0], signal.SIGKILL),
            90: stop,
            120: lambda: os.kill(pool.processes[1], signal.SIGKILL),
        }
        try:
            rows.append({"executor": "WorkerPool", **_watched(pool, Path(folder), 0.1, kill)})
        finally:
            pool.shutdown(wait=False)
        print(rows[-1], flush=True)
    return rows


def _ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True)  # noqa: S603, S607


def network(_: list[int]) -> list[dict[str, Any]]:
    """Cut the network of one of two workers for ten seconds, while tasks run."""
    if sys.platform != "linux" or os.geteuid() != 0:
        return [{"skipped": "needs Linux and root for network namespaces"}]
    python, row = sys.executable, {}
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        started: list[subprocess.Popen[bytes]] = []

        def end() -> None:
            for process in started:
                process.terminate()
            for process in started:
                process.wait(20)

        for number in range(2):
            name, near, far = f"hbscale{number}", f"hbs{number}a", f"hbs{number}b"
            _ip("netns", "add", name)
            stack.callback(_ip, "netns", "del", name)
            _ip("link", "add", near, "type", "veth", "peer", "name", far)
            _ip("link", "set", far, "netns", name)
            _ip("addr", "add", f"10.199.{number}.1/24", "dev", near)
            _ip("link", "set", near, "up")
            for words in (
                ("addr", "add", f"10.199.{number}.2/24", "dev", far),
                ("link", "set", far, "up"),
                ("link", "set", "lo", "up"),
            ):
                _ip("netns", "exec", name, "ip", *words)
        stack.callback(end)
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        words = [python, "-m", "distributed.cli.dask_scheduler", "--host", "tcp://0.0.0.0", "--no-dashboard"]
        started.append(subprocess.Popen([*words, "--port", "8799"], **quiet))  # noqa: S603
        for number in range(2):
            inside = ["ip", "netns", "exec", f"hbscale{number}", python, "-m", "distributed.cli.dask_worker"]
            options = ["--nthreads", "1", "--memory-limit", MEMORY, "--no-dashboard", "--no-nanny"]
            address = f"tcp://10.199.{number}.1:8799"
            started.append(subprocess.Popen([*inside, address, *options], cwd=folder, **quiet))  # noqa: S603
        executor = connect("tcp://127.0.0.1:8799", seconds=60)
        executor.client.wait_for_workers(2, timeout=60)
        cut: list[float] = []

        def cut_network() -> None:
            _ip("link", "set", "hbs1a", "down")
            cut.append(time.monotonic())
            threading.Timer(10, restore).start()

        def restore() -> None:
            _ip("link", "set", "hbs1a", "up")
            cut.append(time.monotonic())

        try:
            row = _watched(executor, folder, 0.15, {60: cut_network})
        finally:
            executor.shutdown()
            while len(cut) == 1:
                time.sleep(0.1)
        row["cut_s"] = round(cut[1] - cut[0], 1)
        row["workers"] = 2
    print(row, flush=True)
    return [row]


CLOCKS = re.compile(
    r'"(?:seconds|transitions_per_s|cpu_s|megabytes|variation|check|ground|proofs|[a-z ]*games|'
    r'measures)": [\d.e-]+'
)
COMMANDS = {
    "simulate": ["simulate", "connectFour", "-n", "4000000", "--seed", "1", "--json"],
    "analyse": ["analyse", "nim", "ticTacToe", "rockPaperScissors", "kuhn", "--json"],
    "count": ["count", "nim", "ticTacToe", "rockPaperScissors", "--json"],
    "solve": ["solve", "nim", "ticTacToe", "notakto", "--json"],
    "train": ["train", "connectFour", "--games", "8192", "--seed", "1", "-o", "{out}.npz", "--json"],
    "measure": ["measure", "nim", "ticTacToe", "kuhn", "breakthrough", "--budget", "cheap", "--json"],
    "tasks make": ["tasks", "make", "nim", "ticTacToe", "kuhn", "--evolved", "3", "-n", "3"],
    "bench": ["bench", "nim", "ticTacToe", "kuhn", "--seconds", "1", "--json"],
    "evolve": ["evolve", "--out", "{out}", "--batches", "2", "--seed", "4", "--family", "tricks", "--json"],
    "tournament": [
        *("tournament", "nim", "ticTacToe", "--player", "legal", "--player", "greedy", "--seed", "2"),
        *("--record", "{out}.db", "--start-clock", "20", "--play-clock", "20", "--json"),
    ],
}


def commands(_: list[int]) -> list[dict[str, Any]]:
    """Run each command with two workers, of which one is killed."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name, words in COMMANDS.items():
            alone = _command(words, Path(folder, "alone"), ["--jobs", "1"], None)
            pool = _command(words, Path(folder, "pool"), ["--jobs", "2"], "spawn_main")
            with dask(2) as cluster:
                address = ["--cluster", cluster.scheduler_address]
                there = _command(words, Path(folder, "dask"), address, cluster)
            rows.append(
                {
                    "command": name,
                    "jobs_same": _comparable(name, pool[0]) == _comparable(name, alone[0]),
                    "jobs_killed": pool[1],
                    "cluster_same": _comparable(name, there[0]) == _comparable(name, alone[0]),
                    "cluster_killed": there[1],
                    "status": [alone[2], pool[2], there[2]],
                }
            )
            print(rows[-1], flush=True)
    return rows


def _comparable(name: str, text: str) -> str:
    """Return an output without clocks, paths and speeds."""
    if name == "bench":
        return str([(row["game"], row["nodes"]) for row in json.loads(text)])
    if name == "train":
        learned = json.loads(text)
        rounds = [(row["games"], row["states"], row["error"]) for row in learned["snapshots"]]
        return str((learned["games"], learned["states"], rounds))
    if name == "evolve":
        games = json.loads(text)["games"]
        return str([(game["name"], game["measures"], game["quality"]) for game in games])
    return CLOCKS.sub("", text)


def _command(words: list[str], out: Path, options: list[str], target: Any) -> tuple[str, int, int]:
    """Run a command, kill a worker that it uses; return output, how many were killed, and status."""
    words = [word.format(out=out) for word in words]
    process = subprocess.Popen(  # noqa: S603
        [sys.executable, "-m", "herbrand", *words, *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    killed = 0
    output: list[bytes] = []
    assert process.stdout is not None
    reader = threading.Thread(target=lambda: output.append(process.stdout.read()))  # type: ignore[union-attr]
    reader.start()
    while process.poll() is None:
        time.sleep(0.05)
        if target is None or killed:
            continue
        workers = _workers(process.pid, target)
        if workers:
            time.sleep(0.4)  # it has begun a task
            os.kill(workers[0], signal.SIGKILL)
            killed += 1
    reader.join()
    return output[0].decode(), killed, process.returncode


def _workers(pid: int, target: Any) -> list[int]:
    """Return the processes of busy workers."""
    if target == "spawn_main":
        try:
            children = psutil.Process(pid).children()
            return [
                child.pid
                for child in children
                if "spawn_main" in " ".join(child.cmdline()) and sum(child.cpu_times()[:2]) > 0.3
            ]
        except psutil.Error:
            return []
    states = target.scheduler.workers.values()
    return [
        worker.metrics["pid"] if "pid" in worker.metrics else _pid(worker)
        for worker in states
        if worker.processing
    ]


def _pid(worker: Any) -> int:
    """Return the process of a Dask worker, which listens at its port."""
    port = int(worker.address.rsplit(":", 1)[1])
    for connection in psutil.net_connections("tcp"):
        if connection.status == "LISTEN" and connection.laddr.port == port and connection.pid:
            return int(connection.pid)
    raise LookupError(worker.address)


# -- a search on paper ---------------------------------------------------------------------------------


def evolve(_: list[int]) -> list[dict[str, Any]]:
    """Measure the costs of a search, and simulate it with many workers."""
    from herbrand.evolve.search import GameSearch, SearchSettings
    from herbrand.runtime.cluster import Runner, TaskResult
    from herbrand.runtime.cluster.tasks import ThisProcess

    settings = SearchSettings(seed=7)
    with tempfile.TemporaryDirectory() as folder:
        search = GameSearch(Path(folder, "s.db"), settings)
        search.run(batches=5, executor=ThisProcess())
        found = search.everything()
        search.close()
        # what the driver does, without evaluating and proving
        again = GameSearch(Path(folder, "again.db"), settings, prove=_no_proof)
        began = time.thread_time()
        for batch in range(len(found) // settings.batch):
            again._draw(batch, again.archive)
            part = found[batch * settings.batch :][: settings.batch]
            results = [TaskResult("evolve", [candidate]) for candidate in part]
            again._finish(results, Runner(ThisProcess()), lambda: None)
        driver = (time.thread_time() - began) / len(found)
        again.close()
    spent = [sum(s for stage, s in one.seconds.items() if stage != "proofs") for one in found]
    proofs = [one.seconds["proofs"] for one in found if "proofs" in one.seconds]
    (task,) = [row["driver_ms_per_task"] for row in overhead([2]) if row["executor"] == "Dask"]
    return on_paper(spent, proofs, driver, task / 1000)


def _no_proof(design: Any) -> Any:
    del design
    return {}, "", {}


def on_paper(spent: list[float], proofs: list[float], driver: float, task: float) -> list[dict[str, Any]]:
    """Simulate searches, given seconds of candidates and of proofs, of the driver for each, and of a task."""
    rows: list[dict[str, Any]] = [
        {
            "candidates": len(spent),
            "candidate_ms": round(1000 * sum(spent) / len(spent), 1),
            "longest_ms": round(1000 * max(spent), 1),
            "proofs": len(proofs),
            "proof_ms": round(1000 * sum(proofs) / max(1, len(proofs)), 1),
            "driver_ms": round(1000 * driver, 3),
            "task_ms": round(1000 * task, 3),
        }
    ]
    for workers in (1, 10, 100, 1000):
        for batch in sorted({16, 2 * workers, 10 * workers}):
            for group in sorted({1, max(1, batch // 256)}):
                rows.append(_search_on_paper(workers, batch, group, spent, proofs, driver, task))
                print(rows[-1], flush=True)
    return rows


def _search_on_paper(
    workers: int,
    batch: int,
    group: int,
    spent: list[float],
    proofs: list[float],
    driver: float,
    task: float,
) -> dict[str, Any]:
    """Simulate a search: two batches under way, and what driver and scheduler do one after the other.

    A task has `group` candidates.
    """
    chance = random.Random(1)
    batches = max(6, 6000 // batch)
    free = [0.0] * workers  # when each worker is free
    clock = busy = serial = 0.0
    ends: list[float] = []

    def send(count: int, times: list[float], size: int) -> float:
        """Send tasks, and return when the last one is done."""
        nonlocal clock, busy, serial
        last = clock
        for at in range(0, count, size):
            clock, serial = clock + task, serial + task
            seconds = sum(chance.choices(times, k=min(size, count - at)))
            end = max(heapq.heappop(free), clock) + seconds
            heapq.heappush(free, end)
            busy += seconds
            last = max(last, end)
        return last

    for number in range(batches):
        if number >= 2:  # the batch before the last one is finished, and its best games are proved
            clock = max(clock, ends[number - 2]) + driver * batch
            serial += driver * batch
            clock = send(round(batch * len(proofs) / len(spent)), proofs or [0.0], 1)
        ends.append(send(batch, spent, group))
    total = max(ends)
    return {
        "workers": workers,
        "batch": batch,
        "candidates_of_a_task": group,
        "candidates_per_s": round(batch * batches / total, 2),
        "workers_busy": round(busy / total / workers, 3),
        "driver_busy": round(serial / total, 3),
    }


def train(_: list[int]) -> list[dict[str, Any]]:
    """Measure the costs of a training, and compute what many workers would do."""
    from herbrand.play.training import trainer as training
    from herbrand.play.training.fitting import Fitter

    play, fit, rows = training.play_part, Fitter.fit, []
    (task,) = [row["driver_ms_per_task"] for row in overhead([2]) if row["executor"] == "Dask"]
    for name in ("connectFour", "breakthrough"):
        spent = {"play": 0.0, "fit": 0.0}

        def timed_play(*arguments: Any, spent: dict[str, float] = spent) -> Any:
            began = time.thread_time()
            lesson = play(*arguments)
            spent["play"] += time.thread_time() - began
            return lesson

        def timed_fit(self: Any, *given: Any, spent: dict[str, float] = spent, **named: Any) -> float:
            began = time.thread_time()
            error = fit(self, *given, **named)
            spent["fit"] += time.thread_time() - began
            return error

        training.play_part, Fitter.fit = timed_play, timed_fit  # type: ignore[method-assign]
        try:
            trainer = training.Trainer.start(herbrand.load(name), training.Settings(seed=1, batch=2))
            began = time.thread_time()
            trainer.run(seconds=20, snapshots=0)
            total = time.thread_time() - began
        finally:
            training.play_part, Fitter.fit = play, fit  # type: ignore[method-assign]
        lessons = 2 * trainer.rounds
        games = trainer.games / lessons
        each = {part: seconds / lessons for part, seconds in spent.items()}
        driver = (total - spent["play"]) / lessons + task / 1000
        row = {"game": name, "task_ms": round(1000 * each["play"], 1), "driver_ms": round(1000 * driver, 1)}
        rows.append(row | {"fit_ms": round(1000 * each["fit"], 1), "games_of_a_task": round(games)})
        print(rows[-1], flush=True)
        for workers in (1, 2, 4, 10, 100, 1000):
            batch = max(2, workers)
            # a round is played while the one before is fitted
            period = max(each["play"] * -(-batch // workers), driver * batch)
            rows.append(
                {
                    "game": name,
                    "workers": workers,
                    "games_per_s": round(games * batch / period),
                    "workers_busy": round(each["play"] * batch / period / workers, 3),
                    "driver_busy": round(driver * batch / period, 3),
                }
            )
            print(rows[-1], flush=True)
    return rows


PARTS = {
    "overhead": overhead,
    "efficiency": efficiency,
    "faults": faults,
    "network": network,
    "commands": commands,
    "evolve": evolve,
    "train": train,
}


def main() -> None:
    """Measure, and print the rows."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--parts", nargs="+", choices=list(PARTS), default=list(PARTS))
    parser.add_argument("--workers", nargs="+", type=int, default=[1, 2, 4, 8])
    parser.add_argument("--json", type=Path, help="write all rows to this file")
    given = parser.parse_args()
    report: dict[str, Any] = {"processors": os.cpu_count(), "load": os.getloadavg()}
    for part in given.parts:
        print(f"-- {part}", flush=True)
        report[part] = PARTS[part](given.workers)
        if given.json:
            given.json.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
