"""Lets a player and two managers run for hours among hostile peers, and watches what they take.

    python benchmarks/endurance.py [--minutes M] [--share S] [--output FILE] [--plot FILE]
    python benchmarks/endurance.py --read FILE --plot FILE

Four processes besides this one:

- `herbrand player`, with the processes that it starts;
- a manager that plays bundled games against it without end, and times every reply;
- a peer that does to it what bad managers do: the attacks of `hostile.py`, and those of
  `ATTACKS`;
- a manager that plays against the bad players of `hostile.py` again and again.

Every `--seconds` the resident memory, threads, open descriptors and children of each are read.  All pause
while they have taken more than the `--share` of one processor, so that a run does not keep a machine busy.

A reply is late if it comes more than 50 ms after its clock.  A match is lost if it is not played to its end,
or if a move of the player had to be replaced; not if a flood of other matches took the last seat first, and
START was answered `busy`.  An attack is lost if the player does not answer INFO within five
seconds after it; a quantity, if its median grows from the second quarter of the time to the last: by more
than `GROWTH`.  `--output` is written every minute, and can be drawn while the run goes on.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import itertools
import json
import multiprocessing
import os
import random
import signal
import statistics
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import psutil
from case_report import CaseReport
from hostile import GAME, MANAGERS, PLAYERS, harass_manager, send

import herbrand
from herbrand.match.protocol.http import write_request
from herbrand.match.protocol.manager import Manager, MatchSettings
from herbrand.match.protocol.messages import PlayMessage, StartMessage
from herbrand.match.protocol.processes import player_command
from herbrand.match.protocol.seats import LocalSeat, RemoteSeat
from herbrand.play import make_player

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine

    from herbrand.match.protocol.messages import Message
    from herbrand.match.protocol.seats import Exchange, Seat

__all__ = ["ATTACKS", "endure", "summarise"]

PLAYER: Final = "mcts(playouts=100)"
SEATS: Final = 50
"""Matches that the player accepts at once: the attacks start up to 40."""
MEMORY: Final = 600
"""Its `--memory`: for each of two processors what a player with the defaults has."""
GAMES: Final = (
    "ticTacToe", "connectFour", "breakthrough", "nim", "rockPaperScissors", "montyHall", "chess", "reversi",
)  # fmt: skip
"""What the honest manager has played, over and over."""
HONEST: Final = MatchSettings(start_clock=10, play_clock=4, max_steps=40)
GROWTH: Final = {"megabytes": 0.10, "threads": 0.0, "descriptors": 0.10, "children": 0.0}
"""By quantity, the share by which a median may grow; and always by `SLACK`."""
SLACK: Final = {"megabytes": 10.0, "threads": 5.0, "descriptors": 10.0, "children": 1.0}
WATCHED: Final = ("player", "manager", "manager of bad players")
"""The processes that are judged; the player with those that it starts."""
LATE: Final = 0.05
PATIENCE: Final = 5.0
ATTACKS_AT_ONCE: Final = 3
_LEAST_KEPT: Final = 5
"""Matches with long clocks that the hostile peer leaves behind."""
_DOUBLING: Final = (
    "(role a) (init (s z)) (legal a go) (<= (next (s (f ?x ?x))) (true (s ?x))) (<= terminal (true (s end)))"
    " (<= (goal a 50) (role a))"
)
"""A term that doubles with each step."""


# -- what the processes share ------------------------------------------------------------------------


class Course:
    """What the processes of a run share: whether they should pause, end, and what they found."""

    def __init__(self) -> None:
        spawning = multiprocessing.get_context("spawn")
        self.rest = spawning.Event()
        """Set while the processes have taken more than their share."""
        self.over = spawning.Event()
        self.match = spawning.Value("i", 0)
        """The number of the honest match that is being played."""
        self.found: Any = spawning.SimpleQueue()
        """Pairs of a kind and its data."""

    async def pause(self) -> bool:
        """Wait while the processes should pause; return whether to go on."""
        while self.rest.is_set() and not self.over.is_set():  # noqa: ASYNC110  # set by another process
            await asyncio.sleep(0.5)
        return not self.over.is_set()


def run_process(work: Callable[[Course, int], Coroutine[Any, Any, None]], course: Course, port: int) -> None:
    """Run one of the parties in a process of its own."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    asyncio.run(work(course, port))


