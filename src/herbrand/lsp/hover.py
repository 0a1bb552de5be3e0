"""Hover texts about names."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from lsprotocol import types as lsp

from herbrand.check.dependency import negative_rule_cycles
from herbrand.lsp.keywords import GGDL, help_for

if TYPE_CHECKING:
    from collections.abc import Iterable

    from herbrand.check.dependency import DependencyGraph
    from herbrand.lsp.document import Document, OpenSheet
    from herbrand.lsp.names import Occurrence

__all__ = ["applied", "docs", "hover"]

SHOWN: Final = 8
"""Maximum number of names listed."""

_LIST: Final = re.compile(r"\((\w+) ([^()]*)\)")
_DEFINING: Final = (
    *("fact", "rule", "role", "base", "input", "init", "next", "legal", "sees", "data", "const", "surface"),
)
_GENERATED: Final = "ggdl_"
"""Prefix of names that the translation of GGDL generates."""


def hover(document: Document, position: lsp.Position) -> lsp.Hover | None:
    """Return a description of the name at a position as Markdown; None if there is no name."""
    sheet = document.sheet
    occurrence = sheet.names.at(sheet.places.offset(position))
    if occurrence is None:
        return None
    text = "\n\n".join(part for part in describe(sheet, occurrence) if part)
    return lsp.Hover(
        lsp.MarkupContent(lsp.MarkupKind.Markdown, text), sheet.places.range(occurrence.start, occurrence.end)
    )


def describe(sheet: OpenSheet, occurrence: Occurrence) -> list[str]:
    """Return paragraphs about a name."""
    sort, name, number = occurrence.key
    shown = sheet.text[occurrence.start : occurrence.end]
    uses = sheet.names.of(occurrence)
    if sort == "keyword":
        word = help_for(name, sheet.tree.notation)
        if word is None:
            return [f"`{shown}`"]
        own = sheet.tree.notation == "ggdl" and name in GGDL
        fence = "ggdl" if own else "kif" if sheet.tree.notation == "prefix" else "hrf"
        form = word.form if own or fence == "kif" else applied(word.form)
        parts = [f"```{fence}\n{form}\n```", word.text]
        if sheet.tree.ggdl is None:
            parts.append(_counts(uses, also_unused=False))
        return parts
    if sort == "variable":
        return [f"`{shown}`: a variable of this statement, {_times(len(uses))} in it"]
    if occurrence.kind == "relation":
        return _relation(sheet, occurrence, number, uses)
    return _term(sheet, occurrence, uses)


def _relation(sheet: OpenSheet, occurrence: Occurrence, arity: int, uses: list[Occurrence]) -> list[str]:
    name = occurrence.key[1]
    graph = sheet.rules.graph
    key = (name, arity)
    if sheet.tree.ggdl is not None:
        key = next((node for node in graph.nodes if node[0] == name), (name, 0))
    parts = [f"**{name}/{key[1]}**: relation, {_kind(sheet, graph, key)}", _counts(uses)]
    below = _relations(e.body for e in graph.edges_from(key))
    above = _relations(e.head for e in graph.edges if e.body == key)
    if below:
        parts.append(f"uses {below}")
    if above:
        parts.append(f"used by {above}")
    return [*docs(sheet, uses), *parts]


def _kind(sheet: OpenSheet, graph: DependencyGraph, key: tuple[str, int]) -> str:
    """Describe the dependencies and the stratum of a relation."""
    below = graph.reachable(key) | {key}
    if ("does", 2) in below:
        words = "depends on the moves"
    elif ("true", 1) in below:
        words = "depends on the state"
    else:
        words = "the same in every state"
    level = next((i for i, stratum in enumerate(graph.strata) if key in stratum), None)
    if level is not None:
        words += f", stratum {level}"
    if key in graph.recursive:
        words += ", recursive"
        statements = sheet.tree.statements
        if not graph.is_stratified and any(
            edge.rule.head.key == key for cycle in negative_rule_cycles(graph, statements) for edge in cycle
        ):
            words += ", **not stratified**"
    return words


def _term(sheet: OpenSheet, occurrence: Occurrence, uses: list[Occurrence]) -> list[str]:
    sort, name, arity = occurrence.key
    title = f"{name}/{arity}" if arity else name
    words = {
        "fluent": "fluent: part of the state",
        "move": "move",
        "percept": "percept: information for a role",
        "role": "role",
        "number": "number (an uninterpreted constant: GDL has no arithmetic)",
        "type": "type",
        "parameter": "parameter or constant",
        "function": "compound term",
    }.get(occurrence.kind, "constant")
    if sort == "name" and occurrence.kind == "number":
        words = "number"
    parts = [f"**{title}**: {words}"]
    declared = sheet.tree.ggdl
    if declared is not None:
        parts += [
            f"{parameter.type}, {parameter.range}, default {parameter.default}"
            for parameter in declared.parameters
            if parameter.name == name
        ]
        for kind in declared.types:
            if kind.name == name:
                members = ", ".join(map(str, kind.members[:SHOWN]))
                more = f", … {len(kind.members)} in all" if len(kind.members) > SHOWN else ""
                parts.append(f"members: {members}{more}")
    parts.append(_counts(uses))
    return [*docs(sheet, uses), *parts]


def docs(sheet: OpenSheet, uses: list[Occurrence]) -> list[str]:
    """Return the first comment above a statement that defines a name."""
    for use in uses:
        if use.defines and 0 <= use.statement < len(sheet.names.statements):
            lines = sheet.doc(sheet.names.statements[use.statement].start).splitlines()
            if lines:
                return ["> " + "  \n> ".join(lines)]
    return []


def applied(form: str) -> str:
    """Convert a form from prefix to infix notation: `(legal R M)` becomes `legal(R, M)`."""
    match = _LIST.fullmatch(form)
    return f"{match[1]}({', '.join(match[2].split())})" if match else form


def _counts(uses: list[Occurrence], *, also_unused: bool = True) -> str:
    """Return the numbers of definitions and uses of a name."""
    number = {word: sum(o.defines == word for o in uses) for word in _DEFINING}
    parts = [
        f"{n} {word}{'s' if n > 1 else ''}" for word, n in number.items() if n and word in ("fact", "rule")
    ]
    parts += [f"{n} in `{word}`" for word, n in number.items() if n and word not in ("fact", "rule")]
    used = sum(not o.defines for o in uses)
    if used or also_unused:
        parts.append(f"used {_times(used)}" if used else "never used")
    return ", ".join(parts)


def _times(number: int) -> str:
    return "once" if number == 1 else f"{number} times"


def _relations(keys: Iterable[tuple[str, int]]) -> str:
    names = list(dict.fromkeys(f"`{name}`" for name, _ in keys if not name.startswith(_GENERATED)))
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more
