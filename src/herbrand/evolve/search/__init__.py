"""Search for games: MAP-Elites over what games are like to play.

The archive is a grid over how games differ (`axes`: length, choice, kind of game); each of its cells keeps
the best game found for it (`quality`).  Again and again games of the archive are varied, sifted (`filters`),
measured, and what is better than the game in its cell, and passes what can be proved about it (`admission`),
takes its place: J.-B.  Mouret and J.  Clune, *Illuminating search spaces by mapping elites* (2015).

| module      | what it does                                                                        |
|-------------|-------------------------------------------------------------------------------------|
| `candidate` | what is made of a parent, and what was found out about it, as JSON                  |
| `evaluate`  | makes, sifts, measures and proves one candidate; runs in any process                |
| `archive`   | the best game of each cell                                                          |
| `store`     | all candidates in SQLite, a batch in a transaction                                  |
| `loop`      | `GameSearch`: batches, budgets, resuming                                                |

Why there is no library below it: `ribs` (pyribs) is the well-kept one for quality diversity, and its
emitters, the larger part of it, move vectors of real numbers; designs are trees.  Its `GridArchive` can hold
objects, but what is needed of one here is a dictionary from cells to games, with a third axis that is no
number, rebuilt from the database after a kill; numpy arrays, and pandas and scikit-learn with them, would be
dependencies for that alone.

Batches are drawn from the archive as it was two batches before, so that processors need not wait for the last
game of a batch; what is drawn depends on the seed and on the archive only, not on the number of processes.
"""

from __future__ import annotations

from herbrand.evolve.search.archive import Archive
from herbrand.evolve.search.candidate import Candidate, SearchSettings
from herbrand.evolve.search.loop import GameSearch, SearchProgress

__all__ = ["Archive", "Candidate", "GameSearch", "SearchProgress", "SearchSettings"]
