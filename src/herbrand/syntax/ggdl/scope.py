"""The context of one sentence during translation: its variables, types, board and named places."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple

from herbrand.syntax.ggdl import nodes as n
from herbrand.syntax.names import fresh
from herbrand.syntax.nodes import Variable

if TYPE_CHECKING:
    from collections.abc import Container, Mapping

    from herbrand.syntax.ggdl.report import Place
    from herbrand.syntax.nodes import Atom, Term

__all__ = ["Application", "Scope", "WorkItem", "call_of"]

_VARIABLE: Final = re.compile(r"\?(\w+)|\b(_?[A-Z]\w*)")


@dataclass(slots=True)
class WorkItem:
    """A sentence to be translated, with the surface block and `let` blocks around it."""

    number: int
    """Index of the enclosing top-level sentence in `GgdlProgram.sentences`."""
    sentence: n.Sentence
    surface: n.SurfaceSentence | None = None
    instance: str | None = None
    """Name of the board it is limited to; None if it covers all boards of the surface."""
    lets: dict[str, n.Expr] = field(default_factory=dict)
    """Places named by `let`, by folded name."""
    members: frozenset[tuple[str, int]] = frozenset()
    """Relations that take the board as an additional first argument, with the arity as written."""
    local: dict[str, Term] = field(default_factory=dict)
    """Parameters and constants of the surface."""


class Application(NamedTuple):
    """A name applied to arguments: the common form of names, calls, members and indices of boards."""

    name: str
    """Folded."""
    spelling: str
    args: tuple[n.Expr, ...]

    @property
    def key(self) -> tuple[str, int]:
        """Name and number of arguments."""
        return self.name, len(self.args)


OWN_BOARD: Final = n.Anonymous(-1, -1)
"""First argument of `cell` for `@[i, j]`: the board that the sentence belongs to."""


def resolve_let(expr: n.Expr, lets: Mapping[str, n.Expr]) -> n.Expr:
    """Replace a name bound by `let` by its place."""
    for _ in lets:  # a place may be named by an outer `let`; the bound stops a `let` of itself
        key = expr.folded if isinstance(expr, n.Name) else expr.name if isinstance(expr, n.Var) else ""
        if key not in lets:
            break
        expr = lets[key]
    return expr


def call_of(expr: n.Expr, lets: Mapping[str, n.Expr]) -> Application | None:
    """Return an expression as a call; None if it is none, such as a number."""
    match resolve_let(expr, lets):
        case n.Name(spelling=spelling) as name:
            return Application(name.folded, spelling, ())
        case n.FunctionCall(spelling=spelling, args=args) as call:
            return Application(call.folded, spelling, args)
        case n.Member(base=base, spelling=spelling, args=args) as member:
            return Application(member.folded, spelling, (base, *args))
        case n.Index(base=base, args=args):
            return Application("cell", "cell", (base or OWN_BOARD, *args))
    return None


class Scope:
    """The names of one sentence."""

    def __init__(self, work: WorkItem, declared: Container[str] = ()) -> None:
        self.work = work
        self.sentence = work.sentence
        self.plain = work.sentence.plain
        text = work.sentence.source.text[work.sentence.start : work.sentence.end]
        self.used = {
            (marked or plain).lower().replace("'", "_p")
            for marked, plain in _VARIABLE.findall(text)
            if marked or (self.plain and plain not in declared)
        }
        self.typed: dict[str, list[Atom]] = {}
        """The conditions that the type of each variable implies."""
        self.types: dict[str, str] = {}
        """The type of each typed variable."""
        self.generated: set[str] = set()
        """Variables introduced by the translation."""
        self.board: Term | None = None
        """The board of the sentence: a constant, or a variable over all boards of the surface."""
        self.rename: dict[str, str] = {}
        """Fresh names for the variables of a hook, which must not capture those of the move."""

    def span(self, place: Place) -> tuple[int, int]:
        """Return the offsets to report: those of the `consult` for a sentence of another file."""
        if self.sentence.imported:
            return self.sentence.imported
        return place if isinstance(place, tuple) else (place.start, place.end)

    def restrict(self, variable: Variable, condition: Atom) -> None:
        """Add a condition that the type of a variable implies."""
        conditions = self.typed.setdefault(variable.name, [])
        if condition not in conditions:
            conditions.append(condition)

    def fresh(self, name: str, place: Place) -> Variable:
        """Make a variable that the sentence does not use."""
        new = fresh(name, self.used)
        self.generated.add(new)
        return Variable(new, None, *self.span(place))
