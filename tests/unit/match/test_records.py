"""Records of matches: written as they go, resumed, verified, exported, signed."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import sqlite3
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

import herbrand
from herbrand.cli.main import cli
from herbrand.match.protocol.manager import Manager, MatchSettings, Past, Problem, seats_for
from herbrand.match.protocol.seats import LocalSeat, RemoteSeat
from herbrand.match.protocol.server import PlayerServer
from herbrand.match.records import MatchRecord, RecordError, Store
from herbrand.match.records.document import read_document, write_document
from herbrand.match.records.ggpbase import read_ggpbase, replayed, write_ggpbase
from herbrand.match.records.recorder import Recorder
from herbrand.match.records.resume import manager_for, past_of
from herbrand.match.records.schema import VERSION
from herbrand.match.records.verifier import Verifier
from herbrand.play import Player, make_player
from herbrand.play.annotate import annotate

if TYPE_CHECKING:
    from collections.abc import Iterator

    from herbrand.machine.moves import Move
    from herbrand.machine.state import State
    from herbrand.match.protocol.events import Event

FAST = MatchSettings(start_clock=20, play_clock=10, seed=4)


class Blunderer(Player):
    """Answers what is not legal, every other time."""

    def select(self, state: State, play_clock: float) -> Move:
        from herbrand.machine.moves import Move

        self.turn = getattr(self, "turn", 0) + 1
        return Move("(mark 9 9)") if self.turn % 2 else self.options(state)[0]


def played(name: str, store: Store, match: str = "m.1", **options: Any) -> MatchRecord:
    """A match of random players, recorded."""
    game = herbrand.load(name)
    manager = Manager(game, FAST, listener=Recorder(store), scramble=options.pop("scramble", None))
    seats = [LocalSeat(make_player("random", seed=n), name="random") for n in range(len(game.players))]
    asyncio.run(manager.play(seats_for(game, seats), match_id=match, **options))
    return store.load(match)


def run(*words: str) -> tuple[int, str]:
    """Exit code and output of a command."""
    outcome = CliRunner().invoke(cli, words, catch_exceptions=False)
    return outcome.exit_code, outcome.output


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path / "matches.db") as opened:
        yield opened


@pytest.mark.parametrize("name", ["ticTacToe", "rockPaperScissors", "kuhn", "montyHall", "eightPuzzle"])
@pytest.mark.parametrize("scramble", [None, 7])
def test_a_recorded_match_is_whole_and_verifies(store: Store, name: str, scramble: int | None) -> None:
    """Perfect and hidden information, chance, one role; under other names too."""
    if name == "eightPuzzle" and scramble is not None:
        pytest.skip("long, and nothing new")
    record = played(name, store, scramble=scramble)
    assert record.status == "completed"
    assert record.goals is not None
    assert replayed(record)[-1].goals == record.goals
    assert Verifier().verify(record) == []
    kinds = [message.kind for message in record.messages]
    players = len(record.players)
    assert kinds.count("START") == kinds.count("STOP") == players
    assert kinds.count("PLAY") == players * len(record.moves)
    assert all(message.reply is not None and message.seconds >= 0 for message in record.messages)
    assert (record.names is not None) == (scramble is not None)
    if herbrand.load(name).has_percepts:
        assert len(record.percepts) == len(record.moves)


def test_everything_is_there_after_each_event(tmp_path: Path) -> None:
    """Another connection sees each step as soon as it is made: nothing waits in the program."""
    path = tmp_path / "matches.db"
    game = herbrand.load("rockPaperScissors")
    with Store(path) as store:
        recorder = Recorder(store)

        def listen(event: Event) -> None:
            recorder(event)
            with contextlib.closing(sqlite3.connect(path)) as other:
                steps = other.execute("SELECT count(*) FROM step").fetchone()[0]
                messages = other.execute("SELECT count(*) FROM message").fetchone()[0]
            counted[event.kind] = counted.get(event.kind, 0) + 1
            assert steps == counted.get("step", 0)
            assert messages == counted.get("exchange", 0)

        counted: dict[str, int] = {}
        seats = [LocalSeat(make_player("random", seed=n), name="r") for n in range(2)]
        asyncio.run(Manager(game, FAST, listener=listen).play(seats_for(game, seats)))
    assert counted["step"] >= 1


CHANGES = {
    "a move": ("UPDATE move SET move = '(mark 9 9)' WHERE step = 3 AND place = 0", "is not legal"),
    "a legal move": ("UPDATE move SET move = '(mark 2 3)' WHERE step = 1 AND place = 0", "answered"),
    "a goal": ("UPDATE seat SET goal = 50", "the goals are"),
    "the end": ("UPDATE match SET status = 'cut', reason = 'max-steps'", "did not end after"),
    "the last step": ("DELETE FROM step WHERE step = (SELECT max(step) FROM step)", "not over"),
    "an answer": (
        "UPDATE message SET reply = 'noop' WHERE kind = 'PLAY' AND step = 0",
        "no problem is recorded",
    ),
    "no answer": ("DELETE FROM message WHERE kind = 'PLAY' AND step = 0", "no answer or problem"),
    "the rules": ("UPDATE rulesheet SET text = replace(text, '100', '90')", "the goals are"),
    "faulty rules": ("UPDATE rulesheet SET text = '(role a)'", "not playable"),
    "the text of the rules": ("UPDATE rulesheet SET text = text || ' '", "do not match their hash"),
    "the clock": ("UPDATE step SET time = time - 100000 WHERE step = 2", "times are not in order"),
    "the time of the end": ("UPDATE match SET ended = 99", "times are not in order"),
    "the clocks": ("UPDATE match SET play_clock = 99", "differ from the settings"),
    "why it ended": ("UPDATE match SET reason = 'forfeit xplayer'", "not `terminal`"),
    "why it was cut off": ("UPDATE match SET status = 'cut', reason = 'rain'", "unknown reason `rain`"),
    "that it is over": ("UPDATE match SET status = 'running'", "there are goals"),
    "the names": ("UPDATE match SET scramble = '7'", "do not follow from the seed"),
    "all messages": ("DELETE FROM message", "no answer or problem"),
}


@pytest.fixture(scope="module")
def one_match(tmp_path_factory: pytest.TempPathFactory) -> MatchRecord:
    """A match of tic-tac-toe, for all kinds of tampering."""
    with Store(tmp_path_factory.mktemp("one") / "matches.db") as store:
        return played("ticTacToe", store)


@pytest.mark.parametrize("change", CHANGES)
def test_what_was_changed_is_found(store: Store, change: str, one_match: MatchRecord) -> None:
    """The verifier sees every kind of tampering."""
    store.save(one_match)
    statement, said = CHANGES[change]
    store.connection.execute(statement)
    found = [str(finding) for finding in Verifier().verify(store.load("m.1"))]
    assert any(said in text for text in found), found


def end(record: MatchRecord, status: str, reason: str, **others: Any) -> MatchRecord:
    """The record with another end."""
    return replace(record, status=status, reason=reason, **others)


def problem(record: MatchRecord, kind: str, played: str | None) -> MatchRecord:
    """The record with a problem of `xplayer` in the first step."""
    return replace(record, problems=[Problem(1, "xplayer", kind, None, "", played)])


FALSE = {
    "roles": (lambda r: replace(r, roles=("x", "o"), players={}), "the roles are xplayer, oplayer, not x, o"),
    "players": (lambda r: replace(r, players={"xplayer": "a"}), "the players are not for xplayer, oplayer"),
    "times": (lambda r: replace(r, step_times=[]), "the numbers of steps and of times differ"),
    "states": (lambda r: replace(r, states=[]), "the record has 0 states"),
    "a step too many": (lambda r: replace(r, moves=[*r.moves, ("noop", "noop")]), "played after the end"),
    "a substitute": (lambda r: problem(r, "timeout", "noop"), "but `noop` is recorded as the substitute"),
    "a legal answer": (lambda r: problem(r, "illegal", r.moves[0][0]), "was legal, but was replaced"),
    "a step without goals": (lambda r: replace(r, goals=None), "the goals are"),
    "no move": (
        lambda r: end(r, "cut", "no-move xplayer", moves=r.moves[:1], goals=None),
        "xplayer had a legal move at the end",
    ),
    "a forfeit": (
        lambda r: end(r, "cut", "forfeit xplayer", moves=r.moves[:1], goals=None),
        "no problem is recorded for the forfeit of xplayer",
    ),
    "a signature": (
        lambda r: replace(r, signature={"algorithm": "none"}),
        "invalid signature",
    ),
}  # fmt: skip
"""Records that are false, and what the verifier says about them."""


@pytest.mark.parametrize("name", FALSE)
def test_a_false_record_is_found_out(name: str, one_match: MatchRecord) -> None:
    """The verifier derives from the rules what a record claims."""
    change, said = FALSE[name]
    assert any(said in str(finding) for finding in Verifier().verify(change(one_match)))


def test_a_match_that_a_player_forfeited_verifies(one_match: MatchRecord) -> None:
    """The problem in the step after the last one gives the reason."""
    last = Problem(2, "oplayer", "timeout", None, "", None)
    cut = end(one_match, "cut", "forfeit oplayer", moves=one_match.moves[:1], goals=None, problems=[last])
    cut.settings = {**cut.settings, "substitute": "forfeit"}
    said = [str(finding) for finding in Verifier().verify(cut) if "forfeit" in str(finding)]
    assert said == []


REFUSED = {
    "over": ({"status": "cut", "reason": "max-steps"}, "match `m.1` is over (max-steps)"),
    "foreign": ({"status": "running", "origin": "ggp-base"}, "match `m.1` was not managed by herbrand"),
    "changed": (
        {"status": "running", "claimed_hash": "ab"},
        "the rules of match `m.1` do not match their hash",
    ),
    "renamed": (
        {"status": "running", "scramble": 3, "names": {}},
        "match `m.1` was scrambled by another version of herbrand",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_only_an_unfinished_match_of_our_own_is_resumed(name: str, one_match: MatchRecord) -> None:
    """Whatever else is refused with the reason."""
    changes, said = REFUSED[name]
    with pytest.raises(RecordError, match=re.escape(said)):
        manager_for(replace(one_match, **changes))


def test_a_running_match_is_not_signed(one_match: MatchRecord, tmp_path: Path) -> None:
    """Nor is anything signed with a key of another kind."""
    pytest.importorskip("cryptography")
    from cryptography.hazmat.primitives.asymmetric import x25519
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

    from herbrand.match.keys import InvalidKey, PrivateKey, make_key
    from herbrand.match.records.signing import sign

    key, other = tmp_path / "key.pem", tmp_path / "other.pem"
    assert make_key(key) == PrivateKey(key).public == sign(one_match, key)["public_key"]
    with pytest.raises(RecordError, match="is running and cannot be signed yet"):
        sign(replace(one_match, status="running"), key)
    private = x25519.X25519PrivateKey.generate()
    other.write_bytes(private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    with pytest.raises(InvalidKey, match="is not an Ed25519 key"):
        sign(one_match, other)


def test_problems_and_signatures_are_stored_and_exported(store: Store, one_match: MatchRecord) -> None:
    """In the format of ggp-base a problem is a code; one behind the last state is left out."""
    steps = len(one_match.moves)
    problems = [
        Problem(0, "oplayer", "timeout", None, "", None),
        Problem(1, "xplayer", "illegal", "(mark 9 9)", "", one_match.moves[0][0]),
        Problem(2, "oplayer", "unreadable", None, "", one_match.moves[1][1]),
        Problem(3, "xplayer", "connection", None, "", one_match.moves[2][0]),
        Problem(steps + 1, "xplayer", "timeout", None, "", None),
    ]
    signature = {"algorithm": "none", "public_key": "00", "value": "11"}
    store.save(replace(one_match, problems=problems, signature=signature))
    record = store.load("m.1")
    assert record.problems == problems
    assert record.signature == signature
    base = write_ggpbase(record, url="http://games/ticTacToe")
    assert base["gameMetaURL"] == "http://games/ticTacToe"
    assert base["errors"][:4] == [["", "TO"], ["IL (mark 9 9)", ""], ["", "IL"], ["CE", ""]]
    assert not any(any(codes) for codes in base["errors"][4:])
    assert len(base["errors"]) == steps + 1


DAMAGES = {
    "no rules": ("UPDATE match SET rulesheet = 'ab'", "no rules with the hash ab"),
    "no number": ("UPDATE match SET seed = 'x'", "invalid literal"),
    "no JSON": ("UPDATE match SET settings = 'x'", "Expecting value"),
    "no settings": ("UPDATE match SET settings = '{\"a\": 1}'", "invalid settings"),
    "nobody's writing": ("UPDATE match SET origin = 'x'", "unknown origin"),
    "a move too few": ("DELETE FROM move WHERE step = 2 AND place = 1", "one move for each role"),
    "a step too few": ("DELETE FROM step WHERE step = 2", "step 2 is missing"),
    "another role": ("UPDATE seat SET role = 'x' WHERE place = 0", "a message to an unknown role"),
    "no goal": ("UPDATE seat SET goal = 'x'", "a goal is not a number"),
    "no time": ("UPDATE step SET time = 'x'", "a time is not a number"),
}


def test_a_damaged_record_is_said_to_be_one_and_the_others_are_verified(tmp_path: Path) -> None:
    """Whatever stands in the tables: a line about the match, no traceback; the next match is looked at."""
    path = tmp_path / "m.db"
    with Store(path) as store:
        played("ticTacToe", store)
        store.connection.execute("PRAGMA foreign_keys = OFF")
        for statement, said in DAMAGES.values():
            store.connection.execute("BEGIN")
            store.connection.execute(statement)
            with pytest.raises(RecordError, match=said):
                store.load("m.1")
            store.connection.execute("ROLLBACK")
        played("rockPaperScissors", store, "m.2")
        store.connection.execute("UPDATE match SET rulesheet = 'ab' WHERE id = 'm.1'")
    code, output = run("record", "verify", str(path), "--json")
    rows = json.loads(output)
    assert code == 1
    assert [(row["id"], bool(row["findings"])) for row in rows] == [("m.1", True), ("m.2", False)]
    assert "no rules with the hash ab" in rows[0]["findings"][0]["text"]
    code, output = run("record", "verify", str(path), "--id", "m.3")
    assert "no match `m.3`" in output


def test_changed_chance_percepts_and_substitutes_are_found(store: Store) -> None:
    """What chance drew, what was seen and what replaced a bad move are repeated from the seed and the rules."""
    record = played("kuhn", store)
    assert record.percepts
    deal = record.moves[0][2]
    others = [str(move) for move in herbrand.load("kuhn").initial_state().legal_moves("random")]
    other = next(move for move in others if move != deal)
    drawn = replace(record, moves=[(*record.moves[0][:2], other), *record.moves[1:]])
    assert any("the seed draws" in str(finding) for finding in Verifier().verify(drawn))
    seen = replace(record, percepts=[{**record.percepts[0], "first": ("(dealt ace)",)}, *record.percepts[1:]])
    assert any("first did not see" in str(finding) for finding in Verifier().verify(seen))

    game = herbrand.load("ticTacToe")
    seats = [LocalSeat(Blunderer(), name="bad"), LocalSeat(make_player("legal"), name="good")]
    for policy in ("random", "first"):
        manager = Manager(game, replace(FAST, substitute=policy), listener=Recorder(store))
        match = asyncio.run(manager.play(seats_for(game, seats), match_id=f"bad.{policy}"))
        bad = store.load(match.id)
        assert [p.kind for p in bad.problems][:1] == ["unreadable"]
        assert Verifier().verify(bad) == []
        other_policy = replace(
            bad, settings={**bad.settings, "substitute": "first" if policy == "random" else "random"}
        )
        assert any("is replaced by" in str(finding) for finding in Verifier().verify(other_policy))


def test_an_opening_is_prescribed_and_recorded(store: Store) -> None:
    """Players are told the opening, chance included, and go on from there."""
    opening = [["(mark 2 2)", "noop"], ["noop", "(mark 1 1)"]]
    record = played("ticTacToe", store, opening=opening)
    assert [list(joint) for joint in record.moves[:2]] == opening
    assert record.status == "completed"
    assert not record.problems
    assert Verifier().verify(record) == []
    assert [m.counts for m in record.messages if m.kind == "PLAY" and m.step < 2] == [False] * 4
    changed = replace(record, opening=[("(mark 3 3)", "noop"), *record.opening[1:]])
    assert any("the opening" in str(finding) for finding in Verifier().verify(changed))
    with pytest.raises(herbrand.IllegalMoveError, match="`noop` is not legal for xplayer in step 1"):
        played("ticTacToe", store, "m.2", opening=[["noop", "noop"]])
    assert store.load("m.2").status == "aborted"


# -- going on -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["ticTacToe", "kuhn", "montyHall"])
def test_a_match_cut_off_anywhere_goes_on(tmp_path: Path, name: str) -> None:
    """After any step a new manager with new players brings the match to its end; chance is as it would have been."""
    with Store(tmp_path / "whole.db") as store:
        whole = played(name, store)
    game = herbrand.load(name)
    for made in {2, len(whole.moves)} if name == "ticTacToe" else {0, 2}:
        with Store(tmp_path / f"{made}.db") as store:
            part = replace(
                whole,
                status="running",
                reason="running",
                goals=None,
                moves=whole.moves[:made],
                step_times=whole.step_times[:made],
                percepts=whole.percepts[:made],
                messages=[m for m in whole.messages if m.step < made or m.kind == "START"],
            )
            store.save(part)
            manager = manager_for(part, listener=Recorder(store))
            seats = [LocalSeat(make_player("random", seed=9), name="random") for _ in game.players]
            match = asyncio.run(manager.play(seats_for(manager.game, seats), past=past_of(store.load("m.1"))))
            assert match.is_complete
            record = store.load("m.1")
            assert record.moves[:made] == whole.moves[:made]
            assert Verifier().verify(record) == []
            assert [text for _, text in store.remarks("m.1")] == [f"resumed after step {made}"]


@pytest.mark.parametrize("name", ["ticTacToe", "kuhn"])
def test_replaced_moves_after_a_kill_differed_from_those_before(store: Store, name: str) -> None:
    """After any step a resumed match replaces bad moves by those that it would have taken; the count goes on."""
    game = herbrand.load(name)

    def seats() -> dict[str, Any]:
        return seats_for(game, [LocalSeat(Blunderer(), name="bad") for _ in game.players])

    def resume(whole: MatchRecord, made: int) -> list[tuple[str, ...]]:
        part = replace(
            whole,
            status="running",
            goals=None,
            moves=whole.moves[:made],
            problems=[problem for problem in whole.problems if problem.step <= made],
            messages=[message for message in whole.messages if message.step < made],
        )
        return asyncio.run(manager_for(part).play(seats(), past=past_of(part))).moves

    settings = replace(FAST, substitute="random")
    for limit in (None, 2):
        manager = Manager(game, replace(settings, forfeit_after=limit), listener=Recorder(store))
        asyncio.run(manager.play(seats(), match_id=f"m.{limit}"))
        whole = store.load(f"m.{limit}")
        forfeits = limit is not None and name == "ticTacToe"  # the other game is too short for that
        assert (whole.status == "cut") == forfeits
        for made in range(0, len(whole.moves), 2):  # the players make every second move well
            assert resume(whole, made) == whole.moves


@pytest.mark.parametrize("answered", [False, True])
def test_remote_players_go_on_and_those_that_forgot_are_told_everything(answered: bool) -> None:
    """One player still knows the match, the other was started anew: both play on, without a problem.

    So they do if both had answered already when the manager was killed, and are only asked for the next step.
    """
    game = herbrand.load("ticTacToe")
    before = (("(mark 2 2)", "noop"), ("noop", "(mark 1 1)"), ("(mark 1 2)", "noop"))
    odd: list[Event] = []

    async def go() -> None:
        first = PlayerServer(lambda: make_player("legal"), port=0, listener=odd.append)
        second = PlayerServer(lambda: make_player("legal"), port=0, listener=odd.append)
        async with first, second:
            manager = Manager(game, FAST)
            known = RemoteSeat("127.0.0.1", first.port)
            from herbrand.match.protocol.messages import PlayMessage, StartMessage

            start = StartMessage("m.1", "xplayer", manager.rules, 20, 10)
            assert (await known.ask(start, seconds=20)).reply == "ready"
            for joint in (None, *(before if answered else before[:2])):
                assert (await known.ask(PlayMessage("m.1", joint), seconds=20)).problem is None
            events: list[Event] = []
            manager.listener = events.append
            seats = seats_for(game, [known, RemoteSeat("127.0.0.1", second.port)])
            replies = {"xplayer": "noop", "oplayer": "(mark 1 3)"} if answered else {}
            match = await manager.play(seats, past=Past("m.1", before, replies=replies))
            assert match.is_complete
            assert not match.problems
            assert match.moves[:3] == list(before)
            starts = [e.data["role"] for e in events if e.kind == "exchange" and e.data["message"] == "START"]
            assert starts == ["oplayer"]
            assert first.is_free
            assert second.is_free

    asyncio.run(go())
    assert not [event for event in odd if event.kind in ("odd", "late", "refused")]


def test_answers_that_had_come_are_not_asked_for_again() -> None:
    """The reply of the faster player counts, although its manager was killed before the step was made."""
    game = herbrand.load("rockPaperScissors")
    asked: list[str] = []

    class Noting(LocalSeat):
        async def ask(self, message: Any, *, seconds: float) -> Any:
            asked.append(f"{self.name} {type(message).__name__}")
            return await super().ask(message, seconds=seconds)

    seats = [Noting(make_player("legal"), name=name) for name in ("a", "b")]
    past = Past("m.1", (), replies={"left": "(show scissors)"})
    match = asyncio.run(Manager(game, FAST).play(seats_for(game, seats), past=past))
    assert match.moves[0][0] == "(show scissors)"
    assert asked[0] == "b PlayMessage"


def test_two_managers_cannot_go_on_with_the_same_match(store: Store) -> None:
    """The one that comes later finds more steps than it knows of, and stops without writing."""
    record = played("ticTacToe", store)
    store.end(store.number("m.1"), "running", "running", None, None)
    manager = manager_for(replace(record, status="running"), listener=Recorder(store))
    seats = [LocalSeat(make_player("random"), name="r") for _ in range(2)]
    with pytest.raises(RecordError, match="resumed elsewhere"):
        asyncio.run(manager.play(seats_for(manager.game, seats), past=Past("m.1", tuple(record.moves[:2]))))
    assert store.load("m.1").moves == record.moves


@pytest.mark.slow
def test_a_killed_manager_is_resumed_by_the_command(tmp_path: Path, player_process: Any) -> None:
    """kill -9 in the middle of a match: the record has all steps, and `match --resume` ends it; it verifies."""
    path = tmp_path / "m.db"
    with player_process("legal") as (port, _, _):
        seats = ["--player", f"127.0.0.1:{port}", "--player", "montecarlo"]
        words = [*seats, "--play-clock", "1", "--start-clock", "10", "--record", str(path), "--id", "killed"]
        manager = subprocess.Popen(
            [sys.executable, "-m", "herbrand", "match", "ticTacToe", *words], stdout=subprocess.PIPE
        )
        assert manager.stdout is not None
        lines = [manager.stdout.readline() for _ in range(3)]
        assert lines[2].startswith(b"  2"), lines
        manager.kill()
        manager.wait()
        manager.stdout.close()
        with Store(path, create=False) as store:
            before = store.load("killed")
        assert before.status == "running"
        assert len(before.moves) >= 2
        assert Verifier().verify(before) == []
        code, output = run("match", "--resume", "--record", str(path))
        assert code == 0, output
        assert f"resumed after {len(before.moves)} steps" in output
        with Store(path, create=False) as store:
            after = store.load("killed")
        assert after.status == "completed"
        assert after.moves[: len(before.moves)] == before.moves
        assert run("record", "verify", str(path)) == (0, f"ok: 1 match, {len(after.moves)} steps\n")
        code, output = run("match", "--resume", "--record", str(path))
        assert code == 1
        assert "no interrupted match" in output
        code, output = run("match", "--resume", "--record", str(path), "--id", "killed")
        assert (code, "is over" in output) == (1, True)


# -- documents ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["ticTacToe", "kuhn"])
def test_documents_round_trip_and_keep_to_the_schema(store: Store, name: str) -> None:
    """Database to JSON to database to JSON is the same document; it is one of ggp-base with more keys."""
    record = played(name, store, scramble=3)
    document = json.loads(json.dumps(write_document(record)))
    schema = Path(__file__).parents[3] / "docs" / "reference" / "schemas" / "match.schema.json"
    if schema.is_file():
        pytest.importorskip("jsonschema").validate(document, json.loads(schema.read_text(encoding="utf-8")))
    again = read_document(document)
    assert Verifier().verify(again) == []
    with Store(":memory:") as other:
        other.save(again)
        assert write_document(other.load("m.1")) == document
        with pytest.raises(RecordError, match="already"):
            other.save(again)
    base = write_ggpbase(record)
    assert set(base) <= set(document)
    assert len(base["states"]) == len(base["moves"]) + 1 == len(base["stateTimes"])
    foreign = read_ggpbase(json.loads(json.dumps(base)), herbrand.load(name))
    assert foreign.origin == "ggp-base"
    assert foreign.moves == record.moves
    assert foreign.goals == record.goals
    assert Verifier().verify(foreign) == []


CELLS = " ".join(f"( cell {x} {y} b )" for x in (1, 2, 3) for y in (1, 2, 3))
EMPTY = f"( {CELLS} ( control xplayer ) )"
GGP_BASE: dict[str, Any] = {
    "startTime": 1401234567890.0,
    "randomToken": "a" * 32,
    "matchId": "base.ticTacToe.1401234567890",
    "startClock": 30,
    "playClock": 15,
    "previewClock": -1,
    "gameMetaURL": "http://games.ggp.org/base/games/ticTacToe/v0/",
    "scrambled": False,
    "somethingNew": {"x": 1},
    "isCompleted": False,
    "states": [EMPTY, EMPTY.replace("( cell 2 2 b )", "( CELL 2 2 x )").replace("xplayer", "oplayer")],
    "moves": [["( MARK 2 2 )", "noop"]],
    "stateTimes": [1401234567891, 1401234577891],
    "errors": [["", "TO"], ["IL ( mark 9 9 )", ""]],
}


def test_records_of_ggp_base_are_read_and_checked() -> None:
    """A record as ggp-base writes them, unfinished, with errors: understood; faulty ones are refused or found out."""
    game = herbrand.load("ticTacToe")
    record = read_ggpbase(GGP_BASE, game)
    assert record.moves == [("(mark 2 2)", "noop")]
    assert [(p.step, p.role, p.kind) for p in record.problems] == [
        (0, "oplayer", "timeout"),
        (1, "xplayer", "illegal"),
    ]
    assert record.started == 1401234567.89
    assert Verifier().verify(record) == []
    wrong: Any = {**GGP_BASE, "states": [GGP_BASE["states"][0], GGP_BASE["states"][0]]}
    assert any("is different" in str(f) for f in Verifier().verify(read_ggpbase(wrong, game)))
    done: Any = {**GGP_BASE, "isCompleted": True, "goalValues": [100, 0]}
    assert any("not over" in str(f) for f in Verifier().verify(read_ggpbase(done, game)))
    for bad in ([], {"moves": 3}, {"moves": [["noop"]]}, {"states": ["(("]}, {"moves": [["((", "noop"]]}):
        with pytest.raises(RecordError):
            read_ggpbase(bad if isinstance(bad, list) else {**GGP_BASE, **bad}, game)
    with pytest.raises(RecordError, match="give its game"):
        read_document(GGP_BASE)


def test_faulty_documents_are_refused() -> None:
    """Every damage of a document is an error with a reason, not a traceback."""
    with Store(":memory:") as store:
        document = write_document(played("rockPaperScissors", store))
    verifier = Verifier()
    for key in document:
        if key in (
            "previewClock",
            "isCompleted",
            "isAborted",
            "isPlayerHuman",
            "playerNamesFromHost",
            "scrambled",
        ):
            continue
        for value in (None, 17, "x", [1]):
            damaged = {**document, key: value}
            with contextlib.suppress(RecordError):
                verifier.verify(read_document(damaged))
    with pytest.raises(RecordError, match="hash"):
        read_document({**document, "rulesheet": "(role a)"})
    with pytest.raises(RecordError, match="update herbrand"):
        read_document({**document, "version": 2})
    with pytest.raises(RecordError, match="a match record is a JSON object"):
        read_document([document])


# -- signing --------------------------------------------------------------------------------------


def test_signatures_hold_for_what_was_signed_and_nothing_else(tmp_path: Path) -> None:
    """A signed record verifies, in the database and exported; a change or another key is found."""
    pytest.importorskip("cryptography")
    path, key = tmp_path / "m.db", tmp_path / "key.pem"
    code, public = run("record", "keygen", str(key))
    assert code == 0
    assert key.stat().st_mode & 0o77 == 0
    assert run("record", "keygen", str(key))[0] == 1
    words = ["match", "rockPaperScissors", "--player", "random", "--record", str(path), "--id", "m.1"]
    assert run(*words, "--sign", str(key), "--start-clock", "5")[0] == 0
    assert run("record", "verify", str(path), "--key", public.strip())[0] == 0
    code, output = run("record", "verify", str(path), "--key", "00")
    assert (code, "another key" in output) == (1, True)
    with Store(path) as store:
        document = write_document(store.load("m.1"))
        assert Verifier().verify(read_document(json.loads(json.dumps(document)))) == []
        store.connection.execute("UPDATE seat SET player = 'mcts'")
        found = Verifier().verify(store.load("m.1"))
    assert [str(finding) for finding in found] == ["invalid signature"]
    document["signature"] = None
    unsigned = Verifier(public_key=public.strip()).verify(read_document(document))
    assert [str(finding) for finding in unsigned] == ["not signed"]
    (tmp_path / "no.pem").write_text("nothing")
    assert run("record", "sign", str(path), "--key", str(tmp_path / "no.pem"))[0] == 1


# -- the database -----------------------------------------------------------------------------------


def test_other_files_are_not_taken_for_records(tmp_path: Path) -> None:
    """No database, another's database, a newer one: refused, and left as they are."""
    with pytest.raises(RecordError, match="there is no database"):
        Store(tmp_path / "none.db", create=False)
    with pytest.raises(RecordError, match="cannot open"):
        Store(tmp_path / "none" / "m.db")
    text = tmp_path / "text.db"
    text.write_text("not a database, but long enough to look at")
    with pytest.raises(RecordError, match="cannot use"):
        Store(text)
    foreign = tmp_path / "foreign.db"
    with contextlib.closing(sqlite3.connect(foreign)) as connection:
        connection.execute("CREATE TABLE t (x)")
        connection.commit()
    with pytest.raises(RecordError, match="not a herbrand match database"):
        Store(foreign)
    newer = tmp_path / "newer.db"
    with Store(newer) as store:
        assert store.connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        rows = store.connection.execute("SELECT version FROM migration").fetchall()
        assert [version for (version,) in rows] == list(range(1, VERSION + 1))
        store.connection.execute("INSERT INTO migration VALUES (99, 'from the future', 0)")
    with pytest.raises(RecordError, match="update herbrand"):
        Store(newer)


