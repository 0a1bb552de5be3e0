"""The page of a match, which works without a script; the script makes the board clickable."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from herbrand.web.markup import Child, Markup, raw, tag
from herbrand.web.pages import frame, hidden_token

if TYPE_CHECKING:
    from collections.abc import Mapping

    from herbrand.web.library import LibraryEntry

__all__ = ["embedded", "match_page", "replay_controls"]


def match_page(
    key: str, entry: LibraryEntry, view: Mapping[str, Any], *, token: str, problem: str = ""
) -> Markup:
    """Show the present state of a match."""
    return frame(
        entry.title,
        tag(
            "div",
            tag(
                "section",
                tag(
                    "div",
                    tag("h1", tag("a", entry.title, href=f"/game/{entry.key}")),
                    tag("p", _status(view), id="turn", class_="turn", role="status", aria_live="polite"),
                    class_="headline",
                ),
                tag("p", problem, id="problem", class_="problem-line", role="alert", hidden=not problem),
                tag("p", "", id="heard", class_="away", role="status"),
                tag(
                    "div",
                    raw(str(view["svg"])),
                    id="board",
                    class_="board",
                    role="region",
                    aria_label="Board",
                ),
                tag(
                    "p",
                    "Hidden information: only facts that you can be sure of are shown.",
                    class_="muted small",
                    id="veil",
                    hidden=not view["hidden"],
                ),
                replay_controls(view["step"], view["steps"]),
                class_="stage",
            ),
            tag(
                "aside",
                tag("ul", *[_role(role) for role in view["roles"]], class_="roles", id="roles"),
                tag(
                    "div",
                    class_="bar",
                    id="bar",
                    hidden=True,
                    role="img",
                    aria_labelledby="bar-said",
                ),
                tag("p", id="bar-said", class_="muted small", hidden=True),
                tag(
                    "div",
                    tag(
                        "form",
                        hidden_token(token),
                        tag("button", "Take back", class_="quiet"),
                        action=f"/match/{key}/undo",
                        method="post",
                    ),
                    tag(
                        "form",
                        hidden_token(token),
                        tag("button", "Hint", class_="quiet", id="hint"),
                        action=f"/match/{key}/hint",
                        method="post",
                        class_="script",
                    ),
                    tag(
                        "form",
                        hidden_token(token),
                        tag("button", "Continue", class_="quiet", id="advance"),
                        action=f"/match/{key}/advance",
                        method="post",
                        hidden=not view["auto"],
                        id="advance-form",
                    ),
                    tag(
                        "span",
                        "0:00",
                        id="timer",
                        class_="muted timer script",
                        title="Your thinking time",
                    ),
                    class_="row tools",
                ),
                tag("div", id="hint-text", class_="hint", role="status", hidden=True),
                tag("div", *map(_thought, view["thoughts"]), id="thoughts", hidden=not view["thoughts"]),
                tag(
                    "section",
                    tag("h2", "Moves", tag("span", str(view.get("count", "")), id="count", class_="muted")),
                    tag("label", "Filter the moves", for_="filter", class_="away script"),
                    tag(
                        "input",
                        type="search",
                        id="filter",
                        placeholder="Filter",
                        class_="script",
                        autocomplete="off",
                    ),
                    tag(
                        "form",
                        hidden_token(token),
                        tag("input", type="hidden", name="role", value=str(view.get("role", ""))),
                        tag("input", type="hidden", name="step", value=str(view["steps"])),
                        tag("div", *_moves(view), id="moves", class_="moves"),
                        action=f"/match/{key}/move",
                        method="post",
                        id="move-form",
                    ),
                    id="choose",
                    hidden=not view.get("moves"),
                ),
                tag(
                    "section",
                    tag("h2", _percepts_title(view), id="seen-title"),
                    tag("ol", *_seen(view), id="seen", class_="history"),
                    hidden=not view["seen"],
                    id="seen-box",
                ),
                tag(
                    "section",
                    tag("h2", "Moves so far"),
                    tag("ol", *_history(view), id="history", class_="history"),
                    hidden=not view["history"],
                    id="history-box",
                ),
                tag(
                    "p",
                    tag("a", "Record", href=f"/match/{key}/record.json", class_="small"),
                    tag("a", "Rules", href=f"/edit?game={entry.key}", class_="small"),
                    tag("a", "New match", href=f"/game/{entry.key}", class_="small"),
                    class_="row small",
                ),
                class_="side",
            ),
            class_="match",
            id="match",
            data_key=key,
        ),
        tag(
            "dialog",
            tag("p", "Which move?"),
            tag("div", id="choices", class_="moves"),
            tag("button", "Cancel", type="button", class_="quiet", id="cancel"),
            id="which",
        ),
        embedded("view", view),
        wide=True,
        token=token,
    )


def replay_controls(step: int, steps: int) -> Markup:
    """Return the slider of a match with its buttons."""
    first, back, on, last = (
        tag("button", sign, type="button", data_step=name, aria_label=label, title=label)
        for sign, name, label in (
            ("«", "first", "First position"),
            ("‹", "back", "Previous step"),
            ("›", "on", "Next step"),
            ("»", "last", "Last position"),
        )
    )
    slider = tag(
        "input", type="range", id="slider", min="0", max=steps, value=step, aria_label="Step of the match"
    )
    shown = tag("output", f"{step}/{steps}", id="step", for_="slider")
    return tag("div", first, back, slider, on, last, shown, class_="replay script", id="replay")


def embedded(name: str, value: Any) -> Markup:
    """Embed data in a page for the script, escaped so that it cannot end the element."""
    text = json.dumps(value).replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
    return tag("script", raw(text), type="application/json", id=name)


def _status(view: Mapping[str, Any]) -> str:
    """Return the status of the match in one line."""
    if view["over"] and view["step"] == view["steps"]:
        goals = ", ".join(
            f"{r['name']} {'–' if r['goal'] is None else r['goal']}"
            for r in view["roles"]
            if r["seat"] != "chance"
        )
        return f"The game is over: {goals}"
    if view["turns"]:
        return f"Your move, {view['turns'][0]}"
    choosing = [role["name"] for role in view["roles"] if role["choosing"]]
    return f"{' and '.join(choosing)} to move" if choosing else "…"


def _role(role: Mapping[str, Any]) -> Markup:
    goal = role["goal"]
    return tag(
        "li",
        tag("span", class_=f"dot c-{role['colour']}", aria_hidden="true"),
        tag("strong", role["name"]),
        tag("span", role["seat"], class_="muted"),
        tag("span", "to move" if role["choosing"] else "", class_="now"),
        tag("span", "" if goal is None else str(goal), class_="goal"),
        class_="active" if role["choosing"] else None,
    )


def _thought(report: Mapping[str, Any]) -> Markup:
    """Return a program's expectation when it chose its move; the script does the same for other steps."""
    best = report["moves"][0]
    value = "" if best["value"] is None else f", {best['value']:.0f} points expected"
    line = f" Then: {'; '.join(report['line'][1:])}." if report["line"][1:] else ""
    return tag("p", f"{report['role']} ({report['player']}): {best['text']}{value}.{line}", class_="hint")


def _moves(view: Mapping[str, Any]) -> list[Child]:
    return [
        tag("button", move["text"], name="move", value=move["move"], class_="move")
        for move in view.get("moves", ())
    ]


def _percepts_title(view: Mapping[str, Any]) -> str:
    return "Percepts of all roles" if view["over"] or not view["people"] else "Your percepts"


def _seen(view: Mapping[str, Any]) -> list[Child]:
    return [
        tag("li", f"{one['role']} {one['move'].strip('()')}: saw {' '.join(one['seen']) or 'nothing'}")
        for one in view["seen"]
    ]


def _history(view: Mapping[str, Any]) -> list[Child]:
    return [tag("li", line) for line in view["history"]]
