"""A tolerant subset of HTTP, as far as the protocol needs it.

Requests and replies are written byte for byte as ggp-base writes them.  A library would need less
maintenance, but rejects what real peers send.  h11 (0.16, used by httpx and uvicorn) takes a POST without
Content-Length on an open connection, as managers send it, for an empty message; it rejects `GET /(play m
nil)` for its blanks, HTTP/1.1 without Host, replies that are a bare move, have no status line or are shorter
than announced; and where a peer counted characters instead of bytes it cuts off the last parenthesis.  The
standard demands all of that, but it would lose moves.  Reading is bounded in size here, and in time by the
caller's deadline.
"""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote

from herbrand.errors import ProtocolError

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "MessageTooLarge",
    "Reply",
    "Request",
    "read_reply",
    "read_request",
    "write_reply",
    "write_request",
]

MAX_HEAD_BYTES: Final = 16 * 1024
"""Size limit of the request or status line together with the headers."""
QUIET_SECONDS: Final = 0.1
"""Silence after which a message with balanced parentheses counts as complete."""
TRUNCATED_QUIET_SECONDS: Final = 1.0
"""The same, where Content-Length announces more."""
_CHUNK_BYTES: Final = 65536
_NONE: Final[Mapping[str, str]] = {}
_END_OF_HEAD: Final = re.compile(rb"\r?\n\r?\n")
_REQUEST: Final = re.compile(r"([A-Za-z]+)[ \t]+(.+?)(?:[ \t]+(HTTP/[0-9.]+))?[ \t]*", re.IGNORECASE)
_STATUS: Final = re.compile(r"HTTP/[0-9.]+[ \t]+([0-9]{3})", re.IGNORECASE)


class MessageTooLarge(ProtocolError):
    """A peer sent more than the size limit."""


@dataclass(frozen=True, slots=True)
class Request:
    """A manager's request."""

    method: str
    """In upper case."""
    text: str
    """The message: the body of a POST, or the path of a GET."""
    version: str
    headers: dict[str, str] = field(default_factory=dict)
    """By name in lower case; the last value of a repeated header."""
    path: str = ""
    """The path, without the slash that it begins with; of a GET, the message as well."""


@dataclass(frozen=True, slots=True)
class Reply:
    """A player's reply."""

    text: str
    """The body, without white space around it."""
    status: int | None
    """None for a reply without HTTP."""
    notes: tuple[str, ...] = ()
    """Deviations from the standard."""
    headers: dict[str, str] = field(default_factory=dict)
    """By name in lower case; the last value of a repeated header."""


def write_request(
    text: str, *, host: str, receiver: str, path: str = "", headers: Mapping[str, str] = _NONE
) -> bytes:
    """Return a request with the bytes that ggp-base would send, and further `headers`."""
    body = text.encode()
    head = (
        f"POST /{path} HTTP/1.0\r\nAccept: text/delim\r\n"
        f"Host: {_header(host)}\r\nSender: GAMESERVER\r\nReceiver: {_header(receiver)}\r\n"
        f"Content-Type: text/acl\r\nContent-Length: {len(body)}\r\n{_lines(headers)}\r\n"
    )
    return head.encode("ascii") + body


def write_reply(
    text: str,
    *,
    version: str = "HTTP/1.0",
    status: str = "200 OK",
    origin: str | None = "*",
    headers: Mapping[str, str] = _NONE,
) -> bytes:
    """Return a reply with the bytes that ggp-base would send; for HTTP/1.1, with `Connection: close`.

    Pages of `origin` may read it, with None no pages.  It has further `headers`.
    """
    body = text.encode()
    shared = ""
    if origin is not None:
        shared = (
            f"Access-Control-Allow-Origin: {origin}\r\nAccess-Control-Allow-Methods: POST, GET, OPTIONS\r\n"
            "Access-Control-Allow-Headers: Content-Type\r\nAccess-Control-Allow-Age: 86400\r\n"
        )
    if origin not in (None, "*"):  # permits the page to reach private addresses, too
        shared += "Access-Control-Allow-Private-Network: true\r\nVary: Origin\r\n"
    close = "" if version == "HTTP/1.0" else "Connection: close\r\n"
    head = (
        f"HTTP/1.0 {status}\r\nContent-type: text/acl\r\nContent-length: {len(body)}\r\n"
        f"{shared}{close}{_lines(headers)}\r\n"
    )
    return head.encode("ascii") + body


async def read_request(stream: asyncio.StreamReader, *, limit: int) -> Request:
    """Read a request; `ProtocolError` if it is not HTTP, `MessageTooLarge` beyond `limit` bytes of body."""
    head, rest = await _read_head(stream)
    first, headers = _parse_head(head or b"")
    line = _REQUEST.fullmatch(first)
    if line is None:
        raise ProtocolError("not an HTTP request")
    method, target, version = line[1].upper(), line[2], (line[3] or "HTTP/1.0").upper()
    path = unquote(target, errors="replace").removeprefix("/")
    if method != "POST":
        return Request(method, path if method == "GET" else "", version, headers, path)
    body, _ = await _read_body(stream, rest, headers, limit)
    return Request(method, _decode(body), version, headers, path)


