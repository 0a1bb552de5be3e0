"""Endless tasks, matches by text, features of games, and the study: what environments for models are made of."""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from click.testing import CliRunner

import herbrand
from herbrand.cli.main import cli
from herbrand.envs.language import KINDS, grade, make_tasks, right_reply
from herbrand.errors import GameError
from herbrand.oracle.features import features
from herbrand.oracle.play import TextMatch
from herbrand.oracle.stream import EVOLVED, TaskStream, evolved_game
from herbrand.oracle.study import GAMES, HORIZONS, correlations, study_tasks

ROOT = Path(__file__).parents[3]
TASKS = """
import hashlib, json, herbrand
from herbrand.envs.language import make_tasks
from herbrand.oracle.stream import TaskStream
tasks = []
for name, kinds in (("nim", ("best", "win", "same", "translate", "write")), ("kuhn", ("knows", "legal"))):
    tasks += make_tasks(herbrand.load(name), kinds=kinds, count=3, seed=5)
tasks += make_tasks(herbrand.load("connectFour"), count=3, seed=5, scrambled=True)
stream = TaskStream(["ticTacToe", "evolved"], seed=5, steps=(2, 4))
tasks += [stream[number] for number in (0, 7, 12, 43)]
print(hashlib.sha256(json.dumps(tasks, sort_keys=True).encode()).hexdigest())
"""
DIGEST = "f6d87966b246b965db4bf0d3902fac2d81bb485b4172930d50a946776aaabaa6"
"""Of the tasks of the program above.  It changes only with the wording of prompts, or the rules of these games."""


def test_the_same_seed_gives_the_same_tasks_on_every_machine() -> None:
    """A digest from another process, with another order of hashes, is the recorded one."""
    command = [sys.executable, "-c", TASKS]
    environment = os.environ | {"PYTHONHASHSEED": "random"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True, timeout=120)
    assert done.stdout.strip() == DIGEST


def test_a_task_can_be_asked_for_by_its_number() -> None:
    """Kinds take turns, then games; evolved games are fresh after some tasks; other seeds give other tasks."""
    stream = TaskStream(["nim", EVOLVED], kinds=["legal", "goals"], seed=1)
    tasks = [stream[number] for number in range(40)]
    assert [task["kind"] for task in tasks[:4]] == ["legal", "goals"] * 2
    assert [task["game"] == "nim" for task in tasks[:4]] == [True, True, False, False]
    assert len({task["game"] for task in tasks}) > 2
    assert len({task["id"] for task in tasks}) == 40
    assert TaskStream(["nim", EVOLVED], kinds=["legal", "goals"], seed=1)[33] == tasks[33]
    assert TaskStream(["nim", EVOLVED], kinds=["legal", "goals"], seed=2)[33] != tasks[33]
    assert next(iter(stream)) == tasks[0]
    assert TaskStream(["nim"], kinds=["steps"], steps=(4, 4))[5]["horizon"] == 4
    for wrong in ({"kinds": ["poems"]}, {"kinds": []}, {"games": []}, {"steps": (3, 2)}, {"steps": 0}):
        with pytest.raises(ValueError, match=r"poems|no games|1 or more"):
            TaskStream(**{"games": ["nim"], **wrong})


def test_games_that_do_not_fit_a_kind_are_passed_over() -> None:
    """Another game of the list is asked about; where none fits, that is said."""
    assert TaskStream(["nim", "kuhn"], kinds=["knows"], seed=1)[0]["game"] == "kuhn"
    with pytest.raises(GameError, match="nothing is hidden"):
        TaskStream(["nim"], kinds=["knows"])[0]


def test_right_replies_are_right_and_the_question_is_no_answer() -> None:
    """For all kinds; repeating the question gains nothing."""
    kinds = [kind for kind in KINDS if kind != "knows"]
    tasks = make_tasks(herbrand.load("nim"), kinds=kinds, count=2, seed=3)
    tasks += make_tasks(herbrand.load("kuhn"), kinds=["knows"], count=2, seed=3)
    for task in tasks:
        assert grade(task, right_reply(task)).score == 1, task["id"]
        assert grade(task, task["prompt"]).score == 0, task["id"]


def test_a_match_by_text() -> None:
    """The first observation has everything, later ones what is new; the reward is the goal value."""
    match = TextMatch(herbrand.load("nim"), roles=["first"], seed=3)
    told = match.observation()
    for part in ("(role first)", "You play first", "(pile a 3)", "Your legal moves: (take a 1)", "[(move)]"):
        assert part in told
    assert match.reply("[(take b 1)] is worse, I take [ (TAKE c 2) ]") == ""
    later = match.observation()
    assert "(role first)" not in later
    assert "The joint move was: (take c 2), noop" in later
    while (role := match.turn) is not None:
        assert match.reply(f"[{match.legal_moves(role)[0]}]") == ""
    assert match.is_over
    assert match.rewards["first"] + match.rewards["second"] == 1
    assert match.reason.startswith("The game is over. Goals: first ")
    assert match.reply("[noop]") == "The match is over."


