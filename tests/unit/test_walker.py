"""One state of a network: both ways to evaluate its gates, walkers, and the states made of them."""

import copy
import pickle
import random

import pytest

import herbrand
from herbrand import IllegalMoveError, InvalidMoveError, Move
from herbrand.machine.quick import QuickState
from herbrand.simulate.walker import Walker

GAMES = ["ticTacToe", "connectFour", "hex", "trefoil", "tron", "kuhn", "reversi"]


def games_of(walker: Walker, games: int, seed: int) -> list[tuple[bytes, list[int], list[int | None]]]:
    """Play random games; the state, answers and goals after each step."""
    rng, seen = random.Random(seed), []
    for _ in range(games):
        walker.reset()
        while not walker.is_terminal:
            walker.play([rng.choice(walker.legal(role)) for role in range(len(walker.moves))])
            seen.append((walker.key, walker.answers, walker.goals))
    return seen


@pytest.mark.parametrize("name", GAMES)
def test_reckoning_and_walking_give_the_same(name: str) -> None:
    """Following the changes and evaluating all gates are two ways to the same values, loops included."""
    walker = herbrand.load(name).walker()
    found = []
    for reckons in (True, False, True):
        walker._memory.reckons = reckons
        found.append(games_of(walker, 3, seed=4))
    assert found[0] == found[1] == found[2]
    assert len(found[0]) > 3


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
        walker._memory.reckons = reckons
        walker.reset()
        for first, step in ((65, 1), (0, 2)):
            walker.play([0])
            true = {t for i, t in enumerate(texts) if walker.key[i // 8] >> i % 8 & 1}
            assert true == {f"(at {first + i})" for i in range(65)} | {f"(step {step})"}


def test_a_walker_goes_back_and_forth() -> None:
    """A state entered again by its key has the same answers, wherever the walker was."""
    walker = herbrand.load("hex").walker()
    seen = games_of(walker, 2, seed=1)
    for reckons in (True, False):
        walker._memory.reckons = reckons
        for key, answers, goals in random.Random(2).sample(seen, 30):
            walker.go(key)
            assert (walker.key, walker.answers, walker.goals) == (key, answers, goals)


def test_the_way_is_chosen_by_its_later_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the first step of a way costs, such as loading compiled code, decides nothing."""
    network = herbrand.load("hex").network
    wander, now, way = Walker._wander, [0.0], [None]

    def takes(walker: Walker, rng: random.Random) -> None:
        reckons = walker._memory.reckons
        now[0] += 9.0 if way[0] is not reckons and reckons else 0.001 if reckons else 0.002
        way[0] = reckons
        wander(walker, rng)

    monkeypatch.setattr(Walker, "_wander", takes)
    monkeypatch.setattr("time.thread_time", lambda: now[0])
    assert Walker(network)._memory.reckons


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
    assert isinstance(quick, QuickState)
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
        ("noop", TypeError),
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
        limits=herbrand.Limits(seconds=2),
    )
    assert game.engine == "rules"
    assert game.engine_reason.startswith("no network: ")
    assert game.initial_state().engine == "rules"
