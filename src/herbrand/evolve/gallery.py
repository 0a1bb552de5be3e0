"""The gallery of a search: a page with its games, the rulesheets, and all data as JSON.

DIR/index.html         the page, which is self-contained
DIR/games/NAME.kif     the rulesheets (NAME.ggd in GGDL), for `herbrand web DIR/games` and other commands
DIR/play/NAME.html     the games as pages to play
DIR/games.json         designs, measures, proofs and lineages
"""

from __future__ import annotations

import itertools
import json
from typing import TYPE_CHECKING, Any, Final

from herbrand.errors import HerbrandError
from herbrand.evolve.search.judging import AXES
from herbrand.publish import game_page, sample_picture
from herbrand.runtime.files import write_atomically
from herbrand.runtime.rendering import render

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from herbrand.evolve.search.candidate import Candidate
    from herbrand.evolve.search.loop import SearchProgress

__all__ = ["SUFFIXES", "write_gallery"]

SUFFIXES: Final = {"prefix": "kif", "ggdl": "ggd"}
"""File suffixes by notation."""
MAX_PICTURES: Final = 60
"""Number of games, the best ones, that have a picture and a page."""


def write_gallery(
    folder: Path, progress: SearchProgress, everything: Sequence[Candidate], notation: str = "prefix"
) -> Path:
    """Write the gallery of a search into a folder and return its page.

    `everything` are all candidates of the search, for the lineages; `notation` is that of the rulesheets, one
    of `SUFFIXES`.  Rulesheets and pages of games that are no longer in the archive are removed.
    """
    suffix = SUFFIXES[notation]
    elites = progress.archive.elites()
    sheets = folder / "games"
    sheets.mkdir(parents=True, exist_ok=True)
    current = {f"{candidate.name}.{suffix}" for candidate in elites}
    pages = folder / "play"
    pages.mkdir(exist_ok=True)
    current |= {f"{candidate.name}.html" for candidate in elites[:MAX_PICTURES]}
    written = [path for other in SUFFIXES.values() for path in sheets.glob(f"*.{other}")]
    for path in [*written, *pages.glob("*.html")]:
        if path.name not in current:
            path.unlink()
    by_name = {candidate.name: candidate for candidate in everything if candidate.design is not None}
    cards: list[dict[str, Any]] = []
    for place, candidate in enumerate(elites):
        assert candidate.design is not None
        design = candidate.design
        text = design.ggdl() if notation == "ggdl" else design.rulesheet()
        write_atomically(sheets / f"{candidate.name}.{suffix}", text)
        svg, has_page = _show(candidate, pages) if place < MAX_PICTURES else ("", False)
        lineage = [str(one.lineage) for one in (candidate, *_ancestors(candidate, by_name))]
        card = {"candidate": candidate, "rules": design.paragraphs(), "lineage": lineage}
        cards.append(card | {"svg": svg, "has_page": has_page})
    content = [card["candidate"].as_json() | {"rules": card["rules"]} for card in cards]
    write_atomically(folder / "games.json", json.dumps(content, indent=1))
    bounds = (0, *AXES["search_length"])
    lengths = [*(f"{low:g}-{high:g}" for low, high in itertools.pairwise(bounds)), f"{bounds[-1]:g}-"]
    html = render("evolve/gallery.html", progress=progress, lengths=lengths, cards=cards, suffix=suffix)
    page = folder / "index.html"
    write_atomically(page, f"{html}\n")
    return page


def _show(candidate: Candidate, pages: Path) -> tuple[str, bool]:
    """Return a picture of a game, and whether a page to play it could be written."""
    assert candidate.design is not None
    game = candidate.design.game()
    proofs = [f"{key.replace('_', ' ').capitalize()}: {value}." for key, value in candidate.proofs.items()]
    try:
        write_atomically(pages / f"{candidate.name}.html", game_page(game, proving=0, proofs=proofs))
    except HerbrandError:
        return sample_picture(game), False
    return sample_picture(game), True


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
