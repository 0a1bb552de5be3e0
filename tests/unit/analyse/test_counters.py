"""Counters that agree with the board: always one value, by groups and sums that need each other."""

from __future__ import annotations

import re
import time
from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import pytest

import herbrand

pytest.importorskip("pysat", reason="python-sat is not installed")
pytest.importorskip("scipy", reason="scipy is not installed")

from herbrand.analyse.budget import Budget
from herbrand.analyse.certification.evidence import evidence_of
from herbrand.analyse.certification.outside import Checker, checker_for, run_checker
from herbrand.analyse.exploration.walks import play
from herbrand.analyse.invariants.cases import StepCases
from herbrand.analyse.invariants.counters import _Equations, find_counted
from herbrand.analyse.invariants.domains import order_of
from herbrand.analyse.invariants.frames import System
from herbrand.analyse.invariants.groups import Group, filling_groups, observed_groups, turn_groups
from herbrand.analyse.invariants.invariant import Invariant
from herbrand.analyse.invariants.sum_limits import SumLimits
from herbrand.analyse.invariants.wandering import Wandering
from herbrand.analyse.proofs import symbolic

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from herbrand.analyse.verdict import Verdict

TAKING = """
(role a) (place 1) (place 2) (place 3) (init (count 3)) (succ 0 1) (succ 1 2) (succ 2 3)
(<= (init (stone ?x)) (place ?x))
(<= (legal a (take ?x)) (true (stone ?x)))
(<= (legal a (take ?x ?y)) (true (stone ?x)) (true (stone ?y)) (distinct ?x ?y))
(<= (taken ?x) (does a (take ?x))) (<= (taken ?x) (does a (take ?x ?y))) (<= (taken ?y) (does a (take ?x ?y)))
(<= (next (stone ?x)) (true (stone ?x)) (not (taken ?x)))
(<= (next (count ?n)) (does a (take ?x)) (true (count ?m)) (succ ?n ?m))
(<= (next (count ?n)) (does a (take ?x ?y)) (true (count ?m)) (succ ?k ?m) (succ ?n ?k))
(<= some (true (stone ?x))) (<= terminal (not some))
(value 0 100) (value 1 0) (value 2 0) (value 3 0)
(<= (goal a ?v) (true (count ?n)) (value ?n ?v))
"""
"""One or two stones are taken at once; without the stones, the counter could fall below 0."""
FORGETFUL = TAKING.replace("(distinct ?x ?y))", ")")
"""Taking the same stone twice counts as two."""

CAPTURES = """
(role white) (role black) (foe white black) (foe black white) (init (to-move white))
(succ 0 1) (succ 1 2) (succ 2 3) (init (captured white 0)) (init (captured black 0))
(init (at 1 whiteKing)) (init (at 2 whitePawn)) (init (at 3 whiteRook))
(init (at 4 blackKing)) (init (at 5 blackPawn)) (init (at 6 blackRook))
(owns white whiteKing) (owns white whitePawn) (owns white whiteRook)
(owns black blackKing) (owns black blackPawn) (owns black blackRook)
(turns whitePawn whiteRook) (turns blackPawn blackRook)
(<= (holds ?r ?x) (true (at ?x ?k)) (owns ?r ?k))
(<= (legal ?r (capture ?x)) (true (to-move ?r)) (foe ?r ?o) (holds ?o ?x))
(<= (legal ?r (turn ?x)) (true (to-move ?r)) (holds ?r ?x) (true (at ?x ?k)) (turns ?k ?other))
(<= (legal ?r noop) (role ?r) (not (true (to-move ?r))))
(<= (changed ?x) (does ?r (capture ?x)))
(<= (changed ?x) (does ?r (turn ?x)))
(<= (next (at ?x ?other)) (does ?r (turn ?x)) (true (at ?x ?k)) (turns ?k ?other))
(<= (next (at ?x ?k)) (true (at ?x ?k)) (not (changed ?x)))
(<= (captures ?r) (does ?r (capture ?x)))
(<= (next (captured ?r ?n)) (captures ?r) (true (captured ?r ?m)) (succ ?m ?n))
(<= (next (captured ?r ?n)) (role ?r) (not (captures ?r)) (true (captured ?r ?n)))
(<= (next (to-move ?o)) (true (to-move ?r)) (foe ?r ?o))
(<= (any ?r) (holds ?r ?x)) (<= terminal (role ?r) (not (any ?r)))
(value 0 0) (value 1 30) (value 2 60) (value 3 100)
(<= (goal ?r ?v) (true (captured ?r ?n)) (value ?n ?v))
"""
"""Two counters; only of each alone with the pieces of the other side it follows that they stop at 3."""

