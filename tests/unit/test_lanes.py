"""Lane programs: walked or with machine code, for any processor, they play the very same games."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import herbrand
from herbrand import core, games
from herbrand.core import Playouts, Stop

if TYPE_CHECKING:
    from collections.abc import Iterator

    from herbrand.network.network import Network

CONNECTED = """
    (role r) (init (free 1)) (init (free 2)) (init (free 3)) (init (free 4)) (init (free 5)) (init (free 6))
    (edge 1 2) (edge 2 3) (edge 3 4) (edge 4 5) (edge 5 6) (edge 6 1) (edge 2 5)
    (<= (link ?a ?b) (edge ?a ?b)) (<= (link ?a ?b) (edge ?b ?a))
    (<= (legal r (take ?n)) (true (free ?n)))
    (<= (next (free ?n)) (true (free ?n)) (not (does r (take ?n))))
    (<= (reached 1) (true (free 1)))
    (<= (reached ?b) (reached ?a) (link ?a ?b) (true (free ?b)))
    (<= terminal (not (reached 4)))
    (<= (goal r 100) (true (free 1)))
    (<= (goal r 0) (not (true (free 1))))"""
BOTH_AT_ONCE = """
    (role a) (role b) (init (step 1)) (init (step 2)) (succ 1 2) (succ 2 3)
    (move rock) (move paper) (move scissors)
    (<= (legal ?r ?m) (role ?r) (move ?m))
    (<= (next (chose ?r ?m)) (does ?r ?m))
    (<= terminal (true (chose ?r ?m)))
    (<= (goal ?r 100) (role ?r) (true (chose a ?m)) (true (chose b ?m)))
    (<= (goal ?r 0) (role ?r) (true (chose a ?m)) (not (true (chose b ?m))))"""


@pytest.fixture
def levels() -> Iterator[None]:
    """Whatever a test chooses is taken back."""
    before = core.level()
    yield
    core.use_level(before)
    core.allow_code(True)


def outcome(network: Network, playouts: int = 3000, *, walk: bool = False, max_steps: int = 60) -> Any:
    """Play some games; all that is counted of them."""
    played = Playouts(network.circuit, playouts, 5, max_steps, walk)
    assert played.play(60.0, Stop())
    return (
        *(played.played, played.transitions, played.truncated, played.stuck, played.stuck_role),
        *(played.lengths.tolist(), played.goals.tolist(), played.choices.tolist()),
    )


@pytest.mark.usefixtures("levels")
@pytest.mark.parametrize("name", ["connectFour", "liarsDice", "rockPaperScissors", "hex", "breakthrough"])
def test_every_back_end_plays_the_same_games(name: str) -> None:
    """The same seed gives the same games on every level of the processor, walked and with machine code."""
    network = herbrand.load(name).network
    found = {}
    for level in core.levels():
        core.use_level(level)
        for walk in (True, False):
            found[level, walk] = outcome(network, 600, walk=walk)
    assert len(set(map(str, found.values()))) == 1


@pytest.mark.parametrize("name", [name for name in games.names() if name != "chess"])
def test_machine_code_plays_what_is_walked(name: str) -> None:
    """On all bundled games."""
    game = herbrand.load(name)
    try:
        network = game.network
    except herbrand.BudgetExceeded:
        pytest.skip("no network")
    assert outcome(network, 700, walk=True) == outcome(network, 700)


def test_loops_are_repeated_to_their_fixpoint() -> None:
    """What is recursive within a state: as by the rules."""
    game = herbrand.loads(CONNECTED)
    network = game.network
    assert len(network.loops)
    assert outcome(network) == outcome(network, walk=True)
    by_rules = game.simulate(4000, seed=1, engine="rules")
    by_network = game.simulate(4000, seed=1, engine="network")
    assert by_network.length["mean"] == pytest.approx(by_rules.length["mean"], abs=0.1)
    assert by_network.goals["r"].mean == pytest.approx(by_rules.goals["r"].mean, abs=5)


def test_roles_that_choose_at_once_draw_by_themselves() -> None:
    """A draw that serves several roles would have them always make the same move."""
    game = herbrand.loads(BOTH_AT_ONCE)
    played = game.simulate(9000, seed=3, engine="network")
    assert played.goals["a"].mean == pytest.approx(100 / 3, abs=3)
    assert outcome(game.network) == outcome(game.network, walk=True)


def test_a_limit_of_steps_ends_games() -> None:
    """Games that reach it count as truncated, and have that length."""
    network = herbrand.load("breakthrough").network
    played = Playouts(network.circuit, 2000, 1, 20)
    assert played.play(60.0, Stop())
    assert played.played == 2000
    lengths = played.lengths
    assert lengths[20] >= played.truncated > 1000
    assert not lengths[21:].any()
    assert played.ended + played.truncated == 2000


@pytest.mark.usefixtures("levels")
def test_without_an_encoder_programs_are_walked() -> None:
    """Where machine code is not allowed the games are the same, and it is said why."""
    expected = outcome(herbrand.load("nim").network)
    core.allow_code(False)
    assert "switched off" in core.why_no_code()
    assert core.playing_program(herbrand.load("nim").network.circuit)["code_bytes"] == 0
    assert outcome(herbrand.load("nim").network) == expected


def test_a_call_ends_when_told() -> None:
    """By its seconds, and by a stop that is set before."""
    network = herbrand.load("connectFour").network
    games_left = Playouts(network.circuit, 1 << 40, 1, 100)
    assert not games_left.play(0.05, Stop())
    some = games_left.played
    assert some > 0
    stop = Stop()
    stop.set()
    assert not games_left.play(60.0, stop)


@pytest.mark.parametrize(
    "wrong",
    [
        {"left": np.array([10**6], np.int32)},
        {"terminal": -1},
        {"legal": np.zeros(3, np.int32)},
        {"loops": np.array([[0, 5, 0, 1]], np.int32)},
        {"cones": [5, 1, 0]},
        {"goal_value": np.array([101], np.int16)},
    ],
)
def test_a_wrong_circuit_is_refused(wrong: dict[str, Any]) -> None:
    """Numbers out of range are errors, never crashes."""
    none = np.zeros(0, np.int32)
    right: dict[str, Any] = {
        "fluents": 2, "roles": 1, "left": np.array([2], np.int32), "right": np.array([4], np.int32),
        "feedback": none, "loops": np.zeros((0, 4), np.int32), "legal": np.array([1], np.int32),
        "move_role": np.zeros(1, np.int32),
        "next": np.array([8, 3], np.int32), "terminal": 2, "goal": np.array([8], np.int32),
        "goal_role": np.zeros(1, np.int32), "goal_value": np.array([50], np.int16), "sees": none,
        "sees_role": none, "initial": np.zeros(1, np.uint64), "cones": [1, 1, 1],
    }  # fmt: skip
    core.make_circuit(**right)
    with pytest.raises(ValueError, match="no circuit"):
        core.make_circuit(**(right | wrong))
    with pytest.raises(TypeError):
        core.make_circuit(**(right | {"left": np.array([2.0])}))


def places(name: str) -> list[tuple[list[int], int, int]]:
    """Return the roles, the places and the bits of each choice of a bundled game."""
    found: list[tuple[list[int], int, int]] = core.playing_program(herbrand.load(name).network.circuit)[
        "choices"
    ]
    return found


def test_moves_that_exclude_each_other_share_a_place() -> None:
    """Roles that take turns choose by one tree; those that move at once have one each."""
    assert [(roles, n) for roles, n, _ in places("connectFour")] == [([0, 1], 7)]
    assert [(roles, n) for roles, n, _ in places("rockPaperScissors")] == [([0], 3), ([1], 3)]


LATE = """
    (role r) (init (step 0)) (init (at 1)) {steps}
    (<= (legal r (go ?p)) (true (at ?p)))
    (<= (legal r (stay ?p)) (true (at ?p)))
    (<= (next (step ?n)) (true (step ?m)) (succ ?m ?n))
    (<= (next (at 1)) (true (at 2)) (does r (go 2)))
    (<= (next (at 1)) (true (at 1)) (does r (stay 1)))
    (<= (next (at 2)) (true (at 1)) (does r (go 1)))
    (<= (next (at 2)) (true (at 2)) (does r (stay 2)))
    (<= (next (at 1)) (true (step 300)))
    (<= (next (at 2)) (true (step 300)))
    (<= (next (won)) (true (step 301)) (does r (go 1)))
    (<= terminal (true (step 302)))
    (<= (goal r 100) (true (won)))
    (<= (goal r 0) (not (true (won))))"""


def test_what_is_taken_for_granted_is_checked_in_every_step() -> None:
    """Two places are never taken at once, until step 301: then another program takes over."""
    steps = " ".join(f"(succ {n} {n + 1})" for n in range(302))
    game = herbrand.loads(LATE.replace("{steps}", steps))
    circuit = game.network.circuit
    assert core.playing_program(circuit)["choices"] == [([0], 2, 2)]
    assert core.playing_program(circuit, assume=False)["choices"] == [([0], 4, 3)]
    played = Playouts(circuit, 4096, 1, 400)
    assert played.play(60.0, Stop())
    assert played.conflicts == 1
    assert played.lengths.nonzero()[0].tolist() == [302]
    # of four moves that are legal then, one wins
    assert played.goals.max() == pytest.approx(4096 * 3 / 4, rel=0.05)
    assert played.goals.min() == pytest.approx(4096 / 4, rel=0.15)
    # two moves in every step but the 302nd, in which there are four
    assert played.choices.tolist() == [4096 * (2 * 301 + 4)]
    assert outcome(game.network, 600, max_steps=400) == outcome(game.network, 600, walk=True, max_steps=400)
