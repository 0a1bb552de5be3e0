"""Seats whose replies are signed: nobody answers in the place of a player."""

from __future__ import annotations

import asyncio
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

import herbrand
from herbrand.cli.main import cli
from herbrand.errors import MissingExtra
from herbrand.match.keys import InvalidKey, ReplyChecker, is_valid, make_key, reply_headers
from herbrand.match.protocol.http import read_reply, read_request, write_reply, write_request
from herbrand.match.protocol.manager import Manager, MatchSettings, seats_for
from herbrand.match.protocol.messages import InfoMessage
from herbrand.match.protocol.seats import LocalSeat, PlayerAddress, RemoteSeat
from herbrand.match.protocol.server import PlayerServer
from herbrand.match.records import Recorder, Store, Verifier
from herbrand.match.tournament import Tournament, plan_with
from herbrand.play import make_player

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from herbrand.match.protocol.http import Reply
    from herbrand.match.protocol.manager import Match

pytest.importorskip("cryptography")


def server_with(key: Path | None) -> PlayerServer:
    """A player in this process, that signs with a key."""
    return PlayerServer(lambda: make_player("legal"), port=0, key=key, matches=4)


async def with_relay(port: int, change: Callable[[list[Reply], Reply], Reply], work: Any) -> Any:
    """Do work with the port of a program between manager and player, which may change replies."""
    replies: list[Reply] = []

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        request = await read_request(reader, limit=1 << 20)
        to_reader, to_writer = await asyncio.open_connection("127.0.0.1", port)
        names = {"herbrand-challenge": "Herbrand-Challenge"}
        headers = {names[name]: value for name, value in request.headers.items() if name in names}
        to_writer.write(write_request(request.text, host="localhost", receiver="x", headers=headers))
        reply = await read_reply(to_reader, limit=1 << 20)
        to_writer.close()
        answer = change(replies, reply)
        replies.append(reply)
        signature = answer.headers.get("herbrand-signature")
        signed = {} if signature is None else {"Herbrand-Signature": signature}
        writer.write(write_reply(answer.text, headers=signed))
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(connected, "127.0.0.1", 0) as relay:
        return await work(relay.sockets[0].getsockname()[1])


def another_move(_: list[Reply], reply: Reply) -> Reply:
    """Replace a move, and keep the signature."""
    return replace(reply, text="(mark 3 3)") if "mark" in reply.text else reply


def without_signature(_: list[Reply], reply: Reply) -> Reply:
    """Leave the signature out."""
    return replace(reply, headers={})


def an_earlier_reply(replies: list[Reply], reply: Reply) -> Reply:
    """Send a reply of the player to an earlier message, signed as it was."""
    return replies[-1] if "mark" in reply.text else reply


def as_it_is(_: list[Reply], reply: Reply) -> Reply:
    """Change nothing."""
    return reply


async def play(port: int, key: str | None, store: Store | None = None) -> Match:
    """Play tic-tac-toe, with the player at a port as `xplayer`."""
    game = herbrand.load("ticTacToe")
    manager = Manager(game, MatchSettings(start_clock=20, play_clock=20))
    if store is not None:
        manager.listener = Recorder(store)
    seats = [RemoteSeat("127.0.0.1", port, public_key=key), LocalSeat(make_player("legal"), name="o")]
    return await manager.play(seats_for(game, seats))


@pytest.mark.parametrize("change", [another_move, without_signature, an_earlier_reply])
def test_replies_of_others_were_taken_for_those_of_the_player(
    change: Callable[[list[Reply], Reply], Reply], tmp_path: Path
) -> None:
    """A changed, unsigned or repeated reply is refused and recorded, and the record verifies."""
    key = make_key(tmp_path / "key.pem")

    async def run() -> Match:
        async with server_with(tmp_path / "key.pem") as server:
            return await with_relay(server.port, change, lambda port: play(port, key, store))

    with Store(":memory:") as store:
        match = asyncio.run(run())
        record = store.load(match.id)
    assert match.is_complete
    bad = [problem for problem in match.problems if problem.role == "xplayer"]
    assert bad
    assert {problem.kind for problem in bad} == {"unsigned"}
    assert all(problem.reply is None for problem in bad)
    assert all(problem.note.startswith("not signed by the player: `") for problem in bad)
    assert record.problems == match.problems
    assert Verifier().verify(record) == []


@pytest.mark.parametrize(
    ("signs", "required", "bad"),
    [("a", "a", False), (None, None, False), ("a", None, False), (None, "a", True), ("b", "a", True)],
)
def test_a_seat_with_a_key_takes_replies_with_that_key_only(
    signs: str | None, required: str | None, bad: bool, tmp_path: Path
) -> None:
    """Peers without keys play as ever, on either side."""
    keys = {name: make_key(tmp_path / name) for name in "ab"}

    async def run() -> Match:
        async with server_with(None if signs is None else tmp_path / signs) as server:
            public = None if required is None else keys[required]
            return await with_relay(server.port, as_it_is, lambda port: play(port, public))

    match = asyncio.run(run())
    assert match.is_complete
    assert bool(match.problems) == bad


