"""Verdicts of small games, and of games made to be faulty; every certificate and witness is checked again."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from click.testing import CliRunner
from hypothesis import Phase, given, settings
from strategies import games as random_games

import herbrand
from herbrand.analyse.budget import Budget
from herbrand.analyse.exploration import by_states
from herbrand.analyse.exploration.certificates import Policy, Spoiler, StateSet, certain_end
from herbrand.analyse.exploration.explore import explore
from herbrand.analyse.exploration.replay import holds, replay
from herbrand.analyse.proofs.prove import Analysis, analyse
from herbrand.analyse.proofs.static import free_roles, playability
from herbrand.analyse.verdict import PROPERTIES, Verdict, Witness
from herbrand.check.step_counter import step_counter
from herbrand.cli.main import cli
from herbrand.errors import BudgetExceeded, InternalError

EXPECTED = {
    # terminates, playable, weakly, strongly winnable, goals at the end, monotonic, well-formed
    "ticTacToe": "+++-+-+",
    "nim": "+++++-+",
    "hanoi": "+++++-+",
    "rockPaperScissors": "+++-+-+",
    "prisonersDilemma": "+++-+++",
    "kuhn": "+++-+-+",
}
SIGNS = {"proved": "+", "refuted": "-", "unknown": "?"}


def prove(text: str, **options: object) -> Analysis:
    """Analyse a game given as text."""
    return analyse(herbrand.loads(text), symbolic=False, **options)  # type: ignore[arg-type]


def signs(analysis: Analysis) -> str:
    """The answers in the order of the properties."""
    return "".join(SIGNS[verdict.answer] for verdict in analysis.properties.values())


@pytest.mark.slow_except("nim", "rockPaperScissors", "kuhn")
@pytest.mark.parametrize("name", EXPECTED)
def test_small_bundled_games(name: str) -> None:
    """All properties are decided as known, and checked by the rules."""
    analysis = analyse(herbrand.load(name), budget=Budget(seconds=600), symbolic=False)
    assert tuple(analysis.properties) == PROPERTIES
    assert signs(analysis) == EXPECTED[name]
    for verdict in analysis.properties.values():
        assert verdict.checked
    json.dumps(analysis.as_json())


BASE = """(role a) (role b) (init (at 1)) (succ 1 2) (succ 2 3) (succ 3 4)
(<= (legal ?r wait) (role ?r)) (<= (legal a jump) (true (at 1)))
(<= (next (at ?y)) (true (at ?x)) (succ ?x ?y) (does a wait))
(<= (next (at 3)) (does a jump))
(<= terminal (true (at 4))) (<= (goal a 100) (true (at 4))) (<= (goal b 100) (true (at 4)))
"""


def test_a_game_that_holds_what_is_asked() -> None:
    """The game that the next tests break in one place each."""
    assert signs(prove(BASE)) == "+++++-+"


def test_a_cycle_refutes_termination() -> None:
    """A move that does nothing: the shortest witness is that move, back to the start."""
    found = prove(BASE + "(<= (legal a stay) (true (at 1))) (<= (next (at 1)) (does a stay))")
    verdict = found.properties["termination"]
    assert verdict.answer == "refuted"
    assert verdict.witness == Witness((("stay", "wait"),), loop=0, shortest=True)
    assert found.properties["well_formed"].answer == "refuted"


def test_a_longer_cycle_after_some_steps() -> None:
    """The line leads into the circle and once around it."""
    text = BASE + "(<= (legal a back) (true (at 3))) (<= (next (at 2)) (does a back))"
    witness = prove(text).properties["termination"].witness
    assert witness is not None
    assert witness.loop is not None
    states = replay(herbrand.loads(text), witness.moves)
    assert states[witness.loop] == states[-1]
    assert (len(witness.moves), witness.loop) == (3, 1)


def test_a_role_without_a_move_refutes_playability() -> None:
    """Who is stuck, and how to get there."""
    text = BASE.replace(
        "(<= (legal ?r wait) (role ?r))", "(legal b wait) (<= (legal a wait) (not (true (at 3))))"
    )
    found = prove(text)
    verdict = found.properties["playability"]
    assert verdict.witness == Witness((("jump", "wait"),), role="a", shortest=True)
    assert found.properties["termination"].answer == "proved"
    assert found.properties["weak_winnability"].answer == "refuted"


def test_an_end_without_a_goal_value() -> None:
    """No value, and two values, for one role."""
    for change in (
        BASE.replace("(<= (goal b 100) (true (at 4)))", ""),
        BASE + "(<= (goal b 0) (true (at 4)))",
    ):
        verdict = prove(change).properties["goals"]
        assert verdict.answer == "refuted"
        assert verdict.witness is not None
        assert verdict.witness.role == "b"
        assert len(verdict.witness.moves) == 2
        assert verdict.checked


def test_who_can_win_and_who_cannot() -> None:
    """The verdict of each role stands inside."""
    found = prove(BASE.replace("(goal b 100)", "(goal b 90)"))
    weak = found.properties["weak_winnability"]
    assert {role: v.answer for role, v in weak.roles.items()} == {"a": "proved", "b": "refuted"}
    assert weak.answer == "refuted"
    assert found.properties["strong_winnability"].answer == "proved"
    lower = prove(BASE.replace("(goal b 100)", "(goal b 90)").replace("(goal a 100)", "(goal a 90)"), win=90)
    assert lower.properties["weak_winnability"].answer == "proved"


def test_a_role_alone_can_force_what_it_can_reach() -> None:
    """Also where there are too many states to list; and who never wins cannot force it."""
    pytest.importorskip("pysat")
    steps = " ".join(f"(succ {n} {n + 1})" for n in range(6))
    alone = f"""
    (role a) (init (at 0)) (init (step 0)) {steps} (legal a walk) (legal a wait)
    (<= (next (step ?m)) (true (step ?n)) (succ ?n ?m))
    (<= (next (at ?m)) (does a walk) (true (at ?n)) (succ ?n ?m)) (<= (next (at ?n)) (does a wait) (true (at ?n)))
    (<= terminal (true (step 6)))
    (<= (goal a 100) (true (at 6))) (<= (goal a 0) (not (true (at 6))))
    """
    for text, answer in ((alone, "proved"), (alone.replace("(at 6)", "(at 7)"), "refuted")):
        game, budget = herbrand.loads(text), Budget(30, states=3)
        verdict = analyse(game, ["strong_winnability"], budget=budget).properties["strong_winnability"]
        assert (verdict.answer, verdict.checked) == (answer, True)
        assert verdict.roles["a"].witness or verdict.roles["a"].certificate


TWO_GOALS = """
(role r) (init (at 0)) (succ 0 1) (succ 1 2) (succ 2 3) (succ 3 4)
(<= (legal r (go ?x)) (true (at ?y)) (succ ?y ?x))
(<= (legal r stay) (true (at ?x)))
(<= (next (at ?x)) (does r (go ?x)))
(<= (next (at ?x)) (does r stay) (true (at ?x)))
(<= (next over) (does r stay))
(<= terminal (true over))
(<= terminal (true (at 4)))
(<= (goal r 100) (true (at ?x)) (distinct ?x 0))
(<= (goal r 50) (true (at ?x)) {other})
"""


@pytest.mark.parametrize(
    ("exploring", "other", "answer"),
    [(0.0, "", "refuted"), (0.4, "", "refuted"), (0.0, "(distinct ?x 3)", "proved")],
)
def test_a_goal_among_others_does_not_win(other: str, answer: str, exploring: float) -> None:
    """Exploration and model checking agree on a role with two goal values at once: it has neither."""
    game = herbrand.loads(TWO_GOALS.format(other=other))
    result = analyse(game, ["weak_winnability", "goals"], budget=Budget(60), exploring=exploring)
    assert result.properties["weak_winnability"].answer == answer
    assert result.properties["goals"].answer == "refuted"


def test_strategies_are_written_down_up_to_a_size(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a strategy would be too large, the answer stands without it; without any win none is needed."""
    monkeypatch.setattr(by_states, "_STRATEGY", 3)
    proved = analyse(herbrand.load("nim"), ["strong_winnability"]).properties["strong_winnability"]
    assert proved.answer == "proved"
    assert all(role.certificate is None for role in proved.roles.values() if role.answer == "proved")
    game = herbrand.loads(TWO_GOALS.format(other=""))
    lost = analyse(game, ["strong_winnability"]).properties["strong_winnability"]
    assert lost.answer == "refuted"
    assert all(isinstance(role.certificate, StateSet) for role in lost.roles.values())


