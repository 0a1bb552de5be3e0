"""As much HTTP as the protocol needs, read as tolerantly as its peers write it.

Requests and replies are written byte for byte as ggp-base writes them.  A library for HTTP would be better
kept, but cannot be made to read what real peers send.  Tried with h11, on which httpx and uvicorn stand
(0.16): a POST without Content-Length, as managers send it on a connection that stays open, is an empty
message; `GET /(play m nil)` is refused for its blanks, HTTP/1.1 for a missing Host, a reply for being a
bare move, for headers without a status line, and for being shorter than announced; where characters
were counted instead of bytes, the last parenthesis is cut off.  All of that is right by the standard,
and would lose moves.  What is read here is bounded in size, and by the one deadline of whoever calls.
"""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import unquote

from herbrand.errors import ProtocolError

__all__ = [
    "MessageTooLarge",
    "Reply",
    "Request",
    "read_reply",
    "read_request",
    "write_reply",
    "write_request",
]

HEAD: Final = 16 * 1024
"""Bytes that a request line or status line with its headers may have."""
QUIET: Final = 0.1
"""Seconds of silence after which a message whose parentheses are closed is taken to be complete."""
PATIENCE: Final = 1.0
"""The same, where Content-Length promises more."""
_PIECE: Final = 65536
_END_OF_HEAD: Final = re.compile(rb"\r?\n\r?\n")
_REQUEST: Final = re.compile(r"([A-Za-z]+)[ \t]+(.+?)(?:[ \t]+(HTTP/[0-9.]+))?[ \t]*", re.IGNORECASE)
_STATUS: Final = re.compile(r"HTTP/[0-9.]+[ \t]+([0-9]{3})", re.IGNORECASE)


class MessageTooLarge(ProtocolError):
    """A peer sent more than it may."""


@dataclass(frozen=True, slots=True)
class Request:
    """What a manager sent."""

    method: str
    """In upper case."""
    text: str
    """The message: the body, or what stands in the address of a GET."""
    version: str
    headers: dict[str, str] = field(default_factory=dict)
    """By name in lower case; of several the last."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What a player answered."""

    text: str
    """The body, without white space around it."""
    status: int | None
    """None where the peer spoke no HTTP."""
    notes: tuple[str, ...] = ()
    """What was odd."""


