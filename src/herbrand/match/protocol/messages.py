"""The messages of the protocol as values, and their texts.

A message is one list in prefix notation; its first word may be in any case.  `parse` reads the forms
of all published managers, `str(message)` is the text that the ggp-base manager sends (for hidden
information, that of the Dresden controller of 2013):

    >>> message = parse("(play kuhn.1 (BET noop))")
    >>> message.moves, str(message)
    (('BET', 'noop'), '( PLAY kuhn.1 (BET noop ) )')

| form                                         | what it is                                           |
|----------------------------------------------|------------------------------------------------------|
| `(INFO)`, `(PING)`                           | is anybody there?                                    |
| `(PREVIEW (rules) clock)`                    | these rules will be played                           |
| `(START id role (rules) start play)`         | a match begins; more arguments are passed over       |
| `(PLAY id moves)`, `(STOP id moves)`         | what was played, `NIL` at first; in 2010 percepts    |
| `(PLAY id turn move percepts)`, `(STOP ...)` | hidden information, since 2013: own move and percepts |
| `(SEES id percepts)`                         | hidden information, Stanford 2018: percepts alone    |
| `(ABORT id)`                                 | forget the match                                     |

Texts are split by counting parentheses: nothing recurses, whatever the depth.  Comments from `;` to
the end of a line are passed over.
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
    "SeesMessage",
    "StartMessage",
    "StopMessage",
    "TurnMessage",
    "first_term",
    "parse",
    "parse_info",
    "spaced",
    "split_list",
    "split_terms",
    "tidy",
]

_TOKEN = re.compile(r";[^\r\n]*|[()]|[^\s();]+")
_CLOCK = re.compile(r"[0-9]{1,9}")
_MATCH_ID = re.compile(r"[^\s();]{1,256}")


@dataclass(frozen=True, slots=True)
class InfoMessage:
    """Who is there, and is it free?"""

    def __str__(self) -> str:
        return "( INFO )"


@dataclass(frozen=True, slots=True)
class PingMessage:
    """The Stanford word for INFO, answered with the status alone."""

    def __str__(self) -> str:
        return "( PING )"


@dataclass(frozen=True, slots=True)
class PreviewMessage:
    """These rules will be played soon."""

    rules: str
    """The statements, one after another."""
    clock: int

    def __str__(self) -> str:
        return f"( PREVIEW {_rules(self.rules)} {self.clock} )"


@dataclass(frozen=True, slots=True)
class StartMessage:
    """A match begins."""

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
class PlayMessage:
    """Ask for a move, and tell the moves made before; in the form of 2010, what was seen."""

    match: str
    moves: tuple[str, ...] | None
    """One for each role in role order; None (`NIL`) before the first step."""

    def __str__(self) -> str:
        return f"( PLAY {self.match} {_moves(self.moves)} )"


@dataclass(frozen=True, slots=True)
class StopMessage:
    """The match is over; the last moves, or in the form of 2010 what was seen."""

    match: str
    moves: tuple[str, ...] | None

    def __str__(self) -> str:
        return f"( STOP {self.match} {_moves(self.moves)} )"


@dataclass(frozen=True, slots=True)
class TurnMessage:
    """PLAY or STOP with hidden information: the own move as it counted, and what was seen."""

    match: str
    turn: int
    """0 in the first PLAY, one more in each message."""
    last: str | None
    """The move that was taken for this player; None (`NIL`) before the first step."""
    percepts: tuple[str, ...] | None
    over: bool
    """Whether it is STOP."""

    def __str__(self) -> str:
        word = "STOP" if self.over else "PLAY"
        last = "NIL" if self.last is None else spaced(self.last)
        seen = "NIL" if self.percepts is None else _moves(self.percepts)
        return f"( {word} {self.match} {self.turn} {last} {seen} )"


@dataclass(frozen=True, slots=True)
class SeesMessage:
    """PLAY with hidden information in the form of 2018: only what was seen."""

    match: str
    percepts: tuple[str, ...] | None

    def __str__(self) -> str:
        return f"( SEES {self.match} {_moves(self.percepts)} )"


@dataclass(frozen=True, slots=True)
class AbortMessage:
    """Forget the match."""

    match: str

    def __str__(self) -> str:
        return f"( ABORT {self.match} )"


Message: TypeAlias = (
    InfoMessage
    | PingMessage
    | PreviewMessage
    | StartMessage
    | PlayMessage
    | StopMessage
    | TurnMessage
    | SeesMessage
    | AbortMessage
)


def parse(text: str) -> Message:
    """Read a message; raise `ProtocolError`, saying why, for a text that is none."""
    parts = split_list(text)
    if not parts:
        raise ProtocolError("an empty message")
    word, *given = parts
    word = word.upper()
    if word in ("INFO", "PING"):
        _count(word, given, 0)
        return InfoMessage() if word == "INFO" else PingMessage()
    if word == "PREVIEW":
        _count(word, given, 2)
        return PreviewMessage(_inside(given[0]), _clock(given[1]))
    if word == "START":
        _count(word, given, 5, more=True)
        match, role, rules, start, play = given[:5]
        return StartMessage(_match_id(match), tidy(role), _inside(rules), _clock(start), _clock(play))
    if word == "ABORT":
        _count(word, given, 1)
        return AbortMessage(_match_id(given[0]))
    if word == "SEES":
        _count(word, given, 2)
        return SeesMessage(_match_id(given[0]), _list_or_nil(given[1]))
    if word in ("PLAY", "STOP"):
        if len(given) == 4:
            match, turn, last, percepts = given
            move = None if last.upper() == "NIL" else tidy(last)
            return TurnMessage(_match_id(match), _clock(turn), move, _list_or_nil(percepts), word == "STOP")
        _count(word, given, 2)
        kind = PlayMessage if word == "PLAY" else StopMessage
        return kind(_match_id(given[0]), _list_or_nil(given[1]))
    raise ProtocolError(f"no message `{word[:20]}` in the protocol")


def split_terms(text: str) -> list[str]:
    """Split a text into its expressions, as they are written.

    >>> split_terms("(mark 1 1)noop ; a comment")
    ['(mark 1 1)', 'noop']
    """
    found: list[str] = []
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
                raise ProtocolError("a parenthesis closes nothing")
            if not depth:
                found.append(text[begin : match.end()])
        elif not depth:
            found.append(token)
    if depth:
        raise ProtocolError("a parenthesis is not closed")
    return found


def split_list(text: str) -> list[str]:
    """Split the one list that a text is into its expressions."""
    terms = split_terms(text)
    if len(terms) != 1 or not terms[0].startswith("("):
        raise ProtocolError("a message is one list in parentheses")
    return split_terms(terms[0][1:-1])


def first_term(text: str) -> str:
    """Return the first expression of a text; "" where there is none, or it is not complete.

    Replies were once followed by `(explanation "...") (taunt "...")`, which nobody reads.
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


