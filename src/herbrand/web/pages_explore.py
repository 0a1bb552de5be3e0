"""The page on which one walks through the game tree."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from herbrand.web.markup import Child, Markup, raw, tag
from herbrand.web.pages import frame

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from herbrand.web.library import LibraryEntry

__all__ = ["explore_page"]


def explore_page(entry: LibraryEntry, path: Sequence[int], told: Mapping[str, Any], *, token: str) -> Markup:
    """Show a position, the way to it, and its branches; `told` is what `Desk.explore` returns."""

    def address(steps: Sequence[int]) -> str:
        return f"/explore/{entry.key}" + (f"?path={'.'.join(map(str, steps))}" if steps else "")

    way = [
        tag("li", tag("a", text, href=address(path[: number + 1])) if number + 1 < len(path) else text)
        for number, text in enumerate(told["line"])
    ]
    start = tag("li", tag("a", "the beginning", href=address(())) if path else "the beginning")
    return frame(
        f"{entry.title}: game tree",
        tag(
            "div",
            tag(
                "section",
                tag(
                    "div",
                    tag("h1", tag("a", entry.title, href=f"/game/{entry.key}"), ": game tree"),
                    tag("p", told["said"], class_="turn"),
                    class_="headline",
                ),
                tag("div", raw(str(told["svg"])), class_="board"),
                class_="stage",
            ),
            tag(
                "aside",
                tag("nav", tag("ol", start, *way, class_="way"), aria_label="The way here"),
                _value(told),
                _branches(told, [address((*path, number)) for number in range(len(told["branches"]))]),
                class_="side",
            ),
            class_="match",
        ),
        wide=True,
        token=token,
    )


def _value(told: Mapping[str, Any]) -> Markup:
    """Say what the position is worth."""
    value = told["value"]
    if value is None:
        return tag(
            "p",
            "What it is worth was not found out in the time there was: the rest of the game may be too "
            "large to be solved here.",
            class_="muted",
        )
    worth = ", ".join(f"{role} {value[role]:g}" for role in told["roles"] if role in value)
    return tag("p", "With best play from here: ", tag("strong", worth))


def _branches(told: Mapping[str, Any], addresses: Sequence[str]) -> Child:
    if not told["branches"]:
        return None
    roles = [role for role in told["roles"] if any(role in (b["values"] or ()) for b in told["branches"])]
    rows = [
        tag(
            "tr",
            tag("th", tag("a", branch["text"], href=address), scope="row"),
            *[tag("td", _number(branch["values"], role), class_="number") for role in roles],
        )
        for branch, address in zip(told["branches"], addresses, strict=True)
    ]
    head = tag(
        "tr", tag("th", "Move", scope="col"), *[tag("th", r, scope="col", class_="number") for r in roles]
    )
    return tag(
        "section",
        tag("h2", "Moves"),
        tag(
            "div",
            tag("table", tag("thead", head), tag("tbody", *rows), class_="listed"),
            class_="scroll branches",
        ),
        tag("p", f"and {told['more']} more", class_="muted") if told["more"] else None,
    )


def _number(values: Mapping[str, float] | None, role: str) -> str:
    return "" if values is None or role not in values else f"{values[role]:g}"
