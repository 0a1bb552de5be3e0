"""Scramble a game: rename its symbols and shuffle its rules.

Game managers send players scrambled rules, so that names give no hints.
Relations, functions, objects and variables are renamed; rules, body literals and disjuncts are shuffled.
Symbols with a meaning in the language stay: keywords, the role `random`, the numbers
from 0 to 100 (any of which may be a goal value), and the order of the roles.
"""

from __future__ import annotations

import random
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from herbrand.syntax import read
from herbrand.syntax.names import KEYWORDS, first_spellings
from herbrand.syntax.nodes import And, Atom, Constant, Distinct, Function, Not, Or, Rule, Variable
from herbrand.syntax.printer import print_tree

if TYPE_CHECKING:
    from collections.abc import Mapping

    from herbrand.machine.state_machine import StateMachine
    from herbrand.syntax.nodes import Literal, Term
    from herbrand.syntax.tree import Tree

__all__ = ["Scrambled", "scramble", "write"]

_FIXED_NUMBER: Final = re.compile(r"0|[1-9][0-9]?|100")
_WORD = re.compile(r"[^\s()]+")
_CONSONANTS: Final = "bcdfghjklmnprstvwz"
_VOWELS: Final = "aeiou"


@dataclass(frozen=True, slots=True)
class Scrambled:
    """A scrambled game, with the translation to it and back."""

    tree: Tree
    """The scrambled rules; the source is the text that a player gets."""
    names: Mapping[str, str]
    """From each renamed name to its new one, both folded to lower case."""
    original: Mapping[str, str]
    """From each new name to the old one in its first spelling."""

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
    """Return a scrambled game; deterministic for a seed.

    >>> from herbrand.syntax import read
    >>> tree = read("(role white) (role random) (init (cell 1 b)) (<= (p ?x) (true (cell ?x b)) (q ?x))")
    >>> scrambled = scramble(tree, seed=3)
    >>> scrambled.unscrambled(scrambled.scrambled("(cell 1 b)"))
    '(cell 1 b)'
    >>> scrambled.scrambled("random"), len(scrambled.tree.statements)
    ('random', 4)
    """
    chance = random.Random(seed)
    spelling = dict(sorted(first_spellings(tree.statements).items()))
    old = [name for name in spelling if name not in KEYWORDS and not _FIXED_NUMBER.fullmatch(name)]
    new = _words(len(old), chance, {*KEYWORDS, *spelling})
    names = dict(zip(old, new, strict=True))
    roles = [rule for rule in tree.statements if rule.is_fact and rule.head.key == ("role", 1)]
    rest = [rule for rule in tree.statements if not (rule.is_fact and rule.head.key == ("role", 1))]
    chance.shuffle(rest)
    places = sorted(chance.sample(range(len(tree.statements)), len(roles)))
    for place, rule in zip(places, roles, strict=True):
        rest.insert(place, rule)
    statements = tuple(_Renamer(names, chance).rule(rule) for rule in rest)
    text = print_tree(statements).text
    original = {names[name]: spelling[name] for name in old}
    return Scrambled(read(text, "prefix", f"{tree.source.name} (scrambled)"), names, original)


def _words(count: int, chance: random.Random, taken: set[str]) -> list[str]:
    """Return pronounceable meaningless words, none of them taken."""
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
    """Renames rules and shuffles their bodies."""

    def __init__(self, names: Mapping[str, str], chance: random.Random) -> None:
        self.names = names
        self.chance = chance
        self.variables: dict[str, str] = {}

    def rule(self, rule: Rule) -> Rule:
        self.variables = {}
        body = list(rule.body)
        self.chance.shuffle(body)
        return Rule(self.atom(rule.head), tuple(map(self.literal, body)))

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
                (self.variables[term.name],) = _words(1, self.chance, set(self.variables.values()))
            return Variable(self.variables[term.name])
        name = self.names.get(term.name, term.name)
        if isinstance(term, Constant):
            return Constant(name)
        return Function(name, tuple(map(self.term, term.args)))
