"""The pages of recorded matches and tournaments."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from herbrand.web.markup import Child, Markup, raw, tag
from herbrand.web.pages import frame
from herbrand.web.pages_play import embedded, replay_controls

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from herbrand.match.tournament.results import Meeting, Results

__all__ = ["record_page", "records_page", "tournament_page"]

_LIVE: Final = "running"
MAX_LEGS: Final = 200


def records_page(
    tournaments: Sequence[tuple[str, int, int]],
    rows: Sequence[Mapping[str, Any]],
    *,
    has_records: bool,
    token: str,
) -> Markup:
    """List recorded matches, the latest first; tournaments are (name, matches played, all matches)."""
    if not has_records:
        body: list[Child] = [
            tag(
                "p",
                "Watch programs play each other, and replay their matches. Record the matches in a file "
                "and start the server with it:",
                class_="lead",
            ),
            tag(
                "pre",
                "herbrand tournament connectFour --player mcts --player random --record matches.db\n"
                "herbrand web --record matches.db",
                class_="details",
            ),
        ]
    else:
        body = [_tournaments(tournaments), _matches(rows)]
    return frame(
        "Records",
        tag("h1", "Records"),
        tag("div", *body, id="live", data_live="yes" if has_records else None),
        here="records",
        token=token,
    )


def _tournaments(tournaments: Sequence[tuple[str, int, int]]) -> Child:
    if not tournaments:
        return None
    items = [
        tag(
            "li",
            tag("a", name, href=f"/tournament?name={quote(name)}"),
            tag("span", f" {played} of {matches} matches played", class_="muted"),
        )
        for name, played, matches in tournaments
    ]
    return tag("section", tag("h2", "Tournaments"), tag("ul", *items))


def _matches(rows: Sequence[Mapping[str, Any]]) -> Child:
    if not rows:
        return tag("p", "No match has been recorded yet.", class_="muted", role="status")
    lines = []
    for row in rows:
        seats = [seat for seat in row["seats"] if seat["player"] is not None]
        who = ", ".join(
            seat["player"] + (f" {seat['goal']}" if seat["goal"] is not None else "") for seat in seats
        )
        lines.append(
            tag(
                "tr",
                tag("th", _link(row["id"]), scope="row"),
                tag("td", row["game"]),
                tag("td", who),
                tag("td", row["steps"], class_="number"),
                tag("td", row["problems"] or "", class_="number"),
                tag("td", _status(row["status"], row["reason"])),
                tag("td", _when(row["started"]), class_="muted"),
            )
        )
    names = ("Match", "Game", "Players and goals", "#Steps", "#Bad answers", "", "Started")
    return _table("Matches", names, lines)


def _link(match: str, label: str | None = None) -> Markup:
    return tag("a", label or match, href=f"/record?match={quote(match)}")


def _status(status: str, reason: str) -> Child:
    if status == _LIVE:
        return tag("span", "running", class_="badge live")
    return None if status == "completed" else f"{status}: {reason}"


def _when(seconds: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(seconds))


# -- one match --------------------------------------------------------------------------------


def record_page(match: Mapping[str, Any], position: Mapping[str, Any], *, token: str) -> Markup:
    """Show a recorded match: positions with a slider, and its steps."""
    steps, step = len(match["steps"]), int(position["step"])
    return frame(
        f"{match['id']}: {match['game']}",
        tag(
            "div",
            tag(
                "section",
                tag(
                    "div",
                    tag("h1", match["game"]),
                    tag("p", position["said"], id="turn", class_="turn", role="status"),
                    class_="headline",
                ),
                tag("p", "", id="problem", class_="problem-line", role="alert", hidden=True),
                tag(
                    "div",
                    raw(str(position["svg"])),
                    id="board",
                    class_="board",
                    role="region",
                    aria_label="Board",
                ),
                replay_controls(step, steps),
                tag("p", *_steps_by_links(str(match["id"]), step, steps), class_="noscript row"),
                class_="stage",
            ),
            tag(
                "aside",
                tag("p", *_about(match), class_="muted small"),
                tag("ul", *[_role(role) for role in match["roles"]], class_="roles", id="roles"),
                tag(
                    "figure",
                    tag("figcaption", "Expected goals"),
                    tag("div", "…", id="curve", class_="muted"),
                    tag("p", "", id="curve-said", class_="muted small"),
                    class_="script curve",
                ),
                tag(
                    "section",
                    tag("h2", "This step"),
                    tag("div", _step(match, step), id="notes", role="status"),
                    tag("div", id="judged", class_="script", role="status"),
                ),
                tag(
                    "section",
                    tag("h2", "All steps"),
                    tag(
                        "ol",
                        *[tag("li", _line(one)) for one in match["steps"]],
                        id="history",
                        class_="history",
                    ),
                    id="history-box",
                ),
                class_="side",
            ),
            class_="match",
            id="record",
        ),
        embedded("told", match),
        embedded("shown", {key: value for key, value in position.items() if key != "svg"}),
        here="records",
        wide=True,
        token=token,
    )


def _about(match: Mapping[str, Any]) -> list[Child]:
    start, play = match["clocks"]
    status = "running" if match["status"] == _LIVE else f"{match['status']}, {match['reason']}".rstrip(", ")
    return [
        f"{match['id']}, started {_when(match['started'])}, start clock {start} s, play clock {play} s: ",
        tag("span", status, id="status"),
    ]


def _role(role: Mapping[str, Any]) -> Markup:
    goal = role["goal"]
    return tag(
        "li",
        tag("strong", role["name"]),
        tag("span", role["player"] or "chance", class_="muted"),
        tag("span", "" if goal is None else goal, class_="goal"),
    )


def _steps_by_links(match: str, step: int, steps: int) -> list[Child]:
    address = f"/record?match={quote(match)}&step="
    back = tag("a", "Previous step", href=f"{address}{step - 1}", class_="button") if step else None
    on = tag("a", "Next step", href=f"{address}{step + 1}", class_="button") if step < steps else None
    return [back, on]


def _step(match: Mapping[str, Any], step: int) -> Markup:
    """Return the moves of a step as a table; the script builds the same for other steps."""
    if not step:
        return tag("p", "Initial state.", class_="muted")
    rows = []
    for move in match["steps"][step - 1]["moves"]:
        seconds = "" if move["seconds"] is None else f"{move['seconds']:.2f} s"
        remarks = [f"saw {' '.join(move['seen'])}" if move["seen"] else "", move["problem"] or ""]
        rows.append(
            tag(
                "tr",
                tag("th", move["role"], scope="row"),
                tag("td", move["move"]),
                tag("td", seconds, class_="number"),
                tag("td", "; ".join(filter(None, remarks))),
            )
        )
    opening = tag("p", "A prescribed move of the opening.", class_="muted")
    return tag(
        "div",
        opening if match["steps"][step - 1]["opening"] else None,
        tag("div", tag("table", tag("tbody", *rows), class_="listed"), class_="scroll"),
    )


def _line(step: Mapping[str, Any]) -> str:
    moves = [move for move in step["moves"] if move["move"] != "noop"] or step["moves"]
    return ", ".join(
        f"{move['role']} {move['move'].strip('()')}" + (" !" if move["problem"] else "") for move in moves
    )


# -- tournaments ------------------------------------------------------------------------------


def tournament_page(results: Results, meetings: Sequence[Meeting], *, token: str) -> Markup:
    """Show standings, head-to-head scores and matches; the page updates itself during the tournament."""
    over = results.played == results.matches
    return frame(
        results.name,
        tag(
            "div",
            tag("h1", results.name),
            tag(
                "p",
                f"{results.kind.replace('-', ' ')}, {_count(results.rounds, 'round')}, "
                f"{_count(len(results.games), 'game')}: ",
                tag("strong", f"{results.played} of {results.matches} matches played", role="status"),
                None if over else tag("span", "live", class_="badge live"),
                class_="lead",
            ),
            tag("progress", value=results.played, max=max(results.matches, 1), aria_label="Matches played"),
            _standings(results),
            tag("p", f"The ladder: {', '.join(results.ladder)}") if results.ladder else None,
            _head_to_head(results),
            _legs(meetings),
            id="live",
            data_live="yes",
        ),
        tag("p", tag("a", "All records", href="/records")),
        here="records",
        token=token,
    )


def _count(number: int, word: str) -> str:
    return f"{number} {word}{'' if number == 1 else 's'}"


def _standings(results: Results) -> Markup:
    names = (
        *("#", "Player", "#Elo", "#±", "#Won", "#Drawn", "#Lost"),
        *("#Points", "#Mean goal", "#Bad answers"),
    )
    rows = [
        tag(
            "tr",
            tag("td", place, class_="number"),
            tag("th", row["player"], scope="row"),
            *[
                tag("td", text, class_="number")
                for text in (
                    f"{row['elo']:.0f}",
                    f"{row['margin']:.0f}",
                    row["wins"],
                    row["draws"],
                    row["losses"],
                    f"{row['score']:g}",
                    f"{row['goals']:.1f}",
                    row["problems"] or "",
                )
            ],
        )
        for place, row in enumerate(results.table, start=1)
    ]
    return _table("Standings", names, rows)


def _head_to_head(results: Results) -> Markup:
    names = [row["player"] for row in results.table]
    rows = []
    for one in names:
        row = results.head_to_head.get(one, {})
        cells = [f"{row[two]['score']:g} of {row[two]['games']:g}" if two in row else "" for two in names]
        rows.append(tag("tr", tag("th", one, scope="row"), *[tag("td", c, class_="number") for c in cells]))
    return _table("Head to head", ("", *(f"#{name}" for name in names)), rows)


def _legs(meetings: Sequence[Meeting]) -> Markup:
    rows = []
    for meeting in reversed(meetings):
        for leg in meeting.legs:
            if leg.goals is not None:
                goals = zip(leg.seats, leg.goals, strict=True)
                ending = ", ".join(f"{name} {'–' if goal is None else goal}" for name, goal in goals)
            else:
                ending = f"{', '.join(leg.seats)}: {leg.reason}" if leg.reason else ", ".join(leg.seats)
            recorded = leg.steps > 0 or leg.goals is not None
            rows.append(
                tag(
                    "tr",
                    tag("th", _link(leg.match) if recorded else leg.match, scope="row"),
                    tag("td", meeting.encounter.game),
                    tag("td", ending),
                    tag("td", leg.steps or "", class_="number"),
                )
            )
    return _table("Matches", ("Match", "Game", "Players and goals", "#Steps"), rows[:MAX_LEGS])


def _table(title: str, names: Sequence[str], rows: Sequence[Markup]) -> Markup:
    """Return a section with a table; names of numeric columns begin with `#`."""
    heads = [
        tag("th", name.removeprefix("#"), scope="col", class_="number" if name[:1] == "#" else None)
        for name in names
    ]
    table = tag("table", tag("thead", tag("tr", *heads)), tag("tbody", *rows), class_="listed")
    return tag("section", tag("h2", title), tag("div", table, class_="scroll"))
