"""Quality measures of games: `measure`.

    >>> import herbrand
    >>> from herbrand.measure import measure
    >>> measures = measure(herbrand.load("nim"), effort="cheap", only=["completion", "balance"])
    >>> measures["completion"].value
    1.0

There are four groups of measures; later groups use the results of earlier ones:

| group         | from                                                  | module                  |
|---------------|-------------------------------------------------------|-------------------------|
| "rules"       | the rules alone                                       | `structure`             |
| "random play" | a thousand playouts, some of them traced step by step | `random_play`           |
| "search play" | games between Monte-Carlo tree search players         | `search_play`, `course` |
| "comparison"  | distances to other games                              | `novelty`               |

`CATALOGUE` defines each measure and cites its source; docs/reference/measures.md has the formulas.  Dozens of
games are played in lockstep (`batch_play`), so that a game on a small board takes about a second.
"""

from __future__ import annotations

from herbrand.measure.catalogue import CATALOGUE, SOURCES, Definition
from herbrand.measure.effort import CHEAP, EFFORTS, FULL, THOROUGH, Effort
from herbrand.measure.measuring import measure
from herbrand.measure.novelty import KnownGame, bundled
from herbrand.measure.value import Measure, Measures

__all__ = [
    "CATALOGUE",
    "CHEAP",
    "EFFORTS",
    "FULL",
    "SOURCES",
    "THOROUGH",
    "Definition",
    "Effort",
    "KnownGame",
    "Measure",
    "Measures",
    "bundled",
    "measure",
]
