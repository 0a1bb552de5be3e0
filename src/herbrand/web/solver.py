"""Main program of the subprocess that solves one game: progress while it searches, then the solution.

Started as `python -m herbrand.web.solver MEGABYTES`.
"""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from herbrand.errors import HerbrandError
from herbrand.runtime.json_process import stream_to_parent
from herbrand.web.worker import explain, limit_process

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["REPLAYING", "SECONDS", "find_solution", "main"]

SECONDS: Final = 60.0
"""Time for the search."""
REPLAYING: Final = 240.0
"""Seconds for replaying its strategies, which evaluates the rules as they stand."""
MEGABYTES: Final = 1200.0
_LISTED: Final = ("backward induction", "expectation")
"""Methods for games in which the player `solved` knows the best move of every state."""
_FEW_STATES: Final = 300_000
"""States that the player lists while it prepares."""
_EVERY: Final = 0.3
"""Seconds between two reports of progress."""


def main() -> None:
    """Solve the game of the first request."""
    limit_process()
    with stream_to_parent() as (messages, send):
        try:
            send({"ok": find_solution(**next(messages), report=send)})
        except Exception as error:  # noqa: BLE001  # the server shows it
            send({"error": str(explain(error))})


def find_solution(
    text: str,
    notation: str,
    name: str,
    file: str,
    source: str = "",
    *,
    report: Callable[[Mapping[str, Any]], Any] = lambda _: None,
) -> dict[str, Any]:
    """Return the proved value of a game, and whether the seat `perfect` may be offered.

    `perfect` is None, or has the `digest` of the rules and the `file` with strategies that were replayed
    against every reply; the file is empty where all states can be listed, and the player does so itself.
    """
    from herbrand.analyse.budget import Budget
    from herbrand.analyse.solving.strategy import check_strategy, digest_of, make_strategy
    from herbrand.analyse.solving.value import value_of
    from herbrand.match.protocol.manager import as_sent
    from herbrand.web.inspector import game_of

    game, _ = as_sent(game_of(text, notation, name, source))
    last = 0.0

    def show(task: str, states: int) -> None:
        nonlocal last
        if time.monotonic() > last + _EVERY:
            last = time.monotonic()
            report({"task": task, "states": states})

    budget = Budget(SECONDS, megabytes=MEGABYTES)
    value = value_of(game, budget=budget, moves=True, progress=partial(show, "solving"))
    result = {**value.as_json(), "claims": [], "positions": 0, "perfect": None}
    if value.stopped:
        return result
    if value.forced is None or value.searched is None:
        if value.method in _LISTED and value.value is not None and value.states <= _FEW_STATES:
            result |= {"positions": value.states, "perfect": {"digest": digest_of(game), "file": ""}}
        return result
    try:
        strategy = make_strategy(value.forced, value.searched, progress=partial(show, "writing strategies"))
        replaying = partial(show, "replaying strategies")
        checked = check_strategy(game, strategy, seconds=REPLAYING, progress=replaying)
    except HerbrandError as error:  # over budget, or no claim needs a strategy
        result["notes"].append(f"no strategy: {error}")
        return result
    if all(one.accepted for one in checked):
        strategy.write(file)
        result |= {
            "claims": [str(one.claim) for one in checked],
            "positions": len(strategy),
            "perfect": {"digest": strategy.digest, "file": file},
        }
    return result


if __name__ == "__main__":
    main()
