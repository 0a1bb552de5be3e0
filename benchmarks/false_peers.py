"""Lets strangers answer in the place of players, and workers send false records; counts what is believed.

A reply travels as bytes of HTTP; some are changed, signed with another key, left unsigned, or sent for
another message.  A record of a tournament's match is changed in one place, and compared with its job as
`Tournament` compares what workers send.
"""

from __future__ import annotations

import asyncio
import dataclasses
from random import Random
from typing import TYPE_CHECKING, Any, Final

from case_report import CaseReport

from herbrand.game import load
from herbrand.match.keys import PrivateKey, ReplyChecker, make_key, reply_headers
from herbrand.match.protocol.http import read_reply, write_reply
from herbrand.match.records import Store, Verifier
from herbrand.match.tournament import Tournament, plan_with
from herbrand.match.tournament.job import false_claim, play

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from herbrand.match.protocol.http import Reply
    from herbrand.match.records import MatchRecord
    from herbrand.match.tournament.job import MatchJob

__all__ = ["try_false_peers"]

_GAMES: Final = ("ticTacToe", "rockPaperScissors", "kuhn", "montyHall", "nim")
_MESSAGES: Final = ("( PLAY m NIL )", "( PLAY m (( mark 1 1 ) noop ) )", "( PLAY m (noop ( mark 2 2 ) ) )")
_REPLIES: Final = ("( mark 1 1 )", "noop", "ready", "( mark 3 3 )")


