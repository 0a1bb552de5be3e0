"""Games on a board: put together from a board, pieces, a turn order, captures, goals and what is hidden.

How the rules are put together, from what is possible to what becomes of it:

    may_place, may_move, may_jump   from the actions of the pieces: what could be done
    legal                           from the turn order: what may be done now
    does -> lands, leaves, struck   what a move does, whoever made it
    becomes                         what will stand on a square
    next, sees                      from `becomes`, so that players can be shown the squares as they will be
    won, leads                      from the goals
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

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
from herbrand.evolve.blocks.templates import helper_relations, numbers
from herbrand.evolve.blocks.turns import Alternating, Bank, Fog, Several, Simultaneous, Turn
from herbrand.evolve.numerals import times
from herbrand.evolve.sheet import SheetWriter

if TYPE_CHECKING:
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
        if board.wraps:
            row = 1 + second if player == "white" else board.rows // 2 + 1 + second
        else:
            row = 1 + second if player == "white" else board.rows - second
        return [(x, row) for x in range(1, board.columns + 1)]

    # -- problems -------------------------------------------------------------------------

    def _problems(self) -> list[str]:
        problems = [*self._problems_of_pieces(), *self._problems_of_goals(), *self._problems_of_turns()]
        return problems or self._problems_at_first()

    def _problems_of_pieces(self) -> list[str]:
        board, problems = self.board, []
        setup = self.setup()
        white = {square for square, (player, _) in setup.items() if player == "white"}
        starts = [piece.start for piece in self.pieces if piece.start != "none"]
        if any(white.intersection(self._home("black", start)) for start in starts):
            problems.append("the players begin on the same squares")
        for name, piece in self._named:
            if len(set(map(type, piece.actions))) < len(piece.actions):
                problems.append(f"a {name} has two actions of one kind")
            if piece.start == "none" and not piece.places:
                problems.append(f"a {name} never comes onto the board")
            if piece.start != "none" and (player := ("white", name)) not in setup.values():
                problems.append(f"there is no square for a {player[1]} to begin")
            for act in piece.actions:
                along = getattr(act, "course", "any")
                if along == "diagonal" and not board.diagonals:
                    problems.append("nothing can go aslant on this board")
                if isinstance(act, Slide) and board.wraps:
                    problems.append("a slide around a torus has no end")
                if isinstance(act, Leap) and act.pattern == "knight" and not board.diagonals:
                    problems.append("there are no knights on this board")
                if isinstance(act, Place):
                    flat = board.rows == 1 or board.wraps
                    if act.where in {"dropped", "home"} and flat:
                        problems.append("this board has neither a bottom nor halves")
                if self.fog and not isinstance(act, (Place, Step)):
                    problems.append("in the fog, pieces cannot go further than players see")
                if self.fog and isinstance(act, Place) and act.where in {"away from others", "dropped"}:
                    problems.append("in the fog, nobody knows where the others are")
        return list(dict.fromkeys(problems))

    def _problems_of_goals(self) -> list[str]:
        board, problems = self.board, []
        kinds = [type(goal) for goal in self.goals]
        if len(set(kinds)) < len(kinds):
            problems.append("there are two goals of one kind")
        if not self.goals and isinstance(self.settlement, NobodyWins):
            problems.append("nobody can win")
        if not self._captures and self._scores:
            problems.append("points are counted, but nothing is ever taken")
        starts = {name: piece.start != "none" for name, piece in self._named}
        for goal in self.goals:
            if isinstance(goal, InARow) and goal.length > max(board.columns, board.rows):
                problems.append("the line is longer than the board")
            if isinstance(goal, Connect) and (board.rows == 1 or board.wraps):
                problems.append("this board has no sides to join")
            if isinstance(goal, Pattern) and board.rows == 1:
                problems.append("no room for a pattern")
            if isinstance(goal, Pattern) and goal.shape == "cross" and not board.diagonals:
                problems.append("no room for a pattern")
            if isinstance(goal, Race):
                if not self._moves and not self._jumps:
                    problems.append("nothing can run the race")
                if any(act.where != "home" for _, act in self._places):
                    problems.append("the race can be won by placing")
                if goal.to == "far" and board.wraps:
                    problems.append("a torus has no farthest row")
            if isinstance(goal, Eliminate):
                if not self._captures:
                    problems.append("nothing is ever taken")
                if not (starts[self._names[0]] if goal.royal else any(starts.values())):
                    problems.append("there is nothing to be taken at first")
        return problems

    def _problems_of_turns(self) -> list[str]:
        problems = []
        if self.bank is not None:
            if not self._places:
                problems.append("there is nothing to be bought")
            if self._no_move is not None:
                problems.append("who has no coins would be without a move")
            if self.bank.start == 0 and not self.setup() and isinstance(self.turn, Alternating):
                problems.append("nothing can be bought at first")
        if self._no_move is not None and self.stalled == "pass":
            problems.append("a player that cannot act loses or wins, so that it does not pass")
        return problems

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

    def sheet_of(self) -> SheetWriter:
        """Return the rules in sections."""
        sheet = SheetWriter(self.name, [*self.paragraphs(), self._legend(), "Author: evolved with herbrand."])
        sheet.section("Roles")
        sheet.add("(role white)", "(role black)")
        if self.bank and self.bank.dice:
            sheet.add("(role random)")
        self._declarations(sheet)
        self._start(sheet)
        self._possible(sheet)
        self._legal(sheet)
        self._effects(sheet)
        self._turns(sheet)
        self._percepts(sheet)
        self._end(sheet)
        return sheet

    @property
    def _pass(self) -> str:
        return "end_turn" if isinstance(self.turn, Several) else "pass"

    def _declarations(self, sheet: SheetWriter) -> None:
        sheet.section("What can be true, and what can be done")
        each = "(rivals ?player ?other)"
        sheet.add(f"(<= (base (cell ?x ?y ?player ?kind)) (square ?x ?y) {each} (kind ?kind))")
        if not self._simultaneous:
            sheet.add(f"(<= (base (control ?player)) {each})")
        if isinstance(self.turn, Several):
            sheet.add(*(f"(base (actions {n}))" for n in range(1, self.turn.actions + 1)))
        for name, act in self._places:
            if act.supply:
                sheet.add(f"(<= (base (reserve ?player {name} ?n)) {each} (at_most ?n {act.supply}))")
        if self.bank:
            sheet.add(f"(<= (base (money ?player ?n)) {each} (at_most ?n {self.bank.most}))")
        if self._scores:
            sheet.add(f"(<= (base (score ?player ?n)) {each} (at_most ?n {self._most_points}))")
        sheet.add(f"(<= (base (step ?n)) (at_most ?n {self.limit}))")
        for name, act in self._places:
            where = "(home ?player ?x ?y)" if act.where == "home" else "(square ?x ?y)"
            sheet.add(f"(<= (input ?player (place {name} ?x ?y)) {each} {where})")
        for piece in self.pieces:
            for move in piece.moves:
                if isinstance(move, Jump):
                    continue
                sheet.add(f"(<= (input ?player (move ?x1 ?y1 ?x2 ?y2)) {' '.join(move.reach(''))})")
        if self._jumps:
            sheet.add(f"(<= (input ?player (jump ?x1 ?y1 ?x3 ?y3)) {each} (over ?x1 ?y1 ?x2 ?y2 ?x3 ?y3))")
        if isinstance(self.turn, Several) or self._passing:
            sheet.add(f"(<= (input ?player {self._pass}) {each})")
        if not self._simultaneous:
            sheet.add(f"(<= (input ?player noop) {each})")
        if self.bank and self.bank.dice:
            sheet.add(f"(<= (input random (roll ?n)) (at_most ?n {2 * self.bank.income}))")

    @property
    def _most_points(self) -> int:
        most = (self.limit + 1) // (1 if self._simultaneous else 2) + 1
        if isinstance(self.turn, Several):
            most = self.limit
        return min([goal.points for goal in self.goals if isinstance(goal, Score)] + [most])

    def _start(self, sheet: SheetWriter) -> None:
        sheet.section("The start")
        if isinstance(self.board.columns, NamedNumber):
            for kind, piece in self._named:
                back, rows = piece.start == "back", self.board.rows
                if piece.start != "none":
                    white, black = ("", "") if back else ("(above 1 ?y)", f"(above ?y {rows})")
                    sheet.add(
                        f"(<= (init (cell ?x {1 if back else '?y'} white {kind})) (column ?x) {white})",
                        f"(<= (init (cell ?x {rows if back else '?y'} black {kind})) (column ?x) {black})",
                    )
        else:
            for (x, y), (player, kind) in sorted(self.setup().items(), key=lambda item: (item[1], item[0])):
                sheet.add(f"(init (cell {x} {y} {player} {kind}))")
        if not self._simultaneous:
            sheet.add("(init (control white))")
        if isinstance(self.turn, Several):
            sheet.add(f"(init (actions {min(self.turn.opening, self.turn.actions)}))")
        each = "(rivals ?player ?other)"
        for name, act in self._places:
            if act.supply:
                sheet.add(f"(<= (init (reserve ?player {name} {act.supply})) {each})")
        if self.bank:
            sheet.add(f"(<= (init (money ?player {self.bank.start})) {each})")
        if self._scores:
            sheet.add(f"(<= (init (score ?player 0)) {each})")
        sheet.add("(init (step 0))")

    def _possible(self, sheet: SheetWriter) -> None:
        sheet.section("What a player could do if it were to act")
        for name, act in self._places:
            for body in act.conditions():
                if self.fog:
                    free = ["(rivals ?player ?other)", "(square ?x ?y)", "(not (holds ?player ?x ?y))"]
                else:
                    free = ["(rivals ?player ?other)", "(free ?x ?y)"]
                if act.supply:
                    free += [f"(true (reserve ?player {name} ?n))", "(distinct ?n 0)"]
                if self.bank:
                    free += ["(true (money ?player ?coins))", f"(at_least ?coins {act.cost})"]
                conditions = " ".join(dict.fromkeys([*free, *body]))
                sheet.add(f"(<= (may_place ?player {name} ?x ?y) {conditions})")
        for name, piece in self._named:
            for move in piece.moves:
                sheet.add(*move.rules(name))

    @property
    def _ways(self) -> list[tuple[str, str]]:
        """Each relation of what could be done, with the move."""
        return [
            *[("(may_place ?player ?kind ?x ?y)", "(place ?kind ?x ?y)")] * bool(self._places),
            *[("(may_move ?player ?x1 ?y1 ?x2 ?y2)", "(move ?x1 ?y1 ?x2 ?y2)")] * self._moves,
            *[("(may_jump ?player ?x1 ?y1 ?x3 ?y3)", "(jump ?x1 ?y1 ?x3 ?y3)")] * self._jumps,
        ]

    def _legal(self, sheet: SheetWriter) -> None:
        sheet.section("Moves")
        turn = "" if self._simultaneous else "(true (control ?player))"
        for may, move in self._ways:
            sheet.add(f"(<= (legal ?player {move}) {turn} {may})")
        each = "(rivals ?player ?other)"
        if isinstance(self.turn, Several):
            first = "" if self.bank else self._has_begun(self.turn)
            sheet.add(f"(<= (legal ?player end_turn) (true (control ?player)) {first})")
            if not self.bank and self._passing:
                sheet.add("(<= (legal ?player end_turn) (true (control ?player)) (not (able ?player)))")
        elif self.bank:
            sheet.add(f"(<= (legal ?player pass) {turn or each})")
        elif self._passing:
            sheet.add(f"(<= (legal ?player pass) {turn or each} (not (able ?player)))")
        if not self._simultaneous:
            sheet.add(f"(<= (legal ?player noop) {each} (true (control ?other)))")
        if self.bank and self.bank.dice:
            sheet.add(f"(<= (legal random (roll ?n)) (at_most ?n {2 * self.bank.income}))")

    @staticmethod
    def _has_begun(turn: Several) -> str:
        """Return the condition that the turn may be ended, since it has had an action.

        The first turn of the game, when it is shorter, looks as if it had begun; it may be ended at once.
        """
        return f"(not (true (actions {turn.actions})))"

    def _effects(self, sheet: SheetWriter) -> None:
        moving = self._moves or self._jumps
        sheet.section("What a move does")
        comes = "comes" if self._simultaneous else "lands"
        if self._places:
            free = "(free ?x ?y)" if self.fog else ""
            sheet.add(f"(<= ({comes} ?player ?kind ?x ?y) (does ?player (place ?kind ?x ?y)) {free})")
        for word, there in (("move", 2), ("jump", 3)):
            if not (self._moves if word == "move" else self._jumps):
                continue
            move = f"({word} ?x1 ?y1 ?x{there} ?y{there})"
            sheet.add(
                f"""(<= ({comes} ?player ?kind ?x{there} ?y{there})
                    (does ?player {move}) (true (cell ?x1 ?y1 ?player ?kind)))""",
                f"(<= (leaves ?x1 ?y1) (does ?player {move}))",
            )
        if self._simultaneous:
            sheet.add(
                "(<= (lands ?player ?kind ?x ?y) (comes ?player ?kind ?x ?y) (not (clash ?x ?y)))",
                "(<= (clash ?x ?y) (comes white ?one ?x ?y) (comes black ?other ?x ?y))",
            )
        if self.effect:
            sheet.add(self.effect.rules(moves=moving))
        jumpers = [
            (name, act)
            for name, piece in self._named
            for act in piece.moves
            if isinstance(act, Jump) and act.captures
        ]
        for name, _ in jumpers:
            sheet.add(
                f"""(<= (jumped ?player ?x2 ?y2) (does ?player (jump ?x1 ?y1 ?x3 ?y3))
                    (true (cell ?x1 ?y1 ?player {name}))
                    (over ?x1 ?y1 ?x2 ?y2 ?x3 ?y3) (enemy ?player ?x2 ?y2))"""
            )
        acts = [act for piece in self.pieces for act in piece.actions]
        onto = any(act.captures and not isinstance(act, Jump) for act in acts)
        sheet.section("What will stand on a square, and what stays")
        sheet.add("(<= (becomes ?x ?y ?player ?kind) (lands ?player ?kind ?x ?y))")
        goes = []
        if moving:
            goes.append("(leaves ?x ?y)")
        if onto:
            sheet.add("(<= (hit ?x ?y) (lands ?player ?kind ?x ?y))")
            goes.append("(hit ?x ?y)")
        if self.effect:
            goes.append("(changed ?x ?y)")
            sheet.add("(<= (changed ?x ?y) (struck ?player ?x ?y))")
        if jumpers:
            goes.append("(removed ?x ?y)")
            sheet.add("(<= (removed ?x ?y) (jumped ?player ?x ?y))")
        stays = " ".join(f"(not {condition})" for condition in goes)
        sheet.add(f"(<= (becomes ?x ?y ?player ?kind) (true (cell ?x ?y ?player ?kind)) {stays})")
        if self.effect and self.effect.turns:
            away = " ".join(f"(not {condition})" for condition in goes if "changed" not in condition)
            sheet.add(
                f"""(<= (becomes ?x ?y ?player ?kind)
                    (struck ?player ?x ?y) (true (cell ?x ?y ?other ?kind)) {away})"""
            )
        sheet.add("(<= (next (cell ?x ?y ?player ?kind)) (becomes ?x ?y ?player ?kind))")
        if self._scores or (self.fog and self.fog.told and self._captures):
            sheet.section("Taking enemy pieces")
            if onto:
                sheet.add("(<= (takes ?player) (lands ?player ?kind ?x ?y) (enemy ?player ?x ?y))")
            if self.effect:
                sheet.add("(<= (takes ?player) (struck ?player ?x ?y))")
            if jumpers:
                sheet.add("(<= (takes ?player) (jumped ?player ?x ?y))")
        if self._scores:
            most = self._most_points
            sheet.add(
                "(<= (next (score ?player ?more)) (takes ?player) (true (score ?player ?n)) (succ ?n ?more))"
                if most >= self.limit
                else f"""(<= (next (score ?player ?more)) (takes ?player) (true (score ?player ?n))
                    (succ ?n ?more) (at_most ?more {most}))""",
                "(<= (next (score ?player ?n)) (true (score ?player ?n)) (not (takes ?player)))",
            )
        self._stocks(sheet)

    def _stocks(self, sheet: SheetWriter) -> None:
        """Reserves and money."""
        if any(act.supply for _, act in self._places):
            sheet.section("Pieces that are still to be placed")
        for name, act in self._places:
            if not act.supply:
                continue
            placed, left = f"(placed ?player {name})", f"(true (reserve ?player {name} ?n))"
            sheet.add(
                f"(<= (next (reserve ?player {name} ?less)) {placed} {left} (succ ?less ?n))",
                f"(<= (next (reserve ?player {name} ?n)) {left} (not {placed}))",
            )
        if any(act.supply for _, act in self._places):
            free = "(free ?x ?y)" if self.fog else ""
            sheet.add(f"(<= (placed ?player ?kind) (does ?player (place ?kind ?x ?y)) {free})")
        if not self.bank:
            return
        sheet.section("Money: what is paid, what a turn brings, and that nobody keeps more than it may")
        each = "(rivals ?player ?other)"
        for name, act in self._places:
            sheet.add(f"(<= (pays ?player {act.cost}) (does ?player (place {name} ?x ?y)))")
        sheet.add(
            "(<= (buys ?player) (does ?player (place ?kind ?x ?y)))",
            f"(<= (pays ?player 0) {each} (not (buys ?player)))",
        )
        ends = {
            Simultaneous: each,
            Alternating: "(true (control ?player))",
            Several: "(true (control ?player)) turn_ends",
        }[type(self.turn)]
        if self.bank.dice:
            sheet.add(f"(<= (earns ?player ?n) {ends} (does random (roll ?n)))")
        else:
            sheet.add(f"(<= (earns ?player {self.bank.income}) {ends})")
        if isinstance(self.turn, Alternating):
            sheet.add("(<= (earns ?player 0) (rivals ?player ?other) (true (control ?other)))")
        if isinstance(self.turn, Several):
            sheet.add(
                "(<= (earns ?player 0) (rivals ?player ?other) (true (control ?other)))",
                "(<= (earns ?player 0) (true (control ?player)) (not turn_ends))",
            )
        sheet.add(
            f"""(<= (next (money ?player ?new)) (true (money ?player ?old)) (pays ?player ?price)
                (at_most ?rest {self.bank.most}) (sum ?rest ?price ?old) (earns ?player ?gain)
                (sum ?rest ?gain ?full) (kept ?full ?new))"""
        )

    def _turns(self, sheet: SheetWriter) -> None:
        sheet.section("Turns and steps")
        if isinstance(self.turn, Alternating):
            sheet.add("(<= (next (control ?other)) (rivals ?player ?other) (true (control ?player)))")
        if isinstance(self.turn, Several):
            n = self.turn.actions
            sheet.add(
                "(<= turn_ends (does ?player end_turn))",
                "(<= turn_ends (true (actions 1)))",
                "(<= (next (control ?other)) (rivals ?player ?other) (true (control ?player)) turn_ends)",
                "(<= (next (control ?player)) (true (control ?player)) (not turn_ends))",
                f"(<= (next (actions {n})) turn_ends)",
                "(<= (next (actions ?less)) (true (actions ?n)) (succ ?less ?n) (not turn_ends))",
            )
        sheet.add("(<= (next (step ?more)) (true (step ?n)) (succ ?n ?more))")

    def _percepts(self, sheet: SheetWriter) -> None:
        if not self.fog:
            return
        sheet.section("What the players see: their pieces, and what stands beside them")
        sheet.add(
            "(<= (sees ?player (at ?x ?y ?player ?kind)) (becomes ?x ?y ?player ?kind))",
            """(<= (sees ?player (at ?x ?y ?other ?kind)) (becomes ?x1 ?y1 ?player ?mine)
                (beside ?x1 ?y1 ?x ?y) (rivals ?player ?other) (becomes ?x ?y ?other ?kind))""",
        )
        if self.fog.told and self._captures:
            sheet.add("(<= (sees ?player (taken_by ?who)) (rivals ?player ?other) (takes ?who))")
        if isinstance(self.turn, Several):
            sheet.add("(<= (sees ?player turn_over) (rivals ?player ?other) turn_ends)")
        if self.bank and self.bank.dice:
            sheet.add("(<= (sees ?player (rolled ?n)) (rivals ?player ?other) (does random (roll ?n)))")
        if self._scores and not (self.fog.told and self._captures):
            sheet.add("(<= (sees ?player scored) (takes ?player))")

    def _end(self, sheet: SheetWriter) -> None:
        sheet.section("Who has won")
        for goal in self.goals:
            sheet.add(*goal.rules(self.board, self._names))
        over = ["(<= terminal (won ?player))"] * bool(self.goals)
        over.append(f"(<= terminal (true (step {self.limit})))")
        if self._passing and not self.bank:
            over.append("(<= terminal (not (able white)) (not (able black)))")
        if not self._passing:
            over.append("(<= terminal (stuck ?player))")
            sheet.section("A player is stuck that has to act and cannot")
            turn = "(rivals ?player ?other)" if self._simultaneous else "(true (control ?player))"
            begun = ""
            if isinstance(self.turn, Several):
                begun = f"(true (actions {self.turn.actions}))"
            sheet.add(f"(<= (stuck ?player) {turn} {begun} (not (able ?player)))")
        sheet.section("The end")
        sheet.add(*over)
        if self.goals:
            sheet.add(
                "(<= (goal ?player 100) (rivals ?player ?other) (won ?player) (not (won ?other)))",
                "(<= (goal ?player 0) (rivals ?player ?other) (won ?other) (not (won ?player)))",
                "(<= (goal ?player 50) (rivals ?player ?other) (won ?player) (won ?other))",
                "(<= decided (won ?player))",
            )
        counted = self.settlement.rules(self.board)
        still = "(not decided)" if self.goals else ""
        if not counted:
            sheet.add(f"(<= (goal ?player 50) (rivals ?player ?other) {still})")
        else:
            sheet.add(
                f"(<= (goal ?player 100) (rivals ?player ?other) {still} (leads ?player ?other))",
                f"(<= (goal ?player 0) (rivals ?player ?other) {still} (leads ?other ?player))",
                f"""(<= (goal ?player 50) (rivals ?player ?other) {still}
                    (not (leads ?player ?other)) (not (leads ?other ?player)))""",
                *counted,
            )

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
