"""Decide the properties of a game: cheap certificates first, then exploration, then model checking.

Proofs and refutations are checked independently, by the rules (`replay`, `certificates`), while the
budget lasts; `Verdict.checked` records whether that was done.
"""

from __future__ import annotations

import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from herbrand.analyse.budget import Budget
from herbrand.analyse.verdict import PROPERTIES, Verdict, Witness
from herbrand.errors import BudgetExceeded, GameError, InternalError, MissingExtra
from herbrand.runtime.limits import time_limit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from herbrand.analyse.exploration.explore import StateSpace
    from herbrand.analyse.proofs.observation import Observation
    from herbrand.analyse.solving.solve import Solution
    from herbrand.errors import HerbrandError
    from herbrand.machine.state_machine import StateMachine

__all__ = ["Analysis", "analyse"]

_CLAIMS = {
    "termination": "cycle",
    "playability": "stuck",
    "goals": "no goal",
    "monotonicity": "decrease",
    "weak_winnability": "win",
    "strong_winnability": "win",
}
_REFUTATIONS = {
    "termination": "a state recurs after {steps} steps",
    "playability": "{role} has no legal move after {steps} steps",
    "goals": "{role} has not one goal value after {steps} steps",
}
"""What a line of random play shows."""
_FAULTS = {
    "termination": "does not terminate",
    "playability": "not playable",
    "weak_winnability": "not weakly winnable",
}
"""What games lack that are not well-formed."""
_NO_SEQUENCE = {"verdict": "refuted", "reason": "not even a strategy that reacts to the state does"}
"""What follows for actions fixed in advance."""
_SYMBOLIC = ("termination", "playability", "weak_winnability", "goals")
CHECKING = 10.0
"""Seconds for the independent check of one verdict."""
_GROUNDING = 0.7
"""Share of the time for building the network."""
_INDUCTION_SECONDS = 10.0
"""The most seconds for remarks on games with too many states to list."""
_LEAST = 0.05
"""Share of the budget that must be left to begin a stage."""
_WHO_SHARE = 0.1
"""Share of the remaining time for finding which role can force a win, once it is known that one can."""
_VALUES_SHARE = 0.5
"""Share of the remaining time for values, once it is known who can win."""
_CHECKING_LATE = 0.3
"""Seconds for all checks where the budget is spent."""


@dataclass
class Analysis:
    """The results of `analyse`."""

    game: StateMachine
    properties: dict[str, Verdict] = field(default_factory=dict)
    space: StateSpace | None = None
    """The explored states; None when no network was built within the budget."""
    solution: Solution | None = None
    """The values under best play; None when not requested or not solved."""
    observations: list[Observation] = field(default_factory=list)
    """Remarks on how the game behaves."""
    notes: list[str] = field(default_factory=list)
    """Steps that failed or were cut short, in words."""
    seconds: float = 0.0

    @property
    def counts(self) -> dict[str, Any] | None:
        """Numbers of states and plays; None unless all states are known."""
        space = self.space
        if space is None or not space.complete:
            return None
        numbers: dict[str, Any] = {
            "states": len(space.states),
            "terminal_states": space.terminal_states,
            "transitions": space.transitions,
            "depth": space.depth,
            "by_depth": space.profile,
        }
        if space.acyclic and len(space.children) == space.transitions:
            numbers["longest_play"] = space.longest_play
            plays = space.plays()
            numbers["plays"] = plays if plays is not None else "2**128 or more"
        return numbers

    def __repr__(self) -> str:
        verdicts = ", ".join(f"{name} {verdict.answer}" for name, verdict in self.properties.items())
        return f"<Analysis of {self.game.name}: {verdicts}>"

    def _repr_html_(self) -> str:
        """Return HTML for notebooks: the verdicts, numbers of states, values."""
        from herbrand.runtime.notebook import block, column, table

        words = {"proved": "yes", "refuted": "no", "unknown": "?"}
        rows: list[tuple[object, ...]] = []
        for name, verdict in self.properties.items():
            title = name.replace("_", " ")
            rows.append((title, words[verdict.answer], verdict.method, verdict.reason))
            rows += [(f"– {role}", words[v.answer], v.method, v.reason) for role, v in verdict.roles.items()]
        counts = [
            (name.replace("_", " "), number)
            for name, number in (self.counts or {}).items()
            if name != "by_depth"
        ]
        values = None if self.solution is None else self.solution.value
        remarks = [*(observation.text for observation in self.observations), *self.notes]
        return block(
            self.game.name,
            table(rows, ("property", "", "method", "why")) if rows else "",
            table(counts, numbers=(1,)) if counts else "",
            table(list(values.items()), ("role", "value"), numbers=(1,)) if values else "",
            column(remarks) if remarks else "",
            note=f"analysed in {self.seconds:.1f} s",
        )

    def as_json(self) -> dict[str, Any]:
        """Return plain values, in the shape that `herbrand analyse --json` writes."""
        report: dict[str, Any] = {
            "game": self.game.name,
            "properties": {name: verdict.as_json() for name, verdict in self.properties.items()},
        }
        counts = self.counts
        if counts is not None:
            report["counts"] = counts
        elif self.space is not None:
            report["explored"] = {
                "states": len(self.space.states),
                "expanded": self.space.expanded,
                "transitions": self.space.transitions,
                "by_depth": self.space.profile,
                "stopped": self.space.stopped,
            }
        if self.solution is not None:
            if self.solution.value is not None:
                report["value"] = self.solution.value
            report["solution"] = self.solution.as_json()
        report["observations"] = [observation.as_json() for observation in self.observations]
        report["notes"] = self.notes
        report["seconds"] = round(self.seconds, 3)
        return report


