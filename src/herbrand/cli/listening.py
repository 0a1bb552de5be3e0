"""Shared code of the commands that listen on a port."""

from __future__ import annotations

import errno
import socket
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

import click

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["cannot_listen", "listening", "serve_app"]

SWITCH_SECONDS: Final = 0.001
"""How long other threads may keep the one that answers from the interpreter."""


def cannot_listen(address: str, option: str, error: OSError) -> click.BadParameter:
    """Return the error for an option whose address cannot be listened on."""
    reason = (error.strerror or str(error)).lower()
    if error.errno == errno.EADDRINUSE:
        reason = f"another program is listening there; choose another port, or 0 for any free one: {option} 0"
    return click.BadParameter(f"cannot listen on {address}: {reason}", param_hint=option)


@contextmanager
def listening(port: int, option: str, host: str = "127.0.0.1") -> Iterator[tuple[socket.socket, str]]:
    """Yield a socket bound to a port, by default of 127.0.0.1, and its address.

    Where it is bound to all addresses, the address is that of 127.0.0.1.  Raises `click.BadParameter` if the
    socket cannot be bound.
    """
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((host, port))
        except OSError as error:
            raise cannot_listen(f"{host}:{port}", option, error) from error
        shown = "127.0.0.1" if host == "0.0.0.0" else host  # noqa: S104
        yield listener, f"http://{shown}:{listener.getsockname()[1]}/"


def serve_app(app: Any, listener: socket.socket) -> None:
    """Serve an ASGI application until it is interrupted."""
    import gc
    import sys

    import uvicorn

    sys.setswitchinterval(SWITCH_SECONDS)
    gc.freeze()  # full collections pause all threads, and need not visit imported objects
    config = uvicorn.Config(
        app,
        log_level="warning",
        server_header=False,
        timeout_graceful_shutdown=1,  # event streams would stay open for ever
    )
    uvicorn.Server(config).run(sockets=[listener])
