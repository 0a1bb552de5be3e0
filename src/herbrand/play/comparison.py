"""Quick games between two searches: which of them suits a game."""

from __future__ import annotations

import random
import time
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from herbrand.errors import HerbrandError
from herbrand.machine.trajectory import Trajectory
from herbrand.play.alphabeta import AlphaBetaPlayer
from herbrand.play.background import start_thread
from herbrand.play.interface import counted_goals
from herbrand.play.mcts import MctsPlayer
from herbrand.play.search.features import adds_up
from herbrand.play.threads import SEARCH_THREADS, available_cores

if TYPE_CHECKING:
    from collections.abc import Callable

    from herbrand.engine.expand import Rollouts
    from herbrand.game import Game
    from herbrand.play.learning import LearnedJudge

__all__ = ["QuickGames", "can_compare", "compare_players", "compare_searches", "tree_search", "with_values"]

_OPENING: Final = 2
"""Moves drawn at the beginning of a game."""
_SAMPLE: Final = 64
"""Random games by which the length of a game is estimated."""
_LONGEST: Final = 400
"""Steps after which a game is a draw."""
_FEWEST_PAIRS: Final = 2.2
"""Pairs of games for which there must be time."""
_SHORTEST_CLOCK: Final = 0.005
_LONGEST_CLOCK: Final = 0.1
_MOST_MEMORY: Final = 48.0
"""Megabytes for the tree or the table of a search, at most."""
_READY: Final = 0.3
"""Share of the time in which searches must be built."""


Rival: TypeAlias = "AlphaBetaPlayer | MctsPlayer"
Maker: TypeAlias = "Callable[[str, int, float, float], Rival]"
"""Returns a player for a role, with a seed, started with so many seconds, in so many megabytes."""


class QuickGames(NamedTuple):
    """The result of the first of two players in quick games against the second."""

    points: float
    """For each game 1 for a win, 0.5 for a draw, and otherwise by the difference of goals."""
    games: int
    clock: float
    """Seconds of processor time for a move."""


def with_values(game: Game, values: Callable[[int], LearnedJudge]) -> Maker:
    """Return the maker of alpha-beta players with the values of a role."""

    def make(role: str, seed: int, seconds: float, megabytes: float) -> Rival:
        player = AlphaBetaPlayer(seed, threads=1, memory=megabytes, learning=False)
        player.start(game, role, seconds)
        player.use(values(game.role_index(role)))
        return player

    return make


def tree_search(game: Game) -> Maker:
    """Return the maker of players by tree search."""

    def make(role: str, seed: int, seconds: float, megabytes: float) -> Rival:
        player = MctsPlayer(seed, threads=1, memory=megabytes)
        player.start(game, role, seconds)
        return player

    return make


def compare_searches(
    game: Game,
    role: int,
    learned: LearnedJudge,
    *,
    seed: int,
    seconds: float,
    memory: float = 4 * _MOST_MEMORY,
    stopped: Callable[[], bool] = lambda: False,
) -> QuickGames:
    """Let alpha-beta with learned values, which are for `role`, play tree search; see `compare_players`."""
    makers = with_values(game, lambda other: learned.of(role, other)), tree_search(game)
    return compare_players(game, makers, seed=seed, seconds=seconds, memory=memory, stopped=stopped)


def compare_players(
    game: Game,
    makers: tuple[Maker, Maker],
    *,
    seed: int,
    seconds: float,
    memory: float = 4 * _MOST_MEMORY,
    pairs: float = _FEWEST_PAIRS,
    stopped: Callable[[], bool] = lambda: False,
) -> QuickGames:
    """Let two players play each other for at most `seconds` by the clock.

    The game has two roles that take turns and whose goals add up to 100.  `memory` is for all searches
    together, in megabytes.  Games come in pairs with equal first moves, in which the players exchange roles.
    There is one game for each thread at a time, and a clock with which about so many `pairs` are over in the
    time.  A pair counts when both of its games are over.
    """
    until = time.monotonic() + seconds
    threads = min(SEARCH_THREADS, available_cores())
    length = max(1.0, float(_sample(game, seed).lengths.mean()))
    megabytes = min(_MOST_MEMORY, memory / 4)  # two searches for each of two assignments of roles
    of_one_pair = seconds * threads / (2 * length)
    has_games = of_one_pair / _FEWEST_PAIRS >= _SHORTEST_CLOCK
    clock = min(_LONGEST_CLOCK, max(_SHORTEST_CLOCK, of_one_pair / pairs))
    results: dict[tuple[int, int], float] = {}

    def has_time() -> bool:
        return time.monotonic() < until and not stopped()

    def play_games(thread: int) -> None:
        rivals: dict[int, _Rivals] = {}
        try:
            with suppress(HerbrandError, MemoryError):
                number = thread
                while has_time():
                    pair, side = divmod(number, 2)
                    if side not in rivals:
                        rivals[side] = _Rivals(game, side, makers, seed, _READY * seconds, megabytes)
                    points = rivals[side].play(seed + pair, clock, has_time)
                    if points is None:
                        return
                    results[pair, side] = points
                    number += threads
        finally:
            for each in rivals.values():
                each.stop()

    workers = [start_thread(partial(play_games, thread)) for thread in range(threads if has_games else 0)]
    while any(worker.is_alive() for worker in workers) and has_time():
        time.sleep(0.01)
    counted = [points for (pair, side), points in tuple(results.items()) if (pair, 1 - side) in results]
    return QuickGames(sum(counted), len(counted), clock)


def can_compare(game: Game) -> bool:
    """Whether the game has two roles, whose goals add up to 100 in some random games."""
    return len(game.roles) == 2 and adds_up(_sample(game, 0))


def _sample(game: Game, seed: int) -> Rollouts:
    expander = game.expander
    return expander.rollouts(expander.initial, seed=seed, each=_SAMPLE, max_steps=_LONGEST)


class _Rivals:
    """One player in one of two roles, the other in the other; for one thread."""

    def __init__(
        self, game: Game, side: int, makers: tuple[Maker, Maker], seed: int, seconds: float, megabytes: float
    ) -> None:
        self.game = game
        self.roles = game.roles[side], game.roles[1 - side]
        self.players = {
            role: make(role, seed, seconds, megabytes) for make, role in zip(makers, self.roles, strict=True)
        }

    def play(self, seed: int, clock: float, has_time: Callable[[], bool]) -> float | None:
        """Return what the first player gets, from 0 to 1; None if there was no time for that."""
        chance = random.Random(seed)
        play = Trajectory(self.game.initial_state("network"))
        while not play.state.is_terminal and len(play) < _LONGEST:
            if not has_time():
                return None
            joint = play.state.random_joint_move(chance)
            if len(play) >= _OPENING:
                for role in play.choosing(len(play)):
                    joint[role] = self.players[role].consider(play.state, clock)
            play.make(joint)
        if not play.state.is_terminal:
            return 0.5
        goals = dict(zip(self.game.roles, counted_goals(play.state), strict=True))
        return (100 + goals[self.roles[0]] - goals[self.roles[1]]) / 200

    def stop(self) -> None:
        """Release both players."""
        for player in self.players.values():
            player.stop()
