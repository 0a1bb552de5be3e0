"""Decide properties without listing states: induction, bounded model checking, an external model checker.

Each query asks whether a state of some kind is reachable: one in which a role is stuck, a win, a terminal
state without one goal value for each role.  The methods, in this order, each with a fraction of the time:

1. *random walks*, which find frequent states;
2. *groups* of fluents of which always exactly one, or never two, are true (`groups`), first in a game with
   fewer terminal states (`loose`);
3. *induction*: no state in which the groups hold is of that kind, or none that follows one that is
   not (`induction`), also for each joint move alone;
4. *counters* that agree with the board, such as the number of pieces (`counters`), and *functional
   dependencies* of derived relations, such as of a count inside a state (`dependencies`);
5. *guided search* by estimated distance (`guided`; for wins `aim`), before the search for groups and again
   later;
6. *pdr*, if Berkeley ABC is installed: an inductive invariant or a line of play (`pdr`); briefly also before
   the search for groups;
7. *bounded model checking*: a shortest line, or a bound on plays that is too short for any (`bmc`); then
   more distant wins, without excluding nearer ones;
8. *k-induction*, from the depth that bounded model checking has excluded.

Termination is refuted by a state that recurs in random play.  It is proved by fluents that change at most
once, one of them in each step (`latches`); by a weighted sum of fluents that grows with each step
(`ranking`); or by bounded model checking, when no play exceeds a depth.
"""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING

import numpy as np

from herbrand.analyse.exploration.replay import holds, replay
from herbrand.analyse.exploration.walks import find_cycle, gets, has_no_goal, is_stuck, play, sample_lines
from herbrand.analyse.invariants.bounds import ProgressMeasure
from herbrand.analyse.invariants.counters import find_counted
from herbrand.analyse.invariants.dependencies import exclude_by_dependencies
from herbrand.analyse.invariants.derived import Dependencies
from herbrand.analyse.invariants.exposed import derived_relations, expose
from herbrand.analyse.invariants.frames import System
from herbrand.analyse.invariants.groups import find_groups, find_more, invariant_of
from herbrand.analyse.invariants.induction import (
    equivalences,
    inductive_part,
    prove_by_cases,
    prove_unreachable,
)
from herbrand.analyse.invariants.latches import find_bound
from herbrand.analyse.invariants.loose import loosen
from herbrand.analyse.invariants.parity import find_parities
from herbrand.analyse.invariants.plain import Exhausted, KInduction
from herbrand.analyse.invariants.ranking import find_weights
from herbrand.analyse.invariants.sum_limits import sum_limits
from herbrand.analyse.invariants.sums import find_sums
from herbrand.analyse.proofs.bmc import find_lines
from herbrand.analyse.proofs.pdr import run_pdr
from herbrand.analyse.solving.aim import Aim
from herbrand.analyse.solving.distance import Distance
from herbrand.analyse.solving.guided import guided_line
from herbrand.analyse.verdict import Verdict, Witness
from herbrand.engine.expand import Expander
from herbrand.errors import BudgetExceeded, HerbrandError, MissingExtra
from herbrand.network.unroll import unrolled
from herbrand.runtime.limits import require_time

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from numpy.typing import NDArray

    from herbrand.analyse.budget import Budget
    from herbrand.analyse.invariants.bounds import Bound
    from herbrand.analyse.invariants.frames import Frame
    from herbrand.analyse.invariants.groups import Group
    from herbrand.analyse.invariants.induction import Clause
    from herbrand.analyse.invariants.invariant import Invariant
    from herbrand.analyse.verdict import Certificate, Moves
    from herbrand.engine.expand import Rollouts
    from herbrand.machine.state_machine import StateMachine
    from herbrand.network.network import Network

__all__ = ["PROPERTIES", "prove"]

