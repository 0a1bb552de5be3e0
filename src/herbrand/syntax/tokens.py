"""Lexical vocabulary of the prefix notation, the table of spellings, and the diagnostic collector."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final, TypedDict, Unpack

from herbrand.diagnostic import Diagnostic, Edit, Fix, Label, Severity, Span
from herbrand.syntax.nodes import Constant, Rule, Variable, variables_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from herbrand.diagnostic import Source, Spanned

__all__ = [
    "ARITY",
    "ARROWS",
    "BINARY",
    "CONNECTIVES",
    "KEYWORDS",
    "MAX_CHARACTERS",
    "MAX_DEPTH",
    "TOKEN",
    "Details",
    "DiagnosticCollector",
    "Spellings",
]

BINARY: Final = re.compile(r"[\x00-\x08\x0e-\x1b\x7f\ufffd]")
"""Characters that show that a file is not text."""
MAX_DEPTH: Final = 200
"""Nesting limit of parentheses.  Published sheets reach about a dozen; recursive functions over trees,
such as comparison, use three or four of Python's thousand stack frames per level."""
MAX_CHARACTERS: Final = 100_000_000
MAX_FINDINGS: Final = 200
"""Maximum number of diagnostics of one severity; a text with more is not a rulesheet."""

TOKEN: Final = re.compile(r"[()]|;[^\r\n]*|[^\s();\ufeff]+")
"""A parenthesis, a comment, or a symbol; byte-order marks (from concatenated files) count as blanks."""

ARROWS: Final = frozenset({"<=", "⇐", "←", ":-"})
CONNECTIVES: Final = frozenset({"not", "or", "and", "distinct"})
AND_SIGNS: Final = frozenset({"&", "&&", "∧", ",", "/\\"})
OR_SIGNS: Final = frozenset({"|", "||", "∨", "\\/"})
NOT_SIGNS: Final = frozenset({"~", "¬", "\\+", "!"})

ARITY: Final = {
    "role": 1,
    "base": 1,
    "input": 2,
    "init": 1,
    "true": 1,
    "does": 2,
    "next": 1,
    "legal": 2,
    "goal": 2,
    "terminal": 0,
    "sees": 2,
}
"""Arity of each relation with a fixed meaning."""

KEYWORDS: Final = frozenset({*ARITY, "knows", "random", *CONNECTIVES})
"""Words with a fixed meaning, which no other name may be renamed to."""

_SIGNS = AND_SIGNS | OR_SIGNS | NOT_SIGNS
_PLAIN = re.compile(r"\??[A-Za-z0-9_-]+")


class Spellings:
    """The spellings used in a sheet, each with its class, folded name and first offset."""

    def __init__(self) -> None:
        self.entries: dict[str, tuple[type[Constant | Variable] | None, str, str]] = {}
        """Spelling to (class, folded name, spelling to keep); the class is None for special words."""
        self.first: dict[str, int] = {}

    def learn(self, spelling: str, start: int) -> tuple[type[Constant | Variable] | None, str, str]:
        """Register a new spelling that occurs at `start`."""
        folded = spelling.lower()
        kind: type[Constant | Variable] | None
        if spelling[0] == "?":
            kind, folded, shown = Variable, folded[1:], spelling[1:]
        else:
            kind, shown = Constant, spelling
        if folded == shown:
            shown = folded  # one string instead of two for most names
        if spelling in ARROWS:
            kind, folded = None, "<="
        elif (
            not folded
            or (folded in CONNECTIVES and kind is Constant)
            or "," in spelling
            or spelling in _SIGNS
        ):
            kind = None
        entry = self.entries[spelling] = (kind, folded, shown)
        self.first[spelling] = start
        return entry

    def look_up(self, spelling: str, start: int) -> tuple[type[Constant | Variable] | None, str, str]:
        """Return the entry of a spelling that occurs at `start`, registering it if new."""
        return self.entries.get(spelling) or self.learn(spelling, start)

    def findings(self, report: DiagnosticCollector, statements: Iterable[Rule]) -> None:
        """Report names with unusual characters (L2) and in several spellings (L5)."""
        constants: dict[str, list[str]] = {}
        variables: dict[str, list[str]] = {}
        odd: dict[str, str] = {}
        for spelling in sorted(self.entries, key=self.first.__getitem__):
            kind, folded, _ = self.entries[spelling]
            if kind is not None and not _PLAIN.fullmatch(spelling):
                odd.setdefault(spelling.lower(), spelling)
            if kind is Variable:
                variables.setdefault(folded, []).append(spelling)
            elif kind is Constant or folded in CONNECTIVES:
                constants.setdefault(folded, []).append(spelling)
        for spelling in odd.values():
            report.note(
                "unusual-character",
                f"the name `{spelling}` has characters besides letters, digits, `_` and `-`",
                Span(self.first[spelling], self.first[spelling] + len(spelling)),
                help="portable names use only letters, digits, `_` and `-`",
            )
        for spellings in constants.values():
            if len(spellings) > 1:
                first, second = spellings[:2]
                _inconsistent(
                    report, (first, self.first[first]), (second, self.first[second]), len(spellings)
                )
        mixed = {name for name, spellings in variables.items() if len(spellings) > 1}
        if mixed:
            _mixed_variables(report, statements, mixed)


