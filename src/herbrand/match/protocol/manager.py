"""`Manager`: plays one match to its end, whatever the players do.

A move that is late, unreadable or not legal is replaced, and the record says so and why; the match
goes on.  All players are asked at the same time, and nobody learns a move before all have answered or
are out of time.  The role `random` is never asked: its moves are drawn.  In games with `sees` every
player is told its own move and what it sees, and nothing else.

A match may begin with prescribed moves (an opening), and one that was cut off can go on: in both cases the
players are told the moves that were made as if they had been asked for them.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
import re
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeVar

from herbrand.convert.scramble import scramble as scramble_tree
from herbrand.errors import GameError, HerbrandError, IllegalMoveError
from herbrand.game import Game
from herbrand.machine.moves import Move
from herbrand.match.protocol.events import Event, silent
from herbrand.match.protocol.messages import (
    AbortMessage,
    InfoMessage,
    InfoReply,
    PlayMessage,
    StartMessage,
    StopMessage,
    TurnMessage,
    first_term,
    parse_info,
    tidy,
)
from herbrand.match.protocol.seats import Exchange, ScrambledSeat
from herbrand.match.protocol.view import reader_within
from herbrand.syntax import read
from herbrand.syntax.names import KEYWORDS
from herbrand.syntax.printer import print_tree

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from herbrand.machine.state import State
    from herbrand.match.protocol.events import Listener
    from herbrand.match.protocol.messages import Message
    from herbrand.match.protocol.seats import Seat

__all__ = [
    "PROBLEMS",
    "SUBSTITUTES",
    "Manager",
    "Match",
    "MatchSettings",
    "Past",
    "Problem",
    "as_sent",
    "draw_moves",
    "new_match_id",
    "replacement",
    "seats_for",
]

_T = TypeVar("_T")

SUBSTITUTES: Final = ("random", "first", "noop", "forfeit")
"""What replaces a bad move: a random legal move, the first one, `noop` where it is legal (else a random
one), or nothing: the match ends."""
PROBLEMS: Final = ("timeout", "connection", "unreadable", "illegal", "failed", "ignored")
"""What can be wrong with an answer; "ignored" is a player that is not asked any more."""


@dataclass(frozen=True, slots=True)
class MatchSettings:
    """How a match is played.  Clocks are whole seconds."""

    start_clock: int = 30
    play_clock: int = 10
    grace: float = 1.0
    """Seconds that a reply may be late, for the network."""
    substitute: str = "random"
    patience: int | None = None
    """After so many problems one after another a player is no longer asked; None: never."""
    max_steps: int = 10_000
    seed: int = 0
    """Of the moves of `random` and of substituted moves."""
    reader_seconds: float = 20.0
    """How long the possible moves may be listed for the closed reader."""

    def __post_init__(self) -> None:
        if self.substitute not in SUBSTITUTES:
            raise ValueError(f"no substitute {self.substitute!r} (there are {', '.join(SUBSTITUTES)})")
        if min(self.start_clock, self.play_clock) < 0 or self.max_steps < 1:
            raise ValueError("clocks are not negative, and there is at least one step")


@dataclass(frozen=True, slots=True)
class Problem:
    """One bad reply."""

    step: int
    """The step that the reply was for, from 1; 0 for START."""
    role: str
    kind: str
    """One of `PROBLEMS`."""
    reply: str | None
    """What was answered, at most 200 characters."""
    note: str
    played: str | None
    """The move played instead; None at START and where the match ended."""


@dataclass(slots=True)
class Match:
    """What came of a match."""

    id: str
    game: str
    roles: tuple[str, ...]
    players: dict[str, str]
    """Names by role; `random` has none."""
    settings: MatchSettings
    opening: tuple[tuple[str, ...], ...] = ()
    """Joint moves that were prescribed."""
    moves: list[tuple[str, ...]] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    goals: dict[str, int | None] | None = None
    """By role; None while the match is not over, or when it was cut off."""
    reason: str = "running"
    """"terminal", "max-steps", "forfeit ROLE", "no-move ROLE", "aborted"."""
    seconds: float = 0.0

    @property
    def is_complete(self) -> bool:
        """Whether the game was played to its end."""
        return self.reason == "terminal"

    def _repr_html_(self) -> str:
        """Return what a notebook shows: players, moves, problems, goals."""
        from herbrand.runtime.notebook import block, table

        goals = self.goals or {}
        rows = [(role, self.players.get(role), goals.get(role)) for role in self.roles]
        steps = [(number, *joint) for number, joint in enumerate(self.moves, start=1)]
        problems = [(p.step, p.role, p.kind, p.note) for p in self.problems]
        return block(
            f"match {self.id} of {self.game}",
            table(rows, ("role", "player", "goal"), numbers=(2,)),
            table(steps, ("step", *self.roles), numbers=(0,)) if steps else "",
            table(problems, ("step", "role", "problem", "note"), numbers=(0,)) if problems else "",
            note=self.reason,
        )

    def as_json(self) -> dict[str, Any]:
        """Return everything as JSON-ready data."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Past:
    """What is known of a match that was cut off, and is to go on."""

    id: str
    moves: tuple[tuple[str, ...], ...]
    opening: tuple[tuple[str, ...], ...] = ()
    problems: tuple[Problem, ...] = ()
    """Of the steps in `moves`, and of START."""
    replies: Mapping[str, str] = field(default_factory=dict)
    """What was already answered in the step after them, by role."""


