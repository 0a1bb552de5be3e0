"""The network gives the answers of the rules, one state at a time and many games at once."""

import math

import pytest

import herbrand
from herbrand.core import Playouts, Stop
from herbrand.engine.playouts import Simulation
from herbrand.verify import verify_playouts

GAMES = [
    "ticTacToe", "ticTacToe3", "ticTacToeInfix", "connectFour", "breakthrough", "reversi", "checkers", "hex",
    "tron", "nim", "hanoi", "rockPaperScissors", "prisonersDilemma", "lightsOut", "montyHall", "kuhn", "trefoil",
]  # fmt: skip

RECURSIVE = """
(role r) (index 1) (index 2) (index 3) (index 4) (succ 1 2) (succ 2 3) (succ 3 4)
(init (step 1)) (init (edge 1 1))
(<= (legal r (join ?x ?y)) (index ?x) (index ?y))
(<= (next (edge ?x ?y)) (true (edge ?x ?y)))
(<= (next (edge ?x ?y)) (does r (join ?x ?y)))
(<= (next (step ?y)) (true (step ?x)) (succ ?x ?y))
(<= (linked ?x ?y) (true (edge ?x ?y)))
(<= (linked ?x ?z) (linked ?x ?y) (linked ?y ?z))
(<= (goal r 100) (linked 1 4))
(<= (goal r 40) (linked 2 3) (not (linked 1 4)))
(<= (goal r 0) (not (linked 1 4)) (not (linked 2 3)))
(<= terminal (true (step 4)))
(<= terminal (linked 4 1) (linked 1 4))
"""


@pytest.mark.slow_except(
    "breakthrough", "tron", "hex", "hanoi", "connectFour", "ticTacToe", "kuhn", "montyHall", "connectFour.ggd"
)
@pytest.mark.parametrize("name", GAMES)
def test_network_engine_agrees_with_the_rules(name: str) -> None:
    """State by state, on random games, network and rules agree."""
    report = verify_playouts(
        herbrand.load(name), engines=("rules", "network"), playouts=3, seed=5, max_steps=40
    )
    assert report.ok, report.difference
    assert report.states > 3


def test_recursion_within_a_state_becomes_a_loop() -> None:
    """Cyclic definitions are evaluated to their least fixpoint."""
    game = herbrand.loads(RECURSIVE)
    assert len(game.network.loops) >= 1
    report = verify_playouts(game, engines=("rules", "network"), playouts=40, seed=2)
    assert report.ok, report.difference


def compare(game: herbrand.Game, batch: Simulation, playouts: int) -> None:
    """Batched statistics lie within five standard errors of those of the rules."""
    plain = game.simulate(playouts, seed=8, engine="rules", max_steps=300)
    assert set(batch.lengths) <= set(range(1, 301))
    for n in (batch, plain):
        assert sum(n.lengths.values()) == n.playouts
        assert sum(length * count for length, count in n.lengths.items()) == n.transitions
    spread = math.sqrt(
        sum(c * (n - plain.length["mean"]) ** 2 for n, c in plain.lengths.items()) / plain.playouts
    )
    assert abs(batch.length["mean"] - plain.length["mean"]) <= 5 * spread / math.sqrt(playouts) + 1e-9
    for role, goal in plain.goals.items():
        other = batch.goals[role]
        assert (goal.mean is None) == (other.mean is None)
        if goal.mean is not None and goal.standard_error is not None:
            assert abs(goal.mean - other.mean) <= 5 * goal.standard_error + 0.5
    for role, mean in plain.branching.items():
        assert batch.branching[role] == pytest.approx(mean, rel=0.1)


@pytest.mark.slow_except("ticTacToe", "nim", "rockPaperScissors", "kuhn")
@pytest.mark.parametrize(
    "name", ["ticTacToe", "connectFour", "tron", "nim", "rockPaperScissors", "hanoi", "kuhn", "trefoil"]
)
def test_batched_playouts_agree_with_the_rules(name: str) -> None:
    """Length, goals and branching of batched play are those of the rules."""
    game = herbrand.load(name)
    batch = game.simulate(20_000, seed=1, engine="network", max_steps=300)
    assert batch.engine == "network"
    assert batch.playouts == 20_000
    compare(game, batch, 400)


def test_batched_loops_agree_with_the_rules() -> None:
    """A game with recursion in its states plays the same in batch."""
    game = herbrand.loads(RECURSIVE)
    compare(game, game.simulate(20_000, seed=1, engine="network"), 1500)


def test_random_tic_tac_toe_has_its_known_distribution() -> None:
    """The exact chances of random tic-tac-toe: x wins 0.5849, o 0.2881, draw 0.1270."""
    result = herbrand.load("ticTacToe").simulate(400_000, seed=3)
    assert result.engine == "network"
    n = result.playouts
    for value, chance in ((100, 737 / 1260), (0, 121 / 420), (50, 8 / 63)):
        found = result.goals["xplayer"].distribution[value] / n
        assert abs(found - chance) < 5 * math.sqrt(chance * (1 - chance) / n)


