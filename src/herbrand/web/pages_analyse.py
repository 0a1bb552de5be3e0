"""The analysis page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from herbrand.web.charts import bars
from herbrand.web.markup import Child, Markup, raw, tag
from herbrand.web.pages import frame, hidden_token

if TYPE_CHECKING:
    from collections.abc import Mapping

    from herbrand.web.library import LibraryEntry

__all__ = ["analyse_page"]

_TITLES: Final = {
    "termination": "Every match ends",
    "playability": "Every role always has a legal move",
    "weak_winnability": "Every role can win with cooperation",
    "strong_winnability": "Some role can force a win",
    "goals": "Every terminal state has goal values",
    "monotonicity": "Goal values never fall",
    "well_formed": "Well-formed",
}


def analyse_page(entry: LibraryEntry, results: Mapping[str, Any] | None, *, token: str) -> Markup:
    """Show the results of `Inspector.analyse`, or a button that starts the analysis."""
    body: list[Child]
    if results is None:
        body = [
            tag(
                "p",
                "Herbrand tries to prove properties of the game and measures statistics of random games. "
                "This takes up to a minute.",
                class_="lead",
            )
        ]
    else:
        verdicts, statistics = _verdicts(results["verdicts"]), _statistics(results["statistics"])
        body = [verdicts, statistics, _automaton(results["automaton"])]
        body += [tag("p", note, class_="muted") for note in results["notes"]]
    return frame(
        f"{entry.title}: analysis",
        tag("h1", tag("a", entry.title, href=f"/game/{entry.key}"), ": analysis"),
        *body,
        tag(
            "form",
            hidden_token(token),
            tag("button", "Analyse again" if results else "Look into the game", class_="button primary"),
            action=f"/analyse/{entry.key}",
            method="post",
            data_busy="Analysing…",
        ),
        tag(
            "p",
            tag("a", "Explore the game tree", href=f"/explore/{entry.key}"),
            ": all positions and moves, with their values if the game is small enough.",
        ),
        token=token,
    )


def _verdicts(verdicts: Mapping[str, Any] | None) -> Child:
    if verdicts is None:
        return None
    rows = []
    for name, verdict in verdicts["properties"].items():
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
    counts = verdicts.get("counts") or {}
    values = verdicts.get("value") or {}
    numbers = [
        tag("li", f"{name.replace('_', ' ')}: {_spaced(value)}")
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


def _statistics(statistics: Mapping[str, Any] | None) -> Child:
    if statistics is None:
        return None
    length = statistics["length"]
    charts = [
        tag(
            "figure",
            tag(
                "figcaption",
                f"Steps of a match: {length['min']:g} to {length['max']:g}, average {length['mean']:.1f}",
            ),
            bars({int(key): value for key, value in statistics["lengths"].items()}, "steps"),
        )
    ]
    for role, goal in statistics["goals"].items():
        mean = "–" if goal["mean"] is None else f"{goal['mean']:.1f}"
        charts.append(
            tag(
                "figure",
                tag("figcaption", f"{role}'s average score: {mean}"),
                bars({int(key): value for key, value in goal["distribution"].items()}, "points"),
            )
        )
    return tag(
        "section",
        tag("h2", f"{_spaced(statistics['playouts'])} random matches"),
        tag("div", *charts, class_="charts"),
    )


def _automaton(svg: str | None) -> Child:
    if svg is None:
        return None
    return tag(
        "section",
        tag("h2", "State space"),
        tag("p", "Circles are states, arrows joint moves, double circles terminal states.", class_="muted"),
        tag("div", raw(svg), class_="scroll automaton"),
    )
