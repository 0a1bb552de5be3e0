"""Translate plain GDL to GGDL where the rules allow it: `lift`.

| in plain GDL | in GGDL |
|---|---|
| `role` facts | `role a, b` |
| facts of a relation with one argument | `data t := 1 .. 3` |
| a fluent whose last argument is one value for the others | `base F(t) = u`, and `F(x) == v` in conditions |
| rules for `legal` | moves `?p -> m :- …` |
| rules for `goal` | payoffs `?p $= n :- …` |

The rules for `next` stay unchanged: a translation should not guess which of them are frame rules.
So the text means the same rules, statement by statement.  That a fluent has one value
is inferred from the given states, in which no place had two values.
"""

from __future__ import annotations

from collections import Counter
from math import prod
from typing import TYPE_CHECKING, Final

from herbrand.syntax.ggdl.values import as_integer
from herbrand.syntax.names import constant_names, variable_names
from herbrand.syntax.nodes import And, Atom, Constant, Distinct, Function, Not, Or, Rule, Variable, children
from herbrand.syntax.tokens import ARITY

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from herbrand.syntax.nodes import Literal, Node, Term
    from herbrand.syntax.tree import Tree

__all__ = ["lift"]

_WORDS: Final = frozenset(
    {
        *("data", "enum", "type", "const", "surface", "where", "let", "consult", "import", "default"),
        *("from", "in", "roles", "int", "bool", "string", "persist", "when", "new", "use", "true", "false"),
        *("var", "export", "output", "meta", "basis", "func", "phase", "include", "play", "for", "has"),
        *("random", "forall", "forany", "zip", "reverse", "exists", "sum", "role"),
    }
)
_RESERVED: Final = _WORDS | frozenset(ARITY)
_WIDTH: Final = 96


def lift(
    tree: Tree,
    states: Iterable[Collection[str]] = (),
    base: Iterable[str] = (),
    *,
    comments: Mapping[int, str] | None = None,
) -> str:
    """Write a plain rulesheet in GGDL.

    `states` are sampled states, as sets of facts in KIF, from which fluents with one value for
    each place are inferred; without any, no fluent is treated as functional.  `base` lists all base
    propositions, which determine types.  `comments` are put above statements, by index.
    """
    return _Lift(tree, list(states), base).text(comments or {})


