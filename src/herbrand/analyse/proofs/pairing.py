"""Strong winnability refuted by pairs of places: who takes one of a pair is answered by the other.

Where every win of a role needs both places of some pair, and no two pairs share a place, the role cannot
force a win: whenever it takes one place, its opponent takes the other (pairing strategies, Hales and Jewett
1963).  Five in a row on a board of 5 by 5 is such a game.  A SAT solver chooses the pairs: places that make a
win are added until every win needs a pair, or there is no choice of pairs.  That the role has no win where
the opponent prefers such replies is proved by induction, with clauses that the pairs suggest.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from itertools import combinations, product
from typing import TYPE_CHECKING, Final

import numpy as np

from herbrand.analyse.exploration.walks import play
from herbrand.analyse.invariants.frames import System
from herbrand.analyse.invariants.groups import find_groups, invariant_of, observed_groups, require
from herbrand.analyse.invariants.induction import inductive_part
from herbrand.analyse.invariants.sat import Solver
from herbrand.analyse.proofs.restricted import refuted
from herbrand.convert.restrict import Preference, restrict

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from herbrand.analyse.budget import Budget
    from herbrand.analyse.invariants.groups import Group
    from herbrand.analyse.invariants.induction import Clause
    from herbrand.analyse.invariants.invariant import Invariant
    from herbrand.analyse.verdict import Verdict
    from herbrand.engine.expand import Expander
    from herbrand.machine.state_machine import StateMachine

__all__ = ["refute_by_pairs"]

_LOOKING: Final = 1.0
"""The most seconds for random games."""
_BRIEF: Final = 0.05
"""Likewise, as a share of the time."""
_REPEATED: Final = 8
"""Random moves that are made in each sampled state."""
_VALUES: Final = 20_000_000
"""The most values of fluents in all of the states before these moves."""
_MOST_SETS: Final = 5000
"""The most sets of places that make a win."""
_MOST_PLACES: Final = 12
"""The most places that such a set may have: of larger ones there are too many."""


@dataclass(frozen=True, slots=True)
class _Places:
    """What two roles, by number, can take of each other."""

    role: int
    other: int
    taken: dict[int, int]
    """For fluents that only one move of the role makes true: the move of the other that prevents it."""
    marked: dict[int, int]
    """For the same fluents: the fluent that the other's move makes true instead."""
    turn: int
    """The fluent that is true when it is the other's turn."""


def refute_by_pairs(
    game: StateMachine, roles: Sequence[int], budget: Budget
) -> Iterator[tuple[int, Verdict]]:
    """Yield those of some roles, by number, that cannot force 100, with the verdicts that say so.

    Raises `BudgetExceeded`, and `MissingExtra` where no SAT solver is installed.
    """
    expander = game.expander
    if len(game.roles) != 2 or game.players != tuple(game.roles):
        return
    states = play(expander, time.monotonic() + min(_LOOKING, _BRIEF * budget.left)).states
    groups = observed_groups(expander.network, states)
    for number, role in enumerate(roles):
        began = time.monotonic()
        places = _find_places(expander, states, groups, role)
        if places is None:
            continue
        deadline = began + budget.left / (len(roles) - number)
        pairs = _find_pairs(expander, groups, places, deadline)
        certificate = None if pairs is None else _prove(game, places, pairs, deadline)
        if certificate is not None:
            name, other = game.roles[role], game.roles[1 - role]
            reason = f"every win of {name} needs both places of a pair, and {other} takes the second one"
            yield role, refuted(name, *certificate, reason, began)


