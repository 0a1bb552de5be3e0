"""`Tournament`: submits jobs to workers and stores their results.

Workers are those of any `concurrent.futures.Executor`: local processes by default, or for example those of
a Dask scheduler (`herbrand.runtime.cluster`).  No match is lost or counted twice, since a pairing is
finished exactly when its row in the database names a match; that is written once, in the same transaction
as a record sent by a remote worker.  The match of a worker that dies is submitted again.

A record sent by a worker is compared with the job and replayed by the rules before it counts.  If it is
false, the worker is named in `Tournament.false_workers`, all its results in the database are purged, and no
further ones are taken.
"""

from __future__ import annotations

import json
import re
import time
from collections import Counter
from concurrent.futures import FIRST_COMPLETED, wait
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any, Final

from herbrand.match.protocol.manager import MatchSettings
from herbrand.match.records.schema import WITH_TOURNAMENTS
from herbrand.match.records.store import NO_DIGEST
from herbrand.match.records.verifier import Verifier
from herbrand.match.records.workers import assign, purge, retry, set_aside
from herbrand.match.tournament.job import MatchJob, false_claim, play
from herbrand.match.tournament.plan import Encounter, TournamentError, TournamentPlan, draw_seed, encounters
from herbrand.match.tournament.results import Leg, Meeting, ReplacedMoves, Results, summarise
from herbrand.play.threads import have_own_cores
from herbrand.runtime.cluster.tasks import submit
from herbrand.runtime.pool import WorkerPool
from herbrand.runtime.tokens import TOKEN_VARIABLE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from concurrent.futures import Executor, Future

    from herbrand.game import Game
    from herbrand.match.records import Store
    from herbrand.match.tournament.job import Played

    Listener = Callable[[str, Leg, int, int], None]

__all__ = ["Tournament", "as_players", "plan_with"]

ATTEMPTS = 5
"""How often a match is submitted before it is left without a result."""
_SETTINGS: Final = ("start_clock", "play_clock", "substitute", "forfeit_after", "max_steps")
"""The settings of matches that a plan has, too."""


