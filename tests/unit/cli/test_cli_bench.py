"""`herbrand bench` and `herbrand ground`: what they report, and how they end."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

import herbrand
from herbrand import core, games
from herbrand.cli.main import cli
from herbrand.errors import BudgetExceeded
from herbrand.ground import ground

ROOT = Path(__file__).resolve().parent.parent.parent.parent

KEYS = {
    "game", "engine", "lanes", "nodes", "ready_s", "cpu_s", "transitions", "playouts", "transitions_per_s",
    "playouts_per_s",
}  # fmt: skip

FAULTY = "(role r) (<= (legal r ?x) (true ?y))"

STUCK = """
(role r) (init (step 0)) (succ 0 1) (succ 1 2)
(<= (legal r go) (true (step 0)))
(<= (next (step ?y)) (true (step ?x)) (succ ?x ?y))
(<= terminal (true (step 2)))
(goal r 100)
"""


def run(*arguments: str) -> Result:
    """Run the program and catch what it prints."""
    return CliRunner().invoke(cli, list(arguments), catch_exceptions=False)


def rows(*arguments: str) -> list[dict[str, Any]]:
    """Measure and return the rows."""
    outcome = run("bench", *arguments, "--json")
    assert outcome.exit_code == 0, outcome.stderr
    value: list[dict[str, Any]] = json.loads(outcome.stdout)
    return value


@pytest.mark.parametrize(("engine", "played_by"), [("auto", "network"), ("rules", "rules")])
def test_bench_reports_all_that_it_promises(engine: str, played_by: str) -> None:
    """The keys are there, and the numbers fit together."""
    (row,) = rows("ticTacToe", "--engine", engine, "--seconds", "0.05")
    assert KEYS | {"compile_s"} <= row.keys()
    assert (row["game"], row["engine"]) == ("ticTacToe", played_by)
    assert row["lanes"] == 1 if played_by == "rules" else row["lanes"] == 512
    assert (row["nodes"] is None) == (played_by == "rules")
    assert row["ready_s"] > 0
    assert row["cpu_s"] > 0
    assert 0 < 5 * row["playouts"] <= row["transitions"] + 9 * row["lanes"]
    assert row["transitions"] <= 9 * (row["playouts"] + row["lanes"])
    for what in ("transitions", "playouts"):
        assert row[f"{what}_per_s"] == pytest.approx(row[what] / row["cpu_s"], rel=0.01)


def test_bench_measures_many_games(tmp_path: Path) -> None:
    """Files and bundled games, in the order given."""
    copy = tmp_path / "mine.kif"
    copy.write_text(games.text("nim"), encoding="utf-8")
    found = rows(str(copy), "nim", "--seconds", "0.02")
    assert [(row["game"], row["lanes"]) for row in found] == [("mine", 512), ("nim", 512)]
    assert found[0]["nodes"] == found[1]["nodes"] > 0


def test_bench_shows_a_table() -> None:
    """Without --json there is a line for each game under a heading."""
    outcome = run("bench", "nim", "--seconds", "0.02")
    heading, line = outcome.stdout.splitlines()
    assert heading.split() == [
        "game",
        "engine",
        "lanes",
        "nodes",
        "ready",
        "s",
        "steps/s",
        "playouts/s",
        "of",
        "peak",
    ]
    assert line.startswith("nim   network    512 ")


def test_bench_measures_the_others_when_one_cannot_be(tmp_path: Path) -> None:
    """A game with errors is named, the exit status is 1, the others are measured."""
    (tmp_path / "faulty.kif").write_text(FAULTY, encoding="utf-8")
    (tmp_path / "stuck.kif").write_text(STUCK, encoding="utf-8")
    files = [str(tmp_path / name) for name in ("faulty.kif", "stuck.kif")]
    outcome = run("bench", *files, "nim", "--seconds", "0.02", "--json")
    assert outcome.exit_code == 1
    rows = json.loads(outcome.stdout)
    assert [row["game"] for row in rows] == ["stuck", "nim"]
    assert rows[0]["stuck"] == rows[0]["playouts"] > 0 == rows[1]["stuck"]
    assert "faulty.kif: " in outcome.stderr
    assert rows[0]["stuck_in"] == "r has no legal move in the state: (step 1)"


def test_bench_falls_back_to_the_rules_and_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where there is no network, `auto` evaluates the rules, `network` exits with 3."""

    def refuse(*arguments: object, **options: object) -> None:
        raise BudgetExceeded("1 second", "while grounding")

    monkeypatch.setattr("herbrand.ground.ground", refuse)
    (row,) = rows("nim", "--seconds", "0.02")
    assert (row["engine"], row["lanes"], row["nodes"]) == ("rules", 1, None)
    assert "1 second (while grounding)" in row["note"]
    outcome = run("bench", "nim", "--engine", "network", "--seconds", "0.02")
    assert outcome.exit_code == 3
    assert "over budget: 1 second" in outcome.stderr


@pytest.mark.parametrize(
    "arguments",
    [[], ["nim", "--code", "llvm"], ["nim", "--seconds", "0"], ["nim", "--engine", "naive"], ["nosuchgame"]],
)
def test_bench_refuses_wrong_use(arguments: list[str]) -> None:
    """Files exist, numbers are positive, code is what there is."""
    assert run("bench", *arguments).exit_code == 2


