"""Exact values where everybody sees everything: from the ends of the game backwards.

With perfect information a state is all that matters, so that each is looked at once, however
many plays lead to it.  Chance averages, a single chooser takes what is best for it
(expectimax, and expectiminimax for two roles); two roles that choose at once and whose goals
have a constant sum play a matrix game (Shapley 1953, without discount).

With more roles, or goals of no constant sum, the value is that of subgame-perfect play,
provided it is the only one: where a role is indifferent between moves that are not the same to
the others, there are several, and `Undecided` is raised.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING, Any

from herbrand.analyse.knowledge.outcome import single_goal
from herbrand.analyse.solving.matrix import matrix_value
from herbrand.errors import BudgetExceeded, GameError
from herbrand.runtime.limits import DEFAULT, Limits

if TYPE_CHECKING:
    from herbrand.machine.state_machine import StateMachine
    from herbrand.rules.interface import Engine

__all__ = ["Undecided", "backward_values"]

MOST_STATES = 200_000
"""How many states are looked at."""

Values = tuple[Fraction, ...]
"""What each player gets."""


class Undecided(GameError):
    """Backward induction gives this game no value; the message says why."""


def backward_values(
    game: StateMachine, *, engine: str = "auto", states: int = MOST_STATES, limits: Limits = DEFAULT
) -> tuple[Values, int]:
    """Return what each player gets under best play, and how many states the game has.

    What `sees` says is not looked at: every role sees every move.  Raises `BudgetExceeded` with
    more than `states` reachable states, `Undecided` where there is no single value, `GameError`
    where a role has no legal move, or no single goal value at the end.
    """
    machine = game.engine_object(engine)
    chance = None if game.chance_role is None else game.role_index(game.chance_role)
    players = [i for i in range(len(game.roles)) if i != chance]
    clock = limits.start()
    text = machine.terms.text
    values: dict[Any, Values] = {}
    after: dict[Any, _Choice] = {}
    stack = [machine.initial()]
    waiting: set[Any] = set()
    total: int | None = None
    same, mixed = True, False
    while stack:
        key = stack[-1]
        if key in values:
            stack.pop()
            continue
        choice = after.get(key)
        if choice is None:
            if clock.elapsed() > limits.seconds:
                raise BudgetExceeded(f"{limits.seconds:g} seconds", f"{len(values)} states have a value")
            if len(values) + len(after) >= states:
                raise BudgetExceeded(f"{states} states", f"{len(values)} of them with a value")
            if machine.terminal(key):
                goals = [single_goal(game, machine, key, i) for i in players]
                values[key] = tuple(map(Fraction, goals))
                same = same and total in (None, sum(goals))
                total = sum(goals)
                stack.pop()
                continue
            choice = after[key] = _look(game, machine, key, players)
            waiting.add(key)
            for reached in choice.reached():
                if reached in waiting:
                    facts = " ".join(sorted(map(text, machine.fluents(reached))))
                    raise Undecided(f"a state can come again, so that plays need not end: {facts}")
                if reached not in values:
                    stack.append(reached)
        else:
            mixed = mixed or len(choice.choosers) > 1
            if mixed and not same:
                break
            values[key] = choice.value(values, total or 0)
            waiting.discard(key)
            del after[key]
            stack.pop()
    if mixed and not same:
        raise Undecided("roles choose at the same time, and their goals have no constant sum")
    return values[machine.initial()], len(values)


class _Choice:
    """What can be done in a state."""

    def __init__(
        self, choosers: list[int], options: list[list[int]], outcomes: dict[tuple[int, ...], list[Any]]
    ) -> None:
        self.choosers = choosers
        """Places among the players of those with more than one move."""
        self.options = options
        """Their moves."""
        self.outcomes = outcomes
        """What each combination of their moves leads to: one state for each move of chance."""

    def reached(self) -> set[Any]:
        """Return all states that may come next."""
        return {key for keys in self.outcomes.values() for key in keys}

    def value(self, values: dict[Any, Values], total: int) -> Values:
        """Return what the state is worth, given the states after it and the sum of the goals."""
        means = {joint: _mean([values[key] for key in keys]) for joint, keys in self.outcomes.items()}
        if not self.choosers:
            return means[()]
        if len(self.choosers) == 1:
            place = self.choosers[0]
            best = max(mean[place] for mean in means.values())
            found = {mean for mean in means.values() if mean[place] == best}
            if len(found) > 1:
                raise Undecided(
                    "there are several subgame-perfect values: "
                    "a role has equally good moves that are not the same to others"
                )
            return found.pop()
        first, second = self.options
        payoff = [[means[(a, b)][0] for b in second] for a in first]
        value = matrix_value(payoff)[0]
        return value, total - value


def _look(game: StateMachine, machine: Engine, key: Any, players: list[int]) -> _Choice:
    legal = [machine.legal(key, i) for i in range(len(game.roles))]
    for i, moves in enumerate(legal):
        if not moves:
            raise GameError(f"{game.roles[i]} has no legal move, and the game is not over")
    choosers = [p for p, i in enumerate(players) if len(legal[i]) > 1]
    if len(choosers) > 2 or (len(choosers) == 2 and len(players) > 2):
        raise Undecided("several roles choose at the same time, and more than two play")
    outcomes: dict[tuple[int, ...], list[Any]] = {}
    for joint in product(*legal):
        chosen = tuple(joint[players[p]] for p in choosers)
        outcomes.setdefault(chosen, []).append(machine.successor(key, joint))
    return _Choice(choosers, [list(legal[players[p]]) for p in choosers], outcomes)


def _mean(values: list[Values]) -> Values:
    if len(values) == 1:
        return values[0]
    return tuple(sum(column, Fraction(0)) / len(values) for column in zip(*values, strict=True))
