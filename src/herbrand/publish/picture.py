"""The drawings of the states of a game as data: the empty boards, and the contribution of each fluent.

`herbrand.draw` draws any set of facts.  A program without it needs to know beforehand what every fluent that
can be true adds to the picture.  Fluents on boards put a piece into a cell, or mark one; those of towers put
one thing on another; the others are cards and words beside the boards.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from herbrand.draw.beside import CARDS
from herbrand.draw.grids import cell_places, drawn_walls
from herbrand.draw.looks import PALETTE, Look, content_looks, with_others, words
from herbrand.draw.paper import cell_name
from herbrand.draw.pieces import piece
from herbrand.draw.style import STYLE
from herbrand.draw.svg import draw
from herbrand.draw.terms import arguments, natural
from herbrand.publish.tables import moves_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from herbrand.draw.boards.layers import Shape
    from herbrand.draw.boards.layout import Layout
    from herbrand.game import Game

__all__ = ["picture_of"]

_CELL: Final = re.compile(r'<g class="hb-cell" data-cell="([^"]*)" data-say="([^"]*)">(.*?)</g>')


def picture_of(game: Game) -> dict[str, Any]:
    """Return the table `Picture` of `templates/picture.ts.in` as JSON values."""
    artist = game.artist
    layout = artist.layout
    network = game.network
    fluents = [network.terms.text(fluent) for fluent in network.fluents.tolist()]
    svg, cells = _empty_boards(layout, game.name)
    numbers = {name: i for i, (name, *_) in enumerate(cells)}
    looks = _looks(layout, fluents)
    pieces: dict[str, int] = {}
    content: list[list[int] | None] = []
    marks = []
    walls: list[tuple[int, str] | None] = []
    beside: list[tuple[str, str, str, bool] | None] = []
    for fluent in fluents:
        placed, marked, is_drawn = _placed(layout, fluent, numbers, looks, pieces)
        wall = _wall(layout, fluent, cells)
        walls.append(wall)
        is_drawn = is_drawn or wall is not None
        content.append(placed or None)
        marks.append(marked)
        beside.append(None if is_drawn else _words(layout, fluent))
    names = list(pieces)
    return {
        "svg": svg,
        "style": STYLE,
        "cells": cells,
        "pieces": [piece(looks[name]) for name in names],
        "names": [_name(looks[name], name) for name in names],
        "terms": names,
        "content": content,
        "marks": marks,
        "walls": walls,
        "towers": [_towers(layout, shape, fluents) for shape in layout.towers],
        "beside": beside,
        "lamps": [fluents.index(name) for name in layout.lamps if name in fluents],
        "clicks": [[list(clicks) for clicks in artist.clicks(some)] for some in moves_of(network)],
    }


def _empty_boards(
    layout: Layout, name: str
) -> tuple[list[str] | None, list[tuple[str, float, float, float, str]]]:
    """Return the empty boards, cut around each cell, and the cells."""
    if not layout.boards:
        return None, []
    only_boards = replace(layout, towers=(), rows=(), lamps=())
    svg = draw((), only_boards, name=name, extras=False, control=False, style=False).svg
    places = cell_places(layout)
    parts, cells, end = [], [], 0
    for match in _CELL.finditer(svg):
        x, y, size = places[match[1]]
        parts += [svg[end : match.start()], match[3]]
        cells.append((match[1], round(x, 2), round(y, 2), round(size, 2), match[2]))
        end = match.end()
    return [*parts, svg[end:]], cells


def _looks(layout: Layout, fluents: Sequence[str]) -> Mapping[str, Look]:
    """Return the looks of everything that a fluent puts on a board."""
    contents = layout.contents(layout.facts(fluents))
    named = {name for one in contents.values() for names in one.cells.values() for name in names}
    return with_others(content_looks(layout), named, layout)


def _placed(
    layout: Layout,
    fluent: str,
    numbers: Mapping[str, int],
    looks: Mapping[str, Look],
    pieces: dict[str, int],
) -> tuple[list[int], int, bool]:
    """Return the cells and pieces of a fluent, the cell that it marks, and whether that says it all."""
    parts = layout.facts([fluent])
    content: list[int] = []
    marked = -1
    is_drawn = False
    for (board, copy), inside in layout.contents(parts).items():
        for cell, names in inside.cells.items():
            number = numbers.get(cell_name(board, copy, cell))
            if number is None:
                return [], -1, False
            is_drawn = True
            for name in names:
                if looks[name.lower()].kind != "none":
                    content += [number, pieces.setdefault(name.lower(), len(pieces))]
        for cell in inside.marks:
            marked = numbers.get(cell_name(board, copy, cell), -1)
            is_drawn = is_drawn or marked >= 0
    return content, marked, is_drawn


def _wall(
    layout: Layout, fluent: str, cells: Sequence[tuple[str, float, float, float, str]]
) -> tuple[int, str] | None:
    """Return the walls that a fluent builds, and the last cell of their board, which is drawn before them."""
    for (board, copy), inside in layout.contents(layout.facts([fluent])).items():
        if inside.walls:
            last = max(
                (i for i, cell in enumerate(cells) if cell[0].startswith(f"{board}.{copy}:")), default=-1
            )
            return (last, drawn_walls(layout.boards[board], inside.walls)) if last >= 0 else None
    return None


def _towers(layout: Layout, shape: Shape, fluents: Sequence[str]) -> dict[str, Any]:
    """Return the table `Towers` of stacked things, drawn as `draw.beside.towers` draws it."""
    suffix = shape[0].removeprefix("on")
    grounding = {start + suffix for start in ("table", "clear", "on_table", "ontable")}
    on: list[tuple[int, str, str]] = []
    there: list[tuple[int, str]] = []
    for number, (name, *rest) in enumerate(map(arguments, fluents)):
        if (name, len(rest)) == shape:
            on.append((number, rest[0], rest[1]))
        elif name in grounding and len(rest) == 1:
            there.append((number, rest[0]))
    bases = layout.bases if len(layout.towers) == 1 else frozenset()
    grounded = {thing for _, thing in there}
    stacked = {thing for _, above, below in on for thing in (above, below)}
    things = sorted(stacked | grounded | bases, key=natural)
    movable = [thing for thing in things if thing in layout.movable or thing in grounded]
    places = {thing: i for i, thing in enumerate(things)}
    return {
        "things": things,
        "colours": [
            PALETTE[movable.index(thing) % len(PALETTE)] if thing in movable else "" for thing in things
        ],
        "on": [(number, places[thing], places[below]) for number, thing, below in on],
        "there": [(number, places[thing]) for number, thing in there],
        "bases": sorted(places[base] for base in bases),
        "isSized": bool(bases) and not bases & {*movable} and all(name[-1].isdigit() for name in movable),
    }


def _words(layout: Layout, fluent: str) -> tuple[str, str, str, bool] | None:
    """Return the text of a fluent beside the boards: label, content, number, and whether it is a card.

    Returns None for fluents that the page shows otherwise.
    """
    name, *rest = arguments(fluent)
    shape = (name, len(rest))
    is_shown = shape in layout.drawn and shape not in layout.rows
    if is_shown or shape in layout.control or name in layout.hints.get("hide", ()) or name in layout.lamps:
        return None
    label = " ".join(words(name)) or name
    if len(rest) > 1 and rest[0].lower() in {role.lower() for role in layout.roles}:
        label = f"{rest.pop(0)} {label}"
    is_card = bool(CARDS.match(name)) and bool(rest)
    number = rest.pop() if is_card and len(rest) > 1 and rest[-1].isdigit() else ""
    return label, " ".join(rest), number, is_card


def _name(look: Look, name: str) -> str:
    """Return what to call a piece: a white pawn, not `wp`."""
    if look.kind == "chess":
        return f"{look.colour} {look.text}"
    if look.kind in ("disc", "crowned") and look.colour in name:
        return name
    return " ".join(words(name)) or name
