"""The page that says what can be known about a game."""

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
    "playability": "Everybody always has a move",
    "weak_winnability": "Everybody can win, if all help",
    "strong_winnability": "Somebody can force a win",
    "goals": "Every end says what each gets",
    "monotonicity": "Goal values never fall",
    "well_formed": "Well-formed",
}


def analyse_page(entry: LibraryEntry, told: Mapping[str, Any] | None, *, token: str) -> Markup:
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
        tag(
            "p",
            tag("a", "Walk through the game tree", href=f"/explore/{entry.key}"),
            ": every position with its moves, and what each is worth where the game is small enough.",
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


def _automaton(svg: str | None) -> Child:
    if svg is None:
        return None
    return tag(
        "section",
        tag("h2", "All its states"),
        tag("p", "Each circle is a state, each arrow a joint move; two circles are an end.", class_="muted"),
        tag("div", raw(svg), class_="scroll automaton"),
    )