# -- an honest manager ------------------------------------------------------------------------------


class TimedSeat(RemoteSeat):
    """A seat that keeps the seconds of each reply, and how late it was."""

    def __init__(self, port: int) -> None:
        super().__init__("127.0.0.1", port, name="player")
        self.replies: list[tuple[float, float]] = []

    async def ask(self, message: Message, *, seconds: float) -> Exchange:
        """Send a message and time its reply."""
        exchange = await super().ask(message, seconds=seconds)
        clock = {StartMessage: HONEST.start_clock, PlayMessage: HONEST.play_clock}.get(type(message))
        if clock is not None:
            self.replies.append((exchange.seconds, exchange.seconds - clock))
        return exchange


async def manage(course: Course, port: int) -> None:
    """Play matches with the player one after another."""
    managers: dict[str, Manager] = {}
    for number, name in enumerate(itertools.cycle(GAMES), 1):
        if not await course.pause():
            return
        if name not in managers:
            managers[name] = Manager(herbrand.load(name), HONEST)
        manager = managers[name]
        await _until_available(course, port)
        seat = TimedSeat(port)
        chance = random.Random(number)
        ours = chance.choice(manager.game.players)
        seats: dict[str, Seat] = {
            role: seat if role == ours else LocalSeat(make_player("random", seed=number), name="random")
            for role in manager.game.players
        }
        course.match.value = number
        match = await manager.play(seats, match_id=f"honest.{number}")
        problems = [problem for problem in match.problems if problem.role == ours]
        course.found.put(
            (
                "match",
                {
                    "game": name,
                    "reason": match.reason,
                    "steps": len(match.moves),
                    "replies": seat.replies,
                    "problems": [f"step {p.step}: {p.kind}: {p.note}: {p.reply}" for p in problems],
                },
            )
        )


async def _until_available(course: Course, port: int) -> None:
    """Wait for a free seat, as a manager does who asks before a match."""
    while not course.over.is_set():
        with contextlib.suppress(OSError):
            if "available" in await _ask(port, "(INFO)"):
                return
        await asyncio.sleep(0.5)


# -- hostile managers -------------------------------------------------------------------------------


async def _ask(port: int, text: str, *, seconds: float = 15.0) -> str:
    data = write_request(text, host="localhost", receiver="player")
    return (await send("127.0.0.1", port, data, seconds=seconds)).partition("\r\n\r\n")[2]


