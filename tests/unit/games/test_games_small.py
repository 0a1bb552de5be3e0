"""The small bundled games do what their descriptions say.

Each game is written down a second time as a few lines of plain Python (the classes below), without
GDL.  The rulesheet and the Python must agree in legal moves, end and goals, in every state of the
small games and along random playouts of the others; numbers that are known from the literature are
checked on both.
"""

from __future__ import annotations

import itertools
import json
import random
from collections import Counter, deque
from fractions import Fraction
from pathlib import Path

import pytest

import herbrand
from herbrand.check.features import features

GAMES = Path(herbrand.__file__).parent / "games"
PERFT = Path(__file__).parents[2] / "perft"


# ---- the games again, in Python ------------------------------------------------------------


class Again:
    """A game in plain Python: states are hashable values, moves are KIF strings."""

    roles: tuple[str, ...] = ("solver",)
    start: object

    def legal(self, state):
        """Return the list of moves of each role."""
        raise NotImplementedError

    def apply(self, state, joint):
        """Return the state after the joint move (moves in the order of `roles`)."""
        raise NotImplementedError

    def goals(self, state):
        """Return the goal value of each role, or None as long as the game goes on."""
        raise NotImplementedError


class TicTacToe(Again):
    """State: nine marks row by row, and how many are written."""

    lines = ((0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6))

    def __init__(self, roles=("xplayer", "oplayer"), start="b" * 9):
        self.roles = roles
        self.start = start

    def turn(self, state):
        return (9 - state.count("b")) % 2

    def legal(self, state):
        turn = self.turn(state)
        marks = [f"(mark {i // 3 + 1} {i % 3 + 1})" for i in range(9) if state[i] == "b"]
        return [marks, ["noop"]][:: -1 if turn else 1]

    def apply(self, state, joint):
        turn = self.turn(state)
        _, row, column = joint[turn].strip("()").split()
        i = int(row) * 3 + int(column) - 4
        return state[:i] + "xo"[turn] + state[i + 1 :]

    def goals(self, state):
        for mark, goals in (("x", (100, 0)), ("o", (0, 100))):
            if any(all(state[i] == mark for i in line) for line in self.lines):
                return goals
        return None if "b" in state else (50, 50)


class Nim(Again):
    """State: the piles, and who is to move."""

    roles = ("first", "second")
    start = ((3, 4, 5), 0)

    def legal(self, state):
        piles, turn = state
        takes = [f"(take {'abc'[i]} {n})" for i in range(3) for n in range(1, piles[i] + 1)]
        return [takes, ["noop"]][:: -1 if turn else 1]

    def apply(self, state, joint):
        piles, turn = state
        _, pile, taken = joint[turn].strip("()").split()
        i = "abc".index(pile)
        return (*piles[:i], piles[i] - int(taken), *piles[i + 1 :]), 1 - turn

    def goals(self, state):
        piles, turn = state
        return None if any(piles) else ((0, 100), (100, 0))[turn]


class Hanoi(Again):
    """State: the peg of each disc, smallest first, and the number of moves made."""

    start = ("aaaaa", 0)

    def legal(self, state):
        pegs, _ = state
        top = {peg: pegs.find(peg) if peg in pegs else 5 for peg in "abc"}
        return [[f"(move {top[a] + 1} {a} {b})" for a in "abc" for b in "abc" if top[a] < top[b]]]

    def apply(self, state, joint):
        pegs, moves = state
        _, disc, _, to = joint[0].strip("()").split()
        i = int(disc) - 1
        return pegs[:i] + to + pegs[i + 1 :], moves + 1

    def goals(self, state):
        pegs, moves = state
        placed = len(pegs) - len(pegs.rstrip("c"))
        return (20 * placed,) if placed == 5 or moves == 31 else None


class EightPuzzle(Again):
    """State: the tiles row by row, and the number of moves made."""

    start = ("8672543b1", 0)

    def legal(self, state):
        row, column = divmod(state[0].index("b"), 3)
        around = ((row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1))
        return [[f"(slide {r + 1} {c + 1})" for r, c in around if 0 <= r < 3 and 0 <= c < 3]]

    def apply(self, state, joint):
        tiles, moves = state
        _, row, column = joint[0].strip("()").split()
        moved = tiles[int(row) * 3 + int(column) - 4]
        return tiles.translate({ord(moved): "b", ord("b"): moved}), moves + 1

    def goals(self, state):
        tiles, moves = state
        return (100,) if tiles == "12345678b" else (0,) if moves == 40 else None


