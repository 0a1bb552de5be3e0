"""Main program of the evaluator subprocess: reads requests and writes replies as lines of JSON.

Started as `python -m herbrand.web.worker MEGABYTES`.
"""

from __future__ import annotations

import os
import sys
import traceback
from typing import Any, Final

from herbrand.errors import BudgetExceeded, HerbrandError, IllegalMoveError, InvalidMoveError
from herbrand.runtime.json_process import RequestError, serve
from herbrand.runtime.memory import limit_memory

__all__ = ["NICENESS", "explain", "limit_process", "main", "serve_actions"]

NICENESS: Final = 5
"""Processor priority (`nice`) of evaluations, below that of serving pages."""


def main() -> None:
    """Serve requests until the end of input."""
    from herbrand.web.chances import Chances
    from herbrand.web.inspector import Inspector
    from herbrand.web.replay import Replay
    from herbrand.web.table import MatchTable

    serve_actions(MatchTable(), Inspector(), Replay(), Chances())


def limit_process() -> None:
    """Limit the memory of this process as its first argument says, and lower its priority."""
    limit_memory(int(sys.argv[1]) if len(sys.argv) > 1 else 3000)
    if hasattr(os, "nice"):
        os.nice(NICENESS)


def serve_actions(*providers: Any) -> None:
    """Serve requests for the `ACTIONS` of some objects until the end of input, with limited memory."""
    limit_process()
    actions = {name: getattr(provider, name) for provider in providers for name in provider.ACTIONS}
    serve(lambda request: actions[request.pop("do")](**request), explain)


def explain(error: Exception) -> RequestError:
    """Convert an error to a one-line message with its kind."""
    match error:
        case BudgetExceeded():
            return RequestError(str(error), "budget")
        case IllegalMoveError() | InvalidMoveError():
            return RequestError(str(error), "move")
        case MemoryError():
            return RequestError("the rules need more memory than allowed", "budget")
        case RecursionError():
            return RequestError("the rules are nested too deeply", "budget")
        case HerbrandError() | ValueError():
            return RequestError(str(error), "game")
    traceback.print_exception(error)  # the traceback goes to the terminal, not to the page
    return RequestError("a bug in herbrand; the terminal of the server shows the details", "bug")


if __name__ == "__main__":
    main()
