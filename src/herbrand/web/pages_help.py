"""The help page."""

from __future__ import annotations

from herbrand.web.markup import Markup, tag
from herbrand.web.pages import frame

__all__ = ["help_page"]


def help_page(*, token: str) -> Markup:
    """Explain how to play and edit, and list the keys."""
    keys = (
        ("Tab, arrow keys", "move from cell to cell"),
        ("Enter, Space", "click the cell"),
        ("Esc", "undo a click"),
        ("Ctrl+S in the editor", "download the rules"),
        ("Alt+N in the editor", "go to the next diagnostic"),
    )
    return frame(
        "Help",
        tag("h1", "How it works"),
        tag(
            "p",
            "A game is defined by its rules, written in the Game Description Language. Herbrand derives the "
            "board and the clicks for each move from the facts of the rules.",
            class_="lead",
        ),
        tag("h2", "Play"),
        tag(
            "p",
            "Choose a game and a player for each role. When it is your move, clickable cells are marked: "
            "click the piece, then its target. If a click could mean several moves, you choose one of them. "
            "All moves are also listed beside the board. In games with hidden information, only facts that "
            "you can be sure of are drawn.",
        ),
        tag("h2", "Write"),
        tag(
            "p",
            "The editor checks the rules while you type. Diagnostics name the problem, its place and a "
            "solution; many have a button that applies the fix. The panel beside the text shows the game, "
            "explanations why facts hold, and the relations.",
        ),
        tag("h2", "Keys"),
        tag(
            "table",
            tag("tbody", *[tag("tr", tag("th", tag("kbd", k), scope="row"), tag("td", v)) for k, v in keys]),
        ),
        tag("h2", "Privacy and safety"),
        tag(
            "p",
            "Everything runs on this computer, and pages load nothing from other sites. Rules are evaluated "
            "in subprocesses with limits on time and memory.",
        ),
        here="help",
        token=token,
    )
