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

from collections import Counter
from functools import cached_property, partial
from typing import TYPE_CHECKING

from herbrand.draw.boards.layout import find_layout
from herbrand.draw.boards.rules import columns_first, static_relations
from herbrand.draw.boards.sides import with_sides
from herbrand.draw.boards.vocabulary import vocabulary
from herbrand.draw.hints import hints_for
from herbrand.draw.terms import arguments
from herbrand.errors import HerbrandError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from herbrand.draw.boards.layout import Layout
    from herbrand.draw.clicks import Clicker, Clicks
    from herbrand.draw.looks import Look
    from herbrand.draw.svg import Drawing
    from herbrand.draw.text import Paint
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
        words = vocabulary(game)
        across, hints = columns_first(game.tree.statements), hints_for(game)
        relations = partial(static_relations, game)
        layout = find_layout(words, columns_first=across, relations=relations, hints=hints)
        return cls(game, with_sides(game, layout), words.moves)

    def text(
        self, state: State | Iterable[str], *, last: Iterable[Move | str] = (), paint: Paint | None = None
    ) -> str:
        """Return a state, or the facts of one, as text: boards where there are any, else a table of facts.

        The cells of the moves `last` stand in brackets; `paint` adds colours.
        """
        from herbrand.draw.text import as_text, table

        facts, clicks = _facts(state), self.clicks(last)
        return as_text(facts, self.layout, last=clicks, paint=paint) or table(facts) or "(no facts)"

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
        tables: bool = True,
        flipped: bool = False,
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
            looks=self._looks,
            extras=extras,
            control=control,
            stacked=stacked,
            style=style,
            tables=tables,
            flipped=flipped,
        )

    def undrawn(self, state: State | Iterable[str]) -> tuple[dict[str, dict[str, str]], dict[str, list[str]]]:
        """Return the facts that `draw` leaves out without `tables`, in two groups.

        The first has, by role, what is counted for it: `{"white": {"score": "3"}}`.  The second has all
        others, by their names: `{"quiet": ["0"]}`.

        >>> import herbrand
        >>> artist = Artist.of(game := herbrand.load("rockPaperScissors"))
        >>> artist.undrawn(game.initial_state("rules"))
        ({'left': {'rounds won': '0'}, 'right': {'rounds won': '0'}}, {'round': ['0']})
        """
        from herbrand.draw.looks import words
        from herbrand.draw.svg import undrawn

        roles = {role.lower(): role for role in self.game.roles}
        counts: dict[str, dict[str, str]] = {}
        others: dict[str, list[str]] = {}
        facts = undrawn(_facts(state), self.layout, self._looks)
        several = Counter(fact[:2] for fact in facts)
        for fact in facts:
            name, *values = fact
            label = " ".join(words(name)) or name
            role = roles.get(values[0].lower()) if len(values) == 2 else None
            if role is not None and values[1].isdecimal() and several[fact[:2]] == 1:
                counts.setdefault(role, {})[label] = values[1]
            else:
                others.setdefault(label, []).append(" ".join(values) or "yes")
        return counts, others

    def clicks(self, moves: Iterable[Move | str]) -> list[Clicks]:
        """Return for each move the cells to click, in order; none for a move that refers to no cell."""
        return [self._clicker.clicks(str(move)) for move in moves]

    def say(self, move: Move | str) -> str:
        """Return a move in words: places of several coordinates as one word, and pieces by their names.

        >>> import herbrand
        >>> Artist.of(herbrand.load("breakthrough")).say("(move a 2 a 3)")
        'move a2 a3'
        """
        from herbrand.draw.looks import spoken, words

        parts = arguments(str(move))
        spoken_parts, rest = [" ".join(words(parts[0])) or parts[0]], list(parts[1:])
        stops = {cell.start: cell.stop for cell in self._clicker.cells(parts)}
        place = 0
        while place < len(rest):
            stop = stops.get(place, place + 1)
            names = rest[place:stop]
            look = self._looks.get(names[0].lower())
            if len(names) > 1:
                lettered = len(names) == 2 and names[0].isalpha() and names[1].isdecimal()
                spoken_parts.append(("" if lettered else "," if len(stops) > 1 else " ").join(names))
            elif look is not None and look.kind in ("chess", "draughts"):
                spoken_parts.append(spoken(names[0], look))
            else:
                spoken_parts += names
            place = stop
        return " ".join(spoken_parts)

    def deciding_cells(self, state: State) -> tuple[str, ...]:
        """Return the cells by which a role won, such as a line, by their names in the drawing.

        These are the cells that a derivation of its goal uses; empty if there is no single winner, or if the
        cells also hold pieces of others.

        >>> import herbrand
        >>> game = herbrand.load("ticTacToe")
        >>> line = ["(mark 1 1)", "(mark 2 1)", "(mark 1 2)", "(mark 2 2)", "(mark 1 3)"]
        >>> state = game.initial_state("rules")
        >>> for step, move in enumerate(line):
        ...     state = state.next((move, "noop") if step % 2 == 0 else ("noop", move))
        >>> Artist.of(game).deciding_cells(state)
        ('0.0:1:1', '0.0:1:2', '0.0:1:3')
        """
        from herbrand.draw.paper import cell_name

        goals = {role: state.goal(role) for role in self.game.players}
        best = max((goal for goal in goals.values() if goal is not None), default=0)
        winners = [role for role, goal in goals.items() if goal == best]
        if len(winners) != 1 or len(goals) < 2 or not state.is_terminal:
            return ()
        try:
            root = state.why(f"(goal {winners[0]} {best})").root
        except HerbrandError:
            return ()
        facts, waiting = set(), [root]
        while waiting:
            step = waiting.pop()
            waiting += [child for child in step.children if child.holds]
            if step.reason == "true in this state":
                facts.add(step.text)
        spots = [spot for parts in self.layout.facts(facts) if (spot := self.layout.spot(parts)) is not None]
        contents = {spot.layer.what(spot.row).lower() for spot in spots}
        if len(contents) > 1 and not all(winners[0].lower() in content.split() for content in contents):
            return ()
        return tuple(sorted({cell_name(spot.board, spot.copy, spot.layer.cell(spot.row)) for spot in spots}))

    def faces_away(self, roles: Collection[str]) -> bool:
        """Whether all pieces of these roles begin in the upper half of a board, so that it could be turned.

        >>> import herbrand
        >>> artist = Artist.of(herbrand.load("breakthrough"))
        >>> artist.faces_away(["black"]), artist.faces_away(["white"]), artist.faces_away(["white", "black"])
        (True, False, False)
        """
        colours = {self.colours[role] for role in roles if role in self.colours}
        facts = self.layout.facts(self.game.initial_state("rules").facts)
        heights = []
        for spot in filter(None, map(self.layout.spot, facts)):
            board = self.layout.boards[spot.board]
            look = self._looks.get(spot.layer.what(spot.row).lower())
            place = board.positions.get(spot.layer.cell(spot.row)) if board.is_grid else None
            if look is not None and look.kind != "none" and look.colour in colours and place is not None:
                heights.append(2 * place[0] + 1 < board.size[0])
        return bool(heights) and all(heights)

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
