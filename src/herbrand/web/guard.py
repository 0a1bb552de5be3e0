"""Middleware that protects the server: access tokens, accepted hosts, sessions, sizes, security headers.

By default the server listens on this computer only, but all its users can reach it.  Therefore it can ask
for a token in the address, which it exchanges for a session; the cookie of a session is signed, since any
program could make one up, and its name has the port, since browsers send cookies to all ports of a host.

Pages of other sites in the same browser can send requests, too.  Therefore the `Host` must be a name of this
computer (against DNS rebinding), the cookie is not sent with requests from other sites (`SameSite=Strict`),
and every request that changes something must carry a token that only our own pages know.  Other sites cannot
load pictures and data either, since computing them is expensive.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from typing import TYPE_CHECKING, Final
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, RedirectResponse

from herbrand.runtime.tokens import is_same, new_token
from herbrand.web.pages import error_page, locked_page

if TYPE_CHECKING:
    from collections.abc import Iterable

    from starlette.requests import Request
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["COOKIE", "MAX_BODY_BYTES", "SEATS", "Guard", "check_token", "is_same_origin"]

COOKIE: Final = "herbrand"
MAX_BODY_BYTES: Final = 1_200_000
"""Size limit of a request in bytes; texts are limited to a million."""
SEATS: Final = "/seat/"
"""Addresses of matches for friends elsewhere; each has a secret of its own and needs no session."""
_SECRET: Final = secrets.token_bytes(32)
HEADERS: Final = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}


def _sign(text: str) -> str:
    return hmac.new(_SECRET, text.encode(), hashlib.sha256).hexdigest()


def _token_of(session: str) -> str:
    return _sign(f"forms of {session}")


def is_same_origin(request: Request) -> bool:
    """Whether a request comes from a page of this server, as far as the browser tells."""
    origin = request.headers.get("origin")
    return origin is None or urlsplit(origin).netloc == request.headers.get("host")


def check_token(request: Request, token: str | None) -> bool:
    """Whether a request carries the token of its session and has the same origin."""
    session = request.scope.get("herbrand.session", "")
    if not is_same_origin(request):
        return False
    return bool(session) and token is not None and is_same(token, _token_of(session))


class Guard:
    """Middleware that checks tokens, hosts and sizes, and adds sessions and headers.

    With `token=None` it serves everyone who reaches it.
    """

    def __init__(self, app: ASGIApp, *, hosts: Iterable[str], token: str | None = None) -> None:
        self._app = app
        self._hosts = frozenset(hosts)
        self._token = token
        self._tickets: set[str] = set()

    def ticket(self) -> str:
        """Return a token that can be used once: for a browser's command line, which other users can see."""
        self._tickets.add(ticket := new_token())
        return ticket

    def _admits(self, token: str) -> bool:
        ticket = next((ticket for ticket in self._tickets if is_same(token, ticket)), "")
        self._tickets.discard(ticket)
        return bool(ticket) or (self._token is not None and is_same(token, self._token))

    def _admission(
        self, scope: Scope, headers: dict[str, str], *, is_known: bool
    ) -> tuple[bool, ASGIApp | None]:
        """Return whether a request may have a session, and the answer if it does not get further."""
        if self._token is None:
            return True, None
        query = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        token = next((value for name, value in query if name == "token"), None)
        if token is not None and scope["method"] in ("GET", "HEAD") and (self._admits(token) or is_known):
            rest = urlencode([(name, value) for name, value in query if name != "token"])
            path = "/" + quote(scope["path"].lstrip("/\\"))  # `//name` would be another host
            return True, RedirectResponse(f"{path}?{rest}" if rest else path, 303)
        if is_known or scope["path"].startswith(("/static/", SEATS)):
            return is_known, None
        if "application/json" in headers.get("accept", "") or scope["path"].startswith("/api/"):
            return False, JSONResponse({"error": "this server asks for its token"}, 403)
        return False, locked_page(wrong=token is not None)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Reject a forbidden request, or pass it on and add headers to the response."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        host, _, port = headers.get("host", "").rpartition(":")
        if not port.isdecimal():
            host, port = headers.get("host", ""), ""
        cookie = f"{COOKIE}-{port}" if port else COOKIE
        session = _session(headers.get("cookie", ""), cookie)
        is_admitted, answer = False, None
        is_ours = host.strip("[]").lower() in self._hosts
        if is_ours:
            is_admitted, answer = self._admission(scope, headers, is_known=session is not None)
        is_new = is_admitted and session is None
        session = session or (secrets.token_urlsafe(24) if is_admitted else "")
        scope["herbrand.session"] = session
        scope["herbrand.token"] = _token_of(session) if session else ""

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                present = {name.lower() for name, _ in message["headers"]}
                extra = [(n.encode(), v.encode()) for n, v in HEADERS.items() if n.encode() not in present]
                if is_new:
                    value = f"{session}.{_sign(f'session {session}')}"
                    extra.append(
                        (b"set-cookie", f"{cookie}={value}; Path=/; HttpOnly; SameSite=Strict".encode())
                    )
                message = {**message, "headers": [*message["headers"], *extra]}
            await send(message)

        if not is_ours:
            await error_page(421, "This is not a name of this server.")(scope, receive, send_guarded)
            return
        if headers.get("sec-fetch-site") == "cross-site" and headers.get("sec-fetch-mode") != "navigate":
            await error_page(403, "Other sites may not load this.")(scope, receive, send_guarded)
            return
        if answer is not None:
            await answer(scope, receive, send_guarded)
            return
        length = headers.get("content-length", "0")
        if not length.isdecimal() or len(length) > 15 or int(length) > MAX_BODY_BYTES:
            await error_page(413, RequestTooLarge().detail)(scope, receive, send_guarded)
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


def _session(cookies: str, cookie: str) -> str | None:
    """Return the session of a request if this server began it."""
    for part in cookies.split(";"):
        name, _, value = part.strip().partition("=")
        session, _, signature = value.partition(".")
        if name == cookie and is_same(signature, _sign(f"session {session}")):
            return session
    return None
