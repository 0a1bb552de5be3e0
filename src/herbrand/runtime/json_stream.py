"""Subprocesses that exchange JSON lines with an event loop: either side sends at any time.

The subprocess uses `herbrand.runtime.json_process.stream_to_parent`.  Where every request has one reply,
`JsonProcess` is simpler.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

__all__ = ["JsonStream"]

_MAX_LINE_BYTES = 1 << 22
"""A subprocess that sends a longer line is killed."""
_MAX_BACKLOG_BYTES = 1 << 23
"""Bytes that may wait for a subprocess that does not read; further messages are refused."""
_LAST_WORDS = 500
"""Size of the buffer of standard error, in bytes."""


class JsonStream:
    """A running subprocess.

    `receive` is called with each object that it sends, in the thread of the loop;
    `ended` once, with its exit status and the end of its standard error, unless `close` ended it.
    """

    def __init__(
        self,
        process: asyncio.subprocess.Process,
        receive: Callable[[dict[str, Any]], None],
        ended: Callable[[int, str], None],
    ) -> None:
        self._process = process
        self._receive = receive
        self._ended = ended
        self._errors = b""
        self._tasks = [asyncio.create_task(self._read()), asyncio.create_task(self._read_errors())]

    @classmethod
    async def open(
        cls,
        command: Sequence[str],
        *,
        receive: Callable[[dict[str, Any]], None],
        ended: Callable[[int, str], None],
    ) -> JsonStream:
        """Start a command; `OSError` if that fails."""
        process = await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,  # keep Ctrl+C from the subprocess
            limit=_MAX_LINE_BYTES,
        )
        return cls(process, receive, ended)

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    def send(self, message: Mapping[str, Any]) -> bool:
        """Queue a message; False, without effect, if the subprocess has ended or does not read."""
        stream = self._process.stdin
        assert stream is not None
        if stream.is_closing() or stream.transport.get_write_buffer_size() > _MAX_BACKLOG_BYTES:
            return False
        stream.write(json.dumps(message).encode() + b"\n")
        return True

    def kill(self) -> None:
        """Kill the subprocess; `ended` is called when it has ended."""
        with contextlib.suppress(ProcessLookupError):
            self._process.kill()

    async def close(self) -> None:
        """Kill the subprocess and wait for its end, without calling `ended`."""
        for task in self._tasks:
            task.cancel()
        self.kill()
        await self._process.wait()

    async def _read(self) -> None:
        stream = self._process.stdout
        assert stream is not None
        try:
            while line := await stream.readline():
                self._receive(json.loads(line))
        except (ValueError, OSError):  # a line that is too long or no JSON
            self.kill()
        status = await self._process.wait()
        with contextlib.suppress(TimeoutError):  # its descendants may keep the pipe open
            await asyncio.wait_for(asyncio.shield(self._tasks[1]), 0.2)
        self._tasks[1].cancel()
        self._ended(status, self._errors.decode(errors="replace").strip())

    async def _read_errors(self) -> None:
        stream = self._process.stderr
        assert stream is not None
        while piece := await stream.read(65536):
            self._errors = (self._errors + piece)[-_LAST_WORDS:]