class Hostile:
    """What bad managers and other peers do to a player, besides the attacks of `hostile.py`.

    An attack returns what the player made of it, in a word or two; an attack that the player should not have
    obeyed raises `AssertionError`.
    """

    def __init__(self, port: int, course: Course) -> None:
        self.port = port
        self.course = course
        self.chance = random.Random(1)
        self.kept: list[str] = []
        """Matches that were left, and not yet aborted."""
        self.names = itertools.count()

    def name(self) -> str:
        """Return a new match id."""
        return f"hostile.{next(self.names)}"

    async def sends_rules_that_double(self) -> str:
        """Play a game in which a term doubles with each step."""
        name, answers = self.name(), Counter[str]()
        answers[await _ask(self.port, f"(START {name} a ({_DOUBLING}) 3 2)")] += 1
        for step in range(24):
            answers[await _ask(self.port, f"(PLAY {name} {'((go))' if step else 'NIL'})")] += 1
        await _ask(self.port, f"(ABORT {name})")
        assert set(answers) <= {"ready", "busy", "go", "nil"}, answers
        return "followed" if not answers["busy"] and not answers["nil"] else "given up"

    async def sends_a_message_at_the_limit(self) -> str:
        """Start a match with a megabyte of rules, less a few bytes."""
        facts = " ".join(f"(fact {number})" for number in range(70_000))
        name = self.name()
        text = f"(START {name} a ({GAME} {facts[: 1_048_000 - len(GAME)].rpartition(' (')[0]}) 3 2)"
        answer = await _ask(self.port, text)
        await _ask(self.port, f"(ABORT {name})")
        assert answer in ("ready", "busy"), answer
        return "begun" if answer == "ready" else "refused"

    async def floods_with_starts(self) -> str:
        """Start more matches than there are seats, and leave five of them without a word."""
        names = [self.name() for _ in range(SEATS + 10)]
        rules = " ".join(GAME.split())
        answers = await asyncio.gather(
            *(_ask(self.port, f"(START {name} a ({rules}) 1 1)") for name in names)
        )
        begun = [name for name, answer in zip(names, answers, strict=True) if answer == "ready"]
        for name in begun[:-5]:
            await _ask(self.port, f"(ABORT {name})")
        assert len(begun) <= SEATS, len(begun)
        return "begun up to the limit"

    async def leaves_a_match_with_a_long_clock(self) -> str:
        """Start a match with clocks of up to an hour, and leave; the oldest of several is aborted."""
        name, clock = self.name(), self.chance.choice((60, 600, 3600))
        answer = await _ask(self.port, f"(START {name} a ({GAME}) 2 {clock})")
        assert answer in ("ready", "busy"), answer
        if answer == "ready":
            self.kept.append(name)
        if len(self.kept) > _LEAST_KEPT:
            await _ask(self.port, f"(ABORT {self.kept.pop(0)})")
        return "begun" if answer == "ready" else "refused"

    async def asks_for_clocks_too_long(self) -> str:
        """Start a match with clocks that would hold a seat for ever."""
        answer = await _ask(self.port, f"(START {self.name()} a ({GAME}) 1 999999999)")
        assert answer == "busy", answer
        return "refused"

    async def opens_half_a_connection(self) -> str:
        """Open connections, say half a request in each, and wait longer than the player does."""
        writers = []
        for text in (b"", b"POST / HT", b"POST / HTTP/1.0\r\nContent-Length: 100\r\n\r\n(PLAY") * 8:
            with contextlib.suppress(OSError):
                _, writer = await asyncio.open_connection("127.0.0.1", self.port)
                writer.write(text)
                writers.append(writer)
        await asyncio.sleep(25)
        for writer in writers:
            writer.transport.abort()
        return "closed"

    async def aborts_as_a_web_page(self) -> str:
        """Abort the honest match by what a page in a browser could send, whose id it knows."""
        match = f"honest.{self.course.match.value}"
        origin = b"Origin: https://example.org\r\n"
        requests = {
            "GET": b"GET /(ABORT%20" + match.encode() + b") HTTP/1.1\r\nHost: localhost\r\n" + origin,
            "picture": b"GET /(ABORT%20" + match.encode() + b") HTTP/1.1\r\nHost: localhost\r\n"
            b"Sec-Fetch-Site: cross-site\r\n",
            "rebound": b"GET /(STOP%20" + match.encode() + b"%20NIL) HTTP/1.1\r\nHost: example.org\r\n",
        }
        for kind, head in requests.items():
            answer = await send("127.0.0.1", self.port, head + b"\r\n", seconds=10)
            assert " 403 " in answer.partition("\r\n")[0], (kind, answer[:200])
        return "refused"

    async def aborts_matches_by_guessing(self) -> str:
        """Abort, stop and play matches whose ids are guessed."""
        for text in ("(ABORT {})", "(STOP {} NIL)", "(PLAY {} NIL)"):
            answer = await _ask(self.port, text.format(f"match.{self.chance.randrange(10**6)}"))
            assert answer == "busy", answer
        return "refused"

    async def sends_random_bytes(self) -> str:
        """Send random bytes, alone and as the body of a request."""
        noise = self.chance.randbytes(self.chance.randrange(1, 20_000))
        head = f"POST / HTTP/1.0\r\nContent-Length: {len(noise)}\r\n\r\n".encode()
        await send("127.0.0.1", self.port, noise, seconds=5, end=True)
        await send("127.0.0.1", self.port, head + noise, seconds=5)
        return "refused"

    async def sends_damaged_messages(self) -> str:
        """Send messages from which pieces are missing, or in which they are doubled."""
        rules = " ".join(GAME.split())
        for _ in range(10):
            name = self.name()
            text = self.chance.choice((f"(START {name} a ({rules}) 1 1)", f"(PLAY {name} (left right))"))
            start, end = sorted(self.chance.randrange(len(text)) for _ in range(2))
            await _ask(self.port, text[:start] + self.chance.choice(("", 2 * text[start:end])) + text[end:])
            await _ask(self.port, f"(ABORT {name})")
        return "answered"


