"""Goals that win immediately, and settlements that are scored at the end otherwise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from herbrand.evolve.blocks.block import Block
from herbrand.evolve.blocks.grammar import choice, span
from herbrand.evolve.blocks.parameters import NamedNumber
from herbrand.evolve.blocks.texts import phrase
from herbrand.evolve.numerals import count, times

if TYPE_CHECKING:
    from herbrand.evolve.blocks.boards import Board

__all__ = [
    "Connect",
    "Eliminate",
    "Goal",
    "InARow",
    "Majority",
    "NoMove",
    "NobodyWins",
    "Pattern",
    "Race",
    "Score",
    "Settlement",
]


@dataclass(frozen=True)
class Goal(Block):
    """A condition that ends the game with a winner."""

    def rules(self, board: Board, names: tuple[str, ...]) -> list[str]:
        """Return the rules for `won`."""
        raise NotImplementedError


@dataclass(frozen=True)
class InARow(Goal):
    """A number of own pieces in a line."""

    length: int = span(3, 5)
    loses: bool = choice(False, True)
    """Whether the player who makes the line loses."""

    def in_words(self) -> str:
        """Describe the aim, or what to avoid."""
        verb = "loses" if self.loses else "wins"
        return f"Whoever has {count(self.length)} pieces in a line {verb}."

    def rules(self, _board: Board, _names: tuple[str, ...]) -> list[str]:
        """A chain along an axis; of pieces that are counted, where their number is a parameter."""
        if isinstance(self.length, NamedNumber):
            line = [
                f"(<= (line ?player) (run ?player ?d ?x ?y {self.length}))",
                "(<= (run ?player ?d ?x ?y 1) (holds ?player ?x ?y) (axis ?d))",
                f"""(<= (run ?player ?d ?x2 ?y2 ?more) (run ?player ?d ?x1 ?y1 ?n) (succ ?n ?more)
                    (at_most ?more {self.length}) (toward ?d ?x1 ?y1 ?x2 ?y2) (holds ?player ?x2 ?y2))""",
            ]
        else:
            line = [self._chain()]
        if self.loses:
            return ["(<= (won ?other) (rivals ?player ?other) (line ?player))", *line]
        return ["(<= (won ?player) (line ?player))", *line]

    def _chain(self) -> str:
        chain = " ".join(
            f"(toward ?d ?x{n} ?y{n} ?x{n + 1} ?y{n + 1}) (holds ?player ?x{n + 1} ?y{n + 1})"
            for n in range(1, self.length)
        )
        return f"(<= (line ?player) (holds ?player ?x1 ?y1) (axis ?d) {chain})"


@dataclass(frozen=True)
class Pattern(Goal):
    """Own pieces in a pattern."""

    shape: str = choice("block", "cross")

    def in_words(self) -> str:
        """Say which."""
        return f"Whoever has {phrase('shape', self.shape)} wins."

    def rules(self, _board: Board, _names: tuple[str, ...]) -> list[str]:
        """A square and the next ones."""
        if self.shape == "block":
            return [
                """(<= (won ?player) (holds ?player ?x1 ?y1)
                    (toward east ?x1 ?y1 ?x2 ?y1) (holds ?player ?x2 ?y1)
                    (toward north ?x1 ?y1 ?x1 ?y2) (holds ?player ?x1 ?y2) (holds ?player ?x2 ?y2))"""
            ]
        sides = " ".join(
            f"(toward {d} ?x ?y ?x{n} ?y{n}) (holds ?player ?x{n} ?y{n})"
            for n, d in enumerate(("east", "north", "west", "south"), 1)
        )
        return [f"(<= (won ?player) (holds ?player ?x ?y) {sides})"]


@dataclass(frozen=True)
class Connect(Goal):
    """A chain of own pieces from side to side."""

    aslant: bool = choice(False, True)
    """Whether pieces that touch at a corner are connected."""

    def in_words(self) -> str:
        """Say which sides."""
        joined = ", corners included," if self.aslant else ""
        return (
            f"White wins with a chain of touching white pieces{joined} from the lowest row to the highest, "
            "Black with a chain of black ones from the first column to the last."
        )

    def rules(self, board: Board, _names: tuple[str, ...]) -> list[str]:
        """Pieces rooted at one side."""
        straight = "(orthogonal ?d)" if board.diagonals and not self.aslant else ""
        return [
            f"(<= (won white) (rooted white ?x {board.rows}))",
            f"(<= (won black) (rooted black {board.columns} ?y))",
            "(<= (rooted white ?x 1) (holds white ?x 1))",
            "(<= (rooted black 1 ?y) (holds black 1 ?y))",
            f"""(<= (rooted ?player ?x2 ?y2) (rooted ?player ?x1 ?y1) {straight}
                (toward ?d ?x1 ?y1 ?x2 ?y2) (holds ?player ?x2 ?y2))""",
        ]


@dataclass(frozen=True)
class Race(Goal):
    """An own piece on a target square."""

    to: str = choice("far", "centre")

    def in_words(self) -> str:
        """Say where."""
        where = "the farthest row" if self.to == "far" else "the centre of the board"
        return f"Whoever brings a piece to {where} wins."

    def rules(self, board: Board, _names: tuple[str, ...]) -> list[str]:
        """A piece there."""
        if self.to == "far":
            return ["(<= (won ?player) (far ?player ?x ?y) (holds ?player ?x ?y))"]
        return [
            "(<= (won ?player) (centre ?x ?y) (holds ?player ?x ?y))",
            *(f"(centre {x} {y})" for x, y in centre(board)),
        ]


@dataclass(frozen=True)
class Eliminate(Goal):
    """The opponent has no piece left, or none of the first kind."""

    royal: bool = choice(False, True)
    """Whether only pieces of the first kind count."""

    def in_words(self) -> str:
        """Say what must be taken."""
        what = "the pieces of the first kind" if self.royal else "all pieces"
        return f"Whoever has lost {what} loses."

    def rules(self, _board: Board, names: tuple[str, ...]) -> list[str]:
        """No piece."""
        if not self.royal or len(names) == 1:
            return ["(<= (won ?player) (rivals ?player ?other) (not (present ?other)))"]
        return [
            f"(<= (lives ?player) (true (cell ?x ?y ?player {names[0]})))",
            "(<= (won ?player) (rivals ?player ?other) (not (lives ?other)))",
        ]


@dataclass(frozen=True)
class NoMove(Goal):
    """A player who must act but cannot loses, or wins."""

    wins: bool = choice(False, True)

    def in_words(self) -> str:
        """Say what it means."""
        return f"A player that has to act and cannot {'wins' if self.wins else 'loses'}."

    def rules(self, _board: Board, _names: tuple[str, ...]) -> list[str]:
        """Being stuck."""
        if self.wins:
            return ["(<= (won ?player) (stuck ?player))"]
        return ["(<= (won ?player) (rivals ?player ?other) (stuck ?other))"]


@dataclass(frozen=True)
class Score(Goal):
    """A number of points, one for every action that takes or turns pieces."""

    points: int = span(1, 6, 3)

    def in_words(self) -> str:
        """Say how many."""
        return (
            f"Every action that takes or turns enemy pieces is worth a point; "
            f"whoever has {times(self.points, 'point')} wins."
        )

    def rules(self, _board: Board, _names: tuple[str, ...]) -> list[str]:
        """Enough points."""
        return [f"(<= (won ?player) (true (score ?player {self.points})))"]


@dataclass(frozen=True)
class Settlement(Block):
    """The outcome if the game ends without a winner."""

    def rules(self) -> list[str]:
        """Return rules for `(leads ?player ?other)`; none when nothing is counted."""
        return []


@dataclass(frozen=True)
class NobodyWins(Settlement):
    """A draw."""

    def in_words(self) -> str:
        """Say so."""
        return "is a draw"


@dataclass(frozen=True)
class Majority(Settlement):
    """More pieces, or a larger territory."""

    of: str = choice("pieces", "territory", "points")
    """`territory`: occupied squares, and free ones that touch only own pieces; `points` as in `Score`."""
    even: bool = choice(True, False)
    """Whether equal numbers are a draw; otherwise Black, who moves second, wins."""

    def in_words(self) -> str:
        """Describe the quantity that is counted."""
        even = "equal numbers are a draw" if self.even else "Black wins if they are equal"
        return f"is won by the player with {phrase('majority', self.of)}; {even}"

    def rules(self) -> list[str]:
        """Compare the numbers."""
        number = {
            "pieces": "(pieces {} {})",
            "territory": "(area {} {})",
            "points": "(true (score {} {}))",
        }[self.of]
        mine, theirs = number.format("?player", "?m"), number.format("?other", "?n")
        rules = [f"(<= (leads ?player ?other) (rivals ?player ?other) {mine} {theirs} (greater ?m ?n))"]
        if not self.even:
            same = f"{number.format('black', '?n')} {number.format('white', '?n')}"
            rules.append(f"(<= (leads black white) {same})")
        return rules


def centre(board: Board) -> list[tuple[int, int]]:
    """Return the one, two or four central squares."""
    columns = sorted({(board.columns + 1) // 2, board.columns // 2 + 1})
    rows = sorted({(board.rows + 1) // 2, board.rows // 2 + 1})
    return [(x, y) for x in columns for y in rows]
