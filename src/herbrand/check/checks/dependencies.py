"""Checks of dependencies: stratification, recursion, and the order of a step (D1-D6)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from herbrand.check.checks.base import ERROR, KEYWORDS, NOTE, WARNING, Check, Sheet, checks_in
from herbrand.check.dependency import negative_rule_cycles
from herbrand.check.relations import Edge
from herbrand.diagnostic import Edit, Fix, Span
from herbrand.errors import GameError
from herbrand.syntax.argument_types import Types, places
from herbrand.syntax.names import fresh
from herbrand.syntax.nodes import Atom, Constant, Function, Rule, Variable, atoms_of, variables_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from herbrand.check.dependency import RuleEdge
    from herbrand.check.relations import Relation
    from herbrand.diagnostic import Diagnostic
    from herbrand.syntax.argument_types import Place
    from herbrand.syntax.nodes import Term

__all__ = ["CHECKS", "find"]

NEGATION_CYCLE_BY_NAME: Final = Check("negation-cycle-by-name", "D1a", WARNING, spec=True)
UNSTRATIFIED_NEGATION: Final = Check("unstratified-negation", "D1b", ERROR, spec=True)
UNRESTRICTED_RECURSION: Final = Check("unrestricted-recursion", "D2", ERROR, spec=True)
DYNAMIC_INIT: Final = Check("dynamic-init", "D3", ERROR, spec=True)
LEGAL_DEPENDS_ON_DOES: Final = Check("legal-depends-on-does", "D4", ERROR, spec=True)
LEGAL_DEPENDS_ON_NEXT: Final = Check("legal-depends-on-next", "D5", ERROR, spec=True)
UNBOUNDED_TERMS: Final = Check("unbounded-terms", "D6", NOTE)

CHECKS: Final = checks_in(globals())

_NEXT: Final[Relation] = ("next", 1)
_CHANGING: Final[tuple[Relation, ...]] = (
    *(("true", 1), ("does", 2), ("next", 1), ("legal", 2), ("goal", 2)),
    ("terminal", 0),
)
_SHOWN: Final = 12


def find(sheet: Sheet) -> Iterator[Diagnostic]:
    """Check the dependencies."""
    yield from _stratification(sheet)
    yield from _recursion(sheet)
    yield from _static(sheet)
    yield from _current(sheet)
    yield from _finite(sheet)


# -- stratification ------------------------------------------------------------------------------


def _stratification(sheet: Sheet) -> Iterator[Diagnostic]:
    graph = sheet.graph
    cycles = negative_rule_cycles(graph, sheet.statements)
    reported = set()
    for cycle in cycles:
        first = cycle[0]
        reported.add(graph.component_of[first.rule.head.key])
        yield sheet.report(
            UNSTRATIFIED_NEGATION,
            first.literal,
            f"`{first.rule.head.name}` depends on its own negation",
            labels=_labels(cycle),
            help="break the cycle: one of these rules must not depend on the other",
            notes=_steps(sheet, cycle),
        )
    for edge in graph.negative_cycle_edges:
        number = graph.component_of[edge.head]
        if number not in reported:
            reported.add(number)
            steps = graph.cycle(edge)
            yield sheet.report(
                NEGATION_CYCLE_BY_NAME,
                edge.literal,
                f"`{edge.head[0]}` depends on the negation of `{edge.body[0]}`, which depends on "
                f"`{edge.head[0]}`"
                if edge.head != edge.body
                else f"`{edge.head[0]}` depends on its own negation, by name",
                severity=NOTE if _differ_in_value(edge) else None,
                help="define a relation for the condition; systems that compare only names reject this sheet",
                notes=_steps(sheet, steps),
                fix=_unfolding(sheet, edge),
            )


def _unfolding(sheet: Sheet, edge: Edge) -> Fix | None:
    """Write the conditions of a negated relation in its place, if that ends the cycle."""
    from herbrand.check.checks.compounds import rewriting, simple_rules
    from herbrand.check.unfolding import Inlining

    names = set(sheet.names)
    unfolding = Inlining(edge.body, sheet.definitions[edge.body], lambda name: fresh(name, names))
    component = sheet.graph.component_of
    try:
        rules = simple_rules(unfolding.rule(edge.rule) or ())
    except GameError:  # too many
        return None
    atoms = [atom for rule in rules for literal in rule.body for atom, _ in atoms_of(literal)]
    if not rules or any(component.get(atom.key) == component[edge.head] for atom in atoms):
        return None
    return rewriting(sheet, edge.rule, rules)


def _differ_in_value(edge: Edge) -> bool:
    """Whether one value of `goal` depends on another: usual, and never a cycle."""
    return (
        edge.head == edge.body == ("goal", 2)
        and edge.rule.head.args[1] != edge.literal.args[1]
        and all(isinstance(atom.args[1], Constant) for atom in (edge.rule.head, edge.literal))
    )


def _labels(cycle: Sequence[RuleEdge]) -> list[tuple[Atom, str]]:
    return [(cycle[0].literal, "the negation"), *((step.literal, "depends on it") for step in cycle[1:4])]


def _steps(sheet: Sheet, path: Sequence[Edge | RuleEdge]) -> Iterator[str]:
    """Describe the edges of a path or cycle, one line each, with the lines of the rules."""
    for edge in path[:_SHOWN]:
        negation = "not " if edge.negative else ""
        target = "" if isinstance(edge, Edge) else f" (line {sheet.line(edge.other)})"
        yield (
            f"line {sheet.line(edge.rule)}: {sheet.quote(edge.rule.head)} needs "
            f"{negation}{sheet.quote(edge.literal)}{target}"
        )
    if len(path) > _SHOWN:
        yield f"and {len(path) - _SHOWN} more rules"


# -- recursion -----------------------------------------------------------------------------------


def _recursion(sheet: Sheet) -> Iterator[Diagnostic]:
    graph = sheet.graph
    component = graph.component_of
    builds = {
        component[rule.head.key]
        for rule in sheet.statements
        if rule.body and rule.head.key in graph.recursive and _builds(rule, component)
    }
    through_next = component.get(_NEXT)  # a cycle through the next state: reported by next-in-body
    for rule in sheet.statements:
        if rule.body and rule.head.key in graph.recursive and component[rule.head.key] != through_next:
            number = component[rule.head.key]
            culprit = _unlimited(rule, component)
            if culprit is not None:
                atom, term = culprit
                is_endless = number in builds
                note = "no new terms are created, so evaluation ends; other systems may reject the sheet"
                yield sheet.report(
                    UNRESTRICTED_RECURSION,
                    term,
                    f"nothing limits {sheet.quote(term)} in the recursive {sheet.quote(atom)}",
                    severity=ERROR if is_endless else WARNING,
                    help=f"use {sheet.quote(term)} in a positive literal that does not depend on "
                    f"`{rule.head.name}`",
                    notes=() if is_endless else (note,),
                    fix=None if is_endless else _limiting(sheet, rule, term),
                )


def _builds(rule: Rule, component: dict[Relation, int]) -> bool:
    if not any(isinstance(t, Function) and next(variables_of(t), None) for t in rule.head.args):
        return False
    number = component[rule.head.key]
    return any(component[a.key] == number for literal in rule.body for a, _ in atoms_of(literal))


def _unlimited(rule: Rule, component: dict[Relation, int]) -> tuple[Atom, Term] | None:
    number = component[rule.head.key]
    atoms = [pair for literal in rule.body for pair in atoms_of(literal)]
    component_atoms = [atom for atom, _ in atoms if component[atom.key] == number]
    if not component_atoms:
        return None
    limited = set(rule.head.args)
    for atom, negative in atoms:
        if not negative and component[atom.key] != number:
            limited.update(atom.args)
    for atom in component_atoms:
        for term in atom.args:
            if term not in limited and next(variables_of(term), None) is not None:
                return atom, term
    return None


def _limiting(sheet: Sheet, rule: Rule, term: Term) -> Fix | None:
    """Add the condition that a variable has one of the values that it can have, with facts for these."""
    if not sheet.is_prefix or not isinstance(term, Variable):
        return None
    types = Types.of(sheet.statements)
    atoms = [atom for literal in rule.body for atom, _ in atoms_of(literal)]
    place = next(place for atom in atoms for place, inner in places(atom) if inner == term)
    own_type = types.type_of(place)
    everything = (pair for statement in sheet.statements for pair in _places(statement))
    if any(isinstance(inner, Function) and types.type_of(other) == own_type for other, inner in everything):
        return None
    name = fresh("value", sheet.names)
    facts = "".join(f"\n({name} {constant.spelling})" for constant in types.domain(place))
    condition = f" ({name} {sheet.variable(term).strip('`')})"
    return Fix(
        f"add a condition on {sheet.variable(term)}",
        (Edit(Span(rule.body[-1].end, rule.body[-1].end), condition), Edit(Span(rule.end, rule.end), facts)),
    )


def _places(rule: Rule) -> Iterator[tuple[Place, Term]]:
    for atom in (rule.head, *(atom for literal in rule.body for atom, _ in atoms_of(literal))):
        yield from places(atom)


# -- static relations, and those independent of moves --------------------------------------------


def _static(sheet: Sheet) -> Iterator[Diagnostic]:
    graph = sheet.graph
    for name in ("init", "base", "input"):
        key = (name, KEYWORDS[name])
        if key not in sheet.definitions:
            continue
        for other in _CHANGING:
            path = graph.path(key, other, avoiding=_NEXT) if other in graph.reachable(key) else ()
            if path and not (other == _NEXT and len(path) == 1):  # reported by next-in-body
                yield _chain(sheet, DYNAMIC_INIT, path, "is evaluated before there is a state")
                break


def _current(sheet: Sheet) -> Iterator[Diagnostic]:
    graph = sheet.graph
    why = "is evaluated before the moves are chosen"
    for key in (("legal", 2), ("goal", 2), ("terminal", 0)):
        reachable = graph.reachable(key)
        path = graph.path(key, ("does", 2), avoiding=_NEXT) if ("does", 2) in reachable else ()
        if path:
            yield _chain(sheet, LEGAL_DEPENDS_ON_DOES, path, why)
        elif _NEXT in reachable:
            path = graph.path(key, _NEXT)
            if len(path) > 1 and path[-1].head[0] not in KEYWORDS:
                yield _chain(sheet, LEGAL_DEPENDS_ON_NEXT, path, why)


def _chain(sheet: Sheet, check: Check, path: Sequence[Edge], why: str) -> Diagnostic:
    start, end = path[0].head, path[-1].body
    through = f", through `{path[0].body[0]}`" if len(path) > 1 else ""
    return sheet.report(
        check,
        path[0].literal,
        f"`{start[0]}` depends on `{end[0]}`{through}, but {why}",
        labels=[(edge.literal, f"`{edge.head[0]}` depends on this") for edge in path[1:5]],
        help=f"let `{start[0]}` depend on "
        + ("facts" if check is DYNAMIC_INIT else "`true`: store what it needs in the state"),
        notes=_steps(sheet, path) if len(path) > 1 else (),
    )


# -- finitely many states ------------------------------------------------------------------------


def _finite(sheet: Sheet) -> Iterator[Diagnostic]:
    from herbrand.check.checks import safety
    from herbrand.check.finite import finite_certificate

    certificate = finite_certificate(sheet.statements)
    # unbound variables are reported already
    if certificate.culprit is not None and next(safety.find(sheet), None) is None:
        rule, term = certificate.culprit
        yield sheet.report(
            UNBOUNDED_TERMS,
            term,
            f"terms may grow without bound through {sheet.quote(term)}",
            help="count with the facts of a successor relation, or make sure that the game ends in time",
            notes=(f"the rule on line {sheet.line(rule)} is part of a cycle that builds terms",),
        )
