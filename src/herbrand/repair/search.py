"""Search for the smallest edit that repairs a game.

Edits are tried in the order of how natural they are.  Random games of many edited versions at once
(`superposed`) refute most of them; the rest are proved one by one, briefly first and longer if they turn up
again.  Where no single edit does, those that leave fewer faults are edited once more.
"""

from __future__ import annotations

import heapq
import math
import time
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import count, islice
from typing import TYPE_CHECKING, Any, Final

from herbrand.analyse.budget import Budget
from herbrand.analyse.proofs.prove import analyse
from herbrand.analyse.trial.never import never_checks
from herbrand.check.dependency import dependency_graph
from herbrand.diagnostic import Source
from herbrand.errors import BudgetExceeded, GameError
from herbrand.machine.state_machine import StateMachine
from herbrand.repair.edits import RuleEdit, composed, edited, exclusive_goals, rule_edits, step_limit
from herbrand.repair.naturalness import Naturalness
from herbrand.repair.recorded import Play, first_difference, plays_of
from herbrand.repair.superposed import Profile, Trial, profiles
from herbrand.runtime.limits import time_limit
from herbrand.syntax import read
from herbrand.syntax.nodes import Variable
from herbrand.verify.diff import diff

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from herbrand.analyse.verdict import Verdict
    from herbrand.check.relations import Relation
    from herbrand.syntax.nodes import Rule

__all__ = ["PROPERTIES", "SENTENCES", "Repair", "RepairSearch", "properties_of", "repair"]

SENTENCES: Final = {
    "termination": ("some play never ends", "every play ends"),
    "playability": ("a role can be without a legal move", "every role can move until the game is over"),
    "weak_winnability": ("not every role can win", "every role can win"),
    "goals": (
        "some end has no goal value, or several, for a role",
        "each end has one goal value for every role",
    ),
}
"""Descriptions of a game without the property, and with it."""
PROPERTIES: Final = tuple(SENTENCES)
"""The properties required of a repaired game by default."""
BATCH: Final = 128
"""Edits that are played in one network."""
FIRST: Final = 16
"""Edits in the first network, while the time for one is unknown."""
PLAYING: Final = 8.0
"""Seconds in which a network of edited games must be built."""
GAMES: Final = 96
"""Random games for each edit."""
MAX_STEPS: Final = 400
"""Steps after which a random game is taken for endless."""
FINDING: Final = 0.5
"""The cost that each condition that never holds adds to an edit."""
PROVING: Final = (1.5, 6.0, 15.0)
"""Seconds for the proofs of one edit: each time it comes up again, it gets more."""
RARE: Final = 1.5
"""Discount for a rule about situations that random games rarely reach."""
EXCLUSIVE: Final = 0.15
"""Share of the time for edits that make goal values exclusive, where several hold at one end."""
PASSING: Final = 0.3
"""Share of the time for edits of the rule that lets all roles pass for ever, if there is one."""
AGAIN: Final = 0.2
"""The cost added each time that an edit comes up for more proofs."""
DIAGNOSING: Final = 0.15
"""Share of the time for diagnosing the game."""
DOUBTING: Final = 0.5
"""Share of the remaining time for a second diagnosis, if the first left properties open and refuted none."""
EXPLORING: Final = 0.2
"""Share of a proof's time in which states are listed."""
EXCLUDING: Final = 1.2
"""The cost of each rule whose goal value yields to another one."""
SECOND: Final = 4
"""Edits that leave fewer faults and are edited once more."""
_COMPARING: Final = 3.0
"""Seconds in which a repaired game is compared with a reference."""


@dataclass(frozen=True, slots=True)
class Repair:
    """Edits that repair a game."""

    edits: tuple[RuleEdit, ...]
    cost: float
    verdicts: Mapping[str, Verdict]
    """The properties of the edited game: none is refuted, and those that the game lacked are proved."""

    @property
    def is_proved(self) -> bool:
        """Whether all properties are proved."""
        return all(verdict.answer == "proved" for verdict in self.verdicts.values())


