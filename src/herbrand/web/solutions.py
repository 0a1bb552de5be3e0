"""Solutions of games, each computed by a subprocess, and cached while the server runs."""

from __future__ import annotations

import asyncio
import hashlib
import sys
import time
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from herbrand.runtime.json_stream import JsonStream
from herbrand.web.child import MEGABYTES, Busy
from herbrand.web.solver import REPLAYING, SECONDS

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

__all__ = ["Solutions", "SolvingJob"]

MOST: Final = 32
"""Size of the cache of solutions."""
LIMIT: Final = SECONDS + REPLAYING + 30
"""Seconds after which the subprocess is killed: it keeps to its budgets, but for reading and grounding."""


@dataclass
class SolvingJob:
    """A game that is being solved, or was."""

    started: float = field(default_factory=time.monotonic)
    task: str = "reading the rules"
    states: int = 0
    """States looked at in the present task."""
    solution: dict[str, Any] | None = None
    """The result of `solver.find_solution`."""
    error: str = ""

    @property
    def is_running(self) -> bool:
        """Whether the subprocess is still at work."""
        return self.solution is None and not self.error

    @property
    def perfect(self) -> dict[str, str] | None:
        """The digest of the rules, and the file of the strategies, for the seat `perfect`."""
        return None if self.solution is None else self.solution["perfect"]

    def progress(self) -> dict[str, Any]:
        """Return how far it is."""
        seconds = time.monotonic() - self.started
        return {
            "running": self.is_running,
            "task": self.task,
            "states": self.states,
            "seconds": round(seconds, 1),
            "limit": SECONDS,
        }


class Solutions:
    """The jobs by the text of the rules; one runs at a time."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._jobs: OrderedDict[str, SolvingJob] = OrderedDict()
        self._stream: JsonStream | None = None

    def find(self, rules: Mapping[str, Any]) -> SolvingJob | None:
        """Return the job of a game, if there is one."""
        return self._jobs.get(_key(rules))

    async def start(self, rules: Mapping[str, Any]) -> None:
        """Solve a game, unless it is being solved; `Busy` while another one is."""
        key = _key(rules)
        if any(job.is_running for job in self._jobs.values()):
            if self._jobs.get(key) is None or not self._jobs[key].is_running:
                raise Busy("another game is being solved; try again in a minute")
            return
        job = self._jobs[key] = SolvingJob()
        self._jobs.move_to_end(key)
        while len(self._jobs) > MOST:
            old, _ = self._jobs.popitem(last=False)
            self._file(old).unlink(missing_ok=True)

        def receive(message: dict[str, Any]) -> None:
            job.solution, job.error = message.get("ok"), message.get("error", "")
            job.task, job.states = message.get("task", job.task), message.get("states", job.states)

        def ended(status: int, errors: str) -> None:
            del errors
            timer.cancel()
            if job.is_running:
                job.error = "the solver exceeded its time or memory limit" if status else "the solver ended"

        command = [sys.executable, "-m", "herbrand.web.solver", str(MEGABYTES)]
        try:
            stream = self._stream = await JsonStream.open(command, receive=receive, ended=ended)
        except OSError as error:
            job.error = f"the solver could not be started: {error}"
            return
        timer = asyncio.get_running_loop().call_later(LIMIT, stream.kill)
        stream.send({**rules, "file": str(self._file(key))})

    def _file(self, key: str) -> Path:
        return self._folder / f"solution-{key[:16]}.npz"

    async def close(self) -> None:
        """End the subprocess."""
        if self._stream is not None:
            await self._stream.close()


def _key(rules: Mapping[str, Any]) -> str:
    text = "\n".join(str(rules[name]) for name in ("notation", "source", "text"))
    return hashlib.sha256(text.encode()).hexdigest()
