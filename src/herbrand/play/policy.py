"""`MixedPolicy` draws moves by behaviour strategies, and `solve_in_time` computes them in a start clock."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from herbrand.analyse.knowledge.histories import history_key, state_key
from herbrand.errors import GameError
from herbrand.play.explanation import MoveReport, PlayerReport

if TYPE_CHECKING:
    from herbrand.analyse.knowledge.behaviour import BehaviourStrategy
    from herbrand.analyse.knowledge.histories import History
    from herbrand.game import Game
    from herbrand.machine.moves import Move
    from herbrand.machine.state import State
    from herbrand.play.fallback import Choice
    from herbrand.play.interface import Player

__all__ = ["MixedPolicy", "solve_in_time"]

_UNFOLDING_SHARE: Final = 0.3
"""Share of the time for unfolding a game; the rest of it is another player's if that is not enough."""
_ROUNDS_SHARE: Final = 0.8
"""Share of the time after which regret minimisation ends."""
_LEAST_SECONDS: Final = 1.0
"""Seconds for solving a game, also if the start clock is shorter; they may go on while moves are due."""
_MOST_EXPLOITABLE: Final = 0.01
"""The exploitability up to which strategies count as a solution, as a share of the range of goal values."""


@dataclass(frozen=True)
class MixedPolicy:
    """The strategies of a game, with the place that they come from."""

    strategy: BehaviourStrategy
    source: str
    """Where they come from, for reports."""
    exploitability: float
    """In goal points."""

    def __post_init__(self) -> None:
        """Index the tables, which takes too long for a play clock."""
        for table in self.strategy.tables.values():
            _ = table.places

    def choose(
        self, player: Player, name: str, history: History, state: State, moves: list[Move]
    ) -> Choice | None:
        """Draw a move of a player, whose reports name it `name`; None in an unknown information set."""
        started = time.monotonic()
        key = history_key(history) if player.game.has_percepts else state_key(state.facts)
        choices = self.strategy.choices(player.role, key)
        by_text = {str(move).lower(): move for move in moves}
        if len(choices) != len(moves) or any(choice.move.lower() not in by_text for choice in choices):
            return None
        drawn = player.chance.choices(choices, [choice.chance for choice in choices])[0]
        choices.sort(key=lambda choice: (choice is not drawn, -choice.chance))
        reports = tuple(MoveReport(one.move, 0, one.value, chance=one.chance) for one in choices)
        seconds = time.monotonic() - started
        report = PlayerReport(name, player.role, reports, seconds, notes=(self.note,))
        return by_text[drawn.move.lower()], lambda: report

    @property
    def note(self) -> str:
        """How moves are chosen, and how good that is."""
        return f"draws moves by {self.source}: a best reply gains {self.exploitability:.2g} points on average"


def solve_in_time(game: Game, seconds: float, *, nodes: int) -> MixedPolicy:
    """Return strategies of all roles that are nearly an equilibrium, computed in `seconds` or one second.

    Raises `GameError` with the reason where the game has more than `nodes` histories, that is known after a
    part of the time, or where the strategies remain too exploitable.
    """
    from herbrand.play.training.regrets import RegretTrainer

    started = time.monotonic()
    seconds = max(seconds, _LEAST_SECONDS)
    trainer = RegretTrainer.start(game, nodes=nodes, seconds=_UNFOLDING_SHARE * seconds)
    trainer.run(seconds=_ROUNDS_SHARE * seconds - (time.monotonic() - started))
    goals = [leaf.goals for leaf in trainer.tree.leaves]
    points = max(map(max, goals)) - min(map(min, goals)) if trainer.tree.players else 0
    if trainer.exploitability > _MOST_EXPLOITABLE * points:
        raise GameError(
            f"after {trainer.done} rounds of regret minimisation a best reply gains "
            f"{trainer.exploitability:.2g} points"
        )
    source = f"strategies computed in {time.monotonic() - started:.1f} s ({trainer.done} rounds of CFR+)"
    return MixedPolicy(trainer.strategy(), source, trainer.exploitability)
