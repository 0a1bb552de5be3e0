"""Matches over the network: honest players, and players and managers that are not."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

import herbrand
import herbrand.match.protocol.host
from herbrand.cli.main import cli
from herbrand.convert.movereader import MoveReader
from herbrand.errors import BudgetExceeded, GameError, IllegalMoveError
from herbrand.machine.moves import Move
from herbrand.match.protocol.gamecache import CachedGame
from herbrand.match.protocol.hosts import ThreadHost
from herbrand.match.protocol.http import write_reply, write_request
from herbrand.match.protocol.manager import (
    Manager,
    Match,
    MatchSettings,
    Past,
    Problem,
    new_match_id,
    seats_for,
)
from herbrand.match.protocol.messages import AbortMessage, PlayMessage, parse
from herbrand.match.protocol.seats import Exchange, LocalSeat, RemoteSeat
from herbrand.match.protocol.server import PlayerServer, margin
from herbrand.match.protocol.view import MatchView
from herbrand.play import Player, make_player

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from herbrand.game import Game
    from herbrand.machine.state import State
    from herbrand.match.protocol.events import Event

FAST = MatchSettings(start_clock=20, play_clock=10)

TURNS = """
(role a) (role b) (init (n 0)) (succ 0 1) (succ 1 2) (succ 2 3)
(input ?r left) (input ?r right)
(<= (input ?r left) (role ?r)) (<= (input ?r right) (role ?r))
(<= (legal ?r left) (role ?r)) (<= (legal ?r right) (role ?r))
(<= (base (n 0))) (<= (base (n ?y)) (succ ?x ?y))
(<= (next (n ?y)) (true (n ?x)) (succ ?x ?y))
(<= terminal (true (n 3)))
(<= (goal ?r 50) (role ?r))
""".replace("(input ?r left) (input ?r right)\n", "")


class Sleeper(Player):
    """Thinks for longer than it may, until it is stopped."""

    def select(self, state: State, play_clock: float) -> Move:
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline and not self.stopped:
            time.sleep(0.01)
        return self.options(state)[0]


class Failing(Player):
    """Fails."""

    def select(self, state: State, play_clock: float) -> Move:
        raise ZeroDivisionError("a bug")


async def send(port: int, data: bytes, *, end: bool = False, seconds: float = 20) -> bytes:
    """Send bytes to a port and return everything that comes back."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(data)
    await writer.drain()
    if end:
        writer.write_eof()
    try:
        async with asyncio.timeout(seconds):
            return await reader.read()
    finally:
        writer.transport.abort()


async def ask(port: int, text: str, seconds: float = 20) -> str:
    """Send a message as ggp-base does and return the body of the answer."""
    answer = await send(port, write_request(text, host="localhost", receiver="ME"), seconds=seconds)
    return answer.partition(b"\r\n\r\n")[2].decode()


def start_message(game: str, match: str, role: str, start: int = 10, play: int = 5) -> str:
    """A START for a bundled game."""
    manager = Manager(herbrand.load(game))
    return f"(START {match} {role} ({manager.rules}) {start} {play})"


# -- matches --------------------------------------------------------------------------------


@pytest.mark.slow_except("rockPaperScissors", "kuhn", "ticTacToeInfix")
@pytest.mark.parametrize("name", ["ticTacToe", "rockPaperScissors", "kuhn", "montyHall", "ticTacToeInfix"])
def test_players_over_the_network_play_a_match_without_problems(name: str) -> None:
    """Perfect and hidden information, turns and simultaneous moves, chance: nothing is late, bad or odd."""
    game = herbrand.load(name)
    odd: list[Event] = []

    def listen(event: Event) -> None:
        if event.kind in ("odd", "late", "refused"):
            odd.append(event)

    async def run() -> Match:
        async with contextlib.AsyncExitStack() as stack:
            servers = [
                await stack.enter_async_context(
                    PlayerServer(lambda: make_player("random", seed=3), port=0, listener=listen)
                )
                for _ in game.players
            ]
            seats = [RemoteSeat("127.0.0.1", server.port) for server in servers]
            manager = Manager(game, FAST)
            assert [info.status for info in await manager.info(seats)] == ["available"] * len(seats)
            match = await manager.play(seats_for(game, seats))
            assert all(server.is_free for server in servers)
            return match

    match = asyncio.run(run())
    assert match.is_complete
    assert not match.problems
    assert not odd
    state = game.initial_state()
    for joint in match.moves:
        state = state.next(joint)
    assert state.is_terminal
    assert match.goals == state.goals
    json.dumps(match.as_json())


def test_local_players_play_and_the_seed_repeats_the_match() -> None:
    """The same seeds give the same moves, chance included."""

    def play() -> Match:
        game = herbrand.load("kuhn")
        seats = [LocalSeat(make_player("random", seed=n), name="random") for n in range(2)]
        return asyncio.run(Manager(game, MatchSettings(seed=5)).play(seats_for(game, seats)))

    first, second = play(), play()
    assert first.moves == second.moves
    assert first.is_complete
    assert first.players == {"first": "random", "second": "random"}


def test_events_tell_the_whole_match() -> None:
    """From the events alone the match can be written down."""
    game = herbrand.load("rockPaperScissors")
    events: list[Event] = []
    manager = Manager(game, FAST, listener=events.append)
    seats = [LocalSeat(make_player("random", seed=n), name="r") for n in range(2)]
    match = asyncio.run(manager.play(seats_for(game, seats), match_id="m.1"))
    kinds = [event.kind for event in events]
    assert kinds[0] == "match"
    assert kinds.count("step") == len(match.moves)
    assert [tuple(event.data["moves"]) for event in events if event.kind == "step"] == match.moves
    end = next(event for event in events if event.kind == "end")
    assert end.data["goals"] == match.goals
    assert {event.match for event in events} == {"m.1"}
    assert herbrand.loads(events[0].data["rules"]).roles == game.roles
    told = [event.data["text"] for event in events if event.data.get("message") == "PLAY"]
    assert [parse(text) for text in told[:2]] == [parse("(PLAY m.1 NIL)")] * 2
    assert len(told) == 2 * len(match.moves)
    json.dumps([event.data for event in events])