def _find_places(
    expander: Expander, states: NDArray[np.bool_], groups: Sequence[Group], role: int
) -> _Places | None:
    """Return what a role takes by its moves, as sampled states show; None where it takes nothing."""
    other = 1 - role
    packed = np.repeat(expander.pack_bits(states), _REPEATED, axis=0)[: _VALUES // expander.fluents]
    legal = expander.legal(packed)
    going = legal.going
    moves = legal.sample_joint(np.random.default_rng(0))[going]
    after = expander.bits(expander.step(packed[going], moves))
    before = expander.bits(packed[going])
    added = after & ~before
    chooses = legal.counts()[going] > 1
    own, others = (_only_by(added[chooses[:, r]], moves[chooses[:, r], r]) for r in (role, other))
    exclusive = [group.fluents for group in groups if not group.some]
    taken, marked = {}, {}
    for fluents in sorted(exclusive, key=len):
        mine = [fluent for fluent in fluents if fluent in own]
        theirs = [fluent for fluent in fluents if fluent in others]
        if len(mine) == len(theirs) == 1 and mine[0] not in taken:
            taken[mine[0]], marked[mine[0]] = others[theirs[0]], theirs[0]
    if not taken:
        return None
    replies = legal.mask(other)[:, sorted(set(taken.values()))].any(axis=1) & going
    turns = np.flatnonzero((before == replies[going, None]).all(axis=0))
    return _Places(role, other, taken, marked, int(turns[0])) if len(turns) else None


def _only_by(added: NDArray[np.bool_], moves: NDArray[np.int32]) -> dict[int, int]:
    """Return the fluents that a move always made true, and no other move did, with that move."""
    rows, fluents = np.nonzero(added)
    pairs, times = np.unique(moves[rows].astype(np.int64) * added.shape[1] + fluents, return_counts=True)
    movers, made = np.divmod(pairs, max(added.shape[1], 1))
    always = times == np.bincount(moves)[movers]
    alone = np.bincount(made)[made] == 1
    return dict(zip(made[always & alone].tolist(), movers[always & alone].tolist(), strict=True))


def _find_pairs(
    expander: Expander, groups: Sequence[Group], places: _Places, deadline: float
) -> list[tuple[int, int]] | None:
    """Return disjoint pairs of what the role takes, of which each of its wins needs one; None without any."""
    system = System(expander.network)
    circuit = system.circuit
    frame = system.any_state()
    state = frame.state.tolist()
    wins = circuit.all_of((frame.terminal, frame.hundred(places.role)))
    variables: dict[tuple[int, int], int] = {}
    """For each pair of fluents that was tried, whether it is chosen."""
    with Solver(circuit, deadline) as winning, Solver(circuit, deadline) as choosing:
        require(winning, frame.state, groups)
        for _ in range(_MOST_SETS):
            if not choosing.solve():
                return None
            model = choosing.model()
            chosen = [pair for pair, variable in variables.items() if model(variable)]
            if not winning.solve(wins, *(variables[pair] for pair in chosen)):
                return chosen
            needed = _needed(winning, state, wins, places)
            if not 2 <= len(needed) <= _MOST_PLACES:
                return None
            for pair in combinations(needed, 2):
                if pair in variables:
                    continue
                variable = int(circuit.variables(1)[0])
                for other in (other for other in variables if not {*other}.isdisjoint(pair)):
                    choosing.add([variable ^ 1, variables[other] ^ 1])
                winning.add([variable ^ 1, state[pair[0]] ^ 1, state[pair[1]] ^ 1])
                variables[pair] = variable
            choosing.add([variables[pair] for pair in combinations(needed, 2)])
    return None


def _needed(solver: Solver, state: Sequence[int], wins: int, places: _Places) -> list[int]:
    """Return fluents that the role took in the state found last, which suffice for its win there.

    None can be left out; there are none if it also needs something else.
    """
    model = solver.model()
    took = [fluent for fluent in places.taken if model(state[fluent])]
    if solver.solve(wins ^ 1, *(state[fluent] for fluent in took)):
        return []
    core = solver.core()
    took = [fluent for fluent in took if state[fluent] in core]
    for fluent in list(took):
        if not solver.solve(wins ^ 1, *(state[one] for one in took if one != fluent)):
            took.remove(fluent)
    return sorted(took)


def _prove(
    game: StateMachine, places: _Places, pairs: Sequence[tuple[int, int]], deadline: float
) -> tuple[tuple[Preference, ...], Invariant] | None:
    """Return the replies in pairs and the certificate that the role has no win then; None if not shown."""
    expander = game.expander
    other = game.roles[places.other]
    replies = [(one, two) for pair in pairs for one, two in (pair, pair[::-1])]
    preferences = tuple(
        Preference(other, expander.moves[places.other][places.taken[two]], expander.fluent_names[one])
        for one, two in replies
    )
    restricted = restrict(game, preferences)
    restricted.network_within(max(0.0, deadline - time.monotonic()))
    invariant = _invariant(restricted, places, pairs, expander.fluent_names, deadline)
    return None if invariant is None else (preferences, invariant)


def _invariant(
    restricted: StateMachine,
    places: _Places,
    pairs: Sequence[tuple[int, int]],
    names: Sequence[str],
    deadline: float,
) -> Invariant | None:
    """Return the invariant that the role never takes both places of a pair; `names` has those of fluents."""
    system = System(restricted.network)
    texts = system.fluent_texts
    number = {name: fluent for fluent, name in enumerate(texts)}
    if not {names[places.turn], *(names[f] for f in (*places.marked, *places.marked.values()))} <= set(texts):
        return None

    def answered(one: int, two: int) -> Clause:
        """Return that the role has not taken one place of a pair, or the other has taken the second one."""
        return (number[names[one]], False), (number[names[places.marked[two]]], True)

    turn = number[names[places.turn]], True
    clauses: list[Clause] = []
    for one, two in pairs:
        clauses.append(((number[names[one]], False), (number[names[two]], False)))
        clauses += [(turn, *answered(one, two)), (turn, *answered(two, one))]
    replies = [[(one, two), (two, one)] for one, two in pairs]
    for first, second in combinations(replies, 2):
        clauses += [(*answered(*one), *answered(*two)) for one, two in product(first, second)]
    states = play(restricted.expander, time.monotonic() + _LOOKING).states
    groups = find_groups(system, deadline, states)
    part = inductive_part(system, groups, clauses, lambda frame: frame.wins(places.role), deadline)
    if part is None:
        return None
    return invariant_of(texts, groups, f"win {restricted.roles[places.role]}", clauses=part)
