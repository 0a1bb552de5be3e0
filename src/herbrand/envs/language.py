"""Questions about games for language models, with exact answers and a grader.

A *task* is a JSON object: rules and a state as text, a question, and the answer that the rules give, a list
of KIF terms.  There are three kinds: `legal` asks for the legal moves of a role, `next` for the facts after
a joint move, `steps` for the facts after several joint moves from the initial state.  The same game, seed and
options give the same tasks.  Scrambled rules (`herbrand.convert.scramble`) are the same game under names that
say nothing.

    >>> import herbrand
    >>> task = make_tasks(herbrand.load("nim"), kinds=("legal",), count=1, seed=3)[0]
    >>> task["id"], task["role"], task["answer"][:2]
    ('nim-legal-3-0', 'second', ['(take a 1)', '(take a 2)'])
    >>> grade(task, 'I would say: ["(take a 1)"]').correct
    False
"""

from __future__ import annotations

import json
import random
import re
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final

from herbrand.errors import GameError, InvalidMoveError
from herbrand.machine.moves import Move
from herbrand.machine.trajectory import Trajectory

if TYPE_CHECKING:
    from collections.abc import Sequence

    from herbrand.game import Game
    from herbrand.machine.state import State

__all__ = ["KINDS", "Grade", "grade", "make_tasks", "summary"]

KINDS: Final = ("legal", "next", "steps")
LONGEST_WALK: Final = 200

_ASK: Final = "Answer with a JSON list of strings, one for each, as terms in KIF, and nothing else."
_QUESTION: Final = {
    "legal": "Which moves are legal for {role} in this state? " + _ASK,
    "next": "Which facts are true after this joint move? " + _ASK,
    "steps": "The game begins in its initial state, and these joint moves are made one after the other. "
    "Which facts are true then? " + _ASK,
}


@dataclass(frozen=True, slots=True)
class Grade:
    """How good a reply is."""

    id: str
    correct: bool
    """Exactly the right terms, in any order."""
    precision: float
    """The share of the terms given that are right; 1 if none were given."""
    recall: float
    """The share of the right terms that were given; 1 if there are none."""
    missing: tuple[str, ...]
    extra: tuple[str, ...]
    unreadable: bool
    """No list was found in the reply; it counts as an empty one that is wrong."""

    def as_json(self) -> dict[str, Any]:
        """Return it as a JSON object."""
        return asdict(self)


def make_tasks(
    game: Game,
    *,
    kinds: Sequence[str] = KINDS,
    count: int = 10,
    seed: int = 0,
    steps: int = 3,
    scrambled: bool = False,
    rules: bool = True,
) -> list[dict[str, Any]]:
    """Return `count` tasks of each kind about one game.

    States come from random games.  `steps` is how many joint moves a task of the kind `steps` has at most.
    `rules=False` leaves the rules out of the prompt, which then asks for what was learnt elsewhere.
    Raises `GameError` for a game with errors, or whose initial state is terminal.
    """
    unknown = [kind for kind in kinds if kind not in KINDS]
    if unknown:
        raise ValueError(f"no kind of task `{unknown[0]}` (kinds: {', '.join(KINDS)})")
    if count < 1 or steps < 1:
        raise ValueError("count and steps are 1 or more")
    name, text = game.name, ""
    if scrambled:
        from herbrand.convert.scramble import scramble
        from herbrand.game import loads

        game = loads(scramble(game.tree, seed).text, name=name)
    if rules:
        from herbrand.syntax.printer import print_tree

        text = print_tree(game.tree, "prefix").text
    tasks = []
    for kind in kinds:
        chance = random.Random(f"{name} {kind} {seed}")
        for number in range(count):
            task = _task(game, kind, chance, steps)
            prompt = _prompt(kind, task, text)
            tasks.append(
                {
                    "id": f"{name}-{kind}-{seed}-{number}" + ("-scrambled" if scrambled else ""),
                    "game": name,
                    "kind": kind,
                    "seed": seed,
                    "scrambled": scrambled,
                    **task,
                    "prompt": prompt,
                }
            )
    return tasks


