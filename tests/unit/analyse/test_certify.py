"""Verdicts as files that clingo, a SAT solver and SWI-Prolog accept, and refuse once they are damaged."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import corrupted
import numpy as np
import pytest
from click.testing import CliRunner

import herbrand
from herbrand.analyse import Budget, analyse
from herbrand.analyse.certification import certify, outside, verify_certificate
from herbrand.analyse.certification import folder as folder_module
from herbrand.analyse.certification.counters import count_by_clauses, count_by_rules, list_certain
from herbrand.analyse.certification.evidence import EvidenceFile, ForcedPlay, evidence_of
from herbrand.analyse.certification.folder import (
    CertifiedVerdict,
    CheckedFile,
    certify_verdict,
    check_files,
    write_certificate,
)
from herbrand.analyse.certification.outside import Checker, OutsideAnswer, checker_for, run_checker
from herbrand.analyse.exploration.certificates import (
    CounterCertificate,
    Policy,
    SpoiledBeliefs,
    UniformPolicy,
)
from herbrand.analyse.invariants.bounds import Bound
from herbrand.analyse.invariants.invariant import Invariant, RulesProgram
from herbrand.analyse.invariants.obligations import AS_CLAUSES
from herbrand.analyse.invariants.plain import Exhausted, KInduction
from herbrand.analyse.proofs.exchanged import refute_by_exchange
from herbrand.analyse.proofs.pairing import refute_by_pairs
from herbrand.analyse.proofs.restricted import refute_by_preferences
from herbrand.analyse.solving.certain import strong_by_search
from herbrand.analyse.solving.strategy import Claim, ReplayedChoice
from herbrand.analyse.verdict import Verdict, Witness
from herbrand.check.step_counter import StepCounter
from herbrand.cli.main import cli
from herbrand.errors import BudgetExceeded, HerbrandError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from click.testing import Result

    from herbrand.analyse.verdict import Certificate

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

FENCED = """
(role player) (init (step 0)) (init (at 1)) (init (fence 2 3)) (succ 0 1) (succ 1 2) (succ 2 3)
(<= (legal player (go ?y)) (true (at ?x)) (succ ?x ?y) (not (true (fence ?x ?y))))
(<= (legal player stay) (not (true (at 3))))
(<= (next (at ?y)) (does player (go ?y)))
(<= (next (at ?x)) (true (at ?x)) (does player stay))
(<= (next (fence ?x ?y)) (true (fence ?x ?y)))
(<= (next (step ?m)) (true (step ?n)) (succ ?n ?m) (true (fence 2 3)))
(<= terminal (true (step 3)))
(goal player 50)
"""
"""Without its fence no step is counted, and a place could be reached where nobody can move."""
NUMBERED = """
(role player) (init (at 1)) (0 1) (1 2) (legal player (1 go))
(<= (next (at 2)) (does player (1 go)) (true (at 1)) (1 2))
(<= terminal (true (at 2))) (<= (goal player 100) (true (at 2)) (0 1)) (<= (goal player 0) (true (at 1)))
"""
"""Numbers that are relations and functions, too."""
ONE_STEP = "(role robot) (legal robot go) (next done) (<= terminal (true done)) (goal robot 100)"
"""What is true next depends on nothing: also not on a step before the first state."""


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
        (ONE_STEP, "weak_winnability", "proved"),
        (NUMBERED, "weak_winnability", "proved"),
        (STUCK, "playability", "refuted"),
        (STUCK, "weak_winnability", "refuted"),
        (STUCK, "strong_winnability", "refuted"),
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
    by_clauses = [file for file in certified.files if file.name.endswith(".cnf")]
    assert len(certified.files) - len(by_clauses) >= 3
    assert len(by_clauses) == (4 if text == "connectFour" else 3)
    assert all(
        file.outcome.proof and (tmp_path / file.name).with_suffix(".drat").exists() for file in by_clauses
    )


@pytest.mark.parametrize(("name", "needed"), [("termination", "must"), ("playability", "always")])
def test_questions_about_one_step_know_fluents_that_never_change(
    tmp_path: Path, name: str, needed: str
) -> None:
    """What the network relies on is assumed by the questions over the rules, too, and asked of them."""
    pytest.importorskip("pysat")
    game = herbrand.loads(FENCED)
    verdict = analyse(
        game, [name], budget=Budget(20, states=1), check=False, values=False, remarks=False
    ).properties[name]
    assert verdict.answer == "proved"
    files = [file for file in written(tmp_path, game, name, verdict) if file.name.endswith(".lp")]
    assert len(files) == 3
    assert all(accepts(tmp_path, file) for file in files)
    for file in files:
        assert "\nnever(" in file.text
        (tmp_path / file.name).write_text(file.text.replace(f"\n{needed}(", "\nsometimes("))
    assert not all(accepts(tmp_path, file) for file in files)


@pytest.mark.parametrize(
    ("certificate", "count"),
    [
        (CounterCertificate(StepCounter(3, (), ())), 3),
        (Invariant("playability", (("(step 0)", "(step 1)", "(step 2)", "(step 3)"),)), 3),
        (KInduction("playability", 1, Invariant("")), 4),
        (Bound((), ("(step 0)",), Invariant("")), 4),
    ],
    ids=lambda one: getattr(one, "kind", ""),
)
def test_clauses_suffice_where_the_rules_cannot_be_grounded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, certificate: Certificate, count: int
) -> None:
    """Each question is asked in clauses then, and their certificate is verified as any other."""
    pytest.importorskip("pysat")
    game, name = herbrand.loads(COUNTED), "termination"
    verdict = Verdict("proved", "-", certificate=certificate)
    if getattr(certificate, "wanted", ""):
        name = "playability"

    def fails(*_: object) -> None:
        raise BudgetExceeded("no time", "while grounding")

    with monkeypatch.context() as patch:
        patch.setattr(RulesProgram, "possible", fails)
        written = write_certificate(game, name, verdict, tmp_path / "files", Budget(30))
    assert [file.program for file in written.files] == [written.files[0].program] * count
    assert not any(file.is_extra for file in written.files)
    is_right = not isinstance(certificate, Bound)  # the step changes once, but another step changes nothing
    assert written.accepted is is_right
    verified = verify_certificate(game, tmp_path / "files", budget=Budget(30))
    assert (verified.missing, verified.accepted) == ("", is_right)
    (tmp_path / "files" / "001.cnf").unlink()
    assert verify_certificate(game, tmp_path / "files").missing.endswith("cannot be read")


@pytest.mark.parametrize("count", [count_by_rules, count_by_clauses])
def test_a_step_counter_is_refused_unless_all_its_fluents_are_certain(count: Callable[..., bool]) -> None:
    """Initially, after each step, and where they end the game; both kinds of questions agree."""
    pytest.importorskip("pysat")
    game = herbrand.loads(COUNTED)
    known = list_certain(game, 5, 30)
    assert known is not None
    assert len(known) == 4
    assert count(game, known, 30)
    assert not count(game, known[:-1], 30)
    assert not count(game, known[1:], 30)
    for number, (must, can) in enumerate(known):
        claimed = [(must, can & must), (must | can, can)]
        for one in claimed:
            changed = [*known[:number], one, *known[number + 1 :]]
            same = all(np.array_equal(a, b) for a, b in zip(one, (must, can), strict=True))
            assert count(game, changed, 30) is same


def test_bounded_proofs_are_accepted_by_a_sat_solver(tmp_path: Path) -> None:
    """Clauses of several steps are unsatisfiable; a shorter bound is not."""
    pytest.importorskip("pysat")
    game = herbrand.load("ticTacToe")
    for certificate in (Exhausted("", 9), KInduction("playability", 1, Invariant(""))):
        files = written(tmp_path, game, "termination", Verdict("proved", "-", certificate=certificate))
        assert files or isinstance(certificate, KInduction)
        assert all(accepts(tmp_path, file) for file in files)
    assert not written(tmp_path, game, "termination", Verdict("proved", "-", certificate=Exhausted("", 8)))


@pytest.mark.parametrize(
    ("text", "wanted", "steps", "right"),
    [
        (COUNTED, "goals", 3, True),
        (COUNTED, "playability", 4, True),
        (COUNTED, "goals", 2, False),  # there are longer plays
        (STUCK, "win walker", 2, True),
        (STUCK, "playability", 2, False),  # after two steps
        (ONE_STEP, "win robot", 1, False),  # at the end of the only play
    ],
)
def test_all_depths_of_a_bounded_proof_are_one_question(
    tmp_path: Path, text: str, wanted: str, steps: int, right: bool
) -> None:
    """That some state is reached, or that a play is longer, has to be unsatisfiable."""
    pytest.importorskip("pysat")
    game, certificate = herbrand.loads(text), Exhausted(wanted, steps)
    assert certificate.check(game, 30) is right
    verdict = Verdict("proved", "-", certificate=certificate)
    assert len(written(tmp_path, game, "goals", verdict)) == right
    (file,) = evidence_of(game, "goals", verdict, 30, solve=False)
    (tmp_path / file.name).write_text(file.text)
    assert accepts(tmp_path, file) is right


CELL = ("(cell 1 1 x)", "(cell 1 1 o)", "(cell 1 1 b)")
CONTROL = ("(control xplayer)", "(control oplayer)")


@pytest.mark.parametrize(
    ("certificate", "right"),
    [
        (Invariant("", (CELL, CONTROL)), True),
        (Invariant("", (CELL[1:], CONTROL)), False),
        (Invariant("", (CONTROL,), ((*CELL, "(cell 1 2 b)"),)), False),
        (Invariant("", (CELL, CONTROL), (), ((("(cell 1 1 b)", True), ("(cell 1 1 x)", True)),)), False),
        (Bound((), ("(cell 1 1 b)",), Invariant("", (CELL, CONTROL))), False),
    ],
    ids=["a cell", "one content is missing", "two cells", "a clause", "one cell as a bound"],
)
def test_clingo_and_clauses_agree(tmp_path: Path, certificate: Invariant | Bound, right: bool) -> None:
    """The question about a step has one answer by the rules and by the clauses of the network."""
    game = herbrand.load("ticTacToe")
    verdict = Verdict("proved", "-", certificate=certificate)
    files = list(evidence_of(game, "termination", verdict, 30, solve=False))
    check_files(tmp_path, files, Budget(30), check=False)
    answers: dict[str, set[bool | None]] = {}
    for file in files:
        answers.setdefault(file.means.removesuffix(" (as clauses)"), set()).add(accepts(tmp_path, file))
    assert all(len(some) == 1 for some in answers.values())
    assert ({True} == set.union(*answers.values())) is right
    assert any(file.is_extra for file in files)


@pytest.mark.parametrize("said", ["s VERIFIED", "s NOT VERIFIED"])
def test_a_proof_that_is_not_verified_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: str
) -> None:
    """The answer of a SAT solver counts only with its proof, if there is a program to check that."""
    pytest.importorskip("pysat")
    (tmp_path / "drat-trim").write_text(f'#!/bin/sh\ntest -s "$1" && test -f "$2" && printf "\\r{said}\\n"\n')
    (tmp_path / "drat-trim").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    verdict = Verdict("proved", "-", certificate=Exhausted("", 3))
    (file,) = written(tmp_path, herbrand.loads(COUNTED), "termination", verdict)
    assert accepts(tmp_path, file) is (said == "s VERIFIED")


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
def test_damaged_certificates_are_refused() -> None:
    """Unless they still are a proof, which another method decides; `benchmarks/corrupted.py` tries more."""
    pytest.importorskip("pysat")
    results = list(corrupted.run(["recurring state", "invariant"], 6, seed=3))
    outcomes = {result["outcome"] for result in results}
    assert len(results) == 6
    assert outcomes <= set(corrupted.OUTCOMES) - {"WRONG"}
    assert {"refused by programs", "refused by comparison"} <= outcomes


@needs_prolog
def test_evidence_is_never_run_as_a_program(tmp_path: Path) -> None:
    """A file that prints the answer itself is refused, and so is a second claim."""
    game = herbrand.load("rockPaperScissors")
    files = written(tmp_path, game, "goals", analyse(game, ["goals"]).properties["goals"])
    assert accepts(tmp_path, files[0])
    for name, line in (
        ("evidence.pl", ":- initialization((writeln(accepted), halt(0)))."),
        ("claim.pl", "claim(all_states(playable))."),
    ):
        text = (tmp_path / name).read_text()
        (tmp_path / name).write_text(f"{text}{line}\n")
        assert accepts(tmp_path, files[0]) is False
        (tmp_path / name).write_text(text)
    assert accepts(tmp_path, files[0])


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


def test_a_role_that_does_not_decide_needs_no_answer() -> None:
    """But its file may not be refused."""
    game = herbrand.load("ticTacToe")
    line = tuple((f"(mark {x} 1)", "noop") if x != 2 else ("noop", f"(mark {x} 1)") for x in (1, 2, 3))
    lost = Verdict("proved", "-", witness=Witness(line, role="xplayer"))
    other = Verdict("refuted", "-", certificate=Exhausted("win oplayer", 9))
    verdict = Verdict("proved", "-", roles={"xplayer": lost, "oplayer": other})
    files = list(evidence_of(game, "strong_winnability", verdict, 30, solve=False))
    assert {file.name.partition("/")[0]: file.is_extra for file in files if file.program != "clingo"} == {
        "role-1": False, "role-2": True,
    }  # fmt: skip
    for needed, extra, accepted in (
        (True, None, True), (True, False, False), (None, True, None), (True, True, True),
    ):  # fmt: skip
        assert certified_by(("a", needed, False), ("b", extra, True)) is accepted


@pytest.mark.parametrize(
    ("first", "again", "accepted"), [(None, True, True), (None, None, None), (True, False, False)]
)
def test_a_question_that_is_asked_twice_needs_one_answer(
    first: bool | None, again: bool | None, accepted: bool | None
) -> None:
    """Of clingo or of a SAT solver, if neither refuses."""
    assert certified_by(("a", first, False), (f"a{AS_CLAUSES}", again, True)) is accepted


def certified_by(*answers: tuple[str, bool | None, bool]) -> bool | None:
    """Return whether a verdict is accepted whose files mean something, are accepted or not, and extra or not."""
    files = tuple(
        CheckedFile(f"{n}.lp", "", "", means, OutsideAnswer(accepted, ""), is_extra)
        for n, (means, accepted, is_extra) in enumerate(answers)
    )
    return CertifiedVerdict("", "goals", Verdict("proved", "-"), Path(), files).accepted


def test_a_proof_without_states_takes_the_place_of_one_that_is_too_large(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where SWI-Prolog could not explore all states in the time."""
    pytest.importorskip("pysat")
    game = herbrand.load("ticTacToe")
    verdict = analyse(game, ["playability"], check=False, values=False, remarks=False).properties[
        "playability"
    ]
    assert verdict.method == "exploration"
    monkeypatch.setattr(folder_module, "STEPS_PER_SECOND", 100)
    certified = certify_verdict(game, "playability", verdict, tmp_path, budget=Budget(20))
    assert certified.verdict.answer == "proved"
    assert certified.accepted
    assert {file.program for file in certified.files} & {"clingo", "cadical", "Glucose of python-sat"}


