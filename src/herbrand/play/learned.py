"""`LearnedPlayer`: plays by what `herbrand train` wrote to a file."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from herbrand.errors import HerbrandError
from herbrand.play.alphabeta import AlphaBetaPlayer
from herbrand.play.fallback import FallbackPlayer
from herbrand.play.mcts import MctsPlayer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from herbrand.game import Game
    from herbrand.machine.moves import Move
    from herbrand.machine.state import State
    from herbrand.play.fallback import Choice
    from herbrand.play.learning import LearnedJudge
    from herbrand.play.policy import MixedPolicy

__all__ = ["LearnedPlayer"]


class LearnedPlayer(AlphaBetaPlayer):
    """Plays by what `herbrand train` wrote to a file: values for alpha-beta search, or strategies.

    `file` is that file, or a folder with such files, of which the one for the rules is taken; without one it
    plays as `alphabeta` does.  Values of positions are searched with by
    iterative-deepening alpha-beta, unless `mcts` was better in quick games after the training, which then
    chooses; `memory`, `nodes`, `threads` and `ponder` are those of `alphabeta`.  With
    strategies for hidden information or chance it draws moves by their probabilities, given its own moves and
    percepts; where the file has none, `ismcts` chooses, or `mcts` where nothing is hidden.  A file that is
    damaged or for other rules raises `HerbrandError` when the match starts.
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
        self._path: str | None = None
        """The file for the rules of the match."""
        self._refusal: HerbrandError | None = None
        self._policy: MixedPolicy | None = None
        self._searches_trees = False
        """Whether tree search plays better than the values of the file."""

    def prepare(self, deadline: float) -> None:
        """Read the file and prepare to play by it; `HerbrandError` if it is not for the game."""
        from herbrand.play.training.archive import file_for

        self._refusal = None
        self._path = None if self.file is None else file_for(self.file, self.game)
        if self._path is None:
            super().prepare(deadline)
            return
        FallbackPlayer.prepare(self, deadline)
        if self._refusal is not None:
            raise self._refusal
        if self._searches_trees:
            self.start_fallback(deadline - time.monotonic())

    def forget(self) -> None:
        """Release what was read."""
        super().forget()
        self._policy, self._searches_trees = None, False

    def choose(self, state: State, moves: list[Move]) -> Choice | None:
        """Draw a move by the strategies of the file, or search with its values."""
        if self._policy is None:
            return super().choose(state, moves)
        return self._policy.choose(self, self.name, self._history, state, moves)

    def study(self, game: Game, role: int, seconds: float) -> Iterator[dict[str, Any]]:
        """Read the file, and build searches if it has values; without a file learn as `alphabeta` does."""
        if self._path is None:
            yield from super().study(game, role, seconds)
            return
        from herbrand.play.training.file import read_model
        from herbrand.play.training.policy_file import holds_policy, read_policy

        try:
            if holds_policy(self._path, game):
                from herbrand.play.policy import MixedPolicy

                strategy, exploitability = read_policy(self._path, game)
                policy = MixedPolicy(strategy, f"the strategies of {self._path}", exploitability)
                reason = f"{self._path} has no probabilities for this information set"
                yield {"_policy": policy, "_reason": reason}
                return
            model = read_model(self._path, game)
            if model is None:
                reason = (
                    f"in quick games after training tree search was better than the values of {self._path}"
                )
                yield {"_searches_trees": True, "_reason": reason}
                return
            learned = model.learned(role)
            yield {"learned": learned, "_engines": self._build_engines(game, role, learned)}
        except MemoryError:
            yield {"_reason": "no network: no memory"}
        except HerbrandError as error:
            self._refusal = error
            yield {"_reason": str(error)}

    def consider(self, state: State, seconds: float) -> Move:
        """Search in this thread for `seconds` of processor time, as `alphabeta` or `mcts` does."""
        if self._searches_trees and isinstance(self._deputy, MctsPlayer):
            return self._deputy.consider(state, seconds)
        return super().consider(state, seconds)

    def judge_note(self, learned: LearnedJudge) -> str:
        """Return what positions are evaluated by."""
        if self._path is None:
            return super().judge_note(learned)
        return (
            f"evaluates positions by {learned.features} conditions of the rules, as {self._path} has learned"
        )