SOWING = """
(role a) (role b) (foe a b) (foe b a) (init (control a)) (init (hand a 0)) (init (hand b 0))
(init (bowl x 2)) (init (bowl y 2)) (init (bowl z 1)) (init (step 0)) (big x y) (big y z) (big z x)
(succ 0 1) (succ 1 2) (succ 2 3) (succ 3 4) (succ 4 5) (succ 5 6) (succ 6 7) (succ 7 8)
(number 0) (number 1) (number 2) (number 3) (number 4) (number 5)
(<= (plus ?n 0 ?n) (number ?n)) (<= (plus ?n ?m ?k) (succ ?l ?m) (succ ?n ?o) (number ?o) (plus ?o ?l ?k))
(<= (legal ?r noop) (role ?r) (not (true (control ?r))))
(<= (legal ?r (take ?x)) (true (control ?r)) (true (hand ?r 0)) (true (bowl ?x ?n)) (distinct ?n 0))
(<= (legal ?r (fill ?x)) (true (control ?r)) (true (hand ?r ?n)) (distinct ?n 0) (true (at ?x)))
(<= (next (at ?y)) (does ?r (take ?x)) (big ?x ?y))
(<= (next (hand ?r ?n)) (does ?r (take ?x)) (true (bowl ?x ?n)))
(<= (next (hand ?r ?n)) (does ?r noop) (true (hand ?r ?n)))
(<= (next (hand ?r 0)) (does ?r (fill ?x)))
(<= (next (bowl ?x 0)) (does ?r (take ?x)))
(<= (next (bowl ?y ?n)) (does ?r (take ?x)) (true (bowl ?y ?n)) (distinct ?x ?y))
(<= (next (bowl ?x ?k)) (does ?r (fill ?x)) (true (hand ?r ?n)) (true (bowl ?x ?m)) (plus ?m ?n ?k))
(<= (next (bowl ?y ?n)) (does ?r (fill ?x)) (true (bowl ?y ?n)) (distinct ?x ?y))
(<= (next (control ?r)) (does ?r (take ?x))) (<= (next (control ?o)) (does ?r (fill ?x)) (foe ?r ?o))
(<= (next (step ?n)) (true (step ?m)) (succ ?m ?n)) (<= terminal (true (step 8)))
(value 0 0) (value 1 20) (value 2 40) (value 3 60) (value 4 80) (value 5 100)
(<= (goal a ?v) (true (bowl x ?n)) (value ?n ?v)) (<= (goal b ?v) (true (bowl z ?n)) (value ?n ?v))
"""
"""Five seeds go from bowl to bowl by hand; a bowl would lose its number where it had more than five."""


def require_counters(game: herbrand.Game) -> None:
    """Assert that goals are proved by counters, with a certificate that the rules accept."""
    verdict = symbolic.prove(game, ["goals"], Budget(60))["goals"]
    assert (verdict.answer, verdict.method) == ("proved", "counters")
    assert verdict.certificate is not None
    assert verdict.certificate.check(game, 60)


