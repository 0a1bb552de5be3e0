"""Descriptions of keywords for hover and completion.

After Love et al., *General Game Playing: Game Description Language Specification* (2008), and for
`random`, `sees` and `knows` Thielscher (2010, 2017); for GGDL see docs/reference/ggdl.md.
"""

from __future__ import annotations

from typing import Final, NamedTuple

__all__ = ["GDL", "GGDL", "Word", "help_for"]


class Word(NamedTuple):
    """The description of a keyword."""

    form: str
    """Its syntax in prefix notation, or in GGDL for keywords of GGDL."""
    text: str
    """Its meaning in one or two sentences."""
    snippet: str = ""
    """Text that completion inserts after the name, with placeholders."""


GDL: Final = {
    "role": Word(
        "(role R)", "R is a role. The order of these facts is the order of the roles.", " ${1:player}"
    ),
    "init": Word("(init F)", "F is true in the initial state.", " (${1:fluent})"),
    "true": Word("(true F)", "F is true in the current state.", " (${1:fluent})"),
    "next": Word(
        "(next F)",
        "F is true in the next state. Fluents do not persist unless a rule for `next` derives them.",
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
        "The value of the state for role R is N, from 0 to 100. It counts in terminal states.",
        " ${1:?player} ${2:100}",
    ),
    "terminal": Word("terminal", "The game is over in the current state."),
    "base": Word("(base F)", "F can be true in some state. Optional: herbrand infers it.", " (${1:fluent})"),
    "input": Word(
        "(input R M)",
        "M can be a move of role R. Optional: herbrand infers it.",
        " ${1:?player} ${2:move}",
    ),
    "sees": Word(
        "(sees R P)",
        "Role R perceives P after this step (GDL-II). In games with `sees`, roles learn nothing else about "
        "the moves of others.",
        " ${1:?player} ${2:percept}",
    ),
    "knows": Word("(knows R F)", "Role R knows that F holds (GDL-III); `(knows F)`: F is common knowledge."),
    "random": Word("random", "The chance role: each of its legal moves is equally likely (GDL-II)."),
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
    "role": Word("role a, b", "The roles, in order; `{ … }` declares fluents of each role."),
    "init": Word(
        "init place := value",
        "The initial state. `init ^ N :: int >= 1 <= 9 default 3` declares a parameter.",
    ),
    "data": Word(
        "data T := a | b", "A finite type: its members, or a range `1 .. N`. `<<` puts them in order."
    ),
    "const": Word("const N := v", "A name for a value."),
    "base": Word("base F(T) = U", "A fluent that persists: one value U for each T."),
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
    "in": Word("x in C", "x is a member of C."),
    "where": Word("where ( … )", "Rules about a board."),
    "from": Word('from "file"', "The file to import from."),
    "int": Word("int >= 1 <= 9", "A whole number, with bounds."),
    "bool": Word("bool", "true or false."),
    "roles": Word("roles", "The type whose members are the roles."),
    "and": Word("a and b", "Both hold."),
    "or": Word("a or b", "One of them holds."),
    "not": Word("not a", "a cannot be derived."),
    "sees": Word("sees(r, p) :- condition", "Role r perceives p after this step."),
}
"""Keywords of GGDL, and those with another syntax there."""


def help_for(name: str, notation: str) -> Word | None:
    """Return the description of a word in a notation; None if it is not a keyword."""
    if notation == "ggdl" and name in GGDL:
        return GGDL[name]
    return GDL.get(name)