class LightsOut(Again):
    """State: the lit lamps as bits, and the number of presses."""

    start = ((1 << 25) - 1, 0)

    @staticmethod
    def pattern(row, column):
        cross = ((row, column), (row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1))
        return sum(1 << (r * 5 + c) for r, c in cross if 0 <= r < 5 and 0 <= c < 5)

    def legal(self, state):
        return [[f"(press {r} {c})" for r in range(1, 6) for c in range(1, 6)]]

    def apply(self, state, joint):
        lit, presses = state
        _, row, column = joint[0].strip("()").split()
        return lit ^ self.pattern(int(row) - 1, int(column) - 1), presses + 1

    def goals(self, state):
        lit, presses = state
        return (100,) if not lit else (0,) if presses == 20 else None


class RockPaperScissors(Again):
    """State: rounds played, rounds won by left and by right."""

    roles = ("left", "right")
    start = (0, 0, 0)

    def legal(self, state):
        return [["(show rock)", "(show paper)", "(show scissors)"]] * 2

    def apply(self, state, joint):
        played, left, right = state
        a, b = (["(show rock)", "(show paper)", "(show scissors)"].index(move) for move in joint)
        return played + 1, left + ((a - b) % 3 == 1), right + ((b - a) % 3 == 1)

    def goals(self, state):
        played, left, right = state
        if played < 5 and max(left, right) < 3:
            return None
        return (100, 0) if left > right else (0, 100) if right > left else (50, 50)


class PrisonersDilemma(Again):
    """State: rounds played, points of both, choices of the last round."""

    roles = ("left", "right")
    start = (0, 0, 0, None)

    def legal(self, state):
        return [["cooperate", "defect"]] * 2

    def apply(self, state, joint):
        played, left, right, _ = state
        won = {"cc": (6, 6), "cd": (0, 10), "dc": (10, 0), "dd": (2, 2)}[joint[0][0] + joint[1][0]]
        return played + 1, left + won[0], right + won[1], tuple(joint)

    def goals(self, state):
        played, left, right, _ = state
        return (left, right) if played == 10 else None


class BlocksWorld(Again):
    """State: the towers, each from the table upwards, and the number of moves."""

    roles = ("robot",)
    start = (frozenset({"ac", "bed"}), 0)

    def legal(self, state):
        towers, _ = state
        tops = [tower[-1] for tower in towers]
        moves = [f"(put {a} {b})" for a in tops for b in tops if a != b]
        return [moves + [f"(put {tower[-1]} table)" for tower in towers if len(tower) > 1]]

    def apply(self, state, joint):
        towers, moves = state
        _, block, place = joint[0].strip("()").split()
        left = [tower.removesuffix(block) for tower in towers]
        if place == "table":
            left.append(block)
        return frozenset(t + block * (t[-1] == place) for t in left if t), moves + 1

    def goals(self, state):
        towers, moves = state
        placed = max(next(n for n in range(5, -1, -1) if t.startswith("edcba"[:n])) for t in towers)
        return (20 * placed,) if placed == 5 or moves == 8 else None


class Sudoku(Again):
    """State: the 81 squares row by row, 0 for a free one."""

    start = (
        "240700001" "050000002" "080005039" "009004310" "000971000"
        "024300800" "490500070" "800000060" "300008054"
    )  # fmt: skip
    solution = (
        "243769581" "957183642" "681245739" "769824315" "538971426"
        "124356897" "496532178" "815497263" "372618954"
    )  # fmt: skip
    near = tuple(
        frozenset(
            j
            for j in range(81)
            if i // 9 == j // 9 or i % 9 == j % 9 or (i // 27, i % 9 // 3) == (j // 27, j % 9 // 3)
        )
        for i in range(81)
    )

    def candidates(self, state, i):
        return sorted(set("123456789") - {state[j] for j in self.near[i]})

    def legal(self, state):
        return [
            [
                f"(write {i // 9 + 1} {i % 9 + 1} {digit})"
                for i in range(81)
                if state[i] == "0"
                for digit in self.candidates(state, i)
            ]
        ]

    def apply(self, state, joint):
        _, row, column, digit = joint[0].strip("()").split()
        i = int(row) * 9 + int(column) - 10
        return state[:i] + digit + state[i + 1 :]

    def goals(self, state):
        return (100,) if "0" not in state else None if self.legal(state)[0] else (0,)