def counting() -> tuple[System, list[Group], NDArray[np.bool_]]:
    """Return the system of `TAKING`, the groups of its counter, and all states in which they hold."""
    system = System(herbrand.loads(TAKING).network, loops=False)
    texts = system.fluent_texts
    count = tuple(place for place, text in enumerate(texts) if text.startswith("(count"))
    states = np.array(list(product((False, True), repeat=len(texts))), np.bool_)
    states = states[states[:, list(count)].sum(axis=1) == 1]
    return system, [Group(count, some=True), Group(count, some=False)], states


def test_seeds_are_as_many_as_they_were() -> None:
    """That a bowl holds what is added needs the numbers of all others, and who may hold seeds, at once."""
    game = herbrand.loads(SOWING)
    verdicts = symbolic.prove(game, ["goals", "playability"], Budget(90))
    assert {verdict.answer for verdict in verdicts.values()} == {"proved"}
    assert verdicts["goals"].method == "counters"
    certificate = verdicts["goals"].certificate
    assert isinstance(certificate, Invariant)
    assert certificate.check(game, 60)
    assert not replace(certificate, sums=()).check(game, 60)


def test_a_sum_is_required_exactly() -> None:
    """In each state of some fluents, it can be satisfied exactly where the weights have the total."""
    system, groups, states = counting()
    texts = system.fluent_texts
    for factor, stone in ((1, -1), (2, 1), (-3, 2), (0, 1)):
        weights = np.array(
            [stone if text.startswith("(stone") else factor * int(text[7:-1]) for text in texts]
        )
        for total in range(-10, 11):
            limits = SumLimits(groups, weights, total)
            cases = StepCases(system, groups, time.monotonic() + 60)
            literals = limits.exactly(cases.circuit, cases.state)
            assert literals is not None
            satisfied = [
                cases.solver.solve(
                    *literals, *(x ^ (not true) for x, true in zip(cases.state.tolist(), state, strict=True))
                )
                for state in states
            ]
            cases.close()
            right = states @ weights == total
            assert satisfied == right.tolist()
            assert limits.possible()[states[right].any(axis=0)].all()


def test_some_fluents_take_the_place_of_others() -> None:
    """No bowl is next only while the hands are empty, and it is not another's turn to have seeds."""
    game = herbrand.loads(SOWING)
    system = System(game.network)
    texts = system.fluent_texts
    states = play(game.expander, time.monotonic() + 2).states
    named = {tuple(sorted(texts[f] for f in group.fluents)) for group in filling_groups(game.network, states)}
    bowls = ("(at x)", "(at y)", "(at z)")
    assert (*bowls, "(hand a 0)") in named
    assert ("(control a)", "(control b)") in named
    assert ("(control a)", "(hand a 0)") in named
    assert ("(hand a 0)", "(hand b 0)") in named
    pairs = [
        [texts[f] for f in g.fluents] for g in turn_groups(observed_groups(game.network, states), states)
    ]
    assert ["(control a)", "(hand b 1)"] in pairs
    assert not any(a.startswith("(hand") for a, _ in pairs)


def test_each_counter_has_an_equation_of_its_own() -> None:
    """Not one with both counters and all pieces, from which nothing follows about either."""
    game = herbrand.loads(CAPTURES)
    system, until = System(game.network), time.monotonic() + 60
    seen = play(game.expander, until)
    counted = find_counted(system, seen.states, seen.changes[:40], until)
    assert counted is not None
    texts = system.fluent_texts
    assert len(counted.sums) == 2
    for weights in counted.sums:
        assert len({texts[f].split()[1] for f in weights if texts[f].startswith("(captured")}) == 1
    require_counters(game)


