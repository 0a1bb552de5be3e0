"""The grammar of blocks: the valid values of a field, and how to draw and vary them.

A block is a frozen dataclass whose fields declare their grammars:

    >>> from random import Random
    >>> grammar = WholeNumber(3, 5)
    >>> grammar.draw(Random(1)), grammar.vary(Random(1), 3)
    (3, 3)

| grammar  | values                                          | a variation                           |
|----------|-------------------------------------------------|---------------------------------------|
| `Choice` | one of some words or numbers                    | another one                           |
| `WholeNumber`   | an integer from `least` to `most`               | one more or less, sometimes any other |
| `One`    | a block of one of some kinds                    | another kind, or a field within       |
| `Maybe`  | a block of one of some kinds, or None           | as `One`, or None                     |
| `Some`   | several blocks                                  | one more, one less, one varied        |

`random_design`, mutation, crossover and the JSON form depend only on grammars, so that new blocks and fields
need no other code.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterator
    from random import Random

    from herbrand.evolve.blocks.block import Block

__all__ = [
    "Choice",
    "Grammar",
    "Maybe",
    "One",
    "Some",
    "WholeNumber",
    "choice",
    "draw_block",
    "grammar_of",
    "maybe",
    "one",
    "some",
    "span",
    "vary_block",
    "within",
]

_KEY: Final = "grammar"
B = TypeVar("B", bound="Block")


@dataclass(frozen=True, slots=True)
class Choice:
    """One of some words or numbers."""

    values: tuple[Any, ...]

    def draw(self, chance: Random) -> Any:
        """Return one of the values."""
        return chance.choice(self.values)

    def vary(self, chance: Random, value: Any) -> Any:
        """Return another one of the values."""
        return chance.choice([other for other in self.values if other != value] or [value])

    def holds(self, value: Any) -> bool:
        """Whether the value is valid."""
        return any(value == other and type(value) is type(other) for other in self.values)


@dataclass(frozen=True, slots=True)
class WholeNumber:
    """A whole number from `least` to `most`."""

    least: int
    most: int

    def __str__(self) -> str:
        return f"{self.least} to {self.most}"

    def draw(self, chance: Random) -> int:
        """Return any of the numbers."""
        return chance.randint(self.least, self.most)

    def vary(self, chance: Random, value: int) -> int:
        """Return a neighbour, or, one time in four, any number."""
        if chance.random() < 0.25:
            return self.draw(chance)
        return min(max(value + chance.choice((-1, 1)), self.least), self.most)

    def holds(self, value: Any) -> bool:
        """Whether the value is a whole number between the bounds."""
        return type(value) is int and self.least <= value <= self.most


@dataclass(frozen=True, slots=True)
class One:
    """A block of one of some kinds."""

    kinds: tuple[type[Block], ...]

    def draw(self, chance: Random) -> Block:
        """Return a random block of a random kind."""
        return draw_block(chance.choice(self.kinds), chance)

    def vary(self, chance: Random, value: Block) -> Block:
        """Vary a field of the block, or put one of another kind in its place."""
        if len(self.kinds) > 1 and (not fields(value) or chance.random() < 0.4):
            return draw_block(chance.choice([kind for kind in self.kinds if kind is not type(value)]), chance)
        return vary_block(value, chance)

    def holds(self, value: Any) -> bool:
        """Whether the value is a block of one of the kinds."""
        return type(value) in self.kinds


@dataclass(frozen=True, slots=True)
class Maybe:
    """A block of one of some kinds, or None."""

    kinds: tuple[type[Block], ...]
    likely: float = 0.3
    """Probability of a block."""

    def draw(self, chance: Random) -> Block | None:
        """Return a block or None."""
        return One(self.kinds).draw(chance) if chance.random() < self.likely else None

    def vary(self, chance: Random, value: Block | None) -> Block | None:
        """Remove, add or vary the block."""
        if value is None:
            return One(self.kinds).draw(chance)
        return None if chance.random() < 0.5 else One(self.kinds).vary(chance, value)

    def holds(self, value: Any) -> bool:
        """Whether the value is None or a block of one of the kinds."""
        return value is None or type(value) in self.kinds


@dataclass(frozen=True, slots=True)
class Some:
    """From `least` to `most` blocks of some kinds."""

    kinds: tuple[type[Block], ...]
    least: int
    most: int

    def draw(self, chance: Random) -> tuple[Block, ...]:
        """Return several blocks, few more often than many."""
        number = min(chance.randint(self.least, self.most), chance.randint(self.least, self.most))
        return tuple(One(self.kinds).draw(chance) for _ in range(number))

    def vary(self, chance: Random, value: tuple[Block, ...]) -> tuple[Block, ...]:
        """Add, remove or vary a block."""
        ways = ["vary"] * 2 * bool(value)
        ways += ["add"] * (len(value) < self.most) + ["drop"] * (len(value) > self.least)
        way = chance.choice(ways)
        place = chance.randrange(len(value) + (way == "add"))
        if way == "add":
            return (*value[:place], One(self.kinds).draw(chance), *value[place:])
        new = (One(self.kinds).vary(chance, value[place]),) if way == "vary" else ()
        return (*value[:place], *new, *value[place + 1 :])

    def holds(self, value: Any) -> bool:
        """Whether the value is a tuple of as many blocks, all of the kinds."""
        return (
            isinstance(value, tuple)
            and self.least <= len(value) <= self.most
            and all(type(part) in self.kinds for part in value)
        )


Grammar: TypeAlias = Choice | WholeNumber | One | Maybe | Some


def choice(*values: Any) -> Any:
    """Declare a field with one of some words or numbers; the first is the default."""
    return field(default=values[0], metadata={_KEY: Choice(values)})


def span(least: int, most: int, usual: int | None = None) -> Any:
    """Declare a field with an integer."""
    return field(default=least if usual is None else usual, metadata={_KEY: WholeNumber(least, most)})


def one(*kinds: type[Block]) -> Any:
    """Declare a field with a block."""
    return field(default_factory=kinds[0], metadata={_KEY: One(kinds)})


def maybe(*kinds: type[Block], likely: float = 0.3) -> Any:
    """Declare a field with a block or None."""
    return field(default=None, metadata={_KEY: Maybe(kinds, likely)})


def some(*kinds: type[Block], least: int = 0, most: int = 3) -> Any:
    """Declare a field with several blocks."""
    usual = kinds[0]
    return field(
        default_factory=lambda: tuple(usual() for _ in range(least)),
        metadata={_KEY: Some(kinds, least, most)},
    )


def grammar_of(kind: type[Block]) -> dict[str, Grammar]:
    """Return the grammar of each field of a kind of block."""
    return {part.name: part.metadata[_KEY] for part in fields(kind) if _KEY in part.metadata}


def draw_block(kind: type[B], chance: Random) -> B:
    """Return a random block of a kind."""
    return kind(**{name: grammar.draw(chance) for name, grammar in grammar_of(kind).items()})


def vary_block(block: B, chance: Random) -> B:
    """Return the block with one of its fields varied."""
    grammars = grammar_of(type(block))
    if not grammars:
        return block
    name = chance.choice(list(grammars))
    new: dict[str, Any] = {name: grammars[name].vary(chance, getattr(block, name))}
    return replace(block, **new)


def within(block: Block, path: str = "") -> Iterator[tuple[str, Any, Grammar]]:
    """Yield path (such as `pieces.0.kind`), value and grammar of all fields, including inner blocks."""
    for name, grammar in grammar_of(type(block)).items():
        value = getattr(block, name)
        here = f"{path}.{name}" if path else name
        yield here, value, grammar
        if isinstance(grammar, Some):
            for number, part in enumerate(value):
                yield from within(part, f"{here}.{number}")
        elif isinstance(grammar, (One, Maybe)) and value is not None:
            yield from within(value, here)
