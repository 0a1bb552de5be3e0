"""Exploration finds every reachable state once, and counts as counting by hand does."""

from __future__ import annotations

import random
from collections import Counter, deque
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from strategies import games as random_games

import herbrand
from herbrand.analyse.budget import Budget
from herbrand.analyse.exploration.explore import explore
from herbrand.core import StateTable

if TYPE_CHECKING:
    from pathlib import Path

KNOWN = {
    # states, terminal states, plays: from the literature, or counted by plain Python in test_games_small
    "ticTacToe": (5478, 958, 255168),
    "nim": (232, 2, None),
    "hanoi": (2753, 243, None),
}


def plain(game: herbrand.Game, limit: int = 3000) -> tuple[dict[frozenset[str], int], int] | None:
    """The depth of every reachable state and the number of transitions, by the rules alone."""
    start = game.initial_state("rules")
    depth = {start.facts: 0}
    queue, transitions = deque([start]), 0
    while queue:
        state = queue.popleft()
        for joint in state.joint_moves():
            transitions += 1
            after = state.next(joint)
            if after.facts not in depth:
                depth[after.facts] = depth[state.facts] + 1
                queue.append(after)
        if len(depth) > limit or transitions > 10 * limit:
            return None
    return depth, transitions


@pytest.mark.parametrize("name", KNOWN)
def test_known_numbers_of_states(name: str) -> None:
    """Published numbers of states, ends and lines of play."""
    space = explore(herbrand.load(name).expander, budget=Budget(600))
    states, ends, plays = KNOWN[name]
    assert space.complete
    assert (len(space.states), space.terminal_states) == (states, ends)
    assert plays is None or space.plays() == plays
    facts = herbrand.games.info(name)["perft"]
    assert space.perft(9)[1:] == [row["states"] for row in facts][:9]


@pytest.mark.slow_except("montyHall", "nim", "ticTacToe", "kuhn", "rockPaperScissors", "hanoi", "blocksWorld")
@pytest.mark.parametrize("name", ["nim", "kuhn", "montyHall", "prisonersDilemma", "rockPaperScissors"])
def test_every_state_is_found_at_its_depth(name: str) -> None:
    """The states, their depths and the transitions are those found one at a time by the rules."""
    game = herbrand.load(name)
    found = plain(game)
    assert found is not None
    depth, transitions = found
    space = explore(game.expander)
    assert space.transitions == transitions == len(space.children)
    facts = game.expander.facts(space.states)
    assert len(facts) == len(depth)
    levels = np.searchsorted(space.levels, np.arange(len(facts)), side="right") - 1
    assert {f: int(d) for f, d in zip(facts, levels, strict=True)} == depth
    assert space.profile == [n for _, n in sorted(Counter(depth.values()).items())]


@settings(max_examples=3, deadline=None)
@given(random_games())
def test_random_games_are_explored_as_the_rules_say(text: str) -> None:
    """States, transitions and ends of random games; and a line to each state leads there."""
    game = herbrand.loads(text)
    found = plain(game, 200)
    if found is None:
        return
    space = explore(game.expander)
    facts = game.expander.facts(space.states)
    assert set(facts) == set(found[0])
    assert space.transitions == found[1]
    for i in random.Random(1).sample(range(len(facts)), min(5, len(facts))):
        state = game.initial_state("rules")
        for joint in space.line_to(i):
            state = state.next(joint)
        assert state.facts == facts[i]
        assert state.is_terminal == space.over[i]


def test_a_stuck_state_and_a_cycle_are_found() -> None:
    """A state in which a role cannot move, and a way back to the start."""
    game = herbrand.loads("""(role a) (role b) (init x) (legal a go) (legal a stay)
        (<= (legal b go) (true x)) (<= (next y) (does a go)) (<= (next x) (does a stay))
        (<= terminal (true z)) (goal a 0) (goal b 0)""")
    space = explore(game.expander)
    assert len(space.states) == 2
    assert space.stuck.tolist() == [1]
    assert not space.acyclic
    assert space.unsorted.tolist() == [0, 1]
    assert space.line_to(1) == (("go", "go"),)


