"""Pieces as SVG, each in a box of 48 by 48.

Colours are classes of the style sheet (`style.py`): `f-red` fills, `s-red` strokes.  All shapes are
drawn here; no font is needed but for letters and numbers.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from herbrand.draw.looks import Look

__all__ = ["BOX", "piece"]

BOX: Final = 48
"""Width and height of the box that a piece is drawn in."""

_BASE: Final = '<path d="M13 41h22v-2.6c0-1.6-1-2.4-2.6-2.4H15.6c-1.6 0-2.6.8-2.6 2.4z"/>'
_CHESS: Final = {
    "pawn": '<path d="M24 9.5a5.7 5.7 0 0 0-3.6 10.1c-2 .8-3.3 1.9-3.3 3.3h3.7c0 4.9-1.7 9.1-5.3 '
    '13.1h17c-3.6-4-5.3-8.2-5.3-13.1h3.7c0-1.4-1.3-2.5-3.3-3.3A5.7 5.7 0 0 0 24 9.5z"/>',
    "rook": '<path d="M13.5 9.5v8.5l4 3.2v10.3l-2.7'
    " 4.5h18.4l-2.7-4.5V21.2l4-3.2V9.5h-4.6v3.7h-3.5V9.5"
    'h-4.8v3.7h-3.5V9.5z"/><path class="line" d="M17.5 21.2h13M17.5 31.5h13"/>',
    "bishop": '<circle cx="24" cy="8.6" r="2.3"/><path d="M24 11.5c-4.6 3.2-7.6 7.5-7.6 12 0 2.9'
    " 1.3 5.2 3.5 6.6"
    'l-3 5.9h14.2l-3-5.9c2.2-1.4 3.5-3.7 3.5-6.6 0-4.5-3-8.8-7.6-12z"/>'
    '<path class="line" d="M24 17.5v7M20.5 21h7M19.9 30.1h8.2"/>',
    "queen": '<circle cx="9.5" cy="14.5" r="2.2"/><circle cx="17" cy="10.5" r="2.2"/><circle'
    ' cx="24" cy="9" r="2.2"/>'
    '<circle cx="31" cy="10.5" r="2.2"/><circle cx="38.5" cy="14.5" r="2.2"/>'
    '<path d="M10 17l4.5 12.5L15.5 36h17l1-6.5L38 17l-6 8-1.5-12-4 11.5L24 11.5l-2.5'
    ' 13-4-11.5-1.5 12z"/>'
    '<path class="line" d="M14.5 29.5c6-1.5 13-1.5 19 0"/>',
    "king": '<path d="M22.4 5h3.2v3.3h3.3v3.2h-3.3v4h-3.2v-4h-3.3V8.3h3.3z"/>'
    '<path d="M24 15.5c-2.6 0-4.3 1.7-4.3 4.3-1.5-1.9-3.5-2.8-5.7-2.8-3.7 0-6.2 2.6-6.2'
    " 6 0 4 3.6 6.3 7.7 9.5v3.5h17"
    "v-3.5c4.1-3.2 7.7-5.5 7.7-9.5 0-3.4-2.5-6-6.2-6-2.2 0-4.2.9-5.7 2.8"
    ' 0-2.6-1.7-4.3-4.3-4.3z"/>'
    '<path class="line" d="M24 20v9M15.5 32.5c5.5-2 11.5-2 17 0"/>',
    "knight": '<path d="M21.5 8.5l1.5 4c8.5.5 13.5 7 13 15.5l-.5 8h-20c0-6 5-8.5 6.5-13-2.3'
    " 1.2-4.8 1.6-6.5 4l-3 2.5"
    'c-1.8.6-3.8-1.3-3.5-3.2 1.2-4.3 3.5-7.3 5.7-10.3.6-3 3.3-5.5 6.8-7.5z"/>'
    '<circle class="eye" cx="20" cy="17.2" r="1.3"/><path class="line" d="M26.5 16.5c4 2'
    ' 6 6 5.6 11.5"/>',
}


def piece(look: Look, label: str = "") -> str:
    """Return the SVG of a piece in a box of `BOX`; nothing for emptiness.

    `label` is what it stands for; it is shown when the mouse rests on it.
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
    base = _BASE
    return f'<g class="hb-chess f-{look.colour} o-{look.colour}">{body}{base}</g>'


def _disc(look: Look) -> str:
    inner = f'<circle class="ring o-{look.colour}" cx="24" cy="24" r="11.5"/>'
    letter = _letters(look.text, look.colour) if look.text else inner
    return f'<circle class="hb-disc f-{look.colour} o-{look.colour}" cx="24" cy="24" r="17"/>{letter}'


def _draughts(look: Look) -> str:
    crown = ""
    if look.text == "king":
        crown = (
            f'<path class="f-{look.colour} o-{look.colour} crown" d="M15 30l-2-11 6 5 5-8 5 8 6-5-2 11z"/>'
        )
    ring = "" if crown else f'<circle class="ring o-{look.colour}" cx="24" cy="24" r="11.5"/>'
    return f'<circle class="hb-disc f-{look.colour} o-{look.colour}" cx="24" cy="24" r="17"/>{ring}{crown}'


def _cross(look: Look) -> str:
    return f'<path class="hb-mark s-{look.colour}" d="M13 13l22 22M35 13L13 35"/>'


def _nought(look: Look) -> str:
    return f'<circle class="hb-mark s-{look.colour}" cx="24" cy="24" r="11.5"/>'


def _number(look: Look) -> str:
    faint = " faint" if look.text == "0" else ""
    size = 24 if len(look.text) < 3 else 17
    return f'<text class="hb-number{faint}" x="24" y="24" font-size="{size}">{escape(look.text)}</text>'


def _block(look: Look) -> str:
    del look
    return '<rect class="hb-block" x="2" y="2" width="44" height="44" rx="5"/>'


def _dot(look: Look) -> str:
    return f'<circle class="f-{look.colour} o-{look.colour}" cx="24" cy="24" r="6" stroke-width="1"/>'


def _burnt(look: Look) -> str:
    del look
    return (
        '<rect class="hb-burnt" x="4" y="4" width="40" height="40" rx="7"/>'
        '<path class="hb-burnt-x" d="M16 16l16 16M32 16L16 32"/>'
    )


def _lamp(look: Look) -> str:
    lit = "lit" if look.colour == "yellow" else "unlit"
    rays = (
        '<path class="rays" d="M24 3v5M24 40v5M3 24h5M40 24h5M9 9l3.5 3.5M35.5 35.5l3.5'
        " 3.5M39 9l-3.5 3.5"
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
    return (
        f'<rect class="hb-disc f-{look.colour} o-{look.colour}" x="6" y="6" width="36" height="36" rx="12"/>'
        f"{_letters(look.text, look.colour)}"
    )


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
