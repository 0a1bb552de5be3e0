"""The page that says how to use the application."""

from __future__ import annotations

from herbrand.web.markup import Markup, tag
from herbrand.web.pages import frame

__all__ = ["help_page"]


def help_page(*, token: str) -> Markup:
    """Say how to play, to write, and what the keys do."""
    keys = (
        ("Tab, arrow keys", "go from cell to cell"),
        ("Enter, Space", "click the cell"),
        ("Esc", "take a click back"),
        ("Ctrl+S in the editor", "download the rules"),
        ("Alt+N in the editor", "go to the next finding"),
    )
    return frame(
        "Help",
        tag("h1", "How it works"),
        tag(
            "p",
            "A game is nothing but its rules here, written in the Game Description Language. The board "
            "is found among the "
            "facts of the rules, and what to click for a move follows from them too.",
            class_="lead",
        ),
        tag("h2", "Play"),
        tag(
            "p",
            "Choose a game and who plays which role. Cells that can be clicked have a mark when it is "
            "your move: click the "
            "piece, then where it goes. Where a click can mean several moves you are asked which one. "
            "Every move is in the "
            "list beside the board too. Where the rules hide something from you, only what you can be "
            "sure of is drawn.",
        ),
        tag("h2", "Write"),
        tag(
            "p",
            "The editor checks while you type. Findings say what is wrong, where, and what to write "
            "instead; many have a "
            "button that mends them. The panel beside the text shows the game, why something holds, "
            "and the relations.",
        ),
        tag("h2", "Keys"),
        tag(
            "table",
            tag("tbody", *[tag("tr", tag("th", tag("kbd", k), scope="row"), tag("td", v)) for k, v in keys]),
        ),
        tag("h2", "What stays here"),
        tag(
            "p",
            "Everything runs on this computer, and nothing is loaded from elsewhere. Rules run in "
            "processes of their own "
            "with limits on time and memory.",
        ),
        here="help",
        token=token,
    )
