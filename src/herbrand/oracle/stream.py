"""An endless list of tasks about several games, any of which can be asked for by its number.

This is what the environments for training language models are made of.  Tasks are those of
`herbrand.envs.language`; games are bundled ones, rulesheets, or new ones that are composed for the purpose
and are in no training data (`EVOLVED`).
"""

from __future__ import annotations

from collections import OrderedDict
from itertools import count
from random import Random
from typing import TYPE_CHECKING, Any, Final

from herbrand.envs.language import KINDS, QUICK_KINDS, TaskMaker
from herbrand.errors import GameError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from herbrand.game import Game

__all__ = ["EVOLVED", "TaskStream", "evolved_game", "named_game"]

EVOLVED: Final = "evolved"
"""The entry among the games that stands for new ones, composed of blocks by the seed."""
FRESH: Final = 4
"""The number of tasks of each kind about one evolved game, or with the same scrambled names."""
CACHED: Final = 32
"""Games in the cache."""
TRIES: Final = 8
"""Evolved games that are tried for a kind of task that does not fit every game."""


def evolved_game(seed: int | str) -> Game:
    """Return a new game composed of blocks (`herbrand.evolve`), the same for the same seed."""
    from herbrand.evolve import random_design
    from herbrand.game import loads

    design = random_design(Random(seed))
    return loads(design.rulesheet(), "prefix", name=design.name)


def named_game(name: str, seed: int) -> Game:
    """Return a bundled game, the one of a path, or for `EVOLVED` a new one."""
    from herbrand.envs.single import load_game

    return evolved_game(seed) if name == EVOLVED else load_game(name)


class TaskStream:
    """Tasks number 0, 1, 2 and so on: the kinds in turn, then the games in turn.

        >>> stream = TaskStream(["nim", EVOLVED], kinds=["legal", "terminal"], seed=5)
        >>> [stream[number]["kind"] for number in range(4)], stream[1]["game"]
        (['legal', 'terminal', 'legal', 'terminal'], 'nim')
        >>> stream[3] == TaskStream(["nim", EVOLVED], kinds=["legal", "terminal"], seed=5)[3]
        True

    The same choices and the same number give the same task, on any machine.
    """

    def __init__(
        self,
        games: Sequence[str | Game] = (EVOLVED,),
        *,
        kinds: Sequence[str] = QUICK_KINDS,
        seed: int = 0,
        steps: int | tuple[int, int] = 3,
        scrambled: bool = False,
        rules: bool = True,
    ) -> None:
        """`games` are names of bundled games, paths, games, or `EVOLVED`.

        `steps` is the largest number of joint moves in a question of the kinds `steps`, `win` and `knows`, or
        the smallest and the largest; `scrambled` replaces names by meaningless ones; without `rules` prompts
        do not state them.  Raises `ValueError` for an unknown kind, and as `herbrand.load` does.
        """
        unknown = [kind for kind in kinds if kind not in KINDS]
        if unknown or not kinds or not games:
            raise ValueError(
                f"no kind of task `{unknown[0]}`" if unknown else "no games or no kinds of tasks"
            )
        self.kinds = tuple(kinds)
        self.seed = seed
        self._range = steps if isinstance(steps, tuple) else (1, steps)
        if not 1 <= self._range[0] <= self._range[1]:
            raise ValueError(f"steps are 1 or more, the smallest first, not {steps}")
        self._exact = isinstance(steps, tuple)
        self._options: dict[str, Any] = {"scrambled": scrambled, "rules": rules}
        self._games = [game if game == EVOLVED else _loaded(game) for game in games]
        self._makers: OrderedDict[tuple[int, int], TaskMaker] = OrderedDict()

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Yield all tasks, without end."""
        yield from map(self.__getitem__, count())

    def __getitem__(self, number: int) -> dict[str, Any]:
        """Return a task by its number; `GameError` if none of the games fits its kind."""
        if number < 0:
            raise IndexError("tasks are numbered from 0")
        rest, of_kinds = divmod(number, len(self.kinds))
        turn, place = divmod(rest, len(self._games))
        kind = self.kinds[of_kinds]
        chance = Random(f"{self.seed} {number}")
        steps = chance.randint(*self._range) if self._exact else self._range[1]
        refused: GameError | None = None
        for _ in self._games:
            for further in range(TRIES if self._games[place] == EVOLVED else 1):
                try:
                    maker = self._maker(place, turn // FRESH + further * 1_000_003)
                    horizon = steps if self._exact and kind == "steps" else None
                    return maker.make(kind, number, steps=steps, horizon=horizon, chance=chance)
                except GameError as error:
                    refused = error
            place = (place + 1) % len(self._games)
        raise GameError(f"no task of the kind {kind}: {refused}") from refused

    def _maker(self, place: int, block: int) -> TaskMaker:
        """Return the maker of tasks about the game at a place, in a block of tasks."""
        game = self._games[place]
        if game != EVOLVED and not self._options["scrambled"]:
            block = 0
        maker = self._makers.get((place, block))
        if maker is None:
            seed = Random(f"{self.seed} {place} {block}").getrandbits(31) if block else self.seed
            loaded = evolved_game(f"{self.seed} {place} {block}") if isinstance(game, str) else game
            maker = self._makers[place, block] = TaskMaker(loaded, seed=seed, **self._options)
            while len(self._makers) > max(CACHED, len(self._games)):
                self._makers.popitem(last=False)
        return maker


def _loaded(game: str | Game) -> Game:
    from herbrand.envs.single import load_game

    loaded = load_game(game)
    loaded.require_playable()
    return loaded
