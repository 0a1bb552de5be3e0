"""Find a renaming that maps one rulesheet to another.

Colour refinement (Weisfeiler and Leman 1968; McKay 1981 for breaking ties): every symbol gets
a colour from its positions in rules, and rules from the colours of their symbols, until a fixpoint.
Colours depend on no name and no order, so that equal games have equal colours.  Ties between symbols of the
same colour are broken by backtracking.  A renaming is checked rule by rule.

A *symbol* is a relation, a function or an object: kind, name and arity.  Keywords, the role
`random`, the numbers from 0 to 100 and the order of the roles are fixed.
"""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from herbrand.errors import BudgetExceeded
from herbrand.syntax.names import KEYWORDS
from herbrand.syntax.nodes import (
    And,
    Atom,
    Constant,
    Distinct,
    Function,
    Or,
    Variable,
    children,
    variables_of,
    walk,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from herbrand.check.rules import Rules
    from herbrand.syntax.nodes import Node, Rule, Term

__all__ = ["Renaming", "Symbol", "find_renaming", "symbol_of", "translate"]

Symbol = tuple[str, str, int]
"""Kind ("relation", "function" or "object"), name, arity."""
_Colour = int
_Colours: TypeAlias = dict[Symbol, _Colour]
_NUMBERS: Final = frozenset(map(str, range(101)))


@dataclass(frozen=True, slots=True)
class Renaming:
    """A correspondence between the names of two games."""

    same: bool
    """Whether `names` maps the rules of the first game to those of the second."""
    names: Mapping[Symbol, Symbol]
    """From symbols of the first game to symbols of the second; partial unless `same`."""

    @property
    def changed(self) -> dict[Symbol, Symbol]:
        """The symbols whose names differ."""
        return {old: new for old, new in self.names.items() if old != new}


def find_renaming(first: Rules, second: Rules, *, seconds: float = 10.0) -> Renaming:
    """Return a renaming that maps one game to another.

    When there is none, the names of the result are a guess: a symbol corresponds to the one of the same
    name, or else to the one with the most similar positions in the rules.  Raises `BudgetExceeded` when
    there are too many ties to break in the time.
    """
    search = _Search(_Game(first), _Game(second), time.monotonic() + seconds)
    history = search.refine(({}, {}))
    colours = history[-1]
    if search.may_match(colours):
        names = search.match(colours)
        if names is not None:
            return Renaming(True, names)
    return Renaming(False, search.guess(history))


def translate(term: Term, names: Mapping[Symbol, Symbol]) -> Term:
    """Rename the symbols of a ground term; those without a counterpart keep their names."""
    if isinstance(term, Function):
        name = names.get(("function", term.name, len(term.args)), (None, term.name))[1]
        return Function(name, tuple(translate(arg, names) for arg in term.args))
    assert isinstance(term, Constant)
    return Constant(names.get(("object", term.name, 0), (None, term.name))[1])


class _Game:
    """The rules of a game and its symbols."""

    def __init__(self, rules: Rules) -> None:
        self.rules = list(dict.fromkeys(rules.normal.rules))
        order = [rule for rule in self.rules if rule.is_fact and rule.head.key == ("role", 1)]
        self.place = {rule: i for i, rule in enumerate(order)}
        """The number of the role that a rule declares."""
        self.symbols: dict[Symbol, _Colour] = {}
        for rule in self.rules:
            for node in walk(rule):
                symbol = symbol_of(node)
                if symbol is not None:
                    self.symbols.setdefault(symbol, hash(_fixed(symbol)))


def symbol_of(node: Node) -> Symbol | None:
    """Return the symbol that a node is or applies; None for other nodes."""
    if isinstance(node, Atom):
        return "relation", node.name, len(node.args)
    if isinstance(node, Function):
        return "function", node.name, len(node.args)
    return ("object", node.name, 0) if isinstance(node, Constant) else None


def _fixed(symbol: Symbol) -> tuple[str, str, int]:
    """Return the initial colour of a symbol: without its name unless that has a fixed meaning."""
    kind, name, arity = symbol
    has_meaning = name in KEYWORDS or (kind == "object" and name in _NUMBERS)
    return kind, name if has_meaning else "", arity


class _Search:
    """Refinement and backtracking on two games at once."""

    def __init__(self, first: _Game, second: _Game, deadline: float) -> None:
        self.games = (first, second)
        self.deadline = deadline

    def refine(self, marks: tuple[_Colours, _Colours]) -> list[tuple[_Colours, _Colours]]:
        """Return the colours of both games after each round, up to the fixpoint."""
        colours = tuple({**game.symbols, **more} for game, more in zip(self.games, marks, strict=True))
        history = [(colours[0], colours[1])]
        count = self._count(history[-1])
        while True:
            if time.monotonic() > self.deadline:
                raise BudgetExceeded("the time for a renaming", "too many names are alike")
            refined = tuple(
                _round(game, colour) for game, colour in zip(self.games, history[-1], strict=True)
            )
            history.append((refined[0], refined[1]))
            before, count = count, self._count(history[-1])
            if count == before:
                return history

    @staticmethod
    def _count(colours: tuple[_Colours, _Colours]) -> int:
        return len(set(colours[0].values())) + len(set(colours[1].values()))

    @staticmethod
    def may_match(colours: tuple[_Colours, _Colours]) -> bool:
        return Counter(colours[0].values()) == Counter(colours[1].values())

    def match(self, colours: tuple[_Colours, _Colours]) -> dict[Symbol, Symbol] | None:
        """Return a renaming that agrees with the colours and maps the rules to each other, or None."""
        classes: dict[_Colour, tuple[list[Symbol], list[Symbol]]] = {}
        for side in (0, 1):
            for symbol, colour in colours[side].items():
                classes.setdefault(colour, ([], []))[side].append(symbol)
        ties = [pair for pair in classes.values() if len(pair[0]) > 1]
        if not ties:
            names = {left[0]: right[0] for left, right in classes.values()}
            return names if self._is_right(names) else None
        left, right = min(ties, key=lambda pair: len(pair[0]))
        chosen = left[0]
        # the same name first, so that equal texts get the identity
        for other in sorted(right, key=lambda symbol: symbol != chosen):
            finer = self.refine((colours[0] | {chosen: 1}, colours[1] | {other: 1}))[-1]
            if self.may_match(finer):
                renaming = self.match(finer)
                if renaming is not None:
                    return renaming
        return None

    def _is_right(self, names: Mapping[Symbol, Symbol]) -> bool:
        """Return whether the renamed rules of the first game are those of the second."""
        first, second = self.games
        own = {new: hash(new) for new in second.symbols}
        renamed = {old: hash(new) for old, new in names.items()}
        unmatched: dict[_Colour, list[Rule]] = {}
        for rule in second.rules:
            unmatched.setdefault(_rule_colour(rule, own, second.place.get(rule)), []).append(rule)
        for rule in first.rules:
            fitting = unmatched.get(_rule_colour(rule, renamed, first.place.get(rule)), [])
            match = next((other for other in fitting if _is_same(rule, other, names)), None)
            if match is None:
                return False
            fitting.remove(match)
        return not any(unmatched.values())

    def guess(self, history: Sequence[tuple[_Colours, _Colours]]) -> dict[Symbol, Symbol]:
        """Pair roles by number, then symbols by name, then those that share colours in most rounds."""
        first, second = self.games
        names: dict[Symbol, Symbol] = {}
        for left_role, right_role in zip(first.place, second.place, strict=False):
            old, new = symbol_of(left_role.head.args[0]), symbol_of(right_role.head.args[0])
            if old is not None and new is not None and new not in names.values():
                names[old] = new
        free = second.symbols.keys() - names.keys() - set(names.values())
        names |= {symbol: symbol for symbol in first.symbols if symbol in free}
        for colours in reversed(history):
            left, right = (
                _alone({s: c for s, c in side.items() if s not in taken})
                for side, taken in zip(colours, (names.keys(), set(names.values())), strict=True)
            )
            names |= {left[colour]: right[colour] for colour in left.keys() & right.keys()}
        return names


def _alone(colours: Mapping[Symbol, _Colour]) -> dict[_Colour, Symbol]:
    """Return the symbols with unique colours, by colour."""
    count = Counter(colours.values())
    return {colour: symbol for symbol, colour in colours.items() if count[colour] == 1}


def _round(game: _Game, colours: _Colours) -> _Colours:
    """Return the colours after one more round: from the rules of each symbol and its positions there."""
    places_of: dict[Symbol, list[_Colour]] = {symbol: [] for symbol in game.symbols}
    for rule in game.rules:
        variables = _variable_colours(rule, colours)
        rule_colour = hash(_rule_colour(rule, colours, game.place.get(rule), variables))
        parts: list[tuple[Node, _Colour]] = [(rule.head, hash((rule_colour, "head")))]
        parts += [
            (literal, hash((rule_colour, _colour(literal, colours, variables)))) for literal in rule.body
        ]
        for part, path in parts:
            for node, place in _places(part, path, variables, colours):
                symbol = symbol_of(node)
                if symbol is not None:
                    places_of[symbol].append(place)
    return {symbol: hash((colours[symbol], *sorted(places))) for symbol, places in places_of.items()}


def _places(
    node: Node, path: _Colour, variables: Mapping[str, _Colour], colours: Mapping[Symbol, _Colour]
) -> Iterator[tuple[Node, _Colour]]:
    """Yield every node of a subtree with a hash of its position, regardless of the order of disjuncts."""
    yield node, path
    in_order, is_junction = isinstance(node, Atom | Function), isinstance(node, And | Or)
    for i, part in enumerate(children(node)):
        mark = i if in_order else _colour(part, colours, variables) if is_junction else type(node).__name__
        yield from _places(part, hash((path, mark)), variables, colours)


def _rule_colour(
    rule: Rule,
    colours: Mapping[Symbol, _Colour],
    place: int | None,
    variables: Mapping[str, _Colour] | None = None,
) -> _Colour:
    if variables is None:
        variables = _variable_colours(rule, colours)
    body = sorted(_colour(literal, colours, variables) for literal in rule.body)
    return hash((place, _colour(rule.head, colours, variables), *body))


def _variable_colours(rule: Rule, colours: Mapping[Symbol, _Colour]) -> dict[str, _Colour]:
    """Colour the variables of a rule by their positions, in as many rounds as there are variables."""
    names = {variable.name for variable in variables_of(rule)}
    variable_colours = dict.fromkeys(names, 0)
    for _ in range(min(len(names), 8)):
        places_of: dict[str, list[Any]] = {name: [] for name in names}
        parts: list[tuple[Node, _Colour]] = [
            (rule.head, hash(("head", _colour(rule.head, colours, variable_colours))))
        ]
        parts += [(literal, _colour(literal, colours, variable_colours)) for literal in rule.body]
        for part, path in parts:
            for node, place in _places(part, path, variable_colours, colours):
                if isinstance(node, Variable):
                    places_of[node.name].append(place)
        finer = {name: hash((variable_colours[name], *sorted(places))) for name, places in places_of.items()}
        if len(set(finer.values())) == len(set(variable_colours.values())):
            return finer
        variable_colours = finer
    return variable_colours


def _colour(node: Node, colours: Mapping[Symbol, _Colour], variables: Mapping[str, _Colour]) -> _Colour:
    """Return the colour of a literal or term, regardless of the order in `or`, `and` and `distinct`."""
    if isinstance(node, Variable):
        return hash(("?", variables[node.name]))
    parts = [_colour(part, colours, variables) for part in children(node)]
    symbol = symbol_of(node)
    if symbol is None:
        return hash((type(node).__name__, *sorted(parts)))
    return hash((colours[symbol], *parts)) if parts else colours[symbol]


# -- equality ----------------------------------------------------------------------------------


def _is_same(first: Rule, second: Rule, names: Mapping[Symbol, Symbol]) -> bool:
    """Return whether two rules, the first one renamed, are equal up to variables and order."""
    return any(
        True
        for pairs in _pair(first.head, second.head, {}, names)
        for _ in _pair_all(first.body, second.body, pairs, names, in_order=False)
    )


def _pair(
    first: Node, second: Node, pairs: dict[str, str], names: Mapping[Symbol, Symbol]
) -> Iterator[dict[str, str]]:
    """Yield the pairings of variables that make two nodes equal."""
    if type(first) is not type(second):
        return
    if isinstance(first, Variable):
        assert isinstance(second, Variable)
        partner = pairs.get(first.name)
        if partner == second.name:
            yield pairs
        elif partner is None and second.name not in pairs.values():
            yield {**pairs, first.name: second.name}
        return
    symbol = symbol_of(first)
    if symbol is None or names[symbol] == symbol_of(second):
        in_order = not isinstance(first, And | Or | Distinct)
        yield from _pair_all(children(first), children(second), pairs, names, in_order=in_order)


def _pair_all(
    first: Sequence[Node],
    second: Sequence[Node],
    pairs: dict[str, str],
    names: Mapping[Symbol, Symbol],
    *,
    in_order: bool,
) -> Iterator[dict[str, str]]:
    """Yield the pairings that make each node of one sequence equal to one of the other."""
    if len(first) != len(second):
        return
    if not first:
        yield pairs
        return
    for i, other in enumerate(second[:1] if in_order else second):
        rest = (*second[:i], *second[i + 1 :])
        for extended in _pair(first[0], other, pairs, names):
            yield from _pair_all(first[1:], rest, extended, names, in_order=in_order)
