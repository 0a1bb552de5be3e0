"""Diagnostics of GGDL programs: the codes of the language, the checks they map to, and their collector."""

from __future__ import annotations

from contextlib import contextmanager, suppress
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NoReturn, TypeAlias

from herbrand.diagnostic import Diagnostic, Label, Severity, Span

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from herbrand.diagnostic import Source, Spanned
    from herbrand.syntax.ggdl.nodes import Sentence

__all__ = ["NAMES", "Place", "ProgramDiagnostics", "Refused", "severity_of"]

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


Place: TypeAlias = "Spanned | tuple[int, int]"
"""Where a diagnostic points: a node, a token, or offsets (start, end)."""


def severity_of(code: str) -> Severity:
    """Return the severity of a code, which its prefix (`E-`, `W-`) decides."""
    if not code.startswith("W-"):
        return Severity.ERROR
    return Severity.NOTE if code in _NOTES else Severity.WARNING


class Refused(Exception):  # control flow: the sentence is abandoned, not the program
    """The translation of a sentence was abandoned after its diagnostic had been recorded."""


class ProgramDiagnostics:
    """Collects the diagnostics of one program, which may span several files."""

    def __init__(self, source: Source) -> None:
        self.source = source
        """The file being processed; new diagnostics are about it."""
        self.diagnostics: list[Diagnostic] = []

    def add(
        self,
        code: str,
        message: str,
        place: Place,
        help: str | None = None,  # noqa: A002  # the name of the field
        labels: Iterable[tuple[Place, str]] = (),
    ) -> None:
        """Record a diagnostic, with the severity of its code."""
        marks = tuple(Label(_span(where), text) for where, text in labels)
        self.diagnostics.append(
            Diagnostic(NAMES[code], severity_of(code), message, self.source, _span(place), marks, help=help)
        )

    def refuse(
        self,
        code: str,
        message: str,
        place: Place,
        help: str | None = None,  # noqa: A002
        labels: Iterable[tuple[Place, str]] = (),
    ) -> NoReturn:
        """Record an error and abandon the sentence: raises `Refused`."""
        self.add(code, message, place, help, labels)
        raise Refused

    @contextmanager
    def sentence(self, sentence: Sentence) -> Iterator[None]:
        """Report about a sentence in the block, which ends when the sentence is abandoned."""
        self.source = sentence.source
        with suppress(Refused):
            yield

    @property
    def has_errors(self) -> bool:
        """Whether any diagnostic makes the game unplayable."""
        return any(d.is_error for d in self.diagnostics)


def _span(place: Place) -> Span:
    start, end = place if isinstance(place, tuple) else (place.start, place.end)
    return Span(start, max(start, end))
