"""The protocol's messages and bytes: what ggp-base sends is what is sent and read here."""

from __future__ import annotations

import asyncio
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from herbrand.errors import ProtocolError
from herbrand.match.protocol.http import MessageTooLarge, read_reply, read_request, write_reply, write_request
from herbrand.match.protocol.messages import (
    AbortMessage,
    InfoMessage,
    InfoReply,
    PingMessage,
    PlayMessage,
    PreviewMessage,
    SeesMessage,
    StartMessage,
    StopMessage,
    TurnMessage,
    first_term,
    normalise,
    parse,
    parse_info,
    split_terms,
)

RULES = "(role x) (role o) (<= terminal (true (done)))"

# Texts that ggp-base was seen to send, and the message each is.
RECORDED = [
    ("( INFO )", InfoMessage()),
    ("( PREVIEW (( role x ) ( role o ) ) 5 )", PreviewMessage("( role x ) ( role o )", 5)),
    (
        "( START m.1 x (( role x ) ( role o ) ) 30 10)",
        StartMessage("m.1", "x", "( role x ) ( role o )", 30, 10),
    ),
    ("( PLAY m.1 NIL )", PlayMessage("m.1", None)),
    ("( PLAY m.1 (( mark 1 1 ) noop ) )", PlayMessage("m.1", ("(mark 1 1)", "noop"))),
    ("( STOP m.1 (( mark 1 1 ) noop ) )", StopMessage("m.1", ("(mark 1 1)", "noop"))),
    ("( ABORT m.1 )", AbortMessage("m.1")),
]


@pytest.mark.parametrize(("text", "message"), RECORDED)
def test_recorded_messages_are_written_and_read(text: str, message: object) -> None:
    """Each message has the text that was recorded, and the text is read as the message."""
    assert str(message) == text
    assert parse(text) == message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("(info)", InfoMessage()),
        ("  ( Info\r\n)  ", InfoMessage()),
        ("(ping)", PingMessage()),
        (
            "(START M.1 XPLAYER ((ROLE X)) 30 10 extra (words))",
            StartMessage("M.1", "XPLAYER", "(ROLE X)", 30, 10),
        ),
        ("(start m x () 0 0)", StartMessage("m", "x", "", 0, 0)),
        ("(PLAY m ((MARK 1 1)NOOP))", PlayMessage("m", ("(MARK 1 1)", "NOOP"))),
        ("(play m nil)", PlayMessage("m", None)),
        ("(play m ())", PlayMessage("m", ())),
        ("(PLAY m 0 NIL NIL)", TurnMessage("m", 0, None, None, False)),
        (
            "(PLAY m 3 (bet 2) ((dealt king) seen))",
            TurnMessage("m", 3, "(bet 2)", ("(dealt king)", "seen"), False),
        ),
        ("(PLAY m 1 noop ())", TurnMessage("m", 1, "noop", (), False)),
        ("(STOP m 7 noop ())", TurnMessage("m", 7, "noop", (), True)),
        ("(sees m ((dealt king)))", SeesMessage("m", ("(dealt king)",))),
        ("(preview ((role x)) 10)", PreviewMessage("(role x)", 10)),
        ("; hello (\n( ABORT m )", AbortMessage("m")),
    ],
)
def test_other_managers_forms_are_read(text: str, message: object) -> None:
    """Any case, any white space, and the published forms for hidden information."""
    assert parse(text) == message
    assert str(parse(str(message))) == str(message)


def test_hidden_information_is_written_as_the_dresden_controller_does() -> None:
    """Turn, own move and percepts; NIL twice at the beginning."""
    assert str(TurnMessage("m", 0, None, None, False)) == "( PLAY m 0 NIL NIL )"
    assert (
        str(TurnMessage("m", 2, "(bet 1)", ("(dealt king)",), True))
        == "( STOP m 2 ( bet 1 ) (( dealt king ) ) )"
    )


