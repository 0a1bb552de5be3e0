"""Decide a property, and write evidence for the verdict that can be checked without trusting herbrand."""

from __future__ import annotations

import hashlib
import json
from collections import Counter, defaultdict
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final

from herbrand import __version__
from herbrand.analyse.budget import Budget
from herbrand.analyse.certification.evidence import ForcedPlay, evidence_of, question_of
from herbrand.analyse.certification.outside import Checker, OutsideAnswer, checker_for, run_checker
from herbrand.analyse.exploration.certificates import StateSet
from herbrand.analyse.proofs.prove import analyse
from herbrand.analyse.proofs.symbolic import PROPERTIES, prove
from herbrand.analyse.solving.strategy import check_strategy
from herbrand.analyse.verdict import Verdict
from herbrand.errors import BudgetExceeded, GameError, HerbrandError, InternalError, MissingExtra
from herbrand.runtime.files import write_atomically

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from herbrand.analyse.certification.evidence import EvidenceFile
    from herbrand.analyse.solving.strategy import CheckedClaim, ReplayedChoice, Strategy
    from herbrand.machine.state_machine import StateMachine

__all__ = [
    "STEPS_PER_SECOND",
    "STRATEGY",
    "CertifiedRemark",
    "CertifiedVerdict",
    "CheckedFile",
    "certify",
    "certify_strategy",
    "certify_verdict",
    "check_files",
    "remarks_of",
    "replayed",
    "require_empty",
    "write_certificate",
]

STRATEGY: Final = "strategy"
"""The name, among those of properties, under which `certify_strategy` certifies a strategy."""
_SEARCH_SHARE: Final = 0.5
"""Share of the time for finding a proof; the rest is for writing and checking it."""
_EXTRA_SHARE: Final = 0.5
"""Share of the remaining time for each file that the verdict does not need."""
STEPS_PER_SECOND: Final = 5000
"""Legal steps that SWI-Prolog computes in a second: 80 000 for small rulesheets, 2 000 for large ones."""
_HOPELESS_SHARE: Final = 0.75
"""Share of the time for finding another proof where exploring takes ten times as long as there is time."""
_COMMANDS: Final = {
    "clingo": "clingo --warn=none --quiet=2 {file}",
    "sat": "cadical -q -n --no-binary {file} {proof}",
    "prolog": "swipl {file}",
}
"""How to check each kind of file by hand."""
_SCRIPT: Final = """\
#!/bin/sh
# Checks the files of this certificate with clingo, CaDiCaL and SWI-Prolog, without herbrand; the proofs of
# CaDiCaL by drat-trim, if it is installed.
cd "$(dirname "$0")" || exit 2
sha256sum --check --quiet --strict SHA256SUMS || exit 1
wrong=0
check() {  # the expected answer, the folder, the file, the command
  if (cd "$2" && $4 2>/dev/null) | tr '\\r' '\\n' | grep -qEx "(s )?$1"; then echo "accepted  $2/$3"
  else echo "REFUSED   $2/$3"; wrong=1; fi
}
prove() {  # the folder, the file, its proof
  if command -v drat-trim >/dev/null; then check VERIFIED "$1" "$3" "drat-trim $2 $3"
  else echo "unchecked $1/$3 (drat-trim is not installed)"; fi
}
"""


@dataclass(frozen=True, slots=True)
class CheckedFile:
    """A file of a certificate, and what another program said of it."""

    name: str
    program: str
    version: str
    means: str
    """The conclusion if the file is accepted."""
    outcome: OutsideAnswer
    is_extra: bool = False
    """Whether the verdict does not need it: it asks another program once more, or is about another role."""
    about: tuple[int, ...] = ()
    """As `EvidenceFile.about`."""

    @property
    def question(self) -> tuple[str, str]:
        """The folder and the conclusion: equal for two files that ask the same question."""
        return question_of(self.name, self.means)


