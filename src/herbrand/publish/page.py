"""A game as one page of HTML that plays anywhere, and a gallery of such pages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from herbrand import __version__, games
from herbrand.draw.looks import words
from herbrand.errors import HerbrandError
from herbrand.publish.module import library, template
from herbrand.publish.picture import picture_of
from herbrand.publish.tables import packed
from herbrand.syntax.preface import preface

if TYPE_CHECKING:
    from collections.abc import Sequence

    from herbrand.game import Game

__all__ = ["GalleryEntry", "gallery_page", "game_page"]

PROVING: Final = 5.0
"""Seconds for what the page says of the game."""
SHORT: Final = 3
"""Paragraphs of help that are shown at once."""


@dataclass(frozen=True, slots=True)
class GalleryEntry:
    """A page in a gallery."""

    file: str
    """The name of the page's file."""
    title: str
    description: str
    svg: str
    """A picture of the initial state."""


def game_page(game: Game, *, proving: float = PROVING) -> str:
    """Return a page of HTML with the rules, the board to click, and players of several levels.

    It asks for nothing from anywhere, and can be opened as a file.  What it says of the game is proved within
    `proving` seconds, 0 for no such section.  Raises `GameError` for a game that cannot be played, and
    `BudgetExceeded` for one without a network within the game's limits.
    """
    from herbrand.runtime.rendering import Markup, render

    game.require_playable()
    title, description = _title(game)
    text = game.tree.source.text
    picture = picture_of(game)
    help_ = [part for part in preface(text) if part != description]
    program = template("page.js")
    return str(
        render(
            "publish/page.html",
            version=__version__,
            title=title,
            description=description,
            style=Markup(template("page.css")),  # our own
            help=help_,
            is_short=len(help_) <= SHORT,
            rules=text.strip(),
            proofs=_proofs(game, proving) if proving > 0 else [],
            has_board=picture["svg"] is not None,
            packed=packed(game, picture),
            library=Markup(_in_page(library("javascript"))),  # our own
            program=Markup(_in_page(program)),  # our own
        )
    )


def gallery_entry(game: Game, file: str) -> GalleryEntry:
    """Describe the page of a game for a gallery."""
    title, description = _title(game)
    svg = game.artist.draw(game.initial_state(), stacked=True, control=False, extras=False, style=False).svg
    return GalleryEntry(file, title, description, svg)


def gallery_page(entries: Sequence[GalleryEntry], title: str) -> str:
    """Return the page that leads to the pages of games."""
    from herbrand.draw.style import STYLE
    from herbrand.runtime.rendering import Markup, render

    return str(
        render(
            "publish/gallery.html",
            version=__version__,
            title=title,
            style=Markup(template("page.css")),  # our own
            drawing=Markup(STYLE),  # our own
            entries=[
                {
                    "file": entry.file,
                    "title": entry.title,
                    "description": entry.description,
                    "svg": Markup(entry.svg),  # drawn by us, names escaped
                }
                for entry in entries
            ],
        )
    )


def _title(game: Game) -> tuple[str, str]:
    """Return what to call a game, and a sentence about it: bundled ones are described apart."""
    text = game.tree.source.text
    info: dict[str, Any] = {}
    if game.name in games.names() and games.text(game.name) == text:
        info = games.info(game.name)
    said = preface(text)
    plain = " ".join(words(game.name)) or game.name
    return str(info.get("title", plain[:1].upper() + plain[1:])), str(
        info.get("description", said[0] if said else "")
    )


def _proofs(game: Game, seconds: float) -> list[str]:
    """Return what is proved of a game, and what is not known."""
    from herbrand.analyse import Budget
    from herbrand.repair import SENTENCES, properties_of

    try:
        verdicts = properties_of(game, Budget(seconds))
    except HerbrandError:
        return []
    lines = []
    for name, verdict in verdicts.items():
        wrong, right = SENTENCES[name]
        said = right if verdict.answer != "refuted" else wrong
        said = said[:1].upper() + said[1:]
        answer = f"not proved in {seconds:g} seconds" if verdict.answer == "unknown" else "proved"
        lines.append(f"{said}: {answer}.")
    return lines


def _in_page(source: str) -> str:
    """Return a program for a script of a page, which is no module: nothing is exported there."""
    return "\n".join(line.removeprefix("export ") for line in source.splitlines())