@needs_prolog
@pytest.mark.parametrize(
    ("goal", "said"),
    [
        ("numlist(1, 999999, List), writeln(List)", "memory"),
        pytest.param("repeat, fail", "in time", marks=pytest.mark.slow),
    ],
)
def test_a_program_without_an_answer_refuses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, goal: str, said: str
) -> None:
    """Out of memory, or out of processor time before the clock on the wall says so."""
    monkeypatch.setattr(outside, "WAITING", 100)
    checker = checker_for("prolog")
    assert isinstance(checker, Checker)
    small = replace(checker, command=(*checker.command, "--stack-limit=1m"))
    (tmp_path / "check.pl").write_text(f":- initialization(main, main).\nmain :- {goal}.\n")
    answer = run_checker(small, tmp_path, EvidenceFile("check.pl", "", "prolog", "", "accepted"), 0.9)
    assert answer.accepted is None
    assert said in answer.said


def test_a_folder_in_use_is_refused(tmp_path: Path) -> None:
    """Files of two certificates are never mixed."""
    (tmp_path / "other").write_text("")
    with pytest.raises(HerbrandError, match="not empty"):
        certify(herbrand.load("nim"), "termination", tmp_path)


def test_the_command_reports_each_file(tmp_path: Path, fits_schema: Callable[[Any, str], None]) -> None:
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
    for one in (value, json.loads((tmp_path / "json" / "certificate.json").read_text(encoding="utf-8"))):
        fits_schema(one, "certificate")


