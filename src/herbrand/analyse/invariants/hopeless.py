"""Conditions under which a role cannot get 100 any more, such as too few steps for the captures it needs.

A *clock* is a group of fluents whose next value depends on nothing else, such as a step counter or whose turn
it is.  For each time that the clocks show, and each value of a counter or fluent that is needed to win,
ternary simulation gives the values that can follow: where no sequence of them leads to a win, the role has
lost already.  A search may end there (`convert.cut_short`).
"""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from herbrand.analyse.exploration.walks import random_states
from herbrand.analyse.invariants.frames import System
from herbrand.analyse.invariants.groups import Group, invariant_of, observed_groups, prove_groups
from herbrand.analyse.invariants.invariant import RulesProgram, clause_texts
from herbrand.analyse.verdict import Compound, Premise, certificate_as_json
from herbrand.convert.cut_short import cut_short
from herbrand.errors import BudgetExceeded
from herbrand.network.cones import fluents_of
from herbrand.network.ternary import TernarySimulation

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from herbrand.analyse.invariants.invariant import Invariant
    from herbrand.analyse.verdict import Certificate
    from herbrand.engine.expand import Expander
    from herbrand.machine.state_machine import StateMachine
    from herbrand.network.network import Network

__all__ = ["CutShort", "Hopeless", "find_hopeless"]

Condition = tuple[tuple[str, bool], ...]
"""Fluents with their values."""

_GAMES: Final = 128
_LARGEST: Final = 256
"""The most fluents of a counter or clock."""
_MORE_GROUPS: Final = 0.25
"""Share of the time for proving groups together with all others that were observed."""
_MOST_CLOCKS: Final = 4
_MOST_TIMES: Final = 2000
"""The most times that clocks show."""
_MOST_VALUES: Final = 40_000
"""The most pairs of a time and a value that are simulated for one counter."""
_MOST_CONDITIONS: Final = 4000


