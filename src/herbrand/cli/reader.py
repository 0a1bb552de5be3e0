"""`herbrand reader`: a reader that accepts the moves of one game and nothing else."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import click

from herbrand.cli.files import FILE, NOTATION, read_game
from herbrand.cli.options import JSON, OUTPUT
from herbrand.cli.output import remark, result, table, write_json, write_output
from herbrand.errors import GameError

if TYPE_CHECKING:
    from herbrand.convert.movereader import MoveReader

__all__ = ["command"]


@click.command("reader")
@click.argument("file", metavar="FILE", type=FILE)
@NOTATION
@click.option(
    "--to",
    "target",
    type=click.Choice(["python", "typescript", "javascript"]),
    help="Write the reader as a module without dependencies.",
)
@OUTPUT
@click.option("--as", "role", metavar="ROLE", help="Role whose moves to read; by default the first.")
@click.option("--read", "texts", metavar="TEXT", multiple=True, help="Read this move; may be repeated.")
@click.option("--complete", metavar="TEXT", help="List moves that begin with this.")
@click.option("--limit", type=click.IntRange(1), default=20, help="With --complete.")
@JSON
@click.pass_context
def command(
    ctx: click.Context,
    file: str,
    notation: str,
    target: str | None,
    output: str | None,
    role: str | None,
    texts: tuple[str, ...],
    complete: str | None,
    limit: int,
    as_json: bool,
) -> None:
    """Compile the moves of a game into a reader that accepts nothing else.

    Without an option, prints the number of moves of each role and the size of the tables. Moves may be
    written (mark 1 1), mark(1, 1) or role -> (mark 1 1), in any case. Exit status 1 if a text given with
    --read is not a move.
    """
    if output is not None and target is None:
        raise click.UsageError("--output needs --to")
    if target is not None and (texts or complete is not None or role is not None or as_json):
        raise click.UsageError("--to allows only --output")
    from herbrand.convert.movereader import MoveReader, emit

    game = read_game(file, notation)
    started = time.perf_counter()
    reader = MoveReader(game)
    seconds = time.perf_counter() - started
    if target is not None:
        write_output(emit(reader, target), output)
        return
    if not texts and complete is None:
        _describe(reader, seconds, as_json=as_json)
        return
    try:
        reading = game.roles[game.role_index(role)] if role is not None else game.roles[0]
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="--as") from error
    if complete is not None:
        completions = reader.complete(reading, complete, limit)
        if as_json and not texts:
            write_json(completions)
        elif completions:
            result("\n".join(completions))
    if texts and not _read(reader, reading, texts, as_json=as_json):
        ctx.exit(1)


def _read(reader: MoveReader, role: str, texts: tuple[str, ...], *, as_json: bool) -> bool:
    """Print the move or the error of each text; return whether all are moves."""
    from herbrand.convert.movereader import MoveError

    rows = []
    for text in texts:
        try:
            index = reader.index(role, text)
        except MoveError as error:
            rows.append(
                {
                    "text": text,
                    "move": None,
                    "code": error.code,
                    "message": str(error),
                    "position": error.position,
                    "expected": list(error.expected),
                    "suggestion": error.suggestion,
                }
            )
            if not as_json:
                remark(f"error[{error.code}]: {error}")
        else:
            rows.append({"text": text, "move": reader.text(role, index), "index": index})
            if not as_json:
                result(f"{index} {reader.text(role, index)}")
    if as_json:
        write_json(rows)
    return all(row["move"] is not None for row in rows)


def _describe(reader: MoveReader, seconds: float, *, as_json: bool) -> None:
    """Print the size of the tables."""
    if not reader.roles:
        raise GameError("the game has no roles")
    rows = [
        {
            "role": role,
            "moves": len(terms),
            "states": len(terms.tables.states),
            "edges": terms.tables.edges,
            "limit": terms.longest,
        }
        for role in reader.roles
        for terms in [reader.terms(role)]
    ]
    if as_json:
        write_json({"game": reader.game.name, "seconds": round(seconds, 4), "roles": rows})
        return
    head = ("role", "moves", "states", "edges")
    result(table([[row[name] for name in head] for row in rows], head, right=(1, 2, 3)))
