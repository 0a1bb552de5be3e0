"""General Game Playing over the network: the classic protocol, both sides.

A *manager* sends each *player* one HTTP request per message and reads one reply; no connection stays open
in between.  Requests and replies are byte for byte those of ggp-base.  Input is parsed tolerantly, never
evaluated, and every exchange has one deadline and a size limit.

| module      | what it does                                                                        |
|-------------|-------------------------------------------------------------------------------------|
| `messages`  | INFO, PREVIEW, START, PLAY, STOP, ABORT as values; parsing and printing them          |
| `http`      | a tolerant subset of HTTP                                                             |
| `view`      | a match as one player sees it: from messages to a state                               |
| `server`    | `PlayerServer`: answers managers for a player of `herbrand.play`, evaluating no rules |
| `ongoing`   | what the server knows of a match                                                      |
| `access`    | which requests the server answers                                                     |
| `hosts`     | the processes or threads in which its matches are followed                            |
| `host`      | `MatchHost`: what happens there                                                       |
| `gamecache` | games that managers have sent to a host                                               |
| `seats`     | seats of a match: remote and local players                                            |
| `manager`   | `Manager`: plays matches to their end, whatever the players do                        |
| `processes` | `ProcessSeat`: a player in a subprocess                                               |
| `spectators`| `Spectators`: broadcasts matches by server-sent events                                |
| `events`    | events of a match as values, for logs and records                                     |
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from herbrand.runtime.exports import exports

if TYPE_CHECKING:
    from herbrand.match.protocol.events import Event as Event
    from herbrand.match.protocol.manager import Manager as Manager
    from herbrand.match.protocol.manager import Match as Match
    from herbrand.match.protocol.manager import MatchSettings as MatchSettings
    from herbrand.match.protocol.manager import seats_for as seats_for
    from herbrand.match.protocol.seats import LocalSeat as LocalSeat
    from herbrand.match.protocol.seats import RemoteSeat as RemoteSeat
    from herbrand.match.protocol.seats import Seat as Seat
    from herbrand.match.protocol.server import PlayerServer as PlayerServer

__all__, __getattr__, __dir__ = exports(
    __name__,
    {
        "manager": ("Manager", "Match", "MatchSettings", "seats_for"),
        "server": ("PlayerServer",),
        "seats": ("LocalSeat", "RemoteSeat", "Seat"),
        "events": ("Event",),
    },
)
