"""Plays every move of a record again by the rules, and says what does not fit.

Checked are, as far as the record has them: that the rules can be played and the roles are theirs; that
every move was legal, and is the one that the player answered or that replaced its answer by the policy;
that chance was drawn by the seed; what everybody saw; the states; that the match ended where the rules
end it, with their goals; that names were scrambled by the seed; the signature.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from herbrand.convert.scramble import scramble
from herbrand.errors import HerbrandError
from herbrand.machine.moves import Move
from herbrand.match.protocol.manager import Manager, MatchSettings, draw_moves, replacement
from herbrand.match.records.resume import game_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from herbrand.machine.state import State
    from herbrand.match.protocol.manager import Problem
    from herbrand.match.records.record import MatchRecord

__all__ = ["Finding", "Verifier"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing in a record that cannot be true."""

    step: int | None
    """The step it is about, from 1; None for the match as a whole."""
    text: str

    def __str__(self) -> str:
        return self.text if self.step is None else f"step {self.step}: {self.text}"


class Verifier:
    """Verifies records; keeps what it knows of each game for the next match of it."""

    def __init__(self, *, engine: str = "auto", public_key: str | None = None) -> None:
        self.engine = engine
        self.public_key = public_key
        """If given, every record has to be signed with this key (hexadecimal digits)."""
        self._managers: dict[str, Manager] = {}

    def verify(self, record: MatchRecord) -> list[Finding]:
        """Return everything that does not fit; nothing is good."""
        try:
            manager = self._managers.get(record.hash)
            if manager is None:
                manager = Manager(game_of(record))
                if len(self._managers) >= 50:
                    self._managers.clear()
                self._managers[record.hash] = manager
        except HerbrandError as error:
            return [Finding(None, f"the rules cannot be played: {error}"), *self._outside(record)]
        found = [*self._outside(record), *_head(record, manager)]
        if not found or all(finding.step is None for finding in found):
            try:
                found += _Replay(record, manager, self.engine).run()
            except HerbrandError as error:
                found.append(Finding(None, f"cannot be played again: {error}"))
        return found

    def _outside(self, record: MatchRecord) -> list[Finding]:
        """Check what says that a record is as it was: the hash of the rules and the signature."""
        if record.claimed_hash in (None, record.hash):
            return self._signature(record)
        return [Finding(None, "the rules are not those of their hash"), *self._signature(record)]

    def _signature(self, record: MatchRecord) -> list[Finding]:
        from herbrand.match.records.signing import check

        if record.signature is None:
            return [] if self.public_key is None else [Finding(None, "is not signed")]
        if self.public_key is not None and record.signature.get("public_key") != self.public_key:
            return [Finding(None, f"is signed with another key, {record.signature.get('public_key')}")]
        return [] if check(record) else [Finding(None, "the signature is not one of this record")]


def _head(record: MatchRecord, manager: Manager) -> list[Finding]:
    found = []
    game = manager.game
    if record.roles != game.roles:
        found.append(Finding(None, f"the roles are {', '.join(game.roles)}, not {', '.join(record.roles)}"))
    if set(record.players) != set(game.players):
        found.append(Finding(None, f"the players are not those of {', '.join(game.players)}"))
    names = None if record.scramble is None else dict(scramble(game.tree, record.scramble).names)
    if names != record.names:
        found.append(Finding(None, "the scrambled names are not those of the seed"))
    if len(record.step_times) != len(record.moves):
        found.append(Finding(None, "the steps and their times differ in number"))
    given = {"start_clock": record.start_clock, "play_clock": record.play_clock, "seed": record.seed}
    if record.origin == "herbrand" and any(record.settings.get(name) != given[name] for name in given):
        found.append(Finding(None, "clocks and seed are not those of the settings"))
    times = [record.started, *record.step_times, *([] if record.ended is None else [record.ended])]
    if any(later < earlier - 1 for earlier, later in pairwise(times)):
        found.append(Finding(None, "time goes backwards"))
    return found


