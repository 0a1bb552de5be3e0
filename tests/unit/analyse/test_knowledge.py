"""What a role knows: possible states, their chances, and what holds in all of them."""

from __future__ import annotations

import json
from fractions import Fraction
from random import Random

import pytest
from click.testing import CliRunner

import herbrand
from herbrand.analyse.knowledge import history, possible_states
from herbrand.analyse.knowledge.filtering import ImpossibleHistory
from herbrand.analyse.knowledge.histories import HistoryStep
from herbrand.cli.main import cli
from herbrand.errors import BudgetExceeded, IllegalMoveError
from herbrand.runtime.limits import Limits

DEAL = ("noop", "noop", "(deal queen king)")


@pytest.fixture(scope="module")
def kuhn() -> herbrand.Game:
    return herbrand.load("kuhn")


def show(*args: str):
    return CliRunner().invoke(cli, ["show", *args], env={"COLUMNS": "80"}, catch_exceptions=False)


@pytest.mark.parametrize("engine", ["rules", "network"])
def test_the_opened_door_makes_the_other_one_likelier(engine):
    """After door 2 was opened the car is behind the first choice in a third of the plays."""
    game = herbrand.load("montyHall")
    past = history(game, "candidate", [("(choose 1)", "(hide 3)"), ("noop", "(open 2)")])
    known = possible_states(game, "candidate", past, engine=engine)
    assert known.exact
    assert known.open == {"(car 1)": Fraction(1, 3), "(car 3)": Fraction(2, 3)}
    assert known.sure == {"(chosen 1)", "(opened 2)", "(stage deciding)"}
    assert [str(move) for move in known.legal_moves] == ["stay", "switch"]
    assert known.uncertain_moves == []
    assert known.is_over is False
    assert known.chance("(true (car 3))") == Fraction(2, 3)
    assert known.knows("(true (car 2))") is False
    assert known.knows("(true (chosen 1))") is True
    assert known.knows("(true (car 1))") is None


def test_a_bet_tells_nothing_of_players_who_choose_evenly(kuhn):
    """The likelihoods are those of the deal; afterwards the goal is open, too."""
    past = history(kuhn, "second", [DEAL, ("bet", "noop", "noop"), ("noop", "call", "noop")])
    assert [str(step) for step in past][:2] == ["noop; saw (dealt king)", "noop; saw (did first bet)"]
    known = possible_states(kuhn, "second", past, over=True)
    assert known.open == {"(holds first jack)": Fraction(1, 2), "(holds first queen)": Fraction(1, 2)}
    assert known.goals == {100: 1}
    assert sum(known.weights.values()) == 1
    first = possible_states(
        kuhn,
        "first",
        history(
            kuhn,
            "first",
            [DEAL, {"first": "bet", "second": "noop", "random": "noop"}, ("noop", "call", "noop")],
        ),
    )
    assert first.goals == {0: Fraction(1, 2), 100: Fraction(1, 2)}


def test_players_who_see_everything_have_one_state():
    """With perfect information the only possible state is the true one."""
    game = herbrand.load("ticTacToe")
    chance = Random(3)
    state = game.initial_state()
    joints = []
    for _ in range(4):
        joints.append(tuple(chance.choice(moves) for moves in state.legal_moves().values()))
        state = state.next(joints[-1])
    for engine in ("rules", "network", "auto"):
        known = possible_states(game, "oplayer", history(game, "oplayer", joints), engine=engine)
        assert known.weights == {state: 1}


def test_over_is_an_observation(kuhn):
    """A role that is told that the game goes on drops the states in which it does not."""
    game = herbrand.loads("""(role a) (role random) (init go) (sees a x) (legal a wait) (legal random stop)
        (legal random on) (<= (next over) (does random stop)) (<= (next go) (does random on))
        (<= terminal (true over)) (goal a 0)""")
    past = (HistoryStep("wait", frozenset({"x"})),)
    assert possible_states(game, "a", past).is_over is None
    assert possible_states(game, "a", past).sure == frozenset()
    assert possible_states(game, "a", past, over=False).sure == {"go"}
    assert possible_states(game, "a", past, over=True).sure == {"over"}
    with pytest.raises(ImpossibleHistory, match="is over"):
        possible_states(kuhn, "first", (), over=True)


@pytest.mark.parametrize("engine", ["rules", "network"])
def test_a_history_that_cannot_be_is_refused(kuhn, engine):
    """A percept that no play gives, and a move that is not legal, name the step."""
    for step in (
        HistoryStep("noop", frozenset({"(dealt ace)"})),
        HistoryStep("noop", frozenset()),
        HistoryStep("fold", frozenset()),
    ):
        with pytest.raises(ImpossibleHistory, match="nothing is possible after step 1 of 1"):
            possible_states(kuhn, "first", (step,), engine=engine)
    with pytest.raises(IllegalMoveError):
        history(kuhn, "first", [("bet", "noop", "noop")])


@pytest.mark.parametrize("engine", ["rules", "network"])
def test_beyond_the_budget_a_sample_is_taken_and_said_to_be_one(engine):
    """Two doors are possible; with room for one state a sample has them about as often as they are likely."""
    game = herbrand.load("montyHall")
    past = history(game, "candidate", [("(choose 1)", "(hide 3)"), ("noop", "(open 2)")])
    known = possible_states(game, "candidate", past, engine=engine, states=1, particles=1500, seed=2)
    assert not known.exact
    assert sum(known.weights.values()) == 1
    assert known.open["(car 3)"] == pytest.approx(2 / 3, abs=0.06)
    again = possible_states(game, "candidate", past, engine=engine, states=1, particles=1500, seed=2)
    assert again.weights == known.weights
    with pytest.raises(BudgetExceeded, match="1 possible states"):
        possible_states(game, "candidate", past, engine=engine, states=1, particles=0)
    wrong = (past[0], HistoryStep("noop", frozenset({"(opened 1)"})))
    with pytest.raises(BudgetExceeded, match="none of them fits"):
        possible_states(game, "candidate", wrong, engine=engine, states=1, particles=20)


