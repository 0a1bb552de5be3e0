"""Strong winnability by search, in any game: what a role can force for certain.

The role commits itself to a move, and the others, chance among them, reply to it, as if they knew it and the
state (`forcing`).  Against a role that cannot force a win this shows a joint strategy of all others.  Where a
role does not see the whole state, only these refutations carry over; `knowledge.uniform` finds what it can
force with what it knows.  Where a role cannot get 100 any more (`invariants.hopeless`), the search ends.
"""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final

import numpy as np

from herbrand.analyse.exploration.certificates import Policy, Spoiler
from herbrand.analyse.invariants.hopeless import CutShort, find_hopeless
from herbrand.analyse.solving.forcing import EFFORTS, METHOD, ForcedGoals
from herbrand.analyse.verdict import Verdict
from herbrand.convert.cut_short import cut_short
from herbrand.errors import BudgetExceeded, GameError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sized

    from numpy.typing import NDArray

    from herbrand.analyse.budget import Budget
    from herbrand.analyse.invariants.hopeless import Hopeless
    from herbrand.analyse.verdict import Certificate
    from herbrand.engine.expand import Expansion, States
    from herbrand.machine.state_machine import StateMachine

__all__ = ["strong_by_search"]

_FIRST_SECONDS: Final = 0.5
"""Seconds for the first question about each role; twice as many in each later round."""
_MOST_MOVES: Final = 50_000
"""Moves of the largest strategy that is written down."""
_MOST_JOINTS: Final = 1 << 18
"""Joint moves in a state, at most, among which replies are found for a strategy."""
_STRATEGY_SHARE: Final = 0.5
"""Share of the remaining time for writing a strategy down."""
_HOPELESS_SHARE: Final = 0.1
"""Share of the time for finding where roles have lost already."""
_HOPELESS_SECONDS: Final = 20.0
"""The most seconds for that, for each role."""


def strong_by_search(
    game: StateMachine,
    roles: Collection[int],
    value: int,
    *,
    budget: Budget,
    progress: Callable[[int], None] | None = None,
) -> dict[int, Verdict]:
    """Decide for each of some roles, by number, whether it can force the greatest goal value for certain.

    Once one can, the others have as much time again.  Roles that are not decided within the budget are left
    out.  Verdicts have strategies as certificates where these are small.
    """
    questions = _questions(game, roles, value, budget, progress)
    verdicts: dict[int, Verdict] = {}
    left, seconds = list(roles), _FIRST_SECONDS
    started = time.monotonic()
    until = started + budget.left
    while left and time.monotonic() < until:
        for role in tuple(left):
            began = time.monotonic()
            forced, hopeless = questions[role]
            try:
                holds = forced.attempt(forced.expander.initial, role, value, min(seconds, until - began))
            except GameError:  # it depends on states that repeat
                left.remove(role)
                continue
            if holds is None:
                continue
            left.remove(role)
            name = forced.roles[role]
            refutation = f"whatever {name} does, the others can prevent {value}"
            reason = f"{name} can force {value}" if holds else refutation
            certificate: Certificate | None = _strategy(forced, role, value, holds=holds)
            if certificate is not None and hopeless is not None and not holds:
                certificate = CutShort(hopeless, certificate)
            verdicts[role] = Verdict(
                "proved" if holds else "refuted", METHOD, reason, certificate=certificate,
                seconds=time.monotonic() - began, details={"expanded": forced.expanded},
            )  # fmt: skip
            if holds:
                until = min(until, time.monotonic() + max(_FIRST_SECONDS, began - started))
        seconds *= 2
    return verdicts


def _questions(
    game: StateMachine,
    roles: Collection[int],
    value: int,
    budget: Budget,
    progress: Callable[[int], None] | None,
) -> dict[int, tuple[ForcedGoals, Hopeless | None]]:
    """Return a search for each role, in a game that is cut short where that is hopeless for it, and where."""
    seconds = min(_HOPELESS_SHARE * budget.left / max(len(roles), 1), _HOPELESS_SECONDS)
    found = find_hopeless(game.expander, roles, seconds) if value == 100 else {}
    shorter: dict[int, tuple[StateMachine, Hopeless]] = {}
    for role, hopeless in found.items():
        with suppress(BudgetExceeded, GameError):
            other = cut_short(game, hopeless.conditions)
            other.network_within(seconds)
            shorter[role] = other, hopeless
    others = [role for role in roles if role not in shorter]
    each = replace(budget, megabytes=budget.megabytes / (len(shorter) + bool(others) or 1))
    search = partial(ForcedGoals, budget=each, progress=progress, certain=True)
    questions: dict[int, tuple[ForcedGoals, Hopeless | None]] = {}
    if others:
        questions = dict.fromkeys(others, (search(game, tables=len(others)), None))
    return questions | {role: (search(other), hopeless) for role, (other, hopeless) in shorter.items()}