def test_a_strategy_and_a_fixed_list_of_actions_differ() -> None:
    """Guessing after having seen can be forced, but not with actions fixed in advance."""
    text = """(role seer) (role coin) (init start) (side heads) (side tails)
        (<= (legal coin (show ?s)) (side ?s)) (<= (legal seer (call ?s)) (side ?s))
        (<= (next (shown ?s)) (true start) (does coin (show ?s)))
        (<= (next right) (true (shown ?s)) (does seer (call ?s)))
        (<= (next wrong) (true (shown ?s)) (does seer (call ?x)) (distinct ?s ?x))
        (<= terminal (true right)) (<= terminal (true wrong))
        (<= (goal seer 100) (true right)) (<= (goal seer 0) (true wrong))
        (<= (goal coin 0) (true right)) (<= (goal coin 100) (true wrong))"""
    verdict = prove(text).properties["strong_winnability"]
    assert verdict.roles["seer"].answer == "proved"
    assert verdict.details["sequence"]["seer"]["verdict"] == "refuted"
    # calling at the same time as showing: nobody can force anything
    blind = text.replace("(true start) (does coin", "(true start) (does seer go) (does coin")
    simultaneous = """(role seer) (role coin) (init start) (side heads) (side tails)
        (<= (legal coin (show ?s)) (side ?s)) (<= (legal seer (call ?s)) (side ?s))
        (<= (next right) (does coin (show ?s)) (does seer (call ?s)))
        (<= (next wrong) (does coin (show ?s)) (does seer (call ?x)) (distinct ?s ?x))
        (<= terminal (not (true start)))
        (<= (goal seer 100) (true right)) (<= (goal seer 0) (true wrong))
        (<= (goal coin 0) (true right)) (<= (goal coin 100) (true wrong))"""
    assert blind != text
    assert prove(simultaneous).properties["strong_winnability"].answer == "refuted"