def test_many_joint_moves_are_made_on_the_network():
    """Where a step has thousands of joint moves the network is used, and says the same."""
    digits = " ".join(f"(digit {n})" for n in range(8))
    game = herbrand.loads(f"""(role a) (role random) (init (step 0)) {digits} (goal a 0)
        (<= (legal random (hide ?x ?y ?z ?u)) (true (step 0)) (digit ?x) (digit ?y) (digit ?z) (digit ?u))
        (<= (legal random wait) (not (true (step 0)))) (legal a wait)
        (<= (sees a (sum ?x ?y)) (does random (hide ?x ?y ?z ?u)))
        (<= (next (hidden ?z ?u)) (does random (hide ?x ?y ?z ?u)))
        (<= (next (step 1)) (true (step 0))) (<= terminal (true (step 1)))""")
    past = (HistoryStep("wait", frozenset({"(sum 3 4)"})),)
    known = possible_states(game, "a", past)
    assert len(known.weights) == 64
    assert {state.engine for state in known.weights} == {"network"}
    assert known.weights == possible_states(game, "a", past, engine="rules").weights


UNSURE = """(role a) (role random) (init (step 0)) (sees a nothing) (goal a 0)
    (<= (legal random (put ?n)) (true (step 0)) (num ?n)) (num 1) (num 2)
    (<= (legal random wait) (true (step 1)))
    (<= (legal a wait) (true (step 0))) (<= (legal a wait) (true (step 1))) (<= (legal a (take ?n)) (true (lies ?n)))
    (<= (next (lies ?n)) (does random (put ?n))) (<= (next (step 1)) (true (step 0)))
    (<= (next over) (true (step 1))) (<= terminal (true over))"""


def test_moves_that_may_not_be_legal_are_told(tmp_path):
    """Of the moves only those that are legal in all possible states are sure; `show` warns of the others."""
    file = tmp_path / "unsure.kif"
    file.write_text(UNSURE, encoding="utf-8")
    known = possible_states(herbrand.load(file), "a", (HistoryStep("wait", frozenset({"nothing"})),))
    assert list(map(str, known.legal_moves)) == ["wait"]
    assert list(map(str, known.uncertain_moves)) == ["(take 1)", "(take 2)"]
    outcome = show(str(file), "--knows", "a", "--moves", "(put 1)")
    assert outcome.exit_code == 0
    assert "warning: a cannot know whether these moves are legal: (take 1), (take 2) [I10]" in outcome.stderr
    assert "surely legal\n  wait\n" in outcome.stdout


def test_show_what_a_role_knows():
    """The history, what is sure, what is open with its chances, and the moves; not the true state."""
    outcome = show("kuhn", "--knows", "FIRST", "--moves", f"{' '.join(DEAL)}; check; bet")
    text = outcome.stdout
    assert text.startswith("what first knows after 3 steps: 2 possible states\n")
    assert "1  played noop, saw (dealt queen)\n2  played check, saw nothing\n" in text
    assert "  holds  first queen\n" in text
    assert "  1/2 (holds second jack)  1/2 (holds second king)\n" in text
    assert "surely legal\n  call  fold\n" in text
    assert outcome.stderr == ""
    told = json.loads(
        show("kuhn", "--knows", "first", "--knows", "second", "--moves", " ".join(DEAL), "--json").stdout
    )
    assert [one["role"] for one in told["knows"]] == ["first", "second"]
    assert told["knows"][0]["open"] == {"(holds second jack)": "1/2", "(holds second king)": "1/2"}
    assert told["knows"][0]["exact"] is True


def test_wrong_questions_about_knowledge_are_wrong_use():
    """An unknown role is refused with those there are; a state without a history tells nothing."""
    outcome = show("kuhn", "--knows", "third")
    assert outcome.exit_code == 2
    assert "no role `third` (roles: first, second, random)" in outcome.stderr
    assert show("kuhn", "--knows", "first", "--state", "(phase open)").exit_code == 2


def test_what_is_true_in_no_possible_state_is_ruled_out():
    """Each fluent is sure, open or ruled out, and in one of these only; a base that cannot be listed is said."""
    game = herbrand.load("kuhn")
    known = possible_states(game, "first", history(game, "first", [DEAL]))
    assert {"(holds first king)", "(holds second queen)", "(phase deal)"} <= known.ruled_out
    assert sorted([*known.sure, *known.open, *known.ruled_out]) == sorted(game.base)
    assert known.as_json()["ruled_out"] == sorted(known.ruled_out)
    endless = herbrand.loads(
        """(role a) (init (n 0)) (legal a go) (sees a nothing)
        (<= (next (n (s ?x))) (true (n ?x))) (<= terminal (true (n 1))) (goal a 0)""",
        limits=Limits(seconds=0.5),
    )
    known = possible_states(endless, "a", history(endless, "a", [("go",)]))
    assert known.sure == {"(n (s 0))"}
    assert known.as_json()["ruled_out"] is None


def test_nothing_is_seen_before_the_first_move():
    """A game tells its players the deal in the step in which it is made."""
    game = herbrand.load("kuhn")
    assert game.initial_percepts == {"first": (), "second": (), "random": ()}
    assert history(game, "first", []) == ()