@dataclass(frozen=True, slots=True)
class CertifiedRemark:
    """A remark with its files."""

    kind: str
    text: str
    accepted: bool | None
    """Whether other programs accept all files of one of its proofs, and refuse none."""
    files: tuple[str, ...] = ()
    missing: str = ""
    """Why it has no files."""

    def as_json(self) -> dict[str, Any]:
        """Return plain values."""
        return {**asdict(self), "files": list(self.files), "missing": self.missing or None}


@dataclass(frozen=True, slots=True)
class CertifiedVerdict:
    """A verdict with its files."""

    game: str
    name: str
    verdict: Verdict
    folder: Path
    files: tuple[CheckedFile, ...]
    missing: str = ""
    """Why the verdict has no files."""
    remarks: tuple[CertifiedRemark, ...] = ()
    """The remarks that files are about, or that have no certificate."""

    @property
    def accepted(self) -> bool | None:
        """Whether other programs accept all files; None if some was not checked, or there are none.

        Files that the verdict does not need (`CheckedFile.is_extra`) may lack an answer, but not be refused;
        a question that is asked twice needs one answer.  Of remarks, each needs one proof.
        """
        if any(file.outcome.accepted is False for file in self.files):
            return False
        if self.remarks:
            claimed = [one.accepted for one in self.remarks if not one.missing]
            return True if claimed and all(claimed) else None
        accepted = {file.question for file in self.files if file.outcome.accepted}
        needed = {file.question for file in self.files if not file.is_extra}
        return True if needed and needed <= accepted else None

    def as_json(self) -> dict[str, Any]:
        """Return plain values; see `docs/reference/certificates.md`."""
        first = self.files[0] if self.files else None
        remarks = {"remarks": [one.as_json() for one in self.remarks]} if self.remarks else {}
        return {
            "game": self.game,
            "property": self.name,
            "verdict": self.verdict.answer,
            "method": self.verdict.method,
            "reason": self.verdict.reason,
            "certificate": None
            if first is None
            else {"format": first.name.rpartition(".")[2], "file": str(self.folder / first.name)},
            "checker": None
            if first is None
            else {"program": first.program, "version": first.version, "accepted": self.accepted},
            "files": [
                {
                    "file": file.name,
                    "program": file.program,
                    "version": file.version,
                    "means": file.means,
                    "accepted": file.outcome.accepted,
                    "said": file.outcome.said,
                    "proof": file.outcome.proof or None,
                    "extra": file.is_extra,
                }
                for file in self.files
            ],
            "missing": self.missing or None,
            **remarks,
        }


def certify(
    game: StateMachine, name: str, folder: Path, *, budget: Budget | None = None, check: bool = True
) -> CertifiedVerdict:
    """Decide the property `name`, write its certificate into a folder and have it checked.

    The folder must be new or empty.  It gets the files, `check.sh`, which checks all of them without
    herbrand, their digests, and `certificate.json`.  With `check`, the programs of others on this machine
    check them now.

    Raises `HerbrandError` for a folder in use, and as `analyse` does.
    """
    budget = budget or Budget()
    require_empty(folder)
    analysis = analyse(
        game, [name], budget=budget.share(_SEARCH_SHARE), check=False, values=False, remarks=False
    )
    return certify_verdict(game, name, analysis.properties[name], folder, budget=budget, check=check)


def certify_verdict(
    game: StateMachine, name: str, verdict: Verdict, folder: Path, *, budget: Budget, check: bool = True
) -> CertifiedVerdict:
    """Write the certificate of a verdict on the property `name` and have it checked; see `certify`.

    Where other programs could not explore all states in the time, or the verdict has no evidence, a proof
    without states is searched for.

    Raises `HerbrandError` for a folder in use.
    """
    require_empty(folder)
    if verdict.is_known and name in PROPERTIES and _is_too_large(verdict, budget.left):
        is_hopeless = _is_too_large(verdict, 10 * budget.left)
        share = _HOPELESS_SHARE if is_hopeless else _SEARCH_SHARE
        verdict = _proved_otherwise(game, name, verdict, budget.share(share))
    return write_certificate(game, name, verdict, folder, budget, check=check)