def _mixed_variables(report: DiagnosticCollector, statements: Iterable[Rule], mixed: set[str]) -> None:
    """Report variables with two spellings in one rule; across rules spelling does not matter."""
    for statement in statements:
        first_uses: dict[str, Variable] = {}
        for variable in variables_of(statement):
            if variable.name in mixed:
                first = first_uses.setdefault(variable.name, variable)
                if first.spelling != variable.spelling:
                    mixed.discard(variable.name)
                    places = (f"?{first.spelling}", first.start), (f"?{variable.spelling}", variable.start)
                    _inconsistent(report, *places, 2)


def _inconsistent(
    report: DiagnosticCollector, first: tuple[str, int], second: tuple[str, int], spellings: int
) -> None:
    (one, start), (two, at) = first, second
    others = f" (and in {spellings - 2} more ways)" if spellings > 2 else ""
    report.warning(
        "inconsistent-case",
        f"`{two}` is also spelled `{one}`{others}",
        Span(at, at + len(two)),
        labels=(Label(Span(start, start + len(one)), f"first spelled `{one}` here"),),
        help="use one spelling: some systems distinguish case",
        fix=Fix(f"write `{one}`", (Edit(Span(at, at + len(two)), one),)),
    )


class Details(TypedDict, total=False):
    """What a diagnostic may have besides its message and its place."""

    labels: tuple[Label, ...]
    help: str | None
    fix: Fix | None


class DiagnosticCollector:
    """Collects the diagnostics of a reader, at most `MAX_FINDINGS` of each severity."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.by_severity: dict[Severity, list[Diagnostic]] = {severity: [] for severity in Severity}
        self.omitted = 0
        """Number of diagnostics beyond the limit, which are counted but not kept."""

    def error(
        self,
        check: str,
        message: str,
        place: Spanned,
        *,
        severity: Severity = Severity.ERROR,
        **details: Unpack[Details],
    ) -> None:
        """Add a diagnostic, an error unless `severity` differs."""
        diagnostics = self.by_severity[severity]
        if len(diagnostics) >= MAX_FINDINGS:
            self.omitted += 1
            return
        span = Span(place.start, place.end)
        diagnostics.append(Diagnostic(check, severity, message, self.source, span, **details))

    def warning(self, check: str, message: str, place: Spanned, **details: Unpack[Details]) -> None:
        """Add a warning."""
        self.error(check, message, place, severity=Severity.WARNING, **details)

    def note(self, check: str, message: str, place: Spanned, **details: Unpack[Details]) -> None:
        """Add a note."""
        self.error(check, message, place, severity=Severity.NOTE, **details)

    def retract(self, start: int) -> None:
        """Remove the diagnostics at or after the offset `start`."""
        for severity, diagnostics in self.by_severity.items():
            self.by_severity[severity] = [d for d in diagnostics if d.span.start < start]

    def withdraw(self, check: str, start: int) -> None:
        """Remove the diagnostic of a check at the offset `start`."""
        for severity, diagnostics in self.by_severity.items():
            self.by_severity[severity] = [d for d in diagnostics if (d.check, d.span.start) != (check, start)]

    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """Return the diagnostics in textual order; a note on the last one counts the omitted ones."""
        collected = [d for diagnostics in self.by_severity.values() for d in diagnostics]
        collected.sort(key=lambda d: (d.span.start, d.severity.rank))
        if self.omitted:
            last = collected[-1]
            collected[-1] = replace(last, notes=(*last.notes, f"{self.omitted} more findings are not listed"))
        return tuple(collected)
