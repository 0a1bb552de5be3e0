"""Signature help: the arguments of the relation, term or keyword that is being written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from lsprotocol import types as lsp

from herbrand.lsp.complete import CONDITIONS, context
from herbrand.lsp.hover import applied, docs
from herbrand.lsp.keywords import help_for
from herbrand.syntax.nodes import Constant, Variable, children

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from herbrand.lsp.document import Document, OpenSheet
    from herbrand.syntax.nodes import Node

__all__ = ["signature_help"]

LONGEST: Final = 40
"""Characters of an argument that is shown as it is written in the sheet."""


def signature_help(document: Document, position: lsp.Position) -> lsp.SignatureHelp | None:
    """Return the forms of the name whose argument is at a position, the present argument marked."""
    sheet = document.sheet
    at = sheet.places.offset(position)
    notation = sheet.tree.notation
    here = context(sheet.text, at, prefix=notation == "prefix")
    if here.head is None or here.head in CONDITIONS:
        return None
    forms = list(_forms(sheet, here.head, at))
    if not forms:
        return None
    fitting = next((i for i, form in enumerate(forms) if here.argument < len(form.parameters or ())), 0)
    return lsp.SignatureHelp(forms, active_signature=fitting, active_parameter=here.argument)


def _forms(sheet: OpenSheet, name: str, at: int) -> Iterator[lsp.SignatureInformation]:
    """Yield the forms of a name: one for each number of arguments, the smallest first."""
    notation = sheet.tree.notation
    word = help_for(name, notation)
    if word is not None:
        form = word.form if notation == "prefix" else applied(word.form)
        inside = (
            form[1:-1].split()[1:] if notation == "prefix" else form.partition("(")[2].rstrip(")").split(", ")
        )
        if form.endswith(")"):
            yield _signature(sheet, name, inside, word.text)
        return
    declared = () if sheet.tree.ggdl is None else sheet.tree.ggdl.fluents
    own = next((fluent for fluent in declared if fluent.name == name), None)
    if own is not None:
        yield _signature(sheet, name, [kind or "?" for kind in own.arguments], _documentation(sheet, name, 0))
        return
    for arity, args in sorted(_written(sheet, name, at).items()):
        yield _signature(
            sheet, name, [_shown(sheet, arg) for arg in args], _documentation(sheet, name, arity)
        )


def _written(sheet: OpenSheet, name: str, at: int) -> dict[int, Sequence[Node]]:
    """Return, for each number of arguments, those that say most: the ones with most variables.

    The statement at the offset `at`, which is being written, is left out.
    """
    best: dict[int, Sequence[Node]] = {}
    stack: list[Node] = [one for one in reversed(sheet.tree.statements) if not one.start <= at <= one.end]
    while stack:
        node = stack.pop()
        args: Sequence[Node] = children(node)
        stack += [arg for arg in reversed(args) if not isinstance(arg, Constant | Variable)]
        is_applied = (
            args and not isinstance(node, Constant | Variable) and getattr(node, "name", None) == name
        )
        if is_applied and _variables(args) > _variables(best.get(len(args), ())) - (len(args) not in best):
            best[len(args)] = args
    return best


def _variables(args: Sequence[Node]) -> int:
    return len({arg.name for arg in args if isinstance(arg, Variable)})


def _shown(sheet: OpenSheet, arg: Node) -> str:
    """Return an argument as it is written."""
    text = " ".join(sheet.text[arg.start : arg.end].split())
    return text if 0 < len(text) <= LONGEST else "…"


def _documentation(sheet: OpenSheet, name: str, arity: int) -> str:
    """Return the comment above the first definition of a name."""
    keys = (("relation", name, arity), ("term", name, arity), ("name", name, 0))
    uses = next((uses for key in keys if (uses := sheet.names.by_key.get(key))), [])
    return "\n\n".join(docs(sheet, uses))


def _signature(sheet: OpenSheet, name: str, arguments: Sequence[str], text: str) -> lsp.SignatureInformation:
    prefix = sheet.tree.notation == "prefix"
    label, comma, end = (f"({name} ", " ", ")") if prefix else (f"{name}(", ", ", ")")
    parameters = []
    for number, argument in enumerate(arguments):
        label += comma if number else ""
        parameters.append(lsp.ParameterInformation((_units(label), _units(label + argument))))
        label += argument
    documentation = lsp.MarkupContent(lsp.MarkupKind.Markdown, text) if text else None
    return lsp.SignatureInformation(label + end, documentation, parameters)


def _units(text: str) -> int:
    """Return the length in UTF-16 code units, in which the protocol counts places in labels."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2
