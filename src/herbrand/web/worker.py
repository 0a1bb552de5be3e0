"""The child's side: reads questions as lines of JSON, writes answers as lines of JSON.

Started as `python -m herbrand.web.worker MEGABYTES`.  Whatever the code that answers prints goes to standard
error, so that it cannot be taken for an answer.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import traceback
from typing import TYPE_CHECKING, Any

from herbrand.errors import BudgetExceeded, HerbrandError, IllegalMoveError, InvalidMoveError

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["main"]


def main() -> None:
    """Answer until the questions end."""
    _limit(int(sys.argv[1]) if len(sys.argv) > 1 else 3000)
    with (
        contextlib.suppress(BrokenPipeError),  # the server is gone
        os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8") as answers,
    ):
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
        actions = _actions()
        for line in sys.stdin:
            print(json.dumps(_answer(actions, json.loads(line))), file=answers, flush=True)


def _answer(actions: dict[str, Callable[..., Any]], asked: dict[str, Any]) -> dict[str, Any]:
    try:
        return {"ok": actions[asked.pop("do")](**asked)}
    except BudgetExceeded as error:
        return {"error": str(error), "kind": "budget"}
    except (IllegalMoveError, InvalidMoveError) as error:
        return {"error": str(error), "kind": "move"}
    except MemoryError:
        return {"error": "the rules need more memory than there is for them", "kind": "budget"}
    except RecursionError:
        return {"error": "the rules are nested too deeply", "kind": "budget"}
    except (HerbrandError, ValueError) as error:
        return {"error": str(error), "kind": "game"}
    except Exception:  # noqa: BLE001  # the terminal gets the whole of it, the page a line
        traceback.print_exc()
        return {"error": "a fault in herbrand itself; the terminal says more", "kind": "bug"}


def _actions() -> dict[str, Callable[..., Any]]:
    """The questions this child answers, by name."""
    from herbrand.web.chances import Chances
    from herbrand.web.desk import Desk
    from herbrand.web.replay import Replay
    from herbrand.web.table import Table

    tasks = (Table(), Desk(), Replay(), Chances())
    return {name: getattr(one, name) for one in tasks for name in one.ACTIONS}


def _limit(megabytes: int) -> None:
    """Bound the memory of this process and its children, where the system can."""
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


if __name__ == "__main__":
    main()
