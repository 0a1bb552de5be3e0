"""What a manager needs to go on with a match whose manager was killed.

Players in the manager's process are made anew and told the moves that were made; players on the
network are asked for the move that is due, as if nothing had happened, and only if they have forgotten the
match it is told to them from the start.  Chance goes on as it would have: its draws depend on the seed and
on the moves alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from herbrand.game import Game
from herbrand.match.protocol.events import silent
from herbrand.match.protocol.manager import Manager, MatchSettings, Past
from herbrand.match.records.record import RecordError
from herbrand.syntax import read

if TYPE_CHECKING:
    from herbrand.match.protocol.events import Listener
    from herbrand.match.records.record import MatchRecord

__all__ = ["game_of", "manager_for", "past_of"]


def game_of(record: MatchRecord) -> Game:
    """Return the game of a record, read from the rules in it."""
    return Game(read(record.rules, "prefix", f"<rules of {record.id}>"), name=record.game)


def manager_for(record: MatchRecord, *, listener: Listener = silent) -> Manager:
    """Return a manager that can go on with a match; `RecordError` where the record does not allow it."""
    if record.status in ("completed", "cut"):
        raise RecordError(f"match `{record.id}` is over ({record.reason})")
    if record.origin != "herbrand":
        raise RecordError(f"match `{record.id}` was not managed by herbrand")
    if record.claimed_hash not in (None, record.hash):
        raise RecordError(f"the rules of match `{record.id}` have another hash: they were changed")
    settings = MatchSettings(**record.settings)
    manager = Manager(game_of(record), settings, scramble=record.scramble, listener=listener)
    if manager.scrambled is not None and dict(manager.scrambled.names) != record.names:
        raise RecordError(f"match `{record.id}` was scrambled by another version of herbrand")
    return manager


def past_of(record: MatchRecord) -> Past:
    """Return what the manager has to know of the match so far."""
    made = len(record.moves)
    replies = {
        message.role: message.reply
        for message in record.messages
        if message.kind == "PLAY" and message.step == made and message.counts and message.reply is not None
    }
    problems = tuple(problem for problem in record.problems if problem.step <= made)
    return Past(record.id, tuple(record.moves), tuple(record.opening), problems, replies)
