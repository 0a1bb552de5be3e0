"""Tree search on the network of a game: the tree in arrays, the leaves valued by many random games at once.

One *round* goes down the tree several times, makes all successors of the leaves found in one pass over
the network, plays hundreds of random games from them in another, and adds the results to all positions on the
way.  The tree and what a round does to it are compiled (`herbrand.core.SearchTree` and `Round`).  The parts:

| module        | what it does                                                                        |
|---------------|-------------------------------------------------------------------------------------|
| `tree`        | what the numbers in the arrays of a tree mean                                         |
| `worker`      | what one thread does in a round; several grow one tree                               |
| `style`       | how the games after a leaf are played: weights, learned values of unfinished games     |
| `probe`, `beam` | beside the tree: exact proofs for two, the best states of each step for one           |
| `engine`      | `Search`: the tree of one game, budgets, what was found                               |
| `forest`      | `Forest`: trees for many states at once, as games side by side need them             |
| `plain`       | the same idea on the rules, one game at a time, for games without a network           |

Sources: UCT (Kocsis and Szepesvári 2006) with transpositions (Childs, Brodeur and Kocsis 2008), max^n for
more than two roles (Sturtevant 2008), decoupled choice where roles move at once (Finnsson and Björnsson
2008) or regret matching (Lisý et al. 2013), proved bounds carried up (Winands et al. 2008; Cazenave
and Saffidine 2010), games from a leaf in batches (Cazenave and Jouandeau 2007), and ways that
are under way counted as lost (Chaslot et al. 2008).

A *position* is a state that the tree has; an *arm* is a legal move of one role in a position.
"""

from __future__ import annotations
