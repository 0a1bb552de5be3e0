"""Damaged databases of records: refused or verified truly, and never written to."""

from __future__ import annotations

import asyncio
import contextlib
import json
import shutil
import sqlite3
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner
from damage import DAMAGES, DamageBench

import herbrand
from herbrand.cli.main import cli
from herbrand.match.protocol.manager import Manager, MatchSettings, seats_for
from herbrand.match.protocol.seats import LocalSeat
from herbrand.match.records import RecordError, Store
from herbrand.match.records.recorder import Recorder
from herbrand.match.records.schema import VERSION
from herbrand.match.records.verifier import Verifier
from herbrand.match.tournament import Tournament
from herbrand.match.tournament.plan import TournamentError
from herbrand.match.tournament.runner import plan_with
from herbrand.play import make_player

if TYPE_CHECKING:
    from pathlib import Path

    from herbrand.match.protocol.events import Event


def run(*words: str) -> tuple[int, str]:
    """Exit code and output of a command; an exception that it does not handle is raised."""
    outcome = CliRunner().invoke(cli, words, catch_exceptions=False)
    return outcome.exit_code, outcome.output


def record(path: Path, *, match: str = "m.1", after: Any = lambda _: None) -> None:
    """Record a match of rock paper scissors; `after` is called after each event."""
    game = herbrand.load("rockPaperScissors")
    with Store(path) as store:
        recorder = Recorder(store)

        def listen(event: Event) -> None:
            recorder(event)
            after(store)

        seats = [LocalSeat(make_player("random", seed=n), name=f"r{n}") for n in range(2)]
        manager = Manager(game, MatchSettings(20, 10, seed=4), listener=listen)
        asyncio.run(manager.play(seats_for(game, seats), match_id=match))


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database with one match."""
    path = tmp_path_factory.mktemp("recorded") / "m.db"
    record(path)
    return path


@pytest.mark.parametrize("times", [1, pytest.param(4, marks=pytest.mark.slow)])
def test_a_damaged_database_is_refused_or_verified_truly(times: int, tmp_path: Path) -> None:
    """Damages of each kind: no exception, no false `ok`, nothing appended to a file that is refused."""
    reports = DamageBench(tmp_path).run(range(times * len(DAMAGES)))
    assert [failure for report in reports for failure in report.failures] == []
    assert sum(report.outcomes["refused"] for report in reports) >= 10 * times
    assert sum(report.outcomes["harmless"] for report in reports) >= 3 * times


def truncate(path: Path) -> None:
    """Lose the end of the file."""
    path.write_bytes(path.read_bytes()[:-5000])


def zero(path: Path) -> None:
    """Lose a page in the middle."""
    data = bytearray(path.read_bytes())
    data[8192:12288] = bytes(4096)
    path.write_bytes(data)


def take_over(path: Path) -> None:
    """Have another program's database there."""
    path.unlink()
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE t (x)")


@pytest.mark.parametrize("damage", [truncate, zero, take_over])
def test_match_record_appended_to_damaged_files(tmp_path: Path, recorded: Path, damage: Any) -> None:
    """A command that would write says what is wrong before it plays, and leaves the file as it is."""
    path = tmp_path / "m.db"
    shutil.copy(recorded, path)
    damage(path)
    before = path.read_bytes()
    players = ["--player", "random", "--player", "legal"]
    for words in (
        ["match", "ticTacToe", *players, "--record", str(path)],
        ["match", "--resume", "--record", str(path)],
        ["tournament", "ticTacToe", *players, "--record", str(path)],
        ["tournament", "--resume", "--record", str(path)],
        ["record", "import", str(path), str(recorded)],
        ["record", "verify", str(path)],
        ["record", "list", str(path)],
        ["record", "export", str(path)],
    ):
        code, output = run(*words)
        assert code == 1, output
        lines = output.splitlines()
        assert any(f"cannot use `{path}`: " in line for line in lines)
        assert len(lines) <= 2, output  # nothing was played
        assert [file.name for file in tmp_path.iterdir()] == ["m.db"]
        assert path.read_bytes() == before


CHANGES = {
    "a time": "UPDATE step SET time = time + 1e-6",
    "a message": "UPDATE message SET notes = '[\"late\"]' WHERE number = 2",
    "a player": "UPDATE seat SET player = 'other'",
    "an invented remark": "INSERT INTO remark VALUES (NULL, 1, 0, 'all was well')",
    "a lost answer": "DELETE FROM message WHERE number = (SELECT max(number) FROM message)",
    "a lost match": "DELETE FROM match",
    "a lost digest": "DELETE FROM digest",
    "the rules of no match": "INSERT INTO rulesheet VALUES ('ab', '(role a)')",
}


@pytest.mark.parametrize("change", CHANGES)
def test_verify_said_ok_to_changed_values(tmp_path: Path, recorded: Path, change: str) -> None:
    """What the rules of the game say nothing about is found by the digest; such a match is not resumed."""
    path = tmp_path / "m.db"
    shutil.copy(recorded, path)
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute(CHANGES[change])
        connection.execute("UPDATE match SET status = status")
        connection.commit()
    code, output = run("record", "verify", str(path))
    assert code == 1, output
    with Store(path) as store, contextlib.suppress(RecordError):
        assert change == "the rules of no match" or store.load_intact("m.1") is None


