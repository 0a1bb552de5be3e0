"""Strategies for hidden information: trained, in files, computed in a start clock, and played by."""

from __future__ import annotations

import json
import time
from collections import Counter
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import herbrand
import herbrand.game
from herbrand.analyse.knowledge import history
from herbrand.analyse.knowledge.histories import HistoryStep, history_key
from herbrand.errors import GameError, HerbrandError
from herbrand.play import make_player
from herbrand.play.ismcts import IsMctsPlayer
from herbrand.play.meta import MetaPlayer
from herbrand.play.policy import solve_in_time
from herbrand.play.solved import SolvedPlayer
from herbrand.play.training import (
    RegretTrainer,
    Settings,
    read_policy,
    read_training,
    regrets,
    start_training,
    write_training,
)
from herbrand.runtime.arrays import read_arrays, write_arrays

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from herbrand.game import Game
    from herbrand.play import Player

LAMP = """
(role guesser) (role random)
(init (step 1))
(<= (legal random (turn on)) (true (step 1)))
(<= (legal random (turn off)) (true (step 1)))
(<= (legal random wait) (true (step 2)))
(<= (legal guesser wait) (true (step 1)))
(<= (legal guesser (say on)) (true (step 2)))
(<= (legal guesser (say off)) (true (step 2)))
(<= (next (lamp ?x)) (does random (turn ?x)))
(<= (next (lamp ?x)) (true (lamp ?x)))
(<= (next (said ?x)) (does guesser (say ?x)))
(<= (next (step 2)) (true (step 1)))
(<= (next (step 3)) (true (step 2)))
(<= terminal (true (step 3)))
(<= (goal guesser 100) (true (lamp ?x)) (true (said ?x)))
(<= (goal guesser 0) (true (lamp ?x)) (true (said ?y)) (distinct ?x ?y))
(goal random 0)
"""

FORGOTTEN = """
(role odd) (role even)
(init (step 1))
(<= (legal ?r heads) (role ?r))
(<= (legal ?r tails) (role ?r))
(<= (next (step 2)) (true (step 1)))
(<= (next (step 3)) (true (step 2)))
(<= (next same) (true (step 2)) (does odd ?x) (does even ?x))
(<= terminal (true (step 3)))
(<= (goal even 100) (true same))
(<= (goal even 0) (not (true same)))
(<= (goal odd 0) (true same))
(<= (goal odd 100) (not (true same)))
"""


def trained(name: str, rounds: int) -> RegretTrainer:
    """Return a training of so many rounds."""
    training = start_training(herbrand.load(name), Settings())
    assert isinstance(training, RegretTrainer)
    training.run(games=rounds)
    return training


@pytest.fixture(scope="module")
def kuhn() -> RegretTrainer:
    """Return a training of Kuhn poker."""
    return trained("kuhn", 300)


def at_decision(game: Game, player: Player, role: str, joints: list[tuple[str, ...]]) -> herbrand.State:
    """Give a player the history of its role after some joint moves; return the state."""
    player.receive_history(history(game, role, joints))
    state = game.initial_state()
    for joint in joints:
        state = state.next(joint)
    return state


def test_training_approaches_an_equilibrium(kuhn: RegretTrainer) -> None:
    """The exploitability falls below a hundredth of the pot, and the strategies are those of the literature.

    Second with the queen calls a bet a third of the time, with the king always, with the jack never (Kuhn 1950).
    """
    assert kuhn.snapshots[0].exploitability > 10
    assert kuhn.exploitability < 0.1
    strategy = kuhn.strategy()
    for card, call in (("jack", 0.0), ("queen", 1 / 3), ("king", 1.0)):
        past = (
            HistoryStep("noop", frozenset({f"(dealt {card})"})),
            HistoryStep("noop", frozenset({"(did first bet)"})),
        )
        chances = {one.move: one.chance for one in strategy.choices("second", history_key(past))}
        assert chances["call"] == pytest.approx(call, abs=0.03)


