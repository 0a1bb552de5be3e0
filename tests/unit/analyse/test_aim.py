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
from herbrand.analyse.solving.aim import Aim, target_states
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


def _place(game: herbrand.Game, fluent: str) -> int:
    return game.expander.fluent_names.index(fluent)


def _wins(game: herbrand.Game, line: tuple[tuple[str, ...], ...] | None) -> bool:
    return line is not None and holds(game, "win", Witness(line, game.roles[0]))


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
    frame, literal = found[0]
    code = [f"(is {d} {v})" for d, v in zip(range(1, 7), (5, 3, 7, 7, 3, 5), strict=True)]
    bits = np.zeros((7, game.expander.fluents), np.bool_)
    for wrong in range(7):  # the last one is right
        for dial, text in enumerate(code):
            bits[wrong, _place(game, text)] = dial != wrong
    distance = Distance(system.circuit, frame.state, [literal])(game.expander.pack_bits(bits))
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
