"""Reachable states counted by decision diagrams: the same numbers as exploring, and published ones."""

from __future__ import annotations

import json
import math
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from click.testing import CliRunner

import herbrand
from herbrand.analyse import Budget, count_states, explore
from herbrand.analyse.exploration.walks import play
from herbrand.analyse.invariants.frames import System
from herbrand.analyse.invariants.groups import find_groups
from herbrand.cli.main import cli
from herbrand.engine import Expander
from herbrand.errors import GameError
from herbrand.network.unroll import unrolled

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from herbrand.analyse.counting.worker import Counter

pytest.importorskip("oxidd")

FOUR = {"Columns": 4, "Rows": 4}

RECURSIVE = """
(role walker) (init (at 1)) (init (open 1 2)) (init (open 2 3))
(succ 1 2) (succ 2 3) (succ 3 4)
(<= (reach ?x) (true (at ?x)))
(<= (reach ?y) (reach ?x) (true (open ?x ?y)))
(<= (legal walker (go ?x)) (reach ?x))
(<= (legal walker (dig ?x ?y)) (succ ?x ?y))
(<= (next (at ?x)) (does walker (go ?x)))
(<= (next (at ?x)) (true (at ?x)) (does walker (dig ?y ?z)))
(<= (next (open ?x ?y)) (does walker (dig ?x ?y)))
(<= (next (open ?x ?y)) (true (open ?x ?y)) (does walker (go ?z)))
(<= terminal (true (at 4)))
(goal walker 100)
"""


def counter_of(
    game: herbrand.Game, order: str = "forwards", *, layers: bool = True, keep: bool = False
) -> Counter:
    """Return a counter in this process."""
    from herbrand.analyse.counting.checkpoint import Setup
    from herbrand.analyse.counting.encoding import orders
    from herbrand.analyse.counting.layers import fit_measure
    from herbrand.analyse.counting.parts import parts_of
    from herbrand.analyse.counting.worker import Counter

    network = unrolled(game.network)
    sample = play(Expander(network), time.monotonic() + 1)
    groups = find_groups(System(network), time.monotonic() + 20, sample.states)
    parts = orders(network, parts_of(len(network.fluents), groups))[order]
    weights = fit_measure(parts, sample.states, sample.depths) if layers and sample.cycle is None else None
    return Counter(Setup(network, parts=parts, weights=weights), 64, keep=keep)


def counted(counter: Counter) -> list[int]:
    """Return the numbers of states by step."""
    while counter.advance().states:
        pass
    return counter.counts


