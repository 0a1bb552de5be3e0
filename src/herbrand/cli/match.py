"""`herbrand match`: let players play a match."""

from __future__ import annotations

import asyncio
import json
import re
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from herbrand.cli.files import FILE, NOTATION, read_game
from herbrand.cli.output import as_json, count, remark, result

if TYPE_CHECKING:
    from collections.abc import Sequence

    from herbrand.game import Game
    from herbrand.ggp.events import Event
    from herbrand.ggp.manager import Match
    from herbrand.ggp.seats import Seat

__all__ = ["command"]

_ADDRESS = re.compile(r"(?:(?P<host>.*):)?(?P<port>[0-9]{1,5})")


@click.command("match")
@click.argument("file", metavar="FILE", type=FILE)
@NOTATION
@click.option(
    "--player",
    "players",
    metavar="PLAYER",
    multiple=True,
    help="HOST:PORT of a player on the network, or the name of one of `herbrand players`; one for each role "
    "but `random`, in role order. One alone plays all roles if it has a name.",
)
@click.option(
    "--start-clock", type=click.IntRange(0), default=30, show_default=True, help="Seconds to prepare."
)
@click.option(
    "--play-clock", type=click.IntRange(0), default=10, show_default=True, help="Seconds for a move."
)
@click.option("--seed", type=int, default=0, show_default=True, help="Of chance and of substituted moves.")
@click.option(
    "--substitute",
    type=click.Choice(["random", "first", "noop", "forfeit"]),
    default="random",
    show_default=True,
    help="What is played for a player whose move is late or bad; with forfeit the match ends.",
)
@click.option(
    "--patience",
    type=click.IntRange(1),
    help="After so many bad moves in a row a player is not asked any more.",
)
@click.option(
    "--max-steps", type=click.IntRange(1), default=10_000, show_default=True, help="When to cut it off."
)
@click.option("--scramble", type=int, metavar="SEED", help="Tell the players the game under other names.")
@click.option("--id", "match_id", metavar="ID", help="The name of the match; drawn otherwise.")
@click.option(
    "--events",
    metavar="OUT",
    type=click.Path(dir_okay=False),
    help="Write every event to this file, a line of JSON each.",
)
@click.option("--json", "wants_json", is_flag=True, help="Print the match as JSON.")
@click.pass_context
def command(
    ctx: click.Context,
    file: str,
    notation: str,
    players: tuple[str, ...],
    start_clock: int,
    play_clock: int,
    seed: int,
    substitute: str,
    patience: int | None,
    max_steps: int,
    scramble: int | None,
    match_id: str | None,
    events: str | None,
    wants_json: bool,
) -> None:
    """Let players play a match of a game, here or over the network.

    Whatever a player does, the match goes on: a late or bad move is replaced, and that is said. Exit
    status 1 when the match did not come to its end.
    """
    from herbrand.ggp.manager import Manager, Settings, seats_for

    game = read_game(file, notation)
    game.require_playable()
    if len(players) == 1 and not _ADDRESS.fullmatch(players[0]):
        players *= len(game.players)
    if not players:
        raise click.UsageError(f"say who plays: --player for each of {', '.join(game.players)}")
    if match_id is not None and not re.fullmatch(r"[A-Za-z][A-Za-z0-9_.-]{0,63}", match_id):
        raise click.BadParameter("a letter, then letters, digits, `_`, `.` and `-`", param_hint="--id")
    table = seats_for(game, [_seat(text, seed + place) for place, text in enumerate(players)])
    with ExitStack() as open_files:
        log = open_files.enter_context(Path(events).open("w", encoding="utf-8")) if events else None

        def listen(event: Event) -> None:
            if log is not None:
                log.write(json.dumps(asdict(event), ensure_ascii=False) + "\n")
                log.flush()
            if not wants_json:
                _show(game, event)

        settings = Settings(
            start_clock=start_clock,
            play_clock=play_clock,
            substitute=substitute,
            patience=patience,
            max_steps=max_steps,
            seed=seed,
        )
        manager = Manager(game, settings, scramble=scramble, listener=listen)
        match = asyncio.run(manager.play(table, match_id=match_id))
    if wants_json:
        as_json(match.as_json())
    else:
        result(_ending(match))
    if not match.is_complete:
        ctx.exit(1)


def _seat(text: str, seed: int) -> Seat:
    """Return the seat that a --player names."""
    from herbrand.ggp.seats import LocalSeat, RemoteSeat
    from herbrand.play import make_player
    from herbrand.play.registry import NoSuchPlayer

    address = _ADDRESS.fullmatch(text)
    if address is not None:
        port = int(address["port"])
        if not 1 <= port <= 65535:
            raise click.BadParameter(f"`{text}`: there is no port {port}", param_hint="--player")
        host = (address["host"] or "127.0.0.1").strip("[]")
        return RemoteSeat(host, port, name=f"{host}:{port}")
    try:
        return LocalSeat(make_player(text, seed=seed), name=text)
    except NoSuchPlayer as error:
        raise click.BadParameter(f"{error}; on the network: HOST:PORT", param_hint="--player") from error


def _show(game: Game, event: Event) -> None:
    """Say what happened in the match."""
    data = event.data
    if event.kind == "match":
        who = ", ".join(f"{role} is {name}" for role, name in data["players"].items())
        result(f"{game.name}, match {event.match}: {who}")
    elif (
        event.kind == "exchange"
        and data["message"] == "START"
        and (data["problem"] or data["reply"] != "ready")
    ):
        answer = data["problem"] or f"answered `{(data['reply'] or '')[:60]}`"
        remark(f"     {data['role']}: {answer} at START{_because(data['notes'])}")
    elif event.kind == "step":
        result(f"{data['step']:>3}  {'  '.join(data['moves'])}")
        for problem in data["problems"]:
            instead = f"played {problem['played']} instead"
            remark(f"     {problem['role']}: {problem['kind']}: {problem['note']}; {instead}")


def _because(notes: Sequence[str]) -> str:
    return f" ({'; '.join(notes)})" if notes else ""


def _ending(match: Match) -> str:
    steps = count(len(match.moves), "step")
    bad = [problem for problem in match.problems if problem.step]
    problems = f"; {count(len(bad), 'move')} replaced" if bad and match.is_complete else ""
    if match.goals is not None:
        goals = ", ".join(f"{role} {'-' if goal is None else goal}" for role, goal in match.goals.items())
        return f"the game is over after {steps}: {goals}{problems}"
    word, _, role = match.reason.partition(" ")
    why = {
        "forfeit": f"{role} forfeits ({bad[-1].kind}: {bad[-1].note})" if bad else f"{role} forfeits",
        "no-move": f"{role} has no legal move, and the game is not over: a fault in the rules",
        "max-steps": "it was cut off",
    }.get(word, match.reason)
    return f"the match ended without a result after {steps}: {why}"
