"""The sides of a board that a role has to connect, as in hex, tested by playing.

A chain from side to side ends such a game, one that lacks an end does not, and neither does a chain of the
same role between the other two sides.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from herbrand.draw.boards.layers import BLANKS
from herbrand.errors import HerbrandError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from herbrand.draw.boards.layers import Cell, Layer
    from herbrand.draw.boards.layout import BoardLayout, Layout
    from herbrand.machine.state_machine import StateMachine

__all__ = ["with_sides"]

FORMS: Final = ("square", "hex", "hex-left")


def with_sides(game: StateMachine, layout: Layout) -> Layout:
    """Return the layout with the sides that roles have to join."""
    boards = []
    for number, board in enumerate(layout.boards):
        sides = dict(board.sides)
        if not sides and board.form in FORMS and board.copies == ((),) and not board.nested:
            with suppress(HerbrandError):  # such a state cannot be evaluated in time
                sides = _sides(game, layout, number)
        boards.append(replace(board, sides=sides))
    return replace(layout, boards=tuple(boards))


def _sides(game: StateMachine, layout: Layout, number: int) -> dict[str, str]:
    board = layout.boards[number]
    layer = board.layers[0]
    is_small = min(len(board.first), len(board.second)) < 3
    if layer.split or not layer.first or is_small or len(game.players) < 2:
        return {}
    sides = {}
    for role in game.players:
        content = _content(layer, role)
        if content is None:
            return {}
        joined = [axis for axis in (0, 1) if _wins(game, layout, number, _line(board, axis), role, content)]
        if len(joined) != 1:
            return {}
        line = _line(board, joined[0])
        if any(_wins(game, layout, number, part, role, content) for part in (line[1:], line[:-1])):
            return {}
        sides["columns" if (joined[0] == 0) == board.across else "rows"] = role
    return sides if len(sides) == len(game.players) else {}


def _content(layer: Layer, role: str) -> str | None:
    """Return a content that belongs to a role: named for it, or for it and a kind of piece."""
    owned = sorted(what for what in layer.all_contents if role.lower() in what.lower().split())
    return owned[0] if owned and len(owned[0].split()) == len(layer.content) else None


def _line(board: BoardLayout, axis: int) -> list[Cell]:
    """Return the cells along the first coordinate (`axis` 0) or the second, in the middle of the board."""
    if axis == 0:
        return [(one, board.second[len(board.second) // 2]) for one in board.first]
    return [(board.first[len(board.first) // 2], two) for two in board.second]


def _wins(
    game: StateMachine, layout: Layout, number: int, cells: Sequence[Cell], role: str, content: str
) -> bool:
    """Whether the game is over and won by a role that holds these cells, where all others are empty."""
    layer = layout.boards[number].layers[0]
    facts = []
    for fact in game.initial_state("rules").facts:
        (parts,) = layout.facts([fact]) or ((fact,),)
        spot = layout.spot(parts)
        if spot is None or spot.layer is not layer:
            facts.append(fact)
            continue
        if layer.what(spot.row).lower() in BLANKS and layer.cell(spot.row) not in cells:
            facts.append(fact)
    for one, two in cells:
        row = [""] * layer.shape[1]
        for positions, values in ((layer.first, one), (layer.second, two), (layer.content, content.split())):
            for position, value in zip(positions, values, strict=True):
                row[position] = value
        facts.append(f"({layer.shape[0]} {' '.join(row)})")
    state = game.state(facts, "rules")
    return state.is_terminal and state.goal(role) == 100
