"""A child process that evaluates rules for the server, with limits on time and memory."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
import time
from typing import IO, Any, Final

from herbrand.errors import HerbrandError

__all__ = ["MEGABYTES", "Child", "ChildError", "ChildLost"]

MEGABYTES: Final = 3000
"""Address space of a child; libraries reserve much more than they use."""
LONGEST_ANSWER: Final = 64_000_000


class ChildError(HerbrandError):
    """The child says why it cannot answer; it goes on."""

    def __init__(self, message: str, kind: str = "game") -> None:
        super().__init__(message)
        self.kind = kind
        """"game", "budget" or "move"."""


class ChildLost(HerbrandError):
    """The child took too long, ran out of memory or broke down; it is gone."""


class Child:
    """One child process; answers one question at a time."""

    def __init__(self, *, megabytes: int = MEGABYTES) -> None:
        environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
        self._process = subprocess.Popen(  # noqa: S603  # our own interpreter
            [sys.executable, "-m", "herbrand.web.worker", str(megabytes)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
            text=True,
            encoding="utf-8",
        )
        self._answers: queue.Queue[str | None] = queue.Queue()
        self._lock = threading.Lock()
        self.used = time.monotonic()
        """When it was asked last."""
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        stream = self._process.stdout
        assert stream is not None
        while line := stream.readline(LONGEST_ANSWER):
            self._answers.put(line)
        self._answers.put(None)

    @property
    def alive(self) -> bool:
        """Whether it can be asked."""
        return self._process.poll() is None

    def ask(self, do: str, *, seconds: float = 30.0, **arguments: Any) -> Any:
        """Ask and wait for the answer.

        Raises `ChildError` with what the child says, `ChildLost` when there is no answer in time: the
        child is killed then.
        """
        with self._lock:
            self.used = time.monotonic()
            stream: IO[str] | None = self._process.stdin
            assert stream is not None
            try:
                stream.write(json.dumps({"do": do, **arguments}) + "\n")
                stream.flush()
                line = self._answers.get(timeout=seconds)
            except queue.Empty:
                self.close()
                raise ChildLost(f"no answer within {seconds:g} seconds: this was too much work") from None
            except (OSError, ValueError):
                line = None
            if line is None:
                self.close()
                raise ChildLost("the rules took more memory than there is for them, or a fault ended them")
            answer = json.loads(line)
            if "error" in answer:
                raise ChildError(str(answer["error"]), str(answer.get("kind", "game")))
            return answer["ok"]

    def close(self) -> None:
        """End the child."""
        if self._process.poll() is None:
            self._process.kill()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                try:
                    stream.close()
                except OSError:
                    continue
        self._process.wait()
