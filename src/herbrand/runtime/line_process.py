"""A subprocess that answers each line with a line, within a timeout.

One that takes too long is killed and started again at the next question; when one dies, the error quotes
the end of its standard error.
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

__all__ = ["LineProcess", "ProcessDied"]

_LAST_WORDS = 2000
"""How many characters of a dead process's standard error are shown."""
_LONGEST = 1 << 26
"""Bytes of an answer; a longer one is cut, which no reader of JSON accepts."""


class ProcessDied(HerbrandError, RuntimeError):
    """The process ended without an answer, or was closed."""


class LineProcess:
    """A subprocess that answers lines.  It starts with the first question; `close` ends it, from any thread.

    Without `restart`, a process that has ended stays so, and questions raise `ProcessDied`: for one that
    keeps a state.  With `show_errors` its standard error is that of this process; otherwise `ProcessDied`
    quotes it.
    """

    def __init__(
        self, name: str, command: Sequence[str], *, restart: bool = True, show_errors: bool = False
    ) -> None:
        self.name = name
        """What messages call it."""
        self.command = list(command)
        self._restart, self._show_errors = restart, show_errors
        self._started = False
        self._process: subprocess.Popen[bytes] | None = None
        self._lines: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._errors: IO[bytes] | None = None
        self._finalizer: weakref.finalize[[subprocess.Popen[bytes]], LineProcess] | None = None

    @property
    def is_running(self) -> bool:
        """Whether there is a process that can be asked."""
        return self._process is not None and self._process.poll() is None

    @property
    def has_ended(self) -> bool:
        """Whether there was a process that can be asked no more, or `close` was called."""
        return self._started and not self.is_running

    def ask(self, line: str, seconds: float) -> str:
        """Send a line and return the line that answers it.

        Raises `BudgetExceeded` after that many seconds (the process is killed), `ProcessDied` when it
        ended instead of answering.
        """
        if not self.is_running:
            if self.has_ended and not self._restart:
                raise ProcessDied(f"{self.name} has ended")
            self.close()
            self._start()
        process, lines, errors = self._process, self._lines, self._errors  # another thread may close them
        if process is None or process.stdin is None:
            raise ProcessDied(f"{self.name} was ended")
        with contextlib.suppress(BrokenPipeError, ValueError):  # then there is no answer
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
            raise ProcessDied(f"{self.name} ended without an answer{last}")
        return answer.decode(errors="replace").rstrip("\r\n")

    def close(self) -> None:
        """End the process, if there is one."""
        finalizer, errors = self._finalizer, self._errors
        self._process = self._errors = self._finalizer = None
        self._started = True
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
        self._started = True
        self._errors = None if self._show_errors else tempfile.TemporaryFile()  # noqa: SIM115  # closed with the process
        self._lines = queue.SimpleQueue()
        self._process = subprocess.Popen(  # noqa: S603  # a program that the caller names
            self.command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            start_new_session=True,  # an interrupt of this program is not one of the subprocess
        )
        self._finalizer = weakref.finalize(self, _end, self._process)
        reader = threading.Thread(target=_read, args=(self._process.stdout, self._lines), daemon=True)
        reader.start()


def _last_words(process: subprocess.Popen[bytes], errors: IO[bytes] | None) -> str:
    """Say how a process ended; nothing where `close` ended it."""
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(timeout=5)
    if errors is None:
        return f" (exit status {process.poll()})"
    try:
        errors.seek(0)
        words = errors.read().decode(errors="replace").strip()[-_LAST_WORDS:]
    except ValueError:  # closed
        return ""
    return f" (exit status {process.poll()})" + (f": {words}" if words else "")


def _read(stream: IO[bytes], lines: queue.SimpleQueue[bytes | None]) -> None:
    """Pass lines on until the stream ends, then None."""
    with contextlib.suppress(ValueError, OSError):
        while line := stream.readline(_LONGEST):
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
