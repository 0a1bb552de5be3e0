"""Draw many rulesheets on a few HTML pages, for inspection.

    python benchmarks/contact_sheet.py OUT SHEET…              the state after some random moves
    python benchmarks/contact_sheet.py --steps 0 OUT SHEET…    the initial state

The last moves are marked.  Sheets that cannot be drawn are listed with the reason; the last line counts
boards, tables, and moves that can be clicked.  A page fits a screenshot of 1920 by 1310 points, as those in
`docs/reference/drawings.md`: `chromium --headless --screenshot --window-size=1920,1310 PAGE`.
"""

from __future__ import annotations

import argparse
import random
from collections import Counter
from html import escape
from pathlib import Path

import herbrand
from herbrand.draw.artist import Artist, caption

A_PAGE = 60
STYLE = (
    "body{display:grid;grid-template-columns:repeat(10,1fr);gap:6px;margin:6px;width:1900px}"
    "body{font:11px sans-serif}"
    "div{border:1px solid #ccc;padding:4px;height:200px;overflow:hidden}"
    "svg{max-width:100%;max-height:180px;width:auto;height:auto}"
)


def main() -> None:
    """Write pages of pictures into a folder."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--steps", type=int, default=8)
    parser.add_argument("out", type=Path)
    parser.add_argument("sheets", type=Path, nargs="+")
    given = parser.parse_args()
    out, sheets = given.out, sorted(given.sheets)
    out.mkdir(parents=True, exist_ok=True)
    cells: list[str] = []
    boards = moves = clickable = alone = 0
    for sheet in sheets:
        try:
            game = herbrand.load(sheet)
            artist = Artist.of(game)
            state, chance, last = game.initial_state("rules"), random.Random(3), []
            for _ in range(given.steps):
                legal = state.legal_moves()
                if state.is_terminal or not all(legal.values()):
                    break
                for some in legal.values():
                    if len(some) > 1:
                        clicks = artist.clicks(some)
                        moves += len(some)
                        clickable += sum(map(bool, clicks))
                        alone += sum(many == 1 for many in Counter(clicks).values())
                joint = {role: chance.choice(some) for role, some in legal.items()}
                last = [move for role, move in joint.items() if len(legal[role]) > 1]
                state = state.next(joint)
            drawn = artist.draw(state, last=last, lines=caption(state)).svg
            boards += artist.has_boards or bool(artist.layout.lamps)
        except Exception as error:  # noqa: BLE001  # one bad sheet does not stop the others
            drawn = f"<pre>{escape(str(error))}</pre>"
            print(f"{sheet.stem}: {type(error).__name__}: {error}")
        cells.append(f"<div><b>{escape(sheet.stem)}</b><br>{drawn}</div>")
    for start in range(0, len(cells), A_PAGE):
        shown = "".join(cells[start : start + A_PAGE])
        page = f"<!doctype html><meta charset=utf-8><style>{STYLE}</style>{shown}"
        (out / f"{start // A_PAGE:02}.html").write_text(page, encoding="utf-8")
    print(
        f"{len(sheets)} sheets: {boards} as boards, towers, rows or lamps, the rest as cards and tables; "
        f"{clickable} of {moves} moves name places, {alone} are told apart by them"
    )


if __name__ == "__main__":
    main()
