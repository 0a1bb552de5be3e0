"""Edits of rules as edits of the text: layout, comments and spelling of everything else stay."""

from __future__ import annotations

from typing import TYPE_CHECKING

from herbrand.diagnostic import Edit, Span
from herbrand.errors import GameError
from herbrand.repair.edits import edited, standard_names
from herbrand.syntax import read
from herbrand.syntax.nodes import Constant, Rule, Variable, children
from herbrand.syntax.printer import print_tree

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from herbrand.repair.edits import RuleEdit
    from herbrand.syntax.nodes import Node
    from herbrand.syntax.tree import Tree

__all__ = ["edited_text", "text_edits"]


def text_edits(tree: Tree, edits: Iterable[RuleEdit]) -> tuple[Edit, ...]:
    """Return the edits of the source of a tree that make these edits of its statements.

    In prefix notation they are as small as possible, otherwise they replace whole statements.  Raises
    `GameError` for GGDL, whose rules are not those of its text.
    """
    if tree.notation == "ggdl":
        raise GameError(
            "rules in GGDL cannot be edited one by one: `herbrand convert --to prefix` gives others"
        )
    return tuple(_text_edits(tree, edits, small=tree.notation == "prefix"))


def edited_text(tree: Tree, edits: Sequence[RuleEdit]) -> str:
    """Return the text after some edits of different statements."""
    expected = list(map(standard_names, edited(tree.statements, edits)))
    for changes in (text_edits(tree, edits), _text_edits(tree, edits, small=False)):
        text = tree.source.text
        for change in sorted(changes, key=lambda e: (e.span.start, e.span.end), reverse=True):
            text = text[: change.span.start] + change.text + text[change.span.end :]
        if list(map(standard_names, read(text, tree.notation).statements)) == expected:
            return text
    return print_tree(edited(tree.statements, edits), tree.notation, spelling=True).text


def _text_edits(tree: Tree, edits: Iterable[RuleEdit], *, small: bool) -> Iterator[Edit]:
    """Yield edits of the source, as small as possible or else of whole statements."""
    for edit in edits:
        old = None if edit.number is None else tree.statements[edit.number]
        if old is None:
            end = len(tree.source.text)
            gap = "" if tree.source.text.endswith("\n") else "\n"
            yield Edit(Span(end, end), gap + _statements(edit.rules, tree))
        elif not edit.rules:
            yield Edit(_line(tree.source.text, old), "")
        elif small:
            yield from _changes(old, edit.rules[-1], tree)
        else:
            yield Edit(Span(old.start, old.end), _statements(edit.rules, tree).strip())


def _statements(rules: Iterable[Rule], tree: Tree) -> str:
    return print_tree(rules, tree.notation, spelling=True).text


def _changes(old: Node, new: Node, tree: Tree) -> Iterator[Edit]:
    """Yield the edits that make one node another, each as small as possible."""
    if old == new:
        return
    below, instead = children(old), children(new)
    if isinstance(old, Rule) and isinstance(new, Rule) and bool(old.body) == bool(new.body):
        yield from _changes(old.head, new.head, tree)
        yield from _list_changes(old, old.body, new.body, tree)
    elif type(old) is not type(new) or len(below) != len(instead) or not below or not _same_name(old, new):
        text = _statements([new], tree).strip() if isinstance(new, Rule) else _text(new)
        yield Edit(Span(old.start, old.end), text)
    else:
        for one, other in zip(below, instead, strict=True):
            yield from _changes(one, other, tree)


def _list_changes(rule: Rule, old: Sequence[Node], new: Sequence[Node], tree: Tree) -> Iterator[Edit]:
    """Yield the edits of a body: literals changed, added or dropped."""
    if len(old) == len(new):
        for one, other in zip(old, new, strict=True):
            yield from _changes(one, other, tree)
        return
    first = 0
    while first < min(len(old), len(new)) and old[first] == new[first]:
        first += 1
    last = 0
    while last < min(len(old), len(new)) - first and old[-1 - last] == new[-1 - last]:
        last += 1
    dropped, added = old[first : len(old) - last], new[first : len(new) - last]
    before = old[first - 1] if first else rule.head
    if dropped:
        yield Edit(Span(before.end, dropped[-1].end), "".join(f" {_text(node)}" for node in added))
        return
    text = tree.source.text
    line = text.rfind("\n", 0, before.start) + 1
    own_line = before is not rule.head and not text[line : before.start].strip()
    gap = f"\n{text[line : before.start]}" if own_line else " "
    yield Edit(Span(before.end, before.end), "".join(f"{gap}{_text(node)}" for node in added))


def _same_name(old: Node, new: Node) -> bool:
    return getattr(old, "name", None) == getattr(new, "name", None)


def _text(node: Node) -> str:
    """Return a term or literal in prefix notation, as it is spelled."""
    if isinstance(node, Variable):
        return f"?{node.spelling}"
    if isinstance(node, Constant):
        return node.spelling
    name = getattr(node, "spelling", type(node).__name__.lower())
    parts = " ".join([name, *map(_text, children(node))])
    return f"({parts})" if children(node) else name


def _line(text: str, rule: Rule) -> Span:
    """Return the span of a statement, with its line if nothing else is on it."""
    start, end = text.rfind("\n", 0, rule.start) + 1, text.find("\n", rule.end)
    end = len(text) if end < 0 else end + 1
    if text[start : rule.start].strip() or text[rule.end : end].strip():
        return Span(rule.start, rule.end)
    return Span(start, end)