def test_what_is_sent_is_one_line_in_one_spelling_without_comments() -> None:
    """A comment would swallow the rest of the line; some players tell upper and lower case apart."""
    text = "(ROLE White) ; a comment (\n(<= (legal white Go) (true (n 0))) (init (N 0)) (<= terminal (true (n 1)))"
    game = herbrand.loads(text + " (<= (next (n 1)) (does White go)) (<= (goal WHITE 100) (true (n 1)))")
    manager = Manager(game, FAST)
    assert "\n" not in manager.rules
    assert ";" not in manager.rules
    names = re.findall(r"white", manager.rules, re.IGNORECASE)
    assert len(set(names)) == 1
    assert names[0] in manager.game.roles
    assert herbrand.loads(manager.rules).initial_state().facts == manager.game.initial_state().facts
    match = asyncio.run(manager.play({"white": LocalSeat(make_player("legal"), name="x")}))
    assert match.is_complete
    assert not match.problems


def test_names_that_kif_cannot_spell_are_renamed_for_the_match() -> None:
    """A Prolog sheet with quoted names is played as it can be sent."""
    text = """role('the player'). init(n(0)). legal('the player', 'go on') :- true(n(0)).
    next(n(1)) :- does('the player', 'go on'). terminal :- true(n(1)). goal('the player', 100) :- true(n(1))."""
    game = herbrand.loads(text, "prolog")
    assert not [d for d in game.diagnostics if d.is_error]
    manager = Manager(game, FAST)
    seats = seats_for(manager.game, [LocalSeat(make_player("legal"), name="x")])
    match = asyncio.run(manager.play(seats))
    assert match.is_complete
    assert list((match.goals or {}).values()) == [100]


@pytest.mark.parametrize("name", ["ticTacToe", "kuhn"])
def test_players_of_a_scrambled_game_do_not_see_its_words(name: str) -> None:
    """Names go out scrambled and come back as they were, here and over the network, percepts too."""
    game = herbrand.load(name)
    heard: list[str] = []

    def listen(event: Event) -> None:
        if event.kind == "request":
            heard.append(event.data["message"] + event.data["reply"])
        assert event.kind not in ("odd", "late", "refused"), event

    async def run() -> Match:
        async with PlayerServer(lambda: make_player("random", seed=2), port=0, listener=listen) as server:
            seats = [
                RemoteSeat("127.0.0.1", server.port),
                LocalSeat(make_player("random", seed=1), name="here"),
            ]
            return await Manager(game, FAST, scramble=7).play(seats_for(game, seats), match_id="m")

    match = asyncio.run(run())
    assert match.is_complete
    assert not match.problems
    state = game.initial_state()
    for joint in match.moves:
        state = state.next(joint)
    assert state.goals == match.goals
    assert heard
    assert not re.search(r"mark|noop|bet|fold|player|dealt|king", " ".join(heard))


def test_words_of_the_original_are_no_words_of_the_scrambled_game() -> None:
    """A reply in the old names is unreadable, not understood by accident."""
    game = herbrand.load("ticTacToe")
    settings = MatchSettings(start_clock=1, play_clock=1, substitute="first", max_steps=1)

    async def run() -> Match:
        async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.readuntil(b"\r\n\r\n")
            writer.write(write_reply("(mark 2 2)"))
            writer.close()

        server = await asyncio.start_server(connected, "127.0.0.1", 0)
        seats = [
            RemoteSeat("127.0.0.1", server.sockets[0].getsockname()[1]),
            LocalSeat(make_player("legal"), name="here"),
        ]
        match = await Manager(game, settings, scramble=7).play(seats_for(game, seats))
        server.close()
        return match

    match = asyncio.run(run())
    assert match.moves == [("(mark 1 1)", "noop")]
    assert [p.kind for p in match.problems if p.step] == ["unreadable"]


def test_wrong_tables_are_refused() -> None:
    """Too few players, unknown roles, faulty games, impossible settings."""
    game = herbrand.load("ticTacToe")
    seat = LocalSeat(make_player("legal"), name="x")
    with pytest.raises(GameError, match="for 2 players"):
        seats_for(game, [seat])
    with pytest.raises(ValueError, match="is needed"):
        asyncio.run(Manager(game).play({"xplayer": seat}))
    with pytest.raises(ValueError, match="no role"):
        asyncio.run(Manager(game).play({"nobody": seat}))
    with pytest.raises(GameError):
        Manager(herbrand.loads("(role a)"))
    with pytest.raises(ValueError, match="unknown substitute"):
        MatchSettings(substitute="chess")
    for numbers in ({"start_clock": -1}, {"play_clock": -1}, {"max_steps": 0}):
        with pytest.raises(ValueError, match="must not be negative"):
            MatchSettings(**numbers)


def test_a_legal_move_that_is_no_possible_input_is_accepted() -> None:
    """The `input` facts of faulty rules lack a legal move: a reply is compared with the legal moves."""
    rules = TURNS.replace("(<= (input ?r right) (role ?r))", "")
    manager = Manager(herbrand.loads(rules), FAST)
    asyncio.run(
        manager.play({role: LocalSeat(make_player("legal"), name=role) for role in manager.game.players})
    )
    state = manager.game.initial_state()
    assert manager.reader is not None
    assert manager.judge(state, "a", "RIGHT") == (state.legal_moves("a")[1], "", "")
    assert manager.judge(state, "a", "up")[:2] == (None, "unreadable")


@pytest.mark.parametrize(
    ("opening", "message"),
    [
        ([("left",)], "1 moves for 2 roles"),
        ([("left", "up")], "`up` is not legal for b in step 1"),
    ],
)
def test_an_opening_that_cannot_be_played_is_refused(opening: list[tuple[str, ...]], message: str) -> None:
    """Before the first move."""
    game = herbrand.loads(TURNS)
    seats = seats_for(game, [LocalSeat(make_player("legal"), name="x") for _ in range(2)])
    with pytest.raises(IllegalMoveError, match=message):
        asyncio.run(Manager(game, FAST).play(seats, opening=opening))


