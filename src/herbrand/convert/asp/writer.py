"""Write rules in the syntax of clingo.

| in the rules             | in the answer set program                                          |
|--------------------------|--------------------------------------------------------------------|
| constant `12`, `white`   | `12`, `white`                                                      |
| constant `a-b`, `01`     | `"a-b"`, `"01"`: a string                                          |
| `(f a ?x)`               | `f(a,X)`; names that are invalid in clingo are changed             |
| `(p a)`, static          | `p(a)`                                                             |
| `(p a)`, not static      | `p(a,TIME)` where there is time                                    |
| `(distinct ?x ?y)`       | `X != Y`                                                           |
| `(or ...)`               | one rule for each disjunct                                         |
"""

from __future__ import annotations

import re
from itertools import chain, product
from math import prod
from typing import TYPE_CHECKING, Final

from herbrand.convert.levels import DOES, INTERFACE, STATIC, TRUE, level_of, needed
from herbrand.errors import GameError, InvalidMoveError
from herbrand.syntax.names import fresh, variable_names
from herbrand.syntax.nodes import And, Atom, Constant, Distinct, Function, Not, Or, Variable, walk

if TYPE_CHECKING:
    from collections.abc import Iterator

    from herbrand.check.rules import Rules
    from herbrand.syntax.nodes import Literal, Rule, Term

__all__ = ["RuleWriter"]

_NAME = re.compile(r"_*[a-z][A-Za-z0-9_]*")
_NUMBER = re.compile(r"0|-?[1-9][0-9]{0,8}")
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|-?[0-9]+|[A-Za-z_][A-Za-z0-9_]*\(?|\)')
_ESCAPE = re.compile(r"\\(.)")
_SPLIT_LIMIT: Final = 4096
_WIDTH: Final = 100


