"""New games: put together from blocks, varied, searched for.

    >>> from herbrand.evolve import BoardGame, InARow, Piece, Place, Squares, random_design
    >>> design = BoardGame(Squares(4, 4), (Piece((Place(where="dropped"),)),), goals=(InARow(3),))
    >>> print(design.paragraphs()[0])
    Kaistound is played on a board of four by four squares. White begins; the players act in turn.
    >>> design.rulesheet().count("(<= (legal")
    3
    >>> random_design(7) == random_design(7)
    True

| module                          | what it gives                                                          |
|---------------------------------|------------------------------------------------------------------------|
| `blocks/`                       | the grammar of games: boards, pieces, turns, goals, cards; `Design`    |
| `blocks.grammar`                | what may stand in each field of a block, how it is drawn and varied    |
| `sheet`                         | rules with comments, and the helper relations that they need           |
| `random_designs`                | `random_design`: a game from a seed                                    |
| `variation/`                    | mutation and crossover of blocks and of rules, with lineage            |
| `search/`                       | MAP-Elites: the best game of each kind, kept in SQLite                 |
| `gallery`                       | a page with what a search has found                                    |

A `Design` is a value: a tree of frozen dataclasses, with a JSON form.  What it prints is plain GDL, or
GDL-II where something is hidden, with `base` and `input` spelled out, every rule safe, and an action of its
own that ends a turn of several actions: the advice that authors of deck-building games in GDL-II gave to
whoever makes games by genetic algorithms.  Every play ends by a step counter, which `herbrand check` finds
as a certificate.

Games were put together from blocks like these by B. Pell (*METAGAME in symmetric chess-like games*, 1992);
evolving them by measures of quality is C. Browne's *Automatic generation and evaluation of recombination
games* (2008).
"""

from __future__ import annotations

from herbrand.evolve.blocks import (
    Alternating,
    Bank,
    Block,
    Board,
    BoardGame,
    Card,
    Connect,
    Contagion,
    Custodian,
    Design,
    Eliminate,
    Fog,
    Hexagons,
    InARow,
    Jump,
    Leap,
    Line,
    Majority,
    MarketGame,
    NobodyWins,
    NoMove,
    Pattern,
    Piece,
    Place,
    Race,
    Score,
    Several,
    Simultaneous,
    Slide,
    Squares,
    Step,
    Torus,
    TrickGame,
    design_from_json,
)
from herbrand.evolve.random_designs import FAMILIES, random_design
from herbrand.evolve.variation import Lineage, Variant, cross, cross_rules, mutate, mutate_rules

__all__ = [
    "FAMILIES",
    "Alternating",
    "Bank",
    "Block",
    "Board",
    "BoardGame",
    "Card",
    "Connect",
    "Contagion",
    "Custodian",
    "Design",
    "Eliminate",
    "Fog",
    "Hexagons",
    "InARow",
    "Jump",
    "Leap",
    "Line",
    "Lineage",
    "Majority",
    "MarketGame",
    "NoMove",
    "NobodyWins",
    "Pattern",
    "Piece",
    "Place",
    "Race",
    "Score",
    "Several",
    "Simultaneous",
    "Slide",
    "Squares",
    "Step",
    "Torus",
    "TrickGame",
    "Variant",
    "cross",
    "cross_rules",
    "design_from_json",
    "mutate",
    "mutate_rules",
    "random_design",
]
