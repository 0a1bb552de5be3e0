"""Solutions in pages and modules: checked, small, and followed by a player that gets what they promise."""

from __future__ import annotations

import dataclasses
import json
import shutil
import subprocess
from functools import cache
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

import herbrand
from herbrand.analyse.budget import Budget
from herbrand.analyse.solving.solve import solve
from herbrand.analyse.solving.strategy import Strategy, make_strategy
from herbrand.analyse.solving.value import value_of
from herbrand.cli.main import cli
from herbrand.errors import GameError
from herbrand.publish import PublishedSolution, game_module, game_page, published_solution
from herbrand.publish import solution as module

if TYPE_CHECKING:
    from pathlib import Path

NODE = shutil.which("node")
needs_node = pytest.mark.skipif(NODE is None, reason="running JavaScript needs node")

ALL_REPLIES = """
import { Chance, game, solution } from "./game.mjs";
const chance = new Chance(1);
const worst = {};
for (const role of [0, 1]) {
  const seen = new Map();
  let unknown = 0;
  const least = (state) => {
    if (state.isTerminal) return state.goals[role];
    if (!seen.has(state.key)) {
      let ways = game.roles.map((_, one) => state.legalNumbers(one));
      if (ways[role].length > 1) {
        const move = solution.choose(state, role, chance);
        if (move === null) unknown++;
        else ways[role] = [move];
      }
      seen.set(state.key, Math.min(...ways[0].flatMap((a) => ways[1].map((b) => least(state.after([a, b]))))));
    }
    return seen.get(state.key);
  };
  worst[game.roles[role]] = [least(game.initialState), unknown];
}
console.log(JSON.stringify(worst));
"""
"""The least goal of a role that follows the solution against all replies, and the states without a move for it."""

VALUES = """
import { readFileSync } from "node:fs";
import { game, solution } from "./game.mjs";
const states = JSON.parse(readFileSync("states.json", "utf8")).map((facts) => game.stateOf(facts));
const say = ({ move, outcome }) => [game.moveTexts[move], outcome.goals];
console.log(JSON.stringify(states.map((state) => [
  solution.outcome(state),
  game.roles.map((_, role) => state.legalNumbers(role).length > 1 ? solution.moves(state, role).map(say) : []),
])));
"""


@cache
def strategy_of(name: str) -> Strategy:
    """What `herbrand solve -o` writes for a bundled game."""
    value = value_of(herbrand.load(name), budget=Budget(30), search=True)
    assert value.forced is not None
    assert value.searched is not None
    return make_strategy(value.forced, value.searched)


def without_listing(monkeypatch: pytest.MonkeyPatch, name: str) -> PublishedSolution:
    """The solution of a game as if its states were too many to be listed."""
    monkeypatch.setattr(module, "LISTING", (20.0, 10, 100.0))
    return published_solution(herbrand.load(name), strategy_of(name))


