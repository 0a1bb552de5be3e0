"""Monte-Carlo tree search on the network of a game, with batches of playouts.

One *round* descends the tree several times, expands the leaves in one pass over the network, runs hundreds of
playouts from the new positions in another, and backpropagates the results.  The tree and the steps of a round
are compiled (`herbrand.core.SearchTree` and `Round`).

| module         | contents                                                                         |
|----------------|----------------------------------------------------------------------------------|
| `tree`         | `Search`: the tree of one game, the meaning of its arrays, the rounds of workers |
| `policy`       | playout policies: weighted and decisive moves, early cutoff                      |
| `probe`        | exact proofs beside the tree, for two players                                    |
| `beam`         | beam search beside the tree, for one player                                      |
| `results`      | ranked moves and expected lines of a tree                                        |
| `features`     | properties of a game, from a few playouts, that decide how to search it          |
| `forest`       | `Forest`: trees for many states at once                                          |
| `rules_search` | UCT on the rules, one playout at a time, for games without a network             |

Sources: UCT (Kocsis and Szepesvári 2006) with transpositions (Childs, Brodeur and Kocsis 2008), max^n for
more than two roles (Sturtevant 2008), decoupled selection of simultaneous moves (Finnsson and Björnsson 2008)
or regret matching (Lisý et al. 2013), proved bounds (Winands et al. 2008; Cazenave and Saffidine 2010),
batches of playouts from a leaf (Cazenave and Jouandeau 2007), and virtual loss (Chaslot et al. 2008).

A *position* is a state in the tree; an *arm* is a legal move of one role in a position.
"""

from __future__ import annotations
