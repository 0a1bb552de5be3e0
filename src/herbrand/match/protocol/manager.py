"""`Manager`: plays one match to its end, whatever the players do.

A late, unreadable or illegal move is replaced and recorded as a `Problem`; the match continues.  All players
are asked at the same time, and none learns a move before all have answered or timed out.  Moves of the role
`random` are drawn.  In games with `sees` every player is sent its own move and its percepts, and nothing
else.

A match may begin with prescribed moves (an opening), and an interrupted match can be resumed: in both cases
the players are sent the moves so far in PLAY messages whose answers are ignored.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
import re
import time
from collections import Counter
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
    ResumeMessage,
    StartMessage,
    StopMessage,
    TurnMessage,
    first_term,
    normalise,
    parse_info,
)
from herbrand.match.protocol.seats import Exchange, ScrambledSeat
from herbrand.match.protocol.view import reader_within
from herbrand.syntax import read
from herbrand.syntax.names import KEYWORDS
from herbrand.syntax.printer import print_tree

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Mapping, Sequence

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
"""Replacements for a bad move: a random legal move, the first one, `noop` if legal (else a random one); with
`forfeit` the match ends, and its player has lost."""
_MOST_RESUMPTIONS = 3
"""How often a player of a match may be restarted."""
PROBLEMS: Final = ("timeout", "connection", "unreadable", "unsigned", "illegal", "failed", "ignored")
"""Kinds of bad answers; "ignored" is a player that is no longer asked."""


@dataclass(frozen=True, slots=True)
class MatchSettings:
    """Settings of a match.  Clocks are whole seconds."""

    start_clock: int = 30
    play_clock: int = 10
    grace: float = 1.0
    """Seconds that a reply may be late, to allow for network latency."""
    substitute: str = "random"
    patience: int | None = None
    """Consecutive problems after which a player is no longer asked; None for no limit."""
    max_steps: int = 10_000
    seed: int = 0
    """For the moves of `random` and substituted moves."""
    reader_seconds: float = 20.0
    """Time limit for listing the possible moves for the closed reader."""
    forfeit_after: int | None = None
    """Number of replaced moves of a player after which its next bad move forfeits the match; None: never."""

    def __post_init__(self) -> None:
        if self.substitute not in SUBSTITUTES:
            raise ValueError(f"unknown substitute {self.substitute!r} (one of {', '.join(SUBSTITUTES)})")
        if min(self.start_clock, self.play_clock) < 0 or self.max_steps < 1:
            raise ValueError("clocks must not be negative, and max_steps must be at least 1")
        if self.forfeit_after is not None and self.forfeit_after < 0:
            raise ValueError("forfeit_after must not be negative")

    def forfeits(self, replaced: int) -> bool:
        """Whether a bad move forfeits the match for a player with a number of replaced ones."""
        if self.substitute == "forfeit":
            return True
        return self.forfeit_after is not None and replaced >= self.forfeit_after


@dataclass(frozen=True, slots=True)
class Problem:
    """One bad reply."""

    step: int
    """The step of the reply, from 1; 0 for START."""
    role: str
    kind: str
    """One of `PROBLEMS`."""
    reply: str | None
    """The answer, at most 200 characters."""
    note: str
    played: str | None
    """The move played instead; None at START and where the match ended."""


@dataclass(slots=True)
class Match:
    """A match and its outcome."""

    id: str
    game: str
    roles: tuple[str, ...]
    players: dict[str, str]
    """Names by role; `random` has none."""
    settings: MatchSettings
    opening: tuple[tuple[str, ...], ...] = ()
    """Prescribed joint moves."""
    moves: list[tuple[str, ...]] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    goals: dict[str, int | None] | None = None
    """By role; None while the match is running, or if it did not reach a terminal state."""
    reason: str = "running"
    """"terminal", "max-steps", "forfeit ROLE", "no-move ROLE", "aborted"."""
    seconds: float = 0.0

    @property
    def is_complete(self) -> bool:
        """Whether the game was played to its end."""
        return self.reason == "terminal"

    def _repr_html_(self) -> str:
        """Return the players, moves, problems and goals as HTML for notebooks."""
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
    """The part of an interrupted match that has been played."""

    id: str
    moves: tuple[tuple[str, ...], ...]
    opening: tuple[tuple[str, ...], ...] = ()
    problems: tuple[Problem, ...] = ()
    """The problems of START and of the steps in `moves`."""
    replies: Mapping[str, str] = field(default_factory=dict)
    """By role, answers that already arrived for the step after `moves`."""


class Manager:
    """Plays any number of matches of one game, one after another or concurrently."""

    def __init__(
        self,
        game: Game,
        settings: MatchSettings | None = None,
        *,
        scramble: int | None = None,
        listener: Listener = silent,
    ) -> None:
        self.game, self.rules = as_sent(game)
        """The game, and its rules as sent: KIF without comments, names spelled as in moves."""
        self.settings = settings or MatchSettings()
        self.listener = listener
        self.scramble = scramble
        self.scrambled = None if scramble is None else scramble_tree(self.game.tree, scramble)
        """The game with scrambled names (with seed `scramble`), as sent to players; None if not scrambled."""
        self.reader = reader_within(self.game, self.settings.reader_seconds)
        """The closed reader of replies; None if the possible moves cannot be listed."""
        self.executor = ThreadPoolExecutor(1, thread_name_prefix="manager")
        """Evaluates the rules, one call at a time."""

    async def info(self, seats: Sequence[Seat]) -> list[InfoReply]:
        """Send INFO to all seats at once; the status is "error" for those that do not answer."""

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
        """Play a match; `seats` has one seat for each role but `random`.

        `opening` are joint moves to begin with; `past` is a match to resume (with its own id and opening).
        Raises `ValueError` for missing or unknown roles, `IllegalMoveError` for an illegal opening or past.
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
        except (asyncio.CancelledError, HerbrandError, OSError, MemoryError) as error:
            match.reason = "aborted"
            # the listener may have caused this error
            with contextlib.suppress(HerbrandError, OSError, MemoryError):
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
        for spelling in (text, term):
            if self.reader is not None and (index := self.reader.find(role, spelling)) is not None:
                move = self.reader.move(role, index)
                break
        else:
            # no reader, or legal moves beyond the `input` facts of the rules: compare with the legal moves
            spelled = normalise(term).lower() if len(term) <= 10_000 else ""
            legal = next((m for m in state.legal_moves(role) if str(m).lower() == spelled), None)
            if legal is not None:
                return legal, "", ""
            kind = "illegal" if term and self.reader is None else "unreadable"
            note = "not a move of this role"
            if self.reader is not None:
                note = str(self.reader.refusal(role, text if len(text) < 1000 else text[:1000]))
            return None, kind, note
        if not state.is_legal(role, move):
            return None, "illegal", f"`{move}` is not legal for {role}"
        return move, "", ""

    def _table(self, seats: Mapping[str, Seat]) -> dict[str, Seat]:
        table = {self.game.roles[self.game.role_index(role)]: seat for role, seat in seats.items()}
        missing = [role for role in self.game.players if role not in table]
        if missing or len(table) != len(self.game.players):
            raise ValueError(f"one player is needed for each of {', '.join(self.game.players)}")
        return {role: table[role] for role in self.game.players}

    def report(self, kind: str, match: Match, **data: Any) -> None:
        """Pass an event of a match to the listener."""
        self.listener(Event(kind, match.id, data))


