"""Galleries: folders of pages to play, and the page that leads to them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from random import Random
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from herbrand import __version__
from herbrand.errors import HerbrandError
from herbrand.machine.trajectory import Trajectory
from herbrand.publish.module import template
from herbrand.publish.page import PROVING, game_page, texts_of
from herbrand.runtime.files import write_atomically

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from herbrand.game import Game

__all__ = ["GalleryEntry", "gallery_entry", "gallery_page", "sample_picture", "write_gallery"]

SAMPLE_STEPS: Final = 200
"""Steps after which the random game for a picture is left."""


@dataclass(frozen=True, slots=True)
class GalleryEntry:
    """A page in a gallery."""

    file: str
    """The name of the page's file."""
    title: str
    description: str
    svg: str
    """A picture of a state in the middle of a game; empty where there is none."""


def write_gallery(
    folder: Path, games: Iterable[Game], title: str = "Games", *, proving: float = PROVING
) -> tuple[list[GalleryEntry], list[tuple[str, HerbrandError]]]:
    """Write a page for each game into a folder, and `index.html`, which leads to them.

    `proving` are the seconds for the proofs on each page.  Returns the pages written, and the names
    of games that have none, with the reasons.
    """
    folder.mkdir(parents=True, exist_ok=True)
    entries: list[GalleryEntry] = []
    failures: list[tuple[str, HerbrandError]] = []
    used_names = {"index"}
    for game in games:
        try:
            page = game_page(game, proving=proving)
            name = _free(game.name, used_names)
            entries.append(gallery_entry(game, quote(f"{name}.html")))
        except HerbrandError as error:
            failures.append((game.name, error))
            continue
        write_atomically(folder / f"{name}.html", page)
    write_atomically(folder / "index.html", gallery_page(entries, title))
    return entries, failures


def _free(name: str, taken: set[str]) -> str:
    """Return a file name that no other page has, on file systems that ignore case, too."""
    plain = "".join(letter if letter.isalnum() or letter in "-_." else "_" for letter in name)
    free, number = plain, 1
    while free.lower() in taken:
        number += 1
        free = f"{plain}-{number}"
    taken.add(free.lower())
    return free


def gallery_entry(game: Game, file: str) -> GalleryEntry:
    """Describe the page of a game for a gallery."""
    title, description, _ = texts_of(game)
    return GalleryEntry(file, title, description, sample_picture(game, style=False))


def sample_picture(game: Game, *, style: bool = True) -> str:
    """Return a state in the middle of a random game as SVG; empty where none can be drawn.

    Without `style` the page must bring the style sheet.
    """
    try:
        play = Trajectory.replay(game, ())
        play.finish(Random(1), max_steps=SAMPLE_STEPS)
        middle = play.states[len(play.states) // 2]
        extras = style or not game.artist.has_boards
        return game.artist.draw(middle, stacked=True, control=False, extras=extras, style=style).svg
    except HerbrandError:
        return ""


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
                replace(entry, svg=Markup(entry.svg))  # drawn by us, names escaped
                for entry in entries
            ],
        )
    )
