"""Tournaments: pairings, ratings, repeatable, resumable, on any executor."""

from __future__ import annotations

import dataclasses
import json
import math
import os
import random
import re
import signal
import socket
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections import Counter
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil
import pytest
from click.testing import CliRunner

import herbrand
from herbrand.cli.main import cli
from herbrand.machine.moves import Move
from herbrand.match.records import Store
from herbrand.match.records.document import write_document
from herbrand.match.records.schema import MIGRATIONS
from herbrand.match.records.verifier import Verifier
from herbrand.match.records.workers import workers
from herbrand.match.tournament import Tournament, TournamentPlan, job
from herbrand.match.tournament.job import MatchJob, Played, play
from herbrand.match.tournament.plan import Encounter, TournamentError, encounters, ladder_order
from herbrand.match.tournament.ratings import rate
from herbrand.match.tournament.report import page, plot
from herbrand.match.tournament.results import Leg, Meeting, ReplacedMoves, summarise
from herbrand.match.tournament.runner import as_players, plan_with
from herbrand.play import Player

if TYPE_CHECKING:
    from herbrand.machine.state import State

COIN = """
(role one) (role two) (init (step 1))
(<= (legal ?r ?m) (role ?r) (option ?m)) (option up) (option down)
(<= (next (shown one ?m)) (does one ?m)) (<= (next (shown two ?m)) (does two ?m))
(<= terminal (true (shown one ?m)))
(<= same (true (shown one ?m)) (true (shown two ?m)))
(<= (goal one 100) same) (<= (goal one 0) (not same)) (<= (goal two 0) same) (<= (goal two 100) (not same))
"""
"""A game of one step."""


def a_plan(
    games: dict[str, Any] | None = None, players: Any = ("legal", "random", "greedy"), **options: Any
) -> TournamentPlan:
    """A plan for quick matches."""
    made = games or {"coin": herbrand.loads(COIN)}
    values = {"name": "test", "start_clock": 5, "play_clock": 5, "max_steps": 50, **options}
    return plan_with(made, as_players(list(players)), **values)


def played(tmp_path: Path, plan: TournamentPlan, file: str = "t.db", **options: Any) -> tuple[Any, list[Any]]:
    """The results of a tournament on a thread, and its matches."""
    with Store(tmp_path / file) as store, ThreadPoolExecutor(1) as executor:
        results = Tournament.create(store, plan).run(executor, shared=True, **options)
        return results, [store.load(name) for name in store.ids()]


# -- who meets whom ------------------------------------------------------------------------------


def test_round_robin_meets_everybody_in_everything() -> None:
    """In each round each pair in each game, with the roles exchanged."""
    plan = a_plan({"coin": herbrand.loads(COIN), "nim": herbrand.load("nim")}, rounds=2)
    found = encounters(plan, 1, [])
    assert len(found) == 3 * 2
    assert len({(e.game, frozenset(e.players)) for e in found}) == 6
    assert found[0].legs(2) == [("legal", "random"), ("random", "legal")]
    assert found[0].legs(3) == [("legal", "random", "legal"), ("random", "legal", "random")]
    assert found[0].legs(1) == [("legal",), ("random",)]


@pytest.mark.parametrize("count", [4, 5, 6, 8, 9, 40])
def test_swiss_pairs_equals_avoids_rematches_and_gives_each_one_bye(count: int) -> None:
    """With somebody who always wins: nobody meets twice while that is possible, byes differ, the best is found."""
    names = [f"p{n}" for n in range(count)]
    plan = a_plan(players=[f"{name}=random" for name in names], kind="swiss", rounds=3)
    past: list[tuple[Encounter, dict[str, float]]] = []
    for number in (1, 2, 3):
        paired = encounters(plan, number, past)
        assert sorted(name for e in paired for name in e.players) == sorted(names)
        assert encounters(plan, number, past) == paired
        for encounter in paired:
            if len(encounter.players) == 2:
                best = max(encounter.players)
                past.append((encounter, {name: float(name == best) for name in encounter.players}))
            else:
                past.append((encounter, {}))
    met = [frozenset(e.players) for e, _ in past if len(e.players) == 2]
    assert len(met) == len(set(met))
    byes = [e.players[0] for e, _ in past if len(e.players) == 1]
    assert len(byes) == len(set(byes)) == (3 if count % 2 else 0)


