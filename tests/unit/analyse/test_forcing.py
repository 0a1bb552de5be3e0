"""What roles can force: by proof-number search, by minimax on the rules, and as strategies that are replayed."""

from __future__ import annotations

import random
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import pytest
from strategies import resized

import herbrand
from herbrand.analyse.budget import Budget
from herbrand.analyse.exploration.explore import explore
from herbrand.analyse.solving.by_search import value_by_search
from herbrand.analyse.solving.forcing import ForcedGoals
from herbrand.analyse.solving.solve import solve
from herbrand.analyse.solving.strategy import Strategy, check_strategy, make_strategy, read_strategy
from herbrand.analyse.solving.value import _bounded, value_of
from herbrand.errors import BudgetExceeded, GameError, HerbrandError
from herbrand.play.registry import make_player
from herbrand.rules.naive import NaiveEngine

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

    from herbrand.game import Game

SHUFFLE = """
(role left) (role right)
(init (at 1)) (init (turn left))
(<= (legal ?r wait) (role ?r))
(<= (legal ?r forward) (true (turn ?r)) (true (at ?n)) (step ?n ?m))
(<= (legal ?r back) (true (turn ?r)) (true (at ?n)) (step ?m ?n))
(<= (next (at ?m)) (does ?r forward) (true (at ?n)) (step ?n ?m))
(<= (next (at ?m)) (does ?r back) (true (at ?n)) (step ?m ?n))
(<= (next (at ?n)) (true (at ?n)) (not moved))
(<= moved (does ?r forward)) (<= moved (does ?r back))
(<= (next (turn right)) (true (turn left))) (<= (next (turn left)) (true (turn right)))
(<= terminal (true (at 3)))
(<= (goal left 100) (true (at 3))) (<= (goal left 0) (not (true (at 3))))
(<= (goal right 0) (true (at 3))) (<= (goal right 100) (not (true (at 3))))
(step 0 1) (step 1 2) (step 2 3)
"""
"""A piece goes forward and back, or stays: right can always go back, so that left wins only if right helps."""


def naive_value(game: Game, role: int) -> Any:
    """Return a function that computes what a role can force in a state, by minimax on the plain evaluator."""
    engine = NaiveEngine(game.rules)
    text = engine.terms.text

    @cache
    def value(key: Any) -> int:
        if engine.terminal(key):
            (goal,) = set(engine.goals(key, role))
            return int(text(goal))
        legal = [sorted(engine.legal(key, r)) for r in range(len(game.roles))]
        (chooser,) = [r for r, moves in enumerate(legal) if len(moves) > 1] or [0]
        values = [
            value(engine.successor(key, [move if r == chooser else legal[r][0] for r in range(len(legal))]))
            for move in legal[chooser]
        ]
        return max(values) if chooser == role else min(values)

    return lambda facts: value(engine.key(engine.terms.read(fact) for fact in facts))


def states_of(game: Game, plays: int, seed: int) -> list[Any]:
    """Return the states of some random plays that are not terminal."""
    chance, states = random.Random(seed), {}
    for _ in range(plays):
        state = game.initial_state("rules")
        while not state.is_terminal:
            states[state.facts] = state
            state = state.next([chance.choice(state.legal_moves(role)) for role in game.roles])
    return list(states.values())


@pytest.mark.parametrize("name", ["nim", "hex"])
def test_answers_are_those_of_minimax_on_the_plain_evaluator(name: str) -> None:
    """For states of random plays, each role and each goal value, out of one table."""
    game = {
        "nim": lambda: herbrand.load("nim.ggd", PileA=1, PileB=2, PileC=2),
        "hex": lambda: herbrand.loads(resized("hex", 2, 2)),
    }[name]()
    forced = ForcedGoals(game)
    for role in range(2):
        value = naive_value(game, role)
        for state in states_of(game, 2, seed=role)[-4:]:
            packed = forced.expander.pack([state.facts])
            for goal in forced.goals[role]:
                assert forced.can_force(packed, role, goal) == (value(state.facts) >= goal)


