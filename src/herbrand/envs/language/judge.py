"""Grade replies that are rules, in a subprocess: the output of a model is only evaluated under limits.

The main program of the subprocess is this module: `python -m herbrand.envs.language.judge MEGABYTES`.
"""

from __future__ import annotations

import re
import sys
import threading
from collections import Counter
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from herbrand.errors import BudgetExceeded, HerbrandError
from herbrand.runtime.json_process import JsonProcess, RequestError, serve
from herbrand.runtime.line_process import ProcessDied
from herbrand.runtime.memory import limit_memory

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from herbrand.diagnostic import Diagnostic
    from herbrand.game import Game
    from herbrand.verify.diff import PlayDifference

__all__ = ["judge", "main"]

MEGABYTES: Final = 3000
"""Limit on the address space of the subprocess."""
SECONDS: Final = 60.0
"""Seconds for one reply; beyond it, the reply scores nothing."""
PROVING: Final = (5.0, 300_000, 800.0)
"""Seconds, states and megabytes for the properties of a repaired game."""
COMPARING: Final = 5.0
"""Seconds for comparing a game with the reference."""
PLAYED: Final = (20_000, 6.0)
"""States and seconds for playing a written game beside its reference."""
DIFFERENT: Final = 0.9
"""Highest grade for a written game that plays differently somewhere."""
UNCOMPARED: Final = 0.95
"""Highest grade without a difference when not all states could be compared."""
MOST_EDITS: Final = 2
"""Most statements that a repair changes; beyond it, the game counts as rewritten."""
LONGEST: Final = 400_000
"""Characters of rules that are read."""
ERRORS: Final = 3
TERMS: Final = 5
STEPS: Final = 12
"""Most errors, differing terms and joint moves of a refutation that are named."""
_BLOCK: Final = re.compile(r"```[^\n`]*\n(.*?)```", re.DOTALL)

_TURN: Final = threading.Lock()
"""Threads take turns at the subprocess."""


def judge(task: dict[str, Any], reply: str) -> tuple[float, str]:
    """Return the score of rules, from 0 to 1, and the reason why it is not 1.

    The last block between lines of three backticks counts, or the whole reply if there is none.
    """
    blocks = _BLOCK.findall(reply[-LONGEST:])
    text = blocks[-1] if blocks else reply[-LONGEST:]
    request = {key: task[key] for key in ("kind", "notation", "reference") if key in task} | {"text": text}
    try:
        with _TURN:
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

    reference = loads(request["reference"])
    submitted = loads(request["text"], notation=request.get("notation", "auto"))
    if submitted.rules.errors:
        return 0.0, "the rules have errors: " + "; ".join(map(_error, submitted.rules.errors[:ERRORS]))
    wanted = request.get("notation")
    if wanted is not None and submitted.tree.notation != wanted:
        return 0.0, f"the rules are in {submitted.tree.notation} notation"
    return (_written if request["kind"] == "write" else _same)(request, reference, submitted)


def _error(error: Diagnostic) -> str:
    """Describe an error with its line and its remedy."""
    line = error.source.position(error.span.start).line
    return f"line {line}: {error.message}" + (f" ({error.help})" if error.help else "")


def _same(request: dict[str, Any], reference: Game, submitted: Game) -> tuple[float, str]:
    """Grade rules that should be the same game, whatever its names: a translation or a repair."""
    from herbrand.verify.diff import diff

    try:
        result = diff(reference, submitted, seconds=COMPARING)
    except HerbrandError as error:
        reason = str(error)
    else:
        if result.verdict in {"rules", "play"}:
            return 1.0, ""
        found = result.difference
        reason = "not all states could be compared" if found is None else _in_words(found)
    if request["kind"] == "repair" and _edits(reference, submitted) <= MOST_EDITS:
        unproved = _unproved(submitted)
        if not unproved:
            return 0.5, f"all properties are proved, but this is another game: {reason}"
        reason = "; ".join([*unproved, reason])
    return 0.0, reason


def _written(_: dict[str, Any], reference: Game, submitted: Game) -> tuple[float, str]:
    """Grade rules that were written from a description: play, and then the proofs of well-formedness."""
    from herbrand.repair import PROPERTIES
    from herbrand.verify.diff import agreement, compare_play, find_renaming

    with suppress(BudgetExceeded):
        renaming = find_renaming(reference.rules, submitted.rules, seconds=COMPARING)
        if renaming.same and all(kind == "relation" for kind, *_ in renaming.changed):
            return 1.0, ""
    play = compare_play(reference, submitted, {}, states=PLAYED[0], seconds=PLAYED[1])
    if play.is_complete and play.difference is None:
        return 1.0, ""
    reasons = [] if play.difference is None else [_in_words(play.difference)]
    alike = 1.0 if play.difference is None else agreement(reference, submitted, seconds=PLAYED[1])
    if not alike:
        return 0.0, reasons[0]
    unproved = _unproved(submitted)
    if play.difference is None:
        reasons.append(f"no difference in {play.states} states, but not all could be compared")
    share = 1 - len(unproved) / len(PROPERTIES)
    most = UNCOMPARED if play.difference is None else DIFFERENT
    return round(min(most, alike * (0.7 + 0.3 * share)), 4), "; ".join([*reasons, *unproved])


def _in_words(difference: PlayDifference) -> str:
    """Describe the first difference in play, in words that a model can use."""
    where = f"after {'; '.join(difference.moves)}" if difference.moves else "in the initial state"
    what, _, role = difference.what.partition(" ")
    missing, extra = (", ".join(terms[:TERMS]) for terms in (difference.first, difference.second))
    match what:
        case "terminal":
            return f"{where} the game should {'' if missing else 'not '}be over"
        case "roles":
            return f"the roles should be {missing}, not {extra}"
        case "goal":
            return f"{where} the goal of {role} should be {missing or 'none'}, not {extra or 'none'}"
    reasons = [f"{where} {role} has the wrong {'legal moves' if what == 'legal' else 'percepts'}"]
    reasons += [f"{how}: {terms}" for how, terms in (("missing", missing), ("too many", extra)) if terms]
    return "; ".join(reasons)


def _line(joints: Iterable[Sequence[str]]) -> str:
    return "; ".join(f"({' '.join(joint)})" for joint in joints)


def _edits(reference: Game, submitted: Game) -> int:
    """Return how many statements were changed, removed or added."""
    old, new = (Counter(map(str, game.tree.statements)) for game in (reference, submitted))
    return max((old - new).total(), (new - old).total())


def _unproved(game: Game) -> list[str]:
    """Describe the properties of a game that are not proved, with the line of play that refutes one."""
    from herbrand.analyse import Budget
    from herbrand.repair import SENTENCES, properties_of

    sentences = []
    for name, verdict in properties_of(game, Budget(*PROVING)).items():
        wrong, right = SENTENCES[name]
        if verdict.answer == "refuted":
            line = [] if verdict.witness is None else verdict.witness.moves[:STEPS]
            sentences.append(wrong + (f": {_line(line)}" if line else ""))
        elif verdict.answer == "unknown":
            sentences.append(f"not proved: {right}")
    return sentences


if __name__ == "__main__":
    main()
