"""The notations of GDL as targets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from herbrand.syntax.printer import print_tree

if TYPE_CHECKING:
    from herbrand.game import Game
    from herbrand.syntax.printer import Printed

__all__ = ["infix", "prefix"]


def prefix(game: Game, *, portable: bool = False, spelling: bool = False) -> Printed:
    """Write the rules as KIF, one statement a line."""
    return print_tree(game.tree, "prefix", portable, spelling=spelling)


def infix(game: Game, *, portable: bool = False, spelling: bool = False) -> Printed:
    """Write the rules in the book's infix notation (HRF)."""
    return print_tree(game.tree, "infix", portable, spelling=spelling)