class Tournament:
    """A tournament in a database: `create` adds one, `Tournament(store, name)` opens one."""

    def __init__(self, store: Store, name: str) -> None:
        self.store = store
        rows = store.query("SELECT number, plan FROM tournament WHERE name = ?", (name,))
        if not rows:
            raise TournamentError(f"no tournament `{name}` in `{store.path}`")
        self.number: int = rows[0][0]
        try:
            self.plan = TournamentPlan(**json.loads(rows[0][1]))
            if store.is_intact("tournament", self.number) is False:
                raise ValueError(NO_DIGEST)
        except (ValueError, TypeError) as error:
            raise TournamentError(f"tournament `{name}` in `{store.path}` is damaged: {error}") from error
        self.false_workers: dict[str, str] = {}
        """The workers that sent false records since this object was created, with the reasons."""
        self._verifier = Verifier()

    @classmethod
    def create(cls, store: Store, plan: TournamentPlan) -> Tournament:
        """Insert a plan; `TournamentError` for a duplicate name."""
        with store.writing() as connection:
            if connection.execute("SELECT 1 FROM tournament WHERE name = ?", (plan.name,)).fetchone():
                raise TournamentError(
                    f"tournament `{plan.name}` is in `{store.path}` already: resume it or rename this one"
                )
            values = {"name": plan.name, "created": time.time(), "plan": json.dumps(asdict(plan))}
            store.insert("tournament", None, "tournament", **values)
        return cls(store, plan.name)

    @staticmethod
    def names(store: Store) -> list[str]:
        """Return the names of the tournaments in a database in the order of their creation."""
        if store.schema_version < WITH_TOURNAMENTS:
            return []
        return [name for (name,) in store.query("SELECT name FROM tournament ORDER BY number")]

    # -- reading -------------------------------------------------------------------------------

    def meetings(self) -> list[Meeting]:
        """Return all encounters so far, in order."""
        meetings: dict[tuple[int, int], tuple[Encounter, list[Leg]]] = {}
        for number, at, players, game, leg in self._rows("tournament", self.number):
            meeting = meetings.setdefault((number, at), (Encounter(number, at, game, players), []))
            if leg is not None:
                meeting[1].append(leg)
        return [Meeting(encounter, tuple(legs)) for encounter, legs in meetings.values()]

    def _rows(self, where: str, value: int) -> Iterator[tuple[int, int, tuple[str, ...], str, Leg | None]]:
        """Yield round, encounter, players, game and match (None for a bye) of pairings in order."""
        select = (
            "SELECT pairing.round, encounter, players, pairing.game, seats, pairing.id, match, failure,"
            " status, reason, (SELECT count(*) FROM step WHERE step.match = match.number)"
            " FROM pairing LEFT JOIN match ON match.number = pairing.match"
        )
        order = "ORDER BY pairing.round, encounter, leg"
        rows = self.store.query(f"{select} WHERE {where} = ? {order}", (value,))
        for number, at, players, game, seats, name, match, failure, *ending in rows:
            leg = None if name is None else Leg(name, tuple(json.loads(seats)), None, failure)
            if leg is not None and match is not None:
                leg = self._ended(leg, match, *ending)
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

    def _ended(self, leg: Leg, match: int, status: str | None, reason: str | None, steps: int) -> Leg:
        """Return a match with its results, given its number in the database."""
        rows = self.store.query(
            "SELECT role, goal FROM seat WHERE match = ? AND player IS NOT NULL ORDER BY place", (match,)
        )
        kinds: dict[str, dict[str, int]] = {role: {} for role, _ in rows}
        for role, kind, number in self.store.query(
            "SELECT role, kind, count(*) FROM problem WHERE match = ? AND played IS NOT NULL GROUP BY 1, 2",
            (match,),
        ):
            kinds.setdefault(role, {})[kind] = number
        goals = tuple(goal for _, goal in rows) if status == "completed" else None
        word, _, role = (reason or "").partition(" ")
        forfeit = dict(zip(kinds, leg.seats, strict=True)).get(role) if word == "forfeit" else None
        replaced = tuple(map(ReplacedMoves.count, kinds.values()))
        return replace(leg, goals=goals, reason=reason, steps=steps, replaced=replaced, forfeit=forfeit)

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
        """Play all remaining matches and return the results.

        Without an `executor`, `workers` processes are started.  `shared` says whether workers can write to
        the database (by default the case for processes started here); matches are then recorded live.  A
        remote player plays at most `at_once` matches at the same time.  `listener` is called after each match
        with the game, the match, the number of finished matches and the number of matches so far.

        Players in processes of their own think while others do, if the processors suffice for all of them.
        """
        own = executor is None
        pool = executor if executor is not None else WorkerPool(workers)
        live = (own if shared is None else shared) and self.store.path != ":memory:"
        self._retry_refused()
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
                for job in _startable(waiting, running.values(), at_once):
                    if own and len(running) > workers:
                        break
                    ponder = own and job.is_apart and have_own_cores(workers * len(job.seats))
                    future = submit(pool, f"match-{job.match}", play, replace(job, ponder=ponder))
                    running[future] = job
                    waiting.remove(job)
                done, _ = wait(running, return_when=FIRST_COMPLETED) if running else (set(), None)
                for future in done:
                    job = running.pop(future)
                    error = future.exception()
                    if error is None:
                        error = self._take(job, future.result(), listener)
                    if error is not None:
                        waiting += self._failed(job, error, listener)
        finally:
            if own:
                pool.shutdown(wait=False, cancel_futures=True)

    def _waiting(self, *, live: bool) -> list[MatchJob]:
        """Return the unfinished jobs of the current round, in order."""
        rows = self.store.query(
            "SELECT number, game, seats, seed, id, attempts FROM pairing"
            " WHERE tournament = ? AND match IS NULL AND failure IS NULL AND id IS NOT NULL ORDER BY number",
            (self.number,),
        )
        plan, database = self.plan, self.store.path if live else None
        jobs = []
        for number, game, seats, seed, name, attempts in rows:
            settings = MatchSettings(seed=int(seed), **{name: getattr(plan, name) for name in _SETTINGS})
            players = tuple((player, plan.players[player]) for player in json.loads(seats))
            scramble = draw_seed(seed, "names") % 2**31 if plan.scramble else None
            match = number, name, game, plan.games[game], players, settings, plan.opening, scramble
            jobs.append(MatchJob(*match, database, attempts))
        return jobs

    def _next_round(self) -> bool:
        """Pair the next round; False if all rounds have been paired."""
        meetings = self.meetings()
        number = max((meeting.encounter.round for meeting in meetings), default=0) + 1
        if number > self.plan.rounds:
            return False
        past = [(meeting.encounter, meeting.shares()) for meeting in meetings]
        with self.store.writing():
            for encounter in encounters(self.plan, number, past):
                seed = draw_seed(self.plan.seed, number, encounter.number)
                legs = encounter.legs(self.plan.roles[encounter.game])
                for leg, seats in enumerate(legs or [()]):
                    name = f"{_word(self.plan.name)}.{number}.{encounter.number + 1}.{'ab'[leg]}"
                    self.store.insert(
                        "tournament",
                        self.number,
                        "pairing",
                        tournament=self.number,
                        round=number,
                        encounter=encounter.number,
                        leg=leg,
                        game=encounter.game,
                        players=json.dumps(encounter.players),
                        seats=json.dumps(seats),
                        seed=str(seed),
                        id=name if legs else None,
                    )
        return True

    def _take(self, job: MatchJob, played: Played, listener: Listener | None) -> TournamentError | None:
        """Store the result of a match, or return why it is refused."""
        worker, record = played.worker, played.record
        if record is not None:  # otherwise it was recorded in the database
            earlier_reason = self.false_workers.get(worker)
            claim = earlier_reason or false_claim(job, record, self._verifier)
            if claim is not None:
                reason = f"false record of match `{job.match}`: {claim}"[:300]
                with self.store.writing():
                    set_aside(self.store, worker, job.match, reason, None)
                    if earlier_reason is None:
                        purge(self.store, worker, reason)
                        self.false_workers[worker] = reason
                return TournamentError(f"worker `{worker}` sent a {reason}")
        self._store(played, listener)
        return None

    def _retry_refused(self) -> None:
        """Play matches again that have no result because only false records of them were sent."""
        rows = self.store.query(
            "SELECT DISTINCT id FROM pairing JOIN purged ON purged.match = id"
            " WHERE tournament = ? AND failure IS NOT NULL",
            (self.number,),
        )
        retry(self.store, [match for (match,) in rows])

    def _store(self, played: Played, listener: Listener | None) -> None:
        """Store the result of a match unless its pairing has one."""
        with self.store.writing():
            ((match,),) = self.store.query("SELECT match FROM pairing WHERE number = ?", (played.pairing,))
            if match is not None:  # played twice: the first result counts
                return
            if played.record is not None and played.match not in self.store.ids():
                self.store.save(played.record)
            assign(self.store, played.match, played.worker)
            self._change(played.pairing, match=self.store.number(played.match))
        self._notify(played.pairing, listener)

    def _failed(self, job: MatchJob, error: BaseException, listener: Listener | None) -> list[MatchJob]:
        """Return the job for another attempt, or leave its match without a result."""
        with self.store.writing():
            ((attempts,),) = self.store.query("SELECT attempts FROM pairing WHERE number = ?", (job.pairing,))
            self._change(job.pairing, attempts=attempts + 1)
            if attempts + 1 < ATTEMPTS:
                return [replace(job, attempt=attempts + 1)]
            self._change(job.pairing, failure=f"{type(error).__name__}: {error}"[:300])
        self._notify(job.pairing, listener)
        return []

    def _change(self, pairing: int, **values: Any) -> None:
        self.store.change("tournament", self.number, "pairing", {"number": pairing}, values)

    def _notify(self, pairing: int, listener: Listener | None) -> None:
        if listener is None:
            return
        *_, game, leg = next(self._rows("pairing.number", pairing))
        assert leg is not None
        ((played, total),) = self.store.query(
            "SELECT count(match) + count(failure), count(id) FROM pairing WHERE tournament = ?",
            (self.number,),
        )
        listener(game, leg, played, total)


