"""Access control for players: they answer requests of managers, not those of web pages.

Any page that is open in a browser can make it send requests to programs on the same computer or network.
Such requests have an `Origin`, or name in `Host` whatever name the page used for the address (DNS rebinding).

All users of a computer can reach its ports.  The protocol has no passwords, but a player can have a token as
the first part of the path: `POST /TOKEN`, or `GET /TOKEN/(INFO)`.
"""

from __future__ import annotations

import ipaddress
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from herbrand.runtime.tokens import is_same

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from herbrand.match.protocol.http import Request

__all__ = ["Access"]

_PORT = re.compile(r":[0-9]*$")
_HARMLESS: Final = re.compile(r"\s*\(\s*(INFO|PING)\s*\)\s*", re.IGNORECASE)


class Access:
    """The origins and host names that are allowed, and the token that is asked for, if any.

    Addresses and `localhost` are always allowed as `Host`, `names` in addition; origins only if listed, such
    as `https://example.org`.
    """

    def __init__(
        self, *, names: Iterable[str] = (), origins: Iterable[str] = (), token: str | None = None
    ) -> None:
        self._names = {"localhost", *(name.lower() for name in names)}
        self._origins = {origin.lower().rstrip("/") for origin in origins}
        self._token = token

    def without_token(self, request: Request) -> Request | None:
        """Return a request without the token in its path; None if the token is missing or another one."""
        if self._token is None:
            return request
        token, _, rest = request.path.partition("/")
        if not is_same(token, self._token):
            return None
        return replace(request, path=rest, text=rest if request.method == "GET" else request.text)

    def allowed_origin(self, headers: Mapping[str, str]) -> str | None:
        """Return the origin of a request if it is allowed."""
        origin = headers.get("origin", "")
        return origin if origin.lower() in self._origins else None

    def why_refused(self, request: Request) -> str:
        """Return why a request is refused; empty if it is not."""
        headers = request.headers
        host = _PORT.sub("", headers.get("host", "").lower())
        if host and host not in self._names and not _is_address(host):
            return f"the request is for the host `{host[:100]}`, which is not allowed"
        if "origin" in headers:
            if self.allowed_origin(headers) is None:
                return f"requests of the origin `{headers['origin'][:100]}` are not allowed"
            return ""
        # pages may also show a picture or follow a link, for which browsers send no origin
        foreign = headers.get("sec-fetch-site", "none") not in ("none", "same-origin")
        browser = "sec-fetch-site" in headers or headers.get("user-agent", "").startswith("Mozilla/")
        if foreign or (browser and request.method == "GET" and not _HARMLESS.fullmatch(request.text)):
            return "requests of web pages are not allowed"
        return ""


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host.removeprefix("[").removesuffix("]"))
    except ValueError:
        return False
    return True