def test_code_can_be_done_without() -> None:
    """Walked or with machine code, the report says which, and how much of the processor is made use of."""
    (walked,) = rows("connectFour", "--seconds", "0.05", "--code", "walked")
    assert walked["code"] == "walked"
    (found,) = rows("connectFour", "--seconds", "0.05")
    assert found["code"] == ("walked" if core.why_no_code() else "straight")
    assert 0 < walked["efficiency"] < 1


def test_ground_lists_the_program() -> None:
    """What is printed is the ground program, and `--json` has it line by line."""
    text = run("ground", "nim").stdout
    assert "(init (control first))" in text.splitlines()
    program = str(ground(herbrand.load("nim").rules))
    assert text == f"{program}\n"
    value = json.loads(run("ground", "nim", "--json").stdout)
    assert value["rules"] == program.splitlines()


def test_ground_counts() -> None:
    """--stats tells the sizes of the ground program and of the network."""
    value = json.loads(run("ground", "nim", "--stats", "--json").stdout)
    program = ground(herbrand.load("nim").rules)
    network = herbrand.load("nim").network
    assert value["game"] == "nim"
    assert value["ground"]["rules"] == program.rules
    assert value["network"] == network.statistics()
    shown = run("ground", "nim", "--stats").stdout
    assert re.search(rf"^  gates +{network.gates}$", shown, re.MULTILINE)


def test_ground_without_breaking_up_rules() -> None:
    """--no-shrink grounds the rules as they are, without atoms that the sheet does not have."""
    plain, broken = (
        json.loads(run("ground", "nim", "--stats", "--json", *extra).stdout)["ground"]["atoms"]
        for extra in (["--no-shrink"], [])
    )
    assert plain < broken


def test_ground_keeps_to_its_budget(tmp_path: Path) -> None:
    """Too little time or memory ends with 3, a game with errors with 1."""
    outcome = run("ground", "chess", "--seconds", "0.01")
    assert outcome.exit_code == 3
    assert "over budget: 0.01 seconds" in outcome.stderr
    (tmp_path / "faulty.kif").write_text(FAULTY, encoding="utf-8")
    outcome = run("ground", str(tmp_path / "faulty.kif"))
    assert outcome.exit_code == 1
    assert "unsafe-variable" in outcome.stderr


def test_simulate_names_its_engine() -> None:
    """The report says which engine played, and standard error why when there was a choice."""
    many = run("simulate", "nim", "-n", "500", "--seed", "1")
    assert "engine: network" in many.stdout
    assert many.stderr == ""
    few = run("simulate", "nim", "-n", "3", "--seed", "1")
    assert "engine: rules" in few.stdout
    assert few.stderr.startswith("note: ")


def benchmark(name: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a script of benchmarks/."""
    return subprocess.run(
        [sys.executable, str(ROOT / "benchmarks" / name), *arguments],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        env={"PYTHONPATH": str(Path(herbrand.__file__).parents[1])},
    )


def test_runs_are_compared(tmp_path: Path) -> None:
    """compare.py writes the ratio of each game that both runs have, and can fail on it."""
    before, after = tmp_path / "before.json", tmp_path / "after.json"
    row = {"game": "nim", "engine": "network", "transitions_per_s": 100.0}
    before.write_text(json.dumps([row, {**row, "game": "chess"}]), encoding="utf-8")
    after.write_text(json.dumps({"rows": [{**row, "transitions_per_s": 50.0}]}), encoding="utf-8")
    outcome = benchmark("compare.py", str(before), str(after))
    assert outcome.returncode == 0, outcome.stderr
    assert re.search(r"nim +100 +50 +0\.50  network", outcome.stdout)
    assert "only before: chess" in outcome.stdout
    assert benchmark("compare.py", str(before), str(after), "--fail-below", "0.9").returncode == 1
    assert benchmark("compare.py", str(before), str(tmp_path / "none.json")).returncode == 2


@pytest.mark.skipif(not hasattr(__import__("os"), "fork"), reason="processes are not forked there")
def test_a_folder_of_sheets_is_covered(tmp_path: Path) -> None:
    """rulesheets.py measures each sheet in its own process and writes a table of numbers."""
    (tmp_path / "stuck.kif").write_text(STUCK, encoding="utf-8")
    (tmp_path / "faulty.kif").write_text(FAULTY, encoding="utf-8")
    (tmp_path / "nim.kif").write_text(games.text("nim"), encoding="utf-8")
    result, table = tmp_path / "result.json", tmp_path / "table.md"
    files = ["--json", str(result), "--markdown", str(table)]
    outcome = benchmark("rulesheets.py", str(tmp_path), "--seconds", "0.02", *files)
    assert outcome.returncode == 0, outcome.stderr
    found = {row["game"]: row for row in json.loads(result.read_text(encoding="utf-8"))["rows"]}
    assert found["nim"]["engine"] == "network"
    assert found["nim"]["ground_rules"] > 0
    assert found["nim"]["peak_mb"] > 0
    assert all(found["nim"][key]["steps_per_s"] > 0 for key in ("batch", "single", "rules"))
    assert found["faulty"]["engine"] is None
    assert "r has no legal move" in found["stuck"]["batch"]["failed"]
    shown = table.read_text(encoding="utf-8")
    assert "| nim | network | " in shown
    assert "| stuck | some games get stuck: r has no legal move" in shown
    again = benchmark("rulesheets.py", str(tmp_path), "--seconds", "0.02", "--retry", *files)
    assert again.stderr.splitlines()[0].startswith("faulty: ")
    assert "nim" not in again.stderr
