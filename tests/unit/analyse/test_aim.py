"""Searches for wins in which all work together: what guides them is right, and what they find replays."""

from __future__ import annotations

import time

import numpy as np
import pytest

import herbrand

pytest.importorskip("pysat", reason="python-sat is not installed")

from herbrand.analyse.exploration.replay import holds
from herbrand.analyse.exploration.walks import play
from herbrand.analyse.invariants.domains import UNREACHABLE, find_domains
from herbrand.analyse.invariants.frames import System
from herbrand.analyse.invariants.groups import observed_groups
from herbrand.analyse.solving.aim import Aim, compatible_moves, target_states
from herbrand.analyse.solving.climb import climb
from herbrand.analyse.solving.distance import Distance
from herbrand.analyse.solving.guided import guided_line
from herbrand.analyse.verdict import Witness

_LATER = 60.0
"""Seconds after which searches that end by themselves would give up."""

CLIMB = """
(role a) (role b) (init (n 0)) (init (at 3)) (init (step 0))
(<= (legal ?r up) (role ?r)) (<= (legal ?r down) (role ?r))
(<= (next (n ?y)) (does a up) (does b up) (true (n ?x)) (succ ?x ?y))
(<= (next (n 0)) (does ?r down))
(<= (next (at ?y)) (true (at ?x)) (succ ?y ?x)) (<= (next (at 0)) (true (at 0)))
(<= (next (step ?y)) (true (step ?x)) (succ ?x ?y))
(<= terminal (true (step 25)))
(<= (goal ?r 100) (role ?r) (true (n 20))) (<= (goal ?r 0) (role ?r) (not (true (n 20))))
""" + " ".join(f"(succ {i} {i + 1})" for i in range(25))
"""Only twenty times `up` by both, one after the other, counts."""
LOCK = """
(role a) (dial 1) (dial 2) (dial 3) (dial 4) (dial 5) (dial 6) (digit 3) (digit 5) (digit 7)
(code 1 5) (code 2 3) (code 3 7) (code 4 7) (code 5 3) (code 6 5)
(<= (init (free ?d)) (dial ?d))
(<= (legal a (set ?d ?v)) (true (free ?d)) (digit ?v))
(<= (next (is ?d ?v)) (does a (set ?d ?v))) (<= (next (is ?d ?v)) (true (is ?d ?v)))
(<= (next (free ?d)) (true (free ?d)) (does a (set ?e ?v)) (distinct ?d ?e))
(<= unset (true (free ?d))) (<= wrong (code ?d ?v) (not (true (is ?d ?v))))
(<= terminal (not unset)) (<= (goal a 100) (not wrong)) (<= (goal a 0) wrong)
"""
TRAIL = """
(role a) (init (cell 1 3)) (init (cell 8 6)) (init (cell 2 blank)) (init (cell 3 blank)) (init (cell 4 blank))
(init (cell 5 blank)) (init (cell 6 blank)) (init (cell 7 blank)) (init (cell 9 blank))
(number 1) (number 2) (number 3) (number 4) (number 5) (number 6) (number 7) (number 8) (number 9)
(succ 1 2) (succ 2 3) (succ 3 4) (succ 4 5) (succ 5 6) (succ 6 7) (succ 7 8) (succ 8 9)
(by 1 2) (by 2 3) (by 4 5) (by 5 6) (by 7 8) (by 8 9) (by 1 4) (by 4 7) (by 2 5) (by 5 8) (by 3 6) (by 6 9)
(<= (near ?x ?y) (by ?x ?y)) (<= (near ?x ?y) (by ?y ?x)) (<= (next_to ?n ?m) (succ ?n ?m))
(<= (next_to ?n ?m) (succ ?m ?n))
(<= (used ?n) (number ?n) (true (cell ?x ?n)))
(<= (broken ?x ?n) (number ?n) (true (cell ?y ?m)) (next_to ?n ?m) (near ?z ?x) (not (near ?y ?x)))
(<= (legal a (put ?x ?n)) (true (cell ?x blank)) (number ?n) (not (used ?n)) (not (broken ?x ?n)))
(legal a quit) (<= (next over) (does a quit))
(<= (next (cell ?x ?n)) (true (cell ?x ?n)) (number ?n)) (<= (next (cell ?x ?n)) (does a (put ?x ?n)))
(<= (next (cell ?x blank)) (true (cell ?x blank)) (does a (put ?y ?n)) (distinct ?x ?y))
(<= (next (cell ?x blank)) (true (cell ?x blank)) (does a quit))
(<= open (true (cell ?x blank))) (<= terminal (not open)) (<= terminal (true over))
(<= (goal a 100) (not open)) (<= (goal a 0) open)
"""
"""The numbers from 1 to 9 are put on a square such that neighbours in number are neighbours on the board."""
STAY = "(role a) (legal a b) (legal a c) (<= (next d) (does a b)) (<= terminal (true d)) (goal a 100)"
"""One of the moves changes nothing, the other ends the game."""