class Manager:
    """Plays matches of one game; one object can play many, one after another or at once."""

    def __init__(
        self,
        game: Game,
        settings: MatchSettings | None = None,
        *,
        scramble: int | None = None,
        listener: Listener = silent,
    ) -> None:
        self.game, self.rules = as_sent(game)
        """The game, and its sheet as it is sent: KIF without comments, names in the spelling of the moves."""
        self.settings = settings or MatchSettings()
        self.listener = listener
        self.scramble = scramble
        self.scrambled = None if scramble is None else scramble_tree(self.game.tree, scramble)
        """The game as players are told it, under other names; None: as it is.  The seed is `scramble`."""
        self.reader = reader_within(self.game, self.settings.reader_seconds)
        """The closed reader of replies; None where the possible moves cannot be listed."""
        self.executor = ThreadPoolExecutor(1, thread_name_prefix="manager")
        """Where questions to the rules are answered, one after another."""

    async def info(self, seats: Sequence[Seat]) -> list[InfoReply]:
        """Ask all seats at once who they are; "error" as status without an answer."""

        async def one(seat: Seat) -> InfoReply:
            exchange = await seat.ask(InfoMessage(), seconds=1.0)
            return parse_info(exchange.reply) if exchange.reply is not None else InfoReply("error")

        return list(await asyncio.gather(*map(one, seats)))

    async def play(
        self,
        seats: Mapping[str, Seat],
        *,
        match_id: str | None = None,
        opening: Sequence[Sequence[str]] = (),
        past: Past | None = None,
    ) -> Match:
        """Play a match; `seats` has one for each role but `random`.

        `opening` are joint moves to begin with; `past` is a match that goes on (`match_id` and `opening`
        are then its own).  Raises `ValueError` for missing or unknown roles, `IllegalMoveError` for an
        opening or a past that the rules do not allow.
        """
        table = self._table(seats)
        if self.scrambled is not None:
            table = {role: ScrambledSeat(seat, self.scrambled) for role, seat in table.items()}
        match = Match(
            match_id or new_match_id(self.game.name),
            self.game.name,
            self.game.roles,
            {role: seat.name for role, seat in table.items()},
            self.settings,
            tuple(map(tuple, opening)),
        )
        if past is not None:
            match.id, match.opening = past.id, past.opening
            match.problems.extend(past.problems)
        names = None if self.scrambled is None else dict(self.scrambled.names)
        self.report(
            "match",
            match,
            **match.as_json(),
            rules=self.rules,
            names=names,
            scramble=self.scramble,
            resumed=None if past is None else len(past.moves),
        )
        started = time.monotonic()
        try:
            await _Run(self, table, match, past).play()
        except (asyncio.CancelledError, HerbrandError) as error:
            match.reason = "aborted"
            with contextlib.suppress(HerbrandError):  # of the listener, whose error may be this one
                self.report("aborted", match, reason=str(error) or "aborted")
            await asyncio.gather(*(seat.ask(AbortMessage(match.id), seconds=1.0) for seat in table.values()))
            raise
        finally:
            match.seconds = round(time.monotonic() - started, 3)
            for seat in table.values():
                await seat.close()
        return match

    def judge(self, state: State, role: str, text: str) -> tuple[Move | None, str, str]:
        """Return the legal move that a reply spells, or None with the kind of problem and a note."""
        term = first_term(text)
        index = None
        for said in (text, term):
            if self.reader is not None and (index := self.reader.find(role, said)) is not None:
                move = self.reader.move(role, index)
                break
        else:
            # Without a reader, or where the sheet's `input` is narrower than what is legal: the legal moves
            # are a closed set as well.
            spelled = tidy(term).lower() if len(term) <= 10_000 else ""
            found = next((m for m in state.legal_moves(role) if str(m).lower() == spelled), None)
            if found is not None:
                return found, "", ""
            kind = "illegal" if term and self.reader is None else "unreadable"
            note = "not a move of this role"
            if self.reader is not None:
                note = str(self.reader.refusal(role, text if len(text) < 1000 else text[:1000]))
            return None, kind, note
        if not state.is_legal(role, move):
            return None, "illegal", f"`{move}` is not legal for {role} now"
        return move, "", ""

    def _table(self, seats: Mapping[str, Seat]) -> dict[str, Seat]:
        table = {self.game.roles[self.game.role_index(role)]: seat for role, seat in seats.items()}
        missing = [role for role in self.game.players if role not in table]
        if missing or len(table) != len(self.game.players):
            raise ValueError(f"a player for each of {', '.join(self.game.players)} is needed")
        return {role: table[role] for role in self.game.players}

    def report(self, kind: str, match: Match, **data: Any) -> None:
        """Tell the listener of an event of a match."""
        self.listener(Event(kind, match.id, data))


