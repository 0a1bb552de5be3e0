"""What a player is."""

from __future__ import annotations

import random
import threading
import time
from abc import ABC, abstractmethod
from contextlib import suppress
from typing import TYPE_CHECKING

from herbrand.errors import HerbrandError

if TYPE_CHECKING:
    from herbrand.analyse.knowledge.histories import History
    from herbrand.game import Game
    from herbrand.machine.moves import Move
    from herbrand.machine.state import State
    from herbrand.play.explanation import PlayerReport

__all__ = ["Player"]

_PRIMING = 0.25
"""The part of the start clock after which other preparation no longer waits for the rules."""


class Player(ABC):
    """Chooses the moves of one role in one match; a new match needs a new `start`.

    Calls come one after another, except `stop`, which may come from another thread while one of
    them runs.  The clocks are seconds that the player may use; who asks has taken off what it needs
    itself.  With a seed, and time enough, the same questions have the same answers.
    """

    def __init__(self, seed: int | None = None) -> None:
        self.chance = random.Random(seed)
        self._stopped = threading.Event()
        self._ends: tuple[threading.Event, ...] = (self._stopped,)
        """Each of them, when set, ends the match: its own, and that of the player for whom it chooses."""
        self._game: Game | None = None
        self._role = ""

    @property
    def game(self) -> Game:
        """The game of the match."""
        if self._game is None:
            raise RuntimeError("the player was asked for a move before `start`")
        return self._game

    @property
    def role(self) -> str:
        """The role it plays, as the game spells it."""
        return self._role

    @property
    def stopped(self) -> bool:
        """Whether the match was ended while the player was thinking."""
        return any(end.is_set() for end in self._ends)

    def start(self, game: Game, role: str, start_clock: float) -> None:
        """Begin a match: prepare for at most `start_clock` seconds.

        Raises `GameError` for a game that cannot be played, `ValueError` for a role it does not have.
        """
        game.require_playable()
        deadline = self.until(start_clock)
        self._stopped.clear()
        self._game = game
        self._role = game.roles[game.role_index(role)]
        priming = threading.Thread(target=_prime_rules, args=(game,), daemon=True)
        priming.start()  # not here: the rules may take longer than the clock
        enough = self.until(_PRIMING * start_clock)
        while priming.is_alive() and self.may_go_on(enough):
            priming.join(max(0.0, min(0.05, enough - time.monotonic())))
        self.prepare(deadline)

    def prepare(self, deadline: float) -> None:
        """Get ready before the first move, until `deadline` on the monotonic clock; nothing by default."""
        del deadline

    def told(self, history: History) -> None:
        """Hear what the role remembers of the match so far: its own moves, and what it saw after each.

        Called before `select` where the rules hide something.  Players that rely on it look at nothing
        else; for others the state that `select` is given is one that the role can hold possible.
        """
        del history

    @abstractmethod
    def select(self, state: State, play_clock: float) -> Move:
        """Return a legal move of the role in a state that is not terminal, within `play_clock` seconds.

        With hidden information the state is one that the role can hold possible, not the true one.
        """

    def report(self) -> PlayerReport | None:
        """Return what the player found out before its last move; None if it does not say."""
        return None

    def stop(self) -> None:
        """End the match now; a `select` that runs in another thread returns soon."""
        self._stopped.set()

    # -- for those who write players ----------------------------------------------------------

    def serve(self, leader: Player) -> None:
        """Choose for another player: when that one is stopped, so is this one, even if it starts later."""
        self._ends = (self._stopped, *leader._ends)

    def until(self, seconds: float) -> float:
        """Return the time on the monotonic clock after so many seconds."""
        return time.monotonic() + seconds

    def may_go_on(self, deadline: float) -> bool:
        """Whether there is time left and nobody called `stop`."""
        return not self.stopped and time.monotonic() < deadline

    def options(self, state: State) -> list[Move]:
        """Return the legal moves of the role; `GameError` if there is none, which is a fault in the rules."""
        return state.require_moves(self.role)

    def reply(self, state: State) -> dict[str, Move]:
        """Return a random legal move for each role; `GameError` if a role has none."""
        return state.random_joint_move(self.chance)


def _prime_rules(game: Game) -> None:
    """Ask the evaluator of the rules everything that is asked in a match, for two steps.

    It translates a relation to Python when that is first asked for, and tables what no move can change:
    up to 0.6 s in large games, longer than a short clock.
    """
    with suppress(HerbrandError):  # who asks later is told
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
