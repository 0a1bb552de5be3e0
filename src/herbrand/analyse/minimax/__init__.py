"""Alpha-beta search on the network of a game, for one role against all others.

All successors of a state are made, valued and tested for the end in two passes over the network, one
successor in each bit, before any of them is searched.  The parts:

| module     | what it does                                                                                |
|------------|---------------------------------------------------------------------------------------------|
| `nodes`    | compiled: the rows of the search's stack, and all successors of one of them at once           |
| `table`    | compiled: the transposition table, which several threads may share                           |
| `descent`  | compiled: the search itself, with a stack of its own, so that it can be interrupted and go on |
| `search`   | `Search`: one iteration after another, deeper each time                                       |

Sources: alpha-beta (Knuth and Moore 1975), iterative deepening with a transposition table (Slate and Atkin
1977), null windows (Pearl 1980; Reinefeld 1983), the history heuristic (Schaeffer 1989), cutoffs by
successors that are in the table (Plaat et al. 1996), tables without locks (Hyatt and Mann 2002).

A *value* is the role's goal times `SCALE`; proved ends are moved by their distance, so that wins are
taken soon and losses late.  Everybody else is taken to play against the role.
"""

from __future__ import annotations