class KnightsTour(Again):
    """State: the squares visited, in order."""

    roles = ("rider",)
    start = ((1, 1),)

    def legal(self, state):
        row, column = state[-1]
        squares = [(row + a, column + b) for a in (-2, -1, 1, 2) for b in (-2, -1, 1, 2) if abs(a) != abs(b)]
        return [[f"(jump {r} {c})" for r, c in squares if 0 < r < 6 and 0 < c < 6 and (r, c) not in state]]

    def apply(self, state, joint):
        _, row, column = joint[0].strip("()").split()
        return (*state, (int(row), int(column)))

    def goals(self, state):
        jumps = len(state) - 1
        return None if self.legal(state)[0] else (100 if jumps == 24 else 4 * jumps,)


class MontyHall(Again):
    """State: the car, the door chosen, the door opened, whether the candidate has decided."""

    roles = ("candidate", "random")
    start = (None, None, None, False)

    def legal(self, state):
        car, chosen, opened, _ = state
        if car is None:
            return [[f"(choose {d})" for d in "123"], [f"(hide {d})" for d in "123"]]
        if opened is None:
            return [["noop"], [f"(open {d})" for d in "123" if d not in (car, chosen)]]
        return [["stay", "switch"], ["noop"]]

    def apply(self, state, joint):
        car, chosen, opened, _ = state
        if car is None:
            return joint[1][6], joint[0][8], None, False
        if opened is None:
            return car, chosen, joint[1][6], False
        if joint[0] == "switch":
            chosen = next(d for d in "123" if d not in (chosen, opened))
        return car, chosen, opened, True

    def goals(self, state):
        car, chosen, _, decided = state
        return (100 * (car == chosen), 0) if decided else None


class Kuhn(Again):
    """State: the two cards, and the actions so far."""

    roles = ("first", "second", "random")
    start = ((), ())
    cards = ("jack", "queen", "king")

    def legal(self, state):
        cards, actions = state
        if not cards:
            return [["noop"], ["noop"], [f"(deal {a} {b})" for a in self.cards for b in self.cards if a != b]]
        options = ["fold", "call"] if "bet" in actions else ["check", "bet"]
        return [*([options, ["noop"]][:: -1 if len(actions) % 2 else 1]), ["noop"]]

    def apply(self, state, joint):
        cards, actions = state
        if not cards:
            return tuple(joint[2].strip("()").split()[1:]), ()
        return cards, (*actions, joint[len(actions) % 2])

    def goals(self, state):
        cards, actions = state
        if actions[-1:] == ("fold",):
            won = 1 if len(actions) % 2 == 0 else -1
        elif actions[-1:] == ("call",) or actions == ("check", "check"):
            better = self.cards.index(cards[0]) > self.cards.index(cards[1])
            won = (1 if better else -1) * (2 if "call" in actions else 1)
        else:
            return None
        return 50 + 25 * won, 50 - 25 * won, 0


AGAIN = {
    "ticTacToe.kif": TicTacToe(),
    "ticTacToeInfix.hrf": TicTacToe(roles=("x", "o")),
    "ticTacToe3.pl": TicTacToe(roles=("white", "black"), start="xxobobbox"),
    "nim.kif": Nim(),
    "hanoi.kif": Hanoi(),
    "eightPuzzle.kif": EightPuzzle(),
    "lightsOut.kif": LightsOut(),
    "rockPaperScissors.kif": RockPaperScissors(),
    "prisonersDilemma.kif": PrisonersDilemma(),
    "blocksWorld.kif": BlocksWorld(),
    "sudoku.kif": Sudoku(),
    "knightsTour.kif": KnightsTour(),
    "montyHall.kif": MontyHall(),
    "kuhn.kif": Kuhn(),
}
"""Every rulesheet of this kind, with the same game in Python."""


@pytest.fixture(scope="module")
def games():
    """Each rulesheet, loaded once."""
    return {file: herbrand.load(GAMES / file) for file in AGAIN}


def joints(legal):
    """All joint moves of the lists of moves of the roles."""
    return itertools.product(*legal)


