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
"""Address space of a child; libraries reserve much more than they use."""


class ChildLost(HerbrandError):
    """The child took too long, ran out of memory or broke down; it is gone."""


class Child:
    """One subprocess, which holds what it was told; answers one question at a time."""

    def __init__(self, *, megabytes: int = MEGABYTES) -> None:
        command = [sys.executable, "-m", "herbrand.web.worker", str(megabytes)]
        self._process = JsonProcess("the evaluator", command, restart=False, show_errors=True)
        self._lock = threading.Lock()
        self.used = time.monotonic()
        """When it was asked last."""

    @property
    def alive(self) -> bool:
        """Whether it can be asked."""
        return not self._process.has_ended

    def ask(self, do: str, *, seconds: float = 30.0, **arguments: Any) -> Any:
        """Ask and wait for the answer.

        Raises `RequestError` with what the child says, whose `kind` is "game", "budget" or "move", and
        `ChildLost` when there is no answer in time: the child is killed then.
        """
        with self._lock:
            self.used = time.monotonic()
            try:
                return self._process.request({"do": do, **arguments}, seconds)
            except BudgetExceeded:
                self.close()
                raise ChildLost(f"no answer within {seconds:g} seconds: this was too much work") from None
            except (ProcessDied, ValueError):
                self.close()
                raise ChildLost(
                    "the rules took more memory than there is for them, or a fault ended them"
                ) from None

    def close(self) -> None:
        """End the child."""
        self._process.close()
