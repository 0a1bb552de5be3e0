"""The gallery of a search: a page with its games, the rulesheets, and all data as JSON.

DIR/index.html         the page, which is self-contained
DIR/games/NAME.kif     the rulesheets (NAME.ggd in GGDL), for `herbrand web DIR/games` and other commands
DIR/games.json         designs, measures, proofs and lineages
"""

from __future__ import annotations

import itertools
import json
from random import Random
from typing import TYPE_CHECKING, Any, Final

from herbrand.errors import HerbrandError
from herbrand.evolve.search.judging import AXES
from herbrand.machine.trajectory import Trajectory
from herbrand.runtime.files import write_atomically
from herbrand.runtime.rendering import render

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from herbrand.evolve.search.candidate import Candidate
    from herbrand.evolve.search.loop import SearchProgress
    from herbrand.game import Game

__all__ = ["SUFFIXES", "picture", "write_gallery"]

SUFFIXES: Final = {"prefix": "kif", "ggdl": "ggd"}
"""File suffixes by notation."""
MAX_PICTURES: Final = 60
"""Number of games, the best ones, that have a picture."""


def write_gallery(
    folder: Path, progress: SearchProgress, everything: Sequence[Candidate], notation: str = "prefix"
) -> Path:
    """Write the gallery of a search into a folder and return its page.

    `everything` are all candidates of the search, for the lineages; `notation` is that of the rulesheets, one
    of `SUFFIXES`.  Rulesheets of games that are no longer in the archive are removed.
    """
    suffix = SUFFIXES[notation]
    elites = progress.archive.elites()
    sheets = folder / "games"
    sheets.mkdir(parents=True, exist_ok=True)
    current = {f"{candidate.name}.{suffix}" for candidate in elites}
    for path in [path for other in SUFFIXES.values() for path in sheets.glob(f"*.{other}")]:
        if path.name not in current:
            path.unlink()
    by_name = {candidate.name: candidate for candidate in everything if candidate.design is not None}
    cards: list[dict[str, Any]] = []
    for place, candidate in enumerate(elites):
        assert candidate.design is not None
        design = candidate.design
        text = design.ggdl() if notation == "ggdl" else design.rulesheet()
        write_atomically(sheets / f"{candidate.name}.{suffix}", text)
        svg = picture(design.game()) if place < MAX_PICTURES else ""
        line = [candidate, *_ancestors(candidate, by_name)]
        cards.append(
            {
                "candidate": candidate,
                "rules": design.paragraphs(),
                "svg": svg,
                "lineage": [str(one.lineage) for one in line],
            }
        )
    content = [card["candidate"].as_json() | {"rules": card["rules"]} for card in cards]
    write_atomically(folder / "games.json", json.dumps(content, indent=1))
    bounds = (0, *AXES["search_length"])
    lengths = [*(f"{low:g}-{high:g}" for low, high in itertools.pairwise(bounds)), f"{bounds[-1]:g}-"]
    html = render("evolve/gallery.html", progress=progress, lengths=lengths, cards=cards, suffix=suffix)
    page = folder / "index.html"
    write_atomically(page, f"{html}\n")
    return page


def picture(game: Game, seed: int = 1) -> str:
    """Return an SVG of a state in the middle of a random game; empty on failure."""
    try:
        play = Trajectory.replay(game, ())
        play.finish(Random(seed))
        return game.artist.draw(play.states[len(play.states) // 2], stacked=True).svg
    except HerbrandError:
        return ""


def _ancestors(candidate: Candidate, by_name: Mapping[str, Candidate]) -> list[Candidate]:
    """Return the line of first parents, the nearest first."""
    ancestors: list[Candidate] = []
    while candidate.lineage.parents and len(ancestors) < 50:
        parent = by_name.get(candidate.lineage.parents[0])
        if parent is None or parent in ancestors:
            break
        ancestors.append(parent)
        candidate = parent
    return ancestors
