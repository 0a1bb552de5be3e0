"""The notations of GDL as targets."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from herbrand.syntax.printer import print_tree

if TYPE_CHECKING:
    from herbrand.game import Game
    from herbrand.syntax.printer import Printed

__all__ = ["infix", "prefix"]


def prefix(game: Game, *, portable: bool = False, spelling: bool = False) -> Printed:
    """Write the rules as KIF, one statement a line; rules that GGDL was translated to are laid out."""
    printed = print_tree(game.tree, "prefix", portable, spelling=spelling)
    if game.tree.ggdl is None:
        return printed
    from herbrand.syntax.layout import format_text
    from herbrand.syntax.source import Source

    return replace(printed, text=format_text(Source(printed.text)))


def infix(game: Game, *, portable: bool = False, spelling: bool = False) -> Printed:
    """Write the rules in the book's infix notation (HRF)."""
    return print_tree(game.tree, "infix", portable, spelling=spelling)
