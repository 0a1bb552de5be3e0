"""The abstract syntax tree of GDL, shared by all notations.

Names are compared without case: `name` is folded to lower case and decides
equality, `spelling` is as the author wrote it and is only displayed.  Offsets (`start`, `end`
in the source) do not affect equality either.  Nodes are values: nothing may assign
to their attributes after construction (the type checker enforces this); they are plain slotted
classes because a rulesheet creates hundreds of thousands of them, and a frozen dataclass takes
three times as long to construct.

| node       | prefix             | meaning                                        |
|------------|--------------------|------------------------------------------------|
| `Constant` | `a`, `12`          | an object, also a role or a number             |
| `Variable` | `?x`               | a variable; `name` has no question mark        |
| `Function` | `(f a ?x)`         | a compound term                                |
| `Atom`     | `(p a ?x)`, `p`    | a relation applied to terms, `args` may be ()  |
| `Not`      | `(not l)`          |                                                |
| `And`      | `(and l ...)`      | conjunction; a body is an implicit one         |
| `Or`       | `(or l ...)`       |                                                |
| `Distinct` | `(distinct s t)`   | different terms                                |
| `Rule`     | `(<= h l ...)`, `h`| a rule, or a fact when `body` is empty         |
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Final, TypeAlias, TypeVar

from herbrand.diagnostic import Span

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


__all__ = [
    "And",
    "Atom",
    "Comment",
    "Constant",
    "Distinct",
    "Function",
    "Literal",
    "Node",
    "Not",
    "Or",
    "Rule",
    "Term",
    "Variable",
    "applied",
    "atoms_of",
    "rebuilt",
    "variables_of",
    "walk",
]


class Node:
    """Base class of all nodes: a range of the source."""

    __slots__ = ("end", "start")
    start: int
    end: int

    @property
    def span(self) -> Span:
        """The range of the node in its source; (0, 0) for nodes without one."""
        return Span(self.start, self.end)


class _Symbol(Node):
    """Base class of `Constant` and `Variable`: a name."""

    __slots__ = ("name", "spelling")
    args: ClassVar[tuple[Term, ...]] = ()
    """Nothing, as if constants and variables were functions without arguments."""

    def __init__(self, name: str, spelling: str | None = None, start: int = 0, end: int = 0) -> None:
        self.name: Final = name
        self.spelling: Final = name if spelling is None else spelling
        self.start = start
        self.end = end

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"


class Constant(_Symbol):
    """An object constant: entity, role or number.  The spelling of a number is its identity."""

    __slots__ = ()

    @property
    def key(self) -> tuple[str, int]:
        """Name and arity, as of a function."""
        return self.name, 0

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Constant) and self.name == other.name

    def __hash__(self) -> int:
        return hash(self.name)

    def __str__(self) -> str:
        return self.name


class Variable(_Symbol):
    """A variable; `name` is folded and without the question mark."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Variable) and self.name == other.name

    def __hash__(self) -> int:
        return hash(("?", self.name))

    def __str__(self) -> str:
        return f"?{self.name}"


class _Applied(Node):
    """Base class of `Function` and `Atom`: a name applied to terms."""

    __slots__ = ("args", "name", "spelling")

    def __init__(
        self,
        name: str,
        args: tuple[Term, ...] = (),
        spelling: str | None = None,
        start: int = 0,
        end: int = 0,
    ) -> None:
        self.name: Final = name
        self.args: Final = args
        self.spelling: Final = name if spelling is None else spelling
        self.start = start
        self.end = end

    @property
    def arity(self) -> int:
        """Number of arguments."""
        return len(self.args)

    @property
    def key(self) -> tuple[str, int]:
        """Name and arity: relations (and functions) of different arity are different."""
        return self.name, len(self.args)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, self.__class__) and self.name == other.name and self.args == other.args

    def __hash__(self) -> int:
        return hash((self.name, self.args))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r}, {self.args!r})"


class Function(_Applied):
    """A compound term; always has at least one argument (`(f)` is read as `f`)."""

    __slots__ = ()

    def __str__(self) -> str:
        return f"({self.name} {' '.join(map(str, self.args))})"


def applied(
    name: str, args: tuple[Term, ...], spelling: str | None = None, start: int = 0, end: int = 0
) -> Constant | Function:
    """Return a name applied to arguments as a term: a constant if there are none."""
    if args:
        return Function(name, args, spelling, start, end)
    return Constant(name, spelling, start, end)


class Atom(_Applied):
    """A relation applied to terms; a relation without arguments has `args == ()`."""

    __slots__ = ()

    def __str__(self) -> str:
        return f"({self.name} {' '.join(map(str, self.args))})" if self.args else self.name


class Not(Node):
    """Negation as failure of a literal."""

    __slots__ = ("literal",)

    def __init__(self, literal: Literal, start: int = 0, end: int = 0) -> None:
        self.literal: Final = literal
        self.start = start
        self.end = end

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Not) and self.literal == other.literal

    def __hash__(self) -> int:
        return hash(("not", self.literal))

    def __repr__(self) -> str:
        return f"Not({self.literal!r})"

    def __str__(self) -> str:
        return f"(not {self.literal})"


