"""Write rules as clauses for SWI-Prolog, shared by both styles.

Prolog proves goals from left to right and top-down.  To preserve the meaning of the rules,
tests are moved behind the literals that bind their variables, the negation of `distinct` becomes unification,
recursive relations are tabled, relations without rules are declared, and relations with the
name of a system predicate are renamed (Warren 1992 for tabling; Swift and Warren 2012).
"""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Final

from herbrand.syntax.names import constant_names, operand, quote, variable_names
from herbrand.syntax.nodes import And, Atom, Distinct, Not, Or, variables_of, walk
from herbrand.syntax.printer import _Infix, _with_comments

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from herbrand.check.rules import Rules
    from herbrand.rules.terms import TermTable
    from herbrand.syntax.nodes import Literal, Node, Rule

__all__ = [
    "INPUTS",
    "ClauseWriter",
    "Relation",
    "ground_term",
    "module",
    "relation_names",
    "statements_for",
    "template",
]

_INTEGER = re.compile(r"0|-?[1-9][0-9]*")
Relation = tuple[str, int]
"""Name and arity."""
INPUTS: Final = (("true", 1), ("does", 2))
"""The relations that tell the state and the moves."""


def ground_term(terms: TermTable, number: int) -> str:
    """Return a ground term as SWI-Prolog reads it."""
    name, arity = terms.functors[terms.functor[number]]
    if arity:
        return f"{atom(name)}({', '.join(ground_term(terms, arg) for arg in terms.args[number])})"
    return name if _INTEGER.fullmatch(name) else atom(name)


def statements_for(rules: Rules) -> tuple[Rule, ...]:
    """Return the statements, those with a negated `distinct` in normal form."""
    if not any(_negates_distinct(literal) for rule in rules.tree.statements for literal in rule.body):
        return rules.tree.statements
    normal: dict[int, list[Rule]] = {}
    for rule, origin in zip(rules.normal.rules, rules.normal.origins, strict=True):
        normal.setdefault(id(origin), []).append(rule)
    statements: list[Rule] = []
    for statement in rules.tree.statements:
        if any(map(_negates_distinct, statement.body)):
            statements += normal.get(id(statement), ())
        else:
            statements.append(statement)
    return tuple(statements)


def _negates_distinct(literal: Literal) -> bool:
    if isinstance(literal, Not):
        return any(isinstance(part, Distinct | Not) for part in walk(literal.literal))
    return isinstance(literal, And | Or) and any(map(_negates_distinct, literal.literals))


def relation_names(wanted: Mapping[Relation, Relation], reserved: Iterable[Relation]) -> dict[Relation, str]:
    """Name the relations of a game so that they collide neither with each other nor with other predicates.

    `wanted` has the preferred name and arity of each.

    >>> relation_names({("succ", 2): ("succ", 2), ("next", 1): ("next", 1), ("g_succ", 2): ("g_succ", 2)}, [])
    {('succ', 2): 'g_succ_2', ('next', 1): 'next', ('g_succ', 2): 'g_succ'}
    """
    forbidden = {*reserved, *_system_predicates()}
    used_names = {*wanted.values(), *forbidden}
    used: set[Relation] = set()
    names: dict[Relation, str] = {}
    for key, (name, arity) in wanted.items():
        new = name
        if (name, arity) in forbidden or (name, arity) in used:
            number, new = 1, f"g_{name}"
            while (new, arity) in used_names:
                number += 1
                new = f"g_{name}_{number}"
            used_names.add((new, arity))
        used.add((new, arity))
        names[key] = new
    return names


@cache
def _system_predicates() -> frozenset[Relation]:
    """Return the predicates of module `system` in SWI-Prolog 9.0, without those with a `$`.

    Redefining one is possible for most, but the compiler replaces calls of some, such as `number/1`, before
    it looks for another definition.
    """
    predicates = (word.rpartition("/") for word in template("system_predicates.txt").split())
    return frozenset((name, int(arity)) for name, _, arity in predicates)


def template(file: str) -> str:
    """Return the text of a file of this package."""
    return files("herbrand.convert.prolog").joinpath(file).read_text(encoding="utf-8").rstrip("\n")


