"""`herbrand ground`: write out the rules without variables, or how many there are."""

from __future__ import annotations

from typing import Any

import click

from herbrand.cli.files import FILE, NOTATION, read_game
from herbrand.cli.options import JSON
from herbrand.cli.output import result, write_json
from herbrand.errors import GameError
from herbrand.runtime.limits import DEFAULT, Limits

__all__ = ["command"]


@click.command("ground")
@click.argument("file", metavar="FILE", type=FILE)
@NOTATION
@click.option("--stats", is_flag=True, help="Write sizes, of the network too, not the rules.")
@click.option("--no-shrink", is_flag=True, help="Do not break up rules with many variables first.")
@click.option(
    "--seconds",
    type=click.FloatRange(min=0, min_open=True),
    default=DEFAULT.seconds,
    show_default=True,
    help="Give up after so many seconds (exit 3).",
)
@click.option(
    "--megabytes",
    type=click.IntRange(min=1),
    default=6000,
    show_default=True,
    help="Memory that the grounder may use.",
)
@JSON
def command(
    file: str, notation: str, stats: bool, no_shrink: bool, seconds: float, megabytes: int, as_json: bool
) -> None:
    """List the instances of the rules that can matter in a game.

    Facts are folded into the rules; `true` and `does` are left as inputs. An atom that the
    rulesheet does not have, made when a rule was broken up, is written as _12.
    """
    from herbrand.ground import ground

    game = read_game(file, notation)
    if game.rules.errors:
        raise GameError(f"{game.name} has errors", game.rules.errors)
    program = ground(
        game.rules,
        limits=Limits(seconds=seconds, atoms=DEFAULT.atoms),
        megabytes=megabytes,
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
    """Lay out the sizes for people."""
    parts = [(part, value[part]) for part in ("ground", "network")]
    names = max(len(name) for _, sizes in parts for name in sizes)
    lines = [value["game"]]
    for part, sizes in parts:
        lines.append(f"{part}:")
        for name, size in sizes.items():
            shown = f"{size:,}".replace(",", " ") if isinstance(size, int) else f"{size:.2f}"
            lines.append(f"  {name.replace('_', ' '):{names}}  {shown:>11}")
    return lines