def test_a_certificate_of_others_is_checked_against_the_rules(tmp_path: Path) -> None:
    """It is accepted for the same rules, and refused for others and where its evidence is not valid."""
    (tmp_path / "counted.kif").write_text(COUNTED)
    (tmp_path / "longer.kif").write_text(COUNTED.replace("(succ 2 3)", "(succ 2 3) (succ 3 4)"))
    folder = str(tmp_path / "ends")
    arguments = ["--property", "termination", "-o", folder, "--no-check"]
    assert CliRunner().invoke(cli, ["certify", str(tmp_path / "counted.kif"), *arguments]).exit_code == 0

    def verify(name: str) -> Result:
        return CliRunner().invoke(cli, ["certify", str(tmp_path / name), "--verify", folder])

    result = verify("counted.kif")
    assert result.exit_code == 0, result.output
    assert "termination proved" in result.output
    result = verify("longer.kif")
    assert result.exit_code == 1
    assert "is not what the rules and the evidence give" in result.output
    certificate = tmp_path / "ends" / "certificate.json"
    certificate.write_text(certificate.read_text().replace('"bound": 3', '"bound": "3"'))
    result = verify("counted.kif")
    assert result.exit_code == 1
    assert "evidence is not valid" in result.output
    both = ["certify", "nim", "--verify", folder, "--property", "goals"]
    assert CliRunner().invoke(cli, both).exit_code == 2
    assert CliRunner().invoke(cli, ["certify", "nim", "--property", "goals"]).exit_code == 2


