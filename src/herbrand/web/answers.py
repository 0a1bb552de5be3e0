"""Helpers for requests and responses: files, forms with tokens."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.exceptions import HTTPException
from starlette.responses import Response

from herbrand.web.guard import check_token, is_same_origin
from herbrand.web.library import MAX_BYTES

if TYPE_CHECKING:
    from starlette.requests import Request

__all__ = ["file_answer", "form_fields", "require_token", "step_of", "uploaded"]


def file_answer(text: str, title: str, ending: str) -> Response:
    """Return a response that downloads a text, under a file name that is valid on all systems."""
    name = "".join(c if c.isascii() and (c.isalnum() or c in "-_.") else "-" for c in title)[:60] or "game"
    disposition = f'attachment; filename="{name}{ending}"'
    return Response(text, media_type="text/plain", headers={"content-disposition": disposition})


def require_token(request: Request, token: object) -> None:
    """Raise a 403 error unless the request comes from our own pages."""
    if not check_token(request, token if isinstance(token, str) else None):
        raise HTTPException(
            403,
            "This request did not come from a page of this server. Load the page again and try again.",
        )


async def form_fields(request: Request, *, is_friend: bool = False) -> dict[str, str]:
    """Return the fields of a form after checking its token; the address of a friend's seat has it already."""
    async with request.form(max_files=0, max_fields=200, max_part_size=MAX_BYTES) as form:
        fields = {name: value for name, value in form.items() if isinstance(value, str)}
    token = fields.pop("token", None)
    if not is_friend:
        require_token(request, token)
    elif not is_same_origin(request):
        raise HTTPException(403, "This request did not come from a page of this server.")
    return fields


async def uploaded(request: Request, most: int = -1) -> tuple[bytes, str, str]:
    """Return the data of an uploaded file, at most so many bytes, its name, and the field `game`."""
    async with request.form(max_files=1, max_fields=5) as form:
        require_token(request, form.get("token"))
        file, game = form.get("file"), form.get("game")
        if file is None or isinstance(file, str):
            raise HTTPException(400, "No file was chosen.")
        return await file.read(most), file.filename or "", game if isinstance(game, str) else ""


def step_of(text: str) -> int:
    """Parse a step from an address or a form."""
    if not text.isdecimal() or len(text) > 6:
        raise HTTPException(400, "The step must be a number.")
    return int(text)
