"""Middleware that protects the server: accepted hosts, sessions, request sizes, security headers.

The server listens on this computer only, but pages of other sites in the same browser can send requests to
it. Therefore the `Host` must be a name of this computer (against DNS rebinding), the session cookie is not
sent with requests from other sites (`SameSite=Strict`), and every request that changes something must carry a
token that only our own pages know.  Other sites cannot load pictures and data either, since computing them is
expensive.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from starlette.exceptions import HTTPException

from herbrand.web.pages import error_page

if TYPE_CHECKING:
    from collections.abc import Iterable

    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["COOKIE", "MAX_BODY_BYTES", "Guard", "check_token"]

COOKIE: Final = "herbrand"
MAX_BODY_BYTES: Final = 1_200_000
"""Size limit of a request in bytes; texts are limited to a million."""
_SECRET: Final = secrets.token_bytes(32)
HEADERS: Final = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}


def _token_of(session: str) -> str:
    return hmac.new(_SECRET, session.encode(), hashlib.sha256).hexdigest()


def check_token(request: Request, token: str | None) -> bool:
    """Whether a request carries the token of its session and has the same origin."""
    session = request.scope.get("herbrand.session", "")
    origin = request.headers.get("origin")
    if origin is not None and urlsplit(origin).netloc != request.headers.get("host"):
        return False
    return bool(session) and token is not None and hmac.compare_digest(token, _token_of(session))


class Guard:
    """Middleware that checks hosts and sizes, and adds sessions and headers."""

    def __init__(self, app: ASGIApp, *, hosts: Iterable[str]) -> None:
        self._app = app
        self._hosts = frozenset(hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Reject a forbidden request, or pass it on and add headers to the response."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        host = headers.get("host", "").rsplit(":", 1)[0].strip("[]").lower()
        session, is_new = _session(headers.get("cookie", ""))
        scope["herbrand.session"], scope["herbrand.token"] = session, _token_of(session)

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                present = {name.lower() for name, _ in message["headers"]}
                extra = [(n.encode(), v.encode()) for n, v in HEADERS.items() if n.encode() not in present]
                if is_new:
                    cookie = f"{COOKIE}={session}; Path=/; HttpOnly; SameSite=Strict"
                    extra.append((b"set-cookie", cookie.encode()))
                message = {**message, "headers": [*message["headers"], *extra]}
            await send(message)

        if host not in self._hosts:
            await error_page(421, "This is not a name of this server.")(scope, receive, send_guarded)
            return
        if headers.get("sec-fetch-site") == "cross-site" and headers.get("sec-fetch-mode") != "navigate":
            await error_page(403, "Other sites may not load this.")(scope, receive, send_guarded)
            return
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length) > MAX_BODY_BYTES:
            await _too_large()(scope, receive, send_guarded)
            return
        received = 0

        async def receive_guarded() -> Message:
            nonlocal received
            message = await receive()
            if message["type"] == "http.request":
                received += len(message.get("body", b""))
                if received > MAX_BODY_BYTES:
                    raise RequestTooLarge
            return message

        await self._app(scope, receive_guarded, send_guarded)


class RequestTooLarge(HTTPException):
    """A request exceeds the size limit."""

    def __init__(self) -> None:
        super().__init__(413, "Files and forms may have at most a megabyte.")


def _too_large() -> Response:
    error = RequestTooLarge()
    return error_page(413, error.detail)


def _session(cookies: str) -> tuple[str, bool]:
    """Return the session of a request and whether it is new."""
    for part in cookies.split(";"):
        name, _, value = part.strip().partition("=")
        if name == COOKIE and value.isascii() and 20 <= len(value) <= 64:
            return value, False
    return secrets.token_urlsafe(24), True
