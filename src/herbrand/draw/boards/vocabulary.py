"""The evidence for boards: the possible fluents and moves, and some states.

A board is recognised more reliably in one state when the facts that can hold in other states are known:
they show its size, and which arguments name each cell only once.
"""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING, Final

from herbrand.errors import HerbrandError
from herbrand.runtime.limits import Limits

if TYPE_CHECKING:
    from collections.abc import Iterable

    from herbrand.machine.state_machine import StateMachine

__all__ = ["Vocabulary", "vocabulary"]

QUICK: Final = Limits(seconds=3, megabytes=1000)
"""Seconds to search for fluents and moves that the rules do not declare."""
MOST: Final = 100_000
"""More fluents or moves than this are not listed just to recognise a board."""
SAMPLES: Final = 60
"""States sampled from random playouts."""
SAMPLE_SECONDS: Final = 1.0
LONGEST: Final = 12
"""Steps of the first playouts; later ones are longer."""


@dataclass(frozen=True)
class Vocabulary:
    """The fluents and moves that can occur in a game, as KIF."""

    roles: tuple[str, ...]
    base: frozenset[str]
    """Fluents that may be true: declared, or derived, or at least those of `states`."""
    moves: frozenset[str]
    """Moves that may be legal for some role."""
    states: tuple[frozenset[str], ...]
    """States that can be reached, the initial one first."""
    complete: bool = False
    """Whether `base` has every fluent that can be true."""

    @classmethod
    def of(cls, facts: Iterable[str], base: Iterable[str] = (), roles: Iterable[str] = ()) -> Vocabulary:
        """Return what one state tells, with what else may be true."""
        facts = frozenset(facts)
        return cls(tuple(roles), facts | frozenset(base), frozenset(), (facts,))


def vocabulary(game: StateMachine) -> Vocabulary:
    """Return the fluents and moves of a game, within a few seconds.

    Raises `GameError` for a game that cannot be played.  Declarations beyond the limits are left out;
    then the result comes from some random playouts.
    """
    initial = game.initial_state("rules")
    base: set[str] = set()
    moves: set[str] = set()
    complete = False
    with suppress(HerbrandError):
        declared = game.declared("base", 1)
        if 0 < len(declared) <= MOST:
            base.update(fact for (fact,) in declared)
            complete = True
        inputs = game.declared("input", 2)
        if 0 < len(inputs) <= MOST:
            moves.update(move for _, move in inputs)
        if not declared:
            from herbrand.ground.possible import possible

            terms = possible(game.rules, limits=QUICK)
            if len(terms.base) <= MOST:
                base.update(terms.base)
                complete = True
            if not inputs and sum(map(len, terms.inputs.values())) <= MOST:
                moves.update(move for legal in terms.inputs.values() for move in legal)
    states = [initial.facts]
    chance = Random(1)
    deadline = time.monotonic() + SAMPLE_SECONDS
    state, steps = initial, 0
    with suppress(HerbrandError):
        while len(states) < SAMPLES and time.monotonic() < deadline:
            if steps >= LONGEST * (1 + len(states) // 20) or state.is_terminal:
                state, steps = initial, 0
                if initial.is_terminal:
                    break
            legal = state.legal_moves()
            moves.update(str(move) for options in legal.values() for move in options)
            if not all(legal.values()):
                break
            state = state.next({role: chance.choice(options) for role, options in legal.items()})
            states.append(state.facts)
            steps += 1
    base.update(*states)
    return Vocabulary(game.roles, frozenset(base), frozenset(moves), tuple(states), complete)
