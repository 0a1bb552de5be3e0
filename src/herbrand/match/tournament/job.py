"""One match of a tournament, as a worker plays it.

A job is plain data and its result is too, so that workers may be threads, processes or other machines.
With a `database` that the worker can write to, the match is recorded there while it goes on, and a job
that is done a second time goes on with it; without one, the whole record comes back with the result.
"""

from __future__ import annotations

import asyncio
import os
import random
import re
import threading
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from herbrand.machine.trajectory import Trajectory
from herbrand.match.protocol.manager import Manager, MatchSettings, Past, seats_for
from herbrand.match.protocol.messages import AbortMessage
from herbrand.match.protocol.processes import ProcessSeat
from herbrand.match.protocol.seats import LocalSeat, RemoteSeat
from herbrand.match.records import Store
from herbrand.match.records.recorder import Recorder
from herbrand.match.records.resume import manager_for, past_of
from herbrand.match.tournament.plan import draw_seed
from herbrand.play import make_player

if TYPE_CHECKING:
    from collections.abc import Sequence

    from herbrand.match.protocol.seats import Seat
    from herbrand.match.records import MatchRecord

__all__ = ["MatchJob", "Played", "is_remote", "play"]

_ADDRESS = re.compile(r"(?:(?P<host>.+):)?(?P<port>[0-9]{1,5})")


@dataclass(frozen=True, slots=True)
class MatchJob:
    """What is to be played."""

    pairing: int
    match: str
    game: str
    rules: str
    seats: tuple[tuple[str, str], ...]
    """Name of each player and who it is, for the roles that choose."""
    settings: MatchSettings
    opening: int
    scramble: int | None
    database: str | None
    attempt: int = 0
    """How often it was begun before."""

    @property
    def remote(self) -> frozenset[str]:
        """The addresses of its players on the network."""
        return frozenset(who for _, who in self.seats if is_remote(who))


@dataclass(frozen=True, slots=True)
class Played:
    """What came of a job."""

    pairing: int
    match: str
    record: MatchRecord | None
    """None where the worker wrote it to the database."""
    process: int
    """The number of the worker's process."""


def play(job: MatchJob) -> Played:
    """Play the match of a job, or what is left of it."""
    with Store(job.database or ":memory:") as store:
        known = store.load(job.match) if job.match in store.ids() else None
        if known is None or known.status not in ("completed", "cut"):
            asyncio.run(_play(job, store, known))
        record = None if job.database else store.load(job.match)
    return Played(job.pairing, job.match, record, os.getpid())


async def _play(job: MatchJob, store: Store, known: MatchRecord | None) -> None:
    seats = [
        _seat(who, name, draw_seed(job.settings.seed, name, place), job.seats[:place].count((name, who)))
        for place, (name, who) in enumerate(job.seats)
    ]
    past: Past | None = None
    opening: Sequence[Sequence[str]] = ()
    if known is not None:
        manager = manager_for(known)
        past = past_of(known)
    else:
        if job.attempt:  # whoever still plays a match of this name that nobody manages any more
            await asyncio.gather(
                *(seat.ask(AbortMessage(job.match), seconds=1.0) for seat in seats if seat.remembers)
            )
        manager = _manager(job.rules, job.game, job.scramble, threading.get_ident())
        manager.settings = job.settings
        opening = random_opening(manager, job.opening, job.settings.seed)
    manager.listener = Recorder(store)
    await manager.play(seats_for(manager.game, seats), match_id=job.match, opening=opening, past=past)


@lru_cache(maxsize=4)
def _manager(rules: str, name: str, scramble: int | None, thread: int) -> Manager:
    """Return a manager of a game, one for each thread; kept, because a game takes time to get ready."""
    del thread
    from herbrand.game import Game
    from herbrand.syntax import read

    return Manager(Game(read(rules, "prefix", f"<{name}>"), name=name), scramble=scramble)


def random_opening(manager: Manager, steps: int, seed: int) -> list[tuple[str, ...]]:
    """Return random joint moves to begin with, fewer where the game would be over; the seed says which."""
    chance = random.Random(draw_seed(seed, "opening"))
    play = Trajectory.replay(manager.game, (), engine="auto")
    play.finish(chance, max_steps=steps)
    return play.joint_moves[:-1] if play.state.is_terminal else play.joint_moves


def is_remote(who: str) -> bool:
    """Whether a player is one on the network."""
    return _ADDRESS.fullmatch(who) is not None and not who.startswith("process:")


def _seat(who: str, name: str, seed: int, before: int) -> Seat:
    """Return a seat; `before` is how many roles the same player has before this one."""
    if is_remote(who):
        address = _ADDRESS.fullmatch(who)
        assert address is not None
        host = (address["host"] or "127.0.0.1").strip("[]")
        return RemoteSeat(host, int(address["port"]), name=name, suffix=f".{before + 1}" if before else "")
    if who.startswith("process:"):
        return ProcessSeat(who.removeprefix("process:"), name=name, seed=seed)
    return LocalSeat(make_player(who, seed=seed), name=name)
