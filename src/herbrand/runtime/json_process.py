"""A subprocess that answers objects of JSON, one a line, and its side of it.

A question is any object, an answer `{"ok": value}` or `{"error": message, "kind": word}`.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
from typing import TYPE_CHECKING, Any

from herbrand.errors import HerbrandError
from herbrand.runtime.line_process import LineProcess

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["JsonProcess", "RequestError", "serve"]


class RequestError(HerbrandError):
    """The subprocess says why it has no answer; it can be asked again."""

    def __init__(self, message: str, kind: str = "") -> None:
        super().__init__(message)
        self.kind = kind
        """A word for the kind of reason, which the two sides agree on."""


class JsonProcess(LineProcess):
    """A subprocess that runs `serve`."""

    def request(self, question: Mapping[str, Any], seconds: float) -> Any:
        """Return what the subprocess answers.

        Raises `RequestError` with what it says, `BudgetExceeded` and `ProcessDied` as `ask` does, and
        `ValueError` where the answer is no JSON.
        """
        answer = json.loads(self.ask(json.dumps(question), seconds))
        if not isinstance(answer, dict) or not answer.keys() & {"ok", "error"}:
            raise ValueError("an answer is an object with `ok` or `error`")
        if "error" in answer:
            raise RequestError(str(answer["error"]), str(answer.get("kind", "")))
        return answer["ok"]


def serve(answer: Callable[[dict[str, Any]], Any], explain: Callable[[Exception], RequestError]) -> None:
    """Answer the questions on standard input until it ends.

    Exceptions of `answer` become errors by `explain`.  What is printed meanwhile goes to standard error,
    where it is not taken for an answer.
    """
    with (
        contextlib.suppress(BrokenPipeError),  # the program that asked is gone
        os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8") as answers,
    ):
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
        for line in sys.stdin:
            try:
                reply = {"ok": answer(json.loads(line))}
            except Exception as error:  # noqa: BLE001  # the program that asked decides what follows
                reason = explain(error)
                reply = {"error": str(reason), "kind": reason.kind}
            print(json.dumps(reply), file=answers, flush=True)