@needs_prolog
def test_strategies_of_a_solved_game_are_accepted(tmp_path: Path) -> None:
    """SWI-Prolog replays them against every reply, and refuses another move or a stronger claim."""
    file, folder = str(tmp_path / "notakto.npz"), tmp_path / "files"
    assert CliRunner().invoke(cli, ["solve", "notakto", "-o", file]).exit_code == 0
    result = CliRunner().invoke(cli, ["certify", "notakto", "--strategy", file, "-o", str(folder)])
    assert result.exit_code == 0, result.output
    assert "accepted" in result.output
    verify = ["certify", "notakto", "--verify", str(folder)]
    assert CliRunner().invoke(cli, verify).exit_code == 0
    evidence, certificate = folder / "role-1" / "evidence.pl", folder / "certificate.json"
    whole, claimed = evidence.read_text(), certificate.read_text()
    lines = whole.splitlines()
    moves = sorted({line.rpartition("], ")[2] for line in lines})
    evidence.write_text("\n".join([f"{lines[0].rpartition('], ')[0]}], {moves[-1]}", *lines[1:], ""]))
    assert CliRunner().invoke(cli, verify).exit_code == int(evidence.read_text() != whole)
    evidence.write_text(whole)
    certificate.write_text(claimed.replace('"holds": true', '"holds": false'))
    assert CliRunner().invoke(cli, verify).exit_code == 1


