"""`TermTable`: ground terms as numbers.

Every ground term of a game, constant or compound, gets a small number when it first occurs (hash consing):
equal terms have equal numbers, comparison and hashing are those of `int`, and a fact is a tuple of numbers.

    functor[t]   number of the pair (name, arity) of term t; a constant has arity 0
    args[t]      its arguments as numbers, () for a constant
    size[t]      the number of symbols in its text

The tables only grow.  Texts have the display spelling of names; comparison uses folded names.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from herbrand.errors import BudgetExceeded, InvalidMoveError
from herbrand.syntax.nodes import Constant, Function, Variable

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from herbrand.syntax.ground import Ground
    from herbrand.syntax.nodes import Term

__all__ = ["TermTable"]

_TOKEN = re.compile(r"[()]|[^\s();]+")
_DEPTH = 400
"""Levels of nesting."""
_SIZE = 20_000
"""Symbols in the text of a term, which can double with each level."""
_CACHED_SIZE = 100
"""The texts of larger terms are not cached."""


class _Cons(dict[tuple[int, ...], int]):
    """(functor number, argument numbers...) -> term number; a missing term is created."""

    __slots__ = ("table",)

    def __init__(self, table: TermTable) -> None:
        self.table = table

    def __missing__(self, key: tuple[int, ...]) -> int:
        table = self.table
        number = len(table.functor)
        if number >= table.limit:
            raise BudgetExceeded(f"{table.limit} different terms")
        depth, size = 1, 1
        for arg in key[1:]:
            depth = max(depth, 1 + table.depth[arg])
            size += table.size[arg]
        if depth > _DEPTH:
            raise BudgetExceeded(f"terms nested {_DEPTH} deep")
        if size > _SIZE:
            raise BudgetExceeded(f"a term of {_SIZE} symbols")
        self[key] = number
        table.functor.append(key[0])
        table.args.append(key[1:])
        table.depth.append(depth)
        table.size.append(size)
        table.texts.append(None)
        return number


class TermTable:
    """The terms of one game."""

    def __init__(
        self, spelling: Mapping[str, str] | None = None, *, limit: int = 20_000_000, folds_case: bool = True
    ) -> None:
        self.spelling: dict[str, str] = dict(spelling or {})
        self.folds_case = folds_case
        self.limit = limit
        self.functors: list[tuple[str, int]] = []
        """Name and arity by functor number."""
        self._functor_numbers: dict[tuple[str, int], int] = {}
        self.functor: list[int] = []
        self.args: list[tuple[int, ...]] = []
        self.depth: list[int] = []
        self.size: list[int] = []
        self.texts: list[str | None] = []
        self.cons = _Cons(self)
        self._hashes: dict[int, int] = {}

    def __len__(self) -> int:
        return len(self.functor)

    def functor_number(self, name: str, arity: int) -> int:
        """Return the number of a functor, which is created if it is new."""
        key = (name, arity)
        number = self._functor_numbers.get(key)
        if number is None:
            number = self._functor_numbers[key] = len(self.functors)
            self.functors.append(key)
        return number

    def constant(self, name: str) -> int:
        """Return the number of a constant, given by its folded name."""
        return self.cons[(self.functor_number(name, 0),)]

    def intern(self, term: Term) -> int:
        """Return the number of a ground term."""
        if isinstance(term, Variable):
            raise InvalidMoveError(f"`{term}` is a variable; a ground term is needed")
        functor = self.functor_number(term.name, len(term.args))
        return self.cons[(functor, *map(self.intern, term.args))]

    def number_of(self, value: Ground) -> int:
        """Return the number of a ground term as nested tuples of names, a constant as its name."""
        if isinstance(value, str):
            return self.constant(value)
        functor = self.functor_number(str(value[0]), len(value) - 1)
        return self.cons[(functor, *map(self.number_of, value[1:]))]

    def value_of(self, number: int) -> Ground:
        """Return the value of a term."""
        name, arity = self.functors[self.functor[number]]
        return (name, *map(self.value_of, self.args[number])) if arity else name

    def find(self, term: Term) -> int | None:
        """Return the number of a ground term, None if it has none.

        Untrusted input should be looked up so: it cannot fill the table.
        """
        if isinstance(term, Variable):
            return None
        key: list[int] = [self._functor_numbers.get((term.name, len(term.args)), -1)]
        for arg in term.args:
            number = self.find(arg)
            if number is None:
                return None
            key.append(number)
        return self.cons.get(tuple(key))

    def text(self, number: int) -> str:
        """Return a term as KIF text in display spelling, single spaces."""
        text = self.texts[number]
        if text is None:
            name, arity = self.functors[self.functor[number]]
            name = self.spelling.get(name, name)
            text = f"({name} {' '.join(map(self.text, self.args[number]))})" if arity else name
            if self.size[number] <= _CACHED_SIZE:
                self.texts[number] = text
        return text

    def hash_of(self, numbers: Iterable[int]) -> int:
        """Return a hash of a set of terms that depends on their folded texts only."""
        hashes = self._hashes
        total = 0
        for number in numbers:
            value = hashes.get(number)
            if value is None:
                value = hashes[number] = hash(self.text(number).lower())
            total += value
        return hash(total)

    def term(self, number: int) -> Term:
        """Return a term as a syntax tree."""
        name, arity = self.functors[self.functor[number]]
        if not arity:
            return Constant(name, self.spelling.get(name))
        return Function(name, tuple(map(self.term, self.args[number])), self.spelling.get(name))

    def read(self, text: str) -> int:
        """Return the number of the ground term of a KIF text.

        Raises `InvalidMoveError` if the text is not a single ground term.
        """
        return self.intern(self.parse(text))

    def parse(self, text: str) -> Term:
        """Parse a KIF term with the case folding of this game; see `read_term`."""
        return read_term(text, fold=self.folds_case)


def read_term(text: str, *, fold: bool = True) -> Term:
    """Parse one KIF term, ground or not; `(f)` is `f`.  Raises `InvalidMoveError`."""
    name_of = str.lower if fold else str
    stack: list[list[Term]] = [[]]
    names: list[str] = []
    expects_name = False
    for token in _TOKEN.findall(text):
        if token == "(":
            if expects_name:
                raise InvalidMoveError(f"`{text}`: a list starts with a name")
            if len(names) >= _DEPTH:
                raise InvalidMoveError(f"nested more than {_DEPTH} deep")
            expects_name = True
            continue
        if expects_name:
            if token == ")" or token.startswith("?"):
                raise InvalidMoveError(f"`{text}`: a list starts with a name")
            names.append(token)
            stack.append([])
            expects_name = False
        elif token == ")":
            if not names:
                raise InvalidMoveError(f"`{text}`: `)` without `(`")
            args, name = tuple(stack.pop()), names.pop()
            stack[-1].append(Function(name_of(name), args, name) if args else Constant(name_of(name), name))
        elif token.startswith("?"):
            if len(token) == 1:
                raise InvalidMoveError(f"`{text}`: a variable needs a name after `?`")
            stack[-1].append(Variable(name_of(token[1:]), token[1:]))
        else:
            stack[-1].append(Constant(name_of(token), token))
    if names or expects_name:
        raise InvalidMoveError(f"`{text}`: `)` is missing")
    if len(stack[0]) != 1:
        raise InvalidMoveError(f"`{text}` is not one term")
    return stack[0][0]