def _is_too_large(verdict: Verdict, seconds: float) -> bool:
    """Return whether evidence for the answer is missing, or too much for a Prolog program in that time."""
    parts = [inner for inner in verdict.roles.values() if inner.answer == verdict.answer] or [verdict]
    return any(
        (part.witness is None and part.certificate is None)
        or (
            isinstance(part.certificate, StateSet)
            and part.certificate.space.transitions > STEPS_PER_SECOND * seconds
        )
        for part in parts
    )


def _proved_otherwise(game: StateMachine, name: str, verdict: Verdict, budget: Budget) -> Verdict:
    """Return a verdict with the same answer by methods that list no states, or the same verdict."""
    try:
        other = prove(game, [name], budget, only_proofs=True)[name]
    except (BudgetExceeded, MissingExtra):
        return verdict
    if other.is_known and other.answer != verdict.answer:
        raise InternalError(f"{name} of {game.name} was {verdict.answer}, but then {other.answer}")
    return other if other.is_known and not _is_too_large(other, budget.left) else verdict


def certify_strategy(
    game: StateMachine, strategy: Strategy, folder: Path, *, budget: Budget | None = None, check: bool = True
) -> CertifiedVerdict:
    """Write the proofs of a strategy of `herbrand solve` into a folder, and have them checked; see `certify`.

    Raises `GameError` for a strategy that the rules refuse or that is one for other rules, and
    `BudgetExceeded` where replaying it takes too long.
    """
    budget = budget or Budget()
    require_empty(folder)
    checked, plays = replayed(game, strategy, budget.left)
    refused = next((one for one in checked if not one.accepted), None)
    if refused is not None:
        raise GameError(f"the strategy does not prove that {refused.claim}: {refused.reason}")
    roles = {str(play.claim): Verdict("proved", STRATEGY, certificate=play) for play in plays}
    verdict = Verdict("proved", STRATEGY, "; ".join(roles), roles=roles)
    return write_certificate(game, STRATEGY, verdict, folder, budget, check=check)


def replayed(
    game: StateMachine, strategy: Strategy, seconds: float
) -> tuple[list[CheckedClaim], list[ForcedPlay]]:
    """Return what a replay of a strategy by the rules says of its claims, and the moves made for each."""
    choices: defaultdict[int, list[ReplayedChoice]] = defaultdict(list)
    checked = check_strategy(
        game, strategy, seconds=seconds, visit=lambda one: choices[one.claim].append(one)
    )
    return checked, [ForcedPlay(one.claim, tuple(choices[number])) for number, one in enumerate(checked)]


