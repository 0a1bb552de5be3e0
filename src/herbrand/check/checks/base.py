"""Common classes of the checks: `Check`, and `Sheet`, the views of a rulesheet that they share."""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass
from functools import cache, cached_property
from typing import TYPE_CHECKING, Final, Literal

from herbrand.diagnostic import Diagnostic, Edit, Fix, Label, Severity, Span
from herbrand.syntax import tokens
from herbrand.syntax.names import fresh
from herbrand.syntax.nodes import (
    Atom,
    Constant,
    Distinct,
    Function,
    Node,
    Rule,
    Variable,
    atoms_of,
    children,
    walk,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from herbrand.check.dependency import DependencyGraph
    from herbrand.check.relations import Relation
    from herbrand.syntax.nodes import Term
    from herbrand.syntax.tree import Tree

__all__ = [
    "CONNECTIVES",
    "ERROR",
    "KEYWORDS",
    "NOTE",
    "WARNING",
    "Check",
    "Severity",
    "Sheet",
    "checks_in",
    "documentation",
    "nearest",
]

ERROR: Final = Severity.ERROR
WARNING: Final = Severity.WARNING
NOTE: Final = Severity.NOTE

KEYWORDS: Final = tokens.ARITY
"""The relations with a fixed meaning and their arities."""

CONNECTIVES: Final = tokens.CONNECTIVES | {"<="}
"""Words that cannot be names."""

_SHOWN: Final = 60


@dataclass(frozen=True, slots=True)
class Check:
    """A kind of problem.  Its documentation is in the TOML file of its family, beside the modules."""

    name: str
    """The public name, as in `error[unsafe-variable]`."""
    code: str
    """Number of the rule in the language reference, such as "V1"; "" when it has none."""
    severity: Severity
    """The default severity."""
    stage: Literal["read", "check", "play"] = "check"
    """The stage that reports it: a reader, `herbrand.check.check`, or a run of the game."""
    spec: bool = False
    """Whether the language specification forbids it: then it is an error in strict mode."""
    default: bool = True
    """Whether it is enabled by default."""
    notation: Literal["prefix", "infix", "prolog", "ggdl"] = "prefix"
    """The notation of the example."""

    @property
    def title(self) -> str:
        """One line, lower case, no full stop."""
        return documentation()[self.name]["title"]

    @property
    def what(self) -> str:
        """A description of what the check reports."""
        return _joined(documentation()[self.name]["what"])

    @property
    def why(self) -> str:
        """Why that is a problem."""
        return _joined(documentation()[self.name]["why"])

    @property
    def example(self) -> str:
        """A text with the problem."""
        return documentation()[self.name]["example"].removesuffix("\n")

    @property
    def instead(self) -> str:
        """The fix; code is indented by four spaces."""
        return documentation()[self.name]["instead"].removesuffix("\n")

    def explain(self) -> str:
        """Return the documentation as Markdown."""
        code = f" ({self.code})" if self.code else ""
        level = self.severity.value if self.default else f"{self.severity.value}, off by default"
        example = "\n".join(f"    {line}".rstrip() for line in self.example.strip("\n").splitlines())
        return "\n\n".join(
            (
                f"{self.name}{code}: {self.title} [{level}]",
                f"What it does\n\n{self.what}",
                f"Why this is bad\n\n{self.why}",
                f"Example\n\n{example}",
                f"Use instead\n\n{self.instead}",
            )
        )


def checks_in(module: Mapping[str, object]) -> tuple[Check, ...]:
    """Return the checks that a module defines, in order, from its global names."""
    return tuple(value for value in module.values() if isinstance(value, Check))


@cache
def documentation() -> dict[str, dict[str, str]]:
    """Read the documentation of all checks by name, with the keys title, what, why, example and instead.

    It is read on first use, since reporting needs none of it.
    """
    import tomllib
    from importlib.resources import files

    entries: dict[str, dict[str, str]] = {}
    for file in files(__package__).iterdir():
        if file.name.endswith(".toml"):
            entries |= tomllib.loads(file.read_text(encoding="utf-8"))
    return entries


def _joined(paragraph: str) -> str:
    """Return a paragraph on one line."""
    return " ".join(paragraph.split())


class Sheet:
    """Views of a rulesheet that the checks share; each is computed on first use."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.source = tree.source
        self.statements = tree.statements
        self.is_prefix = tree.notation == "prefix"
        self.marks_variables = tree.notation in ("prefix", "ggdl")

    @cached_property
    def definitions(self) -> dict[Relation, list[Rule]]:
        """The statements that define each relation."""
        definitions: dict[Relation, list[Rule]] = {}
        for rule in self.statements:
            definitions.setdefault(rule.head.key, []).append(rule)
        return definitions

    @cached_property
    def defined_names(self) -> dict[str, Atom]:
        """The first head of each relation name, of any arity."""
        heads: dict[str, Atom] = {}
        for rule in self.statements:
            heads.setdefault(rule.head.name, rule.head)
        return heads

    @cached_property
    def body_atoms(self) -> list[tuple[Rule, Atom, bool]]:
        """Every atom of every body, with its rule and whether it is negated."""
        return [
            (rule, atom, negative)
            for rule in self.statements
            for literal in rule.body
            for atom, negative in atoms_of(literal)
        ]

    @cached_property
    def topics(self) -> list[Constant | Function]:
        """The propositions p of conditions `(knows r p)`: atoms, written as terms."""
        topics = [atom.args[-1] for _, atom, _ in self.body_atoms if atom.name == "knows" and atom.args]
        return [topic for topic in topics if isinstance(topic, Constant | Function)]

    @cached_property
    def terms(self) -> list[tuple[Constant | Function, bool]]:
        """The first occurrence of every constant and function in terms, and whether it is in `sees`.

        Occurrences inside and outside `sees` are separate; functions of different arity are
        different.
        """
        first_occurrences: dict[tuple[str, int, bool], Constant | Function] = {}
        stack: list[Node] = []
        for rule in self.statements:
            nodes: list[Node] = [rule.head]
            for literal in rule.body:
                if type(literal) is Atom:
                    nodes.append(literal)
                else:
                    nodes += _leaves(literal)
            for top in nodes:
                if isinstance(top, Atom):
                    percept = top.name == "sees"
                    stack += reversed(top.args)
                    if top.name == "knows" and top.args and isinstance(top.args[-1], Function):
                        stack[0:1] = reversed(top.args[-1].args)  # an atom: its relation is no function
                else:
                    percept = False
                    stack.append(top)
                while stack:
                    node = stack.pop()
                    kind = type(node)
                    if kind is Constant:
                        key = (node.name, 0, percept)  # type: ignore[attr-defined]
                    elif kind is Function:
                        args = node.args  # type: ignore[attr-defined]
                        key = (node.name, len(args), percept)  # type: ignore[attr-defined]
                        stack += reversed(args)
                    else:
                        continue
                    if key not in first_occurrences:
                        first_occurrences[key] = node  # type: ignore[assignment]
        return [(node, percept) for (_, _, percept), node in first_occurrences.items()]

    def last_arguments(self, keywords: Collection[str]) -> frozenset[tuple[str, int]]:
        """Return name and arity of the last arguments of atoms with these keywords and the right arity."""
        atoms = (*(rule.head for rule in self.statements), *(atom for _, atom, _ in self.body_atoms))
        return frozenset(
            atom.args[-1].key
            for atom in atoms
            if atom.name in keywords
            and atom.arity == KEYWORDS[atom.name]
            and isinstance(atom.args[-1], Constant | Function)
        )

    @cached_property
    def graph(self) -> DependencyGraph:
        """The dependency graph of the statements."""
        from herbrand.check.dependency import dependency_graph

        return dependency_graph(self.statements)

    @cached_property
    def roles(self) -> tuple[Term, ...]:
        """The roles, in order."""
        roles = (rule.head.args[0] for rule in self.definitions.get(("role", 1), ()) if rule.is_fact)
        return tuple(dict.fromkeys(roles))

    @cached_property
    def has_percepts(self) -> bool:
        """Whether the sheet defines `sees`."""
        return "sees" in self.defined_names

    @cached_property
    def is_incomplete(self) -> bool:
        """Whether the reader may have dropped statements, so that no definition can be called missing."""
        return any(d.is_error and d.check not in _REPAIRED for d in self.tree.diagnostics)

    def occurrences(self, key: tuple[str, int]) -> list[tuple[Rule, Function]]:
        """Return where a function of some name and arity stands, with the statements."""
        return [
            (rule, node)
            for rule in self.statements
            for node in walk(rule)
            if isinstance(node, Function) and node.key == key
        ]

    # -- repairs ---------------------------------------------------------------------------------

    @cached_property
    def names(self) -> set[str]:
        """All names of relations, functions and objects."""
        named = (node for node in walk(*self.statements) if isinstance(node, Atom | Function | Constant))
        return {node.name for node in named}

    def renaming(self, nodes: Iterable[Atom | Function], name: str | None = None) -> Fix | None:
        """Return the fix that writes another name in some atoms or terms, by default a new one.

        None where that would also be the name of what a role knows, or where the text does not show it.
        """
        nodes = list(nodes)
        if any(topic.name == node.name for topic in self.topics for node in nodes):
            return None
        if name is None:
            name = fresh(f"{nodes[0].name}_{nodes[0].arity}", set(self.names))
        edits = []
        for node in nodes:
            start = self._folded.find(node.name, node.start, node.end)
            if start < 0:
                return None
            edits.append(Edit(Span(start, start + len(node.name)), name))
        return Fix(f"write `{name}`", tuple(edits))

    @cached_property
    def _folded(self) -> str:
        return self.source.text.lower()

    # -- words for messages ----------------------------------------------------------------------

    def quote(self, node: Node) -> str:
        """Return the source text of a node, on one line, in backticks."""
        text = " ".join((self.source.text[node.start : node.end] or str(node)).split())
        if len(text) > _SHOWN:
            text = text[: _SHOWN - 1] + "…"
        return f"`{text}`"

    def variable(self, variable: Variable) -> str:
        """Return a variable as spelled in the source, in backticks."""
        return f"`{'?' if self.marks_variables else ''}{variable.spelling}`"

    def apply(self, name: str, *args: str) -> str:
        """Return a name applied to texts, in the notation of the sheet.

        >>> from herbrand.syntax.reader import read_prefix
        >>> from herbrand.diagnostic import Source
        >>> Sheet(read_prefix(Source("(role a)"))).apply("true", "p")
        '(true p)'
        """
        if not args:
            return name
        return f"({name} {' '.join(args)})" if self.is_prefix else f"{name}({', '.join(args)})"

    def line(self, node: Node) -> int:
        """Return the line on which a node begins."""
        return self.source.position(node.start).line

    def report(
        self,
        check: Check,
        node: Node | Span,
        message: str,
        *,
        severity: Severity | None = None,
        labels: Iterable[tuple[Node | Span, str]] = (),
        help: str | None = None,  # noqa: A002  # the name of the field
        notes: Iterable[str] = (),
        fix: Fix | None = None,
    ) -> Diagnostic:
        """Make a diagnostic; a label at the primary location becomes the text after its carets."""
        return Diagnostic(
            check.name,
            severity or check.severity,
            message,
            self.source,
            _span(node),
            tuple(Label(_span(place), text) for place, text in labels),
            help,
            tuple(notes),
            fix,
        )


_REPAIRED: Final = frozenset(
    {
        "missing-conjunction",
        "dangling-conjunction",
        "infix-in-prefix",
        "comma-in-name",
        "extra-parenthesis",
        "misplaced-parenthesis",
    }
)


def nearest(name: str, candidates: Iterable[str]) -> str | None:
    """Return the candidate closest to a misspelt name, or None."""
    squeezed = re.sub(r"[-_+]", "", name)
    pool = [c for c in candidates if c != name and abs(len(c) - len(name)) <= 3]
    for candidate in pool:
        if re.sub(r"[-_+]", "", candidate) == squeezed:
            return candidate
    matches = difflib.get_close_matches(name, pool, n=1, cutoff=0.75)
    return matches[0] if matches else None


def _span(place: Node | Span) -> Span:
    return place if isinstance(place, Span) else place.span


def _leaves(literal: Node) -> list[Node]:
    """Return the atoms and the sides of `distinct` below a literal."""
    leaves: list[Node] = []
    stack = [literal]
    while stack:
        node = stack.pop()
        if isinstance(node, Atom):
            leaves.append(node)
        elif isinstance(node, Distinct):
            leaves += (node.left, node.right)
        else:
            stack += reversed(children(node))
    return leaves