@needs_prolog
@pytest.mark.parametrize(
    ("claim", "chooses", "right"),
    [
        (Claim("first", 100, holds=True), True, True),
        (Claim("first", 100, holds=True), False, False),
        (Claim("first", 101, holds=False), False, True),
        (Claim("second", 1, holds=False), True, True),
        (Claim("second", 1, holds=False), False, False),
        (Claim("second", 0, holds=True), True, False),
    ],
)
def test_a_side_chooses_its_own_moves_only(tmp_path: Path, claim: Claim, chooses: bool, right: bool) -> None:
    """A claim that a role gets a goal value needs its own move, one that it does not the move of the others."""
    text = """
    (role first) (role second) (init (turn))
    (<= (legal first win) (true (turn))) (<= (legal first lose) (true (turn))) (legal second wait)
    (<= (next (won)) (does first win)) (<= (next (lost)) (does first lose))
    (<= terminal (not (true (turn))))
    (<= (goal first 100) (true (won))) (<= (goal first 0) (not (true (won))))
    (<= (goal second 0) (true (won))) (<= (goal second 100) (not (true (won))))
    """
    choices = (ReplayedChoice(0, ("turn",), "first", "win"),) if chooses else ()
    verdict = Verdict("proved", "-", certificate=ForcedPlay(claim, choices))
    file, *again = written(tmp_path, herbrand.loads(text), "strategy", verdict)
    assert accepts(tmp_path, file) is right
    assert len(again) == 3
    by_clauses = all(accepts(tmp_path, one) for one in again)
    assert by_clauses is right or claim.goal == 0  # clauses leave the moves of the other side open


