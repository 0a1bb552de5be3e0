"""`MetaPlayer`: picks the player that suits the game."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

from herbrand.errors import HerbrandError
from herbrand.play.alphabeta import AlphaBetaPlayer
from herbrand.play.comparison import can_compare, compare_searches
from herbrand.play.interface import DelegatingPlayer
from herbrand.play.ismcts import IsMctsPlayer
from herbrand.play.mcts import MctsPlayer
from herbrand.play.puzzle import PuzzlePlayer
from herbrand.play.search.features import is_placement_only
from herbrand.play.solved import SolvedPlayer

if TYPE_CHECKING:
    from herbrand.game import Game
    from herbrand.machine.moves import Move
    from herbrand.machine.state import State
    from herbrand.play.explanation import PlayerReport
    from herbrand.play.interface import Player

__all__ = ["MetaPlayer"]


_SAMPLED_STATES = 20
"""States of one playout that are checked for simultaneous moves."""
_MIN_LEARNING_SECONDS = 2.0
"""Seconds that must be left to learn an evaluation function."""
_MIN_EXPLAINED = 0.3
"""Share of the variance of outcomes that the evaluation function must explain for alpha-beta, as measured,
where quick games do not decide."""
_MIN_EXPLAINED_SLOWLY = 0.2
"""The same where no quick games are over in time: tree search has few playouts there."""
_MIN_COMPARED = 0.1
"""The same for quick games against tree search."""
_COMPARING = 0.3
"""Share of the time for quick games."""
_MIN_COMPARING_SECONDS = 1.0
_STARTING = 0.1
"""Share of the time for starting tree search after quick games."""
_MAX_SOLVED_STATES = 200_000


class MetaPlayer(DelegatingPlayer):
    """Picks a player for the game and reports why.

    A planner for one role, a perfect player for small games, also with hidden information, alpha-beta where
    an evaluation function can be learned, and tree search elsewhere.  `memory` is in megabytes; with `ponder`
    the player that was picked thinks while others do, where it can, and with `self_play` (None: as `ponder`)
    an evaluation function is improved by self-play for the rest of the start clock.
    """

    def __init__(
        self,
        seed: int | None = None,
        *,
        memory: float = 512.0,
        self_play: bool | None = None,
        ponder: bool = False,
    ) -> None:
        super().__init__(seed, memory=memory, ponder=ponder)
        self.self_play = ponder if self_play is None else self_play
        self.reason = ""
        """Why the player was picked."""

    def prepare(self, deadline: float) -> None:
        """Pick a player, and let it prepare for the rest of the time."""
        self._deputy = None
        try:
            player = self._pick(deadline).start_for(self, deadline - time.monotonic())
            if isinstance(player, SolvedPlayer) and not player.has_solution:
                player, self.reason = self._pick_search(player, deadline)
        except (HerbrandError, MemoryError) as error:  # tree search can go on by evaluating the rules
            self.reason = f"tree search, since no other player could be prepared: {error or 'no memory'}"
            mcts = MctsPlayer(self.chance.getrandbits(32), memory=self.memory, ponder=self.ponder)
            player = mcts.start_for(self, deadline - time.monotonic())
        self._deputy = player
        if self.stopped:
            player.stop()

    def _pick_search(self, solved: SolvedPlayer, deadline: float) -> tuple[Player, str]:
        """Return a prepared player for a game that was not solved, and why it was picked."""
        unsolved = solved.note()
        if self.game.has_percepts:
            if not solved.finished.is_set():
                return solved, f"tree search over information sets: {unsolved}"
            ismcts = IsMctsPlayer(self.chance.getrandbits(32))
            reason = f"tree search over information sets: {unsolved}"
            return ismcts.start_for(self, deadline - time.monotonic()), reason
        seed, left = self.chance.getrandbits(32), deadline - time.monotonic()
        if not solved.finished.is_set() or left < _MIN_LEARNING_SECONDS:
            return solved, f"tree search: {unsolved}"
        try:
            reason = _reason_for_mcts(self.game)
        except (HerbrandError, MemoryError) as error:  # it plays by evaluating the rules
            return solved, f"tree search, since there is no network: {error}"
        if not reason:
            alphabeta = AlphaBetaPlayer(seed, memory=self.memory / 4, self_play=False, ponder=self.ponder)
            # self-play teaches more than random games
            alphabeta.start_for(self, left / (3 if self.self_play else 2))
            self.wait_for(alphabeta.finished, deadline - 0.25 * left)  # learning a large game may take longer
            is_better, reason = self._judge_alphabeta(alphabeta, deadline)
            if is_better:
                return alphabeta, f"alpha-beta, since {reason}: {unsolved}"
            alphabeta.stop()
        mcts = MctsPlayer(seed, memory=self.memory, ponder=self.ponder)
        mcts.start_for(self, deadline - time.monotonic())
        return mcts, f"tree search, since {reason}: {unsolved}"

    def _judge_alphabeta(self, alphabeta: AlphaBetaPlayer, deadline: float) -> tuple[bool, str]:
        """Return whether alpha-beta plays better than tree search, and why.

        With `self_play`, its values are improved first, and quick games decide unless they are a tie.
        """
        explained = 0.0 if alphabeta.learned is None else alphabeta.learned.explained
        reason = f"the learned evaluation explains {explained:.0%} of the variance of outcomes"
        if not self.self_play or explained < _MIN_COMPARED:
            return explained >= _MIN_EXPLAINED, reason
        left = deadline - time.monotonic()
        seconds = _COMPARING * left
        if seconds < _MIN_COMPARING_SECONDS or not can_compare(self.game):
            alphabeta.improve(deadline)
            return explained >= _MIN_EXPLAINED, reason
        alphabeta.improve(deadline - seconds - _STARTING * left)
        learned = alphabeta.learned
        if learned is None:  # stopped
            return False, reason
        result = compare_searches(
            self.game, self.game.role_index(self.role), learned,
            seed=self.chance.getrandbits(32), seconds=seconds, memory=self.memory / 2,
            stopped=lambda: self.stopped,
        )  # fmt: skip
        if not result.games:
            return explained >= _MIN_EXPLAINED_SLOWLY, f"{reason}, and quick games were not over in time"
        reason = f"{reason}, and alpha-beta scores {result.points:g} of {result.games} in quick games"
        if 2 * result.points == result.games:
            return explained >= _MIN_EXPLAINED, reason
        return 2 * result.points > result.games, reason

    def _pick(self, deadline: float) -> Player:
        game, seed = self.game, self.chance.getrandbits(32)
        if len(game.roles) == 1 and not game.has_percepts:
            self.reason = "one role: a planner, and tree search until it has a plan"
            return PuzzlePlayer(seed, memory=self.memory, ponder=self.ponder)
        if game.has_percepts:
            self.reason = "hidden information, but few enough histories: strategies for all information sets"
            return SolvedPlayer(seed, memory=self.memory, ponder=self.ponder)
        simultaneous = self._find_simultaneous_choice(deadline)
        if simultaneous:
            self.reason = f"tree search with regret matching: {simultaneous}"
            return MctsPlayer(seed, memory=self.memory, regret=True, ponder=self.ponder)
        self.reason = f"no more than {_MAX_SOLVED_STATES} states: the game is solved"
        return SolvedPlayer(seed, memory=self.memory, states=_MAX_SOLVED_STATES, ponder=self.ponder)

    def _find_simultaneous_choice(self, deadline: float) -> str:
        """Describe the first simultaneous choice in a playout; empty if there is none."""
        state = self.game.initial_state("rules")
        until = time.monotonic() + 0.1 * (deadline - time.monotonic())
        try:
            for step in range(_SAMPLED_STATES):
                if state.is_terminal or time.monotonic() > until:
                    return ""
                legal = state.legal_moves()
                choosing = [role for role in self.game.players if len(legal[role]) > 1]
                if len(choosing) > 1:
                    return f"{' and '.join(choosing[:3])} choose at the same time in step {step + 1}"
                state = state.next(self.random_joint_move(state))
        except HerbrandError:
            return ""
        return ""

    def select(self, state: State, play_clock: float) -> Move:
        """Let the picked player select."""
        if self._deputy is None:
            return self.chance.choice(self.options(state))
        return self._deputy.select(state, play_clock)

    def report(self) -> PlayerReport | None:
        """Return the report of the picked player, with the reason why it was picked."""
        report = None if self._deputy is None else self._deputy.report()
        return None if report is None else replace(report, notes=(*report.notes, self.reason))


def _reason_for_mcts(game: Game) -> str:
    """Return why tree search beats alpha-beta whatever it learns, as measured; empty if it does not."""
    from herbrand.play.search.policy import decisive_network

    if is_placement_only(game.expander):
        return "pieces are only placed"
    return "" if decisive_network(game.expander) is None else "decisive-move playouts are cheap"
