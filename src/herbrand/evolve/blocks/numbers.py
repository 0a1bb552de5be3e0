"""Helper relations about numbers."""

from __future__ import annotations

from typing import Final

__all__ = ["numbers"]

_SECTION: Final = "Numbers"


def numbers(most: int) -> dict[str, tuple[str, str]]:
    """Return the helper relations about the numbers from 0 to `most`: name to section and rules."""
    rules = {
        "at_least": "(<= (at_least ?n ?m) (at_most ?m ?n))",
        "at_most": "(<= (at_most ?n ?n) (number ?n))\n(<= (at_most ?n ?m) (greater ?m ?n))",
        "greater": "(<= (greater ?m ?n) (succ ?n ?m))\n(<= (greater ?m ?n) (succ ?l ?m) (greater ?l ?n))",
        "sum": """(<= (sum ?n 0 ?n) (number ?n))
            (<= (sum ?n ?more ?next) (succ ?m ?more) (succ ?sum ?next) (sum ?n ?m ?sum))""",
        "number": "(number 0)\n(<= (number ?n) (succ ?less ?n))",
        "succ": "\n".join(f"(succ {n} {n + 1})" for n in range(most)),
    }
    return {name: (_SECTION, text) for name, text in rules.items()}
