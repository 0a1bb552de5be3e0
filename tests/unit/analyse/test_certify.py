"""Verdicts as files that clingo, a SAT solver and SWI-Prolog accept, and refuse once they are damaged."""

from __future__ import annotations

import json
import shutil
import subprocess
from random import Random
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

import herbrand
from herbrand.analyse import Budget
from herbrand.analyse.certification import certify
from herbrand.analyse.certification.evidence import evidence_of
from herbrand.analyse.certification.outside import Checker, checker_for, run_checker
from herbrand.analyse.invariants.invariant import Invariant
from herbrand.analyse.invariants.plain import Exhausted, KInduction
from herbrand.analyse.verdict import Verdict, Witness
from herbrand.cli.main import cli
from herbrand.errors import HerbrandError

if TYPE_CHECKING:
    from pathlib import Path

    from herbrand.analyse.certification.evidence import EvidenceFile

needs_prolog = pytest.mark.skipif(shutil.which("swipl") is None, reason="needs SWI-Prolog")

STUCK = """
(role walker) (succ 1 2) (succ 2 3) (init (at 1))
(<= (legal walker east) (true (at ?x)) (succ ?x ?y))
(<= (next (at ?y)) (does walker east) (true (at ?x)) (succ ?x ?y))
(<= terminal (true (at 9)))
(goal walker 0)
"""
COUNTED = """
(role player) (init (step 0)) (init (free a)) (init (free b))
(succ 0 1) (succ 1 2) (succ 2 3)
(<= (legal player (swap ?x)) (true (free ?x)))
(<= (legal player wait) (role player))
(<= (next (step ?m)) (true (step ?n)) (succ ?n ?m))
(<= (next (free ?x)) (true (free ?x)) (not (does player (swap ?x))))
(<= terminal (true (step 3)))
(goal player 50)
"""
ENDLESS = """
(role player) (init (lamp off))
(legal player press)
(<= (next (lamp on)) (true (lamp off)))
(<= (next (lamp off)) (true (lamp on)))
(<= terminal (true (lamp broken)))
(<= (goal player 100) (true (lamp broken)))
(<= (goal player 0) (not (true (lamp broken))))
"""


def written(folder: Path, game: herbrand.Game, name: str, verdict: Verdict) -> list[EvidenceFile]:
    """Write the files of a verdict."""
    files = list(evidence_of(game, name, verdict, 30))
    for file in files:
        for part, text in ((file.name, file.text), *file.beside):
            (folder / part).parent.mkdir(parents=True, exist_ok=True)
            (folder / part).write_text(text, encoding="utf-8")
    return files


def accepts(folder: Path, file: EvidenceFile) -> bool | None:
    """Return the answer of the program for a file."""
    checker = checker_for(file.program)
    assert isinstance(checker, Checker), checker
    return run_checker(checker, folder, file, 30).accepted


@pytest.mark.parametrize(
    ("text", "name", "answer"),
    [
        ("nim", "termination", "proved"),
        ("nim", "playability", "proved"),
        ("nim", "goals", "proved"),
        ("nim", "weak_winnability", "proved"),
        ("nim", "strong_winnability", "proved"),
        (STUCK, "playability", "refuted"),
        (STUCK, "weak_winnability", "refuted"),
        (ENDLESS, "termination", "refuted"),
    ],
)
@needs_prolog
def test_verdicts_on_small_games_are_accepted(tmp_path: Path, text: str, name: str, answer: str) -> None:
    """Plays, strategies, replies and claims about all states, by SWI-Prolog."""
    game = herbrand.loads(text) if "(" in text else herbrand.load(text)
    certified = certify(game, name, tmp_path / "files", budget=Budget(40))
    assert certified.verdict.answer == answer
    assert certified.accepted
    assert json.loads((tmp_path / "files" / "certificate.json").read_text())["verdict"] == answer


@pytest.mark.parametrize("text", ["connectFour", COUNTED], ids=["fluents that change once", "step counter"])
def test_bounds_are_accepted_by_clingo(tmp_path: Path, text: str) -> None:
    """Each question about a state and a step is unsatisfiable."""
    pytest.importorskip("pysat")
    game = herbrand.loads(text) if "(" in text else herbrand.load(text)
    certified = certify(game, "termination", tmp_path, budget=Budget(60, states=10_000))
    assert certified.verdict.answer == "proved"
    assert certified.accepted
    assert all(file.program == "clingo" for file in certified.files)
    assert len(certified.files) >= 3


def test_bounded_proofs_are_accepted_by_a_sat_solver(tmp_path: Path) -> None:
    """Clauses of several steps are unsatisfiable; a shorter bound is not."""
    pytest.importorskip("pysat")
    game = herbrand.load("ticTacToe")
    for certificate in (Exhausted("", 9), KInduction("playability", 1, Invariant(""))):
        files = written(tmp_path, game, "termination", Verdict("proved", "-", certificate=certificate))
        assert files or isinstance(certificate, KInduction)
        assert all(accepts(tmp_path, file) for file in files)
    assert not written(tmp_path, game, "termination", Verdict("proved", "-", certificate=Exhausted("", 8)))