def _strategy(forced: ForcedGoals, role: int, value: int, *, holds: bool) -> Policy | Spoiler | None:
    """Return the strategy by which a role forces a value, or that of the others; None if it is too large."""
    until = time.monotonic() + _STRATEGY_SHARE * forced.budget.left
    writer = _Writer(forced, role, value, until)
    with suppress(BudgetExceeded, GameError):
        return writer.policy() if holds else writer.spoiler()
    return None


class _Writer:
    """Follows a proof from the initial state, and writes its moves down."""

    def __init__(self, forced: ForcedGoals, role: int, value: int, until: float) -> None:
        self.forced, self.role, self.value, self.until = forced, role, value, until
        self.seen: set[bytes] = set()
        self.queue: list[States] = [forced.expander.initial]

    def policy(self) -> Policy:
        """Return the moves of the role in all states to which they lead."""
        expander = self.forced.expander
        moves: dict[frozenset[str], str] = {}
        for facts, after, verdicts, work in self._expansions(moves):
            own = after.moves[:, self.role]
            move = self._winning_move(after, own, verdicts, work)
            moves[facts] = expander.moves[self.role][move]
            self._follow(after.states[own == move])
        return Policy(expander.roles[self.role], moves, self.value)

    def spoiler(self) -> Spoiler:
        """Return a reply of the others to each move of the role, in all states to which replies lead."""
        replies: dict[tuple[frozenset[str], str], tuple[str, ...]] = {}
        for facts, after, verdicts, work in self._expansions(replies):
            own = after.moves[:, self.role]
            chosen = []
            for move in np.unique(own):
                group = own == move
                if not any(self._is_lost(after, verdicts, group, effort) for effort in EFFORTS):
                    raise GameError("a state of the strategy was not proved")
                refuting = np.flatnonzero(group & (verdicts == -1))
                chosen.append(int(refuting[np.argmin(work[refuting])]))
                joint = after.joint_move(chosen[-1])
                replies[facts, joint[self.role]] = joint
            self._follow(after.states[chosen])
        return Spoiler(self.forced.roles[self.role], replies, self.value)

    def _expansions(
        self, written: Sized
    ) -> Iterator[tuple[frozenset[str], Expansion, NDArray[np.int8], NDArray[np.float64]]]:
        """Yield the facts of each state in the queue with its successors, if it has any.

        Also what is known of them, and the work for it; 0 for those that are written already.
        """
        expander = self.forced.expander
        while self.queue:
            state = self.queue.pop()
            if len(written) > _MOST_MOVES or time.monotonic() > self.until:
                raise BudgetExceeded("the size of a strategy", f"{len(written)} moves")
            legal = expander.legal(state)
            if int(legal.joint_counts()[0]) > _MOST_JOINTS:
                raise BudgetExceeded(f"{_MOST_JOINTS} joint moves", "in a state of a strategy")
            after = expander.expand(state, legal)
            if len(after):
                verdicts, work = self.forced.known(after.states, self.role, self.value)
                seen = [successor.tobytes() in self.seen for successor in after.states]
                effort = np.where(seen, 0.0, np.exp2(work, dtype=np.float64))
                yield expander.facts(state)[0], after, verdicts, effort

    def _winning_move(
        self,
        after: Expansion,
        own: NDArray[np.int32],
        verdicts: NDArray[np.int8],
        work: NDArray[np.float64],
    ) -> int:
        """Return the move of the role with the least work that wins against every reply."""
        for effort in EFFORTS:
            for move in sorted(
                np.unique(own).tolist(),
                key=lambda m: (int((verdicts[own == m] != 1).sum()), float(work[own == m].sum())),
            ):
                if self._is_lost(after, verdicts, own == move, effort) is False:
                    return int(move)
        raise GameError("a state of the strategy was not proved")

    def _is_lost(
        self, after: Expansion, verdicts: NDArray[np.int8], replies: NDArray[np.bool_], effort: int
    ) -> bool | None:
        """Return whether a reply to a move prevents the value; None if that is not known.

        Replies that the table has lost are searched again, each by expanding about `effort` states.
        """
        if (verdicts[replies] == -1).any():
            return True
        unknown = False
        for k in np.flatnonzero(replies & (verdicts == 0)).tolist():
            seconds = self.until - time.monotonic()
            if seconds <= 0:
                raise BudgetExceeded("the time for a strategy", f"{len(self.seen)} states")
            state = after.states[k : k + 1]
            holds = self.forced.attempt(state, self.role, self.value, seconds, expanded=effort)
            if holds is None:
                unknown = True
                continue
            verdicts[k] = 1 if holds else -1
            if not holds:
                return True
        return None if unknown else False

    def _follow(self, states: States) -> None:
        for k in range(len(states)):
            state = states[k : k + 1]
            key = state.tobytes()
            if key not in self.seen:
                self.seen.add(key)
                self.queue.append(state)
