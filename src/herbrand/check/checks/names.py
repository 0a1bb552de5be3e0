"""Checks of names: consistent arities, defined, used, not reserved (N1-N6)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from herbrand.check.checks.base import (
    CONNECTIVES,
    ERROR,
    KEYWORDS,
    NOTE,
    WARNING,
    Check,
    Sheet,
    checks_in,
    nearest,
)
from herbrand.diagnostic import Edit, Fix, Span
from herbrand.syntax.nodes import Function, Variable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from herbrand.diagnostic import Diagnostic
    from herbrand.syntax.nodes import Atom

__all__ = ["CHECKS", "find"]

RELATION_ARITY: Final = Check("relation-arity", "N1", WARNING, spec=True)
FUNCTION_ARITY: Final = Check("function-arity", "N2", WARNING, spec=True)
RELATION_AND_FUNCTION: Final = Check("relation-and-function", "N3", WARNING)
UNDEFINED_RELATION: Final = Check("undefined-relation", "N4", WARNING)
UNUSED_RELATION: Final = Check("unused-relation", "N5", NOTE)
RESERVED_NAME: Final = Check("reserved-name", "N6", ERROR, spec=True)

CHECKS: Final = checks_in(globals())

_LAST: Final = frozenset({"base", "init", "true", "next", "input", "legal", "does"})
"""Keywords whose last argument is a fluent or a move."""


def find(sheet: Sheet) -> Iterator[Diagnostic]:
    """Check the names of relations and functions."""
    relations = _relations(sheet)
    functions = _functions(sheet)
    yield from _arities(sheet, relations)
    yield from _function_arities(sheet)
    yield from _reserved(sheet)
    confused: set[str] = set()
    for name, atoms in relations.items():
        alike = [functions[atom.key] for atom in atoms if atom.key in functions]
        if alike and name not in KEYWORDS:
            confused.add(name)
            yield _confused(sheet, name, atoms, alike[0])
    if not sheet.is_incomplete:
        yield from _undefined(sheet, confused)
        yield from _unused(sheet)


def _relations(sheet: Sheet) -> dict[str, list[Atom]]:
    """Return the first atom of each relation name and arity, by name, in textual order."""
    first_atoms: dict[tuple[str, int], Atom] = {}
    for rule in sheet.statements:
        first_atoms.setdefault(rule.head.key, rule.head)
    for _, atom, _ in sheet.body_atoms:
        earlier = first_atoms.get(atom.key)
        if earlier is None or atom.start < earlier.start:
            first_atoms[atom.key] = atom
    by_name: dict[str, list[Atom]] = {}
    for atom in sorted(first_atoms.values(), key=lambda a: a.start):
        by_name.setdefault(atom.name, []).append(atom)
    return by_name


def _functions(sheet: Sheet) -> dict[tuple[str, int], Function]:
    """Return the first function of each name and arity: `(cell 1 1)` is not confused with `(cell 1 1 b)`."""
    functions: dict[tuple[str, int], Function] = {}
    for term, _ in sheet.terms:
        if isinstance(term, Function):
            functions.setdefault(term.key, term)
    return functions


def _count(number: int) -> str:
    return "one argument" if number == 1 else f"{number or 'no'} arguments"


def _arities(sheet: Sheet, relations: dict[str, list[Atom]]) -> Iterator[Diagnostic]:
    for name, atoms in relations.items():
        if name == "knows" and name not in sheet.defined_names:
            continue  # `(knows p)` is common knowledge, and `percepts` looks at other numbers of arguments
        if name not in KEYWORDS and len(atoms) > 1:
            first, second = atoms[:2]
            used = [[a for _, a, _ in sheet.body_atoms if a.key == atom.key] for atom in atoms]
            is_meant = all(used) and all(atom.key in sheet.definitions for atom in atoms)
            heads = [rule.head for rule in sheet.definitions.get(second.key, ())]
            yield sheet.report(
                RELATION_ARITY,
                second,
                f"`{name}` has {_count(second.arity)} here, but {_count(first.arity)} elsewhere",
                labels=((first, f"{_count(first.arity)} here"),),
                help="relations with different numbers of arguments are different relations",
                fix=sheet.renaming([*heads, *used[1]]) if is_meant else None,
            )


def _function_arities(sheet: Sheet) -> Iterator[Diagnostic]:
    first_uses: dict[str, Function] = {}
    reported: set[str] = set()
    functions = [t for t, percept in sheet.terms if isinstance(t, Function) and not percept]
    for term in sorted(functions, key=lambda t: t.start):
        first = first_uses.setdefault(term.name, term)
        if first.key != term.key and term.name not in reported:
            reported.add(term.name)
            uses = [sheet.occurrences(one.key) for one in (first, term)]
            rarer = min(reversed(uses), key=len)
            often = len({id(rule) for rule, _ in rarer}) > 1
            # a fluent or move that stands once is probably a slip
            is_meant = often or rarer[0][1].key not in sheet.last_arguments(_LAST)
            yield sheet.report(
                FUNCTION_ARITY,
                term,
                f"`{term.name}` has {_count(term.arity)} here, but {_count(first.arity)} elsewhere",
                labels=((first, f"{_count(first.arity)} here"),),
                help="terms with different numbers of arguments are never equal",
                fix=sheet.renaming([node for _, node in rarer]) if is_meant else None,
            )


def _reserved(sheet: Sheet) -> Iterator[Diagnostic]:
    names = [*(t for t, _ in sheet.terms), *(r.head for r in sheet.statements)]
    for node in names:
        if node.name in CONNECTIVES:
            yield sheet.report(
                RESERVED_NAME,
                node,
                f"`{node.name}` is a connective and cannot be a name",
                help="is a parenthesis misplaced?",
            )


def _confused(sheet: Sheet, name: str, atoms: list[Atom], function: Function) -> Diagnostic:
    uses = [(rule, atom) for rule, atom, _ in sheet.body_atoms if atom.name == name]
    same = [atom for _, atom in uses if atom.arity == function.arity]
    if uses and same and _is_fluent(sheet, name) and name not in sheet.defined_names:
        atom = same[0]
        text = sheet.source.text[atom.start : atom.end] or str(atom)
        return sheet.report(
            RELATION_AND_FUNCTION,
            atom,
            f"`{name}` is a fluent, but is used as a relation, which no statement defines",
            labels=((function, "a fluent here"),),
            help=f"did you forget `true`? Write `{sheet.apply('true', text)}`",
            fix=Fix(f"wrap {sheet.quote(atom)} in `true`", (Edit(atom.span, sheet.apply("true", text)),)),
        )
    conditions = [a for _, a, _ in sheet.body_atoms if a.key == ("true", 1) and a.args[0] == function]
    if conditions and not _is_fluent(sheet, name) and (name, function.arity) in sheet.definitions:
        inner, outer = conditions[0].args[0], conditions[0]
        edits = (Edit(Span(outer.start, inner.start), ""), Edit(Span(inner.end, outer.end), ""))
        return sheet.report(
            RELATION_AND_FUNCTION,
            outer,
            f"`{name}` is a relation, but is asked for as a fluent, which no statement makes true",
            labels=((atoms[0], "a relation here"),),
            help=f"write {sheet.quote(inner)} without `true`",
            fix=Fix("delete the `true` around it", edits) if inner.end > inner.start else None,
        )
    atom = atoms[0]
    return sheet.report(
        RELATION_AND_FUNCTION,
        atom,
        f"`{name}` is used as a relation and as a function",
        labels=((function, "a function here"),),
        help=f"did you forget `true`? Otherwise choose another name; `{name}` and "
        f"`{sheet.apply('true', sheet.apply(name, '…'))}` are unrelated",
    )


def _is_fluent(sheet: Sheet, name: str) -> bool:
    heads = (rule.head for rule in sheet.statements if rule.head.name in ("init", "next", "base"))
    terms = (term for head in heads for term in head.args[:1])
    return any(not isinstance(term, Variable) and term.name == name for term in terms)


def _undefined(sheet: Sheet, confused: set[str]) -> Iterator[Diagnostic]:
    uses: dict[tuple[str, int], list[Atom]] = {}
    for _, atom, _ in sheet.body_atoms:
        if atom.key not in sheet.definitions and atom.name not in KEYWORDS and atom.name != "knows":
            uses.setdefault(atom.key, []).append(atom)
    defined = [name for name in sheet.defined_names if name not in KEYWORDS]
    for (name, arity), atoms in uses.items():
        if name in sheet.defined_names or name in confused:
            continue  # reported by relation-arity, relation-and-function
        same_arity = [other for other in defined if (other, arity) in sheet.definitions]
        suggestion = nearest(name, same_arity) or nearest(name, [*defined, *KEYWORDS, *CONNECTIVES])
        count = f" ({len(atoms)} times)" if len(atoms) > 1 else ""
        yield sheet.report(
            UNDEFINED_RELATION,
            atoms[0],
            f"no statement defines `{name}`, used here{count}",
            help=f"did you mean `{suggestion}`?"
            if suggestion
            else "without facts and rules it is always false",
            fix=sheet.renaming(atoms, suggestion) if suggestion in same_arity else None,
        )


def _unused(sheet: Sheet) -> Iterator[Diagnostic]:
    used = {atom.key for rule, atom, _ in sheet.body_atoms if rule.head.key != atom.key}
    used |= {topic.key for topic in sheet.topics}
    names = {name for name, _ in used}
    for key, rules in sheet.definitions.items():
        if key in used or key[0] in KEYWORDS or key[0] == "percept" or key[0] in CONNECTIVES:
            continue
        if key[0] in names and len({k for k in sheet.definitions if k[0] == key[0]}) == 1:
            continue  # used with another number of arguments: reported by relation-arity
        yield sheet.report(
            UNUSED_RELATION, rules[0].head, f"`{key[0]}` is defined, but no other rule uses it"
        )
