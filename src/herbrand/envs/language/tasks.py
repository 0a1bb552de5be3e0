"""Draw tasks about a game, and write their prompts."""

from __future__ import annotations

import random
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from herbrand.envs.language.grading import share
from herbrand.envs.language.kinds import KINDS, QUICK_KINDS, start_of
from herbrand.errors import BudgetExceeded, GameError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from collections.abc import Set as AbstractSet

    from herbrand.envs.language.kinds import Kind
    from herbrand.game import Game

__all__ = ["TaskMaker", "make_tasks"]

MANY: Final = 50
"""The number of tasks of a kind from which a network is worth building."""
BUILDING: Final = 10.0
"""Seconds for that, at most."""


class TaskMaker:
    """Draws tasks about one game.

    The same game, seed and choices give the same tasks on every machine.
    """

    def __init__(self, game: Game, *, seed: int = 0, scrambled: bool = False, rules: bool = True) -> None:
        """`rules=False` leaves the rules out of the prompts, which then ask for what was learnt elsewhere."""
        from herbrand.syntax.printer import print_tree

        self.name = game.name
        self.seed = seed
        self.scrambled = scrambled
        if scrambled:
            from herbrand.convert.scramble import scramble
            from herbrand.game import loads

            game = loads(scramble(game.tree, seed).text, name=self.name)
        self.game = game
        self._rules = print_tree(game.tree, "prefix").text if rules else ""
        self._task_count = 0

    def prepare(self) -> None:
        """Build the network of the game, if that does not take long: many tasks are faster with it."""
        self._task_count = MANY
        with suppress(BudgetExceeded):
            self.game.network_within(BUILDING)

    def make(
        self,
        kind: str,
        number: int | str,
        *,
        steps: int = 3,
        horizon: int | None = None,
        chance: random.Random | None = None,
    ) -> dict[str, Any]:
        """Return one task, whose `id` ends with the number.

        `steps` is how many joint moves a task of the kinds `steps`, `win` and `knows` has at most, `horizon`
        how many a task of the kind `steps` has exactly.  Without `chance` the number determines the draws.
        Raises `GameError` if the game does not fit the kind.
        """
        if self._task_count == MANY:
            self.prepare()
        self._task_count += 1
        label = kind if horizon is None else f"{kind}{horizon}"
        chance = chance or random.Random(f"{self.name} {label} {self.seed} {number}")
        most = horizon or (chance.randint(min(2, steps), steps) if kind == "steps" else steps)
        parts, altered = KINDS[kind].draw(self.game, chance, most)
        task = {
            "id": f"{self.name}-{label}-{self.seed}-{number}" + ("-scrambled" if self.scrambled else ""),
            "game": self.name,
            "kind": kind,
            "seed": self.seed,
            "scrambled": self.scrambled,
            "roles": list(self.game.roles),
            **({"choice": True} if KINDS[kind].choice else {}),
            **({"rules": True} if KINDS[kind].rules else {}),
            **parts,
        }
        if not KINDS[kind].choice and not KINDS[kind].rules:
            task["trivial"] = self._trivial(task)
        return {**task, "prompt": _prompt(KINDS[kind], task, altered or self._rules)}

    def _trivial(self, task: dict[str, Any]) -> float:
        """Return the best score of a trivial reply, such as all moves, or the unchanged state."""
        replies: list[AbstractSet[str]]
        match task["kind"]:
            case "legal":
                replies = [self._moves.get(task["role"], frozenset())]
            case "goals":
                replies = self._goals
            case "knows":
                replies = [start_of(self.game).facts, self._base]
            case _:
                replies = [set(task["state"]), self._base]
        right = set(task["answer"])
        return max((share(reply, right) for reply in replies if reply != right), default=0.0)

    @cached_property
    def _moves(self) -> dict[str, frozenset[str]]:
        """All moves of each role."""
        with suppress(BudgetExceeded):
            return {role: frozenset(map(str, moves)) for role, moves in self.game.inputs.items()}
        return {}

    @cached_property
    def _goals(self) -> list[AbstractSet[str]]:
        """All goals of all players, and of all roles, which may include chance."""
        return [
            frozenset(f"(goal {role} {value})" for role in roles for value in range(101))
            for roles in (self.game.players, self.game.roles)
        ]

    @cached_property
    def _base(self) -> frozenset[str]:
        """All facts that may be true."""
        with suppress(BudgetExceeded):
            return frozenset(self.game.base)
        return frozenset()


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

    States come from random games.  With `horizons`, there are `count` tasks of the kind `steps` for each of
    these; the other choices are those of `TaskMaker`.  `unfit(kind, error)` is called for a kind that the
    game does not fit, such as any for a game that is over at once; without it, that raises `GameError`.
    """
    unknown = [kind for kind in kinds if kind not in KINDS]
    if unknown:
        raise ValueError(f"no kind of task `{unknown[0]}` (kinds: {', '.join(KINDS)})")
    if min(count, steps, *horizons) < 1:
        raise ValueError("count, steps and horizons are 1 or more")
    maker = TaskMaker(game, seed=seed, scrambled=scrambled, rules=rules)
    if count >= MANY:
        maker.prepare()
    tasks = []
    of_each: list[tuple[str, int | None]] = []
    for kind in kinds:
        of_each += [(kind, horizon) for horizon in (horizons if kind == "steps" and horizons else (None,))]
    for kind, horizon in of_each:
        chance = random.Random(f"{maker.name} {kind}{horizon or ''} {seed}")
        try:
            tasks += [
                maker.make(kind, number, steps=steps, horizon=horizon, chance=chance)
                for number in range(count)
            ]
        except GameError as error:
            if unfit is None:
                raise
            unfit(kind, error)
    return tasks


def _prompt(kind: Kind, task: dict[str, Any], rules: str) -> str:
    """Return the prompt of a task."""
    if not kind.shows_rules:
        return kind.question.format_map(task) + "\n"
    parts = []
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