@dataclass
class RepairSearch:
    """The result of `repair`."""

    game: StateMachine
    errors: tuple[str, ...] = ()
    """The checks that report errors in the game."""
    faults: Mapping[str, Verdict] = field(default_factory=dict)
    """The properties that the game does not have, each with a play that shows it."""
    difference: str | None = None
    """The first difference from the plays that it should have."""
    repairs: list[Repair] = field(default_factory=list)
    """The repairs, those with all properties proved first, then by naturalness."""
    tried: int = 0
    """Single edits that were tried."""
    edits: int = 0
    """Single edits there are."""
    is_minimal: bool = False
    """Whether no smaller set of edits repairs the game: one edit, or two after all others were refuted."""
    seconds: float = 0.0

    @property
    def is_needed(self) -> bool:
        """Whether anything is wrong with the game."""
        return bool(self.errors or self.faults or self.difference)

    def as_json(self) -> dict[str, Any]:
        """Return the result as the value of a JSON object."""
        return {
            "game": self.game.name,
            "errors": list(self.errors),
            "faults": {name: verdict.as_json() for name, verdict in self.faults.items()},
            "difference": self.difference,
            "repairs": [
                {
                    "edits": [self._edit_as_json(edit) for edit in repaired.edits],
                    "proved": repaired.is_proved,
                    "properties": {name: verdict.as_json() for name, verdict in repaired.verdicts.items()},
                }
                for repaired in self.repairs
            ],
            "minimal": self.is_minimal,
            "tried": self.tried,
            "edits": self.edits,
            "seconds": round(self.seconds, 3),
        }

    def _edit_as_json(self, edit: RuleEdit) -> dict[str, Any]:
        tree = self.game.tree
        old = None if edit.number is None else tree.statements[edit.number]
        return {
            "kind": edit.kind,
            "line": None if old is None else tree.source.position(old.start).line,
            "before": None if old is None else str(old),
            "after": [str(rule) for rule in edit.rules],
        }


def repair(
    game: StateMachine,
    *,
    properties: Sequence[str] = PROPERTIES,
    win: int = 100,
    reference: StateMachine | None = None,
    plays: Iterable[Play] = (),
    most_edits: int = 2,
    seconds: float = 60.0,
    seed: int = 0,
    progress: Callable[[str, int, int], None] | None = None,
) -> RepairSearch:
    """Look for the smallest and most natural edit after which a game has some properties.

    `win` is the goal value that counts as winning.  The edited game also has the `plays`, and plays like the
    `reference`.  The search ends with the first edit for which everything is proved, or after many seconds at
    least what the game lacked, and nothing is refuted.
    `progress(activity, done, of)` is called after every batch.  Raises `GameError` for a sheet whose text has
    errors, or with conditions on knowledge.
    """
    if any(d.severity.value == "error" for d in game.tree.diagnostics):
        raise GameError("the text has errors: `herbrand check --fix` repairs what it can")
    if game.is_epistemic:
        raise GameError("conditions on what roles know cannot be repaired")
    budget = Budget(seconds)
    expected = (*plays, *(plays_of(reference, seed=seed) if reference is not None else ()))
    search = RepairSearch(game, errors=tuple(sorted({d.check for d in game.rules.errors})))
    if not search.errors:
        verdicts = properties_of(game, budget.share(DIAGNOSING), properties, win=win, exploring=EXPLORING)
        search.faults = _refuted(verdicts)
        search.difference = first_difference(game, expected)
        open_ = [name for name, verdict in verdicts.items() if verdict.answer == "unknown"]
        if open_ and not search.is_needed:  # there is nothing else to do with the time
            verdicts = properties_of(game, budget.share(DOUBTING), open_, win=win, exploring=EXPLORING)
            search.faults = _refuted(verdicts)
    if search.is_needed:
        run = _Search(search, tuple(properties), win, reference, expected, seed, progress)
        with suppress(BudgetExceeded), time_limit(budget.left):
            run.run(budget, most_edits)
        run.finish()
    search.seconds = budget.elapsed
    return search


