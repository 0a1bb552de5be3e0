"""Many states at once give the answers of the rules."""

from __future__ import annotations

import itertools
import math
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import herbrand
from herbrand import GameError, core
from herbrand.testing import games as random_games

GAMES = [
    "ticTacToe", "connectFour", "breakthrough", "reversi", "tron", "nim", "hanoi", "rockPaperScissors",
    "prisonersDilemma", "lightsOut", "montyHall", "kuhn", "trefoil", "blocksWorld",
]  # fmt: skip


def walk(game: herbrand.Game, count: int, seed: int) -> list[herbrand.State]:
    """Different states met in random games, terminal ones among them; by the rules."""
    chance = random.Random(seed)
    found: dict[frozenset[str], herbrand.State] = {}
    for _ in range(50):
        state = game.initial_state("rules")
        for _ in range(60):
            found.setdefault(state.facts, state)
            legal = state.legal_moves()
            if state.is_terminal or not all(legal.values()) or len(found) >= count:
                break
            state = state.next([chance.choice(moves) for moves in legal.values()])
    return list(found.values())


def compare(game: herbrand.Game, states: list[herbrand.State]) -> None:
    """The expander says of the states what the rules say."""
    expander = game.expander
    packed = expander.pack(state.facts for state in states)
    assert expander.facts(packed) == [state.facts for state in states]
    legal = expander.legal(packed)
    goals = expander.goals(packed)
    counts = legal.counts()
    for i, state in enumerate(states):
        assert legal.over[i] == state.is_terminal
        for r, role in enumerate(game.roles):
            values = state.goal_values(role)
            goal = state.goals[role]
            expected = goal if goal is not None else core.SEVERAL_VALUES if values else core.NO_VALUE
            assert goals[i, r] == expected
            names = {expander.moves[r][m] for m in np.flatnonzero(legal.mask(r)[i])}
            assert names == set(map(str, state.legal_moves(role)))
            assert counts[i, r] == len(names)
    expansion = expander.expand(packed, legal)
    after: dict[int, set[tuple[tuple[str, ...], frozenset[str]]]] = {}
    for k, facts in enumerate(expander.facts(expansion.states)):
        after.setdefault(int(expansion.parents[k]), set()).add((expansion.joint_move(k), facts))
    for i, state in enumerate(states):
        expected = {(tuple(map(str, joint)), state.next(joint).facts) for joint in state.joint_moves()}
        assert after.get(i, set()) == expected
        assert legal.joint_counts()[i] == len(expected)
    assert (np.diff(expansion.parents) >= 0).all()


@pytest.mark.parametrize("name", GAMES)
def test_many_states_at_once_agree_with_the_rules(name: str) -> None:
    """Legal moves, ends, goals and all successors, of up to 70 states, so more than a word."""
    game = herbrand.load(name)
    states = walk(game, 70, seed=1)
    compare(game, states if name in ("ticTacToe", "nim", "kuhn") else states[:25])


@settings(max_examples=25, deadline=None)
@given(random_games(), st.integers(0, 100))
def test_random_games_are_expanded_as_the_rules_say(text: str, seed: int) -> None:
    """Whatever the game."""
    game = herbrand.loads(text)
    compare(game, walk(game, 6, seed))


def test_pieces_of_an_expansion_are_the_expansion() -> None:
    """Listing joint moves a few at a time gives the same successors in the same order."""
    game = herbrand.load("prisonersDilemma")
    expander = game.expander
    states = expander.expand(expander.expand(expander.initial).states).states
    whole = expander.expand(states)
    for size in (1, 3, 7):
        pieces = list(expander.expansions(states, joints=size))
        assert all(len(piece) <= size for piece in pieces)
        assert (np.concatenate([p.parents for p in pieces]) == whole.parents).all()
        assert (np.concatenate([p.moves for p in pieces]) == whole.moves).all()
        assert (np.concatenate([p.states for p in pieces]) == whole.states).all()


def test_joint_moves_come_in_the_order_of_a_product() -> None:
    """The last role's move changes fastest."""
    expander = herbrand.load("rockPaperScissors").expander
    moves = expander.expand(expander.initial).moves.tolist()
    assert moves == [list(joint) for joint in itertools.product(range(3), repeat=2)]


def test_steps_are_made_in_the_states_named() -> None:
    """One joint move in each of several states, and several in one state."""
    game = herbrand.load("ticTacToe")
    expander = game.expander
    opening = expander.expand(expander.initial)
    again = expander.step(expander.initial, opening.moves, np.zeros(len(opening), np.int64))
    assert (again == opening.states).all()
    legal = expander.legal(opening.states)
    first = np.stack([legal.mask(r).argmax(axis=1) for r in range(2)], axis=1)
    after = expander.step(opening.states, first)
    for facts, moves, packed in zip(expander.facts(opening.states), first, after, strict=True):
        assert game.state(facts).next(expander.joint_move(moves)).facts == expander.facts(packed[None, :])[0]


