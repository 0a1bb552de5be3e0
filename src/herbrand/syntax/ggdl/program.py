"""The state of a translation (`GgdlProgram`), and the declarations that outlive it."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING

from herbrand.syntax.names import unused
from herbrand.syntax.nodes import Constant, Function, Rule, Variable, applied

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from herbrand.diagnostic import Source
    from herbrand.syntax.ggdl import nodes as n
    from herbrand.syntax.ggdl.report import ProgramDiagnostics
    from herbrand.syntax.nodes import Atom, Comment, Literal, Term

__all__ = ["BoundedTable", "DataType", "Declarations", "Fluent", "GgdlProgram", "Parameter", "Value", "show"]

Value = int | bool | str
"""The value of a parameter."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a game, from `init ^ Name :: Type bounds default value`."""

    name: str
    type: str
    """`int`, `bool`, or the name of a data type."""
    low: int | None = None
    """Least value of an `int`, if there is a bound."""
    high: int | None = None
    choices: tuple[str, ...] = ()
    """The values of a data type, in order."""
    default: Value | None = None
    value: Value | None = None
    """The value that the game was instantiated with, or None."""
    doc: str = ""
    """The documentation comment."""

    @property
    def range(self) -> str:
        """The allowed values in words: `3 to 20`, `at least 1`, `heads or tails`."""
        if self.type == "bool":
            return "true or false"
        if self.choices:
            *some, last = self.choices
            return f"{', '.join(some)} or {last}" if some else last
        if self.low is not None and self.high is not None:
            return f"{self.low} to {self.high}"
        if self.low is not None:
            return f"at least {self.low}"
        if self.high is not None:
            return f"at most {self.high}"
        return "any integer" if self.type == "int" else self.type

    def as_json(self) -> dict[str, object]:
        """Return the parameter as JSON values."""
        return asdict(self) | {"choices": list(self.choices)}


@dataclass(slots=True)
class DataType:
    """A finite type: its members in order, and preferences between them."""

    name: str
    spelling: str
    members: tuple[Term, ...]
    below: tuple[tuple[Term, Term], ...] = ()
    """Pairs (worse, better)."""
    doc: str = ""


@dataclass(frozen=True, slots=True)
class BoundedTable:
    """An arithmetic relation whose results stay within an interval."""

    name: str
    meaning: str
    low: int
    high: int


@dataclass(slots=True)
class Fluent:
    """A declared part of the state."""

    name: str
    spelling: str
    arity: int
    """Number of arguments in GDL, including the value."""
    functional: bool
    """Whether the last argument is a function of the others."""
    arguments: list[str | None] = field(default_factory=list)
    """Declared types of the arguments, None where unknown."""
    value: str | None = None
    """Declared type of the value."""
    kind: str = ""
    """`bool` or `set` for properties of these types, else ""."""
    start: int = 0
    end: int = 0
    order: int = 0
    """Index of the declaring sentence."""
    doc: str = ""
    domain: tuple[tuple[Term, ...], ...] = ()
    """Tuples of arguments (without the value of a functional one), in the order of the state code."""
    values: tuple[Term, ...] = ()
    """Possible values of a functional one, in order."""
    total: bool = False
    """Whether every place always has a value."""
    removed: bool = False
    """Whether some effect may remove its value."""
    declared: bool = False
    """Whether something besides effects declares it."""

    @property
    def key(self) -> tuple[str, int]:
        """Name and arity in GDL."""
        return self.name, self.arity

    def argument_type(self, index: int) -> str | None:
        """Return the declared type of an argument, None where unknown."""
        return self.arguments[index] if index < len(self.arguments) else None

    def term(self, args: tuple[Term, ...], start: int, end: int) -> Constant | Function:
        """Return the fluent with these arguments as a term."""
        return applied(self.name, args, self.spelling, start, end)


@dataclass(frozen=True, slots=True)
class Declarations:
    """Declarations of a GGDL text besides its rules."""

    parameters: tuple[Parameter, ...] = ()
    arguments: tuple[tuple[str, Value], ...] = ()
    """The given parameter values, by name."""
    types: tuple[DataType, ...] = ()
    fluents: tuple[Fluent, ...] = ()
    strings: tuple[tuple[str, str], ...] = ()
    """Constants that encode strings, and their texts."""
    moves: tuple[str, ...] = ()
    """Names of the actions of move rules."""
    docs: tuple[tuple[str, str], ...] = ()
    """Documentation comments of roles, types and moves, by name."""


