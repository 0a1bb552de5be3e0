"""The bundled board games do what their descriptions say.

Each game is written down a second time in plain Python (the classes below), without GDL; chess has
python-chess for that, where it is installed, and published counts of positions.  The rulesheet
and the Python must agree in the facts, the legal moves, the end and the goals of every state along
random games.
"""

from __future__ import annotations

import random
from itertools import product

import pytest

import herbrand
from herbrand import games

LETTERS = "abcdefgh"
EIGHT = tuple((dx, dy) for dx, dy in product((-1, 0, 1), repeat=2) if dx or dy)
FOUR = ((1, 0), (0, 1), (1, 1), (1, -1))
WAYS = {"north": (0, 1), "east": (1, 0), "south": (0, -1), "west": (-1, 0)}


# ---- the games again, in Python ------------------------------------------------------------


class Again:
    """A game of two who move in turn on a board; a state is a pair: dict of the cells, number of the mover."""

    roles: tuple[str, ...]
    letters = False
    """Whether the first coordinate is written as a letter."""

    def start(self):
        return {}, 0

    def spell(self, *squares):
        """Coordinates as they are written in facts and moves."""
        return " ".join(f"{LETTERS[x - 1] if self.letters else x} {y}" for x, y in squares)

    def moves(self, state):
        """The moves of the player in control, as KIF."""
        raise NotImplementedError

    def play(self, state, move):
        """The state after a move of the player in control."""
        raise NotImplementedError

    def over(self, state):
        """Whether the game has ended."""
        raise NotImplementedError

    def goals(self, state):
        """The goals of all roles."""
        raise NotImplementedError

    def mover(self, state):
        return state[1]

    def facts(self, state):
        cells, turn = state[:2]
        return {f"(cell {self.spell(square)} {piece})" for square, piece in cells.items()} | {
            f"(control {self.roles[turn]})"
        }

    def legal(self, state):
        """The moves of all roles; who is not in control has `noop`."""
        turn = self.mover(state)
        return {
            role: sorted(self.moves(state)) if i == turn else ["noop"] for i, role in enumerate(self.roles)
        }

    def apply(self, state, joint):
        return self.play(state, joint[self.mover(state)])

    def numbers(self, move):
        """The squares in a move."""
        words = move.strip("()").split()[1:]
        pairs = zip(words[::2], words[1::2], strict=True)
        return [(LETTERS.index(x) + 1 if self.letters else int(x), int(y)) for x, y in pairs]

    def versus(self, winner):
        """100 for the winner, 0 for the other; 50 each when there is none."""
        return (
            dict.fromkeys(self.roles, 50) if winner is None else {r: 100 * (r == winner) for r in self.roles}
        )


def has_row(cells, owner, length, steps=FOUR):
    """Whether `owner` has so many in an unbroken line."""
    mine = {square for square, piece in cells.items() if piece == owner}
    return any(
        all((x + i * dx, y + i * dy) in mine for i in range(length)) for x, y in mine for dx, dy in steps
    )


class ConnectFour(Again):
    roles = ("red", "yellow")

    def moves(self, state):
        return [f"(drop {x})" for x in range(1, 8) if (x, 6) not in state[0]]

    def play(self, state, move):
        cells, turn = state
        x = int(move.strip("()").split()[1])
        y = next(y for y in range(1, 7) if (x, y) not in cells)
        return cells | {(x, y): self.roles[turn]}, 1 - turn

    def winner(self, state):
        return next((role for role in self.roles if has_row(state[0], role, 4)), None)

    def over(self, state):
        return self.winner(state) is not None or len(state[0]) == 42

    def goals(self, state):
        return self.versus(self.winner(state))