@needs_prolog
def test_a_strategy_by_what_a_role_sees_is_accepted(tmp_path: Path) -> None:
    """Not with a plan that is missing or changed, nor where the role sees nothing."""
    game = herbrand.loads(corrupted.SEEN)
    certified = certify(game, "strong_winnability", tmp_path / "files", budget=Budget(40))
    assert (certified.verdict.answer, certified.accepted) == ("proved", True)
    assert verify_certificate(game, tmp_path / "files", budget=Budget(40)).accepted
    policy = certified.verdict.roles["seeker"].certificate
    assert isinstance(policy, UniformPolicy)
    assert len(policy.moves) == 3
    open_1, open_2 = (belief for belief, move in policy.moves.items() if move != "wait")
    exchanged = policy.moves | {open_1: policy.moves[open_2], open_2: policy.moves[open_1]}
    fewer = {belief: move for belief, move in policy.moves.items() if belief != open_1}
    blind = herbrand.loads(corrupted.SEEN.replace("(sees seeker (coin ?b))", "(sees random (coin ?b))"))
    for number, (rules, moves) in enumerate(((game, exchanged), (game, fewer), (blind, policy.moves))):
        verdict = Verdict("proved", "-", certificate=replace(policy, moves=moves))
        (file,) = written(tmp_path / str(number), rules, "strong_winnability", verdict)
        assert not accepts(tmp_path / str(number), file)


@needs_prolog
def test_what_a_role_can_be_shown_is_accepted_as_a_refutation(tmp_path: Path) -> None:
    """Not with a move that leads nowhere, or to what cannot be possible after it."""
    game = herbrand.load("montyHall")
    certified = certify(game, "strong_winnability", tmp_path / "files", budget=Budget(40))
    assert (certified.verdict.answer, certified.accepted) == ("refuted", True)
    assert verify_certificate(game, tmp_path / "files", budget=Budget(40)).accepted
    spoiled = certified.verdict.roles["candidate"].certificate
    assert isinstance(spoiled, SpoiledBeliefs)
    first, *others = spoiled.leads
    fewer = {lead: after for lead, after in spoiled.leads.items() if lead != first}
    for number, leads in enumerate((fewer, spoiled.leads | {first: spoiled.leads[others[-1]]})):
        verdict = Verdict("refuted", "-", certificate=replace(spoiled, leads=leads))
        (file,) = written(tmp_path / str(number), game, "strong_winnability", verdict)
        assert not accepts(tmp_path / str(number), file)