@pytest.mark.parametrize(
    "text",
    [
        "", " ", "info", "(((", ")", "(PING PONG)", "(INFO x)", "(PLAY m)", "(PLAY)", "(START m x (role x) thirty 10)",
        "(START m x role 30 10)", "(START m x ((role x)) 30)", "(START m x ((role x)) -1 10)", "(PLAY (m 1) NIL)",
        "(ABORT)", "(x y)", "()", "(PLAY m NIL) (PLAY m NIL)", "(PLAY m 1 2 3 4)", "(STOP m noop)", "(PLAY m x NIL NIL)",
        "(" * 100_000, "(PLAY " + "m" * 300 + " NIL)", "(START m x (" + "(" * 1000 + ") 1 1)", "(PLAY m ((mark 1 1) ;) )",
    ],
)  # fmt: skip
def test_what_is_no_message_is_refused(text: str) -> None:
    """A reason, not a traceback, and quickly."""
    with pytest.raises(ProtocolError):
        parse(text)


def test_a_comment_inside_start_is_passed_over() -> None:
    """A parenthesis in a comment does not count."""
    message = parse("(START m x ((role x) ; the (only\n (role o)) 1 1)")
    assert isinstance(message, StartMessage)
    assert split_terms(message.rules) == ["(role x)", "(role o)"]
    assert str(message) == "( START m x (( role x ) ( role o ) ) 1 1)"


@pytest.mark.parametrize(
    ("reply", "term"),
    [
        ("(mark 1 1)", "(mark 1 1)"),
        ("( MARK 1 1 )\r\n", "( MARK 1 1 )"),
        ("mark 1 1", "mark"),
        ("(mark 1 1) extra", "(mark 1 1)"),
        ('((a b)) (explanation "why") (taunt "ha")', "((a b))"),
        ("noop", "noop"),
        ("; the centre (as always)\n(mark 2 2)", "(mark 2 2)"),
        ("(mark 1", ""),
        (") (mark 1 1)", ""),
        ("", ""),
        ("<html><body>(no)</body></html>", "<html><body>"),
    ],
)
def test_the_first_expression_of_a_reply_counts(reply: str, term: str) -> None:
    """As ggp-base reads replies; what is not complete is nothing."""
    assert first_term(reply) == term


@pytest.mark.parametrize(
    ("text", "info"),
    [
        ("( ( name Random ) ( status available ) )", InfoReply("available", "Random")),
        ("((name my bot) (status BUSY) (species alien))", InfoReply("busy", "mybot", "alien")),
        ("((status busy) (memory 300))", InfoReply("busy", memory=300)),
        ("((status busy) (memory lots))", InfoReply("busy")),
        ("available", InfoReply("available")),
        ("READY", InfoReply("ready")),
        ("nil", InfoReply("nil")),
        ("(() (x) loose (a (b c)) (status ready))", InfoReply("ready")),
        ("(()", InfoReply(None)),
        ("<html>", InfoReply(None)),
        ("", InfoReply(None)),
    ],
)
def test_answers_to_info_are_read_tolerantly(text: str, info: InfoReply) -> None:
    """Unknown pairs are skipped, values glued together, nonsense tells nothing."""
    assert parse_info(text) == info


def test_the_answer_to_info_is_that_of_ggp_base() -> None:
    """Two pairs, spaced out, and the memory where it is known."""
    assert str(InfoReply("available", "Random")) == "( ( name Random ) ( status available ) )"
    assert str(InfoReply("busy", "R", memory=9)) == "( ( name R ) ( status busy ) ( memory 9 ) )"


@given(st.text(alphabet='() \nPLAYSTOINFm1;\x00é"', max_size=200))
@settings(max_examples=150)
def test_any_text_is_a_message_or_refused(text: str) -> None:
    """Reading never fails in another way, and what was read can be written and read again."""
    try:
        message = parse(text)
    except ProtocolError:
        return
    again = parse(str(message))
    assert type(again) is type(message)
    assert str(again) == str(message)