ATTACKS: Final = {
    name.replace("_", " "): name
    for name in vars(Hostile)
    if asyncio.iscoroutinefunction(getattr(Hostile, name))
}
"""The attacks of `Hostile`: their names, and those of the methods."""


async def attack(course: Course, port: int) -> None:
    """Attack the player, in an order drawn at random, and most often in the ways of this file."""
    hostile = Hostile(port, course)
    chance = random.Random(2)
    theirs = {name: partial_attack(function, port) for name, function in MANAGERS.items()}
    ours = {name: getattr(hostile, method) for name, method in ATTACKS.items()}

    async def one_after_another() -> None:
        while True:
            order = [*theirs.items(), *(3 * [*ours.items()])]
            chance.shuffle(order)
            for name, function in order:
                if not await course.pause():
                    return
                course.found.put(("attack", {"name": name, **await _attack_once(function, port)}))

    await asyncio.gather(*(one_after_another() for _ in range(ATTACKS_AT_ONCE)))


def partial_attack(function: Callable[[str, int], Awaitable[str]], port: int) -> Callable[[], Awaitable[str]]:
    """Return an attack on a port of this computer."""

    async def attack_once() -> str:
        await function("127.0.0.1", port)
        return "answered or closed"

    return attack_once


async def _attack_once(function: Callable[[], Awaitable[str]], port: int) -> dict[str, Any]:
    """Attack, and ask the player for INFO; return the outcome, and what was wrong."""
    outcome = failure = ""
    try:
        outcome = await function()
    except AssertionError as error:
        failure = f"answered {error}"
    except OSError:
        outcome = "closed"
    started = time.monotonic()
    try:
        answer = await _ask(port, "(INFO)", seconds=PATIENCE)
    except OSError as error:
        answer = str(error)
    seconds = time.monotonic() - started
    if "status" not in answer:
        failure = failure or f"INFO was not answered in {seconds:.1f} s: {answer[:100]}"
    return {"outcome": outcome, "failure": failure, "info_seconds": round(seconds, 3)}


# -- a manager among bad players --------------------------------------------------------------------


async def suffer(course: Course, port: int) -> None:
    """Play matches against all bad players at once, again and again."""
    del port
    manager = Manager(herbrand.loads(GAME), MatchSettings(start_clock=10, play_clock=3, grace=0.5))
    while await course.pause():
        matches = await harass_manager(manager)
        failures = []
        for name, match in matches.items():
            kinds = {problem.kind for problem in match.problems}
            if not match.is_complete or kinds - PLAYERS[name].kinds:
                failures.append(f"{name}: {match.reason}, {sorted(kinds)}")
        course.found.put(("bad", {"matches": len(matches), "failures": failures}))
        for _ in range(60):  # one round needs seconds of a processor
            await asyncio.sleep(1)
            if course.over.is_set():
                return


# -- watching ---------------------------------------------------------------------------------------


