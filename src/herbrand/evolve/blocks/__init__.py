"""Building blocks of games, and the designs composed of them."""

from __future__ import annotations

from herbrand.evolve.blocks.block import Block
from herbrand.evolve.blocks.board_game import BoardGame
from herbrand.evolve.blocks.boards import Board, Hexagons, Line, Squares, Torus
from herbrand.evolve.blocks.captures import Contagion, Custodian
from herbrand.evolve.blocks.design import Design, design_from_json
from herbrand.evolve.blocks.from_json import block_from_json
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

__all__ = [
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
    "block_from_json",
    "design_from_json",
]
