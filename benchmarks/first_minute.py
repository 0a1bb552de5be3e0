"""Measure time and memory of whole processes from their start, compared with another version of herbrand.

    python benchmarks/first_minute.py [--beside PYTHON] [--game GAME] [--rounds N] [--json]

simulate        wall-clock seconds of `herbrand simulate GAME -n 100000`
first move      seconds from the start of `herbrand player --player mcts` to its first move under the
                protocol, beyond the two clocks of a second that it is given
random, mcts    peak megabytes of this player in a match; for `mcts` with the tree of two seconds
two threads     batched steps a second in two threads of one process, as a multiple of those in one

Each is measured with an empty cache first, and then in rounds, of which the best one counts.  PYTHON is that
of an environment in which the other version is installed.  Memory is read from /proc.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import Any

import herbrand
from herbrand.match.protocol.manager import Manager
from herbrand.match.protocol.processes import parse_port

THREADS = """
import sys, threading, time
import herbrand
game = herbrand.load(sys.argv[1])
game.simulate(1000, seed=0, threads=1)
def speed(threads):
    done = []
    def work(seed):
        done.append(game.simulate(300_000, seed=seed, threads=1).transitions)
    workers = [threading.Thread(target=work, args=(k,)) for k in range(threads)]
    begun = time.perf_counter()
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return sum(done) / (time.perf_counter() - begun)
best = {1: 0.0, 2: 0.0}
for _ in range(10):
    for threads in best:
        best[threads] = max(best[threads], speed(threads))
print(best[2] / best[1])
"""


class Version:
    """One version, and an empty folder for what it keeps."""

    def __init__(self, python: str, folder: str) -> None:
        self.python = python
        self.environment = {**os.environ, "XDG_CACHE_HOME": folder, "HOME": folder, "NO_COLOR": "1"}
        if python != sys.executable:  # what this version is imported from must not hide the other one
            self.environment.pop("PYTHONPATH", None)

    def seconds(self, *words: str) -> float:
        """Run a command and return how long it took."""
        begun = time.perf_counter()
        self._run("-m", "herbrand", *words)
        return time.perf_counter() - begun

    def threads(self, game: str) -> float:
        """Return the speed of two threads as a multiple of that of one."""
        return float(self._run("-c", THREADS, game))

    def _run(self, *words: str) -> str:
        done = subprocess.run(  # noqa: S603  # the two versions, as the caller names them
            [self.python, *words],
            capture_output=True,
            text=True,
            check=False,
            env=self.environment,
            timeout=600,
        )
        if done.returncode:
            raise SystemExit(f"{self.python} {words[0]}: {done.stderr.strip()}")
        return done.stdout

    def player(self, name: str, game: str) -> tuple[float, float]:
        """Return the seconds to the first move beyond the clocks, and megabytes."""
        loaded = herbrand.load(game)
        rules = Manager(loaded).rules
        words = [self.python, "-m", "herbrand", "player", "--player", name, "--port", "0"]
        begun = time.perf_counter()
        with tempfile.TemporaryFile("w+") as log:
            process = subprocess.Popen(words, stderr=log, env=self.environment)  # noqa: S603  # as above
            try:
                port = self._port(log, process)
                said(port, f"(START m {loaded.roles[0]} ({rules}) 1 1)")
                said(port, "(PLAY m NIL)")
                seconds = time.perf_counter() - begun - 2
                status = Path(f"/proc/{process.pid}/status").read_text(encoding="utf-8")
            finally:
                process.send_signal(signal.SIGINT)
                process.wait(timeout=60)
        most = re.search(r"VmHWM:\s+(\d+)", status)
        return seconds, int(most[1]) / 1024 if most else float("nan")

    @staticmethod
    def _port(log: Any, process: subprocess.Popen[bytes]) -> int:
        """Wait until the player says where it listens."""
        while process.poll() is None:
            log.seek(0)
            port = parse_port(log.read())
            if port is not None:
                return port
            time.sleep(0.002)
        raise SystemExit("the player ended at once")


def said(port: int, text: str) -> str:
    """Return what a player answers to a message."""
    with urllib.request.urlopen(f"http://127.0.0.1:{port}", text.encode(), timeout=300) as answer:
        return answer.read().decode()


def measured(python: str, game: str, rounds: int) -> dict[str, dict[str, float]]:
    """Measure one version: first with an empty cache, and then the best of the rounds."""
    times: dict[str, dict[str, float]] = {}

    def note(job: str, value: float, later: Any = min) -> None:
        row = times.setdefault(job, {})
        if "first" not in row:
            row["first"] = value
        else:
            row["later"] = later(row.get("later", value), value)

    with tempfile.TemporaryDirectory() as folder:
        version = Version(python, folder)
        for _ in range(rounds + 1):
            note("simulate", version.seconds("simulate", game, "-n", "100000"))
    with tempfile.TemporaryDirectory() as folder:
        version = Version(python, folder)
        for _ in range(rounds + 1):
            seconds, megabytes = version.player("mcts", game)
            note("first move", seconds)
            note("mcts", megabytes, max)
            note("random", version.player("random", game)[1], max)
        note("two threads", version.threads(game))
        note("two threads", version.threads(game), max)
    return times


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--beside", metavar="PYTHON")
    parser.add_argument("--game", default="connectFour")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    versions = {"this": sys.executable} | ({"other": given.beside} if given.beside else {})
    rows = {name: measured(python, given.game, given.rounds) for name, python in versions.items()}
    if given.json:
        print(json.dumps(rows, indent=1))
        return
    for name, jobs in rows.items():
        for job, values in jobs.items():
            print(f"{name:6} {job:12} first {values['first']:7.2f}   later {values['later']:7.2f}")


if __name__ == "__main__":
    main()
