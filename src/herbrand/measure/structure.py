"""The size of rules, and a fingerprint that compares rules regardless of names.

The fingerprint counts parts of rules by *colour* (Weisfeiler and Leman 1968; as graph features: Shervashidze
et al. 2011), at three levels:

| level | counted parts                                        | colour of a symbol                 |
|-------|------------------------------------------------------|------------------------------------|
| 0     | pairs of a head and one condition, variables as one  | kind and arity, keywords by name   |
| 1     | rules with the pattern of their variables            | the same                           |
| 2     | such rules                                           | the rules of level 1 it stands in  |

Names and order do not matter, and colours are the same in every process.
"""

from __future__ import annotations

import zlib
from collections import Counter, defaultdict
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from math import log2
from typing import TYPE_CHECKING, Final

from herbrand.measure.value import Measure
from herbrand.syntax.names import KEYWORDS
from herbrand.syntax.nodes import And, Atom, Constant, Distinct, Function, Not, Or, Variable, children, walk
from herbrand.verify.diff.renaming import symbol_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from herbrand.check.rules import Rules
    from herbrand.syntax.nodes import Node, Rule
    from herbrand.verify.diff import Symbol

__all__ = ["Fingerprint", "distance", "fingerprint", "measure_rules"]

_RULE_LEVELS: Final = 2
"""Levels at which whole rules are counted."""
_HALF: Final = 1000
"""Compressed size of rules with economy 1/2, in bytes."""
_SIGNS: Final[dict[type[Node], str]] = {And: "&", Or: "|"}


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """log2(1 + n) for the n parts of each colour, level by level."""

    levels: tuple[Mapping[int, float], ...]

    @classmethod
    def of(cls, levels: Iterable[Mapping[int, int]]) -> Fingerprint:
        """Make a fingerprint from counts."""
        return cls(tuple({colour: log2(1 + n) for colour, n in level.items()} for level in levels))


def distance(one: Fingerprint, other: Fingerprint) -> float:
    """Return the distance of two games' rules: 0 if they differ in names only, 1 if no part is common.

    It is the mean over the levels of 1 minus the weighted Jaccard similarity.
    """
    total_distance = 0.0
    for levels_one, theirs in zip(one.levels, other.levels, strict=True):
        few, many = (levels_one, theirs) if len(levels_one) < len(theirs) else (theirs, levels_one)
        common = sum(min(weight, many[colour]) for colour, weight in few.items() if colour in many)
        total = sum(levels_one.values()) + sum(theirs.values()) - common
        total_distance += 1.0 - (common / total if total else 1.0)
    return max(0.0, total_distance / len(one.levels))


def measure_rules(rules: Rules) -> list[Measure]:
    """Measure size and economy of rules."""
    statements = rules.normal.rules
    symbols = sum(1 for rule in statements for _ in walk(rule.head, *rule.body))
    plain = "\n".join(_plain(statements))
    # without the header and checksum of zlib
    length = max(0, len(zlib.compress(plain.encode(), 9)) - 8)
    return [
        Measure("size", float(symbols), 0.0, "rules", unit="symbols"),
        Measure("economy", 2.0 ** (-length / _HALF), 0.0, "rules", note=f"{length} bytes when compressed"),
    ]


def _plain(statements: Iterable[Rule]) -> Iterable[str]:
    """Write rules with numbers for names, so that the length of names does not matter."""
    names: dict[tuple[str, str], str] = {}

    def name(kind: str, text: str) -> str:
        if text in KEYWORDS:
            return text[0]
        return names.setdefault((kind, text), f"{len(names):x}")

    def write(node: Node, variables: dict[str, str]) -> str:
        if isinstance(node, Variable):
            return variables.setdefault(node.name, f"?{len(variables)}")
        if isinstance(node, Atom | Function):
            content = " ".join([name("r", node.name), *(write(arg, variables) for arg in node.args)])
            return f"({content})"
        if isinstance(node, Constant):
            return name("o", node.name)
        parts = [write(part, variables) for part in children(node)]
        if isinstance(node, Not):
            return f"~{parts[0]}"
        return "#".join(parts) if isinstance(node, Distinct) else f"[{_SIGNS[type(node)].join(parts)}]"

    for rule in statements:
        variables: dict[str, str] = {}
        yield " ".join(write(part, variables) for part in (rule.head, *rule.body))


