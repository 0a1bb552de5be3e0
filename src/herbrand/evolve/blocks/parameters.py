"""Numbers of a design that become parameters of the game in GGDL."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self, TypeVar

from herbrand.evolve.blocks.grammar import WholeNumber, grammar_of, within

if TYPE_CHECKING:
    from herbrand.evolve.blocks.block import Block

__all__ = ["NamedNumber", "Writing", "named", "one_less", "parameters_of"]

B = TypeVar("B", bound="Block")


class NamedNumber(int):
    """An integer that formats as its name; arithmetic gives ordinary integers."""

    name: str
    about: str
    """A description."""
    least: int
    most: int

    def __new__(cls, value: int, name: str, about: str, span: WholeNumber) -> Self:
        """Name a number with the range of `span`."""
        number = super().__new__(cls, value)
        number.name, number.about = name, about
        number.least, number.most = min(value, span.least), span.most
        return number

    def __format__(self, spec: str) -> str:
        """Return the name."""
        return self.name

    def declaration(self) -> str:
        """Return the declaration of the parameter in GGDL with a comment."""
        return (
            f"// {self.about}\ninit ^ {self.name} :: int >= {self.least} <= {self.most} default {int(self)}"
        )


def named(block: B, field: str, name: str, about: str, least: int = 0) -> B:
    """Return the block with the number in a field as a parameter, at least `least`."""
    grammar = grammar_of(type(block))[field]
    assert isinstance(grammar, WholeNumber)
    span = WholeNumber(max(least, grammar.least), grammar.most)
    varied: dict[str, Any] = {field: NamedNumber(getattr(block, field), name, about, span)}
    return replace(block, **varied)


def one_less(number: int) -> str:
    """Return a number minus one, or an expression for it."""
    return f"{number} - 1" if isinstance(number, NamedNumber) else str(number - 1)


def parameters_of(block: Block) -> list[NamedNumber]:
    """Return the parameters among the fields of a block and its inner blocks."""
    return [value for _, value, _ in within(block) if isinstance(value, NamedNumber)]


@dataclass(frozen=True, slots=True)
class Writing:
    """Relations that GGDL can write shorter than as a list of facts."""

    data: dict[str, str]
    """Ranges of unary relations."""
    rules: dict[str, str]
    """Sentences for other relations."""

    @classmethod
    def of_numbers(cls, most: str) -> Writing:
        """Return the form of the numbers from 0 to `most`, which is an expression."""
        less = int(most) - 1 if most.isdecimal() else f"{most} - 1"
        return cls({"number": f"0 .. {most}"}, {"succ": f"succ(?n, ?n + 1) :- ?n in 0 .. {less}"})

    def __or__(self, other: Writing) -> Writing:
        """Return the union of both."""
        return Writing(self.data | other.data, self.rules | other.rules)
