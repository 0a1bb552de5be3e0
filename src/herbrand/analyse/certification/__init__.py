"""Verdicts as files that programs other than herbrand check.

Takes a game and its verdicts; gives a folder with the questions that clingo, a SAT solver or SWI-Prolog have
to answer, and the answers.  Imports the other packages of `analyse`, `convert` and what lies below them.

| module     | what it gives                                                          |
|------------|------------------------------------------------------------------------|
| `folder`   | `certify`: decides a property, writes its files, has them checked; `certify_strategy` |
| `remarks`  | `certify_remarks`: proofs of remarks                                   |
| `evidence` | the files of a witness or certificate                                  |
| `counters`, `winning` | questions about step counters and strategies                |
| `outside`  | the programs that check them                                           |
| `verification` | `verify_certificate`: whether a folder certifies a verdict about given rules |
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from herbrand.runtime.exports import exports

if TYPE_CHECKING:
    from herbrand.analyse.certification.folder import CertifiedVerdict as CertifiedVerdict
    from herbrand.analyse.certification.folder import certify as certify
    from herbrand.analyse.certification.folder import certify_strategy as certify_strategy
    from herbrand.analyse.certification.remarks import certify_remarks as certify_remarks
    from herbrand.analyse.certification.verification import verify_certificate as verify_certificate

__all__, __getattr__, __dir__ = exports(
    __name__,
    {
        "folder": ("CertifiedVerdict", "certify", "certify_strategy"),
        "remarks": ("certify_remarks",),
        "verification": ("verify_certificate",),
    },
)
