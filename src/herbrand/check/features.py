"""Language features that a game uses, determined from its rules alone."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from herbrand.check.normal import is_ground
from herbrand.syntax.nodes import And, Atom, Constant, Distinct, Function, Not, Or, Variable, walk

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from herbrand.check.rules import Rules
    from herbrand.syntax.nodes import Literal, Rule, Term

__all__ = ["Features", "features"]


@dataclass(frozen=True, slots=True)
class Features:
    """Language features of a rulesheet; `str` gives a table."""

    roles: int
    """Number of roles, including `random`."""
    has_random: bool
    """Whether `random` is a role."""
    has_sees: bool
    """Whether `sees` is defined, so that players have imperfect information."""
    turn_fluent: str | None
    """The fluent, such as "control", that names the only role with a choice; None without one."""
    simultaneous: bool
    """Whether two roles may have a choice at once, as far as the rules show."""
    statements: int
    facts: int
    rules: int
    relations: int
    """Number of defined relations."""
    characters: int
    """Length of the text."""
    negation: bool
    distinct: bool
    disjunction: bool
    extended_bodies: bool
    """Whether there is `and`, a nested `or`, or `not` applied to something other than an atom."""
    recursion: bool
    """Whether a relation depends on itself."""
    functions_in_recursion: bool
    """Whether a recursive rule has a compound term with a variable in its head."""
    nested_functions: bool
    """Whether the arguments of fluents or moves contain nested terms."""
    stratified_by_name: bool
    computed_goals: bool
    """Whether a goal value is a variable of its rule."""
    declares_base: bool
    declares_input: bool
    finite: bool
    """Whether a certificate proves that there are finitely many states."""
    step_bound: int | None
    """Maximum number of steps of a play, where a step counter proves one."""

    def as_json(self) -> dict[str, object]:
        """Return the features as a dictionary of plain values."""
        return asdict(self)

    def __str__(self) -> str:
        rows, words = [], {True: "yes", False: "no", None: "-"}
        for name, value in asdict(self).items():
            shown = words[value] if value is None or isinstance(value, bool) else value
            rows.append(f"{name.replace('_', ' '):24}{shown}")
        return "\n".join(rows)


def features(rules: Rules) -> Features:
    """Return the features of a checked rulesheet."""
    from herbrand.check.finite import finite_certificate, nesting
    from herbrand.check.step_counter import step_counter

    statements = rules.tree.statements
    nodes = (node for rule in statements for node in walk(*rule.body))
    compounds = [node for node in nodes if isinstance(node, Not | Distinct | And | Or)]
    kinds = set(map(type, compounds))
    defined = {rule.head.key for rule in statements}
    graph = rules.graph
    recursive_rules = [
        rule
        for rule in statements
        if rule.body and any(graph.in_cycle(e) for e in graph.edges_from(rule.head.key) if e.rule is rule)
    ]
    turn = _turn_fluent(statements)
    players = [role for role in rules.roles if not (isinstance(role, Constant) and role.name == "random")]
    counter = step_counter(statements)
    return Features(
        roles=len(rules.roles),
        has_random=len(players) < len(rules.roles),
        has_sees=("sees", 2) in defined,
        turn_fluent=turn,
        simultaneous=len(rules.roles) > 1 and turn is None,
        statements=len(statements),
        facts=sum(rule.is_fact for rule in statements),
        rules=sum(not rule.is_fact for rule in statements),
        relations=len(defined),
        characters=len(rules.tree.source.text),
        negation=Not in kinds,
        distinct=Distinct in kinds,
        disjunction=Or in kinds,
        extended_bodies=any(map(_is_extended, compounds)),
        recursion=bool(graph.recursive),
        functions_in_recursion=any(
            isinstance(term, Function) and not is_ground(term)
            for rule in recursive_rules
            for term in rule.head.args
        ),
        nested_functions=any(nesting(term) > 1 for rule in statements for term in rule.head.args),
        stratified_by_name=graph.is_stratified,
        computed_goals=any(
            rule.head.key == ("goal", 2) and isinstance(rule.head.args[1], Variable) for rule in statements
        ),
        declares_base=("base", 1) in defined,
        declares_input=("input", 2) in defined,
        finite=finite_certificate(statements).holds,
        step_bound=counter.bound if counter else None,
    )


def _is_extended(literal: Literal) -> bool:
    """Whether a literal is `and`, `or` with another one in it, or `not` of something other than an atom."""
    if isinstance(literal, Or):
        return any(isinstance(part, And | Or) for part in literal.literals)
    return isinstance(literal, And) or (isinstance(literal, Not) and not isinstance(literal.literal, Atom))


def _turn_fluent(statements: Sequence[Rule]) -> str | None:
    """Find a unary fluent that holds for one role at a time and gives a choice to that role only.

    Each rule for `legal` must either require `(true (control r))` for its own role, or have a
    constant move.  That only one role has control at a time is not verified.
    """
    candidates: set[str] | None = None
    for rule in statements:
        if rule.head.key != ("legal", 2):
            continue
        role, move = rule.head.args
        if not isinstance(move, Constant):
            conditions = set(_asks_for(rule.body, role))
            candidates = conditions if candidates is None else candidates & conditions
    # assumes that a role without control has only the constant move
    return min(candidates or (), default=None)


def _asks_for(body: Iterable[Literal], role: Term) -> Iterable[str]:
    for literal in body:
        if isinstance(literal, Atom) and literal.key == ("true", 1):
            fluent = literal.args[0]
            if isinstance(fluent, Function) and fluent.args == (role,):
                yield fluent.name
