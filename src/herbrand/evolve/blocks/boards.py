"""Boards: squares and their neighbours by direction.

All boards define the same relations, so that the other blocks work with each of them:

| relation                         | meaning                                                          |
|----------------------------------|------------------------------------------------------------------|
| `(square ?x ?y)`                 | there is such a square; columns and rows count from 1            |
| `(toward ?d ?x1 ?y1 ?x2 ?y2)`    | the second square is the next one in direction ?d of the first   |
| `(beside ?x1 ?y1 ?x2 ?y2)`       | the squares touch: in any direction                              |
| `(orthogonal ?d)` `(diagonal ?d)`| the directions; on hexagons all six are orthogonal               |
| `(axis ?d)`                      | one direction of each pair of opposite ones, for lines           |
| `(ahead ?player ?d)`             | where the opponent's side of the board is                        |
| `(far ?player ?x ?y)`            | the squares farthest ahead                                       |
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Final

from herbrand.evolve.blocks.block import Block
from herbrand.evolve.blocks.grammar import span
from herbrand.evolve.blocks.parameters import Writing, named, one_less
from herbrand.evolve.numerals import count

if TYPE_CHECKING:
    from typing import Self

__all__ = ["Board", "Hexagons", "Line", "Squares", "Torus"]

_STEPS: Final = {
    "east": (1, 0),
    "north": (0, 1),
    "northeast": (1, 1),
    "southeast": (1, -1),
    "west": (-1, 0),
    "south": (0, -1),
    "southwest": (-1, -1),
    "northwest": (-1, 1),
}
"""Directions on squares; the first four are the axes."""
_AXES: Final = ("east", "north", "northeast", "southeast")
_SIX: Final = ("east", "north", "northwest")
"""The axes of hexagons, and of rows."""
_SQUARE: Final = (("size", "size", "Columns and rows of the board."),)


@dataclass(frozen=True)
class Board(Block):
    """A board with columns, rows and directions."""

    sides: ClassVar[tuple[tuple[str, str, str], ...]]
    """The fields that say how many columns and rows there are, with the name and a description of each."""
    wraps = False
    """Whether the last column and row touch the first."""

    @property
    def drawing(self) -> dict[str, Any]:
        """Drawing hints for `herbrand.draw`: properties of the board that the rules do not always show."""
        return {}

    @property
    def columns(self) -> int:
        """Number of columns."""
        number: int = getattr(self, self.sides[0][0])
        return number

    @property
    def rows(self) -> int:
        """Number of rows."""
        number: int = getattr(self, self.sides[-1][0])
        return number

    @property
    def directions(self) -> dict[str, tuple[int, int]]:
        """The offset in columns and rows of each direction: all eight, unless a board has others."""
        return _STEPS

    @property
    def diagonals(self) -> tuple[str, ...]:
        """The directions in which squares touch only at corners."""
        return tuple(d for d in self.directions if d in {"northeast", "northwest", "southeast", "southwest"})

    @property
    def cells(self) -> int:
        """Number of squares."""
        return self.columns * self.rows

    def ahead(self) -> tuple[tuple[str, str], ...]:
        """Return the forward directions of each player as (player, direction)."""
        up = [d for d, (_, dy) in self.directions.items() if dy > 0]
        down = [d for d, (_, dy) in self.directions.items() if dy < 0]
        return tuple(("white", d) for d in up) + tuple(("black", d) for d in down)

    # -- rules ----------------------------------------------------------------------------

    def with_parameters(self, least: int) -> Self:
        """Return the board with its sizes as parameters, at least `least`."""
        board = self
        for field, name, about in self.sides:
            board = named(board, field, name, about, least)
        return board

    def writing(self) -> Writing:
        """Return the relations of columns and rows in GGDL."""
        sides = [("column", self.columns, ("right_of", "right"))]
        if self.rows > 1:
            sides.append(("row", self.rows, ("above", "up")))
        data, rules = {}, {}
        for name, most, relations in sides:
            data[name] = f"1 .. {most}"
            for relation in relations:
                rules[relation] = f"{relation}(?n, ?n + 1) :- ?n in 1 .. {one_less(most)}"
            if self.wraps:
                rules[relations[0]] += f"\n{relations[0]}({most}, 1)"
        return Writing(data, rules)

    def rules(self) -> list[str]:
        """Return the rules for the relations of the table above."""
        listed = self.directions
        axes = [d for d in listed if d in _AXES] if self.diagonals else [d for d in _SIX if d in listed]
        toward = [self._toward(d, dx, dy) for d, (dx, dy) in listed.items()]
        far = (
            [f"(<= (far white {self.columns} ?y) (row ?y))", "(<= (far black 1 ?y) (row ?y))"]
            if self.rows == 1
            else [f"(<= (far white ?x {self.rows}) (column ?x))", "(<= (far black ?x 1) (column ?x))"]
        )
        across = [f"(right_of {x} {x + 1})" for x in range(1, self.columns)]
        up = [f"(above {y} {y + 1})" for y in range(1, self.rows)]
        if self.wraps:
            across.append(f"(right_of {self.columns} 1)")
            up.append(f"(above {self.rows} 1)")
        return [
            "(<= (square ?x ?y) (column ?x) (row ?y))",
            *toward,
            "(<= (beside ?x1 ?y1 ?x2 ?y2) (toward ?d ?x1 ?y1 ?x2 ?y2))",
            *(f"(axis {d})" for d in axes),
            *(f"(orthogonal {d})" for d in listed if d not in self.diagonals),
            *(f"(diagonal {d})" for d in self.diagonals),
            *(f"(ahead {player} {d})" for player, d in self.ahead()),
            *far,
            *(f"(column {x})" for x in range(1, self.columns + 1)),
            *(f"(row {y})" for y in range(1, self.rows + 1)),
            *across,
            *up,
        ]

    @staticmethod
    def _toward(name: str, dx: int, dy: int) -> str:
        """The rule of one direction."""
        across = {1: "(right_of ?x1 ?x2)", -1: "(right_of ?x2 ?x1)", 0: "(column ?x)"}[dx]
        up = {1: "(above ?y1 ?y2)", -1: "(above ?y2 ?y1)", 0: "(row ?y)"}[dy]
        first, second = ("?x1", "?x2") if dx else ("?x", "?x")
        below, over = ("?y1", "?y2") if dy else ("?y", "?y")
        return f"(<= (toward {name} {first} {below} {second} {over}) {across} {up})"


@dataclass(frozen=True)
class Squares(Board):
    """A rectangle of squares, with eight directions."""

    width: int = span(3, 6, 5)
    height: int = span(3, 6, 5)
    sides = (("width", "width", "Columns of the board."), ("height", "height", "Rows of the board."))

    def in_words(self) -> str:
        """Name the board."""
        return f"a board of {count(self.width)} by {count(self.height)} squares"


@dataclass(frozen=True)
class Torus(Board):
    """A square whose opposite edges touch, with eight directions."""

    size: int = span(4, 6, 5)
    sides = _SQUARE
    wraps = True

    def in_words(self) -> str:
        """Name the board."""
        return f"a board of {count(self.size)} by {count(self.size)} squares whose opposite edges touch"


@dataclass(frozen=True)
class Hexagons(Board):
    """A rhombus of hexagons, six directions: each row is half a cell further right than the one below."""

    size: int = span(3, 6, 5)
    sides = _SQUARE

    @property
    def directions(self) -> dict[str, tuple[int, int]]:
        """All six."""
        return {d: _STEPS[d] for d in ("east", "north", "northwest", "west", "south", "southeast")}

    @property
    def drawing(self) -> dict[str, Any]:
        """Hexagons: rules without neighbours do not say so."""
        return {"boards": {"cell": {"form": "hex-left", "across": True, "upward": True}}}

    @property
    def diagonals(self) -> tuple[str, ...]:
        """None: hexagons touch along their sides only."""
        return ()

    def in_words(self) -> str:
        """Name the board."""
        return f"a rhombus of {count(self.size)} by {count(self.size)} hexagons"


@dataclass(frozen=True)
class Line(Board):
    """A single row of squares."""

    length: int = span(5, 12, 9)
    sides = (("length", "width", "Squares in the row."),)

    @property
    def rows(self) -> int:
        """One."""
        return 1

    @property
    def directions(self) -> dict[str, tuple[int, int]]:
        """Right and left."""
        return {d: _STEPS[d] for d in ("east", "west")}

    def ahead(self) -> tuple[tuple[str, str], ...]:
        """White looks right, black left."""
        return ("white", "east"), ("black", "west")

    def in_words(self) -> str:
        """Name the board."""
        return f"a row of {count(self.length)} squares"
