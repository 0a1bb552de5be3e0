"""`herbrand ground`: list the ground rules, or their statistics."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import click

from herbrand.cli.files import FILE, NOTATION, read_game
from herbrand.cli.options import JSON, time_limit
from herbrand.cli.output import result, spaced, write_json
from herbrand.runtime.limits import DEFAULT

__all__ = ["command"]


@click.command("ground")
@click.argument("file", metavar="FILE", type=FILE)
@NOTATION
@click.option(
    "--stats", is_flag=True, help="Write the sizes of ground rules and network instead of the rules."
)
@click.option("--no-shrink", is_flag=True, help="Do not decompose rules with many variables.")
@time_limit(DEFAULT.seconds)
@JSON
def command(file: str, notation: str, stats: bool, no_shrink: bool, seconds: float, as_json: bool) -> None:
    """List the relevant ground instances of the rules.

    Facts are evaluated; `true` and `does` remain as inputs. Auxiliary atoms from decomposed rules are
    written as _12.
    """
    from herbrand.ground import ground

    game = read_game(file, notation)
    game.require_playable()
    program = ground(
        game.rules,
        limits=replace(game.limits, seconds=seconds),
        shrink=not no_shrink,
    )
    value: dict[str, Any] = {"game": game.name, "ground": program.statistics()}
    if stats:
        from herbrand.network import optimised, wire

        roles = [program.terms.intern(role) for role in game.rules.roles]
        value["network"] = optimised(wire(program, roles)).statistics()
    if as_json:
        write_json(value if stats else {**value, "rules": str(program).splitlines()})
    elif stats:
        result("\n".join(_lines(value)))
    else:
        result(str(program))


def _lines(value: dict[str, Any]) -> list[str]:
    """Format the sizes."""
    parts = [(part, value[part]) for part in ("ground", "network")]
    names = max(len(name) for _, sizes in parts for name in sizes)
    lines = [value["game"]]
    for part, sizes in parts:
        lines.append(f"{part}:")
        for name, size in sizes.items():
            shown = spaced(size) if isinstance(size, int) else f"{size:.2f}"
            lines.append(f"  {name.replace('_', ' '):{names}}  {shown:>11}")
    return lines
