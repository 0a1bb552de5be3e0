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
from itertools import product
from typing import TYPE_CHECKING, Final, TypeAlias

from herbrand.syntax.nodes import And, Atom, Constant, Function, Or, Rule, Variable, variables_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from herbrand.syntax.nodes import Literal, Term

__all__ = ["FiniteCertificate", "finite_certificate"]

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


def _depth(term: Term) -> int:
    """Return the nesting depth of a term, counting variables as constants."""
    deepest = 0
    stack: list[tuple[Term, int]] = [(term, 0)]
    while stack:
        term, level = stack.pop()
        if isinstance(term, Function):
            stack += ((arg, level + 1) for arg in term.args)
        elif level > deepest:
            deepest = level
    return deepest


def _variable_depths(term: Term) -> dict[str, int]:
    """Return the maximum depth of each variable in a term."""
    depths: dict[str, int] = {}
    stack: list[tuple[Term, int]] = [(term, 0)]
    while stack:
        term, level = stack.pop()
        if isinstance(term, Function):
            stack += ((arg, level + 1) for arg in term.args)
        elif isinstance(term, Variable):
            depths[term.name] = max(depths.get(term.name, 0), level)
    return depths


class _All(list["_Tree"]):
    """A conjunction: the smallest bound of its literals counts."""


class _Any(list["_Tree"]):
    """A disjunction: the largest bound of its alternatives counts."""


_Tree: TypeAlias = "_All | _Any | _FlatAtom"


