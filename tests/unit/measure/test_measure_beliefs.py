"""Players that measure games with hidden information know what their roles can know, and nothing else."""

from __future__ import annotations

import numpy as np
import pytest

import herbrand
from herbrand.analyse.knowledge import possible_states
from herbrand.analyse.knowledge.histories import history
from herbrand.measure import Effort, beliefs, measure
from herbrand.measure.batch_play import play_games
from herbrand.measure.beliefs import PARTICLES, BeliefSamples, NetworkGame

COIN = """
(role guesser) (role random) (coin heads) (coin tails) (init start)
(<= (legal random (hide ?x)) (true start) (coin ?x)) (<= (legal random noop) (not (true start)))
(<= (legal guesser noop) (true start)) (<= (legal guesser (say ?x)) (coin ?x) (not (true start)))
(<= (next (hidden ?x)) (does random (hide ?x)))
(<= (next right) (does guesser (say ?x)) (true (hidden ?x)))
(<= (next done) (does guesser (say ?x)))
(<= terminal (true done))
(<= (goal guesser 100) (true right)) (<= (goal guesser 0) (not (true right)))
"""
SEEN = f"{COIN} (<= (sees guesser ?x) (does random (hide ?x)))"
UNSEEN = f"{COIN} (<= (sees guesser click) (does random (hide ?x)))"
SMALL = Effort("small", playouts=64, traced=16, pairs=60, rungs=(1, 8))


def test_what_is_hidden_is_not_known() -> None:
    """Who did not see where the coin went guesses; who saw it is always right."""
    blind, seeing = (
        measure(herbrand.loads(text), effort=SMALL, known=(), only=["skill"]) for text in (UNSEEN, SEEN)
    )
    low, _ = blind["skill"].interval or (1.0, 1.0)
    assert low == 0
    assert 0.25 < seeing.value("skill") < 0.75
    assert any(note.startswith("hidden information") for note in blind.notes)


@pytest.mark.parametrize("name", ["kuhn", "kriegTicTacToe"])
def test_samples_hold_what_is_possible(name: str) -> None:
    """Followed through a random game, each state of a sample is one that the role can hold possible."""
    game = herbrand.load(name)
    expander = game.expander
    players = tuple(game.role_index(role) for role in game.players)
    random = np.random.default_rng(1)
    samples = BeliefSamples(
        NetworkGame(expander, players, hidden=True),
        np.isin(np.arange(len(game.roles)), players)[None],
        random,
    )
    states, trace = expander.initial, []
    for _ in range(4):
        legal = expander.legal(states)
        if legal.over[0]:
            break
        joint = np.array(
            [[random.choice(np.flatnonzero(legal.mask(r)[0])) for r in range(len(game.roles))]], np.int32
        )
        trace.append(expander.joint_move(joint[0]))
        states, seen = expander.observed(states, joint)
        if expander.terminal(states)[0]:
            break
        samples.update(np.array([0]), joint, seen)
        for sample, role in enumerate(game.players):
            known = {
                s.facts for s in possible_states(game, role, history(game, role, trace), over=False).weights
            }
            held = expander.facts(samples.states[sample])
            assert len(held) == PARTICLES
            always = {expander.fluent_names[f] for f in np.flatnonzero(expander.network.always)}
            assert {frozenset(facts | always) for facts in held} <= {
                frozenset(facts | always) for facts in known
            }
            assert not samples.depleted[sample]


def test_who_finds_nothing_that_fits_moves_at_random(monkeypatch: pytest.MonkeyPatch) -> None:
    """A game goes on when no state of a sample fits what was seen; it is counted how often that was."""
    monkeypatch.setattr(beliefs, "PARTICLES", 2)
    game = herbrand.game.load("mastermind")
    table = NetworkGame(game.expander, tuple(game.role_index(role) for role in game.players), hidden=True)
    budgets = np.zeros((4, len(game.roles)), np.int64)
    budgets[:, list(table.players)] = 4
    played = play_games(table, budgets, seed=np.random.SeedSequence(1), max_steps=40)
    assert played.ended.all()
    assert 0 < played.depleted.sum() < played.searched.sum()


def test_all_measures_are_taken_of_games_with_hidden_information() -> None:
    """Nothing is left out because something is hidden, and the same seed gives the same numbers."""
    effort = Effort("few", playouts=64, traced=16, pairs=8, rungs=(1, 4), estimates=16)
    found = measure(herbrand.load("kuhn"), effort=effort, known=())
    assert all(one.value is not None for one in found if one.method == "search play" and one.name != "drama")
    assert found == measure(herbrand.load("kuhn"), effort=effort, known=())
