"""Sums that no step changes: what they exclude is excluded by the rules, and wrong sums are refused."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
import pytest

import herbrand

pytest.importorskip("pysat", reason="python-sat is not installed")
pytest.importorskip("scipy", reason="scipy is not installed")

from herbrand.analyse.exploration.walks import RandomPlay, play
from herbrand.analyse.invariants.frames import System
from herbrand.analyse.invariants.groups import find_groups, find_more
from herbrand.analyse.invariants.invariant import Invariant
from herbrand.analyse.invariants.latches import find_bound
from herbrand.analyse.invariants.sums import find_sums

PIECES = """
(role a) (init choosing) (piece 1) (piece 2) (piece 3) (place 4) (place 5) (place 6)
(<= (init (left ?p)) (piece ?p)) (<= (init (free ?x)) (place ?x))
(<= (legal a (choose ?p)) (true choosing) (true (left ?p)))
(<= (legal a (put ?p ?x)) (true (chosen ?p)) (true (free ?x)))
(<= (next (left ?p)) (true (left ?p)) (not (does a (choose ?p))))
(<= (next (chosen ?p)) (does a (choose ?p)))
(<= (next (free ?x)) (true (free ?x)) (not (fills ?x)))
(<= (fills ?x) (does a (put ?p ?x)))
(<= (next choosing) (true (chosen ?p)))
(<= some (true (free ?x))) (<= terminal (not some)) (goal a 100)
"""
"""As in quarto a piece is chosen and then put: as many are left as there are free places."""
TRAIL = """
(role a) (init (at 1)) (succ 1 2) (succ 2 3) (succ 3 4)
(legal a up) (legal a down)
(<= (next (at ?y)) (true (at ?x)) (does a up) (succ ?x ?y))
(<= (next (at ?x)) (true (at ?y)) (does a down) (succ ?x ?y))
(<= (next (was ?x)) (true (at ?x))) (<= (next (was ?x)) (true (was ?x)))
(<= inside (true (at ?x)) (not (true (was ?x)))) (<= terminal (not inside)) (goal a 100)
"""
COLOURS = """
(role a) (role b) (init (step 1)) (colour red) (colour blue) (cell 1) (cell 2) (cell 3)
(<= (legal a (pick ?c)) (true (step 1)) (colour ?c)) (<= (legal b noop) (true (step 1)))
(<= (legal ?r (mark ?x)) (true (is ?r ?c)) (cell ?x) (not (marked ?x)))
(<= (marked ?x) (true (mark ?x ?c)))
(<= (next (is a ?c)) (does a (pick ?c))) (<= (next (is b ?d)) (does a (pick ?c)) (colour ?d) (distinct ?c ?d))
(<= (next (is ?r ?c)) (true (is ?r ?c)))
(<= (next (mark ?x ?c)) (does ?r (mark ?x)) (true (is ?r ?c))) (<= (next (mark ?x ?c)) (true (mark ?x ?c)))
(<= some (cell ?x) (not (marked ?x))) (<= terminal (not some)) (goal a 100) (goal b 100)
"""
PAIRS = """
(role a) (init (l 2)) (init (r 2)) (init (n 0)) (succ 0 1) (succ 1 2) (legal a take)
(<= (next (l ?x)) (true (l ?y)) (succ ?x ?y)) (<= (next (r ?x)) (true (r ?y)) (succ ?x ?y))
(<= (next (l 0)) (true (l 0))) (<= (next (r 0)) (true (r 0)))
(<= taken (true (r ?y)) (succ ?x ?y))
(<= (next (n ?y)) taken (true (n ?x)) (succ ?x ?y))
(<= (next (n ?x)) (true (n ?x)) (not taken)) (<= (next (n 2)) (true (n 2)))
(<= terminal (true (l 0))) (goal a 100)
"""
"""What is taken from the left is counted on the right."""


def test_as_many_pieces_as_places() -> None:
    """Whoever is to choose has a piece: excluded by a sum that no step changes, as the rules confirm."""
    game = herbrand.loads(PIECES)
    system, until = System(game.network), time.monotonic() + 60
    seen = play(game.expander, until)
    groups = find_more(system, find_groups(system, until, seen.states), until, seen.states)
    found = find_sums(game.expander, system, groups, lambda frame: frame.stuck(0), seen.changes, until)
    assert found
    vectors = np.zeros((len(found), seen.changes.shape[1]), np.int64)
    for vector, weights in zip(vectors, found, strict=True):
        vector[list(weights)] = list(weights.values())
    assert not (vectors @ seen.changes.T).any()
    texts = system.fluent_texts
    exactly = [group.fluents for group in groups if group.some and group.condition < 0]
    certificate = Invariant(
        "playability",
        exactly=tuple(tuple(texts[f] for f in fluents) for fluents in exactly),
        sums=tuple(tuple((texts[f], weight) for f, weight in weights.items()) for weights in found),
    )
    assert certificate.check(game, 60)
    assert certificate.as_json()["constant_sums"]
    assert not replace(certificate, sums=()).check(game, 60)  # a piece could be missing
    assert not replace(certificate, sums=((("(free 4)", 1),),)).check(game, 60)  # some step changes that


def test_what_did_not_change_yet_may_bound_plays() -> None:
    """A trail of four fields, of which only one step was seen: each step leaves one more."""
    game = herbrand.loads(TRAIL)
    system, until = System(game.network), time.monotonic() + 60
    seen = play(game.expander, until)
    groups = find_groups(system, until, seen.states)
    first = seen.changes[[(row > 0).sum() == 2 for row in seen.changes]][:1]
    found = find_bound(system, groups, until, first)
    assert found is not None
    assert sorted(found.rising) == [f"(was {x})" for x in "1234"]


def test_parts_by_first_argument_join_a_group() -> None:
    """Either it is the first step, or the first role has one colour."""
    game = herbrand.loads(COLOURS)
    system, until = System(game.network), time.monotonic() + 60
    seen = play(game.expander, until)
    groups = find_more(system, find_groups(system, until, seen.states, simple=True), until, seen.states)
    exact = {frozenset(system.fluent_texts[f] for f in group.fluents) for group in groups if group.some}
    assert frozenset({"(step 1)", "(is a red)", "(is a blue)"}) in exact


def test_play_of_some_fluents() -> None:
    """Changes that differ only in what is left out count once."""
    changes = np.array([[1, 0, 1], [1, 1, 1]], np.int8)
    seen = RandomPlay(changes, np.ones((2, 3), np.bool_), None).select(np.array([True, False, True]))
    assert seen.changes.tolist() == [[1, 1]]
    assert seen.states.shape == (2, 2)


def test_what_is_never_true_with_a_constant_is_found() -> None:
    """While `choosing` no piece is chosen."""
    game = herbrand.loads(PIECES)
    system, until = System(game.network), time.monotonic() + 60
    seen = play(game.expander, until)
    groups = find_more(system, find_groups(system, until, seen.states), until, seen.states)
    pairs = {frozenset(system.fluent_texts[f] for f in group.fluents) for group in groups if not group.some}
    assert frozenset({"choosing", "(chosen 1)"}) in pairs


def test_sums_may_need_each_other() -> None:
    """Only because there are as many left as right does each step, which takes one of both, keep a third sum."""
    game = herbrand.loads(PAIRS)
    texts = ["(l 0)", "(l 1)", "(l 2)", "(r 0)", "(r 1)", "(r 2)", "(n 0)", "(n 1)", "(n 2)"]
    exactly = (tuple(texts[:3]), tuple(texts[3:6]), tuple(texts[6:]))
    equal = tuple((f"({side} {k})", sign * k) for side, sign in (("l", 1), ("r", -1)) for k in (1, 2))
    counted = tuple((f"({side} {k})", k) for side in "ln" for k in (1, 2))
    assert Invariant("", exactly=exactly, sums=(equal, counted)).check(game, 60)
    assert not Invariant("", exactly=exactly, sums=(counted,)).check(game, 60)