async def read_reply(stream: asyncio.StreamReader, *, limit: int) -> Reply:
    """Read one reply, with or without HTTP around it; `MessageTooLarge` beyond `limit` bytes of body."""
    head, rest = await _read_head(stream, limit=limit)
    if head is None:
        return Reply(_decode(rest).strip(), None, ("not HTTP",))
    first, headers = _parse_head(head)
    status = _STATUS.match(first)
    body, notes = await _read_body(stream, rest, headers, limit)
    if status is None:
        notes = ("no status line", *notes)
    return Reply(_decode(body).strip(), int(status[1]) if status else None, notes, headers)


async def _read_head(
    stream: asyncio.StreamReader, *, limit: int = MAX_HEAD_BYTES
) -> tuple[bytes | None, bytes]:
    """Return the head and the bytes read beyond it; None as head if the text is not HTTP."""
    data = b""
    searched = 0
    while True:
        end = _END_OF_HEAD.search(data, searched)
        searched = max(0, len(data) - 3)
        if end is not None and (end.start() or data[:1].isspace()):
            return data[: end.start()], data[end.end() :]
        most = MAX_HEAD_BYTES if data[:5].upper() == b"HTTP/" else max(MAX_HEAD_BYTES, limit)
        if len(data) > most:
            raise MessageTooLarge(f"more than {MAX_HEAD_BYTES} bytes before the body")
        piece = await stream.read(_CHUNK_BYTES)
        if not piece:
            if not data:
                raise ProtocolError("the connection was closed before any data arrived")
            return None, data
        data += piece


def _parse_head(head: bytes) -> tuple[str, dict[str, str]]:
    lines = head.decode("latin-1").replace("\r", "").split("\n")
    headers = {}
    for line in lines[1:]:
        name, colon, value = line.partition(":")
        if colon:
            headers[name.strip().lower()] = value.strip()
    return lines[0].strip(), headers


async def _read_body(
    stream: asyncio.StreamReader, data: bytes, headers: dict[str, str], limit: int
) -> tuple[bytes, tuple[str, ...]]:
    """Read a body whose announced length may be missing or wrong.

    Managers keep the connection open while they wait for the answer, and some players never close it: silence
    after balanced parentheses therefore ends a message.
    """
    if "chunked" in headers.get("transfer-encoding", "").lower():
        return await _read_chunks(stream, data, limit), ()
    text = headers.get("content-length", "")
    length = int(text) if re.fullmatch(r"[0-9]{1,12}", text) else None
    if length is not None and length > limit:
        raise MessageTooLarge(f"{length} bytes announced, {limit} allowed")
    notes = ("no length",) if length is None else ()
    pieces = [data]
    size, depth = len(data), _depth(data)
    first = data.lstrip()[:1]
    beyond = False  # all announced bytes are there, but a parenthesis is open
    while True:
        if size > limit:
            raise MessageTooLarge(f"more than {limit} bytes")
        closed = first == b"(" and depth <= 0
        if length is not None and size >= length and not beyond:
            announced = b"".join(pieces)[:length]
            if announced.lstrip()[:1] != b"(" or _depth(announced) <= 0:
                return announced, notes if size == length else (*notes, "longer than announced")
            beyond = True
        wait: float | None = None
        if beyond or (closed and length is None):
            wait = QUIET_SECONDS
        elif closed:
            wait = TRUNCATED_QUIET_SECONDS
        try:
            async with asyncio.timeout(wait):
                piece = await stream.read(_CHUNK_BYTES)
        except TimeoutError:
            notes = (*notes, "wrong length") if length is not None else notes
            break
        if not piece:
            if length is not None and size < length:
                notes = (*notes, "shorter than announced")
            break
        pieces.append(piece)
        size += len(piece)
        depth += _depth(piece)
        first = first or piece.lstrip()[:1]
    return b"".join(pieces), notes


async def _read_chunks(stream: asyncio.StreamReader, data: bytes, limit: int) -> bytes:
    body = bytearray()
    buffer = bytearray(data)

    async def fill(ready: int | None) -> int:
        """Fill the buffer to `ready` bytes, or (None) to the next line end, whose position is returned."""
        while True:
            if ready is None and (place := buffer.find(b"\n")) >= 0:
                return place
            if ready is not None and len(buffer) >= ready:
                return ready
            if len(buffer) > limit + MAX_HEAD_BYTES:
                raise MessageTooLarge(f"more than {limit} bytes")
            piece = await stream.read(_CHUNK_BYTES)
            if not piece:
                raise ProtocolError("the connection was closed within a chunk")
            buffer.extend(piece)

    while True:
        end = await fill(None)
        text = bytes(buffer[:end]).split(b";")[0].strip()
        del buffer[: end + 1]
        if not re.fullmatch(rb"[0-9A-Fa-f]{1,8}", text):
            raise ProtocolError("chunk without a length")
        size = int(text, 16)
        if len(body) + size > limit:
            raise MessageTooLarge(f"more than {limit} bytes")
        if not size:
            return bytes(body)
        await fill(size)
        body += buffer[:size]
        del buffer[:size]
        end = await fill(None)
        del buffer[: end + 1]


def _lines(headers: Mapping[str, str]) -> str:
    return "".join(f"{name}: {value}\r\n" for name, value in headers.items())


def _depth(data: bytes) -> int:
    return data.count(b"(") - data.count(b")")


def _decode(data: bytes) -> str:
    return data.decode("utf-8", errors="replace")


def _header(text: str) -> str:
    return re.sub(r"[^\x20-\x7e]", "_", text)[:256]
