"""Many states at once give the answers of the rules."""

from __future__ import annotations

import itertools
import math
import random
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import games as random_games

import herbrand
from herbrand import GameError, core
from herbrand.engine.expand import Expander, new_generator

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


@pytest.mark.slow_except("ticTacToe", "hanoi", "rockPaperScissors", "kuhn", "montyHall", "tron")
@pytest.mark.parametrize("name", GAMES)
def test_many_states_at_once_agree_with_the_rules(name: str) -> None:
    """Legal moves, ends, goals and all successors, of up to 70 states, so more than a word."""
    game = herbrand.load(name)
    states = walk(game, 70, seed=1)
    compare(game, states if name in ("ticTacToe", "nim", "kuhn") else states[:25])


@settings(max_examples=4, deadline=None)
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
    """Each of 2000 moves is about equally likely."""
    numbers = " ".join(f"(number {i})" for i in range(2000))
    game = herbrand.loads(
        f"""(role r) (init start) {numbers}
        (<= (legal r (pick ?n)) (number ?n)) (<= (next (low)) (does r (pick ?n)) (small ?n))
        (<= (next high) (does r (pick ?n)) (not (small ?n))) (<= (small ?n) (number ?n) (tenth ?n))
        {" ".join(f"(tenth {i})" for i in range(0, 2000, 10))}
        (<= terminal (not (true start))) (<= (goal r 100) (true low)) (<= (goal r 0) (not (true low)))"""
    )
    played = game.expander.rollouts(game.expander.initial, seed=2, each=4000)
    assert (played.lengths == 1).all()
    assert abs((played.goals == 100).mean() - 0.1) < 5 * math.sqrt(0.09 / 4000)


def picking(count: int) -> herbrand.Game:
    """A game in which one of some moves is made, those that the state allows; then it is over."""
    numbers = " ".join(f"(number {i})" for i in range(count))
    return herbrand.loads(
        f"""(role r) (role idle) {numbers} (init (on 0)) (<= (init (on ?n)) (number ?n))
        (<= (legal r (pick ?n)) (true (on ?n))) (legal idle wait)
        (<= (next (picked ?n)) (does r (pick ?n)))
        (<= terminal (true (picked ?n))) (<= (goal r 100) (true (picked 0))) (goal idle 0)
        (<= (goal r 0) (not (true (picked 0))))"""
    )


@pytest.mark.parametrize("count", [1, 64, 65, 200])
def test_samples_are_legal_and_equally_likely(count: int) -> None:
    """In states with one, some and all of the moves, and in one without any."""
    expander = picking(count).expander
    generator = np.random.default_rng(1)
    bits = np.zeros((4, expander.fluents), np.bool_)
    places = [f for f, name in enumerate(expander.fluent_names) if name.startswith("(on")]
    bits[0, places] = True
    bits[1, places[-1]] = True
    bits[2, places[::3]] = True
    legal = expander.legal(np.repeat(expander.pack_bits(bits), 3000, axis=0))
    chosen, mask = legal.sample(0, generator).reshape(4, 3000), legal.mask(0)[::3000]
    assert not chosen[3].any()
    assert not legal.sample(1, generator).any()
    for moves, allowed in zip(chosen[:3], mask[:3], strict=True):
        times = np.bincount(moves, minlength=count)
        assert not times[~allowed].any()
        mean = 3000 / allowed.sum()
        assert (abs(times[allowed] - mean) < 6 * math.sqrt(mean)).all()


@pytest.mark.parametrize("count", [1, 2, 3, 8, 9, 31, 33, 64, 100])
def test_every_legal_move_is_chosen_equally_often_with_the_kernels_of_all_processors(count: int) -> None:
    """In 700 states with different moves at once, none, one, some or all of them; bit for bit the same games."""
    expander = picking(count).expander
    chance = np.random.default_rng(count)
    share = chance.choice([0.0, 0.02, 0.3, 0.9, 1.0], 700)
    on = chance.random((700, count)) < share[:, None]
    places = [expander.fluent_names.index(f"(on {i})") for i in range(count)]
    picked = [expander.fluent_names.index(f"(picked {i})") for i in range(count)]
    bits = np.zeros((700, expander.fluents), np.bool_)
    bits[:, places] = on
    states = expander.pack_bits(bits)
    parents = np.repeat(np.arange(700), 30)
    found = []
    levels = core.levels()
    for level in levels:
        core.use_level(level)
        ended = Expander(expander.network).core.rollouts(states, parents, new_generator(1), 5, last=True)
        found.append(expander.bits(ended.last)[:, picked])
    assert all((one == found[0]).all() for one in found)
    some = on.any(axis=1)[parents]
    assert (ended.lengths == some).all()
    assert (ended.goals[~some] == core.STUCK).all()
    assert (found[0].sum(axis=1) == some).all()
    assert (found[0] <= on[parents]).all()
    expected = (on / np.maximum(1, on.sum(axis=1))[:, None])[parents]
    difference = found[0].sum(axis=0) - expected.sum(axis=0)
    deviation = np.sqrt((expected * (1 - expected)).sum(axis=0))
    assert (np.abs(difference) <= 5 * deviation + 1e-9).all()
    # also by rank among the legal moves of a state
    ranks = (on[parents].cumsum(axis=1) * found[0]).max(axis=1)[some] / on[parents].sum(axis=1)[some]
    counts = on[parents].sum(axis=1)[some]
    mean = ((counts + 1) / 2 / counts).sum()
    variance = ((counts**2 - 1) / 12 / counts**2).sum()
    assert abs(ranks.sum() - mean) <= 5 * math.sqrt(variance) + 1e-9


