"""`herbrand mcp`: serve tools for language models."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from herbrand.cli.listening import listening, serve_app
from herbrand.cli.options import FOLDER
from herbrand.cli.output import remark
from herbrand.errors import MissingExtra

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["command"]

LARGEST_REQUEST = 2_000_000
"""Bytes of a request over HTTP: two rulesheets and a line of play."""


@click.command("mcp")
@click.option("--stdio", is_flag=True, help="Serve on standard input and output (the default).")
@click.option(
    "--http",
    type=click.IntRange(0, 65535),
    metavar="PORT",
    help="Serve on this port of 127.0.0.1 instead; 0 for any free one.",
)
@click.option(
    "--memory",
    type=click.IntRange(200),
    metavar="MB",
    default=3000,
    help="Address space of each of two subprocesses, which evaluate the rules.",
)
@click.option(
    "--pages",
    metavar="FOLDER",
    type=FOLDER,
    help="Also write published games to this folder, as pages of HTML.",
)
def command(stdio: bool, http: int | None, memory: int, pages: Path | None) -> None:
    """Serve tools for language models.

    It speaks the Model Context Protocol.  A model can then check, run, explain, prove, solve, repair and
    publish games; every answer follows from the rules.  Clients start it themselves;
    docs/howto/language-models.md explains the setup.  With --http it listens at http://127.0.0.1:PORT/mcp
    until it is interrupted.  Needs herbrand[llm].
    """
    if stdio and http is not None:
        raise click.UsageError("--stdio and --http are mutually exclusive")
    try:
        from herbrand.oracle.server import make_server
    except ImportError as error:
        if (error.name or "").split(".")[0] not in ("mcp", "pydantic", "anyio", "starlette"):
            raise
        raise MissingExtra("the server of tools", "llm") from error
    if pages is not None:
        pages.mkdir(parents=True, exist_ok=True)
    server = make_server(megabytes=memory, pages=pages)
    if http is None:
        server.run("stdio")
        return
    with listening(http, "--http") as (listener, address):
        remark(f"serving {address}mcp (Ctrl+C to stop)")
        serve_app(server.streamable_http_app(max_request_body_size=LARGEST_REQUEST), listener)
