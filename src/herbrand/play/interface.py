"""`Player`: the base class of all players, and `DelegatingPlayer`, of those that let others choose."""

from __future__ import annotations

import random
import threading
import time
from abc import ABC, abstractmethod
from contextlib import suppress
from typing import TYPE_CHECKING, Self

from herbrand.errors import HerbrandError
from herbrand.play.background import start_thread
from herbrand.runtime.collector import suspend_full_collections

if TYPE_CHECKING:
    from collections.abc import Callable

    from herbrand.analyse.knowledge.histories import History
    from herbrand.game import Game
    from herbrand.machine.moves import Move
    from herbrand.machine.state import State
    from herbrand.play.explanation import PlayerReport

__all__ = ["DelegatingPlayer", "Player", "counted_goals"]

_WARM_UP_SHARE = 0.25
"""Share of the start clock for which `prepare` waits until the rule evaluator is warm."""
_POLL_SECONDS = 0.02
"""How soon a player that waits for another thread takes note of `stop`."""


def counted_goals(state: State) -> list[int]:
    """Return the goal value of each role as players count it.

    Where the rules give a role no value, or several, that is 0 in a terminal state, since the match then has
    no result for it, and 50 in others.
    """
    unclear = 0 if state.is_terminal else 50
    return [unclear if goal is None else goal for goal in state.goals.values()]


class Player(ABC):
    """Chooses the moves of one role in one match; a new match needs a new `start`.

    Calls are sequential, except `stop`, which another thread may make during any of them.  Clocks are in
    seconds, with the caller's own overhead already subtracted.  With the same seed, and enough time, a player
    selects the same moves.
    """

    def __init__(self, seed: int | None = None) -> None:
        self.chance = random.Random(seed)
        self._stopped = threading.Event()
        self._stop_events: tuple[threading.Event, ...] = (self._stopped,)
        """Any of these ends the match when set: its own, and those of the player it chooses for."""
        self._game: Game | None = None
        self._role = ""

    @property
    def game(self) -> Game:
        """The game of the match."""
        if self._game is None:
            raise RuntimeError("the player was used before `start`")
        return self._game

    @property
    def role(self) -> str:
        """The player's role, as the game spells it."""
        return self._role

    @property
    def stopped(self) -> bool:
        """Whether `stop` ended the match."""
        return any(event.is_set() for event in self._stop_events)

    @suspend_full_collections()
    def start(self, game: Game, role: str, start_clock: float) -> None:
        """Begin a match: prepare for at most `start_clock` seconds.

        Raises `GameError` for a game that cannot be played, `ValueError` for a role it does not have.
        """
        game.require_playable()
        deadline = self.deadline_after(start_clock)
        self._stopped.clear()
        self._game = game
        self._role = game.roles[game.role_index(role)]
        # in a thread, since it may take longer than the clock
        self.run_in_background(
            lambda: _warm_up_rules(game), self.deadline_after(_WARM_UP_SHARE * start_clock)
        )
        self.prepare(deadline)

    def prepare(self, deadline: float) -> None:
        """Prepare before the first move, until `deadline` on the monotonic clock; does nothing by default."""
        del deadline

    def receive_history(self, history: History) -> None:
        """Receive the role's own moves so far and its percepts after each.

        Called before `select` in games with hidden information.  Players that use it ignore the state passed
        to `select`, which for the others is one that is consistent with the history.
        """
        del history

    @abstractmethod
    def select(self, state: State, play_clock: float) -> Move:
        """Return a legal move of the role in a state that is not terminal, within `play_clock` seconds.

        With hidden information the state is one that is consistent with the role's history, not the true one.
        """

    def report(self) -> PlayerReport | None:
        """Return statistics of the search for the last move; None if the player keeps none."""
        return None

    def stop(self) -> None:
        """End the match now; a `select` that runs in another thread returns soon."""
        self._stopped.set()

    # -- for authors of players ---------------------------------------------------------------

    def start_for(self, leader: Player, seconds: float) -> Self:
        """Start in the match of `leader`; count as stopped whenever that is, even if it was before."""
        self._stop_events = (self._stopped, *leader._stop_events)
        self.start(leader.game, leader.role, max(0.0, seconds))
        if leader.stopped:
            self.stop()
        return self

    def deadline_after(self, seconds: float) -> float:
        """Return the time on the monotonic clock so many seconds from now."""
        return time.monotonic() + seconds

    def has_time(self, deadline: float) -> bool:
        """Whether the deadline has not passed and `stop` was not called."""
        return not self.stopped and time.monotonic() < deadline

    def wait_for(self, event: threading.Event, deadline: float) -> None:
        """Wait until the event is set, the deadline has passed, or `stop` was called."""
        while not event.is_set() and self.has_time(deadline):
            event.wait(max(0.0, min(_POLL_SECONDS, deadline - time.monotonic())))

    def run_in_background(self, work: Callable[[], object], deadline: float) -> threading.Thread:
        """Run `work` in a thread, wait for it until the deadline or `stop`, and return the thread."""
        finished = threading.Event()

        def run() -> None:
            try:
                work()
            finally:
                finished.set()

        thread = start_thread(run, self.stop)
        self.wait_for(finished, deadline)
        return thread

    def options(self, state: State) -> list[Move]:
        """Return the legal moves of the role; `GameError` if it has none, which is an error in the rules."""
        return state.require_moves(self.role)

    def random_joint_move(self, state: State) -> dict[str, Move]:
        """Return a random legal move for each role; `GameError` if a role has none."""
        return state.random_joint_move(self.chance)


class DelegatingPlayer(Player):
    """A player that lets another one choose, in all states or in some.

    `memory`, in megabytes, and `ponder`, whether to think while others do, are for that player.
    """

    def __init__(self, seed: int | None = None, *, memory: float = 512.0, ponder: bool = False) -> None:
        super().__init__(seed)
        self.memory = memory
        self.ponder = ponder
        self._deputy: Player | None = None
        """The other player."""

    def receive_history(self, history: History) -> None:
        """Pass the history on."""
        if self._deputy is not None:
            self._deputy.receive_history(history)

    def stop(self) -> None:
        """End the match, also for the other player."""
        super().stop()
        if self._deputy is not None:
            self._deputy.stop()


def _warm_up_rules(game: Game) -> None:
    """Evaluate every relation used in a match for two steps, so that the first move does not pay for it.

    The evaluator compiles a relation to Python on first use and tables those that no move can change: up to
    0.6 s in large games, longer than a short clock.
    """
    with suppress(HerbrandError):  # raised again when the player evaluates the rules
        state = game.initial_state("rules")
        for _ in range(2):
            legal = state.legal_moves()
            if state.is_terminal or not all(legal.values()):
                break
            joint = [moves[0] for moves in legal.values()]
            state.percepts(joint)
            state = state.next(joint)
            _ = state.goals
        game.state(state.facts, engine="rules").legal_moves()