class ClauseWriter(_Infix):
    """Writes the statements of a game as clauses, with the given names of relations."""

    def __init__(self, rules: Rules, names: dict[Relation, str], reserved: Sequence[str] = ()) -> None:
        self.rules = rules
        self.statements = statements_for(rules)
        super().__init__("prolog", constant_names(self.statements, "prolog")[0], spelling=False)
        self.reserved = reserved
        """Names that variables of rules must not have."""
        self.names = {key: atom(name) for key, name in names.items()}

    def name_variables(self, rule: Rule) -> None:
        """Name variables; those that SWI-Prolog would report as singletons of a branch begin with `__`."""
        plain = variable_names(rule, "prolog")
        singletons = set[str]()
        for literal in rule.body:
            _find_singletons(literal, _counts(rule), singletons)
        used_names = {text.lower() for text in plain.values()} | {text.lower() for text in self.reserved}
        for name, text in plain.items():
            if text.strip("_").lower() in {text.lower() for text in self.reserved}:
                number = 2
                while f"{text}{number}".lower() in used_names:
                    number += 1
                plain[name] = f"{text}{number}"
                used_names.add(f"{text}{number}".lower())
        self.variables = {
            name: f"__{text.lstrip('_')}" if name in singletons else text for name, text in plain.items()
        }

    def bound(self, literal: Literal, least: int) -> str:
        """Write a literal, an atom as a call of its relation."""
        if isinstance(literal, Atom):
            return self.call(literal)
        return super().bound(literal, least)

    def applied(self, node: Node) -> str:
        """Write a compound term, or the head of a clause."""
        if isinstance(node, Atom):
            return self.call(node)
        return super().applied(node)  # type: ignore[arg-type]

    def call(self, atom: Atom) -> str:
        """Write an atom."""
        return self.compose(self.names[atom.key], [self.term(arg) for arg in atom.args])

    def compose(self, name: str, args: Sequence[str]) -> str:
        """Write a name with arguments."""
        return f"{name}({', '.join(args)})" if args else operand(name)

    def arity(self, relation: Relation) -> int:
        """Return the number of arguments of a relation in the program."""
        return relation[1]

    def patterns(self, relations: Iterable[Relation]) -> str:
        """Write the most general calls of relations."""
        return ", ".join(self.compose(self.names[key], "_" * self.arity(key)) for key in relations)

    def declarations(self, word: str, relations: Iterable[Relation]) -> list[str]:
        """Return directives about relations, by their written names; none for no relations."""
        listed = [f"{operand(self.names[key])}/{self.arity(key)}" for key in relations]
        return [f":- {word} {', '.join(listed[i : i + 8])}." for i in range(0, len(listed), 8)]

    def program(self, relations: Iterable[Relation], inputs: str | None = None) -> list[str]:
        """Return the declarations of relations, and all clauses, with their comments.

        `inputs` is how the state and the moves are declared, if they are relations.
        """
        graph = self.rules.graph
        defined = {*INPUTS, *(rule.head.key for rule in self.statements)}
        return [
            *(self.declarations(inputs, INPUTS) if inputs else ()),
            *self.declarations("dynamic", (key for key in relations if key not in defined)),
            *self.declarations("table", (key for key in graph.nodes if key in graph.recursive)),
            *self.declarations("discontiguous", _scattered(self.statements)),
            "",
            *_with_comments(self.statements, self.rules.tree.comments, self.rules.tree.source, self, "%"),
        ]


def atom(name: str) -> str:
    """Write a name as a Prolog atom, in quotes if necessary."""
    return name if re.fullmatch("[a-z][A-Za-z0-9_]*", name) else quote(name)


def _counts(node: Node) -> Counter[str]:
    return Counter(variable.name for variable in variables_of(node))


def _find_singletons(literal: Literal, everywhere: Counter[str], singletons: set[str]) -> None:
    """Collect variables that occur in only one disjunction, and once in one of its branches."""
    if isinstance(literal, Or):
        counts = _counts(literal)
        for part in literal.literals:
            for name, count in _counts(part).items():
                if count == 1 and everywhere[name] == counts[name] > 1:
                    singletons.add(name)
    if isinstance(literal, And | Or):
        for part in literal.literals:
            _find_singletons(part, everywhere, singletons)
    elif isinstance(literal, Not):
        _find_singletons(literal.literal, everywhere, singletons)


def _scattered(statements: Sequence[Rule]) -> list[Relation]:
    """Return the relations whose statements are not contiguous, in textual order."""
    relations: dict[Relation, None] = {}
    last: dict[Relation, int] = {}
    for index, rule in enumerate(statements):
        key = rule.head.key
        if last.get(key, index - 1) != index - 1:
            relations[key] = None
        last[key] = index
    return list(relations)


def module(
    name: str,
    head: str,
    names: Mapping[Relation, str],
    exports: Iterable[Relation],
    rules: Sequence[str],
    driver: str,
) -> str:
    """Return the text of a module: comments, declarations and clauses of the rules, and its own predicates.

    `head` is what the first comment says of the game, `names` the written names of relations, and `exports`
    predicates by their written names.
    """
    exported = ",\n    ".join(f"{name}/{arity}" for name, arity in exports)
    changed = [f"%   {name}/{arity} is {new}" for (name, arity), new in names.items() if new != name]
    if changed:
        changed = ["%", "% Renamed, because SWI-Prolog has predicates of that name:", *changed]
    lines = [
        f"% The game {name} for SWI-Prolog, written by herbrand{head}",
        *changed,
        "",
        f":- module({atom(name)}, [\n    {exported}\n  ]).",
        "",
        *rules,
        "",
        ":- if(true).  % for Prolog only: readers of game descriptions skip this",
        driver,
        ":- endif.",
    ]
    return "\n".join(lines) + "\n"