class _Run:
    """One match while it is played."""

    def __init__(self, manager: Manager, table: dict[str, Seat], match: Match, past: Past | None) -> None:
        self.manager = manager
        self.game = manager.game
        self.settings = manager.settings
        self.table = table
        self.match = match
        self.chance = random.Random(self.settings.seed)
        self.in_a_row = dict.fromkeys(table, 0)
        self.state = self.game.initial_state()
        self.joint: tuple[str, ...] | None = None
        self.percepts: dict[str, tuple[str, ...]] = {}
        self.drawn: dict[str, Move] = {}
        self.spare: dict[str, Move] = {}
        self.past = past
        self.told: list[dict[str, Message]] = []
        """The PLAY messages of the steps so far, by role, while somebody may have to be told them again."""
        self.unsure: set[str] = set()
        """Whose players may have been started anew while the match was cut off; until each has answered."""
        self.unsaid = len(match.problems)
        """How many problems the events so far have told of."""

    async def play(self) -> None:
        match, past = self.match, self.past
        if past is None:
            await self._start()
        else:
            for joint in past.moves:
                await self._make(joint)
            self._count(past.problems)
            await self._rejoin()
        while len(match.moves) < len(match.opening) and await self._off(self._prepare):
            self.told.append({role: self._message(role) for role in self.table})
            await self._tell(self.told[-1])
            self._stepped(await self._off(partial(self._advance_by, match.opening[len(match.moves)])))
        while await self._off(self._prepare):
            chosen = await self._ask()
            if chosen is None:
                break
            self._stepped(await self._off(partial(self._advance, chosen)))
        self._say(
            "end",
            goals=match.goals,
            reason=match.reason,
            steps=len(match.moves),
            problems=self._new_problems(),
        )
        await self._stop()

    # -- steps that are known before -----------------------------------------------------------

    async def _make(self, joint: tuple[str, ...]) -> None:
        """Make a joint move of the past."""
        if not await self._off(self._prepare):
            raise IllegalMoveError(f"no step {len(self.match.moves) + 1} follows: {self.match.reason}")
        self.told.append({role: self._message(role) for role in self.table})
        await self._off(partial(self._advance_by, joint))

    def _advance_by(self, joint: Sequence[str]) -> list[str]:
        """Make a prescribed joint move; chance was drawn all the same, so that later draws stay the same."""
        if len(joint) != len(self.game.roles):
            raise IllegalMoveError(f"{len(joint)} moves for {len(self.game.roles)} roles")
        plan = {}
        for role, text in zip(self.game.roles, joint, strict=True):
            if not self.state.is_legal(role, text):
                step = len(self.match.moves) + 1
                raise IllegalMoveError(f"`{text}` is not legal for {role} in step {step}")
            plan[role] = Move(text)
        return self._advance(plan)

    def _count(self, problems: Sequence[Problem]) -> None:
        """Count the problems in a row at the end of the past."""
        for role in self.table:
            bad = {problem.step for problem in problems if problem.role == role}
            step = len(self.match.moves)
            while step and step in bad:
                step -= 1
            self.in_a_row[role] = len(self.match.moves) - step

    async def _rejoin(self) -> None:
        """Tell the past to seats that cannot know it."""
        self.unsure = {role for role, seat in self.table.items() if seat.remembers}
        await asyncio.gather(*(self._catch_up(role) for role in self.table if role not in self.unsure))

    async def _catch_up(self, role: str) -> None:
        """Start a player anew and tell it all steps so far."""
        await self._begin(role, again=True)
        for messages in self.told:
            await self._tell({role: messages[role]})

    async def _tell(self, messages: Mapping[str, Message]) -> None:
        """Send PLAY to players whose answer does not count."""
        seconds = self.settings.play_clock + self.settings.grace

        async def one(role: str, message: Message) -> None:
            exchange = await self.table[role].tell(message, seconds=seconds)
            self._exchanged(role, "PLAY", str(message), exchange, counts=False)

        await asyncio.gather(*(one(role, message) for role, message in messages.items()))

    # -- steps that are asked for ---------------------------------------------------------------

    def _stepped(self, facts: list[str]) -> None:
        self._say(
            "step",
            step=len(self.match.moves),
            moves=list(self.match.moves[-1]),
            percepts={role: list(seen) for role, seen in self.percepts.items()},
            problems=self._new_problems(),
            facts=facts,
        )

    def _new_problems(self) -> list[dict[str, Any]]:
        new = [asdict(problem) for problem in self.match.problems[self.unsaid :]]
        self.unsaid = len(self.match.problems)
        return new

    async def _off(self, work: Callable[[], _T]) -> _T:
        """Do work of the rules in another thread: replies that arrive meanwhile must not become late."""
        return await asyncio.get_running_loop().run_in_executor(self.manager.executor, work)

    def _prepare(self) -> bool:
        """Get ready for a step; False, with the reason in the match, when there is none."""
        match, state = self.match, self.state
        if state.is_terminal:
            match.reason = "terminal"
            match.goals = dict(state.goals)
            return False
        if len(match.moves) >= self.settings.max_steps:
            match.reason = "max-steps"
            return False
        legal = state.legal_moves()
        stuck = next((role for role, moves in legal.items() if not moves), None)
        if stuck is not None:
            match.reason = f"no-move {stuck}"
            return False
        self.drawn, self.spare = draw_moves(state, self.chance)
        return True

    def _advance(self, chosen: dict[str, Move]) -> list[str]:
        """Make the joint move; return the facts of the new state."""
        plan = {**self.drawn, **chosen}
        self.joint = tuple(str(plan[role]) for role in self.game.roles)
        if self.game.has_percepts:
            self.percepts = {role: self.state.percepts(self.joint, role) for role in self.table}
        self.state = self.state.next(self.joint)
        self.match.moves.append(self.joint)
        return sorted(self.state.facts)

    async def _start(self) -> None:
        await asyncio.gather(*map(self._begin, self.table))
        self._say("started", problems=self._new_problems())

    async def _begin(self, role: str, *, again: bool = False) -> None:
        settings = self.settings
        message = StartMessage(
            self.match.id, role, self.manager.rules, settings.start_clock, settings.play_clock
        )
        seconds = settings.start_clock + settings.grace
        exchange = await self.table[role].begin(self.game, message, seconds=seconds)
        self._exchanged(role, "START", None, exchange, counts=not again)
        reply = (exchange.reply or "").strip().lower()
        if not again and (exchange.problem or reply != "ready"):
            note = "; ".join(exchange.notes) or "the answer to START is not `ready`"
            self._problem(0, role, exchange.problem or "unreadable", exchange.reply, note, None)

    async def _ask(self) -> dict[str, Move] | None:
        """Ask everybody at once; None when somebody forfeits."""
        past, known = self.past, {}
        if past is not None and len(self.match.moves) == len(past.moves):
            known = {
                role: Exchange(text, None, 0.0) for role, text in past.replies.items() if role in self.table
            }
        asked = [role for role in self.table if role not in known and not self._is_ignored(role)]
        messages = {role: self._message(role) for role in self.table}
        exchanges = await asyncio.gather(*(self._ask_one(role, messages[role]) for role in asked))
        self.past = None
        self.told = [*self.told, messages] if self.unsure else []
        replies = {**known, **dict(zip(asked, exchanges, strict=True))}
        return await self._off(lambda: self._choices(replies))

    async def _ask_one(self, role: str, message: Message) -> Exchange:
        seat, seconds = self.table[role], self.settings.play_clock + self.settings.grace
        exchange = await seat.ask(message, seconds=seconds)
        if role in self.unsure and exchange.reply is not None:
            self.unsure.discard(role)
            if exchange.reply.strip().lower() in ("busy", "nil"):
                self._exchanged(role, "PLAY", str(message), exchange, counts=False)
                await self._catch_up(role)  # it was started anew as well
                exchange = await seat.ask(message, seconds=seconds)
        self._exchanged(role, "PLAY", str(message), exchange)
        return exchange

    def _choices(self, replies: Mapping[str, Exchange]) -> dict[str, Move] | None:
        """Return the moves that count; None when somebody forfeits."""
        step = len(self.match.moves) + 1
        settings = self.settings
        chosen: dict[str, Move] = {}
        for role in self.table:
            exchange = replies.get(role)
            move, kind, note = self._judged(role, exchange)
            if move is not None:
                self.in_a_row[role] = 0
                chosen[role] = move
                continue
            self.in_a_row[role] += 1
            if settings.substitute == "forfeit":
                self._problem(step, role, kind, exchange.reply if exchange else None, note, None)
                self.match.reason = f"forfeit {role}"
                return None
            chosen[role] = replacement(self.state, role, settings.substitute, self.spare[role])
            self._problem(step, role, kind, exchange.reply if exchange else None, note, str(chosen[role]))
        return chosen

    def _judged(self, role: str, exchange: Exchange | None) -> tuple[Move | None, str, str]:
        if exchange is None:
            return None, "ignored", f"not asked after {self.settings.patience} problems in a row"
        if exchange.reply is None:
            return None, exchange.problem or "failed", "; ".join(exchange.notes)
        try:
            return self.manager.judge(self.state, role, exchange.reply)
        except HerbrandError as error:
            return None, "unreadable", str(error)

    def _is_ignored(self, role: str) -> bool:
        patience = self.settings.patience
        return patience is not None and self.in_a_row[role] >= patience

    def _message(self, role: str, *, over: bool = False) -> Message:
        if self.game.has_percepts:
            last = None if self.joint is None else self.joint[self.game.role_index(role)]
            seen = None if self.joint is None else self.percepts[role]
            return TurnMessage(self.match.id, len(self.match.moves), last, seen, over)
        return (StopMessage if over else PlayMessage)(self.match.id, self.joint)

    async def _stop(self) -> None:
        """Tell everybody that it is over; a slow player holds nobody up for long."""
        seconds = min(float(self.settings.play_clock), 5.0)

        async def one(role: str, seat: Seat) -> None:
            cut_off = not self.match.is_complete
            message = AbortMessage(self.match.id) if cut_off else self._message(role, over=True)
            exchange = await seat.ask(message, seconds=1.0 if cut_off else max(1.0, seconds))
            self._exchanged(role, "ABORT" if cut_off else "STOP", str(message), exchange)

        await asyncio.gather(*(one(role, seat) for role, seat in self.table.items()))

    def _exchanged(
        self, role: str, word: str, text: str | None, exchange: Exchange, *, counts: bool = True
    ) -> None:
        """Tell of a message and its answer; `counts` is False where the answer is no move."""
        self._say(
            "exchange",
            role=role,
            message=word,
            text=text,
            step=len(self.match.moves),
            reply=exchange.reply,
            counts=counts,
            seconds=round(exchange.seconds, 4),
            problem=exchange.problem,
            notes=list(exchange.notes),
        )

    def _problem(
        self, step: int, role: str, kind: str, reply: str | None, note: str, played: str | None
    ) -> None:
        shown = reply if reply is None else reply[:200]
        self.match.problems.append(Problem(step, role, kind, shown, note, played))

    def _say(self, kind: str, **data: Any) -> None:
        self.manager.report(kind, self.match, **data)


