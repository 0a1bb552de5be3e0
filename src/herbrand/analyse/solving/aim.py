"""Cooperative search for lines of play to ends with goal 100.

Beams (`guided`) and parallel games (`climb`) follow the estimated distance to such an end (`distance`), with
the transition distances of counters and pieces (`domains`); then the distance to particular ends, which a
solver finds first, reachable or not (`target_states`).  Games that are products of small parts have better
guidance (`patterns`).  Puzzles in which moves of the first state are made in some order, as where numbers are
filled in, are solved that way first: what each of them makes illegal says which moves can be part of an end
together (`compatible_moves`).
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import count, pairwise
from typing import TYPE_CHECKING

import numpy as np

from herbrand.analyse.invariants.domains import find_domains
from herbrand.analyse.invariants.frames import System
from herbrand.analyse.invariants.groups import Group, observed_groups, require
from herbrand.analyse.invariants.sat import Solver
from herbrand.analyse.solving.climb import climb
from herbrand.analyse.solving.distance import Distance
from herbrand.analyse.solving.guided import guided_line
from herbrand.analyse.solving.patterns import PatternSearch
from herbrand.errors import BudgetExceeded

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from herbrand.analyse.invariants.domains import Domains
    from herbrand.analyse.invariants.frames import Frame
    from herbrand.analyse.verdict import Moves
    from herbrand.engine.expand import Expander
    from herbrand.network.circuit import UnrolledCircuit
    from herbrand.network.network import Network

__all__ = ["Aim", "Filling", "compatible_moves", "target_states"]

_ENDING = 0.02
"""The weight of `terminal` in the distance that puts the goal first."""
_BEAMS = 2
"""Beams for each particular end."""
_GAMES = 64
_MOST_COUNTED = 50_000
"""Length of games times moves of the initial state, at most, for the moves of an end to be counted."""
_MOST_MOVES = 4000
"""Moves of the initial state that are compared with each other, at most."""
_EACH = 0.1
"""The fraction of the time for parallel games to each particular end."""


class Aim:
    """Cooperative searches for wins in one game."""

    def __init__(self, expander: Expander, states: NDArray[np.bool_], seconds: float) -> None:
        """`states`, [n, fluents], are sampled from play; `seconds` limit the search for `domains`."""
        self.expander = expander
        self.states = states
        self.seconds = seconds
        self.beams = [count() for _ in expander.roles]
        """The seeds of the next beams, for each role."""
        self.climbs = [count() for _ in expander.roles]
        """The seeds of the next parallel games, for each role."""
        self._patterns: dict[tuple[int, int], PatternSearch] = {}

    @cached_property
    def system(self) -> System:
        """The game in its own circuit; raises `BudgetExceeded` where recursion is too large to unroll."""
        return System(self.expander.network)

    @cached_property
    def domains(self) -> Domains:
        """The domains of fluents, those that matter for goals of 100 first."""
        frame = self.system.any_state()
        hundred = [frame.hundred(role) for role in range(len(self.expander.roles))]
        matter = Distance(self.system.circuit, frame.state, hundred).needed
        return find_domains(self.expander.network, self.states, time.monotonic() + self.seconds, matter)

    def win(
        self, role: int, deadline: float, groups: Sequence[Group] = (), *, alone: bool = False
    ) -> Moves | None:
        """Search for an end in which a role, by number, has 100; None when none was found in time.

        With `alone`, it has no other goal value there; few games need it.
        `groups` hold in every reachable state.  Later calls continue with other seeds.
        """
        frame = self.system.any_state()
        parts = [frame.hundred(role), frame.terminal]
        if 0 in parts:
            return None
        if alone:
            parts.insert(0, frame.no_other(role))
        distance = Distance(self.system.circuit, frame.state, parts, self.domains)
        ways = (distance, distance.weighted(*[1.0] * (len(parts) - 1), _ENDING))
        return (
            self.win_by_filling(role, _after(0.3, deadline))
            or self.win_by_patterns(role, _after(0.5, deadline))
            or guided_line(self.expander, ways, _after(0.45, deadline), seeds=self.beams[role])
            or self.win_by_ends(role, _after(0.5, deadline), groups)
            or climb(self.expander, ways, deadline, seeds=self.climbs[role])
        )

    def win_by_filling(self, role: int, deadline: float) -> Moves | None:
        """Search for an end in which a role has 100 and that compatible moves make, as in number puzzles."""
        filling = compatible_moves(self.expander)
        if filling is None:
            return None
        fillable = set(filling.fillable)
        observed = [  # counters may have run out at an end that no sampled game reached
            group
            for group in observed_groups(self.expander.network, self.states)
            if not group.some or len(group.fluents) == 1 or fillable & set(group.fluents)
        ]
        return self.reach(lambda frame: frame.wins(role), observed, deadline, filling)

    def win_by_patterns(self, role: int, deadline: float, value: int = 100) -> Moves | None:
        """Search for an end in which a role has a value in a game that is a product of parts."""
        if (role, value) not in self._patterns:
            groups = observed_groups(self.expander.network, self.states)
            ends = target_states(self.system, lambda frame: frame.gets(role, value), groups, deadline)
            self._patterns[role, value] = PatternSearch(self.expander, map(_values, ends))
        return self._patterns[role, value].run(deadline)

    def win_by_ends(self, role: int, deadline: float, groups: Sequence[Group] = ()) -> Moves | None:
        """Search for particular ends in which a role has 100; None when none was reached in time.

        Ends in which the groups of sampled states hold come first, then those in which `groups` hold.
        """
        observed = observed_groups(self.expander.network, self.states)
        search = partial(self.reach, lambda frame: frame.wins(role), deadline=deadline)
        return search(groups=observed) or search(groups=groups)

    def reach(
        self,
        wanted: Callable[[Frame], int],
        groups: Sequence[Group],
        deadline: float,
        filling: Filling | None = None,
        *,
        patient: bool = False,
    ) -> Moves | None:
        """Search for wanted states in which groups hold, one after the other (`target_states`).

        If there are no others and time is left, a `patient` search goes on with those.
        """
        seen = []
        for frame, literals in target_states(self.system, wanted, groups, deadline, filling):
            literal = self.system.circuit.all_of(literals)
            ways, seeds = [Distance(self.system.circuit, frame.state, (literal,), self.domains)], count()
            seen.append((ways, seeds))
            line = guided_line(self.expander, ways, deadline, beams=_BEAMS)
            if line is None:
                line = climb(self.expander, ways, _after(_EACH, deadline), seeds=seeds)
            if line is not None:
                return line
        for number, (ways, seeds) in enumerate(seen if patient else ()):
            line = climb(self.expander, ways, _after(1 / (len(seen) - number), deadline), seeds=seeds)
            if line is not None:
                return line
        return None


def _values(end: tuple[Frame, list[int]]) -> dict[int, bool]:
    """Return what an end of `target_states` asks of fluents, by index."""
    frame, literals = end
    fluents = {literal: fluent for fluent, literal in enumerate(frame.state.tolist())}
    true = {fluents[literal]: True for literal in literals if literal in fluents}
    return true | {fluents[literal ^ 1]: False for literal in literals if literal not in fluents}


@dataclass(frozen=True, slots=True)
class Filling:
    """The constraints on the end of a filling game, whose moves are all legal in the initial state."""

    groups: list[Group]
    """Pairs of fluents of which none can be made true after the other, and sets of which one is made true."""
    never: list[int]
    """Fluents like those in `fillable` that are false at the beginning and that no move there makes true."""
    fillable: list[int]
    """The fluents that one of the moves makes true."""
    count: int
    """The least number of them true at an end: the length of all random games, or 0 if they differ."""


def compatible_moves(expander: Expander) -> Filling | None:
    """Return which moves of the initial state exclude each other, by the legal moves after each.

    For games with one role in which moves make different single fluents true, as where numbers are filled in;
    None for others.  It is proved of nothing but the first two steps.
    """
    if len(expander.roles) != 1:
        return None
    legal = expander.legal(expander.initial).mask(0)[0]
    moves = np.flatnonzero(legal).astype(np.int32)
    if not 0 < len(moves) <= _MOST_MOVES:
        return None
    after = expander.step(np.repeat(expander.initial, len(moves), axis=0), moves[:, None])
    going = ~expander.terminal(after)
    moves, after = moves[going], after[going]
    initial = expander.bits(expander.initial)[0]
    added = expander.bits(after) & ~initial
    added &= ~added.all(axis=0)  # without fluents that every move makes true, such as the step number
    if not len(moves) or (added.sum(axis=1) != 1).any():
        return None
    fluents = added.argmax(axis=1)
    if len(np.unique(fluents)) != len(fluents):
        return None
    remain = expander.legal(after).mask(0)[:, moves]
    excludes = ~(remain & remain.T)
    np.fill_diagonal(excludes, val=True)
    pairs = np.argwhere(np.triu(excludes, 1))
    groups = [Group((int(fluents[a]), int(fluents[b])), some=False) for a, b in pairs.tolist()]
    groups += _equal_partitions(expander.network, fluents, excludes)
    network = expander.network
    functors = np.array([network.terms.functor[int(fluent)] for fluent in network.fluents])
    alike = np.isin(functors, functors[fluents])
    never = np.flatnonzero(alike & ~initial & ~added.any(axis=0)).tolist()
    games = expander.rollouts(np.repeat(expander.initial, _GAMES, axis=0), seed=0, max_steps=len(moves))
    least, most = int(games.lengths.min()), int(games.lengths.max())
    is_small = most * len(moves) <= _MOST_COUNTED
    return Filling(groups, never, fluents.tolist(), most if least == most and is_small else 0)


def _equal_partitions(
    network: Network, fluents: NDArray[np.int64], excludes: NDArray[np.bool_]
) -> list[Group]:
    """Return sets of fluents of which one is made true, such as all places of a number.

    If each place has a number, and there are as many numbers as places, each number has a place: a solver
    takes very long to find that by itself.  Such partitions of the fluents are the smallest ones in which the
    fluents of a set exclude each other, if there are two.
    """
    arguments = [network.terms.args[int(network.fluents[fluent])] for fluent in fluents]
    partitions = []
    for varied in range(min(map(len, arguments))):
        sets: dict[tuple[int, ...], list[int]] = {}
        for place, args in enumerate(arguments):
            sets.setdefault((*args[:varied], *args[varied + 1 :]), []).append(place)
        if all(excludes[np.ix_(one, one)].all() for one in sets.values()):
            partitions.append(list(sets.values()))
    smallest = min(map(len, partitions), default=0)
    chosen = [partition for partition in partitions if len(partition) == smallest]
    if len(chosen) < 2:
        return []
    return [Group(tuple(fluents[one].tolist()), some=True) for partition in chosen for one in partition]


def _at_least(circuit: UnrolledCircuit, literals: list[int], count: int) -> int:
    """Return the literal that at least `count` of some literals are true (sequential counter, Sinz 2005)."""
    reached = [1, *[0] * count]
    for literal in literals:
        reached[1:] = [
            circuit.any_of((more, circuit.all_of((one_less, literal))))
            for one_less, more in pairwise(reached)
        ]
    return reached[count]


def _after(fraction: float, deadline: float) -> float:
    """Return the time at which a fraction of the time until the deadline has passed."""
    now = time.monotonic()
    return now + fraction * max(0.0, deadline - now)


def target_states(
    system: System,
    target: Callable[[Frame], int],
    groups: Sequence[Group],
    deadline: float,
    filling: Filling | None = None,
) -> Iterator[tuple[Frame, list[int]]]:
    """Yield wanted states, each as a frame and its literals that make it a wanted one, until time is up.

    The solver finds a state that is wanted, and in which groups of fluents hold; the fluents that matter are
    the failed assumptions (Een and Sorensson 2003) in the proof that their values make it a wanted one.  With
    `filling`, which the state is to agree with, all true fluents matter.  The first state resembles the
    initial one, as far as the phases of the solver can achieve that, the others less and less.  `deadline` is
    a time of `time.monotonic`.
    """
    frame = system.any_state()
    state: list[int] = frame.state.tolist()
    circuit, rng = system.circuit, np.random.default_rng(0)
    wanted = target(frame)
    initial = system.network.initial
    with Solver(circuit, deadline) as solver:
        try:
            require(solver, frame.state, groups)
            filled = int(circuit.variables(1)[0]) if filling is not None else 1
            if filling is not None:
                require(solver, frame.state, filling.groups, filled)
                for fluent in filling.never:
                    solver.add([filled ^ 1, state[fluent] ^ 1])
                fillable = [state[fluent] for fluent in filling.fillable]
                solver.add([filled ^ 1, _at_least(circuit, fillable, filling.count)])
            different = 0.0
            solver.guess(frame.state[initial].tolist(), frame.state[~initial].tolist())
            while solver.solve(wanted, filled):
                model = solver.model()
                literals = [x if model(x) else x ^ 1 for x in frame.state.tolist()]
                if solver.solve(wanted ^ 1, *literals):
                    return  # the target depends on other variables, too
                core = sorted(solver.core() & set(literals))
                if filling is not None:
                    core = sorted({*core, *(x for x in frame.state.tolist() if model(x))})
                yield frame, core
                solver.add([x ^ 1 for x in core])
                different = min(0.5, different + 0.02)
                likely = np.where(rng.random(len(initial)) < different, ~initial, initial)
                solver.guess(frame.state[likely].tolist(), frame.state[~likely].tolist())
        except BudgetExceeded:
            return
