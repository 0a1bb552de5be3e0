"""The rules of a game as data for programs in JavaScript: its network, deflated."""

from __future__ import annotations

import base64
import json
import zlib
from typing import TYPE_CHECKING, Any

import numpy as np

from herbrand.convert.wasm import kernel

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from herbrand.game import Game
    from herbrand.network.network import Network

__all__ = ["byte_planes", "deflated", "moves_of", "packed", "tables_of"]


def tables_of(game: Game) -> dict[str, Any]:
    """Return the table `GameTables` of `templates/runtime.ts.in` as JSON values."""
    network = game.network
    text = network.terms.text
    return {
        "name": game.name,
        "roles": [text(role) for role in network.roles],
        "fluents": [text(fluent) for fluent in network.fluents.tolist()],
        "moves": moves_of(network),
        "goals": [(role, _goal(text(value))) for role, value in network.goals.tolist()],
        "percepts": [(role, text(percept)) for role, percept in network.percepts.tolist()],
        "initial": np.flatnonzero(network.initial).tolist(),
        "terminal": int(network.terminal),
        "cones": list(network.cones),
        "loops": network.loops[np.argsort(network.loops[:, 0])].tolist() if len(network.loops) else [],
        "gates": network.gates,
        "feedback": len(network.feedback),
        "hidden": game.has_percepts,
    }


def moves_of(network: Network) -> list[list[str]]:
    """Return the moves of each role."""
    moves: list[list[str]] = [[] for _ in network.roles]
    for role, move in network.moves.tolist():
        moves[role].append(network.terms.text(move))
    return moves


def _goal(value: str) -> int | None:
    return int(value) if value.isdecimal() and str(int(value)) == value and int(value) <= 100 else None


def packed(game: Game, picture: dict[str, Any]) -> str:
    """Return the tables, the picture and the wires of a game, and `kernel`, deflated, in base64."""
    return deflated([tables_of(game), picture], _wires(game.network) + kernel())


def deflated(values: object, data: bytes) -> str:
    """Return values as JSON and data after them, deflated, in base64."""
    text = json.dumps(values, ensure_ascii=False, separators=(",", ":")).encode()
    data = len(text).to_bytes(4, "little") + text + data
    return base64.b64encode(zlib.compress(data, 9)).decode("ascii")


def _wires(network: Network) -> bytes:
    """Return the gates and outputs; gates as distances, which are small and repeat."""
    gates = 2 * (network.inputs + np.arange(network.gates)) + 1
    later = np.maximum(network.left, network.right)
    earlier = np.minimum(network.left, network.right)
    arrays = (gates - later, later - earlier, network.legal, network.next, network.goal, network.sees)
    return b"".join(byte_planes((*arrays, network.feedback)))


def byte_planes(arrays: Iterable[NDArray[np.integer]]) -> Iterable[bytes]:
    """Yield the three bytes of the numbers of each array, the lowest byte of all first."""
    for array in arrays:
        numbers = np.asarray(array, np.int64)
        for plane in range(3):
            yield ((numbers >> 8 * plane) & 255).astype(np.uint8).tobytes()