def level_counts(again, depth):
    """Perft by merging equal states: for each depth the sequences, and how many of them have ended."""
    level = Counter({again.start: 1})
    rows = []
    for _ in range(depth):
        following = Counter()
        for state, ways in level.items():
            if again.goals(state) is None:
                for joint in joints(again.legal(state)):
                    following[again.apply(state, joint)] += ways
        if not following:
            break
        level = following
        ended = sum(ways for state, ways in level.items() if again.goals(state) is not None)
        rows.append((level.total(), ended))
    return rows


def assert_same(again, theirs, ours):
    """The state of the rulesheet and that of the Python game agree in all that can be seen."""
    goals = again.goals(theirs)
    assert ours.is_terminal == (goals is not None), theirs
    if goals is not None:
        assert tuple(ours.goals[role] for role in again.roles) == goals, theirs
        assert all(len(ours.goal_values(role)) == 1 for role in again.roles), theirs
    else:
        legal = [sorted(map(str, ours.legal_moves(role))) for role in again.roles]
        assert legal == [sorted(moves) for moves in again.legal(theirs)], theirs


def explore(again, game, limit):
    """Walk both breadth first, every state once; return how many states there were (at most `limit`)."""
    seen = {again.start: game.initial_state()}
    queue = deque(seen)
    while queue and len(seen) < limit:
        theirs = queue.popleft()
        ours = seen[theirs]
        assert_same(again, theirs, ours)
        if ours.is_terminal:
            continue
        for joint in joints(again.legal(theirs)):
            following = again.apply(theirs, joint)
            result = ours.next(joint)
            if following in seen:
                assert seen[following] == result, (theirs, joint)
            else:
                seen[following] = result
                queue.append(following)
    return len(seen)


def playout(again, game, rng):
    """One random playout of both side by side; return its length."""
    theirs, ours = again.start, game.initial_state()
    for length in itertools.count():
        assert_same(again, theirs, ours)
        if ours.is_terminal:
            return length
        joint = tuple(rng.choice(moves) for moves in again.legal(theirs))
        theirs, ours = again.apply(theirs, joint), ours.next(joint)
    raise AssertionError


# ---- every game ----------------------------------------------------------------------------


@pytest.mark.parametrize("file", AGAIN)
def test_playouts_agree(games, file):
    """Random playouts of rulesheet and Python game agree in every state, and every playout ends."""
    rng = random.Random(1)
    playouts = 2 if file in {"sudoku.kif", "lightsOut.kif"} else 5
    lengths = [playout(AGAIN[file], games[file], rng) for _ in range(playouts)]
    assert min(lengths) > 0


STATES = {
    "ticTacToe3.pl": 12,
    "nim.kif": 232,
    "rockPaperScissors.kif": 48,
    "montyHall.kif": 34,
    "kuhn.kif": 55,
}
"""Number of states of the games that are small enough to see all of them at once."""


@pytest.mark.parametrize(("file", "states"), STATES.items())
def test_all_states_agree(games, file, states):
    """All reachable states agree, and there are as many as counted."""
    assert explore(AGAIN[file], games[file], limit=10_000) == states


@pytest.mark.parametrize(
    ("file", "states"),
    [
        ("ticTacToe.kif", 5478),
        pytest.param("ticTacToeInfix.hrf", 5478, marks=pytest.mark.slow),
        ("hanoi.kif", 2753),
        ("blocksWorld.kif", 2075),
    ],
)
def test_all_states_of_larger_games_agree(games, file, states):
    """All reachable states agree, and there are as many as known."""
    assert explore(AGAIN[file], games[file], limit=10_000) == states


@pytest.mark.parametrize("file", AGAIN)
def test_no_findings(games, file):
    """The checks find nothing at all, but for the goal of `random`, which other programs ask for."""
    found = [d.check for d in games[file].diagnostics]
    assert found == ["random-goal"] * ("random" in AGAIN[file].roles)


@pytest.mark.parametrize("file", AGAIN)
def test_roles(games, file):
    """The roles are those of the Python game, in its order."""
    assert games[file].roles == AGAIN[file].roles


def read_perft(name):
    """The rows `depth count [terminal]` of a table in tests/perft."""
    text = (PERFT / f"{name}.perft").read_text()
    lines = [line.split(";")[0].split() for line in text.splitlines()]
    return [tuple(map(int, line)) for line in lines if line]


