"""The style sheet of the drawings: colours as CSS variables, light and dark.

A page may set the variables itself; `data-theme="light"` or `"dark"` on an element around the drawing
decides against what the reader's system prefers.
"""

from __future__ import annotations

import re
import tomllib
from functools import cache
from pathlib import Path
from typing import Final

__all__ = ["DARK", "LIGHT", "PIECES", "STYLE", "VARIABLES", "plain_style"]

_COLOURS: Final = tomllib.loads(Path(__file__).with_name("colours.toml").read_text(encoding="utf-8"))
PIECES: Final[dict[str, list[str]]] = _COLOURS["pieces"]
"""Fill, outline and letters of the pieces of each colour; the same in light and dark."""
LIGHT: Final[dict[str, str]] = _COLOURS["light"]
"""Variables of the sheet on a light page."""
DARK: Final[dict[str, str]] = _COLOURS["dark"]
"""Variables of the sheet on a dark page; they include outlines and strokes, where dark ones would vanish."""
VARIABLES: Final = {"light": LIGHT, "dark": DARK}
"""The variables of each theme, by its name."""
_VARIABLE: Final = re.compile(r"var\(--hb-([\w-]+)(?:,([^()]*))?\)")


def _variables(values: dict[str, str]) -> str:
    return "".join(f"--hb-{name}:{value};" for name, value in values.items())


def _rules() -> str:
    """Return the rules that are the same in light and dark."""
    pieces = [
        f".hb .f-{name}{{fill:{fill}}}.hb .t-{name}{{fill:{letters}}}"
        f".hb .o-{name}{{stroke:var(--hb-edge-{name},{edge})}}"
        f".hb .s-{name}{{stroke:var(--hb-stroke-{name},{fill})}}"
        for name, (fill, edge, letters) in PIECES.items()
    ]
    _, *rules = Path(__file__).with_name("style.css").read_text(encoding="utf-8").splitlines()
    return "".join(rules).replace("@pieces;", "".join(pieces))


@cache
def plain_style(theme: str, fonts: str) -> str:
    """Return the style sheet of one theme without variables, for programs that do not know these."""
    values = VARIABLES[theme]
    rules = _VARIABLE.sub(lambda match: values.get(match[1], match[2] or ""), _rules())
    return f".hb{{font-family:{fonts}}}{rules}"


STYLE: Final = (
    f".hb{{{_variables(LIGHT)}font-family:Inter,'Segoe UI',system-ui,Helvetica,Arial,sans-serif}}"
    f"@media (prefers-color-scheme:dark){{.hb{{{_variables(DARK)}}}}}"
    f"[data-theme=light] .hb{{{_variables(LIGHT)}}}[data-theme=dark] .hb{{{_variables(DARK)}}}{_rules()}"
)
"""The whole style sheet; every rule begins with the class `hb`."""