@pytest.mark.parametrize("moves", [2, 3, 7, 60, 200, 1100])
def test_choice_among_moves_is_uniform(moves: int) -> None:
    """A chi-square test of the first move, for few moves and for many: each has a goal value of its own."""
    numbers = " ".join(f"(number {i})" for i in range(moves))
    game = herbrand.loads(
        f"""(role r) (init start) {numbers}
        (<= (legal r (pick ?n)) (number ?n) (true start))
        (<= (legal r noop) (not (true start)))
        (<= (next (picked ?n)) (does r (pick ?n)))
        (<= terminal (true (picked ?n)))
        (<= (goal r ?n) (true (picked ?n)))"""
    )
    playouts = max(20_000, 40 * moves)
    games = Playouts(game.network.circuit, playouts, 1, 10)
    assert games.play(60.0, Stop())
    counts = games.goals
    assert counts.sum() == games.played == playouts
    expected = playouts / moves
    chi_square = float(((counts - expected) ** 2 / expected).sum())
    degrees = moves - 1
    assert abs(chi_square - degrees) < 5 * math.sqrt(2 * degrees) + 10


def test_same_seed_same_games() -> None:
    """Batched playouts are reproducible, and seeds differ."""
    game = herbrand.load("connectFour")
    one, two, other = (game.simulate(2000, seed=s, engine="network") for s in (1, 1, 2))
    assert one.lengths == two.lengths
    assert one.goals == two.goals
    assert one.lengths != other.lengths


def test_truncation_counts_and_ends() -> None:
    """Games longer than the limit are cut off, counted, and give no goals."""
    result = herbrand.load("connectFour").simulate(3000, seed=1, engine="network", max_steps=10)
    assert result.playouts == 3000
    assert result.length["max"] == 10
    assert 0 < result.truncated < 3000
    finished = sum(result.goals["red"].distribution.values()) + result.goals["red"].undefined
    assert finished + result.truncated == 3000


def test_playouts_that_get_stuck_are_counted() -> None:
    """A role without a legal move ends a playout, without goals; both engines count the same shares."""
    game = herbrand.loads(
        """(role a) (role b) (init (n 1)) (<= (legal a (go ?x)) (to ?x) (true (n 1))) (legal b wait) (to 2) (to 9)
        (<= (next (n ?x)) (does a (go ?x))) (goal a 7) (goal b 1) (<= terminal (true (n 9)))"""
    )
    for engine in ("network", "rules"):
        found = game.simulate(3000, seed=0, engine=engine)
        assert found.playouts == 3000
        assert 1350 < found.stuck < 1650
        assert found.goals["a"].distribution == {7: 3000 - found.stuck}
        assert found.goals["a"].undefined == 0
        assert found.stuck_in == "a has no legal move in the state: (n 2)"
        assert found.lengths == {1: 3000}
        assert found.transitions == 3000
        assert found.branching["a"] == pytest.approx(6000 / (3000 + found.stuck))
        assert found.branching["b"] == 1
        assert found.as_json()["stuck"] == found.stuck


def test_auto_falls_back_to_the_rules() -> None:
    """Where the game does not ground, the rules are evaluated, and the result says why."""
    game = herbrand.loads(
        """(role r) (init (n 0)) (legal r go) (goal r 0) (<= terminal (true (n (s (s 0)))))
        (<= (next (n (s ?x))) (true (n ?x)))""",
        limits=herbrand.Limits(seconds=0.3),
    )
    result = game.simulate(600, seed=1)
    assert result.engine == "rules"
    assert result.note is not None
    assert "no network" in result.note
    with pytest.raises(herbrand.BudgetExceeded):
        game.simulate(600, seed=1, engine="network")


def test_network_prints_as_text() -> None:
    """The product can be read: gates by number, inputs and outputs by name."""
    text = str(herbrand.load("rockPaperScissors").network)
    assert "(legal left " in text
    assert "terminal = " in text


def test_goals_share_conditions_with_next() -> None:
    """A condition that both goal and next use is computed for the state at hand, in either order."""
    game = herbrand.loads(
        """(role r) (init (n 0)) (init (n 1)) (init (n 3)) (legal r go) (legal r stay)
        (<= both (true (n 0)) (true (n 1)))
        (<= some (true (n 1)) (true (n 3)))
        (<= (next (n 0)) both (does r go)) (<= (next (n 1)) some (does r go)) (<= (next (n 3)) both)
        (<= (next (n 2)) (does r stay)) (<= (goal r 100) both) (<= (goal r 50) (not both) some)
        (<= (goal r 7) (not both) (not some)) (<= terminal (not (true (n 0))) (not (true (n 1))))"""
    )
    report = verify_playouts(game, engines=("rules", "network"), playouts=20, seed=5)
    assert report.ok, report.difference
    state = game.initial_state("network")
    assert state.goals == {"r": 100}
    after = state.next(["stay"])
    assert after.goals == {"r": 7}
    assert game.simulate(5000, seed=1, engine="network").goals["r"].distribution.keys() == {7}


def test_patterns_with_the_same_fluents_make_one_family() -> None:
    """All arguments but the last have one value here, so most patterns give the same groups."""
    game = herbrand.loads(
        """(role r) (init (cell 1 1 a b)) (init (hand r left)) (legal r go)
        (<= (next (cell 1 1 a x)) (does r go)) (<= (next (cell 1 1 a o)) (true (cell 1 1 a x)))
        (<= (next (hand r right)) (true (hand r left))) (<= (goal r 100) (true (hand r right)))
        (<= (goal r 0) (true (hand r left))) (<= terminal (true (cell 1 1 a o)))"""
    )
    report = verify_playouts(game, engines=("rules", "network"), playouts=3, seed=5)
    assert report.ok, report.difference
