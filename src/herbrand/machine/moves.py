"""Moves: ground terms that a role may play, and joint moves."""

from __future__ import annotations

from functools import lru_cache, total_ordering
from typing import TYPE_CHECKING

from herbrand.errors import InvalidMoveError
from herbrand.rules.terms import read_term
from herbrand.syntax.nodes import Function, variables_of

if TYPE_CHECKING:
    from herbrand.syntax.nodes import Term

__all__ = ["Move"]


@total_ordering
class Move:
    """A move, such as `(mark 1 1)`.

        >>> Move("( mark 1  1 )")
        Move('(mark 1 1)')
        >>> str(Move("NOOP")), Move("NOOP") == Move("noop") == "noop"
        ('NOOP', True)

    `str(move)` is KIF with single spaces and the original spelling.  Moves compare case-insensitively, with
    each other and with KIF texts, and sort by text.
    Raises `InvalidMoveError` if the text is not a ground term.
    """

    __slots__ = ("_folded", "gdl")

    gdl: str
    """The move as KIF."""

    def __init__(self, text: str) -> None:
        self.gdl = _canonical(text)
        self._folded = self.gdl.lower()

    @classmethod
    def from_gdl(cls, text: str) -> Move:
        """Read a move from KIF text."""
        return cls(text)

    @classmethod
    def trusted(cls, text: str) -> Move:
        """Return a move for a text that is already canonical, without parsing it."""
        move = object.__new__(cls)
        move.gdl = text
        move._folded = text.lower()
        return move

    @property
    def term(self) -> Term:
        """The move as a syntax tree."""
        return read_term(self.gdl)

    @property
    def name(self) -> str:
        """The name of the move without arguments: `mark` of `(mark 1 1)`."""
        return self.gdl[1:].split(" ", 1)[0] if self.gdl.startswith("(") else self.gdl

    @property
    def args(self) -> tuple[str, ...]:
        """The arguments as KIF: `("1", "1")` of `(mark 1 1)`."""
        return tuple(map(_text, self.term.args))

    def __str__(self) -> str:
        return self.gdl

    def __repr__(self) -> str:
        return f"Move({self.gdl!r})"

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Move):
            return self._folded == other._folded
        if isinstance(other, str):
            try:
                return self._folded == _canonical(other).lower()
            except InvalidMoveError:
                return False
        return NotImplemented

    def __lt__(self, other: Move) -> bool:
        return (self.gdl, self._folded) < (other.gdl, other._folded)

    def __hash__(self) -> int:
        return hash(self._folded)

    def __reduce__(self) -> tuple[type[Move], tuple[str]]:
        return Move, (self.gdl,)


@lru_cache(maxsize=65536)
def _canonical(text: str) -> str:
    term = read_term(text)
    variable = next(variables_of(term), None)
    if variable is not None:
        raise InvalidMoveError(f"variable `{variable}` in a move")
    return _text(term)


def _text(term: Term) -> str:
    if isinstance(term, Function):
        return f"({term.spelling} {' '.join(map(_text, term.args))})"
    return term.spelling
