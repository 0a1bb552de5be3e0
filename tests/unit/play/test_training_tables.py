"""Tables of trained values: which there are, what they add, their files, and the quick games that choose."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import herbrand
from herbrand.analyse.solving.minimax.judge import SCALE
from herbrand.errors import HerbrandError
from herbrand.play import make_player
from herbrand.play.learning import sample_states
from herbrand.play.training import Settings, Trainer, ValueModel, read_model, read_training, write_training
from herbrand.play.training import trainer as training_module
from herbrand.play.training.choosing import choose_player
from herbrand.play.training.model import Parameters, gradients
from herbrand.play.training.tables import ValueTables, find_tables
from herbrand.runtime.arrays import read_arrays, write_arrays

if TYPE_CHECKING:
    from pathlib import Path

    from herbrand.game import Game

CELLS = [(x, y) for x in range(1, 4) for y in range(1, 6)]
BLANKS = """
(role x) (role o) (init (control x))
(<= (legal ?r (mark ?x ?y)) (true (cell ?x ?y b)) (true (control ?r)))
(<= (legal x noop) (true (control o)))
(<= (legal o noop) (true (control x)))
(<= (next (cell ?x ?y ?r)) (does ?r (mark ?x ?y)))
(<= (next (cell ?x ?y ?c)) (true (cell ?x ?y ?c)) (distinct ?c b))
(<= (taken ?x ?y) (does ?r (mark ?x ?y)))
(<= (next (cell ?x ?y b)) (true (cell ?x ?y b)) (not (taken ?x ?y)))
(<= (next (control o)) (true (control x)))
(<= (next (control x)) (true (control o)))
(<= open (true (cell ?x ?y b)))
(<= terminal (not open))
(<= (goal x 100) (true (cell 1 1 x)))
(<= (goal x 0) (not (true (cell 1 1 x))))
(<= (goal o 100) (not (true (cell 1 1 x))))
(<= (goal o 0) (true (cell 1 1 x)))
""" + "".join(f"(init (cell {x} {y} b))" for x, y in CELLS)
"""Two roles mark the cells of a board in which blank cells are said to be blank."""


@pytest.fixture(scope="module")
def connect_four() -> Game:
    """Return the game."""
    return herbrand.load("connectFour")


def tables_of(game: Game) -> ValueTables:
    """Return the tables for states of random games."""
    states = sample_states(game.expander, np.random.default_rng(0), games=64)
    return find_tables(game, game.expander.bits(states).mean(axis=0))


@pytest.fixture(scope="module")
def model(connect_four: Game) -> ValueModel:
    """Return a model with tables, all of whose parameters are drawn."""
    chance, expander = np.random.default_rng(0), connect_four.expander
    literals = 2 * (1 + np.arange(expander.fluents, dtype=np.int32))
    found = ValueModel.untrained(literals, 2, constant_sum=True, tables=tables_of(connect_four))
    drawn = (chance.normal(0, 0.05, array.shape).astype(np.float32) for array in found.parameters)
    found.parameters = Parameters(*drawn)
    return found


@pytest.fixture(scope="module")
def short(connect_four: Game) -> Trainer:
    """Return a training of connect four that has gone on to tables."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(training_module, "_FEWEST_BEFORE_TABLES", 256)
        trainer = Trainer.start(connect_four, Settings(1))
        trainer.run(games=2000)
    return trainer


def test_rows_and_squares_of_a_board(connect_four: Game) -> None:
    """Connect four has 69 rows of four cells and 30 squares; a kind is what moves onto another."""
    tables = tables_of(connect_four)
    assert np.bincount(tables.kind).tolist() == [24, 21, 12, 12, 30]
    assert tables.kinds == 5
    names = connect_four.expander.fluent_names
    first = [names[(literal >> 1) - 1] for literal in tables.literals[0]]
    assert first == [f"(cell {column} 6 {who})" for column in range(1, 5) for who in ("red", "yellow")]


