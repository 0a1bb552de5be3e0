"""The look of a content of a cell: `wk` is a white king, `x` a cross, `red` a red disc, `7` a number.

The names in rulesheets mean nothing to a game, but authors choose similar ones.  Names that no rule below
knows become tokens with the name on them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from herbrand.draw.boards.layers import BLANKS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from herbrand.draw.boards.layout import Layout

__all__ = ["COLOURS", "Look", "content_looks", "looks", "role_colours", "spoken", "with_others", "words"]

COLOURS: Final = {
    **dict.fromkeys(("white", "light"), "white"),
    **dict.fromkeys(("black", "dark"), "black"),
    **{name: name for name in ("red", "blue", "green", "yellow", "orange", "purple", "brown", "pink")},
    **dict.fromkeys(("teal", "cyan", "turquoise"), "teal"),
    **dict.fromkeys(("magenta", "violet"), "purple"),
    **dict.fromkeys(("gray", "grey", "silver"), "grey"),
}
"""Names of colours, and the colours they are drawn in."""
PALETTE: Final = ("blue", "red", "green", "purple", "orange", "teal", "pink", "brown")
"""Colours for roles and contents that name none."""

_CHESS: Final = {"p": "pawn", "n": "knight", "b": "bishop", "r": "rook", "q": "queen", "k": "king"}
_CHESS_NAMES: Final = frozenset(_CHESS.values())
_DISCS: Final = frozenset({"disc", "disk", "checker", "man", "stone", "ball", "marble", "piece", "peg"})
_BLOCKS: Final = frozenset(
    {"wall", "block", "blk", "blocked", "hole", "rock", "dirt", "obstacle", "off", "limits", "ground"}
)
_DOTS: Final = frozenset({"pellet", "point", "food", "dot", "gold", "coin", "treasure", "dust"})
_BURNT: Final = frozenset({"arrow", "fire", "burnt", "blast", "trap", "flame"})
_CROSSES: Final = frozenset({"x", "cross", "ecks", "xplayer"})
_NOUGHTS: Final = frozenset({"o", "nought", "oh", "circle", "oplayer", "ring"})
_LAMPS: Final = (("on", "off"), ("light", "nolight"), ("lit", "unlit"))
_LETTERS: Final = {"w": "white", "r": "red", "y": "yellow", "g": "green"}
_DIRECTIONS: Final = {
    "n": 0, "north": 0, "up": 0, "ne": 45, "northeast": 45, "e": 90, "east": 90, "right": 90,
    "se": 135, "southeast": 135, "s": 180, "south": 180, "down": 180, "sw": 225, "southwest": 225,
    "w": 270, "west": 270, "left": 270, "nw": 315, "northwest": 315,
}  # fmt: skip


@dataclass(frozen=True)
class Look:
    """How something is drawn."""

    kind: str
    """"none", "chess", "disc", "crowned", "cross", "nought", "number", "block", "dot", "burnt", "lamp",
    "arrow", "quarto" or "token"."""
    colour: str = "ink"
    """Name of a colour of the style sheet."""
    text: str = ""
    """The chess piece, the digits, the letters."""
    turn: int = 0
    """Degrees, for arrows."""


def words(name: str) -> list[str]:
    """Split a name into its words in lower case.

    >>> words("whiteKing"), words("mov_up"), words("white king")
    (['white', 'king'], ['mov', 'up'], ['white', 'king'])
    """
    apart = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name)
    return [word for word in re.split(r"[\s_\-()/]+", apart.lower()) if word]


def looks(
    contents: Iterable[str],
    roles: Sequence[str],
    *,
    full: bool = False,
    draughts: bool = False,
    hints: Mapping[str, Any] | None = None,
) -> dict[str, Look]:
    """Choose a look for every content of the boards of a game, by its name in lower case.

    `full` says that facts mention every cell, so that `b` beside `w` means blank, not black;
    `draughts` that all pieces stand on squares of one colour, so that pawns are men.
    """
    spelt = {content.lower(): content for content in sorted(contents)}
    names = sorted(spelt)
    hinted = (hints or {}).get("pieces", {})
    lower = [role.lower() for role in roles]
    blank = _blank(set(names), full=full)
    chess = _chess_set(spelt, blank, lower, draughts=draughts)
    spare = [name for name in names if name != blank]
    headings = [name for name in spare if _heading(name) is not None and name not in lower]
    arrows = len(headings) >= (2 if max(map(len, headings), default=0) > 2 else 3)
    known = chess | {name: Look("none") for name in names if name == blank}
    known |= {name: Look(**hinted[name]) for name in names if name in hinted}
    others = {name: _one(spelt[name], spare, lower, arrows=arrows) for name in names if name not in known}
    return _distinct(known | others)


def spoken(name: str, look: Look) -> str:
    """Return what to call a content.

    >>> spoken("wp", Look("chess", "white", "pawn")), spoken("blackKing", Look("token", "black", "king"))
    ('white pawn', 'black king')
    """
    if look.kind == "chess":
        return f"{look.colour} {look.text}"
    if look.kind == "draughts":
        return f"{look.colour} {'king' if look.text == 'king' else 'man'}"
    if look.kind == "disc" and len(name) == 1:
        return look.colour
    parts = words(name)
    return " ".join(parts) if len(parts) > 1 else name


def content_looks(layout: Layout) -> dict[str, Look]:
    """Choose the looks of everything that can stand on the boards of a game, by its name in lower case."""
    layers = [layer for board in layout.boards for layer in board.layers if not layer.edge]
    contents = {what for layer in layers for what in layer.all_contents or [layer.shape[0]] * layer.named}
    return looks(contents, layout.roles, full=layout.full, draughts=layout.draughts, hints=layout.hints)


def with_others(chosen: Mapping[str, Look], contents: Iterable[str], layout: Layout) -> Mapping[str, Look]:
    """Return the looks with those of contents that were not known to be possible."""
    others = {content for content in contents if content.lower() not in chosen}
    return {**chosen, **looks(others, layout.roles, hints=layout.hints)} if others else chosen


def _blank(names: Collection[str], *, full: bool) -> str | None:
    blank = next((name for name in BLANKS if name in names), None)
    return None if blank == "b" and "w" in names and not full else blank


def _role_colour(role: str, lower: Sequence[str]) -> str:
    """Return the colour of a role: the one it is named for, or one of the palette."""
    for word in words(role):
        if word in COLOURS:
            return COLOURS[word]
    named = {COLOURS[w] for r in lower for w in words(r) if w in COLOURS}
    free = [colour for colour in PALETTE if colour not in named]
    return free[lower.index(role) % len(free)] if role in lower else "ink"


def role_colours(roles: Sequence[str]) -> dict[str, str]:
    """Return a colour for each role: the one it is named for, or one of the palette."""
    lower = [role.lower() for role in roles]
    return {role: _role_colour(role.lower(), lower) for role in roles}


def _chess_set(
    spelt: Mapping[str, str], blank: str | None, roles: Sequence[str], *, draughts: bool
) -> dict[str, Look]:
    """Find pieces of chess, or men and kings of draughts, among the contents."""
    looks: dict[str, Look] = {}
    initials = {role[0]: role for role in roles if role}
    short: dict[str, re.Match[str]] = {}
    contents = [name for name in spelt if name != blank]
    if contents == ["q"]:
        return {"q": Look("chess", "white", "queen")}
    for name in contents:
        parts = words(spelt[name])
        piece = next((word for word in parts if word in _CHESS_NAMES), None)
        colour = next((COLOURS[word] for word in parts if word in COLOURS), None)
        owner = next((role for role in roles if role in parts), None)
        if piece and "promoted" not in parts and (colour or owner or len(parts) == 1):
            looks[name] = Look("chess", colour or (_role_colour(owner, roles) if owner else "white"), piece)
        elif match := re.fullmatch(r"([a-z])[_-]?([pnbrqkm])([a-h]?\d?)", name):
            short[name] = match
    sides = {match[1] for match in short.values()}
    coloured = sides <= {"w", "b"} or sides <= {"w", "r"} or sides <= {"r", "b"}
    if coloured or (sides <= set(initials) and len(initials) > 1):
        men = {match[2] for match in short.values()} <= {"p", "k", "m"}
        if len(short) >= 2 or (len(short) == 1 and coloured):
            for name, match in short.items():
                if match[2] == "m" and not (men and draughts):
                    continue
                side = match[1]
                colour = {"w": "white", "b": "black", "r": "red"}.get(side) if coloured else None
                colour = colour or _role_colour(initials[side], roles)
                looks[name] = Look("chess", colour, _CHESS.get(match[2], "pawn"))
    if draughts and {look.text for look in looks.values()} <= {"pawn", "king"}:
        looks = {name: replace(look, kind="draughts") for name, look in looks.items()}
    return looks


def _heading(name: str) -> int | None:
    *before, last = words(name) or [""]
    return _DIRECTIONS.get(last) if not before or before[0] in ("mov", "move", "go", "heading") else None


def _one(content: str, others: Sequence[str], roles: Sequence[str], *, arrows: bool) -> Look:
    """Return the look of one content that is no chess piece and not blank."""
    name, parts = content.lower(), words(content)
    whole = " ".join(parts)
    if re.fullmatch(r"p?[01]{4}", name):
        return Look("quarto", "ink", name[-4:])
    if re.fullmatch(r"-?\d+|[a-z]\d+", whole):
        return Look("number", "ink", whole.lstrip("abcdefghijklmnopqrstuvwxyz") or whole)
    if match := re.fullmatch(r"(\d+) ([be])", whole):
        return Look("number", "ink", match[1]) if match[2] == "e" else Look("token", "black", match[1])
    for on, off in _LAMPS:
        if whole in (on, off) and (on in others and (off in others or on == "lit")):
            return Look("lamp", "yellow" if whole == on else "grey", whole)
    turn = _heading(content)
    if arrows and turn is not None and name not in roles:
        return Look("arrow", "ink", "", turn)
    if whole in _CROSSES:
        return Look("cross", _mark_colour(_CROSSES, roles, "blue"))
    if whole in _NOUGHTS:
        return Look("nought", _mark_colour(_NOUGHTS, roles, "red"))
    if any(word in _BLOCKS for word in parts) or whole in ("mark", "marked"):
        return Look("block")
    if any(word in _BURNT for word in parts):
        return Look("burnt")
    colour = next((COLOURS[word] for word in parts if word in COLOURS), None)
    rest = [word for word in parts if word not in COLOURS and not word.startswith("unpromot")]
    if colour is None and whole in _LETTERS and {"w", "b", "r", "y", "g", "dirt"}.issuperset(others):
        return Look("disc", _LETTERS[whole])
    if colour is None and whole == "b" and "w" in others:
        return Look("disc", "black")
    if colour is None and whole in _DISCS:
        return Look("disc", _spare_colour(name, others))
    if colour is not None and (not rest or all(word in _DISCS for word in rest)):
        return Look("disc", colour)
    if (colour is None or "gold" not in parts) and any(word in _DOTS for word in parts):
        return Look("dot", "yellow")
    owner = next((role for role in roles if role == whole or role in parts), None)
    if owner is None and len(whole) == 1:
        owner = next((role for role in roles if role.startswith(whole)), None)
    if owner is not None:
        return Look("token", colour or _role_colour(owner, roles), _short(rest or parts))
    if colour is not None:
        return Look("token", colour, _short(rest))
    return Look("token", _spare_colour(name, others), _short(parts))


def _spare_colour(name: str, others: Sequence[str]) -> str:
    return PALETTE[others.index(name) % len(PALETTE)] if name in others else "ink"


def _mark_colour(marks: frozenset[str], roles: Sequence[str], default: str) -> str:
    owner = next((role for role in roles if role in marks or role[:1] in marks), None)
    return _role_colour(owner, roles) if owner and len(roles) > 1 else default


def _short(parts: Sequence[str]) -> str:
    """Return at most seven letters that stand for a name."""
    name = " ".join(parts)
    if len(name) <= 7:
        return name
    if len(parts) > 1:
        return "".join(part[0] for part in parts[:3]).upper()
    digits = re.search(r"\d+\Z", name)
    return name[: 4 - len(digits[0])] + digits[0] if digits and len(digits[0]) < 3 else name[:6]


def _distinct(result: dict[str, Look]) -> dict[str, Look]:
    """Give different colours or letters to things that would look the same."""
    seen: dict[Look, str] = {}
    for name in sorted(result):
        look = result[name]
        if look.kind in ("none", "chess", "draughts"):
            continue
        if look in seen and look.kind in ("token", "disc"):
            lettered = replace(look, text=look.text or _short(words(name)))
            coloured = (replace(lettered, colour=colour) for colour in PALETTE)
            look = next((other for other in coloured if other not in seen), look)
        elif look in seen and look.kind in ("block", "burnt", "dot"):
            look = Look("token", "grey", _short(words(name)))
        seen[look] = name
        result[name] = look
    return result
