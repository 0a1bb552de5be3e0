"""Responses with pages, from the templates in `templates/`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.responses import HTMLResponse, Response

from herbrand.runtime.rendering import render

if TYPE_CHECKING:
    from starlette.requests import Request

__all__ = ["error_page", "html", "locked_page", "page"]


def page(request: Request, name: str, *, status: int = 200, **values: object) -> Response:
    """Return a response with a page that must not be cached, from `templates/NAME.html`.

    Besides `values` the template has `token`, which forms send against forged requests.
    """
    return html(render(f"web/{name}.html", token=request.scope["herbrand.token"], **values), status)


def error_page(
    status: int, message: str, help_: str = "", *, similar: str | None = None, details: str = ""
) -> Response:
    """Return a response with a page that names a problem; `similar` is a game that may have been meant."""
    values = {"message": message, "help": help_, "similar": similar, "details": details}
    return html(render("web/problem.html", status=status, token="", **values), status)


def locked_page(*, wrong: bool) -> Response:
    """Return a response with a page that asks for the token; `wrong` if another one was given."""
    return html(render("web/locked.html", token="", wrong=wrong), 403)


def html(text: str, status: int = 200) -> Response:
    """Return a response with a page that must not be cached."""
    return HTMLResponse(text, status, headers={"cache-control": "no-store"})
