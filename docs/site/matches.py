"""The moving picture of the README: three matches, drawn by herbrand from the rules alone."""

from __future__ import annotations

import re
from typing import Final

import herbrand
from herbrand.draw.style import STYLE

__all__ = ["matches"]

MATCHES: Final = {
    "chess": (  # Morphy against the Duke of Brunswick and Count Isouard, Paris 1858
        "wp e 2 e 4, bp e 7 e 5, wn g 1 f 3, bp d 7 d 6, wp d 2 d 4, bb c 8 g 4, wp d 4 e 5, bb g 4 f 3, "
        "wq d 1 f 3, bp d 6 e 5, wb f 1 c 4, bn g 8 f 6, wq f 3 b 3, bq d 8 e 7, wn b 1 c 3, bp c 7 c 6, "
        "wb c 1 g 5, bp b 7 b 5, wn c 3 b 5, bp c 6 b 5, wb c 4 b 5, bn b 8 d 7, castle queenside, "
        "br a 8 d 8, wr d 1 d 7, br d 8 d 7, wr h 1 d 1, bq e 7 e 6, wb b 5 d 7, bn f 6 d 7, wq b 3 b 8, "
        "bn d 7 b 8, wr d 1 d 8"
    ),
    "hex": (
        "5 8, 9 2, 4 5, 7 3, 6 3, 6 4, 5 4, 7 2, 6 2, 4 6, 5 5, 5 6, 6 5, 6 6, 3 6, 3 7, 2 7, 2 8, 1 9, 1 8, "
        "7 5, 7 6, 8 5, 8 6, 1 4, 9 5"
    ),
    "connectFour": "4, 4, 4, 3, 3, 3, 4, 3, 4, 4, 3, 5, 2, 2, 3, 2, 2, 5, 1, 5, 5",
}
"""Moves without the word that all of a game begin with; in hex and connect four `mcts` played."""
WORD: Final = {"chess": "move", "hex": "place", "connectFour": "drop"}
SECONDS: Final = 0.9
"""How long each position is shown."""
REST: Final = 4
"""Positions for which the end of the longest match is shown."""
HEIGHT: Final = 250
GAP: Final = 26

_CELL: Final = re.compile(r'<g class="hb-cell"[^>]*data-cell="([^"]*)"[^>]*>')
_UNSEEN: Final = re.compile(r"<(title|desc)>.*?</\1>| data-[a-z]+=\"[^\"]*\"")


def matches() -> str:
    """Return the drawing; cells that change are drawn once for each content, shown and hidden by CSS."""
    drawn = {name: _positions(name) for name in MATCHES}
    frames = max(map(len, drawn.values())) + REST
    spans: dict[tuple[int, int], str] = {}
    parts, x = [], 10.0
    for name, positions in drawn.items():
        width, height, frame, cells = _parts(positions, frames)
        scale = HEIGHT / height
        body = [frame]
        for contents in cells:
            for first, last, content in contents:
                if (first, last) == (0, frames):
                    body.append(content)
                else:
                    shown = spans.setdefault((first, last), f"s{len(spans)}")
                    body.append(f'<g class="{shown}">{content}</g>')
        parts.append(
            f'<g transform="translate({x:.0f} 10) scale({scale:.3f})">{"".join(body)}</g>'
            f'<text class="title" x="{x + width * scale / 2:.0f}" y="{HEIGHT + 30}">{name}</text>'
        )
        x += width * scale + GAP
    style = [STYLE, _rules(spans, frames)]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="hb" viewBox="0 0 {x:.0f} {HEIGHT + 42}" role="img">'
        "<title>Matches of chess, hex and connect four, drawn from their rules</title>"
        f"<style>{''.join(style)}</style>{''.join(parts)}</svg>\n"
    )


def _positions(name: str) -> list[str]:
    """Return the drawings of a match, without what stands beside the board."""
    game = herbrand.load(name)
    state = game.initial_state("rules")
    drawings = [_board(game, state)]
    for text in MATCHES[name].split(", "):
        move = f"({text})" if text.startswith("castle") else f"({WORD[name]} {text})"
        mover = next(role for role, moves in state.legal_moves().items() if "noop" not in map(str, moves))
        state = state.next({role: move if role == mover else "noop" for role in game.roles})
        drawings.append(_board(game, state))
    assert state.is_terminal
    return drawings


def _board(game: herbrand.Game, state: herbrand.State) -> str:
    board = frozenset(fact for fact in state.facts if fact.startswith("(cell "))
    return game.artist.draw(board, control=False, style=False).svg


def _parts(positions: list[str], frames: int) -> tuple[float, float, str, list[list[tuple[int, int, str]]]]:
    """Return the size of a board, what never changes, and the contents of each cell: from, to, drawing."""
    size = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', positions[0])
    assert size is not None
    split = [_split(svg) for svg in positions]
    cells = []
    for key in split[0][1]:
        contents: list[tuple[int, int, str]] = []
        for number, (_, drawn) in enumerate(split):
            if contents and contents[-1][2] == drawn[key]:
                contents[-1] = (contents[-1][0], number + 1, drawn[key])
            else:
                contents.append((number, number + 1, drawn[key]))
        contents[-1] = (contents[-1][0], frames, contents[-1][2])
        cells.append(contents)
    return float(size[1]), float(size[2]), split[0][0], cells


def _split(svg: str) -> tuple[str, dict[str, str]]:
    """Return what surrounds the cells of a drawing, and each cell within its own transformations."""
    body = svg[svg.index(">") + 1 : -len("</svg>")]
    cells: dict[str, str] = {}
    around: list[str] = []
    open_groups: list[str] = []
    at = 0
    for tag in re.finditer(r"<(/?)g\b[^>]*>", body):
        if tag.start() < at:
            continue
        cell = _CELL.match(body, tag.start())
        if cell is not None:
            end = _end(body, tag.start())
            around.append(body[at : tag.start()])
            inner = _UNSEEN.sub("", body[tag.start() : end])
            cells[cell[1]] = "".join(open_groups) + inner + "</g>" * len(open_groups)
            at = end
        elif tag[1]:
            open_groups.pop()
        else:
            open_groups.append(_UNSEEN.sub("", tag[0]))
    around.append(body[at:])
    return _UNSEEN.sub("", "".join(around)), cells


def _end(text: str, start: int) -> int:
    """Return the end of the group that begins at an offset."""
    depth = 0
    for tag in re.finditer(r"<(/?)g\b[^>]*>", text[start:]):
        depth += -1 if tag[1] else 1
        if not depth:
            return start + tag.end()
    raise ValueError("a group is not closed")


def _rules(spans: dict[tuple[int, int], str], frames: int) -> str:
    """Return the style sheet: who wants no motion sees the ends of the matches."""
    rules = []
    for (first, last), name in spans.items():
        begin, end = 100 * first / frames, 100 * last / frames
        stops = [f"0%{{opacity:{int(not first)}}}"]
        if first:
            stops.append(f"{begin:.3g}%{{opacity:1}}")
        if last < frames:
            stops.append(f"{end:.3g}%{{opacity:0}}")
        rules.append(
            f".{name}{{opacity:{int(last == frames)};"
            f"animation:{name} {frames * SECONDS:g}s step-end infinite}}"
            f"@keyframes {name}{{{''.join(stops)}}}"
        )
    return "".join(rules) + "@media (prefers-reduced-motion:reduce){.hb g{animation:none!important}}"
