"""Compare replies of language models with the answers of tasks."""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from herbrand.envs.language.judge import judge
from herbrand.errors import InvalidMoveError
from herbrand.machine.moves import Move

if TYPE_CHECKING:
    from collections.abc import Sequence
    from collections.abc import Set as AbstractSet

__all__ = ["Grade", "grade", "right_reply", "share", "summary"]

LAST: Final = 200_000
"""Characters at the end of a reply that are read."""
GROUPS: Final = ("game", "kind", "horizon", "scrambled")
"""The keys by which a table groups tasks into rows."""
LISTS: Final = 200
"""Most opening brackets that are tried, the last ones first."""
SHORT: Final = 100
"""Longest terms, in characters, whose standard form is cached."""


@dataclass(frozen=True, slots=True)
class Grade:
    """How good a reply is."""

    id: str
    correct: bool
    """Exactly the right terms, in any order; for a choice, exactly one of the right ones."""
    precision: float
    """The share of the terms given that are right; 1 if none were given."""
    recall: float
    """The share of the right terms that were given; 1 if there are none."""
    missing: tuple[str, ...]
    extra: tuple[str, ...]
    unreadable: bool
    """No list was found in the reply; it counts as an empty one that is wrong."""
    score: float = 0.0
    """The improvement over a trivial reply, from 0 to 1 for the right reply.

    It is the Jaccard index of the given and the right terms, rescaled so that the best trivial reply (all
    moves, all facts, or the previous state) scores 0.  A choice scores 0 or 1, and several choices nothing.
    Rules score 1 if they are the same game as the reference; repaired rules of another game score 0.5 if all
    properties are proved, and written rules by the length of play that agrees with the reference.
    """
    reason: str = ""
    """Why rules were marked down: their errors, or the first difference in play."""

    def as_json(self) -> dict[str, Any]:
        """Return it as a JSON object."""
        return asdict(self)


def grade(task: dict[str, Any], reply: str | Sequence[str]) -> Grade:
    """Compare a reply, a text that holds a JSON list or the list itself, with the answer of a task.

    The last list of strings in a text counts.  Terms are compared as terms: case and spaces do not matter,
    nor does the order.  Rules are read from the last block between lines of three backticks, or else from the
    whole text, and are evaluated in a subprocess with limits on time and memory.
    """
    if task.get("rules"):
        score, reason = judge(task, reply if isinstance(reply, str) else "\n".join(reply))
        return Grade(task["id"], score == 1.0, score, score, (), (), not reply, score, reason)
    terms = _terms(reply)
    right = {_folded(term) for term in task["answer"]}
    answered = {_folded(term) for term in terms or ()}
    both = len(answered & right)
    if task.get("choice"):
        correct = len(answered) == both == 1
        score = float(correct)
    else:
        correct = terms is not None and answered == right
        trivial = float(task.get("trivial", 0.0))
        alike = 0.0 if terms is None else share(answered, right)
        score = 1.0 if correct else max(0.0, (alike - trivial) / (1 - trivial)) if trivial < 1 else 0.0
    precision, recall = (both / len(some) if some else 1.0 for some in (answered, right))
    missing, extra = tuple(sorted(right - answered)), tuple(sorted(answered - right))
    return Grade(task["id"], correct, precision, recall, missing, extra, terms is None, score)


def share(terms: AbstractSet[str], right: AbstractSet[str]) -> float:
    """Return the share of the terms of either set that are in both; 1 for empty sets."""
    both = len(terms & right)
    either = len(terms) + len(right) - both
    return both / either if either else 1.0


def right_reply(task: dict[str, Any]) -> str:
    """Return a reply to a task that is right, in the form that its prompt asks for."""
    if task.get("rules"):
        return f"```\n{task['answer'][0] if task['kind'] == 'translate' else task['reference']}\n```"
    return json.dumps(task["answer"][:1] if task.get("choice") else task["answer"])


def summary(
    tasks: Sequence[dict[str, Any]], grades: Sequence[Grade], by: Sequence[str] = GROUPS
) -> list[dict[str, Any]]:
    """Return for each group of tasks how many replies were right, and the mean score.

    Tasks with the same game, kind, horizon and choice of names are a group, or those that agree in the keys
    `by`.
    """
    by_id = {one.id: one for one in grades}
    rows: dict[tuple[Any, ...], dict[str, Any]] = {}
    for task in tasks:
        key = tuple(task.get(name) for name in by)
        none: dict[str, Any] = {"tasks": 0, "replies": 0, "correct": 0, "score": 0.0}
        row = rows.setdefault(key, dict(zip(by, key, strict=True)) | none)
        row["tasks"] += 1
        if (result := by_id.get(task["id"])) is not None:
            row["replies"] += 1
            row["correct"] += result.correct
            row["score"] += result.score
    for row in rows.values():
        row["accuracy"] = round(row["correct"] / row["tasks"], 4)
        row["score"] = round(row["score"] / row["tasks"], 4)
    return list(rows.values())


def _terms(reply: str | Sequence[str]) -> list[str] | None:
    """Return the terms of a reply: those of the last JSON list of strings in it."""
    if not isinstance(reply, str):
        return [str(term) for term in reply]
    reply = reply[-LAST:]
    for match in list(re.finditer(r"\[", reply))[: -LISTS - 1 : -1]:
        try:
            terms, _ = json.JSONDecoder().raw_decode(reply[match.start() :])
        except (ValueError, RecursionError):
            continue
        if isinstance(terms, list) and all(isinstance(term, str) for term in terms):
            return terms
    return None


def _folded(term: str) -> str:
    return _folded_short(term) if len(term) <= SHORT else _folded_anew(term)


def _folded_anew(term: str) -> str:
    try:
        return str(Move(term)).lower()
    except InvalidMoveError:
        return " ".join(term.split()).lower()


# Terms of a game recur; long ones, which could fill the memory, are not cached.
_folded_short = lru_cache(maxsize=20_000)(_folded_anew)
