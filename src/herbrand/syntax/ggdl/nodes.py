"""The abstract syntax tree of GGDL, before translation to GDL.

*Expressions* denote values or places, *formulas* conditions; *sentences* make up a program.
Every node has its offsets in the source text.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, TypeAlias

if TYPE_CHECKING:
    from herbrand.diagnostic import Source

# -- expressions ---------------------------------------------------------------------------------


@dataclass(slots=True)
class Located:
    """Base class of all nodes: the range text[start:end]."""

    start: int
    end: int


class _Spelled:
    """Mixin for nodes with a name."""

    __slots__ = ()
    spelling: str

    @property
    def folded(self) -> str:
        """The name in lower case, as GDL compares names."""
        return self.spelling.lower()


@dataclass(slots=True)
class Number(Located):
    """`12`."""

    value: int


@dataclass(slots=True)
class String(Located):
    """`"X"`; `text` without quotes and escapes."""

    text: str


@dataclass(slots=True)
class Quoted(Located):
    """`'any text'`, a constant."""

    text: str


@dataclass(slots=True)
class Var(Located):
    """`?x`, `?x:T`, `?x in T`; `name` is folded and without question mark."""

    name: str
    spelling: str
    type: Type | None = None


@dataclass(slots=True)
class Anonymous(Located):
    """`_`."""


@dataclass(slots=True)
class Generator(Located):
    r"""`\row`."""

    name: str


@dataclass(slots=True)
class Name(_Spelled, Located):
    """`blank`, `Control`: a constant, a variable of plain infix, a relation or function without arguments."""

    args: ClassVar[tuple[Expr, ...]] = ()
    """Nothing, as if names were calls without arguments."""
    spelling: str


@dataclass(slots=True)
class FunctionCall(_Spelled, Located):
    """`f(a, b)`."""

    spelling: str
    args: tuple[Expr, ...]


@dataclass(slots=True)
class Member(_Spelled, Located):
    """`a.f` and, with `args`, `a.f(b)`."""

    base: Expr
    spelling: str
    args: tuple[Expr, ...]


@dataclass(slots=True)
class Index(Located):
    """`board[1, 2]`, and `@[1, 2]` where `base` is None."""

    base: Expr | None
    args: tuple[Expr, ...]


@dataclass(slots=True)
class Interval(Located):
    """`1 .. 3`."""

    low: Expr
    high: Expr


@dataclass(slots=True)
class Sum(Located):
    """`a + b`, `a - b`, `a * b`."""

    sign: str
    left: Expr
    right: Expr


@dataclass(slots=True)
class AlternativeTerms(Located):
    """`a | b` in an argument."""

    options: tuple[Expr, ...]


@dataclass(slots=True)
class SetLiteral(Located):
    """`{{ a, b }}`."""

    items: tuple[Expr, ...]


@dataclass(slots=True)
class Comprehension(Located):
    r"""`{[ e | \v <- range ]}`."""

    item: Expr
    generators: tuple[tuple[str, Expr], ...]
    """Pairs of variable (folded, without sign) and range."""


Expr: TypeAlias = (
    Number
    | String
    | Quoted
    | Var
    | Anonymous
    | Generator
    | Name
    | FunctionCall
    | Member
    | Index
    | Interval
    | Sum
    | AlternativeTerms
    | SetLiteral
    | Comprehension
)


@dataclass(slots=True)
class Type(Located):
    """A type as written: its name, or the bounds of a range; `int` may have bounds."""

    name: str = ""
    low: Expr | None = None
    high: Expr | None = None
    bounds: tuple[tuple[str, Expr], ...] = ()
    """For `int`: comparison sign and value."""
    is_set: bool = False
    """`[]T`."""
    options: tuple[Expr, ...] = ()
    """For a union such as `blank | roles`: types and constants."""


# -- formulas ------------------------------------------------------------------------------------


@dataclass(slots=True)
class Holds(Located):
    """An atom."""

    atom: Expr


@dataclass(slots=True)
class Negation(Located):
    """`not f`."""

    inner: Formula


@dataclass(slots=True)
class Conjunction(Located):
    """`f and g`; without parts it is true."""

    parts: tuple[Formula, ...]


@dataclass(slots=True)
class Disjunction(Located):
    """`f or g`."""

    parts: tuple[Formula, ...]


@dataclass(slots=True)
class Comparison(Located):
    """`a == b`; `sign` is one of `== # << >> < > <= >= ===`."""

    sign: str
    left: Expr
    right: Expr


@dataclass(slots=True)
class Membership(Located):
    """`x in C`."""

    item: Expr
    collection: Expr


@dataclass(slots=True)
class Doing(Located):
    """`r -> m`, and `r @ place -> m`."""

    subject: Expr
    place: Expr | None
    action: Expr


@dataclass(slots=True)
class Payoff(Located):
    """`r $= n`."""

    role: Expr
    value: Expr


Formula: TypeAlias = Holds | Negation | Conjunction | Disjunction | Comparison | Membership | Doing | Payoff

# -- sentences -----------------------------------------------------------------------------------


@dataclass(slots=True)
class Sentence:
    """Base class of sentences."""

    start: int
    end: int
    source: Source
    plain: bool = field(default=False, kw_only=True)
    """Whether it is a sentence of plain GDL."""
    doc: str = field(default="", kw_only=True)
    imported: tuple[int, int] | None = field(default=None, kw_only=True)
    """Offsets of the `consult` that imports it, for a sentence of another file."""

    @property
    def report_span(self) -> tuple[int, int]:
        """Offsets that diagnostics and rules point to: those of the import, if the sentence is imported."""
        return self.imported or (self.start, self.end)


@dataclass(slots=True)
class PrefixSentence(Sentence):
    """A sentence in prefix notation."""


@dataclass(slots=True)
class RoleField:
    """One property of a record."""

    name: str
    external: bool
    type: Type | None
    value: Expr | None
    start: int
    end: int


@dataclass(slots=True)
class RoleSentence(Sentence):
    """`role a, b { … }`; the name `_` stands for all roles."""

    names: tuple[Name, ...]
    fields: tuple[RoleField, ...]


@dataclass(slots=True)
class Level:
    """Alternatives of equal rank in a data definition."""

    items: tuple[Expr, ...]
    link: str
    """The operator before it in its chain: "", `<<` or `<<<`."""


@dataclass(slots=True)
class DataSentence(Sentence):
    """`data T := …`; groups of chains of levels."""

    name: str
    groups: tuple[tuple[Level, ...], ...]
    name_end: int


@dataclass(slots=True)
class ConstantSentence(Sentence):
    """`const N := v`, `N <=> v`."""

    name: str
    value: Expr


@dataclass(slots=True)
class BaseSentence(Sentence):
    """`base F(T) = U`."""

    name: str
    args: tuple[Type, ...]
    value: Type | None


@dataclass(slots=True)
class ParameterSentence(Sentence):
    """`init ^ N :: T default v`."""

    name: str
    type: Type
    default: Expr | None


@dataclass(slots=True)
class InitSentence(Sentence):
    """`init place := value :- body`; `value` is None for a plain fact."""

    place: Expr
    value: Expr | None
    body: Formula | None


@dataclass(slots=True)
class Consequence:
    """One consequence; `sign` is one of `= += -=`, `+` (assert), `~` (retract), `persist`."""

    sign: str
    place: Expr | None
    value: Expr | None
    start: int
    end: int


@dataclass(slots=True)
class MoveSentence(Sentence):
    """`subject -> action :- body ==> effects`."""

    head: Doing
    body: Formula | None
    effects: tuple[Consequence, ...] | None


@dataclass(slots=True)
class ConsequenceSentence(Sentence):
    """`body ==> effects`."""

    body: Formula
    effects: tuple[Consequence, ...]


@dataclass(slots=True)
class NextSentence(Sentence):
    """`next F(args) = value :- body`."""

    place: Expr
    value: Expr
    body: Formula | None


@dataclass(slots=True)
class GoalSentence(Sentence):
    """`r $= n, … :- body`."""

    payoffs: tuple[Payoff, ...]
    body: Formula | None


@dataclass(slots=True)
class RuleSentence(Sentence):
    """`heads :- body`; facts have no body."""

    heads: tuple[Expr, ...]
    body: Formula | None


@dataclass(slots=True)
class OperationSentence(Sentence):
    """`head :: body ==> effects`."""

    head: Expr
    body: Formula
    effects: tuple[Consequence, ...] | None


@dataclass(slots=True)
class SurfaceSentence(Sentence):
    """`surface S(P) <=> {[ … ]} where ( … )`."""

    name: str
    parameters: tuple[str, ...]
    cells: Comprehension
    block: tuple[Sentence, ...]


@dataclass(slots=True)
class LetSentence(Sentence):
    """`let ?c = place { … }`."""

    name: str
    place: Expr
    block: tuple[Sentence, ...]


@dataclass(slots=True)
class ConsultSentence(Sentence):
    """`consult { A } from "path"`."""

    names: tuple[Name, ...]
    path: str
    path_start: int
    path_end: int