def draw_moves(state: State, chance: random.Random) -> tuple[dict[str, Move], dict[str, Move]]:
    """Draw for a step: the moves of `random`, and for each player one that may have to replace a bad one.

    Everything is drawn before anybody is asked, so that it does not depend on the answers: the seed and
    the moves made before give the draws.
    """
    game = state.game
    drawn = {role: state.draw(chance) for role in game.roles if role == game.chance_role}
    legal = state.legal_moves()
    return drawn, {role: chance.choice(legal[role]) for role in game.players}


def replacement(state: State, role: str, policy: str, spare: Move) -> Move:
    """Return the move that replaces a bad one; `spare` is the one that was drawn."""
    if policy == "first":
        return state.legal_moves(role)[0]
    if policy == "noop" and state.is_legal(role, "noop"):
        return Move("noop")
    return spare


def new_match_id(game: str) -> str:
    """Return a name for a match that every known player can read: the game, and some random letters."""
    word = re.sub(r"[^a-z0-9_-]", "", game.lower())[:32]
    if not word[:1].isalpha():
        word = f"game{word}"
    return f"{word}.{random.SystemRandom().getrandbits(48):012x}"


def as_sent(game: Game) -> tuple[Game, str]:
    """Return the text of a game as players are sent it, and the game that they then play.

    That is another one where names had to be renamed because KIF cannot spell them.  Raises `GameError` for a
    game that cannot be played.
    """
    game.require_playable()
    printed = print_tree(game.tree.statements)  # without comments, which would swallow the rest of the line
    if printed.diagnostics:
        game = Game(read(printed.text, "prefix"), name=game.name, limits=game.limits)
    return game, _as_played(printed.text, game.rules.spelling)


def _as_played(text: str, spelling: Mapping[str, str]) -> str:
    """Put the text on one line and spell each name as states and moves do; some players tell case apart."""

    def spelled(name: str) -> str:
        return name if name in KEYWORDS or name.startswith("?") else spelling.get(name, name)

    return re.sub(r"[^\s()]+", lambda match: spelled(match[0]), " ".join(text.split()))


def seats_for(game: Game, seats: Sequence[Seat]) -> dict[str, Seat]:
    """Give the seats to the roles that choose, in role order; `GameError` when their number differs."""
    if len(seats) != len(game.players):
        many = f"{len(game.players)} player{'s' if len(game.players) != 1 else ''}"
        raise GameError(f"{game.name} is for {many} ({', '.join(game.players)}), not for {len(seats)}")
    return dict(zip(game.players, seats, strict=True))
