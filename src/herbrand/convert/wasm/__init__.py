"""Games as WebAssembly modules with vectors of 128 bits, written byte by byte; no compiler is needed.

    LaneProgram ──program_stages──→ ┐
    Network ─────network_stages───→ ┴ rows ──→ functions, called by `games` and `playouts`

| file         | what it does                                                                          |
|--------------|---------------------------------------------------------------------------------------|
| `binary`     | the binary format: types, functions, memory, data                                     |
| `assembler`  | typed expressions, variables, loops                                                   |
| `programs`   | lane programs and networks as operations on rows                                      |
| `rows`       | operations on rows as functions: what stays on the stack, in variables, in memory     |
| `games`      | random games from the initial state, the same as those of the core                    |
| `playouts`   | random games from given states, the same code for every game                          |
| `module`     | all of them as one module, with a section that says what is where                     |
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from herbrand.convert.wasm.module import game_module, stages_module
from herbrand.convert.wasm.playouts import kernel

if TYPE_CHECKING:
    from herbrand.machine.state_machine import StateMachine

__all__ = ["game_module", "kernel", "stages_module", "wasm"]


def wasm(game: StateMachine) -> bytes:
    """Return a WebAssembly module that evaluates states of a game and plays random games."""
    return game_module(game.network, game.name)