@needs_prolog
def test_a_win_is_accepted_by_clingo_and_prolog_and_a_changed_one_by_neither(tmp_path: Path) -> None:
    """Both replay the play by the rules."""
    game = herbrand.load("ticTacToe")
    moves = [
        (f"(mark {x})", "noop") if step % 2 == 0 else ("noop", f"(mark {x})")
        for step, x in enumerate(("1 1", "2 1", "1 2", "2 2", "1 3"))
    ]
    for line, right in ((moves, True), (moves[:-1], False), ([*moves[:-1], ("(mark 3 3)", "noop")], False)):
        verdict = Verdict("proved", "-", witness=Witness(tuple(line), role="xplayer"))
        files = written(tmp_path, game, "weak_winnability", verdict)
        assert [file.program for file in files] == ["prolog", "clingo"]
        assert [accepts(tmp_path, file) for file in files] == [right, right]


@needs_prolog
def test_damaged_evidence_is_refused(tmp_path: Path) -> None:
    """Whatever entry of a strategy is lost or changed, the program notices."""
    game = herbrand.load("nim")
    certified = certify(game, "strong_winnability", tmp_path / "files", budget=Budget(40))
    assert certified.accepted
    folder = tmp_path / "files" / "role-1"
    whole = (folder / "evidence.pl").read_text()
    lines = whole.splitlines()
    chance = Random(1)
    file = next(file for file in written(tmp_path / "again", game, "", certified.verdict))
    for trial in range(6):
        damaged = list(lines)
        place = chance.randrange(2, len(damaged))
        if trial % 2:
            del damaged[place]
        else:
            damaged[place] = damaged[place].replace("take(a", "take(b").replace("noop", "take(c, 5)")
        (tmp_path / "again" / "role-1" / "evidence.pl").write_text("\n".join(damaged) + "\n")
        changed = damaged != lines
        assert accepts(tmp_path / "again", file) is not changed


@needs_prolog
def test_the_script_checks_without_herbrand(tmp_path: Path) -> None:
    """And refuses files with another digest."""
    if shutil.which("sha256sum") is None or shutil.which("clingo") is None:
        pytest.skip("needs sha256sum and clingo as programs")
    certify(herbrand.load("ticTacToe"), "weak_winnability", tmp_path / "files", budget=Budget(40))
    command = ["sh", str(tmp_path / "files" / "check.sh")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("accepted") == 4
    evidence = tmp_path / "files" / "role-1" / "evidence.pl"
    evidence.write_text(evidence.read_text().replace("step(1", "step(2"))
    assert subprocess.run(command, capture_output=True, check=False).returncode == 1


def test_a_role_without_evidence_leaves_the_verdict_without_a_certificate() -> None:
    """A win of one role does not certify that every role can win."""
    game = herbrand.load("ticTacToe")
    win = Verdict("proved", "-", witness=Witness((("(mark 1 1)", "noop"),), role="xplayer"))
    bare = Verdict("proved", "-")
    with pytest.raises(HerbrandError, match="oplayer"):
        list(
            evidence_of(
                game, "weak_winnability", Verdict("proved", "-", roles={"xplayer": win, "oplayer": bare}), 9
            )
        )
    refuted = Verdict("refuted", "-")
    verdict = Verdict("proved", "-", roles={"xplayer": win, "oplayer": refuted})
    assert list(evidence_of(game, "strong_winnability", verdict, 9))


def test_a_folder_in_use_is_refused(tmp_path: Path) -> None:
    """Files of two certificates are never mixed."""
    (tmp_path / "other").write_text("")
    with pytest.raises(HerbrandError, match="not empty"):
        certify(herbrand.load("nim"), "termination", tmp_path)


def test_the_command_reports_each_file(tmp_path: Path) -> None:
    """With the program that checked it, as text and as JSON."""
    (tmp_path / "counted.kif").write_text(COUNTED)
    arguments = ["certify", str(tmp_path / "counted.kif"), "--property", "termination", "-o"]
    result = CliRunner().invoke(cli, [*arguments, str(tmp_path / "text")])
    assert result.exit_code == 0, result.output
    assert "accepted" in result.output
    value = json.loads(CliRunner().invoke(cli, [*arguments, str(tmp_path / "json"), "--json"]).stdout)
    assert value["verdict"] == "proved"
    assert value["checker"]["program"] == "clingo"
    assert value["checker"]["accepted"] is True


def test_an_undecided_property_has_no_certificate(tmp_path: Path) -> None:
    """The exit status says so, and no files are written."""
    arguments = ["certify", "chess", "--property", "termination", "--budget", "1", "-o", str(tmp_path / "x")]
    result = CliRunner().invoke(cli, arguments)
    assert result.exit_code in (1, 3), result.output
    assert not (tmp_path / "x").exists()
