"""The programs of others that check evidence, each in a process with a limit on its time."""

from __future__ import annotations

import math
import re
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Final

from herbrand.ground.clingo_child import clingo_command
from herbrand.runtime.memory import limited_command

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path
    from subprocess import CompletedProcess

    from herbrand.analyse.certification.evidence import EvidenceFile

__all__ = ["Checker", "OutsideAnswer", "checker_for", "run_checker"]

_SAT: Final = """
import sys
from pysat.formula import CNF
from pysat.solvers import Solver
with Solver(name='glucose4', with_proof=True, bootstrap_with=CNF(from_file=sys.argv[1])) as solver:
    satisfiable = solver.solve()
    with open(sys.argv[2], 'w') as file:
        file.writelines(line + '\\n' for line in solver.get_proof() or ())
    print('s', 'SATISFIABLE' if satisfiable else 'UNSATISFIABLE')
"""
_DRATIFY: Final = """
import sys
from pathlib import Path
from dratify import check_proof, parse_dimacs
texts = [Path(name).read_text() for name in sys.argv[1:]]
print('s', 'VERIFIED' if check_proof(parse_dimacs(texts[0]), texts[1]).ok else 'NOT VERIFIED')
"""
WAITING = 1.0
"""Seconds of wall-clock time for each second that a program may use; more where the processor is shared."""
_MEGABYTES: Final = 3000
"""Memory of a program."""
_LATE: Final = "no answer in time"
_EXHAUSTED: Final = re.compile(r"stack limit|resource error|not enough (memory|resources)", re.IGNORECASE)
"""The messages of SWI-Prolog when it runs out of memory."""


@dataclass(frozen=True, slots=True)
class Checker:
    """A program that checks one kind of file."""

    program: str
    version: str
    command: tuple[str, ...]
    """The program with its options, without the file."""


@dataclass(frozen=True, slots=True)
class OutsideAnswer:
    """The answer of a program to a file."""

    accepted: bool | None
    """None if it gave no answer."""
    said: str
    """Its answer, or why there is none."""
    proof: str = ""
    """For the answer of a SAT solver: which program verified its proof, or why none did."""


def checker_for(program: str) -> Checker | str:
    """Return the program on this machine for files of a kind, or what to install."""
    if program == "clingo":
        command = tuple(clingo_command("--warn=none", "--quiet=2"))
        return Checker("clingo", _version("clingo"), command)
    if program == "prolog":
        path = shutil.which("swipl")
        if path is None:
            return "SWI-Prolog is not installed (Debian: swi-prolog-nox)"
        # it would crash on the signal of a limit on processor time while it collects garbage
        return Checker("swipl", _program_version(path, "--version"), (path, "--no-signals"))
    if program == "proof":
        path = shutil.which("drat-trim")
        if path is not None:
            return Checker("drat-trim", "", (path,))
        if _version("dratify"):
            return Checker("dratify", _version("dratify"), (sys.executable, "-c", _DRATIFY))
        return "install drat-trim or dratify to have the proof checked"
    path = shutil.which("cadical")
    if path is not None:
        return Checker("cadical", _program_version(path, "--version"), (path, "-q", "-n", "--no-binary"))
    if _version("python-sat"):
        return Checker("Glucose of python-sat", _version("python-sat"), (sys.executable, "-c", _SAT))
    return "there is no SAT solver (pip install 'herbrand[analyse]')"


def run_checker(checker: Checker, folder: Path, file: EvidenceFile, seconds: float) -> OutsideAnswer:
    """Let a program check a file in a folder.

    A SAT solver also writes a proof (DRAT) beside it, which another program checks if there is one.
    """
    until = time.monotonic() + seconds
    path = folder / file.name
    proof = path.with_suffix(".drat")
    names = [path.name] if file.program != "sat" else [path.name, proof.name]
    done = _run(checker, path.parent, names, seconds)
    if isinstance(done, str):
        return OutsideAnswer(None, done)
    if file.program == "prolog":
        lines: Sequence[str] = (done.stdout.strip() or done.stderr.strip() or "no answer").splitlines()
        if done.returncode < 0:
            return OutsideAnswer(None, f"stopped by signal {-done.returncode}")
        if _EXHAUSTED.search(done.stderr):
            return OutsideAnswer(None, f"out of memory: {lines[-1]}"[:300])
        return OutsideAnswer(done.returncode == 0 and lines[-1] == file.expected, lines[-1][:300])
    answer = re.search(r"^(?:s )?((?:UN)?SATISFIABLE)$", done.stdout, re.MULTILINE)
    if answer is None:
        return OutsideAnswer(None, (done.stderr.strip() or "no answer")[:300])
    accepted = answer[1] == file.expected
    if file.program != "sat" or not accepted:
        return OutsideAnswer(accepted, answer[1])
    second = checker_for("proof")
    if not isinstance(second, Checker):
        return OutsideAnswer(True, answer[1], second)
    done = _run(second, path.parent, names, until - time.monotonic())
    if isinstance(done, str):
        return OutsideAnswer(True, answer[1], f"{second.program}: {done}")
    if done.returncode < 0:
        return OutsideAnswer(True, answer[1], f"{second.program}: stopped by signal {-done.returncode}")
    verified = re.search(r"^s VERIFIED$", done.stdout, re.MULTILINE) is not None
    second_answer = f"{'verified' if verified else 'REFUSED'} by {second.program} {second.version}".strip()
    return OutsideAnswer(verified, answer[1], second_answer)


def _run(checker: Checker, folder: Path, names: Sequence[str], seconds: float) -> CompletedProcess[str] | str:
    """Run a program on files of a folder; return why there is no answer if it takes too long."""
    seconds = max(seconds, 0.1)
    command = [*checker.command, *names]
    try:
        done = subprocess.run(  # noqa: S603  # a program that `checker_for` chose
            limited_command(command, _MEGABYTES, cpu=math.ceil(seconds), core=0),
            cwd=folder,
            capture_output=True,
            check=False,
            stdin=subprocess.DEVNULL,
            timeout=WAITING * seconds,
            text=True,
            errors="replace",
        )
    except subprocess.TimeoutExpired:
        return _LATE
    is_late = (
        done.returncode in (-signal.SIGXCPU, -signal.SIGKILL) or "INTERRUPTED" in done.stderr
    )  # by clingo
    return _LATE if is_late else done


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def _program_version(path: str, option: str) -> str:
    done = subprocess.run([path, option], capture_output=True, check=False, text=True, timeout=10)  # noqa: S603
    match = re.search(r"\d+(\.\d+)+", done.stdout)
    return (done.stdout.strip().splitlines() or [""])[0][:40] if match is None else match[0]
