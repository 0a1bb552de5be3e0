"""`LearnedPlayer`: alpha-beta search with values that self-play taught."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from herbrand.errors import HerbrandError
from herbrand.play.alphabeta import AlphaBetaPlayer
from herbrand.play.learning import LearnedJudge

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from herbrand.game import Game

__all__ = ["LearnedPlayer"]


class LearnedPlayer(AlphaBetaPlayer):
    """Iterative-deepening alpha-beta with the values that `herbrand train` wrote to a file.

    `file` is that file; without one it plays as `alphabeta` does.  `memory`, `nodes`, `threads` and `ponder`
    are those of `alphabeta`.  A file that is damaged or for other rules raises `HerbrandError` when the match
    starts.
    """

    name = "learned"

    def __init__(
        self,
        seed: int | None = None,
        *,
        file: str | None = None,
        memory: float = 128.0,
        nodes: int | None = None,
        threads: int | None = None,
        ponder: bool = False,
    ) -> None:
        super().__init__(seed, memory=memory, nodes=nodes, threads=threads, ponder=ponder)
        self.file = file
        self._refusal: HerbrandError | None = None

    def prepare(self, deadline: float) -> None:
        """Read the file and build the searches; `HerbrandError` if the file is not for the game."""
        self._refusal = None
        if self.file is not None and (self.game.has_percepts or self.game.chance_role is not None):
            from herbrand.play.training.trainer import require_suitable

            require_suitable(self.game)
        super().prepare(deadline)
        if self._refusal is not None:
            raise self._refusal

    def study(self, game: Game, role: int, seconds: float) -> Iterator[Callable[[], None]]:
        """Build the searches with the values of the file, or learn as `alphabeta` does."""
        if self.file is None:
            yield from super().study(game, role, seconds)
            return
        from herbrand.play.training.file import read_model

        try:
            model = read_model(self.file, game)
            learned = LearnedJudge(model.judge(role), 0, len(model.literals), 0.0, 0.0)
            yield partial(self._store, self._build_engines(game, role, learned), learned)
        except MemoryError:
            yield partial(setattr, self, "_fallback_reason", "no network: no memory")
        except HerbrandError as error:
            self._refusal = error
            yield partial(setattr, self, "_fallback_reason", str(error))

    def judge_note(self, learned: LearnedJudge) -> str:
        """Return what positions are evaluated by."""
        if self.file is None:
            return super().judge_note(learned)
        return (
            f"evaluates positions by {learned.features} conditions of the rules, as {self.file} has learned"
        )
