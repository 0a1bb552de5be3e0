"""Draw tasks about a game, and write their prompts."""

from __future__ import annotations

import random
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from herbrand.envs.language.kinds import KINDS, QUICK_KINDS
from herbrand.errors import BudgetExceeded, GameError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from herbrand.envs.language.kinds import Kind
    from herbrand.game import Game

__all__ = ["make_tasks"]

MANY: Final = 50
"""From so many tasks of a kind on, a network is worth building."""
BUILDING: Final = 10.0
"""Seconds for that, at most."""


def make_tasks(
    game: Game,
    *,
    kinds: Sequence[str] = QUICK_KINDS,
    count: int = 10,
    seed: int = 0,
    steps: int = 3,
    horizons: Sequence[int] = (),
    scrambled: bool = False,
    rules: bool = True,
    unfit: Callable[[str, GameError], None] | None = None,
) -> list[dict[str, Any]]:
    """Return `count` tasks of each kind about one game.

    States come from random games.  `steps` is how many joint moves a task of the kinds `steps`, `win` and
    `knows` has at most; with `horizons`, there are `count` tasks of the kind `steps` for each of these.
    `rules=False` leaves the rules out of the prompt, which then asks for what was learnt elsewhere.
    `unfit(kind, error)` is called for a kind that the game does not fit, such as any for a game that is over
    at once; without it, that raises `GameError`.
    """
    unknown = [kind for kind in kinds if kind not in KINDS]
    if unknown:
        raise ValueError(f"no kind of task `{unknown[0]}` (kinds: {', '.join(KINDS)})")
    if min(count, steps, *horizons) < 1:
        raise ValueError("count, steps and horizons are 1 or more")
    name, text = game.name, ""
    if scrambled:
        from herbrand.convert.scramble import scramble
        from herbrand.game import loads

        game = loads(scramble(game.tree, seed).text, name=name)
    if rules:
        from herbrand.syntax.printer import print_tree

        text = print_tree(game.tree, "prefix").text
    if count >= MANY:
        with suppress(BudgetExceeded):
            game.network_within(BUILDING)
    tasks = []
    of_each: list[tuple[str, str, int | None]] = []
    for kind in kinds:
        if kind == "steps" and horizons:
            of_each += [(kind, f"{kind}{horizon}", horizon) for horizon in horizons]
        else:
            of_each.append((kind, kind, None))
    for kind, label, horizon in of_each:
        chance = random.Random(f"{name} {label} {seed}")
        of_this = []
        for number in range(count):
            most = horizon or (chance.randint(min(2, steps), steps) if kind == "steps" else steps)
            try:
                parts, altered = KINDS[kind].draw(game, chance, most)
            except GameError as error:
                if unfit is None:
                    raise
                unfit(kind, error)
                break
            task = {
                "id": f"{name}-{label}-{seed}-{number}" + ("-scrambled" if scrambled else ""),
                "game": name,
                "kind": kind,
                "seed": seed,
                "scrambled": scrambled,
                "roles": list(game.roles),
                **({"choice": True} if KINDS[kind].choice else {}),
                **({"rules": True} if KINDS[kind].rules else {}),
                **parts,
            }
            of_this.append({**task, "prompt": _prompt(KINDS[kind], task, altered or text)})
        else:
            tasks += of_this
    return tasks


def _prompt(kind: Kind, task: dict[str, Any], rules: str) -> str:
    """Return what a model is asked."""
    parts = []
    if not kind.shows_rules:
        return kind.question.format_map(task) + "\n"
    if rules:
        parts.append("These are the rules of a game in the Game Description Language:\n\n" + rules.rstrip())
    parts.append("The roles, in the order of joint moves: " + ", ".join(task["roles"]))
    if kind.shows_state:
        parts.append("The facts that are true:\n\n" + "\n".join(task["state"]))
    parts += ["A joint move: " + ", ".join(moves) for moves in task.get("moves", ())]
    parts += [
        f"{task['role']} made the move {move}, and saw {', '.join(percepts) or 'nothing'}"
        for move, *percepts in task.get("seen", ())
    ]
    return "\n\n".join([*parts, kind.question.format_map(task)]) + "\n"