class _Replay:
    """One match, played again."""

    def __init__(self, record: MatchRecord, manager: Manager, engine: str) -> None:
        self.record = record
        self.manager = manager
        self.game = manager.game
        self.state: State = self.game.initial_state(engine=engine)
        self.found: list[Finding] = []
        self.is_own = record.origin == "herbrand"
        self.chance = random.Random(record.seed) if self.is_own and record.seed is not None else None
        """Draws as the manager did; None where it is not known how it did."""
        self.settings = MatchSettings(**record.settings) if record.settings else MatchSettings()
        self.problems = {(problem.step, problem.role): problem for problem in record.problems}
        self.replies = {
            (message.step + 1, message.role): message.reply
            for message in record.messages
            if message.kind == "PLAY" and message.counts and message.reply is not None
        }

    def run(self) -> list[Finding]:
        """Play to the end of the record."""
        for step, joint in enumerate(self.record.moves, start=1):
            if self._state(step):
                break
            if not self._step(step, joint):
                return self.found  # nothing after an impossible move means anything
        else:
            self._state(len(self.record.moves) + 1)
            self._end()
        return self.found

    def _say(self, step: int | None, text: str) -> None:
        self.found.append(Finding(step, text))

    def _state(self, step: int) -> bool:
        """Compare the state before a step with the one in the record; whether the match should have ended."""
        claimed = self.record.states
        if claimed is not None:
            here = frozenset(fact.lower() for fact in self.state.facts)
            if step > len(claimed):
                self._say(None, f"the record has {len(claimed)} states for {len(self.record.moves)} steps")
                self.record.states = None
            elif claimed[step - 1] != here:
                wrong = sorted(claimed[step - 1] ^ here)[:3]
                where = f"after step {step - 1}" if step > 1 else "at the start"
                self._say(None, f"the state {where} is another one (differs in {', '.join(wrong)})")
                self.record.states = None
        if step <= len(self.record.moves) and self.state.is_terminal:
            self._say(step, "was played after the end of the game")
            return True
        return False

    def _step(self, step: int, joint: tuple[str, ...]) -> bool:
        bad = [
            (role, move)
            for role, move in zip(self.game.roles, joint, strict=True)
            if not self.state.is_legal(role, move)
        ]
        for role, move in bad:
            self._say(step, f"`{move}` is not legal for {role}")
        if bad:
            return False
        drawn, spare = draw_moves(self.state, self.chance) if self.chance is not None else ({}, {})
        plan = dict(zip(self.game.roles, joint, strict=True))
        if step <= len(self.record.opening):
            if joint != self.record.opening[step - 1]:
                self._say(step, "is not the one of the opening")
        else:
            for role, draw in drawn.items():
                if str(draw).lower() != plan[role].lower():
                    self._say(step, f"the seed draws `{draw}` for {role}, not `{plan[role]}`")
            for role in self.game.players:
                self._choice(step, role, plan[role], {r: str(m) for r, m in spare.items()})
        if self.record.percepts and step <= len(self.record.percepts):
            for role, seen in self.record.percepts[step - 1].items():
                if tuple(seen) != tuple(self.state.percepts(joint, role)):
                    self._say(step, f"{role} did not see {' '.join(seen) or 'nothing'}")
        self.state = self.state.next(joint)
        return True

    def _choice(self, step: int, role: str, played: str, spare: Mapping[str, str]) -> None:
        """Compare a move with what the player answered, or what replaced it."""
        problem: Problem | None = self.problems.get((step, role))
        reply = self.replies.get((step, role))
        if problem is not None:
            if problem.played is None or problem.played.lower() != played.lower():
                self._say(step, f"`{played}` was played for {role}, and `{problem.played}` recorded as that")
            elif role in spare:
                policy = self.settings.substitute
                due = replacement(self.state, role, policy, Move(spare[role]))
                if str(due).lower() != played.lower():
                    self._say(step, f"`{due}` replaces a bad move of {role} ({policy}), not `{played}`")
            if reply is not None and problem.kind in ("illegal", "unreadable"):
                move, _, _ = self.manager.judge(self.state, role, reply)
                if move is not None:
                    self._say(step, f"the answer of {role} was legal, and replaced all the same")
            return
        if reply is None:
            if self.record.messages or self.is_own:
                self._say(step, f"nothing says where `{played}` of {role} came from")
            return
        move, _, note = self.manager.judge(self.state, role, reply)
        if move is None:
            self._say(step, f"the answer of {role} was bad ({note}), and no problem is recorded")
        elif str(move).lower() != played.lower():
            self._say(step, f"{role} answered `{move}`, and `{played}` was played")

    def _end(self) -> None:
        record, state = self.record, self.state
        word, _, role = record.reason.partition(" ")
        if record.status == "completed":
            if not state.is_terminal:
                self._say(None, "the game is not over after the last step")
            elif record.goals != state.goals:
                self._say(None, f"the goals are {_goals(state.goals)}, not {_goals(record.goals or {})}")
            if word != "terminal":
                self._say(None, f"the reason for its end, `{record.reason}`, is not `terminal`")
            return
        if record.goals is not None:
            self._say(None, "there are goals, and the match did not come to its end")
        if record.status != "cut":
            return
        if word not in ("no-move", "max-steps", "forfeit"):
            self._say(None, f"no match is cut off for the reason `{record.reason}`")
        elif word == "no-move" and (state.is_terminal or state.legal_moves(role)):
            self._say(None, f"{role} had a legal move at the end")
        elif word == "max-steps" and len(record.moves) != self.settings.max_steps:
            self._say(None, f"it was not cut off after {self.settings.max_steps} steps")
        elif word == "forfeit" and (len(record.moves) + 1, role) not in self.problems:
            self._say(None, f"nothing says why {role} forfeits")


def _goals(goals: Mapping[str, int | None]) -> str:
    return ", ".join(f"{role} {'-' if goal is None else goal}" for role, goal in goals.items())
