"""Diagnostics and code actions."""

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

__all__ = ["MAX_DIAGNOSTICS", "actions", "as_lsp", "diagnostics"]

MAX_DIAGNOSTICS: Final = 500
"""Maximum number of diagnostics."""
ROUNDS: Final = 10
"""Maximum rounds of "fix all", since a fix can reveal further fixable errors."""
FIX_ALL: Final = "source.fixAll.herbrand"

_LEVELS: Final = {
    Severity.ERROR: lsp.DiagnosticSeverity.Error,
    Severity.WARNING: lsp.DiagnosticSeverity.Warning,
    Severity.NOTE: lsp.DiagnosticSeverity.Information,
}
_MEANT: Final = re.compile(r"did you mean `([^`\s()]+)`\?")
_UNUSED: Final = frozenset({"unused-relation", "rule-without-body", "single-use-variable"})


def diagnostics(document: Document) -> list[lsp.Diagnostic]:
    """Return the `MAX_DIAGNOSTICS` most severe diagnostics of a document in textual order."""
    diagnostic = sorted(document.sheet.rules.diagnostics, key=lambda d: d.severity.rank)[:MAX_DIAGNOSTICS]
    return [as_lsp(d, document) for d in sorted(diagnostic, key=lambda d: d.span.start)]


def as_lsp(diagnostic: Diagnostic, document: Document) -> lsp.Diagnostic:
    """Convert a diagnostic to the protocol's type; its help and notes become part of the message."""
    sheet = document.sheet
    lines = [diagnostic.message, *diagnostic.notes]
    if diagnostic.help:
        lines.append(f"help: {diagnostic.help}")
    here = _is_here(diagnostic, sheet)
    if not here:  # in a text that this one imports
        at = diagnostic.source.position(diagnostic.span.start)
        lines.insert(0, f"{diagnostic.source.name}:{at.line}:{at.column}:")
    related = [
        lsp.DiagnosticRelatedInformation(
            lsp.Location(document.uri, sheet.places.range(label.span.start, label.span.end)), label.message
        )
        for label in diagnostic.labels
        if here
    ]
    start, end = (diagnostic.span.start, diagnostic.span.end) if here else (0, 0)
    return lsp.Diagnostic(
        range=sheet.places.range(start, end),
        message="\n".join(lines),
        severity=_LEVELS[diagnostic.severity],
        code=diagnostic.check,
        source="herbrand",
        related_information=related or None,
        tags=[lsp.DiagnosticTag.Unnecessary] if diagnostic.check in _UNUSED else None,
    )


def _is_here(diagnostic: Diagnostic, sheet: OpenSheet) -> bool:
    return diagnostic.source is sheet.source or diagnostic.source.text == sheet.text


def actions(
    document: Document, wanted: lsp.Range, only: Sequence[str | lsp.CodeActionKind] | None = None
) -> list[lsp.CodeAction]:
    """Return the fixes for diagnostics in a range, and an action that applies all fixes."""
    sheet = document.sheet
    span = sheet.places.span(wanted)
    kinds = [k.value if isinstance(k, lsp.CodeActionKind) else k for k in only or ()]
    actions: list[lsp.CodeAction] = []
    if _is_requested("quickfix", kinds):
        touched = [
            d
            for d in sheet.rules.diagnostics
            if d.span.start <= span.end and span.start <= d.span.end and _is_here(d, sheet)
        ]
        actions += [
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
        actions += [
            action for d in touched if d.fix is None and (action := _spelling_action(document, d)) is not None
        ]
        actions += [
            lsp.CodeAction(
                title=f"Explain {name}: {CHECKS[name].title}",
                kind=lsp.CodeActionKind.QuickFix,
                diagnostics=[as_lsp(d, document)],
                command=lsp.Command(f"Explain {name}", "herbrand.explain", arguments=[name]),
            )
            for name, d in {d.check: d for d in reversed(touched)}.items()
            if name in CHECKS
        ]
    if any(d.fix is not None for d in sheet.rules.diagnostics) and _is_requested(FIX_ALL, kinds):
        text = fix_all(sheet)
        if text != sheet.text:
            edit = _edit(document, [Edit(Span(0, len(sheet.text)), text)])
            actions.append(lsp.CodeAction(title="Apply all fixes", kind=FIX_ALL, edit=edit))
    return actions


def _spelling_action(document: Document, diagnostic: Diagnostic) -> lsp.CodeAction | None:
    """Offer to replace a misspelt name; as a guess, this is not part of "fix all"."""
    sheet, span = document.sheet, diagnostic.span
    meant = _MEANT.search(diagnostic.help or "")
    name = sheet.names.at(span.start) or sheet.names.at(span.start + 1)
    if meant is None or name is None or not span.start <= name.start < max(span.end, 1):
        return None
    old = sheet.text[name.start : name.end]
    if old == meant[1]:
        return None
    return lsp.CodeAction(
        title=f"Replace `{old}` by `{meant[1]}`",
        kind=lsp.CodeActionKind.QuickFix,
        diagnostics=[as_lsp(diagnostic, document)],
        edit=_edit(document, [Edit(Span(name.start, name.end), meant[1])]),
    )


def fix_all(sheet: OpenSheet) -> str:
    """Return the text after all fixes, as `herbrand check --fix` applies them."""
    for _ in range(ROUNDS):
        here = tuple(d for d in sheet.rules.diagnostics if _is_here(d, sheet))
        text, applied = apply_fixes(sheet.text, here)
        if not applied or text == sheet.text:
            break
        sheet = type(sheet)(text, sheet.source.name, sheet.tree.notation, sheet.encoding)
    return sheet.text


def _is_requested(kind: str, kinds: Sequence[str]) -> bool:
    return not kinds or any(kind == k or kind.startswith(f"{k}.") for k in kinds)


def _edit(document: Document, edits: Iterable[Edit]) -> lsp.WorkspaceEdit:
    places = document.sheet.places
    return lsp.WorkspaceEdit(
        changes={document.uri: [lsp.TextEdit(places.range(e.span.start, e.span.end), e.text) for e in edits]}
    )