class Gomoku(ConnectFour):
    roles = ("black", "white")

    def moves(self, state):
        return [f"(place {x} {y})" for x, y in product(range(1, 16), repeat=2) if (x, y) not in state[0]]

    def play(self, state, move):
        cells, turn = state
        return cells | {self.numbers(move)[0]: self.roles[turn]}, 1 - turn

    def winner(self, state):
        return next((role for role in self.roles if has_row(state[0], role, 5)), None)

    def over(self, state):
        return self.winner(state) is not None or len(state[0]) == 225


class Hex(Gomoku):
    roles = ("red", "blue")

    def moves(self, state):
        return [f"(place {x} {y})" for x, y in product(range(1, 10), repeat=2) if (x, y) not in state[0]]

    def winner(self, state):
        for role, axis in (("red", 1), ("blue", 0)):
            mine = {square for square, owner in state[0].items() if owner == role}
            seen = {square for square in mine if square[axis] == 1}
            todo = list(seen)
            while todo:
                x, y = todo.pop()
                if (x, y)[axis] == 9:
                    return role
                for dx, dy in ((1, 0), (-1, 0), (0, 1), (0, -1), (1, -1), (-1, 1)):
                    near = (x + dx, y + dy)
                    if near in mine and near not in seen:
                        seen.add(near)
                        todo.append(near)
        return None

    def over(self, state):
        return self.winner(state) is not None


class Breakthrough(Again):
    roles = ("white", "black")
    letters = True

    def start(self):
        return {(x, y): "white" if y < 3 else "black" for x in range(1, 9) for y in (1, 2, 7, 8)}, 0

    def moves(self, state):
        cells, turn = state
        me, up = self.roles[turn], 1 - 2 * turn
        return [
            f"(move {self.spell((x, y), (x + dx, y + up))})"
            for (x, y), owner in cells.items()
            if owner == me
            for dx in (-1, 0, 1)
            if 1 <= x + dx <= 8
            and 1 <= y + up <= 8
            and cells.get((x + dx, y + up)) not in (me, *(() if dx else self.roles))
        ]

    def play(self, state, move):
        cells, turn = state
        here, there = self.numbers(move)
        return {s: p for s, p in cells.items() if s != here} | {there: self.roles[turn]}, 1 - turn

    def winner(self, state):
        cells = state[0]
        if any(cells.get((x, 8)) == "white" for x in range(1, 9)) or "black" not in cells.values():
            return "white"
        return (
            "black"
            if any(cells.get((x, 1)) == "black" for x in range(1, 9)) or "white" not in cells.values()
            else None
        )

    def over(self, state):
        return self.winner(state) is not None

    def goals(self, state):
        return self.versus(self.winner(state))


class Reversi(Again):
    roles = ("black", "white")
    letters = True

    def start(self):
        return {(4, 4): "white", (5, 4): "black", (4, 5): "black", (5, 5): "white"}, 0

    def flips(self, cells, square, me):
        found = []
        for dx, dy in EIGHT:
            line = []
            x, y = square[0] + dx, square[1] + dy
            while cells.get((x, y), me) != me:
                line.append((x, y))
                x, y = x + dx, y + dy
            if cells.get((x, y)) == me:
                found += line
        return found

    def places(self, cells, me):
        squares = product(range(1, 9), repeat=2)
        return [square for square in squares if square not in cells and self.flips(cells, square, me)]

    def moves(self, state):
        cells, turn = state
        return [f"(place {self.spell(square)})" for square in self.places(cells, self.roles[turn])] or [
            "pass"
        ]

    def play(self, state, move):
        cells, turn = state
        if move == "pass":
            return cells, 1 - turn
        square, me = self.numbers(move)[0], self.roles[turn]
        return cells | dict.fromkeys([square, *self.flips(cells, square, me)], me), 1 - turn

    def over(self, state):
        return not any(self.places(state[0], role) for role in self.roles)

    def goals(self, state):
        discs = list(state[0].values())
        lead = discs.count("black") - discs.count("white")
        return self.versus(None if lead == 0 else "black" if lead > 0 else "white")


