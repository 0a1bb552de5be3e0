"""The gallery of a search: a page with its games, the rulesheets, and all data as JSON.

DIR/index.html         the page, which is self-contained
DIR/games/NAME.kif     the rulesheets (NAME.ggd in GGDL), for `herbrand web DIR/games` and other commands
DIR/games.json         designs, measures, proofs and lineages
"""

from __future__ import annotations

import itertools
import json
from html import escape
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any, Final

from herbrand.errors import HerbrandError
from herbrand.evolve.search.judging import AXES
from herbrand.machine.trajectory import Trajectory

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from herbrand.evolve.search.candidate import Candidate
    from herbrand.evolve.search.loop import SearchProgress
    from herbrand.game import Game

__all__ = ["SUFFIXES", "picture", "write_gallery"]

SHOWN: Final = {
    "search_length": ("steps", "mean length of games between players that search"),
    "branching": ("moves to choose from", "mean number of legal moves of a player that has several"),
    "search_balance": ("balance", "1: both sides win as often, between players that search"),
    "search_draws": ("draws", "share of draws between players that search"),
    "search_first_mover": ("first mover", "mean score of who moves first"),
    "skill": ("skill", "how much more a searching player gets than a random one"),
    "depth": ("depth", "rungs of the ladder of players worth climbing, two at most"),
    "drama": ("drama", "how far behind winners have been"),
    "lead_change": ("lead changes", "share of steps after which another player is in the lead"),
    "uncertainty": ("uncertainty", "how open games are, on the average"),
    "rule_novelty": ("novelty of rules", "distance to the most similar bundled game"),
    "play_novelty": ("novelty of play", "distance of random games to those of bundled games"),
}
"""Titles and descriptions of the measures on the page."""
SUFFIXES: Final = {"prefix": "kif", "ggdl": "ggd"}
"""File suffixes by notation."""
_WEB: Final = "http://127.0.0.1:8888/game/"
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
    cards = []
    for place, candidate in enumerate(elites):
        assert candidate.design is not None
        design = candidate.design
        text = design.ggdl() if notation == "ggdl" else design.rulesheet()
        (sheets / f"{candidate.name}.{suffix}").write_text(text, encoding="utf-8")
        svg = picture(design.game()) if place < MAX_PICTURES else ""
        cards.append(_card(candidate, suffix, svg, _ancestors(candidate, by_name)))
    content = [candidate.as_json() | {"rules": _paragraphs(candidate)} for candidate in elites]
    (folder / "games.json").write_text(json.dumps(content, indent=1), encoding="utf-8")
    body = "\n".join([_summary(progress), _map(elites), *cards])
    page = folder / "index.html"
    template = Path(__file__).with_name("gallery.html").read_text(encoding="utf-8")
    page.write_text(template.replace("BODY", body), encoding="utf-8")
    return page


def picture(game: Game, seed: int = 1) -> str:
    """Return an SVG of a state in the middle of a random game; empty on failure."""
    try:
        play = Trajectory.replay(game, ())
        play.finish(Random(seed))
        return game.artist.draw(play.states[len(play.states) // 2], stacked=True).svg
    except HerbrandError:
        return ""


def _paragraphs(candidate: Candidate) -> list[str]:
    return [] if candidate.design is None else candidate.design.paragraphs()


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


def _summary(progress: SearchProgress) -> str:
    spent = sum(progress.spent.values())
    stages = ", ".join(f"{name} {seconds / spent:.0%}" for name, seconds in progress.spent.most_common())
    rows = [
        ("candidates", f"{progress.candidates}, of which {progress.measured} passed the filters"),
        ("games in the archive", f"{len(progress.archive)}"),
        ("processor time", f"{spent:.0f} s: {stages}" if spent else "none"),
        ("discarded", ", ".join(f"{reason} ({n})" for reason, n in progress.reasons.most_common(8))),
    ]
    table = "".join(f"<tr><th>{escape(name)}</th><td>{escape(value)}</td></tr>" for name, value in rows)
    play = "herbrand web games"
    return f"""<h1>Evolved games</h1>
<p>Each game was composed of blocks or varied from other games, played thousands of times, and kept
because it was the best of its kind, length and branching. To play them, run <code>{play}</code>
in this folder, which needs <code>pip install 'herbrand[web]'</code>.</p>
<table>{table}</table>"""


def _map(elites: Iterable[Candidate]) -> str:
    """Return the archive as a table of kinds by lengths, with a link for each range of branching."""
    cells: dict[tuple[str, str], list[Candidate]] = {}
    for candidate in elites:
        cells.setdefault((candidate.cell[0], candidate.cell[1]), []).append(candidate)
    bounds = (0, *AXES["search_length"])
    lengths = [f"{low:g}-{high:g}" for low, high in itertools.pairwise(bounds)]
    lengths.append(f"{bounds[-1]:g}-")
    rows = []
    for kind in sorted({kind for kind, _ in cells}):
        row = "".join(f"<td>{_links(cells.get((kind, length), []))}</td>" for length in lengths)
        rows.append(f"<tr><th>{escape(kind)}</th>{row}</tr>")
    head = "".join(f"<th>{length.replace('-', '–')}</th>" for length in lengths)
    return f"""<h2>The archive</h2>
<p class="note">Kinds of games by how many steps they take; the darker, the better.</p>
<div class="wide"><table class="map"><tr><th></th>{head}</tr>{"".join(rows)}</table></div>"""


def _links(candidates: Sequence[Candidate]) -> str:
    return " ".join(
        f'<a href="#{escape(c.name)}" style="background: rgb(51 102 170 / {0.1 + 0.6 * c.quality:.2f})" '
        f'title="quality {c.quality:.2f}, {escape(c.cell[2])} moves to choose from">{escape(c.name)}</a>'
        for c in sorted(candidates, key=lambda c: c.cell)
    )


def _card(candidate: Candidate, suffix: str, svg: str, ancestors: Sequence[Candidate]) -> str:
    name = escape(candidate.name)
    description = "".join(f"<p>{escape(paragraph)}</p>" for paragraph in _paragraphs(candidate))
    measures = candidate.measures
    rows = "".join(
        f'<tr title="{escape(meaning)}"><th>{escape(title)}</th><td>{_number(measures[key])}</td></tr>'
        for key, (title, meaning) in SHOWN.items()
        if key in measures
    )
    proofs = "; ".join(f"{key.replace('_', ' ')} {value}" for key, value in candidate.proofs.items())
    line = [str(candidate.lineage), *(str(ancestor.lineage) for ancestor in ancestors)]
    lineage = "".join(f"<li>{escape(step)}</li>" for step in line)
    return f"""<section id="{name}"><h2>{name} <small>{candidate.quality:.2f}</small></h2>
<div class="game"><div class="picture">{svg}</div><div>{description}
<p class="note">Proofs: {escape(proofs)}. Candidate {candidate.number} of the search.</p>
<p><a href="games/{name}.{suffix}">rulesheet</a> · <a href="{_WEB}{name}">play in the browser</a> while
<code>herbrand web games</code> runs · <code>herbrand play games/{name}.{suffix}</code></p>
<details><summary>Lineage</summary><ol>{lineage}</ol></details></div>
<table>{rows}</table></div></section>"""


def _number(value: Any) -> str:
    return f"{value:.2f}" if value < 10 else f"{value:.0f}"
