"""Test helpers for packages that extend herbrand: `check_player` tests clocks and legal moves of a player."""

from __future__ import annotations

from herbrand.testing.players import PlayerCheck, check_player

__all__ = ["PlayerCheck", "check_player"]
