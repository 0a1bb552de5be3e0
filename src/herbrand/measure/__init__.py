"""What a game is like to play, in numbers: `measure`.

    >>> import herbrand
    >>> from herbrand.measure import measure
    >>> found = measure(herbrand.load("nim"), effort="cheap", only=["completion", "balance"])
    >>> found["completion"].value
    1.0

Four groups of measures build on each other:

| group         | from                                                            | module        |
|---------------|-----------------------------------------------------------------|---------------|
| "rules"       | the rules alone                                                 | `structure`   |
| "random play" | a thousand random games at once, some followed step by step     | `random_play` |
| "search play" | games of players that look at random games before every move    | `search_play`, `course` |
| "comparison"  | the game beside others                                          | `novelty`     |

`CATALOGUE` says what each means and where the idea comes from; docs/reference/measures.md has the formulas.
Players play in lockstep, dozens of games at once (`lines`), so that a game on a small board takes about a
second.
"""

from __future__ import annotations

from herbrand.measure.catalogue import CATALOGUE, SOURCES, Definition
from herbrand.measure.effort import CHEAP, EFFORTS, FULL, THOROUGH, Effort
from herbrand.measure.measuring import measure
from herbrand.measure.novelty import Known, bundled
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
    "Known",
    "Measure",
    "Measures",
    "bundled",
    "measure",
]
