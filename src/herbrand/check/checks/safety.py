"""Every variable must be bound by a positive literal (V1-V4).

Literals bind variables from any position in a body: order is irrelevant.  An atom binds its
variables; a conjunction what any part binds; a disjunction what every part binds; `not` and
`distinct` bind none.  Negation is pushed inward first, so that the body is judged as it is
evaluated; a negated `distinct` passes a binding from one side to the other.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from herbrand.check.checks.base import ERROR, Check, Sheet, checks_in
from herbrand.diagnostic import Edit, Fix, Span
from herbrand.syntax.nodes import (
    And,
    Atom,
    Distinct,
    Function,
    Not,
    Or,
    Rule,
    Variable,
    atoms_of,
    variables_of,
    walk,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from herbrand.diagnostic import Diagnostic
    from herbrand.syntax.nodes import Literal, Node

__all__ = ["CHECKS", "binds", "find", "is_safe", "unbound"]

UNSAFE_VARIABLE: Final = Check("unsafe-variable", "V1", ERROR, spec=True)
UNSAFE_NEGATION: Final = Check("unsafe-negation", "V2", ERROR, spec=True)
UNSAFE_DISTINCT: Final = Check("unsafe-distinct", "V3", ERROR, spec=True)
NON_GROUND_FACT: Final = Check("non-ground-fact", "V4", ERROR, spec=True)

CHECKS: Final = checks_in(globals())

_ARROW_LIKE: Final = frozenset({"=<", "<-", "<--", "<==", "=<="})


def find(sheet: Sheet) -> Iterator[Diagnostic]:
    """Check every statement for safety."""
    for rule in sheet.statements:
        if rule.body:
            yield from _rule(sheet, rule)
        else:
            variable = next(variables_of(rule.head), None)
            if variable is not None:
                yield sheet.report(
                    NON_GROUND_FACT,
                    variable,
                    f"the fact has the variable {sheet.variable(variable)}",
                    help="make it a rule with a condition that restricts the variable"
                    if (fix := _arrow(sheet, rule)) is None
                    else "did you mean `<=`?",
                    fix=fix,
                )


def _arrow(sheet: Sheet, rule: Rule) -> Fix | None:
    """Write `<=` instead of a sign like it, where head and conditions follow."""
    if rule.head.name not in _ARROW_LIKE or not all(isinstance(arg, Function) for arg in rule.head.args):
        return None
    start = sheet.source.text.find(rule.head.name, rule.head.start, rule.head.end)
    return Fix("write `<=`", (Edit(Span(start, start + len(rule.head.name)), "<="),)) if start >= 0 else None


def _rule(sheet: Sheet, rule: Rule) -> Iterator[Diagnostic]:
    if all(type(literal) is Atom for literal in rule.body):
        bound = {v.name for literal in rule.body for v in variables_of(literal)}
        tests: dict[Node, list[Variable]] = {}
    else:
        bound = binds(rule.body)
        tests = unbound(rule.body, bound)
    loose: dict[str, Variable] = {}
    for variable in variables_of(rule.head):
        if variable.name not in bound:
            loose.setdefault(variable.name, variable)
    if not loose and not tests:
        return
    helper = bool(tests) and not any(isinstance(node, Atom) for node in walk(*rule.body))
    if helper:
        loose = {}
    for variable in loose.values():
        yield _head_variable(sheet, rule, variable, bound)
    for literal, variables in tests.items():
        names = [v for v in variables if v.name not in loose]
        if names:
            yield _test(sheet, rule, literal, names, bound, helper=helper)
            if helper:
                break


def _head_variable(sheet: Sheet, rule: Rule, variable: Variable, bound: set[str]) -> Diagnostic:
    shown = sheet.variable(variable)
    places = [v for literal in rule.body for v in variables_of(literal) if v.name == variable.name]
    labels: list[tuple[Node, str]] = [(variable, "never bound" if not places else "not bound here")]
    if places:
        remark = "only in one alternative, or negated" if _has_or(rule.body) else "does not bind it"
        labels.append((places[0], remark))
    help_text = f"bind {shown} in a positive literal" + (
        " of every alternative" if places and _has_or(rule.body) else ""
    )
    fix = None
    condition = _frame_condition(sheet, rule)
    if condition is not None:
        help_text = f"add the condition `{condition}`, if the rule says what stays true"
        fix = Fix(f"add `{condition}`", (Edit(Span(rule.head.end, rule.head.end), f" {condition}"),))
    elif unused := _used_once(rule, variable, bound):
        suggestions = " or ".join(sheet.variable(v) for v in unused[:3])
        help_text += f"; or did you mean {suggestions}?"
    message = f"{shown} in the head is not bound by the body"
    return sheet.report(UNSAFE_VARIABLE, variable, message, labels=labels, help=help_text, fix=fix)


def _frame_condition(sheet: Sheet, rule: Rule) -> str | None:
    """Return the condition that a frame rule lacks, one that asks for state and moves only in negations."""
    atoms = [pair for literal in rule.body for pair in atoms_of(literal)]
    fluent = rule.head.args[0] if rule.head.key == ("next", 1) else None
    if not sheet.is_prefix or not isinstance(fluent, Function) or fluent.end == fluent.start:
        return None
    if any(atom.name in ("true", "does") and not negative for atom, negative in atoms):
        return None
    return f"(true {sheet.source.text[fluent.start : fluent.end]})" if any(n for _, n in atoms) else None


def _used_once(rule: Rule, variable: Variable, bound: set[str]) -> list[Variable]:
    """Return the bound variables with a single use in a rule, if `variable` has a single use, too.

    None for a variable in place of a role, which a condition `(role ?r)` binds.
    """
    if rule.head.name in ("legal", "goal", "sees", "input") and variable == rule.head.args[0]:
        return []
    count = Counter(v.name for v in variables_of(rule))
    return [v for v in variables_of(rule) if count[v.name] == count[variable.name] == 1 and v.name in bound]


def _meant(sheet: Sheet, rule: Rule, variable: Variable, bound: set[str]) -> Fix | None:
    """Write the only bound variable with a single use instead of one that is not bound."""
    unused = _used_once(rule, variable, bound)
    if len(unused) != 1 or variable.end == variable.start:
        return None
    text = sheet.source.text[unused[0].start : unused[0].end]
    return Fix(f"write `{text}`", (Edit(Span(variable.start, variable.end), text),))


def _test(
    sheet: Sheet, rule: Rule, literal: Node, variables: list[Variable], bound: set[str], *, helper: bool
) -> Diagnostic:
    names = " and ".join(sheet.variable(v) for v in variables[:3])
    are = "is" if len(variables) == 1 else "are"
    if isinstance(literal, Distinct):
        hint = f"bind {names} in a positive literal"
        if helper:
            head = rule.head.name
            hint = (
                "a helper relation cannot bind variables: use `distinct` directly in the rules that use "
                f"`{head}`, or restrict the variables here"
            )
        return sheet.report(
            UNSAFE_DISTINCT,
            literal,
            f"`distinct` compares {names}, which {are} not bound",
            labels=((variables[0], "never bound"),),
            help=hint,
            fix=_meant(sheet, rule, variables[0], bound),
        )
    return sheet.report(
        UNSAFE_NEGATION,
        variables[0],
        f"{names} {'occurs' if len(variables) == 1 else 'occur'} only inside `not`",
        labels=((variables[0], "never bound"),),
        help=f'bind {names} in a positive literal; for "there is none", negate a helper relation without '
        f"the variable",
    )


def _has_or(literals: Iterable[Literal]) -> bool:
    return any(
        isinstance(part, Or) or (isinstance(part, And) and _has_or(part.literals)) for part in literals
    )


def is_safe(rule: Rule) -> bool:
    """Whether positive literals of the body bind every variable of a rule."""
    bound = binds(rule.body)
    return all(v.name in bound for v in variables_of(rule.head)) and not unbound(rule.body, bound)


def binds(literals: Iterable[Literal]) -> set[str]:
    """Return the variables that a conjunction binds."""
    return _conjunction([(literal, False) for literal in literals], set())


def _conjunction(parts: list[tuple[Literal, bool]], bound_outside: set[str]) -> set[str]:
    bound = set(bound_outside)
    parts = _flat(parts)
    equalities = [literal for literal, negated in parts if isinstance(literal, Distinct) and negated]
    size = -1
    while size < len(bound):  # an equality, also one in an alternative, passes on what something else binds
        size = len(bound)
        for literal, negated in parts:
            bound |= _literal(literal, negated, bound)
        for equality in equalities:
            for side, other in ((equality.left, equality.right), (equality.right, equality.left)):
                if all(v.name in bound for v in variables_of(side)):
                    bound.update(v.name for v in variables_of(other))
    return bound


def _literal(literal: Literal, negated: bool, bound_outside: set[str]) -> set[str]:
    if isinstance(literal, Atom):
        return set() if negated else {v.name for v in variables_of(literal)}
    if isinstance(literal, Not):
        return _literal(literal.literal, not negated, bound_outside)
    if isinstance(literal, And | Or):
        parts = [(part, negated) for part in literal.literals]
        if isinstance(literal, And) != negated:
            return _conjunction(parts, bound_outside) - bound_outside
        if not parts:
            return set()
        return set.intersection(*(_conjunction([part], bound_outside) for part in parts)) - bound_outside
    return set()


def _flat(parts: list[tuple[Literal, bool]]) -> list[tuple[Literal, bool]]:
    """Return the parts of a conjunction without conjunctions and negations among them, however deep."""
    flat: list[tuple[Literal, bool]] = []
    stack = parts[::-1]
    while stack:
        literal, negated = stack.pop()
        if isinstance(literal, Not):
            stack.append((literal.literal, not negated))
        elif isinstance(literal, And | Or) and (
            isinstance(literal, And) != negated or len(literal.literals) == 1
        ):
            stack += [(part, negated) for part in reversed(literal.literals)]
        else:
            flat.append((literal, negated))
    return flat


def unbound(literals: Iterable[Literal], bound: set[str]) -> dict[Node, list[Variable]]:
    """Return the tests with unbound variables, and those variables, each once."""
    tests: dict[Node, list[Variable]] = {}
    stack: list[tuple[Literal, bool, set[str]]] = [(literal, False, bound) for literal in literals]
    stack.reverse()
    while stack:
        literal, negated, bound_here = stack.pop()
        if isinstance(literal, Not):
            stack.append((literal.literal, not negated, bound_here))
        elif isinstance(literal, And | Or):
            parts = [(part, negated) for part in literal.literals]
            if isinstance(literal, And) != negated:
                parts = _flat(parts)
                inner = _conjunction(parts, bound_here)
                stack += reversed([(part, sign, inner) for part, sign in parts])
            else:
                stack += reversed(
                    [(part, sign, _conjunction([(part, sign)], bound_here)) for part, sign in parts]
                )
        elif isinstance(literal, Distinct) or negated:
            loose: dict[str, Variable] = {}
            for variable in variables_of(literal):
                if variable.name not in bound_here:
                    loose.setdefault(variable.name, variable)
            if loose:
                tests.setdefault(literal, list(loose.values()))
    return tests
