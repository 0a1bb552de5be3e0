"""The delete relaxation of a game: an over-approximation of all reachable facts and moves.

`true(f)` is read as "f can become true" and `does(r, m)` as "m can become legal"; negated conditions that
depend on the state are dropped, static conditions are kept, including negations.  The least model is
computed bottom-up over ground terms: constants are strings, compound terms tuples whose first element
is the name.  A fluent is stored as its arguments under the relation ("true", name, arity).
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, TypeAlias

from herbrand.errors import BudgetExceeded
from herbrand.syntax.ggdl.integers import result
from herbrand.syntax.ground import Ground, match
from herbrand.syntax.nodes import And, Atom, Constant, Distinct, Not, Or, Variable, atoms_of, variables_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from typing import TypeGuard

    from herbrand.syntax.nodes import Literal, Rule, Term

__all__ = ["DerivedFacts", "Relation", "from_term", "relation_of", "relax"]

Row: TypeAlias = tuple[Ground, ...]
Relation: TypeAlias = tuple[str, str, int]
"""Kind ("", "true" or "does"), name, arity."""

MAX_FACTS: Final = 2_000_000
MAX_STEPS: Final = 60_000_000
"""Maximum number of conditions evaluated and facts matched with them."""
ORDERED_IN_A_STEP: Final = 10
"""Pairs of conditions that are compared, when a body is ordered, in the time of a step."""
MAX_OUTSIDE: Final = 100_000
"""Maximum number of rows of a table whose integers are not among those of the game."""
_KIND_OF: Final = {"true": "true", "init": "true", "next": "true", "does": "does", "legal": "does"}
_ANY: Final = ""


def from_term(term: Term, binding: Mapping[str, Ground]) -> Ground | None:
    """Return a term as a ground value; None if a variable is unbound."""
    if isinstance(term, Constant):
        return term.name
    if isinstance(term, Variable):
        return binding.get(term.name)
    args: list[Ground] = []
    for arg in term.args:
        value = from_term(arg, binding)
        if value is None:
            return None
        args.append(value)
    return (term.name, *args)


class _Pattern:
    """An atom as a relation and terms to match."""

    __slots__ = ("args", "free", "relation", "whole")

    def __init__(self, atom: Atom) -> None:
        kind = _KIND_OF.get(atom.name, "")
        self.whole = False
        args: tuple[Term, ...]
        if kind == "" or len(atom.args) != (1 if kind == "true" else 2):
            self.relation: Relation = "", atom.name, len(atom.args)
            args = atom.args
        else:
            term = atom.args[-1]
            inner = term.args
            self.whole = isinstance(term, Variable)
            self.relation = kind, _ANY if self.whole else term.name, len(inner)
            args = (*atom.args[:-1], term) if self.whole else (*atom.args[:-1], *inner)
        self.args = args
        self.free = frozenset(v.name for arg in args for v in variables_of(arg))


def relation_of(atom: Atom) -> Relation:
    """Return the relation of an atom; for `true`, `does` and the like, that of the fluent or the move."""
    return _Pattern(atom).relation


def _used(body: list[Literal]) -> Iterator[tuple[Relation, bool]]:
    """Yield the relations of a body, each with whether it is negated."""
    for literal in body:
        atom = literal.literal if isinstance(literal, Not) else literal
        if isinstance(atom, Atom):
            yield relation_of(atom), isinstance(literal, Not)


_Item: TypeAlias = "_Pattern | Distinct | Not | tuple[str, Atom]"
_Body: TypeAlias = "list[_Item]"
"""Conditions in join order; arithmetic is paired with its operation."""


@dataclass(slots=True)
class _Join:
    """A rule with its body in join order."""

    head: _Pattern
    body: _Body
    decided: int
    """Index of the first condition before which the head is ground."""


@dataclass(slots=True)
class _Delta:
    """One condition of a rule, whose new facts are joined with the other conditions (semi-naive)."""

    pattern: _Pattern
    others: _Join
    processed: int
    """Number of its facts that are already joined."""


class DerivedFacts:
    """The derived facts, with hash indexes built on demand."""

    def __init__(self) -> None:
        self.facts: dict[Relation, set[Row]] = {}
        self.log: dict[Relation, list[Row]] = {}
        """The facts in the order in which they were derived."""
        self.index: dict[tuple[Relation, tuple[int, ...]], dict[Row, list[Row]]] = {}
        self.size = 0
        self.overflow: set[tuple[int, int]] = set()
        """Offsets of assigned arithmetic whose result left the integers of the game."""
        self.outside: dict[str, set[tuple[int, ...]]] = {}
        """Rows of tables that conditions need beyond the integers of the game, by the name of the table."""

    def add(self, relation: Relation, row: Row) -> bool:
        """Add a fact; False if it is already present."""
        rows = self.facts.setdefault(relation, set())
        if row in rows:
            return False
        rows.add(row)
        self.log.setdefault(relation, []).append(row)
        self.size += 1
        for (indexed, places), table in self.index.items():
            if indexed == relation:
                table.setdefault(tuple(row[i] for i in places), []).append(row)
        return True

    def rows(self, relation: Relation) -> set[Row]:
        """Return the facts of a relation."""
        return self.facts.get(relation, set())

    def has_instance(self, atom: Atom) -> bool:
        """Whether some derived fact is an instance of an atom."""
        pattern = _Pattern(atom)
        if pattern.whole:
            return any(relation[0] == pattern.relation[0] and rows for relation, rows in self.facts.items())
        return any(True for _ in self.instances(atom))

    def instances(self, atom: Atom) -> Iterator[Row]:
        """Yield the derived facts that are instances of an atom whose fluent or move is no variable."""
        pattern = _Pattern(atom)
        for row in self.rows(pattern.relation):
            if match(pattern.args, row, {}) is not None:
                yield row

    def fluents(self, name: str, arity: int) -> set[Row]:
        """Return the argument tuples with which a fluent can become true."""
        return self.rows(("true", name, arity))

    def actions(self, name: str, arity: int) -> set[Row]:
        """Return role and arguments of every possible move of this name."""
        return self.rows(("does", name, arity))

    def matching(self, relation: Relation, bound: dict[int, Ground]) -> Iterable[Row]:
        """Return the facts with these values at these argument positions."""
        if not bound:
            return list(self.facts.get(relation, ()))
        places = tuple(sorted(bound))
        table = self.index.get((relation, places))
        if table is None:
            table = {}
            for row in self.facts.get(relation, ()):
                table.setdefault(tuple(row[i] for i in places), []).append(row)
            self.index[relation, places] = table
        return list(table.get(tuple(bound[i] for i in places), ()))


def relax(
    rules: Iterable[Rule],
    targets: Iterable[tuple[str, str, int]],
    tables: Mapping[str, str],
    universe: tuple[int, int] | None,
    bounded: Mapping[str, tuple[int, int]] = MappingProxyType({}),
    *,
    max_steps: int | None = None,
) -> DerivedFacts:
    """Compute the reachable facts of the `targets` and of the relations they depend on.

    `tables` maps the names of integer relations to their operations.  The results of those in `bounded` stay
    within an interval.  Raises `BudgetExceeded` when terms or integers grow without bound, or after
    `max_steps` conditions (by default `MAX_STEPS`).
    """
    return _Relaxation(list(rules), tables, universe, bounded, max_steps or MAX_STEPS).run(targets)


class _Relaxation:
    def __init__(
        self,
        rules: list[Rule],
        tables: Mapping[str, str],
        universe: tuple[int, int] | None,
        bounded: Mapping[str, tuple[int, int]],
        max_steps: int,
    ) -> None:
        self.max_steps = max_steps
        self.tables, self.universe, self.bounded = tables, universe, bounded
        self.by_head: dict[Relation, list[tuple[_Pattern, list[Literal]]]] = {}
        self.model = DerivedFacts()
        self.steps = 0
        self.computing: dict[Relation, None] = {}
        """Relations with arithmetic or comparisons in their rules."""
        for rule in rules:
            if rule.head.name in {"does", "true"}:
                continue
            head = _Pattern(rule.head)
            for body in _conjunctions(rule.body):
                self.by_head.setdefault(head.relation, []).append((head, body))
            if any(atom.name in tables for literal in rule.body for atom, _ in atoms_of(literal)):
                self.computing[head.relation] = None
        self.dynamic = self._dynamic()

    def _dynamic(self) -> set[Relation]:
        """Return the relations that depend on the state."""
        uses: dict[Relation, set[Relation]] = {}
        dynamic: set[Relation] = set()
        for relation, entries in self.by_head.items():
            if relation[0]:
                dynamic.add(relation)
            for _, body in entries:
                for used, _ in _used(body):
                    if used[0]:
                        dynamic.add(relation)
                    uses.setdefault(used, set()).add(relation)
        worklist = list(dynamic)
        while worklist:
            for user in uses.get(worklist.pop(), ()):
                if user not in dynamic:
                    dynamic.add(user)
                    worklist.append(user)
        return dynamic

    def run(self, targets: Iterable[Relation]) -> DerivedFacts:
        # Tables must have the rows that conditions of goals, of the end, and of percepts need, too.
        needed = self._needed([*targets, *self.computing])
        static = [relation for relation in needed if relation not in self.dynamic]
        for component in self._strata(static):
            self._fixpoint(component)
        self._fixpoint([relation for relation in needed if relation in self.dynamic])
        return self.model

    def _needed(self, targets: Iterable[Relation]) -> list[Relation]:
        needed: dict[Relation, None] = {}
        worklist = list(targets)
        while worklist:
            relation = worklist.pop()
            if relation in needed:
                continue
            needed[relation] = None
            if relation[1] == _ANY:
                worklist += [r for r in self.by_head if r[0] == relation[0]]
            for _, body in self.by_head.get(relation, ()):
                for used, is_negated in _used(body):
                    if not (is_negated and (used in self.dynamic or used[0])):
                        worklist.append(used)
        return list(needed)

    def _strata(self, relations: list[Relation]) -> list[list[Relation]]:
        """Stratify static relations, so that negated ones come first."""
        level = dict.fromkeys(relations, 0)
        for _ in range(len(relations) + 1):
            changed = False
            for relation in relations:
                for _, body in self.by_head.get(relation, ()):
                    for used, is_negated in _used(body):
                        least = level.get(used, 0) + is_negated
                        if level[relation] < least <= len(relations):
                            level[relation] = least
                            changed = True
            if not changed:
                break
        levels = sorted(set(level.values()))
        return [[r for r in relations if level[r] == number] for number in levels]

    def _fixpoint(self, relations: list[Relation]) -> None:
        """Derive all facts of some relations, semi-naively: each join starts from a new fact."""
        plain: list[_Join] = []
        deltas: list[_Delta] = []
        for relation in relations:
            for head, body in self.by_head.get(relation, ()):
                full_join = self._plan(head, body)
                patterns = [
                    (i, _Pattern(literal)) for i, literal in enumerate(body) if self._is_pattern(literal)
                ]
                if any(pattern.whole for _, pattern in patterns):
                    plain.append(full_join)
                    continue
                for place, pattern in patterns:
                    processed = len(self.model.log.get(pattern.relation, ()))
                    others = self._plan(head, [*body[:place], *body[place + 1 :]], pattern.free)
                    deltas.append(_Delta(pattern, others, processed))
                self._derive_all(full_join, {})
        sizes: dict[int, tuple[int, ...]] = {}
        changed = True
        while changed:
            changed = False
            for delta in deltas:
                changed = self._advance(delta) or changed
            for number, join in enumerate(plain):
                now = tuple(self._count(p.relation) for p in join.body if isinstance(p, _Pattern))
                if sizes.get(number) != now:
                    sizes[number] = now
                    changed = self._derive_all(join, {}) or changed

    def _advance(self, delta: _Delta) -> bool:
        """Join the new facts of one condition with the other conditions; return whether there were any."""
        rows = self.model.log.get(delta.pattern.relation, [])
        new = rows[delta.processed :]
        delta.processed = len(rows)
        for row in new:
            self._count_step()
            binding = match(delta.pattern.args, row, {})
            if binding is not None:
                self._derive_all(delta.others, binding)
        return bool(new)

    def _plan(self, head: _Pattern, body: list[Literal], bound: frozenset[str] = frozenset()) -> _Join:
        """Order a body, and find where the head becomes ground: derived heads need no further join."""
        ordered = self._ordered(body, bound)
        decided = len(ordered) + 1
        for place in range(len(ordered) + 1):
            if head.free <= bound and not head.whole:
                decided = place
                break
            if place < len(ordered):
                bound |= _free(ordered[place])
        if any(isinstance(item, tuple) for item in ordered[decided:]):
            decided = len(ordered) + 1  # evaluate all arithmetic, to notice overflow
        return _Join(head, ordered, decided)

    def _derive_all(self, join: _Join, binding: dict[str, Ground]) -> bool:
        """Derive the head for each solution of the body; return whether a fact was new."""
        changed = False
        for solution in self._ways(join, 0, binding):
            changed = self._derive(join.head, solution) or changed
        return changed

    def _is_pattern(self, literal: Literal) -> TypeGuard[Atom]:
        """Whether a condition is matched against facts, not computed."""
        if not isinstance(literal, Atom):
            return False
        return literal.name not in self.tables or ("", literal.name, len(literal.args)) in self.by_head

    def _count(self, relation: Relation) -> int:
        if relation[1] == _ANY:
            return self.model.size
        return len(self.model.rows(relation))

    def _derive(self, head: _Pattern, binding: dict[str, Ground]) -> bool:
        row = [from_term(arg, binding) for arg in head.args]
        if any(value is None for value in row):
            return False
        relation = head.relation
        ground: Row = tuple(value for value in row if value is not None)
        if head.whole:
            inner = ground[-1]
            name, args = (inner, ()) if isinstance(inner, str) else (str(inner[0]), inner[1:])
            relation = relation[0], name, len(args)
            ground = (*ground[:-1], *args)
        if self.model.size > MAX_FACTS or any(_depth(value) > 50 for value in ground):
            raise BudgetExceeded("terms grow without bound")
        return self.model.add(relation, ground)

    def _ordered(self, body: list[Literal], bound: frozenset[str] = frozenset()) -> _Body:
        """Order a body: tests as early as possible, then the condition with fewest unbound variables."""
        self._count_step(len(body) ** 2 // ORDERED_IN_A_STEP)
        remaining: _Body = []
        for literal in body:
            if isinstance(literal, Not):
                assert isinstance(literal.literal, Atom)
                pattern = _Pattern(literal.literal)
                if not (pattern.relation[0] or pattern.relation in self.dynamic):
                    remaining.append(literal)
            elif isinstance(literal, Atom):
                if self._is_pattern(literal):
                    remaining.append(_Pattern(literal))
                else:
                    remaining.append((self.tables[literal.name], literal))
            elif isinstance(literal, Distinct):
                remaining.append(literal)
        ordered: _Body = []
        while remaining:
            best = min(range(len(remaining)), key=lambda i: _rank(remaining[i], bound))
            item = remaining.pop(best)
            ordered.append(item)
            bound |= _free(item)
        return ordered

    def _ways(self, join: _Join, at: int, binding: dict[str, Ground]) -> Iterator[dict[str, Ground]]:
        """Yield solutions of the conditions from index `at` on, unless their head is already derived."""
        if at == join.decided and self._is_known(join.head, binding):
            return
        if at == len(join.body):
            yield binding
            return
        self._count_step()
        item = join.body[at]
        if isinstance(item, _Pattern):
            for row in self._rows(item, binding):
                self._count_step()
                inner = match(item.args, row, binding)
                if inner is not None:
                    yield from self._ways(join, at + 1, inner)
        elif isinstance(item, Distinct):
            left, right = from_term(item.left, binding), from_term(item.right, binding)
            if left is None or right is None or left != right:
                yield from self._ways(join, at + 1, binding)
        elif isinstance(item, Not):
            assert isinstance(item.literal, Atom)
            if not self._holds(item.literal, binding):
                yield from self._ways(join, at + 1, binding)
        else:
            for inner in self._table(item[0], item[1], binding):
                yield from self._ways(join, at + 1, inner)

    def _count_step(self, steps: int = 1) -> None:
        self.steps += steps
        if self.steps > self.max_steps:
            raise BudgetExceeded("too many steps to compute the reachable facts")

    def _is_known(self, head: _Pattern, binding: dict[str, Ground]) -> bool:
        return tuple(from_term(arg, binding) for arg in head.args) in self.model.rows(head.relation)

    def _rows(self, item: _Pattern, binding: dict[str, Ground]) -> Iterable[Row]:
        bound: dict[int, Ground] = {}
        for i, arg in enumerate(item.args):
            value = from_term(arg, binding)
            if value is not None:
                bound[i] = value
        if not item.whole:
            return self.model.matching(item.relation, bound)
        kind = item.relation[0]
        return [
            (*row[: 1 if kind == "does" else 0], (name, *args) if args else name)
            for (k, name, _), rows in list(self.model.facts.items())
            if k == kind
            for row in list(rows)
            for args in (row[1:] if kind == "does" else row,)
        ]

    def _holds(self, atom: Atom, binding: dict[str, Ground]) -> bool:
        """Whether a static atom holds; one with unbound variables does not."""
        if not self._is_pattern(atom):
            return any(True for _ in self._table(self.tables[atom.name], atom, binding))
        values = [from_term(arg, binding) for arg in atom.args]
        return None not in values and tuple(values) in self.model.rows(_Pattern(atom).relation)

    def _table(self, meaning: str, atom: Atom, binding: dict[str, Ground]) -> Iterator[dict[str, Ground]]:
        if self.universe is None:
            return
        low, high = self.universe
        terms = [from_term(arg, binding) for arg in atom.args]
        numbers = [int(t) if isinstance(t, str) and _is_number(t) else None for t in terms]
        if any(t is not None and number is None for t, number in zip(terms, numbers, strict=True)):
            return
        interval = range(low, high + 1)
        for a in interval if numbers[0] is None else (numbers[0],):
            for b in interval if numbers[1] is None else (numbers[1],):
                value = result(meaning, a, b)
                if value is False:
                    continue
                row = (a, b) if value is True else (a, b, value)
                least, most = self.bounded.get(atom.name, (value, value))
                if not least <= value <= most:
                    if numbers[0] is not None and numbers[1] is not None:
                        self.model.overflow.add((atom.start, atom.end))
                    continue
                inner = match(atom.args, tuple(map(str, row)), binding)
                if inner is not None:
                    if not (low <= min(row) and max(row) <= high):
                        self._add_outside(atom, row)
                    yield inner

    def _add_outside(self, atom: Atom, row: tuple[int, ...]) -> None:
        rows = self.model.outside.setdefault(atom.name, set())
        rows.add(row)
        if len(rows) > MAX_OUTSIDE:
            raise BudgetExceeded("integers grow without bound")


def _is_number(text: str) -> bool:
    return text.isdecimal() or (text[:1] == "-" and text[1:].isdecimal())


def _depth(value: Ground) -> int:
    return 0 if isinstance(value, str) else 1 + max((_depth(v) for v in value), default=0)


def _free(item: _Item) -> frozenset[str]:
    if isinstance(item, _Pattern):
        return item.free
    node = item[1] if isinstance(item, tuple) else item
    return frozenset(v.name for v in variables_of(node))


def _rank(item: _Item, bound: frozenset[str]) -> tuple[int, int]:
    loose = len(_free(item) - bound)
    if isinstance(item, Distinct | Not):
        return (0 if not loose else 9, loose)
    if isinstance(item, tuple):
        inputs = [v.name for arg in item[1].args[:2] for v in variables_of(arg)]
        return (0 if all(name in bound for name in inputs) else 8, loose)
    if not loose:
        return (1, 0)
    shared = len(item.free & bound)
    return (2 if shared or not item.free else 3, loose)


def _conjunctions(body: tuple[Literal, ...]) -> Iterator[list[Literal]]:
    """Yield the alternatives of a body; negated compounds count as true."""
    alternatives: list[list[Literal]] = [[]]
    for literal in body:
        choices = _choices(literal)
        if len(alternatives) * len(choices) > 4096:
            continue  # dropping a condition keeps the relaxation an over-approximation
        alternatives = [[*prefix, *choice] for prefix in alternatives for choice in choices]
    yield from alternatives


def _choices(literal: Literal) -> list[list[Literal]]:
    if isinstance(literal, Or):
        return [choice for part in literal.literals for choice in _choices(part)]
    if isinstance(literal, And):
        return list(_conjunctions(literal.literals))
    if isinstance(literal, Not) and not isinstance(literal.literal, Atom):
        return [[]]
    return [[literal]]