def require_empty(folder: Path) -> None:
    """Raise `HerbrandError` for a folder in use."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise HerbrandError(f"{folder} is not empty (certificates need a folder of their own)")


def write_certificate(
    game: StateMachine,
    name: str,
    verdict: Verdict,
    folder: Path,
    budget: Budget,
    *,
    check: bool = True,
    solve: bool = True,
) -> CertifiedVerdict:
    """Write the evidence of a verdict into a folder; see `certify`.

    With `check` or without `solve`, questions are written without being answered first, whether the
    evidence is right or not.
    """
    files: list[EvidenceFile] = []
    missing = "" if verdict.is_known else "the property is not decided"
    try:
        if verdict.is_known:
            # no question is answered here that other programs are asked next
            files = list(evidence_of(game, name, verdict, budget.left, solve=solve and not check))
            missing = "" if files else "there is no evidence that other programs can check"
    except BudgetExceeded as error:
        missing = f"the certificate cannot be written: {error}"
    except HerbrandError as error:
        missing = str(error)
    checked = check_files(folder, files, budget, check=check)
    certified = CertifiedVerdict(
        game.name, name, verdict, folder, checked, missing, remarks_of(game, verdict, checked)
    )
    if files:
        parts = [part for file in files for part in ((file.name, file.text), *file.beside)]
        sums = (f"{hashlib.sha256(text.encode()).hexdigest()}  {part}\n" for part, text in parts)
        write_atomically(str(folder / "SHA256SUMS"), "".join(sums))
        write_atomically(str(folder / "check.sh"), _script(files))
        content = {**certified.as_json(), "evidence": verdict.as_json(), "herbrand": __version__}
        write_atomically(str(folder / "certificate.json"), json.dumps(content, indent=2, ensure_ascii=False))
    return certified


def remarks_of(
    game: StateMachine, verdict: Verdict, files: Iterable[CheckedFile]
) -> tuple[CertifiedRemark, ...]:
    """Return the remarks that the proofs of a verdict are about, with the answers about their files."""
    proofs: dict[str, list[list[CheckedFile]]] = {}
    kinds: dict[str, str] = {}
    for number, part in enumerate(verdict.roles.values(), 1):
        claims = getattr(part.certificate, "claims", ())
        proof_files = [file for file in files if file.name.startswith(f"proof-{number}/")]
        for place, claim in enumerate(claims):
            text = claim.text(game)
            kinds[text] = claim.kind
            proofs.setdefault(text, []).append(
                [file for file in proof_files if place in file.about or not file.about]
            )
    return tuple(
        CertifiedRemark(
            kinds[text], text, _accepted_by(some), tuple(file.name for proof in some for file in proof)
        )
        for text, some in proofs.items()
    )


def _accepted_by(proofs: list[list[CheckedFile]]) -> bool | None:
    """Return whether some proof is accepted; False if a file of any is refused."""
    if any(file.outcome.accepted is False for proof in proofs for file in proof):
        return False
    for proof in proofs:
        needed = [file for file in proof if not file.is_extra] or proof
        if needed and all(file.outcome.accepted for file in needed):
            return True
    return None


def check_files(
    folder: Path, files: list[EvidenceFile], budget: Budget, *, check: bool = True
) -> tuple[CheckedFile, ...]:
    """Write files into a folder, and have them checked."""
    for file in files:
        for part, text in ((file.name, file.text), *file.beside):
            (folder / part).parent.mkdir(parents=True, exist_ok=True)
            write_atomically(str(folder / part), text)
    needed = {file.question for file in files if not file.is_extra}
    file_counts = Counter(file.question for file in files)
    checked: dict[str, CheckedFile] = {}
    accepted: set[tuple[str, str]] = set()
    # a SAT solver is often faster; then clingo answers the open questions first
    solved = [file for file in files if file.program != "clingo"]
    ground = [file for file in files if file.program == "clingo"]
    for some in (solved, ground):
        left = needed - accepted
        for file in sorted(some, key=lambda file: file.question not in left):
            is_asked_again = some is solved and file_counts[file.question] > 1
            share = _EXTRA_SHARE if is_asked_again or file.question not in left else 1.0
            checked[file.name] = _checked(folder, file, budget.share(share), check=check)
            accepted |= {file.question} if checked[file.name].outcome.accepted else set()
    return tuple(checked[file.name] for file in files)


def _checked(folder: Path, file: EvidenceFile, budget: Budget, *, check: bool) -> CheckedFile:
    checker = checker_for(file.program)
    program, version = str(file.program), ""
    if not isinstance(checker, Checker):
        outcome = OutsideAnswer(None, checker)
    else:
        program, version = checker.program, checker.version
        said = "not checked"
        outcome = run_checker(checker, folder, file, budget.left) if check else OutsideAnswer(None, said)
    return CheckedFile(file.name, program, version, file.means, outcome, file.is_extra, file.about)


def _script(files: list[EvidenceFile]) -> str:
    """Return a script for a shell that checks all files without herbrand."""
    lines = []
    for file in files:
        place, _, name = file.name.rpartition("/")
        proof = f"{name.rpartition('.')[0]}.drat"
        command = _COMMANDS[file.program].format(file=name, proof=proof)
        lines += [f"# {file.means}", f'check "{file.expected}" "{place or "."}" "{name}" "{command}"']
        if file.program == "sat":
            lines.append(f'prove "{place or "."}" "{name}" "{proof}"')
    return _SCRIPT + "\n".join([*lines, "exit $wrong", ""])