@dataclass(slots=True)
class Instance:
    """A board: an instance of a surface."""

    name: str
    spelling: str
    surface: n.SurfaceSentence
    sentence: n.Sentence
    args: tuple[n.Expr, ...] = ()


@dataclass(slots=True, eq=False)
class GgdlProgram:
    """A program during its translation to GDL."""

    source: Source
    report: ProgramDiagnostics
    sentences: list[n.Sentence]
    comments: tuple[Comment, ...]
    arguments: Mapping[str, Value]
    plain_rules: dict[int, tuple[Rule, ...]] = field(default_factory=dict)
    """The rules of each prefix sentence, by the `id` of the sentence."""
    parameters: list[Parameter] = field(default_factory=list)
    constants: dict[str, Term] = field(default_factory=dict)
    """Parameters and constants by their spelling."""
    bools: dict[str, bool] = field(default_factory=dict)
    roles: dict[str, Constant] = field(default_factory=dict)
    types: dict[str, DataType] = field(default_factory=dict)
    ranges: dict[str, tuple[Term, ...]] = field(default_factory=dict)
    """Members of anonymous ranges used as types, by generated name."""
    fluents: dict[tuple[str, int], Fluent] = field(default_factory=dict)
    static_properties: set[tuple[str, int]] = field(default_factory=set)
    """Properties that never change."""
    external: set[str] = field(default_factory=set)
    views: set[tuple[str, int]] = field(default_factory=set)
    plain_fluents: set[tuple[str, int]] = field(default_factory=set)
    """Fluents used in rules of plain GDL."""
    explicit_next: set[tuple[str, int]] = field(default_factory=set)
    """Fluents with `next` rules written by the author."""
    explicit_heads: dict[str, list[tuple[str, int]]] = field(default_factory=dict)
    """Fluents or actions in the author's own rules for `base`, `input`, `legal`."""
    declared: dict[str, set[str]] = field(default_factory=dict)
    """The kinds of declarations of each spelling."""
    unary_facts: dict[str, list[Term]] = field(default_factory=dict)
    surfaces: dict[str, n.SurfaceSentence] = field(default_factory=dict)
    instances: dict[str, Instance] = field(default_factory=dict)
    imported: set[str] = field(default_factory=set)
    """Built-in components that were imported."""
    strings: dict[str, str] = field(default_factory=dict)
    docs: dict[str, str] = field(default_factory=dict)
    rules: list[tuple[int, Rule]] = field(default_factory=list)
    """Translated rules, each with the index of its sentence."""
    moves: dict[tuple[str, int], int] = field(default_factory=dict)
    """Name and arity of each action of a move rule, with the index of its first sentence."""
    used_names: set[str] = field(default_factory=set)
    """Names used in the source, which generated names must avoid."""
    universe: tuple[int, int] | None = None
    outside: dict[str, set[tuple[int, ...]]] = field(default_factory=dict)
    """Rows of tables that conditions need beyond the universe."""
    compared: list[tuple[Source, tuple[int, int], Constant, Fluent | None, str | None]] = field(
        default_factory=list
    )
    """Undeclared names that are compared with a fluent, or with a variable of a type."""
    bounded: dict[tuple[int, int], BoundedTable] = field(default_factory=dict)
    """Tables of assigned arithmetic, by its place in the text."""
    effects: set[str] = field(default_factory=set)
    """Generated relations that say at which places an effect changes a fluent."""

    def declare(self, spelling: str, kind: str) -> None:
        """Record a declaration of a spelling."""
        self.declared.setdefault(spelling, set()).add(kind)

    def fresh(self, name: str) -> str:
        """Return `name`, with a number appended if it is taken."""
        return unused(name, self.used_names)

    def add_rule(self, number: int, head: Atom, body: Iterable[Literal] = ()) -> None:
        """Add a rule of the sentence with this index, at the place of its head."""
        self.rules.append((number, Rule(head, tuple(body), head.start, head.end)))

    def type_members(self, name: str) -> tuple[Term, ...] | None:
        """Return the members of a type; None for an unknown type."""
        if name in {"role", "roles"}:
            return tuple(self.roles.values())
        data_type = self.types.get(name)
        if data_type is not None:
            return data_type.members
        if name in self.ranges:
            return self.ranges[name]
        facts = self.unary_facts.get(name)
        return tuple(dict.fromkeys(facts)) if facts else None


def show(term: Term) -> str:
    """Return a term in GGDL notation."""
    if isinstance(term, Variable):
        return f"?{term.spelling}"
    if isinstance(term, Function):
        return f"{term.spelling}({', '.join(map(show, term.args))})"
    return term.spelling
