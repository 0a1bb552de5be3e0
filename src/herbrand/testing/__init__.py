"""For the tests of herbrand, and of what builds on it.

| module       | what it gives                                                                    |
|--------------|----------------------------------------------------------------------------------|
| `strategies` | Hypothesis strategies for terms, rules, trees and whole games                    |
| `players`    | `check_player`: whether a player keeps its clocks and plays legal moves in a game |
| `environments` | `check_batch_env`: whether games in batches follow the rules; `check_pgx_like`    |
| `interfaces` | `check_openspiel`, `check_pettingzoo`, `check_gymnasium`: the tests of those libraries |
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
