"""Alpha-beta search with an evaluation function learned from the rules."""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING, Any

from herbrand.errors import HerbrandError
from herbrand.play.explanation import MoveReport, PlayerReport
from herbrand.play.fallback import FallbackPlayer
from herbrand.play.threads import (
    CLOCK_MARGIN,
    JOIN_TIMEOUT,
    SEARCH_THREADS,
    ThreadTeam,
    available_cores,
    join_seconds,
    ponder_seconds,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from herbrand.analyse.solving.minimax.search import AlphaBetaSearch
    from herbrand.game import Game
    from herbrand.machine.moves import Move
    from herbrand.machine.state import State
    from herbrand.play.fallback import Choice
    from herbrand.play.learning import LearnedJudge

__all__ = ["AlphaBetaPlayer", "move_reports"]

_NOT_YET = "the network is not ready yet"
_SIMULTANEOUS = "several roles choose at the same time"
_LEARNING_SECONDS = 20.0
"""Seconds for learning from random games, at most."""
_LEARNING_SHARE = 0.8
"""Share of the time for learning; the rest is for building the searches."""
_MIN_SELF_PLAY_SECONDS = 2.0
"""Seconds of a start clock that must be left to learn by self-play."""


class AlphaBetaPlayer(FallbackPlayer):
    """Iterative-deepening alpha-beta with an evaluation function learned before the first move.

    For games with alternating moves, without chance and hidden information; in others, and while the network
    is not ready, `mcts` chooses.  `memory` is the size of the transposition table in megabytes, `nodes` the
    maximum of positions searched for a move (None: limited by the clock), `threads` the number of search
    threads sharing the table (None: two, if there are two processors).  Without `learning` only terminal
    states have a value; with `self_play` (None: as `ponder`) learning goes on by self-play for the rest of
    the start clock.  With `novelty`, ties in move ordering go to moves that make a fluent true for the first
    time in the match, and rare fluents are features of the evaluation function.  With `threats`, so are
    fluents that are missing for the end of the game, where they explain clearly more.  With `ponder`, the
    state that is expected next is searched while others think, into the table that later searches use.
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
        self_play: bool | None = None,
        novelty: bool = True,
        threats: bool = True,
        ponder: bool = False,
    ) -> None:
        super().__init__(seed, memory=memory, ponder=ponder)
        self.nodes = nodes
        self.threads = min(SEARCH_THREADS, available_cores()) if threads is None else threads
        self.learning = learning
        self.self_play = ponder if self_play is None else self_play
        self.novelty = novelty
        self.threats = threats
        self.learned: LearnedJudge | None = None
        """The learned evaluation function; None without one."""
        self._engines: list[AlphaBetaSearch] = []
        self._team = ThreadTeam()

    # -- preparation ----------------------------------------------------------------------

    def prepare(self, deadline: float) -> None:
        """Build the network and learn; prepare the fallback for games that alpha-beta cannot play."""
        game = self.game
        if game.has_percepts or game.chance_role is not None:
            self.forget()
            self._reason = "hidden information" if game.has_percepts else "the game has chance moves"
            self.start_fallback(deadline - time.monotonic())
            return
        super().prepare(deadline)
        if self.self_play:
            self.improve(deadline)

    def improve(self, deadline: float) -> None:
        """Improve the evaluation function by self-play until `deadline`, if it is learned by now."""
        if self.learned is None or not self.finished.is_set():
            return
        work = partial(self._keep_results, self.finished, self._learn_by_self_play(self.learned, deadline))
        self.run_in_background(work, deadline - 0.01)

    def use(self, learned: LearnedJudge) -> None:
        """Search with this evaluation function from now on; `HerbrandError` without a network."""
        role = self.game.role_index(self.role)
        self._engines, self.learned = self._build_engines(self.game, role, learned), learned

    def forget(self) -> None:
        """Release the transposition table and the evaluation function."""
        super().forget()
        self._engines, self.learned = [], None
        self._reason = _NOT_YET

    def study(self, game: Game, role: int, seconds: float) -> Iterator[dict[str, Any]]:
        """Build the searches without an evaluation function, then learn one and build them again."""
        started = time.monotonic()
        seed = self.chance.getrandbits(32)
        try:
            yield {"learned": None, "_engines": self._build_engines(game, role, None)}
            if not self.learning:
                return
            from herbrand.play.learning import learn_judge

            left = seconds - (time.monotonic() - started)
            share = max(1.0, min(left - 0.5, _LEARNING_SHARE * left))
            until = time.monotonic() + min(_LEARNING_SECONDS, share)
            learned = learn_judge(
                game.expander, role, seed=seed, deadline=until, novelty=self.novelty, threats=self.threats
            )
            if learned.features:
                yield {"learned": learned, "_engines": self._build_engines(game, role, learned)}
        except (HerbrandError, MemoryError) as error:
            yield {"_reason": f"no network: {error}"}

    def _learn_by_self_play(self, learned: LearnedJudge, deadline: float) -> Iterator[dict[str, Any]]:
        """Build the searches again with better values, if self-play finds any."""
        left = deadline - time.monotonic()
        if left < _MIN_SELF_PLAY_SECONDS:
            return
        from herbrand.play.training.quick import improve_judge

        game, role = self.game, self.game.role_index(self.role)
        seed = self.chance.getrandbits(32)
        try:
            better = improve_judge(game, role, learned, seed=seed, seconds=left, stopped=lambda: self.stopped)
            if better is not None:
                yield {"learned": better, "_engines": self._build_engines(game, role, better)}
        except (HerbrandError, MemoryError):
            pass  # the values that it has remain

    def _build_engines(self, game: Game, role: int, learned: LearnedJudge | None) -> list[AlphaBetaSearch]:
        """Return one search for each thread, all sharing a table; imports what `choose` needs."""
        import herbrand.play.search.results  # noqa: F401
        from herbrand.analyse.solving.minimax.search import AlphaBetaSearch
        from herbrand.play.threats import with_gates

        judge = None if learned is None else learned.judge
        network = game.network if learned is None else with_gates(game.network, learned.gates)
        search = partial(AlphaBetaSearch, network, role, judge=judge, novelty=self.novelty)
        first = search(memory=int(self.memory * 1e6))
        first.table.touch()
        return [first, *(search(table=first.table, ahead=1) for _ in range(1, self.threads))]

    # -- selecting a move -----------------------------------------------------------------

    def choose(self, state: State, moves: list[Move]) -> Choice | None:
        """Search until the clock runs out, or the value is proved."""
        engines = self._engines_at(state, join_seconds(self.deadline - self.started))
        if not engines:
            return None
        tasks = [self._search_task(engine) for engine in engines]
        stops = [engine.stop for engine in engines]
        end = self.deadline - (2 if self.ponder else 1) * CLOCK_MARGIN
        self._team.run_until(end, tasks, stops, self)
        return self._best_choice(engines, moves)

    def ponder_at(self, state: State, play_clock: float) -> None:
        """Search the state in which this role will choose next, if the others make the moves expected now."""
        engines = self._engines
        if not engines:
            super().ponder_at(state, play_clock)
            return
        if not self._team.stop_and_join(join_seconds(play_clock)):
            return
        from herbrand.play.search.results import pack_state

        try:
            root = engines[0].expected_turn(pack_state(engines[0].expander, state))
        except HerbrandError:
            return
        if root is None:
            return
        for engine in engines:
            engine.move_to(root)
        end = time.monotonic() + ponder_seconds(play_clock)

        def search(engine: AlphaBetaSearch) -> bool:
            while time.monotonic() < end and not (self.stopped or engine.stop.is_set or engine.is_done):
                engine.slice()
            return True

        self._team.start([partial(search, engine) for engine in engines], [engine.stop for engine in engines])

    def stop(self) -> None:
        """End the match and all threads."""
        self._team.request_stop()
        super().stop()
        self._team.request_stop()

    def consider(self, state: State, seconds: float) -> Move:
        """Search in this thread for `seconds` of processor time; `HerbrandError` if it cannot."""
        until = time.thread_time() + seconds
        engines = self._engines_at(state, JOIN_TIMEOUT)[:1]
        if not engines:
            raise HerbrandError(self._reason)
        engines[0].stop.clear()
        while time.thread_time() < until and not engines[0].is_done:
            engines[0].slice()
        choice = self._best_choice(engines, self.options(state))
        return self.options(state)[0] if choice is None else choice[0]

    def _engines_at(self, state: State, timeout: float) -> list[AlphaBetaSearch]:
        """Return the searches with the state as root; none if they cannot search it.

        Waits up to `timeout` seconds for threads of the previous move.
        """
        engines = self._engines
        if not engines or not self._team.stop_and_join(timeout):
            return []
        from herbrand.play.search.results import pack_state

        try:
            root = pack_state(engines[0].expander, state)
        except HerbrandError as error:
            self._reason = str(error)
            return []
        for engine in engines:
            engine.move_to(root)
        if engines[0].chooser != engines[0].role:
            self._reason = _SIMULTANEOUS
            return []
        return engines

    def _search_task(self, engine: AlphaBetaSearch) -> Callable[[], bool]:
        def search() -> bool:
            while not engine.stop.is_set and not engine.is_done and not engine.is_simultaneous:
                if self.nodes is not None and engine.nodes >= self.nodes:
                    return True
                engine.slice()
            return engine.is_done or engine.is_simultaneous

        return search

    def _best_choice(self, engines: list[AlphaBetaSearch], moves: list[Move]) -> Choice | None:
        """Return the move of the search that reached the greatest depth."""
        if any(engine.is_simultaneous for engine in engines):
            self._reason = _SIMULTANEOUS
            self._engines = []
            return None
        best = max(engines, key=lambda engine: (engine.is_solved, engine.depth))
        by_text = {str(move).lower(): move for move in moves}
        move = by_text.get(best.move_text(best.choice).lower()) if best.choice >= 0 else None
        if move is None:
            return self.chance.choice(moves), lambda: None
        seconds = max(0.0, time.monotonic() - self.started)
        nodes = sum(engine.nodes for engine in engines)
        notes = [f"searched to depth {best.depth}, {nodes} positions in {seconds:.2f} s"]
        if self.learned is not None:
            notes.append(self.judge_note(self.learned))
        role = self.role
        # the report is made later: in large games following the line takes longer than a clock
        return move, lambda: PlayerReport(
            self.name, role, tuple(move_reports(best)), seconds, nodes, notes=tuple(notes)
        )

    def judge_note(self, learned: LearnedJudge) -> str:
        """Return what positions are evaluated by."""
        source = f"{learned.games} random games"
        if learned.self_played:
            source += f" and {learned.self_played} games against itself"
        return f"evaluates positions by {learned.features} conditions of the rules, learned from {source}"


def move_reports(search: AlphaBetaSearch) -> list[MoveReport]:
    """Return a report on each move at the root, best first."""
    from herbrand.analyse.solving.minimax.judge import EXACT, SCALE, UPPER
    from herbrand.analyse.solving.minimax.search import steps_to

    reports = []
    for move in search.root():
        mean = None if move.value < 0 else move.value / SCALE
        has_proof = move.proved and move.value >= 0
        goal = float(round(move.value / SCALE))
        proved = goal if has_proof and move.bound == EXACT else None
        reports.append(
            MoveReport(
                search.move_text(move.move),
                move.nodes,
                None if mean is None else min(max(mean, 0.0), 100.0),
                proved=proved,
                at_least=proved if proved is not None else 0.0,
                at_most=goal if has_proof and move.bound in (EXACT, UPPER) else 100.0,
                plies=(steps_to(move.value) or None) if proved is not None else None,
                line=search.line() if move.move == search.choice else (),
            )
        )
    text = search.move_text(search.choice) if search.choice >= 0 else ""
    return sorted(
        reports, key=lambda report: (report.move != text, -(report.mean if report.mean is not None else -1))
    )