def analyse(
    game: StateMachine,
    properties: Iterable[str] = PROPERTIES,
    *,
    budget: Budget | None = None,
    win: int = 100,
    check: bool = True,
    symbolic: bool = True,
    values: bool = True,
    remarks: bool = True,
    exploring: float = 0.4,
    progress: Callable[[str, int, int], None] | None = None,
) -> Analysis:
    """Decide properties of a game (`verdict.PROPERTIES`), each as proved, refuted or unknown.

    `win` is the goal value that counts as winning.  With `check`, proofs and refutations are checked by the
    rules.  Without `symbolic`, no model checker runs.  Without `values`, the game is not solved; with it,
    a game with too many states to list is solved by search if strong winnability is among `properties`.
    Without `remarks`, `observations` stay empty.  `exploring` is the fraction of the time for exploration.
    `progress(activity, done, of)` is called after every chunk of work.  Raises `GameError` for a game with
    errors.
    """
    requested = tuple(properties)
    unknown = [name for name in requested if name not in PROPERTIES]
    if unknown:
        raise ValueError(f"no property {unknown[0]!r} (properties: {', '.join(PROPERTIES)})")
    game.require_playable()
    return _Run(game, requested, budget or Budget(), win, exploring, progress).run(
        check=check, symbolic=symbolic, values=values, remarks=remarks
    )


