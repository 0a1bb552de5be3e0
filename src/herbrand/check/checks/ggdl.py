"""Checks of GGDL programs, in addition to those of the rules they translate to.

The codes are those of the language (`docs/reference/ggdl.md`); the reader of GGDL
(`herbrand.syntax.ggdl`) reports all of these.
"""

from __future__ import annotations

from typing import Final

from herbrand.check.checks.base import Check
from herbrand.syntax.ggdl.report import NAMES, severity_of

__all__ = ["CHECKS"]

_ELSEWHERE: Final = frozenset(
    {"E-LEX", "E-ROLE-NONE", "E-INIT-DYNAMIC", "E-DOES-SCOPE", "E-GOAL-RANGE", "S2", "S12", "S13"}
)
"""Codes that are reported as checks of plain rules, too."""

CHECKS: Final = tuple(
    Check(name, code, severity_of(code), stage="read", notation="ggdl")
    for code, name in NAMES.items()
    if code not in _ELSEWHERE
)
