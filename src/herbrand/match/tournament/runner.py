"""`Tournament`: hands jobs to workers and keeps what comes back.

Workers are those of any `concurrent.futures.Executor`: processes on this machine by default, or a cluster of
Dask as `Client.get_executor()`.  Nothing is lost and nothing counted twice, because what counts is in the
database: a pairing is played when its row names a match, which is written once, in the transaction
that also writes the record where a worker far away sent it.  A worker that dies takes its match with
it; the match is given out again.
"""

from __future__ import annotations

import json
import re
import time
from collections import Counter
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, wait
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from herbrand.match.protocol.manager import MatchSettings
from herbrand.match.tournament.job import MatchJob, play
from herbrand.match.tournament.plan import Encounter, TournamentError, TournamentPlan, draw_seed, encounters
from herbrand.match.tournament.results import Leg, Meeting, Results, summarise
from herbrand.runtime.pool import process_pool

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from concurrent.futures import Executor, Future

    from herbrand.game import Game
    from herbrand.match.records import Store
    from herbrand.match.tournament.job import Played

    Listener = Callable[[str, Leg, int, int], None]

__all__ = ["Tournament", "as_players", "plan_with"]

ATTEMPTS = 5
"""How often a match is given out before it is left without a result."""


class Tournament:
    """A tournament in a database; make one with `create`, find one with `Tournament(store, name)`."""

    def __init__(self, store: Store, name: str) -> None:
        self.store = store
        row = store.connection.execute(
            "SELECT number, plan FROM tournament WHERE name = ?", (name,)
        ).fetchone()
        if row is None:
            raise TournamentError(f"no tournament `{name}` in `{store.path}`")
        self.number: int = row[0]
        self.plan = TournamentPlan(**json.loads(row[1]))

    @classmethod
    def create(cls, store: Store, plan: TournamentPlan) -> Tournament:
        """Write down a plan; `TournamentError` when there is a tournament of this name."""
        with store.writing() as connection:
            if connection.execute("SELECT 1 FROM tournament WHERE name = ?", (plan.name,)).fetchone():
                where = f"in `{store.path}` already"
                raise TournamentError(
                    f"there is a tournament `{plan.name}` {where}: resume it, or choose another name"
                )
            connection.execute(
                "INSERT INTO tournament (name, created, plan) VALUES (?, ?, ?)",
                (plan.name, time.time(), json.dumps(asdict(plan))),
            )
        return cls(store, plan.name)

    @staticmethod
    def names(store: Store) -> list[str]:
        """Return the tournaments of a database in the order in which they were made."""
        return [name for (name,) in store.connection.execute("SELECT name FROM tournament ORDER BY number")]

    # -- what there is ------------------------------------------------------------------------

    def meetings(self) -> list[Meeting]:
        """Return all encounters so far, in order."""
        found: dict[tuple[int, int], tuple[Encounter, list[Leg]]] = {}
        for number, at, players, game, leg in self._rows("tournament", self.number):
            meeting = found.setdefault((number, at), (Encounter(number, at, game, players), []))
            if leg is not None:
                meeting[1].append(leg)
        return [Meeting(encounter, tuple(legs)) for encounter, legs in found.values()]

    def _rows(self, where: str, value: int) -> Iterator[tuple[int, int, tuple[str, ...], str, Leg | None]]:
        """Yield round, encounter, players, game and match (None in a bye) of pairings in order."""
        select = (
            "SELECT pairing.round, encounter, players, pairing.game, seats, pairing.id, match, failure,"
            " status, reason, (SELECT count(*) FROM step WHERE step.match = match.number)"
            " FROM pairing LEFT JOIN match ON match.number = pairing.match"
        )
        order = "ORDER BY pairing.round, encounter, leg"
        rows = self.store.connection.execute(f"{select} WHERE {where} = ? {order}", (value,)).fetchall()
        for number, at, players, game, seats, name, match, failure, *ending in rows:
            leg = None
            if name is not None:
                leg = self._leg(name, tuple(json.loads(seats)), match, failure, *ending)
            yield number, at, tuple(json.loads(players)), game, leg

    def results(self) -> Results:
        """Return standings and ratings so far."""
        return summarise(self.plan, self.meetings())

    @property
    def is_over(self) -> bool:
        """Whether everything has been played."""
        meetings = self.meetings()
        rounds = {meeting.encounter.round for meeting in meetings}
        return len(rounds) == self.plan.rounds and all(meeting.is_over for meeting in meetings)

    def _leg(
        self,
        name: str,
        seats: tuple[str, ...],
        match: int | None,
        failure: str | None,
        status: str | None,
        reason: str | None,
        steps: int,
    ) -> Leg:
        if match is None:
            return Leg(name, seats, None, failure)
        rows = self.store.connection.execute(
            "SELECT role, goal, (SELECT count(*) FROM problem"
            " WHERE problem.match = seat.match AND problem.role = seat.role)"
            " FROM seat WHERE match = ? AND player IS NOT NULL ORDER BY place",
            (match,),
        ).fetchall()
        goals = tuple(goal for _, goal, _ in rows) if status == "completed" else None
        word, _, role = (reason or "").partition(" ")
        forfeit = None
        if word == "forfeit":
            forfeit = dict(zip((r for r, _, _ in rows), seats, strict=True)).get(role)
        return Leg(name, seats, goals, reason, steps, tuple(bad for _, _, bad in rows), forfeit)

    # -- playing ------------------------------------------------------------------------------

    def run(
        self,
        executor: Executor | None = None,
        *,
        workers: int = 1,
        shared: bool | None = None,
        at_once: int = 1,
        listener: Listener | None = None,
    ) -> Results:
        """Play all that has not been played yet, and return the results.

        Without an `executor`, `workers` processes are started.  `shared` says whether workers can write
        to the database themselves (by default those that were started here); matches are then recorded
        while they go on.  A player on the network plays `at_once` matches at the same time.  `listener` is
        told each match that is over: game, match, how many are over, how many are known.
        """
        own = executor is None
        pool = executor if executor is not None else process_pool(workers)
        live = own if shared is None else shared
        if live and self.store.path == ":memory:":
            live = False
        running: dict[Future[Played], MatchJob] = {}
        waiting: list[MatchJob] = []
        try:
            while True:
                if not waiting and not running:
                    waiting = self._waiting(live=live)
                    if not waiting:
                        if self._next_round():
                            continue
                        return self.results()
                broken = False
                for job in _startable(waiting, running.values(), at_once):
                    if own and len(running) > workers:
                        break
                    try:
                        running[pool.submit(play, job)] = job
                    except BrokenExecutor:
                        if not own:
                            raise
                        broken = True
                        break
                    waiting.remove(job)
                done, _ = wait(running, return_when=FIRST_COMPLETED) if running else (set(), None)
                for future in done:
                    job = running.pop(future)
                    error = future.exception()
                    if error is None:
                        self._settle(future.result(), listener)
                        continue
                    broken = broken or (own and isinstance(error, BrokenExecutor))
                    waiting += self._failed(job, error, listener)
                if broken:
                    pool.shutdown(wait=False, cancel_futures=True)
                    for job in running.values():  # all are lost with the pool
                        waiting += self._failed(job, BrokenExecutor("a worker died"), listener)
                    running.clear()
                    pool = process_pool(workers)
        finally:
            if own:
                pool.shutdown(wait=False, cancel_futures=True)

    def _waiting(self, *, live: bool) -> list[MatchJob]:
        """Return the jobs that have not been done, in order."""
        rows = self.store.connection.execute(
            "SELECT number, game, seats, seed, id, attempts FROM pairing"
            " WHERE tournament = ? AND match IS NULL AND failure IS NULL AND id IS NOT NULL ORDER BY number",
            (self.number,),
        ).fetchall()
        plan = self.plan
        found = []
        for number, game, seats, seed, name, attempts in rows:
            settings = MatchSettings(
                start_clock=plan.start_clock,
                play_clock=plan.play_clock,
                substitute=plan.substitute,
                max_steps=plan.max_steps,
                seed=int(seed),
            )
            found.append(
                MatchJob(
                    number,
                    name,
                    game,
                    plan.games[game],
                    tuple((player, plan.players[player]) for player in json.loads(seats)),
                    settings,
                    plan.opening,
                    draw_seed(seed, "names") % 2**31 if plan.scramble else None,
                    self.store.path if live else None,
                    attempts,
                )
            )
        return found

    def _next_round(self) -> bool:
        """Pair the next round; False when there is none."""
        meetings = self.meetings()
        number = max((meeting.encounter.round for meeting in meetings), default=0) + 1
        if number > self.plan.rounds:
            return False
        past = [(meeting.encounter, meeting.shares()) for meeting in meetings]
        with self.store.writing() as connection:
            for encounter in encounters(self.plan, number, past):
                seed = draw_seed(self.plan.seed, number, encounter.number)
                legs = encounter.legs(self.plan.roles[encounter.game])
                for leg, seats in enumerate(legs or [()]):
                    name = f"{_word(self.plan.name)}.{number}.{encounter.number + 1}.{'ab'[leg]}"
                    connection.execute(
                        "INSERT INTO pairing"
                        " (tournament, round, encounter, leg, game, players, seats, seed, id)"
                        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                        (
                            self.number,
                            number,
                            encounter.number,
                            leg,
                            encounter.game,
                            json.dumps(encounter.players),
                            json.dumps(seats),
                            str(seed),
                            name if legs else None,
                        ),
                    )
        return True

    def _settle(self, played: Played, listener: Listener | None) -> None:
        """Count a match, once."""
        with self.store.writing() as connection:
            row = connection.execute(
                "SELECT match FROM pairing WHERE number = ?", (played.pairing,)
            ).fetchone()
            if row[0] is not None:  # done twice: the first counts
                return
            if played.record is not None and played.match not in self.store.ids():
                self.store.save(played.record)
            connection.execute(
                "UPDATE pairing SET match = (SELECT number FROM match WHERE id = ?) WHERE number = ?",
                (played.match, played.pairing),
            )
        self._tell(played.pairing, listener)

    def _failed(self, job: MatchJob, error: BaseException, listener: Listener | None) -> list[MatchJob]:
        """Return the job to be given out again, or leave its match without a result."""
        with self.store.writing() as connection:
            connection.execute("UPDATE pairing SET attempts = attempts + 1 WHERE number = ?", (job.pairing,))
            attempts = connection.execute(
                "SELECT attempts FROM pairing WHERE number = ?", (job.pairing,)
            ).fetchone()[0]
            if attempts < ATTEMPTS:
                return [replace(job, attempt=attempts)]
            text = f"{type(error).__name__}: {error}"[:300]
            connection.execute("UPDATE pairing SET failure = ? WHERE number = ?", (text, job.pairing))
        self._tell(job.pairing, listener)
        return []

    def _tell(self, pairing: int, listener: Listener | None) -> None:
        if listener is None:
            return
        *_, game, leg = next(self._rows("pairing.number", pairing))
        assert leg is not None
        played, known = self.store.connection.execute(
            "SELECT count(match) + count(failure), count(id) FROM pairing WHERE tournament = ?",
            (self.number,),
        ).fetchone()
        listener(game, leg, played, known)


