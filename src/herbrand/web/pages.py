"""Responses with pages, from the templates in `templates/`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from starlette.responses import HTMLResponse, JSONResponse, Response

from herbrand.runtime.rendering import render

if TYPE_CHECKING:
    from starlette.requests import Request

__all__ = ["error_page", "html", "locked_page", "page", "problem_response", "wants_json"]


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


def problem_response(
    request: Request, status: int, message: str, help_: str = "", *, error: str = "", **more: Any
) -> Response:
    """Name a problem, to a script as JSON with the text `error`, or the message, to people on a page."""
    if wants_json(request):
        return JSONResponse({"error": error or message}, status)
    return error_page(status, message, help_, **more)


def wants_json(request: Request) -> bool:
    """Whether the request comes from a script."""
    return "application/json" in request.headers.get("accept", "") or request.url.path.startswith("/api/")


def locked_page(*, wrong: bool) -> Response:
    """Return a response with a page that asks for the token; `wrong` if another one was given."""
    return html(render("web/locked.html", token="", wrong=wrong), 403)


def html(text: str, status: int = 200) -> Response:
    """Return a response with a page that must not be cached."""
    return HTMLResponse(text, status, headers={"cache-control": "no-store"})
