"""Alpha-beta with a heuristic value learned from the rules."""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING

from herbrand.errors import HerbrandError
from herbrand.play.explanation import PlayerReport
from herbrand.play.relay import RelayPlayer
from herbrand.play.team import MARGIN, PATIENCE, Team, cores

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from herbrand.game import Game
    from herbrand.machine.moves import Move
    from herbrand.machine.state import State
    from herbrand.play.minimax.engine import AlphaBetaEngine
    from herbrand.play.minimax.learning import Lesson
    from herbrand.play.relay import Choice

__all__ = ["AlphaBetaPlayer"]

_THREADS = 2
_NOT_YET = "there is no network yet"
_LESSON = 20.0
"""Seconds for learning, at most."""


class AlphaBetaPlayer(RelayPlayer):
    """Looks ahead step by step, as deep as there is time for; values what it sees by what it learned before.

    For games in which one role moves at a time without chance and hidden information; in others, and
    while there is no network, `mcts` chooses.  `memory` is how many megabytes the table of positions
    takes, `nodes` how many positions are opened for a move at most (None: as many as there is time for),
    `threads` how many look at the same time (None: two if there are so many processors).  Without
    `learning` all positions are valued alike until the end is in sight.  With `novelty`, moves that make
    something true that was not so before in the match are looked at first among equals, and learned values
    count how rare what is true was in random games.
    """

    name = "alphabeta"

    def __init__(
        self,
        seed: int | None = None,
        *,
        memory: float = 128.0,
        nodes: int | None = None,
        threads: int | None = None,
        learning: bool = True,
        novelty: bool = True,
    ) -> None:
        super().__init__(seed, memory=memory)
        self.nodes = nodes
        self.threads = min(_THREADS, cores()) if threads is None else threads
        self.learning = learning
        self.novelty = novelty
        self.lesson: Lesson | None = None
        """What it learned about the game."""
        self._engines: list[AlphaBetaEngine] = []
        self._team = Team()
        self._why = ""

    # -- getting ready --------------------------------------------------------------------

    def prepare(self, deadline: float) -> None:
        """Build the network and learn; let another player prepare where this one cannot play."""
        game = self.game
        if game.has_percepts or game.chance_role is not None:
            self.forget()
            self._why = "the rules hide something" if game.has_percepts else "chance takes part"
            self.hand_over(max(0.0, deadline - time.monotonic()))
            return
        super().prepare(deadline)

    def forget(self) -> None:
        """Let go of the table and of what was learned."""
        super().forget()
        self._engines, self.lesson = [], None
        self._why = _NOT_YET

    def study(self, game: Game, role: int, seconds: float) -> Iterator[Callable[[], None]]:
        """Build what is needed, then learn."""
        started = time.monotonic()
        seed = self.chance.getrandbits(32)
        try:
            yield partial(self._keep, self._made(game, role, None), None)
            if not self.learning:
                return
            from herbrand.play.minimax.learning import learn

            left = seconds - (time.monotonic() - started)
            until = time.monotonic() + min(_LESSON, max(1.0, left - 0.5))
            lesson = learn(game.expander, role, seed=seed, deadline=until, novelty=self.novelty)
            if lesson.features:
                yield partial(self._keep, self._made(game, role, lesson), lesson)
        except (HerbrandError, MemoryError) as error:
            yield partial(setattr, self, "_why", f"there is no network: {error}")

    def _keep(self, engines: list[AlphaBetaEngine], lesson: Lesson | None) -> None:
        self.lesson = lesson
        self._engines = engines

    def _made(self, game: Game, role: int, lesson: Lesson | None) -> list[AlphaBetaEngine]:
        """Return searches that share a table, one for each thread; all that choosing needs is imported."""
        import herbrand.play.search.reading  # noqa: F401
        from herbrand.play.minimax.engine import AlphaBetaEngine

        judge = None if lesson is None else lesson.judge
        first = AlphaBetaEngine(
            game.network, role, memory=int(self.memory * 1e6), judge=judge, novelty=self.novelty
        )
        first.table.touch()
        return [
            first,
            *(
                AlphaBetaEngine(
                    game.network, role, judge=judge, table=first.table, ahead=1, novelty=self.novelty
                )
                for _ in range(1, self.threads)
            ),
        ]

    # -- choosing -------------------------------------------------------------------------

    def choose(self, state: State, moves: list[Move]) -> Choice | None:
        """Search until the clock runs out, or the value is proved."""
        engines = self._entered(state, max(PATIENCE, min(1.0, 0.5 * (self.deadline - self.asked))))
        if not engines:
            return None
        works = [self._work(engine) for engine in engines]
        self._team.think(works, [engine.stop for engine in engines], self.may_go_on, self.deadline - MARGIN)
        return self._chosen(engines, moves)

    def consider(self, state: State, seconds: float) -> Move:
        """Search in this thread alone, for so much processor time; `HerbrandError` where it cannot."""
        until = time.thread_time() + seconds
        engines = self._entered(state, PATIENCE)[:1]
        if not engines:
            raise HerbrandError(self._why)
        engines[0].stop.clear()
        while time.thread_time() < until and not engines[0].is_done:
            engines[0].slice()
        found = self._chosen(engines, self.options(state))
        return self.options(state)[0] if found is None else found[0]

    def _entered(self, state: State, seconds: float) -> list[AlphaBetaEngine]:
        """Return the searches, at the state, in so many seconds; none if they cannot search it."""
        engines = self._engines
        if not engines or not self._team.end(seconds):
            return []
        from herbrand.play.search.reading import packed

        try:
            root = packed(engines[0].expander, state)
        except HerbrandError as error:
            self._why = str(error)
            return []
        for engine in engines:
            engine.move_to(root)
        if engines[0].chooser != engines[0].role:
            self._why = "several roles choose at the same time"
            return []
        return engines

    def _work(self, engine: AlphaBetaEngine) -> Callable[[], bool]:
        """Return what a thread does."""

        def work() -> bool:
            while not engine.stop.is_set and not engine.is_done and not engine.is_simultaneous:
                if self.nodes is not None and engine.nodes >= self.nodes:
                    return True
                engine.slice()
            return engine.is_done or engine.is_simultaneous

        return work

    def _chosen(self, engines: list[AlphaBetaEngine], moves: list[Move]) -> Choice | None:
        """Return the move of the search that looked deepest."""
        if any(engine.is_simultaneous for engine in engines):
            self._why = "several roles choose at the same time"
            self._engines = []
            return None
        best = max(engines, key=lambda engine: (engine.is_solved, engine.depth))
        by_text = {str(move).lower(): move for move in moves}
        move = by_text.get(best.move_text(best.choice).lower()) if best.choice >= 0 else None
        if move is None:
            return self.chance.choice(moves), lambda: None
        seconds = max(0.0, time.monotonic() - self.asked)
        nodes = sum(engine.nodes for engine in engines)
        notes = [f"looked {best.depth} steps ahead, opened {nodes} positions in {seconds:.2f} s"]
        lesson = self.lesson
        if lesson is not None:
            notes.append(
                f"values positions by {lesson.features} conditions of the rules, "
                f"learned from {lesson.games} random games"
            )
        role = self.role
        return move, lambda: PlayerReport(  # in large games following the line takes longer than a clock
            self.name, role, tuple(best.reports()), seconds, nodes, notes=tuple(notes)
        )

    def note(self) -> str:
        """Say why it does not choose."""
        return self._why
