"""`herbrand match`: play a match between players."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import json
import os
import re
from contextlib import ExitStack, asynccontextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import click

from herbrand.cli.contest import clocks, find_player, forfeit_after, record_in, substitute
from herbrand.cli.files import FILE, NOTATION, read_game
from herbrand.cli.listening import cannot_listen
from herbrand.cli.options import OUTPUT_FILE, json_option, max_steps
from herbrand.cli.output import count, goals_line, remark, result, write_json

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from herbrand.game import Game
    from herbrand.match.protocol.events import Event, Listener
    from herbrand.match.protocol.manager import Match
    from herbrand.match.protocol.seats import PlayerAddress, Seat
    from herbrand.match.protocol.spectators import Spectators
    from herbrand.match.records import MatchRecord, Store

__all__ = ["command"]


@click.command("match")
@click.argument("file", metavar="[FILE]", type=FILE, required=False)
@NOTATION
@click.option(
    "--player",
    "players",
    metavar="[NAME=]PLAYER",
    multiple=True,
    help="HOST:PORT of a remote player (HOST:PORT/ if it has the token in HERBRAND_TOKEN), a player of "
    "`herbrand players` (`process:NAME` runs it in a subprocess), or `human`; one for each role but "
    "`random`, in role order. A single local player plays all roles.",
)
@clocks(30, 10)
@click.option("--seed", type=int, default=0, help="For chance and substituted moves.")
@substitute("the match ends")
@forfeit_after
@click.option(
    "--patience", type=click.IntRange(1), help="Stop asking a player after this many consecutive bad moves."
)
@max_steps(10_000, "Maximum number of steps.")
@click.option("--scramble", type=int, metavar="SEED", help="Scramble the names in the rules for players.")
@click.option("--id", "match_id", metavar="ID", help="The id of the match; random by default.")
@click.option(
    "--events", metavar="OUT", type=OUTPUT_FILE, help="Write every event to this file as a line of JSON."
)
@record_in("Record the match in this database.")
@click.option(
    "--resume", is_flag=True, help="Resume an interrupted match of the database, the last one or --id."
)
@click.option(
    "--sign", "key", metavar="KEY", type=click.Path(exists=True, dir_okay=False), help="Sign the record."
)
@click.option(
    "--spectators",
    metavar="[HOST:]PORT",
    help="Serve spectators in browsers and by server-sent events; on localhost unless HOST is given.",
)
@click.option(
    "--delay",
    type=click.FloatRange(0),
    default=0.0,
    show_default=False,
    help="Delay for spectators in seconds.",
)
@json_option("Print the match as JSON.")
@click.pass_context
def command(
    ctx: click.Context,
    /,
    file: str | None,
    notation: str,
    players: tuple[str, ...],
    seed: int,
    scramble: int | None,
    match_id: str | None,
    events: str | None,
    database: str | None,
    resume: bool,
    key: str | None,
    spectators: str | None,
    delay: float,
    as_json: bool,
    **options: Any,
) -> None:
    """Play a match between players, locally or over the network.

    A late or bad move of a player is reported and replaced. Exit status 1 if the match does not reach a
    terminal state.

    With --resume, FILE and all settings are those of the recorded match; --player is only needed for
    players whose address has changed.
    """
    from herbrand.match.protocol.manager import Manager, MatchSettings, Past, seats_for
    from herbrand.match.protocol.seats import PlayerAddress
    from herbrand.play.threads import have_own_cores

    if (resume or key) and database is None:
        raise click.UsageError(f"{'--resume' if resume else '--sign'} needs --record DB")
    if match_id is not None and not re.fullmatch(r"[A-Za-z][A-Za-z0-9_.-]{0,63}", match_id):
        raise click.BadParameter(
            "must be a letter followed by letters, digits, `_`, `.` and `-`", param_hint="--id"
        )
    listeners: list[Listener] = []

    def listen(event: Event) -> None:
        for listener in listeners:
            listener(event)

    with ExitStack() as stack:
        store = None
        if database is not None:
            from herbrand.match.records import Store
            from herbrand.match.records.recorder import Recorder

            store = stack.enter_context(Store(database, create=not resume))
            listeners.append(Recorder(store))
        past: Past | None = None
        if resume:
            assert store is not None
            from herbrand.match.records.resume import manager_for, past_of

            record = _unfinished(store, match_id)
            manager = manager_for(record, listener=listen)
            game, seed = manager.game, manager.settings.seed
            players = players or tuple(record.players[role] for role in game.players)
            past = past_of(record)
        else:
            if file is None:
                raise click.UsageError("missing FILE")
            game = read_game(file, notation)
            game.require_playable()
            if len(players) == 1 and PlayerAddress.parse(players[0]) is None:
                players *= len(game.players)
            if not players:
                raise click.UsageError(f"give --player for each of {', '.join(game.players)}")
            settings = MatchSettings(seed=seed, **options)
            manager = Manager(game, settings, scramble=scramble, listener=listen)
        ponder = all(map(_is_apart, players)) and have_own_cores(len(game.players))
        table = seats_for(
            game, [_seat(text, seed + place, ponder=ponder) for place, text in enumerate(players)]
        )
        if events:
            listeners.append(stack.enter_context(_EventLog(Path(events), resume=resume)))
        if not as_json:
            listeners.append(lambda event: _show(game, event))

        async def run() -> Match:
            if spectators is None:
                return await manager.play(table, match_id=match_id, past=past)
            async with _serve_spectators(spectators, delay) as server:
                listeners.append(server)
                return await manager.play(table, match_id=match_id, past=past)

        match = asyncio.run(run())
        if store is not None and key is not None:
            from herbrand.match.records.signing import sign

            store.sign(match.id, sign(store.load(match.id), key))
    if as_json:
        write_json(match.as_json())
    else:
        result(_ending(match))
    if not match.is_complete:
        ctx.exit(1)


@asynccontextmanager
async def _serve_spectators(address: str, delay: float) -> AsyncIterator[Spectators]:
    """Serve spectators and print the address."""
    from herbrand.match.protocol.spectators import Spectators

    place = _address(address, "--spectators", lowest=0)
    host, port = place.host, place.port
    server = Spectators(host=host, port=port, delay=delay)
    try:
        await server.start()
    except OSError as error:
        raise cannot_listen(f"{host}:{port}", "--spectators", error) from error
    remark(f"spectators: http://{host}:{server.port}/")
    try:
        yield server
    finally:
        await server.close()


def _address(text: str, option: str, *, lowest: int = 1) -> PlayerAddress:
    """Parse HOST:PORT or PORT, and for players HOST:PORT/TOKEN."""
    from herbrand.match.protocol.seats import PlayerAddress

    address = PlayerAddress.parse(text)
    if address is None or ((address.token, address.key) != (None, None) and option != "--player"):
        raise click.BadParameter(f"`{text}` is not of the form HOST:PORT", param_hint=option)
    if not lowest <= address.port <= 65535:
        raise click.BadParameter(f"`{text}`: there is no port {address.port}", param_hint=option)
    return address


def _unfinished(store: Store, match_id: str | None) -> MatchRecord:
    """Return the match to resume."""
    if match_id is not None:
        return store.load_intact(match_id)
    running = store.ids(status="running")
    if not running:
        from herbrand.match.records import RecordError

        raise RecordError(f"no interrupted match in `{store.path}`")
    return store.load_intact(running[-1])


class _EventLog:
    """A file with an event in each line, as JSON; it never ends with a part of a line."""

    def __init__(self, path: Path, *, resume: bool) -> None:
        if resume and path.exists():
            with path.open("rb+") as file:  # a crash may have left a part of a line
                file.truncate(file.read().rfind(b"\n") + 1)
        self._file = path.open("ab" if resume else "wb", buffering=0)

    def __call__(self, event: Event) -> None:
        line = f"{json.dumps(asdict(event), ensure_ascii=False)}\n".encode(errors="backslashreplace")
        start = self._file.tell() if self._file.seekable() else None
        try:
            if self._file.write(line) != len(line):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), self._file.name)
        except BaseException:
            if start is not None:
                with contextlib.suppress(OSError):
                    self._file.truncate(start)
                    self._file.seek(start)
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()


def _named(text: str) -> tuple[str, str]:
    """Split a value of --player into a name, and the player if it has another one; see `as_players`."""
    name, _, player = text.partition("=")
    return (text, "") if "(" in name else (name, player)


def _is_apart(text: str) -> bool:
    """Whether a value of --player is a player in another process."""
    from herbrand.match.protocol.seats import PlayerAddress

    name, player_text = _named(text)
    text = player_text or name
    return text.startswith("process:") or PlayerAddress.parse(text) is not None


def _seat(text: str, seed: int, *, ponder: bool) -> Seat:
    """Return the seat for a value of --player."""
    from herbrand.match.protocol.seats import LocalSeat, PlayerAddress

    name, player_text = _named(text)
    text = player_text or text
    if PlayerAddress.parse(text) is not None:
        return _address(text, "--player").seat(name=name if player_text else None)
    if text == "human":
        from herbrand.cli.human import HumanSeat

        return HumanSeat(name=name)
    player = find_player(text.removeprefix("process:"), elsewhere=True, seed=seed)
    if text.startswith("process:"):
        from herbrand.match.protocol.processes import ProcessSeat

        return ProcessSeat(text.removeprefix("process:"), name=name, seed=seed, ponder=ponder)
    return LocalSeat(player, name=name)


def _show(game: Game, event: Event) -> None:
    """Print an event of the match."""
    data = event.data
    if event.kind == "match":
        players = ", ".join(f"{role} is {name}" for role, name in data["players"].items())
        result(f"{game.name}, match {event.match}: {players}")
        if data["resumed"] is not None:
            remark(f"resumed after {count(data['resumed'], 'step')}")
    elif (
        event.kind == "exchange"
        and data["message"] == "START"
        and (data["problem"] or (data["reply"] or "").lower() != "ready")
    ):
        answer = data["problem"] or f"answered `{(data['reply'] or '')[:60]}`"
        notes = f" ({'; '.join(data['notes'])})" if data["notes"] else ""
        remark(f"     {data['role']}: {answer} at START{notes}")
    elif event.kind == "step":
        result(f"{data['step']:>3}  {'  '.join(data['moves'])}")
        for problem in data["problems"]:
            instead = f"played {problem['played']} instead"
            remark(f"     {problem['role']}: {problem['kind']}: {problem['note']}; {instead}")


def _ending(match: Match) -> str:
    steps = count(len(match.moves), "step")
    bad = [problem for problem in match.problems if problem.step]
    problems = f"; {count(len(bad), 'move')} replaced" if bad and match.is_complete else ""
    if match.goals is not None:
        return f"the game is over after {steps}: {goals_line(match.goals)}{problems}"
    word, _, role = match.reason.partition(" ")
    why = {
        "forfeit": f"{role} forfeits ({bad[-1].kind}: {bad[-1].note})" if bad else f"{role} forfeits",
        "no-move": f"{role} has no legal move although the game is not over: an error in the rules",
        "max-steps": "maximum number of steps",
    }.get(word, match.reason)
    return f"the match ended without a result after {steps}: {why}"
