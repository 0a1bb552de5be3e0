"""A subprocess that evaluates rules for the server, with limits on time and memory."""

from __future__ import annotations

import sys
import threading
import time
from typing import Any, Final

from herbrand.errors import BudgetExceeded, HerbrandError
from herbrand.runtime.json_process import JsonProcess
from herbrand.runtime.line_process import ProcessDied

__all__ = ["MEGABYTES", "Child", "ChildLost"]

MEGABYTES: Final = 3000
"""Limit on the address space of a subprocess; libraries reserve much more than they use."""


class ChildLost(HerbrandError):
    """The subprocess took too long, ran out of memory or crashed, and has ended."""


class Child:
    """One stateful subprocess, which handles one request at a time."""

    def __init__(self, *, megabytes: int = MEGABYTES) -> None:
        command = [sys.executable, "-m", "herbrand.web.worker", str(megabytes)]
        self._process = JsonProcess("the evaluator", command, restart=False, show_errors=True)
        self._lock = threading.Lock()
        self.used = time.monotonic()
        """Time of the last request, on the monotonic clock."""

    @property
    def is_alive(self) -> bool:
        """Whether the subprocess is running."""
        return not self._process.has_ended

    def ask(self, do: str, *, seconds: float = 30.0, **arguments: Any) -> Any:
        """Send a request and wait for the reply.

        Raises `RequestError` for errors in the subprocess, with `kind` "game", "budget", "move" or "bug", and
        `ChildLost` if there is no reply in time: the subprocess is then killed.
        """
        with self._lock:
            self.used = time.monotonic()
            try:
                return self._process.request({"do": do, **arguments}, seconds)
            except BudgetExceeded:
                self.close()
                raise ChildLost(f"no answer within {seconds:g} seconds") from None
            except (ProcessDied, ValueError):
                self.close()
                raise ChildLost("the evaluator exceeded its memory limit or crashed") from None

    def close(self) -> None:
        """End the subprocess."""
        self._process.close()
