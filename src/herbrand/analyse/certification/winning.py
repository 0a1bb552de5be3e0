"""Strategies as clauses: that their moves force a goal value is a question for a SAT solver.

The states to which a strategy leads, with the most steps that are left in each, are listed.  Three questions
have to be unsatisfiable: that the initial state is not listed; that in a listed state the game is over or a
role has no legal move; that a step from a listed state, with the move of the strategy and any of the others,
leads neither to a good end nor to a listed state with fewer steps left.
"""

from __future__ import annotations

from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from itertools import product
from typing import TYPE_CHECKING, Any, Final

from herbrand.analyse.exploration.replay import walk
from herbrand.analyse.invariants.plain import RuleClauses
from herbrand.engine.playouts import goal_value
from herbrand.errors import BudgetExceeded

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from herbrand.analyse.exploration.replay import ReplayedState
    from herbrand.machine.state_machine import StateMachine

__all__ = ["ask_strategy"]

MOST_STATES: Final = 2000
"""States, at most, of a strategy that is written as clauses."""


@dataclass(frozen=True, slots=True)
class _Listed:
    facts: frozenset[str]
    choice: tuple[str, str] | None
    """The role and the move that the strategy makes."""
    left: int
    """Steps that are left, at most; from 1."""


def ask_strategy(
    game: StateMachine,
    role: str,
    is_good: Callable[[int], bool],
    choices: Mapping[frozenset[str], tuple[str, str]],
    seconds: float,
) -> None:
    """Ask the questions about a strategy.

    `choices` are pairs of a role and its move by the facts of a state, in lower case; `is_good` tells the
    goal values of `role` that they force.  Asks nothing for a strategy that leads to more than `MOST_STATES`
    states, or to one of them twice in a play.
    """
    if len(choices) > MOST_STATES:
        return
    try:
        listed = _list(game, choices, seconds)
    except CycleError:
        return
    if not listed:
        return
    first = RuleClauses(game, seconds)
    frame = first.frame(initial=True)
    for state in listed:
        first.add([-literal for literal in _literals(first, frame, state)])
    first.possible(means=f"the initial state is one of the {len(listed)} of the strategy")
    going = RuleClauses(game, seconds)
    frame = going.frame()
    numbers = _require_listed(going, frame, listed)
    faults = [going.terminal(frame), going.wanted(frame, "playability")]
    moves, legal = _moves(going), going.signed(frame, going.network.legal)
    for number, state in zip(numbers, listed, strict=True):
        if state.choice is not None:
            faults.append(going.implying(number, -legal[moves[state.choice]]))
    going.add(faults)
    going.possible(
        means="in all of them the game goes on, every role has a legal move, and that of the strategy is "
        "legal"
    )
    _ask_step(RuleClauses(game, seconds), role, is_good, listed)


def _ask_step(
    encoding: RuleClauses, role: str, is_good: Callable[[int], bool], listed: list[_Listed]
) -> None:
    frame = encoding.frame()
    numbers = _require_listed(encoding, frame, listed)
    encoding.require_step(frame)
    moves = _moves(encoding)
    left = [encoding.new() for _ in range(max(state.left for state in listed).bit_length())]
    for number, state in zip(numbers, listed, strict=True):
        if state.choice is not None:
            encoding.add([-number, encoding.move(frame, moves[state.choice])])
        for place, bit in enumerate(left):
            encoding.add([-number, bit if state.left >> place & 1 else -bit])
    after = encoding.after(frame)
    terminal = encoding.terminal(after)
    values = encoding.goals(after, encoding.roles.index(role))
    for name in values:
        value = goal_value(name)
        if value is not None and is_good(value):
            encoding.add([-terminal, -encoding.alone(name, values)])
    for state in listed:
        reached = encoding.new()
        encoding.add([reached, *(-literal for literal in _literals(encoding, after, state))])
        for place, bit in enumerate(left):  # then no fewer steps are left there
            if not state.left >> place & 1:
                higher = [-left[k] for k in range(place + 1, len(left)) if state.left >> k & 1]
                encoding.add([-reached, -bit, *higher])
    encoding.possible(
        means="from each, the move of the strategy, with any of the others, leads to one with fewer steps "
        "left or to an end as claimed"
    )


def _list(
    game: StateMachine, choices: Mapping[frozenset[str], tuple[str, str]], seconds: float
) -> list[_Listed]:
    """Return the states to which a strategy leads and in which the game is not over."""
    roles = [name.lower() for name in game.roles]
    text = game.engine_object("rules").terms.text

    def follow(node: ReplayedState) -> list[tuple[int, ...]]:
        legal = list(node.legal)
        choice = choices.get(node.facts)
        if choice is not None:
            place = roles.index(choice[0])
            legal[place] = tuple(move for move in legal[place] if text(move).lower() == choice[1])
        return list(product(*legal))

    after: dict[Any, set[Any]] = {}
    facts: dict[Any, frozenset[str]] = {}
    for node, successors in walk(game, seconds, allowed=follow):
        after[node.key] = {key for _, key in successors}
        if not node.over:
            facts[node.key] = node.facts
        if len(facts) > MOST_STATES:
            raise BudgetExceeded(f"{MOST_STATES} states", "in a strategy as clauses")
    left: dict[Any, int] = {}
    for key in TopologicalSorter(after).static_order():
        left[key] = 1 + max((left[one] for one in after[key]), default=-1)
    return [_Listed(facts[key], choices.get(facts[key]), left[key]) for key in facts]


def _moves(encoding: RuleClauses) -> dict[tuple[str, str], int]:
    """Return the places of moves in the network by role and text, in lower case."""
    network = encoding.network
    text = network.terms.text
    pairs = enumerate(network.moves.tolist())
    return {(encoding.roles[role].lower(), text(move).lower()): place for place, (role, move) in pairs}


def _literals(encoding: RuleClauses, frame: int, state: _Listed) -> list[int]:
    """Return the literals of the fluents in a state."""
    return encoding.literals(frame, ((name, name.lower() in state.facts) for name in encoding.fluents))


def _require_listed(encoding: RuleClauses, frame: int, listed: list[_Listed]) -> list[int]:
    """Require that a state is one of a list; return a variable for each."""
    numbers = [encoding.new() for _ in listed]
    for number, state in zip(numbers, listed, strict=True):
        for literal in _literals(encoding, frame, state):
            encoding.add([-number, literal])
    encoding.add(numbers)
    return numbers