@pytest.mark.parametrize("most", [1, 20_000], ids=["gate by gate", "as diagrams"])
def test_ends_and_goal_values_may_be_large_conditions(monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    """They are evaluated on sets of states then, gate by gate, with the same result."""
    from herbrand.analyse.counting import relation
    from herbrand.analyse.counting.backwards import Backwards

    monkeypatch.setattr(relation, "_SMALL_NODES", most)
    counter = counter_of(herbrand.load("ticTacToe"), keep=True)
    assert bool(counter.relation.large) == (most == 1)
    assert counted(counter) == [1, 9, 72, 252, 756, 1260, 1520, 1140, 390, 78]
    backwards = Backwards(counter.relation, counter.sets, counter.by_step)
    backwards.ask(0, 50)
    assert [backwards.retreat().states for _ in counter.by_step][-2:] == [9, 1]


def explored(game: herbrand.Game) -> list[int]:
    """Return the numbers of states by step, from listing them."""
    space = explore(Expander(game.network), edges=False)
    return np.diff(space.levels).tolist()


@pytest.mark.parametrize(
    "name", ["ticTacToe", "nim", "kuhn", "rockPaperScissors", "hanoi", "blocksWorld", "montyHall"]
)
def test_counts_are_those_of_exploring(name: str) -> None:
    """For boards, chance, simultaneous moves, puzzles and hidden cards."""
    game = herbrand.load(name)
    assert counted(counter_of(game)) == explored(game)


def test_recursion_within_a_state_is_counted() -> None:
    """Loops of the network are unrolled."""
    game = herbrand.loads(RECURSIVE)
    assert counted(counter_of(game)) == explored(game)


@pytest.mark.slow_except("161029", "3945711")
@pytest.mark.parametrize(
    ("columns", "rows", "states"), [(4, 4, 161_029), (4, 5, 1_706_255), (5, 4, 3_945_711)]
)
def test_positions_of_connect_four_are_the_known_ones(columns: int, rows: int, states: int) -> None:
    """As exhaustive search gives them."""
    game = herbrand.load("connectFour.ggd", Columns=columns, Rows=rows)
    counter = counter_of(game)
    counts = counted(counter)
    assert sum(counts) == states
    assert counter.is_layered  # each move adds a disc
    assert counts[:3] == [1, columns, columns**2]


@pytest.mark.parametrize("order", ["backwards", "force"])
def test_the_order_of_variables_changes_no_count(order: str) -> None:
    """It only changes the sizes of diagrams."""
    game = herbrand.load("connectFour.ggd", **FOUR)
    assert sum(counted(counter_of(game, order))) == 161_029


def test_effects_that_depend_on_the_state_are_relations(monkeypatch: pytest.MonkeyPatch) -> None:
    """With one case a move, most new values are relations between variables and primed ones."""
    monkeypatch.setattr("herbrand.analyse.counting.relation.MOST_CASES", 1)
    game = herbrand.load("connectFour.ggd", **FOUR)
    counter = counter_of(game)
    assert any(effect.relations for effect in counter.relation.effects)
    assert counter.is_layered
    assert sum(counted(counter)) == 161_029


def test_effects_that_are_never_possible_are_left_out() -> None:
    """No disc lies above a hole: each cell gets a disc of either role, and in each step of one of them."""
    counter = counter_of(herbrand.load("connectFour.ggd", **FOUR))
    assert len(counter.relation.effects) == 2 * 16
    counter.advance()
    counter.advance()
    assert len(counter.relation.active_effects(1)) == 16


def test_columns_of_a_board_stay_together() -> None:
    """Orders do not bring parts to the front that meet many others, unless they say so."""
    from herbrand.analyse.counting.encoding import orders
    from herbrand.analyse.counting.parts import parts_of

    network = unrolled(herbrand.load("connectFour").network)
    parts = orders(network, parts_of(len(network.fluents), []))["forwards"]
    names = [network.fluent_names[part.fluents[0]] for part in parts]
    cells = [name.split()[1:3] for name in names if "cell" in name]
    assert cells == sorted(cells)


def test_states_that_recur_are_counted_once() -> None:
    """Without a measure of the steps, states of earlier steps are remembered."""
    game = herbrand.load("connectFour.ggd", **FOUR)
    assert not counter_of(game, layers=False).is_layered
    assert sum(counted(counter_of(game, layers=False))) == 161_029


def test_a_wrong_measure_is_noticed() -> None:
    """Weights that only hold for the first steps are dropped, and all steps counted anew."""
    from herbrand.analyse.counting.encoding import orders
    from herbrand.analyse.counting.layers import fit_measure
    from herbrand.analyse.counting.parts import parts_of

    game = herbrand.load("nim")
    counter = counter_of(game)
    assert not counter.is_layered
    first = [Expander(game.network).bits(Expander(game.network).initial)]
    states = np.concatenate(first)
    parts = orders(unrolled(game.network), parts_of(states.shape[1], []))["forwards"]
    weights = fit_measure(parts, states, np.zeros(1, np.int64))
    from herbrand.analyse.counting.worker import Counter

    wrong = Counter(replace(counter.setup, parts=parts, weights=weights), 64)
    assert wrong.is_layered
    assert counted(wrong) == counted(counter)
    assert not wrong.is_layered


def test_counting_ends_with_its_time_and_keeps_its_steps() -> None:
    """The steps up to then are right, and the total is said to be incomplete."""
    outcome = count_states(herbrand.load("connectFour"), budget=Budget(1.5, megabytes=600))
    assert not outcome.is_complete
    assert outcome.stopped.startswith("out of")
    assert outcome.by_step[:5] == (1, 7, 49, 238, 1120)[: len(outcome.by_step)]


def test_counting_ends_with_its_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sets of states for which there is no room are an answer."""
    monkeypatch.setattr("herbrand.analyse.counting.worker.RULES_SHARE", 0.9)
    from herbrand.analyse.counting.worker import Counter

    counter = counter_of(herbrand.load("connectFour"))
    with pytest.raises(MemoryError):
        counted(Counter(counter.setup, 150))


class FullNowAndThen:
    """Diagrams in which every third operation finds no room at first."""

    def __init__(self, diagrams: Any) -> None:
        self.diagrams = diagrams
        self.operations = self.collections = 0

    def __getattr__(self, name: str) -> Any:
        call = getattr(self.diagrams, name)
        if name not in ("image", "unite", "intersect", "subtract"):
            self.collections += name == "collect"
            return call

        def operation(a: int, b: int) -> int:
            self.operations += 1
            if self.operations % 3 == 0:
                raise MemoryError
            number: int = call(a, b)
            return number

        return operation


def test_what_is_needed_survives_a_lack_of_room() -> None:
    """Sets are collected in between, and the operation is tried again."""
    from herbrand.analyse.counting.backwards import Backwards

    counter = counter_of(herbrand.load("connectFour.ggd", **FOUR), keep=True)
    diagrams: Any = FullNowAndThen(counter.sets.diagrams)
    counter.sets.diagrams = diagrams
    assert sum(counted(counter)) == 161_029
    backwards = Backwards(counter.relation, counter.sets, counter.by_step)
    answers = []
    for goal in (50, 100):
        backwards.ask(0, goal)
        answers.append([backwards.retreat().states for _ in counter.by_step])
    assert [answer[-1] for answer in answers] == [1, 0]
    assert answers[1][1:4] == [5086, 5334, 6692]  # as without
    assert diagrams.collections > 3 * len(counter.by_step)


def test_an_interrupted_count_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From the last step that was kept, whatever happened in between."""
    from herbrand.analyse.counting.checkpoint import read_checkpoint
    from herbrand.analyse.counting.worker import Counter

    monkeypatch.setattr("herbrand.analyse.counting.worker.SAVE_EVERY", -1.0)
    monkeypatch.setattr("herbrand.analyse.counting.worker.SAVE_SHARE", math.inf)
    game = herbrand.load("connectFour.ggd", **FOUR)
    folder = tmp_path / "kept"
    counter = counter_of(game)
    counter.setup = replace(counter.setup, checkpoint=folder)
    for _ in range(8):
        counter.advance()
    assert len(list(folder.glob("*.npz"))) == 1
    saved = read_checkpoint(replace(counter.setup, parts=(), weights=None))
    assert saved is not None
    assert len(saved.by_step) == 8
    again = Counter(saved.setup, 64)
    again.restore(saved)
    assert sum(counted(again)) == 161_029
    result = count_states(game, checkpoint=folder)
    assert result.is_complete
    assert result.states == 161_029
    assert not list(folder.iterdir())  # complete


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: content | {"digest": "0" * 64},
        lambda content: content | {"format": 1},
        lambda content: content | {"parts": 3},
        lambda content: content | {"file": "step-999.npz"},
        lambda _: [],
    ],
    ids=["another game", "another version", "no parts", "no diagrams", "a list"],
)
def test_a_wrong_checkpoint_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damage: Callable[[dict[str, Any]], Any]
) -> None:
    """With the folder in the message."""
    monkeypatch.setattr("herbrand.analyse.counting.worker.SAVE_EVERY", -1.0)
    game = herbrand.load("ticTacToe")
    counter = counter_of(game)
    counter.setup = replace(counter.setup, checkpoint=tmp_path)
    counter.advance()
    file = tmp_path / "count.json"
    file.write_text(json.dumps(damage(json.loads(file.read_text()))))
    with pytest.raises(GameError, match=str(tmp_path)):
        count_states(game, checkpoint=tmp_path)


def test_the_command_prints_steps_and_the_total(fits_schema: Callable[[Any, str], None]) -> None:
    """And the same numbers as JSON."""
    result = CliRunner().invoke(cli, ["count", "ticTacToe"])
    assert result.exit_code == 0
    assert "5 478 states, the last after 9 steps" in result.output
    value = json.loads(CliRunner().invoke(cli, ["count", "ticTacToe", "--json"]).stdout)
    assert value["states"] == 5478
    assert value["by_step"] == [1, 9, 72, 252, 756, 1260, 1520, 1140, 390, 78]
    assert value["complete"]
    fits_schema(value, "count")


def test_the_command_says_that_it_ran_out_of_time() -> None:
    """With exit status 3, the steps so far and what to do."""
    result = CliRunner().invoke(cli, ["count", "connectFour", "--seconds", "1"])
    assert result.exit_code == 3
    assert "--checkpoint" in result.stderr