def _place(game: herbrand.Game, fluent: str) -> int:
    return game.expander.fluent_names.index(fluent)


def _wins(game: herbrand.Game, line: tuple[tuple[str, ...], ...] | None) -> bool:
    return line is not None and holds(game, "win", Witness(line, game.roles[0]))


def test_a_wanted_state_is_reached() -> None:
    """Whatever is wanted of it; where no state is left that could be it, the search ends."""
    game = herbrand.loads(LOCK)
    aim = Aim(game.expander, play(game.expander, time.monotonic() + 1).states, 5.0)
    place = {text: number for number, text in enumerate(aim.system.fluent_texts)}
    wanted = [place["(is 2 7)"], place["(is 5 5)"], place["(free 1)"]]
    groups = observed_groups(game.network, aim.states)
    line = aim.reach(
        lambda frame: frame.system.circuit.all_of(frame.state[wanted]), groups, time.monotonic() + _LATER
    )
    assert line is not None
    state = game.initial_state()
    for joint in line:
        state = state.next(joint)
    assert {"(is 2 7)", "(is 5 5)", "(free 1)"} <= set(map(str, state.facts))
    both = [place["(is 2 7)"], place["(is 2 5)"]]
    began = time.monotonic()
    assert aim.reach(lambda f: f.system.circuit.all_of(f.state[both]), groups, began + _LATER) is None
    assert time.monotonic() < began + _LATER


def test_number_puzzles_are_filled_by_moves_that_do_not_exclude_each_other() -> None:
    """What is illegal after a move cannot be part of the same end; each number has one place."""
    game = herbrand.loads(TRAIL)
    filling = compatible_moves(game.expander)
    assert filling is not None
    names = game.expander.fluent_names
    groups = {(group.some, frozenset(names[fluent] for fluent in group.fluents)) for group in filling.groups}
    assert (False, frozenset({"(cell 7 7)", "(cell 9 7)"})) in groups  # a number twice
    assert (False, frozenset({"(cell 2 4)", "(cell 4 4)"})) in groups
    assert (False, frozenset({"(cell 9 7)", "(cell 6 8)"})) not in groups
    assert (True, frozenset({"(cell 7 7)", "(cell 5 7)", "(cell 9 7)"})) in groups
    assert "(cell 2 5)" in {names[fluent] for fluent in filling.never}
    assert filling.count == 0
    aim = Aim(game.expander, play(game.expander, time.monotonic() + _LATER).states, _LATER)
    line = aim.win_by_filling(0, time.monotonic() + _LATER)
    assert _wins(game, line)
    assert line is not None
    assert len(line) == 7
    lock = herbrand.loads(LOCK)
    filling = compatible_moves(lock.expander)
    assert filling is not None
    assert (filling.count, len(filling.fillable)) == (6, 18)  # each random game takes six steps
    aim = Aim(lock.expander, play(lock.expander, time.monotonic() + _LATER).states, _LATER)
    assert _wins(lock, aim.win_by_filling(0, time.monotonic() + _LATER))
    for other in (CLIMB, STAY):
        assert compatible_moves(herbrand.loads(other).expander) is None