@pytest.mark.parametrize("name", ["kuhn", "liarsDice", "coinMatching"])
def test_every_information_set_of_a_play_is_in_the_strategies(name: str) -> None:
    """The key of the history that a player receives is that of the training, in every play."""
    game = herbrand.load(name)
    strategy = start_training(game, Settings())
    assert isinstance(strategy, RegretTrainer)
    tables = strategy.strategy()
    rest: list[tuple[herbrand.State, dict[str, tuple[HistoryStep, ...]]]] = [
        (game.initial_state(), dict.fromkeys(game.players, ()))
    ]
    sets = set()
    while rest:
        state, past = rest.pop()
        if state.is_terminal:
            continue
        legal = state.legal_moves()
        for role in game.players:
            if len(legal[role]) > 1:
                key = history_key(past[role])
                assert [one.move for one in tables.choices(role, key)] == legal[role]
                sets.add((role, key))
        for joint in product(*legal.values()):
            seen = state.percepts(joint)
            made = dict(zip(game.roles, joint, strict=True))
            steps = {
                r: (*past[r], HistoryStep(str(made[r]).upper(), frozenset(seen[r]))) for r in game.players
            }
            rest.append((state.next(joint), steps))
    assert len(sets) == tables.information_sets


def test_states_take_the_place_of_histories_where_nothing_is_hidden() -> None:
    """In a game of chance without `sees` a player plays by the state, and guesses what it sees."""
    game = herbrand.loads(LAMP)
    training = start_training(game, Settings())
    training.run(games=50)
    assert isinstance(training, RegretTrainer)
    assert training.exploitability < 0.001
    policy = solve_in_time(game, 1.0, nodes=100)
    assert policy.exploitability < 0.001
    with pytest.raises(GameError, match="nodes"):
        solve_in_time(game, 1.0, nodes=2)
    player = make_player("legal")
    player.start(game, "guesser", 1.0)
    for place in ("on", "off"):
        state = game.initial_state().next(("wait", f"(turn {place})"))
        choice = policy.choose(player, "it", (), state, state.legal_moves("guesser"))
        assert choice is not None
        assert choice[0] == f"(say {place})"


def test_information_sets_with_one_state_share_probabilities() -> None:
    """Where moves were made at once and forgotten by the rules; the exploitability is that of what is shared."""
    training = start_training(herbrand.loads(FORGOTTEN), Settings())
    training.run(games=200)
    assert isinstance(training, RegretTrainer)
    assert [len(player.sets) for player in training.tree.players] == [5, 5]
    assert training.strategy().information_sets == 4
    assert training.exploitability < 1


def test_a_file_goes_on(kuhn: RegretTrainer, tmp_path: Path) -> None:
    """What is read is what was written, and goes on to what a longer training has."""
    path = tmp_path / "kuhn.npz"
    write_training(path, kuhn)
    found = read_training(path, kuhn.game)
    assert isinstance(found, RegretTrainer)
    assert (found.done, found.snapshots) == (kuhn.done, kuhn.snapshots)
    strategy, exploitability = read_policy(path, kuhn.game)
    assert exploitability == kuhn.exploitability
    for role, table in kuhn.strategy().tables.items():
        assert np.array_equal(strategy.tables[role].keys, table.keys)
        assert np.array_equal(strategy.tables[role].chances, table.chances)
    found.run(games=320)
    longer = trained("kuhn", 320)
    assert found.exploitability == longer.exploitability
    assert all(
        np.array_equal(one.total, other.total)
        for one, other in zip(found.minimiser.learners, longer.minimiser.learners, strict=True)
    )


