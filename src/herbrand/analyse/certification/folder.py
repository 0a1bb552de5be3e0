"""Decide a property, and write what it takes to believe the verdict without believing herbrand."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from herbrand import __version__
from herbrand.analyse.budget import Budget
from herbrand.analyse.certification.evidence import evidence_of
from herbrand.analyse.certification.outside import Checker, OutsideAnswer, checker_for, run_checker
from herbrand.analyse.proofs.prove import analyse
from herbrand.errors import BudgetExceeded, HerbrandError
from herbrand.runtime.files import write_atomically

if TYPE_CHECKING:
    from pathlib import Path

    from herbrand.analyse.certification.evidence import EvidenceFile
    from herbrand.analyse.verdict import Verdict
    from herbrand.machine.state_machine import StateMachine

__all__ = ["CertifiedVerdict", "CheckedFile", "certify"]

_SEARCH_SHARE: Final = 0.5
"""Share of the time for finding a proof; the rest is for writing and checking it."""
_COMMANDS: Final = {
    "clingo": "clingo --warn=none --quiet=2 {file}",
    "sat": "cadical -q -n {file}",
    "prolog": "swipl {file}",
}
"""How to check each kind of file by hand."""
_SCRIPT: Final = """\
#!/bin/sh
# Checks the files of this certificate with clingo, a SAT solver and SWI-Prolog, without herbrand.
cd "$(dirname "$0")" || exit 2
sha256sum --check --quiet --strict SHA256SUMS || exit 1
wrong=0
check() {  # the expected answer, the folder, the command
  if (cd "$2" && $3 2>/dev/null) | grep -qEx "(s )?$1"; then echo "accepted  $2/${3##* }"
  else echo "REFUSED   $2/${3##* }"; wrong=1; fi
}
"""


@dataclass(frozen=True, slots=True)
class CheckedFile:
    """A file of a certificate, and what another program said of it."""

    name: str
    program: str
    version: str
    means: str
    """What follows if the file is accepted."""
    outcome: OutsideAnswer


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

    @property
    def accepted(self) -> bool | None:
        """Whether other programs accept all files; None if some was not checked, or there are none."""
        answers = [file.outcome.accepted for file in self.files]
        if False in answers:
            return False
        return None if None in answers or not answers else True

    def as_json(self) -> dict[str, Any]:
        """Return plain values; see `docs/reference/certificates.md`."""
        first = self.files[0] if self.files else None
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
                }
                for file in self.files
            ],
            "missing": self.missing or None,
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
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise HerbrandError(f"{folder} is not empty (certificates need a folder of their own)")
    analysis = analyse(
        game, [name], budget=budget.share(_SEARCH_SHARE), check=False, values=False, remarks=False
    )
    verdict = analysis.properties[name]
    files: list[EvidenceFile] = []
    missing = "" if verdict.is_known else "the property is not decided"
    try:
        if verdict.is_known:
            files = list(evidence_of(game, name, verdict, budget.left))
            missing = "" if files else "there is no evidence that other programs can check"
    except BudgetExceeded as error:
        missing = f"the certificate cannot be written: {error}"
    except HerbrandError as error:
        missing = str(error)
    sums = []
    for file in files:
        for part, text in ((file.name, file.text), *file.beside):
            (folder / part).parent.mkdir(parents=True, exist_ok=True)
            write_atomically(str(folder / part), text)
            sums.append(f"{hashlib.sha256(text.encode()).hexdigest()}  {part}\n")
    checked = tuple(_checked(folder, file, budget, check=check) for file in files)
    certified = CertifiedVerdict(game.name, name, verdict, folder, checked, missing)
    if files:
        write_atomically(str(folder / "SHA256SUMS"), "".join(sums))
        write_atomically(str(folder / "check.sh"), _script(files))
        content = {**certified.as_json(), "herbrand": __version__}
        write_atomically(str(folder / "certificate.json"), json.dumps(content, indent=2, ensure_ascii=False))
    return certified


def _checked(folder: Path, file: EvidenceFile, budget: Budget, *, check: bool) -> CheckedFile:
    checker = checker_for(file.program)
    if not isinstance(checker, Checker):
        return CheckedFile(file.name, file.program, "", file.means, OutsideAnswer(None, checker))
    outcome = run_checker(checker, folder, file, budget.left) if check else OutsideAnswer(None, "not checked")
    return CheckedFile(file.name, checker.program, checker.version, file.means, outcome)


def _script(files: list[EvidenceFile]) -> str:
    """Return a script for a shell that checks all files without herbrand."""
    lines = []
    for file in files:
        place, _, name = file.name.rpartition("/")
        command = _COMMANDS[file.program].format(file=name)
        lines += [f"# {file.means}", f'check "{file.expected}" "{place or "."}" "{command}"']
    return _SCRIPT + "\n".join([*lines, "exit $wrong", ""])