def test_domains_tell_how_many_steps_a_count_has_to_go() -> None:
    """From 0 it is twenty steps to 20 and one back; what only falls never rises."""
    game = herbrand.loads(CLIMB)
    states = play(game.expander, time.monotonic() + _LATER).states
    domains = find_domains(game.network, states, time.monotonic() + _LATER)
    found = {}
    for k, table in enumerate(domains.tables.tolist()):
        members = domains.members[domains.starts[k] : domains.starts[k + 1]].tolist()
        steps = domains.steps[table : table + (len(members) + 1) * len(members)].reshape(-1, len(members))
        found |= {(f, g): steps[i, j] for i, f in enumerate(members) for j, g in enumerate(members)}
    n0, n20, at0, at3 = (_place(game, text) for text in ("(n 0)", "(n 20)", "(at 0)", "(at 3)"))
    assert (found[n0, n20], found[n20, n0]) == (20, 1)
    assert (found[at3, at0], found[at0, at3]) == (3, UNREACHABLE)
    assert len(find_domains(game.network, states, time.monotonic() - 1).members) == 0


def test_searches_follow_a_count_that_random_play_never_reaches() -> None:
    """Beam and games side by side find the win, whose line replays; after the deadline they find nothing."""
    game = herbrand.loads(CLIMB)
    aim = Aim(game.expander, play(game.expander, time.monotonic() + _LATER).states, _LATER)
    frame = aim.system.any_state()
    literals = (frame.hundred(0), frame.terminal)
    distance = Distance(aim.system.circuit, frame.state, literals, aim.domains)
    assert distance(game.expander.initial).tolist() == [45]
    assert distance.weighted(1, 0.5)(game.expander.initial).tolist() == [32.5]
    for search in (guided_line, climb):
        assert _wins(game, search(game.expander, [distance], time.monotonic() + _LATER))
        assert search(game.expander, [distance], time.monotonic() - 1) is None
    assert _wins(game, aim.win(0, time.monotonic() + _LATER))


def test_an_end_is_found_before_the_line_to_it() -> None:
    """The solver finds the code of a lock, and nothing else; aiming at it opens the lock."""
    game = herbrand.loads(LOCK)
    states = play(game.expander, time.monotonic() + _LATER).states
    system = System(game.network)
    groups = observed_groups(game.network, states)
    found = list(target_states(system, lambda frame: frame.wins(0), groups, time.monotonic() + _LATER))
    assert len(found) >= 1
    frame, literals = found[0]
    code = [f"(is {d} {v})" for d, v in zip(range(1, 7), (5, 3, 7, 7, 3, 5), strict=True)]
    bits = np.zeros((7, game.expander.fluents), np.bool_)
    for wrong in range(7):  # the last one is right
        for dial, text in enumerate(code):
            bits[wrong, _place(game, text)] = dial != wrong
    distance = Distance(system.circuit, frame.state, literals)(game.expander.pack_bits(bits))
    assert (distance == 0).tolist() == [False] * 6 + [True]
    aim = Aim(game.expander, states, _LATER)
    assert _wins(game, aim.win_by_ends(0, time.monotonic() + _LATER))
    assert aim.win_by_ends(0, time.monotonic() - 1) is None


def test_games_side_by_side_end_when_there_is_nothing_left() -> None:
    """Where a game has few states and none is looked for, the search ends before its time."""
    game = herbrand.load("nim")
    nowhere = climb(
        game.expander, [lambda states: np.ones(len(states), np.float32)], time.monotonic() + _LATER
    )
    assert nowhere is None