def run(folder: Path, program: str, source: str) -> Any:
    """Run a program of Node beside the module of a game; return what it says, as JSON."""
    assert NODE is not None
    (folder / "game.mjs").write_text(source, encoding="utf-8")
    (folder / "program.mjs").write_text(program, encoding="utf-8")
    done = subprocess.run(
        [NODE, "program.mjs"], cwd=folder, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def replayed(folder: Path, name: str, solution: PublishedSolution) -> Any:
    """Play by a solution against all replies, in Node."""
    source = game_module(herbrand.load(name), "javascript", solution=solution)
    return run(folder, ALL_REPLIES, source)


@needs_node
def test_values_of_all_states_win_and_hold_whatever_others_do(tmp_path: Path) -> None:
    """The perfect player of each role gets its value against every reply, and knows a move wherever it chooses."""
    solution = published_solution(herbrand.load("ticTacToe"), strategy_of("ticTacToe"))
    assert solution.is_complete
    assert solution.states == 5478 - 958
    assert solution.bounds == {"xplayer": (50, 50), "oplayer": (50, 50)}
    assert replayed(tmp_path, "ticTacToe", solution) == {"xplayer": [50, 0], "oplayer": [50, 0]}


@needs_node
def test_strategies_get_what_they_claim(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a list of all states the moves of strategies are followed; a side without one has none."""
    solution = without_listing(monkeypatch, "ticTacToe")
    assert not solution.is_complete
    assert solution.states == len(strategy_of("ticTacToe"))
    assert replayed(tmp_path, "ticTacToe", solution) == {"xplayer": [50, 0], "oplayer": [50, 0]}
    solution = without_listing(monkeypatch, "nim")
    assert solution.bounds == {"first": (100, 100), "second": (0, 100)}
    found = replayed(tmp_path, "nim", solution)
    assert found["first"] == [100, 0]
    assert found["second"][0] == 0
    assert found["second"][1] > 0


@needs_node
def test_values_are_those_of_the_library(tmp_path: Path) -> None:
    """In every state of nim that a few random games reach, values and moves are those that `solve` finds from there."""
    game = herbrand.load("nim")
    states = []
    for seed in range(4):
        state = game.initial_state()
        while not state.is_terminal:
            states.append(state)
            legal = state.legal_moves()
            state = state.next([moves[(seed + len(states)) % len(moves)] for moves in legal.values()])
    (tmp_path / "states.json").write_text(json.dumps([sorted(state.facts) for state in states]))
    source = game_module(game, "javascript", solution=published_solution(game, strategy_of("nim")))
    for state, (outcome, moves) in zip(states, run(tmp_path, VALUES, source), strict=True):
        known = solve(game, start=state)
        assert known.value is not None
        assert outcome == {"goals": list(known.value.values()), "steps": len(known.line)}
        after = {move: list(values.values()) for _, move, values in known.root}
        assert dict(moves[0] + moves[1]) == (after if len(after) > 1 else {})


def test_what_is_not_proved_is_not_published() -> None:
    """A move that loses, and rules for which the strategy was not made, are refused."""
    good = strategy_of("ticTacToe")
    (states, moves), other = good.tables
    bad = dataclasses.replace(good, tables=((states, moves[::-1].copy()), other))
    with pytest.raises(GameError, match="the strategy is refused: xplayer gets at least 50 is not proved"):
        published_solution(herbrand.load("ticTacToe"), bad)
    with pytest.raises(GameError, match="other rules"):
        published_solution(herbrand.load("nim"), good)


def test_a_solution_that_is_too_large_is_not_published(monkeypatch: pytest.MonkeyPatch) -> None:
    """A list of all values that is too large gives way to strategies; where they are, too, the remedy is named."""
    size = len(published_solution(herbrand.load("ticTacToe"), strategy_of("ticTacToe")).packed)
    monkeypatch.setattr(module, "MOST_BYTES", size - 1)
    solution = published_solution(herbrand.load("ticTacToe"), strategy_of("ticTacToe"))
    assert not solution.is_complete
    assert len(solution.packed) < size
    monkeypatch.setattr(module, "MOST_BYTES", 100)
    with pytest.raises(GameError, match=r"at most 0\.0001 MB; `herbrand play --opponent"):
        published_solution(herbrand.load("ticTacToe"), strategy_of("ticTacToe"))


def test_the_command_publishes_solutions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The page says what was proved and how much it knows; a page without a solution has nothing of it."""
    strategy_of("nim").write(tmp_path / "nim.npz")
    options = ["--solution", str(tmp_path / "nim.npz"), "-o", str(tmp_path / "nim.html"), "--proving", "0"]
    done = CliRunner().invoke(cli, ["publish", "nim", *options])
    assert "replayed: first gets at least 100; the page has the value of 230 states" in done.output
    page = (tmp_path / "nim.html").read_text(encoding="utf-8")
    for line in (
        "With best play: first 100, second 0.",
        "first can force at least 100: proved by a strategy, replayed against every reply.",
        "The values of all 230 positions before the end are known.",
    ):
        assert f"<li>{line}</li>" in page
    page = game_page(herbrand.load("nim"), proving=0, solution=without_listing(monkeypatch, "nim"))
    assert "<li>With best play: first 100.</li>" in page
    assert "in others perfect searches.</li>" in page
    plain = game_page(herbrand.load("nim"), proving=0)
    assert 'id="worth"' not in plain
    assert "class StateTable" not in plain
    done = CliRunner().invoke(cli, ["publish", "nim", "kuhn", *options])
    assert done.exit_code == 2
    assert "--solution is for one game" in done.output