def test_chance_counts_as_one_of_the_others() -> None:
    """Against `random` nothing is certain that it could prevent; it need not have a goal."""
    text = """(role random) (role a) (init start) (side heads) (side tails)
        (<= (legal random (show ?s)) (side ?s)) (legal a watch)
        (<= (next (shown ?s)) (does random (show ?s))) (<= terminal (not (true start)))
        (<= (goal a 100) (true (shown heads))) (<= (goal a 0) (true (shown tails)))"""
    assert signs(prove(text)) == "+++-+-+"


def test_actions_fixed_beforehand_are_found() -> None:
    """Jumping and waiting wins whatever b does."""
    details = prove(BASE + "(legal b sleep)").properties["strong_winnability"].details
    assert details["sequence"]["a"]["verdict"] == "proved"
    assert details["sequence"]["a"]["actions"] == ["jump", "wait"]


def test_what_sees_hides_is_not_forced() -> None:
    """With `sees` a strategy on states proves nothing; the verdict is unknown or a fixed list."""
    analysis = analyse(herbrand.load("montyHall"), symbolic=False)
    assert analysis.properties["strong_winnability"].answer != "proved"


def test_a_small_budget_gives_unknown_never_a_guess() -> None:
    """What was explored is said, and nothing is claimed that was not seen."""
    analysis = analyse(herbrand.load("connectFour"), budget=Budget(states=500, seconds=1), symbolic=False)
    assert not analysis.properties["playability"].is_known
    assert analysis.properties["termination"].answer == "unknown"
    assert analysis.counts is None
    assert "explored" in analysis.as_json()
    assert analysis.notes


