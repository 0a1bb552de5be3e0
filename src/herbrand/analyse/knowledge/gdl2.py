"""Convert GDL to GDL-II: add percepts by which every role sees every move."""

from __future__ import annotations

from typing import TYPE_CHECKING

from herbrand.analyse.knowledge.perfection import perfect_information
from herbrand.errors import GameError
from herbrand.runtime.limits import Limits
from herbrand.syntax.nodes import Atom, Function, walk
from herbrand.syntax.printer import Printed, print_tree

if TYPE_CHECKING:
    from herbrand.machine.state_machine import StateMachine

__all__ = ["write"]

SECONDS = 20.0
"""The time limit of the search for hidden information."""


def write(game: StateMachine) -> Printed:
    """Write a game as KIF with `sees`.

    A game without `sees` gets an additional rule by which every role sees every move, so that its meaning
    stays the same.  A game with `sees` is written unchanged, with a remark on whether anything is hidden.
    """
    printed = print_tree(game.tree, "prefix")
    text = game.tree.source.text if game.tree.notation == "prefix" else printed.text
    remarks, rule = _remarks(game)
    remark = " ".join(line.strip() for line in remarks)
    lines = [text.rstrip("\n"), "", *(f"; {line}" for line in remarks), *(["", rule] if rule else [])]
    return Printed("\n".join(lines) + "\n", {}, printed.diagnostics, (remark,))


def _remarks(game: StateMachine) -> tuple[list[str], str]:
    """Return remarks on the game, and the rule to add, if any."""
    if not game.has_percepts:
        rule = f"(<= (sees ?p ({_unused(game, 'did')} ?q ?m))\n    (role ?p)\n    (does ?q ?m))"
        return ["Every role sees every move"], rule
    try:
        verdict = perfect_information(game, limits=Limits(seconds=SECONDS))
    except GameError as error:
        return [f"It is unknown whether anything is hidden: {error}"], ""
    if verdict.answer == "proved":
        return [f"Nothing is hidden: {verdict.reason}"], ""
    if verdict.witness is not None:
        play = "; ".join(" ".join(joint) for joint in verdict.witness.moves)
        return [f"Hidden information: {verdict.reason}, for one after", f"  {play}"], ""
    return [f"It is unknown whether anything is hidden: {verdict.reason}"], ""


def _unused(game: StateMachine, name: str) -> str:
    """Return a name that the game does not use as a relation or function."""
    relations = {node.name for node in walk(*game.tree.statements) if isinstance(node, Atom | Function)}
    while name in relations:
        name += "_"
    return name