def test_reading_is_linear() -> None:
    """Hundreds of thousands of parentheses are no work."""
    text = "(START m x (" + "(f (g 1)) " * 30_000 + ") 1 1)"
    started = time.process_time()
    assert isinstance(parse(text), StartMessage)
    with pytest.raises(ProtocolError):
        parse("(" * 300_000)
    assert time.process_time() - started < 5


def test_tidy_writes_moves_as_moves_are_written() -> None:
    """Single blanks, none beside parentheses."""
    assert normalise(" (  f ( g 1 )\n2)") == "(f (g 1) 2)"


# -- bytes ----------------------------------------------------------------------------------

GGP_BASE_REQUEST = (
    b"POST / HTTP/1.0\r\nAccept: text/delim\r\nHost: localhost\r\nSender: GAMESERVER\r\nReceiver: BOB\r\n"
    b"Content-Type: text/acl\r\nContent-Length: 8\r\n\r\n( INFO )"
)
GGP_BASE_REPLY = (
    b"HTTP/1.0 200 OK\r\nContent-type: text/acl\r\nContent-length: 5\r\nAccess-Control-Allow-Origin: *\r\n"
    b"Access-Control-Allow-Methods: POST, GET, OPTIONS\r\nAccess-Control-Allow-Headers: Content-Type\r\n"
    b"Access-Control-Allow-Age: 86400\r\n\r\nready"
)


def test_bytes_are_those_of_ggp_base() -> None:
    """Request and reply, byte for byte."""
    assert write_request("( INFO )", host="localhost", receiver="BOB") == GGP_BASE_REQUEST
    assert write_reply("ready") == GGP_BASE_REPLY
    assert b"\r\nConnection: close\r\n" in write_reply("ready", version="HTTP/1.1")
    assert b"Content-Length: 3\r\n" in write_request("é!", host="h\r\nX: y", receiver="é")
    assert b"\r\nX: y" not in write_request("x", host="h\r\nX: y", receiver="é")


def stream(data: bytes, *, end: bool = True) -> asyncio.StreamReader:
    """A stream that has this data, and then an end or silence."""
    reader = asyncio.StreamReader()
    reader.feed_data(data)
    if end:
        reader.feed_eof()
    return reader


def request_text(data: bytes, *, end: bool = True, limit: int = 10_000) -> str:
    """The message of a request."""

    async def run() -> str:
        async with asyncio.timeout(5):
            return (await read_request(stream(data, end=end), limit=limit)).text

    return asyncio.run(run())


def reply_text(data: bytes, *, end: bool = True, limit: int = 10_000) -> str:
    """The body of a reply."""

    async def run() -> str:
        async with asyncio.timeout(5):
            return (await read_reply(stream(data, end=end), limit=limit)).text

    return asyncio.run(run())


BODY = b"( PLAY m NIL )"


@pytest.mark.parametrize(
    "data",
    [
        b"POST / HTTP/1.0\r\nContent-Length: 14\r\n\r\n" + BODY,
        b"POST / HTTP/1.0\nContent-length: 14\n\n" + BODY,
        b"POST / HTTP/1.0\r\nCONTENT-LENGTH:14\r\nSender: Gamecontroller\r\n\r\n" + BODY,
        b"POST / HTTP/1.0\r\n\r\n" + BODY,
        b"POST / HTTP/1.0\r\nContent-Length: 3\r\n\r\n" + BODY,
        b"POST / HTTP/1.0\r\nContent-Length: 99\r\n\r\n" + BODY,
        b"POST / HTTP/1.0\r\nContent-Length: many\r\n\r\n" + BODY,
        b"post / http/1.1\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n( PLA\r\n9;x=y\r\nY m NIL )\r\n0\r\n\r\n",
        b"POST /\r\n\r\n" + BODY,
        b"GET /(play%20m%20nil) HTTP/1.0\r\n\r\n",
        b"GET /( PLAY m NIL ) HTTP/1.0\r\n\r\n",
        b"GET /(PLAY%20m%20NIL) HTTP/1.0\n\n",
    ],
)
@pytest.mark.parametrize("end", [True, False])
def test_requests_are_read_whatever_their_header(data: bytes, end: bool) -> None:
    """Line ends, cases, lengths that are wrong or missing, chunks, GET; the connection may stay open."""
    assert parse(request_text(data, end=end)) == PlayMessage("m", None)


