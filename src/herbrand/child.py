"""Another program as a child process: one line asked, one line answered, within a time.

A child that takes too long is killed and started again at the next question; one that died is
reported with what it said last.
"""

from __future__ import annotations

import contextlib
import queue
import subprocess
import tempfile
import threading
import weakref
from typing import IO, TYPE_CHECKING

from herbrand.errors import BudgetExceeded, HerbrandError

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Child", "ChildDied"]

_LAST_WORDS = 2000
"""How much of a dead child's last output is shown, in characters."""


class ChildDied(HerbrandError, RuntimeError):
    """The other program ended although more was to be asked."""


class Child:
    """A program that answers lines.  Started at the first question; `close` ends it, from any thread."""

    def __init__(self, name: str, command: Sequence[str]) -> None:
        self.name = name
        """What messages call it."""
        self.command = list(command)
        self._process: subprocess.Popen[bytes] | None = None
        self._lines: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._errors: IO[bytes] | None = None
        self._finalizer: weakref.finalize[[subprocess.Popen[bytes]], Child] | None = None

    @property
    def is_running(self) -> bool:
        """Whether there is a process that can be asked."""
        return self._process is not None and self._process.poll() is None

    def ask(self, line: str, seconds: float) -> str:
        """Send a line and return the line that answers it.

        Raises `BudgetExceeded` after that many seconds (the child is killed), `ChildDied` when it
        ended instead of answering.
        """
        if not self.is_running:
            self.close()
            self._start()
        process, lines, errors = self._process, self._lines, self._errors  # whatever others close
        if process is None or process.stdin is None or errors is None:
            raise ChildDied(f"{self.name} was ended")
        with contextlib.suppress(BrokenPipeError, ValueError):  # the missing answer tells
            process.stdin.write(line.encode() + b"\n")
            process.stdin.flush()
        try:
            answer = lines.get(timeout=min(seconds, threading.TIMEOUT_MAX))
        except queue.Empty:
            self.close()
            raise BudgetExceeded(f"{seconds:g} seconds", f"{self.name} was stopped") from None
        except BaseException:  # interrupted: the answer would be taken for that of the next question
            self.close()
            raise
        if answer is None:
            last = _last_words(process, errors)
            if self._process is process:
                self.close()
            raise ChildDied(f"{self.name} ended without an answer{last}")
        return answer.decode(errors="replace").rstrip("\r\n")

    def close(self) -> None:
        """End the process, if there is one."""
        finalizer, errors = self._finalizer, self._errors
        self._process = self._errors = self._finalizer = None
        if finalizer is not None:
            finalizer()
        if errors is not None:
            errors.close()

    def disown(self) -> None:
        """Let go of the process without ending it: another one, of which this is a copy, goes on with it."""
        if self._finalizer is not None:
            self._finalizer.detach()
        self._process = self._errors = self._finalizer = None

    def _start(self) -> None:
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115  # lives as long as the process
        self._lines = queue.SimpleQueue()
        self._process = subprocess.Popen(  # noqa: S603  # a program that the caller names
            self.command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            start_new_session=True,  # an interrupt of ours is not one of the child
        )
        self._finalizer = weakref.finalize(self, _end, self._process)
        reader = threading.Thread(target=_read, args=(self._process.stdout, self._lines), daemon=True)
        reader.start()


def _last_words(process: subprocess.Popen[bytes], errors: IO[bytes]) -> str:
    """Say how a dead child ended; nothing where it was ended by `close`."""
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(timeout=5)
    try:
        errors.seek(0)
        words = errors.read().decode(errors="replace").strip()[-_LAST_WORDS:]
    except ValueError:  # closed
        return ""
    return f" (exit status {process.poll()})" + (f": {words}" if words else "")


def _read(stream: IO[bytes], lines: queue.SimpleQueue[bytes | None]) -> None:
    """Pass lines on until the stream ends, then None."""
    with contextlib.suppress(ValueError, OSError):
        for line in stream:
            lines.put(line)
    lines.put(None)


def _end(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(OSError):
        process.kill()
    process.wait()
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            with contextlib.suppress(OSError):
                stream.close()
