"""`herbrand lsp`: run the language server."""

from __future__ import annotations

import click

from herbrand.errors import MissingExtra

__all__ = ["command"]


@click.command("lsp")
@click.option("--stdio", is_flag=True, help="Serve on standard input and output (the default).")
@click.option(
    "--tcp", type=click.IntRange(1, 65535), metavar="PORT", help="Serve on this port of 127.0.0.1 instead."
)
@click.option("--log", type=click.Path(dir_okay=False), help="Write warnings and errors to this file.")
def command(stdio: bool, tcp: int | None, log: str | None) -> None:
    """Run the language server for editors.

    It offers diagnostics, fixes, hover, completion and renaming by the Language Server Protocol.  Editors
    start it themselves; docs/howto/editors.md explains the setup.  Needs herbrand[lsp].
    """
    import logging
    import os
    import sys

    if stdio and tcp is not None:
        raise click.UsageError("--stdio and --tcp are mutually exclusive")
    try:
        from herbrand.lsp.server import make_server
    except ImportError as error:
        if (error.name or "").split(".")[0] not in ("pygls", "lsprotocol", "cattrs", "attrs"):
            raise
        raise MissingExtra("the language server", "lsp") from error
    logging.basicConfig(filename=log, level=logging.WARNING) if log else logging.disable()
    server = make_server()
    if tcp is None:
        # stray prints must not corrupt the message stream
        messages = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
        sys.stdout = sys.stderr
        server.start_io(stdout=messages)
    else:
        server.start_tcp("127.0.0.1", tcp)
