"""Sizes of relations for inlay hints, computed by grounding in a subprocess.

`python -m herbrand.lsp.sizes` reads one JSON value, `{"text", "notation", "name", "seconds", "megabytes"}`,
and prints `{"sizes": {relation: instances}}`, or `{"reason"}` on failure.  A subprocess can be killed at any
time and does not delay other requests.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from typing import TYPE_CHECKING, Any, Final

from herbrand.runtime.memory import limit_memory

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from lsprotocol import types as lsp

    from herbrand.lsp.document import OpenSheet

__all__ = ["answer", "ask", "hints", "measure", "relation_sizes"]

SECONDS: Final = 10.0
"""Time limit for grounding; games that exceed it get no hints."""
MEGABYTES: Final = 1500


def relation_sizes(request: Mapping[str, Any]) -> dict[str, Any]:
    """Ground a text and count the instances of every relation that it defines.

    >>> relation_sizes({"text": "(role a) (succ 1 2) (succ 2 3)"})["reason"]
    'the rules have errors'
    """
    from herbrand.check import check
    from herbrand.errors import HerbrandError
    from herbrand.ground import count_instances
    from herbrand.runtime.limits import Limits
    from herbrand.syntax import read

    tree = read(request["text"], request.get("notation", "auto"), request.get("name", "<string>"))
    rules = check(tree)
    if rules.errors:
        return {"reason": "the rules have errors"}
    wanted = list(dict.fromkeys(rule.head.key for rule in tree.statements))
    limits = Limits(seconds=request.get("seconds", SECONDS))
    try:
        counts = count_instances(rules, wanted, limits=limits, megabytes=request.get("megabytes", MEGABYTES))
    except HerbrandError as error:
        return {"reason": str(error)}
    sizes: Counter[str] = Counter()
    for (name, _), number in counts.items():
        sizes[name] += number
    return {"sizes": sizes}


async def measure(sheet: OpenSheet, seconds: float = SECONDS) -> dict[str, int]:
    """Return the sizes of a sheet's relations by name; empty on failure or timeout."""
    measured = await ask("herbrand.lsp.sizes", sheet, seconds)
    sizes: dict[str, int] = (measured or {}).get("sizes", {})
    return sizes


async def ask(module: str, sheet: OpenSheet, seconds: float) -> Any:
    """Return the answer of a module, run in a subprocess, about a sheet; None on failure or timeout."""
    request = {
        "text": sheet.text,
        "notation": sheet.tree.notation,
        "name": sheet.source.name,
        "seconds": seconds,
    }
    from herbrand.runtime.pool import run_command  # not needed in the subprocess

    command = [sys.executable, "-m", module]
    try:
        return json.loads(await run_command(command, json.dumps(request).encode(), seconds + 5) or b"null")
    except (TimeoutError, ValueError):
        return None


def hints(sheet: OpenSheet, sizes: Mapping[str, int], wanted: lsp.Range) -> list[lsp.InlayHint]:
    """Return a hint with the number of instances at the first head of each relation."""
    from lsprotocol import types as lsp  # slow to import, and not needed in the subprocess

    span = sheet.places.span(wanted)
    hints: list[lsp.InlayHint] = []
    seen: set[str] = set()
    for use in sheet.names.all:
        name = use.key[1]
        if use.kind not in ("relation", "keyword") or not use.defines or name in seen or name not in sizes:
            continue
        seen.add(name)
        if span.start <= use.start <= span.end:
            shown = f"{sizes[name]:,}".replace(",", "\N{NARROW NO-BREAK SPACE}")
            hints.append(
                lsp.InlayHint(
                    sheet.places.position(use.end),
                    f"\N{MULTIPLICATION SIGN}{shown}",
                    padding_left=True,
                    padding_right=True,
                    tooltip=f"{shown} ground instances of `{name}`",
                )
            )
    return hints


def answer(function: Callable[[Any], Any]) -> None:
    """Be the subprocess of `ask`: print what a function returns for the request on standard input."""
    limit_memory(3 * MEGABYTES)
    print(json.dumps(function(json.loads(sys.stdin.read()))))


if __name__ == "__main__":
    answer(relation_sizes)