def tidy(text: str) -> str:
    """Write an expression with single blanks, as `str(Move)` does.

    >>> tidy("( mark 1  1 )")
    '(mark 1 1)'
    """
    return spaced(text).replace("( ", "(").replace(" )", ")")


def spaced(text: str) -> str:
    """Write expressions as ggp-base does, with blanks between all signs, without comments.

    >>> spaced("(mark 1 1)")
    '( mark 1 1 )'
    """
    return " ".join(token for token in _TOKEN.findall(text) if token[0] != ";")


@dataclass(frozen=True, slots=True)
class InfoReply:
    """What a player answered to INFO."""

    status: str | None
    """"available", "busy", ... in lower case; "error" without an answer; None if it does not say."""
    name: str | None = None
    species: str | None = None

    @property
    def is_free(self) -> bool:
        """Whether a match may be started."""
        return self.status in ("available", "ready")

    def __str__(self) -> str:
        return f"( ( name {self.name} ) ( status {self.status} ) )"


def parse_info(text: str) -> InfoReply:
    """Read the answer to INFO, as tolerantly as ggp-base does; nonsense tells nothing.

    >>> parse_info("((name my bot) (status AVAILABLE) 17 (x (y z)))")
    InfoReply(status='available', name='mybot', species=None)
    """
    text = text.strip()
    if re.fullmatch(r"[A-Za-z]+", text):
        return InfoReply(text.lower())
    known: dict[str, str] = {}
    try:
        for part in split_list(text):
            if part.startswith("("):
                key, *values = split_list(part) or [""]
                known.setdefault(key.lower(), "".join(v for v in values if not v.startswith("(")))
    except ProtocolError:
        return InfoReply(None)
    status = known.get("status")
    return InfoReply(status.lower() if status else None, known.get("name"), known.get("species"))


def _rules(rules: str) -> str:
    return f"({' '.join(map(spaced, split_terms(rules)))} )"


def _moves(moves: tuple[str, ...] | None) -> str:
    return "NIL" if moves is None else f"({''.join(f'{spaced(move)} ' for move in moves)})"


def _count(word: str, given: list[str], number: int, *, more: bool = False) -> None:
    if len(given) < number or (len(given) > number and not more):
        raise ProtocolError(f"{word} has {number} arguments{' or more' if more else ''}, not {len(given)}")


def _inside(text: str) -> str:
    if not text.startswith("("):
        raise ProtocolError("the rules are a list in parentheses")
    return text[1:-1].strip()


def _match_id(text: str) -> str:
    if not _MATCH_ID.fullmatch(text):
        raise ProtocolError("a match is named by a word of at most 256 characters")
    return text


def _clock(text: str) -> int:
    if not _CLOCK.fullmatch(text):
        raise ProtocolError(f"`{text[:20]}` is no number of seconds or steps")
    return int(text)


def _list_or_nil(text: str) -> tuple[str, ...] | None:
    return None if text.upper() == "NIL" else tuple(map(tidy, split_list(text)))
