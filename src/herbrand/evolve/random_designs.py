"""Random designs: the same seed gives the same game."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Final

from herbrand.evolve.blocks.board_game import BoardGame
from herbrand.evolve.blocks.grammar import draw_block
from herbrand.evolve.blocks.market_game import MarketGame
from herbrand.evolve.blocks.trick_game import TrickGame

if TYPE_CHECKING:
    from collections.abc import Sequence

    from herbrand.evolve.blocks.design import Design

__all__ = ["FAMILIES", "random_design"]

FAMILIES: Final[dict[str, type[Design]]] = {"board": BoardGame, "tricks": TrickGame, "market": MarketGame}
"""The families of designs, by name."""
_WEIGHTS: Final = {"board": 8, "tricks": 1, "market": 1}


def random_design(seed: int | Random, families: Sequence[str] = tuple(FAMILIES)) -> Design:
    """Return a random design without problems, the same for the same seed; `KeyError` for an unknown family.

    Designs are drawn until one has no problems, about one in seven.
    """
    chance = seed if isinstance(seed, Random) else Random(seed)
    (family,) = chance.choices(families, [_WEIGHTS[name] for name in families])
    while True:
        design = draw_block(FAMILIES[family], chance)
        if not design.problems():
            return design