def test_a_counter_agrees_with_the_board() -> None:
    """There is always one count, as the rules confirm; without the sum that does not follow."""
    game = herbrand.loads(TAKING)
    system, until = System(game.network), time.monotonic() + 60
    seen = play(game.expander, until)
    counted = find_counted(system, seen.states, seen.changes, until)
    assert counted is not None
    texts = system.fluent_texts
    count = {place for place, text in enumerate(texts) if text.startswith("(count")}
    assert any(group.some and set(group.fluents) == count for group in counted.groups)
    assert {texts[f]: w for f, w in counted.sums[0].items()} in [
        {**{f"(stone {x})": -sign for x in (1, 2, 3)}, **{f"(count {n})": sign * n for n in (1, 2, 3)}}
        for sign in (1, -1)
    ]
    verdict = symbolic.prove(game, ["goals"], Budget(60))["goals"]
    assert (verdict.answer, verdict.method) == ("proved", "counters")
    certificate = verdict.certificate
    assert isinstance(certificate, Invariant)
    assert certificate.check(game, 60)
    assert not replace(certificate, sums=()).check(game, 60)
    assert not replace(certificate, sums=((("(stone 1)", 1),),)).check(game, 60)


def test_a_counter_of_irregular_numbers_counts_by_rank() -> None:
    """Its values may be points: 0 and 10 for the first two stones, 100 for all three."""
    game = herbrand.loads(
        TAKING.replace("(count 3)", "(count 100)")
        .replace("(succ 1 2) (succ 2 3)", "(succ 1 10) (succ 10 100)")
        .replace("(value 2 0) (value 3 0)", "(value 10 0) (value 100 0)")
    )
    system, until = System(game.network), time.monotonic() + 60
    seen = play(game.expander, until)
    counted = find_counted(system, seen.states, seen.changes, until)
    assert counted is not None
    weights = {system.fluent_texts[f]: abs(w) for f, w in counted.sums[0].items()}
    assert [weights.get(f"(count {n})", 0) for n in (0, 1, 10, 100)] == [0, 1, 2, 3]
    require_counters(game)


def test_names_that_follow_each_other_are_numbers() -> None:
    """A count of none, one, two and three is read off the steps that change it, by one."""
    twice = "(<= (legal a (take ?x ?y)) (true (stone ?x)) (true (stone ?y)) (distinct ?x ?y))"
    assert twice in TAKING
    names = ("none", "one", "two", "three")
    named = re.sub(
        r"\((succ|count|value) ([0-3])(?: ([0-3])(?=\)))?",
        lambda match: (
            f"({match[1]} {names[int(match[2])]}"
            + (f" {names[int(match[3])] if match[1] == 'succ' else match[3]}" if match[3] else "")
        ),
        TAKING.replace(twice, ""),
    )
    game = herbrand.loads(named)
    system = System(game.network)
    place = {text: number for number, text in enumerate(system.fluent_texts)}
    count = [place[f"(count {name})"] for name in names]
    order = order_of(game.network, count)
    assert order in ([0, 1, 2, 3], [3, 2, 1, 0])
    assert order_of(game.network, count[:2]) in ([0, 1], [1, 0])
    assert order_of(game.network, [place[f"(stone {n})"] for n in (1, 2, 3)]) is None
    require_counters(game)


def test_a_counter_does_not_reach_values_that_its_sum_excludes() -> None:
    """It could count to 5, which has no goal value, but there are only three stones."""
    more = "(succ 2 3) (succ 3 4) (succ 4 5) (value 6 0)"
    game = herbrand.loads(TAKING.replace("(succ 2 3)", more))
    rising = game.tree.source.text.replace("(count 3)", "(count 0)").replace("(succ ?n ?m)", "(succ ?m ?n)")
    game = herbrand.loads(rising.replace("(succ ?k ?m) (succ ?n ?k)", "(succ ?m ?k) (succ ?k ?n)"))
    require_counters(game)


def test_what_is_required_of_sums_is_what_states_are_tested_for() -> None:
    """In each state of some fluents, the clauses of a sum can be satisfied exactly where its limits hold."""
    system, groups, states = counting()
    texts = system.fluent_texts
    weights = np.array([-1 if text.startswith("(stone") else int(text[7:-1]) for text in texts])
    outcomes = set()
    for total in (-1, 0, 1):
        limits = SumLimits(groups, weights, total)
        cases = StepCases(system, groups, time.monotonic() + 60)
        for clause in limits.clauses(cases.circuit, cases.state):
            cases.require(clause)
        expected = [
            cases.solver.solve(*(x ^ (not true) for x, true in zip(cases.state.tolist(), state, strict=True)))
            for state in states
        ]
        cases.close()
        assert limits.hold(states).tolist() == expected
        right = states @ weights == total
        assert not (right & ~np.array(expected)).any()
        outcomes |= set(expected)
    assert outcomes == {False, True}


def test_pieces_that_no_sample_has_count_where_a_step_says_so() -> None:
    """A rook that no pawn became yet is in the sum once a step is seen in which it is taken."""
    game = herbrand.loads(CAPTURES)
    texts = [text.lower() for text in System(game.network).fluent_texts]
    seen = play(game.expander, time.monotonic() + 2).states
    rook = texts.index("(at 5 blackrook)")
    seen = seen[~seen[:, rook]]
    counter = tuple(place for place, text in enumerate(texts) if text.startswith("(captured white"))
    equations = _Equations(
        System(game.network), [Group(counter, some=True)], seen, np.zeros((0, len(texts)), np.int8)
    )
    assert equations.numbers == [0]
    change = np.zeros(len(texts), np.int64)
    change[[texts.index("(captured white 1)"), texts.index("(captured white 0)"), rook]] = 1, -1, -1
    for weights in (equations.fit(0), equations.fit(0, change)):
        assert weights is not None
        assert np.ptp(seen @ weights) == 0
        assert weights[list(counter)].tolist() == [0, 1, 2, 3]
    assert weights is not None
    assert weights[rook] == 1


def test_random_play_violates_what_does_not_last() -> None:
    """Black, who moves second, can have two rooks; in states after one step it cannot yet."""
    game = herbrand.loads(CAPTURES)
    texts = [text.lower() for text in System(game.network).fluent_texts]
    rooks = tuple(texts.index(text) for text in ("(at 5 blackrook)", "(at 6 blackrook)"))
    turns = tuple(place for place, text in enumerate(texts) if text.startswith("(to-move"))
    groups = [Group(rooks, some=False), Group(turns, some=True), Group(turns, some=False)]
    initial = game.network.initial
    spreading = Wandering(game.network, groups)
    assert spreading.violated(initial, ()) == {0}
    assert spreading.violated(initial, {0}) == set()
    nowhere = Wandering(game.network, groups, [lambda states: np.zeros(len(states), np.bool_)])
    assert nowhere.violated(initial, ()) == set()


def test_a_counter_that_disagrees_is_not_proved() -> None:
    """Where the last stone may count twice there is an end without a goal value."""
    game = herbrand.loads(FORGETFUL)
    until = time.monotonic() + 60
    seen = play(game.expander, until)
    assert find_counted(System(game.network), seen.states, seen.changes, until) is None
    assert symbolic.prove(game, ["goals"], Budget(60))["goals"].answer == "refuted"


def test_outside_programs_accept_the_certificate(tmp_path: Path) -> None:
    """Each question about counters and sums is unsatisfiable for clingo; without the sum, one is not."""
    game = herbrand.loads(TAKING)
    verdict = symbolic.prove(game, ["goals"], Budget(60))["goals"]
    checker = checker_for("clingo")
    assert isinstance(checker, Checker)

    def accepted(shown: Verdict) -> list[bool | None]:
        answers = []
        for number, file in enumerate(evidence_of(game, "goals", shown, 30, solve=False)):
            (tmp_path / str(number)).mkdir(exist_ok=True)
            (tmp_path / str(number) / file.name).write_text(file.text, encoding="utf-8")
            if file.program == "clingo":
                answers.append(run_checker(checker, tmp_path / str(number), file, 30).accepted)
        return answers

    assert accepted(verdict) == [True] * 4
    certificate = verdict.certificate
    assert isinstance(certificate, Invariant)
    assert False in accepted(verdict.with_(certificate=replace(certificate, sums=())))
