"""One state of a network: both ways to evaluate its gates, walkers, and the states made of them."""

import contextlib
import copy
import pickle
import random
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import herbrand
from herbrand import IllegalMoveError, InvalidMoveError, Move
from herbrand.core import MoveNames, StateMemory
from herbrand.engine.walker import Walker
from herbrand.machine.network_state import NetworkState

GAMES = ["ticTacToe", "connectFour", "hex", "trefoil", "tron", "kuhn", "reversi"]


def answers_of(walker: Walker) -> tuple[bool, list[list[int]], list[int | None]]:
    """Whether the game is over, the legal moves of each role, the goals."""
    return walker.is_terminal, walker.legal(), walker.goals


def games_of(walker: Walker, games: int, seed: int) -> list[tuple[bytes, object]]:
    """Play random games; the state and the answers about it after each step."""
    rng, seen = random.Random(seed), []
    for _ in range(games):
        walker.reset()
        while not walker.is_terminal:
            walker.play([rng.choice(walker.legal(role)) for role in range(len(walker.moves))])
            seen.append((walker.key, answers_of(walker)))
    return seen


@pytest.mark.slow_except("tron", "hex", "connectFour", "kuhn", "ticTacToe")
@pytest.mark.parametrize("name", GAMES)
def test_reckoning_and_walking_give_the_same(name: str) -> None:
    """Following the changes and evaluating all gates are two ways to the same values, loops included."""
    walker = herbrand.load(name).walker()
    found = []
    for reckons, kept in ((True, 1), (False, 1), (True, 2), (True, 3), (False, 2), (True, 1)):
        walker.memory.reckons, walker.memory.kept = reckons, kept
        found.append(games_of(walker, 3, seed=4))
    assert found.count(found[0]) == 6
    assert len(found[0]) > 3


@pytest.mark.parametrize("name", ["ticTacToe", "connectFour", "kuhn", "kriegTicTacToe", "lightsOut"])
def test_both_ways_see_the_same_ahead(name: str) -> None:
    """What would follow, legal or not, percepts included, does not depend on how gates are evaluated."""
    walker = herbrand.load(name).walker()
    found = []
    for reckons, kept in ((True, 1), (True, 3), (False, 1)):
        walker.memory.reckons, walker.memory.kept = reckons, kept
        ahead = []
        for i in range(20):
            walker.reset()
            joint = [moves[i % len(moves)] for moves in walker.inputs]
            ahead.append((walker.memory.look_ahead(joint), walker.memory.look_ahead(joint, walker.start)))
        found.append(ahead)
    assert found[0] == found[1] == found[2]


def test_wrong_calls_are_errors() -> None:
    """Keys, roles, moves and orders that are none are exceptions, in all questions, and nothing worse."""
    game = herbrand.load("ticTacToe")
    walker = game.walker()
    memory, circuit, order = walker.memory, game.network.circuit, walker.numbering.order
    moves = [[object() for _ in mine] for mine in walker.moves]
    names = MoveNames(memory, ["x", "o"], moves)
    answers, over = names.state(walker.start)
    assert not over
    long = walker.start + bytes(16)
    full = b"\xff" * len(walker.start)
    joint = [moves[role][walker.legal(role)[0]] for role in (0, 1)]
    for key, error in (
        (long, ValueError),
        (b"", ValueError),
        (full, ValueError),
        ("text", TypeError),
        (7, TypeError),
    ):
        for ask in (memory.go, memory.scores, names.state, names.answer):
            with pytest.raises(error):
                ask(key)
        with pytest.raises(error):
            memory.legal(0, key)
        with pytest.raises(error):
            memory.look_ahead([0, len(moves[0])], key)
        with pytest.raises(error):
            names.go_on(key, joint)
    assert [len(mine) for mine in names.answer(b"\xff" * len(answers)).values()] == [
        len(mine) for mine in moves
    ]
    for inputs in ([0], [0, 1 << 40], [0, -1], [0, "a"], {0, 1}, None):
        with pytest.raises(ValueError, match=r"inputs|move"):
            memory.look_ahead(inputs)
    for role in (-1, 2, 1 << 40):
        with pytest.raises(IndexError):
            names.answer_of_role(answers, role)
    for joint in ([moves[0][0]], [moves[1][0], moves[0][0]], [None, None], 5):
        assert names.go_on(walker.start, joint) is None
    for ask in (memory.look_ahead, names.go_on, names.answer_of_role):
        with pytest.raises(TypeError):
            ask()
    for kept in (0, -1, memory.MOST_KEPT + 1):
        with pytest.raises(ValueError, match="kept"):
            memory.kept = kept
    for wrong in (order[:-1], order[::-1].copy(), np.zeros_like(order), order + 1):
        with pytest.raises(ValueError, match="order"):
            StateMemory(circuit, wrong)
    for roles, mine in ((["x"], moves), (["x", "o"], moves[:1]), (["x", "o"], [moves[0], moves[0][1:]])):
        with pytest.raises(ValueError, match="each"):
            MoveNames(memory, roles, mine)
    with pytest.raises(ValueError, match="two"):
        MoveNames(memory, ["x", "o"], [moves[0], moves[0]])
    for of, roles in ((None, ["x", "o"]), (memory, [1, 2])):
        with pytest.raises(TypeError):
            MoveNames(of, roles, moves)


