"""Reachable states counted without listing them, by decision diagrams (library `oxidd`).

Takes a game; gives the number of states first reached after each number of steps.  Imports `invariants`,
`exploration` and what lies below `analyse`.

| module       | what it gives                                                          |
|--------------|------------------------------------------------------------------------|
| `count`      | `count_states`, within a budget                                        |
| `encoding`   | states as assignments of variables, and orders of the variables        |
| `relation`   | the steps of a game as relations, and images of sets of states         |
| `layers`     | a proof that no state is reached after two numbers of steps            |
| `checkpoint` | the last step in a folder                                              |
| `worker`     | the process that holds the diagrams                                    |
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from herbrand.runtime.exports import exports

if TYPE_CHECKING:
    from herbrand.analyse.counting.count import StateCount as StateCount
    from herbrand.analyse.counting.count import StepCount as StepCount
    from herbrand.analyse.counting.count import count_states as count_states

__all__, __getattr__, __dir__ = exports(__name__, {"count": ("StateCount", "StepCount", "count_states")})