def test_every_message_has_a_challenge_of_its_own(tmp_path: Path) -> None:
    """A signature holds for one challenge, message and reply."""
    make_key(tmp_path / "key.pem")
    server = server_with(tmp_path / "key.pem")
    assert server.key is not None
    one, two = ReplyChecker(server.key.public), ReplyChecker(server.key.public)
    assert one.headers != two.headers
    given = {name.lower(): value for name, value in one.headers.items()}
    headers = reply_headers(server.key, given, "(INFO)", "ready")
    signed = {name.lower(): text for name, text in headers.items()}
    assert one.is_signed(signed, "(INFO)", "ready")
    assert not two.is_signed(signed, "(INFO)", "ready")
    assert not one.is_signed(signed, "(PING)", "ready")
    assert not one.is_signed(signed, "(INFO)", "busy")
    assert not one.is_signed({}, "(INFO)", "ready")
    assert reply_headers(server.key, {}, "(INFO)", "ready") == {}
    wrong = {"herbrand-challenge": "not hexadecimal"}
    assert reply_headers(server.key, wrong, "(INFO)", "ready") == {}
    assert not is_valid("00" * 31, b"", "00" * 64)


def test_addresses_are_read_and_written_with_their_keys() -> None:
    """HOST:PORT#KEY; the name of such a seat has the key, and a wrong key is an error."""
    key = "0123456789abcdef" * 4
    assert PlayerAddress.parse("[::1]:9147") == PlayerAddress("::1", 9147)
    address = PlayerAddress.parse(f"example.org:9147/#{key.upper()}")
    assert address == PlayerAddress("example.org", 9147, "", key)
    assert address.seat().public_key == key
    without = PlayerAddress.parse(f"example.org:9147#{key}")
    assert without is not None
    assert PlayerAddress.parse(without.seat().name) == without
    for text in ("9147#", "9147#abc", f"9147#{key}0"):
        with pytest.raises(InvalidKey, match="is not a public key"):
            PlayerAddress.parse(text)


def test_keys_need_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without `cryptography` a seat with a key says what to install, and none is left unchecked."""
    monkeypatch.setitem(__import__("sys").modules, "cryptography.hazmat.primitives", None)
    with pytest.raises(MissingExtra, match=r"herbrand\[sign\]"):
        RemoteSeat("localhost", 9147, public_key="00" * 32)


def test_tournaments_refuse_replies_without_the_key_of_a_player(tmp_path: Path) -> None:
    """The plan has the key; moves of a stranger at the address are replaced and counted."""
    key, other = make_key(tmp_path / "key.pem"), make_key(tmp_path / "other.pem")

    async def stranger_and_player() -> list[Any]:
        async with server_with(tmp_path / "key.pem") as honest, server_with(tmp_path / "other.pem") as false:
            players = {
                "honest": f"127.0.0.1:{honest.port}#{key}",
                "stranger": f"127.0.0.1:{false.port}#{key}",
            }
            games = {"rockPaperScissors": herbrand.load("rockPaperScissors")}
            plan = plan_with(games, players, name="t", start_clock=20, play_clock=20)
            return await asyncio.to_thread(run, plan)

    def run(plan: Any) -> list[Any]:
        from concurrent.futures import ThreadPoolExecutor

        with Store(tmp_path / "t.db") as store, ThreadPoolExecutor(1) as executor:
            return Tournament.create(store, plan).run(executor).table

    rows = {row["player"]: row for row in asyncio.run(stranger_and_player())}
    assert other != key
    assert rows["honest"]["replaced"]["crashed"] == 0
    assert rows["stranger"]["replaced"]["crashed"] > 0


def test_commands_take_keys(tmp_path: Path, player_process: Any) -> None:
    """A player signs with --key; a match needs the public key behind the address."""
    runner = CliRunner()
    made = runner.invoke(cli, ["record", "keygen", str(tmp_path / "key.pem")])
    key = made.stdout.strip()
    assert re.fullmatch("[0-9a-f]{64}", key)
    clocks = ["--start-clock", "20", "--play-clock", "20", "--json"]
    with player_process("legal", "--key", str(tmp_path / "key.pem")) as (port, _, log):
        assert f"replies are signed with the key {key}" in log.read_text(encoding="utf-8")
        options = ["--player", f"localhost:{port}#{key}", "--player", "legal", *clocks]
        result = runner.invoke(cli, ["match", "rockPaperScissors", *options])
    assert result.exit_code == 0, result.output
    assert '"problems": []' in result.stdout
    assert f"localhost:{port}#{key}" in result.stdout  # so that a resumed match needs the key, too
    options = ["--player", f"localhost:{port}#12", "--player", "legal"]
    result = runner.invoke(cli, ["match", "rockPaperScissors", *options])
    assert result.exit_code == 1
    assert "`12` is not a public key of 64 hexadecimal digits" in result.output


def test_info_is_signed_too(tmp_path: Path) -> None:
    """A stranger does not even say that it is available."""
    key = make_key(tmp_path / "key.pem")

    async def run() -> list[str | None]:
        async with server_with(tmp_path / "key.pem") as server, server_with(None) as stranger:
            seats = [RemoteSeat("127.0.0.1", at.port, public_key=key) for at in (server, stranger)]
            return [(await seat.ask(InfoMessage(), seconds=20)).problem for seat in seats]

    assert asyncio.run(run()) == [None, "unsigned"]
