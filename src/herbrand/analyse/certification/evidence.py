"""The files of witnesses and certificates: logic programs, clauses, and data for a Prolog program.

Invariants and bounds are questions about one state and one step of the rules, which clingo has to find
unsatisfiable; bounded proofs are clauses for a SAT solver (`invariants.obligations` records both while a
certificate is checked).  Plays, strategies and claims about all states are data for `check.pl`, a program for
SWI-Prolog that uses nothing but the game as `herbrand convert --to prolog --style facts` writes it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from functools import partial
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from herbrand.analyse.certification.counters import count_by_clauses, count_by_rules, list_certain
from herbrand.analyse.certification.winning import ask_strategy
from herbrand.analyse.exploration.certificates import (
    CounterCertificate,
    Policy,
    SpoiledBeliefs,
    Spoiler,
    StateSet,
    UniformPolicy,
)
from herbrand.analyse.invariants.bounds import Bound
from herbrand.analyse.invariants.derived import Dependencies
from herbrand.analyse.invariants.hopeless import CutShort
from herbrand.analyse.invariants.invariant import Invariant
from herbrand.analyse.invariants.obligations import AS_CLAUSES, recording
from herbrand.analyse.invariants.plain import KInduction, ask_change, ask_step, asked_again
from herbrand.analyse.proofs.determined import DeterminedGame
from herbrand.analyse.proofs.exchanged import ExchangedRoles
from herbrand.analyse.verdict import Compound
from herbrand.convert.asp import recorded_play
from herbrand.convert.prolog import program
from herbrand.convert.prolog.clauses import ground_term
from herbrand.errors import BudgetExceeded, HerbrandError
from herbrand.machine.moves import Move

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from herbrand.analyse.invariants.obligations import Obligation
    from herbrand.analyse.solving.strategy import Claim, ReplayedChoice
    from herbrand.analyse.verdict import Certificate, Premise, Verdict, Witness
    from herbrand.machine.state_machine import StateMachine

__all__ = [
    "EvidenceFile",
    "ForcedPlay",
    "PrologWriter",
    "WritesFiles",
    "WrittenData",
    "evidence_of",
    "files_of",
    "forced_claim",
    "in_folder",
    "question_of",
    "questions",
]

_MOST_ENTRIES: Final = 200_000
"""States, moves or replies that are written for a Prolog program."""
_MOST_STATES: Final = 2_000_000
"""States that a Prolog program is to explore; none of them is written."""
_GROUNDING_SHARE: Final = 0.3
"""Share of the time for grounding the rules where all questions are asked as clauses, too."""
_CLAIMS: Final = {
    "playable": ("playable", "every role has a legal move until the game is over"),
    "goals": ("goals", "every role has one goal value at each end"),
    "monotonic": ("monotonic", "goal values never decrease"),
    "ranked": ("no_cycle", "no state recurs"),
}
"""The claims of `StateSet` by their names in `check.pl`, and in words."""
_STRATEGIES: Final = {
    Policy.kind: ("strategy", "with these moves {role} gets {value}, whatever the others do"),
    UniformPolicy.kind: (
        "uniform", "with these moves, by what it sees, {role} gets {value}, whatever the others do",
    ),
    Spoiler.kind: ("spoil", "with these replies {role} does not get {value}"),
    SpoiledBeliefs.kind: ("mislead", "whatever {role} does by what it sees, it need not get {value}"),
}  # fmt: skip
"""What strategies show, by kind: its name in `check.pl`, and in words."""


@dataclass(frozen=True, slots=True)
class ForcedPlay:
    """The moves of a strategy that a search found, which prove a goal value of a role."""

    claim: Claim
    choices: tuple[ReplayedChoice, ...] = field(repr=False)

    kind = "moves of one side"

    def as_json(self) -> dict[str, Any]:
        """Return the claim and the number of moves."""
        claim = {"role": self.claim.role, "goal": self.claim.goal, "holds": self.claim.holds}
        return {**claim, "states": len(self.choices)}

    def check(self, game: StateMachine, seconds: float) -> bool:  # noqa: ARG002  # as all certificates
        """Return True: the moves come from a replay by the rules (`check_strategy`)."""
        return True


@dataclass(frozen=True, slots=True)
class WrittenData:
    """A certificate in a file for SWI-Prolog: a strategy, replies, or a number of states."""

    kind: str
    """As the kinds of `Policy`, `UniformPolicy`, `Spoiler`, `SpoiledBeliefs` and `StateSet`."""
    claim: str
    """The claim of a `StateSet`."""
    role: str | None
    text: str
    """The contents of `evidence.pl`."""
    forced: Claim | None = None
    """The claim of a `ForcedPlay`."""

    value = 100

    def as_json(self) -> dict[str, Any]:
        """Return the role."""
        return {"role": self.role}

    def check(self, game: StateMachine, seconds: float) -> bool:  # noqa: ARG002  # as all certificates
        """Return False: only SWI-Prolog reads the file."""
        return False


WrittenForProlog: TypeAlias = (
    Policy | UniformPolicy | Spoiler | SpoiledBeliefs | StateSet | ForcedPlay | WrittenData
)


def forced_claim(certificate: Certificate) -> Claim | None:
    """Return what the strategy that is a certificate forces; None for certificates of other kinds."""
    if isinstance(certificate, ForcedPlay):
        return certificate.claim
    return certificate.forced if isinstance(certificate, WrittenData) else None


@dataclass(frozen=True, slots=True)
class EvidenceFile:
    """A file that another program has to accept, with the files beside it that it needs."""

    name: str
    text: str
    program: Literal["clingo", "sat", "prolog"]
    means: str
    """The conclusion if it is accepted."""
    expected: str = "UNSATISFIABLE"
    """The answer of clingo or a SAT solver that accepts it."""
    beside: tuple[tuple[str, str], ...] = ()
    """Names and texts."""
    is_extra: bool = False
    """Whether the verdict does not need it: it asks another program once more, or is about another role."""
    about: tuple[int, ...] = ()
    """The remarks of a proof that it is about, by their numbers; all of them if there are none."""

    @property
    def question(self) -> tuple[str, str]:
        """The folder and the conclusion: equal for two files that ask the same question."""
        return question_of(self.name, self.means)


class WritesFiles(ABC):
    """A certificate of several claims, which knows its files."""

    folder = "proof"
    """The name of its folder, before a number."""

    @abstractmethod
    def files(self, game: StateMachine, seconds: float, *, solve: bool) -> Iterator[EvidenceFile]:
        """Yield the files, as `evidence_of` does."""

    def check(self, game: StateMachine, seconds: float) -> bool:  # noqa: ARG002  # as all certificates
        """Return False: only other programs check the claims."""
        return False


def question_of(name: str, means: str) -> tuple[str, str]:
    """Return the folder of a file and its conclusion, which do not depend on the program asked."""
    return name.rpartition("/")[0], means.removesuffix(AS_CLAUSES)


def evidence_of(
    game: StateMachine, name: str, verdict: Verdict, seconds: float, *, solve: bool = True
) -> Iterator[EvidenceFile]:
    """Yield the files for the verdict on the property `name`, or on each role if it has one for each.

    Without `solve`, questions are written without being answered first.

    Raises `BudgetExceeded` where the certificate cannot be written down in that time, or is too large, and
    `HerbrandError` where the verdict rests on a role for which there is no evidence.
    """
    # a determined game does not say which role can force a win
    if verdict.roles and not isinstance(verdict.certificate, DeterminedGame):
        for number, (role, inner) in enumerate(verdict.roles.items(), 1):
            files = list(_evidence(game, name, inner, role, seconds, solve=solve)) if inner.is_known else []
            # others, such as a second role that cannot win where the first can, only add to the verdict
            is_extra = inner.answer != verdict.answer
            if not is_extra and not files:
                raise HerbrandError(f"there is no evidence about {role} that other programs can check")
            folder = getattr(inner.certificate, "folder", "role")
            yield from (in_folder(f"{folder}-{number}", file, is_extra=is_extra) for file in files)
    else:
        yield from _evidence(game, name, verdict, None, seconds, solve=solve)


def in_folder(folder: str, file: EvidenceFile, *, is_extra: bool = False) -> EvidenceFile:
    """Return a file as one of a folder below."""
    beside = tuple((f"{folder}/{name}", text) for name, text in file.beside)
    return replace(file, name=f"{folder}/{file.name}", beside=beside, is_extra=file.is_extra or is_extra)


def _evidence(
    game: StateMachine, name: str, verdict: Verdict, role: str | None, seconds: float, *, solve: bool
) -> Iterator[EvidenceFile]:
    if verdict.witness is not None:
        yield PrologWriter(game).play(name, verdict.witness, role)
        if name == "weak_winnability" and verdict.answer == "proved":
            yield _play_for_clingo(game, verdict.witness, str(verdict.witness.role or role))
    elif verdict.certificate is not None:
        yield from files_of(game, verdict.certificate, seconds, solve=solve)


def files_of(
    game: StateMachine, certificate: Certificate, seconds: float, *, solve: bool
) -> Iterator[EvidenceFile]:
    """Yield the files of a certificate; see `evidence_of`."""
    if isinstance(certificate, WritesFiles):
        yield from certificate.files(game, seconds, solve=solve)
    elif isinstance(certificate, Compound):
        yield from _files_of_compound(game, certificate, seconds, solve=solve)
    elif isinstance(certificate, WrittenForProlog):
        yield PrologWriter(game).written(certificate)
        if isinstance(certificate, Policy | ForcedPlay):
            yield from questions(asked_again(partial(_ask_in_states, game, certificate, seconds)))
    else:
        yield from questions(_obligations(game, certificate, seconds, solve=solve))


def _files_of_compound(
    game: StateMachine, certificate: Compound, seconds: float, *, solve: bool
) -> Iterator[EvidenceFile]:
    """Yield the files of what a certificate shows alone, then those of its premises."""
    if isinstance(certificate, CutShort):
        yield from questions(_obligations(game, certificate.hopeless, seconds, solve=solve))
    elif isinstance(certificate, ExchangedRoles):
        one, other = certificate.role, certificate.other
        means = f"a permutation of names that maps {one} to {other} preserves the rules"
        yield EvidenceFile("exchange.lp", certificate.question(game), "clingo", means)
    for premise in certificate.premises(game):
        files = _files_of_premise(premise, seconds, solve=solve)
        yield from (in_folder(premise.folder, file) for file in files) if premise.folder else files


def _files_of_premise(premise: Premise, seconds: float, *, solve: bool) -> Iterator[EvidenceFile]:
    """Yield the files of a certificate that another one rests on, the first one with its rules beside it."""
    if not premise.rules:
        yield from files_of(premise.game, premise.certificate, seconds, solve=solve)
        return
    rules: tuple[tuple[str, str], ...] = ((premise.rules, premise.game.tree.source.text),)
    for file in files_of(premise.game, premise.certificate, seconds, solve=solve):
        yield replace(
            file, means=f"in the game of {premise.rules}: {file.means}", beside=(*file.beside, *rules)
        )
        rules = ()


def _obligations(
    game: StateMachine, certificate: Certificate, seconds: float, *, solve: bool
) -> list[Obligation]:
    """Return the questions about an invariant, a bound or a counter: over the rules, and again as clauses.

    Where the rules cannot be grounded in the time, those in clauses take their place, if there is one for
    each and nothing is to be answered here.
    """
    again = asked_again(partial(_ask_in_clauses, game, certificate, seconds))
    suffice = (
        bool(again)
        and not solve
        and (
            isinstance(certificate, CounterCertificate | Dependencies | Invariant | KInduction)
            or (isinstance(certificate, Bound) and certificate.within == 1)
        )
    )
    share = _GROUNDING_SHARE * seconds if suffice else seconds
    try:
        with recording(solve=solve) as asked:
            if isinstance(certificate, CounterCertificate):
                steps = list_certain(game, certificate.counter.bound, seconds)
                holds = steps is not None and count_by_rules(game, steps, share)
            else:
                holds = certificate.check(game, share)
    except BudgetExceeded:
        if not suffice:
            raise
    else:
        return [*asked, *again] if holds else []
    with recording(solve=False) as asked:
        if isinstance(certificate, KInduction):
            certificate.check_steps(game, seconds)
        elif isinstance(certificate, Dependencies):
            certificate.check_groups(game, seconds)
    return [*asked, *(replace(one, repeats=False) for one in again)]


def questions(obligations: list[Obligation]) -> Iterator[EvidenceFile]:
    """Yield recorded questions as files."""
    numbers = {"lp": 0, "cnf": 0}
    for one in obligations:
        solver: Literal["clingo", "sat"] = "clingo" if one.form == "lp" else "sat"
        numbers[one.form] += 1
        name = f"{numbers[one.form]:03}.{one.form}"
        yield EvidenceFile(name, one.text, solver, one.means, is_extra=one.repeats)


def _ask_in_states(game: StateMachine, certificate: Policy | ForcedPlay, seconds: float) -> None:
    """Ask as clauses whether a strategy forces a value, if it leads to few states."""
    if isinstance(certificate, Policy):
        role, value = certificate.role, certificate.value
        choices = {_lowered(facts): (role.lower(), move.lower()) for facts, move in certificate.moves.items()}
        ask_strategy(game, role, lambda goal: goal == value, choices, seconds)
        return
    claim = certificate.claim
    choices = {
        _lowered(one.facts): (one.role.lower(), one.move.lower())
        for one in certificate.choices
        if (one.role == claim.role) == claim.holds and one.role.lower() != "random"
    }
    ask_strategy(game, claim.role, lambda goal: (goal >= claim.goal) == claim.holds, choices, seconds)


def _lowered(facts: Iterable[str]) -> frozenset[str]:
    return frozenset(map(str.lower, facts))


def _ask_in_clauses(game: StateMachine, certificate: Certificate, seconds: float) -> None:
    """Ask as clauses what clingo is asked, too, except about sums, parities or several steps."""
    if isinstance(certificate, CounterCertificate):
        steps = list_certain(game, certificate.counter.bound, seconds)
        if steps is not None:
            count_by_clauses(game, steps, seconds)
        return
    inner = getattr(certificate, "invariant", None)
    invariant = certificate if isinstance(certificate, Invariant) else inner
    if invariant is not None and not invariant.sums and not invariant.parities:
        ask_step(game, invariant, seconds)
        if isinstance(certificate, Bound) and certificate.within == 1:
            ask_change(game, invariant, certificate.rising, certificate.falling, seconds)


def _play_for_clingo(game: StateMachine, witness: Witness, role: str) -> EvidenceFile:
    moves = [[Move(move).term for move in joint] for joint in witness.moves]
    text = recorded_play(game.rules, game.name, moves, game.rules.roles[game.role_index(role)])
    means = f"after {len(moves)} steps {role} has 100"
    return EvidenceFile("play.lp", text, "clingo", means, "SATISFIABLE", is_extra=True)


# -- Prolog ------------------------------------------------------------------------------------------


class PrologWriter:
    """Writes evidence for `check.pl`."""

    def __init__(self, game: StateMachine) -> None:
        self.game = game
        self.terms = game.engine_object("rules").terms
        self._written: dict[str, str] = {}

    def play(self, name: str, witness: Witness, role: str | None) -> EvidenceFile:
        """Write a line of play and its conclusion."""
        steps = len(witness.moves)
        claim, means = {
            "termination": ("cycle", "a state recurs, so that the game need not end"),
            "playability": ("stuck", "the game is not over, and a role has no legal move"),
            "goals": ("no_goal", "the game is over, and a role has no single goal value"),
            "monotonicity": ("decrease", "a role loses goal value, or has no single one"),
        }.get(name) or (f"win({self.term(str(witness.role or role))})", f"{witness.role or role} has 100")
        lines = [f"step({k}, {self.inputs(joint)})." for k, joint in enumerate(witness.moves, 1)]
        lines += [] if witness.loop is None else [f"loop({witness.loop})."]
        return self.file(f"play({claim})", lines, f"after {steps} steps {means}")

    def written(self, certificate: WrittenForProlog) -> EvidenceFile:
        """Write a strategy, replies or a number of states, and what they show."""
        lines = self._lines(certificate)
        forced = forced_claim(certificate)
        if forced is not None:
            name = "at_least" if forced.holds else "less_than"
            means = f"with these moves {forced}, whatever the other side does"
            return self.file(f"{name}({self.term(forced.role)}, {forced.goal})", lines, means)
        assert not isinstance(certificate, ForcedPlay)
        role, value = str(certificate.role), certificate.value
        if isinstance(certificate, StateSet | WrittenData) and certificate.kind == StateSet.kind:
            claim, means = _CLAIMS.get(certificate.claim) or (
                f"below({self.term(role)}, {value})",
                f"{role} does not get {value} at any end",
            )
            return self.file(f"all_states({claim})", lines, f"in all reachable states: {means}")
        name, means = _STRATEGIES[certificate.kind]
        return self.file(f"{name}({self.term(role)}, {value})", lines, means.format(role=role, value=value))

    def _lines(self, certificate: WrittenForProlog) -> list[str]:
        """Return the lines of `evidence.pl`."""
        state, belief, term = self._state, self._belief, self.term
        match certificate:
            case WrittenData():
                return certificate.text.splitlines()
            case Policy(moves=moves):
                return [f"choice({state(facts)}, {term(move)})." for facts, move in moves.items()]
            case UniformPolicy(moves=plans):
                return [f"plan({belief(one)}, {term(move)})." for one, move in plans.items()]
            case Spoiler(replies=replies):
                return [
                    f"reply({state(facts)}, {term(move)}, {self.inputs(joint)})."
                    for (facts, move), joint in replies.items()
                ]
            case SpoiledBeliefs():
                return self._beliefs(certificate)
            case ForcedPlay(choices=choices):
                return [
                    f"choice({state(one.facts)}, does({term(one.role)}, {term(one.move)}))."
                    for one in choices
                ]
            case StateSet(space=space):
                count = len(space.states)
                if count > _MOST_STATES:
                    raise BudgetExceeded(
                        f"{_MOST_STATES} states", f"to be explored by another program: {count}"
                    )
                return [f"states({count})."]

    def _beliefs(self, spoiled: SpoiledBeliefs) -> list[str]:
        """Write the sets of states that a role can consider possible, and to which its moves lead."""
        first = frozenset([_lowered(self.game.initial_state("rules").facts)])
        beliefs = dict.fromkeys([first, *(one for one, _ in spoiled.leads), *spoiled.leads.values()])
        numbers = {belief: number for number, belief in enumerate(beliefs, 1)}
        states = sum(map(len, numbers))
        if states > _MOST_ENTRIES:
            raise BudgetExceeded(f"{_MOST_ENTRIES} states", f"in a file for another program: {states}")
        lines = [f"possible({number}, {self._belief(belief)})." for belief, number in numbers.items()]
        lines += [
            f"lead({numbers[belief]}, {self.term(move)}, {numbers[after]})."
            for (belief, move), after in spoiled.leads.items()
        ]
        return lines

    def file(self, claim: str, lines: Iterable[str], means: str) -> EvidenceFile:
        """Return the file for a claim of `check.pl`, with the lines of its evidence."""
        rows = [*lines]
        if len(rows) > _MOST_ENTRIES:
            raise BudgetExceeded(f"{_MOST_ENTRIES} entries", f"in a file for another program: {len(rows)}")
        text = "\n".join([*rows, ""])
        checker = (
            files("herbrand.analyse.certification").joinpath("templates/check.pl").read_text(encoding="utf-8")
        )
        game = program(self.game.rules, "game", "facts")
        beside = (("claim.pl", f"claim({claim}).\n"), ("evidence.pl", text), ("game.pl", game))
        return EvidenceFile("check.pl", checker, "prolog", means, "accepted", beside)

    def term(self, text: str) -> str:
        """Write a ground term."""
        written = self._written.get(text)  # a strategy has the same fluents in thousands of states
        if written is None:
            written = self._written[text] = ground_term(self.terms, self.terms.read(text))
        return written

    def _state(self, facts: Iterable[str]) -> str:
        return f"[{', '.join(map(self.term, sorted(facts)))}]"

    def _belief(self, states: Iterable[Iterable[str]]) -> str:
        return f"[{', '.join(map(self._state, sorted(map(sorted, states))))}]"

    def inputs(self, joint: Iterable[str]) -> str:
        """Write a joint move."""
        pairs = zip(self.game.roles, joint, strict=True)
        return f"[{', '.join(f'does({self.term(role)}, {self.term(move)})' for role, move in pairs)}]"
