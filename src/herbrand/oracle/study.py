"""The design of a study of language models that simulate games, to be repeated with any model.

Four models were asked for legal moves and next states in 35 games, at several horizons
and with obfuscated names (arXiv 2602.19160).  The games here are bundled ones.
"""

from __future__ import annotations

from statistics import correlation
from typing import TYPE_CHECKING, Any, Final

from herbrand.envs.language import TaskMaker

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

__all__ = ["GAMES", "HORIZONS", "correlations", "study_tasks"]

GAMES: Final = (
    *("amazons", "blocksWorld", "breakthrough", "checkers", "chess", "connectFour", "eightPuzzle", "gomoku"),
    *("hanoi", "hex", "knightsTour", "lightsOut", "nim", "notakto", "prisonersDilemma", "reversi"),
    *("rockPaperScissors", "sudoku", "ticTacToe", "trefoil", "tron"),
    *("brihoth", "kosil", "koukrark", "krugrous", "moustos", "steisult", "tilal", "zebrilt"),
    *("battleships", "kuhn", "liarsDice", "mastermind", "montyHall", "pairs"),
)
"""Thirty-five games: well-known ones, eight that were evolved and have never been described, six that hide
information."""
HORIZONS: Final = (1, 2, 3, 5, 10)
"""Joint moves from the initial state."""


def study_tasks(
    *,
    count: int = 3,
    seed: int = 0,
    games: Sequence[str] = GAMES,
    horizons: Sequence[int] = HORIZONS,
    progress: Callable[[int, int], None] | None = None,
) -> Iterator[dict[str, Any]]:
    """Yield `count` tasks for each game, question and choice of names.

    The questions are the legal moves and the next state in a state of a random game, and the state after each
    number of joint moves, where plays are that long; names are those of the rulesheet, or meaningless.
    """
    from herbrand.game import load

    for number, name in enumerate(games):
        for scrambled in (False, True):
            maker = TaskMaker(load(name), seed=seed, scrambled=scrambled)
            for kind, horizon in (("legal", None), ("next", None), *(("steps", steps) for steps in horizons)):
                for one in range(count):
                    task = maker.make(kind, one, horizon=horizon)
                    if horizon is None or task["horizon"] == horizon:  # some games are shorter
                        yield task
        if progress is not None:
            progress(number + 1, len(games))


def correlations(
    scores: Mapping[str, float], features: Mapping[str, Mapping[str, float]]
) -> list[tuple[str, float]]:
    """Return the correlations of the features of games with their mean scores, the strongest first.

    Both are by game; each value is Spearman's rank correlation.  Features that are the same in all games are
    left out.
    """
    games = [game for game in scores if game in features]
    ranked = _ranks([scores[game] for game in games])
    ranking = []
    for name in features[games[0]] if games else ():
        values = [features[game][name] for game in games]
        if len(set(values)) > 1 and len(set(ranked)) > 1:
            ranking.append((name, round(correlation(_ranks(values), ranked), 3)))
    return sorted(ranking, key=lambda pair: (-abs(pair[1]), pair[0]))


def _ranks(values: Sequence[float]) -> list[float]:
    """Return the ranks of values; equal ones share the mean of theirs."""
    order = sorted(values)
    return [order.index(value) + (order.count(value) - 1) / 2 for value in values]
