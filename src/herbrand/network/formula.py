"""Shortest formulas of `&`, `|`, `^` and `~` for functions of three bits."""

from __future__ import annotations

from functools import cache

__all__ = ["formula"]

_OPERAND = {"a": 0xF0, "b": 0xCC, "c": 0xAA}
"""The truth tables of the operands: bit 4 * a + 2 * b + c is the value."""
_BINARY, _NOT = 4, 1
"""Costs: an operation with an inverted operand is often one instruction, an inverted result is not."""


def formula(table: int, a: str, b: str, c: str) -> str:
    """Return a shortest formula for a truth table of eight bits over the named operands.

    Bit 4 * a + 2 * b + c of `table` is the value.  `0` and `~0` are the constants.  The formula is valid C;
    nested binary operations are in parentheses.
    """
    names = {"a": a, "b": b, "c": c}
    return "".join(names.get(letter, letter) for letter in _shortest()[table])


@cache
def _shortest() -> tuple[str, ...]:
    """Return the cheapest formulas of all 256 tables, by uniform-cost search."""
    formulas: dict[int, str] = {0x00: "0", 0xFF: "~0", **{table: name for name, table in _OPERAND.items()}}
    by_cost: dict[int, list[int]] = {0: list(_OPERAND.values())}
    cost = 0
    while len(formulas) < 256:
        cost += 1
        cheapest: dict[int, str] = {}
        for table in by_cost.get(cost - _NOT, ()):
            text = formulas[table]
            if table ^ 0xFF not in formulas and not text.startswith("~"):
                cheapest.setdefault(table ^ 0xFF, "~" + (text if len(text) == 1 else f"({text})"))
        for left_cost, lefts in by_cost.items():
            for left in lefts:
                for right in by_cost.get(cost - _BINARY - left_cost, ()):
                    for sign, table in (("&", left & right), ("|", left | right), ("^", left ^ right)):
                        if table not in formulas and table not in cheapest:
                            cheapest[table] = f"{_nested(formulas[left])} {sign} {_nested(formulas[right])}"
        formulas |= cheapest
        by_cost[cost] = list(cheapest)
    return tuple(formulas[table] for table in range(256))


def _nested(text: str) -> str:
    return f"({text})" if " " in text and not text.startswith("~") else text
