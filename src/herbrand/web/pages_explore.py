"""The page to explore the game tree."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from herbrand.web.markup import Child, Markup, raw, tag
from herbrand.web.pages import frame

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from herbrand.web.library import LibraryEntry

__all__ = ["explore_page"]


def explore_page(
    entry: LibraryEntry, path: Sequence[int], position: Mapping[str, Any], *, token: str
) -> Markup:
    """Show a position, the moves to it and its branches; `position` is a result of `Inspector.explore`."""

    def address(steps: Sequence[int]) -> str:
        return f"/explore/{entry.key}" + (f"?path={'.'.join(map(str, steps))}" if steps else "")

    way = [
        tag("li", tag("a", text, href=address(path[: number + 1])) if number + 1 < len(path) else text)
        for number, text in enumerate(position["line"])
    ]
    start = tag("li", tag("a", "initial state", href=address(())) if path else "initial state")
    return frame(
        f"{entry.title}: game tree",
        tag(
            "div",
            tag(
                "section",
                tag(
                    "div",
                    tag("h1", tag("a", entry.title, href=f"/game/{entry.key}"), ": game tree"),
                    tag("p", position["said"], class_="turn"),
                    class_="headline",
                ),
                tag("div", raw(str(position["svg"])), class_="board"),
                class_="stage",
            ),
            tag(
                "aside",
                tag("nav", tag("ol", start, *way, class_="way"), aria_label="Moves to this position"),
                _value(position),
                _branches(
                    position, [address((*path, number)) for number in range(len(position["branches"]))]
                ),
                class_="side",
            ),
            class_="match",
        ),
        wide=True,
        token=token,
    )


def _value(position: Mapping[str, Any]) -> Markup:
    """Return the value of the position as text."""
    value = position["value"]
    if value is None:
        return tag(
            "p",
            "Unknown value: the game from here on may be too large to be solved in the available time.",
            class_="muted",
        )
    worth = ", ".join(f"{role} {value[role]:g}" for role in position["roles"] if role in value)
    return tag("p", "With best play from here: ", tag("strong", worth))


def _branches(position: Mapping[str, Any], addresses: Sequence[str]) -> Child:
    if not position["branches"]:
        return None
    roles = [
        role for role in position["roles"] if any(role in (b["values"] or ()) for b in position["branches"])
    ]
    rows = [
        tag(
            "tr",
            tag("th", tag("a", branch["text"], href=address), scope="row"),
            *[tag("td", _number(branch["values"], role), class_="number") for role in roles],
        )
        for branch, address in zip(position["branches"], addresses, strict=True)
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
        tag("p", f"and {position['more']} more", class_="muted") if position["more"] else None,
    )


def _number(values: Mapping[str, float] | None, role: str) -> str:
    return "" if values is None or role not in values else f"{values[role]:g}"