@dataclass(frozen=True, slots=True)
class Hopeless:
    """Conditions that last once they hold, and under which a role has not 100."""

    role: str
    conditions: tuple[Condition, ...]
    invariant: Invariant
    """It holds in every reachable state."""

    kind = "hopeless states"

    def as_json(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {
            "role": self.role,
            "conditions": clause_texts(self.conditions),
            "invariant": self.invariant.as_json(),
        }

    def check(self, game: StateMachine, seconds: float) -> bool:
        """Check on the rules that the conditions last, and exclude 100; see `verdict.Certificate`."""
        rules = RulesProgram(game, seconds)
        if not self.invariant.holds_by_rules(game, rules):
            return False
        holds = [*self.invariant.as_program(rules, "true", broken=False), ":- not hopeless."]
        holds += self._as_program(rules, "hopeless", "true")
        lasts = [*holds, *rules.step(), *self._as_program(rules, "lasting", "next"), ":- lasting."]
        if rules.possible(lasts, "a condition holds after each legal step from a state in which one holds"):
            return False
        means = f"{self.role} has not 100 where a condition holds"
        return not rules.possible([*holds, *rules.has(self.role, 100)], means)

    def _as_program(self, rules: RulesProgram, name: str, relation: str) -> Iterator[str]:
        for condition in self.conditions:
            body = (f"{'' if v else 'not '}{relation}({rules.term(fluent)})" for fluent, v in condition)
            yield f"{name} :- {', '.join(body)}."


@dataclass(frozen=True, slots=True)
class CutShort(Compound):
    """A proof that a role never gets 100, or cannot force it: it does not where hopeless states are ends."""

    hopeless: Hopeless
    certificate: Certificate
    """The proof about that game (`convert.cut_short`)."""

    kind = "play cut short"

    def as_json(self) -> dict[str, Any]:
        """Return the conditions, and the certificate about the game cut short."""
        inner = certificate_as_json(self.certificate)
        return {"role": self.hopeless.role, "hopeless": self.hopeless.as_json(), "certificate": inner}

    def check_alone(self, game: StateMachine, seconds: float) -> bool:
        """Check the conditions; see `verdict.Certificate`."""
        return self.hopeless.check(game, seconds)

    def premises(self, game: StateMachine) -> Iterator[Premise]:
        """Yield the certificate about the game cut short."""
        yield Premise(cut_short(game, self.hopeless.conditions), self.certificate, "shorter.kif")


def find_hopeless(expander: Expander, roles: Iterable[int], seconds: float) -> dict[int, Hopeless]:
    """Return conditions under which roles, by number, cannot get 100, for those of which some are found.

    `seconds` are for each role.
    """
    search, found = _Search(expander), {}
    for role in roles:
        with suppress(BudgetExceeded):
            hopeless = search.about(role, time.monotonic() + seconds)
            if hopeless is not None:
                found[role] = hopeless
    return found


@dataclass(frozen=True, slots=True)
class _Value:
    """What is known of some fluents: at most one is true, `true` or, if that is -1, none."""

    fluents: tuple[int, ...]
    true: int


class _Search:
    """What is known of the clocks of a game serves all roles; `wins`, `matter`, `deadline` are of one."""

    def __init__(self, expander: Expander) -> None:
        self.expander = expander
        self.network: Network = expander.network
        self.simulation = TernarySimulation(self.network)
        self.deadline = 0.0

    def about(self, role: int, deadline: float) -> Hopeless | None:
        """Return conditions about all counters that have some, with the groups that they rest on."""
        self.deadline = deadline
        texts = map(self.network.terms.text, self.network.goals[:, 1].tolist())
        wins = [
            of == role and text == "100" for of, text in zip(self.network.goals[:, 0], texts, strict=True)
        ]
        self.wins = self.network.goal[np.array(wins, np.bool_)]
        if not len(self.wins):
            return None
        self.matter = fluents_of(self.network, self.wins)  # [fluents] which the goal depends on
        observed, groups, clocks, times = self._observed, self._groups, self._clocks, self._times
        found: dict[tuple[int, ...], list[tuple[_Value, ...]]] = {}
        for fluents in filter(self._is_needed, sorted(groups.difference(clocks))):
            found[fluents] = self._hopeless(times, fluents)
        wanted = {*clocks, *(fluents for fluents, conditions in found.items() if conditions)}
        system = System(self.network)
        tried = [Group(fluents, some=False) for fluents in sorted(wanted)]
        proved = prove_groups(system, tried, self.deadline)
        if len(proved) < len(tried):  # they may depend on others
            with suppress(BudgetExceeded):
                until = time.monotonic() + _MORE_GROUPS * (self.deadline - time.monotonic())
                proved = prove_groups(system, observed, until)
        exclusive = {group.fluents for group in proved if not group.some}
        if not exclusive.issuperset(clocks):
            return None
        conditions = self._hopeless(times, ()) if clocks else []  # by the time alone
        conditions += chain.from_iterable(found[fluents] for fluents in found.keys() & exclusive)
        grouped = set(chain.from_iterable(exclusive))
        alone = ((f,) for f in range(len(self.network.fluents)) if f not in grouped)
        for fluents in filter(self._is_needed, alone):
            conditions += self._hopeless(times, fluents)
        if not conditions or len(conditions) > _MOST_CONDITIONS:
            return None
        used = {value.fluents for condition in conditions for value in condition}
        few = [group for group in proved if group.fluents in used and not group.some]
        if len(prove_groups(system, few, self.deadline)) == len(few):
            proved = few
        return Hopeless(
            self.expander.roles[role],
            tuple(sorted(map(self._condition, conditions))),
            invariant_of(system.fluent_texts, proved),
        )

    @cached_property
    def _observed(self) -> list[Group]:
        """The groups that hold in states of random play."""
        sample = [self.expander.bits(self.expander.initial)]
        sample += random_states(self.expander, _GAMES, min(self.deadline, time.monotonic() + 1.0))
        return observed_groups(self.network, np.concatenate(sample))

    @cached_property
    def _groups(self) -> set[tuple[int, ...]]:
        """Those of which never two fluents are true, and which are not too large."""
        return {one.fluents for one in self._observed if not one.some and len(one.fluents) <= _LARGEST}

    @cached_property
    def _clocks(self) -> list[tuple[int, ...]]:
        return sorted(filter(self._is_clock, self._groups), key=len, reverse=True)[:_MOST_CLOCKS]

    def _condition(self, values: Sequence[_Value]) -> Condition:
        """Return a condition by the names of fluents; that one is true says enough of its group."""
        texts = self.expander.fluent_names
        return tuple(
            (texts[f], f == value.true)
            for value in values
            for f in ((value.true,) if value.true >= 0 else value.fluents)
        )

    # -- simulation -----------------------------------------------------------------------

    def _simulate(self, *values: _Value) -> None:
        """Evaluate states in which some fluents have values, and all legal moves are possible."""
        if time.monotonic() > self.deadline:
            raise BudgetExceeded("the time for hopeless states", "simulating")
        simulation = self.simulation
        can, must = simulation.can, simulation.must
        can[simulation.fluents], must[simulation.fluents] = True, False
        for value in values:
            nodes = np.array(value.fluents, np.int64) + simulation.fluents.start
            can[nodes] = False
            if value.true >= 0:
                node = value.true + simulation.fluents.start
                can[node] = must[node] = True
        can[simulation.moves] = True
        simulation.evaluate()
        can[simulation.moves] = simulation.possible(self.network.legal)
        simulation.evaluate()

    def _next(self, fluents: tuple[int, ...]) -> tuple[list[int], bool]:
        """Return which of some fluents can be true next, and whether it can be that none is."""
        places = self.network.next[np.array(fluents, np.int64)]
        possible = np.flatnonzero(self.simulation.possible(places)).tolist()
        return [fluents[k] for k in possible], not self.simulation.certain(places).any()

    def _is_over(self) -> bool:
        return bool(self.simulation.certain(np.array([self.network.terminal]))[0])

    def _can_win(self) -> bool:
        return bool(self.simulation.possible(self.wins).any())

    # -- clocks and counters --------------------------------------------------------------

    def _is_clock(self, fluents: tuple[int, ...]) -> bool:
        """Whether of some fluents one is true in the initial state, and each determines which is next."""
        if self.network.initial[list(fluents)].sum() != 1:
            return False
        for fluent in fluents:
            self._simulate(_Value(fluents, fluent))
            possible, none = self._next(fluents)
            if len(possible) + none > 1 and not self._is_over():
                return False
        return True

    def _at_first(self, fluents: tuple[int, ...]) -> _Value:
        """Return the value of some fluents in the initial state."""
        return _Value(fluents, next((f for f in fluents if self.network.initial[f]), -1))

    def _later(self, clocks: tuple[_Value, ...]) -> tuple[_Value, ...]:
        """Return what the clocks show after the state that was simulated."""
        return tuple(_Value(clock.fluents, (*self._next(clock.fluents)[0], -1)[0]) for clock in clocks)

    @cached_property
    def _times(self) -> list[tuple[_Value, ...]]:
        """What the clocks show, from the initial state on, until that recurs or the game is over."""
        now = tuple(map(self._at_first, self._clocks))
        times: dict[tuple[_Value, ...], None] = {}
        while now not in times and len(times) < _MOST_TIMES:
            times[now] = None
            self._simulate(*now)
            if self._is_over():
                break
            now = self._later(now)
        return list(times)

    def _is_needed(self, fluents: tuple[int, ...]) -> bool:
        """Whether the role cannot have 100 while none of some fluents is true."""
        if not self.matter[list(fluents)].any():
            return False
        self._simulate(_Value(fluents, -1))
        return not self._can_win()

    def _hopeless(
        self, times: Sequence[tuple[_Value, ...]], fluents: tuple[int, ...]
    ) -> list[tuple[_Value, ...]]:
        """Return the times with values of a counter from which no sequence of its values leads to a win.

        Only those that may come up: they follow from the initial state.
        """
        if len(times) * (len(fluents) + 1) > _MOST_VALUES:
            return []
        places = {time: number for number, time in enumerate(times)}
        first = 0, self._at_first(fluents).true
        follows: dict[tuple[int, int], list[tuple[int, int]]] = {}
        hopeful: set[tuple[int, int]] = set()
        queue, seen = [first], {first}
        for key in queue:
            clocks = times[key[0]]
            self._simulate(*clocks, _Value(fluents, key[1]))
            if self._can_win():
                hopeful.add(key)
            if self._is_over():
                continue
            then = self._later(clocks)
            if then not in places:  # beyond the times that are known
                hopeful.add(key)
                continue
            possible, none = self._next(fluents)
            follows[key] = [(places[then], f) for f in (*possible, *([-1] if none else []))]
            queue += [one for one in follows[key] if one not in seen]
            seen.update(follows[key])
        grows = True
        while grows:
            more = {
                key for key, after in follows.items() if key not in hopeful and not hopeful.isdisjoint(after)
            }
            hopeful |= more
            grows = bool(more)
        lost = sorted(seen - hopeful)
        if not any(key in follows for key in lost):  # nothing but ends
            return []
        return [(*times[number], _Value(fluents, value)) for number, value in lost]
