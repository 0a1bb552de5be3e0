"""The player for any game: looks at the game, and lets the player choose that suits it."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from herbrand.errors import HerbrandError
from herbrand.play.alphabeta import AlphaBetaPlayer
from herbrand.play.interface import Player
from herbrand.play.ismcts import IsMctsPlayer
from herbrand.play.mcts import MctsPlayer
from herbrand.play.puzzle import PuzzlePlayer
from herbrand.play.search.features import only_placing
from herbrand.play.solved import SolvedPlayer

if TYPE_CHECKING:
    from herbrand.analyse.knowledge.histories import History
    from herbrand.game import Game
    from herbrand.machine.moves import Move
    from herbrand.machine.state import State
    from herbrand.play.explanation import PlayerReport

__all__ = ["MetaPlayer"]

_Picked = TypeVar("_Picked", bound=Player)

_LOOKS = 20
"""States of a random game that are sampled to detect whose turn it is."""
_LEARNS = 2.0
"""Seconds that learning to value positions takes, at least."""
_EXPLAINED = 0.3
"""The part of the variance of ends that must be explained for alpha-beta, as measured."""
_SMALL = 200_000
"""States up to which a game is solved."""


class MetaPlayer(Player):
    """Lets the player choose that suits the game, and says why.

    A planner, a solved game, alpha-beta where values can be learned, or tree search.

    `memory` is in megabytes.
    """

    def __init__(self, seed: int | None = None, *, memory: float = 512.0) -> None:
        super().__init__(seed)
        self.memory = memory
        self.reason = ""
        """Why the player was picked, for people."""
        self._player: Player | None = None

    def prepare(self, deadline: float) -> None:
        """Pick a player in a part of the time, and let it prepare in the rest."""
        self._player = None
        player = self._started(self._pick(deadline), deadline - time.monotonic())
        if isinstance(player, SolvedPlayer) and player.policy is None:
            player, self.reason = self._searcher(player, deadline)
        self._player = player
        if self.stopped:
            player.stop()

    def _started(self, player: _Picked, seconds: float) -> _Picked:
        """Start a player, which is to choose, in so many seconds."""
        player.serve(self)
        player.start(self.game, self.role, max(0.0, seconds))
        return player

    def _searcher(self, solved: SolvedPlayer, deadline: float) -> tuple[Player, str]:
        """Return the player that suits a game that is not solved, ready, and why it was picked."""
        because = solved.note()
        seed, left = self.chance.getrandbits(32), deadline - time.monotonic()
        if not solved.finished.is_set() or left < _LEARNS:
            return solved, f"tree search: {because}"
        shown = _against_depth(self.game)
        if not shown:
            deep = self._started(AlphaBetaPlayer(seed, memory=self.memory / 4), left / 2)
            explained = 0.0 if deep.lesson is None else deep.lesson.explained
            shown = f"what is learned from random games explains {explained:.0%} of how others end"
            if explained >= _EXPLAINED:
                return deep, f"alpha-beta, for {shown}: {because}"
            deep.stop()
        wide = self._started(MctsPlayer(seed, memory=self.memory), deadline - time.monotonic())
        return wide, f"tree search, for {shown}: {because}"

    def _pick(self, deadline: float) -> Player:
        game, seed = self.game, self.chance.getrandbits(32)
        if len(game.roles) == 1 and not game.has_percepts:
            self.reason = "one role: a planner, and tree search until it has a plan"
            return PuzzlePlayer(seed, memory=self.memory)
        if game.has_percepts:
            self.reason = "the rules hide something: search in what can be known"
            return IsMctsPlayer(seed)
        at_once = self._chooses_at_once(deadline)
        if at_once:
            self.reason = f"tree search with regret matching: {at_once}"
            return MctsPlayer(seed, memory=self.memory, regret=True)
        self.reason = f"no more than {_SMALL} states: the game is solved"
        return SolvedPlayer(seed, memory=self.memory, states=_SMALL)

    def _chooses_at_once(self, deadline: float) -> str:
        """Look along a random game for a state in which several roles have a choice; say which."""
        state = self.game.initial_state("rules")
        until = time.monotonic() + 0.1 * (deadline - time.monotonic())
        try:
            for step in range(_LOOKS):
                if state.is_terminal or time.monotonic() > until:
                    return ""
                legal = state.legal_moves()
                free = [role for role in self.game.players if len(legal[role]) > 1]
                if len(free) > 1:
                    return f"{' and '.join(free[:3])} choose at the same time in step {step + 1}"
                state = state.next(self.reply(state))
        except HerbrandError:
            return ""
        return ""

    def select(self, state: State, play_clock: float) -> Move:
        """Let the player choose."""
        if self._player is None:
            return self.chance.choice(self.options(state))
        return self._player.select(state, play_clock)

    def told(self, history: History) -> None:
        """Pass on what the role remembers."""
        if self._player is not None:
            self._player.told(history)

    def stop(self) -> None:
        """End the match."""
        super().stop()
        if self._player is not None:
            self._player.stop()

    def report(self) -> PlayerReport | None:
        """Return what the player found, with the reason why it was picked."""
        report = None if self._player is None else self._player.report()
        return None if report is None else replace(report, notes=(*report.notes, self.reason))


def _against_depth(game: Game) -> str:
    """Return why tree search is better than alpha-beta whatever can be learned, as measured; empty if not."""
    from herbrand.play.search.style import sighted

    if only_placing(game.expander):
        return "pieces are only placed"
    return "" if sighted(game.expander) is None else "random games in which nobody misses a win cost little"