@dataclass
class _Search:
    """A search under way."""

    result: RepairSearch
    properties: tuple[str, ...]
    win: int
    reference: StateMachine | None
    plays: tuple[Play, ...]
    seed: int
    progress: Callable[[str, int, int], None] | None
    complete: bool = True
    """Whether every edit so far was refuted."""
    is_settled: bool = False
    """Whether no single edit repairs the game."""
    repairs: dict[tuple[RuleEdit, ...], Repair] = field(default_factory=dict)
    length: float = 0.0
    """Steps of a random game, on average."""

    def __post_init__(self) -> None:
        self.statements = list(self.result.game.tree.statements)
        self.roles = self.result.game.roles

    def run(self, budget: Budget, most_edits: int) -> None:
        is_endless = "termination" in self.result.faults
        conflicts = self._conflicts() and not self._passing(self.statements)
        self._search(budget.share((0.8 if is_endless else 1.0) - (EXCLUSIVE if conflicts else 0)), most_edits)
        if conflicts and not self.repairs:
            self._exclude(budget.share(0.5 if is_endless else 1.0), most_edits)
        if is_endless and not self.repairs:
            self._limit(budget)

    def _search(self, budget: Budget, most_edits: int) -> None:
        passing = self._passing(self.statements)
        if passing:
            self._edit(self.statements, (), frozenset(), budget.share(PASSING), passing)
            if not self.repairs and self._conflicts():
                self._exclude(budget.share(0.5), most_edits)
            if self.repairs:
                return
        share = budget.share(0.7 if most_edits > 1 else 1.0)
        better = self._edit(self.statements, (), _places_of_errors(self.result.game), share)
        if self.repairs or most_edits < 2:
            return
        self.is_settled = self.complete and self.result.tried == self.result.edits
        for _, _, edit in heapq.nsmallest(SECOND, better):
            self._edit(edited(self.statements, [edit]), (edit,), frozenset(), budget.share(0.5))
            if any(repaired.is_proved for repaired in self.repairs.values()):
                return

    def _conflicts(self, statements: Sequence[Rule] | None = None) -> bool:
        """Whether a role has several goal values at the end of the play that refutes one for each."""
        verdict = self.result.faults.get("goals")
        if verdict is None or verdict.witness is None:
            return False
        game = self.result.game if statements is None else _game_of(statements)
        state = game.initial_state()
        for joint in verdict.witness.moves:
            state = state.next(joint)
        return any(len(state.goal_values(role)) > 1 for role in self.roles)

    def _exclude(self, budget: Budget, most_edits: int) -> None:
        """Make goal values that hold together exclusive, with one more edit if needed."""
        every = exclusive_goals(self.statements)
        ways = [way for way in every if not self._conflicts(edited(self.statements, way))]
        for number, way in enumerate(ways, 1):
            statements = edited(self.statements, way)
            share = budget.share(1.0 if number == len(ways) else 0.5 / (len(ways) - number))
            if self.result.faults.keys() == {"goals"}:
                verdicts = self._proved(_game_of(statements), min(PROVING[-1], share.left))
                if verdicts is not None and verdicts["goals"].answer == "proved":
                    self.repairs[way] = Repair(way, len(way) * EXCLUDING, verdicts)
            elif most_edits > 1:
                self._edit(statements, way, frozenset(), share, self._passing(statements))
            if self.repairs:
                return

    def _limit(self, budget: Budget) -> None:
        """Try a limit of steps, the last resort: 99, or 999 if random games take more than half of that."""
        edit = step_limit(self.statements, 2 if self.length < 50 else 3)
        verdicts = self._proved(_game_of(edited(self.statements, [edit])), budget.left)
        if verdicts is not None and all(verdicts[name].answer == "proved" for name in self.result.faults):
            self.repairs[edit,] = Repair((edit,), math.inf, verdicts)

    def finish(self) -> None:
        """Sort the repairs: proved ones first, then by naturalness."""

        def order(repaired: Repair) -> tuple[bool, int, float]:
            return not repaired.is_proved, len(repaired.edits), repaired.cost

        self.result.repairs = sorted(self.repairs.values(), key=order)
        if self.result.repairs:
            best = self.result.repairs[0]
            is_limit = any(edit.kind == "limit" for edit in best.edits)
            is_pair = len(best.edits) == 2 and self.is_settled
            self.result.is_minimal = not is_limit and (len(best.edits) == 1 or is_pair)

    def _edit(
        self,
        statements: Sequence[Rule],
        before: tuple[RuleEdit, ...],
        places: frozenset[int],
        budget: Budget,
        only: frozenset[int] = frozenset(),
    ) -> list[tuple[float, int, RuleEdit]]:
        """Try the edits of some statements; return those that leave fewer faults, and these.

        `places` are the statements with errors, one of which each edit must change; `only` restricts edits
        to some statements.
        """
        refuted = self.result.faults.values()
        witnesses = tuple(verdict.witness for verdict in refuted if verdict.witness is not None)
        trial = Trial(GAMES, MAX_STEPS, self.plays, witnesses, places, self.seed)
        limits = self.result.game.limits
        unedited = profiles(statements, [], self.roles, replace(trial, witnesses=()), limits=limits)
        baseline = None if places else next((profile for _, profile in unedited), None)
        if baseline is not None and not before:
            self.length = baseline.length
        costs = self._costs(statements, places, baseline, budget, only)
        edits = sorted(costs, key=lambda edit: costs[edit])
        if not before:
            self.result.edits = len(edits)
        waiting, size = iter(edits), FIRST
        upcoming = list(islice(waiting, size))
        queue: list[tuple[float, int, RuleEdit, int]] = []
        better: list[tuple[float, int, RuleEdit]] = []
        numbers = count()
        findings = 0 if places else len(never_checks(_game_of(statements).rules))
        saved = FINDING * min(findings, 1)  # at most, as a rule
        while (queue or upcoming) and budget.left > 0:
            if upcoming and (not queue or queue[0][0] > costs[upcoming[0]] - saved + AGAIN):
                began = time.monotonic()
                limits = replace(limits, seconds=min(PLAYING, budget.left))
                for k, profile in profiles(statements, upcoming, self.roles, trial, limits=limits):
                    if k < 0:
                        continue
                    edit = upcoming[k]
                    penalty = self._penalty(profile)
                    if penalty is not None:
                        heapq.heappush(queue, (costs[edit] + penalty - saved, next(numbers), edit, 0))
                    elif baseline is not None and _faults(profile) < _faults(baseline):
                        better.append((_faults(profile) + costs[edit] / 10, next(numbers), edit))
                if not before:
                    self.result.tried += len(upcoming)
                if self.progress is not None:
                    self.progress("playing edited games", self.result.tried, self.result.edits)
                size = min(BATCH, 2 * size) if time.monotonic() - began < PLAYING / 4 else max(1, size // 2)
                upcoming = list(islice(waiting, size))
                continue
            cost, _, edit, turn = heapq.heappop(queue)
            game = _game_of(edited(statements, [edit]))
            if game.rules.errors:
                continue
            if turn == 0:
                more = len(never_checks(game.rules)) - findings
                heapq.heappush(queue, (cost + saved + FINDING * more, next(numbers), edit, 1))
                continue
            verdicts = self._proved(game, min(PROVING[turn - 1], budget.left))
            if verdicts is None:
                continue
            repaired = Repair(composed(self.statements, before, edit), cost, verdicts)
            if repaired.is_proved:
                self.repairs[repaired.edits] = repaired
                return better
            self.complete = False
            if all(verdicts[name].answer == "proved" for name in self.result.faults):
                self.repairs[repaired.edits] = repaired
                if turn == len(PROVING):  # the remaining properties were hard to prove before, too
                    return better
            if turn < len(PROVING):
                heapq.heappush(queue, (cost + AGAIN, next(numbers), edit, turn + 1))
        return better

    def _costs(
        self,
        statements: Sequence[Rule],
        places: frozenset[int],
        baseline: Profile | None,
        budget: Budget,
        only: frozenset[int],
    ) -> dict[RuleEdit, float]:
        """Return the edits with their costs, as many as the budget allows; with `places`, of these only."""
        naturalness = Naturalness(statements)
        # A case that random games rarely reach is an oversight of the author rather than a typo.
        is_rare = baseline is not None and baseline.stuck + baseline.undefined <= GAMES // 10
        costs = {}
        heads = self._relevant(statements)
        for edit in rule_edits(statements, faults=self.result.faults, only=only, heads=heads):
            if budget.left <= 0:
                self.complete = False
                break
            if not places or edit.number in places:
                rare = RARE if edit.kind == "complete" and is_rare else 0
                costs[edit] = naturalness.cost(edit) - rare
        return costs

    def _relevant(self, statements: Sequence[Rule]) -> set[Relation] | None:
        """Return the relations that decide whether and how a game goes on, if nothing else is wrong."""
        result = self.result
        if result.errors or result.difference or not result.faults.keys() <= {"termination", "playability"}:
            return None
        graph = dependency_graph(statements)
        roots = [("init", 1), ("next", 1), ("legal", 2), ("terminal", 0)]
        return {*roots, *(other for root in roots for other in graph.reachable(root))}

    def _passing(self, statements: Sequence[Rule]) -> frozenset[int]:
        """Return the rules by which all roles can make the same move for ever."""
        verdict = self.result.faults.get("termination")
        witness = verdict.witness if verdict is not None else None
        if witness is None or witness.loop is None or len(self.roles) == 1:
            return frozenset()
        moves = {move.lower() for joint in witness.moves[witness.loop :] for move in joint}
        return frozenset(
            number
            for number, rule in enumerate(statements)
            if rule.head.key == ("legal", 2)
            and isinstance(rule.head.args[0], Variable)
            and {str(rule.head.args[1])} == moves
        )

    def _proved(self, game: StateMachine, seconds: float) -> dict[str, Verdict] | None:
        """Return the verdicts of a game; None if one is refuted or play differs from the reference."""
        try:
            verdicts = properties_of(
                game, Budget(seconds), self.properties, win=self.win, exploring=EXPLORING
            )
            if any(verdict.answer == "refuted" for verdict in verdicts.values()):
                return None
            known = self.reference
            if known is not None and diff(game, known, seconds=_COMPARING).verdict == "differs":
                return None
        except (GameError, BudgetExceeded):
            return None
        return verdicts

    def _penalty(self, profile: Profile) -> float | None:
        """Return what random games add to the cost of an edit; None if they show that it repairs nothing."""
        if not profile.agrees or ("playability" in self.properties and profile.stuck):
            return None
        if "goals" in self.properties and profile.undefined:
            return None
        if "termination" in self.properties and profile.endless > (
            0 if "termination" in self.result.faults else profile.games // 2
        ):
            return None
        penalty = 0.0
        if not profile.is_open:
            penalty += 0.4 if len(self.roles) == 1 else 0.8
        elif any(best < self.win for best in profile.best):
            penalty += 0.2
        return penalty + (1.0 if profile.length < 2 else 0.0)


def _faults(profile: Profile) -> float:
    """Return how much is wrong with random games."""
    faults = profile.stuck + profile.undefined + profile.endless
    lost = sum(best < 100 for best in profile.best)
    return faults / profile.games + (0 if profile.agrees else 0.5) + 0.1 * lost


def _game_of(statements: Iterable[Rule]) -> StateMachine:
    return StateMachine(read(Source("\n".join(map(str, statements)), "<edited>"), "prefix"))


def _refuted(verdicts: Mapping[str, Verdict]) -> dict[str, Verdict]:
    return {name: verdict for name, verdict in verdicts.items() if verdict.answer == "refuted"}


def properties_of(
    game: StateMachine,
    budget: Budget,
    properties: Sequence[str] = PROPERTIES,
    *,
    win: int = 100,
    exploring: float = 0.4,
) -> dict[str, Verdict]:
    """Return verdicts on the properties of a game, without checking it again; see `herbrand.analyse`."""
    return analyse(
        game,
        properties,
        budget=budget,
        win=win,
        values=False,
        remarks=False,
        check=False,
        exploring=exploring,
    ).properties


def _places_of_errors(game: StateMachine) -> frozenset[int]:
    """Return the statements with errors."""
    spans = [d.span for d in game.rules.errors]
    return frozenset(
        number
        for number, rule in enumerate(game.tree.statements)
        if any(span.start < rule.end and rule.start < span.end for span in spans)
    )
