"""A tournament report: a self-contained HTML page with tables and SVG plots; the plot of ratings alone."""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from herbrand.match.tournament.results import Results

__all__ = ["page", "plot"]

_WIDTH = 720
_ABOUT_RATINGS = """<p class=note>Elo by the model of Bradley and Terry, with a mean of 1500; the bars are
95 % confidence intervals. As a prior, each player has drawn one game with an average player.</p>"""
_COLOURS = ("#3366aa", "#cc5533", "#338855", "#8855aa", "#aa8822", "#228899", "#aa3366", "#667722")


def page(results: Results) -> str:
    """Return the page."""
    name = escape(results.name)
    kind = {"round-robin": "Round robin", "swiss": "Swiss system", "ladder": "Ladder"}[results.kind]
    rounds = f"{results.rounds} round{'s' if results.rounds != 1 else ''}"
    players, games = f"{len(results.players)} players", f"{len(results.games)} games"
    parts = [
        f"<h1>{name}</h1>",
        f"<p>{kind}, {rounds}, {players}, {games}, {results.played} of {results.matches} matches played.</p>",
        "<h2>Standings</h2>",
        f"<div class=ranked>{_standings(results)}</div>",
        f"<p>The ladder: {escape(', '.join(results.ladder))}</p>" if results.ladder else "",
        "<h2>Ratings</h2>",
        _ratings(results),
        _ABOUT_RATINGS,
        "<h2>Head to head</h2>",
        _head_to_head(results),
        "<p class=note>Points of the row's player out of the matches against the column's player.</p>",
        "<h2>By game</h2>",
        _by_game(results),
        "<h2>Progress</h2>",
        _progress(results),
    ]
    if results.unsettled:
        rows = [[entry["match"], entry["game"], entry["reason"]] for entry in results.unsettled]
        parts += ["<h2>Matches without a result</h2>", _table(["match", "game", "reason"], rows)]
    return (
        _text("report.html")
        .replace("DRAWN", _text("plot.css"))
        .replace("TITLE", name)
        .replace("BODY", "\n".join(parts))
    )


def plot(results: Results) -> str:
    """Return the plot of the ratings with their intervals as an SVG file."""
    head = '<svg xmlns="http://www.w3.org/2000/svg"'
    style = f"<style>\nsvg {{ background: white; color: #222 }}\n{_text('plot.css')}</style>\n"
    opening, sign, rest = _ratings(results).removeprefix("<svg").partition(">\n")
    return f"{head}{opening}{sign}{style}{rest}\n"


def _standings(results: Results) -> str:
    header, rows = results.standings()
    return _table(["", *header], [[str(place), *row] for place, row in enumerate(rows, start=1)])


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    head = "".join(f"<th>{escape(cell)}</th>" for cell in header)
    body = "\n".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows)
    return f"<div class=wide><table><thead><tr>{head}</tr></thead>\n<tbody>{body}</tbody></table></div>"


def _ratings(results: Results) -> str:
    """Draw each rating with its interval."""
    rows = results.table
    low = min(row["elo"] - row["margin"] for row in rows)
    high = max(row["elo"] + row["margin"] for row in rows)
    ticks = _ticks(low, high)
    low, high = min(low, ticks[0]), max(high, ticks[-1])
    left, top, line = 150, 10, 28
    scale = (_WIDTH - left - 30) / max(1.0, high - low)

    def across(elo: float) -> float:
        return float(left + (elo - low) * scale)

    bottom = top + line * len(rows)
    parts = []
    for tick in ticks:
        x = across(tick)
        parts.append(f'<line class="grid" x1="{x:.1f}" y1="{top}" x2="{x:.1f}" y2="{bottom}"/>')
        parts.append(f'<text x="{x:.1f}" y="{bottom + 18}" text-anchor="middle">{tick:.0f}</text>')
    for at, row in enumerate(rows):
        y = top + line * (at + 0.5)
        one, two = across(row["elo"] - row["margin"]), across(row["elo"] + row["margin"])
        parts.append(
            f'<text x="{left - 12}" y="{y + 5:.1f}" text-anchor="end">{_short(row["player"])}</text>'
        )
        parts.append(f'<line class="bar" x1="{one:.1f}" y1="{y}" x2="{two:.1f}" y2="{y}"/>')
        parts.append(f'<circle cx="{across(row["elo"]):.1f}" cy="{y}" r="6" fill="{_COLOURS[0]}"/>')
    return _svg(parts, bottom + 28, "Ratings with confidence intervals")


