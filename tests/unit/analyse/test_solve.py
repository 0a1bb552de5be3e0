"""Solved games: known values, and the same values from plain recursion on the rules."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from strategies import games as random_games
from strategies import resized

import herbrand
from herbrand import BudgetExceeded, GameError
from herbrand.analyse.budget import Budget
from herbrand.analyse.exploration.explore import StateSpace, explore
from herbrand.analyse.exploration.replay import replay
from herbrand.analyse.solving.matrix import matrix_value
from herbrand.analyse.solving.solve import _mixed_value, solve

KNOWN = {
    # states, terminal states (None: not published), value of the first role
    ("connectFour", 4, 4): (161029, None, 50),
    ("breakthrough", 2, 4): (646, 302, 0),
    ("breakthrough", 2, 5): (11287, 4269, 0),
    ("breakthrough", 3, 4): (55152, 31446, 0),
    ("breakthrough", 2, 6): (71474, 26752, 100),
    ("hex", 2, 2): (32, None, 100),
    ("hex", 3, 3): (5514, None, 100),
}


def follow(game: herbrand.Game, line: tuple[tuple[str, ...], ...]) -> herbrand.State:
    """The last state of a line, which must be legal."""
    return replay(game, line)[-1]


@pytest.mark.parametrize(("name", "width", "height"), KNOWN)
def test_known_boards(name: str, width: int, height: int) -> None:
    """Numbers of states and values of small boards, from independent programs."""
    game = herbrand.loads(resized(name, width, height), name=name)
    states, ends, value = KNOWN[name, width, height]
    solution = solve(game)
    assert solution.states == states
    assert ends is None or explore(game.expander).terminal_states == ends
    assert solution.value is not None
    assert list(solution.value.values()) == [value, 100 - value]
    last = follow(game, solution.line)
    assert last.is_terminal
    assert last.goals == solution.value
    assert max(after[game.roles[0]] for _, _, after in solution.root) == value


@pytest.mark.slow
def test_othello_on_a_small_board() -> None:
    """On 4x4 there are 60 060 games, and white wins; on 8x8 plays begin as other programs count them."""
    game = herbrand.loads(resized("reversi", 4, 4), name="othello 4x4")
    space = explore(game.expander)
    assert space.plays() == 60060
    assert solve(game).value == {"black": 0, "white": 100}
    assert len(space.states) == 62789  # by board and whose turn it is
    assert _seen_by_who_moves(space) == 58533
    full = herbrand.load("reversi").expander
    level, plays = full.initial, [1]
    for _ in range(6):
        level = full.expand(level).states
        plays.append(len(level))
    assert plays == [1, 4, 12, 56, 244, 1396, 8200]


def _seen_by_who_moves(space: StateSpace) -> int:
    """Count states of reversi by the discs of who is to move and those of the other, whatever their colours."""
    terms, fluents = space.expander.network.terms, space.expander.network.fluents.tolist()
    texts = [terms.text(fluent) for fluent in fluents]
    bits = space.expander.bits(space.states)
    sides = [bits[:, [i for i, t in enumerate(texts) if t.endswith(f" {c})") and t.startswith("(cell")]]
             for c in ("black", "white")]  # fmt: skip
    turn = bits[:, texts.index("(control black)")][:, None]
    own, other = (np.where(turn, *pair) for pair in (sides, sides[::-1]))
    return len(np.unique(np.packbits(np.hstack((own, other)), axis=1), axis=0))


def test_resized_boards_are_those_asked_for() -> None:
    """The board of the bundled size is the bundled game; others are refused."""
    for name, width, height in (
        ("connectFour", 7, 6),
        ("breakthrough", 8, 8),
        ("hex", 9, 9),
        ("reversi", 8, 8),
    ):
        again = herbrand.loads(resized(name, width, height))
        assert sorted(map(str, again.tree.statements)) == sorted(
            map(str, herbrand.load(name).tree.statements)
        )
    with pytest.raises(ValueError, match="chess"):
        resized("chess", 4, 4)


@pytest.mark.parametrize(
    ("name", "value", "steps"),
    [("ticTacToe", (50, 50), 9), ("nim", (100, 0), 11), ("hanoi", (100,), 31), ("ticTacToe3", (50, 50), 9)],
)
def test_bundled_games(name: str, value: tuple[int, ...], steps: int) -> None:
    """Values known from theory, and the length of best play."""
    game = herbrand.load(name)
    solution = solve(game)
    assert solution.value == dict(zip(game.roles, value, strict=True))
    assert len(solution.line) == steps or name == "ticTacToe3"
    assert follow(game, solution.line).goals == solution.value


def test_the_winning_move_of_nim_is_the_only_one() -> None:
    """Of 12 first moves only (take a 2) makes the nim-sum 0 (Bouton 1901)."""
    root = solve(herbrand.load("nim")).root
    assert len(root) == 12
    assert [(move, value["first"]) for _, move, value in root if value["first"] > 0] == [("(take a 2)", 100)]


def test_mixing_is_needed_in_rock_paper_scissors() -> None:
    """The value is half the points, in states where no pure move secures it."""
    solution = solve(herbrand.load("rockPaperScissors"))
    assert solution.value == {"left": 50, "right": 50}
    assert solution.mixed > 0
    assert solution.method == "matrix games"


def test_without_constant_sum_only_guarantees_are_known() -> None:
    """The prisoners cannot be told what will happen, but what they get at least."""
    solution = solve(herbrand.load("prisonersDilemma"))
    assert solution.value is None
    assert solution.guaranteed == {"left": 20, "right": 20}
    assert solution.notes


DICE = """(role a) (role random) (init start) (face 0) (face 30) (face 90)
(<= (legal random (roll ?n)) (true (chose ?what)) (face ?n)) (<= (legal random wait) (true start))
(<= (legal a safe) (true start)) (<= (legal a risk) (true start)) (<= (legal a wait) (not (true start)))
(<= (next (chose ?what)) (does a ?what) (true start))
(<= (next (got ?n)) (true (chose risk)) (does random (roll ?n)))
(<= (next (got 35)) (true (chose safe)))
(<= terminal (true (got ?n))) (<= (goal a ?n) (true (got ?n)))"""


def test_chance_gives_expectations() -> None:
    """The mean of 0, 30 and 90 is 40, better than 35 for sure."""
    game = herbrand.loads(DICE)
    solution = solve(game)
    assert solution.value == {"a": 40}
    assert solution.root == (("a", "risk", {"a": 40}), ("a", "safe", {"a": 35}))
    assert solution.line == (("risk", "wait"),)
    assert solution.method == "expectation"


def test_three_roles_in_turn() -> None:
    """Each takes what is best for itself; that another choice would matter to others is counted."""
    text = """(role a) (role b) (role c) (init (turn a)) (pick l) (pick r)
        (<= (legal ?r (go ?p)) (true (turn ?r)) (pick ?p))
        (<= (legal ?r noop) (role ?r) (not (true (turn ?r))))
        (<= (next (chose ?r ?p)) (does ?r (go ?p))) (<= (next (chose ?r ?p)) (true (chose ?r ?p)))
        (<= (next (turn b)) (true (turn a))) (<= (next (turn c)) (true (turn b)))
        (<= (next done) (true (turn c))) (<= terminal (true done))
        (<= (goal a 100) (true (chose c r))) (<= (goal a 0) (true (chose c l)))
        (<= (goal b 100) (true (chose b l))) (<= (goal b 30) (true (chose b r)))
        (<= (goal c 50) (true done))"""
    solution = solve(herbrand.loads(text))
    assert solution.value == {"a": 0, "b": 100, "c": 50}
    assert solution.guaranteed == {"a": 0, "b": 100, "c": 50}
    assert solution.ties == 4  # each of the states in which c chooses


CIRCLE = """(role a) (role b) (init (at 1)) (init (turn a)) (step 1 2) (step 2 3) (step 3 1)
(<= (legal ?r go) (true (turn ?r))) (<= (legal ?r wait) (role ?r) (not (true (turn ?r))))
(<= (legal a stop) (true (turn a)) (true (at 2)))
(<= (next (at ?y)) (does ?r go) (true (at ?x)) (step ?x ?y)) (<= (next stopped) (does a stop))
(<= (next (turn a)) (true (turn b))) (<= (next (turn b)) (true (turn a)))
(<= terminal (true stopped)) (<= (goal a 70) (true stopped)) (<= (goal b 30) (true stopped))"""


def test_games_with_circles_are_solved_backwards_from_the_end() -> None:
    """Who wants the end can bring it about; the line reaches it."""
    game = herbrand.loads(CIRCLE)
    solution = solve(game)
    assert solution.method == "retrograde analysis"
    assert solution.value == {"a": 70, "b": 30}
    assert follow(game, solution.line).goals == {"a": 70, "b": 30}
    # b may stop or wait for something better, which a never has to give: nothing is decided
    waiting = CIRCLE.replace(
        "(<= (legal a stop) (true (turn a)) (true (at 2)))",
        """(<= (legal b stop) (true (turn b)) (true (at 2))) (<= (legal a give) (true (turn a)))
        (<= (next given) (does a give)) (<= terminal (true given))
        (<= (goal a 0) (true given)) (<= (goal b 100) (true given))""",
    ).replace("(does a stop)", "(does b stop)")
    solution = solve(herbrand.loads(waiting))
    assert solution.value is None
    assert solution.guaranteed == {"a": 0, "b": 30}


def test_what_cannot_be_solved_says_why() -> None:
    """Hidden information, dead ends, ends without values, too many states."""
    with pytest.raises(GameError, match="do not see everything"):
        solve(herbrand.load("montyHall"))
    with pytest.raises(GameError, match="no legal move"):
        solve(
            herbrand.loads(
                "(role a) (init s) (<= (legal a go) (true s)) (<= (next t) (does a go)) (<= terminal (true u)) (goal a 0)"
            )
        )
    with pytest.raises(GameError, match="without one goal value"):
        solve(
            herbrand.loads(
                "(role a) (init s) (legal a go) (<= (next t) (does a go)) (<= terminal (true t)) (<= (goal a 1) (true s))"
            )
        )
    with pytest.raises(BudgetExceeded, match="100 states"):
        solve(herbrand.load("connectFour"), budget=Budget(states=100))


def test_a_state_in_the_middle_can_be_solved() -> None:
    """After xplayer's centre and oplayer's edge the first player wins."""
    game = herbrand.load("ticTacToe")
    state = game.initial_state().next(("(mark 2 2)", "noop")).next(("noop", "(mark 1 2)"))
    assert solve(game, start=state).value == {"xplayer": 100, "oplayer": 0}


def test_large_matrix_games_agree_with_exact_ones() -> None:
    """The linear program in floating point finds the same value as exact fractions."""
    pytest.importorskip("scipy")
    import numpy as np

    payoffs = np.random.default_rng(4).integers(0, 101, (11, 12)).astype(float)
    exact = matrix_value([[Fraction(int(x)) for x in row] for row in payoffs])[0]
    assert _mixed_value(payoffs) == pytest.approx(float(exact))


def guarantees(
    state: herbrand.State, known: dict[herbrand.State, tuple[Fraction, ...]]
) -> tuple[Fraction, ...]:
    """What each role can make sure of, by plain recursion on the rules."""
    if state not in known:
        if state.is_terminal:
            known[state] = tuple(Fraction(state.goal(role) or 0) for role in state.roles)
        else:
            legal = list(state.legal_moves().values())
            after = {joint: guarantees(state.next(joint), known) for joint in product(*legal)}
            found = []
            for r in range(len(legal)):
                others = list(product(*(moves for q, moves in enumerate(legal) if q != r)))
                rows = [[after[(*o[:r], move, *o[r:])][r] for o in others] for move in legal[r]]
                found.append(matrix_value(rows)[0])
            known[state] = tuple(found)
    return known[state]


@settings(max_examples=7, deadline=None, phases=set(Phase) - {Phase.shrink})
@given(random_games())
def test_random_games_have_the_values_of_plain_recursion(text: str) -> None:
    """What each role can make sure of, in games where every play ends."""
    game = herbrand.loads(text)
    space = explore(game.expander, budget=Budget(seconds=5, states=150))
    if not space.complete or not space.acyclic or space.transitions > 600:
        return
    try:
        solution = solve(game)
    except GameError:
        return
    expected = guarantees(game.initial_state("rules"), {})
    assert list(solution.guaranteed.values()) == pytest.approx(list(map(float, expected)))
