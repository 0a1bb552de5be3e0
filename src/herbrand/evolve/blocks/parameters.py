"""Numbers of a design that become parameters of the game, where it is written in GGDL."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self, TypeVar

from herbrand.evolve.blocks.grammar import WholeNumber, grammar_of, within

if TYPE_CHECKING:
    from herbrand.evolve.blocks.block import Block

__all__ = ["NamedNumber", "Writing", "named", "one_less", "parameters_of"]

B = TypeVar("B", bound="Block")


class NamedNumber(int):
    """A number that a format string shows by its name; what is reckoned from it is a number again."""

    name: str
    about: str
    """What it is, in words."""
    least: int
    most: int

    def __new__(cls, value: int, name: str, about: str, span: WholeNumber) -> Self:
        """Name a number that may be from `span.least` to `span.most`."""
        made = super().__new__(cls, value)
        made.name, made.about = name, about
        made.least, made.most = min(value, span.least), span.most
        return made

    def __format__(self, spec: str) -> str:
        """Return the name."""
        return self.name

    def declaration(self) -> str:
        """Return the parameter as a sentence of GGDL, below its comment."""
        return (
            f"// {self.about}\ninit ^ {self.name} :: int >= {self.least} <= {self.most} default {int(self)}"
        )


def named(block: B, field: str, name: str, about: str, least: int = 0) -> B:
    """Return the block with the number in a field as a parameter, which is not smaller than `least`."""
    grammar = grammar_of(type(block))[field]
    assert isinstance(grammar, WholeNumber)
    span = WholeNumber(max(least, grammar.least), grammar.most)
    varied: dict[str, Any] = {field: NamedNumber(getattr(block, field), name, about, span)}
    return replace(block, **varied)


def one_less(number: int) -> str:
    """Return a number less one, or the expression for it."""
    return f"{number} - 1" if isinstance(number, NamedNumber) else str(number - 1)


def parameters_of(block: Block) -> list[NamedNumber]:
    """Return the parameters that are fields of a block or of the blocks in it."""
    return [value for _, value, _ in within(block) if isinstance(value, NamedNumber)]


@dataclass(frozen=True, slots=True)
class Writing:
    """Relations that GGDL says shorter than by a list of facts."""

    data: dict[str, str]
    """Relations with one argument: name to range."""
    rules: dict[str, str]
    """Others: name to a sentence."""

    @classmethod
    def of_numbers(cls, most: str) -> Writing:
        """Return how the numbers from 0 to `most`, an expression, are written."""
        less = int(most) - 1 if most.isdecimal() else f"{most} - 1"
        return cls({"number": f"0 .. {most}"}, {"succ": f"succ(?n, ?n + 1) :- ?n in 0 .. {less}"})

    def __or__(self, other: Writing) -> Writing:
        """Return what both say."""
        return Writing(self.data | other.data, self.rules | other.rules)
