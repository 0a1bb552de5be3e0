"""Decide properties without listing states: induction, bounded model checking, an outside model checker.

Questions are whether a state of some kind can be reached: one in which a role is stuck, a win, an
end without one goal value for each role.  In this order, each for a part of the time:

1. *random walks*, which find what is frequent;
2. *groups*: of which fluents always exactly one, or never two, are true (`groups`), first in a game with less
   that ends it (`loose`);
3. *induction*: no state in which the groups hold is of that kind, or none that follows on one that is
   not (`induction`);
4. *guided search*: states that seem near (`guided`; for wins `aim`), before groups are looked for and again
   later;
5. *pdr*, if Berkeley ABC is installed: an inductive invariant or a line of play (`pdr`); for a moment it is
   asked before groups are looked for;
6. *bounded model checking*: the shortest line, or that plays end before there is one (`bmc`); then wins
   further away, without excluding nearer ones;
7. *k-induction*, from what bounded model checking has excluded.

Termination is refuted by a state that comes back in random play.  It is proved by fluents that change at most
once, one of them in each step (`latches`); by a sum of weights of fluents that grows with each step
(`ranking`); or by bounded model checking, when no play gets beyond a depth.
"""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from herbrand.analyse.exploration.replay import holds
from herbrand.analyse.exploration.walks import found_at_random, gets, has_no_goal, is_stuck, play
from herbrand.analyse.invariants.bounds import ProgressMeasure
from herbrand.analyse.invariants.frames import System
from herbrand.analyse.invariants.groups import find_groups, find_more
from herbrand.analyse.invariants.induction import never
from herbrand.analyse.invariants.invariant import Invariant
from herbrand.analyse.invariants.latches import find_bound
from herbrand.analyse.invariants.loose import loosened
from herbrand.analyse.invariants.plain import Exhausted, KInduction
from herbrand.analyse.invariants.ranking import find_weights
from herbrand.analyse.invariants.sums import find_sums
from herbrand.analyse.proofs.bmc import find_lines
from herbrand.analyse.proofs.pdr import run_pdr
from herbrand.analyse.solving.aim import Aim
from herbrand.analyse.solving.distance import Distance
from herbrand.analyse.solving.guided import guided_line
from herbrand.analyse.verdict import Verdict, Witness
from herbrand.engine.expand import Expander
from herbrand.errors import BudgetExceeded, MissingExtra

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from numpy.typing import NDArray

    from herbrand.analyse.budget import Budget
    from herbrand.analyse.invariants.bounds import Bound
    from herbrand.analyse.invariants.frames import Frame
    from herbrand.analyse.invariants.groups import Group
    from herbrand.analyse.verdict import Certificate, Moves
    from herbrand.engine.expand import Rollouts
    from herbrand.machine.state_machine import StateMachine

__all__ = ["PROPERTIES", "prove"]

PROPERTIES = ("termination", "playability", "weak_winnability", "goals")
"""What can be asked."""
_CLAIMS = {"playability": "stuck", "goals": "no goal", "win": "win"}
_WALKING = 5.0
"""Seconds of random play, at most."""
SHORTEST = True
"""Whether to look for shorter lines of play than those that random play found."""
_PATIENCE = 1000
"""Conflicts spent at each depth on a win that is far away."""


@dataclass
class _Reached:
    """What is known about states of one kind."""

    line: Moves | None = None
    shortest: bool = False
    certificate: Certificate | None = None
    method: str = ""
    never: bool = False
    clean: int = -1
    """There is none within so many steps."""

    @property
    def is_open(self) -> bool:
        return self.line is None and not self.never


def prove(game: StateMachine, wanted: Iterable[str], budget: Budget) -> dict[str, Verdict]:
    """Decide properties of a game, of `PROPERTIES`, as far as the budget goes.

    Each verdict comes with a witness or a certificate, not yet checked again, except that an invariant
    found after signals were merged has none.  Raises `MissingExtra` where no SAT solver is
    installed, `BudgetExceeded` when recursion within states is too large to be written out.
    """
    wanted = list(wanted)
    unknown = [name for name in wanted if name not in PROPERTIES]
    if unknown:
        raise ValueError(f"no property {unknown[0]!r} (properties: {', '.join(PROPERTIES)})")
    return _Proof(game, wanted, budget).run()


