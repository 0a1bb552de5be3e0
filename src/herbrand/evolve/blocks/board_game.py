"""Games on a board: put together from a board, pieces, a turn order, captures, goals and what is hidden.

How the rules are put together, from what is possible to what becomes of it:

    may_place, may_move, may_jump   from the actions of the pieces: what could be done
    legal                           from the turn order: what may be done now
    does -> lands, leaves, struck   the effects of a move of either player
    becomes                         what will stand on a square
    next, sees                      from `becomes`, so that players can be shown the squares as they will be
    won, leads                      from the goals
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING, Any

from herbrand.evolve.blocks.boards import Board, Hexagons, Line, Squares, Torus
from herbrand.evolve.blocks.captures import Contagion, Custodian, Effect
from herbrand.evolve.blocks.design import Design
from herbrand.evolve.blocks.goals import (
    Connect,
    Eliminate,
    Goal,
    InARow,
    Majority,
    NobodyWins,
    NoMove,
    Pattern,
    Race,
    Score,
    Settlement,
)
from herbrand.evolve.blocks.grammar import choice, maybe, one, some, span
from herbrand.evolve.blocks.parameters import NamedNumber, Writing, named
from herbrand.evolve.blocks.pieces import Jump, Leap, Piece, Place, Slide, Step, names_of
from herbrand.evolve.blocks.texts import add_rules, helper_relations, numbers
from herbrand.evolve.blocks.turns import Alternating, Bank, Fog, Several, Simultaneous, Turn
from herbrand.evolve.numerals import times
from herbrand.evolve.sheet import SheetWriter

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Self

    from herbrand.evolve.blocks.pieces import Action

__all__ = ["BoardGame"]


@dataclass(frozen=True)
class BoardGame(Design):
    """Two players, white and black, with pieces on a board."""

    board: Board = one(Squares, Squares, Hexagons, Torus, Line)
    pieces: tuple[Piece, ...] = some(Piece, least=1, most=2)
    turn: Turn = one(Alternating, Alternating, Several, Simultaneous)
    effect: Effect | None = maybe(Custodian, Contagion)
    goals: tuple[Goal, ...] = some(InARow, Connect, Race, Eliminate, NoMove, Score, Pattern, least=0, most=2)
    settlement: Settlement = one(NobodyWins, Majority)
    fog: Fog | None = maybe(Fog, likely=0.1)
    bank: Bank | None = maybe(Bank, likely=0.1)
    stalled: str = choice("pass", "ends")
    """Whether a player that cannot act must pass, or the game ends."""
    limit: int = span(12, 60, 40)
    """The game is over after so many steps."""

    # -- derived properties ---------------------------------------------------------------

    @property
    def _names(self) -> tuple[str, ...]:
        return names_of(self.pieces)

    @property
    def _named(self) -> list[tuple[str, Piece]]:
        return list(zip(self._names, self.pieces, strict=True))

    @property
    def _places(self) -> list[tuple[str, Place]]:
        return [(name, act) for name, piece in self._named for act in piece.places]

    @property
    def _moves(self) -> bool:
        return any(not isinstance(act, Jump) for piece in self.pieces for act in piece.moves)

    @property
    def _jumps(self) -> bool:
        return any(isinstance(act, Jump) for piece in self.pieces for act in piece.moves)

    @property
    def _captures(self) -> bool:
        return self.effect is not None or any(piece.captures for piece in self.pieces)

    @property
    def _scores(self) -> bool:
        counted = isinstance(self.settlement, Majority) and self.settlement.of == "points"
        return counted or any(isinstance(goal, Score) for goal in self.goals)

    @property
    def _no_move(self) -> NoMove | None:
        return next((goal for goal in self.goals if isinstance(goal, NoMove)), None)

    @property
    def _passing(self) -> bool:
        """Whether a player may have to pass."""
        return self._no_move is None and (self.stalled == "pass" or self.bank is not None)

    def setup(self) -> dict[tuple[int, int], tuple[str, str]]:
        """Return the initial position: player and kind by square."""
        position: dict[tuple[int, int], tuple[str, str]] = {}
        for start in ("middle", "ends", "back", "second"):
            for name, piece in self._named:
                if piece.start != start:
                    continue
                for player in ("white", "black"):
                    row = self._home(player, start)
                    if start == "middle":
                        row = row[(len(row) - 1) // 2 : (len(row) - 1) // 2 + 1]
                    elif start == "ends":
                        row = [row[0], row[-1]]
                    for square in row:
                        position.setdefault(square, (player, name))
        return position

    def _home(self, player: str, start: str) -> list[tuple[int, int]]:
        """Return the squares of a player's back or second row, from left to right."""
        board = self.board
        second = start == "second"
        if board.rows == 1:
            columns = [3, 4] if second else [1, 2]
            return [(x if player == "white" else board.columns + 1 - x, 1) for x in columns]
        black = board.rows // 2 + 1 + second if board.wraps else board.rows - second
        row = 1 + second if player == "white" else black
        return [(x, row) for x in range(1, board.columns + 1)]

    # -- problems -------------------------------------------------------------------------

    def _problems(self) -> Iterable[str]:
        problems = chain(self._problems_of_pieces(), self._problems_of_goals(), self._problems_of_turns())
        return dict.fromkeys(problems) or self._problems_at_first()

    def _problems_of_pieces(self) -> Iterator[str]:
        board, setup = self.board, self.setup()
        white = {square for square, (player, _) in setup.items() if player == "white"}
        starts = [piece.start for piece in self.pieces if piece.start != "none"]
        if any(white.intersection(self._home("black", start)) for start in starts):
            yield "the players begin on the same squares"
        for name, piece in self._named:
            if len(set(map(type, piece.actions))) < len(piece.actions):
                yield f"a {name} has two actions of one kind"
            if piece.start == "none" and not piece.places:
                yield f"a {name} never comes onto the board"
            if piece.start != "none" and (player := ("white", name)) not in setup.values():
                yield f"there is no square for a {player[1]} to begin"
            for act in piece.actions:
                if getattr(act, "course", "any") == "diagonal" and not board.diagonals:
                    yield "nothing can go aslant on this board"
                if isinstance(act, Slide) and board.wraps:
                    yield "a slide around a torus has no end"
                if isinstance(act, Leap) and act.pattern == "knight" and not board.diagonals:
                    yield "there are no knights on this board"
                has_halves = board.rows > 1 and not board.wraps
                if isinstance(act, Place) and act.where in {"dropped", "home"} and not has_halves:
                    yield "this board has neither a bottom nor halves"
                if self.fog and not isinstance(act, (Place, Step)):
                    yield "in the fog, pieces cannot go further than players see"
                if self.fog and isinstance(act, Place) and act.where in {"away from others", "dropped"}:
                    yield "in the fog, nobody knows where the others are"

    def _problems_of_goals(self) -> Iterator[str]:
        board = self.board
        kinds = [type(goal) for goal in self.goals]
        if len(set(kinds)) < len(kinds):
            yield "there are two goals of one kind"
        if not self.goals and isinstance(self.settlement, NobodyWins):
            yield "nobody can win"
        if not self._captures and self._scores:
            yield "points are counted, but nothing is ever taken"
        starts = {name: piece.start != "none" for name, piece in self._named}
        for goal in self.goals:
            if isinstance(goal, InARow) and goal.length > max(board.columns, board.rows):
                yield "the line is longer than the board"
            if isinstance(goal, Connect) and (board.rows == 1 or board.wraps):
                yield "this board has no sides to join"
            if isinstance(goal, Pattern) and board.rows == 1:
                yield "no room for a pattern"
            if isinstance(goal, Pattern) and goal.shape == "cross" and not board.diagonals:
                yield "no room for a pattern"
            if isinstance(goal, Race):
                if not self._moves and not self._jumps:
                    yield "nothing can run the race"
                if any(act.where != "home" for _, act in self._places):
                    yield "the race can be won by placing"
                if goal.to == "far" and board.wraps:
                    yield "a torus has no farthest row"
            if isinstance(goal, Eliminate):
                if not self._captures:
                    yield "nothing is ever taken"
                if not (starts[self._names[0]] if goal.royal else any(starts.values())):
                    yield "there is nothing to be taken at first"

    def _problems_of_turns(self) -> Iterator[str]:
        if self.bank is not None:
            if not self._places:
                yield "there is nothing to be bought"
            if self._no_move is not None:
                yield "who has no coins would be without a move"
            if self.bank.start == 0 and not self.setup() and isinstance(self.turn, Alternating):
                yield "nothing can be bought at first"
        if self._no_move is not None and self.stalled == "pass":
            yield "a player that cannot act loses or wins, so that it does not pass"

    def _problems_at_first(self) -> list[str]:
        """Return problems of the initial state, which needs the complete rules."""
        state = self.game().initial_state("rules")
        if state.is_terminal:
            return ["the game is over before it begins"]
        legal = state.legal_moves()
        if all(str(move) in {"pass", "noop", "end_turn"} for moves in legal.values() for move in moves):
            return ["nobody can do anything at first"]
        return []

    # -- in words -------------------------------------------------------------------------

    def paragraphs(self) -> list[str]:
        """Describe the game."""
        names = self._names
        begin = f"{self.name} is played on {self.board.in_words()}. {self.turn.in_words()}"
        pieces = [piece.about(name) for name, piece in zip(names, self.pieces, strict=True)]
        if self._places and self.bank:
            prices = ", ".join(f"a {name} costs {times(act.cost, 'coin')}" for name, act in self._places)
            pieces += [f"{self.bank.in_words()} {prices[0].upper()}{prices[1:]}."]
        if self.effect:
            pieces.append(self.effect.in_words())
        if self.fog:
            pieces.append(self.fog.in_words())
            if self._places:
                pieces.append("A piece that is placed on a square that is already taken comes to nothing.")
        ends = [self._goal_in_words(goal) for goal in self.goals]
        if self._no_move is None:
            ends.append(
                "Who cannot act must pass."
                if self.bank
                else "Who cannot act must pass; when neither can, the game is over."
                if self._passing
                else "The game is over when a player has to act and cannot."
            )
        without = " without a winner" if self.goals else ""
        latest = f"after {self.limit} steps at the latest"
        ends.append(f"A game that is over{without}, {latest}, {self.settlement.in_words()}.")
        return [begin, " ".join(pieces), " ".join(ends)]

    def _goal_in_words(self, goal: Goal) -> str:
        if isinstance(goal, Eliminate) and goal.royal:
            return f"Whoever has lost every {self._names[0]} loses."
        return goal.in_words()

    def _legend(self) -> str:
        """Explain the fluents and moves."""
        name = self._names[0]
        legend = [f"(cell 1 2 white {name}): a white {name} in column 1, row 2; free squares have no fluent"]
        if self._simultaneous is False:
            legend.append("(control white): it is White's turn")
        if isinstance(self.turn, Several):
            legend.append("(actions 2): so many actions are left in this turn")
        if any(act.supply for _, act in self._places):
            legend.append(f"(reserve white {self._places[0][0]} 3): White can still place three")
        if self.bank:
            legend.append("(money white 2): White has two coins")
        if self._scores:
            legend.append("(score white 1): White has a point")
        legend.append("(step 3): three steps were made")
        if self._places:
            legend.append(f"(place {self._places[0][0]} 1 2) puts one on column 1, row 2")
        if self._moves:
            legend.append("(move 1 2 3 4) goes from column 1, row 2 to column 3, row 4")
        if self._jumps:
            legend.append("(jump 1 2 3 4) likewise, over the square between")
        return "; ".join(legend) + "."

    # -- as rules -------------------------------------------------------------------------

    @property
    def _simultaneous(self) -> bool:
        return isinstance(self.turn, Simultaneous)

    def with_parameters(self) -> Self:
        """Return the game with its steps and, where other rules leave it open, its board and stocks named."""
        board, bank = self.board, self.bank
        if self._board_may_vary:
            board = board.with_parameters(4 if any(piece.start == "second" for piece in self.pieces) else 3)
        if bank is not None:
            bank = named(bank, "start", "coins", "Coins of each player at first.", 1)
        pieces = tuple(
            replace(piece, actions=tuple(self._with_supply(name, act) for act in piece.actions))
            for name, piece in self._named
        )
        goals = tuple(
            named(goal, "length", "length", "Pieces in a line.")
            if isinstance(goal, InARow)
            else named(goal, "points", "points", "Points that win.")
            if isinstance(goal, Score)
            else goal
            for goal in self.goals
        )
        varied = replace(self, board=board, pieces=pieces, goals=goals, bank=bank)
        return named(varied, "limit", "steps", "Steps after which the game is over at the latest.")

    @staticmethod
    def _with_supply(name: str, act: Action) -> Action:
        if not isinstance(act, Place) or not act.supply:
            return act
        return named(act, "supply", f"{name}_supply", f"How many times each player may place a {name}.", 1)

    @property
    def _board_may_vary(self) -> bool:
        """Whether all that is said about squares is said by columns and rows, not square by square."""
        starts = {piece.start for piece in self.pieces} - {"none"}
        return (
            starts <= {"back", "second"}
            and not (starts and (self.board.wraps or self.board.rows == 1))
            and all(act.where != "home" for _, act in self._places)
            and not any(isinstance(goal, Race) and goal.to == "centre" for goal in self.goals)
        )

    def writing(self) -> Writing:
        """Return the board and the numbers."""
        most = f"{self.limit}"
        if isinstance(self.settlement, Majority) and self.settlement.of != "points":  # squares are counted
            most += f" + {self.board.columns} * {self.board.rows}"
        return self.board.writing() | Writing.of_numbers(most)

    @property
    def drawing(self) -> dict[str, Any]:
        """How to draw the board."""
        return self.board.drawing

    def sheet_of(self) -> SheetWriter:
        """Return the rules in sections."""
        about = [*self.paragraphs(), self._legend(), "Author: evolved with herbrand."]
        sheet = SheetWriter(self.name, about, drawing=self.drawing)
        acts = [act for piece in self.pieces for act in piece.actions]
        several = self.turn if isinstance(self.turn, Several) else None
        moves = [(name, act) for name, piece in self._named for act in piece.moves]
        add_rules(
            sheet,
            "board_game",
            **self._position(),
            actions=several.actions if several else 0,
            bank=self.bank,
            announces_captures=self.fog is not None and self.fog.announces_captures and self._captures,
            counting=self.settlement.rules(),
            fog=self.fog,
            jumpers=[name for name, act in moves if isinstance(act, Jump) and act.captures],
            jumps=self._jumps,
            limit=self.limit,
            most_points=self._most_points,
            moves=self._moves,
            moving=[rule for name, act in moves for rule in act.rules(name)],
            onto=any(act.captures and not isinstance(act, Jump) for act in acts),
            opening=min(several.opening, several.actions) if several else 0,
            passing=self._passing,
            places=self._places,
            placing=self._placing(),
            reaches=[" ".join(act.reach()) for act in acts if not act.places and not isinstance(act, Jump)],
            rows=self.board.rows,
            scores=self._scores,
            simultaneous=self._simultaneous,
            striking=self.effect.rules(moves=self._moves or self._jumps) if self.effect else "",
            supplies=[(name, act) for name, act in self._places if act.supply],
            turning=self.effect is not None and self.effect.turns,
            ways=self._ways,
            winning=[rule for goal in self.goals for rule in goal.rules(self.board, self._names)],
        )
        return sheet

    @property
    def _most_points(self) -> int:
        most = (self.limit + 1) // (1 if self._simultaneous else 2) + 1
        if isinstance(self.turn, Several):
            most = self.limit
        return min([goal.points for goal in self.goals if isinstance(goal, Score)] + [most])

    def _position(self) -> dict[str, object]:
        """Return the initial position: whole rows where the board is a parameter, otherwise squares."""
        if isinstance(self.board.columns, NamedNumber):
            rows = [(name, piece.start) for name, piece in self._named if piece.start != "none"]
            return {"rows_at_first": rows, "cells_at_first": []}
        position = sorted(self.setup().items(), key=lambda item: (item[1], item[0]))
        return {"rows_at_first": [], "cells_at_first": [(*square, *piece) for square, piece in position]}

    def _placing(self) -> list[tuple[str, str]]:
        """Return the conditions under which each kind of piece can be placed."""
        placing = []
        for name, act in self._places:
            for body in act.conditions():
                free = ["(square ?x ?y)", "(not (holds ?player ?x ?y))"] if self.fog else ["(free ?x ?y)"]
                free.insert(0, "(rivals ?player ?other)")
                if act.supply:
                    free += [f"(true (reserve ?player {name} ?n))", "(distinct ?n 0)"]
                if self.bank:
                    free += ["(true (money ?player ?coins))", f"(at_least ?coins {act.cost})"]
                placing.append((name, " ".join(dict.fromkeys([*free, *body]))))
        return placing

    @property
    def _ways(self) -> list[tuple[str, str]]:
        """Each relation of what could be done, with the move."""
        return [
            *[("(may_place ?player ?kind ?x ?y)", "(place ?kind ?x ?y)")] * bool(self._places),
            *[("(may_move ?player ?x1 ?y1 ?x2 ?y2)", "(move ?x1 ?y1 ?x2 ?y2)")] * self._moves,
            *[("(may_jump ?player ?x1 ?y1 ?x3 ?y3)", "(jump ?x1 ?y1 ?x3 ?y3)")] * self._jumps,
        ]

    def helpers(self) -> dict[str, tuple[str, str]]:
        """Return the relations that rules may ask for: section and rules."""
        board = self.board
        rows, columns = board.rows, board.columns
        half = rows // 2
        home = [f"(<= (home white ?x {y}) (column ?x))" for y in range(1, half + 1)]
        home += [f"(<= (home black ?x {y}) (column ?x))" for y in range(rows - half + 1, rows + 1)]
        helpers = helper_relations(
            "board_helpers",
            able="\n".join(f"(<= (able ?player) {may})" for may, _ in self._ways),
            columns=columns,
            rows=rows,
            next_row="" if rows == 1 else f"(<= (following {columns} ?y1 1 ?y2) (up ?y1 ?y2))",
            right="\n".join(f"(right {x} {x + 1})" for x in range(1, columns)),
            up="\n".join(f"(up {y} {y + 1})" for y in range(1, rows)),
            kinds="\n".join(f"(kind {name})" for name in self._names),
            home="\n".join(home),
            geometry="\n".join(board.rules()),
            money=self.bank.most if self.bank else 0,
        )
        return helpers | numbers(max(self.limit, board.cells))
