"""`choose_player`: quick games after a training, which say how `learned` plays best."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from herbrand.play.comparison import can_compare, compare_players, tree_search, with_values
from herbrand.play.training.trainer import PLAYS, TREES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from herbrand.game import Game
    from herbrand.play.training.model import ValueModel

__all__ = ["choose_player"]

_PAIRS: Final = 16
"""About as many pairs of games decide between two models."""
_PAIRS_OF_TREES: Final = 6
"""The same for tree search, with longer clocks: with short ones it has few playouts."""
_FEWEST_GAMES: Final = 4
"""Games without which the winner before remains."""
_SHARE_OF_TREES: Final = 0.5
"""Share of the time for these games."""


def choose_player(
    game: Game, models: Mapping[str, ValueModel], seed: int, seconds: float
) -> tuple[str, list[str]]:
    """Return which model plays best, or `TREES`, and the results of the games in words.

    The first model plays the second, the winner the next one, and the last winner tree search, both with the
    same processor time a move.  That takes at most `seconds` by the clock; the choice is empty if no game was
    over.  The game has two roles whose goals add up to 100: others have an empty choice, too.
    """
    results: list[str] = []
    if not can_compare(game):
        return "", results
    makers = {name: with_values(game, model.learned) for name, model in models.items()}
    winner, *others = makers
    makers[TREES] = tree_search(game)
    finished = 0
    for other in (*others, TREES):
        share, pairs = (1 - _SHARE_OF_TREES) / max(1, len(others)), _PAIRS
        if other == TREES:
            share, pairs = _SHARE_OF_TREES, _PAIRS_OF_TREES
        rivals = makers[other], makers[winner]
        result = compare_players(game, rivals, seed=seed, seconds=share * seconds, pairs=pairs)
        finished += result.games
        results.append(f"{PLAYS[other]} {result.points:g} of {result.games} against {PLAYS[winner]}")
        if result.games >= _FEWEST_GAMES and 2 * result.points > result.games:
            winner = other
    return winner if finished else "", results
