"""clingo's grounder in a child process that can be stopped.

Its grounding cannot be interrupted from within a process, so it runs in one of its own,
under a time limit and, where the system offers it, a memory limit.
"""

from __future__ import annotations

import contextlib
import subprocess
import sys
import tempfile
from pathlib import Path

from herbrand.errors import BudgetExceeded, InternalError

__all__ = ["ground_text"]


def ground_text(text: str, *, seconds: float, megabytes: int) -> bytes:
    """Ground a program; return it in clingo's intermediate format (aspif).

    Raises `BudgetExceeded` when time or memory is used up.
    """
    with tempfile.TemporaryDirectory(prefix="herbrand-") as folder:
        file = Path(folder) / "game.lp"
        file.write_text(text, encoding="ascii")
        limit = (
            f"import resource, runpy, sys;resource.setrlimit(resource.RLIMIT_AS, ({megabytes} * 2**20,) * 2);"
            if _has_limits()
            else "import runpy, sys;"
        )
        command = [
            sys.executable,
            "-c",
            limit + "sys.argv[0] = 'clingo'; runpy.run_module('clingo', run_name='__main__')",
            "--mode=gringo",
            "--output=intermediate",
            "--warn=none",
            str(file),
        ]
        try:
            done = subprocess.run(  # noqa: S603  # our own interpreter
                command, capture_output=True, timeout=seconds, check=False, stdin=subprocess.DEVNULL
            )
        except subprocess.TimeoutExpired:
            raise BudgetExceeded(f"{seconds:g} seconds", "while grounding") from None
    if done.stdout.endswith(b"\n0\n"):
        return done.stdout
    message = done.stderr.decode(errors="replace").strip()
    if done.returncode < 0 or b"INTERRUPTED" in done.stdout + done.stderr:
        raise BudgetExceeded("what the system allows a process", "while grounding: the grounder was stopped")
    if "bad_alloc" in message or "MemoryError" in message or not message:
        raise BudgetExceeded(f"{megabytes} MB", "while grounding")
    raise InternalError(f"the grounder refused our program: {message.splitlines()[0]}")


def _has_limits() -> bool:
    with contextlib.suppress(ImportError):
        import resource

        return hasattr(resource, "RLIMIT_AS")
    return False
