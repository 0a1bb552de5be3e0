"""Frames of a transition system: recursion within states whose values are closed, but not unrolled."""

from __future__ import annotations

import time
from itertools import product

import pytest
from strategies import resized

import herbrand
from herbrand.analyse.budget import Budget
from herbrand.analyse.invariants.frames import System
from herbrand.analyse.invariants.sat import Solver
from herbrand.analyse.proofs.symbolic import prove

PATHS = """
(role r) (node 1) (node 2) (node 3) (node 4)
(<= (base (edge ?x ?y)) (node ?x) (node ?y)) (<= (input r (turn ?x ?y)) (node ?x) (node ?y))
(init (edge 1 2)) (init (edge 2 3)) (init (edge 3 2))
(<= (legal r (turn ?x ?y)) (node ?x) (node ?y))
(<= (next (edge ?x ?y)) (true (edge ?x ?y)) (not (does r (turn ?x ?y))))
(<= (next (edge ?x ?y)) (does r (turn ?x ?y)) (not (true (edge ?x ?y))))
(<= (reached 1)) (<= (reached ?y) (reached ?x) (true (edge ?x ?y)))
(<= terminal (reached 4)) (goal r 0)
"""


def test_that_nothing_follows_by_recursion_is_exact() -> None:
    """In each state: `terminal` can be false exactly if it is, and can be true at least where it is."""
    game = herbrand.loads(PATHS)
    network = game.network
    assert len(network.loops)
    names = [network.terms.text(fluent) for fluent in network.fluents.tolist()]
    system = System(network, loops=False)
    frame = system.any_state()
    edges = [f"(edge {x} {y})" for x, y in product(range(1, 4), range(2, 5)) if x != y]
    with Solver(system.circuit, time.monotonic() + 60) as solver:
        for values in product((0, 1), repeat=len(edges)):
            true = {edge for edge, value in zip(edges, values, strict=True) if value}
            state = [int(x) ^ (names[p] not in true) for p, x in enumerate(frame.state)]
            reached = {1}
            for _ in range(4):
                reached |= {y for x, y in product(reached, range(1, 5)) if f"(edge {x} {y})" in true}
            assert solver.solve(*state, frame.terminal ^ 1) == (4 not in reached)
            assert solver.solve(*state, frame.terminal) or 4 not in reached
    assert set(edges) <= set(names)


@pytest.mark.parametrize("size", [3, 6])
def test_a_full_board_of_hex_has_a_chain(size: int) -> None:
    """So there always is a move, whatever the size: solvers find it in seconds, without unrolled chains."""
    game = herbrand.loads(resized("hex", size, size))
    verdict = prove(game, ["playability"], Budget(10))["playability"]
    assert (verdict.answer, verdict.method) == ("proved", "induction")
    assert verdict.certificate is not None
    assert verdict.certificate.check(game, 30)