def write_request(text: str, *, host: str, receiver: str) -> bytes:
    """Return the bytes with which ggp-base sends a message."""
    body = text.encode()
    head = (
        "POST / HTTP/1.0\r\nAccept: text/delim\r\n"
        f"Host: {_header(host)}\r\nSender: GAMESERVER\r\nReceiver: {_header(receiver)}\r\n"
        f"Content-Type: text/acl\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    return head.encode("ascii") + body


def write_reply(text: str, *, version: str = "HTTP/1.0", status: str = "200 OK") -> bytes:
    """Return the bytes with which ggp-base answers; a client of HTTP/1.1 is told that this is all."""
    body = text.encode()
    close = "" if version == "HTTP/1.0" else "Connection: close\r\n"
    head = (
        f"HTTP/1.0 {status}\r\nContent-type: text/acl\r\nContent-length: {len(body)}\r\n"
        "Access-Control-Allow-Origin: *\r\nAccess-Control-Allow-Methods: POST, GET, OPTIONS\r\n"
        f"Access-Control-Allow-Headers: Content-Type\r\nAccess-Control-Allow-Age: 86400\r\n{close}\r\n"
    )
    return head.encode("ascii") + body


async def read_request(stream: asyncio.StreamReader, *, limit: int) -> Request:
    """Read a request; `ProtocolError` if it is no HTTP, `MessageTooLarge` beyond `limit` bytes of body."""
    head, rest = await _read_head(stream)
    if head is None:
        raise ProtocolError("this is no HTTP")
    first, headers = _parse_head(head)
    line = _REQUEST.fullmatch(first)
    if line is None:
        raise ProtocolError("this is no HTTP")
    method, target, version = line[1].upper(), line[2], (line[3] or "HTTP/1.0").upper()
    if method == "GET":
        return Request(method, unquote(target, errors="replace").removeprefix("/"), version, headers)
    if method != "POST":
        return Request(method, "", version, headers)
    body, _ = await _read_body(stream, rest, headers, limit)
    return Request(method, _decode(body), version, headers)


async def read_reply(stream: asyncio.StreamReader, *, limit: int) -> Reply:
    """Read one reply, with or without HTTP around it; `MessageTooLarge` beyond `limit` bytes of body."""
    head, rest = await _read_head(stream, limit=limit)
    if head is None:
        return Reply(_decode(rest).strip(), None, ("no HTTP",))
    first, headers = _parse_head(head)
    status = _STATUS.match(first)
    body, notes = await _read_body(stream, rest, headers, limit)
    if status is None:
        notes = ("no status line", *notes)
    return Reply(_decode(body).strip(), int(status[1]) if status else None, notes)


async def _read_head(stream: asyncio.StreamReader, *, limit: int = HEAD) -> tuple[bytes | None, bytes]:
    """Return the head and what was read beyond it; no head where the text is no HTTP."""
    data = b""
    searched = 0
    while True:
        end = _END_OF_HEAD.search(data, searched)
        searched = max(0, len(data) - 3)
        if end is not None and (end.start() or data[:1].isspace()):
            return data[: end.start()], data[end.end() :]
        if len(data) > max(HEAD, limit) or (len(data) > HEAD and data[:5].upper() == b"HTTP/"):
            raise MessageTooLarge(f"more than {HEAD} bytes before the body")
        piece = await stream.read(_PIECE)
        if not piece:
            if not data:
                raise ProtocolError("the connection was closed before anything was said")
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
    """Read a body; see the module for what may be wrong with its length.

    A manager waits for the answer with the connection open, so that silence after a closed
    parenthesis ends its message; so it does where a player forgets to close the connection.
    """
    if "chunked" in headers.get("transfer-encoding", "").lower():
        return await _read_chunks(stream, data, limit), ()
    text = headers.get("content-length", "")
    length = int(text) if re.fullmatch(r"[0-9]{1,12}", text) else None
    if length is not None and length > limit:
        raise MessageTooLarge(f"{length} bytes announced, {limit} are allowed")
    notes = ("no length",) if length is None else ()
    pieces = [data]
    size, depth = len(data), _depth(data)
    opened = data.lstrip()[:1]
    beyond = False  # as long as promised, but a parenthesis is open
    while True:
        if size > limit:
            raise MessageTooLarge(f"more than {limit} bytes")
        closed = opened == b"(" and depth <= 0
        if length is not None and size >= length and not beyond:
            promised = b"".join(pieces)[:length]
            if promised.lstrip()[:1] != b"(" or _depth(promised) <= 0:
                return promised, notes if size == length else (*notes, "longer than announced")
            beyond = True
        wait: float | None = None
        if beyond or (closed and length is None):
            wait = QUIET
        elif closed:
            wait = PATIENCE
        try:
            async with asyncio.timeout(wait):
                piece = await stream.read(_PIECE)
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
        opened = opened or piece.lstrip()[:1]
    return b"".join(pieces), notes


async def _read_chunks(stream: asyncio.StreamReader, data: bytes, limit: int) -> bytes:
    found = bytearray()
    buffer = bytearray(data)

    async def until(ready: int | None) -> int:
        """Fill the buffer to `ready` bytes, or (None) to the next line end, whose place it returns."""
        while True:
            if ready is None and (place := buffer.find(b"\n")) >= 0:
                return place
            if ready is not None and len(buffer) >= ready:
                return ready
            if len(buffer) > limit + HEAD:
                raise MessageTooLarge(f"more than {limit} bytes")
            piece = await stream.read(_PIECE)
            if not piece:
                raise ProtocolError("the connection was closed in the middle of a chunk")
            buffer.extend(piece)

    while True:
        end = await until(None)
        text = bytes(buffer[:end]).split(b";")[0].strip()
        del buffer[: end + 1]
        if not re.fullmatch(rb"[0-9A-Fa-f]{1,8}", text):
            raise ProtocolError("a chunk without a length")
        size = int(text, 16)
        if len(found) + size > limit:
            raise MessageTooLarge(f"more than {limit} bytes")
        if not size:
            return bytes(found)
        await until(size)
        found += buffer[:size]
        del buffer[:size]
        end = await until(None)
        del buffer[: end + 1]


def _depth(data: bytes) -> int:
    return data.count(b"(") - data.count(b")")


def _decode(data: bytes) -> str:
    return data.decode("utf-8", errors="replace")


def _header(text: str) -> str:
    return re.sub(r"[^\x20-\x7e]", "_", text)[:256]
