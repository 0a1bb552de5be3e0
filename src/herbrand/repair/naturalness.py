"""Naturalness of an edit: how likely the author meant the result, judged by the other rules of the sheet.

Rulesheets repeat themselves: a rule for one role is that for the other with the names exchanged, a name that
is defined is used, a variable occurs twice.  An edit that restores such a regularity costs less than one that
breaks it.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from herbrand.check.dependency import dependency_graph
from herbrand.repair.edits import KEYWORDS, KINDS, is_frame
from herbrand.syntax.argument_types import places
from herbrand.syntax.nodes import Atom, Constant, Function, Node, Rule, Variable, children, variables_of, walk

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from herbrand.repair.edits import RuleEdit
    from herbrand.syntax.argument_types import Place

__all__ = ["Naturalness"]

BASE: Final = {
    "constant": 1.0,
    "variable": 1.3,
    "relation": 1.5,
    "add": 1.2,
    "drop": 1.4,
    "negate": 1.4,
    "add-rule": 1.6,
    "remove-rule": 3.0,
    "complete": 1.0,
}
GENERAL: Final = 0.4
"""Surcharge for a constant that is replaced by a variable, or the reverse."""
FRAME: Final = 0.5
"""Discount for a rule that becomes a frame rule: its fluent stays."""
FRAMELESS: Final = 0.4
"""Discount for the frame rule of a fluent that has none."""
APART: Final = 0.3
"""Surcharge for a condition without a variable of its rule."""
DYNAMIC: Final = 0.5
"""Surcharge for a condition on the state in a rule for a relation that is the same in all states."""
FUNCTION: Final = 0.3
"""Discount for a frame rule with an exception, surcharge for one without, for functional fluents."""
NAMED: Final = 0.6
"""Discount for a condition whose variables are named as they are there in other rules."""
TABLE: Final = 0.4
"""Discount for a fact that ends the repetition of a value in a column of its table."""
OUTCOME: Final = 0.3
"""Extra cost of an edit that changes goal values or the end of the game."""
FACT: Final = 0.4
"""Surcharge for editing a fact rather than a rule."""
SIBLING: Final = 0.6
"""Discount for a rule that becomes the image of another one; surcharge for one that no longer is."""
HEADS: Final = 0.3
"""The same for each head that no other rule has."""
USED: Final = 0.4
"""The same for each name that is defined but not used, or used but not defined."""
SINGLE: Final = 0.3
"""The same for each variable that occurs only once in its rule."""
NUMBERS: Final = 0.8
"""Discount for a fact that follows the arithmetic of the others of its relation."""
REPEATED: Final = 2.0
"""Surcharge for a rule that is there already."""

_ORDERS: Final[dict[int, tuple[Callable[[Sequence[int]], bool], ...]]] = {
    2: (
        lambda row: row[1] == row[0] + 1,
        lambda row: row[1] == row[0] - 1,
        lambda row: row[0] == row[1],
        lambda row: row[0] < row[1],
        lambda row: row[0] > row[1],
        lambda row: row[0] <= row[1],
        lambda row: row[0] >= row[1],
    ),
    3: (lambda row: row[2] == row[0] + row[1], lambda row: row[2] == row[0] - row[1]),
}
"""Arithmetic relations between the columns of tables of numbers, by their number of columns."""
_Skeleton: TypeAlias = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class _Form:
    """The features of a rule that determine the cost of an edit."""

    skeleton: tuple[_Skeleton, tuple[str, ...]]
    siblings: float
    is_frame: bool
    variables: int
    """Occurrences of variables."""
    single: int
    """Variables that occur once."""
    misnamed: float
    defined: Counter[_Skeleton]
    used: Counter[_Skeleton]


class Naturalness:
    """Costs of edits of some statements."""

    def __init__(self, statements: Sequence[Rule]) -> None:
        self.statements = statements
        self.by_skeleton: dict[_Skeleton, list[tuple[int, tuple[str, ...]]]] = defaultdict(list)
        self.facts: dict[tuple[str, int], list[Rule]] = defaultdict(list)
        self.variables: dict[Place, Counter[str]] = defaultdict(Counter)
        self.frames: set[tuple[str, int]] = set()
        """Fluents with frame rules."""
        self.clocks: set[tuple[str, int]] = set()
        """Fluents that change in every play."""
        self.heads: Counter[_Skeleton] = Counter()
        self.defined: Counter[_Skeleton] = Counter()
        self.used: Counter[_Skeleton] = Counter()
        for number, rule in enumerate(statements):
            skeleton, constants = _skeleton(rule)
            self.by_skeleton[skeleton].append((number, constants))
            self.heads[_skeleton(Rule(rule.head))] += 1
            fluent = rule.head.args[0] if rule.head.name == "next" and rule.head.args else None
            if isinstance(fluent, Constant | Function):
                if is_frame(rule):
                    self.frames.add(fluent.key)
                elif not any(isinstance(part, Atom) and part.name == "does" for part in rule.body):
                    self.clocks.add(fluent.key)
            if not rule.body:
                self.facts[rule.head.key].append(rule)
            for place, name in _variable_places(rule):
                self.variables[place][name] += 1
            defined, used = _names(rule)
            self.defined += defined
            self.used += used

        self.is_dynamic = _dynamic(statements)
        self.forms: dict[int, _Form] = {}

    def _before(self, number: int) -> _Form:
        """Return the form of a statement."""
        if number not in self.forms:
            self.forms[number] = self._form(self.statements[number], number)
        return self.forms[number]

    def _form(self, rule: Rule, own: int | None) -> _Form:
        """Return the features of a rule that determine the cost of an edit."""
        skeleton = _skeleton(rule)
        defined, used = _names(rule)
        counts = Counter(variable.name for variable in variables_of(rule))
        return _Form(
            skeleton,
            self._siblings(skeleton, own) if rule.body else 0.0,
            # That a constant stays, as in `(control white)`, is no reason for a rule: it may as well change.
            is_frame(rule) and any(True for _ in variables_of(rule.head)),
            counts.total(),
            sum(1 for number in counts.values() if number == 1),
            self._misnamed(rule),
            defined,
            used,
        )

    def cost(self, edit: RuleEdit) -> float:
        """Return the cost of an edit: lower is more natural."""
        old = None if edit.number is None else self.statements[edit.number]
        new = edit.rule
        cost = BASE[edit.kind]
        if old is not None and not old.body and old.head.args and not any(variables_of(old)):
            cost += FACT
        if edit.kind == "add" and new is not None:
            cost += self._condition(new)
        before = None if edit.number is None else self._before(edit.number)
        after = None if new is None else self._form(new, edit.number)
        if old is not None and new is not None and before is not None and after is not None:
            cost += SIBLING * (before.siblings - after.siblings)
            if not old.body and not new.body:
                cost += NUMBERS * self._out_of_order(old, new)
                cost += TABLE * self._repetitions(old, new)
            cost += (FRAME / 2 if edit.kind == "add" else FRAME) * (before.is_frame - after.is_frame)
            if edit.kind in {"constant", "variable"}:
                cost += GENERAL * (before.variables != after.variables)
            if edit.kind in {"add", "variable"}:
                cost += NAMED * (after.misnamed - before.misnamed)
        if old is not None:
            cost += HEADS * self._heads(old, new)
        cost += USED * self._unmatched(
            before, [self._form(rule, edit.number) for rule in edit.rules[:-1]] + [after]
        )
        if before is not None and after is not None:
            cost += SINGLE * max(-2, min(1, after.single - before.single))
        is_repeated = after is not None and self._is_repeated(after, edit.number)
        if is_repeated or (new is not None and new.head in new.body):
            cost += REPEATED
        if (old or edit.rules[-1]).head.name in {"goal", "terminal"}:
            cost += OUTCOME
        if edit.kind == "add-rule" and new is not None:
            cost += self._added(new, has_helper=len(edit.rules) > 1)
        return cost

    def _added(self, rule: Rule, *, has_helper: bool) -> float:
        """Return the extra cost of an added rule: authors often forget frame rules, mostly general ones."""
        if not is_frame(rule):
            return HEADS * self._heads(None, rule)
        fluent = rule.head.args[0]
        name = fluent.name if isinstance(fluent, Constant | Function) else ""
        key = name, len(fluent.args)
        if key in self.clocks:
            return 0.0
        missing = key not in self.frames
        constants = sum(1 for node in walk(rule.head) if isinstance(node, Constant))
        cost = -FRAME - (FRAMELESS if missing else 0) + 0.2 * (constants if fluent.args else 0)
        if self._is_function(name, len(fluent.args)):
            cost += -FUNCTION if has_helper else FUNCTION
        return cost + 0.1 * len(rule.body)

    def _is_function(self, name: str, arity: int) -> bool:
        """Whether initially all combinations of the first arguments of a fluent have exactly one last one."""
        rows = [
            fact.head.args[0].args
            for fact in self.facts.get(("init", 1), [])
            if isinstance(fact.head.args[0], Function) and fact.head.args[0].key == (name, arity)
        ]
        keys = {row[:-1] for row in rows}
        product = math.prod(len({row[n] for row in rows}) for n in range(arity - 1))
        return arity > 1 and len(rows) > 1 and len(keys) == len(rows) == product

    def _condition(self, rule: Rule) -> float:
        """Return the extra cost of an added condition, which should use the variables of the rule."""
        added = rule.body[-1]
        rest = {variable.name for part in (rule.head, *rule.body[:-1]) for variable in variables_of(part)}
        cost = 0.0
        if rest and not rest & {variable.name for variable in variables_of(added)}:
            cost += APART
        if not self.is_dynamic.get(rule.head.key, True) and any(
            self.is_dynamic.get(node.key, True) for node in walk(added) if isinstance(node, Atom)
        ):
            cost += DYNAMIC
        return cost

    def _siblings(self, form: tuple[_Skeleton, tuple[str, ...]], own: int | None) -> float:
        """Return 1 if an exchange of names maps another rule to this one, less if a name has two images."""
        skeleton, constants = form
        best = 0.0
        for number, others in self.by_skeleton.get(skeleton, ()):
            if number == own or others == constants:
                continue
            pairs = set(zip(constants, others, strict=True))
            wrong = 2 * len(pairs) - len(set(constants)) - len(set(others))
            best = max(best, 1.0 / (1 + wrong))
        return best

    def _out_of_order(self, old: Rule, new: Rule) -> int:
        """Return 1 if a fact leaves the order of the facts of its relation, -1 if it enters it."""
        facts = self.facts.get(old.head.key, [])
        if len(facts) < 3 or new.head.key != old.head.key:
            return 0
        rows = [_numbers(fact) for fact in facts]
        before, after = _numbers(old), _numbers(new)
        if before is None or after is None or any(row is None for row in rows):
            return 0
        for order in _ORDERS.get(len(before), ()):
            follow = sum(order(row) for row in rows if row is not None)
            if follow >= len(rows) - 2:
                return order(before) - order(after)
        return 0

    def _repetitions(self, old: Rule, new: Rule) -> int:
        """Return how many columns get a repeated value, less those that lose it, where few repeat."""
        facts = self.facts.get(old.head.key, [])
        if len(facts) < 2 or new.head.key != old.head.key:
            return 0
        change = 0
        for column in range(len(old.head.args)):
            values = Counter(str(fact.head.args[column]) for fact in facts)
            before, after = str(old.head.args[column]), str(new.head.args[column])
            if before != after and len(values) >= len(facts) - 1:
                change += (values[after] > 0) - (values[before] > 1)
        return change

    def _misnamed(self, rule: Rule) -> float:
        """Return the share of a rule's variables with another name than at the same place of other rules."""
        wrong = total = 0
        for place, name in _variable_places(rule):
            names = self.variables.get(place)
            if names and sum(names.values()) > 1:
                total += 1
                wrong += not names[name] or (names[name] == 1 and sum(names.values()) > 2)
        return wrong / max(1, total)

    def _heads(self, old: Rule | None, new: Rule | None) -> int:
        """Return how many heads are lost, less those that are new."""
        lost = old is not None and self.heads[_skeleton(Rule(old.head))] == 1
        gained = new is not None and not self.heads[_skeleton(Rule(new.head))]
        return lost - gained

    def _unmatched(self, before: _Form | None, after: Iterable[_Form | None]) -> int:
        """Return how many names are newly unused or undefined, less those that no longer are."""
        defined: Counter[_Skeleton] = Counter()
        used: Counter[_Skeleton] = Counter()
        if before is not None:
            defined.subtract(before.defined)
            used.subtract(before.used)
        for form in filter(None, after):
            defined.update(form.defined)
            used.update(form.used)
        change = 0
        for name in {*defined, *used}:
            was = (self.defined[name] > 0) != (self.used[name] > 0)
            will = (self.defined[name] + defined[name] > 0) != (self.used[name] + used[name] > 0)
            change += will - was
        return change

    def _is_repeated(self, form: _Form, own: int | None) -> bool:
        skeleton, constants = form.skeleton
        return any(
            number != own and others == constants for number, others in self.by_skeleton.get(skeleton, ())
        )


