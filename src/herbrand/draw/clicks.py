"""The places of the picture that a move refers to: the cells that a person clicks, in order.

    >>> import herbrand
    >>> from herbrand.draw.artist import Artist
    >>> game = herbrand.load("breakthrough")
    >>> moves = game.initial_state("rules").legal_moves("white")
    >>> artist = Artist.of(game)
    >>> str(moves[0]), artist.clicks(moves)[0]
    ('(move a 2 a 3)', ('0.0:a:2', '0.0:a:3'))

A place is the name of a cell in `data-cell` (`paper.cell_name`), or such a name with `*` for a coordinate
that the move leaves open: `0.0:3:*` is a column.  The arguments of moves are read from the left: as many as
name a cell of a board are one click.  Which argument is which coordinate follows from the variables
that moves share with fluents in the rules (`links.py`), else from the order of the fluent.  Moves with the
same clicks are told apart by a choice that the page offers, so that every move can be made.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import permutations
from typing import TYPE_CHECKING

from herbrand.draw.paper import cell_name, item_name
from herbrand.draw.terms import arguments

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from herbrand.draw.boards.layers import Cell, Layer, Shape
    from herbrand.draw.boards.layout import BoardLayout, Layout
    from herbrand.draw.boards.rules import Links

__all__ = ["Clicker", "Clicks", "dropped"]

Clicks = tuple[str, ...]
"""The places to click, in order; empty for a move that refers to none."""


@dataclass(frozen=True)
class _Piece:
    """How some arguments of a move name a place."""

    at: tuple[int, ...]
    """Positions of the arguments, in the order of the fluent's key, first and second coordinate."""
    board: int
    layer: int
    whole: bool = True
    """False where only the first, `axis` 0, or the second coordinate, `axis` 1, is named."""
    axis: int = 0
    item: bool = False
    """Whether it is a thing in a tower or a pile."""


def dropped(
    board: BoardLayout, number: int, copy: int, moves: Iterable[Sequence[str]], filled: Sequence[Cell]
) -> list[Clicks]:
    """Name what moves dropped into a rack: the topmost of the `filled` cells in each column of a move."""
    cells: list[Clicks] = []
    for column in (name for move in moves for name in move if name.endswith(":*") and board.rack):
        inside = [cell for cell in filled if cell_name(number, copy, cell).startswith(column[:-1])]
        if inside:
            cells.append((cell_name(number, copy, min(inside, key=lambda cell: board.positions[cell])),))
    return cells