class Amazons(Again):
    """The third part of a state is the amazon that is to shoot."""

    roles = ("white", "black")
    letters = True

    def start(self):
        white = dict.fromkeys([(1, 2), (2, 1), (5, 1), (6, 2)], "white")
        return white | dict.fromkeys([(1, 5), (2, 6), (5, 6), (6, 5)], "black"), 0, None

    def reach(self, cells, square):
        for dx, dy in EIGHT:
            x, y = square[0] + dx, square[1] + dy
            while 1 <= x <= 6 and 1 <= y <= 6 and (x, y) not in cells:
                yield x, y
                x, y = x + dx, y + dy

    def moves(self, state):
        cells, turn, armed = state
        if armed:
            return [f"(shoot {self.spell(to)})" for to in self.reach(cells, armed)]
        mine = [square for square, piece in cells.items() if piece == self.roles[turn]]
        return [f"(move {self.spell(here, to)})" for here in mine for to in self.reach(cells, here)]

    def play(self, state, move):
        cells, turn, armed = state
        squares = self.numbers(move)
        if armed:
            return cells | {squares[0]: "arrow"}, 1 - turn, None
        here, there = squares
        return {s: p for s, p in cells.items() if s != here} | {there: self.roles[turn]}, turn, there

    def facts(self, state):
        return super().facts(state) | ({f"(armed {self.spell(state[2])})"} if state[2] else set())

    def over(self, state):
        return not self.moves(state)

    def goals(self, state):
        return self.versus(self.roles[1 - state[1]] if self.over(state) else None)