def test_threads_ask_one_expander_at_the_same_time() -> None:
    """All of them get the answers that one thread gets."""
    expander = herbrand.load("connectFour").expander
    states = expander.expand(expander.expand(expander.initial).states).states

    def answers(seed: int) -> tuple[bytes, ...]:
        found = expander.expand(states)
        played = expander.rollouts(states, seed=seed, each=20)
        return found.states.tobytes(), expander.goals(found.states).tobytes(), played.goals.tobytes()

    alone = [answers(seed) for seed in range(8)]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(answers, range(8))) == alone


def test_what_is_told_of_games_fits_together() -> None:
    """The game watched, the moves made and the last states, of more games than lanes or fewer."""
    expander = herbrand.load("ticTacToe").expander
    for count in (3, 512, 1500):
        parents = np.zeros(count, np.int64)
        wanted = count <= core.LANES
        few = expander.core.rollouts(
            expander.initial, parents, new_generator(3), 100, watched=count - 1, played=wanted, last=True
        )
        state = expander.initial
        for joint in few.line:
            assert not expander.terminal(state)[0]
            state = expander.step(state, joint[None, :])
        assert len(few.line) == few.lengths[-1]
        assert (state == few.last[-1:]).all()
        assert expander.terminal(few.last).all()
        assert (expander.goals(few.last) == few.goals).all()
        if wanted:
            made = np.unpackbits(few.played.view(np.uint8), axis=1, bitorder="little")
            for role in range(2):
                numbers = expander.bounds[role] + np.unique(few.line[:, role])
                mine = np.arange(expander.bounds[role], expander.bounds[role + 1])
                assert mine[made[mine, count - 1] == 1].tolist() == numbers.tolist()
            assert not made[:, count:].any()


def test_wrong_numbers_are_refused_by_the_core() -> None:
    """Whatever does not fit is a `ValueError` or a `TypeError`, never read past an end."""
    expander = herbrand.load("ticTacToe").expander
    state, ask = expander.initial, expander.core
    legal = expander.legal(state)
    start, random = np.zeros(1, np.int64), new_generator(1)
    with pytest.raises(ValueError, match="parents"):
        ask.rollouts(state, start + 1, random, 5)
    with pytest.raises(ValueError, match="generator"):
        ask.rollouts(state, start, random[:31], 5)
    with pytest.raises(TypeError):
        ask.rollouts(state, start, random.astype(np.int64), 5)
    with pytest.raises(ValueError, match="max_steps"):
        ask.rollouts(state, start, random, -1)
    with pytest.raises(ValueError, match="watch"):
        ask.rollouts(state, start, random, 5, watched=1)
    with pytest.raises(ValueError, match="at most 512 games"):
        ask.rollouts(state, np.zeros(513, np.int64), random, 5, played=True)
    for starts, begin, size in (
        ([0, 9], 0, 10),
        ([0, 9], -1, 1),
        ([0, 10], 0, 10),
        ([9, 0], 0, 1),
        ([0], 0, 0),
    ):
        with pytest.raises(ValueError):
            ask.joints(legal.bits, np.array(starts, np.int64), begin, size)
    with pytest.raises(ValueError, match="no role has"):
        ask.joints(legal.bits | np.uint64(1 << 63), np.array([0, 10], np.int64), 0, 1)
    with pytest.raises(ValueError, match="places"):
        core.joint_counts(legal.over, legal.bits, [0, 1, 5])
    with pytest.raises(ValueError, match="number that no move"):
        ask.step(state, np.array([[-2, 0]], np.int32))
