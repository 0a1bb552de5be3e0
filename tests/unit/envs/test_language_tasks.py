"""Questions for language models have the answers that the rules give, and the grader tells right from wrong."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

import herbrand
from herbrand.cli.main import cli
from herbrand.envs.language import KINDS, grade, make_tasks

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.slow_except("ticTacToe", "kuhn")
@pytest.mark.parametrize("scrambled", [False, True])
@pytest.mark.parametrize("name", ["ticTacToe", "kuhn", "eightPuzzle"])
def test_answers_are_those_of_the_rules(name: str, scrambled: bool) -> None:
    """Every answer follows from the rules in the prompt alone, by the plain engine."""
    for task in make_tasks(herbrand.load(name), count=3, seed=5, scrambled=scrambled):
        rules = task["prompt"].split("\n\n", 1)[1].split("\n\nThe roles, in")[0]
        game = herbrand.loads(rules)
        assert list(game.roles) == task["roles"]
        state = game.state(task["state"], engine="naive")
        if task["kind"] == "legal":
            assert sorted(task["answer"]) == sorted(map(str, state.legal_moves(task["role"])))
            assert task["role"] in task["prompt"]
            continue
        if task["kind"] == "steps":
            assert state == game.initial_state("naive")
        for joint in task["moves"]:
            assert ", ".join(joint) in task["prompt"]
            state = state.next(joint)
        assert task["answer"] == sorted(state.facts)


def test_the_seed_decides() -> None:
    """The same seed gives the same tasks, another one others; names are scrambled where asked for."""
    game = herbrand.load("connectFour")
    assert make_tasks(game, seed=1) == make_tasks(game, seed=1)
    assert make_tasks(game, seed=1) != make_tasks(game, seed=2)
    assert len(make_tasks(game, count=2)) == 2 * len(KINDS)
    assert "drop" in make_tasks(game, count=1)[0]["prompt"]
    assert "drop" not in make_tasks(game, count=1, scrambled=True)[0]["prompt"]
    assert "(role" not in make_tasks(game, count=1, rules=False)[0]["prompt"]
    with pytest.raises(ValueError, match="no kind of task `poems`"):
        make_tasks(game, kinds=["poems"])


def test_replies_are_graded() -> None:
    """Order, case, spaces and words around the list do not matter; everything else does."""
    (task,) = make_tasks(herbrand.load("ticTacToe"), kinds=["next"], count=1, seed=2)
    right = task["answer"]
    assert grade(task, right).correct
    assert grade(
        task, f"First I thought of [1, 2]. So: {json.dumps(right[::-1]).upper()} - that is all."
    ).correct
    assert grade(task, json.dumps([term.replace(" ", "   ") for term in right])).correct
    fewer = grade(task, right[1:])
    assert not fewer.correct
    assert fewer.missing == (right[0].lower(),)
    assert fewer.precision == 1 > fewer.recall
    more = grade(task, [*right, "(moon full)"])
    assert not more.correct
    assert more.extra == ("(moon full)",)
    lost = grade(task, "I do not know.")
    assert lost.unreadable
    assert not lost.correct
    assert lost.recall == 0


def test_the_command_makes_and_grades(tmp_path: Path) -> None:
    """`herbrand tasks make` writes lines that `herbrand tasks grade` reads."""
    run = CliRunner()
    made = run.invoke(
        cli, ["tasks", "make", "nim", "--kind", "legal", "--kind", "next", "-n", "2", "--seed", "4"]
    )
    assert made.exit_code == 0
    tasks = [json.loads(line) for line in made.stdout.splitlines()]
    assert [task["kind"] for task in tasks] == ["legal", "legal", "next", "next"]
    (tmp_path / "tasks").write_text(made.stdout, encoding="utf-8")
    replies = [{"id": task["id"], "reply": json.dumps(task["answer"])} for task in tasks]
    replies[0]["reply"] = "none"
    lines = [*map(json.dumps, replies), json.dumps({"id": "unheard of", "reply": ""})]
    (tmp_path / "replies").write_text("\n".join(lines), encoding="utf-8")
    files = [str(tmp_path / "tasks"), str(tmp_path / "replies")]
    graded = run.invoke(cli, ["tasks", "grade", *files, "--json"])
    assert [(row["correct"], row["tasks"]) for row in json.loads(graded.stdout)] == [(1, 2), (2, 2)]
    assert "with an unknown task id" in graded.stderr
    table = run.invoke(cli, ["tasks", "grade", *files]).stdout.splitlines()
    assert table[1].split() == ["nim", "legal", "own", "1", "2"]
    assert json.loads(run.invoke(cli, ["tasks", "grade", *files, "--each"]).stdout.splitlines()[0])[
        "unreadable"
    ]
    (tmp_path / "broken").write_text("{", encoding="utf-8")
    refused = run.invoke(cli, ["tasks", "grade", files[0], str(tmp_path / "broken")])
    assert refused.exit_code == 2
    assert "broken:1: not JSON" in refused.stderr
