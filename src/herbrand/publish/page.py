"""A game as one page of HTML that plays anywhere."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from herbrand import __version__, games
from herbrand.draw.looks import words
from herbrand.errors import HerbrandError
from herbrand.publish.module import library, template
from herbrand.publish.picture import picture_of
from herbrand.publish.tables import packed
from herbrand.runtime.numbers import spaced
from herbrand.syntax.preface import preface

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from herbrand.game import Game
    from herbrand.publish.solution import PublishedSolution

__all__ = ["PROVING", "game_page", "texts_of"]

PROVING: Final = 5.0
"""Seconds for the proofs of the statements on the page."""
_COMMENTS: Final = re.compile(r"^ *(?://.*|/\*\*[^*]*(?:\*(?!/)[^*]*)*\*/)\n", re.MULTILINE)
"""Lines that have only comments."""
SHORT: Final = 3
"""Paragraphs of help that are shown at once."""
LONG: Final = 160
"""Characters of a description, which ends with a sentence."""


def game_page(
    game: Game,
    *,
    proving: float = PROVING,
    proofs: Sequence[str] = (),
    solution: PublishedSolution | None = None,
) -> str:
    """Return a page of HTML with the rules, the board to click, and players of several levels.

    It loads nothing from the network, and can be opened as a file.  It states the properties of the game
    proved within `proving` seconds, 0 for none, and the sentences `proofs`.  With a `solution` there is
    another player, `perfect`, and the page shows the values of moves.  Raises `GameError` for a game that
    cannot be played, and `BudgetExceeded` for one without a network within the game's limits.
    """
    from herbrand.runtime.rendering import Markup, render

    game.require_playable()
    title, description, help_ = texts_of(game)
    picture = picture_of(game)
    return str(
        render(
            "publish/page.html",
            version=__version__,
            title=title,
            description=description,
            style=Markup(template("page.css")),  # our own
            help=help_,
            is_short=len(help_) <= SHORT,
            rules=game.tree.source.text.strip(),
            proofs=[*proofs, *(_proofs(game, proving) if proving > 0 else ()), *_literature(game)],
            has_board=picture["svg"] is not None or bool(picture["towers"]),
            packed=packed(game, picture),
            solution=solution,
            solved=[] if solution is None else _solved(game, solution),
            library=Markup(_in_page(library("javascript", solved=solution is not None))),  # our own
            program=Markup(_in_page(template("page.js"))),  # our own
        )
    )


def texts_of(game: Game) -> tuple[str, str, list[str]]:
    """Return the title of a game, a sentence about it, and its instructions.

    Bundled games are described in files of their own, others by the comment at their beginning.
    """
    info = _bundled(game)
    plain = " ".join(words(game.name)) or game.name
    title = str(info.get("title", plain[:1].upper() + plain[1:]))
    heading = re.compile(r"How it is played: *(\w)")  # the page has it already
    comment = preface(game.tree.source.text)
    paragraphs = [heading.sub(lambda begun: begun[1].upper(), part, count=1) for part in comment]
    description = str(info.get("description", paragraphs[0] if paragraphs else ""))
    sentence = _first_sentences(description)
    return title, sentence, [part for part in paragraphs if part != sentence]


def _bundled(game: Game) -> dict[str, Any]:
    """Return the catalogue entry of a bundled game; empty for any other, even of the same name."""
    is_bundled = game.name in games.names() and games.text(game.name) == game.tree.source.text
    return games.info(game.name) if is_bundled else {}


def _literature(game: Game) -> Iterator[str]:
    """Yield results about a game from the literature."""
    for fact in _bundled(game).get("known", ()):
        statement = str(fact["fact"])
        yield f"{statement[:1].upper()}{statement[1:]}: {fact['value']}. Source: {fact['source']}."


def _solved(game: Game, solution: PublishedSolution) -> list[str]:
    """Describe a solution of a game."""
    bounds = {role: solution.bounds[role] for role in game.players}
    exact = [f"{role} {low}" for role, (low, high) in bounds.items() if low == high]
    lines = [f"With best play: {', '.join(exact)}."] if exact else []
    for one in solution.claims:
        role, goal = one.claim.role, one.claim.goal
        statement = (
            f"{role} can force at least {goal}" if one.claim.holds else f"{role} can be kept below {goal}"
        )
        lines.append(f"{statement}: proved by a strategy, replayed against every reply.")
    if solution.is_complete:
        lines.append(f"The values of all {spaced(solution.states)} positions before the end are known.")
    else:
        lines.append(
            f"The strategies have moves for {spaced(solution.states)} positions; in others perfect searches."
        )
    return lines


def _first_sentences(text: str) -> str:
    """Return the beginning of a text: as many whole sentences as are short, but at least one."""
    ends = [end.start() for end in re.finditer(r"(?<=[.!?])(?=\s|\Z)", text)]
    return text[: max((end for end in ends if end <= LONG), default=ends[0] if ends else len(text))]


def _proofs(game: Game, seconds: float) -> list[str]:
    """Describe the properties of a game: proved, refuted or unknown."""
    from herbrand.analyse import Budget, missing_solver
    from herbrand.repair import SENTENCES, properties_of

    try:
        verdicts = properties_of(game, Budget(seconds))
    except HerbrandError as error:
        return [f"Nothing is proved: {error}."]
    unknown = f"not proved in {seconds:g} seconds"
    if missing := missing_solver():
        unknown += f" without a solver, which comes with {missing}"
    lines = []
    for name, verdict in verdicts.items():
        wrong, right = SENTENCES[name]
        statement = wrong if verdict.answer == "refuted" else right
        lines.append(f"{statement[:1].upper()}{statement[1:]}: {'proved' if verdict.is_known else unknown}.")
    return lines


def _in_page(source: str) -> str:
    """Return a program for a script of a page, which is no module, without comments and indentation."""
    return re.sub("^(?:export | +)", "", _COMMENTS.sub("", source), flags=re.MULTILINE)