class Checkers(Again):
    """Third and fourth part of a state: the piece that goes on jumping, the idle steps."""

    roles = ("black", "white")
    letters = True

    def start(self):
        dark = [(x, y) for x, y in product(range(1, 9), repeat=2) if (x + y) % 2 == 0]
        return {(x, y): "bm" if y < 4 else "wm" for x, y in dark if y not in (4, 5)}, 0, None, 0

    def ways(self, piece):
        return [
            (dx, dy)
            for dx in (-1, 1)
            for dy in (-1, 1)
            if piece[1] == "k" or dy == (1 if piece == "bm" else -1)
        ]

    def jumps(self, cells, square):
        piece = cells[square]
        for dx, dy in self.ways(piece):
            x, y = square
            over, to = (x + dx, y + dy), (x + 2 * dx, y + 2 * dy)
            if (
                over in cells
                and cells[over][0] != piece[0]
                and to not in cells
                and 1 <= to[0] <= 8
                and 1 <= to[1] <= 8
            ):
                yield to

    def moves(self, state):
        cells, turn, going, _ = state
        mine = [going] if going else [s for s, piece in cells.items() if piece[0] == "bw"[turn]]
        jumps = [f"(jump {self.spell(here, to)})" for here in mine for to in self.jumps(cells, here)]
        if jumps:
            return jumps
        steps = [((x, y), (x + dx, y + dy)) for x, y in mine for dx, dy in self.ways(cells[x, y])]
        return [
            f"(move {self.spell(here, (x, y))})"
            for here, (x, y) in steps
            if 1 <= x <= 8 and 1 <= y <= 8 and (x, y) not in cells
        ]

    def play(self, state, move):
        cells, turn, _, idle = state
        (x1, y1), (x2, y2) = self.numbers(move)
        piece = cells[x1, y1]
        crowned = piece[1] == "m" and y2 in (1, 8)
        cells = {s: p for s, p in cells.items() if s != (x1, y1)} | {
            (x2, y2): piece[0] + "k" if crowned else piece
        }
        if "jump" not in move:
            return cells, 1 - turn, None, 0 if piece[1] == "m" else idle + 1
        del cells[(x1 + x2) // 2, (y1 + y2) // 2]
        if not crowned and any(self.jumps(cells, (x2, y2))):
            return cells, turn, (x2, y2), 0
        return cells, 1 - turn, None, 0

    def facts(self, state):
        going = {f"(jumping {self.spell(state[2])})"} if state[2] else set()
        return super().facts(state) | going | {f"(idle {state[3]})"}

    def over(self, state):
        return not self.moves(state) or state[3] == 80

    def goals(self, state):
        return self.versus(None if self.moves(state) else self.roles[1 - state[1]])


class Trefoil(Again):
    roles = ("red", "green", "blue")
    fields = frozenset((x, y) for x, y in product(range(1, 8), repeat=2) if abs(x - 4 + y - 4) <= 3)

    def start(self):
        return {(4, 1): "red", (7, 4): "green", (1, 7): "blue"}, 0

    def near(self, x, y):
        around = ((1, 0), (-1, 0), (0, 1), (0, -1), (1, -1), (-1, 1))
        return self.fields & {(x + dx, y + dy) for dx, dy in around}

    def moves(self, state):
        cells, turn = state
        free = {
            n for s, owner in cells.items() if owner == self.roles[turn] for n in self.near(*s)
        } - cells.keys()
        return [f"(grow {self.spell(square)})" for square in free] or ["pass"]

    def play(self, state, move):
        cells, turn = state
        if move != "pass":
            (square,) = self.numbers(move)
            cells = cells | dict.fromkeys([square, *(self.near(*square) & cells.keys())], self.roles[turn])
        return cells, (turn + 1) % 3

    def over(self, state):
        return len(state[0]) == len(self.fields) == 37

    def goals(self, state):
        leaves = {role: list(state[0].values()).count(role) for role in self.roles}
        return {
            r: sum(50 * (leaves[r] > leaves[o]) + 25 * (leaves[r] == leaves[o]) for o in self.roles if o != r)
            for r in self.roles
        }


class Tron(Again):
    """State: the walls, then for each cycle its square, or None when it has crashed."""

    roles = ("blue", "orange")

    def start(self):
        return {(3, 5): "blue", (8, 6): "orange"}, ((3, 5), (8, 6))

    def legal(self, state):
        cells, cycles = state
        found = {}
        for role, cycle in zip(self.roles, cycles, strict=True):
            ways = [way for way in WAYS if cycle and self.free(cells, self.ahead(cycle, way))]
            found[role] = sorted(f"(drive {way})" for way in ways) or ["crash"]
        return found

    def ahead(self, cycle, way):
        dx, dy = WAYS[way]
        return cycle[0] + dx, cycle[1] + dy

    def free(self, cells, square):
        return square not in cells and 1 <= square[0] <= 10 and 1 <= square[1] <= 10

    def apply(self, state, joint):
        cells, cycles = state
        words = [move.strip("()").split()[-1] for move in joint]
        places = [None if w == "crash" else self.ahead(c, w) for w, c in zip(words, cycles, strict=True)]
        if places[0] == places[1]:
            places = [None, None]
        return cells | {p: r for p, r in zip(places, self.roles, strict=True) if p}, tuple(places)

    def facts(self, state):
        cells, cycles = state
        return {f"(cell {self.spell(square)} {role})" for square, role in cells.items()} | {
            f"(cycle {role} {self.spell(cycle)})" if cycle else f"(crashed {role})"
            for role, cycle in zip(self.roles, cycles, strict=True)
        }

    def over(self, state):
        return None in state[1]

    def goals(self, state):
        blue, orange = state[1]
        return self.versus(None if bool(blue) == bool(orange) else "blue" if blue else "orange")


AGAIN = {
    "amazons": Amazons(),
    "breakthrough": Breakthrough(),
    "checkers": Checkers(),
    "connectFour": ConnectFour(),
    "gomoku": Gomoku(),
    "hex": Hex(),
    "reversi": Reversi(),
    "trefoil": Trefoil(),
    "tron": Tron(),
}
PLAYOUTS = {"gomoku": 1, "reversi": 2, "hex": 2, "tron": 20, "connectFour": 15}
"""Random games compared (default: 5)."""
NAMES = (*AGAIN, "chess")


@pytest.fixture(scope="module")
def sheets():
    """Each rulesheet, loaded once."""
    return {name: herbrand.load(name) for name in NAMES}


# ---- rulesheet against Python -----------------------------------------------------------------


@pytest.mark.slow_except("checkers", "breakthrough", "hex", "tron", "trefoil")
@pytest.mark.parametrize("name", AGAIN)
def test_rulesheet_and_python_agree_along_random_games(sheets, name):
    """Facts, legal moves, end and goals are the same in every state of some random games."""
    again = AGAIN[name]
    chance = random.Random(f"herbrand {name}")
    for _ in range(PLAYOUTS.get(name, 5)):
        ours, theirs = sheets[name].initial_state(), again.start()
        while True:
            assert ours.facts == again.facts(theirs)
            assert ours.is_terminal == again.over(theirs)
            assert ours.goals == again.goals(theirs)
            if ours.is_terminal:
                break
            legal = again.legal(theirs)
            assert {role: sorted(map(str, moves)) for role, moves in ours.legal_moves().items()} == legal
            joint = tuple(chance.choice(legal[role]) for role in again.roles)
            ours, theirs = ours.next(joint), again.apply(theirs, joint)


@pytest.mark.parametrize("name", NAMES)
def test_nothing_to_remark_but_notes(sheets, name):
    """The checks find nothing worth more than a note."""
    found = [d for d in sheets[name].diagnostics if d.severity is not herbrand.Severity.NOTE]
    assert not found, "\n".join(map(str, found))


@pytest.mark.slow_except(*(name for name in NAMES if name != "chess"))
@pytest.mark.parametrize("name", NAMES)
def test_declared_moves_and_fluents_contain_the_met_ones(sheets, name):
    """Every fact and every legal move of two random games is declared by `base` and `input`."""
    chance = random.Random(f"declared {name}")
    state = sheets[name].initial_state()
    base = {answer["fluent"] for answer in state.ask("(base ?fluent)")}
    declared = {(answer["role"], answer["move"]) for answer in state.ask("(input ?role ?move)")}
    for _ in range(2):
        state = sheets[name].initial_state()
        for _ in range(80):
            assert state.facts <= base
            if state.is_terminal:
                break
            legal = state.legal_moves()
            assert {(role, str(move)) for role, moves in legal.items() for move in moves} <= declared
            state = state.next([chance.choice(moves) for moves in legal.values()])


# ---- draughts: turns are counted in the literature, single jumps by the rulesheet ------------------


def turns(state, depth):
    """Sequences of whole turns: the jumps of one piece in one turn count as one move."""
    if depth == 0 or state.is_terminal:
        return int(depth == 0)
    legal = state.legal_moves()
    (mover,) = (role for role in legal if [str(move) for move in legal[role]] != ["noop"])
    total = 0
    for joint in product(*legal.values()):
        after = state.next(joint)
        goes_on = f"(control {mover})" in after.facts
        total += turns(after, depth if goes_on else depth - 1)
    return total


def test_draughts_has_the_published_numbers_of_turns(sheets):
    """7, 49, 302, 1469: the counts of English draughts with a whole sequence of jumps as one move."""
    start = sheets["checkers"].initial_state()
    assert [turns(start, depth) for depth in (1, 2, 3, 4)] == [7, 49, 302, 1469]


def test_draughts_a_sequence_of_jumps_stays_with_one_piece(sheets):
    """After the first of two jumps the same player goes on with the same piece, and only with it."""
    facts = [
        "(cell a 1 bm)",
        "(cell b 2 wm)",
        "(cell d 4 wm)",
        "(cell g 1 bm)",
        "(cell h 2 wm)",
        "(control black)",
    ]
    state = sheets["checkers"].state([*facts, "(idle 5)"])
    assert [str(move) for move in state.legal_moves("black")] == ["(jump a 1 c 3)"]
    state = state.next(("(jump a 1 c 3)", "noop"))
    assert {"(jumping c 3)", "(control black)", "(idle 0)"} <= state.facts
    assert [str(move) for move in state.legal_moves("black")] == ["(jump c 3 e 5)"]
    assert [str(move) for move in state.legal_moves("white")] == ["noop"]
    state = state.next(("(jump c 3 e 5)", "noop"))
    assert state.facts == {"(cell e 5 bm)", "(cell g 1 bm)", "(cell h 2 wm)", "(control white)", "(idle 0)"}


def test_draughts_crowning_ends_the_turn(sheets):
    """A man that becomes a king by a jump does not go on, although a king could."""
    facts = ["(cell b 6 bm)", "(cell c 7 wm)", "(cell e 7 wm)", "(control black)", "(idle 0)"]
    state = sheets["checkers"].state(facts).next(("(jump b 6 d 8)", "noop"))
    assert state.facts == {"(cell d 8 bk)", "(cell e 7 wm)", "(control white)", "(idle 0)"}


def test_draughts_is_drawn_after_eighty_idle_steps(sheets):
    """The counter ends the game with 50 for both."""
    state = sheets["checkers"].state(["(cell a 1 bk)", "(cell h 8 wk)", "(control black)", "(idle 79)"])
    assert not state.is_terminal
    state = state.next(("(move a 1 b 2)", "noop"))
    assert state.is_terminal
    assert state.goals == {"black": 50, "white": 50}


# ---- single rules of the others ---------------------------------------------------------------------


def test_reversi_forces_a_pass(sheets):
    """Who cannot turn a disc passes; when the other cannot either, the game is over."""
    stuck = ["(cell a 1 black)", "(cell b 1 white)"]
    state = sheets["reversi"].state([*stuck, "(control white)"])
    assert [str(move) for move in state.legal_moves("white")] == ["pass"]
    assert not state.is_terminal
    state = state.next(("noop", "pass"))
    assert [str(move) for move in state.legal_moves("black")] == ["(place c 1)"]
    state = state.next(("(place c 1)", "noop"))
    assert state.facts == {"(cell a 1 black)", "(cell b 1 black)", "(cell c 1 black)", "(control white)"}
    assert state.is_terminal
    assert state.goals == {"black": 100, "white": 0}


def test_tron_head_on(sheets):
    """Two cycles that drive to one square have both crashed."""
    facts = ["(cell 3 3 blue)", "(cycle blue 3 3)", "(cell 5 3 orange)", "(cycle orange 5 3)"]
    state = sheets["tron"].state(facts).next(("(drive east)", "(drive west)"))
    assert state.is_terminal
    assert state.goals == {"blue": 50, "orange": 50}
    assert "(cell 4 3 blue)" not in state.facts


# ---- chess --------------------------------------------------------------------------------------------


def position(fen):
    """The facts of a position in Forsyth-Edwards notation."""
    board, turn, rights, passed, quiet = fen.split()[:5]
    facts = [f"(control {'white' if turn == 'w' else 'black'})", f"(quiet {quiet})"]
    for rank, row in zip(range(8, 0, -1), board.split("/"), strict=True):
        file = 0
        for sign in row:
            if sign.isdigit():
                file += int(sign)
            else:
                piece = ("w" if sign.isupper() else "b") + sign.lower()
                facts.append(f"(cell {LETTERS[file]} {rank} {piece})")
                file += 1
    names = {"K": "white kingside", "Q": "white queenside", "k": "black kingside", "q": "black queenside"}
    facts += [f"(right {names[sign]})" for sign in rights if sign != "-"]
    if passed != "-":
        facts.append(f"(passed {passed[0]} {passed[1]})")
    return facts


def count(state, depth):
    """Joint-move sequences of that length."""
    legal = state.legal_moves()
    joints = list(product(*legal.values())) if not state.is_terminal else []
    return len(joints) if depth == 1 else sum(count(state.next(joint), depth - 1) for joint in joints)


KIWIPETE = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1"
ENDGAME = "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1"
MIRRORED = "r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1"
TALKCHESS = "rnbq1k1r/pp1Pbppp/2p5/8/2B5/8/PPP1NnPP/RNBQK2R w KQ - 1 8"
MIDDLEGAME = "r4rk1/1pp1qppp/p1np1n2/2b1p1B1/2B1P1b1/P1NP1N2/1PP1QPPP/R4RK1 w - - 0 10"


@pytest.mark.parametrize(
    ("fen", "counts"),
    [
        (KIWIPETE, (48, 2039)),
        (ENDGAME, (14, 191, 2812)),
        (MIRRORED, (6, 264)),
        (TALKCHESS, (44, 1486)),
        (MIDDLEGAME, (46, 2079)),
    ],
)
def test_chess_counts_of_well_known_positions(sheets, fen, counts):
    """The numbers of move sequences are those that chess programs publish for these positions."""
    state = sheets["chess"].state(position(fen), engine="rules")
    for depth, expected in enumerate(counts, 1):
        assert count(state, depth) == expected


@pytest.mark.slow
@pytest.mark.parametrize(("fen", "depth", "expected"), [(MIRRORED, 3, 9467), (ENDGAME, 4, 43238)])
def test_chess_counts_of_well_known_positions_deeper(sheets, fen, depth, expected):
    """The same, one half-move deeper."""
    assert count(sheets["chess"].state(position(fen), engine="rules"), depth) == expected


def moves_of(sheets, fen):
    state = sheets["chess"].state(position(fen), engine="rules")
    return [str(move) for role in state.roles for move in state.legal_moves(role) if str(move) != "noop"]


def test_chess_mate_stalemate_and_bare_kings(sheets):
    """Mate is won, stalemate and bare kings are drawn, and a mate on the hundredth quiet half-move counts."""
    ends = {
        "R5k1/5ppp/8/8/8/8/8/4K3 b - - 0 1": (100, 0),
        "R5k1/5ppp/8/8/8/8/8/4K3 b - - 100 1": (100, 0),
        "7k/5Q2/6K1/8/8/8/8/8 b - - 0 1": (50, 50),
        "8/8/4k3/8/8/4K3/8/8 w - - 0 1": (50, 50),
        "8/8/4k3/8/8/4K1N1/8/8 w - - 0 1": (50, 50),
        "8/8/4k3/8/8/4K2R/8/8 w - - 100 1": (50, 50),
    }
    for fen, (white, black) in ends.items():
        state = sheets["chess"].state(position(fen), engine="rules")
        assert state.is_terminal, fen
        assert state.goals == {"white": white, "black": black}, fen
    assert not sheets["chess"].state(position("8/8/4k3/8/8/4K1NN/8/8 w - - 99 1"), engine="rules").is_terminal


def test_chess_capture_in_passing_may_not_expose_the_king(sheets):
    """Both pawns leave the rank at once; a rook behind them would attack the king."""
    assert "(move bp e 4 d 3)" not in moves_of(sheets, "8/8/8/8/k2Pp2Q/8/8/3K4 b - d3 0 1")
    assert "(move bp e 4 d 3)" in moves_of(sheets, "8/8/8/k7/3Pp2Q/8/8/3K4 b - d3 0 1")


def test_chess_capture_in_passing_takes_the_checking_pawn(sheets):
    """The pawn that has just given check by its double step may be taken in passing."""
    fen = "8/8/8/2k5/3Pp3/8/8/4K3 b - d3 0 1"
    assert "(move bp e 4 d 3)" in moves_of(sheets, fen)
    state = sheets["chess"].state(position(fen), engine="rules").next(("noop", "(move bp e 4 d 3)"))
    assert state.facts == {"(cell d 3 bp)", "(cell c 5 bk)", "(cell e 1 wk)", "(control white)", "(quiet 0)"}


def test_chess_castling(sheets):
    """King and rook move, all rights of that side are gone; not through, out of or into check."""
    castles = {"(castle kingside)", "(castle queenside)"}
    state = sheets["chess"].state(position("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 3 9"), engine="rules")
    after = state.next(("(castle queenside)", "noop"))
    assert {"(cell c 1 wk)", "(cell d 1 wr)", "(cell h 1 wr)", "(quiet 4)"} <= after.facts
    assert {fact for fact in after.facts if "right" in fact} == {
        "(right black kingside)",
        "(right black queenside)",
    }
    for fen, allowed in {
        "r3k2r/8/8/8/8/8/8/R3K2R w KQ - 0 1": castles,
        "4k3/8/8/8/8/8/8/R3K2R w K - 0 1": {"(castle kingside)"},
        "4kr2/8/8/8/8/8/8/R3K2R w KQ - 0 1": {"(castle queenside)"},
        "1r2k3/8/8/8/8/8/8/R3K2R w KQ - 0 1": castles,
        "4k3/8/8/8/8/8/4r3/R3K2R w KQ - 0 1": set(),
        "4k3/8/8/8/8/8/8/RN2K1NR w KQ - 0 1": set(),
    }.items():
        assert castles & set(moves_of(sheets, fen)) == allowed, fen


def test_chess_agrees_with_python_chess_along_random_games(sheets):
    """Facts, legal moves, end and goals are those of python-chess (but for repetition and claims)."""
    chess = pytest.importorskip("chess")

    def spell(board, move):
        places = [f"{LETTERS[square % 8]} {square // 8 + 1}" for square in (move.from_square, move.to_square)]
        colour = "w" if board.turn else "b"
        if board.is_castling(move):
            return f"(castle {'kingside' if move.to_square % 8 > 4 else 'queenside'})"
        if move.promotion:
            return f"(promote {' '.join(places)} {colour}{chess.piece_symbol(move.promotion)})"
        return f"(move {colour}{board.piece_at(move.from_square).symbol().lower()} {' '.join(places)})"

    chance = random.Random(64)
    for _ in range(4):
        board, state = chess.Board(), sheets["chess"].initial_state("rules")
        for _ in range(120):
            assert state.facts == set(position(board.fen(en_passant="fen")))
            bare = board.is_insufficient_material() and len(board.piece_map()) < 4
            over = not any(board.legal_moves) or board.halfmove_clock >= 100 or bare
            assert state.is_terminal == over
            mated = None if not board.is_checkmate() else state.roles[not board.turn]
            assert state.goals == {
                role: 50 if mated is None else 100 * (role != mated) for role in state.roles
            }
            if over:
                break
            legal = {spell(board, move): move for move in board.legal_moves}
            mover = state.roles[not board.turn]
            assert {str(move) for move in state.legal_moves(mover)} == legal.keys()
            move = chance.choice(sorted(legal))
            state = state.next({role: move if role == mover else "noop" for role in state.roles})
            board.push(legal[move])


# ---- the collection itself ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_page_of_facts(sheets, name):
    """The page beside each sheet has every field, and the roles of the sheet."""
    page = games.info(name)
    assert page["name"] == name
    assert tuple(page["roles"]) == sheets[name].roles
    for field in ("title", "rules_source", "description"):
        assert page[field].strip()
    assert page["features"]
    assert page["perft"]
    assert all(known["fact"] and "value" in known and known["source"] for known in page["known"])


def test_names_are_looked_up_without_case():
    """Whatever the case, the same file; a sheet's text is what stands in it."""
    assert games.path("CONNECTFOUR") == games.path("connectFour")
    assert games.text("connectfour").startswith(";;; Connect Four")
    assert set(NAMES) <= set(games.names())


def test_an_unknown_name_is_answered_with_the_nearest_one():
    """The message suggests a game that exists."""
    with pytest.raises(FileNotFoundError, match="did you mean `reversi`"):
        games.path("revresi")
    with pytest.raises(FileNotFoundError, match="one of: amazons, "):
        games.info("zzzzzz")
