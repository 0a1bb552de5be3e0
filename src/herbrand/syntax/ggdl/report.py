"""Diagnostics of GGDL programs: the codes of the language, the checks they map to, and their collector."""

from __future__ import annotations

import tomllib
from contextlib import contextmanager, suppress
from difflib import get_close_matches
from importlib.resources import files
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NoReturn, TypeAlias

from herbrand.diagnostic import Diagnostic, Label, Severity, Span

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from herbrand.diagnostic import Fix, Source, Spanned
    from herbrand.syntax.ggdl.nodes import Sentence

__all__ = [
    "INSTEAD_OF_SIGN",
    "INSTEAD_OF_TYPE",
    "INSTEAD_OF_WORD",
    "NAMES",
    "Place",
    "ProgramDiagnostics",
    "Refused",
    "did_you_mean",
    "severity_of",
]

_LANGUAGE: Final = tomllib.loads(
    files("herbrand.syntax.ggdl").joinpath("language.toml").read_text(encoding="utf-8")
)
NAMES: Final[Mapping[str, str]] = MappingProxyType(_LANGUAGE["checks"])
"""The check that each code of the language is reported as."""
INSTEAD_OF_SIGN: Final[Mapping[str, str]] = MappingProxyType(_LANGUAGE["signs"])
"""Replacements for signs that GGDL does not have."""
INSTEAD_OF_TYPE: Final[Mapping[str, str]] = MappingProxyType(_LANGUAGE["types"])
"""The types meant by names of types of other languages."""
INSTEAD_OF_WORD: Final[Mapping[str, str]] = MappingProxyType(_LANGUAGE["words"])
"""Replacements for sentences of other dialects, by their first words."""

_NOTES: Final = frozenset({"W-STYLE", "W-IMPLICIT-TRUE"})


Place: TypeAlias = "Spanned | tuple[int, int]"
"""Where a diagnostic points: a node, a token, or offsets (start, end)."""


def did_you_mean(name: str, options: Iterable[str]) -> str | None:
    """Return help that asks for the option that is most similar to a name; None if none is similar."""
    close = get_close_matches(name, list(options), n=1)
    return f"did you mean `{close[0]}`?" if close else None


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
        fix: Fix | None = None,
    ) -> None:
        """Record a diagnostic, with the severity of its code."""
        marks = tuple(Label(_span(where), text) for where, text in labels)
        self.diagnostics.append(
            Diagnostic(
                NAMES[code], severity_of(code), message, self.source, _span(place), marks, help=help, fix=fix
            )
        )

    def refuse(
        self,
        code: str,
        message: str,
        place: Place,
        help: str | None = None,  # noqa: A002
        labels: Iterable[tuple[Place, str]] = (),
        fix: Fix | None = None,
    ) -> NoReturn:
        """Record an error and abandon the sentence: raises `Refused`."""
        self.add(code, message, place, help, labels, fix)
        raise Refused

    def knows(self, code: str, place: Place) -> bool:
        """Whether a diagnostic with this code about this place is recorded."""
        name, span = NAMES[code], _span(place)
        return any(d.check == name and d.span == span and d.source is self.source for d in self.diagnostics)

    def text_of(self, place: Spanned) -> str:
        """Return the text of a node of the file being processed."""
        return self.source.text[place.start : place.end]

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
