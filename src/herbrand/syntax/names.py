"""Spelling of names in each notation, and renaming of those that a notation cannot spell.

A tree holds names folded to lower case.  Prefix text can spell almost every name; the book's
infix only letters, digits and `_`, with a lower-case letter or digit first; Prolog spells the rest in
quotes.  A name that cannot be spelled is renamed, never to a name that the sheet uses already,
and the table of renamings goes with the text, so that moves and match records can be translated back.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Final

from herbrand.syntax.nodes import Atom, Constant, Function, variables_of, walk
from herbrand.syntax.tokens import AND_SIGNS, ARROWS, KEYWORDS, OR_SIGNS

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Iterator, Mapping

    from herbrand.syntax.nodes import Rule

__all__ = [
    "KEYWORDS",
    "PROLOG_OPERATORS",
    "constant_names",
    "first_spellings",
    "fresh",
    "named",
    "operand",
    "predicate_name",
    "quote",
    "unused",
    "variable_names",
]

_OPERATORS: Final = frozenset({"and", "or", "not", "is"})
PROLOG_OPERATORS: Final = frozenset(
    {
        *("as", "discontiguous", "div", "dynamic", "initialization", "is", "meta_predicate", "mod"),
        *("module_transparent", "multifile", "public", "rdiv", "rem", "table", "thread_initialization"),
        *("thread_local", "volatile", "xor"),
    }
)
"""The operators of SWI-Prolog 9 (`current_op/3`) that are words; the quotes of others suffice."""
_INTEGER = re.compile(r"-?(?:0|[1-9][0-9]*)")
_NUMBER_LIKE = re.compile(r"[0-9]+(?:e[0-9]+)?")
_INFIX = re.compile(r"[a-z0-9][a-z0-9_]*")
_PROLOG = re.compile(r"[a-z][a-zA-Z0-9_]*")
_PORTABLE = re.compile(r"[A-Za-z0-9_-]+")
_NOT_PREFIX = re.compile(r"[\s();,]|^[?~¬!\\]")
_NOT_VARIABLE = re.compile(r"[\s();,]")


def named(statements: Iterable[Rule]) -> Iterator[Constant | Function | Atom]:
    """Yield the constants, functions and atoms of statements, from left to right."""
    return (node for node in walk(*statements) if isinstance(node, Constant | Function | Atom))


def constant_names(
    statements: Iterable[Rule], notation: str, *, portable: bool = False
) -> tuple[dict[str, str], dict[str, Constant | Function | Atom]]:
    """Choose the spelling of each constant, function and relation name of a sheet.

    Returns the spelling of every name, and the first node of each renamed one.
    """
    first: dict[str, Constant | Function | Atom] = {}
    applied: set[str] = set()
    for node in named(statements):
        first.setdefault(node.name, node)
        if not isinstance(node, Constant):
            applied.add(node.name)
    spellings: dict[str, str] = {}
    renamed: dict[str, Constant | Function | Atom] = {}
    used = {*first, *KEYWORDS}
    can_spell = _spelling_rule(notation, portable=portable)
    for name, node in first.items():
        if can_spell(name, name in applied):
            spellings[name] = name
        elif notation == "prolog" and not portable:
            spellings[name] = quote(name)
        else:
            spellings[name] = fresh(_spellable(name, notation, can_spell), used)
            renamed[name] = node
    return spellings, renamed


def first_spellings(statements: Iterable[Rule]) -> dict[str, str]:
    """Return the spelling of the first occurrence of each constant, function and relation name."""
    spellings: dict[str, str] = {}
    for node in named(statements):
        spellings.setdefault(node.name, node.spelling)
    return spellings


def _spelling_rule(notation: str, *, portable: bool) -> Callable[[str, bool], bool]:
    """Return a test of whether a name, applied to arguments or not, can be written unchanged."""

    def prefix(name: str, _: bool) -> bool:
        if portable:
            return _PORTABLE.fullmatch(name) is not None
        return bool(name) and not (_NOT_PREFIX.search(name) or name in ARROWS | AND_SIGNS | OR_SIGNS)

    def infix(name: str, applied: bool) -> bool:
        if _INTEGER.fullmatch(name):
            return name != "-0" and not (applied and name[0] == "-")
        is_odd = _NUMBER_LIKE.fullmatch(name) is not None or name in _OPERATORS
        return _INFIX.fullmatch(name) is not None and not is_odd

    def prolog(name: str, applied: bool) -> bool:
        if _INTEGER.fullmatch(name):  # applied to arguments, `predicate_name` puts it in quotes
            return name != "-0" and not (applied and portable)
        return _PROLOG.fullmatch(name) is not None and name not in _OPERATORS

    return {"prefix": prefix, "infix": infix, "prolog": prolog}[notation]


def _spellable(name: str, notation: str, can_spell: Callable[[str, bool], bool]) -> str:
    """Return the nearest name that can be spelled."""
    new = re.sub(r"[^a-z0-9_-]" if notation == "prefix" else r"[^a-z0-9_]", "_", name.lower())
    if not new or not new[0].isalnum() or not can_spell(new, True):
        new = f"c_{new}"
    return new


def unused(name: str, used: Container[str]) -> str:
    """Return `name`, or the first of `name_2`, `name_3`, ... that is not used."""
    new, number = name, 1
    while new in used:
        number += 1
        new = f"{name}_{number}"
    return new


def fresh(name: str, used: set[str]) -> str:
    """Return `name`, or the first unused of `name_2`, `name_3`, ..., and add it to `used`."""
    new = unused(name, used)
    used.add(new)
    return new


def quote(name: str) -> str:
    r"""Write a name as a quoted constant of Prolog.

    >>> print(quote("it's"))
    'it\'s'
    """
    for plain, escaped in (("\\", "\\\\"), ("'", "\\'"), ("\n", "\\n"), ("\r", "\\r"), ("\t", "\\t")):
        name = name.replace(plain, escaped)
    return f"'{name}'"


def predicate_name(text: str) -> str:
    """Write the name of a compound term or an atom of Prolog, a number in quotes.

    >>> print(predicate_name("7"), predicate_name("seven"))
    '7' seven
    """
    return quote(text) if _INTEGER.fullmatch(text) else text


def operand(text: str) -> str:
    """Write a constant of Prolog beside an operator, in parentheses if it is an operator itself.

    >>> print(operand("table"), operand("tables"))
    (table) tables
    """
    return f"({text})" if text in PROLOG_OPERATORS else text


def variable_names(rule: Rule, notation: str, shown: Mapping[str, str] | None = None) -> dict[str, str]:
    """Choose the spelling of each variable of a rule, from left to right.

    `shown` gives spellings to prefer.  In Prolog a variable that occurs once begins with `_`.
    """
    count = Counter(variable.name for variable in variables_of(rule))
    spellings: dict[str, str] = {}
    used: set[str] = set()
    for name, occurrences in count.items():
        spelling = (shown or {}).get(name, name)
        if notation == "prefix":
            new = "?" + _NOT_VARIABLE.sub("_", spelling or "_")
        else:
            new = re.sub(r"[^A-Za-z0-9_]", "_", spelling)
            new = new[0].upper() + new[1:] if new[:1].isalpha() else f"V{new}"
            if notation == "prolog" and occurrences == 1:
                new = f"_{new}"
        base, number = new, 1
        while new.lower() in used:  # readers ignore case
            number += 1
            new = f"{base}_{number}"
        used.add(new.lower())
        spellings[name] = new
    return spellings