def test_a_match_does_not_go_on_after_its_end() -> None:
    """A past with more steps than the rules allow is refused."""
    game = herbrand.loads(TURNS)
    seats = seats_for(game, [LocalSeat(make_player("legal"), name="x") for _ in range(2)])
    past = Past("m", (("left", "left"),) * 4, (), (), {})
    with pytest.raises(IllegalMoveError, match="no step 4 is possible: terminal"):
        asyncio.run(Manager(game, FAST).play(seats, past=past))


def test_problems_before_an_interruption_count_for_patience() -> None:
    """A player that failed just before is no longer asked when the match goes on."""
    game = herbrand.loads(TURNS)
    seats = seats_for(game, [LocalSeat(make_player("legal"), name="x") for _ in range(2)])
    past = Past("m", (("right", "right"),), (), (Problem(1, "a", "timeout", None, "", "right"),), {})
    settings = MatchSettings(start_clock=20, play_clock=10, patience=1)
    match = asyncio.run(Manager(game, settings).play(seats, past=past))
    assert [(p.step, p.role, p.kind) for p in match.problems if p.role == "b"] == []
    assert {p.kind for p in match.problems if p.step > 1} == {"ignored"}


def test_a_seat_that_was_not_started_is_busy() -> None:
    """It has no state to move in."""
    seat = LocalSeat(make_player("legal"), name="x")
    message = parse("(PLAY m NIL)")
    assert asyncio.run(seat.ask(message, seconds=1)).reply == "busy"
    assert asyncio.run(seat.tell(message, seconds=1)).reply == "busy"
    asyncio.run(seat.close())
    assert re.fullmatch(r"[a-z][a-z0-9_.-]{0,63}", new_match_id("4 Über-Game (v2)"))


def test_a_role_without_a_move_ends_the_match() -> None:
    """A fault in the rules is the reason, not a traceback."""
    game = herbrand.loads(
        "(role a) (init (n 0)) (<= (legal a go) (true (n 0))) (<= (next (n 1)) (does a go))"
        "(<= terminal (true (n 2))) (<= (goal a 0) (true (n 2)))"
    )
    match = asyncio.run(Manager(game, FAST).play({"a": LocalSeat(make_player("legal"), name="x")}))
    assert match.reason == "no-move a"
    assert match.goals is None


def test_local_players_that_fail_or_sleep_are_replaced() -> None:
    """A bug in a player and a player that does not come back are problems of that role alone."""
    game = herbrand.loads(TURNS)
    settings = MatchSettings(start_clock=1, play_clock=0, grace=0.2, substitute="first", patience=2)
    seats = [LocalSeat(Failing(), name="failing"), LocalSeat(Sleeper(), name="sleeper")]
    match = asyncio.run(Manager(game, settings).play(seats_for(game, seats)))
    assert match.is_complete
    kinds = {role: [p.kind for p in match.problems if p.role == role] for role in game.roles}
    assert kinds == {"a": ["failed", "failed", "ignored"], "b": ["timeout", "timeout", "ignored"]}
    assert match.moves == [("left", "left")] * 3
    assert "a bug" in match.problems[0].note


@pytest.mark.parametrize(("policy", "move"), [("first", "(mark 1 1)"), ("noop", None), ("random", None)])
def test_substitutes(policy: str, move: str | None) -> None:
    """Each policy replaces a bad move by a legal one; the seed repeats it."""
    game = herbrand.load("ticTacToe")
    settings = MatchSettings(start_clock=1, play_clock=1, substitute=policy, max_steps=2, seed=4)

    def play() -> Match:
        seats = seats_for(game, [LocalSeat(Failing(), name="x"), LocalSeat(Failing(), name="y")])
        return asyncio.run(Manager(game, settings).play(seats))

    match = play()
    assert match.reason == "max-steps"
    assert play().moves == match.moves
    assert match.moves[0][1] == "noop"
    if move is not None:
        assert match.moves[0][0] == move
    if policy == "noop":
        assert match.moves[1][0] == "noop"
    assert [p.played for p in match.problems if p.step == 1] == list(match.moves[0])


def test_a_cancelled_match_is_aborted_everywhere() -> None:
    """All players hear ABORT, also one that thinks, and are free again."""
    game = herbrand.loads(TURNS)

    async def run() -> None:
        sleeper = PlayerServer(Sleeper, port=0)
        other = PlayerServer(lambda: make_player("legal"), port=0)
        async with sleeper, other:
            manager = Manager(game, MatchSettings(start_clock=2, play_clock=20))
            seats = [RemoteSeat("127.0.0.1", server.port) for server in (sleeper, other)]
            task = asyncio.create_task(manager.play(seats_for(game, seats)))
            async with asyncio.timeout(20):
                while sleeper.is_free or other.is_free:  # noqa: ASYNC110
                    await asyncio.sleep(0.05)
            started = time.monotonic()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert time.monotonic() - started < 15
            assert sleeper.is_free
            assert other.is_free

    asyncio.run(run())


# -- players that do not keep to anything -----------------------------------------------------

Peer = "Callable[[asyncio.StreamReader, asyncio.StreamWriter, str], Awaitable[None]]"


def saying(data: bytes) -> Any:
    """A peer that answers with these bytes to everything."""

    async def peer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, text: str) -> None:
        writer.write(data)
        await writer.drain()

    return peer


def replying(text: str) -> Any:
    """A peer that answers with this text, in good HTTP."""
    return saying(write_reply(text))


