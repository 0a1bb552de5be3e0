"""One match of a tournament, played by a worker.

A job and its result are plain data, so that workers may be threads, processes or other machines.  With a
`database` that the worker can write to, the match is recorded there live, and a repeated job resumes it;
otherwise the whole record is returned with the result.
"""

from __future__ import annotations

import asyncio
import random
import threading
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from herbrand.machine.trajectory import Trajectory
from herbrand.match.protocol.manager import Manager, MatchSettings, Past, seats_for
from herbrand.match.protocol.messages import AbortMessage
from herbrand.match.protocol.processes import ProcessSeat
from herbrand.match.protocol.seats import LocalSeat, PlayerAddress
from herbrand.match.records import Store
from herbrand.match.records.recorder import Recorder
from herbrand.match.records.resume import manager_for, past_of
from herbrand.match.records.shape import require_shape
from herbrand.match.records.workers import this_worker
from herbrand.match.tournament.plan import draw_seed
from herbrand.play import make_player

if TYPE_CHECKING:
    from collections.abc import Sequence

    from herbrand.match.protocol.seats import Seat
    from herbrand.match.records import MatchRecord
    from herbrand.match.records.verifier import Verifier

__all__ = ["MatchJob", "Played", "false_claim", "is_remote", "play"]


@dataclass(frozen=True, slots=True)
class MatchJob:
    """A match to be played."""

    pairing: int
    match: str
    game: str
    rules: str
    seats: tuple[tuple[str, str], ...]
    """Name and address of each player, for the roles that choose."""
    settings: MatchSettings
    opening: int
    scramble: int | None
    database: str | None
    attempt: int = 0
    """How often it has been attempted before."""
    ponder: bool = False
    """Whether players in processes of their own think while others do."""

    @property
    def is_apart(self) -> bool:
        """Whether no player is in the process that plays the match."""
        return all(is_remote(address) or address.startswith("process:") for _, address in self.seats)

    @property
    def remote(self) -> frozenset[str]:
        """The addresses of its remote players."""
        return frozenset(address for _, address in self.seats if is_remote(address))


@dataclass(frozen=True, slots=True)
class Played:
    """The result of a job."""

    pairing: int
    match: str
    record: MatchRecord | None
    """None if the worker wrote it to the database."""
    worker: str
    """The name of the worker, as it says."""


def play(job: MatchJob) -> Played:
    """Play or resume the match of a job."""
    with Store(job.database or ":memory:", check=False) as store:  # the tournament has checked it
        record = store.load_intact(job.match) if job.match in store.ids() else None
        if record is None or record.status not in ("completed", "cut"):
            asyncio.run(_play(job, store, record))
        record = None if job.database else store.load(job.match)
    return Played(job.pairing, job.match, record, this_worker())


async def _play(job: MatchJob, store: Store, record: MatchRecord | None) -> None:
    seats = []
    for place, (name, address) in enumerate(job.seats):
        seed, before = draw_seed(job.settings.seed, name, place), job.seats[:place].count((name, address))
        seats.append(_seat(address, name, seed, before, ponder=job.ponder))
    past: Past | None = None
    opening: Sequence[Sequence[str]] = ()
    if record is not None:
        manager = manager_for(record)
        past = past_of(record)
    else:
        if job.attempt:  # a player may still be in the match of a failed attempt
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
    """Return a manager of a game, cached for each thread, since grounding a game takes time."""
    del thread
    from herbrand.game import Game
    from herbrand.syntax import read

    return Manager(Game(read(rules, "prefix", f"<{name}>"), name=name), scramble=scramble)


def random_opening(manager: Manager, steps: int, seed: int) -> list[tuple[str, ...]]:
    """Return random joint moves for an opening, fewer if they would end the game."""
    chance = random.Random(draw_seed(seed, "opening"))
    play = Trajectory.replay(manager.game, (), engine="auto")
    play.finish(chance, max_steps=steps)
    return play.joint_moves[:-1] if play.state.is_terminal else play.joint_moves


def is_remote(address: str) -> bool:
    """Whether a player is reached by a `PlayerAddress`."""
    return PlayerAddress.parse(address) is not None


def _seat(address: str, name: str, seed: int, before: int, *, ponder: bool) -> Seat:
    """Return a seat; `before` is how many earlier roles the same player has."""
    remote = PlayerAddress.parse(address)
    if remote is not None:
        return remote.seat(name=name, suffix=f".{before + 1}" if before else "")
    if address.startswith("process:"):
        return ProcessSeat(address.removeprefix("process:"), name=name, seed=seed, ponder=ponder)
    return LocalSeat(make_player(address, seed=seed), name=name)


def false_claim(job: MatchJob, record: MatchRecord, verifier: Verifier) -> str | None:
    """Return where the record of a worker differs from its job or the rules; None if nowhere."""
    try:
        require_shape(record)
        manager = _manager(job.rules, job.game, job.scramble, threading.get_ident())
        names = dict(zip(manager.game.players, (name for name, _ in job.seats), strict=True))
        opening = random_opening(manager, job.opening, job.settings.seed)
        claims = {
            "id": (record.id, job.match),
            "game": (record.game, job.game),
            "rules": (record.rules, manager.rules),
            "players": (record.players, names),
            "settings": (record.settings, asdict(job.settings)),
            "seed of names": (record.scramble, job.scramble),
            "opening": ([*record.opening], [*opening]),
            "percepts": (len(record.percepts), len(record.moves) if manager.game.has_percepts else 0),
            "end": (record.status in ("completed", "cut") and record.ended is not None, True),
            "signature": (record.signature, None),
        }
        wrong = next((name for name, (recorded, due) in claims.items() if recorded != due), None)
        if wrong is not None:
            return f"it has another {wrong} than the match that was to be played"
        return next(map(str, verifier.verify(record)), None)
    except Exception as error:  # noqa: BLE001  # a record can be anything
        return f"it cannot be read: {type(error).__name__}: {error}"