def _head_to_head(results: Results) -> str:
    names = [row["player"] for row in results.table]
    head = "".join(f"<th>{escape(name)}</th>" for name in names)
    lines = []
    for one in names:
        cells = []
        for two in names:
            record = results.head_to_head.get(one, {}).get(two)
            if one == two or not record:
                cells.append("<td class=none></td>")
                continue
            share = record["score"] / record["games"]
            strong = round(100 * abs(share - 0.5))
            colour = (
                f"color-mix(in srgb, {_COLOURS[0] if share > 0.5 else _COLOURS[1]} {strong}%, transparent)"
            )
            cells.append(f'<td style="background: {colour}">{record["score"]:g} / {record["games"]:g}</td>')
        lines.append(f"<tr><th>{escape(one)}</th>{''.join(cells)}</tr>")
    body = "\n".join(lines)
    return (
        f"<div class=wide><table><thead><tr><th></th>{head}</tr></thead>\n<tbody>{body}</tbody></table></div>"
    )


def _by_game(results: Results) -> str:
    names = [row["player"] for row in results.table]
    rows = []
    for game, scores in results.by_game.items():
        cells = [game]
        for name in names:
            record = scores.get(name)
            cells.append(f"{record['score']:g} / {record['games']:g}" if record and record["games"] else "–")
        rows.append(cells)
    return _table(["game", *names], rows)


def _progress(results: Results) -> str:
    """Draw the points of each player over the encounters."""
    if not results.progress:
        return "<p>No encounters have been played yet.</p>"
    names = [row["player"] for row in results.table]
    left, top, height = 50, 10, 240
    most = max(1.0, *(points for step in results.progress for points in step.values()))
    across = (_WIDTH - left - 150) / len(results.progress)
    bottom = top + height
    parts = []
    for tick in _ticks(0, most):
        y = bottom - height * tick / most
        if y >= top - 1:
            parts.append(f'<line class="grid" x1="{left}" y1="{y:.1f}" x2="{_WIDTH - 140}" y2="{y:.1f}"/>')
            parts.append(f'<text x="{left - 8}" y="{y + 5:.1f}" text-anchor="end">{tick:g}</text>')
    ends: list[float] = []
    for at, name in enumerate(names):
        colour = _COLOURS[at % len(_COLOURS)]
        values = [0.0, *(step[name] for step in results.progress)]
        points = " ".join(
            f"{left + across * x:.1f},{bottom - height * y / most:.1f}" for x, y in enumerate(values)
        )
        parts.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>')
        y = bottom - height * values[-1] / most
        y = max(y, ends[-1] + 16) if ends else y  # labels do not cover each other
        ends.append(y)
        parts.append(f'<text x="{_WIDTH - 132}" y="{y + 5:.1f}" fill="{colour}">{_short(name)}</text>')
    parts.append(f'<text x="{left}" y="{bottom + 20}">encounters: {len(results.progress)}</text>')
    return _svg(parts, max(bottom + 30, int(max(ends)) + 20), "Points over the encounters")


def _ticks(low: float, high: float) -> list[float]:
    """Return round numbers from about `low` to about `high`."""
    size = 1.0
    while (high - low) / size > 8:
        size *= 2.5 if str(size)[0] == "2" else 2
    first = int(low // size)
    return [size * number for number in range(first, int(high // size) + 2)]


def _short(name: str) -> str:
    return escape(name if len(name) <= 18 else f"{name[:17]}…")


def _svg(parts: Sequence[str], height: int, title: str) -> str:
    inside = "\n".join(parts)
    return f'<svg viewBox="0 0 {_WIDTH} {height}" role="img" aria-label="{title}">\n{inside}\n</svg>'


def _text(name: str) -> str:
    return Path(__file__).with_name(name).read_text(encoding="utf-8")
