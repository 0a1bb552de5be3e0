"""What all answers are made with: pages, files, forms with their tokens."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse, Response

from herbrand.web.guard import check_token, token_of
from herbrand.web.library import MOST_BYTES

if TYPE_CHECKING:
    from starlette.requests import Request

    from herbrand.web.markup import Markup

__all__ = ["file_answer", "form_fields", "page_answer", "require_token", "step_of", "token_for", "wants_json"]


def page_answer(page: Markup, status: int = 200) -> Response:
    """Return a page, which nobody keeps."""
    return HTMLResponse(str(page), status, headers={"cache-control": "no-store"})


def file_answer(text: str, title: str, ending: str) -> Response:
    """Return a text as a file to be kept, under a name that is safe everywhere."""
    name = "".join(c if c.isascii() and (c.isalnum() or c in "-_.") else "-" for c in title)[:60] or "game"
    disposition = f'attachment; filename="{name}{ending}"'
    return Response(text, media_type="text/plain", headers={"content-disposition": disposition})


def token_for(request: Request) -> str:
    """Return the token that the pages of a session carry."""
    return token_of(request.scope["herbrand.session"])


def require_token(request: Request, token: object) -> None:
    """Refuse a request that our own pages did not make."""
    if not check_token(request, token if isinstance(token, str) else None):
        raise HTTPException(
            403,
            "This request did not come from a page of this server. Load the page again and try again.",
        )


async def form_fields(request: Request) -> dict[str, str]:
    """Return the fields of a form that brings its token."""
    async with request.form(max_files=0, max_fields=200, max_part_size=MOST_BYTES) as form:
        fields = {name: value for name, value in form.items() if isinstance(value, str)}
    require_token(request, fields.pop("token", None))
    return fields


def step_of(text: str) -> int:
    """Return the step that an address or a form names."""
    if not text.isdecimal() or len(text) > 6:
        raise HTTPException(400, "The step must be a number.")
    return int(text)


def wants_json(request: Request) -> bool:
    """Whether a script asks."""
    return "application/json" in request.headers.get("accept", "") or request.url.path.startswith("/api/")