PROPERTIES = ("termination", "playability", "weak_winnability", "goals")
"""The properties that `prove` decides."""
_CLAIMS = {"playability": "stuck", "goals": "no goal", "win": "win"}
_RELATIONS = {"playability": (("legal", 2), ("terminal", 0)), "goals": (("goal", 2),)}
"""What derived relations are about."""
_WALKING = 5.0
"""The most seconds of random play."""
SHORTEST = True
"""Whether to look for shorter lines of play than those of random play and guided search."""
_EARLY = 0.15
"""Share of the time for parities where a role does not win in random games."""
_LATE = 0.6
"""Share of the remaining time for a method that did not end before."""
_REACHING = 0.5
"""Of the time for counters, the share for particular faults that these do not exclude, at most."""
_GROWTH = 2
"""How many times as large a network becomes, at most, that is unrolled for all methods at once."""
_PATIENCE = 1000
"""Solver conflicts at each depth in the search for distant wins."""


@dataclass
class _Query:
    """Whether a state of one kind is reachable."""

    line: Moves | None = None
    shortest: bool = False
    certificate: Certificate | None = None
    method: str = ""
    never: bool = False
    clean: int = -1
    """The greatest number of steps within which there is none."""

    def exclude(self, method: str, certificate: Certificate) -> None:
        """Record a proof that there is none."""
        self.never, self.method, self.certificate = True, method, certificate

    @property
    def is_open(self) -> bool:
        return self.line is None and not self.never


def prove(
    game: StateMachine, wanted: Iterable[str], budget: Budget, *, only_proofs: bool = False
) -> dict[str, Verdict]:
    """Decide some of `PROPERTIES` within a budget.

    With `only_proofs` no time is spent on looking for lines of play, and each proof has a certificate.
    Proofs and refutations come with a witness or a certificate, not yet checked; only proofs of the external
    model checker with merged signals may have none.  Raises `MissingExtra` where no SAT solver is
    installed, `BudgetExceeded` when recursion within states is too large to be unrolled.
    """
    wanted = list(wanted)
    unknown = [name for name in wanted if name not in PROPERTIES]
    if unknown:
        raise ValueError(f"no property {unknown[0]!r} (properties: {', '.join(PROPERTIES)})")
    return _Proof(game, wanted, budget, only_proofs).run()


