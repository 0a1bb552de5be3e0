"""The messages of the protocol as values; parsing and printing them.

A message is one list in prefix notation whose first word is case-insensitive.  `parse` accepts the forms of
all published managers; `str(message)` is the text that the ggp-base manager sends (with hidden information,
that of the Dresden controller of 2013):

    >>> message = parse("(play kuhn.1 (BET noop))")
    >>> message.moves, str(message)
    (('BET', 'noop'), '( PLAY kuhn.1 (BET noop ) )')

| form                                         | what it is                                           |
|----------------------------------------------|------------------------------------------------------|
| `(INFO)`, `(PING)`                           | is the player available?                             |
| `(PREVIEW (rules) clock)`                    | these rules will be played soon                      |
| `(START id role (rules) start play)`         | a match begins; further arguments are ignored        |
| `(RESUME id role (rules) start play (steps))` | herbrand only: a match goes on that the player forgot |
| `(PLAY id moves)`, `(STOP id moves)`         | the last joint move, `NIL` at first; in 2010 percepts |
| `(PLAY id turn move percepts)`, `(STOP ...)` | hidden information, since 2013: own move and percepts |
| `(SEES id percepts)`                         | hidden information, Stanford 2018: percepts alone    |
| `(ABORT id)`                                 | forget the match                                     |

Texts are split by counting parentheses, without recursion at any depth.  Comments from `;` to the end of a
line are ignored.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TypeAlias

from herbrand.errors import ProtocolError

__all__ = [
    "AbortMessage",
    "InfoMessage",
    "InfoReply",
    "Message",
    "PingMessage",
    "PlayMessage",
    "PreviewMessage",
    "ResumeMessage",
    "SeesMessage",
    "StartMessage",
    "StopMessage",
    "TurnMessage",
    "first_term",
    "is_stop",
    "margin",
    "normalise",
    "parse",
    "parse_info",
    "spaced",
    "split_list",
    "split_terms",
]

_TOKEN = re.compile(r";[^\r\n]*|[()]|[^\s();]+")
_CLOCK = re.compile(r"[0-9]{1,9}")
_MATCH_ID = re.compile(r"[^\s();]{1,256}")


@dataclass(frozen=True, slots=True)
class InfoMessage:
    """Ask for the name and status of a player."""

    def __str__(self) -> str:
        return "( INFO )"


@dataclass(frozen=True, slots=True)
class PingMessage:
    """Stanford's variant of INFO, answered with the status alone."""

    def __str__(self) -> str:
        return "( PING )"


@dataclass(frozen=True, slots=True)
class PreviewMessage:
    """Announce rules that will be played soon."""

    rules: str
    """The statements, one after another."""
    clock: int

    def __str__(self) -> str:
        return f"( PREVIEW {_rules(self.rules)} {self.clock} )"


@dataclass(frozen=True, slots=True)
class StartMessage:
    """Start a match."""

    match: str
    role: str
    rules: str
    """The statements, one after another."""
    start_clock: int
    play_clock: int

    def __str__(self) -> str:
        role = spaced(self.role)
        return f"( START {self.match} {role} {_rules(self.rules)} {self.start_clock} {self.play_clock})"


@dataclass(frozen=True, slots=True)
class ResumeMessage(StartMessage):
    """Continue a match in a restarted player that does not know it; an extension of herbrand.

    The next PLAY follows the reply.
    """

    steps: tuple[str, ...]
    """The steps before the one of which the next PLAY tells: joint moves in role order, or with hidden
    information the player's own move and the list of its percepts."""

    def __str__(self) -> str:
        start = StartMessage.__str__(self)
        return f"( RESUME{start[len('( START') : -1]} ({' '.join(map(spaced, self.steps))}))"


@dataclass(frozen=True, slots=True)
class PlayMessage:
    """Ask for a move and send the last joint move, or in the form of 2010 the percepts."""

    match: str
    moves: tuple[str, ...] | None
    """In role order; None (`NIL`) before the first step."""

    def __str__(self) -> str:
        return f"( PLAY {self.match} {_moves(self.moves)} )"


@dataclass(frozen=True, slots=True)
class StopMessage:
    """End a match and send the last joint move, or in the form of 2010 the percepts."""

    match: str
    moves: tuple[str, ...] | None

    def __str__(self) -> str:
        return f"( STOP {self.match} {_moves(self.moves)} )"