ODD_BUT_GOOD: dict[str, Any] = {
    "upper case": replying("LEFT"),
    "white space": replying("\n\t left \r\n"),
    "in parentheses": replying("( left )"),
    "with an explanation": replying('left (explanation "because") (taunt "ha")'),
    "with its role": replying("a -> left"),
    "no HTTP": saying(b"left"),
    "line feeds": saying(b"HTTP/1.0 200 OK\n\nleft"),
    "a wrong length": saying(b"HTTP/1.0 200 OK\r\nContent-Length: 50\r\n\r\nleft"),
    "an error status": saying(b"HTTP/1.1 500 Error\r\nContent-Length: 4\r\n\r\nleft"),
    "chunks": saying(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nle\r\n2\r\nft\r\n0\r\n\r\n"),
    "two replies": saying(write_reply("left") + write_reply("right")),
}


async def play_against(peer: Any, manager: Manager, *, remote: bool = True) -> Match:
    """A match of a strange player of the first role against an honest one of the second, over the network or not."""

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            head = await reader.readuntil(b"\r\n\r\n")
            length = int(re.findall(rb"Content-Length: (\d+)", head)[0])
            text = (await reader.readexactly(length)).decode()
            if text.startswith("( START"):
                writer.write(write_reply("ready"))
            else:
                await peer(reader, writer, text)
            await writer.drain()
        writer.close()

    server = await asyncio.start_server(connected, "127.0.0.1", 0)
    async with PlayerServer(lambda: make_player("legal"), port=0) as honest:
        seats = {
            "a": RemoteSeat("127.0.0.1", server.sockets[0].getsockname()[1]),
            "b": RemoteSeat("127.0.0.1", honest.port)
            if remote
            else LocalSeat(make_player("legal"), name="honest"),
        }
        match = await manager.play(seats)
        assert honest.is_free
        server.close()
        return match


def test_odd_players_are_understood() -> None:
    """Whatever can be read as the move is that move, without a problem."""
    manager = Manager(herbrand.loads(TURNS), MatchSettings(start_clock=30, play_clock=10))

    async def run() -> dict[str, Match]:
        matches = await asyncio.gather(
            *(play_against(peer, manager, remote=False) for peer in ODD_BUT_GOOD.values())
        )
        return dict(zip(ODD_BUT_GOOD, matches, strict=True))

    for name, match in asyncio.run(run()).items():
        assert match.is_complete
        assert not match.problems, (name, match.problems)


def test_nobody_there_is_a_problem_of_the_connection() -> None:
    """A refused connection and a host that does not exist; with forfeit the match ends."""
    game = herbrand.loads(TURNS)
    settings = MatchSettings(start_clock=1, play_clock=1, substitute="forfeit")
    seats = {"a": RemoteSeat("no-such-host.invalid", 9147), "b": LocalSeat(make_player("legal"), name="b")}
    match = asyncio.run(Manager(game, settings).play(seats))
    assert match.reason == "forfeit a"
    assert match.goals is None
    assert {p.kind for p in match.problems} == {"connection"}


def test_a_player_that_never_reads_is_late() -> None:
    """A peer that accepts and reads nothing costs its clock, not more."""

    async def run() -> None:
        async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await asyncio.sleep(20)

        server = await asyncio.start_server(connected, "127.0.0.1", 0, limit=1)
        seat = RemoteSeat("127.0.0.1", server.sockets[0].getsockname()[1])
        started = time.monotonic()
        exchange = await seat.ask(parse("(PLAY m NIL)"), seconds=0.5)
        assert exchange.problem == "timeout"
        assert time.monotonic() - started < 15
        server.close()

    asyncio.run(run())


# -- managers that do not keep to anything ------------------------------------------------------


def test_the_player_answers_the_recorded_exchange() -> None:
    """INFO, START, PLAY, STOP and ABORT over real sockets, byte for byte where it was recorded."""

    async def run() -> None:
        async with PlayerServer(lambda: make_player("legal"), name="BOB", port=0) as server:
            port = server.port
            whole = await send(port, write_request("( INFO )", host="localhost", receiver="BOB"))
            assert whole == write_reply("( ( name BOB ) ( status available ) )")
            assert await ask(port, start_message("ticTacToe", "m.1", "xplayer")) == "ready"
            assert await ask(port, start_message("ticTacToe", "m.1", "xplayer")) == "ready"
            assert await ask(port, start_message("ticTacToe", "m.1", "oplayer")) == "busy"
            assert await ask(port, start_message("ticTacToe", "m.2", "xplayer")) == "busy"
            assert await ask(port, "( INFO )") == "( ( name BOB ) ( status busy ) )"
            assert await ask(port, "(ping)") == "busy"
            assert await ask(port, "( PLAY m.1 NIL )") == "( mark 1 1 )"
            assert await ask(port, "( PLAY m.1 NIL )") == "( mark 1 1 )"
            assert await ask(port, "( PLAY m.7 NIL )") == "busy"
            assert await ask(port, "(PLAY m.1 ((MARK 1 1) NOOP))") == "noop"
            assert await ask(port, "(PLAY m.1 ((MARK 1 1) NOOP))") == "noop"  # told twice
            assert await ask(port, "(PLAY m.1 (noop))") == "noop"
            assert await ask(port, "(PLAY m.1 ((mark 9 9) noop))") == "noop"
            assert await ask(port, "(PLAY m.1 (noop (mark 2 2)))") == "( mark 1 2 )"
            assert await ask(port, "( STOP m.1 ((mark 1 2) noop))") == "done"
            assert await ask(port, "( STOP m.1 ((mark 1 2) noop))") == "busy"
            assert await ask(port, start_message("kuhn", "m.3", "FIRST")) == "ready"
            assert await ask(port, "( ABORT m.3 )") == "aborted"
            assert await ask(port, "( PREVIEW (( role x )) 5 )") == "ready"
            assert await ask(port, "(PING)") == "ready"

    asyncio.run(run())


def test_several_matches_at_once_and_abort_while_thinking() -> None:
    """A player may be allowed several matches; one that thinks does not keep it from answering."""

    async def run() -> None:
        async with PlayerServer(Sleeper, port=0, matches=3) as server:
            port = server.port
            for n in range(3):
                assert await ask(port, start_message("ticTacToe", f"m{n}", "oplayer", 5, 20)) == "ready"
            assert await ask(port, start_message("ticTacToe", "m3", "oplayer")) == "busy"
            thinking = asyncio.create_task(ask(port, "(PLAY m0 NIL)"))
            await asyncio.sleep(0.3)
            started = time.monotonic()
            assert await ask(port, "(INFO)") == "( ( name herbrand ) ( status busy ) )"
            assert await ask(port, "(ABORT m0)") == "aborted"
            assert await thinking == "noop"
            assert time.monotonic() - started < 15
            assert server.is_free

    asyncio.run(run())


def test_memory_that_a_program_had_before_keeps_no_match_from_it() -> None:
    """Its own players count from the start of the server."""
    ballast = bytearray(os.urandom(1 << 20) * 400)

    async def run() -> None:
        async with PlayerServer(lambda: make_player("legal"), port=0, matches=2, memory=160) as server:
            for name in ("m", "n"):
                assert await ask(server.port, start_message("ticTacToe", name, "oplayer")) == "ready"

    asyncio.run(run())
    assert len(ballast) == 400 << 20


def test_a_slow_player_is_answered_for_before_the_clock() -> None:
    """The move laid aside goes out while the player still thinks, and it is legal."""
    events: list[Event] = []

    async def run() -> None:
        async with PlayerServer(Sleeper, port=0, listener=events.append) as server:
            assert await ask(server.port, start_message("ticTacToe", "m", "xplayer", 5, 1)) == "ready"
            started = time.monotonic()
            answer = await ask(server.port, "(PLAY m NIL)")
            assert 0.5 < time.monotonic() - started < 10
            assert herbrand.load("ticTacToe").initial_state().is_legal("xplayer", answer)

    asyncio.run(run())
    assert [event.kind for event in events].count("late") == 1
    assert margin(10, 1.9) == 1.9
    assert margin(1, 1.9) == pytest.approx(0.2)


class Preparing(Player):
    """Prepares for much longer than it may."""

    def prepare(self, deadline: float) -> None:
        until = time.monotonic() + 30
        while time.monotonic() < until and not self.stopped:
            time.sleep(0.01)

    def select(self, state: State, play_clock: float) -> Move:
        return self.options(state)[-1]


@pytest.mark.parametrize("make", [Preparing, lambda: make_player("montecarlo", seed=1)])
def test_whatever_preparing_costs_answers_are_in_time_and_legal(
    make: Callable[[], Player], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The network takes far longer than the clocks, in threads that leave the processor to nobody: moves follow the rules."""
    stop = threading.Event()

    def slow(*_: object, **__: object) -> None:
        while not stop.is_set():
            sorted(range(100_000))  # holds the interpreter for milliseconds at a time
        raise BudgetExceeded("enough")

    monkeypatch.setattr("herbrand.ground.ground", slow)
    game = herbrand.game.load("ticTacToe")
    start = start_message("ticTacToe", "m", "xplayer", 1, 1)

    async def run() -> None:
        async with PlayerServer(make, port=0) as server:
            started = time.monotonic()
            assert await ask(server.port, start) == "ready"
            assert time.monotonic() - started < 15
            state, moves = game.initial_state("rules"), "NIL"
            for _ in range(2):  # its own move, and the other's
                started = time.monotonic()
                answer = await ask(server.port, f"(PLAY m {moves})")
                assert time.monotonic() - started < 10
                assert state.is_legal("xplayer", answer)
                joint = {"xplayer": answer, "oplayer": state.legal_moves("oplayer")[0]}
                state = state.next(joint)
                moves = f"({answer} {joint['oplayer']})"
            assert await ask(server.port, "(ABORT m)") == "aborted"

    try:
        asyncio.run(run())
    finally:
        stop.set()


def test_hidden_information_in_all_published_forms() -> None:
    """With turns, with percepts alone, and with SEES: the moves stay legal in the true game."""
    game = herbrand.load("kuhn")

    async def run(form: str) -> None:
        odd: list[Event] = []
        async with PlayerServer(
            lambda: make_player("random", seed=1),
            port=0,
            listener=lambda e: odd.append(e) if e.kind == "odd" else None,
        ) as server:
            port = server.port
            assert await ask(port, start_message("kuhn", "m", "second", 5, 5)) == "ready"
            state = game.initial_state()
            step, last, seen = 0, "NIL", "NIL"
            while not state.is_terminal:
                message = {
                    "turns": f"(PLAY m {step} {last} {seen})",
                    "percepts": f"(PLAY m {seen})",
                    "sees": f"(SEES m {seen})",
                }[form]
                answer = await ask(port, message)
                assert state.is_legal("second", answer), (form, step, answer)
                joint = {role: moves[0] for role, moves in state.legal_moves().items()} | {"second": answer}
                seen = f"({' '.join(state.percepts(joint, 'second'))})"
                state = state.next(joint)
                step, last = step + 1, answer
            over = {"turns": f"(STOP m {step} {last} {seen})"}.get(form, f"(STOP m {seen})")
            assert await ask(port, over) == "done"
        assert not odd

    for form in ("turns", "percepts", "sees"):
        asyncio.run(run(form))


LOOP = "(role a) (<= (p ?x) (q ?x)) (init (n 0)) (<= (n (s ?x)) (n ?x)) (n 0) (<= (legal a ?x) (n ?x)) (<= terminal (n 9))"
HUGE = (
    "(role a) (init (n 0)) "
    + " ".join(f"(d {i})" for i in range(40))
    + (
        "(<= (p ?a ?b ?c ?d ?e ?f) (d ?a) (d ?b) (d ?c) (d ?d) (d ?e) (d ?f)) (<= (legal a (go ?a ?b)) (p ?a ?b ?c ?d ?e ?f))"
        "(<= terminal (true (n 1))) (<= (goal a 0) (true (n 0)))"
    )
)


def test_rules_that_take_longer_than_the_start_clock_are_played_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """On a busy machine a large sheet was given up for the whole match when the start clock ended."""
    load = CachedGame._load

    def takes_three_seconds(self: CachedGame, deadline: float) -> Game:
        if deadline < time.monotonic() + 3:
            raise BudgetExceeded("the start clock", "reading")
        return load(self, deadline)

    monkeypatch.setattr(CachedGame, "_load", takes_three_seconds)

    async def run() -> str:
        async with PlayerServer(lambda: make_player("legal"), port=0) as server:
            assert await ask(server.port, start_message("ticTacToe", "m", "xplayer", 1, 2)) == "ready"
            return await ask(server.port, "(PLAY m NIL)")

    assert asyncio.run(run()) == "( mark 1 1 )"


def test_managers_cannot_take_a_player_down() -> None:
    """Rules that are faulty, endless or too large, broken HTTP and floods: the player stays alive and answers."""

    async def run() -> None:
        async with PlayerServer(
            lambda: make_player("random"), port=0, largest_message=100_000, connections=20, read_seconds=1.0
        ) as server:
            port = server.port
            for rules in ("", "(role", "(role a)", "(((", "(<= (p ?x) (not (q ?y)))", LOOP, "x " * 1000):
                assert await ask(port, f"(START m a ({rules}) 8 1)", seconds=30) in ("busy", "nil"), rules
            assert await ask(port, start_message("ticTacToe", "m", "nobody")) == "busy"
            assert await ask(port, f"(START big a ({HUGE}) 1 1)", seconds=10) in ("busy", "ready")
            assert await ask(port, "(ABORT big)") in ("aborted", "busy")
            for text in ("", "info", "(((", "(PING x)", "(PLAY)", ")" * 50_000, "\x00", "(PLAY m \xff)"):
                assert await ask(port, text) == "nil", text
            for data in (b"", b"hello\r\n\r\n", b"\x16\x03\x01", b"POST\r\n\r\n", b"GET\r\n\r\n"):
                answer = await send(port, data, end=True)
                assert answer.startswith(b"HTTP/1.0 400 Bad Request\r\n"), data
            big = await send(port, b"POST / HTTP/1.0\r\nContent-Length: 999999999\r\n\r\n(")
            assert big.startswith(b"HTTP/1.0 400")
            for method in (b"OPTIONS", b"PUT", b"HEAD"):
                answer = await send(port, method + b" / HTTP/1.1\r\n\r\n")
                assert answer.startswith(b"HTTP/1.0 200 OK\r\n")
                assert answer.endswith(b"Connection: close\r\n\r\n")
            assert (await send(port, b"GET /(info) HTTP/1.0\r\n\r\n")).endswith(b"( status available ) )")
            started = time.monotonic()
            assert (
                await send(port, b"POST / HTTP/1.0\r\nContent-Length: 99\r\n\r\n(PLAY") == b""
            )  # never goes on
            assert 0.9 < time.monotonic() - started < 15
            slow = [await asyncio.open_connection("127.0.0.1", port) for _ in range(20)]
            assert (
                await ask(port, "(INFO)") == "( ( name herbrand ) ( status available ) )"
            )  # in place of a slow one
            assert await asyncio.wait_for(slow[0][0].read(), 5) == b""
            assert not slow[-1][0].at_eof()
            for _, writer in slow:
                writer.close()

    with contextlib.suppress(ConnectionResetError):
        asyncio.run(run())


def test_a_player_with_a_bug_answers_all_the_same() -> None:
    """A player that raises costs a move, not the server."""

    async def run() -> None:
        async with PlayerServer(Failing, port=0) as server:
            assert await ask(server.port, start_message("ticTacToe", "m", "xplayer")) == "ready"
            answer = await ask(server.port, "(PLAY m NIL)")
            assert herbrand.load("ticTacToe").initial_state().is_legal("xplayer", answer)
            assert await ask(server.port, "(STOP m ((mark 1 1) noop))") == "done"

    asyncio.run(run())


class OnceAborted(LocalSeat):
    """A seat of a player that answers its second question when its match is aborted."""

    def __init__(self) -> None:
        super().__init__(make_player("legal"), name="once aborted")
        self.asked = 0
        self.aborted = asyncio.Event()

    async def ask(self, message: Any, *, seconds: float) -> Exchange:
        if isinstance(message, AbortMessage):
            self.aborted.set()
            await asyncio.sleep(0.05)
        elif isinstance(message, PlayMessage):
            self.asked += 1
            if self.asked == 2:
                await self.aborted.wait()
                return Exchange("(show scissors)", None, 0.0)
        return await super().ask(message, seconds=seconds)


def test_what_a_player_answered_once_its_match_was_aborted_was_recorded() -> None:
    """The resumed match took it for the move of the player."""
    events: list[Event] = []
    full: list[Event] = []

    def listen(event: Event) -> None:
        if full:
            events.append(event)
        if event.kind == "exchange" and event.data["message"] == "PLAY" and event.data["step"] == 1:
            full.append(event)
            raise MemoryError

    async def run() -> None:
        game = herbrand.load("rockPaperScissors")
        seats = [OnceAborted(), LocalSeat(make_player("legal"), name="x")]
        manager = Manager(game, MatchSettings(start_clock=20, play_clock=20), listener=listen)
        await manager.play(seats_for(game, seats))

    with pytest.raises(MemoryError):
        asyncio.run(run())
    assert [event.data["role"] for event in full] == ["right"]
    assert [event.kind for event in events] == ["aborted"]


class Cheater(Player):
    """Chooses what is not legal."""

    def select(self, state: State, play_clock: float) -> Move:
        return Move("(mark 9 9)")


def test_an_illegal_choice_of_a_player_is_replaced_and_reported() -> None:
    """The manager gets a legal move."""
    events: list[Event] = []

    async def run() -> None:
        async with PlayerServer(Cheater, port=0, listener=events.append) as server:
            assert await ask(server.port, start_message("ticTacToe", "m", "xplayer")) == "ready"
            answer = await ask(server.port, "(PLAY m NIL)")
            assert herbrand.load("ticTacToe").initial_state().is_legal("xplayer", answer)

    asyncio.run(run())
    odd = [str(event.data["reason"]) for event in events if event.kind == "odd"]
    assert odd == ["the player chose `(mark 9 9)`, which is not legal"]


def test_a_role_without_a_move_gets_no_answer() -> None:
    """The rules of the manager are at fault: `nil`, and the reason is reported."""
    rules = "(role a) (role b) (init x) (legal b go) (<= (legal a go) (true y)) (<= terminal (true z)) (goal a 0) (goal b 0)"
    events: list[Event] = []

    async def run() -> None:
        async with PlayerServer(lambda: make_player("legal"), port=0, listener=events.append) as server:
            assert await ask(server.port, f"(START m a ({rules}) 5 5)") == "ready"
            assert await ask(server.port, "(PLAY m NIL)") == "nil"

    asyncio.run(run())
    assert any("no legal move for a" in str(event.data) for event in events)


def test_matches_without_news_are_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    """A manager that was killed does not keep its match alive."""
    monkeypatch.setattr(herbrand.match.protocol.server, "_SWEEP_SECONDS", 0.02)
    monkeypatch.setattr(herbrand.match.protocol.ongoing, "FORGET_SECONDS", 0.0)
    dropped = asyncio.Event()

    def listen(event: Event) -> None:
        if event.data.get("reason") == "dropped after a long silence":
            dropped.set()

    async def run() -> None:
        async with PlayerServer(lambda: make_player("legal"), port=0, listener=listen) as server:
            assert await ask(server.port, start_message("ticTacToe", "m", "xplayer", 0, 0)) in (
                "ready",
                "busy",
            )
            await asyncio.wait_for(dropped.wait(), 60)
            assert await ask(server.port, "(PLAY m NIL)") == "busy"

    asyncio.run(run())


# -- what a player knows ------------------------------------------------------------------------


def test_a_view_keeps_its_state_when_told_nonsense() -> None:
    """Wrong numbers, unknown and illegal moves are notes; what follows is understood again."""
    game = herbrand.load("ticTacToe")
    for reader in (MoveReader(game), None):
        view = MatchView(game, "xplayer", reader=reader)
        start = view.state
        assert view.apply_moves(None) == []
        for moves in (
            ("noop",),
            ("noop", "noop"),
            ("(mark 1 9)", "noop"),
            ("?x", "noop"),
            ("((", "noop"),
            ("", ""),
        ):
            assert view.apply_moves(moves)
            assert view.state == start
        assert view.apply_moves(("mark(1,1)" if reader else "(MARK 1 1)", "NOOP")) == []
        assert view.apply_moves(("(mark 1 1)", "noop")) == ["the same step again"]
        assert view.apply_moves(None) == ["the first step again"]
        assert view.step == 1


def test_percepts_that_cannot_be_are_followed_by_a_guess() -> None:
    """A player goes on playing legal moves when a manager tells it what cannot have been seen."""
    game = herbrand.load("kuhn")
    view = MatchView(game, "first")
    (note,) = view.apply_percepts("noop", ("(dealt nobody)",), turn=1, over=False, seconds=2)
    assert note.endswith("a legal step is guessed")
    assert view.step == 1
    assert view.state.legal_moves("first")
    assert view.apply_percepts("noop", (), turn=9, over=False, seconds=2)
    assert view.step == 1
    known = view.state
    for own, percepts, turn, note in (
        (None, None, None, "the first step again"),
        ("noop", (), 1, "the same step again"),
        ("noop", ("((",), 2, "the state is unchanged"),
        (None, (), 2, "own move unknown; the state is unchanged"),
    ):
        (said,) = view.apply_percepts(own, percepts, turn=turn, over=False, seconds=2)
        assert note in said
        assert (view.step, view.state) == (1, known)
    assert MatchView(game, "first").apply_percepts(None, None, turn=None, over=False, seconds=2) == []


def test_a_guess_keeps_a_final_state_and_passes_over_an_illegal_move() -> None:
    """A manager that goes on after the end, or with a move that was not legal, is followed as well as possible."""
    game = herbrand.load("kuhn")
    view = MatchView(game, "first")
    for step in range(1, 9):
        before = view.state
        assert view.apply_percepts("(mark 1 1)", ("nothing",), turn=step, over=False, seconds=2)
        assert (view.state == before) == before.is_terminal
    assert view.state.is_terminal


# -- the commands -----------------------------------------------------------------------------


def test_the_commands_play_a_match_with_each_other(tmp_path: Path, player_process: Any) -> None:
    """`herbrand player` in a process of its own and `herbrand match` against it."""
    with player_process("greedy", "--seed", "1") as (port, _, _):
        events = tmp_path / "events.jsonl"
        seats = ["--player", f"127.0.0.1:{port}", "--player", "random"]
        clocks = ["--start-clock", "30", "--play-clock", "15", "--seed", "2"]
        words = ["match", "ticTacToe", *seats, *clocks, "--id", "m.1"]
        outcome = CliRunner().invoke(cli, [*words, "--events", str(events)], catch_exceptions=False)
        assert outcome.exit_code == 0, outcome.output
        assert outcome.output.startswith("ticTacToe, match m.1: xplayer is 127.0.0.1:")
        assert "the game is over after" in outcome.output
        assert "replaced" not in outcome.output
        kinds = [json.loads(line)["kind"] for line in events.read_text(encoding="utf-8").splitlines()]
        assert kinds[0] == "match"
        assert "end" in kinds
        taken = CliRunner().invoke(cli, ["player", "--port", str(port)], catch_exceptions=False)
        assert taken.exit_code == 2
        assert "another program is listening there" in taken.output
        taken = CliRunner().invoke(cli, [*words, "--spectators", str(port)], catch_exceptions=False)
        assert taken.exit_code == 2
        assert f"127.0.0.1:{port}: another program is listening there" in taken.output
        outcome = CliRunner().invoke(cli, [*words, "--json"], catch_exceptions=False)
        assert json.loads(outcome.stdout)["reason"] == "terminal"


def test_the_match_command_refuses_what_cannot_be_played() -> None:
    """Unknown players, wrong numbers of players, ports that are none, odd names of matches."""

    def run(*words: str) -> tuple[int, str]:
        outcome = CliRunner().invoke(cli, ["match", "ticTacToe", *words], catch_exceptions=False)
        return outcome.exit_code, outcome.output

    assert run()[0] == 2
    code, output = run("--player", "randm")
    assert code == 2
    assert "did you mean `random`" in output
    assert run("--player", "99999")[0] == 2
    code, output = run("--player", "127.0.0.1:9147")
    assert code == 1
    assert "for 2 players" in output
    assert run("--player", "random", "--id", "((")[0] == 2
    code, output = run("--player", "random", "--max-steps", "2", "--start-clock", "1", "--play-clock", "1")
    assert code == 1
    assert "without a result after 2 steps: maximum number of steps" in output
    assert threading.active_count() < 50


def test_a_game_is_made_once_for_many_matches_and_few_are_kept() -> None:
    """Matches of the same rules share their game, also when they begin at the same time; old games are let go."""

    async def run() -> None:
        server = PlayerServer(
            lambda: make_player("random", seed=1),
            port=0,
            matches=20,
            memory=100_000,  # the process may have run many tests
        )
        async with server:
            starts = [start_message("ticTacToe", f"m{n}", "xplayer", 20, 10) for n in range(4)]
            assert await asyncio.gather(*(ask(server.port, text) for text in starts)) == ["ready"] * 4
            assert isinstance(server.hosts, ThreadHost)
            host = server.hosts._host
            views = {id(match._view.game) for match in host._matches.values() if match._view is not None}
            assert len(views) == 1
            moves = await asyncio.gather(*(ask(server.port, f"(PLAY m{n} NIL)") for n in range(4)))
            start = herbrand.load("ticTacToe").initial_state()
            assert all(start.is_legal("xplayer", move) for move in moves)
            for number in range(6):
                rules = f"(role a) (init (n {number})) (legal a go) (<= terminal (true (n 9))) (goal a 1)"
                await ask(server.port, f"(START k{number} a ({rules}) 5 5)")
            assert len(host.games._games) == 4

    asyncio.run(run())


def test_large_rules_are_read_one_at_a_time_and_not_cached(monkeypatch: pytest.MonkeyPatch) -> None:
    """Faulty ones are refused like small ones."""
    monkeypatch.setattr(herbrand.match.protocol.server, "LARGE_MESSAGE_CHARS", 60)
    monkeypatch.setattr(herbrand.match.protocol.gamecache, "LARGE_RULES_CHARS", 60)

    async def run() -> None:
        async with PlayerServer(lambda: make_player("legal"), port=0) as server:
            faulty = "(role a) (init (n 0)) " * 5
            assert await ask(server.port, f"(START f a ({faulty}) 5 5)") == "busy"
            assert await ask(server.port, start_message("ticTacToe", "m", "xplayer")) == "ready"
            assert await ask(server.port, "(PLAY m NIL)") == "( mark 1 1 )"
            assert isinstance(server.hosts, ThreadHost)
            assert server.hosts._host.games._games == {}

    asyncio.run(run())


def test_matches_of_one_remote_player_are_told_apart() -> None:
    """A player in several roles of a match gets it under several names."""

    async def run() -> None:
        async with PlayerServer(lambda: make_player("legal"), port=0) as server:
            seat = RemoteSeat("127.0.0.1", server.port, name="x", suffix=".2")
            reply = await seat.ask(parse(start_message("ticTacToe", "m", "xplayer")), seconds=20)
            assert reply.reply == "ready"
            assert await ask(server.port, "(PLAY m NIL)") == "busy"
            assert await ask(server.port, "(PLAY m.2 NIL)") == "( mark 1 1 )"

    asyncio.run(run())


def test_memory_is_freed_when_nobody_plays(monkeypatch: pytest.MonkeyPatch) -> None:
    """What ended matches left behind is looked for when none goes on, once; while one does if memory is short."""
    monkeypatch.setattr(herbrand.match.protocol.host, "_SWEEP_SECONDS", 0.02)
    freed = asyncio.Event()

    async def run() -> None:
        loop = asyncio.get_running_loop()
        monkeypatch.setattr(
            herbrand.match.protocol.host, "free_memory", lambda: loop.call_soon_threadsafe(freed.set)
        )
        server = PlayerServer(lambda: make_player("random", seed=1), port=0, matches=2, memory=100_000)
        async with server:
            for match in ("m", "n"):
                await ask(server.port, start_message("ticTacToe", match, "xplayer", 20, 10))
            await asyncio.sleep(0.2)
            assert not freed.is_set()
            await ask(server.port, "(ABORT m)")
            await asyncio.sleep(0.2)
            assert not freed.is_set()
            assert isinstance(server.hosts, ThreadHost)
            games = server.hosts._host.games
            games._full = 0
            await asyncio.wait_for(freed.wait(), 60)
            freed.clear()
            await asyncio.sleep(0.2)
            assert not freed.is_set()
            games._full = 100_000
            await ask(server.port, "(ABORT n)")
            await asyncio.wait_for(freed.wait(), 60)

    asyncio.run(run())


def test_players_have_names_of_their_own() -> None:
    """`--player NAME=PLAYER` names a player; its mistakes are said as before."""
    words = ["match", "rockPaperScissors", "--start-clock", "5", "--play-clock", "5", "--json"]
    players = ["--player", "ann=legal", "--player", "bob=random"]
    outcome = CliRunner().invoke(cli, [*words, *players], catch_exceptions=False)
    assert json.loads(outcome.stdout)["players"] == {"left": "ann", "right": "bob"}
    players = [
        "--player",
        "mcts(playouts=5)",
        "--player",
        "few=mcts(playouts=2)",
    ]  # signs of settings name nobody
    outcome = CliRunner().invoke(cli, [*words, *players], catch_exceptions=False)
    assert json.loads(outcome.stdout)["players"] == {"left": "mcts(playouts=5)", "right": "few"}
    outcome = CliRunner().invoke(cli, [*words, "--player", "ann=lgal"], catch_exceptions=False)
    assert outcome.exit_code == 2
    assert "did you mean `legal`" in outcome.output
