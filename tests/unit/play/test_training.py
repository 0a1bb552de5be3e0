"""Training by self-play: what is learned, that it is repeatable, its files, and the player that reads them."""

from __future__ import annotations

import json
import sys
import time
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import herbrand
from herbrand.analyse.solving.minimax.judge import SCALE, no_judge
from herbrand.errors import GameError, HerbrandError, MissingExtra
from herbrand.play import make_player
from herbrand.play.alphabeta import AlphaBetaPlayer
from herbrand.play.learning import LearnedJudge, learn_judge, sample_states
from herbrand.play.training import Settings, Trainer, ValueModel, read_model, read_training, write_training
from herbrand.play.training.chart import plot
from herbrand.play.training.quick import improve_judge
from herbrand.play.training.selfplay import play_match, self_play
from herbrand.runtime.arrays import read_arrays, write_arrays
from herbrand.runtime.pool import WorkerPool

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from herbrand.game import Game

RACE = """
(role a) (role b) (role c)
(init (control a)) (init (place 0))
(<= (legal ?r (move 1)) (true (control ?r)))
(<= (legal ?r (move 2)) (true (control ?r)))
(<= (legal ?r noop) (role ?r) (not (true (control ?r))))
(next_role a b) (next_role b c) (next_role c a)
(<= (next (control ?s)) (true (control ?r)) (next_role ?r ?s))
(<= (next (place ?y)) (true (place ?x)) (does ?r (move ?n)) (plus ?x ?n ?y))
(plus 0 1 1) (plus 1 1 2) (plus 2 1 3) (plus 3 1 4) (plus 4 1 5)
(plus 0 2 2) (plus 1 2 3) (plus 2 2 4) (plus 3 2 5) (plus 4 2 5)
(<= terminal (true (place 5)))
(<= (goal ?r 0) (true (control ?r)))
(<= (goal ?r 100) (next_role ?r ?s) (true (control ?s)))
(<= (goal ?r 50) (next_role ?q ?r) (true (control ?q)))
"""


def trained(game: Game, games: int, seed: int = 0, **settings: Any) -> Trainer:
    """Return a training of so many games."""
    trainer = Trainer.start(game, Settings(seed, **settings))
    trainer.run(games=games)
    return trainer


def arrays_of(trainer: Trainer) -> list[NDArray[np.float32]]:
    """Return everything that a training changes."""
    return [array for parameters in trainer.parameters().values() for array in parameters]


@pytest.fixture(scope="module")
def training() -> Trainer:
    """Return a training of tic-tac-toe."""
    return trained(herbrand.load("ticTacToe"), 3000)


def test_it_learns(training: Trainer) -> None:
    """It beats the untrained model, which sees the end of the game one step ahead, and predicts results better."""
    game = training.game
    model = training.model
    untrained = ValueModel.untrained(model.literals, 2, constant_sum=True, gates=model.gates)
    sides = training.model.valuers(game.expander), untrained.valuers(game.expander)
    generator = np.random.default_rng(5)
    score = play_match(game.expander, sides, generator, games=400, constant_sum=True, openings=2)
    assert score > 0.53
    assert training.snapshots[-1].error < 0.95 * training.snapshots[0].error
    assert [s.games for s in training.snapshots] == sorted({s.games for s in training.snapshots})
    assert plot(training).count("<circle") == 1 + len(training.snapshots)


def test_the_core_computes_what_the_model_predicts(training: Trainer) -> None:
    """The values of both roles order states as the predictions do, and terminal states have their goals."""
    expander, model = training.expander, training.model
    states = sample_states(expander, np.random.default_rng(1))[:200]
    counts = expander.legal(states).counts()
    predicted = model.predict(model.inputs(model.reader(expander).features(states), counts))[:, 0]
    logits = np.log(predicted / (1 - predicted))
    for role, sign in ((0, 1), (1, -1)):
        values = model.judge(role).valuer(model.network(expander), role).values(states) / SCALE
        inside = (values > 1) & (values < 99)
        assert inside.sum() > 50
        assert np.abs(values - (50 + 12.5 * sign * logits))[inside].max() < 0.2


def test_targets_are_backed_up_from_the_end() -> None:
    """In nim without random moves the winner of a game follows from the targets of its last states."""
    game = herbrand.load("nim")
    expander = game.expander
    model = ValueModel.untrained(2 * np.arange(1, 1 + expander.fluents, dtype=np.int32), 2, constant_sum=True)
    lesson = self_play(
        expander, model.valuers(expander), np.random.default_rng(0), games=64, constant_sum=True, openings=4
    )
    assert lesson.games == 64
    assert len(lesson.states) == len(lesson.targets) == round(64 * lesson.steps)
    after = expander.expand(lesson.states)
    ends = expander.terminal(after.states)
    wins = np.zeros(len(lesson.states), bool)
    goals = expander.goals(after.states[ends])
    choosers = (lesson.counts > 1).argmax(axis=1)
    parents = after.parents[ends]
    wins[parents[goals[np.arange(len(goals)), choosers[parents]] == 100]] = True
    assert wins.any()
    expected = np.where(choosers == 0, 1.0, 0.0)
    single = (lesson.counts == 1).all(axis=1)
    assert np.array_equal(lesson.targets[wins & ~single, 0], expected[wins & ~single])


