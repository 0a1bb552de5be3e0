"""Games that are products of parts, and beams in them that pattern databases guide."""

from __future__ import annotations

import time

import numpy as np

import herbrand
from herbrand.analyse.solving.parts import find_parts
from herbrand.analyse.solving.patterns import PatternSearch
from herbrand.analyse.solving.plan import any_plans

_LATER = 60.0

# Beads on two rings that cross in two places; a turn of a ring moves all of its beads.
RINGS = """
(role r) (init (step 0)) {ring} {beads} {steps}
(<= (legal r (turn ?w)) (way ?w)) (legal r wait) (way one) (way two)
(<= (next (at ?b ?q)) (does r (turn ?w)) (true (at ?b ?p)) (after ?w ?p ?q))
(<= (next (at ?b ?p)) (does r (turn ?w)) (true (at ?b ?p)) (not (moves ?w ?p)))
(<= (next (at ?b ?p)) (does r wait) (true (at ?b ?p)))
(<= (moves ?w ?p) (after ?w ?p ?q))
(<= (next (step ?n)) (true (step ?m)) (succ ?m ?n))
(<= wrong (bead ?b) (not (true (at ?b ?b))))
(<= terminal (not wrong)) (<= terminal (true (step {longest})))
(<= (goal r 100) (not wrong)) (<= (goal r 0) wrong)
"""
_RINGS = {"one": (1, 2, 3, 4, 5, 6, 7), "two": (1, 8, 9, 4, 10, 11, 12)}


def rings(turns: str, longest: int) -> herbrand.Game:
    """Return the puzzle after some turns, `o` of ring one and `t` of ring two."""
    place = {bead: bead for bead in range(1, 13)}
    after = {way: dict(zip(ring, (*ring[1:], ring[0]), strict=True)) for way, ring in _RINGS.items()}
    for turn in turns:
        follows = after["one" if turn == "o" else "two"]
        place = {bead: follows.get(at, at) for bead, at in place.items()}
    text = RINGS.format(
        ring=" ".join(f"(after {way} {p} {q})" for way, follows in after.items() for p, q in follows.items()),
        beads=" ".join(f"(bead {bead}) (init (at {bead} {at}))" for bead, at in place.items()),
        steps=" ".join(f"(succ {n} {n + 1})" for n in range(longest)),
        longest=longest,
    )
    return herbrand.loads(text)


def solved(game: herbrand.Game) -> dict[int, bool]:
    """Return what the goal asks of fluents."""
    names = game.expander.fluent_names
    return {names.index(f"(at {bead} {bead})"): True for bead in range(1, 13)}


def test_each_bead_is_a_part() -> None:
    """Its places follow from itself and the move; no move is illegal."""
    game = rings("oott", 9)
    parts = find_parts(game.expander, solved(game), time.monotonic() + _LATER)
    assert parts is not None
    assert sorted(len(part.values) for part in parts) == [12] * 12
    for part in parts:
        assert part.legal.all()
        assert (part.values.sum(axis=1) == 1).all()
        assert (part.satisfying(solved(game)).sum()) == 1


def test_values_of_parts_follow_the_rules() -> None:
    """In random games every part has the value that its table says."""
    game = rings("otottoto", 30)
    expander = game.expander
    parts = find_parts(expander, solved(game), time.monotonic() + _LATER)
    assert parts is not None
    rng, state = np.random.default_rng(0), expander.initial
    values = [0] * len(parts)
    for _ in range(30):
        move = int(rng.integers(len(expander.moves[0])))
        state = expander.step(state, np.array([[move]], np.int32))
        bits = expander.bits(state)[0]
        values = [int(part.after[move, value]) for part, value in zip(parts, values, strict=True)]
        for part, value in zip(parts, values, strict=True):
            assert (bits[part.fluents] == part.values[value]).all()


def test_a_line_is_found_and_ends_the_game() -> None:
    """Twelve beads, 25 turns away at most: 12! / 2 arrangements and more."""
    game = rings("ottoottotoootttootottoott", 80)
    line = PatternSearch(game.expander, [solved(game)]).run(time.monotonic() + _LATER)
    assert line is not None
    state = game.initial_state()
    for (move,) in line:
        assert not state.is_terminal
        state = state.next([move])
    assert state.is_terminal
    assert state.goal("r") == 100


def test_a_plan_is_as_long_as_the_game_lets_it_be() -> None:
    """None where one more step would be needed; the search for any plan uses it."""
    game = rings("ottoot", 2)
    assert PatternSearch(game.expander, [solved(game)]).run(time.monotonic() + 0.5) is None
    plan = any_plans(rings("ottoottotooott", 60), 100)(8.0)
    assert plan is not None
    assert plan.method == "pattern databases"


# A register with twelve bits, whose first one the move says.
REGISTER = """
(role r) (legal r zero) (legal r one) {successors}
(<= (next (bit ?n)) (true (bit ?m)) (succ ?m ?n)) (<= (next (bit 1)) (does r one))
(<= terminal (true (bit 1)) (true (bit 2)) (true (bit 3))) (goal r 100)
"""


def test_later_calls_go_on_with_other_beams() -> None:
    """Where each call has time for one beam, and the first one finds nothing."""
    game = rings("ottoottotoootttootottoott", 80)
    search = PatternSearch(game.expander, [solved(game)])
    tried = [search.run(0.0) for _ in range(3)]
    assert tried == [None] * 3
    assert search.run(time.monotonic() + _LATER) is not None


def test_parts_are_not_too_large() -> None:
    """The last bit follows from all others; games for two have no parts."""
    successors = " ".join(f"(succ {n} {n + 1})" for n in range(1, 12))
    expander = herbrand.loads(REGISTER.format(successors=successors)).expander
    last = expander.fluent_names.index("(bit 12)")
    assert find_parts(expander, [last], time.monotonic() + _LATER) is None
    (part,) = find_parts(expander, [expander.fluent_names.index("(bit 5)")], time.monotonic() + _LATER) or ()
    assert len(part.values) == 32
    assert find_parts(herbrand.load("ticTacToe").expander, [0], time.monotonic() + _LATER) is None


def test_what_is_hopeless_is_given_up() -> None:
    """Lines that the rest of the rules forbids, and beams that have room for all states, are not repeated."""
    blocks = herbrand.load("blocksWorld")  # what the goal asks for leaves out which block is free
    names = blocks.expander.fluent_names
    stacked = {names.index("(on a b)"): True, names.index("(on b c)"): True}
    lamp = herbrand.loads(
        "(role r) (init off) (legal r press) (<= (next on) (true never)) (<= (next off) (true off))"
        "(<= (next never) (true never)) (<= terminal (true on)) (goal r 100)"
    )
    for game, end in (blocks, stacked), (lamp, {0: True}):
        search = PatternSearch(game.expander, [end])
        began = time.monotonic()
        search.run(began + _LATER)
        assert time.monotonic() - began < 0.5 * _LATER
