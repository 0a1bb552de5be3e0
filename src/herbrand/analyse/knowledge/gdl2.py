"""From GDL to GDL-II: say in the rules that every role sees every move."""

from __future__ import annotations

from typing import TYPE_CHECKING

from herbrand.analyse.knowledge.perfection import perfect_information
from herbrand.errors import GameError
from herbrand.runtime.limits import Limits
from herbrand.syntax.nodes import Atom, Function, children
from herbrand.syntax.printer import Printed, print_tree

if TYPE_CHECKING:
    from herbrand.machine.state_machine import StateMachine
    from herbrand.syntax.nodes import Node

__all__ = ["write"]

SECONDS = 20.0
"""How long to look for something that is hidden."""


def write(game: StateMachine) -> Printed:
    """Write a game as KIF with `sees`.

    A game without `sees` gets one rule more, which tells every role every move, so that it means the
    same as before.  A game that has `sees` is written as it is, with a remark on whether anything
    is hidden at all.
    """
    printed = print_tree(game.tree, "prefix")
    text = game.tree.source.text if game.tree.notation == "prefix" else printed.text
    remarks, rule = _remarks(game)
    said = " ".join(line.strip() for line in remarks)
    lines = [text.rstrip("\n"), "", *(f"; {line}" for line in remarks), *(["", rule] if rule else [])]
    return Printed("\n".join(lines) + "\n", {}, printed.diagnostics, (said,))


def _remarks(game: StateMachine) -> tuple[list[str], str]:
    """Return what is to be said of the game, and the rule to add if there is one."""
    if not game.has_percepts:
        name = _unused(game, "did")
        return [
            "Every role sees every move"
        ], f"(<= (sees ?p ({name} ?q ?m))\n    (role ?p)\n    (does ?q ?m))"
    try:
        verdict = perfect_information(game, limits=Limits(seconds=SECONDS))
    except GameError as error:
        return [f"Whether anything is hidden was not found out: {error}"], ""
    if verdict.answer == "proved":
        return [f"Nothing is hidden: {verdict.reason}"], ""
    if verdict.witness is not None:
        play = "; ".join(" ".join(joint) for joint in verdict.witness.moves)
        return [f"Hidden information: {verdict.reason}, for one after", f"  {play}"], ""
    return [f"Whether anything is hidden is not known: {verdict.reason}"], ""


def _unused(game: StateMachine, name: str) -> str:
    """Return a name that is no relation of the game."""
    relations: set[str] = set()
    stack: list[Node] = list(game.tree.statements)
    while stack:
        node = stack.pop()
        if isinstance(node, Atom | Function):
            relations.add(node.name)
        stack.extend(children(node))
    while name in relations:
        name += "_"
    return name