def test_names_are_taken_once_and_a_broken_store_ends_the_match(store: Store) -> None:
    """A second match of a name is refused before it begins; a match that cannot be recorded is aborted."""
    record = played("rockPaperScissors", store)
    with pytest.raises(RecordError, match="already"):
        played("rockPaperScissors", store)
    assert store.load("m.1") == record
    game = herbrand.load("rockPaperScissors")
    seats = [LocalSeat(make_player("random"), name="r") for _ in range(2)]
    recorder = Recorder(store)

    def listen(event: Event) -> None:
        if event.kind == "step":
            store.connection.execute("DROP TABLE step")
        recorder(event)

    with pytest.raises(RecordError, match="cannot write"):
        asyncio.run(Manager(game, FAST, listener=listen).play(seats_for(game, seats), match_id="m.2"))


def test_the_commands_list_show_export_and_import(tmp_path: Path) -> None:
    """What a person does with a database."""
    path = tmp_path / "m.db"
    for number in (1, 2):
        words = [
            "match",
            "rockPaperScissors",
            "--player",
            "random",
            "--start-clock",
            "5",
            "--seed",
            str(number),
        ]
        assert run(*words, "--record", str(path), "--id", f"m.{number}")[0] == 0
    code, output = run("record", "list", str(path))
    assert code == 0
    assert "random (left)" in output
    assert [row["id"] for row in json.loads(run("record", "list", str(path), "--json")[1])] == ["m.1", "m.2"]
    code, output = run("replay", str(path), "m.1")
    assert code == 0
    assert "the game is over after" in output
    states = json.loads(run("replay", str(path), "--json")[1])
    assert states[0]["moves"] is None
    assert states[-1]["terminal"]
    assert run("replay", str(path), "m.1", "--step", "99")[0] == 2
    code, output = run("replay", str(path), "m.9")
    assert (code, "no match `m.9`" in output) == (1, True)
    folder = tmp_path / "out"
    assert run("record", "export", str(path), "--to", str(folder))[0] == 0
    assert sorted(file.name for file in folder.iterdir()) == ["m.1.json", "m.2.json"]
    other = tmp_path / "other.db"
    assert run("record", "import", str(other), str(folder / "m.1.json"))[1] == "imported 1 match\n"
    code, output = run("record", "import", str(other), str(path))
    assert code == 1
    assert "imported 1 match, skipped 1" in output
    base = tmp_path / "base.json"
    base.write_text(run("record", "export", str(path), "--format", "ggp-base", "--id", "m.2")[1])
    assert run("record", "verify", str(base), "--game", "rockPaperScissors")[0] == 0
    assert run("replay", str(base), "--game", "rockPaperScissors", "--brief")[0] == 0
    code, output = run("record", "verify", str(base), "--game", "ticTacToe")
    assert code == 1
    damaged = json.loads((folder / "m.2.json").read_text(encoding="utf-8"))
    damaged["goals"] = {"left": 1, "right": 2}
    base.write_text(json.dumps([damaged]))
    code, output = run("record", "verify", str(base), "--json")
    assert code == 1
    assert json.loads(output)[0]["findings"]
    code, output = run("record", "import", str(tmp_path / "third.db"), str(base))
    assert (code, "skipped 1" in output) == (1, True)
    base.write_text("{")
    assert run("record", "verify", str(base))[0] == 1