@pytest.mark.parametrize("count", [4, 5])
def test_swiss_repeats_encounters_once_all_have_met(count: int) -> None:
    """With more rounds than opponents, those meet again who have met least often, and byes go round."""
    names = [f"p{n}" for n in range(count)]
    plan = a_plan(players=[f"{name}=random" for name in names], kind="swiss", rounds=10)
    past: list[tuple[Encounter, dict[str, float]]] = []
    for number in range(1, 11):
        paired = encounters(plan, number, past)
        assert sorted(name for e in paired for name in e.players) == names
        past += [(e, dict.fromkeys(e.players, 0.5) if len(e.players) == 2 else {}) for e in paired]
    met = Counter(frozenset(e.players) for e, _ in past if len(e.players) == 2)
    assert len(met) == count * (count - 1) // 2
    assert max(met.values()) - min(met.values()) <= 2
    byes = Counter(e.players[0] for e, _ in past if len(e.players) == 1)
    assert list(byes.values()) == ([2] * 5 if count == 5 else [])


def test_a_ladder_sorts_its_players() -> None:
    """The better one of two neighbours climbs; after as many rounds as players the order is right."""
    names = [f"p{n}" for n in range(6)]
    plan = a_plan(players=[f"{name}=random" for name in names], kind="ladder", rounds=6)
    past: list[tuple[Encounter, dict[str, float]]] = []
    for number in range(1, 7):
        for encounter in encounters(plan, number, past):
            best = max(encounter.players)
            past.append((encounter, {name: float(name == best) for name in encounter.players}))
    assert ladder_order(plan, past) == sorted(names, reverse=True)


def test_a_database_keeps_no_token() -> None:
    """Databases are handed on; a token is in the environment, and the address only says so."""
    with pytest.raises(TournamentError, match=r"`localhost:9147/` and set HERBRAND_TOKEN"):
        a_plan(players=["a=localhost:9147/correct-horse", "b=random"])
    assert a_plan(players=["a=localhost:9147/", "b=random"]).players["a"] == "localhost:9147/"


def test_plans_that_make_no_sense_are_refused() -> None:
    """One player, no game, no round, the same name twice, a game in which nobody chooses."""
    for options in ({"kind": "knockout"}, {"rounds": 0}, {"opening": -1}):
        with pytest.raises(TournamentError):
            a_plan(**options)
    with pytest.raises(TournamentError, match="at least one game"):
        TournamentPlan("test", {}, {"a": "random", "b": "legal"})
    lonely = "(role random) (legal random go) (init x) (<= terminal (true y)) (<= (next y) (true x)) (goal random 0)"
    with pytest.raises(TournamentError, match="no role of dice chooses"):
        a_plan({"dice": herbrand.loads(lonely)})
    assert as_players({"a": "random"}) == {"a": "random"}
    with pytest.raises(TournamentError, match="two players"):
        a_plan(players=["random"])
    with pytest.raises(TournamentError, match="give one a name"):
        a_plan(players=["random", "random"])
    assert a_plan(players=["random", "other=random"]).players == {"random": "random", "other": "random"}


# -- ratings ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(("wins", "losses"), [(3, 1), (60, 40), (7, 7)])
def test_two_players_are_rated_as_the_closed_form_says(wins: int, losses: int) -> None:
    """The difference is the logarithm of the odds, its variance 1/wins + 1/losses."""
    results = [("a", "b", 1.0)] * wins + [("a", "b", 0.0)] * losses
    by_name = {rating.player: rating for rating in rate(["a", "b"], results, prior=0)}
    difference = by_name["a"].elo - by_name["b"].elo
    assert difference == pytest.approx(400 * math.log10(wins / losses), abs=1e-6)
    deviation = 400 / math.log(10) * math.sqrt(1 / wins + 1 / losses)
    assert by_name["a"].margin == pytest.approx(1.959964 * deviation / 2, rel=1e-5)  # distance to the mean
    assert by_name["a"].elo + by_name["b"].elo == pytest.approx(3000)


