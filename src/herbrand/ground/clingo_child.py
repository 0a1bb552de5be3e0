"""Runs clingo's grounder in a child process.

clingo cannot interrupt its grounding, so it runs in a process that can be killed, under a time limit and,
where the system supports it, a memory limit.  Output is streamed in chunks, never held in memory whole.
"""

from __future__ import annotations

import contextlib
import importlib.util
import math
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from threading import TIMEOUT_MAX, Timer
from typing import TYPE_CHECKING, Final, Self

from herbrand.errors import BudgetExceeded, HerbrandError, InternalError
from herbrand.runtime.limits import time_spent
from herbrand.runtime.memory import limiting_script

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import IO

__all__ = ["clingo_command", "grounder"]

_DAY: Final = 86400.0
CHUNK: Final = 1 << 20
"""Bytes read at a time."""
_CHILD: Final = """
import sys
folder, library, *options = sys.argv[1:]
try:
    import ctypes
    if sys.platform == 'linux':
        ctypes.CDLL(None).prctl(1, 9)  # PR_SET_PDEATHSIG: killed with the parent
    main = ctypes.CDLL(library).clingo_main_
except (ImportError, OSError, AttributeError):
    import runpy
    sys.path.append(folder)
    sys.argv[:] = ['clingo', *options]
    runpy.run_module('clingo', run_name='__main__')
else:
    words = [word.encode() for word in ('clingo', *options)]
    sys.exit(main(len(words), (ctypes.c_char_p * (len(words) + 1))(*words, None)))
"""
"""Calls the entry point of the library directly: importing the package takes four times as long."""
_NO_MEMORY: Final = ("bad_alloc", "MemoryError", "failed to map", "allocate memory", "allocate region")


def clingo_command(*options: str, first: str = "") -> list[str]:
    """Return the command line that executes the Python code `first`, then clingo with `options`."""
    return [sys.executable, "-I", "-S", "-c", first + _CHILD, *_clingo(), *options]


@contextlib.contextmanager
def grounder(text: str, *, seconds: float, megabytes: int) -> Iterator[Iterator[bytes]]:
    """Start a grounder in a child process; the child is killed at the end of the context.

    The context value yields the ground program in clingo's intermediate format (aspif), whole lines at a
    time, and raises `BudgetExceeded` when time or memory is used up.  Raises `HerbrandError` without clingo.
    """
    if not _clingo()[0]:
        raise HerbrandError("grounding needs the library `clingo`: pip install clingo")
    with tempfile.TemporaryFile(prefix="herbrand-") as program, tempfile.TemporaryFile() as messages:
        program.write(text.encode("ascii"))
        program.seek(0)
        with _Grounder(program, messages, seconds, megabytes) as running:
            yield running.lines()


class _Grounder:
    """A running grounder process with its limits."""

    def __init__(self, program: IO[bytes], messages: IO[bytes], seconds: float, megabytes: int) -> None:
        self.seconds, self.megabytes, self.messages = seconds, megabytes, messages
        options = ("--mode=gringo", "--output=intermediate", "--warn=none", "-")
        # where the end of the parent goes unnoticed, processor time is all that ends the child
        others = {"cpu": math.ceil(seconds) + 1} if seconds < _DAY else {}
        command = clingo_command(*options, first=limiting_script(megabytes, **others))
        self.started = time.monotonic()
        self.child = subprocess.Popen(  # noqa: S603  # our own interpreter
            command,
            stdin=program,
            stdout=subprocess.PIPE,
            stderr=messages,
            # with unbuffered output the grounder makes one system call for every number
            env={name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"},
        )
        self.stop = Timer(max(0.0, min(seconds, TIMEOUT_MAX)), self.child.kill)
        self.stop.daemon = True
        self.stop.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop.cancel()
        self.child.kill()
        with self.child:  # waits, and closes the pipe
            pass

    def lines(self) -> Iterator[bytes]:
        """Yield the output, whole lines at a time; raise the reason if it is incomplete."""
        assert self.child.stdout is not None
        rest, complete = b"", False
        while chunk := self.child.stdout.read(CHUNK):
            lines, line_feed, rest = (rest + chunk).rpartition(b"\n")
            complete = not rest and (lines == b"0" or lines.endswith(b"\n0"))
            yield lines + line_feed
        self.child.wait()
        if not complete:
            raise self._failure()

    def _failure(self) -> HerbrandError:
        if time.monotonic() - self.started >= self.seconds:
            return BudgetExceeded(time_spent(self.seconds), "while grounding")
        self.messages.seek(0)
        message = self.messages.read().decode(errors="replace").strip()
        if self.child.returncode < 0 or "INTERRUPTED" in message:
            return BudgetExceeded(
                "operating-system process limit", "while grounding: the grounder was stopped"
            )
        if not message or any(word in message for word in _NO_MEMORY):
            return BudgetExceeded(f"{self.megabytes} MB", "while grounding")
        return InternalError(f"the grounder rejected the program: {message.splitlines()[-1]}")


def _clingo() -> tuple[str, str]:
    """Return the folder of the package clingo and the path of its library, "" for what is not installed."""
    spec = importlib.util.find_spec("clingo")
    if spec is None or not spec.submodule_search_locations:
        return "", ""
    package = Path(next(iter(spec.submodule_search_locations)))
    library = next((file for file in sorted(package.glob("_clingo*")) if file.suffix in (".so", ".pyd")), "")
    return str(package.parent), str(library)
