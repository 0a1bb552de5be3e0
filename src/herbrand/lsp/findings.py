"""Findings as an editor shows them, and the repairs that it offers."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from lsprotocol import types as lsp

from herbrand.check.catalogue import CHECKS
from herbrand.diagnostic import Edit, Severity, Span, apply_fixes

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from herbrand.diagnostic import Diagnostic
    from herbrand.lsp.document import Document, OpenSheet

__all__ = ["MOST", "actions", "as_lsp", "diagnostics"]

MOST: Final = 500
"""So many findings are sent; nobody reads more."""
ROUNDS: Final = 10
"""A repair can uncover another fault; "repair all" stops after so many rounds."""
FIX_ALL: Final = "source.fixAll.herbrand"

_LEVELS: Final = {
    Severity.ERROR: lsp.DiagnosticSeverity.Error,
    Severity.WARNING: lsp.DiagnosticSeverity.Warning,
    Severity.NOTE: lsp.DiagnosticSeverity.Information,
}
_MEANT: Final = re.compile(r"did you mean `([^`\s()]+)`\?")
_UNUSED: Final = frozenset({"unused-relation", "rule-without-body", "single-use-variable"})


def diagnostics(document: Document) -> list[lsp.Diagnostic]:
    """Return what is wrong with a document, the worst `MOST` findings in textual order."""
    found = sorted(document.sheet.rules.diagnostics, key=lambda d: d.severity.rank)[:MOST]
    return [as_lsp(d, document) for d in sorted(found, key=lambda d: d.span.start)]


def as_lsp(found: Diagnostic, document: Document) -> lsp.Diagnostic:
    """Return a finding as the protocol writes it; its help and notes are part of the message."""
    sheet = document.sheet
    lines = [found.message, *found.notes]
    if found.help:
        lines.append(f"help: {found.help}")
    here = _is_here(found, sheet)
    if not here:  # in a text that this one imports
        at = found.source.position(found.span.start)
        lines.insert(0, f"{found.source.name}:{at.line}:{at.column}:")
    related = [
        lsp.DiagnosticRelatedInformation(
            lsp.Location(document.uri, sheet.places.range(label.span.start, label.span.end)), label.message
        )
        for label in found.labels
        if here
    ]
    start, end = (found.span.start, found.span.end) if here else (0, 0)
    return lsp.Diagnostic(
        range=sheet.places.range(start, end),
        message="\n".join(lines),
        severity=_LEVELS[found.severity],
        code=found.check,
        source="herbrand",
        related_information=related or None,
        tags=[lsp.DiagnosticTag.Unnecessary] if found.check in _UNUSED else None,
    )


def _is_here(found: Diagnostic, sheet: OpenSheet) -> bool:
    return found.source is sheet.source or found.source.text == sheet.text


def actions(
    document: Document, wanted: lsp.Range, only: Sequence[str | lsp.CodeActionKind] | None = None
) -> list[lsp.CodeAction]:
    """Return the repairs for what was found in a range, and one that makes all repairs."""
    sheet = document.sheet
    span = sheet.places.span(wanted)
    kinds = [k.value if isinstance(k, lsp.CodeActionKind) else k for k in only or ()]
    found: list[lsp.CodeAction] = []
    if _asked("quickfix", kinds):
        touched = [
            d
            for d in sheet.rules.diagnostics
            if d.span.start <= span.end and span.start <= d.span.end and _is_here(d, sheet)
        ]
        found += [
            lsp.CodeAction(
                title=f"{d.fix.message[:1].upper()}{d.fix.message[1:]}",
                kind=lsp.CodeActionKind.QuickFix,
                diagnostics=[as_lsp(d, document)],
                edit=_edit(document, d.fix.edits),
                is_preferred=True,
            )
            for d in touched
            if d.fix is not None
        ]
        found += [action for d in touched if d.fix is None and (action := _respelt(document, d)) is not None]
        found += [
            lsp.CodeAction(
                title=f"Explain {name}: {CHECKS[name].title}",
                kind=lsp.CodeActionKind.QuickFix,
                diagnostics=[as_lsp(d, document)],
                command=lsp.Command(f"Explain {name}", "herbrand.explain", arguments=[name]),
            )
            for name, d in {d.check: d for d in reversed(touched)}.items()
            if name in CHECKS
        ]
    if any(d.fix is not None for d in sheet.rules.diagnostics) and _asked(FIX_ALL, kinds):
        text = repaired(sheet)
        if text != sheet.text:
            edit = lsp.TextEdit(sheet.places.range(0, len(sheet.text)), text)
            found.append(
                lsp.CodeAction(
                    title="Make all repairs",
                    kind=FIX_ALL,
                    edit=lsp.WorkspaceEdit(changes={document.uri: [edit]}),
                )
            )
    return found


def _respelt(document: Document, found: Diagnostic) -> lsp.CodeAction | None:
    """Offer the name that was probably meant; that is a guess, so it is no part of all repairs."""
    meant = _MEANT.search(found.help or "")
    name = document.sheet.names.at(found.span.start) or document.sheet.names.at(found.span.start + 1)
    if meant is None or name is None or not found.span.start <= name.start < max(found.span.end, 1):
        return None
    old = document.sheet.text[name.start : name.end]
    if old == meant[1]:
        return None
    return lsp.CodeAction(
        title=f"Write `{meant[1]}` instead of `{old}`",
        kind=lsp.CodeActionKind.QuickFix,
        diagnostics=[as_lsp(found, document)],
        edit=_edit(document, [Edit(Span(name.start, name.end), meant[1])]),
    )


def repaired(sheet: OpenSheet) -> str:
    """Return the text after all repairs, as `herbrand check --fix` makes them."""
    for _ in range(ROUNDS):
        here = tuple(d for d in sheet.rules.diagnostics if _is_here(d, sheet))
        text, applied = apply_fixes(sheet.text, here)
        if not applied or text == sheet.text:
            break
        sheet = type(sheet)(text, sheet.source.name, sheet.tree.notation, sheet.encoding)
    return sheet.text


def _asked(kind: str, kinds: Sequence[str]) -> bool:
    return not kinds or any(kind == k or kind.startswith(f"{k}.") for k in kinds)


def _edit(document: Document, edits: Iterable[Edit]) -> lsp.WorkspaceEdit:
    places = document.sheet.places
    return lsp.WorkspaceEdit(
        changes={document.uri: [lsp.TextEdit(places.range(e.span.start, e.span.end), e.text) for e in edits]}
    )