# -- colours ------------------------------------------------------------------------------------


@lru_cache(maxsize=1 << 18)
def _hash(parts: tuple[object, ...]) -> int:
    """Hash numbers and texts to 64 bits, the same in every process."""
    return int.from_bytes(blake2b(repr(parts).encode(), digest_size=8).digest(), "big")


def _start(symbol: Symbol) -> int:
    kind, name, arity = symbol
    return _hash((kind, name if name in KEYWORDS else "", arity))


def fingerprint(rules: Rules) -> Fingerprint:
    """Return the fingerprint of checked rules."""
    statements = tuple(dict.fromkeys(rules.normal.rules))
    symbols = filter(None, map(symbol_of, walk(*statements)))
    colours = {symbol: _start(symbol) for symbol in dict.fromkeys(symbols)}
    levels = [_pairs(statements, colours)]
    for _ in range(_RULE_LEVELS):
        occurrences: dict[Symbol, list[int]] = {symbol: [] for symbol in colours}
        counts: Counter[int] = Counter()
        for rule in statements:
            variables = _variables(rule)
            parts = (rule.head, *rule.body)
            part_colours = [_colour(part, colours, variables) for part in parts]
            rule_colour = _hash((part_colours[0], *sorted(part_colours[1:])))
            counts[rule_colour] += 1
            for place, part in enumerate(parts):
                path = _hash((rule_colour, part_colours[place] if place else "head"))
                for symbol, position in _places(part, path):
                    occurrences[symbol].append(position)
        levels.append(dict(counts))
        # sets, since the number of similar facts about a symbol carries no information
        colours = {
            symbol: _hash((colour, *sorted(set(occurrences[symbol])))) for symbol, colour in colours.items()
        }
    return Fingerprint.of(levels)


def _pairs(statements: Iterable[Rule], colours: Mapping[Symbol, int]) -> dict[int, int]:
    """Count pairs of a head and one of its conditions; facts by themselves."""
    variables: defaultdict[str, int] = defaultdict(int)  # one colour for all variables
    counts: Counter[int] = Counter()
    for rule in statements:
        head = _colour(rule.head, colours, variables)
        counts.update(_hash((head, _colour(literal, colours, variables))) for literal in rule.body)
        if rule.is_fact:
            counts[head] += 1
    return dict(counts)


def _places(node: Node, path: int) -> Iterable[tuple[Symbol, int]]:
    """Yield the symbols of a literal or term with the hashes of their positions."""
    symbol = symbol_of(node)
    if symbol is not None:
        yield symbol, path
    ordered = isinstance(node, Atom | Function)
    for place, part in enumerate(children(node)):
        yield from _places(part, _hash((path, type(node).__name__, place if ordered else 0)))


def _variables(rule: Rule) -> dict[str, int]:
    """Colour the variables of a rule by the positions of their occurrences."""
    paths_of: dict[str, list[str]] = {}

    def collect(node: Node, path: str) -> None:
        if isinstance(node, Variable):
            paths_of.setdefault(node.name, []).append(path)
            return
        ordered = isinstance(node, Atom | Function)
        for place, part in enumerate(children(node)):
            collect(part, f"{path}/{type(node).__name__}{place if ordered else ''}")

    collect(rule.head, "head")
    for literal in rule.body:
        collect(literal, "")
    return {name: _hash(tuple(sorted(paths))) for name, paths in paths_of.items()}


def _colour(node: Node, colours: Mapping[Symbol, int], variables: Mapping[str, int]) -> int:
    """Return the colour of a literal or term, independent of the order in `or`, `and` and `distinct`."""
    if isinstance(node, Variable):
        return variables[node.name]
    symbol = symbol_of(node)
    parts = [_colour(part, colours, variables) for part in children(node)]
    if symbol is None:
        return _hash((type(node).__name__, *sorted(parts)))
    return _hash((colours[symbol], *parts))
