"""`Artist`: draws the states of one game alike, and knows what to click for a move.

>>> import herbrand
>>> game = herbrand.load("ticTacToe")
>>> artist = Artist.of(game)
>>> drawing = artist.draw(game.initial_state("rules"))
>>> drawing.svg.count("data-cell=")
9
>>> artist.clicks(game.initial_state("rules").legal_moves("xplayer"))[0]
('0.0:1:1',)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from herbrand.draw.clicks import Clicker
from herbrand.draw.hints import hints_for
from herbrand.draw.layout import find_layout, neighbours
from herbrand.draw.links import links, stateless
from herbrand.draw.svg import content_looks, draw
from herbrand.draw.text import columns_first
from herbrand.draw.vocabulary import vocabulary
from herbrand.errors import HerbrandError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from herbrand.draw.clicks import Clicks
    from herbrand.draw.layout import Layout, Neighbours
    from herbrand.draw.svg import Drawing
    from herbrand.draw.vocabulary import Vocabulary
    from herbrand.machine.moves import Move
    from herbrand.machine.state import State
    from herbrand.machine.state_machine import StateMachine

__all__ = ["Artist", "caption"]

_MOST_PAIRS = 20_000


class Artist:
    """Draws the states of one game."""

    def __init__(self, game: StateMachine, known: Vocabulary, layout: Layout) -> None:
        self.game = game
        self.layout = layout
        self._looks = content_looks(layout)
        self._clicker = Clicker(layout, known.moves, links(game.tree.statements))

    @classmethod
    def of(cls, game: StateMachine) -> Artist:
        """Study a game, which takes up to some seconds.

        Raises `GameError` for a game that cannot be played, `HerbrandError` for wrong hints.
        """
        known = vocabulary(game)
        layout = find_layout(
            known,
            columns_first=columns_first(game.tree.statements),
            hexes=_hexes(game),
            pairs=lambda: _relations(game, 2),
            hints=hints_for(game),
        )
        return cls(game, known, layout)

    def draw(
        self,
        state: State | Iterable[str],
        *,
        last: Iterable[Move | str] = (),
        lines: Sequence[str] = (),
        extras: bool = True,
        control: bool = True,
        stacked: bool = False,
        style: bool = True,
        name: str | None = None,
    ) -> Drawing:
        """Draw a state, or the facts of one.

        The cells of the moves `last` are marked.  The other choices are those of `svg.draw`.
        """
        facts: Iterable[str] = state.facts if hasattr(state, "facts") else state
        return draw(
            facts,
            self.layout,
            name=self.game.name if name is None else name,
            lines=lines,
            last=[self._clicker.clicks(str(move)) for move in last],
            known=self._looks,
            extras=extras,
            control=control,
            stacked=stacked,
            style=style,
        )

    def clicks(self, moves: Iterable[Move | str]) -> list[Clicks]:
        """Return for each move the places to click, in order; none for a move that refers to no place."""
        return [self._clicker.clicks(str(move)) for move in moves]

    @property
    def has_boards(self) -> bool:
        """Whether anything is drawn but tables and cards."""
        return bool(self.layout.boards or self.layout.towers or self.layout.rows)

    @property
    def colours(self) -> Mapping[str, str]:
        """The colour of each role, by the names of the style sheet."""
        from herbrand.draw.looks import role_colours

        return role_colours(self.game.roles)


def caption(state: State) -> list[str]:
    """Say in a line or two whose turn it is, or how the game ended."""
    if state.is_terminal:
        goals = ", ".join(f"{role} {'-' if value is None else value}" for role, value in state.goals.items())
        return [f"the game is over: {goals}"]
    legal = state.legal_moves()
    choosing = [role for role, moves in legal.items() if len(moves) > 1] or list(legal)
    if len(choosing) == len(legal) > 1:
        return ["all move at once"]
    return [f"{' and '.join(choosing)} to move"]


def _hexes(game: StateMachine) -> Neighbours | None:
    """Find out whether cells have six neighbours, by relations that say what lies beside what."""
    found = {neighbours(rows) for rows in _relations(game, 4)} - {None}
    return found.pop() if len(found) == 1 else None


def _relations(game: StateMachine, arity: int) -> list[list[tuple[str, ...]]]:
    """Return what holds in every state, by relation, for those with so many arguments."""
    from herbrand.rules.from_rules import RulesEngine

    found = []
    try:
        engine = game.engine_object("rules")
        assert isinstance(engine, RulesEngine)
        for name, _ in stateless(game.tree.statements, arity):
            rows = engine.static_extension(name, arity)
            if 0 < len(rows) <= _MOST_PAIRS:
                found.append([tuple(map(engine.terms.text, row)) for row in rows])
    except HerbrandError:
        return []
    return found
