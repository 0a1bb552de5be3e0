"""Random play by the rules, for games whose network takes too long or too much memory to build.

Games are played one at a time, each to its end, to a state in which a role cannot move, or to one that
occurred before.  Failure proves nothing.
"""

from __future__ import annotations

import random
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from herbrand.analyse.exploration.replay import goal_of, is_goal
from herbrand.analyse.verdict import Witness

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Hashable, Sequence

    from herbrand.analyse.verdict import Moves
    from herbrand.machine.state_machine import StateMachine
    from herbrand.rules.interface import Engine

__all__ = ["PlayedByRules", "play_by_rules"]

_LONGEST: Final = 1000
"""Steps after which a game is given up."""
_REFUTED: Final = ("termination", "playability", "goals")
"""Properties that a line of play can refute."""


@dataclass(slots=True)
class PlayedByRules:
    """What came up in random games: lines of play that show it, each the first that was found."""

    wins: dict[int, Witness] = field(default_factory=dict)
    """Roles by number that win."""
    refutations: dict[str, Witness] = field(default_factory=dict)
    """By property, of "termination", "playability" and "goals", what refutes it."""
    games: int = 0
    steps: int = 0


def play_by_rules(
    game: StateMachine,
    wanted: Collection[str],
    players: Sequence[int],
    win: int,
    seconds: float,
    progress: Callable[[int], None] | None = None,
) -> PlayedByRules:
    """Play at random until all that is `wanted` was found, or for some seconds.

    `wanted` has names of properties: "weak_winnability", that each of the `players` (roles by number) can get
    `win`, is shown by their wins, and others are refuted.  `progress` is called with the number of steps.
    """
    playing = _Playing(game, players, win)
    found, until = playing.found, time.monotonic() + seconds
    while time.monotonic() < until:
        won = "weak_winnability" not in wanted or all(role in found.wins for role in players)
        if won and all(name in found.refutations for name in wanted if name in _REFUTED):
            break
        playing.play(until)
        if progress is not None:
            progress(found.steps)
    return found


class _Playing:
    """Plays games, and keeps the lines worth keeping."""

    def __init__(self, game: StateMachine, players: Sequence[int], win: int) -> None:
        self.game = game
        self.engine: Engine = game.engine_object("rules")
        self.players = players
        self.win = win
        self.chance = random.Random(1)
        self.found = PlayedByRules()

    def play(self, until: float) -> None:
        """Play one game."""
        engine, found = self.engine, self.found
        key = engine.initial()
        visited: dict[Hashable, int] = {key: 0}
        line: list[tuple[int, ...]] = []
        found.games += 1
        while not engine.terminal(key):
            legal = [engine.legal(key, role) for role in range(len(engine.roles))]
            if not all(legal):
                role = next(number for number, moves in enumerate(legal) if not moves)
                self._refute("playability", line, role)
                return
            if len(line) == _LONGEST or time.monotonic() > until:
                return
            line.append(tuple(self.chance.choice(moves) for moves in legal))
            key = engine.successor(key, line[-1])
            found.steps += 1
            first = visited.setdefault(key, len(line))
            if first < len(line):
                self._refute("termination", line, loop=first)
        for role in self.players:
            value = goal_of(self.game, key, role)
            if value == self.win and role not in found.wins:
                found.wins[role] = self._witness(line, role)
            if not is_goal(value):
                self._refute("goals", line, role)

    def _refute(
        self, name: str, line: list[tuple[int, ...]], role: int | None = None, loop: int | None = None
    ) -> None:
        if name not in self.found.refutations:
            self.found.refutations[name] = self._witness(line, role, loop)

    def _witness(self, line: list[tuple[int, ...]], role: int | None, loop: int | None = None) -> Witness:
        text = self.engine.terms.text
        moves: Moves = tuple(tuple(text(move) for move in joint) for joint in line)
        return Witness(moves, None if role is None else text(self.engine.roles[role]), loop)
