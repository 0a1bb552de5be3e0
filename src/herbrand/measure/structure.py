"""What the rules are like, whatever their names: their size, and a fingerprint to compare them by.

The fingerprint counts parts of rules by *colour* (Weisfeiler and Leman; as features of graphs: Shervashidze
et al. 2011), coarse parts first:

| level | what is counted                                      | a symbol is told by                |
|-------|------------------------------------------------------|------------------------------------|
| 0     | pairs of a head and one condition, variables as one  | kind and arity, keywords by name   |
| 1     | rules with the pattern of their variables            | the same                           |
| 2     | such rules                                           | the rules of level 1 it stands in  |

No name and no order matters, and colours are the same in every process.
"""

from __future__ import annotations

import zlib
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from math import log2
from typing import TYPE_CHECKING, Final

from herbrand.measure.value import Measure
from herbrand.syntax.names import KEYWORDS
from herbrand.syntax.nodes import And, Atom, Constant, Distinct, Function, Not, Or, Variable, children

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from herbrand.check.rules import Rules
    from herbrand.syntax.nodes import Node, Rule

__all__ = ["Fingerprint", "distance", "fingerprint", "sizes"]

_RULE_LEVELS: Final = 2
"""Levels at which whole rules are counted."""
_HALF: Final = 1000
"""Compressed bytes of rules whose economy is a half."""


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """How often there are parts of rules of each colour, level by level: log2(1 + n) for n of them."""

    levels: tuple[Mapping[int, float], ...]

    @classmethod
    def of(cls, levels: Iterable[Mapping[int, int]]) -> Fingerprint:
        """Make a fingerprint from counts."""
        return cls(tuple({colour: log2(1 + n) for colour, n in level.items()} for level in levels))


def distance(one: Fingerprint, other: Fingerprint) -> float:
    """Return how different two games' rules are: 0 for the same under other names, 1 for nothing in common.

    At each level 1 less the weighted Jaccard similarity; the mean of the levels.
    """
    apart = 0.0
    for mine, theirs in zip(one.levels, other.levels, strict=True):
        few, many = (mine, theirs) if len(mine) < len(theirs) else (theirs, mine)
        common = sum(min(weight, many[colour]) for colour, weight in few.items() if colour in many)
        total = sum(mine.values()) + sum(theirs.values()) - common
        apart += 1.0 - (common / total if total else 1.0)
    return max(0.0, apart / len(one.levels))


def sizes(rules: Rules) -> list[Measure]:
    """Measure size and economy of rules."""
    statements = rules.normal.rules
    symbols = sum(_count(rule.head) + sum(map(_count, rule.body)) for rule in statements)
    plain = "\n".join(_plain(statements))
    # the header and checksum of the format are no part of the rules
    length = max(0, len(zlib.compress(plain.encode(), 9)) - 8)
    return [
        Measure("size", float(symbols), 0.0, "rules", unit="symbols"),
        Measure("economy", 2.0 ** (-length / _HALF), 0.0, "rules", note=f"{length} bytes when compressed"),
    ]


def _count(node: Node) -> int:
    return 1 + sum(map(_count, children(node)))


def _plain(statements: Iterable[Rule]) -> Iterable[str]:
    """Write rules with names that are numbers, so that long names do not count."""
    names: dict[tuple[str, str], str] = {}

    def name(kind: str, text: str) -> str:
        if text in KEYWORDS:
            return text[0]
        return names.setdefault((kind, text), f"{len(names):x}")

    def write(node: Node, variables: dict[str, str]) -> str:
        if isinstance(node, Variable):
            return variables.setdefault(node.name, f"?{len(variables)}")
        if isinstance(node, Atom | Function):
            inside = " ".join([name("r", node.name), *(write(arg, variables) for arg in node.args)])
            return f"({inside})"
        if isinstance(node, Constant):
            return name("o", node.name)
        if isinstance(node, Not):
            return f"~{write(node.literal, variables)}"
        if isinstance(node, Distinct):
            return f"{write(node.left, variables)}#{write(node.right, variables)}"
        assert isinstance(node, And | Or)
        sign = "&" if isinstance(node, And) else "|"
        return f"[{sign.join(write(part, variables) for part in node.literals)}]"

    for rule in statements:
        variables: dict[str, str] = {}
        yield " ".join(write(part, variables) for part in (rule.head, *rule.body))


