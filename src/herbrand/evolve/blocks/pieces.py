"""Pieces: their initial squares, and how they are placed, move and capture.

An action has rules for `may_place`, `may_move` or `may_jump`, the moves that would be possible if it were the
player's turn; the rules of turns derive legal moves from them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final

from herbrand.evolve.blocks.block import Block
from herbrand.evolve.blocks.grammar import choice, some, span
from herbrand.evolve.blocks.texts import phrase
from herbrand.evolve.numerals import count

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Action", "Jump", "Leap", "Piece", "Place", "Slide", "Step", "names_of"]

_COURSES: Final = {
    "any": "",
    "orthogonal": "(orthogonal ?d)",
    "diagonal": "(diagonal ?d)",
    "ahead": "(ahead ?player ?d)",
}
"""For each course the condition that ?d is a direction of it."""
_FREE, _ENEMY = "(free ?x2 ?y2)", "(enemy ?player ?x2 ?y2)"
_ONTO: Final = {"free": (_FREE,), "enemy": (_ENEMY,), "both": (_FREE, _ENEMY)}
"""Alternative conditions for a piece of ?player to end its move on ?x2 ?y2."""


@dataclass(frozen=True)
class Action(Block):
    """An action with a piece."""

    places = False
    """Whether it puts pieces on the board."""

    @property
    def captures(self) -> bool:
        """Whether it can take an enemy piece, by going onto its square unless it says otherwise."""
        return getattr(self, "onto", "free") != "free"

    def rules(self, kind: str) -> list[str]:
        """Return the rules for the action with a kind of piece."""
        raise NotImplementedError

    def reach(self) -> list[str]:
        """Return rule bodies for all pairs of squares ?x1 ?y1 ?x2 ?y2 that a move could connect."""
        return []


@dataclass(frozen=True)
class Place(Action):
    """Put a new piece on the board."""

    where: str = choice("anywhere", "beside own", "away from own", "away from others", "home", "dropped")
    """`away from own`: not beside own pieces; `dropped`: at the bottom or on top of a piece."""
    supply: int = span(0, 8, 0)
    """Number of such pieces for each player; 0 for no limit."""
    cost: int = span(1, 3, 1)
    """Price in coins, in games with money."""

    places = True

    def in_words(self) -> str:
        """Say where."""
        stock = f", while the player has any of its {count(self.supply)} left" if self.supply else ""
        return f"is placed {phrase('where', self.where)}{stock}"

    def conditions(self) -> list[list[str]]:
        """Return alternative rule bodies about ?player, ?x and ?y, in addition to the square being free."""
        if self.where == "beside own":
            return [["(beside ?x ?y ?x2 ?y2)", "(holds ?player ?x2 ?y2)"], ["(not (present ?player))"]]
        return [
            {
                "anywhere": [],
                "away from own": ["(not (touches ?player ?x ?y))"],
                "away from others": ["(rivals ?player ?other)", "(not (touches ?other ?x ?y))"],
                "home": ["(home ?player ?x ?y)"],
                "dropped": ["(supported ?x ?y)"],
            }[self.where]
        ]


@dataclass(frozen=True)
class _Straight(Action):
    """A move in one direction."""

    course: str = choice(*_COURSES)
    onto: str = choice(*_ONTO)

    goes: ClassVar[str]
    """The relation of direction, origin and target."""
    could: ClassVar[str]
    """The same regardless of other pieces."""

    def rules(self, kind: str) -> list[str]:
        """A square that can be gone to, the last one under the conditions."""
        return [
            f"""(<= (may_move ?player ?x1 ?y1 ?x2 ?y2)
                (true (cell ?x1 ?y1 ?player {kind})) {_COURSES[self.course]}
                ({self.goes} ?d ?x1 ?y1 ?x2 ?y2) {way})"""
            for way in _ONTO[self.onto]
        ]

    def reach(self) -> list[str]:
        """A square in a direction."""
        return [f"(rivals ?player ?other) {_COURSES[self.course]} ({self.could} ?d ?x1 ?y1 ?x2 ?y2)"]


@dataclass(frozen=True)
class Step(_Straight):
    """Go to the next square."""

    goes = "toward"
    could = "toward"

    def in_words(self) -> str:
        """Say how."""
        return f"steps one square {phrase('course', self.course)} {phrase('onto', self.onto)}"


@dataclass(frozen=True)
class Slide(_Straight):
    """Go any number of squares in one direction, over free squares only."""

    goes = "clear"
    could = "ray"

    def in_words(self) -> str:
        """Say how."""
        return f"slides {phrase('course', self.course)}, over free squares, {phrase('onto', self.onto)}"


@dataclass(frozen=True)
class Leap(Action):
    """Go to a square further away, over whatever lies between."""

    pattern: str = choice("knight", "two")
    """`knight`: two squares straight and one to the side; `two`: two squares straight."""
    onto: str = choice(*_ONTO)

    def in_words(self) -> str:
        """Say how."""
        how = "like a knight of chess" if self.pattern == "knight" else "two squares straight on"
        return f"leaps {how}, over whatever lies between, {phrase('onto', self.onto)}"

    def rules(self, kind: str) -> list[str]:
        """A leap."""
        return [
            f"""(<= (may_move ?player ?x1 ?y1 ?x2 ?y2)
                (true (cell ?x1 ?y1 ?player {kind}))
                (leap_{self.pattern} ?x1 ?y1 ?x2 ?y2) {way})"""
            for way in _ONTO[self.onto]
        ]

    def reach(self) -> list[str]:
        """A leap."""
        return [f"(rivals ?player ?other) (leap_{self.pattern} ?x1 ?y1 ?x2 ?y2)"]


@dataclass(frozen=True)
class Jump(Action):
    """Jump over a neighbour to the free square behind it."""

    over: str = choice("enemy", "own", "any")
    takes: bool = choice(True, False)
    """Whether jumping over an enemy piece takes it."""

    @property
    def captures(self) -> bool:
        """Whether an enemy piece can be taken."""
        return self.takes and self.over != "own"

    def in_words(self) -> str:
        """Say how."""
        whom = phrase("over", self.over)
        then = ""
        if self.captures:
            then = ", which is taken" if self.over == "enemy" else ", which is taken if it is an enemy"
        return f"jumps over {whom} beside it to the free square behind{then}"

    def rules(self, kind: str) -> list[str]:
        """Two squares in one direction."""
        whom = {
            "enemy": "(enemy ?player ?x2 ?y2)",
            "own": "(holds ?player ?x2 ?y2)",
            "any": "(taken ?x2 ?y2)",
        }
        return [
            f"""(<= (may_jump ?player ?x1 ?y1 ?x3 ?y3)
                (true (cell ?x1 ?y1 ?player {kind}))
                (over ?x1 ?y1 ?x2 ?y2 ?x3 ?y3) {whom[self.over]} (free ?x3 ?y3))"""
        ]


@dataclass(frozen=True)
class Piece(Block):
    """A kind of piece: its actions and initial squares."""

    actions: tuple[Action, ...] = some(Place, Step, Slide, Leap, Jump, least=1, most=2)
    start: str = choice("none", "back", "second", "ends", "middle")
    """Initial squares of each player: all of its `back` row or its `second` row, the `ends` or the `middle`
    of the back row."""

    @property
    def places(self) -> tuple[Place, ...]:
        """The actions that place new pieces."""
        return tuple(action for action in self.actions if isinstance(action, Place))

    @property
    def moves(self) -> tuple[Action, ...]:
        """The actions that move pieces."""
        return tuple(action for action in self.actions if not action.places)

    @property
    def captures(self) -> bool:
        """Whether a move can take an enemy piece."""
        return any(action.captures for action in self.actions)

    def likely_name(self) -> str:
        """Return a customary name for such a piece."""
        if not self.moves:
            return "stone"
        first = self.moves[0]
        if isinstance(first, Step):
            return {"any": "king", "ahead": "pawn"}.get(first.course, "man")
        if isinstance(first, Slide):
            return {"orthogonal": "rook", "diagonal": "bishop", "ahead": "lance"}.get(first.course, "queen")
        if isinstance(first, Leap):
            return "knight" if first.pattern == "knight" else "camel"
        return "hopper"

    def in_words(self) -> str:
        """Describe its actions."""
        return "; it also ".join(action.in_words() for action in self.actions)

    def about(self, name: str) -> str:
        """Describe its actions, by its name, and the number of such pieces."""
        start = phrase("start", self.start, piece=name, pieces=plural(name))
        return f"{start}A {name} {self.in_words()}."


def plural(name: str) -> str:
    """Return the plural of the name of a piece."""
    return "men" if name == "man" else f"{name}s"


def names_of(pieces: Sequence[Piece]) -> tuple[str, ...]:
    """Return a distinct name for each kind of piece."""
    spare = iter(["man", "guard", "scout", "horse", "tower"])
    names: list[str] = []
    for piece in pieces:
        name = piece.likely_name()
        while name in names:
            name = next(spare)
        names.append(name)
    return tuple(names)
