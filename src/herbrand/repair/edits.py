"""Edits of rules: one literal, constant, variable, relation or rule changed, added or removed.

Two sources of edits: every local change that keeps the types of arguments (`argument_types`), and rules that
are missing, by analogy to those that are there: frame rules, and images of rules under an exchange of names.
The space is finite, and the inverse of each kind of edit is in it.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from itertools import chain, combinations, islice, product
from typing import TYPE_CHECKING, Any, Final, TypeVar

from herbrand.syntax.argument_types import Types, places
from herbrand.syntax.names import fresh
from herbrand.syntax.nodes import (
    Atom,
    Constant,
    Distinct,
    Function,
    Node,
    Not,
    Or,
    Rule,
    Variable,
    children,
    rebuilt,
    variables_of,
    walk,
)

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Sequence

    from herbrand.syntax.argument_types import Place
    from herbrand.syntax.nodes import Literal, Term

__all__ = ["RuleEdit", "composed", "edited", "exclusive_goals", "rule_edits", "standard_names", "step_limit"]

FIXED: Final = frozenset({"role", "base", "input", "sees"})
"""Relations whose statements are never edited, since they only declare the game."""
KEYWORDS: Final = FIXED | {"init", "next", "true", "does", "legal", "goal", "terminal"}
MOST_CONSTANTS: Final = 12
"""Most constants tried at one place: those closest to the present one."""
ANY: Final = "any"
"""The prefix of names of new variables."""
MOST_BINDINGS: Final = 24
"""Most bindings tried for the variables of an added condition."""
KINDS: Final = {"next": "true", "init": "true", "does": "legal"}
"""The relations with the same fluents, or moves, as `true` and `legal`."""
_N = TypeVar("_N", bound=Node)


@dataclass(frozen=True, slots=True)
class RuleEdit:
    """A statement that is replaced, removed or added."""

    kind: str
    """The change to a literal, term or rule: "drop", "add", "negate", "constant", "variable", "relation",
    "remove-rule" or "add-rule"; "complete", which adds a rule for a missing case; "exclusive",
    by which a goal value holds only without another; or "limit", which ends the game after some number of
    steps."""
    number: int | None
    """The statement that is edited, by its index; None where one is added."""
    rules: tuple[Rule, ...]
    """The replacement: one rule, none where it is removed, several where a helper is added."""

    @property
    def rule(self) -> Rule | None:
        """The edited or added rule, None where one is removed."""
        return self.rules[-1] if self.rules else None


def edited(statements: Sequence[Rule], edits: Iterable[RuleEdit]) -> list[Rule]:
    """Return the statements after some edits of different statements."""
    edits = tuple(edits)
    changed = {edit.number: edit.rules for edit in edits if edit.number is not None}
    remaining = [rule for number, old in enumerate(statements) for rule in changed.get(number, (old,))]
    return remaining + [rule for edit in edits if edit.number is None for rule in edit.rules]


def composed(statements: Sequence[Rule], before: Sequence[RuleEdit], edit: RuleEdit) -> tuple[RuleEdit, ...]:
    """Return edits of some statements equivalent to the edits `before` followed by one of their result."""
    if edit.number is None:
        return (*before, edit)
    changed = {one.number: one for one in before if one.number is not None}
    places: list[tuple[int, RuleEdit | None, int]] = []  # where each edited statement comes from
    for number in range(len(statements)):
        one = changed.get(number)
        places += [(number, one, k) for k in range(1 if one is None else len(one.rules))]
    places += [(0, one, k) for one in before if one.number is None for k in range(len(one.rules))]
    number, again, k = places[edit.number]
    if again is None:
        return (*before, replace(edit, number=number))
    twice = replace(again, rules=(*again.rules[:k], *edit.rules, *again.rules[k + 1 :]))
    return tuple(twice if one is again else one for one in before)


def rule_edits(
    statements: Sequence[Rule],
    *,
    faults: Container[str] = (),
    only: Container[int] = (),
    heads: Container[tuple[str, int]] | None = None,
) -> Iterator[RuleEdit]:
    """Yield all edits of some statements, without repetitions and without those that leave a rule unsafe.

    With "playability" among the faults, also rules for a role that has no legal move: it passes, or the game
    is over; with "goals", a value for a role that has none.  `only` restricts them to changes of some
    statements, `heads` to rules of some relations.
    """
    sheet = _Sheet(statements)
    seen: set[tuple[int | None, tuple[Rule, ...]]] = set()
    edits = sheet.changes(only) if only else chain(sheet.edits(heads), sheet.completed(faults))
    for edit in edits:
        if heads is not None and edit.rules and not any(rule.head.key in heads for rule in edit.rules):
            continue
        key = edit.number, edit.rules
        if key in seen or (edit.number is not None and edit.rules == (statements[edit.number],)):
            continue
        seen.add(key)
        if all(is_safe(rule) for rule in edit.rules):
            yield edit


def step_limit(statements: Sequence[Rule], digits: int) -> RuleEdit:
    """Return the edit that ends the game when a counter of `digits` digits is full, after 99 or 999 steps.

    A role without a goal value gets 0.
    """
    names = {node.name for node in walk(*statements) if isinstance(node, Atom | Function | Constant)}
    steps, following = fresh("steps", names), fresh("next_digit", names)
    ten = [Constant(str(digit)) for digit in range(10)]
    rules = [Rule(Atom(following, (ten[n], ten[n + 1]))) for n in range(9)]
    rules.append(Rule(Atom("init", (Function(steps, (ten[0],) * digits),))))
    old, new = Variable("m"), Variable("n")
    for place in range(digits - 1, -1, -1):  # the digit that grows: those behind it are 9, and become 0
        before = [Variable(name) for name in "abcdefgh"[:place]]
        behind = digits - 1 - place
        full = Function(steps, (*before, old, *ten[9:] * behind))
        empty = Function(steps, (*before, new, *ten[:1] * behind))
        rules.append(Rule(Atom("next", (empty,)), (Atom("true", (full,)), Atom(following, (old, new)))))
    rules.append(Rule(Atom("terminal"), (Atom("true", (Function(steps, (ten[9],) * digits),)),)))
    return RuleEdit("limit", None, (*_Sheet(statements).other_goal("0"), *rules))


def exclusive_goals(statements: Sequence[Rule]) -> Iterator[tuple[RuleEdit, ...]]:
    """Yield edits by which goal values that hold together no longer do.

    A rule with its images for the other roles, or all rules of a value, get the condition that another value
    does not hold.  Values in the middle, mostly draws, are tried first; as a last resort the greatest value
    prevails.  Yields nothing if a value is not a number.
    """
    goals = {number: rule for number, rule in enumerate(statements) if rule.head.key == ("goal", 2)}
    values = {number: rule.head.args[1] for number, rule in goals.items()}
    if not all(isinstance(value, Constant) and value.name.isdecimal() for value in values.values()):
        return
    amount = {number: int(str(value)) for number, value in values.items()}
    used = {node.name for node in walk(*statements) if isinstance(node, Atom)}
    roles = [rule.head.args[0] for rule in statements if rule.head.key == ("role", 1)]
    groups: dict[object, list[int]] = {}
    for number, rule in goals.items():
        to: dict[Term, Term] = {role: Constant("another") for role in roles}
        to[rule.head.args[0]] = Constant("self")
        groups.setdefault(standard_names(_mapped(rule, to)), []).append(number)
        groups.setdefault(amount[number], []).append(number)

    def giving_way(numbers: Sequence[int], name: str, others: Sequence[int]) -> Iterator[RuleEdit]:
        other = fresh(name, set(used))
        rules = [Rule(Atom(other, goals[n].head.args[:1]), goals[n].body) for n in others]
        for n in numbers:
            guard = Not(Atom(other, goals[n].head.args[:1]))
            rules.append(Rule(goals[n].head, (*goals[n].body, guard)))
            yield RuleEdit("exclusive", n, tuple(rules))
            rules = []

    order = sorted(map(tuple, groups.values()), key=lambda some: (abs(amount[some[0]] - 50), len(some)))
    for some in dict.fromkeys(order):
        value = amount[some[0]]
        others = [n for n in goals if amount[n] != value]
        if others:
            yield tuple(giving_way(some, f"goal_other_than_{value}", others))
    yield tuple(
        edit
        for value in sorted(set(amount.values()))[:-1]
        for edit in giving_way(
            [n for n in goals if amount[n] == value],
            f"goal_above_{value}",
            [n for n in goals if amount[n] > value],
        )
    )


def is_safe(rule: Rule) -> bool:
    """Whether positive literals bind every variable of the head, of negations and of `distinct`."""
    bound = _bound(rule.body)
    needed = {variable.name for variable in variables_of(rule.head)}
    for literal in rule.body:
        if isinstance(literal, Not | Distinct):
            needed |= {variable.name for variable in variables_of(literal)}
    return needed <= bound


def _bound(body: Iterable[Literal]) -> set[str]:
    bound: set[str] = set()
    for literal in body:
        if isinstance(literal, Atom):
            bound |= {variable.name for variable in variables_of(literal)}
        elif isinstance(literal, Or) and literal.literals:
            bound |= set.intersection(*(_bound((part,)) for part in literal.literals))
        elif not isinstance(literal, Not | Distinct):
            bound |= _bound(children(literal))  # type: ignore[arg-type]
    return bound


def _with_one_free(choices: Sequence[Sequence[Term]], free_one: Variable) -> Iterator[tuple[Term, ...]]:
    """Yield one term for each place, with the free variable at most once, and something that is bound.

    In the order of `product`, but without going through the combinations that have more free variables: of a
    dozen places, these are nearly all.
    """
    only_free = [all(term == free_one for term in terms) for terms in choices]

    def extended(chosen: tuple[Term, ...], free: int) -> Iterator[tuple[Term, ...]]:
        at = len(chosen)
        if free + sum(only_free[at:]) > 1:
            return
        if at == len(choices):
            if free < at:
                yield chosen
            return
        for term in choices[at]:
            yield from extended((*chosen, term), free + (term == free_one))

    return extended((), 0)


class _Sheet:
    """Statements with their joint analysis: types, names, relations."""

    def __init__(self, statements: Sequence[Rule]) -> None:
        self.statements = statements
        self.types = Types.of(statements)
        self.shapes = self._shapes()

    def edits(self, heads: Container[tuple[str, int]] | None) -> Iterator[RuleEdit]:
        """Yield the changes of rules for some relations, by default all, and the added rules."""
        some = {n for n, rule in enumerate(self.statements) if heads is None or rule.head.key in heads}
        yield from self.changes(some)
        yield from self._images()
        yield from self._frames()

    def changes(self, numbers: Container[int]) -> Iterator[RuleEdit]:
        """Yield the changes of some statements."""
        for number, rule in enumerate(self.statements):
            if number in numbers and rule.head.name not in FIXED:
                yield from self._changed(number, rule)

    # -- changes of a rule ----------------------------------------------------------------

    def _changed(self, number: int, rule: Rule) -> Iterator[RuleEdit]:
        for kind, changed in self._local(rule):
            yield RuleEdit(kind, number, (changed,))
        for added in self._conditions(rule):
            yield RuleEdit("add", number, (Rule(rule.head, (*rule.body, added), rule.start, rule.end),))
        yield RuleEdit("remove-rule", number, ())

    def _local(self, rule: Rule) -> Iterator[tuple[str, Rule]]:
        """Yield the rule with one thing replaced or removed."""
        where = self._types_in(rule)
        for path, node in with_paths(rule):
            if isinstance(node, Constant) and path:
                place = where.get(path)
                for other in (*self._constants(place, node), *self._in_table(rule, path, place)):
                    yield "constant", replaced(rule, path, other)
                for variable in self._variables(rule, where, place):
                    yield "variable", replaced(rule, path, variable)
            elif isinstance(node, Variable):
                place = where.get(path)
                for variable in self._variables(rule, where, place):
                    if variable.name != node.name:
                        yield "variable", replaced(rule, path, variable)
                for other in self._constants(place, None):
                    yield "constant", replaced(rule, path, other)
        yield from self._literals(rule)

    def _literals(self, rule: Rule) -> Iterator[tuple[str, Rule]]:
        """Yield the rule with one literal dropped, negated, or with another relation."""
        for n, literal in enumerate(rule.body):
            rest = (*rule.body[:n], *rule.body[n + 1 :])
            yield "drop", Rule(rule.head, rest, rule.start, rule.end)
            for kind, other in self._instead(literal):
                body = (*rule.body[:n], other, *rule.body[n + 1 :])
                yield kind, Rule(rule.head, body, rule.start, rule.end)
        for other_head in self._other_relations(rule.head):
            yield "relation", Rule(other_head, rule.body, rule.start, rule.end)

    def _instead(self, literal: Literal) -> Iterator[tuple[str, Literal]]:
        if isinstance(literal, Atom):
            yield "negate", Not(literal)
            for atom in self._other_relations(literal):
                yield "relation", atom
        elif isinstance(literal, Not):
            yield "negate", literal.literal
            if isinstance(literal.literal, Atom):
                for atom in self._other_relations(literal.literal):
                    yield "relation", Not(atom)
        elif isinstance(literal, Or):
            for n, part in enumerate(literal.literals):
                if len(literal.literals) > 1:
                    yield "drop", Or((*literal.literals[:n], *literal.literals[n + 1 :]))
                for kind, other in self._instead(part):
                    yield kind, Or((*literal.literals[:n], other, *literal.literals[n + 1 :]))

    def _other_relations(self, atom: Atom) -> Iterator[Atom]:
        """Yield the atom with another relation, or its fluent with another name, of the same types."""
        if atom.name in {"true", "next", "init", "does", "legal"} and atom.args:
            if atom.name in {"next", "init"}:
                yield Atom("next" if atom.name == "init" else "init", atom.args)
            inner = atom.args[-1]
            if isinstance(inner, Function):
                for name in sorted(self._functions_like(inner, atom.name)):
                    yield Atom(atom.name, (*atom.args[:-1], Function(name, inner.args)))
            return
        if atom.name in FIXED | {"goal", "terminal"} or not atom.args:
            return
        signature = self.types.signature(atom)
        names = {
            rule.head.name
            for rule in self.statements
            if rule.head.arity == atom.arity
            and rule.head.name not in FIXED | {"next", "legal", "init", "goal", atom.name}
            and self.types.signature(rule.head) == signature
        }
        for name in sorted(names):
            yield Atom(name, atom.args)

    def _functions_like(self, term: Function, relation: str) -> set[str]:
        """Return the names of the other fluents, or moves, with arguments of the same types."""

        def types(name: str) -> list[Place]:
            return [self.types.type_of((name, term.arity, n)) for n in range(term.arity)]

        kind, own = KINDS.get(relation, relation), types(term.name)
        heads = [rule.head for rule in self.statements if rule.head.args]
        inside = [head.args[-1] for head in heads if KINDS.get(head.name, head.name) == kind]
        others = {inner.name for inner in inside if isinstance(inner, Function) and inner.arity == term.arity}
        return {name for name in others - {term.name} if types(name) == own}

    def _types_in(self, rule: Rule) -> dict[tuple[int, ...], Place]:
        """Return the type at the path of each term of a rule, as far as it is known."""
        types: dict[tuple[int, ...], Place] = {}
        of_variable: dict[str, Place] = {}
        for path, node in with_paths(rule):
            if isinstance(node, Atom):
                _, *terms = with_paths(node)  # in the order of `places`
                for (inner, term), (place, _) in zip(terms, places(node), strict=True):
                    types[*path, *inner] = self.types.type_of(place)
                    if isinstance(term, Variable):
                        of_variable[term.name] = types[*path, *inner]
        for path, node in with_paths(rule):
            if isinstance(node, Distinct):
                sides = (node.left, node.right)
                side_types = [of_variable.get(side.name) for side in sides if isinstance(side, Variable)]
                for n in range(2):
                    types |= {(*path, n): place for place in side_types if place is not None}
        return types

    def _constants(self, place: Place | None, near: Constant | None) -> list[Constant]:
        if place is None:
            return []
        others = [constant for constant in self.types.domain(place) if constant != near]
        if near is None:
            return others if len(others) <= MOST_CONSTANTS // 2 else []
        if len(others) > MOST_CONSTANTS:
            order = sorted((constant.name for constant in self.types.domain(place)), key=_in_order)
            at = order.index(near.name) if near.name in order else 0
            others.sort(key=lambda constant: abs(order.index(constant.name) - at))
        return others[:MOST_CONSTANTS]

    def _in_table(self, rule: Rule, path: tuple[int, ...], place: Place | None) -> list[Constant]:
        """Return constants that a fact of a large table may have: those its column lacks, and neighbours."""
        if rule.body or len(path) != 2 or place is None:
            return []
        domain = self.types.domain(place)
        if len(domain) <= MOST_CONSTANTS:
            return []
        column = {other.head.args[path[1]] for other in self.statements if other.head.key == rule.head.key}
        near = {str(n) for arg in rule.head.args for n in _around(arg)}
        missing = [constant for constant in domain if constant not in column]
        return [*missing[:MOST_CONSTANTS], *(constant for constant in domain if constant.name in near)]

    def _variables(
        self, rule: Rule, where: dict[tuple[int, ...], Place], place: Place | None
    ) -> list[Variable]:
        """Return the variables of a rule of a type, by name."""
        named = {
            node.name: node
            for path, node in with_paths(rule)
            if isinstance(node, Variable) and place is not None and where.get(path) == place
        }
        return [named[name] for name in sorted(named)]

    # -- added conditions -----------------------------------------------------------------

    def _shapes(self) -> list[Literal]:
        """Return the conditions of all rules up to the names of their variables, the frequent first."""
        count: Counter[Literal] = Counter()
        for rule in self.statements:
            count.update(standard_names(one) for one in rule.body if isinstance(one, Atom | Not | Distinct))
        for rule in self.statements:  # a relation is asked for in general, too
            for literal in rule.body:
                if isinstance(literal, Atom) and any(True for _ in variables_of(literal)):
                    count.setdefault(standard_names(Not(literal)), 0)
            if rule.head.args and rule.head.name not in KEYWORDS:  # of which none may be left
                letters = tuple(Variable(f"v{n + 1}") for n in range(len(rule.head.args)))
                count.setdefault(Atom(rule.head.name, letters), 0)
        roles = [rule.head.args[0] for rule in self.statements if rule.head.key == ("role", 1)]
        any_role: dict[Term, Term] = {role: Variable("v1") for role in roles}
        actor: dict[Term, Term] = {role: Variable("v0") for role in roles}
        for shape in list(count):  # conditions for one role are generalised to any
            atom = shape.literal if isinstance(shape, Not) else shape
            general = _mapped(atom, any_role)
            if isinstance(atom, Atom) and general != atom and not any(variables_of(atom)):
                count.setdefault(general, 0)
                count.setdefault(Not(general), 0)
            elif isinstance(atom, Atom) and atom.name == "does" and atom.args[0] in any_role:
                count.setdefault(_mapped(atom, actor), 0)
        return sorted(count, key=lambda shape: -count[shape])

    def _conditions(self, rule: Rule) -> Iterator[Literal]:
        """Yield conditions that the rule does not have, with its variables."""
        where = self._types_in(rule)
        by_type: dict[Place, dict[str, Variable]] = {}
        for path, node in with_paths(rule):
            if isinstance(node, Variable) and path in where:
                by_type.setdefault(where[path], {})[node.name] = node
        present = set(rule.body)
        used = {node.name for _, node in with_paths(rule) if isinstance(node, Variable)}
        names = (ANY, *(f"{ANY}{n}" for n in range(2, len(used) + 3)))
        free = Variable(next(name for name in names if name not in used))
        for shape in self.shapes:
            if isinstance(shape, Distinct):
                continue
            atom = shape.literal if isinstance(shape, Not) else shape
            if not isinstance(atom, Atom) or (atom.name == "does" and rule.head.name not in {"next", "sees"}):
                continue
            for literal in self._bindings(shape, atom, by_type, free):
                if literal not in present:
                    yield literal
        for by_name in by_type.values():
            for left, right in combinations(sorted(by_name), 2):
                yield Distinct(by_name[left], by_name[right])
        for place, by_name in by_type.items():
            for name, constant in product(sorted(by_name), self._constants(place, None)):
                yield Distinct(by_name[name], constant)

    def _bindings(
        self, shape: Literal, atom: Atom, by_type: dict[Place, dict[str, Variable]], free: Variable
    ) -> Iterator[Literal]:
        wanted: dict[str, list[Term]] = {}
        for place, term in places(atom):
            if isinstance(term, Variable) and term.name not in wanted:
                fitting = by_type.get(self.types.type_of(place)) or self._alike(place, by_type)
                wanted[term.name] = [fitting[name] for name in sorted(fitting)]
                if isinstance(shape, Atom):
                    wanted[term.name].append(free)
                if not by_type:
                    wanted[term.name] += self._constants(self.types.type_of(place), None)
        if not wanted:
            yield shape
            return
        for terms in islice(_with_one_free(list(wanted.values()), free), MOST_BINDINGS):
            to: dict[Term, Term] = {Variable(name): term for name, term in zip(wanted, terms, strict=True)}
            yield _mapped(shape, to)

    def _alike(self, place: Place, by_type: dict[Place, dict[str, Variable]]) -> dict[str, Variable]:
        """Return the variables of types that have a constant of this one: what joined them may be lost."""
        names = {constant.name for constant in self.types.domain(place)}
        return {
            name: variable
            for type_, by_name in by_type.items()
            if any(constant.name in names for constant in self.types.domain(type_))
            for name, variable in by_name.items()
        }

    # -- added rules ----------------------------------------------------------------------

    def completed(self, faults: Container[str]) -> Iterator[RuleEdit]:
        """Yield rules for missing cases: a role that cannot move, or that has no goal value."""
        role = Variable("player")
        used = {rule.head.name for rule in self.statements}
        if "playability" in faults:
            can = fresh("can_move", used)
            stuck = (Atom("role", (role,)), Not(Atom(can, (role,))))
            helpers = self._first_arguments("legal", can)
            legal = [rule.head.args[1] for rule in self.statements if rule.head.key == ("legal", 2)]
            moves = [move for move in legal if isinstance(move, Constant)]
            for move in dict.fromkeys([*moves, Constant("noop")]):
                yield RuleEdit("complete", None, (*helpers, Rule(Atom("legal", (role, move)), stuck)))
            yield RuleEdit("complete", None, (*helpers, Rule(Atom("terminal"), stuck)))
        if "goals" in faults:
            for value in ("0", "50"):
                yield RuleEdit("complete", None, self.other_goal(value))

    def other_goal(self, value: str) -> tuple[Rule, ...]:
        """Return rules that give a goal value to roles without one."""
        role = Variable("player")
        has = fresh("has_goal", {rule.head.name for rule in self.statements})
        body = Atom("role", (role,)), Not(Atom(has, (role,)))
        return (*self._first_arguments("goal", has), Rule(Atom("goal", (role, Constant(value))), body))

    def _first_arguments(self, relation: str, name: str) -> tuple[Rule, ...]:
        """Return rules for a relation that holds of the first arguments of another one."""
        rules = [rule for rule in self.statements if rule.head.key == (relation, 2)]
        return tuple(Rule(Atom(name, rule.head.args[:1]), rule.body) for rule in rules)

    def _images(self) -> Iterator[RuleEdit]:
        """Yield the images of rules under exchanges of two constants of a type, where they are missing."""
        present = {standard_names(rule) for rule in self.statements}
        pairs: dict[tuple[Constant, Constant], None] = {}
        for place in self.types.parent:
            if self.types.type_of(place) == place:
                domain = self.types.domain(place)
                if len(domain) <= MOST_CONSTANTS:
                    pairs |= dict.fromkeys(combinations(domain, 2))
        roles = [rule.head.args[0] for rule in self.statements if rule.head.key == ("role", 1)]
        for rule in self.statements:
            if rule.head.name in FIXED or not rule.body:
                continue
            constants = {node for node in walk(rule) if isinstance(node, Constant)}
            for a, b in pairs:
                if a in constants or b in constants:
                    exchange: dict[Term, Term] = {a: b, b: a}
                    for to in (exchange, _together(exchange, roles)):
                        image = Rule(_mapped(rule.head, to), tuple(_mapped(part, to) for part in rule.body))
                        if standard_names(image) not in present:
                            yield RuleEdit("add-rule", None, (image,))

    def _frames(self) -> Iterator[RuleEdit]:
        """Yield frame rules: a fluent stays, under a condition, or unless another rule changes it."""
        fluents: dict[tuple[str, int], None] = {}
        for rule in self.statements:
            if rule.head.name in {"init", "next"} and rule.head.args:
                term = rule.head.args[0]
                if isinstance(term, Constant | Function):
                    fluents[term.name, len(term.args)] = None
        for name, arity in fluents:
            for pattern in self._patterns(name, arity):
                unchanged = Atom("true", (pattern,))
                frame = Rule(Atom("next", (pattern,)), (unchanged,))
                yield RuleEdit("add-rule", None, (frame,))
                for condition in self._conditions(frame):
                    yield RuleEdit("add-rule", None, (Rule(frame.head, (unchanged, condition)),))
            yield from self._unless_set(name, arity)

    def _patterns(self, name: str, arity: int) -> Iterator[Term]:
        """Yield a fluent with variables only, and with one argument a constant that stands there."""
        if not arity:
            yield Constant(name)
            return
        letters = tuple(Variable(f"v{n + 1}") for n in range(arity))
        yield Function(name, letters)
        for n in range(arity):
            domain = self.types.domain((name, arity, n))
            if len(domain) <= MOST_CONSTANTS:
                for constant in domain:
                    yield Function(name, (*letters[:n], constant, *letters[n + 1 :]))

    def _unless_set(self, name: str, arity: int) -> Iterator[RuleEdit]:
        """Yield the frame rule of a fluent whose last arguments are values of the first ones.

        `(next (f ?k ?v))` holds if `(true (f ?k ?v))` did and no rule gives `(f ?k ...)` a new value.
        """
        if not arity:
            return
        changing = [
            (rule.head.args[0].args, rule.body)
            for rule in self.statements
            if rule.head.key == ("next", 1)
            and isinstance(rule.head.args[0], Function)
            and rule.head.args[0].key == (name, arity)
            and not is_frame(rule)
        ]
        if not changing:
            return
        helper = fresh(f"{name}_changes", {rule.head.name for rule in self.statements})
        letters = tuple(Variable(f"v{n + 1}") for n in range(arity))
        fluent = (Function(name, letters),)
        for keys in range(arity - 1, -1, -1):
            rules = [Rule(Atom(helper, args[:keys]), body) for args, body in changing]
            unchanged = Atom("true", fluent), Not(Atom(helper, letters[:keys]))
            yield RuleEdit("add-rule", None, (*rules, Rule(Atom("next", fluent), unchanged)))


def _around(term: Term) -> tuple[int, ...]:
    """Return a number, the one before and the one after it."""
    if not isinstance(term, Constant) or not term.name.isdecimal():
        return ()
    return int(term.name) - 1, int(term.name), int(term.name) + 1


def _in_order(name: str) -> tuple[bool, int, str]:
    return (not name.isdigit(), int(name) if name.isdigit() else 0, name)


def _together(exchange: dict[Term, Term], roles: Sequence[Term]) -> dict[Term, Term]:
    """Return the exchange with the first two roles exchanged as well."""
    if len(roles) != 2 or any(role in exchange for role in roles):
        return exchange
    return exchange | {roles[0]: roles[1], roles[1]: roles[0]}


def with_paths(root: Node) -> Iterator[tuple[tuple[int, ...], Node]]:
    """Yield a node and all below it with their paths: the indices of the children that lead there."""
    stack: list[tuple[tuple[int, ...], Node]] = [((), root)]
    while stack:
        path, node = stack.pop()
        yield path, node
        stack += [((*path, n), child) for n, child in reversed(list(enumerate(children(node))))]


def replaced(node: Any, path: tuple[int, ...], new: Node) -> Any:
    """Return a node with another one at a path below it."""
    if not path:
        return new
    numbered = iter(range(len(children(node))))
    return rebuilt(node, lambda child: replaced(child, path[1:], new) if next(numbered) == path[0] else child)


def _mapped(node: Any, to: dict[Term, Term]) -> Any:
    """Return a node with its constants and variables replaced by a mapping."""
    if isinstance(node, Constant | Variable):
        return to.get(node, node)
    return rebuilt(node, lambda child: _mapped(child, to))


def standard_names(node: _N) -> _N:
    """Return a rule or a literal with its variables named by order."""
    to: dict[Term, Term] = {}
    for variable in variables_of(node):
        to.setdefault(variable, Variable(f"v{len(to) + 1}"))
    renamed: _N = _mapped(node, to)
    return renamed


def is_frame(rule: Rule) -> bool:
    """Whether the rule says that a fluent stays."""
    return rule.head.name == "next" and Atom("true", rule.head.args) in rule.body
