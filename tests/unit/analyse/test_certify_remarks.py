"""Remarks as files that clingo and SWI-Prolog accept, and refuse once the remarks are wrong."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import herbrand
from herbrand.analyse import Budget
from herbrand.analyse.certification import certify_remarks, verify_certificate
from herbrand.analyse.certification.folder import CertifiedRemark, CertifiedVerdict
from herbrand.analyse.certification.outside import Checker, checker_for, run_checker
from herbrand.analyse.certification.remarks import (
    SHOWN_BY,
    Excluded,
    Explored,
    Measured,
    Permuted,
    RemarkProof,
    Strategies,
)
from herbrand.analyse.exploration.explore import explore
from herbrand.analyse.invariants.invariant import Invariant, RulesProgram
from herbrand.analyse.proofs.claims import RemarkClaim, claim_of, read_claim
from herbrand.analyse.proofs.observation import KINDS, Observation
from herbrand.analyse.proofs.observe import observe
from herbrand.analyse.proofs.plays import lengths
from herbrand.analyse.solving.strategy import Claim
from herbrand.analyse.verdict import Verdict
from herbrand.cli.main import cli

needs_prolog = pytest.mark.skipif(shutil.which("swipl") is None, reason="needs SWI-Prolog")

GAME = """(role a) (role b) (init (at 1)) (init lamp) (succ 1 2) (succ 2 3)
(<= (legal ?r wait) (role ?r)) (<= (legal a jump) (true (at 1))) (<= (legal a fly) (true wings))
(<= (next (at ?y)) (true (at ?x)) (succ ?x ?y)) (<= (next lamp) (true lamp))
(<= (next jumped) (does a jump)) (<= (next jumped) (true jumped) (true lamp))
(<= (next wings) (true (at 1)) (true (at 2)) (does a jump))
(<= terminal (true (at 3)))
(<= (goal a 100) (true jumped)) (<= (goal a 0) (not (true jumped)))
(<= (goal b 0) (true jumped)) (<= (goal b 70) (not (true lamp))) (<= (goal b 100) (not (true jumped)))"""
TRAP = """(role r) (init (at 1)) (to 1 2) (to 2 3) (to 2 4) (to 4 5) (to 5 4)
(<= (legal r (go ?y)) (true (at ?x)) (to ?x ?y)) (<= (next (at ?y)) (does r (go ?y)))
(<= terminal (true (at 3))) (<= (goal r 100) (true (at 3))) (<= (goal r 0) (not (true (at 3))))"""
LOST = """(role r) (init (at 1)) (to 1 2) (to 1 3) (to 2 4) (to 3 5)
(<= (legal r (go ?y)) (true (at ?x)) (to ?x ?y)) (<= (next (at ?y)) (does r (go ?y)))
(<= terminal (true (at 4))) (<= terminal (true (at 5)))
(<= (goal r 100) (true (at 4))) (<= (goal r 0) (not (true (at 4))))"""


def claims_of(game: herbrand.Game) -> list[RemarkClaim]:
    """The remarks on a game that can be certified, but those on best play."""
    claims = [claim_of(one) for one in observe(game, explore(game.expander))]
    return [claim for claim in claims if isinstance(claim, RemarkClaim)]


def answers(folder: Path, game: herbrand.Game, proof: RemarkProof) -> list[bool | None]:
    """The answers of the programs for the files of a proof."""
    found = []
    for file in proof.files(game, 30, solve=False):
        for part, text in ((file.name, file.text), *file.beside):
            (folder / part).parent.mkdir(parents=True, exist_ok=True)
            (folder / part).write_text(text, encoding="utf-8")
        checker = checker_for(file.program)
        assert isinstance(checker, Checker), checker
        found.append(run_checker(checker, folder, file, 30).accepted)
    return found


@needs_prolog
@pytest.mark.parametrize("text", [GAME, TRAP, LOST], ids=["idle rules", "trap", "lost"])
def test_remarks_on_all_states_are_accepted(tmp_path: Path, text: str) -> None:
    """SWI-Prolog explores the game once, and finds each of them true."""
    game = herbrand.loads(text)
    claims = tuple(claim for claim in claims_of(game) if claim.kind in SHOWN_BY[Explored.kind])
    states = len(explore(game.expander).states)
    assert all(answers(tmp_path, game, Explored(claims, states)))
    if text == GAME:
        missing = {"dead-end", "turn-taking"}
        assert {claim.kind for claim in claims} >= SHOWN_BY[Explored.kind] - missing
    else:
        assert "dead-end" in {claim.kind for claim in claims}
    assert answers(tmp_path, game, Explored(claims[:1], states + 1))[0] is False


WRONG = [
    (GAME, {"kind": "fluent-never-true", "items": ["jumped"]}),
    (GAME, {"kind": "fluent-always-true", "items": ["jumped"]}),
    (GAME, {"kind": "latched-fluent", "items": ["(at 2)"]}),
    (GAME, {"kind": "move-never-legal", "role": "a", "items": ["fly", "jump"]}),
    (GAME, {"kind": "role-never-chooses", "role": "a"}),
    (GAME, {"kind": "goal-never-reached", "role": "b", "values": [70, 100]}),
    (GAME, {"kind": "constant-sum", "sum": 170}),
    (GAME, {"kind": "rule-never-fires", "rule": 10}),
    (GAME, {"kind": "condition-always-true", "rule": 15, "condition": 0}),
    (GAME, {"kind": "shortest-play", "steps": 1, "line": []}),
    (GAME, {"kind": "longest-play", "steps": 3, "line": []}),
    (GAME, {"kind": "first-move-advantage", "role": "a", "advantage": 0.5, "value": None}),
    (GAME, {"kind": "first-move-advantage", "role": "b", "advantage": 0, "value": None}),
    (TRAP, {"kind": "dead-end", "states": 2, "of": 4, "aim": None, "line": [["(go 2)"]]}),
    (TRAP, {"kind": "dead-end", "states": 1, "of": 4, "aim": None, "line": [["(go 2)"], ["(go 4)"]]}),
    (LOST, {"kind": "dead-end", "states": 1, "of": 3, "aim": {"role": "r", "goal": 0}, "line": [["(go 3)"]]}),
]


@needs_prolog
@pytest.mark.parametrize(("text", "value"), WRONG, ids=[str(value["kind"]) for _, value in WRONG])
def test_wrong_remarks_on_all_states_are_refused(tmp_path: Path, text: str, value: dict[str, Any]) -> None:
    """Each kind, with the files that a forger would write."""
    game = herbrand.loads(text)
    proof = Explored((read_claim(value),), len(explore(game.expander).states))
    assert False in answers(tmp_path, game, proof)


def test_an_invariant_excludes_conditions_by_the_rules(tmp_path: Path) -> None:
    """clingo finds no state and step in which a condition holds, or one."""
    game = herbrand.loads(GAME)
    invariant = Invariant("", (("(at 1)", "(at 2)", "(at 3)"),), (), ((("lamp", True),),))
    right = [claim for claim in claims_of(game) if claim.kind in SHOWN_BY[Excluded.kind]]
    right = [claim for claim in right if "wings" not in claim.text(game) and claim.kind != "move-never-legal"]
    assert {claim.kind for claim in right} >= {
        "rule-never-fires",
        "condition-always-true",
        "role-never-chooses",
    }
    assert all(answers(tmp_path, game, Excluded(tuple(right), invariant)))
    kept = RulesProgram(game, 30)  # what is cached about the game does not answer for others
    assert not kept.possible([":- not sees(0,0)."])
    for value in (WRONG[4][1], WRONG[7][1], {"kind": "move-never-legal", "role": "a", "items": ["fly"]}):
        assert answers(tmp_path, game, Excluded((read_claim(value),), invariant)) == [True, True, False]


@needs_prolog
def test_lengths_of_plays_are_bounded_by_clingo(tmp_path: Path) -> None:
    """A play of one step and none that is shorter; one of three and none that is longer."""
    game = herbrand.loads(TRAP.replace("(to 5 4)", "(to 1 3) (to 5 3)"))
    found = [claim_of(one) for one in lengths(explore(game.expander))]
    plays = {claim.kind: claim for claim in found if isinstance(claim, RemarkClaim)}
    for kind, other in (("shortest-play", "longest-play"), ("longest-play", "shortest-play")):
        assert answers(tmp_path, game, Measured((plays[kind],))) == [True, True, True]
        swapped = RemarkClaim(kind, plays[other].about)
        assert answers(tmp_path, game, Measured((swapped,))) == [True, True, False]


@needs_prolog
def test_a_counter_bounds_long_plays(tmp_path: Path) -> None:
    """As long as it counts, and not one step less; it says nothing of the shortest play."""
    text = """(role r) (init (step 0)) (succ 0 1) (succ 1 2) (succ 2 3) (legal r go)
        (<= (next (step ?m)) (true (step ?n)) (succ ?n ?m)) (<= terminal (true (step 3))) (goal r 50)"""
    game = herbrand.loads(text)
    line = [["go"]] * 3
    claim = read_claim({"kind": "longest-play", "steps": 3, "line": line})
    assert set(answers(tmp_path, game, Measured((claim,), counts_steps=True))) == {True}
    certified = certify_remarks(game, tmp_path / "files", "longest-play", budget=Budget(20), check=False)
    assert "proof-2/counter/001.lp" in certified.remarks[0].files
    longer = herbrand.loads(
        text.replace("(succ 2 3)", "(succ 2 3) (succ 3 4)").replace("(step 3)", "(step 4)")
    )
    assert answers(tmp_path, longer, Measured((claim,), counts_steps=True)) == []  # and so no evidence
    short = read_claim({"kind": "shortest-play", "steps": 3, "line": line})
    with pytest.raises(ValueError, match="longest"):
        answers(tmp_path, game, Measured((short,), counts_steps=True))


def test_a_permutation_of_names_is_checked_on_the_rules(tmp_path: Path) -> None:
    """In rock, paper, scissors left and right are alike, but not with one of two hands exchanged."""
    game = herbrand.load("rockPaperScissors")
    (claim,) = [claim for claim in claims_of(game) if claim.kind == "symmetric-roles"]
    assert all(answers(tmp_path, game, Permuted((claim,))))
    exchange = next(one for one in claim.about["generators"] if "(role left)" in one)
    for damaged in (
        {name: image for name, image in exchange.items() if "rounds_won" not in name},
        exchange | {"(does left (show rock))": "(does right (show paper))"},
        exchange
        | {
            "(does left (show rock))": "(does right (show paper))",
            "(does left (show paper))": "(does right (show rock))",
        },
    ):
        forged = read_claim({**claim.as_json(), "generators": [damaged]})
        assert answers(tmp_path, game, Permuted((forged,))) == [False]
    with pytest.raises(ValueError, match="do not exchange"):
        answers(tmp_path, game, Permuted((read_claim({**claim.as_json(), "generators": [{}]}),)))


def test_values_need_strategies_of_both_sides() -> None:
    """What the first role forces, and what the others hold it to, for each role."""
    game = herbrand.load("nim")
    value = {
        "kind": "first-move-advantage",
        "role": "first",
        "advantage": 100,
        "value": {"first": 100, "second": 0},
    }
    forced = (Claim("first", 100, True), Claim("second", 50, False))

    def files(changes: dict[str, Any], claims: tuple[Claim, ...]) -> list[object]:
        from herbrand.analyse.certification.evidence import ForcedPlay

        proof = Strategies((read_claim({**value, **changes}),), tuple(ForcedPlay(one, ()) for one in claims))
        return list(proof.files(game, 30, solve=False))

    assert files({}, forced)
    for changes, claims in (
        ({}, forced[:1]),
        ({}, (Claim("first", 50, True), forced[1])),
        ({"advantage": 50}, forced),
        ({"role": "second", "advantage": -100}, forced),
        ({"value": {"first": 100}}, forced),
    ):
        with pytest.raises(ValueError, match="value"):
            files(changes, claims)


@needs_prolog
def test_certificates_of_remarks_are_verified(tmp_path: Path) -> None:
    """By the rules of the reader: other remarks, other rules and changed files are refused."""
    game = herbrand.loads(GAME, name="idle")
    folder = tmp_path / "idle"
    certified = certify_remarks(game, folder, "rule-never-fires", budget=Budget(30), check=False)
    assert [one.kind for one in certified.remarks] == ["rule-never-fires"] * 3
    verified = verify_certificate(game, folder)
    assert verified.accepted
    assert [one.text for one in verified.remarks] == [one.text for one in certified.remarks]
    assert all(one.accepted for one in verified.remarks)
    other = herbrand.loads(GAME.replace("(init (at 1))", "(init (at 1)) (init wings)"))
    assert verify_certificate(other, folder).missing
    path = folder / "certificate.json"
    content = json.loads(path.read_text())
    for change in ({"rule": 10}, {"rule": 1000}, {"rule": True}, {"kind": "shortest-play"}):
        forged = json.loads(path.read_text())
        next(iter(forged["evidence"]["roles"].values()))["certificate"]["claims"][0].update(change)
        path.write_text(json.dumps(forged))
        assert verify_certificate(game, folder).missing
        path.write_text(json.dumps(content))


@needs_prolog
def test_the_command_lists_remarks_with_their_proofs(tmp_path: Path) -> None:
    """Those that cannot have a certificate with the reason."""
    sheet = tmp_path / "trap.kif"
    sheet.write_text(TRAP)
    command = ["certify", str(sheet), "--remarks", "all", "-o", str(tmp_path / "files"), "--no-check"]
    done = CliRunner().invoke(cli, command)
    assert done.exit_code == 0, done.output
    assert "proof-1 dead-end: in 2 of 4 states no play ends any more" in " ".join(done.output.split())
    assert "an average that no other program computes" in done.output
    done = CliRunner().invoke(cli, [*command[:3], "dead-end", "-o", str(tmp_path / "more"), "--json"])
    assert done.exit_code == 0, done.output
    (remark,) = json.loads(done.stdout)["remarks"]
    assert remark["accepted"] is True
    assert remark["files"] == ["proof-1/check.pl", "proof-1/way-1/check.pl"]
    done = CliRunner().invoke(cli, [*command[:3], "rule-never-fires", "-o", str(tmp_path / "none")])
    assert done.exit_code == 1
    assert "there are no such remarks" in done.output


def test_a_remark_without_files_is_not_certified() -> None:
    """Unless it says why; one that is, does not stand for others."""
    proved = CertifiedRemark("constant-sum", "", accepted=True, files=("proof-1/check.pl",))
    reason = CertifiedRemark("mobility", "", None, missing="an average")
    forged = CertifiedRemark("dead-end", "", None)

    def accepted(*remarks: CertifiedRemark) -> bool | None:
        return CertifiedVerdict("", "remarks", Verdict("proved", ""), Path(), (), remarks=remarks).accepted

    assert accepted(proved, reason) is True
    assert accepted(proved, forged) is None
    assert accepted(reason) is None


def test_every_kind_has_a_certificate_or_a_reason() -> None:
    """None is forgotten."""
    certified = frozenset().union(*SHOWN_BY.values())
    for kind in KINDS:
        sample = Observation(kind, "", {"by": "best play", "choosers": [1, 2]})
        assert (kind in certified) != bool(sample.uncertified)
    assert Observation("first-move-advantage", "", {"by": "random games"}).uncertified