def test_a_tournament_whose_plan_was_changed_is_refused(tmp_path: Path) -> None:
    """Another seed in the plan or another player in a pairing would give other results."""
    path = tmp_path / "t.db"
    plan = plan_with({"kuhn": herbrand.load("kuhn")}, {"legal": "legal", "random": "random"}, name="small")
    with Store(path) as store:
        Tournament.create(store, plan)
        store.connection.execute("UPDATE tournament SET plan = replace(plan, '\"seed\": 0', '\"seed\": 1')")
        with pytest.raises(TournamentError, match="does not match its digest"):
            Tournament(store, "small")
    code, output = run("record", "verify", str(path))
    assert (code, "tournament `small` does not match its digest" in output) == (1, True)


def remark_twice(store: Store, text: str) -> None:
    """Make two remarks in one transaction."""
    with store.writing():
        store.add_remark(1, "before the failure")
        store.add_remark(1, text)


def test_digests_are_true_after_every_event(tmp_path: Path) -> None:
    """Each transaction leaves the match with the digest of its rows, also when it is signed anew or fails."""
    intact = []
    record(tmp_path / "m.db", after=lambda store: intact.append(store.is_intact("match", 1)))
    assert len(intact) > 5
    assert all(intact)
    with Store(tmp_path / "m.db") as store:
        for value in ("ab", "cd"):
            store.sign("m.1", {"algorithm": "ed25519", "public_key": "00", "value": value})
            assert store.is_intact("match", 1)
        with pytest.raises(RecordError, match="cannot write"):
            remark_twice(store, "\ud800")  # not a text of Unicode
        store.add_remark(1, "after it")
        assert store.is_intact("match", 1)
        assert [text for _, text in store.remarks("m.1")] == ["after it"]


def test_a_database_without_workers_is_verified_as_it_is(tmp_path: Path, recorded: Path) -> None:
    """One that was written before workers were noted has digests that do not cover them."""
    path = tmp_path / "m.db"
    shutil.copy(recorded, path)
    with contextlib.closing(sqlite3.connect(path)) as connection:
        for table in ("worker", "purged"):
            connection.execute(f"DROP TABLE {table}")
        connection.execute("DELETE FROM migration WHERE version >= 4")
        connection.commit()
    before = path.read_bytes()
    assert run("record", "verify", str(path))[0] == 0
    assert run("record", "workers", str(path))[0] == 0
    assert path.read_bytes() == before
    with Store(path) as store:
        assert store.schema_version == VERSION
        assert store.findings() == []
        assert store.is_intact("match", 1)


def test_a_database_without_digests_is_verified_as_it_is_and_says_so(tmp_path: Path, recorded: Path) -> None:
    """Reading does not upgrade a database of an older version; writing does, and adds digests."""
    path = tmp_path / "m.db"
    shutil.copy(recorded, path)
    with contextlib.closing(sqlite3.connect(path)) as connection:
        for table in ("digest", "worker", "purged"):
            connection.execute(f"DROP TABLE {table}")
        connection.execute("DELETE FROM migration WHERE version >= 3")
        connection.commit()
    before = path.read_bytes()
    code, output = run("record", "verify", str(path))
    assert code == 0, output
    assert "1 match recorded before databases had digests" in output
    assert "ok: 1 match" in output
    assert [
        row["digest"]
        for row in json.loads(CliRunner().invoke(cli, ["record", "verify", str(path), "--json"]).stdout)
    ] == [False]
    assert path.read_bytes() == before
    with Store(path) as store:
        assert store.schema_version == VERSION
        assert store.is_intact("match", 1)
    code, output = run("record", "verify", str(path))
    assert "digests" not in output


def test_reading_leaves_what_a_killed_program_left(tmp_path: Path) -> None:
    """A log beside the database is read, and neither copied into it nor removed."""
    path = tmp_path / "m.db"

    def copy(store: Store) -> None:
        if not (tmp_path / "killed.db").exists() and store.query("SELECT 1 FROM step"):
            for suffix in ("", "-wal"):
                shutil.copy(f"{path}{suffix}", tmp_path / f"killed.db{suffix}")

    record(path, after=copy)
    killed = tmp_path / "killed.db"
    before = {suffix: (tmp_path / f"killed.db{suffix}").read_bytes() for suffix in ("", "-wal")}
    assert before["-wal"]
    assert run("record", "verify", str(killed)) == (0, "ok: 1 match, 1 step\n")
    assert {suffix: (tmp_path / f"killed.db{suffix}").read_bytes() for suffix in ("", "-wal")} == before
    with Store(killed) as store:
        assert store.ids(status="running") == ["m.1"]


def test_rules_that_were_damaged_are_not_used_for_a_new_match(tmp_path: Path, recorded: Path) -> None:
    """Matches of one game share its rules: with a damaged text, the next match is refused before it begins."""
    path = tmp_path / "m.db"
    shutil.copy(recorded, path)
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE rulesheet SET text = replace(text, '100', '90')")
        connection.commit()
    with pytest.raises(RecordError, match="are damaged"):
        record(path, match="m.2")
    assert [verification.name for verification in Verifier().verify_database(path)] == [str(path), "m.1"]


def test_a_transaction_that_could_not_be_ended_held_up_all_others(tmp_path: Path, recorded: Path) -> None:
    """After a failed rollback the next transaction is one of its own, and another program sees it."""
    path = tmp_path / "m.db"
    shutil.copy(recorded, path)
    with Store(path) as store:
        store.connection.execute("BEGIN")
        store.ids()
        store.add_remark(1, "later")
        with Store(path, write=False) as other:
            assert [text for _, text in other.remarks("m.1")] == ["later"]