@dataclass
class _Run:
    """One analysis under way; `verdicts` collects the answers."""

    game: StateMachine
    requested: tuple[str, ...]
    budget: Budget
    win: int
    exploring: float
    progress: Callable[[str, int, int], None] | None
    verdicts: dict[str, Verdict] = field(default_factory=dict)
    determined: Verdict | None = None
    """That one of two roles can force a win, without saying which."""
    checked_by: float = 0.0
    """The time of `time.monotonic` by which all verdicts have been checked."""

    def __post_init__(self) -> None:
        self.result = Analysis(self.game)
        needed = list(self.requested)
        if "well_formed" in needed:
            needed += ["termination", "playability", "weak_winnability"]
        if "strong_winnability" in needed and len(self.game.roles) == 1:
            needed.append("weak_winnability")  # the same
        self.wanted = [name for name in PROPERTIES if name in needed and name != "well_formed"]
        self.players = list(map(self.game.role_index, self.game.players))

    def run(self, *, check: bool, symbolic: bool, values: bool, remarks: bool) -> Analysis:
        started = time.monotonic()
        self.budget = replace(self.budget, started=started)
        self._within(0.3, lambda: self._inspect_rules(self.wanted))
        self._within(1.0, self._explore)
        if remarks:
            self._within(0.4, self._observe_by_induction)
        if values:
            self._within(1.0, self._solve)
        self._within(0.25, self._win_while_in_reach)
        self._follow_from_wins()
        self._within(1.0, self._plan)
        strong = "strong_winnability" in self._undecided()
        if symbolic:
            self._within(1.0, lambda: self._model_check(0.6 if strong else 0.9))
        self._follow_from_wins()
        if strong:
            self._within(0.6, self._look_whether_it_is_determined)
            self._decide_by_plays()
            self._within(1.0, self._search_for_certain_wins)
        if values and strong and "strong_winnability" not in self._undecided() and self._may_search():
            self._within(1.0, self._solve_by_search)
        unknown = Verdict.unknown("; ".join(self.result.notes) or "no method applied")
        for name in self.wanted:
            self.verdicts.setdefault(name, unknown)
        if remarks:
            self._within(1.0, self._observe)
        if check:
            self.checked_by = time.monotonic() + max(_CHECKING_LATE, self.budget.left)
            for name in self.wanted:
                self.verdicts[name] = self._check(name, self.verdicts[name])
        verdicts = dict(self.verdicts)
        if "well_formed" in self.requested:
            verdicts["well_formed"] = _well_formed(verdicts)
        self.result.properties = {name: verdicts[name] for name in PROPERTIES if name in self.requested}
        self.result.seconds = time.monotonic() - started
        return self.result

    def _within(self, fraction: float, stage: Callable[[], None]) -> None:
        """Run a stage in a fraction of the remaining time, if any is left; note if time or memory ends."""
        if self.budget.left < _LEAST * self.budget.seconds:  # loading a method takes time, too
            return
        try:
            with time_limit(fraction * self.budget.left):
                stage()
        except BudgetExceeded as error:
            self.result.notes.append(str(error))
        except MemoryError:
            self.result.notes.append("over budget: one of the methods needs more memory")

    @contextmanager
    def _noting(self, what: str, *errors: type[HerbrandError]) -> Iterator[None]:
        """Note the errors of some kinds that end the block."""
        try:
            yield
        except errors as error:
            self.result.notes.append(f"{what}: {error}")

    def _undecided(self) -> list[str]:
        return [name for name in self.wanted if not (name in self.verdicts and self.verdicts[name].is_known)]

    # -- methods --------------------------------------------------------------------------

    def _inspect_rules(self, names: Iterable[str]) -> None:
        """Decide those of some properties that follow from the form of the rules, without any state."""
        from herbrand.analyse.exploration.certificates import CounterCertificate
        from herbrand.analyse.proofs.static import playability
        from herbrand.check.step_counter import step_counter

        if "termination" in names:
            began = time.monotonic()
            counter = step_counter(self.game.rules.tree.statements)
            if counter is not None:
                self.verdicts["termination"] = Verdict(
                    "proved", "step counter", str(counter), certificate=CounterCertificate(counter),
                    seconds=time.monotonic() - began, details={"bound": counter.bound},
                )  # fmt: skip
        if "playability" in names:
            began = time.monotonic()
            verdict = playability(self.game)
            if verdict is not None:
                self.verdicts["playability"] = verdict.with_(seconds=time.monotonic() - began)

    def _explore(self) -> None:
        """Explore the reachable states, and decide properties from them."""
        from herbrand.analyse.exploration.explore import explore

        try:
            self.game.network_within(_GROUNDING * self.budget.left)
        except BudgetExceeded as error:
            self.result.notes.append(f"no network: {error}")
            self._play_by_rules()
            return
        progress = self.progress
        space = explore(
            self.game.expander,
            budget=self.budget.share(self.exploring),
            progress=None
            if progress is None
            else lambda reached, expanded: progress("exploring", expanded, reached),
        )
        self.result.space = space
        if not space.complete:
            reached = f"{len(space.states)} states, {space.depth} steps deep"
            self.result.notes.append(f"exploration stopped after {space.stopped}: {reached}")
        self._decide_by_states(space)

    def _play_by_rules(self) -> None:
        """Play at random by the rules, where there is no network; only wins and refutations come of it."""
        from herbrand.analyse.exploration.by_rules import play_by_rules

        began, progress = time.monotonic(), self.progress
        wanted = self._undecided()
        found = play_by_rules(
            self.game, wanted, self.players, self.win, 0.9 * self.budget.left,
            None if progress is None else lambda steps: progress("playing", steps, 0),
        )  # fmt: skip
        seconds = time.monotonic() - began
        method, played = "random play", f"{found.games} random games by the rules"
        self.result.notes.append(f"played {played}, {found.steps} steps")
        for name, witness in found.refutations.items():
            if name in wanted:
                reason = _REFUTATIONS[name].format(role=witness.role, steps=len(witness.moves))
                self.verdicts[name] = Verdict("refuted", method, reason, witness, seconds=seconds)
        if "weak_winnability" in wanted:
            self.verdicts["weak_winnability"] = self._combine(
                [self._won_by_rules(found.wins.get(role), role, played, seconds) for role in self.players],
                every=True,
            )

    def _won_by_rules(self, witness: Witness | None, role: int, played: str, seconds: float) -> Verdict:
        if witness is None:
            return Verdict.unknown(f"{self.game.roles[role]} did not get {self.win} in {played}")
        reason = f"{witness.role} gets {self.win} after {len(witness.moves)} steps"
        return Verdict("proved", "random play", reason, witness, seconds=seconds)

    def _observe_by_induction(self) -> None:
        from herbrand.analyse.proofs.inductive import inductive_remarks

        space = self.result.space
        if space is not None and not space.complete:
            budget = replace(self.budget.share(1.0), seconds=min(_INDUCTION_SECONDS, 0.4 * self.budget.left))
            self.result.observations += inductive_remarks(self.game, space, budget)

    def _observe(self) -> None:
        from herbrand.analyse.proofs.observe import observe

        space, solution = self.result.space, self.result.solution
        self.result.observations += observe(self.game, space, solution, budget=self.budget.share(0.3))

    def _solve(self) -> None:
        """Solve the game when all its states are known."""
        from herbrand.analyse.solving.solve import solve_space

        space = self.result.space
        if space is None or not space.complete or len(space.expander.network.sees):
            return  # hidden information belongs to `herbrand.analyse.knowledge`
        with self._noting("not solved", GameError, BudgetExceeded, MissingExtra):
            self.result.solution = solve_space(space, self.budget.share(0.5))

    def _plan(self) -> None:
        """Look for a plan in a game of one role with too many states to list."""
        from herbrand.analyse.solving.plan import plan_beyond
        from herbrand.analyse.solving.solve import Solution

        wanted = [name for name in self._undecided() if name.endswith("winnability")]
        space = self.result.space
        if len(self.game.roles) != 1 or not self.players or not wanted or space is None:
            return
        plan = plan_beyond(self.game, self.win, budget=self.budget.share(0.4), refuted=space.finished_depth)
        if plan.exists is False:
            reason = f"no line of play gives {self.win}"
            verdict = Verdict("refuted", plan.method, reason, seconds=plan.seconds)
            self.verdicts |= dict.fromkeys(wanted, verdict)
            return
        if plan.moves is None:
            self.result.notes.append(f"no plan of up to {plan.refuted} steps gives {self.win}")
            return
        role = self.game.roles[0]
        witness = Witness(plan.moves, role=role, shortest=True)
        reason = f"{role} gets {self.win} after {len(plan.moves)} steps, and in no fewer"
        for name in wanted:
            self.verdicts[name] = self._combine(
                [Verdict("proved", plan.method, reason, witness, seconds=plan.seconds)], every=True
            )
        if self.win == 100:
            best = {role: 100.0}
            self.result.solution = Solution(plan.method, best, best, plan.moves, ())

    def _decide_by_states(self, space: StateSpace) -> None:
        from herbrand.analyse.exploration import by_states

        players = self.players
        methods: dict[str, Callable[[], Verdict]] = {
            "termination": lambda: by_states.termination(space),
            "playability": lambda: by_states.playability(space),
            "goals": lambda: by_states.goal_verdict(space, players),
            "monotonicity": lambda: by_states.monotonicity(space, players),
            "weak_winnability": lambda: self._combine(
                [by_states.weak(space, r, self.win) for r in players], every=True
            ),
            "strong_winnability": lambda: self._strong(space),
        }
        # Strategies take by far the longest, and use all remaining time.
        for name in sorted(self._undecided(), key="strong_winnability".__eq__):
            began = time.monotonic()
            self.verdicts[name] = methods[name]().with_(seconds=time.monotonic() - began + space.seconds)

    def _strong(self, space: StateSpace) -> Verdict:
        from herbrand.analyse.exploration import by_states
        from herbrand.analyse.exploration.conformant import sequence_of

        verdicts = [by_states.strong_of(space, r, self.win) for r in self.players]
        hidden = len(space.expander.network.sees) > 0
        if hidden:  # strategies may depend on facts that the role does not see: only refutations carry over
            verdicts = [
                verdict if verdict.answer != "proved" else self._by_beliefs(role)
                for role, verdict in zip(self.players, verdicts, strict=True)
            ]
        verdict = self._combine(verdicts, every=False)
        readings: dict[str, Any] = {}
        if len(self.game.roles) > 1:
            for role, strategy in zip(self.players, verdicts, strict=True):
                name = self.game.roles[role]
                if strategy.answer == "refuted":
                    readings[name] = _NO_SEQUENCE
                    continue
                if not strategy.is_known and not (hidden and space.complete):
                    readings[name] = {"verdict": "unknown", "reason": "not all states are known"}
                    continue
                fixed = sequence_of(space, role, self.win, self.budget.share(0.1))
                readings[name] = {"verdict": fixed.answer, "reason": fixed.reason, **fixed.details}
                if hidden and fixed.answer == "proved" and not strategy.is_known:
                    verdict = verdict.with_(answer="proved", method=fixed.method, reason=fixed.reason)
        return verdict.with_(details={**verdict.details, "sequence": readings}) if readings else verdict

    def _by_beliefs(self, role: int) -> Verdict:
        """Decide whether a role that could force a win with complete information can with what it knows."""
        from herbrand.analyse.knowledge.uniform import strong_by_beliefs

        verdict = strong_by_beliefs(self.game, role, self.win, self.budget.share(0.4))
        if verdict.is_known:
            return verdict
        return Verdict.unknown(f"could be forced with complete information ({verdict.reason})")

    def _combine(self, verdicts: list[Verdict], *, every: bool) -> Verdict:
        """Combine the verdicts of the roles: `every` role must have the property, or some role."""
        roles = {self.game.roles[r]: v for r, v in zip(self.players, verdicts, strict=True)}
        deciding, unanimous = ("refuted", "proved") if every else ("proved", "refuted")
        chosen = next((v for v in verdicts if v.answer == deciding), None)
        if chosen is None and all(v.answer == unanimous for v in verdicts):
            reason = "; ".join(v.reason for v in verdicts)
            method = ", ".join(dict.fromkeys(v.method for v in verdicts)) or "no roles"
            return Verdict(unanimous, method, reason, roles=roles)  # type: ignore[arg-type]
        if chosen is None:
            chosen = next(v for v in verdicts if v.answer == "unknown")
        return Verdict(
            chosen.answer, chosen.method, chosen.reason, chosen.witness, chosen.certificate, roles=roles
        )

    def _win_while_in_reach(self) -> None:
        """Decide weak winnability where few states come up before a win is out of reach."""
        from herbrand.analyse.proofs.out_of_reach import weak_while_in_reach

        if "weak_winnability" not in self._undecided() or self.win != 100 or not self.game.has_network:
            return
        verdicts = self._of_roles("weak_winnability")
        unknown = [role for role, verdict in verdicts.items() if not verdict.is_known]
        with self._noting("weak winnability", GameError, MissingExtra):
            for role, verdict in weak_while_in_reach(self.game, unknown, self.budget.share(1.0)):
                verdicts[role] = verdict
                self.verdicts["weak_winnability"] = self._combine(list(verdicts.values()), every=True)

    def _follow_from_wins(self) -> None:
        """Decide strong winnability of roles that have no others against them, or that never win."""
        if "weak_winnability" not in self.verdicts or "strong_winnability" not in self._undecided():
            return
        carried_over = ("refuted", "proved") if len(self.game.roles) == 1 else ("refuted",)
        wins = self._of_roles("weak_winnability")
        self._add_strong({role: win for role, win in wins.items() if win.answer in carried_over})

    def _of_roles(self, name: str) -> dict[int, Verdict]:
        """Return what is known so far about a property, by the number of the role."""
        verdict = self.verdicts.get(name, Verdict.unknown("no method applied"))
        return {role: verdict.roles.get(self.game.roles[role], verdict) for role in self.players}

    def _open_roles(self) -> list[int]:
        """Return the roles that may be able to force 100, if that is what is asked and not decided yet."""
        is_open = self.determined is not None or "strong_winnability" in self._undecided()
        if not is_open or self.win != 100 or not self.game.has_network:
            return []
        return [
            role for role, verdict in self._of_roles("strong_winnability").items() if not verdict.is_known
        ]

    def _add_strong(self, found: dict[int, Verdict]) -> None:
        """Record verdicts about strong winnability of roles for which there is none yet."""
        known = self._of_roles("strong_winnability")
        known |= {role: verdict for role, verdict in found.items() if not known[role].is_known}
        if self.determined is None and not any(verdict.is_known for verdict in known.values()):
            return
        before = self.verdicts.get("strong_winnability")
        details = {} if before is None else before.details
        if self.determined is not None:
            known = self._by_elimination(known)
        verdict = self._combine(list(known.values()), every=False)
        if self.determined is not None and verdict.certificate is None:
            verdict = self.determined.with_(roles=verdict.roles)
        readings = {
            role: _NO_SEQUENCE if verdict.roles[role].answer == "refuted" else reading
            for role, reading in details.get("sequence", {}).items()
        }
        details = {**details, "sequence": readings} if readings else details
        self.verdicts["strong_winnability"] = verdict.with_(details=details)

    def _by_elimination(self, known: dict[int, Verdict]) -> dict[int, Verdict]:
        """Return verdicts about both roles of a determined game: if one cannot force a win, the other can."""
        losers = [role for role, verdict in known.items() if verdict.answer == "refuted"]
        if len(losers) == len(known):
            raise InternalError(f"{self.game.name} is determined, but neither role can force a win")
        if not losers:
            return known
        (winner,) = known.keys() - losers
        if known[winner].is_known:
            return known
        assert self.determined is not None
        reason = f"{self.game.roles[losers[0]]} cannot force a win, and one of the two can"
        return {**known, winner: Verdict("proved", self.determined.method, reason)}

    def _decide_by_plays(self) -> None:
        """Decide strong winnability by questions about plays in which some roles do as they prefer."""
        from herbrand.analyse.proofs.exchanged import refute_by_exchange
        from herbrand.analyse.proofs.pairing import refute_by_pairs
        from herbrand.analyse.proofs.reactive import prove_by_reactions
        from herbrand.analyse.proofs.restricted import refute_by_preferences
        from herbrand.analyse.proofs.scheduled import refute_by_schedules

        react = partial(prove_by_reactions, known=self.verdicts)
        others = (refute_by_pairs, refute_by_preferences, refute_by_schedules)
        for method in (refute_by_exchange, react, *others):
            self._within(0.5, partial(self._decide_by, method))

    def _decide_by(
        self, method: Callable[[StateMachine, list[int], Budget], Iterable[tuple[int, Verdict]]]
    ) -> None:
        roles = self._open_roles()
        if roles:
            with self._noting("strong winnability", GameError, MissingExtra):
                for role, verdict in method(self.game, roles, self._budget_of_search(1.0)):
                    self._add_strong({role: verdict})

    def _look_whether_it_is_determined(self) -> None:
        """Prove strong winnability of games for two that take turns, one of whom wins at every end."""
        from herbrand.analyse.proofs.determined import NEEDED, prove_determined

        known = [self.verdicts[name] for name in NEEDED if name in self.verdicts]
        if not self._open_roles() or not all(verdict.answer == "proved" for verdict in known):
            return
        self._inspect_rules([name for name in NEEDED if name not in self.verdicts])
        with self._noting("strong winnability", GameError, MissingExtra):
            self.determined = prove_determined(self.game, self._budget_of_search(0.9), self.verdicts)
        self._add_strong({})

    def _search_for_certain_wins(self) -> None:
        """Decide strong winnability by proof-number search, where the states are too many to list."""
        from herbrand.analyse.solving.certain import strong_by_search

        roles = self._open_roles()
        if not roles:
            return
        progress = self.progress
        report = None if progress is None else lambda expanded: progress("searching", expanded, 0)
        budget = self._budget_of_search(0.9 if self.determined is None else _WHO_SHARE)
        found = strong_by_search(self.game, roles, self.win, budget=budget, progress=report)
        if self.game.has_percepts:
            proved = [role for role, verdict in found.items() if verdict.answer == "proved"]
            found |= {role: self._by_beliefs(role) for role in proved}
        self._add_strong(found)

    def _budget_of_search(self, fraction: float) -> Budget:
        """Return a fraction of the time that is left, and the memory that the explored states leave."""
        space, budget = self.result.space, self.budget.share(fraction)
        held = 0.0 if space is None else space.megabytes
        return replace(budget, megabytes=max(_LEAST * budget.megabytes, budget.megabytes - held))

    def _may_search(self) -> bool:
        """Whether there may be values although states are too many: two roles that seem to take turns."""
        space = self.result.space
        return (
            space is not None
            and not space.complete
            and len(self.game.roles) == 2 == len(self.players)
            and not len(space.expander.network.sees)
            and not space.choosers[2:].any()
        )

    def _solve_by_search(self) -> None:
        """Find the values of a game of two roles in turns, where every end has goal values."""
        from herbrand.analyse.solving import by_search

        with self._noting("not solved by search", GameError, BudgetExceeded):
            solution = by_search.solve_by_search(self.game, budget=self._budget_of_search(_VALUES_SHARE))
            goals = self.verdicts.get("goals")
            if goals is not None and goals.answer == "proved":
                self.result.solution = solution

    def _model_check(self, fraction: float) -> None:
        """Decide the remaining properties by model checking."""
        from herbrand.analyse.proofs.symbolic import prove

        wanted = [name for name in self._undecided() if name in _SYMBOLIC]
        if not wanted or self.budget.left <= 0 or not self.game.has_network:
            return
        with self._noting("model checking", BudgetExceeded, MissingExtra):
            for name, verdict in prove(self.game, wanted, self.budget.share(fraction)).items():
                if verdict.is_known or name not in self.verdicts:
                    self.verdicts[name] = verdict

    # -- checks ---------------------------------------------------------------------------

    def _check(self, name: str, verdict: Verdict) -> Verdict:
        """Check a verdict by the rules; raises `InternalError` if it is wrong."""
        if not verdict.is_known:
            return verdict
        roles = {role: self._check(name, inner) for role, inner in verdict.roles.items()}
        if roles:
            verdict = verdict.with_(roles=roles)
        if verdict.checked is not None:
            return verdict
        seconds = min(CHECKING, self.checked_by - time.monotonic())
        if seconds <= 0:
            return verdict
        try:
            answer = self._check_one(name, verdict, seconds)
        except BudgetExceeded:
            return verdict.with_(checked=None)
        if answer is False:
            raise InternalError(f"{name} of {self.game.name} was {verdict.answer}, but the check failed")
        if answer is None and roles:
            checks = [inner.checked for inner in roles.values()]
            answer = True if all(checks) else None
        return verdict.with_(checked=answer)

    def _check_one(self, name: str, verdict: Verdict, seconds: float) -> bool | None:
        from herbrand.analyse.exploration.replay import holds

        if isinstance(verdict.witness, Witness) and name in _CLAIMS:
            return holds(self.game, _CLAIMS[name], verdict.witness, win=self.win)
        if verdict.certificate is not None:
            with suppress(GameError):
                return verdict.certificate.check(self.game, seconds)
        return None


def _well_formed(verdicts: dict[str, Verdict]) -> Verdict:
    """Combine the verdicts: a game is well-formed if it terminates and is playable and weakly winnable."""
    parts = {name: verdicts[name] for name in _FAULTS}
    refuted = [name for name, verdict in parts.items() if verdict.answer == "refuted"]
    if refuted:
        first, faults = parts[refuted[0]], ", ".join(_FAULTS[name] for name in refuted)
        return Verdict(
            "refuted", first.method, f"{faults}: {first.reason}", first.witness, first.certificate,
            checked=first.checked,
        )  # fmt: skip
    if all(verdict.answer == "proved" for verdict in parts.values()):
        method = ", ".join(dict.fromkeys(verdict.method for verdict in parts.values()))
        checked = True if all(verdict.checked for verdict in parts.values()) else None
        return Verdict("proved", method, "terminates, playable and weakly winnable", checked=checked)
    missing = [name for name, verdict in parts.items() if not verdict.is_known]
    return Verdict.unknown(f"{', '.join(missing).replace('_', ' ')} not decided")
