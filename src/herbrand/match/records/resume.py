"""Resuming a match whose manager was killed.

Players in the manager's process are created again and sent the moves so far.  Remote players are asked for
the next move as usual; only if they have forgotten the match, it is sent to them from the start.  Chance
moves are those of the uninterrupted match, since they depend only on the seed and the moves.
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
    """Return the game of a record, read from its rules."""
    return Game(read(record.rules, "prefix", f"<rules of {record.id}>"), name=record.game)


def manager_for(record: MatchRecord, *, listener: Listener = silent) -> Manager:
    """Return a manager that can resume a match; `RecordError` if the record does not allow it."""
    if record.status in ("completed", "cut"):
        raise RecordError(f"match `{record.id}` is over ({record.reason})")
    if record.origin != "herbrand":
        raise RecordError(f"match `{record.id}` was not managed by herbrand")
    if record.claimed_hash not in (None, record.hash):
        raise RecordError(f"the rules of match `{record.id}` do not match their hash")
    settings = MatchSettings(**record.settings)
    manager = Manager(game_of(record), settings, scramble=record.scramble, listener=listener)
    if manager.scrambled is not None and dict(manager.scrambled.names) != record.names:
        raise RecordError(f"match `{record.id}` was scrambled by another version of herbrand")
    return manager


def past_of(record: MatchRecord) -> Past:
    """Return the part of a match that has been played."""
    steps = len(record.moves)
    replies = {
        message.role: message.reply
        for message in record.messages
        if message.kind == "PLAY" and message.step == steps and message.counts and message.reply is not None
    }
    problems = tuple(problem for problem in record.problems if problem.step <= steps)
    return Past(record.id, tuple(record.moves), tuple(record.opening), problems, replies)
