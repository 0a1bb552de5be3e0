"""What the words with a fixed meaning mean, for hovering and completion.

After Love et al., *General Game Playing: Game Description Language Specification* (2008), and for
`random`, `sees` and `knows` Thielscher (2010, 2017); for GGDL see docs/reference/ggdl.md.
"""

from __future__ import annotations

from typing import Final, NamedTuple

__all__ = ["GDL", "GGDL", "Word", "help_for"]


class Word(NamedTuple):
    """A keyword as the documentation shows it."""

    form: str
    """How it is written, in prefix notation; in GGDL for what only GGDL has."""
    text: str
    """What it means, one or two sentences."""
    snippet: str = ""
    """What completion inserts behind the name, with places to fill in; "" for nothing."""


GDL: Final = {
    "role": Word("(role R)", "R plays. The order of these facts is the order of the roles.", " ${1:player}"),
    "init": Word("(init F)", "F is true in the initial state.", " (${1:fluent})"),
    "true": Word("(true F)", "F is true in the current state.", " (${1:fluent})"),
    "next": Word(
        "(next F)",
        "F is true in the next state. Nothing lasts by itself: what no rule for `next` keeps is gone.",
        " (${1:fluent})",
    ),
    "legal": Word(
        "(legal R M)", "Role R may make the move M in the current state.", " ${1:?player} ${2:move}"
    ),
    "does": Word(
        "(does R M)",
        "Role R makes the move M in this step. Only `next` and `sees` may depend on it.",
        " ${1:?player} ${2:move}",
    ),
    "goal": Word(
        "(goal R N)",
        "The state is worth N to role R, from 0 to 100. It counts where the game is over.",
        " ${1:?player} ${2:100}",
    ),
    "terminal": Word("terminal", "The game is over in the current state."),
    "base": Word(
        "(base F)", "F can be true in some state. Not needed: herbrand works it out.", " (${1:fluent})"
    ),
    "input": Word(
        "(input R M)",
        "M can be a move of role R. Not needed: herbrand works it out.",
        " ${1:?player} ${2:move}",
    ),
    "sees": Word(
        "(sees R P)",
        "Role R is told P after this step (GDL-II). With a rule for `sees` in the game, roles learn "
        "nothing else about what the others do.",
        " ${1:?player} ${2:percept}",
    ),
    "knows": Word(
        "(knows R F)", "Role R knows that F holds (GDL-III); `(knows F)`: everybody knows it in common."
    ),
    "random": Word(
        "random", "The role played by chance: each of its legal moves is equally likely (GDL-II)."
    ),
    "distinct": Word(
        "(distinct S T)", "S and T are different terms. Both must be bound.", " ${1:?x} ${2:?y}"
    ),
    "not": Word(
        "(not L)",
        "L cannot be derived. Its variables must be bound by conditions without `not`.",
        " (${1:condition})",
    ),
    "or": Word("(or L ...)", "One of the conditions holds.", " ${1:one} ${2:other}"),
    "and": Word(
        "(and L ...)", "All of the conditions hold; in a body it can be left out.", " ${1:one} ${2:other}"
    ),
    "<=": Word(
        "(<= HEAD CONDITION ...)",
        "HEAD holds if all the conditions hold.",
        " (${1:head})\n    (${2:condition})",
    ),
}
"""The keywords of GDL, GDL-II and GDL-III."""

GGDL: Final = {
    "role": Word("role a, b", "The players, in order; with `{ … }` also what each has."),
    "init": Word(
        "init place := value",
        "How the game begins. `init ^ N :: int >= 1 <= 9 default 3` declares a parameter.",
    ),
    "data": Word(
        "data T := a | b", "A finite type: its members, or a range `1 .. N`. `<<` puts them in order."
    ),
    "const": Word("const N := v", "A name for a value."),
    "base": Word("base F(T) = U", "Something that is part of the state and lasts: for every T one U."),
    "next": Word(
        "next F = value :- condition", "The value in the next state, by a rule instead of by effects."
    ),
    "terminal": Word("terminal :- condition", "The game is over."),
    "surface": Word(
        "surface S(P) <=> {[ … ]} where ( … )", "A kind of board: its cells, and rules about them."
    ),
    "let": Word("let ?c = place { … }", "A short name for a place, in a block."),
    "consult": Word('consult { A } from "file"', "Takes the sentences about A from another file."),
    "default": Word("default v", "The value of a parameter if none is given."),
    "in": Word("x in C", "x is one of the members of C."),
    "where": Word("where ( … )", "Rules about a board."),
    "from": Word('from "file"', "The file that is imported from."),
    "int": Word("int >= 1 <= 9", "A whole number, with bounds."),
    "bool": Word("bool", "true or false."),
    "roles": Word("roles", "The type whose members are the roles."),
    "and": Word("a and b", "Both hold."),
    "or": Word("a or b", "One of them holds."),
    "not": Word("not a", "It cannot be derived."),
    "sees": Word("sees(r, p) :- condition", "Role r is told p after this step."),
}
"""What is written differently in GGDL, or only there."""


def help_for(name: str, notation: str) -> Word | None:
    """Return what a word means in a notation, None if it has no fixed meaning there."""
    if notation == "ggdl" and name in GGDL:
        return GGDL[name]
    return GDL.get(name)