def test_a_seed_and_a_number_of_games_determine_the_result(training: Trainer) -> None:
    """With one process as with several; another seed gives another result."""
    game = herbrand.load("nim")
    one, other = trained(game, 1000, 3), trained(game, 1000, 4)
    again = Trainer.start(game, Settings(3))
    with WorkerPool(2) as executor:
        again.run(games=1000, executor=executor)
    assert all(map(np.array_equal, arrays_of(one), arrays_of(again)))
    assert not all(map(np.array_equal, arrays_of(one), arrays_of(other)))
    assert one.games == again.games == 1024


def test_a_file_goes_on(training: Trainer, tmp_path: Path) -> None:
    """What is read is what was written, and training goes on from there."""
    path = tmp_path / "training.npz"
    write_training(path, training)
    found = read_training(path, training.game)
    assert isinstance(found, Trainer)
    assert all(map(np.array_equal, arrays_of(found), arrays_of(training)))
    assert (found.games, found.rounds, found.snapshots) == (
        training.games,
        training.rounds,
        training.snapshots,
    )
    model = read_model(path, training.game)
    assert np.array_equal(model.parameters.weights, training.best.parameters.weights)
    assert np.array_equal(model.gates, training.model.gates)
    assert len(model.gates)
    before = found.games
    found.run(games=before)
    assert found.games == before
    found.run(games=before + 500)
    assert found.games == before + 512


def test_several_roles_and_one(tmp_path: Path) -> None:
    """Three roles have a value each; a puzzle is learned like any other game."""
    race = trained(herbrand.loads(RACE), 600)
    assert race.model.views == 3
    assert not race.model.constant_sum
    initial = race.expander.initial
    values = [float(valuer.values(initial)[0]) / SCALE for valuer in race.model.valuers(race.expander)]
    assert len(set(values)) == 3
    puzzle = trained(herbrand.load("lightsOut"), 300)
    path = tmp_path / "puzzle.npz"
    write_training(path, puzzle)
    player = make_player(f"learned(file={str(path)!r}, nodes=50)", seed=1)
    player.start(puzzle.game, puzzle.game.roles[0], 5.0)
    state = puzzle.game.initial_state()
    assert player.select(state, 2.0) in state.legal_moves(puzzle.game.roles[0])
    player.stop()


@pytest.mark.parametrize("name", ["kuhn", "rockPaperScissors"])
def test_unsuitable_games_have_no_values(name: str) -> None:
    """Those with hidden information, chance, or simultaneous moves."""
    with pytest.raises(GameError, match="need perfect information"):
        Trainer.start(herbrand.load(name), Settings())


def test_a_player_uses_the_file(training: Trainer, tmp_path: Path) -> None:
    """It searches with the learned values and says so; for other rules and without the file the match does not start."""
    path = tmp_path / "training.npz"
    write_training(path, training)
    player = make_player(f"learned(file={str(path)!r}, nodes=300, threads=1)", seed=1)
    player.start(training.game, "xplayer", 10.0)
    state = training.game.initial_state()
    assert player.select(state, 5.0) in state.legal_moves("xplayer")
    report = player.report()
    assert report is not None
    assert report.player == "learned"
    assert any(str(path) in note for note in report.notes)
    player.stop()
    for file, game, reason in (
        (str(path), "nim", "other rules"), (str(path), "kuhn", "other rules"), (str(tmp_path / "no"), "nim", "cannot read")
    ):  # fmt: skip
        other = herbrand.load(game)
        player = make_player(f"learned(file={file!r})", seed=1)
        with pytest.raises(HerbrandError, match=reason):
            player.start(other, other.players[0], 5.0)
        player.stop()


def test_a_player_finds_its_file_in_a_folder(training: Trainer, tmp_path: Path) -> None:
    """By the rules, whatever the files are called; for a game without one it plays as `alphabeta` does."""
    write_training(tmp_path / "b.npz", training)
    (tmp_path / "a.npz").write_text("no archive")
    for game, learned in ((training.game, True), (herbrand.load("nim"), False)):
        player = make_player(f"learned(file={str(tmp_path)!r}, nodes=300, threads=1)", seed=1)
        player.start(game, game.players[0], 10.0)
        player.select(game.initial_state(), 5.0)
        report = player.report()
        assert report is not None
        assert any(f"as {tmp_path / 'b.npz'} has learned" in note for note in report.notes) == learned
        player.stop()


