"""Generates new games from building blocks, varies them, and searches for good ones.

    >>> from herbrand.evolve import BoardGame, InARow, Piece, Place, Squares, random_design
    >>> design = BoardGame(Squares(4, 4), (Piece((Place(where="dropped"),)),), goals=(InARow(3),))
    >>> print(design.paragraphs()[0])
    Kaistound is played on a board of four by four squares. White begins; the players act in turn.
    >>> design.rulesheet().count("(<= (legal")
    3
    >>> random_design(7) == random_design(7)
    True

| module                          | contents                                                               |
|---------------------------------|------------------------------------------------------------------------|
| `blocks/`                       | the grammar of games: boards, pieces, turns, goals, cards; `Design`    |
| `blocks.grammar`                | the valid values of fields, random values and variations               |
| `sheet`                         | prints rules with comments and the helper relations they use           |
| `random_designs`                | `random_design`: a game from a seed                                    |
| `variation/`                    | mutation and crossover of blocks and of rules, with lineage            |
| `search/`                       | MAP-Elites: the best game of each kind, kept in SQLite                 |
| `gallery`                       | a page with the games of a search                                      |

A `Design` is an immutable tree of dataclasses with a JSON form.  Its rulesheet is plain GDL, or GDL-II with
hidden information, with explicit `base` and `input`, safe rules, and a separate action to end a turn of
several actions, as the authors of deck-building games in GDL-II recommend for genetic algorithms.  A step
counter ends every play, which `herbrand check` finds as a certificate of termination.

B. Pell composed games of similar blocks (*METAGAME in symmetric chess-like games*, 1992); C. Browne evolved
them by measures of quality (*Automatic generation and evaluation of recombination games*, 2008).
"""

from __future__ import annotations

from herbrand.evolve.blocks.block import Block
from herbrand.evolve.blocks.board_game import BoardGame
from herbrand.evolve.blocks.boards import Board, Hexagons, Line, Squares, Torus
from herbrand.evolve.blocks.captures import Contagion, Custodian
from herbrand.evolve.blocks.design import Design, design_from_json
from herbrand.evolve.blocks.goals import (
    Connect,
    Eliminate,
    InARow,
    Majority,
    NobodyWins,
    NoMove,
    Pattern,
    Race,
    Score,
)
from herbrand.evolve.blocks.market_game import Card, MarketGame
from herbrand.evolve.blocks.pieces import Jump, Leap, Piece, Place, Slide, Step
from herbrand.evolve.blocks.trick_game import TrickGame
from herbrand.evolve.blocks.turns import Alternating, Bank, Fog, Several, Simultaneous
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