class Clicker:
    """Reads the moves of one game as clicks."""

    def __init__(self, layout: Layout, moves: Iterable[str], links: Links) -> None:
        self._layout = layout
        self._links = links
        self._items = set(layout.movable) | set(layout.stock) | set(layout.bases)
        self._domains: dict[Shape, list[set[str]]] = {}
        for move in moves:
            self._note(arguments(move))
        self._plans: dict[Shape, tuple[_Piece, ...]] = {}

    def _note(self, parts: tuple[str, ...]) -> bool:
        """Remember the arguments of a move; say whether they are new."""
        shape = (parts[0], len(parts) - 1)
        domains = self._domains.setdefault(shape, [set() for _ in parts[1:]])
        new = False
        for domain, part in zip(domains, parts[1:], strict=True):
            new |= part not in domain
            domain.add(part)
        return new

    def clicks(self, move: str) -> Clicks:
        """Return the places to click for a move."""
        parts = arguments(move)
        pieces = self._read(parts)
        return tuple(place for piece in pieces if (place := self._place(piece, parts[1:])) is not None)

    def cells(self, parts: tuple[str, ...]) -> list[range]:
        """Return which arguments of a move, split into its parts, name a cell together."""
        whole = [piece.at for piece in self._read(parts) if piece.whole and len(piece.at) > 1]
        return [range(min(at), max(at) + 1) for at in whole]

    def _read(self, parts: tuple[str, ...]) -> tuple[_Piece, ...]:
        shape = (parts[0], len(parts) - 1)
        if self._note(parts):
            self._plans.pop(shape, None)
        if shape not in self._plans:
            self._plans[shape] = self._plan(shape)
        return self._plans[shape]

    def _place(self, piece: _Piece, row: Sequence[str]) -> str | None:
        if piece.item:
            return item_name(row[piece.at[0]])
        board = self._layout.boards[piece.board]
        layer = board.layers[piece.layer]
        arguments = tuple(row[i] for i in piece.at)
        if piece.whole and layer.split and len(arguments) == 1:
            return cell_name(piece.board, 0, layer.cell(layer.row(("", *arguments))))
        keys, rest = arguments[: len(layer.keys)], arguments[len(layer.keys) :]
        if not piece.whole:
            cell: Cell = (("*",), rest) if piece.axis else (rest, ("*",))
            exists = rest in (board.second if piece.axis else board.first)
        else:
            cell = rest[: len(layer.first)], rest[len(layer.first) :]
            exists = cell[0] in board.first and cell[1] in board.second
        if keys not in board.copies or not exists:
            return None
        return cell_name(piece.board, board.copies.index(keys), cell)

    # -- reading a signature ------------------------------------------------------------------

    def _plan(self, shape: Shape) -> tuple[_Piece, ...]:
        """Read the arguments of a kind of move from the left."""
        hint = self._layout.hints.get("moves", {}).get(shape[0])
        domains = self._domains[shape]
        free = list(range(shape[1]))
        pieces: list[_Piece] = []
        if hint == []:
            return ()
        while free:
            piece = self._piece(shape, domains, free)
            if piece is None:
                free.pop(0)
            else:
                pieces.append(piece)
                free = [i for i in free if i not in piece.at]
        return tuple(p for p in pieces if p.whole or p.item) or tuple(pieces)

    def _piece(self, shape: Shape, domains: list[set[str]], free: list[int]) -> _Piece | None:
        """Return the piece of the move that begins at the first free argument."""
        for number, board in enumerate(self._layout.boards):
            for place, layer in enumerate(board.layers):
                if layer.edge:
                    continue
                wanted = _parts(board, layer)
                if layer.split and domains[free[0]] <= {a + b for a in wanted[0] for b in wanted[1]}:
                    return _Piece((free[0],), number, place)
                run = free[: len(wanted)]
                if len(run) < len(wanted) or run[-1] - run[0] != len(wanted) - 1:
                    continue
                at = self._order(shape, layer, run, domains, wanted)
                if at is not None:
                    return _Piece(at, number, place)
        first = domains[free[0]]
        in_tower = self._layout.towers and first & self._layout.movable  # also what stands at the bottom
        if self._items and (in_tower or first <= self._items):
            return _Piece((free[0],), 0, 0, item=True)
        return self._half(shape, domains, free)

    def _order(
        self, shape: Shape, layer: Layer, run: list[int], domains: list[set[str]], wanted: list[set[str]]
    ) -> tuple[int, ...] | None:
        """Decide which argument is which coordinate: as the rules join them, else in the fluent's order."""
        positions = (*layer.keys, *layer.first, *layer.second)
        if layer.split:
            return None
        ways = permutations(run) if len(run) <= 4 else iter([tuple(run)])
        natural = sorted(range(len(positions)), key=positions.__getitem__)
        usual = [0] * len(run)
        for place, i in zip(natural, run, strict=True):
            usual[place] = i

        def votes(way: tuple[int, ...]) -> int:
            pairs = zip(way, positions, strict=True)
            return sum(self._joined(shape, i)[self._argument(layer, position)] for i, position in pairs)

        fitting = [
            way
            for way in (tuple(usual), *ways)
            if all(domains[i] <= domain for i, domain in zip(way, wanted, strict=True))
        ]
        best = max(fitting, key=votes, default=None)
        is_joint = layer.shape[0] in {joint for _, _, joint in self._layout.axes}
        if best is not None and is_joint and not votes(best):
            return None  # numbers that are no places, such as a speed
        return best

    def _argument(self, layer: Layer, position: int) -> tuple[Shape, int]:
        """Return the argument of a fluent of the rules that is this argument of a layer."""
        name, arity = layer.shape
        for first, second, joint in self._layout.axes:
            if name == joint and position >= arity - 2:
                return ((first if position == arity - 2 else second).lower(), arity - 1), arity - 2
        return (name.lower(), arity), position

    def _half(self, shape: Shape, domains: list[set[str]], free: list[int]) -> _Piece | None:
        """Read an argument as a column or a row of a board."""
        for number, board in enumerate(self._layout.boards):
            layer = board.layers[0]
            if board.nested or board.form == "row" or not layer.first or layer.split:
                continue
            run = free[: 1 + len(layer.keys)]
            if len(run) <= len(layer.keys):
                continue
            for *at, i in (run, run[::-1]) if layer.keys else (run,):
                if not all(domains[k] <= keys for k, keys in zip(at, _parts(board, layer), strict=False)):
                    continue
                fits = [domains[i] <= {c[0] for c in axis} for axis in (board.first, board.second)]
                votes = [self._votes(shape, i, layer, axis) for axis in (0, 1)]
                if not any(fits) or (not any(votes) and (len(domains[i]) < 2 or not board.rack)):
                    continue
                axis = max((0, 1), key=lambda a: (fits[a], votes[a], a == (0 if board.across else 1)))
                return _Piece((*at, i), number, 0, whole=False, axis=axis)
        return None

    def _votes(self, shape: Shape, i: int, layer: Layer, axis: int) -> int:
        positions = layer.second if axis else layer.first
        joined = self._joined(shape, i)
        return sum(joined[(layer.shape[0].lower(), layer.shape[1]), p] for p in positions)

    def _joined(self, shape: Shape, i: int) -> Counter[tuple[Shape, int]]:
        """Return how often the rules join an argument of a move with arguments of fluents."""
        return self._links.get(((shape[0].lower(), shape[1]), i), Counter())


def _parts(board: BoardLayout, layer: Layer) -> list[set[str]]:
    """Return the domains of the key and the coordinates of a layer."""
    keys = [{copy[k] for copy in board.copies} for k in range(len(layer.keys))]
    first = [{one[k] for one in board.first} for k in range(len(layer.first))]
    second = [{two[k] for two in board.second} for k in range(len(layer.second))]
    return [*keys, *first, *second]
