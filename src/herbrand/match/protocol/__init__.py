"""General Game Playing over the network: the classic protocol, both sides.

A *manager* sends each *player* one HTTP request for every message and reads one reply; nothing
is kept open in between.  The bytes are those of the ggp-base programs, which are what the existing
world speaks; what is read is read tolerantly, and every exchange has one deadline, a size and no
way to make this side evaluate anything.

| module      | what it does                                                                        |
|-------------|-------------------------------------------------------------------------------------|
| `messages`  | INFO, PREVIEW, START, PLAY, STOP, ABORT as values; reading and writing their text    |
| `http`      | as much HTTP as the protocol needs, and as little as strange peers keep to            |
| `view`      | the match as a player sees it: from what it is told to a state                        |
| `server`    | `PlayerServer`: listens, and answers for a player of `herbrand.play`                  |
| `seats`     | who sits at the manager's table: remote and local players                             |
| `manager`   | `Manager`: plays one match to its end, whatever the players do                        |
| `processes` | a player of herbrand in a process of its own, as a seat                              |
| `spectators`| `Spectators`: lets others watch by server-sent events                                |
| `hostile`   | peers that keep to nothing, to test players and managers with                        |
| `events`    | what happened, as values: the seam to logs and records                                |
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from herbrand.runtime.exports import exports

if TYPE_CHECKING:
    from herbrand.match.protocol.events import Event as Event
    from herbrand.match.protocol.manager import Manager as Manager
    from herbrand.match.protocol.manager import Match as Match
    from herbrand.match.protocol.seats import LocalSeat as LocalSeat
    from herbrand.match.protocol.seats import RemoteSeat as RemoteSeat
    from herbrand.match.protocol.seats import Seat as Seat
    from herbrand.match.protocol.server import PlayerServer as PlayerServer

__all__, __getattr__, __dir__ = exports(
    __name__,
    {
        "manager": ("Manager", "Match"),
        "server": ("PlayerServer",),
        "seats": ("LocalSeat", "RemoteSeat", "Seat"),
        "events": ("Event",),
    },
)
