"""Convert games to the notations of GDL, and to the graph of their relations."""

from __future__ import annotations

import contextlib
import random
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from herbrand.check.fixing import is_tolerated, without_oddities
from herbrand.errors import BudgetExceeded
from herbrand.machine.trajectory import Trajectory
from herbrand.syntax import read
from herbrand.syntax.printer import print_tree

if TYPE_CHECKING:
    from herbrand.machine.state_machine import StateMachine
    from herbrand.syntax.printer import Printed

__all__ = ["dependencies", "ggdl", "infix", "prefix"]

STEPS: Final = 60
"""The most steps of a random game in the search for functional fluents."""


def dependencies(game: StateMachine) -> str:
    """Return the dependency graph for Graphviz; negative edges are dashed, cycles boxed."""
    return game.rules.graph.to_dot()


def prefix(game: StateMachine, *, portable: bool = False, spelling: bool = False) -> Printed:
    """Write the rules as KIF, one statement a line; rules translated from GGDL are laid out.

    What the checks tolerate with a warning is repaired, as far as there is a fix for it.
    """
    printed = _clean(game, "prefix", portable=portable, spelling=spelling)
    if game.tree.ggdl is None:
        return printed
    from herbrand.diagnostic import Source
    from herbrand.syntax.layout import format_text

    return replace(printed, text=format_text(Source(printed.text)))


def infix(game: StateMachine, *, portable: bool = False, spelling: bool = False) -> Printed:
    """Write the rules in the book's infix notation (HRF), repaired as by `prefix`."""
    return _clean(game, "infix", portable=portable, spelling=spelling)


def _clean(game: StateMachine, notation: str, *, portable: bool, spelling: bool) -> Printed:
    """Print the rules without what is tolerated with a warning.

    What was set aside or corrected when they were checked is not in their tree any more.  The rest is
    repaired in prefix text, in which everything has its fix.
    """
    if game.tree.ggdl is not None or not any(map(is_tolerated, game.rules.diagnostics)):
        return print_tree(game.tree, notation, portable, spelling=spelling)
    text = print_tree(game.tree, "prefix", spelling=True)
    tree = without_oddities(read(text.text, "prefix", game.tree.source.name))
    printed = print_tree(tree, notation, portable, spelling=spelling)
    return replace(
        printed,
        renamed={**text.renamed, **printed.renamed},
        diagnostics=text.diagnostics + printed.diagnostics,
    )


def ggdl(game: StateMachine, *, playouts: int = 3) -> str:
    """Write the rules in GGDL: moves, payoffs, data types, functional fluents.

    Functional fluents are detected in the states of some random games.  A game that was read from GGDL is
    returned in its original text.  Constructs that GGDL would read differently stay plain GDL.
    """
    from herbrand.check import check
    from herbrand.syntax.ggdl.lift import lift

    if game.tree.ggdl is not None:
        return game.tree.source.text
    states: list[frozenset[str]] = []
    if not game.rules.errors:
        rng = random.Random(1)
        for _ in range(playouts):
            play = Trajectory.replay(game, ())
            play.finish(rng, max_steps=STEPS)
            states += [state.facts for state in play.states]
    base: tuple[str, ...] = ()
    if states:
        with contextlib.suppress(BudgetExceeded):
            base = game.base
    text = lift(game.tree, states, base)
    if game.rules.errors or not check(read(text, "ggdl")).errors:
        return text
    text = lift(game.tree)  # without the fluents that were functional only in the sampled states
    return infix(game).text if check(read(text, "ggdl")).errors else text