def test_fluents_that_change_places() -> None:
    """A next state that is the present one shifted is taken over as a whole, however gates are evaluated."""
    ring = " ".join(f"(<= (next (at {(i + 65) % 130})) (true (at {i})))" for i in range(130))
    walker = herbrand.loads(
        f"(role r) {' '.join(f'(init (at {i}))' for i in range(65))} {ring} (init (step 0))"
        "(legal r go) (goal r 0) (<= (next (step 1)) (true (step 0))) (<= (next (step 2)) (true (step 1)))"
        "(<= terminal (true (step 2)))"
    ).walker()
    texts = [walker.network.terms.text(f) for f in walker.network.fluents.tolist()]
    for reckons in (True, False):
        walker.memory.reckons = reckons
        walker.reset()
        for first, step in ((65, 1), (0, 2)):
            walker.play([0])
            true = {t for i, t in enumerate(texts) if walker.key[i // 8] >> i % 8 & 1}
            assert true == {f"(at {first + i})" for i in range(65)} | {f"(step {step})"}


def maze(size: int) -> str:
    """A square of cells with walls that can be put up and taken down; what is joined to two sources is a loop."""
    cells = [(x, y) for x in range(size) for y in range(size)]
    beside = [
        f"(beside {x}{y} {x + dx}{y + dy})"
        for x, y in cells
        for dx, dy in ((1, 0), (-1, 0), (0, 1), (0, -1))
        if (x + dx, y + dy) in cells
    ]
    facts = [f"(cell {x}{y})" for x, y in cells] + beside
    return (
        " ".join(facts)
        + f"""
        (role r) (role s) (init (step 0))
        (<= (input ?r (turn ?c)) (role ?r) (cell ?c))
        (<= (legal ?r (turn ?c)) (role ?r) (cell ?c))
        (<= (wet ?c) (cell ?c) (source ?c) (not (true (wall ?c))))
        (<= (wet ?d) (wet ?c) (beside ?c ?d) (not (true (wall ?d))))
        (source 00) (<= (source {size - 1}0) (not (true (wall 11))))
        (<= (turned ?c) (does ?r (turn ?c)))
        (<= (next (wall ?c)) (turned ?c) (not (true (wall ?c))))
        (<= (next (wall ?c)) (true (wall ?c)) (not (turned ?c)))
        (<= (dry ?c) (cell ?c) (not (wet ?c)))
        (<= (next (was ?c)) (dry ?c)) (<= (base (was ?c)) (cell ?c)) (<= (base (wall ?c)) (cell ?c))
        (<= (next (step ?m)) (true (step ?n)) (succ ?n ?m)) (succ 0 1)
        (<= (legal r rest) (wet {size - 1}{size - 1}))
        (<= terminal (wet 0{size - 1}) (true (wall 22)) (wet {size - 1}1)) (goal r 0) (goal s 0)"""
    )


def test_loops_that_grow_and_shrink() -> None:
    """Walls going up and down anywhere leave in a loop what evaluating it anew gives, after each move and jump."""
    walker = herbrand.loads(maze(4)).walker()
    assert len(walker.network.loops)
    walker.memory.reckons = True
    rng, seen = random.Random(5), []
    for game in range(40):
        if game % 10 == 0:
            walker.memory.kept = 1 + game // 10
        walker.reset()
        while not walker.is_terminal and len(seen) % 20 != 19:
            walker.play([rng.choice(moves) for moves in walker.legal()])
            seen.append((walker.key, answers_of(walker)))
        seen.append((walker.key, answers_of(walker)))
    again = rng.sample(seen, 200)
    for key, answers in again:
        walker.go(key)
        assert answers_of(walker) == answers
    walker.memory.reckons = False
    for key, answers in seen:
        walker.go(key)
        assert answers_of(walker) == answers


def test_lists_of_moves_belong_to_who_asked() -> None:
    """What is done to a list that was given out changes no later answer, for numbers and for moves."""
    game = herbrand.load("hex")
    walker, state = game.walker(), game.initial_state()
    rng = random.Random(3)
    while not state.is_terminal:
        legal = walker.legal()
        assert legal == [sorted(set(moves)) for moves in legal]
        told = [[walker.moves[role][number] for number in moves] for role, moves in enumerate(legal)]
        assert [list(map(str, moves)) for moves in state.legal_moves().values()] == told
        joint = [rng.choice(moves) for moves in legal]
        following = state.next([walker.moves[role][number] for role, number in enumerate(joint)])
        for given in (*walker.legal(), *state.legal_moves().values()):
            given.reverse()
            given.clear()
        walker.play(joint)
        state = following
    assert walker.is_terminal


def test_a_walker_goes_back_and_forth() -> None:
    """A state entered again by its key has the same answers, wherever the walker was, however many are kept."""
    walker = herbrand.load("hex").walker()
    seen = games_of(walker, 2, seed=1)
    for reckons, kept in ((True, 1), (True, 2), (True, 5), (False, 1)):
        walker.memory.reckons, walker.memory.kept = reckons, kept
        for key, answers in random.Random(2).sample(seen, 30):
            walker.go(key)
            assert (walker.key, answers_of(walker)) == (key, answers)
    with pytest.raises(ValueError, match="key"):
        walker.go(key[1:])


@pytest.mark.parametrize("name", ["connectFour", "hex", "trefoil"])
def test_what_nobody_asks_for_is_kept_in_bounds(name: str) -> None:
    """Going back and forth thousands of times leaves the next state to be derived, and it is, whatever was asked before."""
    walker = herbrand.load(name).walker()
    keys = [key for key, _ in games_of(walker, 3, seed=6)]
    rng = random.Random(8)
    visits = [rng.choice(keys) for _ in range(4000)]
    joints = [[rng.choice(moves) for moves in walker.inputs] for _ in range(4)]
    found = []
    for reckons, kept in ((True, 1), (True, 2), (False, 1)):
        walker.memory.reckons, walker.memory.kept = reckons, kept
        seen = []
        for i, key in enumerate(visits):
            walker.go(key)
            if i % 1000 == 999:
                seen += [(walker.memory.look_ahead(joint), walker.legal(), walker.goals) for joint in joints]
        found.append(seen)
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize("faster", [True, False])
def test_the_faster_way_is_taken(monkeypatch: pytest.MonkeyPatch, faster: bool) -> None:
    """What takes less time for the steps of a random game evaluates the gates from then on."""
    network = herbrand.game.load("hex").network
    way, now = [False], [0.0]
    plain = StateMemory.__dict__["reckons"]

    def note(memory: StateMemory, reckons: bool) -> None:
        way[0] = reckons
        plain.__set__(memory, reckons)

    def tick() -> float:
        now[0] += 0.001 if way[0] is faster else 0.002
        return now[0]

    monkeypatch.setattr(StateMemory, "reckons", property(plain.__get__, note))
    monkeypatch.setattr("time.thread_time", tick)
    assert Walker(network).memory.reckons is faster


def test_moves_in_any_sequence_of_whole_numbers() -> None:
    """Lists and tuples of integers go straight to the core, everything else is looked at first."""
    walker = herbrand.load("ticTacToe").walker()
    assert walker.legal() == [walker.legal(0), walker.legal(1)]
    joint = [moves[-1] for moves in walker.legal()]
    found = set()
    for kind in (list, tuple, np.array):
        walker.reset()
        walker.play(kind(joint))
        found.add(walker.key)
    assert len(found - {walker.start}) == 1
    for wrong, error in (([0.5, 0], TypeError), (None, TypeError), ([-1, 0], IndexError), ([0], IndexError)):
        with pytest.raises(error):
            walker.play(wrong)  # type: ignore[arg-type]
    for role in (-1, 2, 1 << 80):
        with pytest.raises((IndexError, OverflowError)):
            walker.legal(role)


def test_nothing_is_kept_of_what_was_asked() -> None:
    """The core gives away what it makes and keeps nothing: the number of objects stays the same."""
    game = herbrand.load("ticTacToe")
    walker, first = game.walker(), game.initial_state()

    def ask() -> None:
        for _ in range(200):
            games_of(walker, 1, seed=1)
            state = first
            while not state.is_terminal:
                joint = [moves[-1] for moves in state.legal_moves().values()]
                assert joint[0] in state.legal_moves("xplayer")
                state = state.next(tuple(joint))
            _ = state.goals, state.goal_values("oplayer")
            with contextlib.suppress(IllegalMoveError, IndexError):
                walker.play([0, -1])

    ask()
    before = sys.getallocatedblocks()
    ask()
    assert sys.getallocatedblocks() - before < 200


def test_states_of_one_game_in_several_threads() -> None:
    """Threads that ask one engine about different states get the answers they would get alone."""
    game = herbrand.load("connectFour")

    def play(seed: int) -> list[object]:
        rng, state, seen = random.Random(seed), game.initial_state(), []
        while not state.is_terminal:
            state = state.next([rng.choice(moves) for moves in state.legal_moves().values()])
            seen.append((state.facts, state.goals, state.legal_moves()))
        return seen

    alone = [play(seed) for seed in range(8)]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        with ThreadPoolExecutor(4) as pool:
            assert list(pool.map(play, range(8))) == alone
    finally:
        sys.setswitchinterval(interval)


def test_walkers_of_one_game_are_apart() -> None:
    """What one walker does another one does not see."""
    game = herbrand.load("ticTacToe")
    one, two = game.walker(), game.walker()
    one.play([one.legal(0)[0], one.legal(1)[0]])
    assert two.key == two.start != one.key
    assert [one.moves[0][m] for m in one.legal(0)] == ["noop"]


def test_an_illegal_joint_move_leaves_the_walker_where_it_is() -> None:
    """The error says which move; numbers that no move has are an `IndexError`."""
    walker = herbrand.load("ticTacToe").walker()
    noop = walker.moves[0].index("noop")
    with pytest.raises(IllegalMoveError, match="no legal move `noop` for role 0"):
        walker.play([noop, walker.legal(1)[0]])
    with pytest.raises(IndexError):
        walker.play([1000, 0])
    assert walker.key == walker.start
    games_of(walker, 1, seed=1)
    with pytest.raises(IllegalMoveError, match="over"):
        walker.play([0, 0])


def test_states_of_the_network_are_states() -> None:
    """Equal to the states of the rules, hashable, picklable, and strict about moves."""
    game = herbrand.load("ticTacToe")
    quick, plain = game.initial_state(), game.initial_state("rules")
    assert isinstance(quick, NetworkState)
    assert (game.engine, quick.engine, plain.engine) == ("network", "network", "rules")
    assert "gates" in game.engine_reason
    for joint in (("(mark 2 2)", "noop"), {"oplayer": Move("(MARK 1 1)"), "xplayer": "noop"}):
        quick, plain = quick.next(joint), plain.next(joint)
        assert quick == plain
        assert hash(quick) == hash(plain)
        assert quick.facts == plain.facts
        assert quick.legal_moves() == plain.legal_moves()
        assert quick.goals == plain.goals
        assert copy.deepcopy(quick) is quick
        assert pickle.loads(pickle.dumps(quick)) == quick
    for wrong, error in (
        (("(mark 1 1)", "noop"), IllegalMoveError),
        (("(mark 9 9)", "noop"), IllegalMoveError),
        (("(mark", "noop"), InvalidMoveError),
        (("noop",), ValueError),
        ("noop", IllegalMoveError),
    ):
        with pytest.raises(error):
            quick.next(wrong)


def test_a_state_outside_the_network_is_left_to_the_rules() -> None:
    """A fluent that no reachable state has is no error unless the network was asked for."""
    game = herbrand.load("ticTacToe")
    assert game.state(["(cell 7 7 x)"]).engine == "rules"
    with pytest.raises(herbrand.GameError, match="no reachable state"):
        game.state(["(cell 7 7 x)"], engine="network")


def test_the_reason_for_the_rules_is_told() -> None:
    """A game that does not ground in time is played by the rules, and says so."""
    game = herbrand.loads(
        "(role r) (init (at a)) (<= (next (at (s ?x))) (true (at ?x)) (does r go)) (legal r go)"
        "(goal r 0) (<= terminal (true (at (s (s a)))))",
        limits=herbrand.Limits(seconds=0.5),
    )
    assert game.engine == "rules"
    assert game.engine_reason.startswith("no network: ")
    assert game.initial_state().engine == "rules"
