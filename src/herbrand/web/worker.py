"""The child's side: reads questions as lines of JSON, writes answers as lines of JSON.

Started as `python -m herbrand.web.worker MEGABYTES`.
"""

from __future__ import annotations

import sys
import traceback
from typing import TYPE_CHECKING, Any

from herbrand.errors import BudgetExceeded, HerbrandError, IllegalMoveError, InvalidMoveError
from herbrand.runtime.json_process import RequestError, serve
from herbrand.runtime.memory import limit_memory

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["main"]


def main() -> None:
    """Answer until the questions end."""
    limit_memory(int(sys.argv[1]) if len(sys.argv) > 1 else 3000)
    actions = _actions()
    serve(lambda asked: actions[asked.pop("do")](**asked), _explain)


def _explain(error: Exception) -> RequestError:
    """Say in a line for the page what went wrong, and of what kind it is."""
    match error:
        case BudgetExceeded():
            return RequestError(str(error), "budget")
        case IllegalMoveError() | InvalidMoveError():
            return RequestError(str(error), "move")
        case MemoryError():
            return RequestError("the rules need more memory than there is for them", "budget")
        case RecursionError():
            return RequestError("the rules are nested too deeply", "budget")
        case HerbrandError() | ValueError():
            return RequestError(str(error), "game")
    traceback.print_exception(error)  # the terminal gets the whole of it, the page a line
    return RequestError("a fault in herbrand itself; the terminal says more", "bug")


def _actions() -> dict[str, Callable[..., Any]]:
    """The questions this child answers, by name."""
    from herbrand.web.chances import Chances
    from herbrand.web.desk import Desk
    from herbrand.web.replay import Replay
    from herbrand.web.table import MatchTable

    tasks = (MatchTable(), Desk(), Replay(), Chances())
    return {name: getattr(one, name) for one in tasks for name in one.ACTIONS}


if __name__ == "__main__":
    main()
