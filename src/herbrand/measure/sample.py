"""`sample`: the random games that measures are taken from."""

from __future__ import annotations

import random
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from herbrand.core import NO_VALUE, STUCK
from herbrand.measure.lines import PlayedGames, no_lines, play_lines
from herbrand.measure.random_play import Outcomes, choices, ends, fairness
from herbrand.measure.worlds import PlayedGame

if TYPE_CHECKING:
    from herbrand.game import Game
    from herbrand.measure.effort import Effort
    from herbrand.measure.value import Measure

__all__ = ["Sample", "outcomes_of", "sample"]

_BY_RULES = 32
"""Random games that are played where there is no network."""
_SECONDS = 20.0
"""After so long no further game is begun where there is no network."""


@dataclass(frozen=True)
class Sample:
    """Random games of one game."""

    game: Game
    table: PlayedGame | None
    """What to play further games on; None where there is no network."""
    lines: PlayedGames
    """Games that were followed step by step."""
    outcomes: Outcomes
    """How games ended; many more, where there is a network."""
    max_steps: int
    bound: int | None
    """After how many steps every game has ended, where a step counter shows it."""

    def measures(self) -> list[Measure]:
        """Return the measures of random play."""
        found = [*ends(self.outcomes, self.max_steps, self.bound), *choices(self.lines)]
        if len(self.game.players) > 1:
            found += fairness(self.outcomes, self.game.players, "random play")
        return found


def sample(game: Game, effort: Effort, seed: int) -> Sample:
    """Play random games, on the network if there is one; or return those that were played last."""
    return _played(game, effort.playouts, effort.traced, effort.max_steps, seed)


@lru_cache(maxsize=1)
def _played(game: Game, playouts: int, traced: int, max_steps: int, seed: int) -> Sample:
    bound = None if game.step_counter is None else game.step_counter.bound
    if game.engine != "network":
        lines = _by_rules(game, seed, max_steps)
        return Sample(game, None, lines, outcomes_of(game, lines), max_steps, bound)
    expander = game.expander
    table = PlayedGame(expander, tuple(game.role_index(role) for role in game.players), game.has_percepts)
    one, two = np.random.SeedSequence(seed).spawn(2)
    by_chance = np.zeros((traced, table.roles), np.int64)
    lines = play_lines(table, by_chance, seed=one, max_steps=max_steps)
    first = np.unique(lines.first)
    outcomes = outcomes_of(game, lines)
    if len(first) == 1:  # the same in every game: more games need not be followed
        drawn = int(two.generate_state(1, np.uint64)[0])
        ended = expander.rollouts(expander.initial, seed=drawn, each=playouts, max_steps=max_steps)
        goals = ended.goals[:, list(table.players)]
        over = ~ended.truncated & (ended.goals != STUCK).all(axis=1)
        outcomes = Outcomes(goals, ended.lengths, over, np.full(len(goals), outcomes.first[0]))
    return Sample(game, table, lines, outcomes, max_steps, bound)


def outcomes_of(game: Game, lines: PlayedGames) -> Outcomes:
    """Return how games ended that were followed."""
    players = [game.role_index(role) for role in game.players]
    place = {role: at for at, role in enumerate(players)}
    first = np.array([place.get(role, -1) for role in lines.first.tolist()], np.int64)
    return Outcomes(lines.goals[:, players], lines.lengths, lines.ended, first)


def _by_rules(game: Game, seed: int, max_steps: int) -> PlayedGames:
    """Play a few random games by evaluating the rules."""
    chance = random.Random(seed)
    limits = game.limits.start()
    lines = no_lines(_BY_RULES, len(game.roles))
    players = [(game.role_index(role), role) for role in game.players]
    played = 0
    for at in range(_BY_RULES):
        if at and limits.elapsed() > _SECONDS:
            break
        state = game.initial_state("rules")
        decided = False
        for step in range(max_steps + 1):
            lines.lengths[at] = step
            lines.ended[at] = state.is_terminal
            if lines.ended[at] or step == max_steps:
                break
            legal = state.legal_moves()
            if not all(legal.values()):
                break
            free = [(number, len(legal[role])) for number, role in players if len(legal[role]) > 1]
            lines.choices[at] += len(free)
            lines.legal[at] += sum(count for _, count in free)
            lines.states_with_choice[at] += bool(free)
            if free and not decided:
                lines.first[at] = free[0][0] if len(free) == 1 else -1
                decided = True
            state = state.next([chance.choice(moves) for moves in legal.values()])
        values = state.goals.values()
        lines.goals[at] = [NO_VALUE if value is None else value for value in values]
        played = at + 1
    return lines.first_games(played)
