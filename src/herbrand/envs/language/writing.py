"""The kind `write`: a description of a game in words, to which the reply is the rulesheet.

The description is the comment before the rules, with the names of roles, moves and percepts, which the reply
has to use; all other names are its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from herbrand.errors import GameError
from herbrand.rules.terms import read_term
from herbrand.syntax.nodes import Function
from herbrand.syntax.preface import preface

if TYPE_CHECKING:
    from collections.abc import Iterable
    from random import Random
    from typing import Any

    from herbrand.game import Game

__all__ = ["draw_writing", "patterns"]

MOST_FORMS: Final = 40
"""Games with more forms of moves, or of percepts, are not described."""
MOST_VALUES: Final = 60
"""Arguments with more values are not listed."""


def draw_writing(game: Game, _chance: Random, _steps: int) -> tuple[dict[str, Any], str]:
    """Return the description and the reference; `GameError` for a game that is not described."""
    from herbrand.syntax.printer import print_tree

    paragraphs = [" ".join(part.split()) for part in preface(game.tree.source.text, legend=True)]
    if not paragraphs:
        raise GameError("the rules do not begin with a description of the game in sentences")
    lines = [*paragraphs, "", "The roles, in this order: " + ", ".join(game.roles)]
    for role in game.roles:
        lines += _listed(f"The moves of {role}", patterns(_moves(game, role)))
    if game.has_percepts:
        network = game.network
        for number, role in enumerate(game.roles):
            terms = [network.terms.text(term) for of, term in network.percepts.tolist() if of == number]
            if terms:
                lines += _listed(f"What {role} can see", patterns(terms))
    reference = print_tree(game.tree, "prefix").text
    return {"description": "\n".join(lines), "reference": reference, "answer": [reference]}, ""


def _moves(game: Game, role: str) -> list[str]:
    declared = [move for of, move in game.declared("input", 2) if of.lower() == role.lower()]
    return declared or list(game.possible.inputs.get(role, ()))


def _listed(title: str, forms: list[str]) -> list[str]:
    if len(forms) > MOST_FORMS:
        raise GameError(f"{title[:1].lower()}{title[1:]} have {len(forms)} forms, too many for a description")
    return ["", f"{title}:", *(f"- {form}" for form in forms)]


def patterns(terms: Iterable[str]) -> list[str]:
    """Return the forms of terms, with the values that their arguments have.

    >>> patterns(["noop", "(mark 1 a)", "(mark 2 a)", "(mark 3 b)"])
    ['noop', '(mark A B) with A 1 to 3, B a or b']
    """
    forms: dict[tuple[str, int], list[set[str]]] = {}
    for text in terms:
        term = read_term(text, fold=False)
        name, arguments = (term.name, term.args) if isinstance(term, Function) else (str(term), ())
        values = forms.setdefault((name, len(arguments)), [set() for _ in arguments])
        for column, argument in zip(values, arguments, strict=True):
            column.add(str(argument))
    return [_form(name, values) for (name, _), values in sorted(forms.items(), key=lambda form: form[0][1:])]


def _form(name: str, values: list[set[str]]) -> str:
    if not values:
        return name
    letters = [chr(ord("A") + number) for number in range(len(values))]
    ranges = ", ".join(f"{letter} {_range(options)}" for letter, options in zip(letters, values, strict=True))
    return f"({name} {' '.join(letters)}) with {ranges}"


def _range(values: set[str]) -> str:
    """Describe the values of an argument."""
    if all(value.isdecimal() for value in values):
        numbers = sorted(map(int, values))
        if numbers[-1] - numbers[0] == len(numbers) - 1 > 1:
            return f"{numbers[0]} to {numbers[-1]}"
    if len(values) > MOST_VALUES:
        raise GameError(f"an argument of a move has {len(values)} values, too many for a description")
    *others, last = sorted(values, key=lambda value: (len(value), value))
    return f"{', '.join(others)} or {last}" if others else last
