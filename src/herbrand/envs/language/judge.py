"""Grade replies that are rules, in a subprocess: what a model writes is evaluated under limits only.

The main program of the subprocess is this module: `python -m herbrand.envs.language.judge MEGABYTES`.
"""

from __future__ import annotations

import re
import sys
from functools import cache
from typing import Any, Final

from herbrand.errors import BudgetExceeded, HerbrandError
from herbrand.runtime.json_process import JsonProcess, RequestError, serve
from herbrand.runtime.line_process import ProcessDied
from herbrand.runtime.memory import limit_memory

__all__ = ["judge", "main"]

MEGABYTES: Final = 3000
"""Limit on the address space of the subprocess."""
SECONDS: Final = 60.0
"""For one reply; one that takes longer scores nothing."""
PROVING: Final = (5.0, 300_000, 800.0)
"""Seconds, states and megabytes for the properties of a repaired game."""
COMPARING: Final = 5.0
"""Seconds for comparing a game with the reference."""
LONGEST: Final = 400_000
"""Characters of rules that are read."""
_BLOCK: Final = re.compile(r"```[^\n`]*\n(.*?)```", re.DOTALL)


def judge(task: dict[str, Any], reply: str) -> tuple[float, str]:
    """Return the score of rules, from 0 to 1, and the reason why it is not 1.

    The last block between lines of three backticks counts, or the whole reply if there is none.
    """
    blocks = _BLOCK.findall(reply[-LONGEST:])
    text = blocks[-1] if blocks else reply[-LONGEST:]
    request = {key: task[key] for key in ("kind", "notation", "reference") if key in task} | {"text": text}
    try:
        score, reason = _process().request(request, SECONDS)
    except (RequestError, BudgetExceeded, ProcessDied, ValueError) as error:
        return 0.0, str(error)
    return float(score), str(reason)


@cache
def _process() -> JsonProcess:
    """Return the subprocess, which a request starts again after one that it did not survive."""
    command = [sys.executable, "-m", "herbrand.envs.language.judge", str(MEGABYTES)]
    return JsonProcess("the judge of rules", command)


# -- in the subprocess --------------------------------------------------------------------------


def main() -> None:
    """Serve requests until the end of input."""
    limit_memory(int(sys.argv[1]))
    serve(_answer, lambda error: RequestError(str(error) or type(error).__name__, "game"))


def _answer(request: dict[str, Any]) -> tuple[float, str]:
    from herbrand.game import loads
    from herbrand.verify.diff import diff

    reference = loads(request["reference"])
    given = loads(request["text"], notation=request.get("notation", "auto"))
    if given.rules.errors:
        return 0.0, f"the rules have errors: {given.rules.errors[0].message}"
    wanted = request.get("notation")
    if wanted is not None and given.tree.notation != wanted:
        return 0.0, f"the rules are in {given.tree.notation} notation"
    verdict, difference = "unknown", None
    try:
        result = diff(reference, given, seconds=COMPARING)
        verdict, difference = result.verdict, result.difference
    except HerbrandError as error:
        reason = str(error)
    else:
        reason = "not all states could be compared" if difference is None else _in_words(difference)
    if verdict in {"rules", "play"}:
        return 1.0, ""
    if request["kind"] == "repair" and _is_sound(given):
        return 0.5, f"all properties are proved, but this is another game: {reason}"
    return 0.0, reason


def _in_words(difference: Any) -> str:
    """Describe the first difference in play, in words that a model can use."""
    where = f"after {'; '.join(difference.moves)}" if difference.moves else "in the initial state"
    parts = [f"{difference.what} differs {where}"]
    if difference.first:
        parts.append(f"missing: {', '.join(difference.first[:5])}")
    if difference.second:
        parts.append(f"too much: {', '.join(difference.second[:5])}")
    return "; ".join(parts)


def _is_sound(game: Any) -> bool:
    from herbrand.analyse import Budget
    from herbrand.repair import properties_of

    return all(verdict.answer == "proved" for verdict in properties_of(game, Budget(*PROVING)).values())


if __name__ == "__main__":
    main()
