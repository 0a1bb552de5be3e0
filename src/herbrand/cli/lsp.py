"""`herbrand lsp`: serve editors."""

from __future__ import annotations

import click

from herbrand.errors import MissingExtra

__all__ = ["command"]


@click.command("lsp")
@click.option(
    "--stdio", is_flag=True, help="Serve standard input and output; editors pass it, it is the default."
)
@click.option(
    "--tcp", type=click.IntRange(1, 65535), metavar="PORT", help="Serve 127.0.0.1 on this port instead."
)
@click.option("--log", type=click.Path(dir_okay=False), help="Write what goes wrong to this file.")
def command(stdio: bool, tcp: int | None, log: str | None) -> None:
    """Serve editors: findings, repairs, hovering, completion, renaming while you type.

    Editors start this by themselves and speak the Language Server Protocol with it;
    docs/howto/editors.md tells how to set them up.  Needs herbrand[lsp].
    """
    import logging
    import os
    import sys

    if stdio and tcp is not None:
        raise click.UsageError("--stdio and --tcp exclude each other")
    try:
        from herbrand.lsp.server import make_server
    except ImportError as error:
        if (error.name or "").split(".")[0] not in ("pygls", "lsprotocol", "cattrs", "attrs"):
            raise
        raise MissingExtra("the language server", "lsp") from error
    logging.basicConfig(filename=log, level=logging.WARNING) if log else logging.disable()
    server = make_server()
    if tcp is None:
        # what is printed by mistake must not get between the messages
        messages = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
        sys.stdout = sys.stderr
        server.start_io(stdout=messages)
    else:
        server.start_tcp("127.0.0.1", tcp)
