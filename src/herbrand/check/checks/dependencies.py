"""Checks of dependencies: stratification, recursion, and the order of a step (D1-D6)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from herbrand.check.checks.base import ERROR, KEYWORDS, NOTE, WARNING, Check, Sheet
from herbrand.check.dependency import negative_rule_cycles
from herbrand.check.relations import Edge
from herbrand.syntax.nodes import Atom, Function, Rule, atoms_of, variables_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from herbrand.check.dependency import RuleEdge
    from herbrand.check.relations import Relation
    from herbrand.diagnostic import Diagnostic
    from herbrand.syntax.nodes import Term

__all__ = ["CHECKS", "find"]

NEGATION_CYCLE_BY_NAME: Final = Check(
    "negation-cycle-by-name", "D1a", WARNING, "a relation depends on its own negation, by name",
    "Points at a negated literal in a cycle of relations in which no rule depends on its own negation.",
    "It is well defined, rule by rule, but many systems compare only names and reject the sheet.",
    "(<= (goal ?r 0) (role ?r) (not (goal ?r 100)))\n(<= (goal ?r 100) (role ?r) (true (won ?r)))",
    "Define a relation for the condition:\n\n"
    "    (<= (goal ?r 0) (role ?r) (not (winner ?r)))\n    (<= (goal ?r 100) (winner ?r))",
    spec=True,
)  # fmt: skip
UNSTRATIFIED_NEGATION: Final = Check(
    "unstratified-negation", "D1b", ERROR, "a rule depends on its own negation",
    "Points at a negated literal in a cycle of rules, and shows the cycle.",
    "Such rules have no unique model: in the example, each relation could be the one that holds.",
    "(<= (p ?x) (q ?x) (not (r ?x)))\n(<= (r ?x) (q ?x) (not (p ?x)))",
    "Decide which comes first: one of the two must not depend on the other.",
    spec=True,
)  # fmt: skip
UNRESTRICTED_RECURSION: Final = Check(
    "unrestricted-recursion", "D2", ERROR, "recursion with unrestricted arguments",
    "Points at an argument of a recursive call that is neither ground, nor an argument of the head, nor an "
    "argument of a positive literal outside the recursion. An error where the recursion can build "
    "terms, else a warning.",
    "Terms could grow without bound, and evaluation might not terminate.",
    "(<= (number (s ?x)) (number ?x))",
    "Let a relation outside the recursion limit the argument:\n\n"
    "    (<= (number ?y) (number ?x) (succ ?x ?y))",
    spec=True,
)  # fmt: skip
DYNAMIC_INIT: Final = Check(
    "dynamic-init", "D3", ERROR, "`init`, `base`, `input` or `role` depends on the state",
    "Points at the first condition on the path from `init`, `base` or `input` to `true`, `does`, `next`, "
    "`legal`, `goal` or `terminal`.",
    "They are evaluated once, before there is a state.",
    "(<= (init (open ?d)) (true (door ?d)))",
    "Let them depend on facts only:\n\n    (<= (init (open ?d)) (door ?d))",
    spec=True,
)  # fmt: skip
LEGAL_DEPENDS_ON_DOES: Final = Check(
    "legal-depends-on-does", "D4", ERROR, "`legal`, `goal` or `terminal` depends on the moves",
    "Points at the first condition on the path from `legal`, `goal` or `terminal` to `does`.",
    "They are evaluated before the players have chosen.",
    "(<= terminal moved)\n(<= moved (does ?r go))",
    "Store the move in the state:\n\n    (<= (next moved) (does ?r go))\n    (<= terminal (true moved))",
    spec=True,
)  # fmt: skip
LEGAL_DEPENDS_ON_NEXT: Final = Check(
    "legal-depends-on-next", "D5", ERROR, "`legal`, `goal` or `terminal` depends on the next state",
    "Points at the first condition on the path from `legal`, `goal` or `terminal` to `next`.",
    "The next state depends on the moves, which are not yet chosen.",
    "(<= terminal full)\n(<= full (next (board full)))",
    "Query the current state:\n\n    (<= terminal full)\n    (<= full (true (board full)))",
    spec=True,
)  # fmt: skip
UNBOUNDED_TERMS: Final = Check(
    "unbounded-terms", "D6", NOTE, "nothing shows that the game has finitely many states",
    "Points at a rule through which terms may grow from step to step.",
    "With infinitely many states a game may never end and cannot be listed. It may still be finite: the "
    "certificate looks at how deep terms can become, not at when the game ends.",
    "(init (count zero))\n(<= (next (count (s ?n))) (true (count ?n)))",
    "Count with the facts of a successor relation:\n\n"
    "    (<= (next (count ?m)) (true (count ?n)) (succ ?n ?m))",
)  # fmt: skip

CHECKS: Final = (
    NEGATION_CYCLE_BY_NAME,
    UNSTRATIFIED_NEGATION,
    UNRESTRICTED_RECURSION,
    DYNAMIC_INIT,
    LEGAL_DEPENDS_ON_DOES,
    LEGAL_DEPENDS_ON_NEXT,
    UNBOUNDED_TERMS,
)

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
                help="define a relation for the condition; systems that compare only names reject this sheet",
                notes=_steps(sheet, steps),
            )


def _labels(cycle: Sequence[RuleEdge]) -> list[tuple[Atom, str]]:
    labels = [(cycle[0].literal, "the negation")]
    labels += [(step.literal, "depends on it") for step in cycle[1:4]]
    return labels


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
                yield sheet.report(
                    UNRESTRICTED_RECURSION,
                    term,
                    f"nothing limits {sheet.quote(term)} in the recursive {sheet.quote(atom)}",
                    severity=ERROR if number in builds else WARNING,
                    help=f"use {sheet.quote(term)} in a positive literal that does not depend on "
                    f"`{rule.head.name}`",
                    notes=()
                    if number in builds
                    else (
                        "no new terms are created, so evaluation ends; other systems may reject the sheet",
                    ),
                )


def _builds(rule: Rule, component: dict[Relation, int]) -> bool:
    if not any(isinstance(t, Function) and next(variables_of(t), None) for t in rule.head.args):
        return False
    number = component[rule.head.key]
    return any(component[a.key] == number for literal in rule.body for a, _ in atoms_of(literal))


def _unlimited(rule: Rule, component: dict[Relation, int]) -> tuple[Atom, Term] | None:
    number = component[rule.head.key]
    atoms = [pair for literal in rule.body for pair in atoms_of(literal)]
    inside = [atom for atom, _ in atoms if component[atom.key] == number]
    if not inside:
        return None
    limited = set(rule.head.args)
    for atom, negative in atoms:
        if not negative and component[atom.key] != number:
            limited.update(atom.args)
    for atom in inside:
        for term in atom.args:
            if term not in limited and next(variables_of(term), None) is not None:
                return atom, term
    return None


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

    if next(safety.find(sheet), None) is not None:
        return  # unbound variables are reported already
    certificate = finite_certificate(sheet.statements)
    if certificate.culprit is not None:
        rule, term = certificate.culprit
        yield sheet.report(
            UNBOUNDED_TERMS,
            term,
            f"terms may grow without bound through {sheet.quote(term)}",
            help="count with the facts of a successor relation, or make sure that the game ends in time",
            notes=(f"the rule on line {sheet.line(rule)} is part of a cycle that builds terms",),
        )