@dataclass
class _Proof:
    """One call of `prove`."""

    game: StateMachine
    wanted: list[str]
    budget: Budget
    only_proofs: bool = False
    groups: list[Group] = field(default_factory=list)
    sums: list[dict[int, int]] = field(default_factory=list)
    """Weights by index of fluents whose sum no step changes; the groups may hold only together with them."""
    bound: int | None = None
    terminates: bool = False
    late: set[str] = field(default_factory=set)
    """Queries for which the search for dependencies did not end in its time."""

    @cached_property
    def aim(self) -> Aim:
        """Searches for lines of play to given states."""
        return Aim(self.game.expander, self.sample.states, 0.1 * self.budget.left)

    def run(self) -> dict[str, Verdict]:
        started = time.monotonic()
        players = self.game.players
        self.players = list(map(self.game.role_index, players))
        names: list[str] = [name for name in ("playability", "goals") if name in self.wanted]
        if "weak_winnability" in self.wanted:
            names += [f"win {name}" for name in players]
        queries = {name: _Query() for name in names}
        verdicts: dict[str, Verdict] = {}
        if not self.only_proofs:
            self._walk_randomly(queries)
        try:
            if self.budget.left <= 0:  # the other methods run for seconds before they check the clock
                if "termination" in self.wanted:
                    verdicts["termination"] = Verdict.unknown("time was up before the search for a proof")
            elif "termination" in self.wanted or self._undecided(queries):
                self._run_methods(queries, verdicts)
            elif SHORTEST:
                self._check_bounded(queries)
        except BudgetExceeded:  # recursion within states cannot be unrolled
            if len(self._undecided(queries)) == len(queries) and not self.terminates:
                raise
        for name in ("playability", "goals"):
            if name in queries:
                verdicts[name] = self._fault_verdict(name, queries[name])
        if "weak_winnability" in self.wanted:
            verdicts["weak_winnability"] = self._win_verdict({n: queries[f"win {n}"] for n in players})
        seconds = time.monotonic() - started
        return {name: verdicts[name].with_(seconds=seconds) for name in self.wanted if name in verdicts}

    def _run_methods(self, queries: dict[str, _Query], verdicts: dict[str, Verdict]) -> None:
        """Try all methods but the first random walks, cheap ones first."""
        self.sample = play(self.game.expander, time.monotonic() + 0.1 * self.budget.left)
        if self._needs_bound:
            self._refute_termination(verdicts)
        if not _is_small_unrolled(self.game.network):
            self.system = System(self.game.network, loops=False)
            self._by_groups(queries, verdicts, 0.15)
        elif any(name.startswith("win") for name in self._undecided(queries)):
            self._by_parities(queries, _EARLY)
        if self.only_proofs:
            self._run_pdr(queries, 0.3, merge=True)
            self._by_counters(queries, 0.6)
            self._by_cases(queries, 0.2)
            self._by_dependencies(queries, 0.3)
        else:
            self._by_counters(queries, 0.8)
            self._by_cases(queries, 0.15)
            self._by_dependencies(queries, 0.15)
            if any(name.startswith("win") for name in self._undecided(queries)):
                self._search_wins(queries, 0.4)
            faults = {name: query for name, query in queries.items() if name in _CLAIMS}
            self._run_pdr(faults, 0.1, merge=False)
            with suppress(BudgetExceeded):  # recursion within states cannot be unrolled
                self._search_faults(queries, 0.1)
        require_time()
        smaller = loosen(self.game.network)
        never_stuck = {name: query for name, query in queries.items() if name == "playability"}
        if smaller is not None and (self._undecided(never_stuck) or self._needs_bound):
            self.system = System(smaller, loops=_is_small_unrolled(smaller))
            sample = self.sample
            self.sample = sample.select(np.isin(self.game.network.fluents, smaller.fluents))
            self._by_groups(never_stuck, verdicts, 0.4 if self._undecided(never_stuck) else 0.7)
            self.sample = sample
        if self._undecided(queries) or self._needs_bound:
            self.system = System(self.game.network)
            self._by_groups(queries, verdicts, 0.5)
        if self._undecided(queries) or self._needs_bound:
            self._try_harder(queries, verdicts)
        elif SHORTEST:
            self._check_bounded(queries)

    def _try_harder(self, queries: dict[str, _Query], verdicts: dict[str, Verdict]) -> None:
        if self._needs_bound:
            reason = "no progress measure and no set of latches was found"
            verdicts["termination"] = Verdict.unknown(reason)
        self._by_dependencies({name: queries[name] for name in self.late}, _LATE)
        if not self.only_proofs:
            self._search_faults(queries, 0.1)
            self._search_wins(queries, 0.4)
            self._run_pdr(queries, 0.5, merge=True)
        self._check_bounded(queries)
        if not self.only_proofs:
            self._search_distant_wins(queries)
        self._induction(queries, most=3)
        self._run_pdr(queries, 0.9, merge=False)
        if self.bound is not None and self._needs_bound:
            verdicts["termination"] = Verdict(
                "proved", "bounded model checking", f"no play is longer than {self.bound} steps",
                certificate=Exhausted("", self.bound), details={"bound": self.bound},
            )  # fmt: skip

    # -- methods --------------------------------------------------------------------------

    def _by_counters(self, queries: Mapping[str, _Query], fraction: float) -> None:
        """Decide properties by the form of states, or by counters that agree with the board."""
        claims = {name: query for name, query in self._undecided(queries).items() if name in _CLAIMS}
        if not claims:
            return
        self.system = System(self.game.network, loops=False)
        self._induction(claims, most=0, fraction=0.05)  # without any groups it is easy or hopeless
        if self._undecided(claims):
            with suppress(BudgetExceeded):
                deadline = time.monotonic() + fraction * self.budget.left
                counted = find_counted(self.system, self.sample.states, self.sample.changes, deadline)
                if counted is not None:
                    self.groups, self.sums = counted
                    self._induction(claims, most=0)
                    if not self.only_proofs:
                        self._reach_faults(claims, _REACHING * fraction)
        self.groups, self.sums = [], []

    def _by_dependencies(self, queries: Mapping[str, _Query], fraction: float) -> None:
        """Decide properties by arguments of derived relations that determine others, such as of a count."""
        for name, query in self._undecided(queries).items():
            relations = derived_relations(self.game, _RELATIONS[name]) if name in _CLAIMS else []
            if not relations:
                continue
            now = time.monotonic()
            deadline = now + fraction * self.budget.left
            self.late.discard(name)
            try:
                exposed = expose(self.game, relations)
                system = System(exposed.network_within(deadline - now))
                sample = play(exposed.expander, time.monotonic() + 0.1 * (deadline - time.monotonic()))
                until = time.monotonic() + 0.3 * (deadline - time.monotonic())
                groups = find_groups(system, until, sample.states)
                derived = exclude_by_dependencies(system, groups, sample.states, self._target(name), deadline)
                if derived is not None:
                    invariant = invariant_of(system.fluent_texts, groups)
                    certificate = Dependencies(name, tuple(derived), tuple(relations), invariant)
                    query.exclude("functional dependencies", certificate)
            except BudgetExceeded:
                self.late.add(name)
            except HerbrandError:
                continue

    def _by_groups(
        self, queries: Mapping[str, _Query], verdicts: dict[str, Verdict], fraction: float
    ) -> None:
        """Find groups in the current system, and decide properties that follow from them by induction."""
        before = self.budget
        self.budget = before.share(fraction)
        sample = self.sample

        def find(step: Callable[[float], None], share: float) -> None:
            if self._undecided(queries) or self._needs_bound:
                with suppress(BudgetExceeded, MissingExtra):
                    step(time.monotonic() + share * self.budget.left)

        def groups(deadline: float, *, simple: bool = False) -> None:
            self.groups = find_groups(self.system, deadline, sample.states, known=self.groups, simple=simple)

        def more(deadline: float) -> None:
            self.groups = find_more(self.system, self.groups, deadline, sample.states)

        def bound(deadline: float) -> None:
            if self._needs_bound:
                latches = find_bound(self.system, self.groups, deadline, sample.changes)
                if latches is not None:
                    self._record_bound(replace(latches, invariant=self._invariant("")), verdicts)

        def weights(deadline: float) -> None:
            if self._needs_bound:
                expander = Expander(self.system.network)
                measure = find_weights(expander, self.system, self.groups, sample.changes, deadline)
                if measure is not None:
                    texts = self.system.fluent_texts
                    pairs = tuple((texts[place], weight) for place, weight in measure.by_place.items())
                    self._record_bound(ProgressMeasure(pairs, self._invariant(""), measure.within), verdicts)

        def conclude(share: float) -> None:
            find(bound, 0.4)
            find(weights, share)
            self._induction(queries, most=0)
            self._one_step(queries)

        self.groups = []
        find(partial(groups, simple=True), 0.15)
        find(bound, 0.25)  # often the simple groups suffice
        find(groups, 0.4)
        conclude(0.7)
        count = len(self.groups)
        find(more, 0.4)
        if len(self.groups) > count:
            conclude(0.8)
        for name, query in self._undecided(queries).items():
            if name in _CLAIMS:  # constant sums seldom exclude wins
                find(partial(self._search_sums, name, query), 0.5)
        self.budget = before

    def _by_parities(self, queries: Mapping[str, _Query], fraction: float) -> None:
        """Decide properties by sets of fluents of which always an even number is true, or an odd one."""
        deadline = time.monotonic() + fraction * self.budget.left
        try:
            system = System(self.game.network)
            groups = find_groups(system, deadline, self.sample.states)
            expander = Expander(system.network)
            parities = find_parities(expander, system, groups, self.sample.changes, deadline)
        except (BudgetExceeded, MissingExtra):
            return
        rest = self._undecided(queries) if parities else {}
        wanted = {name: self._target(name) for name in rest}
        for name in prove_unreachable(system, groups, wanted, deadline, 0, parities=parities):
            invariant = invariant_of(system.fluent_texts, groups, name, (), parities)
            rest[name].exclude("parity", invariant)

    def _search_sums(self, name: str, query: _Query, deadline: float) -> None:
        """Look for constant sums that exclude one kind of states."""
        expander, target = Expander(self.system.network), self._target(name)
        sums = find_sums(expander, self.system, self.groups, target, self.sample.changes, deadline)
        if sums is not None:
            query.exclude("constant sums", self._invariant(name, sums))

    def _record_bound(self, certificate: ProgressMeasure | Bound, verdicts: dict[str, Verdict]) -> None:
        """Record a proof of termination."""
        steps = certificate.steps
        verdicts["termination"] = Verdict(
            "proved", certificate.kind, f"no play is longer than {steps} steps",
            certificate=certificate, details={"bound": steps},
        )  # fmt: skip
        self.terminates = True

    def _refute_termination(self, verdicts: dict[str, Verdict]) -> None:
        """Look for a state that recurs."""
        line, loop = self.sample.cycle, self.sample.loop
        if line is None:
            until = time.monotonic() + min(_WALKING, 0.05 * self.budget.left)
            line, loop = find_cycle(self.game.expander, until) or (None, 0)
        if line is not None:
            reason = f"after {loop} steps, {len(line) - loop} more lead back to the same state"
            verdicts["termination"] = Verdict("refuted", "random play", reason, Witness(line, loop=loop))
            self.terminates = True

    @property
    def _needs_bound(self) -> bool:
        """Whether termination is wanted and still undecided."""
        return "termination" in self.wanted and not self.terminates

    def _undecided(self, queries: Mapping[str, _Query]) -> dict[str, _Query]:
        return {name: query for name, query in queries.items() if query.is_open}

    def _target(self, name: str) -> Callable[[Frame], int]:
        """Return the function that gives the literal of a frame for a kind of states."""
        if name in _CLAIMS:
            return lambda frame: frame.system.circuit.any_of(self._faults(name, frame))
        role = self.game.role_index(name.partition(" ")[2])
        return lambda frame: frame.wins(role)

    def _faults(self, name: str, frame: Frame) -> list[int]:
        """Return literals: each role is stuck, or the game ends without one goal value for each player."""
        if name == "playability":
            return [frame.stuck(role) for role in range(len(self.game.roles))]
        return [frame.has_no_goal(role) for role in self.players]

    def _invariant(self, name: str, sums: Iterable[Mapping[int, int]] = ()) -> Invariant:
        return invariant_of(self.system.fluent_texts, self.groups, name, (*self.sums, *sums))

    def _induction(self, queries: Mapping[str, _Query], most: int, fraction: float = 0.2) -> None:
        rest = self._undecided(queries)
        if not rest:
            return
        deadline = time.monotonic() + fraction * self.budget.left
        if most == 0:
            wanted = {name: self._target(name) for name in rest}
            unreachable = prove_unreachable(self.system, self.groups, wanted, deadline, 0, sums=self.sums)
        else:
            unreachable = {}
            for name, query in rest.items():
                steps = min(most, query.clean + 1)
                if steps > 0:
                    unreachable |= prove_unreachable(
                        self.system, self.groups, {name: self._target(name)}, deadline, steps
                    )
        for name, steps in unreachable.items():
            self._record_induction(rest[name], name, steps)

    def _one_step(self, queries: Mapping[str, _Query]) -> None:
        """Try induction over one step, which excludes stuck roles where a move can often be taken back."""
        faults = self._absent_at_first(queries)
        self._induction(faults, most=1)
        self._one_step_by_cases(faults, time.monotonic() + 0.3 * self.budget.left)

    def _absent_at_first(self, queries: Mapping[str, _Query]) -> dict[str, _Query]:
        """Return the undecided queries about faults that the initial state does not have."""
        faults = {name: query for name, query in self._undecided(queries).items() if name in _CLAIMS}
        for name, query in faults.items():
            if query.clean < 0 and self._target(name)(self.system.initial()) == 0:
                query.clean = 0
        return {name: query for name, query in faults.items() if query.clean >= 0}

    def _one_step_by_cases(self, faults: Mapping[str, _Query], deadline: float) -> None:
        rest = sorted(self._undecided(faults))
        for number, name in enumerate(rest):
            now = time.monotonic()
            until = now + (deadline - now) / (len(rest) - number)
            if prove_by_cases(self.system, self.groups, {name: partial(self._faults, name)}, until):
                self._record_induction(faults[name], name, 1)

    def _by_cases(self, queries: Mapping[str, _Query], fraction: float) -> None:
        """Decide properties by one step for each joint move, with few groups: in many games that is quick."""
        if not any(name in _CLAIMS for name in self._undecided(queries)):
            return
        now = time.monotonic()
        deadline = now + fraction * self.budget.left
        with suppress(BudgetExceeded):  # recursion within states cannot be unrolled
            self.system = System(self.game.network)
            until = now + 0.3 * (deadline - now)
            self.groups = find_groups(self.system, until, self.sample.states, simple=True)
            self._one_step_by_cases(self._absent_at_first(queries), deadline)
        self.groups = []

    def _record_induction(self, query: _Query, name: str, steps: int) -> None:
        """Record a proof by induction over some steps; by 0 if the invariant excludes the states."""
        if steps == 0:
            query.exclude("counters" if self.sums else "induction", self._invariant(name))
        else:
            query.exclude("k-induction", KInduction(name, steps, self._invariant("")))

    def _walk_randomly(self, queries: Mapping[str, _Query]) -> None:
        """Look for witnesses in random games."""
        rest = self._undecided(queries)
        predicates: dict[str, Callable[[Rollouts], NDArray[np.bool_]]] = {}
        for name in rest:
            kind, _, role = name.partition(" ")
            predicates[name] = is_stuck if kind == "playability" else has_no_goal(self.players)
            if kind == "win":
                predicates[name] = gets(self.game.role_index(role), 100)
        deadline = time.monotonic() + min(_WALKING, 0.15 * self.budget.left)
        for name, line in sample_lines(self.game.expander, predicates, deadline).items():
            queries[name].line, queries[name].method = line, "random play"

    def _search_wins(self, queries: Mapping[str, _Query], fraction: float) -> None:
        """Search for wins with all roles cooperating."""
        wins = [name for name in self._undecided(queries) if name.startswith("win")]
        seconds = fraction * self.budget.left
        for number, name in enumerate(wins):
            until = time.monotonic() + seconds / (len(wins) - number)
            began = time.monotonic()
            role_name = name.partition(" ")[2]
            role = self.game.role_index(role_name)
            line = None
            with suppress(BudgetExceeded):  # recursion within states cannot be unrolled
                line = self.aim.win(role, until, self.groups)
                if line is not None and not holds(self.game, "win", Witness(line, role_name)):
                    line = self.aim.win(role, until, self.groups, alone=True)
            seconds -= time.monotonic() - began
            if line is not None:
                queries[name].line, queries[name].method = line, "guided search"

    def _reach_faults(self, queries: Mapping[str, _Query], fraction: float) -> None:
        """Search for particular faults that groups and sums do not exclude, such as after a perfect play."""
        limits = sum_limits(self.game.network, self.groups, self.sums)
        for name, query in self._undecided(queries).items():
            fault = self._target(name)

            def wanted(frame: Frame, fault: Callable[[Frame], int] = fault) -> int:
                circuit, state = frame.system.circuit, frame.state
                exact = (literal for limit in limits for literal in limit.exactly(circuit, state) or ())
                return circuit.all_of([fault(frame), *exact])

            until = time.monotonic() + fraction * self.budget.left
            line = self.aim.reach(wanted, self.groups, until, patient=True)
            if line is not None:
                query.line, query.method = line, "guided search"

    def _search_faults(self, queries: Mapping[str, _Query], fraction: float) -> None:
        """Search for faults by estimated distance, one role after the other."""
        faults = {name: query for name, query in self._undecided(queries).items() if name in _CLAIMS}
        if not faults:
            return
        system = System(self.game.network)
        for name, query in faults.items():
            frame = system.any_state()
            roles = self._faults(name, frame)
            until = time.monotonic() + fraction * self.budget.left
            for number, literal in enumerate(roles):
                if literal < 2:
                    continue
                distance = Distance(system.circuit, frame.state, (literal,))
                share = (until - time.monotonic()) / (len(roles) - number)
                line = guided_line(self.game.expander, [distance], time.monotonic() + share)
                if line is not None:
                    query.line, query.method = line, "guided search"
                    break

    def _search_distant_wins(self, queries: Mapping[str, _Query]) -> None:
        """Look for wins at depths where excluding all nearer ones would take too long."""
        rest = {name: query for name, query in self._undecided(queries).items() if name.startswith("win")}
        if not rest:
            return
        deadline = time.monotonic() + 0.4 * self.budget.left
        wanted = {name: self._target(name) for name in rest}
        lines = find_lines(System(self.game.network), wanted, deadline, patience=_PATIENCE)
        for name, line in lines.lines.items():
            query = rest[name]
            query.line, query.method = line, "bounded model checking"
            query.shortest = max(query.clean, lines.clean.get(name, -1)) == len(line) - 1

    def _check_bounded(self, queries: Mapping[str, _Query]) -> None:
        """Look for shortest lines; when time is up, longer ones that are already known stay."""
        rest = {name: query for name, query in queries.items() if not query.never}
        needs_bound = self._needs_bound
        if not rest and not needs_bound:
            return
        limits = [len(query.line) for query in rest.values() if query.line is not None]
        most = max(limits) if limits and len(limits) == len(rest) and not needs_bound else 10_000
        deadline = time.monotonic() + (0.4 if self._undecided(queries) else 0.2) * self.budget.left
        wanted = {name: self._target(name) for name in rest}
        lines = find_lines(System(self.game.network), wanted, deadline, most, to_end=needs_bound)
        for name, query in rest.items():
            if name in lines.lines:
                query.line, query.shortest = lines.lines[name], True
                query.method = "bounded model checking"
            elif lines.longest is not None:
                query.exclude("bounded model checking", Exhausted(name, lines.longest))
            query.clean = lines.clean.get(name, -1)
            if query.line is not None and query.clean == len(query.line) - 1:
                query.shortest = True
        self.bound = lines.longest

    def _run_pdr(self, queries: Mapping[str, _Query], fraction: float, *, merge: bool) -> None:
        for name, query in self._undecided(queries).items():
            seconds = fraction * self.budget.left
            if seconds < 1:
                return
            outcome = run_pdr(self.game.network, name, seconds, merge=merge)
            if outcome.line is not None and self._is_witness(name, outcome.line):
                query.line, query.method = outcome.line, "pdr"
                query.shortest = query.clean == len(outcome.line) - 1
            elif outcome.never:
                clauses = outcome.clauses or ()
                query.certificate = (
                    self._without_merging(name, clauses)
                    if merge
                    else invariant_of(self.game.expander.fluent_names, (), name, clauses=clauses)
                )
                query.never = query.certificate is not None or not self.only_proofs
                query.method = "pdr" if query.never else ""

    def _without_merging(self, name: str, clauses: tuple[Clause, ...]) -> Invariant | None:
        """Return an invariant of the whole network from one with merged signals; None if it is not enough."""
        deadline = time.monotonic() + 0.3 * self.budget.left
        same = equivalences(self.sample.states)
        for more, groups in (((), []), (same, []), (same, self.groups)):
            with suppress(BudgetExceeded):
                system = System(self.game.network)
                part = inductive_part(system, groups, (*clauses, *more), self._target(name), deadline)
                if part is not None:
                    return invariant_of(system.fluent_texts, groups, name, clauses=part)
        return None

    def _is_witness(self, name: str, line: Moves) -> bool:
        kind, _, role = name.partition(" ")
        return holds(self.game, _CLAIMS[kind], Witness(line, role or None))

    # -- verdicts -------------------------------------------------------------------------

    def _fault_verdict(self, name: str, query: _Query) -> Verdict:
        if query.line is not None:
            role = self._faulty_role(name, query.line)
            fault = f"{role} has no legal move" if name == "playability" else f"{role} has not one goal value"
            steps = len(query.line)
            return Verdict(
                "refuted", query.method, f"{fault} after {steps} {'step' if steps == 1 else 'steps'}",
                witness=Witness(query.line, role, shortest=query.shortest), details={"depth": steps},
            )  # fmt: skip
        if query.never:
            return Verdict("proved", query.method, _reason(name, query), certificate=query.certificate)
        return _unknown(query)

    def _faulty_role(self, name: str, line: Moves) -> str:
        """Return the role that a line of play leaves without a move or a goal value."""
        last = replay(self.game, line)[-1]
        for role in self.game.roles:
            if name == "playability" and not last.legal_moves(role):
                return role
            if name == "goals" and role.lower() != "random" and last.goal(role) is None:
                return role
        return self.game.roles[0]

    def _win_verdict(self, roles: Mapping[str, _Query]) -> Verdict:
        verdicts = {}
        for role, query in roles.items():
            if query.line is not None:
                steps = len(query.line)
                verdicts[role] = Verdict(
                    "proved", query.method, f"{role} can win after {steps} steps",
                    witness=Witness(query.line, role, shortest=query.shortest), details={"depth": steps},
                )  # fmt: skip
            elif query.never:
                reason = f"{role} never wins"
                verdicts[role] = Verdict("refuted", query.method, reason, certificate=query.certificate)
            else:
                verdicts[role] = _unknown(query)
        every = list(verdicts.values())
        lost = next((verdict for verdict in every if verdict.answer == "refuted"), None)
        if lost is not None:
            return lost.with_(roles=verdicts)
        missing = next((verdict for verdict in every if not verdict.is_known), None)
        if missing is not None:
            return missing.with_(roles=verdicts)
        methods = ", ".join(dict.fromkeys(verdict.method for verdict in every)) or "no roles"
        return Verdict("proved", methods, "; ".join(verdict.reason for verdict in every), roles=verdicts)


def _is_small_unrolled(network: Network) -> bool:
    """Return whether recursion within states is unrolled for all methods, as where paths wrap around a board.

    Often it is too large for that.
    """
    with suppress(BudgetExceeded):
        unrolled(network, _GROWTH * network.gates)
        return True
    return False


def _reason(name: str, query: _Query) -> str:
    reason = {
        "playability": "every role can move until the game is over",
        "goals": "each end has one goal value for every role",
    }[name]
    if isinstance(query.certificate, Exhausted):
        return f"{reason}: no play is longer than {query.certificate.steps} steps"
    if query.certificate is None:
        return f"{reason} (by the external model checker, without a certificate)"
    return reason


def _unknown(query: _Query) -> Verdict:
    if query.clean >= 0:
        return Verdict.unknown(f"none within {query.clean} steps; time was up", depth=query.clean)
    return Verdict.unknown("time was up")
