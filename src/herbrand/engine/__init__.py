"""What holds in a state of a game, and random playouts from there.

`description.GameDescription` walks the stages of the pipeline as far as it is asked.  Imports `network`,
`ground`, `rules`, and what lies below them; knows neither `State` nor `Move`.

| module        | what it does                                                                      |
|---------------|-----------------------------------------------------------------------------------|
| `description` | a rulesheet with its rules, its network and its engines, each made when asked for |
| `on_network`  | `NetworkEngine`: the answers of a network, by a walker of the core                |
| `walker`      | `Walker`: one game in progress, moved along in place                              |
| `expand`      | many given states at once, packed in numpy arrays                                 |
| `playouts`    | random playouts one by one, on any engine; their statistics                       |
| `from_network`, `parallel` | random playouts 512 at once, on several cores                        |
| `interpreted` | the same on an interpreted lane program                                           |
| `weights`     | playouts in which some moves are taken more often                                 |
| `decisive`    | playouts that take a win that is at hand                                          |
| `speed`       | steps and playouts per second, and the share of what the processor could do       |
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from herbrand.runtime.exports import exports

if TYPE_CHECKING:
    from herbrand.engine.description import GameDescription as GameDescription
    from herbrand.engine.expand import Expander as Expander
    from herbrand.engine.playouts import Simulation as Simulation
    from herbrand.engine.walker import Walker as Walker

__all__, __getattr__, __dir__ = exports(
    __name__,
    {
        "description": ("GameDescription",),
        "expand": ("Expander",),
        "playouts": ("Simulation",),
        "walker": ("Walker",),
    },
)