def _skeleton(rule: Rule) -> tuple[_Skeleton, tuple[str, ...]]:
    """Return a rule with its variables numbered and its constants taken out, and the constants in order."""
    numbers: dict[str, int] = {}
    constants: list[str] = []

    def of(node: Node) -> Any:
        if isinstance(node, Constant):
            constants.append(node.name)
            return "constant"
        if isinstance(node, Variable):
            return numbers.setdefault(node.name, len(numbers))
        if not isinstance(node, Atom | Function):
            return (type(node).__name__, *map(of, children(node)))
        if node.name not in KEYWORDS:
            constants.append(f"{node.name}/{len(node.args)}")
            return ("name", *map(of, node.args))
        return (node.name, *map(of, node.args))

    return of(rule), tuple(constants)


def _names(rule: Rule) -> tuple[Counter[_Skeleton], Counter[_Skeleton]]:
    """Return which names of relations, fluents and moves a rule defines, and which it uses."""
    defined: Counter[_Skeleton] = Counter()
    used: Counter[_Skeleton] = Counter()
    for node in walk(rule):
        if not isinstance(node, Atom):
            continue
        count = defined if node is rule.head else used
        kind = KINDS.get(node.name, node.name)
        if kind in {"true", "legal"} and node.args:
            inner = node.args[-1]
            if isinstance(inner, Constant | Function):
                count[kind, inner.name, len(inner.args)] += 1
        elif kind not in {"role", "goal", "terminal", "base", "input", "sees"}:
            count[kind, len(node.args)] += 1
    return defined, used


def _dynamic(statements: Sequence[Rule]) -> dict[tuple[str, int], bool]:
    """Return for each relation whether it depends on the state or the moves."""
    graph = dependency_graph(statements)
    heads = {rule.head.key for rule in statements}
    changing = {key for key in heads if key[0] in KEYWORDS - {"role", "init"}} | {("true", 1), ("does", 2)}
    return {key: not changing.isdisjoint({key} | graph.reachable(key)) for key in heads | changing}


def _variable_places(rule: Rule) -> Iterator[tuple[Place, str]]:
    """Yield the places of the variables of a rule, with their names."""
    for node in walk(rule):
        if isinstance(node, Atom):
            for place, term in places(node):
                if isinstance(term, Variable):
                    yield place, term.name


def _numbers(fact: Rule) -> tuple[int, ...] | None:
    """Return the arguments of a fact if all are numbers."""
    names = [arg.name if isinstance(arg, Constant) else "" for arg in fact.head.args]
    return tuple(map(int, names)) if all(name.isdecimal() for name in names) else None
