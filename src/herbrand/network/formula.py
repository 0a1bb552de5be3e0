"""Functions of three bits as formulas of `&`, `|`, `^` and `~`."""

from __future__ import annotations

from functools import cache

__all__ = ["formula"]

_OPERAND = {"a": 0xF0, "b": 0xCC, "c": 0xAA}
"""The tables of the operands themselves: bit 4 * a + 2 * b + c."""
_BINARY, _NOT = 4, 1
"""What operations cost: one with an inverted operand is often one instruction, an inverted result is not."""


def formula(table: int, a: str, b: str, c: str) -> str:
    """Return a shortest formula for a table of eight bits, over operands by their names.

    Bit 4 * a + 2 * b + c of `table` is the value.  `0` and `~0` are the constants.  The formula is one of C,
    with parentheses wherever a binary operation stands within another one.
    """
    names = {"a": a, "b": b, "c": c}
    return "".join(names.get(letter, letter) for letter in _shortest()[table])


@cache
def _shortest() -> tuple[str, ...]:
    """Return the formulas of all 256 tables, the cheapest ones, found in the order of their cost."""
    known: dict[int, str] = {0x00: "0", 0xFF: "~0", **{table: name for name, table in _OPERAND.items()}}
    by_cost: dict[int, list[int]] = {0: list(_OPERAND.values())}
    cost = 0
    while len(known) < 256:
        cost += 1
        found: dict[int, str] = {}
        for table in by_cost.get(cost - _NOT, ()):
            text = known[table]
            if table ^ 0xFF not in known and not text.startswith("~"):
                found.setdefault(table ^ 0xFF, "~" + (text if len(text) == 1 else f"({text})"))
        for left_cost, lefts in by_cost.items():
            for left in lefts:
                for right in by_cost.get(cost - _BINARY - left_cost, ()):
                    for sign, table in (("&", left & right), ("|", left | right), ("^", left ^ right)):
                        if table not in known and table not in found:
                            found[table] = f"{_nested(known[left])} {sign} {_nested(known[right])}"
        known |= found
        by_cost[cost] = list(found)
    return tuple(known[table] for table in range(256))


def _nested(text: str) -> str:
    return f"({text})" if " " in text and not text.startswith("~") else text
