"""What a role can force for certain with what it knows: strong winnability in games with hidden information.

A *belief* is the set of states in which the game can be, as far as a role can tell from its moves and
percepts.  It may make a move that is legal in all of them; the others, and chance, then choose what it
perceives.  A role can force a goal value if some tree of moves over beliefs ends with it in every case (a
uniform strategy).

The tree is searched depth first, beliefs that are decided are remembered, and moves that split a belief into
small ones are tried first.  Sources: games with incomplete information as games over sets of states (Reif,
*The complexity of two-player games of incomplete information*, 1984); contingent planning in the space of
beliefs (Bonet and Geffner 2000).
"""

from __future__ import annotations

import time
from itertools import chain
from typing import TYPE_CHECKING, Final

import numpy as np

from herbrand.analyse.exploration.certificates import SpoiledBeliefs, UniformPolicy
from herbrand.analyse.verdict import Verdict
from herbrand.errors import BudgetExceeded

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from herbrand.analyse.budget import Budget
    from herbrand.machine.state_machine import StateMachine

__all__ = ["strong_by_beliefs"]

_METHOD: Final = "search over beliefs"
_DEEPEST: Final = 400
"""Steps of the longest plays that are searched."""
_MOST_JOINTS: Final = 3_000_000
"""Successors that are kept, at most."""
_BYTES: Final = 200
"""About the memory for each of them."""
_CHUNK: Final = 1 << 16
_MOST_MOVES: Final = 20_000
"""Moves of the largest strategy that is written down."""
_MOST_LEADS: Final = 100_000
_MOST_STATES: Final = 100_000
"""Moves, and states in all beliefs, of the largest refutation that is written down."""

_Belief = frozenset[int]
_Leads = dict[tuple[frozenset[frozenset[str]], str], frozenset[frozenset[str]]]
"""As `SpoiledBeliefs.leads`."""
_Outcomes = dict[bytes, _Belief]
"""The states that can follow a move, by what the role perceives."""


def strong_by_beliefs(game: StateMachine, role: int, value: int, budget: Budget) -> Verdict:
    """Decide whether a role, by number, can force a goal value for certain by what it knows.

    Unknown if plays are longer than 400 steps, or the budget ends.
    """
    began = time.monotonic()
    search = _Search(game, role, value, budget)
    name = game.roles[role]
    try:
        if search.starts_at_end:
            return Verdict.unknown("the game is over from the start")
        wins = search.decide(search.start, 0)[0]
    except BudgetExceeded as error:
        return Verdict.unknown(f"{error}: {len(search.won) + len(search.lost)} beliefs")
    seconds, details = time.monotonic() - began, {"beliefs": len(search.won) + len(search.lost)}
    if not wins:
        reason = f"nothing that {name} can do with what it knows always gets it {value}"
        spoiled = search.spoiled()
        return Verdict("refuted", _METHOD, reason, certificate=spoiled, seconds=seconds, details=details)
    reason = f"{name} can force {value} with what it knows"
    certificate = search.policy()
    return Verdict("proved", _METHOD, reason, certificate=certificate, seconds=seconds, details=details)


