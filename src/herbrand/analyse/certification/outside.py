"""The programs of others that check evidence, each in a process with a limit on its time."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any, Final

from herbrand.ground.clingo_child import clingo_command

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from herbrand.analyse.certification.evidence import EvidenceFile

__all__ = ["Checker", "OutsideAnswer", "checker_for", "run_checker"]

_SAT: Final = """
import sys
from pysat.formula import CNF
from pysat.solvers import Solver
with Solver(name='minisat22', bootstrap_with=CNF(from_file=sys.argv[1])) as solver:
    print('s', 'SATISFIABLE' if solver.solve() else 'UNSATISFIABLE')
"""


@dataclass(frozen=True, slots=True)
class Checker:
    """A program that checks one kind of file."""

    program: str
    version: str
    command: tuple[str, ...]
    """The program with its options, without the file."""


@dataclass(frozen=True, slots=True)
class OutsideAnswer:
    """What a program said of a file."""

    accepted: bool | None
    """None if it gave no answer."""
    said: str
    """Its answer, or why there is none."""


def checker_for(program: str) -> Checker | str:
    """Return the program on this machine for files of a kind, or what to install."""
    if program == "clingo":
        command = tuple(clingo_command("--warn=none", "--quiet=2"))
        return Checker("clingo", _version("clingo"), command)
    if program == "prolog":
        path = shutil.which("swipl")
        if path is None:
            return "SWI-Prolog is not installed (Debian: swi-prolog-nox)"
        return Checker("swipl", _program_version(path, "--version"), (path,))
    path = shutil.which("cadical")
    if path is not None:
        return Checker("cadical", _program_version(path, "--version"), (path, "-q", "-n"))
    if _version("python-sat"):
        return Checker("minisat22 of python-sat", _version("python-sat"), (sys.executable, "-c", _SAT))
    return "there is no SAT solver (pip install 'herbrand[analyse]')"


def run_checker(checker: Checker, folder: Path, file: EvidenceFile, seconds: float) -> OutsideAnswer:
    """Let a program check a file in a folder."""
    path = folder / file.name
    done: Any
    try:
        done = subprocess.run(  # noqa: S603  # a program that `checker_for` chose
            [*checker.command, path.name],
            cwd=path.parent,
            capture_output=True,
            check=False,
            stdin=subprocess.DEVNULL,
            timeout=max(seconds, 0.1),
            text=True,
            errors="replace",
        )
    except subprocess.TimeoutExpired:
        return OutsideAnswer(None, "no answer in time")
    if file.program == "prolog":
        lines: Sequence[str] = (done.stdout.strip() or done.stderr.strip() or "no answer").splitlines()
        return OutsideAnswer(done.returncode == 0 and lines[-1] == file.expected, lines[-1][:300])
    answer = re.search(r"^(?:s )?((?:UN)?SATISFIABLE)$", done.stdout, re.MULTILINE)
    if answer is None:
        return OutsideAnswer(None, (done.stderr.strip() or "no answer")[:300])
    return OutsideAnswer(answer[1] == file.expected, answer[1])


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def _program_version(path: str, option: str) -> str:
    done = subprocess.run([path, option], capture_output=True, check=False, text=True, timeout=10)  # noqa: S603
    found = re.search(r"\d+(\.\d+)+", done.stdout)
    return "" if found is None else found[0]
