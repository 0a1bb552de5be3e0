"""clingo's grounder in a child process that can be stopped.

Its grounding cannot be interrupted from within a process, so it runs in one of its own,
under a time limit and, where the system offers it, a memory limit.  Its time is the processor's,
so that a game grounds on a busy machine too; `PATIENCE` bounds the time on the clock.  What it
prints is handed on piece by piece, so that it is never held whole.
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
from threading import Timer
from typing import TYPE_CHECKING, Final, Self

from herbrand.errors import BudgetExceeded, HerbrandError, InternalError
from herbrand.runtime.memory import limiting_script

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import IO

__all__ = ["clingo_command", "grounder"]

PIECE: Final = 1 << 20
"""Bytes that are read at a time."""
PATIENCE: Final = 4
"""How many times its seconds of processor time a child may take by the clock."""
_CHILD: Final = """
import sys
folder, library, *options = sys.argv[1:]
try:
    import ctypes
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
"""The library is called as its own program calls it: importing the package takes four times as long."""
_NO_MEMORY: Final = ("bad_alloc", "MemoryError", "failed to map", "allocate memory", "allocate region")


def clingo_command(*options: str, first: str = "") -> list[str]:
    """Return the command that runs clingo, as its own program would, after the lines of Python in `first`."""
    return [sys.executable, "-I", "-S", "-c", first + _CHILD, *_clingo(), *options]


@contextlib.contextmanager
def grounder(text: str, *, seconds: float, megabytes: int) -> Iterator[Iterator[bytes]]:
    """Ground a program while the context lasts, in another process that has begun when this returns.

    The context gives the ground program in clingo's intermediate format (aspif), whole lines at a time.
    Reading it raises `BudgetExceeded` when time or memory is used up; `HerbrandError` without clingo.
    """
    if not _clingo()[0]:
        raise HerbrandError("grounding needs the library `clingo`: pip install clingo")
    with tempfile.TemporaryFile(prefix="herbrand-") as program, tempfile.TemporaryFile() as messages:
        program.write(text.encode("ascii"))
        program.seek(0)
        with _Grounder(program, messages, seconds, megabytes) as running:
            yield running.lines()


class _Grounder:
    """A grounder that runs, with its clocks."""

    def __init__(self, program: IO[bytes], messages: IO[bytes], seconds: float, megabytes: int) -> None:
        self.seconds, self.megabytes, self.messages = seconds, megabytes, messages
        self.processor = math.ceil(min(max(seconds, 1.0), 1e6))
        limits = limiting_script(megabytes, cpu=self.processor)
        self.limited = bool(limits)
        self.clock = min(max(seconds, 0.0) * (PATIENCE if self.limited and seconds >= 1 else 1), 1e6)
        options = ("--mode=gringo", "--output=intermediate", "--warn=none", "-")
        command = clingo_command(*options, first=limits)
        self.before = _children() if self.limited else 0.0
        self.started = time.monotonic()
        self.child = subprocess.Popen(  # noqa: S603  # our own interpreter
            command,
            stdin=program,
            stdout=subprocess.PIPE,
            stderr=messages,
            # unbuffered, the grounder would write every number by a call of its own
            env={name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"},
        )
        self.stop = Timer(self.clock, self.child.kill)
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
        """Yield what it writes, whole lines at a time; raise what ended it where that is not all."""
        assert self.child.stdout is not None
        rest, complete = b"", False
        while piece := self.child.stdout.read(PIECE):
            lines, line_feed, rest = (rest + piece).rpartition(b"\n")
            complete = not rest and (lines == b"0" or lines.endswith(b"\n0"))
            yield lines + line_feed
        self.child.wait()
        if not complete:
            raise self._failure()

    def _failure(self) -> HerbrandError:
        late = time.monotonic() - self.started >= self.clock
        if late or (self.limited and _children() - self.before >= self.processor - 0.5):
            return BudgetExceeded(f"{self.seconds:g} seconds", "while grounding")
        self.messages.seek(0)
        message = self.messages.read().decode(errors="replace").strip()
        if self.child.returncode < 0 or "INTERRUPTED" in message:
            return BudgetExceeded(
                "operating-system process limit", "while grounding: the grounder was stopped"
            )
        if not message or any(word in message for word in _NO_MEMORY):
            return BudgetExceeded(f"{self.megabytes} MB", "while grounding")
        return InternalError(f"the grounder refused our program: {message.splitlines()[-1]}")


def _clingo() -> tuple[str, str]:
    """Return the folder that has the package clingo, and its library; empty texts without them."""
    spec = importlib.util.find_spec("clingo")
    if spec is None or not spec.submodule_search_locations:
        return "", ""
    package = Path(next(iter(spec.submodule_search_locations)))
    library = next((file for file in sorted(package.glob("_clingo*")) if file.suffix in (".so", ".pyd")), "")
    return str(package.parent), str(library)


def _children() -> float:
    """Processor seconds of the child processes that have ended."""
    import resource

    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime
