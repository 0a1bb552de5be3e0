"""Deciding properties without listing states: what is proved holds by the rules, what is refuted replays."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

import herbrand
from herbrand import BudgetExceeded, GameError

pytest.importorskip("pysat", reason="python-sat is not installed")

from hypothesis import HealthCheck, given, settings
from strategies import games, resized

from herbrand.analyse.budget import Budget
from herbrand.analyse.exploration.explore import explore
from herbrand.analyse.exploration.replay import holds
from herbrand.analyse.exploration.walks import find_cycle, gets, is_stuck, play, sample_lines
from herbrand.analyse.invariants import sat
from herbrand.analyse.invariants.bounds import Bound, ProgressMeasure
from herbrand.analyse.invariants.frames import System
from herbrand.analyse.invariants.groups import candidate_groups, find_groups, find_more
from herbrand.analyse.invariants.induction import equivalences, inductive_part
from herbrand.analyse.invariants.invariant import Invariant
from herbrand.analyse.invariants.latches import find_bound
from herbrand.analyse.invariants.plain import Exhausted, KInduction
from herbrand.analyse.invariants.ranking import find_weights
from herbrand.analyse.proofs import symbolic
from herbrand.analyse.proofs.bmc import BoundedSearch, find_lines
from herbrand.analyse.proofs.pdr import Outcome, run_pdr, tool
from herbrand.analyse.proofs.symbolic import PROPERTIES, prove
from herbrand.analyse.solving.distance import Distance
from herbrand.analyse.solving.guided import guided_line
from herbrand.analyse.verdict import Witness
from herbrand.errors import MissingExtra

if TYPE_CHECKING:
    from herbrand.analyse.invariants.induction import Clause
    from herbrand.analyse.verdict import Verdict

needs_tool = pytest.mark.skipif(tool() is None, reason="berkeley-abc is not installed")

DEAD_END = """
(role a) (role b) (init (n 0)) (succ 0 1) (succ 1 2) (succ 2 3)
(<= (legal a stay) (true (n ?x))) (<= (legal a go) (true (n ?x)))
(<= (legal b wait) (not (true (n 2))))
(<= (next (n ?y)) (true (n ?x)) (does a go) (succ ?x ?y))
(<= (next (n ?x)) (true (n ?x)) (does a stay))
(<= (goal a 100) (true (n 3))) (<= (goal ?r 0) (role ?r) (not (true (n 3))))
(<= terminal (true (n 3)))
"""
COUNTED = """
(role a) (init (step 0)) (init lamp) (succ 0 1) (succ 1 2) (succ 2 3)
(legal a on) (legal a off)
(<= (next lamp) (does a on))
(<= (next (step ?y)) (true (step ?x)) (succ ?x ?y))
(<= terminal (true (step 3)))
(<= (goal a 50) (true lamp)) (<= (goal a 30) (not (true lamp))) (<= (goal a 100) (true lamp) (not (true lamp)))
"""
WALL = """
(role r) (init (at a)) (init wall) (legal r go) (legal r stay)
(<= (next wall) (true wall)) (<= (next (at b)) (true (at a)) (does r go)) (<= (next (at a)) (true (at a)) (does r stay))
(<= (next (at b)) (true (at b)) (true wall)) (<= terminal (true (at b))) (goal r 100)
"""
LATER = """
(role a) (init (p 0)) (init (q 0)) (bit 0) (bit 1)
(<= (legal a (set ?x)) (bit ?x) (not (true ended)))
(<= (next (p ?x)) (does a (set ?x)))
(<= (next (q ?x)) (true (p ?x)))
(<= (next ended) (true (p 1)) (true (q 1)))
(<= (goal a 100) (true ended)) (<= (goal a 0) (not (true ended)))
(<= terminal (true ended))
"""
PARITY = """
(role a) (role b) (init (p 0)) (init (q 0)) (init (r 0)) (bit 0) (bit 1)
(xor 0 0 0) (xor 0 1 1) (xor 1 0 1) (xor 1 1 0)
(<= fits (true (p ?x)) (true (q ?y)) (true (r ?z)) (xor ?x ?y ?z))
(<= (legal ?role (set ?x)) (role ?role) (bit ?x) fits)
(<= (next (p ?x)) (does a (set ?x))) (<= (next (q ?x)) (does b (set ?x)))
(<= (next (r ?z)) (does a (set ?x)) (does b (set ?y)) (xor ?x ?y ?z))
(<= terminal (true (p 2))) (goal a 100) (goal b 100)
"""
"""What lets everybody move is neither one fluent given another nor a sum, but each step brings it about."""


@pytest.fixture(autouse=True)
def little_random_play(monkeypatch: pytest.MonkeyPatch) -> None:
    """Random play, which these games need little of, goes on for seconds where there is nothing to be found."""
    monkeypatch.setattr("herbrand.analyse.proofs.symbolic._WALKING", 0.2)


def decide(game: herbrand.Game, *wanted: str, seconds: float = 20) -> dict[str, Verdict]:
    """Prove, and check all that comes with the verdicts by the rules."""
    found = prove(game, wanted or PROPERTIES, Budget(seconds=seconds))
    claims = {
        "termination": "cycle", "playability": "stuck", "goals": "no goal", "weak_winnability": "win",
    }  # fmt: skip
    for name, whole in found.items():
        for verdict in (whole, *whole.roles.values()):
            if verdict.witness is not None:
                assert holds(game, claims[name], verdict.witness)
            elif verdict.certificate is not None:
                assert verdict.certificate.check(game, 60)
    return found


def test_tic_tac_toe_is_decided() -> None:
    """All four properties, with the lengths of the shortest wins."""
    found = decide(herbrand.load("ticTacToe"))
    assert {name: verdict.answer for name, verdict in found.items()} == dict.fromkeys(PROPERTIES, "proved")
    roles = found["weak_winnability"].roles
    assert {role: v.witness and len(v.witness.moves) for role, v in roles.items()} == {
        "xplayer": 5,
        "oplayer": 6,
    }
    assert all(verdict.witness and verdict.witness.shortest for verdict in roles.values())
    assert 9 <= found["termination"].details["bound"] <= 18


@pytest.mark.slow
def test_breakthrough_is_playable() -> None:
    """Proved in a moment, though nobody could list its positions."""
    game = herbrand.load("breakthrough")
    assert game.network.gates > 0
    verdict = decide(game, "playability")["playability"]
    assert verdict.answer == "proved"
    assert verdict.seconds < 10


@pytest.mark.slow
def test_a_dead_end_is_found_with_a_shortest_line() -> None:
    """The role, the depth, and a line that the rules replay; the game can also go on for ever."""
    found = decide(herbrand.loads(DEAD_END), seconds=4)
    playable = found["playability"]
    assert playable.answer == "refuted"
    assert playable.witness == Witness((("go", "wait"), ("go", "wait")), "b", shortest=True)
    assert "b has no legal move after 2 steps" in playable.reason
    assert found["weak_winnability"].answer in ("refuted", "unknown")
    assert found["termination"].answer == "refuted"


@pytest.mark.slow
def test_bounded_plays_are_searched_to_their_end() -> None:
    """What never happens in any of finitely many steps is proved by that; the bound is exact."""
    game = herbrand.loads(COUNTED)
    system = System(game.network)
    lines = find_lines(system, {"win": lambda frame: frame.wins(0)}, time.monotonic() + 20)
    assert lines.longest == 3
    assert not lines.lines
    assert Exhausted("win a", 3).check(game, 30)
    assert not Exhausted("win a", 2).check(game, 30)  # there are longer plays
    assert Exhausted("", 4).check(game, 30)
    found = decide(game)
    assert found["weak_winnability"].answer == "refuted"
    assert found["termination"].answer == "proved"
    assert found["goals"].answer == "proved"


def test_k_induction_certificates() -> None:
    """A step of two states proves what one state does not; the check tells right from wrong."""
    game = herbrand.loads(LATER)
    groups = Invariant("", exactly=(("(p 0)", "(p 1)"), ("(q 0)", "(q 1)")))
    assert groups.check(game, 30)
    assert KInduction("goals", 1, groups).check(game, 30)
    assert not KInduction("win a", 3, groups).check(game, 30)
    found = decide(game, "playability", "weak_winnability", "goals")
    assert found["playability"].answer == "proved"
    assert found["weak_winnability"].details == {}
    assert found["weak_winnability"].roles["a"].details["depth"] == 3


def test_one_step_is_asked_before_long_searches(monkeypatch: pytest.MonkeyPatch) -> None:
    """What one step shows needs neither the model checker nor all lines of play up to some length."""
    monkeypatch.setattr(symbolic, "run_pdr", lambda *_, **__: Outcome())
    monkeypatch.setattr(symbolic, "find_lines", lambda *_, **__: BoundedSearch())
    verdict = decide(herbrand.loads(PARITY), "playability", seconds=60)["playability"]
    assert (verdict.answer, verdict.method) == ("proved", "k-induction")


@pytest.mark.parametrize(
    "wrong",
    [
        Invariant("playability"),
        Invariant("playability", exactly=(("(cell 1 1 b)", "(cell 1 2 b)"),)),
        Invariant("playability", never_two=(("(cell 1 1 b)", "(cell 1 1 x)", "(control xplayer)"),)),
        Invariant("playability", clauses=((("(control xplayer)", True),),)),
        Invariant("win xplayer", never_two=(("(control xplayer)", "(control oplayer)"),)),
    ],
)
def test_wrong_invariants_are_refused(wrong: Invariant) -> None:
    """An invariant that fails at first, after a step, or does not exclude the states is no certificate."""
    assert not wrong.check(herbrand.load("ticTacToe"), 60)


def test_wrong_bounds_are_refused() -> None:
    """Fluents that go back, or do not change with each step, bound nothing."""
    game = herbrand.load("ticTacToe")
    nothing = Invariant("")
    assert not Bound(("(control xplayer)",), (), nothing).check(game, 60)
    assert not Bound((), ("(cell 1 1 b)",), nothing).check(game, 60)


def test_progress_of_pawns_is_found() -> None:
    """A pawn further on weighs more: breakthrough ends; the rules agree, and not with other weights."""
    game = herbrand.loads(resized("breakthrough", 4, 6))
    found = decide(game, "termination", seconds=60)["termination"]
    assert found.answer == "proved"
    certificate = found.certificate
    assert isinstance(certificate, ProgressMeasure)
    assert certificate.check(game, 60)
    weights = dict(certificate.weights)
    pawns = [weights.get(f"(cell d {row} white)", 0) for row in range(1, 7)]
    assert pawns == sorted(pawns)
    assert found.details["bound"] >= 2 * 8 * 3
    turned = tuple((name, -weight) for name, weight in certificate.weights)
    assert not ProgressMeasure(turned, certificate.invariant).check(game, 60)
    assert not ProgressMeasure(certificate.weights, Invariant("")).check(
        game, 60
    )  # needs one thing in each cell


def test_a_step_that_was_not_seen_teaches() -> None:
    """Weights that suit what was seen are repaired where a SAT solver finds a step against them."""
    game = herbrand.load("nim")
    system, expander = System(game.network), game.expander
    groups = find_groups(System(game.network), time.monotonic() + 60)
    seen = play(expander, time.monotonic() + 30)
    assert seen.cycle is None
    few = seen.changes[:1]
    weights = find_weights(expander, system, groups, few, time.monotonic() + 60)
    assert weights is not None
    full = np.zeros(len(system.fluent_texts), np.int64)
    full[list(weights.by_place)] = list(weights.by_place.values())
    assert weights.within == 1
    assert (seen.changes @ full > 0).all()
    with pytest.raises(BudgetExceeded):
        find_weights(expander, system, groups, seen.changes, time.monotonic())


PASSING = """
(role white) (role black) (init (control white)) (place 1) (place 2) (place 3)
(mine white 1) (mine white 2) (mine black 2) (mine black 3)
(<= (filled ?p) (true (stone ?p ?r)))
(<= (can ?r) (mine ?r ?p) (not (filled ?p)))
(<= (legal ?r (put ?p)) (true (control ?r)) (mine ?r ?p) (not (filled ?p)))
(<= (legal ?r pass) (role ?r) (not (true (control ?r))))
(<= (legal ?r pass) (true (control ?r)) (not (can ?r)))
(<= (next (stone ?p ?r)) (does ?r (put ?p)))
(near 1 2) (near 2 1) (near 2 3) (near 3 2)
(<= (turned ?p ?r) (does ?r (put ?q)) (near ?p ?q))
(<= (some ?p) (turned ?p ?r))
(<= (next (stone ?p ?r)) (filled ?p) (turned ?p ?r))
(<= (next (stone ?p ?r)) (true (stone ?p ?r)) (not (some ?p)))
(other white black) (other black white)
(<= (next (control ?s)) (true (control ?r)) (other ?r ?s))
(<= terminal (filled 1) (filled 2) (filled 3))
(<= (goal ?r 50) (role ?r))
"""
FALLING = """
(role a) (succ 0 1) (succ 1 2) (succ 2 3) (init (cell 0 floor)) (init (cell 1 empty)) (init (cell 2 empty))
(init (cell 3 empty))
(<= (filled ?y) (true (cell ?y ?what)) (distinct ?what empty))
(<= (legal a drop) (true (cell 3 empty)))
(<= (next (cell ?y stone)) (does a drop) (true (cell ?y empty)) (succ ?x ?y) (filled ?x))
(<= (next (cell ?y ?what)) (true (cell ?y ?what)) (distinct ?what empty))
(<= (next (cell ?z empty)) (true (cell ?y empty)) (succ ?y ?z))
(<= terminal (not (true (cell 3 empty)))) (goal a 100)
"""


def test_where_roles_may_pass_the_sum_grows_every_few_steps() -> None:
    """Stones next to a new one take its colour, but there are never fewer; and never do both roles pass."""
    game = herbrand.loads(PASSING)
    found = decide(game, "termination")["termination"]
    assert (found.answer, found.method) == ("proved", "measure of progress")
    certificate = found.certificate
    assert isinstance(certificate, ProgressMeasure)
    assert certificate.within == 2
    assert {name.split()[0] for name, _ in certificate.weights} == {"(stone"}
    assert certificate.check(game, 60)
    assert not replace(certificate, within=1).check(game, 60)  # a pass changes no stone
    free = herbrand.loads(PASSING.replace("(<= (legal ?r pass) (true (control ?r)) (not (can ?r)))",
                                          "(<= (legal ?r pass) (true (control ?r)))"))  # fmt: skip
    assert not certificate.check(free, 60)


@pytest.mark.slow
def test_what_one_fluent_implies_is_found() -> None:
    """A stone lies on stones: only then is a square filled for good."""
    game = herbrand.loads(FALLING)
    system = System(game.network)
    states = explore(game.expander).states
    seen = game.expander.bits(states).astype(np.bool_)
    until = time.monotonic() + 60
    groups = find_more(system, find_groups(system, until, seen), until, seen)
    text = system.fluent_texts
    given = {(text[g.condition], text[g.fluents[0]]) for g in groups if g.condition >= 0}
    assert ("(cell 1 empty)", "(cell 2 empty)") in given
    assert ("(cell 2 stone)", "(cell 1 stone)") in given
    assert ("(cell 2 empty)", "(cell 1 empty)") not in given
    assert decide(game, "playability")["playability"].answer == "proved"


def test_functions_that_take_turns_are_one_group() -> None:
    """Of `(places ?)` and `(turns ?)` one is always true, though neither function alone has that."""
    text = """(role a) (role b) (init (places a)) (legal a go) (legal b go) (goal a 50) (goal b 50)
    (<= (next (turns ?r)) (true (places ?r)))
    (<= (next (places b)) (true (turns a))) (<= (next (places a)) (true (turns b)))
    (<= terminal (true (places a)) (true (places b)))"""
    game = herbrand.loads(text)
    system = System(game.network)
    seen = game.expander.bits(explore(game.expander).states).astype(np.bool_)
    found = find_more(system, [], time.monotonic() + 60, seen)
    assert any(group.some and len(group.fluents) == 4 for group in found)


def test_a_state_that_comes_back_is_met() -> None:
    """Random play runs into a circle, and the rules replay it; where no step ever comes back it meets none."""
    game = herbrand.loads(DEAD_END)
    seen = play(game.expander, time.monotonic() + 60)
    assert seen.cycle is not None
    assert holds(game, "cycle", Witness(seen.cycle, loop=seen.loop))


def test_a_state_comes_back_where_each_role_keeps_to_an_order_of_its_moves() -> None:
    """A trail of ten lamps out of twenty hardly ever is the same twice in random play, but the same lamp is."""
    lamps = "".join(f"(lamp {k})" for k in range(20))
    fading = "".join(f"(fades {k + 1} {k})" for k in range(1, 10))
    game = herbrand.loads(
        f"(role a) {lamps} {fading} (init (lit 1 10)) (<= (legal a (press ?x)) (lamp ?x))"
        "(<= (next (lit ?x 10)) (does a (press ?x))) (<= (next (lit ?x ?n)) (true (lit ?x ?m)) (fades ?m ?n))"
        "(<= terminal (true (lit 1 1)) (true (lit 2 1))) (goal a 100)"
    )
    until = time.monotonic() + 60
    assert play(game.expander, until).cycle is None
    found = find_cycle(game.expander, until)
    assert found is not None
    line, loop = found
    assert holds(game, "cycle", Witness(line, loop=loop))
    assert decide(game, "termination")["termination"].answer == "refuted"
    assert find_cycle(herbrand.load("ticTacToe").expander, until) is None


def test_lines_met_at_random_replay() -> None:
    """A win for each role of tic-tac-toe, which the rules confirm; a state that nobody meets is not found."""
    game = herbrand.load("ticTacToe")
    wanted = {role: gets(r, 100) for r, role in enumerate(game.roles)}
    found = sample_lines(game.expander, wanted, time.monotonic() + 60)
    assert all(holds(game, "win", Witness(line, role)) for role, line in found.items())
    assert set(found) == set(game.roles)
    assert sample_lines(game.expander, {"stuck": is_stuck}, time.monotonic() + 0.1) == {}
    dead = herbrand.loads(DEAD_END)
    line = sample_lines(dead.expander, {"stuck": is_stuck}, time.monotonic() + 60)["stuck"]
    assert holds(dead, "stuck", Witness(line, "b"))


def test_groups_are_proved() -> None:
    """Each cell of tic-tac-toe has one content, one role is in control, and nothing wrong is left."""
    network = herbrand.load("ticTacToe").network
    text = [network.terms.text(f) for f in network.fluents.tolist()]
    found = find_groups(System(network), time.monotonic() + 60)
    exact = {frozenset(text[f] for f in group.fluents) for group in found if group.some}
    assert frozenset({"(control xplayer)", "(control oplayer)"}) in exact
    assert all(frozenset(f"(cell {x} {y} {c})" for c in "bxo") in exact for x in "123" for y in "123")
    assert len(found) < len(candidate_groups(network))
    with pytest.raises(BudgetExceeded):
        find_groups(System(network), time.monotonic())


def test_what_never_changes_is_a_group_of_one() -> None:
    """A wall that no rule removes stays; states that were met spare the solver what fails in them."""
    game = herbrand.loads(WALL)
    states = play(game.expander, time.monotonic() + 30).states
    text = System(game.network).fluent_texts
    found = find_groups(System(game.network), time.monotonic() + 60, states=states)
    assert [[text[f] for f in group.fluents] for group in found if group.some] == [
        ["(at a)", "(at b)"],
        ["wall"],
    ]
    assert find_groups(System(game.network), time.monotonic() + 60)[:2] == found[:2]


@needs_tool
def test_the_model_checker_gives_clauses_and_lines() -> None:
    """What it proves is an invariant by the rules, what it finds is a line of play."""
    game = herbrand.load("ticTacToe")
    network = game.network
    text = [network.terms.text(f) for f in network.fluents.tolist()]
    outcome = run_pdr(network, "playability", 30)
    assert outcome.never
    assert outcome.clauses is not None
    clauses = tuple(tuple((text[f], value) for f, value in clause) for clause in outcome.clauses)
    assert Invariant("playability", clauses=clauses).check(game, 60)
    assert run_pdr(network, "playability", 30, merge=True).never
    line = run_pdr(network, "win oplayer", 30).line
    assert line is not None
    assert holds(game, "win", Witness(line, "oplayer"))
    stuck = run_pdr(herbrand.loads(DEAD_END).network, "playability", 30, merge=True).line
    assert stuck == (("go", "wait"), ("go", "wait"))


TWINS = """
(role r) (init (a 0)) (init (b 0)) (init (c 0)) (other 0 1) (other 1 0)
(<= (legal r flip) (true (a ?x)) (true (b ?x))) (<= (legal r wait) (true (a ?x)) (true (b ?x)))
(<= (next (a ?y)) (true (a ?x)) (other ?x ?y) (does r flip)) (<= (next (a ?x)) (true (a ?x)) (does r wait))
(<= (next (b ?y)) (true (b ?x)) (other ?x ?y) (does r flip)) (<= (next (b ?x)) (true (b ?x)) (does r wait))
(<= (next (c ?x)) (true (b ?x)))
(<= terminal (true (a 2))) (goal r 0)
"""


def test_clauses_over_merged_signals_get_what_they_lack() -> None:
    """Equal fluents are found in random plays, and what is no invariant of them is dropped."""
    game = herbrand.loads(TWINS)
    system = System(game.network)
    states = play(game.expander, time.monotonic() + 1).states
    fluent = {text: place for place, text in enumerate(system.fluent_texts)}
    hasty = ((fluent["(a 0)"], True),)
    same = equivalences(states)
    assert hasty not in same

    def part(*clauses: Clause) -> tuple[Clause, ...] | None:
        return inductive_part(
            System(game.network), (), clauses, lambda frame: frame.stuck(0), time.monotonic() + 9
        )

    assert part() is None
    assert part(hasty) is None
    found = part(hasty, *same)
    assert found is not None
    assert set(found) <= set(same)
    assert {place for clause in found for place, _ in clause} >= {fluent["(a 0)"], fluent["(b 0)"]}
    clauses = tuple(tuple((system.fluent_texts[f], value) for f, value in clause) for clause in found)
    assert Invariant("playability", clauses=clauses).check(game, 30)


def test_without_time_nothing_is_claimed() -> None:
    """A spent budget gives unknown verdicts, not errors or guesses."""
    game = herbrand.game.load("reversi")
    assert game.network.gates > 0
    found = prove(game, PROPERTIES, Budget(seconds=0))
    assert {name: verdict.answer for name, verdict in found.items()} == dict.fromkeys(PROPERTIES, "unknown")


def test_wrong_questions_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Unknown properties, games with errors, and no solver: each is said."""
    game = herbrand.load("ticTacToe")
    with pytest.raises(ValueError, match="no property 'fun'"):
        prove(game, ["fun"], Budget(seconds=1))
    with pytest.raises(GameError):
        prove(herbrand.loads("(role a) (<= (legal a ?x) (not (p ?x)))"), ["playability"], Budget(seconds=1))
    monkeypatch.setitem(__import__("sys").modules, "pysat", None)
    with pytest.raises(MissingExtra, match="analyse"):
        sat.library()
    with pytest.raises(MissingExtra, match="analyse"):
        prove(game, ["playability"], Budget(seconds=1))


@pytest.mark.slow
@settings(max_examples=4, derandomize=True, deadline=None, suppress_health_check=list(HealthCheck))
@given(games())
def test_made_games_are_decided_as_by_exploration(text: str) -> None:
    """On small random games the verdicts are those of listing all states."""
    from herbrand.analyse.proofs.prove import analyse

    game = herbrand.loads(text)
    symbolic = prove(game, ("playability", "goals", "weak_winnability"), Budget(seconds=2))
    listed = analyse(game, symbolic, symbolic=False, check=False, budget=Budget(seconds=5)).properties
    for name, verdict in symbolic.items():
        if verdict.is_known and listed[name].is_known:
            assert verdict.answer == listed[name].answer, (name, verdict, listed[name])


PASSES = """
(role a) (cell 1) (cell 2) (cell 3) (init (empty 1)) (init (empty 2)) (init (empty 3))
(<= (legal a (fill ?x)) (true (empty ?x))) (<= (legal a pass) (not (true passed)))
(<= (next (empty ?x)) (true (empty ?x)) (not (does a (fill ?x)))) (<= (next passed) (does a pass))
(<= some (true (empty ?x))) (<= terminal (not some)) (goal a 100)
"""


def test_a_fluent_that_changes_within_two_steps_bounds_plays() -> None:
    """Where one may pass, though not twice, plays are at most twice as long as there are cells to fill."""
    game = herbrand.loads(PASSES)
    system = System(game.network)
    deadline = time.monotonic() + 20
    groups = find_groups(System(game.network), deadline)
    found = find_bound(system, groups, deadline)
    assert found is not None
    assert (found.within, len(found.falling), found.rising) == (2, 3, ())
    seen = play(game.expander, deadline)
    assert find_bound(system, [], deadline, seen.changes) == found
    assert found.steps == 7  # pass, fill, pass, fill, pass, fill
    assert found.check(game, 20)
    assert not Bound((), found.falling, Invariant(""), 1).check(game, 20)
    assert not Bound((), found.falling[:2], Invariant(""), 2).check(game, 20)
    assert decide(game, "termination")["termination"].answer == "proved"


def _distance(game: herbrand.Game, wanted: str) -> Distance:
    """The distance to a win of the first role, or to a state in which somebody is stuck."""
    system = System(game.network)
    frame = system.any_state()
    literal = frame.wins(0) if wanted == "win" else system.circuit.any_of([frame.stuck(0), frame.stuck(1)])
    return Distance(system.circuit, frame.state, [literal])


def test_distance_is_zero_exactly_in_the_states_looked_for() -> None:
    """In all states of tic-tac-toe the distance to a win is 0 where the first role has won, and only there."""
    game = herbrand.load("ticTacToe")
    space = explore(game.expander)
    far = _distance(game, "win")(space.states)
    assert ((far == 0) == (space.over & (space.goals[:, 0] == 100))).all()
    assert far[0] == 9  # three cells to mark, none of them blank any more; no line of the other, and no draw


@pytest.mark.slow
def test_a_guided_search_finds_what_is_far_from_random_play() -> None:
    """All lights go out in a line of play that replays; what is nowhere, or past the time, is not found."""
    game = herbrand.load("lightsOut")
    line = guided_line(game.expander, [_distance(game, "win")], time.monotonic() + 300)
    assert line is not None
    assert holds(game, "win", Witness(line, game.roles[0]))
    assert guided_line(game.expander, [_distance(game, "win")], time.monotonic() - 1) is None
    stuck = herbrand.loads(DEAD_END)
    assert guided_line(stuck.expander, [_distance(stuck, "stuck")], time.monotonic() + 300) == (
        ("go", "wait"), ("go", "wait"),
    )  # fmt: skip
    nim = herbrand.load("nim")
    assert guided_line(nim.expander, [_distance(nim, "stuck")], time.monotonic() + 300) is None


