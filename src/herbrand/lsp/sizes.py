"""How large each relation gets: grounding in a child process, for the numbers beside the rules.

`python -m herbrand.lsp.sizes` reads one JSON value, `{"text", "notation", "name", "seconds", "megabytes"}`,
and prints `{"sizes": {relation: instances}}`, or `{"reason"}` when it gave up.  A process of its own can
be stopped whatever it does, and typing stays quick meanwhile.
"""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any, Final

from herbrand.runtime.memory import limit_memory

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lsprotocol import types as lsp

    from herbrand.lsp.document import OpenSheet

__all__ = ["hints", "measure", "relation_sizes"]

SECONDS: Final = 10.0
"""Larger games than can be ground in this time get no numbers."""
MEGABYTES: Final = 1500


def relation_sizes(request: Mapping[str, Any]) -> dict[str, Any]:
    """Ground a text and count the rows of every relation that its rules define.

    >>> relation_sizes({"text": "(role a) (succ 1 2) (succ 2 3)"})["reason"]
    'the rules have errors'
    """
    from herbrand.check import check
    from herbrand.errors import HerbrandError
    from herbrand.ground import ground
    from herbrand.runtime.limits import Limits
    from herbrand.syntax import read

    tree = read(request["text"], request.get("notation", "auto"), request.get("name", "<string>"))
    rules = check(tree)
    if rules.errors:
        return {"reason": "the rules have errors"}
    wanted = list(dict.fromkeys(rule.head.key for rule in tree.statements))
    limits = Limits(seconds=request.get("seconds", SECONDS))
    try:
        program = ground(rules, limits=limits, megabytes=request.get("megabytes", MEGABYTES), wanted=wanted)
    except HerbrandError as error:
        return {"reason": str(error)}
    return {"sizes": {name: len(rows) for name, rows in program.named.items()}}


async def measure(sheet: OpenSheet, seconds: float = SECONDS) -> dict[str, int]:
    """Return the sizes of a sheet's relations, by name; empty when they cannot be had in time."""
    request = {
        "text": sheet.text,
        "notation": sheet.tree.notation,
        "name": sheet.source.name,
        "seconds": seconds,
    }
    from herbrand.runtime.pool import run_command  # the child needs none of it

    command = [sys.executable, "-m", "herbrand.lsp.sizes"]
    try:
        answer = json.loads(await run_command(command, json.dumps(request).encode(), seconds + 5) or b"{}")
    except (TimeoutError, ValueError):
        return {}
    sizes: dict[str, int] = answer.get("sizes", {})
    return sizes


def hints(sheet: OpenSheet, sizes: Mapping[str, int], wanted: lsp.Range) -> list[lsp.InlayHint]:
    """Return the number of instances behind the first head of each relation."""
    from lsprotocol import types as lsp  # the child process needs none of it: it takes long to import

    span = sheet.places.span(wanted)
    found: list[lsp.InlayHint] = []
    seen: set[str] = set()
    for one in sheet.names.all:
        name = one.key[1]
        if one.kind not in ("relation", "keyword") or not one.defines or name in seen or name not in sizes:
            continue
        seen.add(name)
        if span.start <= one.start <= span.end:
            shown = f"{sizes[name]:,}".replace(",", "\N{NARROW NO-BREAK SPACE}")
            found.append(
                lsp.InlayHint(
                    sheet.places.position(one.end),
                    f"\N{MULTIPLICATION SIGN}{shown}",
                    padding_left=True,
                    padding_right=True,
                    tooltip=f"{shown} instances of `{name}` when the game is ground",
                )
            )
    return found


def _main() -> None:
    limit_memory(3 * MEGABYTES)
    print(json.dumps(relation_sizes(json.loads(sys.stdin.read()))))


if __name__ == "__main__":
    _main()