@pytest.mark.parametrize("sheet", ["ticTacToe", "connectFour 4 3", "breakthrough 2 5", "hex 3 3"])
def test_values_are_those_of_backward_induction(sheet: str) -> None:
    """The value, the values of all first moves, and best play up to an end with these goals."""
    name, *size = sheet.split()
    game = herbrand.loads(resized(name, *map(int, size))) if size else herbrand.load(name)
    known = solve(game)
    found = value_of(game, moves=True, search=True)
    assert found.value == known.value
    assert {move: pair[0] for move, pair in found.moves.items()} == {
        move: value[role] for role, move, value in known.root
    }
    assert set(found.best) == {m for m, pair in found.moves.items() if pair[0] == known.value[found.chooser]}
    state = game.initial_state("rules")
    for joint in found.line:
        state = state.next(joint)
    assert state.is_terminal
    assert state.goals == found.value


def test_random_questions_are_answered_alike_with_any_table_and_any_number_of_walkers() -> None:
    """A table that forgets nearly everything, one walker or many, and symmetries change no answer."""
    from herbrand.core import Prover, Stop

    game = herbrand.loads(resized("connectFour", 4, 4))
    forced = ForcedGoals(game)
    assert forced.symmetries == 2
    identity = np.arange(forced.expander.fluents, dtype=np.int32)
    small = Prover(game.network.circuit, 1, identity, 1)
    many = Prover(game.network.circuit, 1 << 20, identity, 64)
    assert small.capacity < many.capacity
    for state in states_of(game, 3, seed=5)[::3]:
        packed = forced.expander.pack([state.facts])
        answer = forced.can_force(packed, 0, 100)
        for prover in (small, many):
            prover.ask(packed[0], 0, 100)
            assert prover.go_on(Stop(), 1 << 40) == (1 if answer else -1)
    assert small.entries <= small.capacity


def test_what_depends_on_repeated_positions_is_not_decided() -> None:
    """Neither that left wins nor that right prevents it, which takes an endless play, has a finite proof."""
    game = herbrand.loads(SHUFFLE)
    forced = ForcedGoals(game)
    with pytest.raises(GameError, match="repeat"):
        forced.can_force(forced.expander.initial, 0, 100)
    near = game.initial_state().next(("forward", "wait")).next(("wait", "wait"))
    assert forced.can_force(forced.expander.pack([near.facts]), 0, 100)


def test_games_that_are_not_for_the_search() -> None:
    """Chance, hidden information and simultaneous choices have messages of their own."""
    with pytest.raises(GameError, match="chance"):
        ForcedGoals(herbrand.load("higherLower"))
    with pytest.raises(GameError, match="see everything"):
        ForcedGoals(herbrand.load("kriegTicTacToe"))
    forced = ForcedGoals(herbrand.load("rockPaperScissors"))
    with pytest.raises(GameError, match="same time"):
        forced.can_force(forced.expander.initial, 0, 100)


def test_bounds_hold_when_the_budget_ends() -> None:
    """Of a search that was stopped only what is proved is said; the interval contains the value."""
    game = herbrand.loads(resized("connectFour", 5, 4))
    forced = ForcedGoals(game, budget=Budget(0.3, megabytes=100))
    found = value_by_search(forced, moves=True)
    low, high = found.bounds["red"].low, found.bounds["red"].high
    assert low <= 50 <= high
    assert found.stopped


def test_bounds_from_the_first_states() -> None:
    """With few states nothing is known but the goal values; with all of them the value."""
    game = herbrand.load("ticTacToe")
    widths = []
    for states in (50, 3000, 10_000):
        space = explore(game.expander, budget=Budget(states=states))
        value = _bounded(replace(space, stopped="some"), Budget(), 0.0)
        low, high = value.bounds["xplayer"]
        assert low <= 50 <= high
        widths.append(high - low)
    assert widths[0] == 100
    assert widths[2] == 0


def winning(game: Game) -> Strategy:
    forced = ForcedGoals(game)
    return make_strategy(forced, value_by_search(forced))


