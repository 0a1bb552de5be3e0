"""Convert games to SWI-Prolog.

| style   | the state                             | use                                              |
|---------|---------------------------------------|--------------------------------------------------|
| literal | `true/1` and `does/2` are facts       | queries to the rules; can be read back as GDL    |
| state   | a list of fluents, passed as argument | programs: `actions/2`, `next/3`, `values/2`, ... |
| facts   | a list of fluents, asserted as facts  | the same, faster, in one thread                  |
| plain   | only the rules, without directives    | other Prolog systems                             |
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from herbrand.errors import HerbrandError

if TYPE_CHECKING:
    from herbrand.check.rules import Rules
    from herbrand.machine.state_machine import StateMachine
    from herbrand.syntax.printer import Printed

__all__ = ["STYLES", "program", "write"]

STYLES = ("literal", "state", "facts", "plain")


def write(
    game: StateMachine, *, style: str = "literal", portable: bool = False, spelling: bool = False
) -> str | Printed:
    """Write a game in one of the `STYLES`; `portable` and `spelling` are as for notations.

    Raises `GameError` for a game that cannot be played, except in the style "plain".
    """
    if style == "plain":
        from herbrand.syntax.printer import print_tree

        return print_tree(game.tree, "prolog", portable, spelling=spelling)
    if portable or spelling:
        raise HerbrandError("--portable and --spelling need --style plain")
    game.require_playable()
    return program(game.rules, game.name, style)


def program(rules: Rules, name: str, style: str = "literal") -> str:
    """Return the text of a program in a style other than "plain"."""
    from herbrand.convert.prolog.facts import facts
    from herbrand.convert.prolog.literal import literal
    from herbrand.convert.prolog.state import state_style

    text = {"literal": literal, "state": state_style, "facts": facts}[style](rules, name)
    return text if text.isascii() else ":- encoding(utf8).\n" + text