def test_ratings_agree_with_another_way_to_maximise_the_likelihood() -> None:
    """Zermelo's iteration finds the same strengths among five players, some of whom never met."""
    chance = random.Random(3)
    strength = dict(zip("abcde", (2.0, 1.0, 0.0, -0.5, -1.5), strict=True))
    results = []
    for one, two in ("ab", "bc", "cd", "de", "ea", "ac"):
        for _ in range(60):
            expected = 1 / (1 + math.exp(strength[two] - strength[one]))
            results.append((one, two, chance.choices([1.0, 0.5, 0.0], [expected, 0.2, 1 - expected])[0]))
    gamma = dict.fromkeys("abcde", 1.0)
    points = {name: sum(s if a == name else 1 - s for a, b, s in results if name in (a, b)) for name in gamma}
    met = Counter((one, two) for one, two, _ in results)
    for _ in range(4000):
        gamma = {
            name: points[name]
            / sum(times / (gamma[a] + gamma[b]) for (a, b), times in met.items() if name in (a, b))
            for name in gamma
        }
    mean = sum(math.log(value) for value in gamma.values()) / 5
    for rating in rate(list("abcde"), results, prior=0):
        other = 1500 + 400 / math.log(10) * (math.log(gamma[rating.player]) - mean)
        assert rating.elo == pytest.approx(other, abs=0.01)
        true = 1500 + 400 / math.log(10) * (strength[rating.player] - 0.2)
        assert abs(rating.elo - true) < 2 * rating.margin


def test_who_won_everything_has_a_rating_and_nobody_played_is_average() -> None:
    """A prior keeps ratings finite; without matches all are equal and nothing is known."""
    best, worst = rate(["a", "b"], [("a", "b", 1.0)] * 50)
    assert best.player == "a"
    assert 1600 < best.elo < 2500
    assert best.margin < 1000
    assert worst.score == 0
    assert [rating.elo for rating in rate(["a", "b", "c"], [])] == [1500.0] * 3
    assert math.isfinite(rate(["a", "b"], [("a", "b", 1.0)], prior=0)[0].elo)


def test_meetings_are_scored() -> None:
    """Goals are compared, forfeits lose, what has no result does not count, each alone is compared at the end."""
    two = Encounter(1, 0, "g", ("a", "b"))
    legs = (Leg("m.a", ("a", "b"), (100, 0), "terminal"), Leg("m.b", ("b", "a"), (50, 50), "terminal"))
    assert Meeting(two, legs).results() == [1.0, 0.5]
    assert Meeting(two, legs).shares() == {"a": 0.75, "b": 0.25}
    forfeits = (
        Leg("m.a", ("a", "b"), None, "forfeit x", forfeit="a"),
        Leg("m.b", ("b", "a"), None, "max-steps"),
    )
    assert Meeting(two, forfeits).results() == [0.0]
    alone = (Leg("m.a", ("a",), (30,), "terminal"), Leg("m.b", ("b",), (70,), "terminal"))
    assert Meeting(two, alone).results() == [0.0]
    assert Meeting(two, (alone[0], Leg("m.b", ("b",), None, None))).results() == []
    three = (Leg("m.a", ("a", "b", "a"), (100, 60, 0), "terminal"),)
    assert Meeting(two, three).results() == [0.0]
    undecided = (Leg("m.a", ("a", "b"), (None, 100), "terminal"),)
    assert Meeting(two, undecided).results() == []
    gave_up = (Leg("m.a", ("a",), None, "forfeit x", forfeit="a"), Leg("m.b", ("b",), (0,), "terminal"))
    assert Meeting(two, gave_up).results() == [0.0]


def test_scores_by_game_have_intervals_and_replaced_moves() -> None:
    """Wins, draws and losses of each game add up to those of the table; at a bound of Wilson's interval, the share is 1.96 deviations off"""
    plan = a_plan({"g": herbrand.loads(COIN), "h": herbrand.loads(COIN)}, players=["a=random", "b=random"])
    late = (ReplacedMoves(late=2), ReplacedMoves())
    meetings = [
        Meeting(
            Encounter(1, 0, "g", ("a", "b")),
            (
                Leg("1", ("a", "b"), (100, 0), "terminal", replaced=late),
                Leg("2", ("b", "a"), (50, 50), "terminal"),
            ),
        ),
        Meeting(
            Encounter(1, 1, "h", ("a", "b")),
            (Leg("3", ("a", "b"), (0, 100), "terminal"), Leg("4", ("b", "a"), None, "max-steps")),
        ),
    ]
    results = summarise(plan, meetings)
    assert results.by_game["g"]["a"] | {"interval": None} == {
        "wins": 1, "draws": 1, "losses": 0, "score": 1.5, "games": 2, "interval": None, "goals": 75.0,
        "replaced": {"illegal": 0, "late": 2, "crashed": 0},
    }  # fmt: skip
    for row in (*results.table, *results.by_game["g"].values(), *results.by_game["h"].values()):
        share = row["score"] / row["games"]
        for bound in row["interval"]:  # where the share is 1.96 standard deviations away
            deviation = 1.959964**2 * bound * (1 - bound) / row["games"]
            assert (share - bound) ** 2 == pytest.approx(deviation, abs=2e-4)
    for total in results.table:
        for key in ("wins", "draws", "losses", "score", "games"):
            assert total[key] == sum(rows[total["player"]][key] for rows in results.by_game.values())
    header, rows = results.game_standings()
    shown = [dict(zip(header, row, strict=True)) for row in rows]
    assert {row["game"]: row["replaced"] for row in shown if row["player"] == "a"} == {
        "g": "2 late",
        "h": "0",
    }
    assert summarise(plan, []).table[0]["interval"] is None