def test_no_time_at_all_gives_unknown() -> None:
    """When not one state was looked into, all but what the text of the rules shows is unknown."""
    from herbrand.analyse.exploration import by_states

    space = explore(herbrand.load("nim").expander, budget=Budget(seconds=0))
    assert space.expanded == 0
    answers = [
        by_states.termination(space),
        by_states.playability(space),
        by_states.goal_verdict(space, [0, 1]),
        by_states.monotonicity(space, [0, 1]),
        by_states.weak(space, 0, 100),
        by_states.strong_of(space, 0, 100),
    ]
    assert [verdict.answer for verdict in answers] == ["unknown"] * 6


def test_a_property_that_does_not_exist_is_refused() -> None:
    """With the names of those that do."""
    with pytest.raises(ValueError, match="no property 'fun'"):
        analyse(herbrand.load("nim"), ["fun"])


def test_wrong_certificates_are_found_out() -> None:
    """The second checker does not believe everything."""
    game = herbrand.load("nim")
    space = explore(game.expander)
    assert StateSet(space, "playable").check(game, 60)
    missing = replace(space, states=space.states[:-1])
    assert not StateSet(missing, "playable").check(game, 60)
    assert not StateSet(space, "below", "first", 100).check(game, 60)
    analysis = analyse(game, ["strong_winnability"])
    policy = analysis.properties["strong_winnability"].roles["first"].certificate
    assert isinstance(policy, Policy)
    assert policy.check(game, 60)
    facts, move = next(iter(policy.moves.items()))
    assert not replace(policy, moves={**policy.moves, facts: "noop"}).check(game, 60)
    assert not replace(policy, moves={f: m for f, m in policy.moves.items() if f != facts}).check(game, 60)
    assert not replace(policy, role="second").check(game, 60)
    assert move
    spoiler = analysis.properties["strong_winnability"].roles["second"].certificate
    assert isinstance(spoiler, Spoiler)
    assert spoiler.check(game, 60)
    assert not replace(spoiler, role="first").check(game, 60)
    some = dict(list(spoiler.replies.items())[1:])
    assert not replace(spoiler, replies=some).check(game, 60)


def test_wrong_witnesses_are_found_out() -> None:
    """A line that is not legal, or does not show what it should, is none."""
    game = herbrand.load("nim")
    line = analyse(game, ["weak_winnability"]).properties["weak_winnability"].roles["first"].witness
    assert line is not None
    assert holds(game, "win", line)
    assert not holds(game, "stuck", line)
    assert not holds(game, "cycle", line)
    assert not holds(game, "win", replace(line, role="second"))
    assert not holds(game, "win", replace(line, moves=line.moves[1:]))
    assert not holds(game, "cycle", Witness((), loop=0))


def test_a_wrong_verdict_is_an_error_in_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    """A witness that does not hold is never reported."""
    monkeypatch.setattr(
        "herbrand.analyse.exploration.by_states.playability",
        lambda space: Verdict("refuted", "exploration", "wrong", Witness((), role="first")),
    )
    with pytest.raises(InternalError, match="playability of nim"):
        analyse(herbrand.game.load("nim"), ["playability"])


def test_checking_has_a_budget() -> None:
    """A check that takes too long raises and proves nothing."""
    game = herbrand.load("ticTacToe")
    with pytest.raises(BudgetExceeded):
        StateSet(explore(game.expander), "playable").check(game, 0)


@pytest.mark.parametrize(
    "name", ["hanoi", "lightsOut", "eightPuzzle", "prisonersDilemma", "ticTacToe", "hex"]
)
def test_the_end_is_certain_where_the_step_counter_says(name: str) -> None:
    """Two ways to see a bound on the length of play, on rules and on the network, agree."""
    game = herbrand.load(name)
    counter = step_counter(game.rules.tree.statements)
    assert certain_end(game.network, 1000) == (None if counter is None else counter.bound)