def test_what_a_cell_mostly_has_is_left_out() -> None:
    """Blank cells are those with nothing else; a game without a board has no tables."""
    game = herbrand.loads(BLANKS)
    tables = tables_of(game)
    named = {game.expander.fluent_names[(literal >> 1) - 1] for literal in tables.literals.flat if literal}
    assert named == {f"(cell {x} {y} {who})" for x, y in CELLS for who in ("x", "o")}
    assert np.bincount(tables.kind).tolist() == [6, 8]  # rows of four, squares
    assert not len(tables_of(herbrand.load("nim")).literals)


@pytest.mark.parametrize("role", [0, 1])
def test_the_core_adds_what_the_model_predicts(connect_four: Game, model: ValueModel, role: int) -> None:
    """Values of states by the core are the logits of the model, in goal points, for both roles."""
    expander = connect_four.expander
    states = sample_states(expander, np.random.default_rng(3), games=20)
    inputs = model.inputs(model.reader(expander).features(states), expander.legal(states).counts())
    predicted = model.predict(inputs)[:, 0].astype(float)
    logits = np.log(predicted / (1 - predicted)) * (1 - 2 * role)
    values = model.judge(role).valuer(model.network(expander), role).values(states) / SCALE
    assert np.ptp(values) > 20
    assert np.abs(values - (50 + 12.5 * logits)).max() < 0.3


def test_gradients_are_those_of_the_cross_entropy(connect_four: Game, model: ValueModel) -> None:
    """For each kind of parameters, compared with the difference that a small step makes."""
    model, expander = model.copy(), connect_four.expander
    states = sample_states(expander, np.random.default_rng(4), games=4)
    inputs = model.inputs(model.reader(expander).features(states), expander.legal(states).counts())
    targets = np.random.default_rng(5).random((len(states), 1)).astype(np.float32)
    slopes = gradients(model, inputs, targets)

    def loss() -> float:
        predicted = model.predict(inputs).astype(float)
        return float(-(targets * np.log(predicted) + (1 - targets) * np.log(1 - predicted)).mean())

    for slope, array in zip(slopes, model.parameters, strict=True):
        at = int(np.abs(slope).argmax())
        flat = array.reshape(-1)
        kept, step = flat[at], np.float32(0.005)
        flat[at] = kept + step
        above = loss()
        flat[at] = kept - step
        below = loss()
        flat[at] = kept
        assert (above - below) / (2 * step) == pytest.approx(slope.reshape(-1)[at], rel=0.02)


def test_a_training_goes_on_with_tables(short: Trainer, tmp_path: Path) -> None:
    """From the best sums; its file has both, and says which plays."""
    path = tmp_path / "training.npz"
    assert len(short.model.tables.literals) == 99
    assert short.model.parameters.tables.any()
    assert short.model.parameters.shared.any()
    sums = short.earlier["sums"]
    assert not len(sums.tables.literals)
    played = {"": sums, "best": short.best, "first": short.earlier["first"], "sums": sums}
    try:
        for choice, model in played.items():
            short.choice = choice
            assert short.result is model
            write_training(path, short)
            found = read_model(path, short.game)
            assert found is not None
            for one, other in zip(found.parameters, model.parameters, strict=True):
                assert np.array_equal(one, other)
        short.choice = "trees"
        write_training(path, short)
        assert read_model(path, short.game) is None
        again = read_training(path, short.game)
        assert isinstance(again, Trainer)
        assert again.choice == "trees"
        assert list(again.earlier) == ["first", "sums"]
        again.run(games=short.games + 300)
        assert again.games > short.games
        assert len(again.best.tables.literals) == 99
    finally:
        short.choice = ""


