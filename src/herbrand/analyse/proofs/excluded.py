"""Conditions that hold in no reachable state, because of groups of fluents of which one is true at a time.

A condition is the body of a rule.  It is watched by a percept, so that it becomes a part of the network and
of the exported rules; then a SAT solver looks for a state that satisfies an inductive invariant, and a joint
move, in which it holds.  No states are listed.
"""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from herbrand.analyse.exploration.walks import play
from herbrand.analyse.invariants.exposed import with_percepts
from herbrand.analyse.invariants.frames import System
from herbrand.analyse.invariants.groups import find_groups, invariant_of
from herbrand.analyse.invariants.plain import RuleClauses
from herbrand.convert.levels import MOVE, level_of
from herbrand.errors import BudgetExceeded
from herbrand.syntax.nodes import Atom, Constant, Function, Literal, Rule, atoms_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from herbrand.analyse.exploration.explore import StateSpace
    from herbrand.analyse.invariants.invariant import Invariant
    from herbrand.machine.state_machine import StateMachine

__all__ = [
    "Body",
    "SampledStates",
    "Watch",
    "find_invariant",
    "possible_conditions",
    "possible_losses",
    "sample_of",
    "watch",
]

Body = tuple[Literal, ...]

_SAMPLE = 20_000
"""States that groups of fluents are compared with before they are proved."""


@dataclass(frozen=True, slots=True)
class Watch:
    """A game whose first role sees `(remark K)` where the K-th of some conditions holds.

    Its own percepts are left out: they do not matter to which states are reachable.
    """

    game: StateMachine
    needs_move: tuple[bool, ...]
    """For each condition, whether it depends on the joint move."""


def watch(game: StateMachine, bodies: Sequence[Body]) -> Watch:
    """Return a game with percepts for conditions; raises `HerbrandError` if some are no valid bodies."""
    if not bodies:
        return Watch(game, ())
    observer = game.rules.roles[0]
    rules = tuple(
        Rule(Atom("sees", (observer, Function("remark", (Constant(str(place)),)))), body)
        for place, body in enumerate(bodies)
    )
    copy = with_percepts(game, rules)
    graph = copy.rules.graph
    keys = [{atom.key for literal in body for atom, _ in atoms_of(literal)} for body in bodies]
    return Watch(copy, tuple(any(level_of(graph, key) == MOVE for key in some) for some in keys))


@dataclass(frozen=True, slots=True)
class SampledStates:
    """Some reachable states."""

    fluents: tuple[str, ...]
    states: NDArray[np.bool_]
    """[states, fluents]"""


def sample_of(space: StateSpace, seconds: float) -> SampledStates:
    """Return a sample of all states, or where not all are known, states of random play."""
    expander = space.expander
    if space.complete:
        states = expander.bits(space.states[:: max(1, len(space.states) // _SAMPLE)])
    else:
        states = play(expander, time.monotonic() + seconds).states
    return SampledStates(expander.fluent_names, states.astype(np.bool_))


def find_invariant(game: StateMachine, sample: SampledStates | None, seconds: float) -> Invariant:
    """Return groups of fluents that hold in every reachable state; the states of a sample refute candidates.

    Raises `BudgetExceeded` after `seconds`, and `MissingExtra` where no SAT solver is installed.
    """
    deadline = time.monotonic() + seconds
    system = System(game.network_within(seconds))
    states = None
    if sample is not None:
        names = {name: place for place, name in enumerate(sample.fluents)}
        bits = np.concatenate([sample.states, np.zeros((len(sample.states), 1), np.bool_)], axis=1)
        states = bits[:, [names.get(text, -1) for text in system.fluent_texts]]
    groups = find_groups(system, time.monotonic() + 0.3 * seconds, states, simple=True)
    with suppress(BudgetExceeded):
        groups = find_groups(system, deadline, states, known=groups)
    return invariant_of(system.fluent_texts, groups)


def possible_conditions(watched: Watch, invariant: Invariant, seconds: float) -> set[int]:
    """Return the conditions that hold in some state in which an invariant holds, and some legal joint move.

    Raises `BudgetExceeded` after `seconds`.
    """
    network = watched.game.network_within(seconds)
    text = network.terms.text
    percepts = {text(term): place for place, (_, term) in enumerate(network.percepts.tolist())}
    places = [percepts.get(f"(remark {number})") for number in range(len(watched.needs_move))]
    possible: set[int] = set()
    for needs_move in (False, True):
        wanted = [
            (number, place)
            for number, place in enumerate(places)
            if place is not None and watched.needs_move[number] == needs_move
        ]
        if not wanted:
            continue
        encoding = RuleClauses(watched.game, seconds)
        frame = encoding.frame()
        encoding.require(frame, invariant)
        if needs_move:
            terminal = encoding.terminal(frame)
            encoding.require_step(frame, when=-terminal)
            for number in range(len(network.moves)):
                encoding.add([-encoding.move(frame, number), -terminal])
        signed = encoding.signed(frame, encoding.network.sees)
        possible |= {number for number, place in wanted if encoding.possible(signed[place], means="")}
    return possible


def possible_losses(
    game: StateMachine, fluents: Sequence[str], invariant: Invariant, seconds: float
) -> set[int]:
    """Return which of some fluents a legal step from a state in which an invariant holds makes false."""
    encoding = RuleClauses(game, seconds)
    frame = encoding.frame()
    encoding.require(frame, invariant)
    encoding.require_step(frame)
    after = encoding.signed(frame, encoding.network.next)
    return {
        number
        for number, name in enumerate(fluents)
        if encoding.possible(encoding.fluent(frame, name), -after[encoding.fluents[name]], means="")
    }