def test_limits_stop_the_exploration_and_say_so() -> None:
    """Fewer states than there are: what was found is there, and why there is no more."""
    expander = herbrand.load("connectFour").expander
    space = explore(expander, budget=Budget(states=2000))
    assert not space.complete
    assert space.stopped == "2000 states"
    assert space.profile[:4] == [1, 7, 49, 238]
    assert explore(expander, budget=Budget(seconds=0)).stopped == "0 seconds"
    assert explore(expander, budget=Budget(megabytes=1)).stopped == "1 megabytes"


def test_limits_hold_within_a_state_with_many_joint_moves() -> None:
    """Four roles with 300 moves each have 8 100 million joint moves: what was found in part counts as found only."""
    numbers = " ".join(f"(number {i})" for i in range(300))
    game = herbrand.loads(
        f"""(role a) (role b) (role c) (role d) {numbers}
        (<= (legal ?r (say ?n)) (role ?r) (number ?n)) (<= (next (said ?r ?n)) (does ?r (say ?n)))
        (<= terminal (true (said ?r ?n))) (<= (goal ?r 100) (role ?r))"""
    )
    space = explore(game.expander, budget=Budget(states=1000))
    assert space.stopped == "1000 states"
    assert (space.expanded, space.transitions, len(space.children)) == (0, 0, 0)
    assert 1000 < len(space.states) < 1_000_000
    assert space.line_to(1) == (("(say 0)", "(say 0)", "(say 0)", "(say 0)"),)


def test_states_can_be_kept_on_disk(tmp_path: Path) -> None:
    """With the states in a file the result is the same, and the file goes away."""
    expander = herbrand.load("ticTacToe").expander
    space = explore(expander, spill=tmp_path)
    assert len(list(tmp_path.iterdir())) == 1
    assert (space.states == explore(expander).states).all()
    del space
    assert not list(tmp_path.iterdir())


def test_a_start_in_the_middle() -> None:
    """Exploring from another state finds what follows it."""
    game = herbrand.load("ticTacToe")
    start = game.expander.expand(game.expander.initial).states[4:5]
    space = explore(game.expander, start=start)
    assert space.profile[:3] == [1, 8, 56]
    openings = game.expander.expand(game.expander.initial).states
    plays = [explore(game.expander, start=openings[i : i + 1]).plays() for i in range(9)]
    assert plays[4] == space.plays()
    assert plays[0] == plays[2] == plays[6] == plays[8]  # the corners
    assert plays[1] == plays[3] == plays[5] == plays[7]  # the edges
    assert sum(p or 0 for p in plays) == 255168


def test_the_set_keeps_each_row_once() -> None:
    """Random rows with many repetitions, against a dictionary; also when the table has to grow."""
    chance = np.random.default_rng(3)
    for words in (1, 3):
        rows = chance.integers(0, 40, (50_000, words), np.uint64) << np.uint64(chance.integers(0, 50))
        states = np.zeros((60_000, words), np.uint64)
        table = StateTable(words)
        size = table.bytes
        parents = np.zeros(len(states), np.int32)
        origins = np.arange(len(rows))
        numbers = np.concatenate(
            [
                table.insert(states, parents, rows[part], origins[part], 7)
                for part in (slice(2500), slice(2500, 30_000), slice(30_000, None))
            ]
        )
        count = table.count
        assert (table.bytes > size) == (words == 3)
        known: dict[bytes, int] = {}
        expected = [known.setdefault(row.tobytes(), len(known)) for row in rows]
        assert numbers.tolist() == expected
        assert count == len(known)
        first = {number: place for place, number in reversed(list(enumerate(expected)))}
        assert parents[:count].tolist() == [7 + first[number] for number in range(count)]
        assert (states[:count] == np.array([np.frombuffer(k, np.uint64) for k in known])).all()
