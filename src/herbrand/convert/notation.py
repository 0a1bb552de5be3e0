"""Convert games to the notations of GDL, and to the graph of their relations."""

from __future__ import annotations

import contextlib
import random
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from herbrand.errors import BudgetExceeded
from herbrand.machine.trajectory import Trajectory
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
    """Write the rules as KIF, one statement a line; rules translated from GGDL are laid out."""
    printed = print_tree(game.tree, "prefix", portable, spelling=spelling)
    if game.tree.ggdl is None:
        return printed
    from herbrand.diagnostic import Source
    from herbrand.syntax.layout import format_text

    return replace(printed, text=format_text(Source(printed.text)))


def infix(game: StateMachine, *, portable: bool = False, spelling: bool = False) -> Printed:
    """Write the rules in the book's infix notation (HRF)."""
    return print_tree(game.tree, "infix", portable, spelling=spelling)


def ggdl(game: StateMachine, *, playouts: int = 3) -> str:
    """Write the rules in GGDL: moves, payoffs, data types, functional fluents.

    Functional fluents are detected in the states of some random games.  A game that was read from GGDL is
    returned in its original text.  Constructs that GGDL would read differently stay plain GDL.
    """
    from herbrand.check import check
    from herbrand.syntax import read
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
