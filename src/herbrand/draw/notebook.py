"""A state as notebooks show it: text, picture, and the picture with the legal moves."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Final

from herbrand.draw.artist import caption
from herbrand.draw.text import table as facts_as_text
from herbrand.errors import HerbrandError
from herbrand.runtime.notebook import Markup, block, table

if TYPE_CHECKING:
    from collections.abc import Callable

    from herbrand.draw.artist import Artist
    from herbrand.machine.state import State

__all__ = ["notebook_view"]

MOST_MOVES: Final = 24
"""Maximum number of legal moves of a role that are listed."""


def notebook_view(state: State, artist: Callable[[], Artist]) -> dict[str, str]:
    """Return the state by MIME type: plain text always, SVG and HTML where `artist` draws it."""
    views = {"text/plain": facts_as_text(state.facts) or "(no facts)"}
    with suppress(HerbrandError):  # for wrong hints; the facts remain
        views["text/plain"] = artist().text(state)
        picture = artist().draw(state, lines=caption(state))
        views["image/svg+xml"] = picture.svg
        views["text/html"] = block(state.game.name, Markup(picture.svg), _moves(state))
    return views


def _moves(state: State) -> Markup | str:
    if state.is_terminal:
        return ""
    rows = []
    for role, moves in state.legal_moves().items():
        more = f", … {len(moves) - MOST_MOVES} more" if len(moves) > MOST_MOVES else ""
        rows.append((role, f"{', '.join(map(str, moves[:MOST_MOVES]))}{more}"))
    return table(rows, ("role", "legal moves"))
