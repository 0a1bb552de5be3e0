"""Networks as text; gates are built only if their value is not known, and kept only if an output needs them."""

from __future__ import annotations

import pytest

import herbrand
from herbrand.ground import ground
from herbrand.network import optimised, wire
from herbrand.network.gates import Gates

CHAIN = """
(role r) (step 1 2) (step 2 3) (init (at 1)) (init (at 3))
(<= (legal r (go ?x)) (true (at ?x)))
(<= (next (at ?x)) (does r (go ?x)))
(<= (linked ?x ?y) (true (at ?x)) (true (at ?y)))
(<= (linked ?x ?z) (linked ?x ?y) (linked ?y ?z))
(<= (goal r 100) USE)
(<= terminal (not (true (at 1))))
"""
TURN = """
(role r) (step 1 2) (step 2 1) (init (at 1))
(<= (legal r (go ?x)) (step ?x ?y) (true (at ?y)))
(<= (next (at ?x)) (does r (go ?x)))
(<= (sees r (old ?x)) (true (at ?x)) (does r ?m))
(<= (goal r 100) (not (true (at 2))))
(<= terminal (true (at 1)) (true (at 2)))
"""
TURN_AS_TEXT = """\
_0 = (and (true (at 1)) (true (at 2)))
_1 = (and (not (does r (go 1))) (not (does r (go 2))))
_2 = (and (true (at 1)) (not _1))
_3 = (and (true (at 2)) (not _1))
(legal r (go 1)) = (true (at 2))
(legal r (go 2)) = (true (at 1))
(next (at 1)) = (does r (go 1))
(next (at 2)) = (does r (go 2))
terminal = _0
(goal r 100) = (not (true (at 2)))
(sees r (old 1)) = _2
(sees r (old 2)) = _3"""


def test_networks_are_shown_as_text() -> None:
    """One gate or output a line, in their order; feedback has its source."""
    assert str(herbrand.loads(TURN).network) == TURN_AS_TEXT
    network = herbrand.loads(CHAIN.replace("USE", "(linked 1 3)")).network
    lines = str(network).split("\n")
    feedback = [line.split(" ")[0] for line in lines if " <- " in line]
    assert feedback == [f"back{i}" for i in range(len(network.feedback))]
    outputs = len(network.moves) + len(network.fluents) + 2
    assert len(lines) == network.gates + len(feedback) + outputs


def test_large_networks_are_not_optimised() -> None:
    """Where memory does not suffice, the network itself is returned; otherwise one with fewer gates."""
    game = herbrand.load("ticTacToe")
    program = ground(game.rules)
    network = wire(program, [program.terms.intern(role) for role in game.rules.roles])
    assert optimised(network, megabytes=0) is network
    assert optimised(network).gates < network.gates


def test_a_loop_that_no_output_needs_is_dropped() -> None:
    """A contradiction is recognised as false, and leaves nothing of the loop that it mentions."""
    used = herbrand.loads(CHAIN.replace("USE", "(linked 1 3)")).network
    unused = herbrand.loads(CHAIN.replace("USE", "(linked 1 3) (not (linked 1 3))")).network
    assert used.statistics()["loops"] > 0
    assert (unused.statistics()["loops"], unused.statistics()["feedback"]) == (0, 0)
    assert unused.gates < used.gates
    assert "(goal r 100) = false" in str(unused) or "goal r 100" not in str(unused)


@pytest.mark.parametrize(
    ("a", "b", "conjunction"), [(0, 6, 0), (1, 6, 6), (7, 7, 7), (6, 7, 0), (0, 1, 0), (1, 1, 1)]
)
def test_known_conjunctions_need_no_gate(a: int, b: int, conjunction: int) -> None:
    """With a constant, itself or its inverse, a literal gives a literal, in either order."""
    gates = Gates(5)
    assert gates.conjunction(a, b) == gates.conjunction(b, a) == conjunction
    assert gates.disjunction(a ^ 1, b ^ 1) == conjunction ^ 1
    assert not gates.left


def test_equal_conjunctions_share_a_gate() -> None:
    """The order of the operands does not matter; another gate has another number."""
    gates = Gates(5)
    assert gates.conjunction(4, 7) == gates.conjunction(7, 4) == 10
    assert gates.conjunction(4, 6) == 12
    assert (gates.left, gates.right) == ([4, 4], [7, 6])