def _startable(waiting: Sequence[MatchJob], running: Iterable[MatchJob], at_once: int) -> Iterator[MatchJob]:
    """Yield jobs whose remote players are free, counting those of jobs yielded before."""
    busy = Counter(player for job in running for player in job.remote)
    for job in list(waiting):
        if all(busy[player] < at_once for player in job.remote):
            busy.update(job.remote)
            yield job


def _word(name: str) -> str:
    """Return a prefix for match ids from the name of a tournament."""
    word = re.sub(r"[^A-Za-z0-9_-]", "-", name)
    return word[:40] if word[:1].isalpha() else f"t{word[:39]}"


def as_players(texts: Mapping[str, str] | list[str]) -> dict[str, str]:
    """Return players by name from a mapping, or from texts such as `mcts` and `fast=mcts(playouts=99)`."""
    if not isinstance(texts, list):
        return dict(texts)
    players: dict[str, str] = {}
    for text in texts:
        name, sign, player = text.partition("=")
        if not sign or "(" in name:  # the sign belongs to a setting
            name = player = text
        if name in players:
            raise TournamentError(f"two players are called `{name}`: give one a name, `other={player}`")
        players[name] = player
    return players


def plan_with(games: Mapping[str, Game], players: Mapping[str, str], **options: Any) -> TournamentPlan:
    """Return a plan for games and players, both by name; `GameError` for games that are not playable."""
    from herbrand.match.protocol.manager import as_sent
    from herbrand.match.protocol.seats import PlayerAddress

    for text in players.values():
        address = PlayerAddress.parse(text)
        if address is not None and address.token:
            where = f"{address.host}:{address.port}/"
            raise TournamentError(
                f"the database would keep the token: write `{where}` and set {TOKEN_VARIABLE}"
            )
    rules = {}
    roles = {}
    for name, game in games.items():
        game, rules[name] = as_sent(game)
        roles[name] = len(game.players)
        if not roles[name]:
            raise TournamentError(f"no role of {name} chooses")
    return TournamentPlan(games=rules, players=dict(players), roles=roles, **options)