def test_damaged_files_are_refused(training: Trainer, tmp_path: Path) -> None:
    """Whatever is changed in it: a message, never another exception, and no large allocation."""
    path = tmp_path / "training.npz"
    write_training(path, training)
    whole = read_arrays(path, 1 << 20)
    about = json.loads(whole["about"].tobytes())

    def damaged(**changes: Any) -> dict[str, NDArray[Any]]:
        return {**whole, **changes}

    def with_about(**changes: Any) -> dict[str, NDArray[Any]]:
        return damaged(about=np.frombuffer(json.dumps({**about, **changes}).encode(), np.uint8))

    count = len(whole["literals"])
    for arrays in (
        damaged(about=np.frombuffer(b"[]", np.uint8)),
        damaged(about=np.frombuffer(b"\xff", np.uint8)),
        damaged(literals=np.full(count, 1 << 30, "<i4")),
        damaged(literals=np.full(count, -5, "<i4")),
        damaged(literals=whole["literals"][:-1]),
        damaged(literals=whole["literals"].astype("<i8")),
        damaged(gates=whole["gates"][:3]),
        damaged(gates=whole["gates"][:, :1]),
        damaged(gates=whole["gates"] + 5000),
        damaged(gates=whole["gates"] - 5000),
        damaged(gates=whole["gates"].astype("<i8")),
        damaged(weights=whole["weights"].T),
        damaged(weights=np.full_like(whole["weights"], np.nan)),
        damaged(weights=np.full_like(whole["weights"], np.inf)),
        damaged(squares_biases=np.zeros(7, "<f4")),
        {name: array for name, array in whole.items() if name != "biases"},
        with_about(format="herbrand training 99"),
        with_about(network="0"),
        with_about(games=-1),
        with_about(games="many"),
        with_about(settings=[]),
        with_about(settings={"seeds": 1}),
        with_about(seconds=None),
        with_about(snapshots=[{"games": 1}]),
        with_about(constant_sum=False),
    ):
        write_arrays(path, arrays)
        with pytest.raises(HerbrandError):
            read_training(path, training.game)


def test_a_device_fits_as_numpy_does() -> None:
    """The same batches give the same model, up to rounding; a training goes on with or without a device."""
    pytest.importorskip("torch")
    game = herbrand.load("ticTacToe")
    here, there = (Trainer.start(game, Settings(3)) for _ in range(2))
    here.run(games=1500)
    there.run(games=1500, device="cpu")
    for one, other in zip(arrays_of(here), arrays_of(there), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-3, atol=1e-4)
    there.run(games=2000)
    assert there.games >= 2000


def test_devices_that_are_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """A message names the device, or the library to install."""
    trainer = Trainer.start(herbrand.load("nim"), Settings())
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "torch", None)
        with pytest.raises(MissingExtra, match=r"herbrand\[torch\]"):
            trainer.run(games=10, device="cuda")
    pytest.importorskip("torch")
    for name in ("cuda:77", "abacus"):
        with pytest.raises(HerbrandError, match=f"cannot use the device `{name}`"):
            trainer.run(games=10, device=name)


def test_seconds_of_self_play_improve_values() -> None:
    """From values that say nothing, for either role; what is no better is refused, and so is a match that is over."""
    game = herbrand.load("ticTacToe")
    nothing = LearnedJudge(no_judge(2), 0, 0, 0.0, 0.0)
    better = [improve_judge(game, role, nothing, seed=1, seconds=1.0) for role in range(2)]
    states = sample_states(game.expander, np.random.default_rng(1))
    values = []
    for role, learned in enumerate(better):
        assert learned is not None
        assert learned.self_played >= 256
        values.append(learned.judge.valuer(game.expander.network, role).values(states) / SCALE)
    assert np.corrcoef(values[0], 100 - values[1])[0, 1] > 0.8
    assert improve_judge(game, 0, nothing, seed=1, seconds=0.3, stopped=lambda: True) is None
    assert improve_judge(game, 0, nothing, seed=1, seconds=0.0) is None


def test_alphabeta_learns_for_the_rest_of_its_start_clock() -> None:
    """It says so, and not without `self_play`."""
    game = herbrand.load("breakthrough")
    player = make_player("alphabeta(threads=1,nodes=100)", seed=1)
    assert isinstance(player, AlphaBetaPlayer)
    player.learning = False
    player.start(game, "white", 60)
    player.learned = learn_judge(game.expander, 0, seed=1, deadline=time.monotonic() + 0.5)
    player.improve(time.monotonic() + 2.5)
    assert player.learned is not None
    if player.learned.self_played:
        player.select(game.initial_state(), 60)
        report = player.report()
        assert report is not None
        assert f"and {player.learned.self_played} games against itself" in report.notes[-1]
    player.stop()
