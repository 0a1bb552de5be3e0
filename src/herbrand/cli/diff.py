"""`herbrand diff`: are two games the same, and if not, where do they part?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from herbrand.cli.files import FILE, NOTATION, read_game
from herbrand.cli.options import JSON
from herbrand.cli.output import count, result, write_json
from herbrand.errors import BudgetExceeded, HerbrandError

if TYPE_CHECKING:
    from herbrand.game import Game
    from herbrand.verify.diff import Diff, PlayDifference, Symbol

__all__ = ["command"]

_EXIT = {"rules": 0, "play": 0, "differs": 1, "unknown": 3}
_TROUBLE = 2
_SHOWN = 12


@click.command("diff")
@click.argument("first", metavar="A", type=FILE)
@click.argument("second", metavar="B", type=FILE)
@NOTATION
@click.option("--names", is_flag=True, help="List the names of A that are others in B.")
@click.option(
    "--states",
    type=click.IntRange(min=1),
    default=10_000,
    show_default=True,
    help="How many states to go through before only random games are played.",
)
@click.option(
    "--seconds",
    type=click.FloatRange(min=0),
    default=20.0,
    show_default=True,
    help="Give up after so many seconds (exit 3).",
)
@click.option("--seed", type=int, default=0, show_default=True, help="Which random games.")
@JSON
@click.pass_context
def command(
    ctx: click.Context,
    first: str,
    second: str,
    notation: str,
    names: bool,
    states: int,
    seconds: float,
    seed: int,
    as_json: bool,
) -> None:
    """Tell whether two games are the same, or where they part.

    Games are the same when their rules are, whatever their names and their order, or when in every
    state the legal moves, the end, the goals at the end and what roles see are the same. If they
    are not, the first joint moves after which they differ are shown.

    Exits with 0 if the games are the same, 1 if they differ, 2 if one cannot be played, and 3 if
    no difference was found and not everything was looked at.
    """
    from herbrand.verify.diff import diff

    games = read_game(first, notation), read_game(second, notation)
    try:
        found = diff(*games, states=states, seconds=seconds, seed=seed)
    except BudgetExceeded:
        raise
    except HerbrandError as error:
        from herbrand.cli.main import failure

        failure(error)
        ctx.exit(_TROUBLE)
    if as_json:
        write_json(_as_json(games, found))
    else:
        _tell(games, found, names=names)
    ctx.exit(_EXIT[found.verdict])


def _tell(games: tuple[Game, Game], found: Diff, *, names: bool) -> None:
    changed = found.renaming.changed
    if found.verdict == "rules":
        if changed:
            result(f"same rules under other names: {len(changed)} of {len(found.renaming.names)} differ")
        else:
            result("same rules")
    else:
        assert found.behaviour is not None
        if found.behaviour.difference is not None:
            _tell_difference(games, found.behaviour.difference)
        elif found.behaviour.is_complete:
            result(f"other rules, same play: compared all {count(found.behaviour.states, 'state')}")
        else:
            result(
                f"other rules; no difference in {count(found.behaviour.states, 'state')}, but there are more"
            )
    if names:
        for old, new in sorted(changed.items()):
            result(f"  {_shown(old)} is {_shown(new)}")


def _shown(symbol: Symbol) -> str:
    kind, name, arity = symbol
    return name if kind == "object" else f"{name}/{arity}"


def _tell_difference(games: tuple[Game, Game], difference: PlayDifference) -> None:
    moves = difference.moves
    where = f"after {count(len(moves), 'step')}" if moves else "in the initial state"
    result(f"different {where}: {difference.what}")
    if moves:
        result(f"  moves: {'; '.join(moves)}")
    for name, only in zip(_labels(games), (difference.first, difference.second), strict=True):
        more = f" ... {len(only) - _SHOWN} more" if len(only) > _SHOWN else ""
        result(f"  {name} only: {' '.join(only[:_SHOWN]) or 'nothing'}{more}")


def _labels(games: tuple[Game, Game]) -> tuple[str, str]:
    first, second = (game.name for game in games)
    return (first, second) if first != second else ("A", "B")


def _as_json(games: tuple[Game, Game], found: Diff) -> dict[str, object]:
    behaviour, difference = found.behaviour, found.difference
    return {
        "games": [game.name for game in games],
        "verdict": found.verdict,
        "same": found.verdict in ("rules", "play"),
        "names": [
            {"kind": old[0], "arity": old[2], "first": old[1], "second": new[1]}
            for old, new in sorted(found.renaming.names.items())
        ],
        "states": behaviour and behaviour.states,
        "difference": difference
        and {
            "what": difference.what,
            "moves": list(difference.moves),
            "first": list(difference.first),
            "second": list(difference.second),
        },
    }