def require_accepted(game: herbrand.Game, found: Iterable[tuple[int, Verdict]], folder: Path) -> None:
    """Assert that other programs accept what refutes strong winnability, by role, when written and later."""
    roles = {game.roles[role]: verdict for role, verdict in sorted(dict(found).items())}
    verdict = Verdict("refuted", "-", roles=roles)
    certified = certify_verdict(game, "strong_winnability", verdict, folder, budget=Budget(40))
    assert certified.accepted
    assert verify_certificate(game, folder, budget=Budget(40)).accepted


@needs_prolog
def test_others_that_pass_are_accepted_as_a_refutation(tmp_path: Path) -> None:
    """Not if it is the role itself that passes, nor if a preferred move is more than a move."""
    game = herbrand.loads(corrupted.PASSES)
    folder = tmp_path / "files"
    require_accepted(game, refute_by_preferences(game, [0, 1], Budget(20)), folder)
    assert "preferred" in (folder / "role-1" / "restricted.kif").read_text()
    certificate = folder / "certificate.json"
    content = certificate.read_text()
    assert '"blue": [' in content
    for old, new in (
        ('"blue": [', '"red": ['),
        ('"stay"', '"(go 1)"'),
        ('"stay"', '"stay))(<= terminal (role red"'),
        ('"stay"', '"?move"'),
    ):
        certificate.write_text(content.replace(old, new))
        assert not verify_certificate(game, folder, budget=Budget(40)).accepted


@needs_prolog
def test_replies_in_pairs_are_accepted_as_a_refutation(tmp_path: Path) -> None:
    """Not with a reply to something else, nor if fluents or moves are more than that."""
    game = herbrand.loads(corrupted.in_rows(4, "12", "34"))
    folder = tmp_path / "files"
    require_accepted(game, refute_by_pairs(game, [0, 1], Budget(20)), folder)
    certificate = folder / "certificate.json"
    content = certificate.read_text()
    for old, new in (
        ('"replies": {', '"other": {'),
        ('"(has x 1)"', '"(has x 3)"'),
        ('"(has x 1)"', '"(has x 1)) (true (has x 2)"'),
        ('"(has x 1)"', '"?fluent"'),
        ('"(take 1)"', '"(take 3)"'),
    ):
        assert old in content
        certificate.write_text(content.replace(old, new))
        assert not verify_certificate(game, folder, budget=Budget(40)).accepted


def test_roles_that_change_places_are_accepted_as_a_refutation(tmp_path: Path) -> None:
    """Not with another role, another image, or names that are no names."""
    game = herbrand.loads(corrupted.RACE)
    folder = tmp_path / "files"
    require_accepted(game, refute_by_exchange(game, [0, 1], Budget(20, states=2)), folder)
    assert "(<= together (reward blue 100)" in (folder / "role-1" / "together.kif").read_text()
    certificate = folder / "certificate.json"
    content = certificate.read_text()
    assert '"(at red 1)": "(at blue 1)"' in content
    for old, new in (
        ('"other": "blue"', '"other": "red"'),
        ('"(at red 1)": "(at blue 1)"', '"(at red 1)": "(at blue 2)"'),
        ('"(at red 1)": "(at blue 1)"', '"(at red 1)": "(at blue 1)). (a"'),
        ('"(role red)": "(role blue)"', '"(role red)": "(role red)"'),
    ):
        certificate.write_text(content.replace(old, new))
        assert not verify_certificate(game, folder, budget=Budget(40)).accepted


