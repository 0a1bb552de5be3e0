"""The style sheet of the drawings: colours as CSS variables, light and dark.

A page may set the variables itself; `data-theme="light"` or `"dark"` on an element around the drawing
decides against what the reader's system prefers.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

__all__ = ["DARK", "LIGHT", "PIECES", "STYLE"]

PIECES: Final = {
    "white": ("#fdfaf3", "#3a3631", "#3a3631"),
    "black": ("#35322f", "#141210", "#f5f1e8"),
    "red": ("#cc4055", "#852031", "#ffffff"),
    "blue": ("#2f6fb0", "#184573", "#ffffff"),
    "green": ("#36824f", "#1c5230", "#ffffff"),
    "yellow": ("#efb83a", "#97690a", "#3b2a04"),
    "orange": ("#e07b39", "#7d3a14", "#2b1203"),
    "purple": ("#8a5aa8", "#553169", "#ffffff"),
    "teal": ("#2a9d9b", "#105351", "#031c1b"),
    "brown": ("#8c6648", "#543a25", "#ffffff"),
    "pink": ("#dd7ba6", "#913960", "#3d0f25"),
    "grey": ("#a9a69f", "#5e5b56", "#23211f"),
    "ink": ("#57534d", "#2e2b28", "#ffffff"),
}
"""Fill, outline and letters of the pieces of each colour; the same in light and dark."""

LIGHT: Final = {
    "paper": "#ffffff",
    "ink": "#24211e",
    "muted": "#6d675f",
    "line": "#c9c1b4",
    "cell": "#f4efe6",
    "cell-2": "#e2d6c2",
    "light-square": "#f0e4cf",
    "dark-square": "#b98d63",
    "frame": "#8d7f6c",
    "rack": "#3b6ea8",
    "rack-hole": "#f6f3ec",
    "block": "#5d574f",
    "burnt": "#4a4038",
    "last": "#f2c230",
    "lamp": "#ffd24d",
    "unlit": "#cfc8bb",
    "chip": "#efe9de",
    "card": "#fffdf8",
    "accent": "#2a5f9e",
}
"""Variables of the sheet on a light page."""
DARK: Final = {
    "paper": "#1d1b19",
    "ink": "#ece7de",
    "muted": "#b8b1a6",
    "line": "#645b4f",
    "cell": "#4a443b",
    "cell-2": "#57503f",
    "light-square": "#8e7b5d",
    "dark-square": "#5c4431",
    "frame": "#8b7f6e",
    "rack": "#2f5a8c",
    "rack-hole": "#22201d",
    "block": "#8b8378",
    "burnt": "#0f0d0c",
    "last": "#e0b02a",
    "lamp": "#ffd24d",
    "unlit": "#4b453d",
    "chip": "#332f2a",
    "card": "#3b3732",
    "accent": "#9cc3f0",
    "edge-black": "#efe8da",
    "edge-red": "#f3dcd9",
    "edge-blue": "#dfe9f5",
    "edge-green": "#dcebdf",
    "edge-orange": "#f6e3d6",
    "edge-purple": "#eadff1",
    "edge-teal": "#d9eeed",
    "edge-brown": "#eee2d8",
    "edge-pink": "#f7e3ec",
    "edge-grey": "#f1efec",
    "edge-ink": "#efe8da",
    "stroke-red": "#f29aa5",
    "stroke-blue": "#8fbcf0",
    "stroke-green": "#86cda0",
    "stroke-orange": "#f0a878",
    "stroke-purple": "#c9a6e4",
    "stroke-teal": "#6fd3d1",
    "stroke-brown": "#d0ad90",
    "stroke-ink": "#c4beb4",
}
"""Those on a dark page; outlines and strokes too, because dark ones cannot be made out there."""


def _variables(values: dict[str, str]) -> str:
    return "".join(f"--hb-{name}:{value};" for name, value in values.items())


def _sheet() -> str:
    themes = [
        f".hb{{{_variables(LIGHT)}font-family:Inter,'Segoe UI',system-ui,Helvetica,Arial,sans-serif}}",
        f"@media (prefers-color-scheme:dark){{.hb{{{_variables(DARK)}}}}}",
        f"[data-theme=light] .hb{{{_variables(LIGHT)}}}",
        f"[data-theme=dark] .hb{{{_variables(DARK)}}}",
    ]
    pieces = [
        f".hb .f-{name}{{fill:{fill}}}.hb .t-{name}{{fill:{letters}}}"
        f".hb .o-{name}{{stroke:var(--hb-edge-{name},{edge})}}"
        f".hb .s-{name}{{stroke:var(--hb-stroke-{name},{fill})}}"
        for name, (fill, edge, letters) in PIECES.items()
    ]
    _, *rules = Path(__file__).with_name("style.css").read_text(encoding="utf-8").splitlines()
    return "".join([*themes, *rules]).replace("@pieces;", "".join(pieces))


STYLE: Final = _sheet()
"""The whole style sheet; every rule begins with the class `hb`."""
