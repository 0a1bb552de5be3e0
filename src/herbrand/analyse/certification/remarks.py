"""Certificates of remarks: conditions that never hold, moves never legal, lengths of plays, symmetric roles.

| proof        | shows                                                      | checked by         |
|--------------|------------------------------------------------------------|--------------------|
| `Explored`   | claims about all states, by exploring them                 | SWI-Prolog         |
| `Excluded`   | conditions that an inductive invariant excludes            | clingo             |
| `Measured`   | the shortest or the longest play: one, and no other length | SWI-Prolog, clingo |
| `Permuted`   | roles that a permutation of names exchanges                | clingo             |
| `Strategies` | values under best play, by strategies of both sides        | SWI-Prolog         |

A remark may have several proofs, of which one is enough.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Final

from herbrand.analyse.budget import Budget
from herbrand.analyse.certification.evidence import (
    EvidenceFile,
    ForcedPlay,
    PrologWriter,
    WritesFiles,
    files_of,
    forced_claim,
    in_folder,
    questions,
)
from herbrand.analyse.certification.folder import (
    STEPS_PER_SECOND,
    CertifiedRemark,
    CertifiedVerdict,
    replayed,
    require_empty,
    write_certificate,
)
from herbrand.analyse.exploration.certificates import CounterCertificate
from herbrand.analyse.invariants.invariant import Invariant, RulesProgram
from herbrand.analyse.invariants.obligations import recording
from herbrand.analyse.proofs.claims import RemarkClaim, claim_of, find_excluded, watch_claims
from herbrand.analyse.proofs.excluded import sample_of
from herbrand.analyse.proofs.prove import analyse
from herbrand.analyse.solving.forcing import goal_values
from herbrand.analyse.solving.strategy import Claim, make_strategy
from herbrand.analyse.solving.symmetry import permutation_question
from herbrand.analyse.solving.value import value_of
from herbrand.analyse.verdict import Verdict
from herbrand.check.step_counter import StepCounter, step_counter
from herbrand.convert.asp import plays_of_other_length, recorded_play
from herbrand.errors import BudgetExceeded, GameError, MissingExtra
from herbrand.rules.terms import read_term

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from herbrand.analyse.exploration.explore import StateSpace
    from herbrand.analyse.proofs.claims import WatchedClaims
    from herbrand.analyse.verdict import Certificate
    from herbrand.machine.state_machine import StateMachine

__all__ = [
    "REMARKS",
    "Excluded",
    "Explored",
    "Measured",
    "Permuted",
    "RemarkProof",
    "Strategies",
    "certify_remarks",
    "verdicts_of",
]

REMARKS: Final = "remarks"
"""The name, among those of properties, under which `certify_remarks` certifies remarks."""
_FINDING: Final = 0.35
"""Share of the time for finding remarks."""
_PROVING: Final = 0.3
"""Share of the remaining time for each search for proofs."""
_LONGEST: Final = 200
"""Steps of plays whose length clingo is asked about."""


@dataclass(frozen=True, slots=True)
class RemarkProof(WritesFiles):
    """A proof of some claims."""

    claims: tuple[RemarkClaim, ...]
    is_extra: bool = field(default=False, kw_only=True)
    """Whether all claims have another proof."""

    kind: ClassVar[str] = ""

    def as_json(self) -> dict[str, Any]:
        """Return plain values, from which `verification` gives the proof back."""
        return {"claims": [claim.as_json() for claim in self.claims], "extra": self.is_extra}


@dataclass(frozen=True, slots=True)
class Explored(RemarkProof):
    """All states, explored by the program that checks the claims."""

    states: int

    kind: ClassVar[str] = "state set"

    def as_json(self) -> dict[str, Any]:
        """Return the claims and the number of states."""
        return {**RemarkProof.as_json(self), "states": self.states}

    def files(self, game: StateMachine, seconds: float, *, solve: bool) -> Iterator[EvidenceFile]:  # noqa: ARG002
        """Yield one file about all claims, and one for the way to each dead end."""
        watched = watch_claims(game, self.claims).watched
        writer = PrologWriter(watched.game)
        lines = [f"states({self.states})."]
        for place, needs_move in enumerate(watched.needs_move):
            lines.append(f"never({place}, {'move' if needs_move else 'state'}).")
        for claim in self.claims:
            lines += _facts(claim, writer)
        means = f"{len(self.claims)} remarks on all {self.states} reachable states"
        yield writer.file("remarks", lines, means)
        plain = PrologWriter(game)
        for place, claim in enumerate(self.claims):
            if claim.kind == "dead-end":
                line = claim.about["line"]
                steps = [f"step({k}, {plain.inputs(joint)})." for k, joint in enumerate(line, 1)]
                file = plain.file(
                    f"play(dead({_aim(claim, plain)}))", steps, "these moves lead to a dead end"
                )
                yield in_folder(f"way-{place + 1}", replace(file, about=(place,)))


def _facts(claim: RemarkClaim, writer: PrologWriter) -> list[str]:
    """Return the facts for `check.pl` that state a claim beyond conditions that never hold."""
    about = claim.about
    if claim.kind == "latched-fluent":
        return [f"kept({writer.term(item)})." for item in about["items"]]
    if claim.kind == "constant-sum":
        return [f"sum({about['sum']})."]
    if claim.kind in ("shortest-play", "longest-play"):
        return [f"{claim.kind.partition('-')[0]}({about['steps']})."]
    if claim.kind == "dead-end":
        aim = _aim(claim, writer)
        return [f"dead({aim}, {about['states']}, {about['of']}, {len(about['line'])})."]
    if claim.kind == "first-move-advantage":
        return [f"ahead({writer.term(about['role'])}, {round(100 * about['advantage'])})."]
    return []


def _aim(claim: RemarkClaim, writer: PrologWriter) -> str:
    aim = claim.about["aim"]
    if aim is not None and writer.game.players != (aim["role"],):
        raise ValueError("only games of one player have a goal that cannot be reached any more")
    return "end" if aim is None else f"value({writer.term(aim['role'])}, {aim['goal']})"


@dataclass(frozen=True, slots=True)
class Excluded(RemarkProof):
    """An inductive invariant that excludes conditions."""

    invariant: Invariant

    kind: ClassVar[str] = Invariant.kind

    def as_json(self) -> dict[str, Any]:
        """Return the claims and the invariant."""
        return {**RemarkProof.as_json(self), "invariant": self.invariant.as_json()}

    def files(self, game: StateMachine, seconds: float, *, solve: bool) -> Iterator[EvidenceFile]:
        """Yield the questions about the invariant, and one for each claim."""
        conditions = watch_claims(game, self.claims)
        watched = conditions.watched
        rules = RulesProgram(watched.game, seconds)
        holds = self.invariant.as_program(rules, "true", broken=False)
        with recording(solve=solve) as obligations:
            if not self.invariant.holds_by_rules(watched.game, rules):
                return
            common = len(obligations)
            for number, claim in enumerate(self.claims):
                question = [*holds, *_somewhere(conditions, rules, number, claim)]
                if rules.possible(question, f"the invariant excludes the contrary: {claim.text(game)}"):
                    return
        for place, file in enumerate(questions(obligations)):
            about = (place - common,) if place >= common else ()
            yield replace(file, about=about, is_extra=file.is_extra or self.is_extra)


def _somewhere(conditions: WatchedClaims, rules: RulesProgram, number: int, claim: RemarkClaim) -> list[str]:
    """Return constraints that a claim is wrong in some state, without a move unless it is about steps."""
    watched = conditions.watched
    observer = rules.term(str(watched.game.rules.roles[0]))
    lines = [":- not wrong."]
    for place, (owner, needs_move) in enumerate(zip(conditions.owners, watched.needs_move, strict=True)):
        if owner == number:
            condition = [f"sees({observer},{rules.term(f'(remark {place})')})"]
            lines.append(f"wrong :- {', '.join([*condition, *(['not illegal'] if needs_move else [])])}.")
    lines += [
        f"wrong :- true({fluent}), not next({fluent}), not illegal, not terminal."
        for fluent in map(rules.term, claim.latched_fluents())
    ]
    players = [f"player({rules.term(str(role))})." for role in watched.game.rules.roles]
    return [
        *lines,
        *players,
        "illegal :- does(R,M), not player(R).",
        "illegal :- does(R,M), not legal(R,M).",
        "illegal :- does(R,M), terminal.",
        "illegal :- not terminal, player(R), #count{ M : does(R,M) } != 1.",
    ]


@dataclass(frozen=True, slots=True)
class Measured(RemarkProof):
    """A play of one length, and that none ends earlier or lasts longer."""

    counts_steps: bool = field(default=False, kw_only=True)
    """Whether a counter of steps, instead of a search, shows that no play is longer."""

    kind: ClassVar[str] = "play"

    def as_json(self) -> dict[str, Any]:
        """Return the claim, and how it is shown."""
        return {**RemarkProof.as_json(self), "counts_steps": self.counts_steps}

    def files(self, game: StateMachine, seconds: float, *, solve: bool) -> Iterator[EvidenceFile]:
        """Yield the play for two programs, and the question about other lengths."""
        (claim,) = self.claims
        about = claim.about
        line = about.get("line", [])
        steps = len(line)
        if about.get("steps", 0) != steps:
            raise ValueError("the play has another length")
        writer = PrologWriter(game)
        lines = [f"step({k}, {writer.inputs(joint)})." for k, joint in enumerate(line, 1)]
        files = [writer.file("play(end)", lines, f"after {steps} steps the game is over")]
        if claim.kind != "terminal-at-start":
            fold = game.rules.tree.folds_case
            moves = [[read_term(move, fold=fold) for move in joint] for joint in line]
            text = recorded_play(game.rules, game.name, moves)
            means = f"after {steps} steps the game is over (once more)"
            files.append(EvidenceFile("play.lp", text, "clingo", means, "SATISFIABLE", is_extra=True))
        longer = claim.kind == "longest-play"
        if self.counts_steps:
            if not longer:
                raise ValueError("a counter of steps only bounds the longest play")
            counter = CounterCertificate(StepCounter(steps, (), ()))
            counted = list(files_of(game, counter, seconds, solve=solve))
            if not counted:
                return
            files += [in_folder("counter", file) for file in counted]
        elif claim.kind != "terminal-at-start":
            text = plays_of_other_length(game.rules, game.name, steps, longer=longer)
            means = f"no play {'goes on after' if longer else 'ends before'} {steps} steps"
            files.append(EvidenceFile("bound.lp", text, "clingo", means))
        for file in files:
            yield replace(file, is_extra=file.is_extra or self.is_extra)


@dataclass(frozen=True, slots=True)
class Permuted(RemarkProof):
    """Permutations of names that preserve the rules and exchange roles."""

    kind: ClassVar[str] = "permutation"

    def files(self, game: StateMachine, seconds: float, *, solve: bool) -> Iterator[EvidenceFile]:  # noqa: ARG002
        """Yield one question for each permutation."""
        (claim,) = self.claims
        _require_exchange(game, claim)
        for number, generator in enumerate(claim.about["generators"], 1):
            means = f"permutation {number} of names preserves the rules"
            yield EvidenceFile(f"{number:03}.lp", permutation_question(game, generator), "clingo", means)


def _require_exchange(game: StateMachine, claim: RemarkClaim) -> None:
    """Raise `ValueError` unless permutations lead from each role to each other, and keep chance apart."""
    roles = claim.about["roles"]
    reached = {roles[0]}
    for _ in roles:
        for generator in claim.about["generators"]:
            for role in game.roles:
                image = (
                    generator.get(f"(role {role})", f"(role {role})").removeprefix("(role ").removesuffix(")")
                )
                if (role.lower() == "random") != (image.lower() == "random"):
                    raise ValueError("a permutation exchanges chance with a player")
                reached |= {image} if role in reached else set()
    if not set(roles) <= reached & set(game.roles):
        raise ValueError("the permutations do not exchange these roles")


@dataclass(frozen=True, slots=True)
class Strategies(RemarkProof):
    """Strategies by which each role forces its value and the others hold it to that."""

    forced: tuple[Certificate, ...]
    """`ForcedPlay` or `WrittenData`."""

    kind: ClassVar[str] = "strategies"

    def as_json(self) -> dict[str, Any]:
        """Return the claims, and what each strategy forces."""
        return {**RemarkProof.as_json(self), "forced": [one.as_json() for one in self.forced]}

    def files(self, game: StateMachine, seconds: float, *, solve: bool) -> Iterator[EvidenceFile]:
        """Yield the files of each strategy."""
        for claim in self.claims:
            _require_values(game, claim, list(map(forced_claim, self.forced)))
        for number, one in enumerate(self.forced, 1):
            for file in files_of(game, one, seconds, solve=solve):
                yield in_folder(f"claim-{number}", file)


def _require_values(game: StateMachine, claim: RemarkClaim, forced: Sequence[Claim | None]) -> None:
    """Raise `ValueError` unless strategies show the values that a claim says follow from best play."""
    value = claim.about["value"]
    players = list(game.players)
    if value is None or list(value) != players:
        raise ValueError("a value for each role is expected")
    for role, goals in zip(game.roles, goal_values(game.network), strict=True):
        if role not in value:
            continue
        above = next((goal for goal in goals if goal > value[role]), None)
        if (
            value[role] not in goals
            or (value[role] > goals[0] and Claim(role, int(value[role]), True) not in forced)
            or (above is not None and Claim(role, above, False) not in forced)
        ):
            raise ValueError(f"the strategies do not show the value of {role}")
    if claim.kind == "first-move-advantage":
        first = game.initial_state("rules")
        choosers = [role for role in players if len(first.legal_moves(role)) > 1]
        others = [goal for role, goal in value.items() if role != claim.about["role"]]
        if (
            choosers != [claim.about["role"]]
            or value[claim.about["role"]] - max(others) != claim.about["advantage"]
        ):
            raise ValueError("the advantage does not follow from the values")


_CONDITIONS: Final = frozenset(
    {
        *("fluent-never-true", "fluent-always-true", "move-never-legal", "role-never-chooses", "turn-taking"),
        *("goal-never-reached", "rule-never-fires", "condition-always-true"),
    }
)
_LENGTHS: Final = frozenset({"shortest-play", "longest-play"})
SHOWN_BY: Final[Mapping[str, frozenset[str]]] = {
    Explored.kind: frozenset(
        {*_CONDITIONS, *_LENGTHS, "latched-fluent", "constant-sum", "dead-end", "first-move-advantage"}
    ),
    Excluded.kind: _CONDITIONS | {"latched-fluent"},
    Measured.kind: _LENGTHS | {"terminal-at-start"},
    Permuted.kind: frozenset({"symmetric-roles"}),
    Strategies.kind: frozenset({"forced-result", "first-move-advantage"}),
}
"""The kinds of remarks that a proof can show."""


# -- finding proofs --------------------------------------------------------------------------------------


def certify_remarks(
    game: StateMachine,
    folder: Path,
    kind: str | None = None,
    *,
    budget: Budget | None = None,
    check: bool = True,
) -> CertifiedVerdict:
    """Write certificates of the remarks on a game into a folder and have them checked; see `certify`.

    `kind` is one of the kinds in `proofs.observe`, None for all.  Remarks that can have no certificate, such
    as statistics of random games, are listed with the reason.

    Raises `HerbrandError` for a folder in use, and as `analyse` does.
    """
    budget = budget or Budget()
    require_empty(folder)
    analysis = analyse(game, [], budget=budget.share(_FINDING), check=False, symbolic=False)
    claims: list[RemarkClaim] = []
    missing: list[CertifiedRemark] = []
    for observation in analysis.observations:
        if kind in (None, observation.kind):
            claim = claim_of(observation)
            if isinstance(claim, RemarkClaim):
                claims.append(claim)
            else:
                missing.append(CertifiedRemark(observation.kind, observation.text, None, missing=claim))
    search = _Search(game, claims, analysis.space, budget)
    proofs = search.run()
    roles = verdicts_of(proofs)
    reason = _count(len(claims) + len(missing), "remark")
    verdict = Verdict("proved", REMARKS, reason, roles=roles) if roles else Verdict.unknown(reason)
    certified = write_certificate(game, REMARKS, verdict, folder, budget, check=check)
    proved = {claim for proof in proofs for claim in map(_key, proof.claims)}
    late = 0
    for claim in claims:
        if _key(claim) not in proved:
            late += _key(claim) not in search.impossible
            why = search.impossible.get(_key(claim)) or search.late_reasons.get(
                _key(claim), "no proof was found in time"
            )
            missing.append(CertifiedRemark(claim.kind, claim.text(game), None, missing=why))
    unproved = f"{_count(late, 'remark')} without a certificate" if late else ""
    is_complete = analysis.space is not None and analysis.space.complete
    empty = (
        ""
        if claims or missing
        else f"there are no such remarks{'' if is_complete else ': not all states are known'}"
    )
    return replace(
        certified,
        remarks=(*certified.remarks, *missing),
        missing=empty or unproved or (certified.missing if proofs else ""),
    )


def verdicts_of(proofs: Iterable[RemarkProof]) -> dict[str, Verdict]:
    """Return the proofs of a game as verdicts, each with a name."""
    return {
        f"proof {number}: {proof.kind}": Verdict("proved", proof.kind, certificate=proof)
        for number, proof in enumerate(proofs, 1)
    }


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _key(claim: RemarkClaim) -> str:
    return repr(claim.as_json())


@dataclass(slots=True)
class _Search:
    """Looks for proofs of claims."""

    game: StateMachine
    claims: list[RemarkClaim]
    space: StateSpace | None
    budget: Budget
    proofs: list[RemarkProof] = field(default_factory=list)
    impossible: dict[str, str] = field(default_factory=dict)
    """Why claims cannot have a proof."""
    late_reasons: dict[str, str] = field(default_factory=dict)
    """Why claims have none yet."""

    def run(self) -> list[RemarkProof]:
        """Return the proofs."""
        self._strategies([c for c in self.claims if c.kind in SHOWN_BY[Strategies.kind] and c.about["value"]])
        self._explored(
            [c for c in self.claims if c.kind in SHOWN_BY[Explored.kind] and not c.about.get("value")]
        )
        self._excluded([c for c in self.claims if c.kind in SHOWN_BY[Excluded.kind]])
        for claim in self.claims:
            is_explored = self._is_explored(claim)
            if claim.kind in SHOWN_BY[Measured.kind] and claim.about.get("steps", 0) <= _LONGEST:
                counter = None
                if claim.kind == "longest-play":
                    counter = step_counter(self.game.rules.tree.statements)
                counts_steps = counter is not None and counter.bound == claim.about["steps"]
                self.proofs.append(Measured((claim,), counts_steps=counts_steps, is_extra=is_explored))
            elif claim.kind == "symmetric-roles":
                self.proofs.append(Permuted((claim,)))
        return self.proofs

    def _is_explored(self, claim: RemarkClaim) -> bool:
        return any(isinstance(proof, Explored) and claim in proof.claims for proof in self.proofs)

    def _explored(self, claims: list[RemarkClaim]) -> None:
        space = self.space
        if not claims or space is None:
            return
        possible = STEPS_PER_SECOND * (1 - _PROVING) * self.budget.left
        if space.complete and space.transitions <= possible:
            self.proofs.append(Explored(tuple(claims), len(space.states)))
            return
        reason = f"{space.transitions} steps are too many to be explored by another program in the time"
        self.late_reasons |= {_key(claim): reason for claim in claims}

    def _excluded(self, claims: list[RemarkClaim]) -> None:
        budget = self.budget.share(_PROVING)
        with suppress(BudgetExceeded, MissingExtra):
            sample = None if self.space is None else sample_of(self.space, 0.1 * budget.left)
            invariant, shown = find_excluded(self.game, claims, sample, budget)
            if shown:
                is_extra = all(map(self._is_explored, shown))
                self.proofs.append(Excluded(tuple(shown), invariant, is_extra=is_extra))

    def _strategies(self, claims: list[RemarkClaim]) -> None:
        if not claims:
            return
        try:
            forced = _force(self.game, self.budget.share(_PROVING))
            for claim in claims:
                _require_values(self.game, claim, [one.claim for one in forced])
        except BudgetExceeded as error:
            self.late_reasons |= {_key(claim): str(error) for claim in claims}
        except GameError as error:
            self.impossible |= {_key(claim): str(error) for claim in claims}
        except ValueError:
            why = "the roles cannot force exactly these values"
            self.impossible |= {_key(claim): why for claim in claims}
        else:
            self.proofs.append(Strategies(tuple(claims), tuple(forced)))


def _force(game: StateMachine, budget: Budget) -> list[ForcedPlay]:
    """Return strategies for the value of each role, replayed by the rules."""
    solved = value_of(game, budget=budget.share(0.5), search=True)
    if solved.forced is None or solved.searched is None or solved.stopped:
        raise GameError(solved.stopped or "no strategies of single moves force these values")
    # without the constant sum, the values of all roles have strategies of their own
    searched = replace(solved.searched, sum=None)
    solved.forced.budget = budget.share(0.8)
    strategy = make_strategy(solved.forced, searched)
    checked, plays = replayed(game, strategy, budget.left)
    if not all(one.accepted for one in checked):
        raise GameError("the rules refuse a strategy")
    return plays
