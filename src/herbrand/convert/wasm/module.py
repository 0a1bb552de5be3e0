"""A game as one WebAssembly module: evaluation of states, random games from them and from the initial one."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final

from herbrand import __version__
from herbrand.convert.lanes.programs import playing_programs
from herbrand.convert.wasm import playouts
from herbrand.convert.wasm.binary import PAGE, Module
from herbrand.convert.wasm.games import define_games
from herbrand.convert.wasm.programs import NetworkRows, network_stages
from herbrand.convert.wasm.rows import VECTOR, define_stages
from herbrand.network.network import GOAL_VALUES

if TYPE_CHECKING:
    from herbrand.network.network import Network

__all__ = ["SECTION", "game_module", "stages_module"]

SECTION: Final = "herbrand"
"""The custom section that describes the memory layout."""
_ROWS: Final = ("fluents", "moves", "legal", "terminal", "next", "goals", "sees")


def game_module(network: Network, name: str) -> bytes:
    """Return a module for a game; `docs/reference/wasm.md` describes what it exports."""
    module = Module()
    at = _aligned(playouts.END)
    tables, at = _tables(module, network, at)
    rows = NetworkRows.of(network)
    stages, count = define_stages(module, network_stages(network), rows.fixed, base=at)
    module.data(at + VECTOR, b"\xff" * VECTOR)
    addresses = {key: at + VECTOR * row for key, row in asdict(rows).items()}
    for stage, function in stages.items():
        module.export(stage, function)
    playouts.define_playouts(module, stages)
    host = {
        "fluents": len(network.fluents),
        "fluent_rows": addresses["fluents"],
        "next_rows": addresses["next"],
        "roles": len(network.roles),
        "legal_rows": addresses["legal"],
        "move_rows": addresses["moves"],
        "terminal_row": addresses["terminal"],
        "goals": len(network.goals),
        "goal_rows": addresses["goals"],
        "longest": 1000,
        **tables,
    }
    module.data(0, b"".join(host[entry].to_bytes(4, "little") for entry in playouts.TABLE))
    module.data(playouts.GENERATOR, bytes(range(1, 65)))
    results = define_games(module, playing_programs(network, arity=2), _aligned(at + VECTOR * count))
    module.pages = results["lengths"] // PAGE + 2
    module.export_memory("memory")
    text = network.terms.text
    description: dict[str, Any] = {
        "version": __version__,
        "name": name,
        "roles": [text(role) for role in network.roles],
        "fluents": [text(fluent) for fluent in network.fluents.tolist()],
        "moves": [(role, text(move)) for role, move in network.moves.tolist()],
        "goals": [(role, text(value)) for role, value in network.goals.tolist()],
        "percepts": [(role, text(percept)) for role, percept in network.percepts.tolist()],
        "initial": network.initial.nonzero()[0].tolist(),
        "rows": {key: addresses[key] for key in _ROWS},
        "playouts": {
            "mask": playouts.MASK,
            "active": playouts.ACTIVE,
            "generator": playouts.GENERATOR,
            "clock": playouts.CLOCK,
            "longest": 4 * playouts.TABLE.index("longest"),
            "state": tables["state"],
            "sums": tables["sums"],
        },
        "games": results,
    }
    module.custom(SECTION, json.dumps(description, ensure_ascii=False, separators=(",", ":")).encode())
    return module.encoded()


def stages_module(network: Network) -> bytes:
    """Return a module with only the stages, on the memory of its host, as pages write it."""
    module = Module()
    module.import_memory("host", "memory", 1)
    first = NetworkRows.of(network).fixed
    stages, _ = define_stages(module, network_stages(network), first, base=_aligned(playouts.END))
    for stage, function in stages.items():
        module.export(stage, function)
    return module.encoded()


def _tables(module: Module, network: Network, at: int) -> tuple[dict[str, int], int]:
    """Write the tables of `playouts`; return their addresses, and where the next part of memory begins."""
    counts = [0] * len(network.roles)
    for role, _ in network.moves.tolist():
        counts[role] += 1
    values = [(role, GOAL_VALUES.get(network.terms.text(term), 0)) for role, term in network.goals.tolist()]
    sizes = {
        "move_counts": 4 * len(counts),
        "goal_table": 8 * len(values),
        "state": -(-len(network.fluents) // 8),
        "sums": 4 * playouts.LANES * len(counts),
        "start_rows": VECTOR * len(network.fluents),
    }
    places = {}
    for name, size in sizes.items():
        places[name] = at
        at = _aligned(at + size)
    words = b"".join(count.to_bytes(4, "little") for count in counts)
    pairs = b"".join(part.to_bytes(4, "little") for pair in values for part in pair)
    module.data(places["move_counts"], words)
    module.data(places["goal_table"], pairs)
    return places, at


def _aligned(address: int) -> int:
    return -(-address // 64) * 64