def _startable(waiting: Sequence[MatchJob], running: Iterable[MatchJob], at_once: int) -> Iterator[MatchJob]:
    """Yield jobs whose players are free, counting those that were yielded before."""
    busy = Counter(who for job in running for who in job.remote)
    for job in list(waiting):
        if all(busy[who] < at_once for who in job.remote):
            busy.update(job.remote)
            yield job


def _word(name: str) -> str:
    """Return a name that can begin the name of a match."""
    kept = re.sub(r"[^A-Za-z0-9_-]", "-", name)
    return kept[:40] if kept[:1].isalpha() else f"t{kept[:39]}"


def as_players(texts: Mapping[str, str] | list[str]) -> dict[str, str]:
    """Return players by name: those of a mapping, or of texts such as `mcts` and `fast=mcts(playouts=99)`."""
    if not isinstance(texts, list):
        return dict(texts)
    found: dict[str, str] = {}
    for text in texts:
        name, sign, who = text.partition("=")
        if not sign or "(" in name:  # the sign belongs to a setting
            name = who = text
        if name in found:
            raise TournamentError(f"two players are called `{name}`: give one a name, `other={who}`")
        found[name] = who
    return found


def plan_with(games: Mapping[str, Game], players: Mapping[str, str], **options: Any) -> TournamentPlan:
    """Return a plan for games (by name) and players; `GameError` for games that cannot be played."""
    from herbrand.match.protocol.manager import as_sent

    rules = {}
    roles = {}
    for name, game in games.items():
        played, text = as_sent(game)
        rules[name] = text
        roles[name] = len(played.players)
        if not roles[name]:
            raise TournamentError(f"in {name} nobody chooses")
    return TournamentPlan(games=rules, players=dict(players), roles=roles, **options)
