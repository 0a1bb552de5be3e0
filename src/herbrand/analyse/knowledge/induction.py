"""Exact values of games with perfect information, by backward induction.

Each state is evaluated once, however many plays lead to it.  Chance nodes average, a single chooser
maximizes (expectimax, and expectiminimax for two roles); two roles that choose simultaneously and have
goals with a constant sum play a matrix game (Shapley 1953, without discount).

With more roles, or without a constant sum, the value is that of subgame-perfect play, provided that it is
unique: where a role is indifferent between moves with different values for the others, `Undecided` is
raised.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING, Any

from herbrand.analyse.knowledge.states import legal_moves, single_goal
from herbrand.analyse.solving.matrix import matrix_value
from herbrand.errors import BudgetExceeded, GameError
from herbrand.runtime.limits import DEFAULT, Limits

if TYPE_CHECKING:
    from herbrand.machine.state_machine import StateMachine
    from herbrand.rules.interface import Engine

__all__ = ["Undecided", "backward_values"]

MOST_STATES = 200_000
"""The most states that are evaluated."""

Values = tuple[Fraction, ...]
"""The payoff of each player."""


class Undecided(GameError):
    """Backward induction gives this game no value; the message says why."""


def backward_values(
    game: StateMachine, *, engine: str = "auto", states: int = MOST_STATES, limits: Limits = DEFAULT
) -> tuple[Values, int]:
    """Return the payoff of each player under best play, and the number of states.

    `sees` is ignored: every role sees every move.  Raises `BudgetExceeded` with
    more than `states` reachable states, `Undecided` where there is no single value, `GameError`
    where a role has no legal move, or no single goal value at the end.
    """
    machine = game.engine_object(engine)
    chance = None if game.chance_role is None else game.role_index(game.chance_role)
    players = [i for i in range(len(game.roles)) if i != chance]
    clock = limits.start()
    text = machine.terms.text
    values: dict[Any, Values] = {}
    choices: dict[Any, _Choice] = {}
    stack = [machine.initial()]
    on_path: set[Any] = set()
    total: int | None = None
    is_constant, is_simultaneous = True, False
    while stack:
        key = stack[-1]
        if key in values:
            stack.pop()
            continue
        choice = choices.get(key)
        if choice is None:
            if clock.elapsed() > limits.seconds:
                raise BudgetExceeded(f"{limits.seconds:g} seconds", f"{len(values)} states have a value")
            if len(values) + len(choices) >= states:
                raise BudgetExceeded(f"{states} states", f"{len(values)} of them with a value")
            if machine.terminal(key):
                goals = [single_goal(game, machine, key, i) for i in players]
                values[key] = tuple(map(Fraction, goals))
                is_constant = is_constant and total in (None, sum(goals))
                total = sum(goals)
                stack.pop()
                continue
            choice = choices[key] = _choice_in(game, machine, key, players)
            on_path.add(key)
            for successor in choice.successors():
                if successor in on_path:
                    facts = " ".join(sorted(map(text, machine.fluents(successor))))
                    raise Undecided(f"a state can recur, so that plays need not end: {facts}")
                if successor not in values:
                    stack.append(successor)
        else:
            is_simultaneous = is_simultaneous or len(choice.choosers) > 1
            if is_simultaneous and not is_constant:
                break
            values[key] = choice.value(values, total or 0)
            on_path.discard(key)
            del choices[key]
            stack.pop()
    if is_simultaneous and not is_constant:
        raise Undecided("roles choose simultaneously, and their goals have no constant sum")
    return values[machine.initial()], len(values)


@dataclass(frozen=True, slots=True)
class _Choice:
    """A state with its moves and successors."""

    choosers: list[int]
    """The players with more than one move, by index."""
    options: list[list[int]]
    """Their moves."""
    outcomes: dict[tuple[int, ...], list[Any]]
    """The successors for each combination of their moves, one for each move of chance."""

    def successors(self) -> set[Any]:
        """Return all successors."""
        return {key for keys in self.outcomes.values() for key in keys}

    def value(self, values: dict[Any, Values], total: int) -> Values:
        """Return the value of the state, given those of its successors and the sum of the goals."""
        means = {joint: _mean([values[key] for key in keys]) for joint, keys in self.outcomes.items()}
        if not self.choosers:
            return means[()]
        if len(self.choosers) == 1:
            place = self.choosers[0]
            best = max(mean[place] for mean in means.values())
            best_values = {mean for mean in means.values() if mean[place] == best}
            if len(best_values) > 1:
                raise Undecided(
                    "there are several subgame-perfect values: "
                    "a role has equally good moves with different values for others"
                )
            return best_values.pop()
        first, second = self.options
        payoff = [[means[(a, b)][0] for b in second] for a in first]
        value = matrix_value(payoff)[0]
        return value, total - value


def _choice_in(game: StateMachine, machine: Engine, key: Any, players: list[int]) -> _Choice:
    legal = legal_moves(game, machine, key)
    choosers = [p for p, i in enumerate(players) if len(legal[i]) > 1]
    if len(choosers) > 2 or (len(choosers) == 2 and len(players) > 2):
        raise Undecided("several roles choose simultaneously, and more than two play")
    outcomes: dict[tuple[int, ...], list[Any]] = {}
    for joint in product(*legal):
        chosen = tuple(joint[players[p]] for p in choosers)
        outcomes.setdefault(chosen, []).append(machine.successor(key, joint))
    return _Choice(choosers, [list(legal[players[p]]) for p in choosers], outcomes)


def _mean(values: list[Values]) -> Values:
    if len(values) == 1:
        return values[0]
    return tuple(sum(column, Fraction(0)) / len(values) for column in zip(*values, strict=True))
