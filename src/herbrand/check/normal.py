"""The normal form of rules, which is the input of the evaluators.

In normal form a body is a set of literals, each an `Atom`, the `Not` of an atom, a
`Distinct`, or an `Or` whose disjuncts are such literals or an `And` of them.  Negation has
been pushed inward (`(not (or a b))` is `(not a) (not b)`), conjunctions are spliced, a
negated `distinct` has been solved by unifying its two sides in the whole rule, constantly
true or false literals have been folded, and repeated rules are dropped.

Disjunctions are kept, because splitting them into rules is exponential in their number; only a
disjunction with a negated `distinct` inside is split.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any, Final, TypeVar

from herbrand.errors import GameError
from herbrand.syntax.nodes import (
    And,
    Atom,
    Constant,
    Distinct,
    Function,
    Node,
    Not,
    Or,
    Rule,
    Variable,
    rebuilt,
)
from herbrand.syntax.unification import Substitution, resolve, unify_in_place

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from herbrand.syntax.nodes import Literal, Term

__all__ = ["NormalForm", "Substitution", "normalise", "renamed_apart", "substitute", "substituted", "unifier"]

SPLIT_LIMIT: Final = 4096
"""Maximum number of rules into which the disjunctions of one rule may be split."""


@dataclass(frozen=True, slots=True)
class NormalForm:
    """Rules in normal form, with the statements they come from."""

    rules: tuple[Rule, ...]
    origins: tuple[Rule, ...]
    """The original statement of each rule."""


class _Equal(Node):
    """The two terms are the same: a negated `distinct`, before it is solved."""

    __slots__ = ("left", "right")

    def __init__(self, left: Term, right: Term) -> None:
        self.left: Final = left
        self.right: Final = right
        self.start = self.end = 0


_Step = Atom | Not | Distinct | _Equal | And | Or
_N = TypeVar("_N", bound=Node)
_TRUE: Final = And(())
_FALSE: Final = Or(())


def normalise(statements: Iterable[Rule]) -> NormalForm:
    """Bring statements into normal form, in order, without repetitions."""
    rules: dict[Rule, Rule] = {}
    for statement in statements:
        if statement.is_fact:
            rules.setdefault(statement, statement)
            continue
        for rule in _normal_rules(statement):
            rules.setdefault(rule, statement)
    return NormalForm(tuple(rules), tuple(rules.values()))


def _normal_rules(rule: Rule) -> Iterable[Rule]:
    body = [_push(literal, negated=False) for literal in rule.body]
    for conjunction in _split_equalities(body):
        equalities = [(step.left, step.right) for step in conjunction if isinstance(step, _Equal)]
        binding = unifier(equalities) if equalities else {}
        if binding is None:
            continue
        plain_literals = [step for step in conjunction if not isinstance(step, _Equal)]
        if binding:
            plain_literals = [substituted(literal, binding) for literal in plain_literals]
        simplified = _simplify(And(tuple(plain_literals)))
        if simplified == _FALSE:
            continue
        literals = simplified.literals if isinstance(simplified, And) else (simplified,)
        head = substituted(rule.head, binding) if binding else rule.head
        yield Rule(head, tuple(dict.fromkeys(literals)), rule.start, rule.end)


def _push(literal: Literal, *, negated: bool) -> _Step:
    """Push negation down to atoms; negated `distinct` becomes `_Equal`."""
    if isinstance(literal, Not):
        return _push(literal.literal, negated=not negated)
    if isinstance(literal, And | Or):
        parts = tuple(_push(part, negated=negated) for part in literal.literals)
        # an _Equal may be nested here; _split_equalities moves it to the top level
        make = And if isinstance(literal, And) != negated else Or
        return make(parts, literal.start, literal.end)  # type: ignore[arg-type]
    if isinstance(literal, Distinct):
        return _Equal(literal.left, literal.right) if negated else literal
    return Not(literal, literal.start, literal.end) if negated else literal


def _has_equality(step: Node) -> bool:
    if isinstance(step, And | Or):
        return any(map(_has_equality, step.literals))
    return isinstance(step, _Equal)


def _split_equalities(body: Sequence[_Step]) -> Iterable[Sequence[_Step]]:
    """Yield conjunctions in which every `_Equal` is at the top level."""
    choices = [_alternatives(step) for step in body]
    count = prod(map(len, choices))
    if count > SPLIT_LIMIT:
        raise GameError(f"a rule with negated `distinct` in its disjunctions splits into {count} rules")
    for combination in product(*choices):
        yield [step for part in combination for step in part]


def _alternatives(step: _Step) -> list[list[_Step]]:
    if not _has_equality(step) or isinstance(step, _Equal):
        return [[step]]
    if isinstance(step, Or):
        return [choice for part in step.literals for choice in _alternatives(part)]
    assert isinstance(step, And)
    return [list(choice) for choice in _split_equalities(step.literals)]


def _simplify(literal: Literal) -> Literal:
    """Fold constants, splice nested junctions, drop repetitions."""
    if isinstance(literal, Distinct):
        if literal.left == literal.right:
            return _FALSE
        return literal if unify_in_place(literal.left, literal.right, {}) else _TRUE
    if not isinstance(literal, And | Or):
        return literal
    kind: type[And | Or] = And if isinstance(literal, And) else Or
    absorbing, neutral = (_FALSE, _TRUE) if kind is And else (_TRUE, _FALSE)
    parts: list[Literal] = []
    for part in map(_simplify, literal.literals):
        if part == absorbing:
            return absorbing
        if isinstance(part, kind):
            parts += part.literals
        elif part != neutral:
            parts.append(part)
    parts = list(dict.fromkeys(parts))
    return parts[0] if len(parts) == 1 else kind(tuple(parts), literal.start, literal.end)


def unifier(pairs: Iterable[tuple[Term, Term]]) -> Substitution | None:
    """Return the most general unifier of the terms of each pair, or None."""
    binding: Substitution = {}
    return binding if all(unify_in_place(one, other, binding) for one, other in pairs) else None


def renamed_apart(node: _N) -> Any:
    """Return a term, literal or rule with its variables renamed, so that they differ from those of others."""
    return Variable(f"{node.name}'") if isinstance(node, Variable) else rebuilt(node, renamed_apart)


def substitute(term: Term, binding: Substitution) -> Term:
    """Replace the bound variables of a term, recursively."""
    term = resolve(term, binding)
    return rebuilt(term, lambda arg: substitute(arg, binding))


def substituted(node: _N, binding: Substitution) -> _N:
    """Return an atom, literal or rule with the bound variables in it replaced."""

    def replaced(part: Any) -> Any:
        if isinstance(part, Constant | Variable | Function):
            return substitute(part, binding)
        return rebuilt(part, replaced)

    return rebuilt(node, replaced)


def is_ground(term: Term) -> bool:
    """Whether a term has no variables."""
    return not isinstance(term, Variable) and all(map(is_ground, term.args))
