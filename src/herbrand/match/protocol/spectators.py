"""`Spectators`: broadcasts matches to people and programs by server-sent events.

`GET /events` streams all events from the first (`match`, `step`, `end`, `aborted`; the data is JSON with the
keys of `herbrand.match.protocol.events` plus `match` and `time`); a client that lost its connection resumes
with `Last-Event-ID`, which browsers do automatically.  `GET /` is a page that shows them.  Answers of players
are withheld until the step is made, but information that the rules hide is sent: use a delay where players
could watch.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from importlib.resources import files
from typing import TYPE_CHECKING, Self

from herbrand.errors import ProtocolError
from herbrand.match.protocol.http import read_request

if TYPE_CHECKING:
    from herbrand.match.protocol.events import Event

__all__ = ["Spectators"]

_BROADCAST_KINDS = ("match", "step", "end", "aborted")
_MAX_CONNECTIONS = 100
_READ_SECONDS = 10.0
_HEARTBEAT_SECONDS = 15.0
_MAX_BACKLOG_BYTES = 4 * 1024 * 1024
"""Bytes buffered for a slow spectator before its connection is dropped; it may reconnect."""
_MAX_HISTORY_BYTES = 32 * 1024 * 1024
"""Bytes of events with facts that are stored; later steps come without the facts."""


class Spectators:
    """A listener that broadcasts events; with `port=0`, `port` is the free port taken once started."""

    def __init__(self, *, host: str = "127.0.0.1", port: int = 0, delay: float = 0.0) -> None:
        self.host = host
        self.port = port
        self.delay = delay
        """Seconds by which every event is delayed."""
        self._events: list[bytes] = []
        self._size = 0
        self._more = asyncio.Event()
        self._connections = 0
        self._pending = 0
        self._server: asyncio.Server | None = None

    def __call__(self, event: Event) -> None:
        """Publish an event after the delay."""
        if event.kind not in _BROADCAST_KINDS:
            return
        if self.delay:
            self._pending += 1
            asyncio.get_running_loop().call_later(self.delay, self._publish_later, event)
        else:
            self._publish(event)

    async def start(self) -> None:
        """Start listening; `OSError` when the port is in use."""
        self._server = await asyncio.start_server(self._connected, self.host, self.port)
        self.port = self._server.sockets[0].getsockname()[1]

    async def close(self) -> None:
        """Publish delayed events, then stop listening."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self.delay + 2.0):
                while self._pending:  # noqa: ASYNC110  # a few times, at the end
                    await asyncio.sleep(0.05)
                await asyncio.sleep(0.1 if self._connections else 0)
        if self._server is not None:
            self._server.close()

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def _publish_later(self, event: Event) -> None:
        self._pending -= 1
        self._publish(event)

    def _publish(self, event: Event) -> None:
        data = {**event.data, "match": event.match, "time": event.time}
        if self._size > _MAX_HISTORY_BYTES:
            data.pop("facts", None)
        text = json.dumps(data, ensure_ascii=False)
        self._events.append(f"id: {len(self._events) + 1}\nevent: {event.kind}\ndata: {text}\n\n".encode())
        self._size += len(self._events[-1])
        self._more.set()
        self._more = asyncio.Event()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            if self._connections >= _MAX_CONNECTIONS:
                writer.write(_answer("503 Service Unavailable", "text/plain", "too many spectators"))
                return
            self._connections += 1
            try:
                async with asyncio.timeout(_READ_SECONDS):
                    request = await read_request(reader, limit=1024)
                if request.method != "GET":
                    writer.write(_answer("405 Method Not Allowed", "text/plain", "only GET is supported"))
                elif request.text == "events":
                    await self._stream(writer, request.headers.get("last-event-id", ""))
                elif not request.text:
                    page = files("herbrand.match.protocol").joinpath("spectators.html")
                    writer.write(_answer("200 OK", "text/html; charset=utf-8", page.read_text("utf-8")))
                else:
                    writer.write(_answer("404 Not Found", "text/plain", "no such page; see / and /events"))
                async with asyncio.timeout(_READ_SECONDS):
                    await writer.drain()
            finally:
                self._connections -= 1
        except (OSError, ProtocolError, TimeoutError, asyncio.CancelledError):
            pass
        finally:
            with contextlib.suppress(OSError):
                writer.close()

    async def _stream(self, writer: asyncio.StreamWriter, last: str) -> None:
        writer.write(
            b"HTTP/1.0 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\n"
            b"Cache-Control: no-store\r\nAccess-Control-Allow-Origin: *\r\nConnection: close\r\n\r\n"
        )
        done = int(last) if last.isdecimal() and len(last) < 12 else 0
        while not writer.is_closing():
            more = self._more
            for event in self._events[done:]:
                writer.write(event)
            done = max(done, len(self._events))
            if writer.transport.get_write_buffer_size() > _MAX_BACKLOG_BYTES:
                writer.transport.abort()
                return
            try:
                async with asyncio.timeout(_HEARTBEAT_SECONDS):
                    await more.wait()
            except TimeoutError:
                writer.write(b": still here\n\n")


def _answer(status: str, kind: str, text: str) -> bytes:
    body = text.encode()
    head = f"HTTP/1.0 {status}\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n"
    return f"{head}Connection: close\r\n\r\n".encode() + body
