"""`herbrand web`: the web application."""

from __future__ import annotations

import socket
from ipaddress import IPv4Address
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
    type=click.Path(dir_okay=False, path_type=Path),
    help="The database of matches and tournaments; by default one of your own.",
)
@click.option(
    "--listen",
    "host",
    metavar="ADDRESS",
    default="127.0.0.1",
    help="An IPv4 address of this computer at which others reach the server, too; 0.0.0.0: all of them.",
)
@click.option("--open", "show", is_flag=True, help="Open the page in a browser.")
@token_option("The token in the address; by default a random one.")
@click.option("--no-token", "is_public", is_flag=True, help="Serve all users of this computer.")
def command(
    *,
    folders: tuple[Path, ...],
    port: int,
    database: Path | None,
    host: str,
    show: bool,
    token: str | None,
    is_public: bool,
) -> None:
    """Play, edit and analyse games in a browser.

    The server listens on 127.0.0.1 only, the address that it prints has a secret token, and pages load
    nothing from other sites. Besides the bundled games it shows the rulesheets of each FOLDER, and the editor
    saves into the first. Your matches are stored in a database; tournaments recorded in it are shown, too,
    while they are being played. With --listen you can play against people at other computers, who get a link
    for their seat. Ctrl+C stops it.
    """
    try:
        import multipart  # noqa: F401  # needed by starlette for forms
        import platformdirs
        import uvicorn  # noqa: F401

        from herbrand.match.records import RecordError
        from herbrand.web.app import make_app
    except ImportError as error:
        raise MissingExtra("the web application", "web") from error
    try:
        is_shared = not IPv4Address(host).is_loopback
    except ValueError:
        raise click.BadParameter(f"`{host}` is no IPv4 address", param_hint="--listen") from None
    if is_shared and is_public:
        raise click.UsageError(
            "--no-token would serve anyone who can reach this computer: leave out --listen"
        )
    own = platformdirs.user_data_path("herbrand", appauthor=False)
    if database is None:
        own.mkdir(mode=0o700, parents=True, exist_ok=True)
        database = own / "matches.db"
    with listening(port, "--port", host) as (listener, address):
        token = None if is_public else token or new_token()
        names = {"127.0.0.1", "localhost", "::1", host}
        outside = ""
        if is_shared:
            seen = _own_address() if IPv4Address(host).is_unspecified else host
            names |= {seen, socket.gethostname().lower()}
            outside = f"http://{seen}:{listener.getsockname()[1]}"
        try:
            app = make_app(
                folders,
                database=database,
                saved=folders[0] if folders else own / "games",
                hosts=names,
                token=token,
                address=outside,
            )
        except RecordError as error:
            raise click.BadParameter(
                f"{error}; another database is used with --record FILE", param_hint="--record"
            ) from error
        remark(f"serving {address}{f'?token={token}' if token else ''} (Ctrl+C to stop)")
        remark(f"matches are stored in {database}")
        if show:
            import webbrowser

            webbrowser.open(f"{address}?token={app.ticket()}" if token else address)
        serve_app(app, listener)


def _own_address() -> str:
    """Return the address of this computer in its network; nothing is sent to find it."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # an address for documentation
        except OSError:
            return "127.0.0.1"
        return str(probe.getsockname()[0])
