"""Runs every command that reads rules on hostile rulesheets, and measures time and memory against its limits.

    python benchmarks/budgets.py [--seconds 5] [--only TEXT] [FILE...]

measures FILEs instead of the rulesheets in `SHEETS`, and prints each measurement and what overran.  Each
command gets `--seconds`, and has to end within 20 % and a second of them; `bench` may prepare a game for as
long as it measures.  On a busy machine, time in which it had no processor at its start and after the limit
does not count.  Its processes together may have 20 % more resident memory than its default `--memory`.  Needs
/proc, so Linux.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Final

from case_report import CaseReport

from herbrand.cli import targets
from herbrand.cli.budget import BUDGETS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

__all__ = ["COMMANDS", "SHEETS", "try_budgets"]

SHEETS: Final = Path(__file__).with_name("hostile")
"""Folder of rulesheets that need more time or memory than there is."""

_CONVERT: Final = tomllib.loads(Path(targets.__file__).with_name("targets.toml").read_text(encoding="utf-8"))[
    "targets"
]
COMMANDS: Final[tuple[str, ...]] = (
    "check {file} --seconds {seconds}",
    "check {file} --play --seconds {seconds}",
    "format {file} --seconds {seconds}",
    *(f"convert {{file}} --to {target} --seconds {{seconds}}" for target in _CONVERT),
    "reader {file} --seconds {seconds}",
    "show {file} --seconds {seconds}",
    "publish {file} -o page.html --seconds {seconds}",
    "draw {file} --seconds {seconds}",
    "simulate {file} -n 1 --seconds {seconds}",
    "simulate {file} -n 1000 --seconds {seconds}",
    "play {file} --as a --seconds {seconds}",
    "match {file} --player random --player random --start-clock 1 --play-clock 1 --seconds {seconds}",
    "match {file} --player mcts --player alphabeta --start-clock 1 --play-clock 1 --seconds {seconds}",
    "tournament {file} --player random --player legal --start-clock 1 --play-clock 1 --seconds {seconds}",
    "train {file} -o values.npz --minutes {minutes}",
    "tasks make {file} --seconds {seconds}",
    "params {file} --seconds {seconds}",
    "verify {file} --seconds {seconds}",
    "verify {file} --engines rules,network --seconds {seconds}",
    "analyse {file} --budget {seconds}",
    "solve {file} --seconds {seconds}",
    "solve {file} --explore states --seconds {seconds}",
    "certify {file} --property playability -o folder --budget {seconds}",
    "count {file} --seconds {seconds}",
    "count {file} --explore states --seconds {seconds}",
    "diff {file} {other} --seconds {seconds}",
    "repair {file} --seconds {seconds}",
    "measure {file} --budget cheap --seconds {seconds}",
    "ground {file} --seconds {seconds}",
    "bench {file} --seconds {seconds}",
)
"""The commands that read rules, with their limit on the time."""
_LIMITS: Final = ("--seconds", "--minutes", "--budget")
_TIMES: Final = {"bench": 2}
"""How often they may take what they are given, if not once."""
_LONGER: Final = 1.2
"""A limit may be exceeded that many times, ..."""
_LATER: Final = 1.0
"""... and that on time by so many seconds more."""
_PAUSE: Final = 0.05
_START: Final = 1.0
"""Seconds within which a command begins to count its time."""
_STUCK: Final = 60.0
"""Seconds beyond which a command is ended."""


@dataclass(frozen=True, slots=True)
class Measured:
    """What a command took."""

    status: int | None
    """The exit status; None if the command had to be ended."""
    seconds: float
    """From the start of the process to its end."""
    waited: float
    """How many of these it had no processor at its start, and once it should have ended."""
    megabytes: float
    """The most resident memory of its processes."""
    message: str
    """The last line on standard error."""
    is_crash: bool
    """Whether a traceback was printed."""


def measure(command: str, folder: Path, seconds: float) -> Measured:
    """Run a command of herbrand, which should end after some seconds, in a folder."""
    errors = folder / "errors.txt"
    started = time.monotonic()
    with errors.open("wb") as stderr:
        process = subprocess.Popen(  # noqa: S603  # our own interpreter
            [sys.executable, "-m", "herbrand", *command.split()],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=stderr,
            start_new_session=True,
        )
        most, ended = 0.0, False
        at_start = at_limit = at_end = 0.0
        while process.poll() is None:
            most = max(most, _megabytes(process.pid))
            spent, at_end = time.monotonic() - started, max(at_end, _waited(process.pid))
            at_start = at_end if spent < _START else at_start
            at_limit = at_end if spent < seconds + at_start else at_limit
            if spent > _STUCK:
                os.killpg(process.pid, signal.SIGKILL)
                ended = True
            time.sleep(_PAUSE)
    spent = time.monotonic() - started
    waited = at_start + at_end - max(at_limit, at_start)
    text = errors.read_text(encoding="utf-8", errors="replace").strip()
    message = text.splitlines()[-1][:300] if text else ""
    status = None if ended else process.returncode
    return Measured(status, spent, waited, most, message, "Traceback (" in text)


def _waited(process: int) -> float:
    """Return how long the main thread of a process was ready to run but had no processor, in seconds."""
    try:
        return int(Path(f"/proc/{process}/schedstat").read_text("ascii").split()[1]) / 1e9
    except (OSError, ValueError, IndexError):  # it has just ended
        return 0.0


def _megabytes(process: int) -> float:
    """Return the resident memory of a process, and of its descendants as far as they do not share it."""
    pages, family = 0, [process]
    for number in family:
        try:
            _, resident, shared, *_ = map(int, Path(f"/proc/{number}/statm").read_text("ascii").split())
            for children in Path(f"/proc/{number}/task").glob("*/children"):
                family += map(int, children.read_text("ascii").split())
        except (OSError, ValueError):  # it has just ended
            continue
        pages += resident - (shared if number != process else 0)
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def try_budgets(
    folder: Path,
    sheets: Iterable[Path] = (),
    *,
    seconds: float = 5.0,
    only: str = "",
    limit: int | None = None,
    seed: int = 0,
) -> list[CaseReport]:
    """Run the commands that contain the text `only` on rulesheets; return a report for each command.

    With `limit`, so many of the commands are drawn from the seed.
    """
    files = sorted(sheets or SHEETS.glob("*.kif"))
    commands = [command for command in COMMANDS if only in command]
    if limit is not None and limit < len(commands):
        commands = Random(seed).sample(commands, limit)
    return [_try_command(command, folder, files, seconds) for command in commands]


def _try_command(command: str, folder: Path, sheets: Sequence[Path], seconds: float) -> CaseReport:
    name, *words = command.split()
    kind = " ".join([name, *(word for word in words if "{" not in word and word not in _LIMITS)])
    report = CaseReport(kind)
    longest, most = 0.0, 0.0
    for sheet in sheets:
        work = folder / "work"
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir(parents=True)
        for file in ("game.kif", "other.kif"):
            shutil.copy(sheet, work / file)
        limits = {"seconds": f"{seconds:g}", "minutes": f"{seconds / 60:g}"}
        given = command.format(file="game.kif", other="other.kif", **limits)
        measured = measure(given, work, _TIMES.get(name, 1) * seconds)
        report.tried += 1
        longest = max(longest, measured.seconds - measured.waited)
        most = max(most, measured.megabytes)
        failures = list(_failures(measured, _TIMES.get(name, 1) * seconds, BUDGETS[name].megabytes))
        report.failures += [f"{sheet.stem}: {failure}" for failure in failures]
        if not failures:
            report.outcomes[_OUTCOMES[measured.status]] += 1
        print(f"{kind} | {sheet.stem} | {measured}", file=sys.stderr)
    report.note = f"at most {longest:.1f} s, {most:.0f} MB"
    return report


_OUTCOMES: Final[Mapping[int | None, str]] = {0: "done", 1: "refused", 3: "over budget"}
"""How a command may end, by its exit status."""


def _failures(measured: Measured, seconds: float, megabytes: float) -> Iterable[str]:
    if measured.status not in _OUTCOMES or measured.is_crash:
        yield f"exit status {measured.status}: {measured.message}"
    if measured.seconds - measured.waited > _LONGER * seconds + _LATER:
        yield f"took {measured.seconds:.1f} s, without {measured.waited:.1f} s in which it had no processor"
    if measured.megabytes > _LONGER * megabytes:
        yield f"took {measured.megabytes:.0f} MB"


def main() -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(prog="python benchmarks/budgets.py")
    parser.add_argument("files", nargs="*", metavar="FILE", type=Path)
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--only", default="", metavar="TEXT")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        reports = try_budgets(Path(folder), options.files, seconds=options.seconds, only=options.only)
    for report in reports:
        for failure in report.failures:
            print(f"{report.kind}: {failure}")
    return int(any(report.failures for report in reports))


if __name__ == "__main__":
    sys.exit(main())