class _Run:
    """One running match."""

    def __init__(self, manager: Manager, table: dict[str, Seat], match: Match, past: Past | None) -> None:
        self.manager = manager
        self.game = manager.game
        self.settings = manager.settings
        self.table = table
        self.match = match
        self.chance = random.Random(self.settings.seed)
        self.failures = dict.fromkeys(table, 0)
        """How many answers in a row were bad."""
        self.replaced = Counter(problem.role for problem in match.problems if problem.played is not None)
        """How many moves were replaced."""
        self.state = self.game.initial_state()
        self.joint: tuple[str, ...] | None = None
        self.percepts: dict[str, tuple[str, ...]] = {}
        self.drawn: dict[str, Move] = {}
        self.spare: dict[str, Move] = {}
        self.past = past
        self.plays: list[dict[str, Message]] = []
        """The PLAY messages of each step so far, by role, while a player may need them again."""
        self.rejoining: set[str] = set()
        """Roles of a resumed match that have not answered yet: their players may have been restarted."""
        self.ready: set[str] = set()
        """Roles whose players accepted the match."""
        self.resumptions = dict.fromkeys(table, 0)
        """How often each player was sent RESUME."""
        self.seen: dict[str, list[str]] = {role: [] for role in table}
        """With hidden information, own move and percepts of each step, as RESUME has them."""
        self.reported = len(match.problems)
        """How many problems have been reported in events."""

    async def play(self) -> None:
        match, past = self.match, self.past
        if past is None:
            await self._start()
        else:
            for joint in past.moves:
                await self._make(joint)
            self._count(past.problems)
            await self._rejoin()
        while len(match.moves) < len(match.opening) and await self._in_executor(self._prepare):
            self.plays.append({role: self._message(role) for role in self.table})
            await self._tell(self.plays[-1])
            self._report_step(
                await self._in_executor(partial(self._advance_by, match.opening[len(match.moves)]))
            )
        while await self._in_executor(self._prepare):
            chosen = await self._ask()
            if chosen is None:
                break
            self._report_step(await self._in_executor(partial(self._advance, chosen)))
        ending = {"goals": match.goals, "reason": match.reason, "steps": len(match.moves)}
        self._report("end", **ending, problems=self._new_problems())
        await self._stop()

    # -- prescribed steps ----------------------------------------------------------------------

    async def _make(self, joint: tuple[str, ...]) -> None:
        """Make a joint move of the past."""
        if not await self._in_executor(self._prepare):
            raise IllegalMoveError(f"no step {len(self.match.moves) + 1} is possible: {self.match.reason}")
        self.plays.append({role: self._message(role) for role in self.table})
        await self._in_executor(partial(self._advance_by, joint))

    def _advance_by(self, joint: Sequence[str]) -> list[str]:
        """Make a prescribed joint move.

        `_prepare` has drawn for this step as for any other, so that later draws stay the same.
        """
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
        """Count the consecutive problems of each role at the end of the past."""
        for role in self.table:
            bad = {problem.step for problem in problems if problem.role == role}
            step = len(self.match.moves)
            while step and step in bad:
                step -= 1
            self.failures[role] = len(self.match.moves) - step

    async def _rejoin(self) -> None:
        """Replay the past to seats that cannot know it."""
        self.rejoining = {role for role, seat in self.table.items() if seat.remembers}
        await _together(*(self._catch_up(role) for role in self.table if role not in self.rejoining))

    async def _catch_up(self, role: str) -> None:
        """Restart a player and send it all steps so far."""
        await self._begin(role, again=True)
        for messages in self.plays:
            await self._tell({role: messages[role]})

    async def _tell(self, messages: Mapping[str, Message]) -> None:
        """Send PLAY messages whose answers are ignored."""
        seconds = self.settings.play_clock + self.settings.grace

        async def one(role: str, message: Message) -> None:
            exchange = await self.table[role].tell(message, seconds=seconds)
            self._report_exchange(role, "PLAY", str(message), exchange, counts=False)

        await _together(*(one(role, message) for role, message in messages.items()))

    # -- steps that players choose -------------------------------------------------------------

    def _report_step(self, facts: list[str]) -> None:
        self._report(
            "step",
            step=len(self.match.moves),
            moves=list(self.match.moves[-1]),
            percepts={role: list(seen) for role, seen in self.percepts.items()},
            problems=self._new_problems(),
            facts=facts,
        )

    def _new_problems(self) -> list[dict[str, Any]]:
        new = [asdict(problem) for problem in self.match.problems[self.reported :]]
        self.reported = len(self.match.problems)
        return new

    async def _in_executor(self, work: Callable[[], _T]) -> _T:
        """Evaluate rules in another thread, so that replies that arrive meanwhile are not read late."""
        return await asyncio.get_running_loop().run_in_executor(self.manager.executor, work)

    def _prepare(self) -> bool:
        """Draw moves for the next step; return False and set the match's reason if there is none."""
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
            for role, seen in self.percepts.items():
                self.seen[role].append(f"({plan[role]} ({' '.join(seen)}))")
        self.state = self.state.next(self.joint)
        self.match.moves.append(self.joint)
        return sorted(self.state.facts)

    async def _start(self) -> None:
        await _together(*map(self._begin, self.table))
        self._report("started", problems=self._new_problems())

    async def _begin(self, role: str, *, again: bool = False) -> None:
        settings = self.settings
        message = StartMessage(
            self.match.id, role, self.manager.rules, settings.start_clock, settings.play_clock
        )
        seconds = settings.start_clock + settings.grace
        exchange = await self.table[role].begin(self.game, message, seconds=seconds)
        self._report_exchange(role, "START", None, exchange, counts=not again)
        if _says(exchange, "ready"):
            self.ready.add(role)
        elif not again:
            note = "; ".join(exchange.notes) or "the answer to START is not `ready`"
            self._problem(0, role, exchange.problem or "unreadable", exchange.reply, note, None)

    async def _ask(self) -> dict[str, Move] | None:
        """Ask all players at once and return their moves; None if one forfeits."""
        past, stored = self.past, {}
        if past is not None and len(self.match.moves) == len(past.moves):
            stored = {
                role: Exchange(text, None, 0.0) for role, text in past.replies.items() if role in self.table
            }
        asked = [role for role in self.table if role not in stored and not self._is_ignored(role)]
        messages = {role: self._message(role) for role in self.table}
        exchanges = await _together(*(self._ask_one(role, messages[role]) for role in asked))
        self.past = None
        self.plays = [*self.plays, messages] if self.rejoining else []
        replies = {**stored, **dict(zip(asked, exchanges, strict=True))}
        return await self._in_executor(lambda: self._choices(replies))

    async def _ask_one(self, role: str, message: Message) -> Exchange:
        seat, seconds = self.table[role], self.settings.play_clock + self.settings.grace
        exchange = await seat.ask(message, seconds=seconds)
        if role in self.rejoining and exchange.reply is not None:
            self.rejoining.discard(role)
            self.ready.add(role)
            if _says(exchange, "busy", "nil"):
                self._report_exchange(role, "PLAY", str(message), exchange, counts=False)
                await self._catch_up(role)  # the player was restarted, too
                exchange = await seat.ask(message, seconds=seconds)
        elif _says(exchange, "busy") and await self._resume(role, message, exchange):
            exchange = await seat.ask(message, seconds=seconds)
        self._report_exchange(role, "PLAY", str(message), exchange)
        return exchange

    async def _resume(self, role: str, message: Message, exchange: Exchange) -> bool:
        """Send RESUME to a player that has forgotten the match; return whether it goes on."""
        seat, settings = self.table[role], self.settings
        if role not in self.ready or not seat.remembers or self.resumptions[role] == _MOST_RESUMPTIONS:
            return False
        self.resumptions[role] += 1
        self._report_exchange(role, "PLAY", str(message), exchange, counts=False)
        steps = self.seen[role] if self.game.has_percepts else [f"({' '.join(m)})" for m in self.match.moves]
        resume = ResumeMessage(
            self.match.id, role, self.manager.rules, settings.start_clock, settings.play_clock,
            tuple(steps[:-1]),  # PLAY tells of the last one
        )  # fmt: skip
        exchange = await seat.begin(self.game, resume, seconds=settings.start_clock + settings.grace)
        self._report_exchange(role, "RESUME", None, exchange, counts=False)
        if not _says(exchange, "ready"):  # it does not know RESUME
            self.ready.discard(role)
        return role in self.ready

    def _choices(self, replies: Mapping[str, Exchange]) -> dict[str, Move] | None:
        """Return the moves that are played; None if a player forfeits."""
        step = len(self.match.moves) + 1
        settings = self.settings
        chosen: dict[str, Move] = {}
        for role in self.table:
            exchange = replies.get(role)
            move, kind, note = self._judge(role, exchange)
            if move is not None:
                self.failures[role] = 0
                chosen[role] = move
                continue
            self.failures[role] += 1
            if settings.forfeits(self.replaced[role]):
                self._problem(step, role, kind, exchange.reply if exchange else None, note, None)
                self.match.reason = f"forfeit {role}"
                return None
            self.replaced[role] += 1
            chosen[role] = replacement(self.state, role, settings.substitute, self.spare[role])
            self._problem(step, role, kind, exchange.reply if exchange else None, note, str(chosen[role]))
        return chosen

    def _judge(self, role: str, exchange: Exchange | None) -> tuple[Move | None, str, str]:
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
        return patience is not None and self.failures[role] >= patience

    def _message(self, role: str, *, over: bool = False) -> Message:
        if self.game.has_percepts:
            last = None if self.joint is None else self.joint[self.game.role_index(role)]
            seen = None if self.joint is None else self.percepts[role]
            return TurnMessage(self.match.id, len(self.match.moves), last, seen, over)
        return (StopMessage if over else PlayMessage)(self.match.id, self.joint)

    async def _stop(self) -> None:
        """Send STOP or ABORT to all players."""
        seconds = min(float(self.settings.play_clock), 5.0)  # a slow player must not delay the end

        async def one(role: str, seat: Seat) -> None:
            cut_off = not self.match.is_complete
            message = AbortMessage(self.match.id) if cut_off else self._message(role, over=True)
            exchange = await seat.ask(message, seconds=1.0 if cut_off else max(1.0, seconds))
            self._report_exchange(role, "ABORT" if cut_off else "STOP", str(message), exchange)

        await _together(*(one(role, seat) for role, seat in self.table.items()))

    def _report_exchange(
        self, role: str, word: str, text: str | None, exchange: Exchange, *, counts: bool = True
    ) -> None:
        """Report a message and its answer; `counts` is False if the answer is ignored."""
        self._report(
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
        excerpt = None if reply is None else reply[:200]
        self.match.problems.append(Problem(step, role, kind, excerpt, note, played))

    def _report(self, kind: str, **data: Any) -> None:
        self.manager.report(kind, self.match, **data)


async def _together(*work: Coroutine[Any, Any, _T]) -> list[_T]:
    """Do work for all players at once; if some fails, end the rest before the error is raised.

    What a player answers once its match is aborted is not a reply.
    """
    tasks = [asyncio.ensure_future(one) for one in work]
    try:
        return await asyncio.gather(*tasks)
    except BaseException:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        raise


def _says(exchange: Exchange, *words: str) -> bool:
    """Whether a reply is one of these words."""
    return exchange.problem is None and (exchange.reply or "").strip().lower() in words


def draw_moves(state: State, chance: random.Random) -> tuple[dict[str, Move], dict[str, Move]]:
    """Draw the moves of `random`, and a substitute for each player.

    Both are drawn before the players are asked, so that they depend only on the seed and the moves so far.
    """
    game = state.game
    drawn = {role: state.draw(chance) for role in game.roles if role == game.chance_role}
    legal = state.legal_moves()
    return drawn, {role: chance.choice(legal[role]) for role in game.players}


def replacement(state: State, role: str, policy: str, spare: Move) -> Move:
    """Return the move that replaces a bad one; `spare` is the random substitute."""
    if policy == "first":
        return state.legal_moves(role)[0]
    if policy == "noop" and state.is_legal(role, "noop"):
        return Move("noop")
    return spare


def new_match_id(game: str) -> str:
    """Return a match id that all published players can parse: the game and random hexadecimal digits."""
    word = re.sub(r"[^a-z0-9_-]", "", game.lower())[:32]
    if not word[:1].isalpha():
        word = f"game{word}"
    return f"{word}.{random.SystemRandom().getrandbits(48):012x}"


def as_sent(game: Game) -> tuple[Game, str]:
    """Return the game that players are sent and its text.

    The game differs from the argument if KIF cannot spell some of its names.  Raises `GameError` for a game
    that is not playable.
    """
    game.require_playable()
    printed = print_tree(game.tree.statements)  # without comments, which would swallow the rest of the line
    if printed.diagnostics:
        game = Game(read(printed.text, "prefix"), name=game.name, limits=game.limits)
    return game, _spell(printed.text, game.rules.spelling)


def _spell(text: str, spelling: Mapping[str, str]) -> str:
    """Put the text on one line and spell names as in states and moves; some players are case-sensitive."""

    def spelled(name: str) -> str:
        return name if name in KEYWORDS or name.startswith("?") else spelling.get(name, name)

    return re.sub(r"[^\s()]+", lambda match: spelled(match[0]), " ".join(text.split()))


def seats_for(game: Game, seats: Sequence[Seat]) -> dict[str, Seat]:
    """Assign seats to the roles that choose, in role order; `GameError` if their numbers differ."""
    if len(seats) != len(game.players):
        many = f"{len(game.players)} player{'s' if len(game.players) != 1 else ''}"
        raise GameError(f"{game.name} is for {many} ({', '.join(game.players)}), not for {len(seats)}")
    return dict(zip(game.players, seats, strict=True))
