"""Draw all bundled games on one sheet: `python docs/howto/pictures/make.py` writes the pictures."""

from __future__ import annotations

import random
import re
from html import escape
from pathlib import Path

import herbrand
from herbrand import games
from herbrand.draw.artist import Artist
from herbrand.draw.style import STYLE

ACROSS, WIDE, HIGH = 6, 190, 176
SINGLE = re.compile(r'<g class="hb-cell">((?:<(?!/?g)[^>]*>)*)</g>')
TITLE = re.compile(r"<(title|desc)>.*?</\1>| data-[a-z]+=\"[^\"]*\"")


def main() -> None:
    """Play eight random moves of each game and draw what came of them, small; on two sheets."""
    names = [name for name in games.names() if "." not in name]
    half = ACROSS * (len(names) // ACROSS // 3)  # the first ones have the larger boards
    for number, some in enumerate((names[:half], names[half:]), start=1):
        parts = [
            small(name, place % ACROSS * WIDE, place // ACROSS * HIGH) for place, name in enumerate(some)
        ]
        width, height = ACROSS * WIDE, -(-len(some) // ACROSS) * HIGH
        sheet = (
            f'<svg xmlns="http://www.w3.org/2000/svg" class="hb" viewBox="0 0 {width} {height}" role="img">'
            f"<title>Bundled games</title><style>{STYLE}</style>{''.join(parts)}</svg>\n"
        )
        Path(__file__).with_name(f"bundled-{number}.svg").write_text(sheet, encoding="utf-8")


def small(name: str, x: int, y: int) -> str:
    """Draw one game with its name at a place of the sheet."""
    game = herbrand.load(name)
    state, chance = game.initial_state("rules"), random.Random(4)
    for _ in range(8):
        legal = state.legal_moves()
        after = state.next({role: chance.choice(moves) for role, moves in legal.items()})
        if after.is_terminal:
            break
        state = after
    drawing = Artist.of(game).draw(state, style=False)
    scale = min((WIDE - 16) / drawing.width, (HIGH - 34) / drawing.height, 1)
    body = TITLE.sub("", drawing.svg[drawing.svg.index(">") + 1 : -len("</svg>")])
    body = SINGLE.sub(r"\1", body)
    return (
        f'<text class="title start" x="{x + 8}" y="{y + 16}">{escape(name)}</text>'
        f'<g transform="translate({x} {y + 26}) scale({scale:.3f})">{body}</g>'
    )


if __name__ == "__main__":
    main()
