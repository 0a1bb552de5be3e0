"""Test helpers for herbrand and for packages that extend it.

| module         | contents                                                                       |
|----------------|--------------------------------------------------------------------------------|
| `strategies`   | Hypothesis strategies for terms, rules, trees and whole games                  |
| `players`      | `check_player`: tests clocks and legal moves of a player                       |
"""

from __future__ import annotations

from herbrand.testing.players import PlayerCheck, check_player
from herbrand.testing.strategies import (
    games,
    hidden_games,
    literals,
    names,
    resized,
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
    "resized",
    "rules",
    "terms",
    "trees",
    "variable_names",
]