@pytest.mark.slow_except(*(file for file in AGAIN if file not in {"sudoku.kif", "knightsTour.kif"}))
@pytest.mark.parametrize("file", AGAIN)
def test_perft_table_is_that_of_the_python_game(file):
    """The table in tests/perft is what the Python game gives, row by row from depth 1."""
    rows = read_perft(Path(file).stem)
    expected = level_counts(AGAIN[file], len(rows))
    assert rows == [(depth, *row) for depth, row in enumerate(expected, 1)]


@pytest.mark.parametrize("file", AGAIN)
def test_manifest(games, file):
    """The manifest names the roles of the sheet, has every field, and repeats the table of perft."""
    name = Path(file).stem
    manifest = json.loads((GAMES / f"{name}.json").read_text())
    assert manifest["name"] == name
    assert tuple(manifest["roles"]) == games[file].roles
    for field in ("title", "rules_source", "description"):
        assert manifest[field].strip()
    assert ("recursion" in manifest["features"]) == features(games[file].rules).recursion
    assert ("random" in manifest["features"]) == ("random" in manifest["roles"])
    table = read_perft(name)
    assert [(row["depth"], row["states"]) for row in manifest["perft"]] == [row[:2] for row in table]
    assert all(known["fact"] and "value" in known and known["source"] for known in manifest["known"])


# ---- what is known about single games ------------------------------------------------------


def replay(game, moves):
    """Play the moves of a one-player game; return the last state."""
    state = game.initial_state()
    for move in moves:
        assert not state.is_terminal
        state = state.next((move,))
    return state


def shortest(again, start, finished, strip):
    """Shortest moves from `start` to a state that is finished, and the number of all states met.

    `strip` takes the counter out of a state; the search goes on until no new state is found.
    """
    start = strip(start)
    came = {start: None}
    found = None
    queue = deque([start])
    while queue:
        state = queue.popleft()
        if found is None and finished(state):
            found = state
        for joint in joints(again.legal(state)):
            following = strip(again.apply(state, joint))
            if following not in came:
                came[following] = (state, joint[0])
                queue.append(following)
    moves = []
    while came[found] is not None:
        found, move = came[found]
        moves.append(move)
    return moves[::-1], len(came)


def best(again, state, memo):
    """Goal of the first role under best play of two players who take turns."""
    if state not in memo:
        goals = again.goals(state)
        legal = None if goals else again.legal(state)
        memo[state] = (
            goals[0]
            if goals
            else (max if len(legal[0]) > 1 or legal[1] == ["noop"] else min)(
                best(again, again.apply(state, joint), memo) for joint in joints(legal)
            )
        )
    return memo[state]


def test_tic_tac_toe_numbers():
    """There are 255168 plays; x wins 131184, o 77904, 46080 are draws; best play draws."""
    again = TicTacToe()
    level = Counter({again.start: 1})
    plays = Counter()
    while level:
        following = Counter()
        for state, ways in level.items():
            goals = again.goals(state)
            if goals:
                plays[goals] += ways
                continue
            for joint in joints(again.legal(state)):
                following[again.apply(state, joint)] += ways
        level = following
    assert plays == {(100, 0): 131184, (0, 100): 77904, (50, 50): 46080}
    memo = {}
    assert best(again, again.start, memo) == 50
    assert (len(memo), sum(again.goals(state) is not None for state in memo)) == (5478, 958)
    assert best(TicTacToe(start="xxobobbox"), "xxobobbox", {}) == 50


@pytest.mark.parametrize("file", ["ticTacToe.kif", "ticTacToeInfix.hrf"])
def test_tic_tac_toe_declares_29_propositions_and_20_moves(games, file):
    """Nine cells with three marks and two turns; nine marks and a noop for each player."""
    state = games[file].initial_state()
    assert len(state.ask("(base ?what)")) == 29
    assert len(state.ask("(input ?who ?what)")) == 20


def test_nim_is_won_by_taking_two_from_the_smallest_pile():
    """The first player wins, and only with the move that makes the nim-sum 0."""
    again, memo = Nim(), {}
    winning = [
        joint[0]
        for joint in joints(again.legal(again.start))
        if best(again, again.apply(again.start, joint), memo) == 100
    ]
    assert winning == ["(take a 2)"]
    for (piles, turn), value in memo.items():
        nim_sum = piles[0] ^ piles[1] ^ piles[2]
        assert (value == 100) == ((nim_sum != 0) == (turn == 0))