def test_wrong_arrays_are_refused() -> None:
    """A call with numbers that mean nothing raises and does not read past its arrays."""
    expander = herbrand.load("ticTacToe").expander
    with pytest.raises(ValueError, match="packed states"):
        expander.legal(np.zeros((1, expander.words + 1), np.uint64))
    with pytest.raises(ValueError, match="number that no move"):
        expander.step(expander.initial, np.array([[0, 99]]))
    with pytest.raises(ValueError, match="2 joint moves for 1 states"):
        expander.step(expander.initial, np.array([[0, 0], [1, 0]]))
    with pytest.raises(ValueError, match="parents"):
        expander.step(expander.initial, np.array([[0, 0]]), np.array([1]))
    with pytest.raises(GameError, match="true in no reachable state"):
        expander.pack([["(cell 9 9 x)"]])


def test_percepts_are_those_of_the_rules() -> None:
    """What the roles see of every joint move in many states."""
    game = herbrand.load("kuhn")
    expander, network = game.expander, game.network
    for state in walk(game, 40, seed=3):
        if state.is_terminal:
            continue
        packed = expander.pack([state.facts])
        expansion = expander.expand(packed)
        seen = expander.percepts(np.repeat(packed, len(expansion), axis=0), expansion.moves)
        for k, row in enumerate(seen):
            for r, role in enumerate(game.roles):
                mine = [
                    network.terms.text(t)
                    for (q, t), s in zip(network.percepts, row, strict=True)
                    if q == r and s
                ]
                assert tuple(sorted(mine)) == state.percepts(expansion.joint_move(k), role)


def test_random_games_from_a_state_end_as_random_games_do() -> None:
    """From the start of tic-tac-toe: x wins 0.5849, o 0.2881, mean length 7.63; repeatable."""
    expander = herbrand.load("ticTacToe").expander
    n = 100_000
    played = expander.rollouts(expander.initial, seed=5, each=n)
    for value, chance in ((100, 737 / 1260), (0, 121 / 420), (50, 8 / 63)):
        found = (played.goals[:, 0] == value).mean()
        assert abs(found - chance) < 5 * math.sqrt(chance * (1 - chance) / n)
    assert (played.goals.sum(axis=1) == 100).all()
    assert abs(played.lengths.mean() - 7.63) < 0.05
    assert not played.truncated.any()
    again = expander.rollouts(expander.initial, seed=5, each=n)
    assert (again.goals == played.goals).all()
    assert (again.lengths == played.lengths).all()


def test_games_that_are_stopped_are_not_complete() -> None:
    """Who stopped them is told that the numbers mean nothing."""
    expander = herbrand.load("ticTacToe").expander
    stop = core.Stop()
    stop.set()
    assert not expander.rollouts(expander.initial, seed=1, stop=stop).complete
    stop.clear()
    assert expander.rollouts(expander.initial, seed=1, stop=stop).complete


def test_games_from_the_middle_begin_there() -> None:
    """A finished game stays as it is; one move before its end only that move is played."""
    game = herbrand.load("ticTacToe")
    state = game.initial_state()
    line = ["(mark 1 1)", "(mark 2 1)", "(mark 1 2)", "(mark 2 2)", "(mark 1 3)"]
    packed = []
    for k, move in enumerate(line):
        packed.append(state.facts)
        state = state.next((move, "noop") if k % 2 == 0 else ("noop", move))
    packed.append(state.facts)
    played = game.expander.rollouts(game.expander.pack(packed), seed=1, each=4)
    assert (played.lengths[-4:] == 0).all()
    assert (played.goals[-4:] == [100, 0]).all()
    assert (played.lengths[-8:-4] >= 1).all()
    limited = game.expander.rollouts(game.expander.initial, seed=1, each=100, max_steps=4)
    assert limited.truncated.all()
    assert (limited.lengths == 4).all()


def test_a_state_without_moves_is_reported_not_played() -> None:
    """Games that get stuck have no goal values but `STUCK`."""
    game = herbrand.loads(
        """(role r) (init a) (legal r stay)
        (<= (legal r stay) (true a)) (<= (next b) (true a)) (<= terminal (true c)) (goal r 100)""".replace(
            "(legal r stay)\n", "\n"
        )
    )
    played = game.expander.rollouts(game.expander.initial, seed=1, each=3)
    assert (played.goals == core.STUCK).all()
    assert (played.lengths == 1).all()
    assert not len(game.expander.expand(game.expander.expand(game.expander.initial).states))


def test_roles_with_thousands_of_moves_choose_among_all() -> None:
    """Each of 5000 moves is about equally likely."""
    numbers = " ".join(f"(number {i})" for i in range(5000))
    game = herbrand.loads(
        f"""(role r) (init start) {numbers}
        (<= (legal r (pick ?n)) (number ?n)) (<= (next (low)) (does r (pick ?n)) (small ?n))
        (<= (next high) (does r (pick ?n)) (not (small ?n))) (<= (small ?n) (number ?n) (tenth ?n))
        {" ".join(f"(tenth {i})" for i in range(0, 5000, 10))}
        (<= terminal (not (true start))) (<= (goal r 100) (true low)) (<= (goal r 0) (not (true low)))"""
    )
    played = game.expander.rollouts(game.expander.initial, seed=2, each=4000)
    assert (played.lengths == 1).all()
    assert abs((played.goals == 100).mean() - 0.1) < 5 * math.sqrt(0.09 / 4000)
