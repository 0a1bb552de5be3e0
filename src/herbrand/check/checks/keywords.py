"""Checks of the keywords, the relations with a fixed meaning (K1-K10)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from herbrand.check.checks.base import ERROR, KEYWORDS, NOTE, WARNING, Check, Sheet, checks_in, nearest
from herbrand.diagnostic import Edit, Fix, Span
from herbrand.syntax.names import fresh
from herbrand.syntax.nodes import Constant, Function, variables_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from herbrand.diagnostic import Diagnostic
    from herbrand.syntax.nodes import Atom, Rule

__all__ = ["CHECKS", "find"]

KEYWORD_ARITY: Final = Check("keyword-arity", "K1", ERROR, spec=True)
KEYWORD_AS_FUNCTION: Final = Check("keyword-as-function", "K2", WARNING, spec=True)
KEYWORD_AS_CONSTANT: Final = Check("keyword-as-constant", "K3", WARNING)
ROLE_NOT_GROUND_FACT: Final = Check("role-not-ground-fact", "K4", ERROR, spec=True)
INIT_IN_BODY: Final = Check("init-in-body", "K5", ERROR, spec=True)
NEXT_IN_BODY: Final = Check("next-in-body", "K6", ERROR, spec=True)
GIVEN_RELATION_DEFINED: Final = Check("given-relation-defined", "K7", ERROR, spec=True)
MISSING_KEYWORD: Final = Check("missing-keyword", "K8", ERROR, spec=True)
NO_INIT_OR_NEXT: Final = Check("no-init-or-next", "K9", NOTE)
UNCONDITIONAL_NEXT: Final = Check("unconditional-next", "", WARNING)
UNKNOWN_ROLE: Final = Check("unknown-role", "K10", WARNING)

CHECKS: Final = checks_in(globals())

_NUMBERS: Final = ("no arguments", "one argument", "two arguments")
_NEEDED: Final = {"role": "player", "legal": "move", "goal": "result", "terminal": "end of the game"}
_FAMILIES: Final = (("legal", "does", "input"), ("init", "next", "true", "base"))
"""Keywords whose last arguments are the same kind of thing: moves, fluents."""
_WRAPPERS: Final = frozenset({"true", "next", "init", "does"})
"""Keywords that one is likely to have written twice."""
_HINTS: Final = {
    "legal/1": "unary `legal` belongs to a later dialect: name the role that may make the move",
    "input/1": "name the role that may make the move",
    "base": "`base` lists what can be true, one proposition a statement; older sheets used it differently",
}
"""Help about atoms with another number of arguments."""
_OUTCOMES: Final = frozenset({("legal", 2), ("goal", 2), ("terminal", 0)})


def find(sheet: Sheet) -> Iterator[Diagnostic]:
    """Check the use of keywords."""
    yield from _heads(sheet)
    yield from _bodies(sheet)
    yield from _terms(sheet)
    if not sheet.is_incomplete:
        yield from _missing(sheet)


def _heads(sheet: Sheet) -> Iterator[Diagnostic]:
    roles = {role.name for role in sheet.roles if isinstance(role, Constant)}
    begun = _fluents(sheet.definitions.get(("init", 1), ()))
    changing = _fluents(rule for rule in sheet.definitions.get(("next", 1), ()) if rule.body)
    for rule in sheet.statements:
        head = rule.head
        if head.name not in KEYWORDS:
            continue
        if head.name in ("true", "does"):
            noun = "state" if head.name == "true" else "moves"
            yield sheet.report(
                GIVEN_RELATION_DEFINED,
                head,
                f"`{head.name}` cannot be defined: the {noun} {'is' if noun == 'state' else 'are'} given",
                help="`init` defines what holds initially, `next` what holds afterwards"
                if head.name == "true"
                else "`legal` defines which moves there are",
            )
        elif head.arity != KEYWORDS[head.name]:
            yield _wrong_arity(sheet, head)
        elif head.name == "role" and rule.body:
            yield sheet.report(
                ROLE_NOT_GROUND_FACT,
                head,
                "`role` is the head of a rule",
                help="write one fact for each role, in the order of the joint moves",
                fix=_as_fact(sheet, rule),
            )
        elif head.name == "next" and not rule.body and isinstance(head.args[0], Constant | Function):
            fluent = head.args[0]
            if fluent.key not in begun and fluent.key in changing:
                yield sheet.report(
                    UNCONDITIONAL_NEXT,
                    head,
                    f"{sheet.quote(fluent)} is true after every step, but no `init` mentions `{fluent.name}`",
                    help=f"did you mean `{sheet.apply('init', sheet.quote(fluent).strip('`'))}`?",
                    fix=_keyword(sheet, head, "init"),
                )
        elif head.name in ("legal", "goal", "input"):
            role = head.args[0]
            if isinstance(role, Constant) and roles and role.name not in roles:
                suggestion = nearest(role.name, roles)
                yield sheet.report(
                    UNKNOWN_ROLE,
                    role,
                    f"{sheet.quote(role)} is not a role",
                    help=f"did you mean `{suggestion}`?" if suggestion else f"the roles are {_listed(sheet)}",
                )


def _fluents(rules: Iterable[Rule]) -> set[tuple[str, int]]:
    """Return name and arity of the fluents in the heads of `init` or `next`."""
    return {term.key for rule in rules for term in rule.head.args if isinstance(term, Constant | Function)}


def _keyword(sheet: Sheet, atom: Atom, name: str) -> Fix | None:
    """Write another keyword in an atom."""
    start = atom.start + sheet.is_prefix
    if sheet.source.text[start : start + len(atom.name)].lower() != atom.name:
        return None
    return Fix(f"write `{name}`", (Edit(Span(start, start + len(atom.name)), name),))


def _as_fact(sheet: Sheet, rule: Rule) -> Fix | None:
    """Write the head of a rule without its body."""
    if next(variables_of(rule.head), None) is not None or rule.head.end <= rule.head.start:
        return None
    text = sheet.source.text[rule.head.start : rule.head.end]
    return Fix("write it as a fact", (Edit(Span(rule.start, rule.end), text),))


def _listed(sheet: Sheet) -> str:
    names = [f"`{role}`" for role in sheet.roles]
    return ", ".join(names[:8]) + (", …" if len(names) > 8 else "")


def _wrong_arity(sheet: Sheet, atom: Atom) -> Diagnostic:
    name, args = atom.name, atom.args
    arity = KEYWORDS[name]
    hint, fix = _surplus(sheet, atom) if len(args) > arity > 0 and name != "base" else (None, None)
    if hint is None:
        hint = _HINTS.get(name if name == "base" else f"{name}/{len(args)}")
    message = f"`{name}` takes {_NUMBERS[arity]}, but has {len(args)} here"
    return sheet.report(KEYWORD_ARITY, atom, message, help=hint, fix=fix)


def _surplus(sheet: Sheet, atom: Atom) -> tuple[str | None, Fix | None]:
    """Make a known fluent or move of surplus arguments: drop them, or make them arguments of the last one."""
    arity = KEYWORDS[atom.name]
    last, *surplus = atom.args[arity - 1 :]
    arities = next((sheet.last_arguments(family) for family in _FAMILIES if atom.name in family), frozenset())
    if not isinstance(last, Constant) or not last.end:
        return None, None
    if (last.name, len(surplus)) in arities:
        edits = [Edit(Span(last.start, last.start), "("), Edit(Span(surplus[-1].end, surplus[-1].end), ")")]
        text = sheet.apply(last.name, *(sheet.quote(arg).strip("`") for arg in surplus))
    elif (last.name, 0) in arities:
        edits = [Edit(Span(last.end, surplus[-1].end), "")]
        text = sheet.quote(last).strip("`")
    else:
        return None, None
    shown = sheet.apply(atom.name, *(sheet.quote(arg).strip("`") for arg in atom.args[: arity - 1]), text)
    return f"did you mean `{shown}`?", Fix(f"write `{text}`", tuple(edits)) if sheet.is_prefix else None


def _bodies(sheet: Sheet) -> Iterator[Diagnostic]:
    for rule, atom, _ in sheet.body_atoms:
        name = atom.name
        if name not in KEYWORDS or (name in ("true", "does") and len(atom.args) == KEYWORDS[name]):
            continue
        if len(atom.args) != KEYWORDS[name]:
            yield _wrong_arity(sheet, atom)
        elif name == "init":
            yield sheet.report(
                INIT_IN_BODY,
                atom,
                "`init` is a condition here",
                help="use `true`, or define a relation that both `init` and this rule use",
            )
        elif name in ("base", "input"):
            yield sheet.report(
                INIT_IN_BODY,
                atom,
                f"`{name}` is a condition here",
                severity=WARNING,
                help=f"define a relation that both `{name}` and this rule use",
                fix=_declared_apart(sheet, atom),
            )
        elif name == "next":
            head = rule.head.key
            above = [k for k in sheet.definitions if k[0] in KEYWORDS and head in sheet.graph.reachable(k)]
            users = {head, *above} if head[0] in KEYWORDS else set(above)
            if users == {("sees", 2)}:
                yield sheet.report(
                    NEXT_IN_BODY,
                    atom,
                    "`next` is a condition of `sees`",
                    severity=NOTE,
                    notes=("the percept reveals part of the next state, which not every system allows",),
                )
            elif head in _OUTCOMES or not users & _OUTCOMES:
                yield sheet.report(
                    NEXT_IN_BODY,
                    atom,
                    "`next` is a condition here",
                    help="refer to the current state with `true`",
                    fix=_keyword(sheet, atom, "true"),
                )


def _declared_apart(sheet: Sheet, atom: Atom) -> Fix | None:
    """Rename the relation, and declare by it the terms of which it holds."""
    if not sheet.is_prefix or atom.key not in sheet.definitions:
        return None
    heads = [rule.head for rule in sheet.definitions[atom.key]]
    name = fresh("possible" if atom.name == "base" else "possible_move", set(sheet.names))
    fix = sheet.renaming([*heads, *(one for _, one, _ in sheet.body_atoms if one.key == atom.key)], name)
    if fix is None:
        return None
    arguments = " ".join(("?r", "?x")[2 - atom.arity :])
    rule, end = f"\n(<= ({atom.name} {arguments}) ({name} {arguments}))", sheet.definitions[atom.key][-1].end
    return Fix(f"define `{name}`, and `{atom.name}` by it", (*fix.edits, Edit(Span(end, end), rule)))


def _terms(sheet: Sheet) -> Iterator[Diagnostic]:
    for term, percept in sheet.terms:
        if term.name not in KEYWORDS or percept:
            continue
        if isinstance(term, Function):
            yield sheet.report(
                KEYWORD_AS_FUNCTION,
                Span(term.start, term.end),
                f"the keyword `{term.name}` is used as a function",
                help="choose another name",
                fix=_as_name(sheet, term),
            )
        else:
            yield sheet.report(
                KEYWORD_AS_CONSTANT,
                term,
                f"the keyword `{term.name}` is used as an object",
                help="choose another name",
            )


def _as_name(sheet: Sheet, term: Function) -> Fix | None:
    """Write another name for a fluent or move that several statements have: in one it may be a slip."""
    uses = sheet.occurrences(term.key)
    if term.name in _WRAPPERS or len({id(rule) for rule, _ in uses}) == 1:
        return None
    named = term.key in sheet.last_arguments(("init", "next", "legal"))
    return sheet.renaming([node for _, node in uses]) if named else None


def _missing(sheet: Sheet) -> Iterator[Diagnostic]:
    defined = sheet.defined_names
    for name, noun in _NEEDED.items():
        if name not in defined:
            suggestion = nearest(name, (other for other in defined if other not in KEYWORDS))
            yield sheet.report(
                MISSING_KEYWORD,
                sheet.definitions[defined[suggestion].key][0].head if suggestion else Span(0, 0),
                f"no statement defines `{name}`, so there is no {noun}",
                help=f"did you mean `{name}` instead of `{suggestion}`?" if suggestion else None,
            )
    for name, noun in (("init", "the first state"), ("next", "every state but the first")):
        if name not in defined:
            yield sheet.report(
                NO_INIT_OR_NEXT, Span(0, 0), f"no statement defines `{name}`, so {noun} is empty"
            )