def tower_moves(discs, start, end, spare):
    """The textbook recursion for the tower of Hanoi."""
    if discs:
        yield from tower_moves(discs - 1, start, spare, end)
        yield f"(move {discs} {start} {end})"
        yield from tower_moves(discs - 1, spare, end, start)


def test_hanoi_takes_31_moves(games):
    """The recursive solution has 2^5 - 1 moves and is worth 100; on the wrong peg it is worth 0."""
    moves = list(tower_moves(5, "a", "c", "b"))
    assert len(moves) == 2**5 - 1
    assert replay(games["hanoi.kif"], moves).goals == {"solver": 100}
    wrong = replay(games["hanoi.kif"], tower_moves(5, "a", "b", "c"))
    assert wrong.is_terminal
    assert wrong.goals == {"solver": 0}


def test_hanoi_cannot_be_shorter():
    """No way to 100 is shorter than 31 moves, and there are 3^5 positions."""
    moves, positions = shortest(
        Hanoi(), ("aaaaa", 0), lambda state: state[0] == "ccccc", lambda state: (state[0], 0)
    )
    assert (len(moves), positions) == (31, 243)


@pytest.mark.slow
def test_eight_puzzle_positions(games):
    """181440 positions can be reached, the start is one of the two hardest: 31 moves, worth 100."""
    again = EightPuzzle()
    goal = ("12345678b", 0)
    distance, level = {goal: 0}, [goal]
    while level:
        following = []
        for state in level:
            for joint in joints(again.legal(state)):
                after = (again.apply(state, joint)[0], 0)
                if after not in distance:
                    distance[after] = distance[state] + 1
                    following.append(after)
        level = following
    assert len(distance) == 181440
    assert max(distance.values()) == distance[again.start] == 31
    assert sum(moves == 31 for moves in distance.values()) == 2

    state, moves = again.start, []
    while distance[(state[0], 0)]:
        moves.append(
            min(again.legal(state)[0], key=lambda move: distance[(again.apply(state, (move,))[0], 0)])
        )
        state = again.apply(state, (moves[-1],))
    assert len(moves) == 31
    solved = replay(games["eightPuzzle.kif"], moves)
    assert solved.is_terminal
    assert solved.goals == {"solver": 100}


@pytest.mark.slow
def test_eight_puzzle_rules_reach_every_position(games):
    """The rulesheet itself reaches 181440 positions, the furthest of them in 31 moves from the start."""
    game = games["eightPuzzle.kif"]

    def position(state):
        return frozenset(fact for fact in state.facts if fact.startswith("(cell"))

    level = {position(game.initial_state())}
    seen, levels, solved = set(level), 0, None
    while level:
        following = set()
        for cells in level:
            state = game.state({*cells, "(moves 0)"})
            # A solved puzzle ends the game, but its position is one as any other, and the search
            # does not go on from there: it is the last one to be reached.
            if state.is_terminal:
                assert solved is None
                solved = levels
                continue
            for move in state.legal_moves("solver"):
                after = position(state.next((move,)))
                if after not in seen:
                    seen.add(after)
                    following.add(after)
        level, levels = following, levels + 1
    assert (len(seen), levels - 1, solved) == (181440, 31, 31)


def test_eight_puzzle_from_any_position(games):
    """Also far from the start the slides and their results are right (300 positions drawn at random)."""
    again, game, rng = EightPuzzle(), games["eightPuzzle.kif"], random.Random(8)
    for _ in range(300):
        tiles = "".join(rng.sample("12345678b", 9))
        if tiles == "12345678b":
            continue

        def facts(tiles, moves):
            cells = (f"(cell {i // 3 + 1} {i % 3 + 1} {tile})" for i, tile in enumerate(tiles))
            return {f"(moves {moves})", *cells}

        state = game.state(facts(tiles, 7))
        assert_same(again, (tiles, 7), state)
        for move in again.legal((tiles, 7))[0]:
            assert state.next((move,)).facts == facts(*again.apply((tiles, 7), (move,)))


