"""Games in which relations are defined anew: the old rules define them under other names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from herbrand.errors import GameError
from herbrand.machine.state_machine import StateMachine
from herbrand.syntax import read
from herbrand.syntax.names import KEYWORDS, first_spellings, fresh
from herbrand.syntax.nodes import Atom, rebuilt
from herbrand.syntax.printer import print_tree

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from herbrand.syntax.nodes import Node

__all__ = ["redefine"]


def redefine(
    game: StateMachine,
    relations: Sequence[tuple[str, int]],
    names: Sequence[str],
    rules: Callable[..., str],
    kind: str,
) -> StateMachine:
    """Return a game whose rules have other names for relations, the first of `names`, and some more rules.

    `rules` returns these, in prefix notation, for the `names`, or others where the game uses these already.
    `kind` is added to its title.  Raises `GameError` for rules whose names differ only in
    case.
    """
    if not game.tree.folds_case:
        raise GameError(f"rules whose names differ only in case cannot be {kind}")
    used = {*KEYWORDS, *first_spellings(game.tree.statements)}
    chosen = [fresh(name, used) for name in names]
    renaming = dict(zip(relations, chosen, strict=False))

    def renamed(node: Node) -> Any:
        if isinstance(node, Atom) and node.key in renaming:
            return Atom(renaming[node.key], node.args)
        return rebuilt(node, renamed)

    before = print_tree([*map(renamed, game.tree.statements)], spelling=True)
    title = f"{game.name} ({kind})"
    text = before.text + rules(*chosen)
    return StateMachine(read(text, "prefix", title), name=title, limits=game.limits)