def test_every_table_and_column_is_documented(store: Store) -> None:
    """The page about records names all that is in the database, table by table."""
    page = (Path(__file__).parents[3] / "docs" / "reference" / "records.md").read_text(encoding="utf-8")
    told: dict[str, set[str]] = {}
    table = ""
    for line in page.splitlines():
        cells = line.split("|")
        if len(cells) < 4 or not cells[2].strip().startswith("`"):
            continue
        table = cells[1].strip().strip("`") or table
        told.setdefault(table, set()).update(re.findall(r"`(\w+)`", cells[2]))
    tables = store.connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
    there = {
        name: {row[1] for row in store.connection.execute(f"PRAGMA table_info({name})")} for (name,) in tables
    }
    assert told == there


def test_moves_of_a_record_are_annotated(tmp_path: Path) -> None:
    """In tic-tac-toe a missed win is said to be one, the win itself is the best move, and JSON has both."""
    game = herbrand.load("ticTacToe")
    moves = [
        ("(mark 1 1)", "noop"),
        ("noop", "(mark 2 1)"),
        ("(mark 1 2)", "noop"),
        ("noop", "(mark 2 2)"),
        ("(mark 3 1)", "noop"),  # (mark 1 3) wins
        ("noop", "(mark 2 3)"),
    ]
    thoughts = list(annotate(game, game.initial_state(), moves, clock=0.4))
    assert [(thought.step, thought.role) for thought in thoughts] == [
        (step, game.roles[(step - 1) % 2]) for step in range(1, 7)
    ]
    assert thoughts[4].grade not in ("best", "good", "unknown")
    assert thoughts[4].best is not None
    assert thoughts[4].best.move == "(mark 1 3)"
    assert thoughts[5].grade == "best"
    assert "xplayer (mark 3 1)" in str(thoughts[4])
    with Store(tmp_path / "m.db") as store:
        played("ticTacToe", store)
    code, shown = run("replay", str(tmp_path / "m.db"), "--annotate", "--clock", "0.1", "--brief")
    assert code == 0
    assert shown.count("player (mark") >= 5
    code, shown = run(
        "replay", str(tmp_path / "m.db"), "--annotate", "--clock", "0.1", "--step", "1", "--json"
    )
    assert code == 0
    assert json.loads(shown)[0]["annotations"][0]["step"] == 1
    assert run("replay", str(tmp_path / "m.db"), "--annotate", "--player", "nobody")[0] == 2