def test_quick_games_choose(short: Trainer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between values with and without tables, those of random games, and tree search."""
    short._choose(1.0)
    assert short.choice == ""  # the training was too short
    monkeypatch.setattr(training_module, "_CHOOSING_FROM", 0.0)
    monkeypatch.setattr(short, "chooser", choose_player)
    try:
        short._choose(4.0)
        assert short.choice in ("best", "first", "sums", "trees")
        assert len(short.quick_games) == 3
        assert short.quick_games[-1].startswith("tree search without values")
        assert not all("of 0 against" in words for words in short.quick_games)
        assert dict(short.summary())["plays by"]
        assert short.as_json()["choice"] == short.choice
    finally:
        short.choice, short.quick_games = "", []


def test_the_player_searches_trees_where_that_is_better(short: Trainer, tmp_path: Path) -> None:
    """It says why, also without a clock."""
    path = tmp_path / "training.npz"
    short.choice = "trees"
    try:
        write_training(path, short)
    finally:
        short.choice = ""
    player: Any = make_player(f"learned(file='{path}',threads=1)", seed=1)
    state = short.game.initial_state()
    player.start(short.game, "red", 5.0)
    try:
        assert player.select(state, 0.2) in state.legal_moves("red")
        report = player.report()
        assert report is not None
        assert report.player == "mcts"
        assert "tree search was better" in report.notes[-1]
        assert player.consider(state, 0.05) in state.legal_moves("red")
    finally:
        player.stop()


def test_damaged_tables_are_refused(short: Trainer, tmp_path: Path) -> None:
    """Whatever is changed: a message, never another exception."""
    path = tmp_path / "training.npz"
    write_training(path, short)
    whole = read_arrays(path, 1 << 24)
    about = json.loads(whole["about"].tobytes())
    for changes in (
        {"table_literals": whole["table_literals"][:5]},
        {"table_literals": whole["table_literals"][:, :7]},
        {"table_literals": np.full_like(whole["table_literals"], 1 << 30)},
        {"table_literals": np.full_like(whole["table_literals"], -2)},
        {"table_kinds": np.full_like(whole["table_kinds"], 1000)},
        {"table_kinds": whole["table_kinds"] - 1},
        {"tables": whole["tables"][:-1]},
        {"shared": np.full_like(whole["shared"], np.nan)},
        {"sums_weights": whole["sums_weights"][1:]},
        {"first_biases": np.zeros(3, "<f4")},
        {"about": np.frombuffer(json.dumps({**about, "choice": "all"}).encode(), np.uint8)},
        {"about": np.frombuffer(json.dumps({**about, "quick_games": 3}).encode(), np.uint8)},
    ):
        write_arrays(path, {**whole, **changes})
        with pytest.raises(HerbrandError):
            read_training(path, short.game)


def test_a_device_fits_tables_as_numpy_does(connect_four: Game, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same batches give the same tables, up to rounding."""
    pytest.importorskip("torch")
    monkeypatch.setattr(training_module, "_FEWEST_BEFORE_TABLES", 256)
    here, there = (Trainer.start(connect_four, Settings(3)) for _ in range(2))
    here.run(games=1000)
    there.run(games=1000, device="cpu")
    for one, other in zip(here.model.parameters, there.model.parameters, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-2, atol=2e-3)


def test_judge_and_reader_share_their_program(connect_four: Game, model: ValueModel) -> None:
    """Compiling it may take seconds: both have the same literals, with tables and without."""
    expander = connect_four.expander
    plain = ValueModel.untrained(model.literals, 2, constant_sum=True)
    for each in (model, plain):
        literals = each.judge(0).literals
        assert each.words == -(-len(literals) // 64)
        assert each.reader(expander).features(expander.initial).shape == (1, each.words)
    assert np.array_equal(plain.judge(0).literals, model.literals)


def test_what_was_chosen_stays_so_when_tables_begin(connect_four: Game) -> None:
    """The best model is then the one of the sums."""
    trainer = Trainer.start(connect_four, Settings(2))
    trainer.choice = "best"
    chosen = trainer.result
    trainer._begin_tables()
    assert trainer.choice == "sums"
    assert trainer.result is chosen
