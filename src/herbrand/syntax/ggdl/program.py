"""What is known about a GGDL program while it is translated, and what is kept of it afterwards."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from herbrand.syntax.nodes import Constant, Function, Rule, Variable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from herbrand.diagnostic import Source
    from herbrand.syntax.ggdl import nodes as n
    from herbrand.syntax.ggdl.report import ProgramDiagnostics
    from herbrand.syntax.nodes import Comment, Term

__all__ = ["DataType", "Declarations", "Fluent", "GgdlProgram", "Parameter", "Value", "show"]

Value = int | bool | str
"""The value of a parameter."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a game: what `init ^ Name :: Type bounds default value` says."""

    name: str
    type: str
    """`int`, `bool`, or the name of a data type."""
    low: int | None = None
    """Least value of an `int`, if there is a bound."""
    high: int | None = None
    choices: tuple[str, ...] = ()
    """The values of a data type, in order."""
    default: Value | None = None
    doc: str = ""
    """The comment that belongs to it."""
    value: Value | None = None
    """The value that the game was read with; None when none was given."""

    @property
    def range(self) -> str:
        """The values it may have, in words: `3 to 20`, `at least 1`, `heads or tails`."""
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
        return {
            "name": self.name,
            "type": self.type,
            "low": self.low,
            "high": self.high,
            "choices": list(self.choices),
            "default": self.default,
            "value": self.value,
            "doc": self.doc,
        }


@dataclass(slots=True)
class DataType:
    """A finite type: its members in order, and which of them is preferred to which."""

    name: str
    spelling: str
    members: tuple[Term, ...]
    below: tuple[tuple[Term, Term], ...] = ()
    """Pairs (worse, better)."""
    doc: str = ""


@dataclass(slots=True)
class Fluent:
    """Something that is declared to be part of the state, and lasts."""

    name: str
    spelling: str
    arity: int
    """How many arguments it has in GDL."""
    functional: bool
    """Whether the last argument is the value of the others."""
    arguments: list[str | None] = field(default_factory=list)
    """Declared types of the arguments, where they are known."""
    value: str | None = None
    """Declared type of the value."""
    kind: str = ""
    """`bool` or `set` for such properties."""
    start: int = 0
    end: int = 0
    order: int = 0
    """Sentence that declares it."""
    doc: str = ""
    domain: tuple[tuple[Term, ...], ...] = ()
    """Tuples of arguments (without the value of a functional one), in the order of the state code."""
    values: tuple[Term, ...] = ()
    """Possible values of a functional one, in order."""
    total: bool = False
    """Whether it has a value from the beginning and never loses it."""
    removed: bool = False
    """Whether some effect may leave it without value."""

    @property
    def key(self) -> tuple[str, int]:
        """Name and arity in GDL."""
        return self.name, self.arity


@dataclass(frozen=True, slots=True)
class Declarations:
    """What a GGDL text declares beside its rules."""

    parameters: tuple[Parameter, ...] = ()
    given: tuple[tuple[str, Value], ...] = ()
    """The values that were passed in, by name."""
    types: tuple[DataType, ...] = ()
    fluents: tuple[Fluent, ...] = ()
    strings: tuple[tuple[str, str], ...] = ()
    """Constants that stand for strings, and their texts."""
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


class GgdlProgram:
    """A program on its way to GDL."""

    def __init__(
        self,
        source: Source,
        report: ProgramDiagnostics,
        sentences: list[n.Sentence],
        comments: tuple[Comment, ...],
        given: Mapping[str, Value],
        roots: tuple[str, ...] = (),
    ) -> None:
        self.source = source
        self.report = report
        self.sentences = sentences
        self.comments = comments
        self.given = dict(given)
        self.roots = roots
        """Folders that imports are looked for in, beside that of the file."""
        self.plain_rules: dict[int, tuple[Rule, ...]] = {}
        """The rules of each prefix sentence, by the `id` of the sentence."""
        self.parameters: list[Parameter] = []
        self.constants: dict[str, Term] = {}
        """Parameters and constants by their spelling."""
        self.bools: dict[str, bool] = {}
        self.roles: dict[str, Constant] = {}
        self.types: dict[str, DataType] = {}
        self.ranges: dict[str, tuple[Term, ...]] = {}
        """Members of the ranges that are used as types without a name."""
        self.fluents: dict[tuple[str, int], Fluent] = {}
        self.fixed: set[tuple[str, int]] = set()
        """Properties that never change."""
        self.external: set[str] = set()
        self.views: set[tuple[str, int]] = set()
        self.plain_fluents: set[tuple[str, int]] = set()
        """Fluents that rules of plain GDL are about."""
        self.own_next: dict[tuple[str, int], Rule | None] = {}
        """Fluents for which the author writes `next` rules."""
        self.own_heads: dict[str, list[tuple[str, int]]] = {}
        """For `base`, `input`, `legal`: what the author's own rules are about."""
        self.declared: dict[str, set[str]] = {}
        """Each spelling that is declared, and as what."""
        self.unary_facts: dict[str, list[Term]] = {}
        self.surfaces: dict[str, n.SurfaceSentence] = {}
        self.instances: dict[str, Instance] = {}
        self.imported: set[str] = set()
        """Built-in components that were imported."""
        self.strings: dict[str, str] = {}
        self.docs: dict[str, str] = {}
        self.rules: list[tuple[int, Rule]] = []
        """Rules of the translation with the number of the sentence that each belongs to."""
        self.moves: dict[tuple[str, int], int] = {}
        """Name and arity of the actions of move rules, and the sentence that each first stands in."""
        self.taken: set[str] = set()
        """Names that the author uses."""
        self.universe: tuple[int, int] | None = None

    def declare(self, spelling: str, kind: str) -> None:
        """Note that a spelling is declared."""
        self.declared.setdefault(spelling, set()).add(kind)

    def fresh(self, name: str) -> str:
        """Return `name`, or with a number behind it if the author uses it."""
        new, number = name, 1
        while new in self.taken:
            number += 1
            new = f"{name}_{number}"
        return new

    def type_members(self, name: str) -> tuple[Term, ...] | None:
        """Return the members of a type, None if there is no such type."""
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
    """Return a term as it is written in GGDL."""
    if isinstance(term, Variable):
        return f"?{term.spelling}"
    if isinstance(term, Function):
        return f"{term.spelling}({', '.join(map(show, term.args))})"
    return term.spelling
