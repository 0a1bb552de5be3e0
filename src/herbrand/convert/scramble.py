"""Another text of the same game: other names, another order.

Game managers send each player rules whose names say nothing, so that nobody plays by the words.
Renamed are relations, functions, objects and variables; rules, body literals and disjuncts change
places.  What the language gives a meaning stays: its keywords, the role `random`, the numbers
from 0 to 100 (any of which may be a goal value), and the order of the roles.
"""

from __future__ import annotations

import random
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from herbrand.syntax import read
from herbrand.syntax.names import KEYWORDS
from herbrand.syntax.nodes import And, Atom, Constant, Distinct, Function, Not, Or, Rule, Variable, children
from herbrand.syntax.printer import print_tree

if TYPE_CHECKING:
    from collections.abc import Mapping

    from herbrand.machine.state_machine import StateMachine
    from herbrand.syntax.nodes import Literal, Node, Term
    from herbrand.syntax.tree import Tree

__all__ = ["Scrambled", "scramble", "write"]

_KEPT: Final = re.compile(r"0|[1-9][0-9]?|100")
_WORD = re.compile(r"[^\s()]+")
_CONSONANTS: Final = "bcdfghjklmnprstvwz"
_VOWELS: Final = "aeiou"


@dataclass(frozen=True, slots=True)
class Scrambled:
    """A scrambled game and how to translate to it and back."""

    tree: Tree
    """The rules under their new names; its source is the text that a player would get."""
    names: Mapping[str, str]
    """The new name of every name that was changed, both folded to lower case."""
    original: Mapping[str, str]
    """The other way round; the old names as they were first spelled."""

    @property
    def text(self) -> str:
        """The scrambled rules as KIF."""
        return self.tree.source.text

    def scrambled(self, term: str) -> str:
        """Translate a KIF term of the original game, such as a move."""
        return _WORD.sub(lambda word: self.names.get(word[0].lower(), word[0]), term)

    def unscrambled(self, term: str) -> str:
        """Translate a KIF term of the scrambled game back."""
        return _WORD.sub(lambda word: self.original.get(word[0].lower(), word[0]), term)


def write(game: StateMachine, *, seed: int = 0) -> str:
    """Write a scrambled game as KIF."""
    return scramble(game.tree, seed).text


def scramble(tree: Tree, seed: int = 0) -> Scrambled:
    """Return the same game under other names and in another order; the seed says which.

    >>> from herbrand.syntax import read
    >>> tree = read("(role white) (role random) (init (cell 1 b)) (<= (p ?x) (true (cell ?x b)) (q ?x))")
    >>> scrambled = scramble(tree, seed=3)
    >>> scrambled.unscrambled(scrambled.scrambled("(cell 1 b)"))
    '(cell 1 b)'
    >>> scrambled.scrambled("random"), len(scrambled.tree.statements)
    ('random', 4)
    """
    chance = random.Random(seed)
    spelling = _names(tree)
    old = [name for name in spelling if name not in KEYWORDS and not _KEPT.fullmatch(name)]
    new = _words(len(old), chance, {*KEYWORDS, *spelling})
    names = dict(zip(old, new, strict=True))
    roles = [rule for rule in tree.statements if rule.is_fact and rule.head.key == ("role", 1)]
    rest = [rule for rule in tree.statements if not (rule.is_fact and rule.head.key == ("role", 1))]
    chance.shuffle(rest)
    for place, rule in zip(
        sorted(chance.sample(range(len(tree.statements)), len(roles))), roles, strict=True
    ):
        rest.insert(place, rule)
    statements = tuple(_Renamer(names, chance).rule(rule) for rule in rest)
    text = print_tree(statements).text
    original = {names[name]: spelling[name] for name in old}
    return Scrambled(read(text, "prefix", f"{tree.source.name} (scrambled)"), names, original)


def _names(tree: Tree) -> dict[str, str]:
    """Return all names but those of variables, sorted, each with its first spelling."""
    found: dict[str, str] = {}
    stack: list[Node] = list(reversed(tree.statements))
    while stack:
        node = stack.pop()
        if isinstance(node, Constant | Function | Atom):
            found.setdefault(node.name, node.spelling)
        stack.extend(reversed(children(node)))
    return dict(sorted(found.items()))


def _words(count: int, chance: random.Random, taken: set[str]) -> list[str]:
    """Return words that can be pronounced and mean nothing, none of them taken."""
    words: dict[str, None] = {}
    syllables = 2
    while len(words) < count:
        for _ in range(2 * count):
            word = "".join(
                chance.choice(_CONSONANTS) + chance.choice(_VOWELS) for _ in range(syllables)
            ) + chance.choice(("", *_CONSONANTS))
            if word not in taken:
                words.setdefault(word)
        syllables += 1
    chosen = list(words)
    chance.shuffle(chosen)
    return chosen[:count]


class _Renamer:
    def __init__(self, names: Mapping[str, str], chance: random.Random) -> None:
        self.names = names
        self.chance = chance
        self.variables: dict[str, str] = {}

    def rule(self, rule: Rule) -> Rule:
        self.variables = {}
        body = list(rule.body)
        self.chance.shuffle(body)
        head = self.atom(rule.head)
        return Rule(head, tuple(map(self.literal, body)))

    def literal(self, literal: Literal) -> Literal:
        if isinstance(literal, Atom):
            return self.atom(literal)
        if isinstance(literal, Not):
            return Not(self.literal(literal.literal))
        if isinstance(literal, Distinct):
            left, right = self.term(literal.left), self.term(literal.right)
            return Distinct(left, right) if self.chance.random() < 0.5 else Distinct(right, left)
        assert isinstance(literal, And | Or)
        parts = [self.literal(part) for part in literal.literals]
        self.chance.shuffle(parts)
        return type(literal)(tuple(parts))

    def atom(self, atom: Atom) -> Atom:
        return Atom(self.names.get(atom.name, atom.name), tuple(map(self.term, atom.args)))

    def term(self, term: Term) -> Term:
        if isinstance(term, Variable):
            if term.name not in self.variables:
                word = _words(1, self.chance, set(self.variables.values()))[0]
                self.variables[term.name] = word
            return Variable(self.variables[term.name])
        name = self.names.get(term.name, term.name)
        if isinstance(term, Constant):
            return Constant(name)
        return Function(name, tuple(map(self.term, term.args)))