@settings(max_examples=3, deadline=None, phases=set(Phase) - {Phase.shrink})
@given(random_games())
def test_random_games_are_decided_and_every_verdict_is_checked(text: str) -> None:
    """Nothing is found that the rules do not confirm (a wrong verdict raises)."""
    analysis = analyse(herbrand.loads(text), budget=Budget(seconds=20, states=300), symbolic=False)
    if analysis.space is not None and analysis.space.complete:
        for name in ("termination", "playability", "weak_winnability", "goals"):
            verdict = analysis.properties[name]
            assert verdict.is_known
            assert verdict.checked or verdict.method == "step counter"


def test_the_command_prints_a_report_and_json() -> None:
    """What people and programs read; the witness can be shown by the command it names."""
    run = CliRunner().invoke(
        cli, ["analyse", "nim", "--property", "termination", "--property", "strong_winnability"]
    )
    assert run.exit_code == 0
    assert "terminates         yes" in run.output
    assert "first: yes, first can force 100 within" in run.output
    run = CliRunner().invoke(cli, ["analyse", "nim", "--json"])
    shape = json.loads(run.output)
    assert shape["counts"]["states"] == 232
    assert set(shape["properties"]) == set(PROPERTIES)
    assert shape["properties"]["weak_winnability"]["roles"]["first"]["witness"][0] == ["(take a 3)", "noop"]
    run = CliRunner().invoke(cli, ["analyse", "connectFour", "--budget", "0.5", "--states", "100"])
    assert run.exit_code == 0
    assert "note: exploration stopped after 100 states" in run.output


@pytest.mark.parametrize(
    ("legal", "free"),
    [
        ("(legal a go) (legal b go)", {"a", "b"}),
        ("(<= (legal ?r go) (role ?r))", {"a", "b"}),
        ("(<= (legal ?r (take ?r)) (role ?r) (role ?r))", {"a", "b"}),
        ("(legal a go) (<= (legal b ?m) (move ?m)) (move x)", {"a"}),
        ("(<= (legal ?r go) (role ?r) (role ?q) (distinct ?r ?q))", set()),
        ("(legal a go) (<= (legal b go) (true on))", {"a"}),
    ],
)
def test_a_move_that_is_always_legal_is_seen_in_the_text(legal: str, free: set[str]) -> None:
    """Roles with a `legal` rule that asks for nothing are found, and no others; clingo agrees on playability."""
    game = herbrand.loads(
        f"(role a) (role b) (init on) {legal} (<= (next on) (true on) (does a go)) "
        "(<= terminal (not (true on))) (goal a 100) (goal b 0)"
    )
    assert free_roles(game) == free
    verdict = playability(game)
    if free == {"a", "b"}:
        assert verdict is not None
        assert verdict.answer == "proved"
        assert verdict.certificate is not None
        assert verdict.certificate.check(game, 20)


def test_a_role_that_cannot_begin_is_stuck() -> None:
    """Without a legal move in the initial state the empty line of play refutes playability."""
    game = herbrand.loads(
        "(role a) (role b) (init on) (legal a go) (<= terminal (not (true on))) (goal a 100) (goal b 0)"
    )
    verdict = analyse(game, ["playability"]).properties["playability"]
    assert (verdict.answer, verdict.method, verdict.checked) == ("refuted", "form of the rules", True)
    assert verdict.witness == Witness((), role="b", shortest=True)


def test_a_value_above_100_is_no_goal_value() -> None:
    """The play that ends with it is accepted as one that refutes that each end has one."""
    rules = (
        "(role r) (legal r go) (init i) (<= (next over) (does r go)) (<= terminal (true over)) (points 848)"
    )
    game = herbrand.loads(f"{rules} (<= (goal r ?v) (points ?v))")
    verdict = analyse(game, ["goals"]).properties["goals"]
    assert (verdict.answer, verdict.checked) == ("refuted", True)