@dataclass(frozen=True, slots=True)
class TurnMessage:
    """PLAY or STOP with hidden information: the player's own move and its percepts."""

    match: str
    turn: int
    """0 in the first PLAY, one more in each message."""
    last: str | None
    """The player's move as it was played; None (`NIL`) before the first step."""
    percepts: tuple[str, ...] | None
    over: bool
    """Whether the message is STOP."""

    def __str__(self) -> str:
        word = "STOP" if self.over else "PLAY"
        last = "NIL" if self.last is None else spaced(self.last)
        seen = "NIL" if self.percepts is None else _moves(self.percepts)
        return f"( {word} {self.match} {self.turn} {last} {seen} )"


@dataclass(frozen=True, slots=True)
class SeesMessage:
    """PLAY with hidden information in the form of 2018: percepts only."""

    match: str
    percepts: tuple[str, ...] | None

    def __str__(self) -> str:
        return f"( SEES {self.match} {_moves(self.percepts)} )"


@dataclass(frozen=True, slots=True)
class AbortMessage:
    """Abandon the match."""

    match: str

    def __str__(self) -> str:
        return f"( ABORT {self.match} )"


Message: TypeAlias = (
    InfoMessage
    | PingMessage
    | PreviewMessage
    | StartMessage
    | ResumeMessage
    | PlayMessage
    | StopMessage
    | TurnMessage
    | SeesMessage
    | AbortMessage
)


def is_stop(message: Message) -> bool:
    """Whether a message is STOP, in any of its forms."""
    return isinstance(message, StopMessage) or (isinstance(message, TurnMessage) and message.over)


def parse(text: str) -> Message:
    """Parse a message; raise `ProtocolError` with the reason if that fails."""
    parts = split_list(text)
    if not parts:
        raise ProtocolError("empty message")
    word, *arguments = parts
    word = word.upper()
    if word in ("INFO", "PING"):
        _check_arity(word, arguments, 0)
        return InfoMessage() if word == "INFO" else PingMessage()
    if word == "PREVIEW":
        _check_arity(word, arguments, 2)
        return PreviewMessage(_list_contents(arguments[0]), _clock(arguments[1]))
    if word in ("START", "RESUME"):
        _check_arity(word, arguments, 5 if word == "START" else 6, more=True)
        match, role, rules, start, play = arguments[:5]
        begin = _match_id(match), normalise(role), _list_contents(rules), _clock(start), _clock(play)
        if word == "START":
            return StartMessage(*begin)
        return ResumeMessage(*begin, tuple(map(_step, split_list(arguments[5]))))
    if word == "ABORT":
        _check_arity(word, arguments, 1)
        return AbortMessage(_match_id(arguments[0]))
    if word == "SEES":
        _check_arity(word, arguments, 2)
        return SeesMessage(_match_id(arguments[0]), _list_or_nil(arguments[1]))
    if word in ("PLAY", "STOP"):
        if len(arguments) == 4:
            match, turn, last, percepts = arguments
            move = None if last.upper() == "NIL" else normalise(last)
            return TurnMessage(_match_id(match), _clock(turn), move, _list_or_nil(percepts), word == "STOP")
        _check_arity(word, arguments, 2)
        kind = PlayMessage if word == "PLAY" else StopMessage
        return kind(_match_id(arguments[0]), _list_or_nil(arguments[1]))
    raise ProtocolError(f"unknown message `{word[:20]}`")


def split_terms(text: str) -> list[str]:
    """Split a text into its expressions without changing them; `ProtocolError` for unbalanced parentheses.

    >>> split_terms("(mark 1 1)noop ; a comment")
    ['(mark 1 1)', 'noop']
    """
    terms: list[str] = []
    depth = begin = 0
    for match in _TOKEN.finditer(text):
        token = match[0]
        if token[0] == ";":
            continue
        if token == "(":
            if not depth:
                begin = match.start()
            depth += 1
        elif token == ")":
            depth -= 1
            if depth < 0:
                raise ProtocolError("unexpected closing parenthesis")
            if not depth:
                terms.append(text[begin : match.end()])
        elif not depth:
            terms.append(token)
    if depth:
        raise ProtocolError("missing closing parenthesis")
    return terms


