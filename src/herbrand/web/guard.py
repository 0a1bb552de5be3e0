"""What stands before every page: who may ask, how much, and what the answer may load.

The server listens on this computer only, but pages of other servers in the same browser can send requests to
it as well.  Against that: the `Host` must be a name of this computer (so that no other name can be pointed
at it), the session is a cookie that other sites do not get sent (`SameSite=Strict`), and whatever
changes something must bring a token that only our own pages know.  Pictures and data are not given to
pages of others at all: drawing them is work.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse, Response

from herbrand.web.pages import problem

if TYPE_CHECKING:
    from collections.abc import Iterable

    from starlette.requests import Request
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["COOKIE", "MOST_BODY", "Guard", "check_token", "token_of"]

COOKIE: Final = "herbrand"
MOST_BODY: Final = 1_200_000
"""Bytes of a request; a rulesheet has less than a million."""
_SECRET: Final = secrets.token_bytes(32)
HEADERS: Final = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}


def token_of(session: str) -> str:
    """Return the token that belongs to a session."""
    return hmac.new(_SECRET, session.encode(), hashlib.sha256).hexdigest()


def check_token(request: Request, token: str | None) -> bool:
    """Whether a request brings the token of its session and does not come from elsewhere."""
    session = request.scope.get("herbrand.session", "")
    origin = request.headers.get("origin")
    if origin is not None and urlsplit(origin).netloc != request.headers.get("host"):
        return False
    return bool(session) and token is not None and hmac.compare_digest(token, token_of(session))


class Guard:
    """Middleware: hosts, sizes, sessions, headers."""

    def __init__(self, app: ASGIApp, *, hosts: Iterable[str]) -> None:
        self._app = app
        self._hosts = frozenset(hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse what may not be asked; else pass it on and add the headers."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        host = headers.get("host", "").rsplit(":", 1)[0].strip("[]").lower()
        session, fresh = _session(headers.get("cookie", ""))
        scope["herbrand.session"] = session

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                given = {name.lower() for name, _ in message["headers"]}
                extra = [(n.encode(), v.encode()) for n, v in HEADERS.items() if n.encode() not in given]
                if fresh:
                    cookie = f"{COOKIE}={session}; Path=/; HttpOnly; SameSite=Strict"
                    extra.append((b"set-cookie", cookie.encode()))
                message = {**message, "headers": [*message["headers"], *extra]}
            await send(message)

        if host not in self._hosts:
            refused: Response = HTMLResponse(str(problem(421, "This is not a name of this server.")), 421)
            await refused(scope, receive, send_guarded)
            return
        if headers.get("sec-fetch-site") == "cross-site" and headers.get("sec-fetch-mode") != "navigate":
            message = "Pages of other servers get nothing from here."
            await HTMLResponse(str(problem(403, message)), 403)(scope, receive, send_guarded)
            return
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length) > MOST_BODY:
            await _too_large()(scope, receive, send_guarded)
            return
        taken = 0

        async def receive_guarded() -> Message:
            nonlocal taken
            message = await receive()
            if message["type"] == "http.request":
                taken += len(message.get("body", b""))
                if taken > MOST_BODY:
                    raise RequestTooLarge
            return message

        await self._app(scope, receive_guarded, send_guarded)


class RequestTooLarge(HTTPException):
    """A request goes on for longer than it may."""

    def __init__(self) -> None:
        super().__init__(413, "That is more than a rulesheet: at most a megabyte is taken.")


def _too_large() -> Response:
    error = RequestTooLarge()
    return HTMLResponse(str(problem(413, error.detail)), 413)


def _session(cookies: str) -> tuple[str, bool]:
    """Return the session of a request, and whether it is a new one."""
    for part in cookies.split(";"):
        name, _, value = part.strip().partition("=")
        if name == COOKIE and value.isascii() and 20 <= len(value) <= 64:
            return value, False
    return secrets.token_urlsafe(24), True
