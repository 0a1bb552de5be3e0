"""`FallbackPlayer`: base class of players that let another player choose where they cannot."""

from __future__ import annotations

import threading
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

from herbrand.play.interface import DelegatingPlayer
from herbrand.play.mcts import MctsPlayer
from herbrand.runtime.collector import suspend_full_collections

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from herbrand.analyse.knowledge.histories import History
    from herbrand.game import Game
    from herbrand.machine.moves import Move
    from herbrand.machine.state import State
    from herbrand.play.explanation import PlayerReport
    from herbrand.play.interface import Player

    Choice: TypeAlias = tuple[Move, Callable[[], PlayerReport | None]]
    """A move, and a function that returns its report, called after the clock has stopped."""

__all__ = ["FallbackPlayer"]


_MIN_CLOCK = 0.01
"""Seconds of a clock below which the fallback is not started."""


class FallbackPlayer(DelegatingPlayer):
    """A player with a fallback, tree search by default, which chooses wherever `choose` returns None.

    Subclasses prepare in `study`, which runs in a background thread and may outlast the start clock and even
    the match.
    """

    name = "fallback"

    def __init__(self, seed: int | None = None, *, memory: float = 512.0, ponder: bool = False) -> None:
        super().__init__(seed, memory=memory, ponder=ponder)
        self._study_thread: threading.Thread | None = None
        self._make_report: Callable[[], PlayerReport | None] | None = None
        self._history: History = ()
        self._reason = ""
        """Why the fallback chooses."""
        self.started = self.deadline = 0.0
        """Start and end of the last play clock, on the monotonic clock."""
        self.finished = threading.Event()
        """Set when `study` has ended; a new event in each match."""
        self._result_lock = threading.Lock()

    def study(self, game: Game, role: int, seconds: float) -> Iterator[dict[str, Any]]:
        """Prepare for the game in about `seconds`; must not raise.

        Yields results as attributes of the player with their values.  They are set under a lock, and only
        while the match that they belong to goes on.
        """
        raise NotImplementedError

    def forget(self) -> None:
        """Release the results of `study`, and discard those of a `study` that still runs."""
        with self._result_lock:
            self.finished = threading.Event()
        self._deputy = None
        self._make_report = None
        self._history = ()

    def choose(self, state: State, moves: list[Move]) -> Choice | None:
        """Return a move with its report; None to let the fallback choose."""
        raise NotImplementedError

    def ponder_at(self, state: State, play_clock: float) -> None:
        """Think in the background after a request that leaves no choice; returns at once."""
        if isinstance(self._deputy, MctsPlayer):  # others would not return before the clock runs out
            self._deputy.select(state, play_clock)

    def note(self) -> str:
        """Return a short reason why the fallback chooses."""
        return self._reason

    def create_fallback(self) -> Player:
        """Return a new fallback, not started."""
        if self.game.has_percepts:
            from herbrand.play.ismcts import IsMctsPlayer

            return IsMctsPlayer(seed=self.chance.getrandbits(32))
        return MctsPlayer(seed=self.chance.getrandbits(32), memory=self.memory, ponder=self.ponder)

    def start_fallback(self, seconds: float) -> Player:
        """Create the fallback and let it prepare for at most `seconds`."""
        fallback = self._deputy = self.create_fallback()
        return fallback.start_for(self, seconds)

    def prepare(self, deadline: float) -> None:
        """Run `study` until the clock runs out, then leave it running in the background."""
        self.forget()
        finished, game, role = self.finished, self.game, self.game.role_index(self.role)
        seconds = max(0.0, deadline - time.monotonic())

        def work() -> None:
            try:
                self._keep_results(finished, self.study(game, role, seconds))
            finally:
                finished.set()

        self._study_thread = self.run_in_background(work, deadline - 0.01)

    def _keep_results(self, finished: threading.Event, results: Iterator[dict[str, Any]]) -> None:
        """Store results while the match goes on that the event belongs to."""
        for result in results:
            with self._result_lock:
                if self.stopped or self.finished is not finished:
                    return
                vars(self).update(result)
            del result  # `forget` must be able to free it

    @suspend_full_collections()
    def select(self, state: State, play_clock: float) -> Move:
        """Return the move of `choose`, or that of the fallback within the remaining time."""
        started = self.started = time.monotonic()
        self.deadline = started + play_clock
        moves = self.options(state)
        self._make_report = None
        if len(moves) == 1:
            if self.ponder and not self.stopped:
                self.ponder_at(state, play_clock)
            return moves[0]
        choice = self.choose(state, moves)
        if choice is not None:
            move, self._make_report = choice
            return move
        if self._deputy is None and (self.stopped or play_clock < _MIN_CLOCK):
            return self.chance.choice(moves)
        fallback = self._deputy or self.start_fallback(0.3 * play_clock)
        fallback.receive_history(self._history)
        move = fallback.select(state, max(0.0, play_clock - (time.monotonic() - started)))
        note = self.note()

        def make_report() -> PlayerReport | None:
            report = fallback.report()
            return None if report is None else replace(report, notes=(*report.notes, note))

        self._make_report = make_report
        return move

    def receive_history(self, history: History) -> None:
        """Keep the history for the fallback."""
        self._history = history

    def stop(self) -> None:
        """End the match, also for the fallback."""
        super().stop()
        self.forget()

    def report(self) -> PlayerReport | None:
        """Return the report on the last move."""
        make_report = self._make_report
        return None if make_report is None else make_report()