class Stuck(Player):
    """Answers with the same move every time, which is seldom legal."""

    def select(self, state: State, play_clock: float) -> Move:
        return Move("(mark 2 2)")


def test_a_bad_player_scored_with_replaced_moves(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Ratings name the replaced moves of each player; with a limit, a match with more of them is lost."""
    known = job.make_player
    monkeypatch.setattr(
        job, "make_player", lambda name, seed: Stuck(seed=seed) if name == "stuck" else known(name, seed=seed)
    )
    games = {"ticTacToe": herbrand.load("ticTacToe")}
    players = ["bad=stuck", "good=random"]
    results, records = played(tmp_path, a_plan(games, players, seed=2))
    replaced = sum(problem.played is not None for record in records for problem in record.problems)
    assert replaced > 2
    rows = {row["player"]: row for row in results.table}
    assert rows["bad"]["replaced"] == {"illegal": replaced, "late": 0, "crashed": 0}
    assert rows["good"]["replaced"] == {"illegal": 0, "late": 0, "crashed": 0}
    assert [row[-1] for row in sorted(results.standings()[1])] == [f"{replaced} illegal", "0"]
    assert f"bad: {replaced} illegal, 0 late" in page(results)
    assert f">{replaced} replaced</text>" in plot(results)
    assert json.loads(json.dumps(results.as_json()))["table"] == results.table

    results, records = played(tmp_path, a_plan(games, players, seed=2, forfeit_after=1), "limit.db")
    assert [record.reason.partition(" ")[0] for record in records] == ["forfeit", "forfeit"]
    for record in records:
        assert [problem.played is None for problem in record.problems] == [False, True]
        assert Verifier().verify(record) == []
        unlimited = dataclasses.replace(record, settings={**record.settings, "forfeit_after": 2})
        assert any("forfeited after 1 replaced" in str(finding) for finding in Verifier().verify(unlimited))
        strict = dataclasses.replace(record, settings={**record.settings, "forfeit_after": 0})
        assert any("did not forfeit after 0" in str(finding) for finding in Verifier().verify(strict))
    rows = {row["player"]: row for row in results.table}
    assert (rows["bad"]["losses"], rows["bad"]["forfeits"], rows["good"]["wins"]) == (2, 2, 2)
    assert results.unsettled == []


# -- playing ----------------------------------------------------------------------------------------


def moves_of(records: list[Any]) -> dict[str, Any]:
    """The moves of each match."""
    return {record.id: (record.moves, record.goals) for record in records}


def test_a_tournament_is_whole_verifies_and_repeats(tmp_path: Path) -> None:
    """All kinds of games; openings and chance are the same with exchanged roles; the seed repeats everything."""
    games = {name: herbrand.load(name) for name in ("nim", "kuhn", "rockPaperScissors", "lightsOut")}
    plan = a_plan(games, players=["legal", "random"], opening=1, seed=5, scramble=True)
    results, records = played(tmp_path, plan)
    assert results.played == results.matches == 8
    assert results.unsettled == []
    verifier = Verifier()
    for record in records:
        assert record.status == "completed"
        assert not record.problems
        assert verifier.verify(record) == []
        assert record.names
        assert len(record.opening) <= 1
    by_id = {record.id: record for record in records}
    for record in records:
        if record.id.endswith(".a"):
            other = by_id[record.id[:-1] + "b"]
            assert record.opening == other.opening
            assert record.seed == other.seed
    again, repeated = played(tmp_path, plan, "again.db")
    assert moves_of(repeated) == moves_of(records)
    assert again == results


def test_what_workers_elsewhere_send_is_the_same_tournament(tmp_path: Path) -> None:
    """Without a shared file the records come back with the results: same matches, same table."""
    plan = a_plan(kind="swiss", rounds=2, seed=2)
    live, records = played(tmp_path, plan)
    with Store(tmp_path / "sent.db") as store, ThreadPoolExecutor(2) as executor:
        results = Tournament.create(store, plan).run(executor)
        sent = [store.load(name) for name in store.ids()]
    assert results.table == live.table
    assert moves_of(sent) == moves_of(records)
    assert all(Verifier().verify(record) == [] for record in sent)
    assert sum(row["byes"] for row in results.table) == 2
    with Store(":memory:") as store, ThreadPoolExecutor(2) as executor:  # no worker can write to it
        assert Tournament.create(store, plan).run(executor, shared=True).table == live.table


class Odd(ThreadPoolExecutor):
    """An executor whose workers fail, and do jobs twice."""

    def __init__(self, failures: int) -> None:
        super().__init__(2)
        self.failures = failures
        self.done: list[str] = []

    def submit(self, fn: Any, /, *args: Any, **options: Any) -> Future[Any]:
        def work(job: MatchJob) -> Played:
            self.done.append(job.match)
            if job.attempt < self.failures:
                raise OSError("the worker was lost")
            play(job)
            return play(job)

        return super().submit(work, *args, **options)


class Cluster(ThreadPoolExecutor):
    """An executor with two workers, one of which changes the records that it sends."""

    def __init__(self, change: Any, *, after: int = 1) -> None:
        super().__init__(1)
        self.change = change
        self.after = after
        """How many true records the false worker sends first."""
        self.sent: Counter[str] = Counter()

    def submit(self, fn: Any, /, *args: Any, **options: Any) -> Future[Any]:
        def work(job: MatchJob) -> Played:
            worker = f"host{sum(self.sent.values()) % 2}/7"
            self.sent[worker] += 1
            played = dataclasses.replace(fn(job), worker=worker)
            if worker == "host1/7" and self.sent[worker] > self.after:
                return dataclasses.replace(played, record=self.change(played.record))
            return played

        return super().submit(work, *args, **options)


def with_another_result(record: Any) -> Any:
    """The record of a match with exchanged goals."""
    one, two = record.goals
    return dataclasses.replace(record, goals={one: record.goals[two], two: record.goals[one]})


def with_another_move(record: Any) -> Any:
    """The record of a match with a move that was not legal."""
    return dataclasses.replace(record, moves=[("down", "sideways"), *record.moves[1:]])


def of_another_player(record: Any) -> Any:
    """The record of a match of somebody else."""
    return dataclasses.replace(record, players=dict.fromkeys(record.players, "me"))


def of_another_game(record: Any) -> Any:
    """The record of a match of a game that the worker wins."""
    rules = record.rules.replace("(goal two 100)", "(goal two 0)")
    return dataclasses.replace(record, rules=rules)


def unreadable(record: Any) -> Any:
    """Something else."""
    return dataclasses.replace(record, moves=None, seed="?")


def of_another_seed(record: Any) -> Any:
    """The record of a match with other chances."""
    return dataclasses.replace(record, settings={**record.settings, "seed": 5}, seed=5)


CHANGES = [
    (with_another_result, "the goals are"),
    (with_another_move, "is not legal"),
    (of_another_player, "another players than"),
    (of_another_game, "another rules than"),
    (of_another_seed, "another settings than"),
    (unreadable, "cannot be read"),
]


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> tuple[TournamentPlan, Any, list[Any]]:
    """A plan, and what its tournament comes to when nobody lies."""
    plan = a_plan(players=["legal", "random"], rounds=4, seed=3)
    return plan, *played(tmp_path_factory.mktemp("honest"), plan)


@pytest.mark.parametrize(
    ("change", "finding"),
    [*CHANGES[:3], *(pytest.param(*case, marks=pytest.mark.slow) for case in CHANGES[3:])],
)
def test_whatever_a_worker_sent_counted(
    change: Any, finding: str, honest: tuple[TournamentPlan, Any, list[Any]], tmp_path: Path
) -> None:
    """A false record is found by the rules; its worker is named, and what it had sent is purged and played again."""
    plan, true, records = honest
    if change is with_another_result:
        assert any(len(set(record.goals.values())) > 1 for record in records)
    with Store(tmp_path / "sent.db") as store, Cluster(change) as executor:
        tournament = Tournament.create(store, plan)
        results = tournament.run(executor)
        assert results.table == true.table
        assert moves_of([store.load(name) for name in store.ids()]) == moves_of(records)
        assert list(tournament.false_workers) == ["host1/7"]
        assert finding in tournament.false_workers["host1/7"]
        by_name = {worker.name: worker for worker in workers(store)}
        assert set(by_name["host0/7"].matches) == set(store.ids())
        assert by_name["host0/7"].purged == ()
        assert by_name["host1/7"].matches == ()
        assert len(by_name["host1/7"].purged) == executor.sent["host1/7"]
        assert store.findings() == []
    assert all(not found.findings for found in Verifier().verify_database(tmp_path / "sent.db"))


def test_a_tournament_whose_workers_all_lie_ends_and_can_be_resumed(tmp_path: Path) -> None:
    """Its matches have no result, for a reason that names the worker; resumed with honest ones they have."""
    plan = a_plan(players=["legal", "random"], seed=3)
    true, _ = played(tmp_path, plan)

    class Liars(Cluster):
        def submit(self, fn: Any, /, *args: Any, **options: Any) -> Future[Any]:
            def work(job: MatchJob) -> Played:
                record = fn(job)
                return dataclasses.replace(record, worker="liar/1", record=of_another_player(record.record))

            return ThreadPoolExecutor.submit(self, work, *args, **options)

    with Store(tmp_path / "liars.db") as store:
        tournament = Tournament.create(store, plan)
        with Liars(None) as executor:
            results = tournament.run(executor)
        assert len(results.unsettled) == results.matches
        assert "worker `liar/1` sent a false record" in results.unsettled[0]["reason"]
        with ThreadPoolExecutor(1) as honest:
            assert Tournament(store, plan.name).run(honest).table == true.table


def test_results_of_a_worker_can_be_purged_and_are_played_again(tmp_path: Path) -> None:
    """Ratings are as if they had never been; the records are kept apart, and everything still verifies."""
    plan = a_plan(players=["legal", "random"], rounds=2, seed=3)
    path = tmp_path / "t.db"
    with Store(path) as store, Cluster(None, after=99) as executor:
        whole = Tournament.create(store, plan).run(executor)
        kept, lost = (set(worker.matches) for worker in workers(store))
        texts = {name: json.loads(json.dumps(write_document(store.load(name)))) for name in lost}
    assert len(kept) == len(lost) == 2
    code, out = run("record", "workers", str(path))
    assert code == 0
    assert re.findall(r"(host\d/7)\s+(\d)\s+(\d)", out) == [("host0/7", "2", "0"), ("host1/7", "2", "0")]
    assert run("record", "purge", str(path), "--worker", "host")[0] == 1  # a part of a name is none
    assert run("record", "purge", str(path), "--worker", "nobody")[0] == 1
    code, out = run("record", "purge", str(path), "--worker", "host1", "--reason", "it was slow")
    assert (code, out.strip()) == (0, "purged 2 matches of host1")
    assert [found.findings for found in Verifier().verify_database(path)] == [[], []]
    code, out = run("record", "workers", str(path), "--json")
    assert json.loads(out)[1] == {
        "name": "host1/7",
        "matches": [],
        "purged": [[name, "it was slow"] for name in sorted(lost)],
    }
    with Store(path) as store:
        assert set(store.ids()) == kept
        rows = store.query("SELECT match, record FROM purged")
        assert {name: json.loads(text) for name, text in rows} == texts
        tournament = Tournament(store, plan.name)
        assert tournament.results().played == 2
        assert not tournament.is_over
        store.connection.execute("UPDATE purged SET record = '{}'")
        assert "does not match its digest" in store.findings()[0]
        with ThreadPoolExecutor(1) as executor:
            assert tournament.run(executor).table == whole.table
        assert len(store.ids()) == 4


def test_matches_of_local_workers_say_who_played_them(tmp_path: Path) -> None:
    """Host and process, also where workers write to the database themselves."""
    played(tmp_path, a_plan(players=["legal", "random"]))
    with Store(tmp_path / "t.db", write=False) as store:
        (worker,) = workers(store)
        assert worker.name.startswith(f"{socket.gethostname()}/")
        assert worker.matches == tuple(store.ids())


def test_a_player_that_cannot_be_reached_is_replaced(tmp_path: Path) -> None:
    """A match with a remote player where nobody listens is played to its end."""
    results, records = played(tmp_path, a_plan(players=["random", "away=1"], start_clock=1, play_clock=1))
    assert {problem.kind for record in records for problem in record.problems} == {"connection"}
    assert [record.status for record in records] == ["completed"] * results.matches
    lost, _ = played(
        tmp_path,
        a_plan(players=["random", "away=1"], start_clock=1, play_clock=1, substitute="forfeit"),
        "forfeit.db",
    )
    assert [(row["player"], row["wins"], row["losses"]) for row in lost.table] == [
        ("random", 2, 0),
        ("away", 0, 2),
    ]


def test_lost_matches_are_given_out_again_and_nothing_counts_twice(tmp_path: Path) -> None:
    """Each match fails twice and is then played twice; the table is as if nothing had happened."""
    plan = a_plan(seed=3)
    results, records = played(tmp_path, plan)
    for shared in (True, False):
        with Store(tmp_path / f"odd{shared}.db") as store, Odd(2) as executor:
            tournament = Tournament.create(store, plan)
            assert tournament.run(executor, shared=shared).table == results.table
            assert len(executor.done) == 3 * results.matches
            assert moves_of([store.load(name) for name in store.ids()]) == moves_of(records)
            assert tournament.is_over
            executor.done.clear()
            assert tournament.run(executor, shared=shared).table == results.table
            assert executor.done == []
    with Store(tmp_path / "never.db") as store, Odd(99) as executor:
        results = Tournament.create(store, a_plan(players=["legal", "random"])).run(executor)
    assert len(results.unsettled) == results.matches == results.played
    assert "the worker was lost" in results.unsettled[0]["reason"]
    assert [row["elo"] for row in results.table] == [1500.0, 1500.0]


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc").is_dir(), reason="workers are found by ps of Linux")
def test_a_killed_worker_loses_nothing(tmp_path: Path) -> None:
    """kill -9 for a worker process in the middle: its match is resumed by another, each pairing has one match."""
    plan = a_plan({"ticTacToe": herbrand.load("ticTacToe")}, players=["legal", "greedy", "random"], rounds=2)
    killed = 0
    with Store(tmp_path / "t.db") as store:
        tournament = Tournament.create(store, plan)

        def listen(game: str, leg: Leg, over: int, known: int) -> None:
            nonlocal killed
            if over == 3:
                text = subprocess.run(
                    ["ps", "-o", "pid=", "--ppid", str(os.getpid())],
                    capture_output=True,
                    text=True,
                    check=False,
                ).stdout
                for pid in map(int, text.split()):
                    command = subprocess.run(
                        ["ps", "-ww", "-o", "args=", "-p", str(pid)],
                        capture_output=True,
                        text=True,
                        check=False,
                    )
                    if "spawn_main" in command.stdout:
                        with suppress(ProcessLookupError):  # one of an earlier test, that ended meanwhile
                            os.kill(pid, signal.SIGKILL)
                            killed += 1

        results = tournament.run(workers=2, listener=listen)
        assert killed  # one worker may have had nothing to do
        assert results.played == results.matches == 12
        assert results.unsettled == []
        assert len(store.ids()) == 12
        assert len({leg.match for meeting in tournament.meetings() for leg in meeting.legs}) == 12
        for name in store.ids():
            assert Verifier().verify(store.load(name)) == []


def test_the_executor_of_dask_plays_the_same(tmp_path: Path) -> None:
    """`Client.get_executor()` of a cluster of threads."""
    distributed = pytest.importorskip("distributed")
    plan = a_plan(seed=3, rounds=2)
    expected, records = played(tmp_path, plan)
    with (
        distributed.Client(
            processes=False, n_workers=1, threads_per_worker=2, dashboard_address=None
        ) as client,
        Store(tmp_path / "dask.db") as store,
    ):
        results = Tournament.create(store, plan).run(client.get_executor())
        assert results.table == expected.table
        assert moves_of([store.load(name) for name in store.ids()]) == moves_of(records)


@pytest.mark.slow
def test_a_cluster_of_dask_whose_worker_is_killed_loses_nothing(tmp_path: Path) -> None:
    """The same on `Client.get_executor()` of a LocalCluster."""
    distributed = pytest.importorskip("distributed")
    plan = a_plan(seed=3, rounds=2)
    expected, records = played(tmp_path, plan)
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
        Store(tmp_path / "dask.db") as store,
    ):
        killed = []

        def listen(game: str, leg: Leg, over: int, known: int) -> None:
            if over == 3:
                pid = next(iter(client.run(os.getpid).values()))
                os.kill(pid, signal.SIGKILL)
                killed.append(pid)

        results = Tournament.create(store, plan).run(client.get_executor(), listener=listen)
        assert killed
        assert results.table == expected.table
        assert moves_of([store.load(name) for name in store.ids()]) == moves_of(records)


# -- the command -------------------------------------------------------------------------------------


def run(*words: str) -> tuple[int, str]:
    """Exit code and output of a command."""
    outcome = CliRunner().invoke(cli, words, catch_exceptions=False)
    return outcome.exit_code, outcome.output


def test_the_command_is_killed_and_resumed(tmp_path: Path) -> None:
    """kill -9 for the tournament and all that it started; `--resume` plays the rest; the database verifies."""
    path = tmp_path / "t.db"
    words = [
        "ticTacToe",
        "rockPaperScissors",
        "--player",
        "legal",
        "--player",
        "greedy",
        "--player",
        "random",
    ]
    clocks = [
        "--rounds",
        "2",
        "--start-clock",
        "5",
        "--play-clock",
        "2",
        "--workers",
        "1",
        "--record",
        str(path),
    ]
    with subprocess.Popen(
        [sys.executable, "-m", "herbrand", "tournament", *words, *clocks], stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr is not None
        for _ in range(5):
            line = process.stderr.readline()
        assert line.startswith(" 5 of 12"), line
        started = psutil.Process(process.pid).children(recursive=True)
        process.kill()
    assert started
    assert psutil.wait_procs(started, timeout=60)[1] == []  # the worker leaves with it
    code, output = run("tournament", "--record", str(path))
    before = int(re.findall(r"(\d+) of 12 matches played", output)[0])
    assert 5 <= before < 12
    drawn = ["--html", str(tmp_path / "t.html"), "--plot", str(tmp_path / "t.svg")]
    code, output = run("tournament", "--record", str(path), "--resume", *drawn)
    assert code == 0, output
    assert len(re.findall(r"^(ticTacToe|rockPaperScissors) .* – ", output, re.MULTILINE)) == 6
    assert "24 of 24 matches played" in output
    assert run("record", "verify", str(path))[1].startswith("ok: 24 matches")
    results = json.loads(run("tournament", "--record", str(path), "--json")[1])
    assert [row["games"] for row in results["table"]] == [16] * 3
    assert sum(row["score"] for row in results["table"]) == 24
    for svg in re.findall(r"<svg.*?</svg>", (tmp_path / "t.html").read_text(encoding="utf-8"), re.DOTALL):
        ET.fromstring(svg)
    shown = ET.parse(tmp_path / "t.svg").getroot()
    assert [text.text for text in shown.iter() if text.get("text-anchor") == "end"] == [
        row["player"] for row in results["table"]
    ]


def test_the_command_refuses_what_cannot_be_held(tmp_path: Path) -> None:
    """No games, one player, an unknown one, a tournament that is not there, a name that is taken."""
    path = str(tmp_path / "t.db")
    assert run("tournament")[0] == 2
    assert run("tournament", "nim", "--player", "random")[0] == 2
    code, output = run("tournament", "nim", "--player", "random", "--player", "randm")
    assert (code, "did you mean `random`" in output) == (2, True)
    assert run("tournament", "--record", path)[0] == 1
    words = ["rockPaperScissors", "--player", "legal", "--player", "random", "--start-clock", "5"]
    code, output = run("tournament", *words, "--record", path, "--name", "t", "--workers", "1")
    assert code == 0
    assert "head to head" in output
    code, output = run("tournament", *words, "--record", path, "--name", "t")
    assert (code, "already" in output) == (1, True)
    assert run("tournament", "--record", path, "--name", "u")[0] == 1
    assert run("tournament", *words, "--record", path, "--resume")[0] == 2


def test_pages_hold_names_that_look_like_html() -> None:
    """Names are escaped, and an empty tournament has a page too."""
    plan = a_plan(players=["<b>=random", "&=legal"], name="<script>")
    text = page(summarise(plan, []))
    assert "<script>" not in text
    assert "&lt;b&gt;" in text


def test_a_database_without_tournaments_gets_them(tmp_path: Path) -> None:
    """One made before tournaments were there is brought up to date, and keeps its matches."""
    import contextlib
    import sqlite3

    from herbrand.match.records.schema import APPLICATION

    path = tmp_path / "old.db"
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA application_id = {APPLICATION}")
        connection.execute(
            "CREATE TABLE migration (version INTEGER PRIMARY KEY, what TEXT NOT NULL, applied REAL NOT NULL)"
        )
        connection.executescript(MIGRATIONS[0][1])
        connection.execute("INSERT INTO migration VALUES (1, 'matches', 0)")
        connection.execute("INSERT INTO rulesheet VALUES ('h', '(role a)')")
        connection.commit()
    with Store(path) as store:
        assert Tournament.names(store) == []
        assert store.connection.execute("SELECT hash FROM rulesheet").fetchall() == [("h",)]
        rows = store.connection.execute("SELECT version FROM migration ORDER BY version").fetchall()
    assert rows == [(number + 1,) for number in range(len(MIGRATIONS))]
