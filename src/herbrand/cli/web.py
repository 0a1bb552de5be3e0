"""`herbrand web`: the web application."""

from __future__ import annotations

from pathlib import Path

import click

from herbrand.cli.listening import listening, serve_app
from herbrand.cli.options import token_option
from herbrand.cli.output import remark
from herbrand.errors import MissingExtra
from herbrand.runtime.tokens import new_token

__all__ = ["command"]


@click.command("web")
@click.argument(
    "folders", metavar="[FOLDER]...", nargs=-1, type=click.Path(exists=True, file_okay=False, path_type=Path)
)
@click.option("--port", type=click.IntRange(0, 65535), default=8888, help="The port; 0 for any free one.")
@click.option(
    "--record",
    "database",
    metavar="DB",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Show the matches and tournaments of this database.",
)
@click.option("--open", "show", is_flag=True, help="Open the page in a browser.")
@token_option("The token in the address; by default a random one.")
@click.option("--no-token", "is_public", is_flag=True, help="Serve all users of this computer.")
def command(
    *,
    folders: tuple[Path, ...],
    port: int,
    database: Path | None,
    show: bool,
    token: str | None,
    is_public: bool,
) -> None:
    """Play, edit and analyse games in a browser.

    The server listens on 127.0.0.1 only, the address that it prints has a token that others do not know, and
    pages load nothing from other sites. Besides the bundled games it shows the rulesheets of each FOLDER and,
    with --record, the matches and tournaments of a database, also while they are being played. Ctrl+C stops
    it.
    """
    try:
        import multipart  # noqa: F401  # needed by starlette for forms
        import uvicorn  # noqa: F401

        from herbrand.web.app import make_app
    except ImportError as error:
        raise MissingExtra("the web application", "web") from error
    with listening(port, "--port") as (listener, address):
        token = None if is_public else token or new_token()
        app = make_app(folders, database=database, token=token)
        remark(f"serving {address}{f'?token={token}' if token else ''} (Ctrl+C to stop)")
        if show:
            import webbrowser

            webbrowser.open(f"{address}?token={app.ticket()}" if token else address)
        serve_app(app, listener)