class _Search:
    """The beliefs of one role."""

    def __init__(self, game: StateMachine, role: int, value: int, budget: Budget) -> None:
        self.expander = game.expander
        self.role, self.value, self.budget = role, value, budget
        self.numbers: dict[bytes, int] = {}
        self.states: list[NDArray[np.uint64]] = []
        self.after: list[dict[int, _Outcomes | None] | None] = []
        """For each state what follows each move, None for one that can end the game without the value."""
        self.joints = 0
        self.most_joints = min(_MOST_JOINTS, int(1e6 * budget.megabytes / _BYTES))
        self.start = frozenset(self._number(self.expander.initial).tolist())
        self.starts_at_end = bool(self.expander.terminal(self.expander.initial)[0])
        self.won: dict[_Belief, int] = {}
        self.lost: set[_Belief] = set()
        self.path: set[_Belief] = set()

    def _number(self, states: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Return numbers of states, new ones for new states."""
        if not len(states):
            return np.zeros(0, np.int64)
        different, places = np.unique(states, axis=0, return_inverse=True)
        numbers = []
        for row in different:
            key = row.tobytes()
            number = self.numbers.get(key)
            if number is None:
                number = self.numbers[key] = len(self.states)
                self.states.append(row)
                self.after.append(None)
            numbers.append(number)
        return np.array(numbers, np.int64)[places.ravel()]

    def _expand(self, belief: _Belief) -> None:
        """Find what follows the states of a belief."""
        missing = sorted(state for state in belief if self.after[state] is None)
        if not missing:
            return
        expander, role = self.expander, self.role
        states = np.stack([self.states[state] for state in missing])
        legal = expander.legal(states)
        if self.joints + int(legal.joint_counts().sum()) > self.most_joints:
            raise BudgetExceeded(f"{self.most_joints} successors")
        found: list[dict[int, dict[bytes, set[int]] | None]] = [
            {move: {} for move in np.flatnonzero(moves).tolist()}
            for moves in legal.mask(role) & legal.going[:, None]
        ]
        for after in expander.expansions(states, legal, joints=_CHUNK):
            self._check_clock()
            self.joints += len(after)
            over = expander.terminal(after.states)
            bad = np.zeros(len(after), np.bool_)
            bad[over] = expander.goals(after.states[over])[:, role] != self.value
            seen = expander.observed(states[after.parents], after.moves)[1] & expander.percept_masks[role]
            numbers = np.full(len(after), -1, np.int64)
            numbers[~over] = self._number(after.states[~over])
            rows = zip(
                after.parents.tolist(), after.moves[:, role].tolist(), numbers.tolist(), bad.tolist(),
                map(bytes, np.ascontiguousarray(seen)), strict=True,
            )  # fmt: skip
            for parent, move, number, is_bad, percept in rows:
                outcomes = found[parent]
                groups = outcomes[move]
                if is_bad:
                    outcomes[move] = None
                elif groups is not None and number >= 0:
                    groups.setdefault(percept, set()).add(number)
        for state, outcomes in zip(missing, found, strict=True):
            self.after[state] = {
                move: None if groups is None else {key: frozenset(group) for key, group in groups.items()}
                for move, groups in outcomes.items()
            }

    def _check_clock(self) -> None:
        if self.budget.left <= 0:
            raise BudgetExceeded(f"{self.budget.seconds:.3g} seconds")

    def outcomes(self, belief: _Belief, move: int) -> list[_Belief] | None:
        """Return the beliefs that can follow a move, largest first; None if it may lose or is not legal."""
        groups: dict[bytes, set[int]] = {}
        for state in belief:
            after = self.after[state]
            assert after is not None
            outcomes = after.get(move)
            if outcomes is None:
                return None
            for percept, states in outcomes.items():
                groups.setdefault(percept, set()).update(states)
        return sorted(map(frozenset, groups.values()), key=len, reverse=True)

    def moves(self, belief: _Belief) -> list[tuple[int, list[_Belief]]]:
        """Return the moves that are legal and safe in all states, with the beliefs that can follow."""
        self._expand(belief)
        common = set.intersection(*(set(self.after[state] or ()) for state in belief))
        moves = [(move, self.outcomes(belief, move)) for move in sorted(common)]
        safe = [(move, beliefs) for move, beliefs in moves if beliefs is not None]
        return sorted(safe, key=lambda entry: [len(belief) for belief in entry[1]])

    def decide(self, belief: _Belief, depth: int) -> tuple[bool, bool]:
        """Return whether the role wins from a belief, and if not, whether that depends on the path to it."""
        if belief in self.won:
            return True, False
        if belief in self.lost:
            return False, False
        if belief in self.path:
            return False, True
        self._check_clock()
        if depth >= _DEEPEST:
            raise BudgetExceeded(f"{_DEEPEST} steps")
        self.path.add(belief)
        depends = False
        for move, beliefs in self.moves(belief):
            for following in beliefs:
                wins, by_path = self.decide(following, depth + 1)
                if not wins:
                    depends |= by_path
                    break
            else:
                self.path.discard(belief)
                self.won[belief] = move
                return True, False
        self.path.discard(belief)
        if not depends:
            self.lost.add(belief)
        return False, depends

    def policy(self) -> UniformPolicy | None:
        """Return the moves in the beliefs to which they lead; None for too many."""
        moves: dict[frozenset[frozenset[str]], str] = {}
        seen, queue = {self.start}, [self.start]
        while queue:
            belief = queue.pop()
            if len(moves) >= _MOST_MOVES:
                return None
            move = self.won[belief]
            moves[self._facts(belief)] = self.expander.moves[self.role][move]
            for following in self.outcomes(belief, move) or ():
                if following not in seen:
                    seen.add(following)
                    queue.append(following)
        return UniformPolicy(self.expander.roles[self.role], moves, self.value)

    def spoiled(self) -> SpoiledBeliefs | None:
        """Return a belief after each safe move from which the role does not win either; None for too many."""
        try:
            leads = self._leads(decided=True) or self._leads(decided=False)
        except BudgetExceeded:
            return None
        return None if leads is None else SpoiledBeliefs(self.expander.roles[self.role], leads, self.value)

    def _leads(self, *, decided: bool) -> _Leads | None:
        """Return where safe moves lead: to `decided` beliefs where there are any, or to the smallest ones."""
        leads: _Leads = {}
        facts = {self.start: self._facts(self.start)}
        queue, states = [self.start], 0
        while queue:
            belief = queue.pop()
            states += len(belief)
            for move, beliefs in self.moves(belief):
                if len(leads) >= _MOST_LEADS or states > _MOST_STATES:
                    return None
                lost = (one for one in reversed(beliefs) if decided and one in self.lost)
                others = (one for one in reversed(beliefs) if not self._wins(one))
                following = next(chain(lost, others))
                if following not in facts:
                    facts[following] = self._facts(following)
                    queue.append(following)
                leads[facts[belief], self.expander.moves[self.role][move]] = facts[following]
        return leads

    def _wins(self, belief: _Belief) -> bool:
        """Return whether the role wins from a belief, whatever was before it."""
        wins = self.decide(belief, 0)[0]
        if not wins:
            self.lost.add(belief)
        return wins

    def _facts(self, belief: _Belief) -> frozenset[frozenset[str]]:
        """Return the facts of the states of a belief, in lower case."""
        states = self.expander.facts(np.stack([self.states[state] for state in sorted(belief)]))
        return frozenset(frozenset(map(str.lower, facts)) for facts in states)