class _Lift:
    def __init__(self, tree: Tree, states: list[Collection[str]], base: Iterable[str]) -> None:
        self.statements = tree.statements
        self.names, _ = constant_names(tree.statements, "infix")
        self.heads: dict[tuple[str, int], list[Rule]] = {}
        for rule in self.statements:
            self.heads.setdefault(rule.head.key, []).append(rule)
        self.terms = self._ordinary_terms()
        self.types = self._types()
        self.generated_types: dict[str, list[Constant]] = {}
        """Types introduced for the arguments and values of fluents."""
        self.base_rows: dict[tuple[str, int], list[list[str]]] = {}
        for text in base:
            name, *args = split(text.lower())
            self.base_rows.setdefault((name, len(args)), []).append(args)
        self.functional = sorted(self._functional(states))
        self.declared = {
            key: signature for key in self.functional if (signature := self._signature(key)) is not None
        }

    def text(self, comments: Mapping[int, str]) -> str:
        """Return the whole program, with comments above some statements."""
        lines: list[str] = []
        roles = [rule.head.args[0] for rule in self.heads.get(("role", 1), ()) if rule.is_fact]
        if roles and all(isinstance(role, Constant) for role in roles):
            lines += [f"role {', '.join(map(self._term, roles))}", ""]
        for name, members in (*self.types.items(), *self.generated_types.items()):
            lines.append(f"data {self.names[name]} := {self._members(members)}")
        if self.types or self.generated_types:
            lines.append("")
        for (name, _), (args, value) in self.declared.items():
            inner = f"({', '.join(self._kind_name(a) for a in args)})" if args else ""
            lines.append(f"base {self.names[name]}{inner} = {self._kind_name(value)}")
        if self.declared:
            lines.append("")
        before = comment = ""
        for number, rule in enumerate(self.statements):
            head = rule.head
            comment = comments.get(number, comment)
            if (head.key == ("role", 1) and lines and lines[0].startswith("role ")) or (
                rule.is_fact and len(head.args) == 1 and head.name in self.types
            ):
                continue
            topic = head.name if head.name in ARITY else ""
            if (comment or topic != before) and lines and lines[-1]:
                lines.append("")
            if comment:
                lines.append(f"// {comment}")
                comment = ""
            before = topic
            lines.append(self._rule(rule))
        return "\n".join(lines).strip("\n") + "\n"

    # -- declarations ----------------------------------------------------------------------------

    def _ordinary_terms(self) -> set[tuple[str, int]]:
        """Return names and arities of terms that are neither fluents nor moves."""
        ordinary: set[tuple[str, int]] = set()
        stack: list[Node] = list(self.statements)
        while stack:
            node = stack.pop()
            if isinstance(node, Constant | Function):
                ordinary.add(node.key)
            if isinstance(node, Atom) and node.name in {"true", "next", "init", "base"} and node.arity == 1:
                stack += node.args[0].args
            elif isinstance(node, Atom) and node.name in {"does", "legal", "input"} and node.arity == 2:
                stack += (node.args[0], *node.args[1].args)
            else:
                stack += children(node)
        return ordinary

    def _types(self) -> dict[str, list[Constant]]:
        types: dict[str, list[Constant]] = {}
        for (name, arity), rules in self.heads.items():
            members = [rule.head.args[0] for rule in rules if arity == 1 and rule.is_fact]
            constants = [m for m in members if isinstance(m, Constant)]
            plain = len(constants) == len(rules) == len(set(constants))
            if not plain or len(rules) < 2 or name in _RESERVED or {(name, 0), (name, 1)} & self.terms:
                continue
            if not any(m.name == name or m.name in _WORDS for m in constants):
                types[name] = constants
        # a member that is also the name of a type would be read as that type
        return {n: ms for n, ms in types.items() if not any(m.name in types for m in ms)}

    def _functional(self, states: Sequence[Collection[str]]) -> set[tuple[str, int]]:
        """Return the fluents with at most one value at each place in every given state."""
        places: dict[tuple[str, int], bool] = {}
        for state in states:
            values: Counter[tuple[str, ...]] = Counter()
            for text in state:
                name, *args = split(text.lower())
                if args:
                    key, place = (name, len(args)), (name, *args[:-1])
                    values[place] += 1
                    places[key] = places.get(key, True) and values[place] == 1
        views = {key for key in self.heads if key[0] not in ARITY}
        taken = self.terms | views
        return {
            (name, arity)
            for (name, arity), single in places.items()
            if single
            and name not in _RESERVED
            and (name, arity) not in views
            and (name, arity - 1) not in taken
        }

    def _signature(self, key: tuple[str, int]) -> tuple[tuple[str, ...], str] | None:
        """Return types for the arguments and the value, introducing missing ones; None if none fit."""
        rows = self.base_rows.get(key, [])
        if not rows or any(part.startswith("(") for row in rows for part in row):
            return None
        columns = [list(dict.fromkeys(row[i] for row in rows)) for i in range(key[1])]
        places = {tuple(row[:-1]) for row in rows}
        if len(places) != prod(len(column) for column in columns[:-1]):
            return None
        kinds: list[str] = []
        for i, column in enumerate(columns):
            kind = self._kind(column)
            if kind is None:
                name = self.names[key[0]].lower()
                kind = f"{name}_values" if i == key[1] - 1 else f"{name}_{i + 1}"
                if kind in self.names or any(part in _WORDS or part not in self.names for part in column):
                    return None
                self.names[kind] = kind
                self.generated_types[kind] = sorted(map(Constant, column), key=_order)
            kinds.append(kind)
        return tuple(kinds[:-1]), kinds[-1]

    def _kind_name(self, kind: str) -> str:
        return "role" if kind == "role" else self.names[kind]

    def _kind(self, column: list[str]) -> str | None:
        roles = [str(rule.head.args[0]) for rule in self.heads.get(("role", 1), ())]
        if set(roles) == set(column):
            return "role"
        for name, members in (*self.types.items(), *self.generated_types.items()):
            if {member.name for member in members} == set(column):
                return name
        return None

    # -- writing ---------------------------------------------------------------------------------

    def _members(self, members: list[Constant]) -> str:
        numbers = [as_integer(member) for member in members]
        first = numbers[0]
        if len(members) > 2 and first is not None and numbers == list(range(first, first + len(members))):
            return f"{first} .. {first + len(members) - 1}"
        return " | ".join(map(self._term, members))

    def _term(self, term: Term) -> str:
        if isinstance(term, Variable):
            return f"?{self.variables.get(term.name, term.name)}"
        if isinstance(term, Function):
            return f"{self.names[term.name]}({', '.join(map(self._term, term.args))})"
        return self.names[term.name]

    variables: dict[str, str] = {}  # noqa: RUF012  # replaced for every rule

    def _rule(self, rule: Rule) -> str:
        written = variable_names(rule, "infix")
        self.variables = {name: new[0].lower() + new[1:] for name, new in written.items()}
        head = rule.head
        if any(isinstance(literal, Or) or _is_deep(literal) for literal in rule.body):
            return self._lines(self._atom(head), [self._plain(literal) for literal in rule.body])
        start = self._atom(head)
        is_role = not head.args or isinstance(head.args[0], Constant | Variable)
        if head.key == ("legal", 2) and is_role and not isinstance(head.args[1], Variable) and rule.body:
            start = f"{self._term(head.args[0])} -> {self._term(head.args[1])}"
        elif head.key == ("goal", 2) and is_role and _is_payoff(head.args[1]) and rule.body:
            start = f"{self._term(head.args[0])} $= {self._term(head.args[1])}"
        return self._lines(start, [self._literal(literal) for literal in rule.body])

    def _lines(self, head: str, body: list[str]) -> str:
        if not body:
            return head
        line = f"{head} :- {' and '.join(body)}"
        if len(line) <= _WIDTH:
            return line
        return f"{head} :-\n    " + " and\n    ".join(body)

    def _atom(self, atom: Atom) -> str:
        name = atom.name if atom.name in ARITY else self.names[atom.name]
        return f"{name}({', '.join(map(self._term, atom.args))})" if atom.args else name

    def _literal(self, literal: Literal) -> str:
        if isinstance(literal, Distinct):
            return f"{self._term(literal.left)} # {self._term(literal.right)}"
        if isinstance(literal, Not):
            return f"not {self._plain(literal.literal)}"
        assert isinstance(literal, Atom)
        fluent = literal.args[0] if literal.key == ("true", 1) else None
        if isinstance(fluent, Function) and (fluent.name, len(fluent.args)) in self.declared:
            *args, value = map(self._term, fluent.args)
            place = f"{self.names[fluent.name]}({', '.join(args)})" if args else self.names[fluent.name]
            return f"{place} == {value}"
        return self._plain(literal)

    def _plain(self, literal: Literal) -> str:
        if isinstance(literal, Distinct):
            return f"distinct({self._term(literal.left)}, {self._term(literal.right)})"
        if isinstance(literal, Not):
            return f"~{self._plain(literal.literal)}"
        if isinstance(literal, And | Or):
            sign = " & " if isinstance(literal, And) else " | "
            return f"({sign.join(map(self._plain, literal.literals))})"
        return self._atom(literal)


def _is_deep(literal: Literal) -> bool:
    return isinstance(literal, And) or (isinstance(literal, Not) and not isinstance(literal.literal, Atom))


def _is_payoff(term: Term) -> bool:
    return isinstance(term, Variable) or as_integer(term) is not None


def _order(term: Constant) -> tuple[int, int, str]:
    value = as_integer(term)
    return (1, 0, term.name) if value is None else (0, value, "")


def split(text: str) -> list[str]:
    """Split the text of a term into its name and the texts of its arguments."""
    if not text.startswith("("):
        return [text]
    parts: list[str] = []
    depth = start = 0
    content = text[1:-1]
    for i, character in enumerate(f"{content} "):
        depth += (character == "(") - (character == ")")
        if character == " " and not depth:
            if content[start:i]:
                parts.append(content[start:i])
            start = i + 1
    return parts