def test_a_length_in_characters_is_made_up_for() -> None:
    """ggp-base counts characters; what comes after is read until the parentheses close."""
    body = "( PLAY m ((name é é é)) )"
    head = f"POST / HTTP/1.0\r\nContent-Length: {len(body)}\r\n\r\n"
    assert request_text(head.encode() + body.encode(), end=False) == body


@pytest.mark.parametrize(
    "data",
    [
        b"hello",
        b"",
        b"\x16\x03\x01\x02\x00\x01\x00",
        b"PLAY\r\n\r\n",
        b"POST\r\n\r\n",
        b"(PLAY m NIL)\r\n\r\n",
    ],
)
def test_what_is_no_http_is_no_request(data: bytes) -> None:
    """Refused by name, not with a traceback."""
    with pytest.raises(ProtocolError):
        request_text(data)


def test_sizes_are_bounded() -> None:
    """Heads, bodies and chunks beyond a limit are refused before they are read."""
    for data in (
        b"POST / HTTP/1.0\r\n" + b"X: y\r\n" * 10_000,
        b"POST / HTTP/1.0\r\nContent-Length: 20000\r\n\r\n",
        b"POST / HTTP/1.0\r\n\r\n" + b"(" * 20_000,
        b"POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\nffffff\r\n",
        b"POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n" + b"1" * 40_000,
    ):
        with pytest.raises(MessageTooLarge):
            request_text(data)
    with pytest.raises(MessageTooLarge):
        reply_text(b"HTTP/1.0 200 OK\r\n\r\n" + b"x" * 20_000)
    with pytest.raises(MessageTooLarge):
        reply_text(b"x" * 200_000, limit=20_000)


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (GGP_BASE_REPLY, "ready"),
        (b"HTTP/1.0 200 OK\n\n( mark 1 1 )\n", "( mark 1 1 )"),
        (b"HTTP/1.0 200 OK\nno header\nContent-Length: 4\n\nnoop)", "noop"),
        (b"HTTP/1.1 500 Oops\r\nContent-Length: 4\r\n\r\nnoop", "noop"),
        (b"Content-type: text/acl\r\n\r\nnoop", "noop"),
        (b"noop", "noop"),
        (b"HTTP/1.0 200 OK\r\nContent-Length: 100\r\n\r\nnoop", "noop"),
        (b"HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n", ""),
        (b"HTTP/1.0 200 OK\r\nContent-Length: 4\r\n\r\n\xff\xfe\x00a", "\ufffd\ufffd\x00a"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nnoop\r\n0\r\n\r\n", "noop"),
    ],
)
def test_replies_are_read_whatever_is_around_them(data: bytes, text: str) -> None:
    """Status lines and headers do not matter, nor whether there are any."""
    assert reply_text(data) == text


def test_a_reply_that_breaks_off_within_a_chunk_is_refused() -> None:
    """What has arrived may be half a move."""
    with pytest.raises(ProtocolError, match="closed within a chunk"):
        reply_text(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nno")


def test_an_open_connection_does_not_hold_up_a_reply() -> None:
    """With a length, or with closed parentheses and silence, a reply is complete."""
    assert reply_text(GGP_BASE_REPLY, end=False) == "ready"
    assert reply_text(b"HTTP/1.0 200 OK\r\n\r\n(mark 1 1)", end=False) == "(mark 1 1)"
