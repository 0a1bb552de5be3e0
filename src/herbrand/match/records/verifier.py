"""Replays a record by the rules and reports inconsistencies.

As far as the record has the data, the verifier checks that the rules are playable and define the roles; that
every move was legal and is the player's answer or its substitute by the policy; that chance moves and
scrambled names follow from the seeds; percepts and states; that the match ended as the rules say, with their
goals; and the signature.  In a database it also checks the pages, the indexes and the digests.
"""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from herbrand.convert.scramble import scramble
from herbrand.errors import HerbrandError
from herbrand.machine.moves import Move
from herbrand.match.protocol.manager import Manager, MatchSettings, draw_moves, replacement
from herbrand.match.records.record import RecordError
from herbrand.match.records.resume import game_of
from herbrand.match.records.store import NO_DIGEST, Store

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from herbrand.machine.state import State
    from herbrand.match.protocol.manager import Problem
    from herbrand.match.records.record import MatchRecord

__all__ = ["Finding", "Verification", "Verifier"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One inconsistency in a record."""

    step: int | None
    """From 1; None for the match as a whole."""
    text: str

    def __str__(self) -> str:
        return self.text if self.step is None else f"step {self.step}: {self.text}"


@dataclass(frozen=True, slots=True)
class Verification:
    """The findings about one match, or about a database as a whole."""

    name: str
    """The id of the match, or the path of the database."""
    findings: Sequence[Finding]
    record: MatchRecord | None = None
    """None for a database, or if the record cannot be read."""
    has_digest: bool = False
    """Whether its rows were compared with a digest."""


class Verifier:
    """Verifies records; caches their games."""

    def __init__(self, *, engine: str = "auto", public_key: str | None = None) -> None:
        self.engine = engine
        self.public_key = public_key
        """If given, every record must be signed with this key (hexadecimal digits)."""
        self._managers: dict[str, Manager] = {}

    def verify_database(self, path: str | Path, ids: Sequence[str] = ()) -> Iterator[Verification]:
        """Yield a verification of each match of a database, or each with one of the `ids`.

        The first one is about the database as a whole, if something is wrong with it; if that makes it
        unreadable, it is the only one.  Raises `RecordError` for an unknown id.
        """
        try:
            store = Store(path, write=False)
        except RecordError as error:
            yield Verification(str(path), [Finding(None, str(error))])
            return
        with store:
            try:
                findings = store.findings()
                stored = store.ids()
            except RecordError as error:
                findings, stored = [str(error)], []
            if findings:
                yield Verification(str(path), [Finding(None, text) for text in findings])
            for name in ids or stored:
                yield self._verify_stored(store, name, stored)

    def _verify_stored(self, store: Store, name: str, stored: Sequence[str]) -> Verification:
        try:
            with store.reading():
                record = store.load(name)
                is_intact = store.is_intact("match", store.number(name))
        except RecordError as error:
            if name not in stored:
                raise
            return Verification(str(name), [Finding(None, str(error))])
        damage = [Finding(None, NO_DIGEST)] if is_intact is False else []
        return Verification(name, [*damage, *self.verify(record)], record, is_intact is not None)

    def verify(self, record: MatchRecord) -> list[Finding]:
        """Return all inconsistencies of a record."""
        try:
            manager = self._managers.get(record.hash)
            if manager is None:
                manager = Manager(game_of(record))
                if len(self._managers) >= 50:
                    self._managers.clear()
                self._managers[record.hash] = manager
        except HerbrandError as error:
            return [Finding(None, f"the rules are not playable: {error}"), *self._check_integrity(record)]
        findings = [*self._check_integrity(record), *_check_header(record, manager)]
        if record.roles != manager.game.roles:  # then its steps do not fit the game
            return findings
        try:
            findings += _Replay(record, manager, self.engine).run()
        except HerbrandError as error:
            findings.append(Finding(None, f"cannot be replayed: {error}"))
        return findings

    def _check_integrity(self, record: MatchRecord) -> list[Finding]:
        """Check the hash of the rules and the signature."""
        if record.claimed_hash in (None, record.hash):
            return self._signature(record)
        return [Finding(None, "the rules do not match their hash"), *self._signature(record)]

    def _signature(self, record: MatchRecord) -> list[Finding]:
        from herbrand.match.records.signing import check

        if record.signature is None:
            return [] if self.public_key is None else [Finding(None, "not signed")]
        if self.public_key is not None and record.signature.get("public_key") != self.public_key:
            return [Finding(None, f"signed with another key, {record.signature.get('public_key')}")]
        return [] if check(record) else [Finding(None, "invalid signature")]


def _check_header(record: MatchRecord, manager: Manager) -> list[Finding]:
    game = manager.game
    names = None if record.scramble is None else dict(scramble(game.tree, record.scramble).names)
    columns = {"start_clock": record.start_clock, "play_clock": record.play_clock, "seed": record.seed}
    has_other_columns = any(record.settings.get(name) != columns[name] for name in columns)
    times = [record.started, *record.step_times, *([] if record.ended is None else [record.ended])]
    checks = {
        f"the roles are {', '.join(game.roles)}, not {', '.join(record.roles)}": record.roles != game.roles,
        f"the players are not for {', '.join(game.players)}": set(record.players) != set(game.players),
        "the scrambled names do not follow from the seed": names != record.names,
        "the numbers of steps and of times differ": len(record.step_times) != len(record.moves),
        "clocks and seed differ from the settings": record.origin == "herbrand" and has_other_columns,
        "the times are not in order": any(later < earlier - 1 for earlier, later in pairwise(times)),
    }
    return [Finding(None, text) for text, is_wrong in checks.items() if is_wrong]


class _Replay:
    """The replay of one record."""

    def __init__(self, record: MatchRecord, manager: Manager, engine: str) -> None:
        self.record = record
        self.manager = manager
        self.game = manager.game
        self.state: State = self.game.initial_state(engine=engine)
        self.findings: list[Finding] = []
        self.is_own = record.origin == "herbrand"
        self.chance = random.Random(record.seed) if self.is_own and record.seed is not None else None
        """Repeats the draws of the manager; None if they are unknown."""
        self.settings = MatchSettings(**record.settings) if self.is_own else MatchSettings()
        self.problems = {(problem.step, problem.role): problem for problem in record.problems}
        self.replaced = Counter[str]()
        """How many moves of each role have been replaced so far."""
        self.replies = {
            (message.step + 1, message.role): message.reply
            for message in record.messages
            if message.kind == "PLAY" and message.counts and message.reply is not None
        }

    def run(self) -> list[Finding]:
        """Replay the record and return its inconsistencies."""
        for step, joint in enumerate(self.record.moves, start=1):
            if self._state(step):
                break
            if not self._step(step, joint):
                return self.findings  # later steps cannot be checked after an illegal move
        else:
            self._state(len(self.record.moves) + 1)
            self._end()
        return self.findings

    def _report(self, step: int | None, text: str) -> None:
        self.findings.append(Finding(step, text))

    def _state(self, step: int) -> bool:
        """Compare the state before a step with the recorded one; return True if no step may follow it."""
        claimed = self.record.states
        if claimed is not None:
            facts = frozenset(fact.lower() for fact in self.state.facts)
            if step > len(claimed):
                self._report(None, f"the record has {len(claimed)} states for {len(self.record.moves)} steps")
                self.record.states = None
            elif claimed[step - 1] != facts:
                differing = sorted(claimed[step - 1] ^ facts)[:3]
                where = f"after step {step - 1}" if step > 1 else "at the start"
                self._report(None, f"the state {where} is different (in {', '.join(differing)})")
                self.record.states = None
        if step <= len(self.record.moves) and self.state.is_terminal:
            self._report(step, "played after the end of the game")
            return True
        return False

    def _step(self, step: int, joint: tuple[str, ...]) -> bool:
        bad = [
            (role, move)
            for role, move in zip(self.game.roles, joint, strict=True)
            if not self.state.is_legal(role, move)
        ]
        for role, move in bad:
            self._report(step, f"`{move}` is not legal for {role}")
        if bad:
            return False
        drawn, spare = draw_moves(self.state, self.chance) if self.chance is not None else ({}, {})
        plan = dict(zip(self.game.roles, joint, strict=True))
        if step <= len(self.record.opening):
            if joint != self.record.opening[step - 1]:
                self._report(step, "not the joint move of the opening")
        else:
            for role, draw in drawn.items():
                if str(draw).lower() != plan[role].lower():
                    self._report(step, f"the seed draws `{draw}` for {role}, not `{plan[role]}`")
            for role in self.game.players:
                self._choice(step, role, plan[role], {r: str(m) for r, m in spare.items()})
        if self.record.percepts and step <= len(self.record.percepts):
            for role, seen in self.record.percepts[step - 1].items():
                if tuple(seen) != tuple(self.state.percepts(joint, role)):
                    self._report(step, f"{role} did not see {' '.join(seen) or 'nothing'}")
        self.state = self.state.next(joint)
        return True

    def _choice(self, step: int, role: str, played: str, spare: Mapping[str, str]) -> None:
        """Compare a move with the player's answer or its substitute."""
        problem: Problem | None = self.problems.get((step, role))
        reply = self.replies.get((step, role))
        if problem is not None:
            if self.is_own and self.settings.forfeits(self.replaced[role]):
                self._report(step, f"{role} did not forfeit after {self.replaced[role]} replaced moves")
            self.replaced[role] += 1
            if problem.played is None or problem.played.lower() != played.lower():
                self._report(
                    step,
                    f"`{played}` was played for {role}, but `{problem.played}` is recorded as the substitute",
                )
            elif role in spare:
                policy = self.settings.substitute
                substitute = replacement(self.state, role, policy, Move(spare[role]))
                if str(substitute).lower() != played.lower():
                    self._report(
                        step, f"a bad move of {role} is replaced by `{substitute}`, not `{played}` ({policy})"
                    )
            if reply is not None and problem.kind in ("illegal", "unreadable"):
                move, _, _ = self.manager.judge(self.state, role, reply)
                if move is not None:
                    self._report(step, f"the answer of {role} was legal, but was replaced")
            return
        if reply is None:
            if self.record.messages or self.is_own:
                self._report(step, f"no answer or problem is recorded for `{played}` of {role}")
            return
        move, _, note = self.manager.judge(self.state, role, reply)
        if move is None:
            self._report(step, f"the answer of {role} was bad ({note}), but no problem is recorded")
        elif str(move).lower() != played.lower():
            self._report(step, f"{role} answered `{move}`, but `{played}` was played")

    def _end(self) -> None:
        record, state = self.record, self.state
        word, _, role = record.reason.partition(" ")
        if record.status == "completed":
            if not state.is_terminal:
                self._report(None, "the game is not over after the last step")
            elif record.goals != state.goals:
                self._report(None, f"the goals are {_goals(state.goals)}, not {_goals(record.goals or {})}")
            if word != "terminal":
                self._report(None, f"the reason is `{record.reason}`, not `terminal`")
            return
        if record.goals is not None:
            self._report(None, "there are goals, but the match was not completed")
        if record.status != "cut":
            return
        if word not in ("no-move", "max-steps", "forfeit", "resigned"):
            self._report(None, f"unknown reason `{record.reason}`")
        elif word == "no-move" and (state.is_terminal or state.legal_moves(role)):
            self._report(None, f"{role} had a legal move at the end")
        elif word == "max-steps" and len(record.moves) != self.settings.max_steps:
            self._report(None, f"it did not end after {self.settings.max_steps} steps")
        elif word == "forfeit" and (len(record.moves) + 1, role) not in self.problems:
            self._report(None, f"no problem is recorded for the forfeit of {role}")
        elif word == "forfeit" and self.is_own and not self.settings.forfeits(self.replaced[role]):
            self._report(None, f"{role} forfeited after {self.replaced[role]} replaced moves")


def _goals(goals: Mapping[str, int | None]) -> str:
    return ", ".join(f"{role} {'-' if goal is None else goal}" for role, goal in goals.items())
