"""Findings about GGDL texts: the codes of the language, the checks they are, and where they are kept."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NoReturn

from herbrand.diagnostic import Diagnostic, Label, Severity, Span

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from herbrand.diagnostic import Source

__all__ = ["NAMES", "ProgramDiagnostics", "Refused"]

NAMES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "E-LEX": "unreadable-token",
        "E-SYNTAX": "ggdl-syntax",
        "E-DIALECT": "other-dialect",
        "E-NAME-UNDECLARED": "undeclared-name",
        "E-NAME-AMBIGUOUS": "ambiguous-name",
        "E-NAME-CLASH": "name-clash",
        "E-CONST": "not-a-constant",
        "E-RANGE-EMPTY": "empty-type",
        "E-PARAM-MISSING": "parameter-missing",
        "E-PARAM-RANGE": "parameter-range",
        "E-PARAM-TYPE": "parameter-type",
        "E-PARAM-DEFAULT": "parameter-default",
        "E-PARAM-UNKNOWN": "parameter-unknown",
        "E-TYPE-UNKNOWN": "unknown-type",
        "E-TYPE-INFINITE": "infinite-type",
        "E-TYPE-AMBIGUOUS": "ambiguous-type",
        "E-TYPE-MISMATCH": "type-mismatch",
        "E-PREF-CYCLE": "preference-cycle",
        "E-PREF-TYPE": "preference-type",
        "E-ROLE-NONE": "missing-keyword",
        "E-ROLE-PROP": "external-property",
        "E-INIT-DYNAMIC": "dynamic-init",
        "E-INIT-CONFLICT": "conflicting-init",
        "E-DOES-SCOPE": "legal-depends-on-does",
        "E-MOVE-DOMAIN": "move-domain",
        "E-EFFECT-TARGET": "effect-target",
        "E-EFFECT-CONFLICT": "effect-conflict",
        "E-PERSIST-TARGET": "persist-target",
        "E-GOAL-RANGE": "goal-value",
        "E-SURFACE": "surface",
        "E-CONSULT-NOTFOUND": "consult-not-found",
        "E-CONSULT-NAME": "consult-name",
        "E-CONSULT-CYCLE": "consult-cycle",
        "E-IMPORT-CLASH": "import-clash",
        "S12": "missing-conjunction",
        "S13": "dangling-conjunction",
        "W-STYLE": "older-spelling",
        "W-NAME-DECLARED": "declared-name",
        "W-IMPLICIT-TRUE": "implicit-true",
        "W-FLUENT-VIEW": "fluent-and-view",
        "W-FRAME": "own-frame",
        "W-INT-RANGE": "integer-range",
        "W-INPUT": "input-too-narrow",
        "W-HOOK-UNUSED": "unused-hook",
    }
)
"""The check that each code of the language is reported as."""

_NOTES: Final = frozenset({"W-STYLE", "W-IMPLICIT-TRUE"})


class Refused(Exception):  # no failure of the program: a sentence is given up
    """A sentence was refused; the diagnostic is in the report already."""


class ProgramDiagnostics:
    """Collects the findings about one program, which may come from several texts."""

    def __init__(self, source: Source) -> None:
        self.source = source
        """The text that is being looked at; findings are about it."""
        self.found: list[Diagnostic] = []

    def add(
        self,
        code: str,
        message: str,
        start: int,
        end: int,
        help: str | None = None,  # noqa: A002  # the name of the field
        labels: Iterable[tuple[int, int, str]] = (),
    ) -> None:
        """Report a finding at text[start:end]."""
        severity = Severity.ERROR
        if code.startswith("W-"):
            severity = Severity.NOTE if code in _NOTES else Severity.WARNING
        marks = tuple(Label(Span(first, last), text) for first, last, text in labels)
        self.found.append(
            Diagnostic(
                NAMES[code], severity, message, self.source, Span(start, max(start, end)), marks, help=help
            )
        )

    def refuse(
        self,
        code: str,
        message: str,
        start: int,
        end: int,
        help: str | None = None,  # noqa: A002
        labels: Iterable[tuple[int, int, str]] = (),
    ) -> NoReturn:
        """Report an error and give up the sentence."""
        self.add(code, message, start, end, help, labels)
        raise Refused

    @property
    def has_errors(self) -> bool:
        """Whether anything found makes the game unplayable."""
        return any(d.is_error for d in self.found)
