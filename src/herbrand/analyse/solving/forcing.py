"""`ForcedGoals`: which goal values roles can force, by proof-number search on the network (`core.Prover`).

Every answer is a question with two outcomes, for example "red can force at least 50": either red has a
strategy, or the others have one against it.  A value is the greatest goal value that a role can force, in
games without chance and hidden information in which one role at a time has a choice.  What can be forced *for
certain*, as in strong winnability, is a question in all games: the others, chance among them, reply to the
move of the role, and know the state.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Final

import numpy as np

from herbrand.analyse.budget import Budget
from herbrand.analyse.exploration.walks import play
from herbrand.core import Prover, Stop
from herbrand.engine.foresight import find_turns, foreseen, threats
from herbrand.errors import BudgetExceeded, GameError
from herbrand.network.network import GOAL_VALUES

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from herbrand.engine.expand import Legal, States
    from herbrand.machine.state_machine import StateMachine
    from herbrand.network.network import Network

__all__ = ["EFFORTS", "METHOD", "ForcedGoals", "GoalInterval", "goal_values"]

METHOD: Final = "proof-number search"
EFFORTS: Final = (0, 1000, 100_000, 1 << 40)
"""States that are expanded to prove again what the table has lost, at most, in one try after another."""
_SYMMETRY_SECONDS: Final = 10.0
_MOST_SYMMETRIES: Final = 16
_LANES_WANTED: Final = 256
"""Successors that are evaluated together; each walker adds those of one state."""
_LOOKING: Final = 0.5
"""The most seconds for random games that tell whose turn it is."""
_SLICE: Final = 0.25
"""Seconds between checks of the clock."""


@dataclass(slots=True)
class GoalInterval:
    """Goal values between which the value of a state is proved to be."""

    low: int
    high: int

    @property
    def is_exact(self) -> bool:
        """Whether there is only one value."""
        return self.low == self.high

    def opposed(self, total: int) -> GoalInterval:
        """Return the goal values of the other role, where those of both add up to a total."""
        return GoalInterval(total - self.high, total - self.low)

    def narrow(self, goals: Sequence[int], can_force: Callable[[int], bool]) -> None:
        """Find which of the goal values, ascending, is the greatest that can be forced.

        The interval is narrowed with every answer, also when a later one raises an exception.
        """
        values = [goal for goal in goals if self.low <= goal <= self.high]
        low, high = 0, len(values) - 1
        while low < high:
            middle = (low + high + 1) // 2
            if can_force(values[middle]):
                low = middle
            else:
                high = middle - 1
            self.low, self.high = values[low], values[high]


def goal_values(network: Network, *, every: bool = True) -> tuple[tuple[int, ...], ...]:
    """Return the goal values that the rules have for each role, ascending.

    With `every`, `GameError` is raised if a role has none.
    """
    values: list[set[int]] = [set() for _ in network.roles]
    for role, term in network.goals.tolist():
        value = GOAL_VALUES.get(network.terms.text(term))
        if value is not None:
            values[role].add(value)
    if every and not all(values):
        raise GameError("a role has no goal value")
    return tuple(tuple(sorted(some)) for some in values)


class ForcedGoals:
    """Answers questions about states of one game; proved values stay in a table for later questions.

    `progress` is called now and then with the number of states expanded.  `certain` asks what roles can force
    for certain, in any game, as if all roles knew the state, with a table for each question, among as many
    `tables` as the memory is divided; otherwise `GameError` is raised for games with
    chance or hidden information, and by questions where several roles choose at once.
    """

    def __init__(
        self,
        game: StateMachine,
        *,
        budget: Budget | None = None,
        progress: Callable[[int], None] | None = None,
        certain: bool = False,
        tables: int = 1,
    ) -> None:
        if not certain:
            if game.chance_role is not None:
                raise GameError("the search for what can be forced is for games without chance")
            game.require_complete_information()
        self.game = game
        self.budget = budget or Budget()
        self.expander = game.expander
        self.progress = progress
        network = self.expander.network
        self.roles = self.expander.roles
        self.goals = goal_values(network, every=not certain)
        """[roles] the goal values that the rules have for each role, ascending."""
        permutations = self._permutations()
        self.symmetries = len(permutations)
        """How many symmetries of the rules are used, 1 for none."""
        moves = float(self.expander.legal(self.expander.initial).counts().max())
        self._certain = certain
        self._new_core = partial(
            Prover,
            bytes=int(0.7e6 * self.budget.megabytes / tables),
            symmetries=np.ascontiguousarray(permutations.ravel()),
            walkers=int(np.clip(_LANES_WANTED / moves, 4, 64)),
            certain=certain,
        )
        self.core = self._new_core(network.circuit)
        """The search for the last question."""
        self._cores: dict[tuple[int, int], Prover] = {}
        """The searches for questions about what can be forced for certain, by role and goal value."""
        self.stop = Stop()

    def _use_core(self, role: int, goal: int) -> Prover:
        """Return the search for a question, which becomes the current one.

        A question about what can be forced for certain has a network of its own, which sees the end a step
        before, and what is threatened (`engine.foresight`).  Other questions share a table, and need the goal
        values of all roles at the ends.
        """
        if self._certain:
            if (role, goal) not in self._cores:
                self._cores[role, goal] = self._foreseeing(role, goal)
            self.core = self._cores[role, goal]
        return self.core

    def _foreseeing(self, role: int, goal: int) -> Prover:
        network = self.expander.network
        ahead = foreseen(network, role, goal)
        if ahead is None:
            return self._new_core(network.circuit)
        core = self._new_core(ahead.circuit)
        hints = None if self._turns is None else threats(network, role, goal, self._turns)
        if hints is not None:
            core.set_threats(hints.circuit)
        return core

    @cached_property
    def _turns(self) -> tuple[int, int] | None:
        """The fluents that say whose turn it is (`find_turns`)."""
        return find_turns(self.expander, play(self.expander, time.monotonic() + _LOOKING).states)

    @property
    def expanded(self) -> int:
        """The number of states that were expanded for all questions."""
        return sum(core.expanded for core in self._cores.values()) if self._certain else self.core.expanded

    def _permutations(self) -> NDArray[np.int32]:
        """Return the symmetries of the rules as permutations of the fluents, at least the identity."""
        from herbrand.analyse.solving.symmetry import find_symmetries, subgroup

        identity = np.arange(self.expander.fluents, dtype=np.int32)[None, :]
        seconds = min(_SYMMETRY_SECONDS, 0.1 * self.budget.left)
        try:
            symmetries = find_symmetries(self.game, budget=Budget(seconds))
        except BudgetExceeded:
            return identity
        elements = symmetries.permutations(self.expander.fluent_names)
        return identity if elements is None else subgroup(elements, _MOST_SYMMETRIES).astype(np.int32)

    # -- questions ------------------------------------------------------------------------

    def can_force(self, state: States, role: int, goal: int) -> bool:
        """Return whether a role can force at least a goal value from a packed state, [1, words].

        Raises `BudgetExceeded`, and `GameError` where the answer depends on simultaneous choices or
        on repeated states.
        """
        answer = self.attempt(state, role, goal, self.budget.left)
        if answer is None:
            spent = f"{self.budget.seconds:.3g} seconds"
            raise BudgetExceeded(spent, f"{self.core.expanded} states expanded")
        return answer

    def attempt(
        self, state: States, role: int, goal: int, seconds: float, *, expanded: int = 1 << 40
    ) -> bool | None:
        """Like `can_force`, but returns None if that is not known after `seconds`, or when the budget ends.

        `expanded` is about the most states that are expanded.  What was found stays in the table, from which
        another attempt goes on.
        """
        core, until = self._use_core(role, goal), time.monotonic() + min(seconds, self.budget.left)
        most = core.expanded + expanded
        core.ask(state[0], role, goal)
        while True:
            self.stop.set_deadline(max(0.0, min(_SLICE, until - time.monotonic())))
            answer = core.go_on(self.stop, most - core.expanded)
            if answer in (1, -1):
                return answer == 1
            if answer == 2:
                raise GameError(self._stalled())
            if self.progress is not None:
                self.progress(core.expanded)
            if time.monotonic() >= until or core.expanded >= most:
                return None

    def _stalled(self) -> str:
        if self.core.is_simultaneous:
            return "several roles choose at the same time, or one has no legal move"
        if self.core.sums[0] < 0:
            return "the game can end without a goal value for every role"
        return "the result depends on positions that repeat"

    def narrow(self, state: States, role: int, interval: GoalInterval) -> None:
        """Prove which value the role can force from a state, [1, words].

        The interval is narrowed with every answer, also when the budget ends and an exception is raised.
        """
        interval.narrow(self.goals[role], lambda goal: self.can_force(state, role, goal))

    def known(self, states: States, role: int, goal: int) -> tuple[NDArray[np.int8], NDArray[np.uint8]]:
        """Return for each state 1 if it is known that the role can force the goal value, -1 if not, else 0.

        The second array has the binary logarithms of the states expanded for the answers.
        """
        if not len(states):
            return np.zeros(0, np.int8), np.zeros(0, np.uint8)
        core = self._use_core(role, goal)
        core.ask(states[0], role, goal)
        verdicts, work = core.known(np.ascontiguousarray(states))
        return verdicts, work

    @property
    def constant_sum(self) -> int | None:
        """The sum of the goal values in all terminal states that proofs rest on; None if it varies."""
        least, greatest = self.core.sums
        return least if least == greatest and least >= 0 else None

    # -- states ---------------------------------------------------------------------------

    def chooser(self, legal: Legal) -> int:
        """Return the role that has a choice in one state, -1 if none has."""
        counts = legal.counts()[0]
        choosing = np.flatnonzero(counts > 1)
        return int(choosing[0]) if len(choosing) == 1 else -1