def try_false_peers(folder: Path, cases: int, seed: int = 0) -> list[CaseReport]:
    """Try so many false replies and false records, half of each; return a report for each kind."""
    chance = Random(seed)
    return [*_try_replies(folder, cases // 2, chance), *_try_records(cases - cases // 2, chance)]


# -- replies -------------------------------------------------------------------------------------


def _try_replies(folder: Path, cases: int, chance: Random) -> list[CaseReport]:
    keys = []
    for name in ("player.pem", "stranger.pem"):
        make_key(folder / name)
        keys.append(PrivateKey(folder / name))
    reports = {kind: CaseReport(f"reply: {kind}") for kind in ("true", *_STRANGERS)}
    kinds = list(reports)
    for case in range(cases):
        kind = kinds[case % len(kinds)]
        report = reports[kind]
        report.tried += 1
        text, message, checker = (
            chance.choice(_REPLIES),
            chance.choice(_MESSAGES),
            ReplyChecker(keys[0].public),
        )
        asked = {name.lower(): value for name, value in checker.headers.items()}
        data = write_reply(text, headers=reply_headers(keys[0], asked, message, text))
        if kind != "true":
            data = _STRANGERS[kind](data, chance, keys, asked, message)
        reply = asyncio.run(_read(data))
        taken = reply is not None and checker.is_signed(reply.headers, message, reply.text)
        if taken and reply is not None and kind != "true" and reply.text != text:
            report.failures.append(f"case {case}: {reply.text!r} was taken for a reply of the player")
        elif kind == "true" and not taken:
            report.failures.append(f"case {case}: a reply of the player was refused")
        else:
            report.outcomes["as it was" if taken and kind != "true" else "taken" if taken else "refused"] += 1
    return list(reports.values())


async def _read(data: bytes) -> Reply | None:
    stream = asyncio.StreamReader()
    stream.feed_data(data)
    stream.feed_eof()
    try:
        return await read_reply(stream, limit=1 << 16)
    except (OSError, ValueError):
        return None


def _other_bytes(data: bytes, chance: Random, *_: Any) -> bytes:
    changed = bytearray(data)
    for _number in range(chance.randint(1, 4)):
        changed[chance.randrange(len(changed))] = chance.randrange(256)
    return bytes(changed)


def _other_key(data: bytes, chance: Random, keys: list[PrivateKey], asked: Any, message: str) -> bytes:
    del data
    text = chance.choice(("( mark 2 1 )", "( mark 2 3 )"))
    return write_reply(text, headers=reply_headers(keys[1], asked, message, text))


def _unsigned(data: bytes, chance: Random, *_: Any) -> bytes:
    del data
    return write_reply(chance.choice(("( mark 2 1 )", "( mark 2 3 )")))


def _earlier(data: bytes, chance: Random, keys: list[PrivateKey], asked: Any, message: str) -> bytes:
    """Return a reply of the player to a message with another challenge, or to another message."""
    del data
    text = chance.choice(("( mark 2 1 )", "( mark 2 3 )"))
    if chance.random() < 0.5:
        asked = {name.lower(): value for name, value in ReplyChecker(keys[0].public).headers.items()}
    else:
        message = "( PLAY m (noop noop ) )"
    return write_reply(text, headers=reply_headers(keys[0], asked, message, text))


_STRANGERS: Final[dict[str, Callable[..., bytes]]] = {
    "changed bytes": _other_bytes,
    "another key": _other_key,
    "unsigned": _unsigned,
    "of another message": _earlier,
}


_WITHOUT_MEANING: Final = frozenset({"software", "token", "claimed_hash", "states", "started"})
"""Fields of a record on which no result depends, and that nobody else can know."""

# -- records -------------------------------------------------------------------------------------


def _try_records(cases: int, chance: Random) -> list[CaseReport]:
    games = {name: load(name) for name in _GAMES}
    players = {"legal": "legal", "random": "random"}
    plan = plan_with(games, players, name="t", start_clock=20, play_clock=20, seed=7, opening=1)
    with Store(":memory:") as store:
        tournament = Tournament.create(store, plan)
        tournament._next_round()
        jobs = tournament._waiting(live=False)
    sent = [(job, play(job).record) for job in jobs]
    verifier = Verifier()
    reports = {kind: CaseReport(f"record: {kind}") for kind in ("true", *_LIES)}
    kinds = list(reports)
    for case in range(cases):
        kind = kinds[case % len(kinds)]
        job, record = chance.choice(sent)
        assert record is not None
        given = record if kind == "true" else _LIES[kind](record, chance, chance.choice(sent))
        if given is None or (kind != "true" and given == record):
            continue  # this record has nothing of the kind
        report = reports[kind]
        report.tried += 1
        claim = false_claim(job, given, verifier)
        if (claim is None) != (kind == "true"):
            report.failures.append(
                f"case {case}, match {job.match} of {job.game}: {claim or 'taken for true'}"
            )
        else:
            report.outcomes["taken" if claim is None else "refused"] += 1
    return list(reports.values())


def _other_move(record: MatchRecord, chance: Random, other: Any) -> MatchRecord:
    del other
    moves = [list(joint) for joint in record.moves]
    joint = chance.choice(moves)
    place = chance.randrange(len(joint))
    joint[place] = chance.choice([*(move for one in moves for move in one), "noop", "(mark 1 2)"])
    return dataclasses.replace(record, moves=[tuple(joint) for joint in moves])


def _other_goals(record: MatchRecord, chance: Random, other: Any) -> MatchRecord:
    del other
    goals = dict(record.goals or {})
    goals[chance.choice(list(goals))] = chance.choice((0, 25, 50, 75, 100, None))
    return dataclasses.replace(record, goals=goals)


def _fewer_steps(record: MatchRecord, chance: Random, other: Any) -> MatchRecord:
    del other
    end = chance.randrange(len(record.moves))
    return dataclasses.replace(record, moves=record.moves[:end], step_times=record.step_times[:end])


def _other_reply(record: MatchRecord, chance: Random, other: Any) -> MatchRecord | None:
    del other
    plays = [i for i, message in enumerate(record.messages) if message.kind == "PLAY" and message.counts]
    if not plays:
        return None
    at = chance.choice(plays)
    messages = list(record.messages)
    messages[at] = dataclasses.replace(messages[at], reply=chance.choice(("(no move)", "", "resign")))
    return dataclasses.replace(record, messages=messages)


def _other_match(record: MatchRecord, chance: Random, other: tuple[MatchJob, MatchRecord]) -> MatchRecord:
    del record, chance
    return other[1]


def _other_setting(record: MatchRecord, chance: Random, other: Any) -> MatchRecord:
    del other
    name = chance.choice(list(record.settings))
    return dataclasses.replace(
        record, settings={**record.settings, name: chance.choice((0, 1, 2, None, "x"))}
    )


def _other_seat(record: MatchRecord, chance: Random, other: Any) -> MatchRecord:
    del other
    players = dict(record.players)
    players[chance.choice(list(players))] = chance.choice(("legal", "random", "me"))
    return dataclasses.replace(record, players=players)


def _other_rules(record: MatchRecord, chance: Random, other: Any) -> MatchRecord:
    del other
    at = chance.randrange(len(record.rules))
    return dataclasses.replace(record, rules=record.rules[:at] + record.rules[at + 1 :])


def _other_types(record: MatchRecord, chance: Random, other: Any) -> MatchRecord | None:
    del other
    fields = {field.name for field in dataclasses.fields(record)} - _WITHOUT_MEANING
    field = chance.choice(sorted(fields))
    value: Any = chance.choice((None, 3, [], {}, "x", [None], {"x": object()}))
    if not value and not getattr(record, field):
        return None
    return dataclasses.replace(record, **{field: value})


_LIES: Final[dict[str, Callable[..., MatchRecord | None]]] = {
    "another move": _other_move,
    "other goals": _other_goals,
    "fewer steps": _fewer_steps,
    "another reply": _other_reply,
    "another match": _other_match,
    "another setting": _other_setting,
    "another player": _other_seat,
    "other rules": _other_rules,
    "other types": _other_types,
}
