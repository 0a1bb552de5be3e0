"""For the tests of herbrand, and of what builds on it.

| module       | what it gives                                                                    |
|--------------|----------------------------------------------------------------------------------|
| `strategies` | Hypothesis strategies for terms, rules, trees and whole games                    |
| `players`    | `check_player`: whether a player keeps its clocks and plays legal moves in a game |
"""

from __future__ import annotations

from herbrand.testing.players import PlayerCheck, check_player
from herbrand.testing.strategies import (
    games,
    hidden_games,
    literals,
    names,
    rules,
    terms,
    trees,
    variable_names,
)

__all__ = [
    "PlayerCheck",
    "check_player",
    "games",
    "hidden_games",
    "literals",
    "names",
    "rules",
    "terms",
    "trees",
    "variable_names",
]
