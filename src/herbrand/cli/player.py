"""`herbrand player`: play for managers on the network."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import threading
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from herbrand.cli.contest import cannot_listen, find_player
from herbrand.cli.options import json_option
from herbrand.cli.output import remark

if TYPE_CHECKING:
    from herbrand.match.protocol.events import Event
    from herbrand.play import Player

__all__ = ["command"]

_SHOWN = ("match", "end", "late", "odd", "refused")


@click.command("player")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=9147, show_default=True, help="0 takes a free one."
)
@click.option("--player", "player", metavar="PLAYER", default="random", show_default=True, help="Who plays.")
@click.option("--name", metavar="NAME", help="What it calls itself; the name of the player otherwise.")
@click.option(
    "--host",
    metavar="ADDRESS",
    default="127.0.0.1",
    show_default=True,
    help="Where to listen; 0.0.0.0 is everywhere.",
)
@click.option(
    "--matches",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    help="How many are played at the same time.",
)
@click.option(
    "--max-message",
    type=click.IntRange(1024),
    default=1024 * 1024,
    show_default=True,
    metavar="BYTES",
    help="Refuse rules that are longer.",
)
@click.option(
    "--memory",
    type=click.IntRange(160),
    default=300,
    show_default=True,
    metavar="MB",
    help="About what the player may take in all; games that need more are played by evaluating the rules.",
)
@click.option("--seed", type=int, help="Makes the choices of some players repeatable.")
@click.option(
    "--until-eof", is_flag=True, help="End when standard input does: with the program that started it."
)
@json_option("Write every event as a line of JSON.")
@click.option("--quiet", is_flag=True, help="Write nothing but errors.")
def command(
    *,
    port: int,
    player: str,
    name: str | None,
    host: str,
    matches: int,
    max_message: int,
    memory: int,
    seed: int | None,
    until_eof: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """Play for managers on the network.

    Speaks the protocol of General Game Playing: a manager connects, sends the rules of a game, and asks
    for moves (`herbrand match` is such a manager). Runs until it is interrupted. The rules and
    everything else from the network are only read; nothing of it is executed.
    """
    from herbrand.match.protocol.gamecache import tree_megabytes
    from herbrand.match.protocol.server import PlayerServer
    from herbrand.play import make_player

    find_player(player)
    made = 0

    def make() -> Player:
        nonlocal made
        made += 1
        share = tree_megabytes(memory) / matches
        return make_player(player, seed=None if seed is None else seed + made - 1, memory=share)

    def listen(event: Event) -> None:
        if as_json:
            remark(json.dumps(asdict(event), ensure_ascii=False))
        elif not quiet and event.kind in _SHOWN:
            remark(describe(event))

    server = PlayerServer(
        make,
        name=name or player,
        host=host,
        port=port,
        matches=matches,
        largest_message=max_message,
        memory=memory,
        listener=listen,
    )

    if until_eof:
        threading.Thread(target=_leave_with_input, daemon=True).start()

    async def run() -> None:
        try:
            await server.start()
        except OSError as error:
            raise cannot_listen(f"{host}:{port}", "--port", error) from error
        if not quiet and not as_json:
            remark(f"{server.name} plays on {host}:{server.port}; interrupt to stop")
        await server.serve()

    asyncio.run(run())


def _leave_with_input() -> None:
    """End the program when nobody holds the other end of standard input any more."""
    with contextlib.suppress(OSError, ValueError):
        while os.read(0, 65536):
            pass
    os._exit(0)


def describe(event: Event) -> str:
    """Say in one line what happened to a player.

    >>> from herbrand.match.protocol.events import Event
    >>> describe(Event("late", "m1", {"move": "noop"}))
    'm1: out of time, answered noop'
    """
    data = event.data
    about = f"{event.match}: " if event.match else ""
    if event.kind == "match":
        return f"{about}plays {data['role']} (roles: {', '.join(data['roles'])})"
    if event.kind == "end":
        goals = ", ".join(f"{role} {'-' if goal is None else goal}" for role, goal in data["goals"].items())
        return f"{about}over{f': {goals}' if goals else ', stopped before the end'}"
    if event.kind == "late":
        return f"{about}out of time, answered {data['move']}"
    if event.kind == "refused":
        return f"{about}refused {data.get('peer', '')}: {data['reason']}"
    return f"{about}{data['reason']}"
