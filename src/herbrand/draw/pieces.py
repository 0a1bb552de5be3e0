"""Pieces as SVG, each in a box of 48 by 48.

Colours are classes of the style sheet (`style.py`): `f-red` fills, `s-red` strokes.  All shapes are
drawn here; no font is needed but for letters and numbers.
"""

from __future__ import annotations

import tomllib
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from herbrand.draw.looks import Look

__all__ = ["BOX", "piece"]

BOX: Final = 48
"""Width and height of the box that a piece is drawn in."""

_BASE: Final = '<path d="M13 41h22v-2.6c0-1.6-1-2.4-2.6-2.4H15.6c-1.6 0-2.6.8-2.6 2.4z"/>'
_CHESS: Final = {
    name: "".join(shape.splitlines())
    for name, shape in tomllib.loads(
        Path(__file__).with_name("chess.toml").read_text(encoding="utf-8")
    ).items()
}
"""The pieces of chess."""


def piece(look: Look, label: str = "") -> str:
    """Return the SVG of a piece in a box of `BOX`; nothing for emptiness.

    `label` is its meaning, which is shown when the mouse rests on it.
    """
    drawn = _DRAWN.get(look.kind, _token)(look)
    if not drawn:
        return ""
    title = f"<title>{escape(label)}</title>" if label else ""
    return f'<g class="hb-piece">{title}{drawn}</g>'


def _chess(look: Look) -> str:
    body = _CHESS.get(look.text)
    if body is None:
        return _token(look)
    return f'<g class="hb-chess f-{look.colour} o-{look.colour}">{body}{_BASE}</g>'


def _disc(look: Look) -> str:
    return _round(look, _letters(look.text, look.colour) if look.text else "")


def _draughts(look: Look) -> str:
    crown = f'<path class="f-{look.colour} o-{look.colour} crown" d="M15 30l-2-11 6 5 5-8 5 8 6-5-2 11z"/>'
    return _round(look, crown if look.text == "king" else "")


def _round(look: Look, inside: str) -> str:
    """Draw a disc with something inside, by default a ring."""
    inside = inside or f'<circle class="ring o-{look.colour}" cx="24" cy="24" r="11.5"/>'
    return f'<circle class="hb-disc f-{look.colour} o-{look.colour}" cx="24" cy="24" r="17"/>{inside}'


def _cross(look: Look) -> str:
    return f'<path class="hb-mark s-{look.colour}" d="M13 13l22 22M35 13L13 35"/>'


def _nought(look: Look) -> str:
    return f'<circle class="hb-mark s-{look.colour}" cx="24" cy="24" r="11.5"/>'


def _number(look: Look) -> str:
    faint = " faint" if look.text == "0" else ""
    size = 24 if len(look.text) < 3 else 17
    return f'<text class="hb-number{faint}" x="24" y="24" font-size="{size}">{escape(look.text)}</text>'


def _block(_: Look) -> str:
    return '<rect class="hb-block" x="2" y="2" width="44" height="44" rx="5"/>'


def _dot(look: Look) -> str:
    return f'<circle class="f-{look.colour} o-{look.colour}" cx="24" cy="24" r="6" stroke-width="1"/>'


def _burnt(_: Look) -> str:
    return (
        '<rect class="hb-burnt" x="4" y="4" width="40" height="40" rx="7"/>'
        '<path class="hb-burnt-x" d="M16 16l16 16M32 16L16 32"/>'
    )


def _lamp(look: Look) -> str:
    lit = "lit" if look.colour == "yellow" else "unlit"
    rays = (
        '<path class="rays" d="M24 3v5M24 40v5M3 24h5M40 24h5M9 9l3.5 3.5M35.5 35.5l3.5 3.5M39 9l-3.5 3.5'
        'M9 39l3.5-3.5"/>'
        if lit == "lit"
        else ""
    )
    return f'<g class="hb-lamp {lit}"><circle cx="24" cy="24" r="12"/>{rays}</g>'


def _arrow(look: Look) -> str:
    return f'<path class="hb-arrow" transform="rotate({look.turn} 24 24)" d="M24 8l10 13h-6v17h-8V21h-6z"/>'


def _quarto(look: Look) -> str:
    tall, dark, round_, hollow = (bit == "1" for bit in look.text)
    colour = "blue" if dark else "yellow"
    size = 19 if tall else 13
    shape = (
        f'<circle class="hb-disc f-{colour} o-{colour}" cx="24" cy="24" r="{size}"/>'
        if round_
        else f'<rect class="hb-disc f-{colour} o-{colour}" x="{24 - size + 1}" y="{24 - size + 1}" '
        f'width="{2 * size - 2}" height="{2 * size - 2}" rx="3"/>'
    )
    return shape + ('<circle class="hb-hollow" cx="24" cy="24" r="6"/>' if hollow else "")


def _token(look: Look) -> str:
    kind = f"hb-disc f-{look.colour} o-{look.colour}"
    box = f'<rect class="{kind}" x="6" y="6" width="36" height="36" rx="12"/>'
    return box + _letters(look.text, look.colour)


def _letters(text: str, colour: str) -> str:
    size = {0: 0, 1: 20, 2: 17, 3: 14, 4: 12, 5: 11, 6: 9.5}.get(len(text), 8)
    return f'<text class="hb-letters t-{colour}" x="24" y="24" font-size="{size}">{escape(text)}</text>'


_DRAWN: Final = {
    "none": lambda _: "",
    "chess": _chess,
    "disc": _disc,
    "draughts": _draughts,
    "cross": _cross,
    "nought": _nought,
    "number": _number,
    "block": _block,
    "dot": _dot,
    "burnt": _burnt,
    "lamp": _lamp,
    "arrow": _arrow,
    "quarto": _quarto,
    "token": _token,
}
