"""A certificate that a game has finitely many states: no term can grow without bound.

The rules are read as one positive program in which each step feeds the next: everything that `init` and
`next` derive is `true`, every `legal` move may be made.  Negative literals and `distinct` are
ignored, so everything that can ever hold is derived.  For each argument position of each
relation the certificate bounds the depth of terms (a constant has depth 0,
`(f a)` has 1).  A variable `d` levels inside an argument of depth at most `n` has
depth at most `n - d`; if several atoms bind it, the smallest bound counts.  If the least solution is
finite, there are finitely many terms, and so finitely many states and moves.

This is the idea of argument-restricted programs (Lierler and Lifschitz 2009), applied to the
program of the whole game.  To distinguish fluents, `true`, `init` and `next` of
`(cell x y z)` are one relation true:cell with three arguments, and moves likewise; a rule that
passes a whole fluent or move in a variable is instantiated once for each function it may be.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from math import prod
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from herbrand.syntax.nodes import And, Atom, Constant, Function, Or, Rule, Variable, variables_of, walk

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from herbrand.syntax.nodes import Literal, Term

__all__ = ["FiniteCertificate", "finite_certificate", "nesting"]

CEILING: Final = 100
"""Depth beyond which terms count as unbounded; published sheets stay below ten."""
SPLIT_LIMIT: Final = 2000
"""Maximum number of instances of a rule for the functions of its whole fluents and moves."""

_EMPTY: Final = -1
"""Depth of a position without derived terms."""
_UNBOUND: Final = CEILING + 1

Position: TypeAlias = tuple[object, ...]
"""A flattened relation and the index of an argument."""
_Shape: TypeAlias = tuple[str, int]
"""A function symbol and its arity; ("", 0) stands for all constants."""
_FlatAtom: TypeAlias = tuple[object, tuple["Term", ...]]
_CONSTANT: Final[_Shape] = ("", 0)


@dataclass(frozen=True, slots=True)
class FiniteCertificate:
    """The certificate: if `holds`, `depths` bounds the depth of every term."""

    holds: bool
    """Whether there are finitely many states; False means unknown."""
    depths: Mapping[str, int] = field(default_factory=dict)
    """Maximum depth of terms at each argument position where it exceeds 0."""
    culprit: tuple[Rule, Term] | None = None
    """If it does not hold: a rule through which terms may grow, and the term in its head."""

    def __bool__(self) -> bool:
        return self.holds

    def __str__(self) -> str:
        if self.holds:
            depth = max(self.depths.values(), default=0)
            return f"finitely many states: no term is nested deeper than {depth}"
        if self.culprit is None:
            return "not known to have finitely many states"
        return f"not known to have finitely many states: terms may grow through {self.culprit[0]}"


def finite_certificate(statements: Iterable[Rule]) -> FiniteCertificate:
    """Try to certify that only finitely many states are reachable.

    Sound but incomplete: a game without the certificate may still be finite.  Takes time
    roughly linear in the size of the sheet.
    """
    rules = list(statements)
    return _Depths(rules).solve()


def nesting(term: Term) -> int:
    """Return the nesting depth of a term, counting variables as constants."""
    return max(level for _, level in _levels(term))


def _variable_depths(term: Term) -> dict[str, int]:
    """Return the maximum depth of each variable in a term."""
    depths: dict[str, int] = {}
    for leaf, level in _levels(term):
        if isinstance(leaf, Variable):
            depths[leaf.name] = max(depths.get(leaf.name, 0), level)
    return depths


def _levels(term: Term) -> Iterator[tuple[Term, int]]:
    """Yield the constants and variables of a term, each with the number of functions around it."""
    stack: list[tuple[Term, int]] = [(term, 0)]
    while stack:
        term, level = stack.pop()
        if isinstance(term, Function):
            stack += ((arg, level + 1) for arg in term.args)
        else:
            yield term, level


class _All(list["_Tree"]):
    """A conjunction: the smallest bound of its literals counts."""


class _Any(list["_Tree"]):
    """A disjunction: the largest bound of its alternatives counts."""


_Tree: TypeAlias = "_All | _Any | _FlatAtom"


class _Instance(NamedTuple):
    """A rule with its whole fluents and moves replaced by functions: the inequalities for its head."""

    rule: Rule
    head: list[tuple[Position, Term, int, dict[str, int]]]
    """Each position of the head, the term there, its depth and the depths of its variables."""
    body: _All


class _Depths:
    """The system of inequalities and its least solution.

    A term is nested only where a rule builds it, or where variables pass it on from there.  Only rules for
    relations with such positions become inequalities, few in most sheets; all other terms have depth 0.
    """

    def __init__(self, rules: list[Rule]) -> None:
        self.rules = rules
        self.depth: dict[Position, int] = {}
        self.flattened: dict[int, list[_Instance]] = {}
        """The instances of the rules that matter, by the number of the rule."""
        self.too_many_instances: tuple[Rule, Term] | None = None

    def solve(self) -> FiniteCertificate:
        """Compute the least solution, or detect that it is infinite."""
        nested = self._nested()
        if self.too_many_instances:
            return FiniteCertificate(holds=False, culprit=self.too_many_instances)
        if not nested:
            return FiniteCertificate(holds=True)
        relations = {position[0] for position in nested}
        derived: set[object] = set()
        for number, rule in enumerate(self.rules):
            if number not in self.flattened:
                heads = {relation for relation, _ in _flat(rule.head)}
                if relations.isdisjoint(heads):
                    derived |= heads
                else:
                    self.flattened[number] = self._flatten(rule)
        self.instances = [one for _, instances in sorted(self.flattened.items()) for one in instances]
        readers: dict[Position, list[int]] = {}
        for number, instance in enumerate(self.instances):
            for position in {position for position, _ in _arguments(instance.body)}:
                readers.setdefault(position, []).append(number)
                if position[0] in derived:
                    self.depth[position] = 0
        queue = list(range(len(self.instances)))
        queued = set(queue)
        at = 0
        while at < len(queue):
            number = queue[at]
            at += 1
            queued.discard(number)
            rule, head, body = self.instances[number]
            if not self._applies(body):
                continue
            for position, term, own, variables in head:
                depth = own
                for name, level in variables.items():
                    depth = max(depth, level + self._bound(name, body))
                if depth > CEILING:
                    return FiniteCertificate(holds=False, culprit=self._culprit(rule, term))
                if depth > self.depth.get(position, _EMPTY):
                    self.depth[position] = depth
                    for reader in readers.get(position, ()):
                        if reader not in queued:
                            queued.add(reader)
                            queue.append(reader)
        depths = {_name(position): depth for position, depth in self.depth.items() if depth > 0}
        return FiniteCertificate(holds=True, depths=depths)

    def _nested(self) -> set[Position]:
        """Return all positions whose terms may be nested, and flatten the rules that may nest them."""
        for number, rule in enumerate(self.rules):
            if not _only_passes_on(rule):
                self.flattened[number] = self._flatten(rule)
        queue = [
            position
            for instances in self.flattened.values()
            for instance in instances
            for position, _, own, variables in instance.head
            if own > 0 or any(self._bound(name, instance.body) == _UNBOUND for name in variables)
        ]
        nested = set(queue)
        readers = self._readers() if nested else {}
        passed: dict[int, dict[Position, list[Position]]] = {}
        while queue:
            position = queue.pop()
            for number in readers.get(position[0], ()):
                if number not in passed:
                    if number not in self.flattened:
                        self.flattened[number] = self._flatten(self.rules[number])
                    passed[number] = _targets(self.flattened[number])
                for place in passed[number].get(position, ()):
                    if place not in nested:
                        nested.add(place)
                        queue.append(place)
        return nested

    def _readers(self) -> dict[object, list[int]]:
        """Return the numbers of the rules with each flattened relation in their body."""
        readers: dict[object, list[int]] = {}
        for number, rule in enumerate(self.rules):
            relations: set[object] = set()
            for instance in self.flattened.get(number, ()):
                relations.update(place[0] for place, _ in _arguments(instance.body))
            for atom, _ in _atoms(rule.body):
                relations.update(relation for relation, _ in _flat(atom))
            for relation in relations:
                readers.setdefault(relation, []).append(number)
        return readers

    def _culprit(self, rule: Rule, term: Term) -> tuple[Rule, Term]:
        """Return a rule that builds a term in this cycle, rather than one that only passes it on."""
        deep = {p for p, depth in self.depth.items() if depth > CEILING // 2}
        for origin, head, body in self.instances:
            for (place, built, _, _), written in product(head, origin.head.args):
                if (
                    place in deep
                    and _builds_term(written, origin)
                    and any(position in deep for position, _ in _arguments(body))
                ):
                    return origin, self._written(origin, built)
        return rule, self._written(rule, term)

    def _written(self, rule: Rule, term: Term) -> Term:
        return term if term.end > term.start else rule.head.args[-1] if rule.head.args else term

    # -- depths ----------------------------------------------------------------------------------

    def _applies(self, body: _All) -> bool:
        """Whether each atom of the conjunction can match the terms derived so far."""
        for part in body:
            if isinstance(part, tuple):
                relation, args = part
                for number, term in enumerate(args):
                    if self.depth.get((relation, number), _EMPTY) < (
                        0 if not isinstance(term, Function) else nesting(term)
                    ):
                        return False
        return True

    def _bound(self, name: str, tree: _Tree) -> int:
        """Return the bound that a body puts on the depth of a variable."""
        if isinstance(tree, _All):
            return min((self._bound(name, part) for part in tree), default=_UNBOUND)
        if isinstance(tree, _Any):
            return max((self._bound(name, part) for part in tree), default=_EMPTY)
        relation, args = tree
        best = _UNBOUND
        for number, term in enumerate(args):
            if isinstance(term, Variable):
                if term.name == name:
                    best = min(best, self.depth.get((relation, number), _EMPTY))
            elif isinstance(term, Function):
                level = _variable_depths(term).get(name)
                if level is not None:
                    best = min(best, self.depth.get((relation, number), _EMPTY) - level)
        return best

    # -- flattening ------------------------------------------------------------------------------

    @cached_property
    def shapes(self) -> list[_Shape]:
        """The shape of constants, and every function symbol of the sheet."""
        functions = (node.key for node in walk(*self.rules) if isinstance(node, Function))
        return list(dict.fromkeys((_CONSTANT, *functions)))

    @cached_property
    def whole_shapes(self) -> dict[str, list[_Shape]]:
        """The possible shapes of fluents ("true") and moves ("act"); all if a variable may add others."""
        shapes: dict[str, dict[_Shape, None]] = {"true": {_CONSTANT: None}, "act": {_CONSTANT: None}}
        for rule in self.rules:
            whole = _whole(rule.head)
            if whole is None:
                continue
            kind, term = whole
            if isinstance(term, Function):
                shapes[kind][term.key] = None
            elif isinstance(term, Variable) and not any(_passes_on(part, kind, term) for part in rule.body):
                shapes[kind] |= dict.fromkeys(self.shapes)
        return {kind: list(some) for kind, some in shapes.items()}

    def _flatten(self, rule: Rule) -> list[_Instance]:
        """Return the instances of a rule."""
        if next(variables_of(rule.head), None) is None:
            # a ground head contributes the same terms whatever the body
            return _instance(rule, (), {})
        wholes: dict[str, list[_Shape]] = {}
        counts = Counter(variable.name for variable in variables_of(rule))
        for atom, certain in ((rule.head, True), *_atoms(rule.body)):
            whole = _whole(atom)
            if whole is None or not isinstance(whole[1], Variable):
                continue
            name = whole[1].name
            if counts[name] > 1 or atom is rule.head:
                # if not certain, another alternative may bind it to anything
                shapes = self.whole_shapes[whole[0]] if certain else self.shapes
                previous = wholes.get(name)
                if previous is None or len(shapes) < len(previous):
                    wholes[name] = shapes
        if prod(map(len, wholes.values())) > SPLIT_LIMIT:
            self.too_many_instances = self.too_many_instances or (rule, rule.head.args[-1])
            return []
        instances = []
        for choice in product(*wholes.values()):
            binding: dict[str, Term] = {}
            for name, (function, arity) in zip(wholes, choice, strict=True):
                args = tuple(Variable(f"{name}.{i}") for i in range(arity))
                binding[name] = Function(function, args) if function else Constant("")
            instances += _instance(rule, rule.body, binding)
        return instances


def _instance(rule: Rule, body: Iterable[Literal], binding: dict[str, Term]) -> list[_Instance]:
    """Return the instance of a rule for a binding; none if its head has no arguments."""
    positions: list[tuple[Position, Term, int, dict[str, int]]] = [
        ((relation, number), term, nesting(term), _variable_depths(term))
        for relation, args in _flat(rule.head, binding)
        for number, term in enumerate(args)
    ]
    return [_Instance(rule, positions, _flat_body(body, binding))] if positions else []


def _only_passes_on(rule: Rule) -> bool:
    """Whether the terms of a flattened head are constants and variables that the body certainly binds."""
    whole = _whole(rule.head)
    if whole is not None and isinstance(whole[1], Variable):
        return False
    unbound = set()
    for _, args in _flat(rule.head):
        for term in args:
            if isinstance(term, Function):
                return False
            if isinstance(term, Variable):
                unbound.add(term.name)
    for literal in rule.body:
        if not unbound:
            break
        for _, args in _flat(literal) if isinstance(literal, Atom) else ():
            for term in args:
                if isinstance(term, Variable):
                    unbound.discard(term.name)
                elif isinstance(term, Function):
                    unbound.difference_update(_variable_depths(term))
    return not unbound


def _builds_term(term: Term, rule: Rule) -> bool:
    """Whether a variable is deeper in a term of the head than anywhere in the body."""
    in_body: dict[str, int] = {}
    for atom, _ in _atoms(rule.body):
        for arg in atom.args:
            for name, level in _variable_depths(arg).items():
                in_body[name] = max(in_body.get(name, 0), level)
    return any(level > in_body.get(name, 0) for name, level in _variable_depths(term).items())


def _whole(atom: Atom) -> tuple[str, Term] | None:
    """Return the fluent ("true") or move ("act") of an atom, or None."""
    if atom.name in ("true", "next", "init") and len(atom.args) == 1:
        return "true", atom.args[0]
    if atom.name in ("legal", "does") and len(atom.args) == 2:
        return "act", atom.args[1]
    return None


def _passes_on(literal: Literal, kind: str, variable: Variable) -> bool:
    """Whether a literal of a body binds a variable to a whole fluent or move."""
    if isinstance(literal, Atom):
        return _whole(literal) == (kind, variable)
    if isinstance(literal, And):
        return any(_passes_on(part, kind, variable) for part in literal.literals)
    if isinstance(literal, Or) and literal.literals:
        return all(_passes_on(part, kind, variable) for part in literal.literals)
    return False


def _atoms(literals: Iterable[Literal], certain: bool = True) -> Iterable[tuple[Atom, bool]]:
    """Yield the positive atoms of a body, with whether each must hold."""
    for literal in literals:
        if isinstance(literal, Atom):
            yield literal, certain
        elif isinstance(literal, And | Or):
            yield from _atoms(literal.literals, certain and isinstance(literal, And))


def _arguments(tree: _Tree) -> Iterable[tuple[Position, Term]]:
    """Yield every position in a flattened body with its term."""
    if isinstance(tree, tuple):
        relation, args = tree
        for number, term in enumerate(args):
            yield (relation, number), term
    else:
        for part in tree:
            yield from _arguments(part)


def _targets(instances: Iterable[_Instance]) -> dict[Position, list[Position]]:
    """Return, for each position of a body, the positions of the head to which it passes a variable."""
    passed: dict[Position, list[Position]] = {}
    for instance in instances:
        places: dict[str, list[Position]] = {}
        for place, _, _, variables in instance.head:
            for name in variables:
                places.setdefault(name, []).append(place)
        for place, term in _arguments(instance.body) if places else ():
            for variable in variables_of(term):
                passed.setdefault(place, []).extend(places.get(variable.name, ()))
    return passed


def _flat_body(literals: Iterable[Literal], binding: dict[str, Term]) -> _All:
    """Flatten the positive atoms of a conjunction; other literals only restrict derivations."""
    flat = _All()
    for literal in literals:
        if isinstance(literal, Atom):
            flat += _flat(literal, binding)
        elif isinstance(literal, And):
            flat += _flat_body(literal.literals, binding)
        elif isinstance(literal, Or):
            # keep alternatives that bind nothing: they leave variables unbound
            flat.append(_Any(_flat_body((part,), binding) for part in literal.literals))
    return flat


def _flat(atom: Atom, binding: Mapping[str, Term] = MappingProxyType({})) -> list[_FlatAtom]:
    """Return the flattened relations of an atom; the role of a move is a relation of its own."""
    whole = _whole(atom)
    if whole is None:
        args = tuple(_bind(arg, binding) for arg in atom.args) if binding else atom.args
        return [(atom.key, args)] if args else []
    kind, term = whole
    term = _bind(term, binding)
    atoms: list[_FlatAtom] = []
    if kind == "act":
        atoms.append((("mover", 1), (_bind(atom.args[0], binding),)))
    if isinstance(term, Function):
        atoms.append(((kind, term.key), term.args))
    return atoms  # constants and variables that occur only here impose no bound


def _bind(term: Term, binding: Mapping[str, Term]) -> Term:
    if not binding:
        return term
    if isinstance(term, Variable):
        return binding.get(term.name, term)
    if isinstance(term, Function):
        return Function(term.name, tuple(_bind(a, binding) for a in term.args), None, term.start, term.end)
    return term


def _name(position: Position) -> str:
    relation, number = position
    assert isinstance(relation, tuple)
    assert isinstance(number, int)
    if isinstance(relation[1], tuple):
        kind, (name, arity) = relation
        return f"{'true' if kind == 'true' else 'does'} ({name}/{arity}) argument {number + 1}"
    return f"{relation[0]}/{relation[1]} argument {number + 1}"
