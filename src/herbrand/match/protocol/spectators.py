"""`Spectators`: lets people and programs watch matches, by server-sent events.

`GET /events` is a stream of events (`match`, `step`, `end`, `aborted`; the data is JSON with the keys of
`herbrand.match.protocol.events`, and `match` and `time`), from the first; a client that was cut off goes on
with `Last-Event-ID`, as browsers do by themselves.  `GET /` is a page that shows them.  Answers of
players are not told before the step is made, so that nobody can play by those of the others; everything
that the rules hide is told, though: where players could watch, use a delay.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from typing import TYPE_CHECKING, Self

from herbrand.errors import ProtocolError
from herbrand.match.protocol.http import read_request

if TYPE_CHECKING:
    from herbrand.match.protocol.events import Event

__all__ = ["Spectators"]

_SHOWN = ("match", "step", "end", "aborted")
_CONNECTIONS = 100
_READ_SECONDS = 10.0
_BEAT_SECONDS = 15.0
_BEHIND = 4 * 1024 * 1024
"""Bytes that may wait for a spectator who reads too slowly; then it is let go, and may come again."""
_KEPT = 32 * 1024 * 1024
"""Bytes of events that are kept; beyond them steps come without the facts."""


class Spectators:
    """A listener that tells everybody who watches; `port=0` takes a free port, which `port` then says."""

    def __init__(self, *, host: str = "127.0.0.1", port: int = 0, delay: float = 0.0) -> None:
        self.host = host
        self.port = port
        self.delay = delay
        """Seconds by which everything is told later."""
        self._events: list[bytes] = []
        self._size = 0
        self._more = asyncio.Event()
        self._watching = 0
        self._waiting = 0
        self._server: asyncio.Server | None = None

    def __call__(self, event: Event) -> None:
        """Tell an event, after the delay."""
        if event.kind not in _SHOWN:
            return
        if self.delay:
            self._waiting += 1
            asyncio.get_running_loop().call_later(self.delay, self._later, event)
        else:
            self._tell(event)

    async def start(self) -> None:
        """Begin to listen; `OSError` when the port is taken."""
        self._server = await asyncio.start_server(self._connected, self.host, self.port)
        self.port = self._server.sockets[0].getsockname()[1]

    async def close(self) -> None:
        """Tell the rest, then stop listening."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self.delay + 2.0):
                while self._waiting:  # noqa: ASYNC110  # a few times, at the end
                    await asyncio.sleep(0.05)
                await asyncio.sleep(0.1 if self._watching else 0)
        if self._server is not None:
            self._server.close()

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def _later(self, event: Event) -> None:
        self._waiting -= 1
        self._tell(event)

    def _tell(self, event: Event) -> None:
        data = {**event.data, "match": event.match, "time": event.time}
        if self._size > _KEPT:
            data.pop("facts", None)
        text = json.dumps(data, ensure_ascii=False)
        self._events.append(f"id: {len(self._events) + 1}\nevent: {event.kind}\ndata: {text}\n\n".encode())
        self._size += len(self._events[-1])
        self._more.set()
        self._more = asyncio.Event()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            if self._watching >= _CONNECTIONS:
                writer.write(_answer("503 Service Unavailable", "text/plain", "too many spectators"))
                return
            self._watching += 1
            try:
                async with asyncio.timeout(_READ_SECONDS):
                    request = await read_request(reader, limit=1024)
                if request.method != "GET":
                    writer.write(_answer("405 Method Not Allowed", "text/plain", "only GET"))
                elif request.text == "events":
                    await self._stream(writer, request.headers.get("last-event-id", ""))
                elif not request.text:
                    writer.write(_answer("200 OK", "text/html; charset=utf-8", _PAGE))
                else:
                    writer.write(_answer("404 Not Found", "text/plain", "there are / and /events"))
                async with asyncio.timeout(_READ_SECONDS):
                    await writer.drain()
            finally:
                self._watching -= 1
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
            if writer.transport.get_write_buffer_size() > _BEHIND:
                writer.transport.abort()
                return
            try:
                async with asyncio.timeout(_BEAT_SECONDS):
                    await more.wait()
            except TimeoutError:
                writer.write(b": still here\n\n")


def _answer(status: str, kind: str, text: str) -> bytes:
    body = text.encode()
    head = f"HTTP/1.0 {status}\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n"
    return f"{head}Connection: close\r\n\r\n".encode() + body


_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Matches</title>
<meta name="viewport" content="width=device-width">
<style>
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
ol { padding-left: 2.5rem } code, li { font-family: ui-monospace, monospace }
.bad { color: #a33 } pre { background: #8882; padding: .5rem; white-space: pre-wrap }
</style></head><body><h1>Matches</h1><main aria-live="polite"></main>
<script>
const shown = new Map();
const add = (parent, tag, text, kind) => {
  const element = document.createElement(tag);
  element.textContent = text || "";
  if (kind) element.className = kind;
  return parent.appendChild(element);
};
const on = (kind, act) => source.addEventListener(kind, event => act(JSON.parse(event.data)));
const source = new EventSource("events");
on("match", data => {
  if (shown.has(data.match)) return;
  const part = add(document.querySelector("main"), "section");
  const who = Object.entries(data.players).map(([role, name]) => `${role} is ${name}`).join(", ");
  add(part, "h2", `${data.game}, match ${data.match}`);
  add(part, "p", who);
  shown.set(data.match, { part, steps: add(part, "ol"), facts: add(part, "pre"), end: add(part, "p") });
});
on("step", data => {
  const at = shown.get(data.match);
  if (!at) return;
  const line = add(at.steps, "li", data.moves.join("  "));
  for (const p of data.problems)
    add(line, "div", `${p.role}: ${p.kind}: ${p.note}; played ${p.played} instead`, "bad");
  at.facts.textContent = (data.facts || []).join("\\n");
});
on("end", data => {
  const at = shown.get(data.match);
  const goals = data.goals && Object.entries(data.goals).map(([role, goal]) => `${role} ${goal}`);
  if (at) at.end.textContent = goals ? `the game is over: ${goals.join(", ")}` : `ended: ${data.reason}`;
});
on("aborted", data => {
  const at = shown.get(data.match);
  if (at) at.end.textContent = `aborted: ${data.reason}`;
});
</script></body></html>
"""