def split_list(text: str) -> list[str]:
    """Split a text that is one list into the elements of that list."""
    terms = split_terms(text)
    if len(terms) != 1 or not terms[0].startswith("("):
        raise ProtocolError("a message is one list in parentheses")
    return split_terms(terms[0][1:-1])


def first_term(text: str) -> str:
    """Return the first expression of a text; "" if there is none or it is incomplete.

    Old players append `(explanation "...") (taunt "...")` to their replies.
    """
    depth = 0
    begin: int | None = None
    for match in _TOKEN.finditer(text):
        token = match[0]
        if token[0] == ";":
            continue
        if begin is None:
            begin = match.start()
        depth += (token == "(") - (token == ")")
        if depth <= 0:
            return text[begin : match.end()] if depth == 0 else ""
    return ""


def normalise(text: str) -> str:
    """Normalise the white space of an expression to that of `str(Move)`.

    >>> normalise("( mark 1  1 )")
    '(mark 1 1)'
    """
    return spaced(text).replace("( ", "(").replace(" )", ")")


def spaced(text: str) -> str:
    """Format expressions as ggp-base does, with blanks between all tokens and without comments.

    >>> spaced("(mark 1 1)")
    '( mark 1 1 )'
    """
    return " ".join(token for token in _TOKEN.findall(text) if token[0] != ";")


def margin(clock: float, most: float) -> float:
    """Return the seconds before the end of a clock at which an answer should be ready."""
    return min(most, 0.2 * clock)


@dataclass(frozen=True, slots=True)
class InfoReply:
    """A player's answer to INFO."""

    status: str | None
    """"available", "busy", ... in lower case; "error" without an answer; None if the answer has no status."""
    name: str | None = None
    species: str | None = None
    memory: int | None = None
    """The memory limit of the player in megabytes; managers skip pairs that they do not know."""

    def __str__(self) -> str:
        memory = "" if self.memory is None else f" ( memory {self.memory} )"
        return f"( ( name {self.name} ) ( status {self.status} ){memory} )"


def parse_info(text: str) -> InfoReply:
    """Parse the answer to INFO as tolerantly as ggp-base does; unreadable text gives an empty reply.

    >>> parse_info("((name my bot) (status AVAILABLE) 17 (x (y z)))")
    InfoReply(status='available', name='mybot', species=None, memory=None)
    """
    text = text.strip()
    if re.fullmatch(r"[A-Za-z]+", text):
        return InfoReply(text.lower())
    fields: dict[str, str] = {}
    try:
        for part in split_list(text):
            if part.startswith("("):
                key, *values = split_list(part) or [""]
                fields.setdefault(key.lower(), "".join(v for v in values if not v.startswith("(")))
    except ProtocolError:
        return InfoReply(None)
    status = fields.get("status")
    memory = fields.get("memory", "")
    return InfoReply(
        status.lower() if status else None, fields.get("name"), fields.get("species"),
        int(memory) if re.fullmatch("[0-9]{1,9}", memory) else None,
    )  # fmt: skip


def _rules(rules: str) -> str:
    return f"({' '.join(map(spaced, split_terms(rules)))} )"


def _moves(moves: tuple[str, ...] | None) -> str:
    return "NIL" if moves is None else f"({''.join(f'{spaced(move)} ' for move in moves)})"


def _step(text: str) -> str:
    split_list(text)  # a step is a list
    return normalise(text)


def _check_arity(word: str, arguments: list[str], number: int, *, more: bool = False) -> None:
    if len(arguments) < number or (len(arguments) > number and not more):
        raise ProtocolError(
            f"{word} has {number} arguments{' or more' if more else ''}, not {len(arguments)}"
        )


def _list_contents(text: str) -> str:
    if not text.startswith("("):
        raise ProtocolError("the rules are a list in parentheses")
    return text[1:-1].strip()


def _match_id(text: str) -> str:
    if not _MATCH_ID.fullmatch(text):
        raise ProtocolError("a match id is a word of at most 256 characters")
    return text


def _clock(text: str) -> int:
    if not _CLOCK.fullmatch(text):
        raise ProtocolError(f"`{text[:20]}` is not a number of seconds or steps")
    return int(text)


def _list_or_nil(text: str) -> tuple[str, ...] | None:
    return None if text.upper() == "NIL" else tuple(map(normalise, split_list(text)))
