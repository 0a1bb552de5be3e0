"""`sample`: the random games behind the measures of random play."""

from __future__ import annotations

import random
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from herbrand.core import NO_VALUE, STUCK
from herbrand.measure.batch_play import PlayedGames, empty_games, play_games
from herbrand.measure.beliefs import NetworkGame
from herbrand.measure.random_play import Outcomes, measure_choices, measure_endings, measure_fairness

if TYPE_CHECKING:
    from herbrand.game import Game
    from herbrand.measure.effort import Effort
    from herbrand.measure.value import Measure

__all__ = ["Sample", "outcomes_of", "sample"]

_GAMES_ON_RULES = 32
"""Random games without a network."""
_SECONDS_ON_RULES = 20.0
"""Seconds after which no further game starts without a network."""


@dataclass(frozen=True)
class Sample:
    """Random games of one game."""

    game: Game
    network_game: NetworkGame | None
    """None without a network."""
    traced: PlayedGames
    """Games that were traced step by step."""
    outcomes: Outcomes
    """Results of these games or, with a network, of many more."""
    max_steps: int
    bound: int | None
    """The maximum length that a step counter proves, if there is one."""

    def measures(self) -> list[Measure]:
        """Return the measures of random play."""
        measures = measure_endings(self.outcomes, self.max_steps, self.bound) + measure_choices(self.traced)
        if len(self.game.players) > 1:
            measures += measure_fairness(self.outcomes, self.game.players, "random play")
        return measures


def sample(game: Game, effort: Effort, seed: int) -> Sample:
    """Play random games, on the network if there is one; the last sample is cached."""
    return _cached_sample(game, effort.playouts, effort.traced, effort.max_steps, seed)


@lru_cache(maxsize=1)
def _cached_sample(game: Game, playouts: int, traced: int, max_steps: int, seed: int) -> Sample:
    bound = None if game.step_counter is None else game.step_counter.bound
    if game.engine != "network":
        traced_games = _play_on_rules(game, seed, max_steps)
        return Sample(game, None, traced_games, outcomes_of(game, traced_games), max_steps, bound)
    expander = game.expander
    players = tuple(game.role_index(role) for role in game.players)
    network_game = NetworkGame(expander, players, game.has_percepts)
    one, two = np.random.SeedSequence(seed).spawn(2)
    no_search = np.zeros((traced, network_game.roles), np.int64)
    traced_games = play_games(network_game, no_search, seed=one, max_steps=max_steps)
    first = np.unique(traced_games.first)
    outcomes = outcomes_of(game, traced_games)
    if len(first) == 1:  # the first mover is the same in all games, so that more games need no trace
        drawn = int(two.generate_state(1, np.uint64)[0])
        ended = expander.rollouts(expander.initial, seed=drawn, each=playouts, max_steps=max_steps)
        goals = ended.goals[:, list(players)]
        over = ~ended.truncated & (ended.goals != STUCK).all(axis=1)
        outcomes = Outcomes(goals, ended.lengths, over, np.full(len(goals), outcomes.first[0]))
    return Sample(game, network_game, traced_games, outcomes, max_steps, bound)


def outcomes_of(game: Game, played: PlayedGames) -> Outcomes:
    """Return the results of traced games."""
    players = [game.role_index(role) for role in game.players]
    player_index = {role: at for at, role in enumerate(players)}
    first = np.array([player_index.get(role, -1) for role in played.first.tolist()], np.int64)
    return Outcomes(played.goals[:, players], played.lengths, played.ended, first)


def _play_on_rules(game: Game, seed: int, max_steps: int) -> PlayedGames:
    """Play a few random games by evaluating the rules."""
    chance = random.Random(seed)
    limits = game.limits.start()
    played = empty_games(_GAMES_ON_RULES, len(game.roles))
    players = [(game.role_index(role), role) for role in game.players]
    count_played = 0
    for game_index in range(_GAMES_ON_RULES):
        if game_index and limits.elapsed() > _SECONDS_ON_RULES:
            break
        state = game.initial_state("rules")
        decided = False
        for step in range(max_steps + 1):
            played.lengths[game_index] = step
            played.ended[game_index] = state.is_terminal
            if played.ended[game_index] or step == max_steps:
                break
            legal = state.legal_moves()
            if not all(legal.values()):
                break
            free = [(number, len(legal[role])) for number, role in players if len(legal[role]) > 1]
            played.choices[game_index] += len(free)
            played.legal[game_index] += sum(count for _, count in free)
            played.states_with_choice[game_index] += bool(free)
            if free and not decided:
                played.first[game_index] = free[0][0] if len(free) == 1 else -1
                decided = True
            state = state.next([chance.choice(moves) for moves in legal.values()])
        played.goals[game_index] = [NO_VALUE if goal is None else goal for goal in state.goals.values()]
        count_played = game_index + 1
    return played.first_games(count_played)