# -- colours ------------------------------------------------------------------------------------

_Symbol = tuple[str, str, int]


@lru_cache(maxsize=1 << 18)
def _hash(parts: tuple[object, ...]) -> int:
    """Hash numbers and texts to 64 bits, the same in every process."""
    return int.from_bytes(blake2b(repr(parts).encode(), digest_size=8).digest(), "big")


def _start(symbol: _Symbol) -> int:
    kind, name, arity = symbol
    return _hash((kind, name if name in KEYWORDS else "", arity))


def fingerprint(rules: Rules) -> Fingerprint:
    """Return the fingerprint of checked rules."""
    statements = tuple(dict.fromkeys(rules.normal.rules))
    colours: dict[_Symbol, int] = {}
    for rule in statements:
        for part in (rule.head, *rule.body):
            for symbol in _symbols(part):
                if symbol not in colours:
                    colours[symbol] = _start(symbol)
    levels = [_pairs(statements, colours)]
    for _ in range(_RULE_LEVELS):
        seen: dict[_Symbol, list[int]] = {symbol: [] for symbol in colours}
        counts: Counter[int] = Counter()
        for rule in statements:
            variables = _variables(rule)
            parts = (rule.head, *rule.body)
            painted = [_colour(part, colours, variables) for part in parts]
            mine = _hash((painted[0], *sorted(painted[1:])))
            counts[mine] += 1
            for place, part in enumerate(parts):
                path = _hash((mine, painted[place] if place else "head"))
                for symbol, where in _places(part, path):
                    seen[symbol].append(where)
        levels.append(dict(counts))
        # many facts of one kind say the same of a symbol
        colours = {symbol: _hash((colour, *sorted(set(seen[symbol])))) for symbol, colour in colours.items()}
    return Fingerprint.of(levels)


def _pairs(statements: Iterable[Rule], colours: Mapping[_Symbol, int]) -> dict[int, int]:
    """Count the heads with one of their conditions each; facts by themselves."""
    alike = _Alike()
    counts: Counter[int] = Counter()
    for rule in statements:
        head = _colour(rule.head, colours, alike)
        counts.update(_hash((head, _colour(literal, colours, alike))) for literal in rule.body)
        if rule.is_fact:
            counts[head] += 1
    return dict(counts)


class _Alike(dict[str, int]):
    """Gives all variables the same colour."""

    def __missing__(self, name: str) -> int:
        return 0


def _symbol(node: Node) -> _Symbol | None:
    if isinstance(node, Atom):
        return "relation", node.name, len(node.args)
    if isinstance(node, Function):
        return "function", node.name, len(node.args)
    if isinstance(node, Constant):
        return "object", node.name, 0
    return None


def _symbols(node: Node) -> Iterable[_Symbol]:
    symbol = _symbol(node)
    if symbol is not None:
        yield symbol
    for part in children(node):
        yield from _symbols(part)


def _places(node: Node, path: int) -> Iterable[tuple[_Symbol, int]]:
    """Yield the symbols of a literal or term with where they stand."""
    symbol = _symbol(node)
    if symbol is not None:
        yield symbol, path
    ordered = isinstance(node, Atom | Function)
    for place, part in enumerate(children(node)):
        yield from _places(part, _hash((path, type(node).__name__, place if ordered else 0)))


def _variables(rule: Rule) -> dict[str, int]:
    """Colour the variables of a rule by how often they stand where."""
    found: dict[str, list[str]] = {}

    def look(node: Node, path: str) -> None:
        if isinstance(node, Variable):
            found.setdefault(node.name, []).append(path)
            return
        ordered = isinstance(node, Atom | Function)
        for place, part in enumerate(children(node)):
            look(part, f"{path}/{type(node).__name__}{place if ordered else ''}")

    look(rule.head, "head")
    for literal in rule.body:
        look(literal, "")
    return {name: _hash(tuple(sorted(paths))) for name, paths in found.items()}


def _colour(node: Node, colours: Mapping[_Symbol, int], variables: Mapping[str, int]) -> int:
    """Return the colour of a literal or term; the order in `or`, `and`, `distinct` is no matter."""
    if isinstance(node, Variable):
        return variables[node.name]
    symbol = _symbol(node)
    parts = [_colour(part, colours, variables) for part in children(node)]
    if symbol is None:
        return _hash((type(node).__name__, *sorted(parts)))
    return _hash((colours[symbol], *parts))
