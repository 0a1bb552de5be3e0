"""What players share that answer by themselves where they can, and else let another player choose."""

from __future__ import annotations

import threading
import time
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from herbrand.play.interface import Player
from herbrand.play.mcts import MctsPlayer
from herbrand.runtime.collector import suspend_full_collections

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from herbrand.analyse.knowledge.histories import History
    from herbrand.game import Game
    from herbrand.machine.moves import Move
    from herbrand.machine.state import State
    from herbrand.play.explanation import PlayerReport

    Choice: TypeAlias = tuple[Move, Callable[[], PlayerReport | None]]
    """A move, and what says why it was chosen when the clock has stopped."""

__all__ = ["RelayPlayer"]


_LEAST = 0.01
"""Seconds of a clock in which a substitute can begin."""


class RelayPlayer(Player):
    """A player with a substitute, who chooses wherever `choose` gives nothing.

    Subclasses prepare in `study`, which runs in a thread of its own and may go on while moves are asked for,
    or when the match has ended.
    """

    name = "relay"

    def __init__(self, seed: int | None = None, *, memory: float = 512.0) -> None:
        super().__init__(seed)
        self.memory = memory
        self._substitute: Player | None = None
        self._student: threading.Thread | None = None
        self._explanation: Callable[[], PlayerReport | None] | None = None
        self._history: History = ()
        self.asked = self.deadline = 0.0
        """When the last move was asked for, and when its clock runs out, on the monotonic clock."""
        self.finished = threading.Event()
        """Set when `study` is through; another one in each match."""
        self._keeping = threading.Lock()

    def study(self, game: Game, role: int, seconds: float) -> Iterator[Callable[[], None]]:
        """Find out about the game in at most about so many seconds; raises nothing.

        Each time there is something to keep, what keeps it is yielded, and called unless the match is over.
        """
        raise NotImplementedError

    def forget(self) -> None:
        """Let go of what was found out, and of what is still being found out about the same match."""
        with self._keeping:
            self.finished = threading.Event()
        self._substitute = None
        self._explanation = None
        self._history = ()

    def choose(self, state: State, moves: list[Move]) -> Choice | None:
        """Return a move and what says why; None to let the substitute choose."""
        raise NotImplementedError

    def note(self) -> str:
        """Say in a few words why the substitute chooses."""
        raise NotImplementedError

    def substitute(self) -> Player:
        """Return the player to hand over to."""
        return MctsPlayer(seed=self.chance.getrandbits(32), memory=self.memory)

    def hand_over(self, seconds: float) -> Player:
        """Let the substitute get ready, for at most so many seconds."""
        substitute = self._substitute = self.substitute()
        substitute.serve(self)
        substitute.start(self.game, self.role, seconds)
        if self.stopped:
            substitute.stop()
        return substitute

    def prepare(self, deadline: float) -> None:
        """Study until the clock runs out, or longer in the background."""
        self.forget()
        finished, game, role = self.finished, self.game, self.game.role_index(self.role)
        seconds = max(0.0, deadline - time.monotonic())

        def work() -> None:
            try:
                for keep in self.study(game, role, seconds):
                    with self._keeping:
                        if self.stopped or self.finished is not finished:
                            return
                        keep()
                    del keep  # and what it keeps
            finally:
                finished.set()

        self._student = threading.Thread(target=work, daemon=True)
        self._student.start()
        while not finished.is_set() and self.may_go_on(deadline - 0.01):
            finished.wait(max(0.0, min(0.05, deadline - 0.01 - time.monotonic())))

    @suspend_full_collections()
    def select(self, state: State, play_clock: float) -> Move:
        """Choose, or let the substitute choose in the time that is left."""
        started = self.asked = time.monotonic()
        self.deadline = started + play_clock
        moves = self.options(state)
        self._explanation = None
        if len(moves) == 1:
            return moves[0]
        found = self.choose(state, moves)
        if found is not None:
            move, self._explanation = found
            return move
        if self._substitute is None and (self.stopped or play_clock < _LEAST):
            return self.chance.choice(moves)
        substitute = self._substitute or self.hand_over(0.3 * play_clock)
        substitute.told(self._history)
        move = substitute.select(state, max(0.0, play_clock - (time.monotonic() - started)))
        note = self.note()

        def explain() -> PlayerReport | None:
            report = substitute.report()
            return None if report is None else replace(report, notes=(*report.notes, note))

        self._explanation = explain
        return move

    def told(self, history: History) -> None:
        """Pass on what the role remembers."""
        self._history = history

    def stop(self) -> None:
        """End the match, also for the substitute."""
        super().stop()
        substitute = self._substitute
        if substitute is not None:
            substitute.stop()
        self.forget()

    def report(self) -> PlayerReport | None:
        """Return why the last move was chosen."""
        explanation = self._explanation
        return None if explanation is None else explanation()
