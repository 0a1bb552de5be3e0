"""`StateCode`: a bijection between states and the integers below a bound.

A state is a number in mixed radix.  Each argument tuple of a functional relation of a GGDL game is one digit,
whose radix is the number of its values (plus one for "no value", unless the relation is total); every other
ground fluent is a digit of radix 2.  The first digit is the most significant.

Digits are ordered by name and arity of the fluent, then by arguments; values of a digit by the order of their
data type.  Without a type, integers come first, by value, then other constants in alphabetical order, then
compound terms.  So the code depends on the spelling of a game only through its types.  The cells of
tic-tac-toe on an n by n board have 3^(n^2) codes.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

from herbrand.errors import GameError
from herbrand.syntax.ggdl.lift import split

if TYPE_CHECKING:
    from collections.abc import Iterable

    from herbrand.engine.description import GameDescription
    from herbrand.machine.state import State

__all__ = ["Slot", "StateCode"]


@dataclass(frozen=True, slots=True)
class Slot:
    """One digit of a state code."""

    place: str
    """The relation with its arguments as KIF, such as `(cell 1 1)`, or the fluent itself."""
    facts: tuple[str | None, ...]
    """The fact for each value of the digit, in lower case; None for no fact."""

    @property
    def radix(self) -> int:
        """The number of values."""
        return len(self.facts)


class StateCode:
    """The numbering of the states of one game: `herbrand.Game.state_code`."""

    def __init__(self, game: GameDescription) -> None:
        self.game = game
        self.slots: tuple[Slot, ...] = tuple(_slots(game))
        """The digits, the most significant first."""
        self.size = prod(slot.radix for slot in self.slots)
        """The number of codes, which are 0 to `size` - 1."""
        self._digits = {
            fact: (index, digit)
            for index, slot in enumerate(self.slots)
            for digit, fact in enumerate(slot.facts)
            if fact is not None
        }

    def __repr__(self) -> str:
        return f"<StateCode of {self.game.name}: {len(self.slots)} digits, {self.size} states>"

    def encode(self, state: State | Iterable[str]) -> int:
        """Return the number of a state, or of its true fluents as KIF.

        Raises `GameError` for fluents that are not in the game, for two values of one functional relation,
        and for a missing value of a total one.
        """
        from herbrand.machine.state import State

        facts: Iterable[str] = state.facts if isinstance(state, State) else state
        digits: list[int | None] = [None] * len(self.slots)
        for fact in facts:
            place = self._digits.get(" ".join(fact.lower().split()))
            if place is None:
                raise GameError(f"`{fact}` is no base proposition of {self.game.name}")
            index, digit = place
            if digits[index] is not None:
                raise GameError(f"two values for `{self.slots[index].place}`: a state has one")
            digits[index] = digit
        number = 0
        for slot, value in zip(self.slots, digits, strict=True):
            if value is None and slot.facts[0] is not None:
                raise GameError(f"no value for `{slot.place}`: a state has one")
            number = number * slot.radix + (value or 0)
        return number

    def decode(self, number: int) -> frozenset[str]:
        """Return the true fluents of the state with a number, as KIF in lower case.

        `game.state(code.decode(n))` is the state itself.  Raises `ValueError` for a number out of range.
        """
        if not 0 <= number < self.size:
            raise ValueError(f"{number} is no state code: they are 0 to {self.size - 1}")
        facts: list[str] = []
        for slot in reversed(self.slots):
            number, digit = divmod(number, slot.radix)
            fact = slot.facts[digit]
            if fact is not None:
                facts.append(fact)
        return frozenset(facts)


def _slots(game: GameDescription) -> list[Slot]:
    declared = game.tree.ggdl.fluents if game.tree.ggdl is not None else ()
    by_key: dict[tuple[str, int], list[Slot]] = {}
    for fluent in declared:
        slots = by_key.setdefault(fluent.key, [])
        for args in fluent.domain:
            inner = " ".join(map(str, args))
            place = f"({fluent.name} {inner})" if args else fluent.name
            if not fluent.functional:
                slots.append(Slot(place, (None, place)))
                continue
            values = tuple(
                f"({' '.join(f'{fluent.name} {inner} {value}'.split())})" for value in fluent.values
            )
            slots.append(Slot(place, values if fluent.total else (None, *values)))
    declared_keys = {fluent.key for fluent in declared}
    others = () if declared and not _has_undeclared(game, declared_keys) else game.base
    for text in sorted(others, key=_order):
        key = _key(text)
        if key not in declared_keys:
            by_key.setdefault(key, []).append(Slot(text.lower(), (None, text.lower())))
    return [slot for key in sorted(by_key) for slot in by_key[key]]


def _has_undeclared(game: GameDescription, declared: set[tuple[str, int]]) -> bool:
    """Whether `init` or `next` rules have fluents that are not declared."""
    heads = (rule.head for rule in game.tree.statements if rule.head.key in {("init", 1), ("next", 1)})
    return any((fluent.name, len(fluent.args)) not in declared for head in heads for fluent in head.args)


def _key(text: str) -> tuple[str, int]:
    name, *args = split(text.lower())
    return name, len(args)


def _order(text: str) -> list[tuple[int, int, str]]:
    def rank(part: str) -> tuple[int, int, str]:
        if part.startswith("("):
            return 2, 0, part
        if part.lstrip("-").isdecimal():
            return 0, int(part), ""
        return 1, 0, part

    return [rank(part) for part in split(text.lower())]