def test_strategies_are_replayed_and_damaged_ones_refused(tmp_path: Path) -> None:
    """A strategy from a file is accepted; with a state less, a worse claim or another game it is not."""
    game = herbrand.loads(resized("breakthrough", 3, 4))
    winning(game).write(tmp_path / "strategy.npz")
    strategy = read_strategy(tmp_path / "strategy.npz")
    (checked,) = check_strategy(game, strategy, seconds=60)
    assert checked.accepted
    assert checked.states > len(strategy) > 10
    states, moves = strategy.tables[0]
    claim = strategy.claims[0]
    missing = replace(strategy, tables=((states[1:], moves[1:]),))
    opposite = replace(strategy, claims=(replace(claim, holds=not claim.holds),))
    refusals = 0
    for damaged in (missing, opposite):
        (refused,) = check_strategy(game, damaged, seconds=60)
        assert not refused.accepted
        assert refused.reason
    chance = np.random.default_rng(1)
    for _ in range(12):  # other moves, most of which are illegal or lose
        other = moves.copy()
        other[chance.integers(len(other))] = chance.integers(len(strategy.moves))
        (answer,) = check_strategy(game, replace(strategy, tables=((states, other),)), seconds=60)
        refusals += not answer.accepted
    assert refusals > 8
    with pytest.raises(GameError, match="other rules"):
        check_strategy(herbrand.load("ticTacToe"), strategy, seconds=60)


def test_a_strategy_that_never_ends_is_refused() -> None:
    """The others hold left below 100 for ever, which is no proof: the checker follows plays to their ends."""
    game = herbrand.loads(SHUFFLE)
    forced = ForcedGoals(game)
    numbers = {
        pair: n
        for n, pair in enumerate(
            (r, m) for r, mine in zip(game.roles, forced.expander.moves, strict=True) for m in mine
        )
    }
    space = explore(game.expander)
    wait = np.array([numbers["right", "wait"]] * len(space.states), np.int32)
    from herbrand.analyse.solving.strategy import Claim, digest_of

    strategy = Strategy(
        "shuffle", digest_of(game), forced.expander.fluent_names, tuple(numbers),
        (Claim("left", 100, holds=False),), ((space.states, wait),),
    )  # fmt: skip
    (answer,) = check_strategy(game, strategy, seconds=10)
    assert not answer.accepted


def test_files_that_are_no_strategies(tmp_path: Path) -> None:
    """Other archives, other texts and pickles are refused with a message."""
    for name, write in {
        "text": lambda path: path.write_text("no"),
        "empty": lambda path: path.write_bytes(b""),
        "pickle": lambda path: np.savez(path.open("wb"), about=np.array([{}], object)),
        "other": lambda path: np.savez(path.open("wb"), about=np.frombuffer(b"{}", np.uint8)),
    }.items():
        write(tmp_path / name)
        with pytest.raises(HerbrandError, match="not a strategy"):
            read_strategy(tmp_path / name)


def test_a_player_follows_a_strategy_from_a_file(tmp_path: Path) -> None:
    """It wins against every reply tried; a file for other rules leaves the choice to the fallback, which says so."""
    game = herbrand.loads(resized("breakthrough", 3, 4))
    strategy = winning(game)
    file = tmp_path / "strategy.npz"
    strategy.write(file)
    claim = strategy.claims[0]
    winner = next(r for r in game.roles if (r == claim.role) == claim.holds)
    chance = random.Random(3)
    for _ in range(3):
        player = make_player(f"solved(file={str(file)!r})", seed=1)
        player.start(game, winner, 5.0)
        state = game.initial_state()
        while not state.is_terminal:
            moves = {role: chance.choice(state.legal_moves(role)) for role in game.roles}
            moves[winner] = player.select(state, 1.0)
            if len(state.legal_moves(winner)) > 1:
                report = player.report()
                assert report is not None
                assert str(claim) in report.notes[0]
            state = state.next([moves[role] for role in game.roles])
        assert state.goal(winner) == 100
        player.stop()
    other = herbrand.load("ticTacToe")
    player = make_player(f"solved(file={str(file)!r})", seed=1)
    player.start(other, "xplayer", 2.0)
    assert player.select(other.initial_state(), 0.5) in other.initial_state().legal_moves("xplayer")
    assert "other rules" in player.note()
    player.stop()


def test_over_budget() -> None:
    """A budget that ends during a question ends it."""
    forced = ForcedGoals(herbrand.load("connectFour"), budget=Budget(0.3, megabytes=100))
    with pytest.raises(BudgetExceeded, match="expanded"):
        forced.can_force(forced.expander.initial, 0, 100)
