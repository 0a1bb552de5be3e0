"""`herbrand diff`: decide whether two games are the same."""

from __future__ import annotations

from dataclasses import asdict
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
@click.option("--names", is_flag=True, help="List the names of A that differ in B.")
@click.option(
    "--states",
    type=click.IntRange(min=1),
    default=10_000,
    help="Maximum number of states to explore; larger games are compared by random play.",
)
@click.option("--seconds", type=click.FloatRange(min=0), default=20.0, help="Time limit in seconds (exit 3).")
@click.option("--seed", type=int, default=0, help="Determines the random games.")
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
    """Decide whether two games are the same, or show where they differ.

    Games are the same if their rules are equal up to names and order, or if legal moves, termination,
    terminal goals and percepts are the same in every state. Otherwise shows the first joint moves after which
    they differ. --param sets a parameter of both games, or of those that are in GGDL; A:NAME=VALUE and
    B:NAME=VALUE set it on one side.

    Exits with 0 if the games are the same, 1 if they differ, 2 if one is not playable, and 3 if no
    difference was found but not all states were compared.
    """
    from herbrand.verify.diff import diff

    games = read_game(first, notation, side="A"), read_game(second, notation, side="B")
    try:
        comparison = diff(*games, states=states, seconds=seconds, seed=seed)
    except BudgetExceeded:
        raise
    except HerbrandError as error:
        from herbrand.cli.main import failure

        failure(error)
        ctx.exit(_TROUBLE)
    if as_json:
        write_json(_as_json(games, comparison))
    else:
        _report(games, comparison, names=names)
    ctx.exit(_EXIT[comparison.verdict])


def _report(games: tuple[Game, Game], comparison: Diff, *, names: bool) -> None:
    renaming, behaviour = comparison.renaming, comparison.behaviour
    if comparison.verdict == "rules":
        if renaming.changed:
            result(f"same rules with other names: {len(renaming.changed)} of {len(renaming.names)} differ")
        else:
            result("same rules")
    else:
        assert behaviour is not None
        states = count(behaviour.states, "state")
        if behaviour.difference is not None:
            _report_difference(games, behaviour.difference)
        elif behaviour.is_complete:
            result(f"different rules, same play: compared all {states}")
        else:
            result(f"different rules; no difference in {states}, but there are more")
    if names:
        for old, new in sorted(renaming.changed.items()):
            result(f"  {_format_symbol(old)} is {_format_symbol(new)}")


def _format_symbol(symbol: Symbol) -> str:
    kind, name, arity = symbol
    return name if kind == "object" else f"{name}/{arity}"


def _report_difference(games: tuple[Game, Game], difference: PlayDifference) -> None:
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


def _as_json(games: tuple[Game, Game], comparison: Diff) -> dict[str, object]:
    behaviour, difference = comparison.behaviour, comparison.difference
    return {
        "games": [game.name for game in games],
        "verdict": comparison.verdict,
        "same": comparison.verdict in ("rules", "play"),
        "names": [
            {"kind": old[0], "arity": old[2], "first": old[1], "second": new[1]}
            for old, new in sorted(comparison.renaming.names.items())
        ],
        "states": behaviour and behaviour.states,
        "difference": difference and asdict(difference),
    }