def test_training_ends_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not before the first round, however precise it is."""
    monkeypatch.setattr(regrets, "PRECISION", -1.0)
    training = RegretTrainer.start(herbrand.load("leduc"))
    training.run(seconds=0.0)
    assert training.done == 1
    before = time.process_time()
    training.run(seconds=training.seconds + 0.2)
    assert time.process_time() - before < 2
    assert training.done > 1


def test_training_ends_when_it_is_precise() -> None:
    """With a reason, once best replies gain next to nothing."""
    coins = trained("montyHall", 10**6)
    assert "gain no more than" in coins.converged
    assert coins.done < 10**5


def test_a_player_draws_by_the_file(kuhn: RegretTrainer, tmp_path: Path) -> None:
    """As often as the strategy says, with a reason; the same seed draws the same."""
    path = tmp_path / "kuhn.npz"
    write_training(path, kuhn)
    game = kuhn.game

    def calls(seed: int) -> list[str]:
        player = make_player(f"learned(file={str(path)!r})", seed=seed)
        player.start(game, "second", 10.0)
        state = at_decision(
            game, player, "second", [("noop", "noop", "(deal jack queen)"), ("bet", "noop", "noop")]
        )
        drawn = [str(player.select(state, 1.0)) for _ in range(600)]
        report = player.report()
        assert report is not None
        assert report.best.move == drawn[-1]
        assert sum(one.chance or 0 for one in report.moves) == pytest.approx(1)
        assert f"the strategies of {path}" in str(report)
        assert "% of the time" in str(report)
        player.stop()
        return drawn

    drawn = calls(1)
    assert Counter(drawn)["call"] == pytest.approx(200, abs=60)
    assert drawn == calls(1) != calls(2)


def test_an_unknown_information_set_is_searched(kuhn: RegretTrainer, tmp_path: Path) -> None:
    """By `ismcts`, and the report says so."""
    path = tmp_path / "kuhn.npz"
    write_training(path, kuhn)
    arrays = read_arrays(path, 1 << 20)
    keys = arrays["keys_1"].copy()
    keys[:] += 1
    write_arrays(path, {**arrays, "keys_1": keys})
    game = kuhn.game
    player = make_player(f"learned(file={str(path)!r})", seed=1)
    player.start(game, "second", 10.0)
    state = at_decision(
        game, player, "second", [("noop", "noop", "(deal jack king)"), ("bet", "noop", "noop")]
    )
    assert player.select(state, 0.3) == "call"
    report = player.report()
    assert report is not None
    assert report.player == "ismcts"
    assert "no probabilities for this information set" in str(report)
    player.stop()


def test_damaged_files_are_refused(kuhn: RegretTrainer, tmp_path: Path) -> None:
    """Whatever is changed in it: a message, never another exception."""
    path = tmp_path / "kuhn.npz"
    write_training(path, kuhn)
    whole = read_arrays(path, 1 << 20)
    about = json.loads(whole["about"].tobytes())

    def with_about(**changes: Any) -> dict[str, NDArray[Any]]:
        return {**whole, "about": np.frombuffer(json.dumps({**about, **changes}).encode(), np.uint8)}

    def with_entry(name: str, value: float) -> dict[str, NDArray[Any]]:
        changed = whole[name].copy()
        changed[0] = value
        return {**whole, name: changed}

    for arrays in (
        with_about(format="herbrand training 1"),
        with_about(rules="0"),
        with_about(roles=["second", "first"]),
        with_about(moves=["call"]),
        with_about(moves=3),
        with_about(rounds=-1),
        with_about(snapshots=[{}]),
        with_about(snapshots=None),
        with_about(seconds="long"),
        with_about(exploitability=None),
        with_entry("counts_0", 0),
        with_entry("counts_0", 1 << 30),
        with_entry("moves_0", -1),
        with_entry("chances_0", -0.5),
        with_entry("chances_1", np.nan),
        with_entry("values_0", np.inf),
        with_entry("regrets_0", np.inf),
        with_entry("totals_1", np.nan),
        {**whole, "keys_0": whole["keys_0"][:, :8]},
        {**whole, "keys_0": whole["keys_0"][:-1]},
        {**whole, "values_0": whole["values_0"][:-1]},
        {**whole, "totals_0": whole["totals_0"][:-1]},
        {name: array for name, array in whole.items() if name != "chances_1"},
    ):
        write_arrays(path, arrays)
        with pytest.raises(HerbrandError):
            read_training(path, kuhn.game)


def test_the_player_for_any_game_solves_what_is_small_enough() -> None:
    """In its start clock, and draws moves by strategies that are nearly an equilibrium."""
    game = herbrand.game.load("kuhn")
    player = MetaPlayer(seed=1)
    began = time.process_time()
    player.start(game, "second", 60)
    assert time.process_time() - began < 30
    assert "few enough histories" in player.reason
    state = at_decision(
        game, player, "second", [("noop", "noop", "(deal queen king)"), ("bet", "noop", "noop")]
    )
    assert player.select(state, 0.0) == "call"
    assert "rounds of CFR+" in str(player.report())
    player.stop()


def test_the_player_for_any_game_searches_in_larger_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the reason, after a part of the start clock."""
    monkeypatch.setattr("herbrand.play.policy._UNFOLDING_SHARE", 0.005)
    game = herbrand.load("pairs")
    player = MetaPlayer(seed=1)
    player.start(game, game.players[0], 20)
    assert isinstance(player._deputy, IsMctsPlayer)
    assert "too large" in player.reason
    player.stop()


def test_a_start_clock_that_is_too_short_is_used_beyond_its_end() -> None:
    """`ismcts` chooses until the strategies are there."""
    game = herbrand.game.load("kuhn")
    player = SolvedPlayer(seed=1)
    player.start(game, "second", 0.0)
    state = at_decision(
        game, player, "second", [("noop", "noop", "(deal queen king)"), ("bet", "noop", "noop")]
    )
    assert state.is_legal("second", player.select(state, 0.1))
    assert player.finished.wait(30)
    assert player.has_solution
    assert player.select(state, 0.1) == "call"
    assert "rounds of CFR+" in str(player.report())
    player.stop()
