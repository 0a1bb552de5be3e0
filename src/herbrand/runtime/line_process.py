"""Line-based subprocesses: each request and each reply is a line, with a timeout.

A subprocess that exceeds the timeout is killed and restarted at the next request; if it dies, the error
quotes the end of its standard error.
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
"""Characters of a dead process's standard error that are quoted."""
_MAX_REPLY_BYTES = 1 << 26
"""A longer reply is truncated, which makes JSON invalid."""


class ProcessDied(HerbrandError, RuntimeError):
    """The process ended without a reply, or was closed."""


class LineProcess:
    """A line-based subprocess, started by the first request; `close` ends it, from any thread.

    Without `restart`, for stateful processes, requests to a process that has ended raise `ProcessDied`.  With
    `show_errors` it inherits standard error; otherwise `ProcessDied` quotes it.
    """

    def __init__(
        self, name: str, command: Sequence[str], *, restart: bool = True, show_errors: bool = False
    ) -> None:
        self.name = name
        """Its name in error messages."""
        self.command = list(command)
        self._restart, self._show_errors = restart, show_errors
        self._started = False
        self._process: subprocess.Popen[bytes] | None = None
        self._lines: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._errors: IO[bytes] | None = None
        self._finalizer: weakref.finalize[[subprocess.Popen[bytes]], LineProcess] | None = None

    @property
    def is_running(self) -> bool:
        """Whether the process is running."""
        return self._process is not None and self._process.poll() is None

    @property
    def has_ended(self) -> bool:
        """Whether the process was started and has ended, or `close` was called."""
        return self._started and not self.is_running

    def ask(self, line: str, seconds: float) -> str:
        """Send a line and return the reply.

        Raises `BudgetExceeded` after that many seconds, when the process is killed, and `ProcessDied` if it
        ends without a reply.
        """
        if not self.is_running:
            if self.has_ended and not self._restart:
                raise ProcessDied(f"{self.name} has ended")
            self.close()
            self._start()
        process, lines, errors = self._process, self._lines, self._errors  # another thread may close them
        if process is None or process.stdin is None:
            raise ProcessDied(f"{self.name} was ended")
        with contextlib.suppress(BrokenPipeError, ValueError):  # then there is no reply
            process.stdin.write(line.encode() + b"\n")
            process.stdin.flush()
        try:
            answer = lines.get(timeout=min(seconds, threading.TIMEOUT_MAX))
        except queue.Empty:
            self.close()
            raise BudgetExceeded(f"{seconds:g} seconds", f"{self.name} was stopped") from None
        except BaseException:  # interrupted: the late reply would be taken for the next one
            self.close()
            raise
        if answer is None:
            last = _last_words(process, errors)
            if self._process is process:
                self.close()
            raise ProcessDied(f"{self.name} ended without an answer{last}")
        return answer.decode(errors="replace").rstrip("\r\n")

    def close(self) -> None:
        """End the process if it runs."""
        finalizer, errors = self._finalizer, self._errors
        self._process = self._errors = self._finalizer = None
        self._started = True
        if finalizer is not None:
            finalizer()
        if errors is not None:
            errors.close()

    def _start(self) -> None:
        self._started = True
        self._errors = None if self._show_errors else tempfile.TemporaryFile()  # noqa: SIM115  # closed with the process
        self._lines = queue.SimpleQueue()
        self._process = subprocess.Popen(  # noqa: S603  # the caller's command
            self.command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            start_new_session=True,  # keep Ctrl+C from the subprocess
        )
        self._finalizer = weakref.finalize(self, _end, self._process)
        reader = threading.Thread(target=_read, args=(self._process.stdout, self._lines), daemon=True)
        reader.start()


def _last_words(process: subprocess.Popen[bytes], errors: IO[bytes] | None) -> str:
    """Return the exit status and the last error output of a process; empty if `close` ended it."""
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
    """Forward lines until the end of the stream, then None."""
    with contextlib.suppress(ValueError, OSError):
        while line := stream.readline(_MAX_REPLY_BYTES):
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