def grade(task: dict[str, Any], reply: str | Sequence[str]) -> Grade:
    """Compare a reply, a text that holds a JSON list or the list itself, with the answer of a task.

    Terms are compared as terms: case and spaces do not matter, nor does the order.
    """
    given = _terms(reply)
    right = {_folded(term) for term in task["answer"]}
    mine = {_folded(term) for term in given or ()}
    return Grade(
        task["id"],
        given is not None and mine == right,
        len(mine & right) / len(mine) if mine else 1.0,
        len(mine & right) / len(right) if right else 1.0,
        tuple(sorted(right - mine)),
        tuple(sorted(mine - right)),
        given is None,
    )


def summary(tasks: Sequence[dict[str, Any]], grades: Sequence[Grade]) -> list[dict[str, Any]]:
    """Return for each game and kind how many tasks there were and how many replies were right."""
    by_id = {one.id: one for one in grades}
    rows: dict[tuple[str, str, bool], dict[str, Any]] = {}
    for task in tasks:
        key = task["game"], task["kind"], task["scrambled"]
        row = rows.setdefault(
            key,
            {"game": key[0], "kind": key[1], "scrambled": key[2], "tasks": 0, "replies": 0, "correct": 0},
        )
        row["tasks"] += 1
        result = by_id.get(task["id"])
        row["replies"] += result is not None
        row["correct"] += result is not None and result.correct
    return [{**row, "accuracy": round(row["correct"] / row["tasks"], 4)} for row in rows.values()]


def _task(game: Game, kind: str, chance: random.Random, steps: int) -> dict[str, Any]:
    """The state, the moves and the answer of one task."""
    start = game.initial_state("rules")
    if start.is_terminal:
        raise GameError("the initial state is terminal: there is nothing to ask")
    if kind == "steps":
        play = Trajectory(start)
        play.finish(chance, max_steps=chance.randint(min(2, steps), steps))
        return {
            "roles": list(game.roles),
            "state": sorted(start.facts),
            "moves": [list(joint) for joint in play.joint_moves],
            "answer": sorted(play.state.facts),
        }
    state = _somewhere(start, chance)
    if kind == "legal":
        role = chance.choice(game.players or game.roles)
        answer = [str(move) for move in state.legal_moves(role)]
        return {"roles": list(game.roles), "state": sorted(state.facts), "role": role, "answer": answer}
    joint = [str(move) for move in state.random_joint_move(chance).values()]
    return {
        "roles": list(game.roles),
        "state": sorted(state.facts),
        "moves": [joint],
        "answer": sorted(state.next(joint).facts),
    }


def _somewhere(start: State, chance: random.Random) -> State:
    """A state of a random game that is not over, all of its steps equally likely."""
    start.require_moves()
    play = Trajectory(start)
    play.finish(chance, max_steps=LONGEST_WALK - 1)
    if play.state.is_terminal or not all(play.state.legal_moves().values()):
        play.take_back(len(play) - 1)
    return chance.choice(play.states)


def _prompt(kind: str, task: dict[str, Any], rules: str) -> str:
    """What a model is asked."""
    parts = []
    if rules:
        parts.append("These are the rules of a game in the Game Description Language:\n\n" + rules.rstrip())
    parts.append("The roles, in the order of joint moves: " + ", ".join(task["roles"]))
    if kind != "steps":
        parts.append("The facts that are true:\n\n" + "\n".join(task["state"]))
    parts += ["A joint move: " + ", ".join(moves) for moves in task.get("moves", ())]
    return "\n\n".join([*parts, _QUESTION[kind].format(role=task.get("role"))]) + "\n"


def _terms(reply: str | Sequence[str]) -> list[str] | None:
    """The terms of a reply: those of the last JSON list of strings in it."""
    if not isinstance(reply, str):
        return [str(term) for term in reply]
    for match in reversed(list(re.finditer(r"\[", reply))):
        try:
            terms, _ = json.JSONDecoder().raw_decode(reply[match.start() :])
        except ValueError:
            continue
        if isinstance(terms, list) and all(isinstance(term, str) for term in terms):
            return terms
    return None


def _folded(term: str) -> str:
    try:
        return str(Move(term)).lower()
    except InvalidMoveError:
        return " ".join(term.split()).lower()
