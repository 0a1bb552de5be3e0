"""Fixtures for tests of commands: programs in a pseudo-terminal."""

from __future__ import annotations

import contextlib
import os
import re
import select
import signal
import sys
import time
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

SIGNS = re.compile(rb"\x07|\x1b(\[[0-9;?]*[A-Za-z]|\][^\x07]*\x07|[=>()][0B]?)")
"""What moves the cursor, colours or rings."""


class Terminal:
    """A program in a pseudo-terminal."""

    def __init__(self, command: list[str], folder: Path, environment: dict[str, str]) -> None:
        import pty

        self.child, self.handle = pty.fork()
        if self.child == 0:
            os.chdir(folder)
            os.environ |= {"PATH": f"{folder}:{os.environ['PATH']}", "TERM": "xterm", "HOME": str(folder)}
            os.environ |= {"PYTHONPATH": os.pathsep.join(filter(None, sys.path)), **environment}
            os.execvp(command[0], command)
        self.seen = b""

    def send(self, text: str) -> None:
        """Type."""
        self.seen = b""
        os.write(self.handle, text.encode())

    def until(self, words: str, seconds: float = 30.0) -> str:
        """Wait for words on the screen; return all that was written since the last typing."""
        deadline = time.monotonic() + seconds
        while words.encode() not in SIGNS.sub(b"", self.seen) and time.monotonic() < deadline:
            if select.select([self.handle], [], [], 0.2)[0]:
                try:
                    self.seen += os.read(self.handle, 4096)
                except OSError:
                    break
        text = SIGNS.sub(b"", self.seen).decode(errors="replace")
        assert words in text, text
        return text

    def close(self) -> int:
        """Wait a moment for the program to end, or end it; return its exit status."""
        deadline = time.monotonic() + 0.5
        while not os.waitid(os.P_PID, self.child, os.WEXITED | os.WNOHANG | os.WNOWAIT):
            if time.monotonic() > deadline:
                os.kill(self.child, signal.SIGKILL)
            elif select.select([self.handle], [], [], 0.02)[0]:
                with contextlib.suppress(OSError):  # what a terminal raises when the program has ended
                    os.read(self.handle, 4096)
        os.close(self.handle)
        return os.waitstatus_to_exitcode(os.waitpid(self.child, 0)[1])


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Callable[..., Terminal]]:
    """Start programs in pseudo-terminals, in a folder of their own: `terminal(words, VARIABLE="value")`."""
    if os.name == "nt":
        pytest.skip("pseudo-terminals are not there")
    started: list[Terminal] = []

    def start(*command: str, **environment: str) -> Terminal:
        words = [sys.executable, "-m", *command] if command[0] == "herbrand" else list(command)
        started.append(Terminal(words, tmp_path, environment))
        return started[-1]

    yield start
    for program in started:
        with contextlib.suppress(ChildProcessError):  # closed by the test
            program.close()
