"""Search for games by MAP-Elites.

The archive is a grid over features of games (`judging`: kind, length, branching), with the best game
in each cell.  In each iteration games of the archive are varied, filtered and measured; a game
that is better than the one in its cell replaces it if its required properties are not refuted (`admission`):
J.-B. Mouret and J. Clune, *Illuminating search spaces by mapping elites* (2015).

| module      | what it does                                                                        |
|-------------|-------------------------------------------------------------------------------------|
| `judging`   | filters, quality and cell of a game, from its measures                              |
| `candidate` | `Candidate`, `SearchSettings` and jobs as values                                    |
| `evaluate`  | varies, filters, measures and proves one candidate, in any process                  |
| `archive`   | the best game of each cell                                                          |
| `store`     | all candidates in SQLite, a batch in a transaction                                  |
| `loop`      | `GameSearch`: batches, budgets, resuming                                                |

The established library for quality diversity, `ribs` (pyribs), is not used: its emitters, the larger part of
it, vary vectors of real numbers, whereas designs are trees, and its `GridArchive` would bring numpy, pandas
and scikit-learn for what is a dictionary here, with a categorical axis.

Batches are drawn from the archive before the previous batch, so that processors need not wait for the last
game of a batch; they depend only on the seed and the archive, not on the number of processes.
"""

from __future__ import annotations

from herbrand.evolve.search.archive import Archive
from herbrand.evolve.search.candidate import Candidate, SearchSettings
from herbrand.evolve.search.loop import GameSearch, SearchProgress

__all__ = ["Archive", "Candidate", "GameSearch", "SearchProgress", "SearchSettings"]