class _Depths:
    """The system of inequalities and its least solution."""

    def __init__(self, rules: list[Rule]) -> None:
        self.rules = rules
        self.shapes = _shapes(rules)
        self.fluents = self._whole_shapes("true")
        self.moves = self._whole_shapes("act")
        self.depth: dict[Position, int] = {}
        self.readers: dict[Position, list[int]] = {}
        self.instances: list[tuple[Rule, list[tuple[Position, Term, int, dict[str, int]]], _All]] = []
        self.too_many_instances: tuple[Rule, Term] | None = None

    def solve(self) -> FiniteCertificate:
        """Compute the least solution, or detect that it is infinite."""
        for rule in self.rules:
            self._flatten(rule)
        if self.too_many_instances:
            return FiniteCertificate(holds=False, culprit=self.too_many_instances)
        for number, (_, _, body) in enumerate(self.instances):
            for position in set(_positions(body)):
                self.readers.setdefault(position, []).append(number)
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
                    for reader in self.readers.get(position, ()):
                        if reader not in queued:
                            queued.add(reader)
                            queue.append(reader)
        depths = {_name(position): depth for position, depth in self.depth.items() if depth > 0}
        return FiniteCertificate(holds=True, depths=depths)

    def _culprit(self, rule: Rule, term: Term) -> tuple[Rule, Term]:
        """Return a rule that builds a term in this cycle, rather than one that only passes it on."""
        deep = {p for p, depth in self.depth.items() if depth > CEILING // 2}
        for origin, head, body in self.instances:
            for (place, built, _, _), written in product(head, origin.head.args):
                if place in deep and _builds_term(written, origin) and deep & set(_positions(body)):
                    return origin, self._written(origin, built)
        return rule, self._written(rule, term)

    def _written(self, rule: Rule, term: Term) -> Term:
        return term if term.end > term.start else rule.head.args[-1] if rule.head.args else term

    # -- depths ----------------------------------------------------------------------------------

    def _applies(self, body: _All) -> bool:
        """Whether each atom of the conjunction can match what is derived so far."""
        for part in body:
            if isinstance(part, tuple):
                relation, args = part
                for number, term in enumerate(args):
                    if self.depth.get((relation, number), _EMPTY) < (
                        0 if not isinstance(term, Function) else _depth(term)
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

    def _whole_shapes(self, kind: str) -> list[_Shape]:
        """Return the possible shapes of fluents or moves; all functions if a variable may add others."""
        shapes: dict[_Shape, None] = {_CONSTANT: None}
        for rule in self.rules:
            whole = _whole(rule.head)
            if whole is None or whole[0] != kind:
                continue
            if isinstance(whole[1], Variable):
                name = whole[1].name
                if not any(_passes_on(literal, kind, name) for literal in rule.body):
                    return [_CONSTANT, *self.shapes]
            elif isinstance(whole[1], Function):
                shapes[whole[1].key] = None
        return list(shapes)

    def _flatten(self, rule: Rule) -> None:
        """Add the instances of a rule."""
        body = _positive(rule.body)
        if next(variables_of(rule.head), None) is None:
            # a ground head contributes the same terms whatever the body
            self._add(rule, rule.head, _All(), {})
            return
        wholes: dict[str, list[_Shape]] = {}
        counts = Counter(variable.name for variable in variables_of(rule))
        everything = [_CONSTANT, *self.shapes]
        for atom, certain in ((rule.head, True), *_atoms(body, certain=True)):
            whole = _whole(atom)
            if whole is None or not isinstance(whole[1], Variable):
                continue
            name = whole[1].name
            if counts[name] > 1 or atom is rule.head:
                shapes = self.fluents if whole[0] == "true" else self.moves
                if not certain:  # another alternative may bind it to anything
                    shapes = everything
                previous = wholes.get(name)
                if previous is None or len(shapes) < len(previous):
                    wholes[name] = shapes
        number = 1
        for shapes in wholes.values():
            number *= len(shapes)
        if number > SPLIT_LIMIT:
            self.too_many_instances = self.too_many_instances or (rule, rule.head.args[-1])
            return
        names = list(wholes)
        for choice in product(*wholes.values()):
            binding: dict[str, Term] = {}
            for name, (function, arity) in zip(names, choice, strict=True):
                if function:
                    args = tuple(Variable(f"{name}.{i}") for i in range(arity))
                    binding[name] = Function(function, args)
                else:
                    binding[name] = Constant("")
            self._add(rule, rule.head, body, binding)

    def _add(self, rule: Rule, head: Atom, body: _All, binding: dict[str, Term]) -> None:
        positions: list[tuple[Position, Term, int, dict[str, int]]] = [
            ((relation, number), term, _depth(term), _variable_depths(term))
            for relation, args in _flat(head, binding)
            for number, term in enumerate(args)
        ]
        if positions:
            self.instances.append((rule, positions, _flat_all(body, binding)))


def _builds_term(term: Term, rule: Rule) -> bool:
    """Whether a variable is deeper in a term of the head than anywhere in the body."""
    in_body: dict[str, int] = {}
    for atom, _ in _atoms(_positive(rule.body), certain=True):
        for arg in atom.args:
            for name, level in _variable_depths(arg).items():
                in_body[name] = max(in_body.get(name, 0), level)
    return any(level > in_body.get(name, 0) for name, level in _variable_depths(term).items())


def _shapes(rules: Iterable[Rule]) -> list[_Shape]:
    """Return every function symbol of the sheet."""
    from herbrand.syntax.nodes import Node, children

    shapes: dict[_Shape, None] = {}
    stack: list[Node] = list(rules)
    while stack:
        node = stack.pop()
        if isinstance(node, Function):
            shapes[node.key] = None
        stack += children(node)
    return list(shapes)


def _whole(atom: Atom) -> tuple[str, Term] | None:
    """Return the fluent ("true") or move ("act") of an atom, or None."""
    if atom.name in ("true", "next", "init") and len(atom.args) == 1:
        return "true", atom.args[0]
    if atom.name in ("legal", "does") and len(atom.args) == 2:
        return "act", atom.args[1]
    return None


def _passes_on(literal: Literal, kind: str, name: str) -> bool:
    """Whether a literal of a body binds a variable to a whole fluent or move."""
    if isinstance(literal, Atom):
        whole = _whole(literal)
        if whole is None or whole[0] != kind:
            return False
        return isinstance(whole[1], Variable) and whole[1].name == name
    if isinstance(literal, And):
        return any(_passes_on(part, kind, name) for part in literal.literals)
    if isinstance(literal, Or) and literal.literals:
        return all(_passes_on(part, kind, name) for part in literal.literals)
    return False


def _positive(literals: Iterable[Literal]) -> _All:
    """Keep only atoms, conjunctions and disjunctions; other literals only restrict derivations."""
    tree = _All()
    for literal in literals:
        part = _positive_part(literal)
        if part is not None:
            tree.append(part)
    return tree


def _positive_part(literal: Literal) -> _Tree | None:
    if isinstance(literal, Atom):
        return (literal, ())
    if isinstance(literal, And):
        return _positive(literal.literals)
    if isinstance(literal, Or):
        return _Any(_positive([part]) for part in literal.literals)
    return None


def _atoms(tree: _Tree, *, certain: bool) -> Iterable[tuple[Atom, bool]]:
    """Yield the atoms of a body, with whether each must hold."""
    if isinstance(tree, tuple):
        assert isinstance(tree[0], Atom)
        yield tree[0], certain
    else:
        for part in tree:
            yield from _atoms(part, certain=certain and isinstance(tree, _All))


def _positions(tree: _Tree) -> Iterable[Position]:
    if isinstance(tree, tuple):
        for number in range(len(tree[1])):
            yield (tree[0], number)
    else:
        for part in tree:
            yield from _positions(part)


def _flat_all(tree: _All, binding: dict[str, Term]) -> _All:
    """Flatten the atoms of a conjunction."""
    flat = _All()
    for part in tree:
        if isinstance(part, tuple):
            assert isinstance(part[0], Atom)
            flat += _flat(part[0], binding)
        elif isinstance(part, _All):
            flat += _flat_all(part, binding)
        else:
            # keep alternatives that bind nothing: they leave variables unbound
            flat.append(_Any(_flat_all(_All([inner]), binding) for inner in part))
    return flat


def _flat(atom: Atom, binding: dict[str, Term]) -> list[_FlatAtom]:
    """Return the flattened relations of an atom; the role of a move is a relation of its own."""
    whole = _whole(atom)
    if whole is None:
        return [(atom.key, tuple(_bind(arg, binding) for arg in atom.args))] if atom.args else []
    kind, term = whole
    term = _bind(term, binding)
    atoms: list[_FlatAtom] = []
    if kind == "act":
        atoms.append((("mover", 1), (_bind(atom.args[0], binding),)))
    if isinstance(term, Function):
        atoms.append(((kind, term.key), term.args))
    return atoms  # constants and variables that occur only here impose no bound


def _bind(term: Term, binding: dict[str, Term]) -> Term:
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