def test_lights_out_takes_15_presses(games):
    """Four sets of lamps put out all lights, the smallest have 15; in any order they are worth 100."""
    rows = [[LightsOut.pattern(r, c), 1 << (r * 5 + c)] for r in range(5) for c in range(5)]
    pivots, kernel = {}, []
    for lamps, presses in rows:
        while lamps and lamps.bit_length() in pivots:
            other = pivots[lamps.bit_length()]
            lamps, presses = lamps ^ other[0], presses ^ other[1]
        if lamps:
            pivots[lamps.bit_length()] = (lamps, presses)
        else:
            kernel.append(presses)
    lamps, solution = (1 << 25) - 1, 0
    while lamps:
        other = pivots[lamps.bit_length()]
        lamps, solution = lamps ^ other[0], solution ^ other[1]
    assert len(kernel) == 2
    solutions = [solution ^ a ^ b for a in (0, kernel[0]) for b in (0, kernel[1])]
    fewest = min(solutions, key=int.bit_count)
    assert fewest.bit_count() == 15
    moves = [f"(press {i // 5 + 1} {i % 5 + 1})" for i in range(25) if fewest >> i & 1]
    random.Random(5).shuffle(moves)
    dark = replay(games["lightsOut.kif"], moves)
    assert dark.is_terminal
    assert dark.goals == {"solver": 100}
    assert dark.facts == {"(presses 15)"}


@pytest.mark.parametrize(
    ("left", "right", "goals"),
    [
        ("cooperate", "cooperate", (60, 60)),
        ("defect", "defect", (20, 20)),
        ("defect", "cooperate", (100, 0)),
        ("cooperate", "defect", (0, 100)),
    ],
)
def test_prisoners_who_never_change_their_mind(games, left, right, goals):
    """Ten rounds of the same choices bring ten times the points of one round."""
    state = games["prisonersDilemma.kif"].initial_state()
    for _ in range(10):
        assert not state.is_terminal
        state = state.next((left, right))
    assert state.is_terminal
    assert tuple(state.goals.values()) == goals


def test_blocks_world_takes_six_moves(games):
    """Six moves build the tower, no fewer do, and five blocks have 501 positions."""
    moves, positions = shortest(
        BlocksWorld(),
        BlocksWorld.start,
        lambda state: state[0] == frozenset({"edcba"}),
        lambda state: (state[0], 0),
    )
    assert (len(moves), positions) == (6, 501)
    assert replay(games["blocksWorld.kif"], moves).goals == {"robot": 100}


def test_sudoku_has_one_solution(games):
    """Search finds exactly the known solution, and writing it down is worth 100."""
    again = Sudoku()

    def solutions(state):
        free = [i for i in range(81) if state[i] == "0"]
        if not free:
            yield state
            return
        i = min(free, key=lambda i: len(again.candidates(state, i)))
        for digit in again.candidates(state, i):
            yield from solutions(state[:i] + digit + state[i + 1 :])

    assert list(itertools.islice(solutions(again.start), 2)) == [again.solution]
    moves = [
        f"(write {i // 9 + 1} {i % 9 + 1} {again.solution[i]})" for i in range(81) if again.start[i] == "0"
    ]
    assert len(moves) == 50
    random.Random(9).shuffle(moves)
    assert replay(games["sudoku.kif"], moves).goals == {"solver": 100}


def knights_tours():
    """All tours of the five by five board from the corner, as lists of squares."""
    jumps = {
        (r, c): [
            (r + a, c + b)
            for a in (-2, -1, 1, 2)
            for b in (-2, -1, 1, 2)
            if abs(a) != abs(b) and 0 < r + a < 6 and 0 < c + b < 6
        ]
        for r in range(1, 6)
        for c in range(1, 6)
    }

    def extend(path, visited):
        if len(path) == 25:
            yield list(path)
        for square in jumps[path[-1]]:
            if square not in visited:
                yield from extend([*path, square], visited | {square})

    return extend([(1, 1)], frozenset({(1, 1)}))


def test_knights_tour_can_be_completed(games):
    """A whole tour is legal jump by jump and worth 100."""
    tour = next(knights_tours())
    end = replay(games["knightsTour.kif"], [f"(jump {r} {c})" for r, c in tour[1:]])
    assert end.is_terminal
    assert end.goals == {"rider": 100}


@pytest.mark.slow
def test_there_are_304_knights_tours():
    """304 tours start in the corner."""
    assert sum(1 for _ in knights_tours()) == 304


def expectation(state, choose):
    """Expected goals: `random` draws with equal chances, the others as `choose(state, role)` says."""
    if state.is_terminal:
        return {role: Fraction(state.goals[role]) for role in state.roles}
    options = [state.legal_moves(role) if role == "random" else [choose(state, role)] for role in state.roles]
    total = Counter()
    outcomes = list(itertools.product(*options))
    for joint in outcomes:
        total.update(expectation(state.next(joint), choose))
    return {role: Fraction(value) / len(outcomes) for role, value in total.items()}