@dataclass
class _Proof:
    game: StateMachine
    wanted: list[str]
    budget: Budget
    groups: list[Group] = field(default_factory=list)
    bound: int | None = None
    terminates: bool = False

    def run(self) -> dict[str, Verdict]:
        started = time.monotonic()
        players = [(r, name) for r, name in enumerate(self.game.roles) if name.lower() != "random"]
        self.players = [r for r, _ in players]
        asked: list[str] = [name for name in ("playability", "goals") if name in self.wanted]
        if "weak_winnability" in self.wanted:
            asked += [f"win {name}" for _, name in players]
        queries = {name: _Reached() for name in asked}
        verdicts: dict[str, Verdict] = {}
        self._walks(queries)
        try:
            if self.budget.left <= 0:  # what follows prepares for seconds before it looks at the clock
                if "termination" in self.wanted:
                    verdicts["termination"] = Verdict.unknown("there was no time to look for a reason")
            elif "termination" in self.wanted or self._open(queries):
                self._look_closer(queries, verdicts)
            elif SHORTEST:
                self._bounded(queries)
        except BudgetExceeded:  # recursion within states cannot be written out
            if len(self._open(queries)) == len(queries) and not self.terminates:
                raise
        for name in ("playability", "goals"):
            if name in queries:
                verdicts[name] = self._never(name, queries[name])
        if "weak_winnability" in self.wanted:
            verdicts["weak_winnability"] = self._wins({n: queries[f"win {n}"] for _, n in players})
        seconds = time.monotonic() - started
        return {name: verdicts[name].with_(seconds=seconds) for name in self.wanted if name in verdicts}

    def _look_closer(self, queries: dict[str, _Reached], verdicts: dict[str, Verdict]) -> None:
        """Decide what random play does not."""
        self.seen = play(self.game.expander, time.monotonic() + 0.1 * self.budget.left)
        if self._needs_bound and self.seen.circle is not None:
            verdicts["termination"] = self._circle(self.seen.circle)
            self.terminates = True
        self.aim = Aim(self.game.expander, self.seen.states, 0.1 * self.budget.left)
        self._aimed(queries, 0.4)
        self._pdr(
            {name: queries[name] for name in ("playability", "goals") if name in queries}, 0.1, merge=False
        )
        with suppress(BudgetExceeded):  # recursion within states cannot be written out
            self._guided(queries, 0.1)
        smaller = loosened(self.game.network)
        never_stuck = {name: reached for name, reached in queries.items() if name == "playability"}
        if smaller is not None and (self._open(never_stuck) or self._needs_bound):
            self.system = System(smaller, loops=False)
            seen = self.seen
            self.seen = seen.of(np.isin(self.game.network.fluents, smaller.fluents))
            self._by_groups(never_stuck, verdicts, 0.4)
            self.seen = seen
        if self._open(queries) or self._needs_bound:
            self.system = System(self.game.network)
            self._by_groups(queries, verdicts, 0.5)
        if self._open(queries) or self._needs_bound:
            self._try_harder(queries, verdicts)
        elif SHORTEST:
            self._bounded(queries)

    def _try_harder(self, queries: dict[str, _Reached], verdicts: dict[str, Verdict]) -> None:
        """Decide what groups and random play do not."""
        if self._needs_bound:
            reason = "neither a measure of progress was found, nor fluents that count the steps"
            verdicts["termination"] = Verdict.unknown(reason)
        self._guided(queries, 0.1)
        self._aimed(queries, 0.4)
        self._pdr(queries, 0.5, merge=True)
        self._bounded(queries)
        self._far(queries)
        self._induction(queries, most=3)
        self._pdr(queries, 0.9, merge=False)
        if self.bound is not None and self._needs_bound:
            verdicts["termination"] = Verdict(
                "proved", "bounded model checking", f"no play is longer than {self.bound} steps",
                certificate=Exhausted("", self.bound), details={"bound": self.bound},
            )  # fmt: skip

    # -- ways to find out -----------------------------------------------------------------

    def _by_groups(self, queries: Mapping[str, _Reached], verdicts: dict[str, Verdict], part: float) -> None:
        """Find groups in the present system, and what follows from them by induction."""
        before = self.budget
        self.budget = before.share(part)
        seen = self.seen

        def find(what: Callable[[float], None], share: float) -> None:
            if self._open(queries) or self._needs_bound:
                with suppress(BudgetExceeded, MissingExtra):
                    what(time.monotonic() + share * self.budget.left)

        def simple(deadline: float) -> None:
            self.groups = find_groups(self.system, deadline, seen.states, simple=True)

        def groups(deadline: float) -> None:
            self.groups = find_groups(self.system, deadline, seen.states, known=self.groups)

        def more(deadline: float) -> None:
            self.groups = find_more(self.system, self.groups, deadline, seen.states)

        def bound(deadline: float) -> None:
            if self._needs_bound:
                latches = find_bound(self.system, self.groups, deadline, seen.changes)
                if latches is not None:
                    self._ends(latches.certificate(self._invariant("")), verdicts)

        def weights(deadline: float) -> None:
            if self._needs_bound:
                expander = Expander(self.system.network)
                found = find_weights(expander, self.system, self.groups, seen.changes, deadline)
                if found is not None:
                    texts = self.system.fluent_texts
                    pairs = tuple((texts[place], weight) for place, weight in found.by_place.items())
                    self._ends(ProgressMeasure(pairs, self._invariant(""), found.within), verdicts)

        self.groups = []
        find(simple, 0.15)
        find(bound, 0.25)  # often more groups are not needed
        find(groups, 0.4)
        find(bound, 0.4)
        find(weights, 0.5)
        self._induction(queries, most=0)
        self._one_step(queries)
        held = len(self.groups)
        find(more, 0.4)
        if len(self.groups) > held:
            find(bound, 0.4)
            find(weights, 0.8)
            self._induction(queries, most=0)
            self._one_step(queries)
        for name, reached in self._open(queries).items():
            if name in _CLAIMS:  # sums exclude ends, too, but wins seldom
                find(partial(self._sums, name, reached), 0.5)
        self.budget = before

    def _sums(self, name: str, reached: _Reached, deadline: float) -> None:
        """Look for sums that no step changes and that exclude one kind of states."""
        found = find_sums(
            Expander(self.system.network),
            self.system,
            self.groups,
            self._target(name),
            self.seen.changes,
            deadline,
        )
        if found is not None:
            reached.never, reached.method = True, "constant sums"
            reached.certificate = self._invariant(name, found)

    def _ends(self, certificate: ProgressMeasure | Bound, verdicts: dict[str, Verdict]) -> None:
        """Note that plays end."""
        steps = certificate.steps
        verdicts["termination"] = Verdict(
            "proved", certificate.kind, f"no play is longer than {steps} steps",
            certificate=certificate, details={"bound": steps},
        )  # fmt: skip
        self.terminates = True

    def _circle(self, circle: Moves) -> Verdict:
        more = len(circle) - self.seen.loop
        reason = f"after {self.seen.loop} steps, {more} more lead back to the same state"
        return Verdict("refuted", "random play", reason, Witness(circle, loop=self.seen.loop))

    @property
    def _needs_bound(self) -> bool:
        """Whether it is still to be found out that plays end."""
        return "termination" in self.wanted and not self.terminates

    def _open(self, queries: Mapping[str, _Reached]) -> dict[str, _Reached]:
        return {name: reached for name, reached in queries.items() if reached.is_open}

    def _target(self, name: str) -> Callable[[Frame], int]:
        """Return what asks a frame whether it is a state of some kind."""
        if name in _CLAIMS:
            return lambda frame: frame.system.circuit.any_of(self._faults(name, frame))
        role = self.game.role_index(name.partition(" ")[2])
        return lambda frame: frame.wins(role)

    def _faults(self, name: str, frame: Frame) -> list[int]:
        """Return when each role is stuck, or when the game ends without one goal value for each player."""
        if name == "playability":
            return [frame.stuck(role) for role in range(len(self.game.roles))]
        return [frame.has_no_goal(role) for role in self.players]

    def _invariant(self, name: str, sums: Iterable[Mapping[int, int]] = ()) -> Invariant:
        texts = self.system.fluent_texts
        never_two = {group.fluents for group in self.groups if not group.some}
        some = [group.fluents for group in self.groups if group.some and group.given < 0]
        given = [[(g.given, False), *((f, True) for f in g.fluents)] for g in self.groups if g.given >= 0]
        exactly = [fluents for fluents in some if fluents in never_two]

        def named(groups: Iterable[tuple[int, ...]]) -> tuple[tuple[str, ...], ...]:
            return tuple(tuple(texts[f] for f in fluents) for fluents in groups)

        rest = [[(f, True) for f in fluents] for fluents in some if fluents not in never_two]
        return Invariant(
            name,
            named(exactly),
            named(sorted(never_two.difference(exactly))),
            tuple(tuple((texts[f], value) for f, value in clause) for clause in (*rest, *given)),
            tuple(tuple((texts[f], weight) for f, weight in weights.items()) for weights in sums),
        )

    def _induction(self, queries: Mapping[str, _Reached], most: int) -> None:
        rest = self._open(queries)
        if not rest:
            return
        deadline = time.monotonic() + 0.2 * self.budget.left
        if most == 0:
            found = never(self.system, self.groups, {name: self._target(name) for name in rest}, deadline, 0)
        else:
            found = {}
            for name, reached in rest.items():
                steps = min(most, reached.clean + 1)
                if steps > 0:
                    found |= never(self.system, self.groups, {name: self._target(name)}, deadline, steps)
        for name, steps in found.items():
            rest[name].never = True
            invariant = self._invariant(name)
            rest[name].method = "induction" if steps == 0 else "k-induction"
            if steps == 0:
                rest[name].certificate = invariant
            else:
                rest[name].certificate = KInduction(name, steps, self._invariant(""))

    def _one_step(self, queries: Mapping[str, _Reached]) -> None:
        """Ask whether a step leads to a state that is looked for: who has just moved can often move back."""
        faults = {name: reached for name, reached in self._open(queries).items() if name in _CLAIMS}
        for name, reached in faults.items():
            if reached.clean < 0 and self._target(name)(self.system.initial()) == 0:
                reached.clean = 0
        self._induction(faults, most=1)

    def _walks(self, queries: Mapping[str, _Reached]) -> None:
        """Play at random for a while, many games at once."""
        rest = self._open(queries)
        tells: dict[str, Callable[[Rollouts], NDArray[np.bool_]]] = {}
        for name in rest:
            kind, _, role = name.partition(" ")
            tells[name] = is_stuck if kind == "playability" else has_no_goal(self.players)
            if kind == "win":
                tells[name] = gets(self.game.role_index(role), 100)
        deadline = time.monotonic() + min(_WALKING, 0.15 * self.budget.left)
        for name, line in found_at_random(self.game.expander, tells, deadline).items():
            queries[name].line, queries[name].method = line, "random play"

    def _aimed(self, queries: Mapping[str, _Reached], part: float) -> None:
        """Search for wins for which all roles work together."""
        wins = [name for name in self._open(queries) if name.startswith("win")]
        seconds = part * self.budget.left
        for number, name in enumerate(wins):
            until = time.monotonic() + seconds / (len(wins) - number)
            began = time.monotonic()
            role = self.game.role_index(name.partition(" ")[2])
            line = None
            with suppress(BudgetExceeded):  # recursion within states cannot be written out
                line = self.aim.win(role, until, self.groups)
            seconds -= time.monotonic() - began
            if line is not None:
                queries[name].line, queries[name].method = line, "guided search"

    def _guided(self, queries: Mapping[str, _Reached], part: float) -> None:
        """Search by distance for faults, of one role after the other."""
        faults = {name: reached for name, reached in self._open(queries).items() if name in _CLAIMS}
        if not faults:
            return
        system = System(self.game.network)
        for name, reached in faults.items():
            frame = system.any_state()
            roles = self._faults(name, frame)
            until = time.monotonic() + part * self.budget.left
            for number, literal in enumerate(roles):
                if literal < 2:
                    continue
                distance = Distance(system.circuit, frame.state, (literal,))
                share = (until - time.monotonic()) / (len(roles) - number)
                line = guided_line(self.game.expander, [distance], time.monotonic() + share)
                if line is not None:
                    reached.line, reached.method = line, "guided search"
                    break

    def _far(self, queries: Mapping[str, _Reached]) -> None:
        """Look for wins that are too far away for everything nearer to be excluded."""
        rest = {name: reached for name, reached in self._open(queries).items() if name.startswith("win")}
        if not rest:
            return
        lines = find_lines(
            System(self.game.network),
            {name: self._target(name) for name in rest},
            time.monotonic() + 0.4 * self.budget.left,
            patience=_PATIENCE,
        )
        for name, line in lines.found.items():
            reached = rest[name]
            reached.line, reached.method = line, "bounded model checking"
            reached.shortest = max(reached.clean, lines.clean.get(name, -1)) == len(line) - 1

    def _bounded(self, queries: Mapping[str, _Reached]) -> None:
        """Look for shortest lines; longer ones found before are kept where there is not enough time."""
        rest = {name: reached for name, reached in queries.items() if not reached.never}
        needs_bound = self._needs_bound
        if not rest and not needs_bound:
            return
        limits = [len(reached.line) for reached in rest.values() if reached.line is not None]
        most = max(limits) if limits and len(limits) == len(rest) and not needs_bound else 10_000
        part = 0.4 if self._open(queries) else 0.2
        lines = find_lines(
            System(self.game.network),
            {name: self._target(name) for name in rest},
            time.monotonic() + part * self.budget.left,
            most,
            to_end=needs_bound,
        )
        for name, reached in rest.items():
            if name in lines.found:
                reached.line, reached.shortest = lines.found[name], True
                reached.method = "bounded model checking"
            elif lines.longest is not None:
                reached.never, reached.method = True, "bounded model checking"
                reached.certificate = Exhausted(name, lines.longest)
            reached.clean = lines.clean.get(name, -1)
            if reached.line is not None and reached.clean == len(reached.line) - 1:
                reached.shortest = True
        self.bound = lines.longest

    def _pdr(self, queries: Mapping[str, _Reached], part: float, *, merge: bool) -> None:
        for name, reached in self._open(queries).items():
            seconds = part * self.budget.left
            if seconds < 1:
                return
            outcome = run_pdr(self.game.network, name, seconds, merge=merge)
            if outcome.line is not None and self._shows(name, outcome.line):
                reached.line, reached.method = outcome.line, "pdr"
                reached.shortest = reached.clean == len(outcome.line) - 1
            elif outcome.never:
                reached.never, reached.method = True, "pdr"
                if outcome.clauses is not None:
                    reached.certificate = self._only_clauses(name, outcome.clauses)

    def _only_clauses(self, name: str, clauses: Iterable[Iterable[tuple[int, bool]]]) -> Invariant:
        network = self.game.network
        texts = [network.terms.text(fluent) for fluent in network.fluents.tolist()]
        return Invariant(name, clauses=tuple(tuple((texts[f], value) for f, value in c) for c in clauses))

    def _shows(self, name: str, line: Moves) -> bool:
        kind, _, role = name.partition(" ")
        return holds(self.game, _CLAIMS[kind], Witness(line, role or None))

    # -- verdicts -------------------------------------------------------------------------

    def _never(self, name: str, reached: _Reached) -> Verdict:
        if reached.line is not None:
            role = self._whom(name, reached.line)
            what = f"{role} has no legal move" if name == "playability" else f"{role} has not one goal value"
            steps = len(reached.line)
            return Verdict(
                "refuted", reached.method, f"{what} after {steps} {'step' if steps == 1 else 'steps'}",
                witness=Witness(reached.line, role, shortest=reached.shortest), details={"depth": steps},
            )  # fmt: skip
        if reached.never:
            return Verdict("proved", reached.method, _reason(name, reached), certificate=reached.certificate)
        return _unknown(reached)

    def _whom(self, name: str, line: Moves) -> str:
        """Return the role that a line of play leaves without a move or a goal value."""
        from herbrand.analyse.exploration.replay import replay

        last = replay(self.game, line)[-1]
        for role in self.game.roles:
            if name == "playability" and not last.legal_moves(role):
                return role
            if name == "goals" and role.lower() != "random" and last.goal(role) is None:
                return role
        return self.game.roles[0]

    def _wins(self, roles: Mapping[str, _Reached]) -> Verdict:
        verdicts = {}
        for role, reached in roles.items():
            if reached.line is not None:
                steps = len(reached.line)
                verdicts[role] = Verdict(
                    "proved", reached.method, f"{role} can win after {steps} steps",
                    witness=Witness(reached.line, role, shortest=reached.shortest), details={"depth": steps},
                )  # fmt: skip
            elif reached.never:
                verdicts[role] = Verdict(
                    "refuted", reached.method, f"{role} never wins", certificate=reached.certificate
                )
            else:
                verdicts[role] = _unknown(reached)
        every = list(verdicts.values())
        lost = next((verdict for verdict in every if verdict.answer == "refuted"), None)
        if lost is not None:
            return lost.with_(roles=verdicts)
        missing = next((verdict for verdict in every if not verdict.is_known), None)
        if missing is not None:
            return missing.with_(roles=verdicts)
        methods = ", ".join(dict.fromkeys(verdict.method for verdict in every)) or "no roles"
        return Verdict("proved", methods, "; ".join(verdict.reason for verdict in every), roles=verdicts)


def _reason(name: str, reached: _Reached) -> str:
    what = {
        "playability": "every role can move until the game is over",
        "goals": "each end has one goal value for every role",
    }[name]
    if isinstance(reached.certificate, Exhausted):
        return f"{what}: no play is longer than {reached.certificate.steps} steps"
    if reached.certificate is None:
        return f"{what}, says the model checker"
    return what


def _unknown(reached: _Reached) -> Verdict:
    if reached.clean >= 0:
        return Verdict.unknown(f"nothing within {reached.clean} steps; time was up", depth=reached.clean)
    return Verdict.unknown("time was up")