class _Junction(Node):
    """Base class of `And` and `Or`: several literals."""

    __slots__ = ("literals",)

    def __init__(self, literals: tuple[Literal, ...], start: int = 0, end: int = 0) -> None:
        self.literals: Final = literals
        self.start = start
        self.end = end

    def __eq__(self, other: object) -> bool:
        return isinstance(other, self.__class__) and self.literals == other.literals

    def __hash__(self) -> int:
        return hash((type(self).__name__, self.literals))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.literals!r})"

    def __str__(self) -> str:
        return f"({' '.join([type(self).__name__.lower(), *map(str, self.literals)])})"


class And(_Junction):
    """Conjunction; without literals it is true."""

    __slots__ = ()


class Or(_Junction):
    """Disjunction; without literals it is false."""

    __slots__ = ()


class Distinct(Node):
    """True when the two terms are not the same term."""

    __slots__ = ("left", "right")

    def __init__(self, left: Term, right: Term, start: int = 0, end: int = 0) -> None:
        self.left: Final = left
        self.right: Final = right
        self.start = start
        self.end = end

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Distinct) and self.left == other.left and self.right == other.right

    def __hash__(self) -> int:
        return hash(("distinct", self.left, self.right))

    def __repr__(self) -> str:
        return f"Distinct({self.left!r}, {self.right!r})"

    def __str__(self) -> str:
        return f"(distinct {self.left} {self.right})"


class Rule(Node):
    """`head` holds whenever all literals of `body` hold; a fact has the body ()."""

    __slots__ = ("body", "head")

    def __init__(self, head: Atom, body: tuple[Literal, ...] = (), start: int = 0, end: int = 0) -> None:
        self.head: Final = head
        self.body: Final = body
        self.start = start
        self.end = end

    @property
    def is_fact(self) -> bool:
        """Whether the body is empty."""
        return not self.body

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Rule) and self.head == other.head and self.body == other.body

    def __hash__(self) -> int:
        return hash((self.head, self.body))

    def __repr__(self) -> str:
        return f"Rule({self.head!r}, {self.body!r})"

    def __str__(self) -> str:
        return f"(<= {' '.join(map(str, (self.head, *self.body)))})" if self.body else str(self.head)


Term: TypeAlias = Constant | Variable | Function
Literal: TypeAlias = Atom | Not | And | Or | Distinct
_N = TypeVar("_N", bound=Node)


class Comment(Node):
    """A comment as written, with its comment sign."""

    __slots__ = ("text",)

    def __init__(self, text: str, start: int = 0, end: int = 0) -> None:
        self.text: Final = text
        self.start = start
        self.end = end

    def __repr__(self) -> str:
        return f"Comment({self.text!r})"


def walk(*nodes: Node) -> Iterator[Node]:
    """Yield nodes with all nodes below them: parents before children, from left to right."""
    stack = list(reversed(nodes))
    while stack:
        node = stack.pop()
        yield node
        stack.extend(reversed(children(node)))


def variables_of(node: Node) -> Iterator[Variable]:
    """Yield every occurrence of a variable below `node`, from left to right."""
    stack: list[Node] = [node]  # not by `walk`: checks spend most of their time here
    while stack:
        node = stack.pop()
        if isinstance(node, Variable):
            yield node
        else:
            stack.extend(reversed(children(node)))


def atoms_of(literal: Literal, negated: bool = False) -> Iterator[tuple[Atom, bool]]:
    """Yield every atom in a literal, and whether it is under an odd number of `not`."""
    if isinstance(literal, Atom):
        yield literal, negated
    elif isinstance(literal, Not):
        yield from atoms_of(literal.literal, not negated)
    elif isinstance(literal, And | Or):
        for part in literal.literals:
            yield from atoms_of(part, negated)


def children(node: Node) -> tuple[Node, ...]:
    """Return the nodes directly below `node`, from left to right."""
    if isinstance(node, _Applied):
        return node.args
    if isinstance(node, Not):
        return (node.literal,)
    if isinstance(node, _Junction):
        return node.literals
    if isinstance(node, Distinct):
        return (node.left, node.right)
    if isinstance(node, Rule):
        return (node.head, *node.body)
    return ()


def rebuilt(node: _N, change: Callable[[Any], Any]) -> _N:
    """Return a copy of a node with `change` applied to each of its children."""
    if isinstance(node, _Applied):
        return type(node)(node.name, tuple(map(change, node.args)), node.spelling, node.start, node.end)
    if isinstance(node, Not):
        return type(node)(change(node.literal), node.start, node.end)
    if isinstance(node, _Junction):
        return type(node)(tuple(map(change, node.literals)), node.start, node.end)
    if isinstance(node, Distinct):
        return type(node)(change(node.left), change(node.right), node.start, node.end)
    if isinstance(node, Rule):
        return type(node)(change(node.head), tuple(map(change, node.body)), node.start, node.end)
    return node
