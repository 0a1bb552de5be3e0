"""Evaluation of states, one or many at a time, and random playouts.

`description.GameDescription` runs each stage of the pipeline on demand.  Imports `network`,
`ground`, `rules` and the packages below them; knows neither `State` nor `Move`.

| module        | what it does                                                                      |
|---------------|-----------------------------------------------------------------------------------|
| `description` | a rulesheet with its rules, its network and its engines, each built on first use  |
| `on_network`  | `NetworkEngine`: answers from a network, by a `Walker`                            |
| `walker`      | `Walker`: one game in progress, updated in place                                  |
| `expand`      | many given states at once, packed in numpy arrays                                 |
| `playouts`    | random playouts one at a time, on any engine; their statistics                    |
| `from_network`, `parallel` | random playouts 512 at once, on several cores                        |
| `weights`     | playouts that choose moves in proportion to weights                               |
| `decisive`    | playouts that take immediate wins                                                 |
| `foresight`   | networks that see the end a step before, and threats, for searches                |
| `lookahead`   | one more step after each state, in one circuit, for both                          |
| `speed`       | steps and playouts per second, and the share of the processor's peak              |
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from herbrand.runtime.exports import exports

if TYPE_CHECKING:
    from herbrand.engine.description import GameDescription as GameDescription
    from herbrand.engine.expand import Expander as Expander
    from herbrand.engine.from_network import BatchSimulator as BatchSimulator
    from herbrand.engine.playouts import Simulation as Simulation
    from herbrand.engine.walker import Walker as Walker

__all__, __getattr__, __dir__ = exports(
    __name__,
    {
        "description": ("GameDescription",),
        "expand": ("Expander",),
        "from_network": ("BatchSimulator",),
        "playouts": ("Simulation",),
        "walker": ("Walker",),
    },
)
