"""Measures whether the web application answers while many pictures are asked for at once.

    python benchmarks/previews.py [--pictures N] [--plays N] [--rounds N] [--json FILE]

`herbrand web` serves a folder of rulesheets that it has not seen before.  All their pictures are asked for at
once, each by a connection of its own, and then as many matches as `--plays` are begun at once; meanwhile
another process asks for the home page again and again.  It counts as lost if the home page takes longer than
`LONGEST` or is not the home page, if an answer is neither a page or picture nor "busy", or if more than
`MOST_CHILDREN` processes run.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import re
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from http import HTTPStatus
from http.cookiejar import CookieJar
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any, Final
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import HTTPCookieProcessor, OpenerDirector, build_opener

import psutil
from case_report import CaseReport

from herbrand import games

if TYPE_CHECKING:
    from multiprocessing.queues import SimpleQueue
    from multiprocessing.synchronize import Event

__all__ = ["crowd", "summarise"]

LONGEST: Final = 0.3
"""Seconds that the home page may take."""
MOST_CHILDREN: Final = 16
"""Processes that may run for matches and questions."""


def write_sheets(folder: Path, number: int) -> list[str]:
    """Write rulesheets that are bundled games, but for a comment; return their names."""
    names = [name for name in games.names() if games.path(name).suffix == ".kif"]
    written = []
    for index in range(number):
        name = names[index % len(names)]
        written.append(f"crowd-{index}-{name}")
        text = f"; copy {index}\n{games.text(name)}"
        (folder / f"{written[-1]}.kif").write_text(text, encoding="utf-8")
    return written


def fetch(
    browser: OpenerDirector, address: str, data: dict[str, str] | None = None
) -> tuple[int, str, float]:
    """Return the status and text of an answer, and the seconds that it took."""
    body = None if data is None else urlencode(data).encode()
    started = time.monotonic()
    try:
        with browser.open(address, body, timeout=120) as answer:
            status, text = answer.status, answer.read().decode()
    except HTTPError as error:
        status, text = error.code, error.read().decode(errors="replace")
    return status, text, time.monotonic() - started


def crowd(pictures: int, plays: int) -> dict[str, Any]:
    """Ask for pictures and begin matches, all at once; return what became of them and of the home page."""
    with tempfile.TemporaryDirectory() as folder:
        names = write_sheets(Path(folder), pictures)
        words = [sys.executable, "-m", "herbrand", "web", "--port", "0", folder]
        server = subprocess.Popen(words, stderr=subprocess.PIPE, text=True)  # noqa: S603  # our own command
        try:
            assert server.stderr is not None
            found = re.search(r"(http://[^/]+)(/\?token=\S+)", server.stderr.readline())
            if found is None:
                raise SystemExit("the server did not start")
            return _crowd(found[1], found[2], names, plays, psutil.Process(server.pid))
        finally:
            server.terminate()
            server.wait(timeout=60)


def watch_home(host: str, entry: str, over: Event, found: SimpleQueue[Any]) -> None:
    """Ask for the home page until `over`: a process of its own, which waits for nothing else.

    In turn with a server that only says "hello", to know what the machine takes.
    """
    browser = enter(host, entry)
    alone = median(fetch(browser, host)[2] for _ in range(10))
    found.put(alone)
    homes, hellos, wrong = [], [], 0
    with socket.create_server(("127.0.0.1", 0)) as listener:
        other = multiprocessing.get_context("fork").Process(target=say_hello, args=(listener,), daemon=True)
        other.start()
        hello = f"http://127.0.0.1:{listener.getsockname()[1]}/"
        while not over.is_set():
            begun = time.monotonic()
            status, text, seconds = fetch(browser, host)
            homes.append((begun, round(seconds, 4)))
            wrong += status != HTTPStatus.OK or 'href="/game/chess"' not in text
            hellos.append(round(fetch(browser, hello)[2], 4))
            time.sleep(0.01)
        other.kill()
    found.put((homes, hellos, wrong))


def say_hello(listener: socket.socket) -> None:
    """Answer every request with the same word."""
    while True:
        connection, _ = listener.accept()
        with connection:
            connection.recv(4096)
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello")


def enter(host: str, entry: str) -> OpenerDirector:
    """Return a browser that has shown the token, once the server listens."""
    browser = build_opener(HTTPCookieProcessor(CookieJar()))
    until = time.monotonic() + 60
    while True:
        try:
            fetch(browser, host + entry)
        except OSError:
            if time.monotonic() > until:
                raise
            time.sleep(0.05)
        else:
            return browser


def _crowd(host: str, entry: str, names: list[str], plays: int, server: psutil.Process) -> dict[str, Any]:
    spawning = multiprocessing.get_context("spawn")
    over, found = spawning.Event(), spawning.SimpleQueue()
    watcher = spawning.Process(target=watch_home, args=(host, entry, over, found))
    watcher.start()
    browser = enter(host, entry)
    _, page, _ = fetch(browser, host)
    token = re.findall(r'name="herbrand-token" content="(\w+)"', page)[0]
    seats = {"token": token, "key": "ticTacToe", "clock": "1", "seat:xplayer": "you", "seat:oplayer": "you"}
    alone, children = found.get(), 0
    outcomes, ends = {}, {}
    for kind, requests in {
        "pictures": [(f"{host}/picture/{name}.svg", None) for name in names],
        "matches": [(f"{host}/play", seats) for _ in range(plays)],
    }.items():
        with ThreadPoolExecutor(len(requests)) as pool:
            pending = [pool.submit(fetch, browser, *request) for request in requests]
            while not all(task.done() for task in pending):
                children = max(children, len(server.children()))
                time.sleep(0.05)
        outcomes[kind] = Counter(_outcome(*task.result()[:2]) for task in pending)
        ends[kind] = time.monotonic()
    over.set()
    homes, hellos, wrong = found.get()
    watcher.join()
    return {
        "processors": os.cpu_count(),
        "load": os.getloadavg()[0],
        "home": {
            "pictures": [seconds for begun, seconds in homes if begun < ends["pictures"]],
            "matches": [seconds for begun, seconds in homes if begun >= ends["pictures"]],
        },
        "home_alone": round(alone, 4),
        "hello": hellos,
        "wrong_homes": wrong,
        **outcomes,
        "children": children,
    }


def _outcome(status: int, text: str) -> str:
    if status == HTTPStatus.SERVICE_UNAVAILABLE:
        return "busy"
    return "answered" if status == HTTPStatus.OK and text.lstrip().startswith("<") else f"status {status}"


def summarise(reports: list[dict[str, Any]]) -> list[CaseReport]:
    """Return how many of each kind were asked for, and what was lost."""
    cases = []
    for kind in ("pictures", "matches"):
        outcomes = sum((Counter(report[kind]) for report in reports), Counter[str]())
        failures = [name for name in outcomes.elements() if name not in ("answered", "busy")]
        good = Counter({name: outcomes[name] for name in ("answered", "busy") if outcomes[name]})
        cases.append(CaseReport(f"{kind} asked for at once", outcomes.total(), good, failures))
        homes = [seconds for report in reports for seconds in report["home"][kind]]
        slow = [f"{seconds:.3f} s" for seconds in homes if seconds > LONGEST]
        within = f"in time, the slowest after {max(homes):.3f} s"
        cases.append(
            CaseReport(
                f"home page meanwhile ({kind})", len(homes), Counter({within: len(homes) - len(slow)}), slow
            )
        )
    hellos = [seconds for report in reports for seconds in report["hello"]]
    within = sum(seconds <= LONGEST for seconds in hellos)
    outcome = Counter({f"within {LONGEST} s, the slowest after {max(hellos):.3f} s": within})
    outcome["later"] = len(hellos) - within
    wrong = sum(report["wrong_homes"] for report in reports)
    cases[-1].failures += ["not the home page"] * wrong
    cases.append(CaseReport('a server that says "hello" meanwhile', len(hellos), +outcome, []))
    most = [report["children"] for report in reports]
    over = [f"{count} processes" for count in most if count > MOST_CHILDREN]
    cases.append(
        CaseReport(
            "processes of the server",
            max(most),
            Counter({f"at most {MOST_CHILDREN} at once": max(most)}),
            over,
        )
    )
    return cases


def main() -> int:
    """Run from the command line; the exit status is 1 if anything was lost."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pictures", type=int, default=60, metavar="N", help="default: 60")
    parser.add_argument("--plays", type=int, default=25, metavar="N", help="default: 25")
    parser.add_argument("--rounds", type=int, default=3, metavar="N", help="default: 3")
    parser.add_argument("--json", type=Path, metavar="FILE")
    options = parser.parse_args()
    reports = [crowd(options.pictures, options.plays) for _ in range(options.rounds)]
    cases = summarise(reports)
    for case in cases:
        outcome = ", ".join(f"{count} {name}" for name, count in sorted(case.outcomes.items()))
        print(f"| pages | {case.kind} | {case.tried} | {outcome} | {len(case.failures)} |")
    print("home page alone:", *(f"{report['home_alone']:.3f} s" for report in reports))
    if options.json:
        options.json.write_text(json.dumps(reports, indent=1) + "\n", encoding="utf-8")
    for case in cases:
        for failure in case.failures:
            print(f"{case.kind}: {failure}", file=sys.stderr)
    return int(any(case.failures for case in cases))


if __name__ == "__main__":
    sys.exit(main())
