"""Exploration in sorted files finds the states that exploration in memory finds, whatever is interrupted."""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from click.testing import CliRunner

import herbrand
from herbrand.analyse.budget import Budget
from herbrand.analyse.counting.parts import StatePart
from herbrand.analyse.exploration import on_disk, state_files
from herbrand.analyse.exploration.codes import StateCoder, difference, sorted_set
from herbrand.analyse.exploration.on_disk import explore_on_disk
from herbrand.analyse.solving import on_disk as solving
from herbrand.analyse.solving.on_disk import solve_on_disk
from herbrand.analyse.solving.solve import GraphSolver
from herbrand.cli.main import cli
from herbrand.errors import GameError
from herbrand.game import load

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

CIRCLES = """
(role a) (init (at 0)) (init (lamp off))
(<= (legal a walk) (true (at ?x)))
(<= (legal a switch) (true (at ?x)))
(succ 0 1) (succ 1 2) (succ 2 3) (succ 3 0)
(<= (next (at ?y)) (does a walk) (true (at ?x)) (succ ?x ?y))
(<= (next (at ?x)) (does a switch) (true (at ?x)))
(<= (next (lamp ?l)) (does a walk) (true (lamp ?l)))
(<= (next (lamp on)) (does a switch) (true (lamp off)))
(<= (next (lamp off)) (does a switch) (true (lamp on)))
(<= terminal (true (at 3)) (true (lamp on)))
(<= (goal a 100) (true (at 3)))
(<= (goal a 0) (not (true (at 3))))
"""


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Memory for some hundred states, so that small games take many runs and ranges, and no waiting for disks."""
    monkeypatch.setattr(state_files, "write_atomically", lambda path, text: path.write_text(text))
    monkeypatch.setattr(on_disk, "_CHUNK", 64)
    monkeypatch.setattr(on_disk, "_JOINTS", 40)
    monkeypatch.setattr(on_disk, "_SAMPLES", 16)


class Killed(BaseException):
    """Ends a process that is not there."""


def finished(work: Callable[[], Any]) -> tuple[Any, int]:
    """Do work again and again until it is not killed; return its result, and how often it was killed."""
    killed = 0
    while True:
        try:
            return work(), killed
        except Killed:
            killed += 1


def counted(game: Any) -> tuple[list[int], int]:
    """States by step and terminal ones, by exploration in memory."""
    space = herbrand.analyse.explore(game.expander)
    return space.profile, space.terminal_states


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("name", ["ticTacToe", "nim", "circles"])
def test_the_states_are_those_of_exploration(name: str, tmp_path: Path) -> None:
    """Step by step, also in games in which states come again."""
    game = herbrand.loads(CIRCLES) if name == "circles" else load(name)
    profile, terminal = counted(game)
    outcome = explore_on_disk(game, tmp_path / "f", budget=Budget(60, megabytes=0.02))
    assert list(outcome.by_step) == profile
    assert sum(outcome.terminal) == terminal
    assert outcome.is_complete
    assert outcome.is_layered == (name == "ticTacToe")
    assert [path.name for path in (tmp_path / "f").iterdir()] == ["explore.json"]
    assert explore_on_disk(game, tmp_path / "f").by_step == outcome.by_step


@pytest.mark.usefixtures("small")
def test_states_of_several_words(tmp_path: Path) -> None:
    """The first positions of connect four have their known numbers; they take 16 bytes each."""
    outcome = explore_on_disk(load("connectFour"), tmp_path / "f", budget=Budget(60, megabytes=0.2), disk=0.3)
    assert outcome.stopped == "0.3 MB of disk"
    assert outcome.bytes == 16
    assert outcome.by_step[:6] == (1, 7, 49, 238, 1120, 4263)


def test_connect_four_has_its_known_numbers(tmp_path: Path) -> None:
    """Four columns and four rows, in eight bytes a position: 161 029."""
    game = load("connectFour.ggd", Columns=4, Rows=4)
    outcome = explore_on_disk(game, tmp_path, budget=Budget(60, megabytes=100))
    assert outcome.states == 161_029
    assert (outcome.bytes, outcome.is_layered) == (8, True)


@pytest.mark.usefixtures("small")
@pytest.mark.slow_except("circles")
@pytest.mark.parametrize("name", ["ticTacToe", "circles"])
def test_an_interruption_anywhere_loses_nothing(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed before and after whatever the journal says, and in the middle of writing a file."""
    game = herbrand.loads(CIRCLES) if name == "circles" else load(name)
    expected = explore_on_disk(game, tmp_path / "whole", budget=Budget(60, megabytes=0.02))
    chance = random.Random(3)
    save, write = state_files.write_atomically, state_files.StateFiles.write

    def save_or_die(path: Any, text: str) -> None:
        if chance.random() < 0.04:
            raise Killed
        save(path, text)
        if chance.random() < 0.04:
            raise Killed

    def write_or_die(self: Any, path: Any, rows: Any) -> None:
        if chance.random() < 0.04:
            with path.open("ab") as file:
                file.write(rows.tobytes()[: rows.nbytes // 2 + 3])
            raise Killed
        write(self, path, rows)

    monkeypatch.setattr(state_files, "write_atomically", save_or_die)
    monkeypatch.setattr(state_files.StateFiles, "write", write_or_die)
    outcome, killed = finished(
        lambda: explore_on_disk(game, tmp_path / "killed", budget=Budget(60, megabytes=0.02))
    )
    assert killed > 1
    assert (outcome.by_step, outcome.terminal) == (expected.by_step, expected.terminal)
    assert outcome.transitions == expected.transitions


def test_limits_end_it_and_the_next_call_goes_on(tmp_path: Path) -> None:
    """Of disk and of time, by the command; the numbers are then those of one call."""
    words = ["count", "ticTacToe", "--explore", str(tmp_path / "f")]
    stopped = CliRunner().invoke(cli, [*words, "--disk", "0.01"])
    assert stopped.exit_code == 3
    assert "0.01 MB of disk: the same command resumes" in stopped.stderr
    done = CliRunner().invoke(cli, [*words, "--json"])
    assert json.loads(done.stdout)["by_step"] == counted(load("ticTacToe"))[0]
    shown = CliRunner().invoke(cli, words)
    assert "5 478 states, 958 of them terminal, the last after 9 steps" in shown.stdout
    outcome = explore_on_disk(load("connectFour"), tmp_path / "g", budget=Budget(0.5))
    assert outcome.stopped == "0.5 seconds"


def test_another_folder_is_refused(tmp_path: Path) -> None:
    """One of another game, one with other files, and one whose files are damaged."""
    explore_on_disk(load("nim"), tmp_path / "nim")
    with pytest.raises(GameError, match="states of another game"):
        explore_on_disk(load("ticTacToe"), tmp_path / "nim")
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(GameError, match="has other files"):
        explore_on_disk(load("nim"), tmp_path)
    explore_on_disk(load("ticTacToe"), tmp_path / "cut", disk=0.01)
    max((tmp_path / "cut").glob("states-*")).write_bytes(b"")
    with pytest.raises(GameError, match="is damaged"):
        explore_on_disk(load("ticTacToe"), tmp_path / "cut")
    (tmp_path / "cut" / "explore.json").write_text("[]")
    with pytest.raises(GameError, match="not readable"):
        explore_on_disk(load("ticTacToe"), tmp_path / "cut")


def test_weights_that_fail_do_not_change_the_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Wrong ones are noticed at a state with another step; the exploration begins again without them."""
    profile, _ = counted(load("ticTacToe"))
    summing = StateCoder.summing

    def wrong(self: StateCoder, weights: Any) -> Any:
        sums = summing(self, weights)
        return lambda states: sums(states) + (len(states) > 1000) * 10**6

    monkeypatch.setattr(StateCoder, "summing", wrong)
    outcome = explore_on_disk(load("ticTacToe"), tmp_path / "f")
    assert list(outcome.by_step) == profile
    assert not outcome.is_layered


@pytest.mark.parametrize(("fluents", "words"), [(40, 1), (150, 3)])
def test_codes_are_read_back(fluents: int, words: int) -> None:
    """Random values of random parts, in one word and in several; sets of them are those of Python."""
    chance = np.random.default_rng(5)
    numbers = chance.permutation(fluents)
    parts, at = [], 0
    while at < fluents:
        size = min(int(chance.integers(1, 6)), fluents - at)
        chosen = tuple(sorted(numbers[at : at + size].tolist()))
        parts.append(StatePart(chosen, is_exact=bool(chance.integers(2)) and size > 1))
        at += size
    bits = np.zeros((300, 64 * words), np.bool_)
    for part in parts:
        for row in range(300):
            value = int(chance.integers(part.values))
            if value or part.is_exact:
                bits[row, part.fluents[value - (not part.is_exact)]] = True
    states = np.packbits(bits, axis=1, bitorder="little").view("<u8").astype(np.uint64)
    code = StateCoder(parts, words)
    packed = code.encode(states)
    assert code.size == (1 if words == 1 else 2)
    assert (code.decode(packed) == states).all()
    weights = [[int(w) for w in chance.integers(-9, 9, part.values)] for part in parts]
    due = [
        sum(
            mine[next((part.code(f) for f in part.fluents if row[f]), 0)]
            for part, mine in zip(parts, weights, strict=True)
        )
        for row in bits
    ]
    assert code.summing(weights)(states).tolist() == due
    some, other = sorted_set(packed[:200].copy()), sorted_set(packed[100:].copy())
    assert [tuple(row) for row in some] == sorted({tuple(row) for row in packed[:200]})
    left = {tuple(row) for row in some} - {tuple(row) for row in other}
    assert [tuple(row) for row in difference(some, other)] == sorted(left)


def test_values_on_disk_are_those_in_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of every state of a small game, read in small blocks; value, first moves and best play of another."""
    monkeypatch.setattr(solving, "_CHUNK", 100)
    game = load("ticTacToe")
    found = solve_on_disk(game, tmp_path / "t", budget=Budget(60, megabytes=0.05), moves=True)
    assert found.value == {"xplayer": 50, "oplayer": 50}
    assert (found.states, len(found.line), len(found.moves)) == (5478, 9, 9)
    space = herbrand.analyse.explore(game.expander)
    solver = GraphSolver(space, Budget(60))
    expected = solver.leaves()
    solver.induce(expected, np.full(len(space.states), -1, np.int32), 0)
    small = Budget(60, megabytes=0.05)
    files = state_files.StateFiles(game.expander, tmp_path / "t", small, 1e9, keep=True)
    induction = solving._Induction(files, None)
    assert induction.block < max(files.journal.by_step), "some files are read in pieces"
    levels = enumerate(zip(space.levels, space.levels[1:], strict=False))
    for step, (begin, end) in levels:
        values = induction.look_up(step, files.code.encode(space.states[begin:end]))
        assert values.tolist() == expected[begin:end, 0].tolist()
    game = load("connectFour.ggd", Columns=4, Rows=4)
    outcome = solve_on_disk(game, tmp_path / "c", budget=Budget(60, megabytes=20))
    assert outcome.value == {"red": 50, "yellow": 50}


@pytest.mark.usefixtures("small")
def test_solving_on_disk_goes_on_where_it_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Killed between and within steps; files of other games, and damaged ones, are refused."""
    game = load("ticTacToe")
    chance, write = random.Random(5), state_files.StateFiles.write

    def write_or_die(self: Any, path: Any, rows: Any) -> None:
        write(self, path, rows)
        if chance.random() < 0.02:
            raise Killed

    monkeypatch.setattr(solving, "write_atomically", lambda path, text: path.write_text(text))
    monkeypatch.setattr(state_files.StateFiles, "write", write_or_die)
    found, killed = finished(lambda: solve_on_disk(game, tmp_path / "t", budget=Budget(60, megabytes=0.1)))
    assert killed > 1
    assert found.value == {"xplayer": 50, "oplayer": 50}
    (tmp_path / "t" / "values-0004").write_bytes(b"")
    with pytest.raises(GameError, match="damaged"):
        solve_on_disk(game, tmp_path / "t")


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("nim", "different numbers of steps"),
        ("trefoil", "more than two roles"),
        ("kuhn", "do not see everything"),
        ("rockPaperScissors", "two roles choose at once"),
    ],
)
def test_games_that_are_not_solved_on_disk(name: str, reason: str, tmp_path: Path) -> None:
    """Each is refused with the reason."""
    status = CliRunner().invoke(cli, ["solve", name, "--explore", str(tmp_path / "f"), "--seconds", "20"])
    assert status.exit_code == 1
    assert reason in status.stderr