def take_stock(process: psutil.Process) -> tuple[dict[str, float], float]:
    """Return what a process and its descendants take, and the processor seconds that they took."""
    taken, seconds = {"megabytes": 0.0, "threads": 0.0, "descriptors": 0.0, "children": 0.0}, 0.0
    for one in [process, *process.children(recursive=True)]:
        with contextlib.suppress(psutil.NoSuchProcess), one.oneshot():
            times = one.cpu_times()
            memory, threads, descriptors = one.memory_info().rss, one.num_threads(), one.num_fds()
            taken["megabytes"] += memory / (1 << 20)
            taken["threads"] += threads
            taken["descriptors"] += descriptors
            taken["children"] += one.pid != process.pid
            seconds += times.user + times.system + times.children_user + times.children_system
    return {name: round(value, 1) for name, value in taken.items()}, seconds


class Log:
    """Reads the events of a player, and counts them."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.kinds: Counter[str] = Counter()
        self.longest = 0
        self.reasons: Counter[str] = Counter()
        self.port: int | None = None
        self.listening = threading.Event()
        self._process = process
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self._process.stderr is not None
        for line in self._process.stderr:
            self.longest = max(self.longest, len(line))
            try:
                event = json.loads(line)
                kind = event["kind"]
            except (ValueError, TypeError, KeyError):
                kind, event = "no event", {"data": {"reason": line.strip()[:200]}}
            self.kinds[kind] += 1
            if kind == "listening":
                self.port = event["data"]["port"]
                self.listening.set()
            elif kind in ("odd", "no event", "late", "refused"):
                self.reasons[f"{kind}: {event['data'].get('reason', '')}"[:120]] += 1
        self.listening.set()


def endure(
    minutes: float, *, share: float = 0.33, seconds: float = 10.0, output: Path | None = None
) -> dict[str, Any]:
    """Run for some minutes, and return what was found; `output` is written every minute.

    `share` is the share of one processor that all processes together may take on average, `seconds` the time
    between two samples.
    """
    course = Course()
    words = player_command(PLAYER, "--matches", str(SEATS), "--memory", str(MEMORY), "--json", "--until-eof")
    player = subprocess.Popen(  # noqa: S603  # our own command
        words, stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace"
    )
    log = Log(player)
    log.listening.wait(120)
    if log.port is None:
        raise SystemExit(f"the player did not start: {[*log.reasons]}")
    spawning = multiprocessing.get_context("spawn")
    parties = {"manager": manage, "attacker": attack, "manager of bad players": suffer}
    children = {
        name: spawning.Process(target=run_process, args=(work, course, log.port), daemon=True)
        for name, work in parties.items()
    }
    report: dict[str, Any] = {
        "herbrand": herbrand.__version__, "python": sys.version.split()[0], "processors": os.cpu_count(),
        "player": PLAYER, "minutes": 0.0, "matches": {}, "steps": 0, "replies": 0, "late": 0,
        "slowest_reply": 0.0, "latest_reply": -1e9, "match_failures": [], "attacks": {}, "bad": 0,
        "bad_failures": [], "slowest_info": 0.0, "events": {}, "samples": [], "ended": [],
    }  # fmt: skip
    started = time.monotonic()
    for child in children.values():
        child.start()
    watched = {"player": psutil.Process(player.pid)}
    watched |= {name: psutil.Process(child.pid) for name, child in children.items()}
    spent = dict.fromkeys(watched, 0.0)
    written, due = 0.0, started
    try:
        while (now := time.monotonic()) - started < 60 * minutes:
            _take_in(course, report)
            ended = [name for name, child in children.items() if not child.is_alive()]
            if player.poll() is not None:
                ended.append("player")
            if ended:
                report["ended"] = ended
                break
            if now >= due:
                due += seconds
                sample: dict[str, Any] = {"second": round(now - started, 1)}
                for name, process in watched.items():
                    sample[name], taken = take_stock(process)
                    spent[name] = max(spent[name], taken)
                sample["processor"] = round(sum(spent.values()), 1)
                report["samples"].append(sample)
                report["minutes"] = round((now - started) / 60, 2)
                report["spent"] = {name: round(value, 1) for name, value in spent.items()}
                report["events"] = dict(log.kinds)
                report["reasons"] = dict(log.reasons.most_common(60))
                report["longest_line"] = log.longest
            busy = sum(spent.values()) > share * (now - started) + 5
            (course.rest.set if busy else course.rest.clear)()
            if output is not None and now - written > 60:
                written = now
                _write(report, output)
            time.sleep(1.0)
        course.over.set()
        deadline = time.monotonic() + 60
        while any(child.is_alive() for child in children.values()) and time.monotonic() < deadline:
            _take_in(course, report)
            time.sleep(0.5)
        _take_in(course, report)
    finally:
        for child in children.values():
            child.kill()
        player.terminate()
        player.wait(timeout=60)
    if output is not None:
        _write(report, output)
    return report


def _write(report: dict[str, Any], output: Path) -> None:
    passing = output.with_suffix(".part")
    passing.write_text(json.dumps(report) + "\n", encoding="utf-8")
    passing.replace(output)


def _take_in(course: Course, report: dict[str, Any]) -> None:
    """Add what the processes found to the report."""
    while not course.found.empty():
        kind, data = course.found.get()
        if kind == "match":
            report["matches"][data["game"]] = report["matches"].get(data["game"], 0) + 1
            report["steps"] += data["steps"]
            report["replies"] += len(data["replies"])
            report["late"] += sum(1 for _, lateness in data["replies"] if lateness > LATE)
            for reply, lateness in data["replies"]:
                report["slowest_reply"] = max(report["slowest_reply"], round(reply, 3))
                report["latest_reply"] = max(report["latest_reply"], round(lateness, 3))
            problems = data["problems"]
            if data["reason"] not in ("terminal", "max-steps"):
                problems.append(data["reason"])
            if problems:
                report["match_failures"].append(f"{data['game']}: {'; '.join(problems)}"[:1000])
        elif kind == "attack":
            row = report["attacks"].setdefault(data["name"], {"tried": 0, "outcomes": {}, "failures": []})
            row["tried"] += 1
            report["slowest_info"] = max(report["slowest_info"], data["info_seconds"])
            if data["failure"]:
                row["failures"].append(data["failure"])
            else:
                row["outcomes"][data["outcome"]] = row["outcomes"].get(data["outcome"], 0) + 1
        else:
            report["bad"] += data["matches"]
            report["bad_failures"] += data["failures"]


# -- the outcome ------------------------------------------------------------------------------------


def summarise(report: dict[str, Any]) -> list[CaseReport]:
    """Return how many of each kind were tried, and what was lost."""
    played = sum(report["matches"].values())
    failures = [failure for failure in report["match_failures"] if not _had_no_seat(failure)]
    without = len(report["match_failures"]) - len(failures)
    ended = Counter({"played to its end": played - without - len(failures), "found all seats taken": without})
    cases = [
        CaseReport("honest match", played, +ended, failures),
        CaseReport(
            "honest reply",
            report["replies"],
            Counter({"in time": report["replies"] - report["late"]}),
            [f"late by up to {report['latest_reply']} s"] * report["late"],
        ),
        CaseReport(
            "match against a bad player",
            report["bad"],
            Counter({"played to its end": report["bad"] - len(report["bad_failures"])}),
            report["bad_failures"],
        ),
    ]
    others = CaseReport(f"one of {len(MANAGERS)} attacks on HTTP and messages")
    for name, row in sorted(report["attacks"].items()):
        if name in MANAGERS:
            others.tried += row["tried"]
            others.outcomes.update(row["outcomes"])
            others.failures += [f"{name}: {failure}" for failure in row["failures"]]
        else:
            cases.append(CaseReport(name, row["tried"], Counter(row["outcomes"]), row["failures"]))
    quantities = CaseReport("memory, threads, descriptors and children of a process")
    for party, name in itertools.product(WATCHED, GROWTH):
        quantities.tried += 1
        before, after, _ = trend(report, party, name)
        if after > before * (1 + GROWTH[name]) + SLACK[name]:
            quantities.failures.append(f"{name} of the {party}: from {before:g} to {after:g}")
        else:
            quantities.outcomes["flat"] += 1
    quantities.failures += [f"the {party} ended" for party in report["ended"]]
    return [*cases, others, quantities]


def _had_no_seat(failure: str) -> bool:
    return ": step 0: unreadable: the answer to START is not `ready`: busy" in failure


def trend(report: dict[str, Any], party: str, name: str) -> tuple[float, float, float]:
    """Return the medians of a quantity in the second and the last quarter of the time, and the largest."""
    values = [sample[party][name] for sample in report["samples"]]
    quarter = max(1, len(values) // 4)
    second = values[quarter : 2 * quarter] or values
    return statistics.median(second), statistics.median(values[-quarter:]), max(values)


def table(report: dict[str, Any]) -> str:
    """Return what processes took as Markdown: medians of the second and last quarter, and the largest."""
    lines = [
        "| process | quantity | second quarter | last quarter | largest |",
        "|---|---|--:|--:|--:|",
    ]
    for party, name in itertools.product(WATCHED, GROWTH):
        before, after, most = trend(report, party, name)
        lines.append(f"| {party} | {name} | {before:g} | {after:g} | {most:g} |")
    return "\n".join(lines)


def plot(report: dict[str, Any], file: Path) -> None:
    """Draw what the processes took over time, one picture a quantity, as SVG."""
    import matplotlib as mpl

    mpl.use("svg")
    mpl.rcParams |= {"svg.fonttype": "none", "svg.hashsalt": "endurance", "font.size": 9}
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(1, 4, figsize=(11, 2.8), layout="constrained")
    minutes = [sample["second"] / 60 for sample in report["samples"]]
    titles = {"megabytes": "memory in MB", "descriptors": "open descriptors", "children": "processes started"}
    for axis, key in zip(axes, GROWTH, strict=True):
        for name in WATCHED:
            values = [sample[name][key] for sample in report["samples"]]
            axis.plot(minutes, values, linewidth=0.8, label=name)
        axis.set(title=titles.get(key, key), xlabel="minutes")
    for axis in axes:
        axis.set_ylim(bottom=0)
        axis.grid(visible=True, alpha=0.3)
    axes[0].legend(frameon=False, fontsize=7, loc="upper right")
    axes[0].set_ylim(top=1.5 * axes[0].get_ylim()[1])
    figure.savefig(file, metadata={"Date": None})


def main() -> int:
    """Run from the command line; the exit status is 1 if anything was lost."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--minutes", type=float, default=120.0, metavar="M", help="default: 120")
    parser.add_argument("--share", type=float, default=0.33, metavar="S", help="default: 0.33")
    parser.add_argument(
        "--seconds", type=float, default=10.0, metavar="S", help="between samples; default: 10"
    )
    parser.add_argument("--output", type=Path, metavar="FILE", help="write everything as JSON")
    parser.add_argument("--read", type=Path, metavar="FILE", help="run nothing, take what was written")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="draw an SVG")
    options = parser.parse_args()
    if options.read is not None:
        report = json.loads(options.read.read_text(encoding="utf-8"))
    else:
        report = endure(options.minutes, share=options.share, seconds=options.seconds, output=options.output)
    if options.plot is not None:
        plot(report, options.plot)
    cases = summarise(report)
    for case in cases:
        outcome = ", ".join(f"{count} {name}" for name, count in sorted(case.outcomes.items()))
        print(f"| endurance | {case.kind} | {case.tried} | {outcome} | {len(case.failures)} |")
    print(table(report), file=sys.stderr)
    for case in cases:
        for failure in case.failures:
            print(f"{case.kind}: {failure}", file=sys.stderr)
    return int(any(case.failures for case in cases))


if __name__ == "__main__":
    sys.exit(main())
