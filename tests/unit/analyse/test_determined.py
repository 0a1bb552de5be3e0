"""Strong winnability of games for two of which one or the other wins, without knowing which."""

from __future__ import annotations

from dataclasses import replace

import corrupted
import pytest
from click.testing import CliRunner

import herbrand
from herbrand.analyse.budget import Budget
from herbrand.analyse.exploration.by_states import strong_of
from herbrand.analyse.exploration.explore import explore
from herbrand.analyse.proofs.determined import DeterminedGame, prove_determined
from herbrand.analyse.proofs.prove import _Run, analyse
from herbrand.analyse.verdict import Verdict
from herbrand.cli.main import cli
from herbrand.errors import InternalError

DRAWN = (
    corrupted.TAKE.replace(
        "(role ?r) (not (true (turn ?r)))", "(not (true (turn ?r))) (not (true ones)) (role ?r)"
    )
    .replace("(init (heap 7))", "(init (heap 14)) (init ones)")
    .replace("(succ 6 7)", " ".join(f"(succ {n} {n + 1})" for n in range(6, 14)))
    + "(<= (next ones) (true ones) (not two)) (<= two (does ?r (take 2)))"
)
"""Nobody wins if fourteen things are taken one by one, which hardly happens at random."""


def determined(game: herbrand.Game) -> Verdict | None:
    """Return what is shown of a game in some seconds."""
    return prove_determined(game, Budget(20))


@pytest.mark.parametrize("start", range(2, 8))
def test_one_of_two_can_force_a_win(start: int) -> None:
    """Whichever it is: with three and six things, and no others, it is who comes second."""
    game = herbrand.loads(corrupted.TAKE.replace("(init (heap 7))", f"(init (heap {start}))"))
    verdict = determined(game)
    assert verdict is not None
    assert verdict.reason.startswith("red or blue wins at each end")
    certificate = verdict.certificate
    assert isinstance(certificate, DeterminedGame)
    assert certificate.idle == {"red": "wait", "blue": "wait"}
    assert certificate.check(game, 30)
    answers = [strong_of(explore(game.expander), role, 100).answer for role in range(2)]
    assert answers == (["refuted", "proved"] if start % 3 == 0 else ["proved", "refuted"])


@pytest.mark.parametrize(
    "rules",
    [
        corrupted.TAKE.replace("goal ?r 100", "goal ?r 50"),
        corrupted.TAKE + "(<= (goal ?r 50) (role ?r) (true (turn red)))",
        corrupted.TAKE.replace("(<= (legal ?r wait)", "(<= (legal ?r stay) (role ?r))(<= (legal ?r wait)"),
        corrupted.TAKE + "(<= (legal ?r hold) (true (turn ?r))) (<= (next (heap ?n)) (does ?r hold) (true (heap ?n)))",
        corrupted.TAKE.replace("(succ 3 4)", ""),
        corrupted.TAKE + "(<= (sees red ?h) (true (heap ?h)))",
        corrupted.TAKE.replace("blue", "random"),
        corrupted.TAKE + "(role green) (legal green wait) (goal green 0)",
        DRAWN,
        corrupted.RACE,
    ],
    ids=["draws", "two values", "both choose", "endless", "stuck", "percepts", "chance", "three",
         "rare draws", "at once"],
)  # fmt: skip
def test_nothing_is_said_of_other_games(rules: str) -> None:
    """Of those that need not end, in which nobody wins, or not one role at a time chooses."""
    assert determined(herbrand.loads(rules)) is None


def test_a_certificate_is_about_one_game() -> None:
    """It is refused with other idle moves, and for a game in which nobody wins at an end."""
    game = herbrand.loads(corrupted.TAKE)
    verdict = determined(game)
    assert verdict is not None
    certificate = verdict.certificate
    assert isinstance(certificate, DeterminedGame)
    for idle in ({"red": "wait"}, {"red": "wait", "blue": "(take 1)"}, {"red": "wait", "green": "wait"}, {}):
        assert not replace(certificate, idle=idle).check(game, 30)
    assert not certificate.check(herbrand.loads(corrupted.TAKE.replace("goal ?r 100", "goal ?r 90")), 30)
    assert not certificate.check(herbrand.loads(DRAWN), 30)
    assert not certificate.check(herbrand.loads(corrupted.TAKE + "(<= (sees red ?h) (true (heap ?h)))"), 30)


def test_an_analysis_finds_it() -> None:
    """Without listing states, and without asking for termination; the command says why."""
    arguments = ["analyse", "breakthrough", "--property", "strong_winnability", "--states", "1000"]
    result = CliRunner().invoke(cli, [*arguments, "--no-values", "--budget", "10"])
    assert "strongly winnable  yes  (determined game, checked by the rules)" in result.output
    assert "white or black wins at each end, and they take turns" in result.output
    assert "terminates" not in result.output


def test_a_search_goes_on_for_who_it_is() -> None:
    """Within a share of the time; then the verdict has a strategy."""
    game = herbrand.loads(corrupted.TAKE)
    analysis = analyse(game, ["strong_winnability"], budget=Budget(30, states=3), values=False)
    verdict = analysis.properties["strong_winnability"]
    assert [inner.answer for inner in verdict.roles.values()] == ["proved", "refuted"]
    assert verdict.certificate is not None
    assert verdict.certificate.kind == "strategy"


def test_who_is_left_can_force_a_win() -> None:
    """If the other cannot; the proof is about both, and a claim that neither can is an internal error."""
    game = herbrand.loads(corrupted.TAKE)
    run = _Run(game, ("strong_winnability",), Budget(30), 100, 0.4, None)
    run.determined = determined(game)
    refuted = Verdict("refuted", "-", "")
    run._add_strong({0: refuted})  # the others are not found in this order
    verdict = run.verdicts["strong_winnability"]
    assert (verdict.answer, verdict.certificate) == ("proved", run.determined.certificate)
    assert [inner.answer for inner in verdict.roles.values()] == ["refuted", "proved"]
    assert verdict.roles["blue"].reason == "red cannot force a win, and one of the two can"
    run.verdicts.clear()
    with pytest.raises(InternalError):
        run._add_strong({0: refuted, 1: refuted})
