"""Convert the network of a game to text, JSON, Graphviz and AIGER."""

from __future__ import annotations

from typing import TYPE_CHECKING

from herbrand.errors import GameError

if TYPE_CHECKING:
    from herbrand.machine.state_machine import StateMachine

__all__ = ["aiger", "dot", "json", "text"]


def text(game: StateMachine) -> str:
    """Return the network as text, one node a line."""
    return str(game.network)


def json(game: StateMachine) -> str:
    """Return the network as JSON, one name a line; `network.dump.from_json` reads it."""
    from json import dumps

    from herbrand.network.dump import to_json

    rows = [f"{dumps(name)}: {dumps(value)}" for name, value in to_json(game.network).items()]
    return "{" + ",\n ".join(rows) + "}\n"


def dot(game: StateMachine) -> str:
    """Return the network for Graphviz; raises `GameError` when it is too large to draw."""
    from herbrand.network.dump import to_dot

    return to_dot(game.network)


def aiger(game: StateMachine, *, binary: bool = False, bad: str | None = None) -> str | bytes:
    """Return the network as AIGER, or, with `bad`, its plays with bad states.

    `bad` is a list of properties, separated by commas; see `network.as_aiger.property_aiger`.
    """
    from herbrand.network.as_aiger import property_aiger, to_aiger

    if bad is None:
        graph = to_aiger(game.network)
    else:
        try:
            graph = property_aiger(game.network, [name.strip() for name in bad.split(",")])
        except ValueError as error:
            wins = ", ".join(f"win {role}" for role in game.roles)
            raise GameError(f"{error} (there are: playability, terminal, goals, {wins})") from error
    return graph.to_bytes() if binary else graph.to_text()
