"""A move reader as a module of its own, for programs that do not have herbrand."""

from __future__ import annotations

import ast
import json
import re
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final

from herbrand import __version__
from herbrand.errors import BudgetExceeded

if TYPE_CHECKING:
    from herbrand.convert.movereader.reader import GameTerms, MoveReader

__all__ = ["LANGUAGES", "emit"]

LANGUAGES: Final = ("python", "typescript", "javascript")
"""What `emit` can write."""

_TYPES: Final = re.compile("‹[^›]*›")


def emit(reader: MoveReader, language: str) -> str:
    """Return the source of a module that reads what can be said in the game, and depends on nothing.

    `language` is one of `LANGUAGES`.  The module has the classes of `runtime` and one object, `reader`
    (a `ClosedReader`).  JavaScript is an ES module: the TypeScript without its types.  Fluents are left
    out when they cannot be listed within the limits of the game.
    """
    if language not in LANGUAGES:
        raise ValueError(f"no language {language!r} (languages: {', '.join(LANGUAGES)})")
    name = reader.game.name.replace("\\", "/")
    title = f"What can be said in {_plain(name)}, and nothing else: moves, joint moves, percepts, states."
    made = f"Made by herbrand {__version__} from the rules of the game; depends on nothing else."
    data = _tables(reader)
    if language == "python":
        return _python(title, made, data)
    core = files("herbrand.convert.movereader").joinpath("reader.ts.in").read_text(encoding="utf-8")
    core = _TYPES.sub("", core) if language == "javascript" else core.replace("‹", "").replace("›", "")
    kind = ": Game" if language == "typescript" else ""
    return f"// {title}\n// {made}\n\n{core}{_literal(data, f'const GAME{kind} = ', 'null', ';')}\n{_READER}"


_READER: Final = """/** The reader of this game. */
export const reader = new ClosedReader(GAME);
"""


def _plain(name: str) -> str:
    """Return a name that can stand in any comment or docstring."""
    return re.sub(r"[^\w.+-]", "_", name)


def _tables(reader: MoveReader) -> dict[str, Any]:
    """Return the tables of a reader as JSON values; equal sets of terms stand there once."""
    numbers: dict[int, int] = {}
    sets: list[dict[str, Any]] = []

    def number(terms: GameTerms) -> int:
        if id(terms) not in numbers:
            numbers[id(terms)] = len(sets)
            used = {name.lower() for name in terms.tables.tokens}
            sets.append(
                {
                    "tokens": list(terms.tables.tokens),
                    "states": [list(state) for state in terms.tables.states],
                    "order": None if terms.tables.order is None else list(terms.tables.order),
                    "infix": {name: new for name, new in terms.infix.items() if name.lower() in used},
                    "folds": terms.folds_case,
                }
            )
        return numbers[id(terms)]

    moves = [number(reader.terms(role)) for role in reader.roles]
    seen = [reader.percept_terms(role) for role in reader.roles]
    percepts = None if None in seen else [number(terms) for terms in seen if terms is not None]
    try:
        base = number(reader.fluent_terms())
    except BudgetExceeded:
        base = None
    return {"roles": list(reader.roles), "sets": sets, "moves": moves, "percepts": percepts, "base": base}


def _literal(data: dict[str, Any], before: str, none: str, after: str = "") -> str:
    """Write the tables as a literal of either language, one set after another."""

    def value(thing: Any) -> str:
        return none if thing is None else json.dumps(thing, separators=(",", ":"))

    def boolean(thing: bool) -> str:
        return str(thing) if none == "None" else str(thing).lower()

    lines = [f"{before}{{", f'  "roles": {value(data["roles"])},', '  "sets": [']
    for terms in data["sets"]:
        lines += ["    {", f'      "tokens": {value(terms["tokens"])},', '      "states": [']
        lines += [f"        {value(state)}," for state in terms["states"]]
        lines += ["      ],", f'      "order": {value(terms["order"])},']
        lines += [
            f'      "infix": {value(terms["infix"])},',
            f'      "folds": {boolean(terms["folds"])},',
            "    },",
        ]
    lines += ["  ],", f'  "moves": {value(data["moves"])},']
    lines += [f'  "percepts": {value(data["percepts"])},', f'  "base": {value(data["base"])},', f"}}{after}"]
    return "\n".join(lines) + "\n"


def _python(title: str, made: str, data: dict[str, Any]) -> str:
    source = files("herbrand.convert.movereader").joinpath("runtime.py").read_text(encoding="utf-8")
    docstring = ast.parse(source).body[0]
    core = "\n".join(source.split("\n")[docstring.end_lineno :]).lstrip("\n")
    core = core.replace('"Terms"]', '"Terms", "reader"]', 1)
    return f'"""{title}\n\n{made}\n"""\n\n{core}\n\n{_literal(data, "_GAME = ", "None")}\n{_MAKE}'


_MAKE: Final = '''
def _reader(game: dict) -> ClosedReader:
    sets = [
        Terms(
            terms["tokens"],
            terms["states"],
            order=terms["order"],
            infix=terms["infix"],
            folds_case=terms["folds"],
        )
        for terms in game["sets"]
    ]
    percepts, base = game["percepts"], game["base"]
    return ClosedReader(
        game["roles"],
        [sets[number] for number in game["moves"]],
        percepts=None if percepts is None else [sets[number] for number in percepts],
        base=None if base is None else sets[base],
    )


reader = _reader(_GAME)
"""The reader of this game."""
'''