def test_wins_far_away_need_not_be_shortest() -> None:
    """With little patience a line of play is found, and only what was excluded counts as excluded."""
    game = herbrand.load("nim")
    wins = {"win": lambda frame: frame.wins(0)}
    lines = find_lines(System(game.network), wins, time.monotonic() + 60, patience=1)
    line = lines.lines["win"]
    assert holds(game, "win", Witness(line, game.roles[0]))
    assert lines.clean.get("win", -1) < len(line)
    assert len(find_lines(System(game.network), wins, time.monotonic() + 60).lines["win"]) == 3 <= len(line)


def test_where_only_the_turn_changes_there_is_nothing_to_weigh() -> None:
    """A game in which nothing but whose turn it is ever changes has no measure of progress, and says so."""
    game = herbrand.loads(
        """(role a) (role b) (init (turn a)) (legal a go) (legal b go) (goal a 50) (goal b 50) (other a b)
        (other b a) (<= (next (turn ?s)) (true (turn ?r)) (other ?r ?s)) (<= terminal (not (true (turn ?r))) (role ?r))"""
    )
    system = System(game.network)
    seen = play(game.expander, time.monotonic() + 60)
    assert find_weights(game.expander, system, [], seen.changes, time.monotonic() + 60) is None
    assert find_weights(game.expander, system, [], seen.changes[:0], time.monotonic() + 60) is None
