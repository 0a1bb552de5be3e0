"""Completion.

The statement being typed is incomplete, so the syntax tree does not describe it.  The context is determined
from the tokens since the statement began: the open brackets, the name before each, and the number of complete
arguments.  Proposals come from the rest of the sheet: relations for conditions, fluents inside `true`, moves
inside `does`, and for an argument the constants in the same position elsewhere.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from lsprotocol import types as lsp

from herbrand.lsp.keywords import GDL, GGDL
from herbrand.lsp.names import ACTS, STATE
from herbrand.syntax.nodes import Constant, Variable, children

if TYPE_CHECKING:
    from herbrand.lsp.document import Document, OpenSheet
    from herbrand.syntax.nodes import Node

__all__ = ["CONDITIONS", "Context", "complete", "context"]

MAX_PROPOSALS: Final = 300
"""Maximum number of proposals."""
MAX_VALUES: Final = 60
"""Maximum number of members of a type that are proposed."""
WINDOW: Final = 4000
"""Characters before the position that are searched for the beginning of the statement."""

_BEGIN: Final = re.compile(r"^(?=[^\s);,])", re.MULTILINE)
_WORD: Final = re.compile(r";[^\r\n]*|[()]|[^\s();]+")
_OTHER_WORD: Final = re.compile(
    r"%[^\r\n]*|//[^\r\n]*|'[^'\r\n]*'|[()\[\]{},]|:-|:=|==>|->|[?\\]?\w+|[^\s\w]"
)
_TYPED: Final = re.compile(r"[?\\]?[\w+-]*\Z")
_VARIABLES: Final = {"prefix": re.compile(r"\?[\w-]+"), "ggdl": re.compile(r"\?\w+")}
_CAPITALS: Final = re.compile(r"(?<![\w?])[A-Z_]\w*")
_COMPARED: Final = re.compile(r"(\w+)(?:\([^()]*\))?\s*(?:==|:=|=|#|!=|in)\s*\Z")
CONDITIONS: Final = frozenset({"<=", "not", "or", "and", "⇐"})
"""Names whose arguments are conditions."""


class _Proposals:
    """The proposals for a position; the first one of a name wins, lower groups sort first."""

    def __init__(self, place: lsp.Range) -> None:
        self._place = place
        self._items: dict[str, lsp.CompletionItem] = {}

    def add(
        self,
        label: str,
        group: int,
        kind: lsp.CompletionItemKind,
        detail: str = "",
        snippet: str = "",
        documentation: str = "",
    ) -> None:
        """Add a proposal; `snippet` is inserted after the label."""
        if label in self._items or not label:
            return
        self._items[label] = lsp.CompletionItem(
            label,
            kind=kind,
            detail=detail or None,
            documentation=lsp.MarkupContent(lsp.MarkupKind.Markdown, documentation)
            if documentation
            else None,
            sort_text=f"{group}{len(self._items):05}",
            insert_text_format=lsp.InsertTextFormat.Snippet if snippet else None,
            text_edit=lsp.TextEdit(self._place, f"{label}{snippet}"),
        )

    def all(self) -> lsp.CompletionList:
        """Return the best proposals in order."""
        listed = sorted(self._items.values(), key=lambda item: item.sort_text or "")
        return lsp.CompletionList(is_incomplete=len(listed) > MAX_PROPOSALS, items=listed[:MAX_PROPOSALS])


@dataclass(slots=True)
class _Open:
    """An open bracket: the name before it, and the number of complete arguments."""

    head: str | None = None
    done: int = 0


@dataclass(slots=True)
class Context:
    """The syntactic context of a position."""

    typed: str
    """The partial word before the position."""
    head: str | None = None
    """The name whose argument is being written, folded; None outside of brackets."""
    argument: int = 0
    """Index of the argument, from 0."""
    is_name: bool = False
    """Whether the word is the first one after an opening bracket."""
    outer: list[str] = field(default_factory=list)
    """The names of the enclosing brackets, innermost first."""


def context(text: str, at: int, *, prefix: bool) -> Context:
    """Return the context of the offset `at`.

    >>> context("(<= (legal ?p (mark", 19, prefix=True)
    Context(typed='mark', head='legal', argument=1, is_name=True, outer=['legal', '<='])
    >>> context("legal(P, mark(X", 15, prefix=False)
    Context(typed='X', head='mark', argument=0, is_name=False, outer=['mark', 'legal'])
    """
    typed = _TYPED.search(text, max(0, at - 200), at)
    word = typed[0] if typed else ""
    before = text[max(0, at - WINDOW) : at - len(word)]
    begins = [m.start() for m in _BEGIN.finditer(before)]
    statement = before[begins[-1] :] if begins else before
    stack = _prefix_stack(statement) if prefix else _other_stack(statement)
    is_name = prefix and bool(stack) and stack[-1].head is None
    if is_name:
        stack.pop()
    around = stack[-1] if stack else _Open()
    outer = [bracket.head for bracket in reversed(stack) if bracket.head]
    return Context(word, around.head, around.done, is_name, outer)


def _prefix_stack(text: str) -> list[_Open]:
    stack: list[_Open] = []
    for match in _WORD.finditer(text):
        word = match[0]
        if word == "(":
            stack.append(_Open())
        elif word == ")":
            if stack:
                stack.pop()
            if stack:
                stack[-1].done += 1
        elif word[0] != ";" and stack:
            if stack[-1].head is None:
                stack[-1].head = word.lower()
            else:
                stack[-1].done += 1
    return stack


def _other_stack(text: str) -> list[_Open]:
    stack: list[_Open] = []
    last = ""
    for match in _OTHER_WORD.finditer(text):
        word = match[0]
        if word in ("(", "[", "{"):
            stack.append(_Open(last.lower() if last[:1].isalpha() else None))
        elif word in (")", "]", "}"):
            if stack:
                stack.pop()
        elif word == "," and stack:
            stack[-1].done += 1
        last = word
    return stack


def complete(document: Document, position: lsp.Position) -> lsp.CompletionList:
    """Return completions for a position, the likeliest first."""
    sheet = document.sheet
    at = sheet.places.offset(position)
    notation = sheet.tree.notation
    here = context(sheet.text, at, prefix=notation == "prefix")
    proposals = _Proposals(sheet.places.range(at - len(here.typed), at))
    add = proposals.add
    kinds = lsp.CompletionItemKind
    variables = _variables(sheet, at, notation, here.typed)
    if here.typed[:1] in ("?", "\\"):
        for name in variables:
            add(name, 0, kinds.Variable)
        return proposals.all()
    is_term = here.head is not None and here.head not in CONDITIONS
    for value in _declared_values(sheet, here, at):
        add(value, 0, kinds.Value, "a member of its type")
    if here.is_name and not is_term:
        _conditions(sheet, proposals, notation)
    elif notation == "prefix" and here.is_name:
        _compounds(sheet, here, proposals)
    else:
        if is_term:
            for value in _values(sheet, here):
                add(value, 0, kinds.Value, f"used in the same argument of `{here.head}`")
            for name in variables:
                add(name, 1, kinds.Variable)
        if not is_term or notation != "prefix":
            _conditions(sheet, proposals, notation)
        for name in variables:
            add(name, 4, kinds.Variable)
        _compounds(sheet, here, proposals)
        for name_use in sheet.names.all:
            if name_use.kind in ("constant", "role", "parameter", "type"):
                add(sheet.text[name_use.start : name_use.end], 6, kinds.Constant, name_use.kind)
    return proposals.all()


def _conditions(sheet: OpenSheet, proposals: _Proposals, notation: str) -> None:
    """Propose relations and keywords, which begin a condition or a head."""
    kinds = lsp.CompletionItemKind
    for key, uses in sheet.names.by_key.items():
        first = uses[0]
        if first.kind == "relation" or (notation == "ggdl" and first.kind in ("fluent", "move")):
            text = sheet.text[first.start : first.end]
            title = f"relation {key[1]}/{key[2]}" if key[0] == "relation" else first.kind
            proposals.add(text, 2, kinds.Function, title)
    words = {**GDL, **GGDL} if notation == "ggdl" else GDL
    for name, word in words.items():
        if name == "<=" and notation != "prefix":
            continue
        snippet = word.snippet if notation == "prefix" else ""
        proposals.add(name, 3, kinds.Keyword, word.form, snippet, word.text)


def _compounds(sheet: OpenSheet, here: Context, proposals: _Proposals) -> None:
    """Propose compound terms: first fluents inside `true` and similar keywords, moves inside `does`."""
    kinds = lsp.CompletionItemKind
    wanted = "fluent" if here.head in STATE else "move" if here.head in ACTS else ""
    for key, uses in sheet.names.by_key.items():
        first = uses[0]
        if first.kind in ("fluent", "move", "percept", "function"):
            group = 2 if first.kind == wanted else 5
            title = f"{first.kind} {key[1]}/{key[2]}" if key[0] == "term" else first.kind
            if not (here.is_name and key[0] == "term" and not key[2]):
                proposals.add(sheet.text[first.start : first.end], group, kinds.Field, title)


def _declared_values(sheet: OpenSheet, here: Context, at: int) -> list[str]:
    """Return the values that a GGDL text declares for an argument or the value of a fluent."""
    declared = sheet.tree.ggdl
    if declared is None:
        return []
    members = {kind.name: [str(term) for term in kind.members] for kind in declared.types}
    members["role"] = members["roles"] = [str(role) for role in sheet.rules.roles]
    before = sheet.text[max(0, at - 200) : at - len(here.typed)]
    compared = _COMPARED.search(before)
    for fluent in declared.fluents:
        if compared is not None and fluent.name == compared[1].lower():
            every = list(dict.fromkeys(term for terms in members.values() for term in terms))
            values = [str(term) for term in fluent.values] or members.get(fluent.value or "", every)
            return values[:MAX_VALUES]
        if fluent.name == here.head and here.argument < len(fluent.arguments):
            return members.get(fluent.arguments[here.argument] or "", [])[:MAX_VALUES]
    return []


def _values(sheet: OpenSheet, here: Context) -> list[str]:
    """Return the constants in this argument elsewhere, the most frequent first."""
    counts: Counter[str] = Counter()
    stack: list[Node] = list(sheet.tree.statements)
    while stack:
        node = stack.pop()
        args = children(node)
        name = getattr(node, "name", None)
        if name == here.head and here.argument < len(args) and not isinstance(node, Constant | Variable):
            value = args[here.argument]
            if isinstance(value, Constant):
                counts[value.spelling] += 1
        stack += [arg for arg in args if not isinstance(arg, Constant | Variable)]
    numbers = sorted((v for v in counts if v.isdigit()), key=lambda v: (len(v), v))
    return [v for v, _ in counts.most_common() if not v.isdigit()] + numbers


def _variables(sheet: OpenSheet, at: int, notation: str, typed: str) -> list[str]:
    """Return the variables of the statement around a position, without the partial word itself."""
    start = max(0, at - WINDOW)
    begins = [m.start() + start for m in _BEGIN.finditer(sheet.text[start:at])]
    start = begins[-1] if begins else start
    following = _BEGIN.search(sheet.text, at + 1)
    end = min(following.start() if following else len(sheet.text), at + WINDOW)
    pattern = _VARIABLES.get(notation, _CAPITALS)
    around = f"{sheet.text[start : at - len(typed)]} {sheet.text[at:end]}"
    return list(dict.fromkeys(m[0] for m in pattern.finditer(around)))
