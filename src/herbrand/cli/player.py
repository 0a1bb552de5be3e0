"""`herbrand player`: run a player for managers on the network."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import threading
from dataclasses import asdict
from typing import Any

import click

from herbrand.cli.listening import cannot_listen
from herbrand.cli.options import json_option, token_option
from herbrand.cli.output import goals_line, remark
from herbrand.match.protocol.events import Event, bounded

__all__ = ["command"]

LONGEST_LINE = 2000
"""Most characters of a line in the log, which may quote peers."""
_SHOWN = ("match", "end", "late", "odd", "refused", "unknown")


@click.command("player")
@click.option("--port", type=click.IntRange(0, 65535), default=9147, help="The port; 0 for any free one.")
@click.option(
    "--player",
    "player",
    metavar="PLAYER",
    default="meta",
    help="A player of `herbrand players`; the default picks one that suits the game.",
)
@click.option("--name", metavar="NAME", help="The name sent to managers; by default that of the player.")
@click.option(
    "--host",
    metavar="ADDRESS",
    default="127.0.0.1",
    help="The address to listen on; 0.0.0.0 for all interfaces.",
)
@click.option("--matches", type=click.IntRange(1), default=1, help="Maximum number of concurrent matches.")
@click.option(
    "--max-message",
    "largest_message",
    type=click.IntRange(1024),
    default=1024 * 1024,
    metavar="BYTES",
    help="Maximum size of a message.",
)
@click.option(
    "--memory",
    type=click.IntRange(160),
    metavar="MB",
    help="Memory limit of all processes together; games that need more are played by evaluating the rules. "
    "By default a quarter of the free memory, from 300 to 4000 MB.",
)
@click.option(
    "--ponder/--no-ponder",
    default=True,
    help="Use all of the start clock, and think while others do; only with --matches 1.",
)
@click.option(
    "--longest-clock",
    type=click.IntRange(1),
    default=3600,
    show_default=True,
    metavar="SECONDS",
    help="Maximum start and play clock; matches with longer ones are refused.",
)
@click.option(
    "--allow-origin",
    "allowed_origins",
    multiple=True,
    metavar="URL",
    help="Answer requests of web pages of this origin, such as https://example.org; repeatable.",
)
@click.option(
    "--allow-host",
    "allowed_hosts",
    multiple=True,
    metavar="NAME",
    help="Answer requests for this host name, besides addresses and localhost; repeatable.",
)
@token_option("Answer only requests to http://ADDRESS:PORT/TEXT.")
@click.option(
    "--key",
    metavar="KEY",
    type=click.Path(exists=True, dir_okay=False),
    help="Sign replies with this private key (of `herbrand record keygen`) for managers that ask for it.",
)
@click.option("--seed", type=int, help="Makes the choices of some players reproducible.")
@click.option(
    "--until-eof", is_flag=True, help="Exit at the end of standard input, thus with the parent process."
)
@json_option("Write every event as a line of JSON.")
@click.option("--quiet", is_flag=True, help="Write nothing but errors.")
def command(
    *,
    port: int,
    player: str,
    name: str | None,
    host: str,
    memory: int | None,
    until_eof: bool,
    as_json: bool,
    quiet: bool,
    **settings: Any,
) -> None:
    """Run a player for managers on the network.

    Implements the General Game Playing protocol: a manager connects, sends the rules of a game, and asks for
    moves (`herbrand match` is such a manager). Runs until interrupted. Rules and other data from the network
    are only parsed, never executed.
    """
    from herbrand.match.protocol.hosts import UnknownPlayer
    from herbrand.match.protocol.server import PlayerServer, default_megabytes

    def listen(event: Event) -> None:
        if as_json:
            remark(json_line(event))
        elif not quiet and event.kind in _SHOWN:
            remark(describe(event)[:LONGEST_LINE])

    server = PlayerServer(
        player,
        name=name or player,
        host=host,
        port=port,
        memory=default_megabytes() if memory is None else memory,
        listener=listen,
        **settings,
    )

    if until_eof:
        threading.Thread(target=_leave_with_input, daemon=True).start()

    async def run() -> None:
        try:
            await server.start()
        except OSError as error:
            raise cannot_listen(f"{host}:{port}", "--port", error) from error
        except UnknownPlayer as error:
            raise click.BadParameter(str(error), param_hint="--player") from error
        if as_json:
            listen(Event("listening", None, {"host": host, "port": server.port}))
        elif not quiet:
            if server.key is not None:
                remark(f"replies are signed with the key {server.key.public}")
            remark(f"{server.name} plays on {host}:{server.port}; interrupt to stop")
        await server.serve()

    asyncio.run(run())


def _leave_with_input() -> None:
    """End the process at the end of standard input."""
    with contextlib.suppress(OSError, ValueError):
        while os.read(0, 65536):
            pass
    os._exit(0)


def json_line(event: Event) -> str:
    """Return an event as JSON in at most `LONGEST_LINE` characters: long texts and lists are cut.

    >>> from herbrand.match.protocol.events import Event
    >>> len(json_line(Event("odd", "m1", {"reason": "x" * 100_000}))) <= LONGEST_LINE
    True
    """
    data = asdict(event)
    line = json.dumps(data, ensure_ascii=False)
    for most in (500, 50, 20):
        if len(line) <= LONGEST_LINE:
            break
        line = json.dumps(bounded(data, characters=most, items=most), ensure_ascii=False)
    return line


def describe(event: Event) -> str:
    """Describe an event of a player server in one line.

    >>> from herbrand.match.protocol.events import Event
    >>> describe(Event("late", "m1", {"move": "noop"}))
    'm1: out of time, answered noop'
    """
    data = event.data
    about = f"{event.match}: " if event.match else ""
    if event.kind == "match":
        return f"{about}plays {data['role']} (roles: {', '.join(data['roles'])})"
    if event.kind == "end":
        goals = goals_line(data["goals"])
        return f"{about}over{f': {goals}' if goals else ', stopped before the end'}"
    if event.kind == "late":
        return f"{about}out of time, answered {data['move']}"
    if event.kind == "refused":
        return f"{about}refused {data.get('peer', '')}: {data['reason']}"
    return f"{about}{data['reason']}"
