"""Test helpers for herbrand and for packages that extend it.

| module         | contents                                                                       |
|----------------|--------------------------------------------------------------------------------|
| `strategies`   | Hypothesis strategies for terms, rules, trees and whole games                  |
| `players`      | `check_player`: tests clocks and legal moves of a player                       |
| `environments` | `check_batch_env` and `check_pgx_like`: test environments against the rules    |
| `interfaces`   | `check_openspiel`, `check_pettingzoo`, `check_gymnasium`: these libraries' own tests |
"""

from __future__ import annotations

from herbrand.testing.environments import check_batch_env, check_pgx_like
from herbrand.testing.interfaces import check_gymnasium, check_openspiel, check_pettingzoo
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
    "check_batch_env",
    "check_gymnasium",
    "check_openspiel",
    "check_pettingzoo",
    "check_pgx_like",
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