def test_replies_without_a_move_lose_the_match() -> None:
    """One mistake is forgiven, the next one loses; several moves in one pair of brackets are none."""
    match = TextMatch(herbrand.load("ticTacToe"), moves=False, rules=False)
    told = match.observation()
    assert "legal moves:" not in told
    assert "(role" not in told
    for text in ("", "(mark 1 1)", "[(mark 1 1) (mark 1 2)]", "[(mark 4 4)]", "[" * 100_000, "[((((]"):
        other = TextMatch(herbrand.load("ticTacToe"))
        assert other.reply(text)
        assert other.turn == "xplayer"
    assert match.reply("[(mark 1 1)]") == ""
    assert match.turn == "oplayer"
    assert match.reply("[(mark 1 1)]") == "`(mark 1 1)` is no legal move of oplayer."
    match.reply("I resign.")
    assert match.is_over
    assert match.rewards == {"xplayer": 1.0, "oplayer": 0.0}


def test_hidden_information_is_not_told() -> None:
    """A role is told its own moves and percepts, and nobody else's, not even when roles choose at once."""
    match = TextMatch(herbrand.load("kuhn"), seed=5)
    told = match.observation("first")
    assert "(dealt" in told
    assert "facts that are true" not in told.split("(card king)")[1]
    both = TextMatch(herbrand.load("rockPaperScissors"), seed=5)
    assert both.turn == "left"
    both.reply("[(show rock)]")
    assert both.turn == "right"
    assert "(show rock)" not in both.observation().partition("The facts")[2].partition("Your legal")[0]


def test_features_tell_games_apart() -> None:
    """Forty numbers, the same each time."""
    nim, chess = features(herbrand.load("nim")), features(herbrand.load("checkers"))
    assert len(nim) == 40
    assert set(nim) == set(chess)
    assert nim == features(herbrand.load("nim"))
    assert nim["roles"] == chess["roles"] == 2
    assert nim["statements"] < chess["statements"]
    assert nim["initial facts"] == 4
    assert nim["deepest term"] == 2
    assert features(evolved_game(3))["base statements"] > 0


def test_correlations_follow_ranks() -> None:
    found = correlations(
        {"a": 1, "b": 0.5, "c": 0.2},
        {
            "a": {"size": 1, "same": 4, "odd": 1},
            "b": {"size": 20, "same": 4, "odd": 3},
            "c": {"size": 300, "same": 4, "odd": 2},
        },
    )
    assert found == [("size", -1.0), ("odd", -0.5)]


def test_the_study_has_its_design() -> None:
    """Games, questions, horizons and choices of names, and nothing twice."""
    assert len(set(GAMES)) == 35
    tasks = list(study_tasks(count=1, games=("hanoi", "kuhn")))
    assert len({task["id"] for task in tasks}) == len(tasks)
    steps = [task for task in tasks if task["kind"] == "steps" and task["game"] == "hanoi"]
    assert sorted(task["horizon"] for task in steps) == sorted([*HORIZONS] * 2)
    assert {(task["kind"], task["scrambled"]) for task in tasks} == {
        (kind, scrambled) for kind in ("legal", "next", "steps") for scrambled in (False, True)
    }


def test_the_study_shows_how_often_a_stand_in_is_wrong(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One command makes the tasks; the same one asks, and its table has the rate of wrong replies."""
    spec = importlib.util.spec_from_file_location("stand_in_model", ROOT / "examples" / "stand_in_model.py")
    assert spec is not None
    assert spec.loader is not None
    stand_in = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(stand_in)
    monkeypatch.setattr("herbrand.oracle.study.GAMES", ("hanoi", "sudoku", "lightsOut"))
    run = CliRunner()
    folder = tmp_path / "study"
    made = run.invoke(cli, ["tasks", "study", str(folder), "-n", "2"])
    assert made.exit_code == 0, made.output
    assert "84 tasks in" in made.stderr
    tasks = [json.loads(line) for line in (folder / "tasks.jsonl").read_text(encoding="utf-8").splitlines()]
    answers = stand_in.replies(tasks, 0.25)
    with stand_in.make_server(answers) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}/v1"
        command = ["tasks", "study", str(folder), "--address", address, "--model", "stand-in"]
        report = json.loads(run.invoke(cli, [*command, "--json"]).stdout)
        server.shutdown()
    right = sum(row["correct"] for row in report["questions"])
    assert right == sum(row["correct"] for row in report["games"])
    assert right == sum(answers[task["prompt"]] != "I do not know." for task in tasks)
    assert right / 84 == pytest.approx(0.75, abs=0.02)  # some prompts occur twice
    assert all(row["tasks"] == row["replies"] for row in report["questions"])
    table = run.invoke(cli, ["tasks", "study", str(folder)]).stdout.splitlines()
    assert table[1].split()[:3] == ["legal", "own", str(report["questions"][0]["correct"])]
    assert run.invoke(cli, ["tasks", "study", str(folder), "--model", "x"]).exit_code == 2


@pytest.mark.parametrize("package", ["reasoning_gym", "textarena", "openenv", "verifiers"])
def test_environments_of_packages(package: str) -> None:
    """Each adapter can be imported where its package is; `packaging/check_environments.py` runs the validators."""
    pytest.importorskip(package)
    importlib.import_module(f"herbrand.oracle.{package}")
