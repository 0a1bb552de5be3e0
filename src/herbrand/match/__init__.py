"""Matches: played under the General Game Playing protocol, recorded, and combined into tournaments.

Takes games and players; returns matches with every message and move.  Imports `play` and lower packages.

| package      | what it does                                                                |
|--------------|-----------------------------------------------------------------------------|
| `local`      | a match in one process between people, programs and chance                  |
| `protocol`   | messages, the player's server, the manager and its seats                    |
| `records`    | matches in SQLite: recorded live, resumed, verified, exchanged              |
| `tournament` | pairings, matches on any executor, ratings with confidence intervals        |
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from herbrand.runtime.exports import exports

if TYPE_CHECKING:
    from herbrand.match.local import LocalMatch as LocalMatch
    from herbrand.match.protocol.manager import Manager as Manager
    from herbrand.match.protocol.manager import Match as Match
    from herbrand.match.protocol.seats import LocalSeat as LocalSeat
    from herbrand.match.protocol.seats import RemoteSeat as RemoteSeat
    from herbrand.match.protocol.server import PlayerServer as PlayerServer
    from herbrand.match.records import MatchRecord as MatchRecord
    from herbrand.match.records import Store as Store
    from herbrand.match.tournament import Tournament as Tournament

__all__, __getattr__, __dir__ = exports(
    __name__,
    {
        "local": ("LocalMatch",),
        "protocol.manager": ("Manager", "Match"),
        "protocol.server": ("PlayerServer",),
        "protocol.seats": ("LocalSeat", "RemoteSeat"),
        "records": ("MatchRecord", "Store"),
        "tournament": ("Tournament",),
    },
)
