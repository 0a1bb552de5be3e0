"""Subprocesses with JSON lines as requests and replies, and the server loop inside them.

A request is any object, a reply `{"ok": value}` or `{"error": message, "kind": word}`.  A subprocess of
`herbrand.runtime.json_stream` uses `stream_to_parent` instead of `serve`, to receive and send at any time.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import threading
import time
from typing import TYPE_CHECKING, Any

from herbrand.errors import HerbrandError
from herbrand.runtime.line_process import LineProcess

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

__all__ = ["JsonProcess", "RequestError", "exit_with_parent", "serve", "stream_to_parent"]


class RequestError(HerbrandError):
    """The subprocess replied with an error; it is ready for further requests."""

    def __init__(self, message: str, kind: str = "") -> None:
        super().__init__(message)
        self.kind = kind
        """The kind of error, a word that both sides agree on."""


class JsonProcess(LineProcess):
    """A subprocess that runs `serve`."""

    def request(self, request: Mapping[str, Any], seconds: float) -> Any:
        """Send a request and return the value of the reply.

        Raises `RequestError` for an error reply, `BudgetExceeded` and `ProcessDied` as `ask` does, and
        `ValueError` for an invalid reply.
        """
        reply = json.loads(self.ask(json.dumps(request), seconds))
        if not isinstance(reply, dict) or not reply.keys() & {"ok", "error"}:
            raise ValueError("a reply is an object with `ok` or `error`")
        if "error" in reply:
            raise RequestError(str(reply["error"]), str(reply.get("kind", "")))
        return reply["ok"]


def serve(answer: Callable[[dict[str, Any]], Any], explain: Callable[[Exception], RequestError]) -> None:
    """Answer the requests on standard input until it ends, or the parent does, also during an answer.

    `explain` converts exceptions of `answer`.  Standard output is redirected to standard error, so that stray
    prints do not corrupt the replies.
    """
    exit_with_parent()
    with (
        contextlib.suppress(BrokenPipeError),  # the parent is gone
        os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8") as replies,
    ):
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
        for line in sys.stdin:
            try:
                reply = {"ok": answer(json.loads(line))}
            except Exception as error:  # noqa: BLE001  # the parent decides what to do
                reason = explain(error)
                reply = {"error": str(reason), "kind": reason.kind}
            print(json.dumps(reply), file=replies, flush=True)


@contextlib.contextmanager
def stream_to_parent() -> Iterator[tuple[Iterator[dict[str, Any]], Callable[[Mapping[str, Any]], None]]]:
    """Yield the messages of the parent, and a function that sends one to it.

    Messages end when the parent ends.  Any thread may send; nothing happens once the parent is gone.
    Standard output is redirected to standard error, so that stray prints do not corrupt the stream.
    """
    lock = threading.Lock()
    with (
        contextlib.suppress(BrokenPipeError),
        os.fdopen(os.dup(sys.stdout.fileno()), "wb", buffering=0) as output,
    ):
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())

        def send(message: Mapping[str, Any]) -> None:
            data = memoryview(json.dumps(message).encode() + b"\n")
            with lock, contextlib.suppress(BrokenPipeError, ValueError):
                while data:
                    data = data[output.write(data) :]

        yield (json.loads(line) for line in sys.stdin.buffer), send


def exit_with_parent() -> None:
    """End this process when its parent ends."""
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(0.5)
        os._exit(1)

    threading.Thread(target=watch, name="parent", daemon=True).start()