class RuleWriter:
    """Writes the rules of a game, at a time or without time."""

    def __init__(self, rules: Rules, *, own: frozenset[str] = frozenset(), only_needed: bool = False) -> None:
        """`own` are names that the surrounding program defines."""
        graph = rules.graph
        wanted = needed(graph) if only_needed else None
        self.rules = [r for r in rules.normal.rules if wanted is None or r.head.key in wanted]
        relations = dict.fromkeys([TRUE, DOES, *INTERFACE, *graph.nodes])
        self.levels = {key: level_of(graph, key) for key in relations}
        self.functors = self._function_names()
        """The names of functions in clingo."""
        self.names = self._relation_names(own)
        """The names of relations in clingo."""
        self._original = {(new, arity): name for (name, arity), new in self.functors.items()}
        self._constants = {node.name for node in walk(*self.rules) if isinstance(node, Constant)}
        self._variables: dict[str, str] = {}
        self._time: str | None = None
        self._defined = {rule.head.key for rule in self.rules}

    def section(self, level: int, time: str | None = None, guard: str | None = None) -> Iterator[str]:
        """Yield the rules for relations of a level; `guard` is a literal for each body."""
        before = None
        for rule in self.rules:
            if self.levels[rule.head.key] == level:
                if before not in (None, rule.head.key):
                    yield ""
                before = rule.head.key
                for body in _bodies(rule):
                    yield from self._rule(rule, body, time, guard)

    def fresh_constant(self, name: str) -> str:
        """Return a name for a clingo constant that no constant of the game has."""
        return fresh(name, self._constants)

    def read(self, text: str) -> Term:
        """Parse a term of clingo's output."""
        stack: list[list[Term]] = [[]]
        names: list[str] = []
        for token in _TOKEN.findall(text):
            if token == ")":
                args, name = tuple(stack.pop()), names.pop()
                stack[-1].append(Function(self._original.get((name, len(args)), name), args))
            elif token[-1] == "(":
                names.append(token[:-1])
                stack.append([])
            elif token[0] == '"':
                stack[-1].append(Constant(_ESCAPE.sub(lambda m: "\n" if m[1] == "n" else m[1], token[1:-1])))
            else:
                stack[-1].append(Constant(token))
        (term,) = stack[0]
        return term

    def undefined(self, *, timed: bool) -> Iterator[str]:
        """Yield declarations of relations that are used but not defined."""
        for key in self.names:
            if key not in self._defined and key not in (TRUE, DOES):
                arity = key[1] + (timed and self.levels[key] > STATIC)
                yield f"#defined {self.names[key]}/{arity}."

    def atom(self, relation: tuple[str, int], arguments: list[str], time: str | None = None) -> str:
        """Write an atom, with a time if one is given and the relation is not static."""
        timed = [time] if time is not None and self.levels[relation] > STATIC else []
        args = [*arguments, *timed]
        return f"{self.names[relation]}({','.join(args)})" if args else self.names[relation]

    def term(self, term: Term) -> str:
        """Write a term."""
        if isinstance(term, Variable):
            return self._variables[term.name]
        if isinstance(term, Constant):
            return constant(term.name)
        name = self.functors.get(term.key)
        if name is None:  # not a term of the game
            raise InvalidMoveError(f"no rule has a term of the form `{term}`")
        return f"{name}({','.join(map(self.term, term.args))})"

    def _rule(
        self, rule: Rule, body: tuple[Literal, ...], time: str | None, guard: str | None
    ) -> Iterator[str]:
        names = variable_names(rule, "prolog")
        self._variables = {v: f"{text}_" if text in {"T", "_T"} else text for v, text in names.items()}
        self._time = time
        head = self._literal(rule.head)
        parts = [*map(self._literal, body), *([guard] if guard else [])]
        line = f"{head} :- {', '.join(parts)}." if parts else f"{head}."
        if len(line) <= _WIDTH or not parts:
            yield line
            return
        yield f"{head} :-"
        for part in parts[:-1]:
            yield f"    {part},"
        yield f"    {parts[-1]}."

    def _literal(self, literal: Literal) -> str:
        if isinstance(literal, Atom):
            return self.atom(literal.key, list(map(self.term, literal.args)), self._time)
        if isinstance(literal, Distinct):
            return f"{self.term(literal.left)} != {self.term(literal.right)}"
        assert isinstance(literal, Not)
        return f"not {self._literal(literal.literal)}"

    def _function_names(self) -> dict[tuple[str, int], str]:
        names: dict[tuple[str, int], str] = {}
        used_names: set[str] = set()
        for node in walk(*self.rules):
            if isinstance(node, Function) and node.key not in names:
                names[node.key] = node.name if _spells(node.name) else ""
                used_names.add(node.name)
        for key, name in sorted(names.items()):
            if not name:
                names[key] = fresh(f"f_{re.sub('[^A-Za-z0-9_]', '_', key[0])}", used_names)
        return names

    def _relation_names(self, own: frozenset[str]) -> dict[tuple[str, int], str]:
        used_names = {name for name, _ in self.levels} | own
        names: dict[tuple[str, int], str] = {}
        for key in self.levels:
            name = key[0]
            if not _spells(name) or name in own:
                name = fresh(f"p_{re.sub('[^A-Za-z0-9_]', '_', name)}", used_names)
            elif any(names.get((name, other)) == name for other in range(key[1] + 3) if other != key[1]):
                name = fresh(f"{name}_{key[1]}", used_names)  # the time argument would make them collide
            names[key] = name
        return names


def constant(name: str) -> str:
    """Write a constant."""
    if _NUMBER.fullmatch(name) or _spells(name):
        return name
    escaped = name.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def _spells(name: str) -> bool:
    return _NAME.fullmatch(name) is not None and name != "not"


def _bodies(rule: Rule) -> Iterator[tuple[Literal, ...]]:
    """Yield the body with one disjunct of every disjunction, in all combinations."""
    choices = [list(_alternatives(literal)) for literal in rule.body]
    count = prod(map(len, choices))
    if count > _SPLIT_LIMIT:
        raise GameError(f"a rule for `{rule.head}` splits into {count} rules without disjunction")
    for combination in product(*choices):
        yield tuple(chain.from_iterable(combination))


def _alternatives(literal: Literal) -> Iterator[tuple[Literal, ...]]:
    if isinstance(literal, Or):
        for part in literal.literals:
            yield from _alternatives(part)
    elif isinstance(literal, And):
        for combination in product(*map(_alternatives, literal.literals)):
            yield tuple(chain.from_iterable(combination))
    else:
        yield (literal,)
