"""The page that says what can be known about a game."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from herbrand.web.markup import Child, Markup, raw, tag
from herbrand.web.pages import frame, hidden_token

if TYPE_CHECKING:
    from collections.abc import Mapping

    from herbrand.web.library import Entry

__all__ = ["analyse_page"]

_TITLES: Final = {
    "termination": "Every match ends",
    "playability": "Everybody always has a move",
    "weak_winnability": "Everybody can win, if all help",
    "strong_winnability": "Somebody can force a win",
    "goals": "Every end says what each gets",
    "monotonicity": "Goal values never fall",
    "well_formed": "Well-formed",
}
MOST_BARS: Final = 40


def analyse_page(entry: Entry, told: Mapping[str, Any] | None, *, token: str) -> Markup:
    """Show what was found; before that, a button."""
    body: list[Child]
    if told is None:
        body = [
            tag(
                "p",
                "What can be proved about the game is proved, and the rest is measured in random "
                "games. This takes up to "
                "a minute.",
                class_="lead",
            )
        ]
    else:
        body = [_verdicts(told["verdicts"]), _statistics(told["statistics"]), _automaton(told["automaton"])]
        body += [tag("p", note, class_="muted") for note in told["notes"]]
    return frame(
        f"{entry.title}: analysis",
        tag("h1", tag("a", entry.title, href=f"/game/{entry.key}"), ": what is known"),
        *body,
        tag(
            "form",
            hidden_token(token),
            tag("button", "Look again" if told else "Look into the game", class_="button primary"),
            action=f"/analyse/{entry.key}",
            method="post",
            data_busy="Looking…",
        ),
        token=token,
    )


def _verdicts(told: Mapping[str, Any] | None) -> Child:
    if told is None:
        return None
    rows = []
    for name, verdict in told["properties"].items():
        word = str(verdict["verdict"])
        witness = verdict.get("witness") or []
        evidence = str(verdict.get("reason") or verdict.get("method") or "")
        rows.append(
            tag(
                "tr",
                tag("th", _TITLES.get(name, name.replace("_", " ")), scope="row"),
                tag("td", tag("span", word, class_=f"badge {word}")),
                tag("td", evidence, _witness(witness)),
            )
        )
    counts = told.get("counts") or {}
    values = told.get("value") or {}
    numbers = [
        tag("li", f"{_spaced(value)} {name.replace('_', ' ')}")
        for name, value in counts.items()
        if isinstance(value, int)
    ]
    best = [tag("li", f"{role} gets {value:g} with best play") for role, value in values.items()]
    return tag(
        "section",
        tag("h2", "Verdicts"),
        tag("div", tag("table", tag("tbody", *rows), class_="verdicts"), class_="scroll"),
        tag("ul", *numbers, *best, class_="numbers") if numbers or best else None,
    )


def _spaced(number: int) -> str:
    return f"{number:,}".replace(",", "\u202f")


def _witness(witness: Any) -> Child:
    if not isinstance(witness, list) or not witness:
        return None
    lines = [tag("li", " ".join(joint) if isinstance(joint, list) else str(joint)) for joint in witness[:60]]
    return tag(
        "details",
        tag("summary", f"a line of play, {len(witness)} steps"),
        tag("ol", *lines, class_="history"),
    )


def _statistics(told: Mapping[str, Any] | None) -> Child:
    if told is None:
        return None
    length = told["length"]
    charts = [
        tag(
            "figure",
            tag(
                "figcaption",
                f"Steps of a match: {length['min']:g} to {length['max']:g}, {length['mean']:.1f} on the "
                f"average",
            ),
            bars({int(key): value for key, value in told["lengths"].items()}, "steps"),
        )
    ]
    for role, goal in told["goals"].items():
        mean = goal["mean"]
        charts.append(
            tag(
                "figure",
                tag(
                    "figcaption", f"What {role} gets: {'–' if mean is None else f'{mean:.1f}'} on the average"
                ),
                bars({int(key): value for key, value in goal["distribution"].items()}, "points"),
            )
        )
    return tag(
        "section",
        tag("h2", f"{_spaced(told['playouts'])} random matches"),
        tag("div", *charts, class_="charts"),
    )


def bars(counts: Mapping[int, int], unit: str) -> Markup:
    """Draw how often each number occurred, as SVG with a text for those who cannot see it."""
    if not counts:
        return tag("p", "nothing", class_="muted")
    low, high = min(counts), max(counts)
    wide = (high - low) // MOST_BARS + 1 if len(counts) > MOST_BARS else 1
    grouped: dict[int, int] = {}
    for number, count in counts.items():
        start = low + (number - low) // wide * wide
        grouped[start] = grouped.get(start, 0) + count
    starts = (
        list(range(low, high + 1, wide))
        if high - low < MOST_BARS * wide and unit == "steps"
        else sorted(grouped)
    )
    top, total = max(grouped.values()), sum(counts.values())
    step = min(60.0, 420 / max(len(starts), 1))
    parts = []
    for i, start in enumerate(starts):
        count = grouped.get(start, 0)
        height = 110 * count / top
        label = f"{start}" if wide == 1 else f"{start} to {start + wide - 1}"
        parts.append(
            f"<g><title>{label} {unit}: {100 * count / total:.1f} %</title>"
            f'<rect class="column" x="{i * step + 1:.1f}" y="{118 - height:.1f}" '
            f'width="{max(step - 2, 1):.1f}" height="{height:.1f}" rx="1.5"/></g>'
        )
        if len(starts) <= 12 or i % (len(starts) // 8 + 1) == 0:
            parts.append(f'<text x="{i * step + step / 2:.1f}" y="134">{start}</text>')
    spoken = ", ".join(f"{start}: {100 * grouped[start] / total:.0f} %" for start in sorted(grouped)[:30])
    return raw(
        f'<svg class="chart" viewBox="0 0 {max(len(starts) * step, 60):.0f} 142" role="img" '
        f'aria-label="{unit}: {spoken}">{"".join(parts)}</svg>'
    )


def _automaton(svg: str | None) -> Child:
    if svg is None:
        return None
    return tag(
        "section",
        tag("h2", "All its states"),
        tag("p", "Each circle is a state, each arrow a joint move; two circles are an end.", class_="muted"),
        tag("div", raw(svg), class_="scroll automaton"),
    )
