"""`Artist`: draws the states of one game alike, and knows what to click for a move.

>>> import herbrand
>>> game = herbrand.load("ticTacToe")
>>> artist = Artist.of(game)
>>> drawing = artist.draw(game.initial_state("rules"))
>>> drawing.svg.count("data-cell=")
9
>>> print(artist.text(game.initial_state("rules").next(("(mark 1 2)", "noop"))))
  1 2 3
1 . x .
2 . . .
3 . . .
<BLANKLINE>
control  oplayer
>>> artist.clicks(game.initial_state("rules").legal_moves("xplayer"))[0]
('0.0:1:1',)
"""

from __future__ import annotations

from functools import cached_property, partial
from typing import TYPE_CHECKING

from herbrand.draw.boards.layout import find_layout
from herbrand.draw.boards.rules import columns_first, static_relations
from herbrand.draw.boards.vocabulary import vocabulary
from herbrand.draw.hints import hints_for

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from herbrand.draw.boards.layout import Layout
    from herbrand.draw.clicks import Clicker, Clicks
    from herbrand.draw.looks import Look
    from herbrand.draw.svg import Drawing
    from herbrand.machine.moves import Move
    from herbrand.machine.state import State
    from herbrand.machine.state_machine import StateMachine

__all__ = ["Artist", "caption"]


class Artist:
    """Draws the states of one game."""

    def __init__(self, game: StateMachine, layout: Layout, moves: Iterable[str] = ()) -> None:
        """`moves` are those that may be legal, as far as known; they tell which arguments name cells."""
        self.game = game
        self.layout = layout
        self._moves = moves

    @classmethod
    def of(cls, game: StateMachine) -> Artist:
        """Recognise the boards of a game, which takes up to some seconds.

        Raises `GameError` for a game that cannot be played, `HerbrandError` for wrong hints.
        """
        known = vocabulary(game)
        layout = find_layout(
            known,
            columns_first=columns_first(game.tree.statements),
            relations=partial(static_relations, game),
            hints=hints_for(game),
        )
        return cls(game, layout, known.moves)

    def text(self, state: State | Iterable[str]) -> str:
        """Return a state, or the facts of one, as text: boards where there are any, else a table of facts."""
        from herbrand.draw.text import as_text, table

        facts = _facts(state)
        return as_text(facts, self.layout) or table(facts) or "(no facts)"

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
        from herbrand.draw.svg import draw

        return draw(
            _facts(state),
            self.layout,
            name=self.game.name if name is None else name,
            lines=lines,
            last=self.clicks(last),
            known=self._looks,
            extras=extras,
            control=control,
            stacked=stacked,
            style=style,
        )

    def clicks(self, moves: Iterable[Move | str]) -> list[Clicks]:
        """Return for each move the cells to click, in order; none for a move that refers to no cell."""
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

    @cached_property
    def _looks(self) -> Mapping[str, Look]:
        from herbrand.draw.looks import content_looks

        return content_looks(self.layout)

    @cached_property
    def _clicker(self) -> Clicker:
        from herbrand.draw.boards.rules import links
        from herbrand.draw.clicks import Clicker

        return Clicker(self.layout, self._moves, links(self.game.tree.statements))


def _facts(state: State | Iterable[str]) -> Iterable[str]:
    return state.facts if hasattr(state, "facts") else state


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