@pytest.mark.parametrize(("plan", "value"), [("switch", Fraction(200, 3)), ("stay", Fraction(100, 3))])
@pytest.mark.parametrize("door", [1, 2, 3])
def test_monty_hall(games, plan, value, door):
    """Switching wins the car in two of three cases, whatever the first choice."""

    def choose(state, role):
        moves = [str(move) for move in state.legal_moves(role)]
        return plan if plan in moves else f"(choose {door})" if len(moves) > 1 else moves[0]

    state = games["montyHall.kif"].initial_state()
    assert expectation(state, choose)["candidate"] == value


def test_monty_hall_shows_the_opened_door_only(games):
    """The candidate sees which door the host opens, and nothing before or after that."""
    state = games["montyHall.kif"].initial_state()
    assert state.percepts(("(choose 1)", "(hide 2)"), "candidate") == ()
    state = state.next(("(choose 1)", "(hide 2)"))
    assert [str(move) for move in state.legal_moves("random")] == ["(open 3)"]
    assert state.percepts(("noop", "(open 3)"), "candidate") == ("(opened 3)",)
    state = state.next(("noop", "(open 3)"))
    assert state.percepts(("switch", "noop"), "candidate") == ()
    assert state.next(("switch", "noop")).goals["candidate"] == 100
    assert state.next(("stay", "noop")).goals["candidate"] == 0


def kuhn_tree(state, seen=((), ())):
    """The rest of the game as nested tuples; each decision carries what the player has seen."""
    if state.is_terminal:
        return ("end", Fraction(state.goals["first"]))
    legal = state.legal_moves()
    mover = next((i for i, role in enumerate(("first", "second")) if len(legal[role]) > 1), 2)
    branches = {}
    for joint in itertools.product(*legal.values()):
        later = tuple(seen[i] + state.percepts(joint, role) for i, role in enumerate(("first", "second")))
        branches[str(joint[mover])] = kuhn_tree(state.next(joint), later)
    return ("random", branches) if mover == 2 else ("player", mover, seen[mover], branches)


def kuhn_value(tree, strategies):
    """Expected points of the first player; a strategy maps what was seen to the chance of bet or call."""
    if tree[0] == "end":
        return tree[1]
    if tree[0] == "random":
        return sum(kuhn_value(branch, strategies) for branch in tree[1].values()) / len(tree[1])
    _, mover, seen, branches = tree
    bold = strategies[mover][seen]
    return sum(
        chance * kuhn_value(branches[move], strategies)
        for move, chance in zip(
            ("bet", "check") if "bet" in branches else ("call", "fold"), (bold, 1 - bold), strict=True
        )
        if chance
    )


def test_kuhn_poker_is_worth_minus_one_eighteenth(games):
    """Against Kuhn's strategies no reply does better than 50 - 25/18 points for the first player."""
    tree = kuhn_tree(games["kuhn.kif"].initial_state())
    assert len(tree[1]) == 6
    third = Fraction(1, 3)
    bet, check = "(did {} bet)", "(did {} check)"
    first = {}
    for card, opens, calls in (("jack", third, 0), ("queen", 0, 2 * third), ("king", 1, 1)):
        first[(f"(dealt {card})",)] = opens
        first[(f"(dealt {card})", bet.format("second"))] = calls
    second = {}
    for card, bets, calls in (("jack", third, 0), ("queen", 0, third), ("king", 1, 1)):
        second[(f"(dealt {card})", check.format("first"))] = bets
        second[(f"(dealt {card})", bet.format("first"))] = calls
    value = 50 - Fraction(25, 18)
    assert kuhn_value(tree, (first, second)) == value
    for pure in itertools.product((0, 1), repeat=6):
        assert kuhn_value(tree, (dict(zip(first, pure, strict=True)), second)) <= value
        assert kuhn_value(tree, (first, dict(zip(second, pure, strict=True)))) >= value


def test_kuhn_players_see_their_own_card_only(games):
    """After the deal each player sees its card and nothing of the other's."""
    state = games["kuhn.kif"].initial_state()
    deal = ("noop", "noop", "(deal king jack)")
    assert state.percepts(deal, "first") == ("(dealt king)",)
    assert state.percepts(deal, "second") == ("(dealt jack)",)