def test_that_one_of_two_can_force_a_win_is_accepted(tmp_path: Path) -> None:
    """Not with another idle move, without a part, for a role, or for a game with percepts."""
    game, verdict = corrupted.ORIGINALS["determined game"][1]("strong_winnability")
    folder = tmp_path / "files"
    verdict = verdict.with_(roles=dict.fromkeys(game.roles, Verdict.unknown("not searched")))
    certified = certify_verdict(game, "strong_winnability", verdict, folder, budget=Budget(40))
    assert certified.accepted
    assert verify_certificate(game, folder, budget=Budget(40)).accepted
    rules = [path.parent.name for path in folder.rglob("settled.kif")]
    assert rules == ["ends"]
    seen = herbrand.loads(corrupted.TAKE + "(<= (sees red ?h) (true (heap ?h)))")
    assert not verify_certificate(seen, folder, budget=Budget(40)).accepted
    certificate = folder / "certificate.json"
    content = certificate.read_text()
    for old, new in (
        ('"red": "wait"', '"red": "(take 1)"'),
        ('"red": "wait"', '"red": "?move"'),
        ('"red": "wait"', '"green": "wait"'),
        ('"termination": {', '"ending": {'),
        ('"never": "playability"', '"never": ""'),
        ('"never": "goals"', '"never": "playability"'),
    ):
        assert old in content
        certificate.write_text(content.replace(old, new))
        assert not verify_certificate(game, folder, budget=Budget(40)).accepted
    changed = json.loads(content)
    changed["evidence"]["roles"] = {
        role: {**changed["evidence"], "roles": {}} if role == "red" else inner
        for role, inner in changed["evidence"]["roles"].items()
    }
    changed["evidence"]["certificate"] = None
    certificate.write_text(json.dumps(changed))
    assert not verify_certificate(game, folder, budget=Budget(40)).accepted


@needs_prolog
def test_replies_until_a_win_is_out_of_reach_are_accepted(tmp_path: Path) -> None:
    """Not if play ends earlier, if a condition is more than a condition, or about another role."""
    game = herbrand.loads(corrupted.TALLY)
    folder = tmp_path / "files"
    require_accepted(game, strong_by_search(game, [0, 1], 100, budget=Budget(20)).items(), folder)
    assert "(<= terminal (true (step 3)) (true (score 0)))" in (folder / "role-1/shorter.kif").read_text()
    certificate = folder / "certificate.json"
    content = certificate.read_text()
    for old, new in (
        ('"(score 0)"', '"(score 1)"'),
        ('"(score 0)"', '"(score 0)) (true (step 1)"'),
        ('"(score 0)"', '"?score"'),
        ('"role": "red"', '"role": "blue"'),
    ):
        assert old in content
        certificate.write_text(content.replace(old, new))
        assert not verify_certificate(game, folder, budget=Budget(40)).accepted


def test_the_clauses_of_a_strategy_refuse_what_is_wrong(tmp_path: Path) -> None:
    """A move that is missing, that is not legal, or that gives the win away."""
    game = herbrand.load("nim")
    verdict = analyse(game, ["strong_winnability"]).properties["strong_winnability"].roles["first"]
    policy = verdict.certificate
    assert isinstance(policy, Policy)
    start = frozenset(game.initial_state().facts)
    others = ("(take a 3)", "noop", None)
    accepted = []
    for move in (policy.moves[start], *others):
        moves = {facts: move if facts == start else old for facts, old in policy.moves.items()}
        changed = replace(policy, moves={facts: one for facts, one in moves.items() if one is not None})
        folder = tmp_path / str(move)
        files = written(folder, game, "strong_winnability", verdict.with_(certificate=changed))
        accepted.append(all(accepts(folder, file) for file in files if file.is_extra))
        assert sum(file.is_extra for file in files) == 3
    assert accepted == [True, False, False, False]


def test_an_undecided_property_has_no_certificate(tmp_path: Path) -> None:
    """The exit status says so, and no files are written."""
    arguments = ["certify", "chess", "--property", "termination", "--budget", "1", "-o", str(tmp_path / "x")]
    result = CliRunner().invoke(cli, arguments)
    assert result.exit_code in (1, 3), result.output
    assert not (tmp_path / "x").exists()
