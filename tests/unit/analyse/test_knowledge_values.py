"""Values of games: equal to what is known, and proved where they are called exact."""

from __future__ import annotations

import itertools
import json
import sys
from fractions import Fraction

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

import herbrand
from herbrand.analyse.knowledge import solve, unfold
from herbrand.analyse.knowledge.plans import best_reply, expected_goals, from_choices, regret
from herbrand.analyse.knowledge.sequence_form import best_plan, equilibrium, proved_bounds
from herbrand.analyse.solving.matrix import matrix_value, maximum
from herbrand.cli.main import cli
from herbrand.errors import BudgetExceeded, GameError, MissingExtra

pytest.importorskip("scipy")

HEAD = "(init (step 0)) (<= (next (step 1)) (true (step 0))) (<= terminal (true (step 1)))"


def coins(goal_a: str, goal_b: str, percepts: str = "") -> herbrand.Game:
    """A game of two who show a side of a coin at once; goals are rules about `same`."""
    return herbrand.loads(f"""(role a) (role b) {HEAD} (side heads) (side tails) {percepts}
        (<= (legal ?r ?s) (role ?r) (side ?s))
        (<= (next same) (does a ?s) (does b ?s)) {goal_a} {goal_b}""")


PENNIES = (
    "(<= (goal a 100) (true same)) (<= (goal a 0) (not (true same)))",
    "(<= (goal b 0) (true same)) (<= (goal b 100) (not (true same)))",
)


def test_kuhn_poker_is_worth_minus_an_eighteenth():
    """The first player of Kuhn poker gets 50 - 25/18, exactly, and the plans that show it have no regret."""
    found = solve(herbrand.load("kuhn"))
    assert found.method == "sequence form"
    assert found.value == {"first": 50 - Fraction(25, 18), "second": 50 + Fraction(25, 18)}
    assert found.regret == 0
    assert found.sizes["information_sets"] == 12
    jack = found.strategies["second"]["saw (dealt jack); saw (did first bet)"]
    assert jack == {"call": 0, "fold": 1}
    king = found.strategies["second"]["saw (dealt king); saw (did first bet)"]
    assert king == {"call": 1, "fold": 0}
    queen = found.strategies["second"]["saw (dealt queen); saw (did first bet)"]
    assert queen["call"] == Fraction(1, 3), "Kuhn: the second player calls with the queen in a third of cases"
    bluff = found.strategies["second"]["saw (dealt jack); saw (did first check)"]
    assert bluff["bet"] == Fraction(1, 3), "Kuhn: and bluffs with the jack as often"


@pytest.mark.parametrize("method", ["cfr", "cfr+"])
def test_regret_minimisation_comes_near_kuhns_value(method):
    """The value lies between the bounds that the plans prove, and the plans are nearly best."""
    found = solve(herbrand.load("kuhn"), method=method, rounds=400)
    low, high = found.bounds["first"]
    assert low <= 50 - Fraction(25, 18) <= high
    assert found.exploitability < 0.5
    assert found.value is None
    assert "known within" in found.reason
    assert found.regret == high - low


def test_monty_hall_is_worth_two_thirds():
    """One player against chance: the best reply switches."""
    found = solve(herbrand.load("montyHall"))
    assert (found.method, found.value) == ("best reply", {"candidate": Fraction(200, 3)})
    decisions = found.strategies["candidate"]
    last = [chances for told, chances in decisions.items() if "opened" in told]
    assert last
    assert all(chances == {"stay": 0, "switch": 1} for chances in last)


@pytest.mark.parametrize(
    ("name", "value"),
    [("ticTacToe3", [50, 50]), ("rockPaperScissors", [50, 50]), ("nim", [100, 0])],
)
def test_games_of_perfect_information(name, value):
    """Backward induction gives the known values, with moves at once as matrix games."""
    found = solve(herbrand.load(name))
    assert found.method == "backward induction"
    assert list(found.value.values()) == value


def test_matching_pennies_by_three_ways():
    """Seeing everything, or nothing, of a single step at once makes no difference: 50 each."""
    open_game = coins(*PENNIES)
    hidden = coins(*PENNIES, percepts="(<= (sees a started) (true (step 0)))")
    assert solve(open_game).value == {"a": 50, "b": 50}
    assert solve(open_game, method="sequence form").value == {"a": 50, "b": 50}
    found = solve(hidden)
    assert found.method == "sequence form"
    assert found.value == {"a": 50, "b": 50}
    assert set(found.strategies["a"]["(at the start)"].values()) == {Fraction(1, 2)}


def test_chance_and_choice_by_expectimax():
    """A fair die may be rolled again once: 3.5 becomes 4.25 (times twelve)."""
    faces = " ".join(f"(worth {n} {n * 12})" for n in range(1, 7))
    game = herbrand.loads(f"""(role a) (role random) (init (left 2)) {faces}
        (<= (legal random (roll ?n)) (true rolling) (worth ?n ?g)) (init rolling)
        (<= (legal random wait) (not (true rolling)))
        (<= (legal a wait) (true rolling))
        (<= (legal a again) (not (true rolling)) (true (left 1)))
        (<= (legal a stop) (not (true rolling)))
        (<= (next (shows ?n)) (does random (roll ?n)))
        (<= (next (shows ?n)) (true (shows ?n)) (does a stop))
        (<= (next (left 1)) (true (left 2)) (true rolling))
        (<= (next (left 0)) (true (left 1)) (true rolling))
        (<= (next (left ?n)) (true (left ?n)) (not (true rolling)))
        (<= (next rolling) (does a again))
        (<= (next stopped) (does a stop))
        (<= terminal (true stopped))
        (<= (goal a ?g) (true (shows ?n)) (worth ?n ?g))""")
    assert solve(game).value == {"a": Fraction(17, 4) * 12}


def test_what_has_no_value_says_why():
    """No constant sum, ties among three, states that recur, and spent budgets are reasons."""
    dilemma = coins("(<= (goal a 100) (true same)) (<= (goal a 0) (not (true same)))", "(goal b 10)")
    assert "no constant sum" in solve(dilemma).reason
    assert solve(dilemma).value is None
    hidden = coins(
        "(<= (goal a 100) (true same)) (<= (goal a 0) (not (true same)))", "(goal b 10)", "(sees a x)"
    )
    assert "no constant sum" in solve(hidden).reason
    kingmaker = herbrand.loads(f"""(role a) (role b) (role c) {HEAD}
        (legal a (help b)) (legal a (help c)) (legal b wait) (legal c wait)
        (<= (next (up ?r)) (does a (help ?r))) (goal a 50)
        (<= (goal b 100) (true (up b))) (<= (goal b 0) (not (true (up b))))
        (<= (goal c 100) (true (up c))) (<= (goal c 0) (not (true (up c))))""")
    assert "several subgame-perfect values" in solve(kingmaker).reason
    circle = herbrand.loads(
        "(role a) (init p) (legal a stay) (legal a end) (<= (next p) (does a stay)) (<= (next q) (does a end))"
        "(<= terminal (true q)) (goal a 100)"
    )
    assert "need not end" in solve(circle).reason
    assert "over budget: 50 states" in solve(herbrand.load("ticTacToe"), nodes=50).reason
    assert "over budget: 20 nodes" in solve(herbrand.load("kuhn"), nodes=20).reason
    with pytest.raises(BudgetExceeded):
        unfold(herbrand.load("kuhn"), nodes=20)
    with pytest.raises(ValueError, match="no method"):
        solve(dilemma, method="magic")
    with pytest.raises(GameError):
        solve(herbrand.loads("(role a) (<= (legal a ?x) (not (p ?x)))"))


def test_constant_sum_is_asked_of_all_plays():
    """A matrix game early in the search is no excuse for goals that turn out not to be constant."""
    game = herbrand.loads("""(role a) (role b) (init (step 0)) (side heads) (side tails)
        (<= (legal ?r ?s) (role ?r) (side ?s) (true (step 1)))
        (<= (legal a ?s) (side ?s) (true (step 0))) (<= (legal b wait) (true (step 0)))
        (<= (next (step 1)) (true (step 0)) (does a heads)) (<= (next bad) (does a tails) (true (step 0)))
        (<= (next over) (true (step 1))) (<= (next same) (true (step 1)) (does a ?s) (does b ?s))
        (<= terminal (true over)) (<= terminal (true bad))
        (<= (goal ?r 10) (role ?r) (true bad))
        (<= (goal a 100) (true same)) (<= (goal a 0) (true over) (not (true same)))
        (<= (goal b 0) (true same)) (<= (goal b 100) (true over) (not (true same)))""")
    assert solve(game).value is None
    assert "no constant sum" in solve(game).reason


def test_a_role_that_cannot_know_its_legal_moves_stops_the_unfolding():
    """The message names the role and what it was told."""
    game = herbrand.loads("""(role a) (role random) (init (step 0)) (sees a nothing)
        (<= (legal random (put ?n)) (true (step 0)) (num ?n)) (num 1) (num 2)
        (<= (legal random wait) (true (step 1)))
        (<= (legal a wait) (true (step 0))) (<= (legal a (take ?n)) (true (lies ?n)))
        (<= (next (lies ?n)) (does random (put ?n))) (<= (next (step 1)) (true (step 0)))
        (<= (next over) (true (step 1))) (<= terminal (true over)) (goal a 0)""")
    with pytest.raises(GameError, match="a cannot know its legal moves after: saw nothing"):
        unfold(game)


def test_the_linear_program_of_a_large_game_needs_its_extra(monkeypatch):
    """Without scipy small games are solved in fractions; large ones have bounds, and the extra is named."""
    monkeypatch.setitem(sys.modules, "scipy.optimize", None)
    found = solve(herbrand.game.load("kuhn"))
    assert found.value == {"first": 50 - Fraction(25, 18), "second": 50 + Fraction(25, 18)}
    assert found.regret == 0
    assert solve(herbrand.game.load("montyHall")).solved
    with pytest.raises(MissingExtra, match=r"herbrand\[analyse\]"):
        solve(herbrand.game.load("liarsDice"), method="sequence form")
    near = solve(herbrand.game.load("liarsDice"), rounds=60)
    assert (near.method, near.value) == ("cfr+", None)
    assert "herbrand[analyse]" in near.reason
    low, high = near.bounds["first"]
    assert low <= Fraction(500, 9) <= high <= low + 5


@pytest.mark.parametrize("name", ["kuhn", "coinMatching", "hiddenHands"])
def test_two_linear_programs_agree(name):
    """In fractions and in floating-point numbers the value is the same, and proved by the plans of both."""
    tree = unfold(herbrand.load(name))
    exact = [best_plan(tree, place) for place in (0, 1)]
    low, high, _ = equilibrium(tree)
    assert proved_bounds(tree, exact) == (low, high)
    assert low == high


@given(st.lists(st.lists(st.integers(0, 9), min_size=3, max_size=3), min_size=1, max_size=4))
def test_the_simplex_method_solves_matrix_games(rows):
    """Maximise v with A' x >= v, sum x <= 1: the value of the game with the matrix A."""
    payoff = [[Fraction(value) for value in row] for row in rows]
    gain = [Fraction(0)] * len(rows) + [Fraction(1)]
    limits = [[-payoff[i][j] for i in range(len(rows))] + [Fraction(1)] for j in range(3)]
    limits.append([Fraction(1)] * len(rows) + [Fraction(0)])
    solution, _ = maximum(gain, limits, [Fraction(0)] * 3 + [Fraction(1)])
    assert solution[-1] == matrix_value(payoff)[0]
    with pytest.raises(ValueError, match="no largest"):
        maximum([Fraction(1)], [[Fraction(-1)]], [Fraction(1)])


def test_solutions_as_text_and_json():
    """Numbers are numbers, fractions are kept as text, and the text names method and value."""
    found = solve(herbrand.load("kuhn"))
    told = found.as_json()
    assert told["value"]["first"] == pytest.approx(48.6111, abs=1e-4)
    assert told["exact"] == {"first": "875/18", "second": "925/18"}
    assert str(found).splitlines()[:2] == [
        "kuhn: sequence form, 55 nodes, 30 leaves, 12 information sets",
        "  first 875/18 (48.6111)",
    ]


def test_analyse_tells_the_value():
    """`herbrand analyse kuhn --json` has the exact value, and the page for people as well."""
    outcome = CliRunner().invoke(cli, ["analyse", "kuhn", "--json"], catch_exceptions=False)
    told = json.loads(outcome.stdout)
    assert told["value"]["first"] == pytest.approx(875 / 18)
    assert told["value"]["second"] == pytest.approx(925 / 18)
    assert told["solution"]["exact"] == {"first": "875/18", "second": "925/18"}
    text = CliRunner().invoke(cli, ["analyse", "montyHall"], catch_exceptions=False).stdout
    assert "value              (best reply)\n    candidate: 66.6667 (200/3)\n" in text


def test_a_spent_clock_says_how_far_it_came():
    """Seconds are a budget, too."""
    none = herbrand.Limits(seconds=0)
    assert "over budget: 0 seconds (1 nodes" in solve(herbrand.load("kuhn"), limits=none).reason
    assert "over budget: 0 seconds (0 states" in solve(herbrand.load("nim"), limits=none).reason


def test_the_unfolding_of_kuhn_poker_is_that_of_the_book():
    """Six information sets each, thirty plays, weights that add up, and even play worth what one can count."""
    tree = unfold(herbrand.load("kuhn"))
    assert [len(player.sets) for player in tree.players] == [6, 6]
    assert len(tree.leaves) == 30
    assert tree.constant_sum == 100
    assert tree.steps == 4
    plans = [from_choices(player, lambda _: [Fraction(1, 2)] * 2) for player in tree.players]
    total = sum(
        leaf.weight * plans[0][leaf.sequences[0]] * plans[1][leaf.sequences[1]] for leaf in tree.leaves
    )
    assert total == 1
    # check-check 1/4 and bet-call 1/4 cancel; bet-fold wins 25 in 1/4, check-bet-fold loses 25 in 1/8
    assert expected_goals(tree, plans) == [50 + 25 * Fraction(1, 8), 50 - 25 * Fraction(1, 8)]
    assert regret(tree, plans) > 0


def test_best_replies_agree_with_trying_all_pure_plans():
    """The best reply to even play is worth as much as the best of all 64 pure plans."""
    tree = unfold(herbrand.load("kuhn"))
    plans = [from_choices(player, lambda _: [Fraction(1, 2)] * 2) for player in tree.players]
    for place, player in enumerate(tree.players):
        worths = []
        for pure in itertools.product((0, 1), repeat=len(player.sets)):
            tried = list(plans)
            tried[place] = from_choices(player, lambda k, p=pure: [Fraction(1 - p[k]), Fraction(p[k])])
            worths.append(expected_goals(tree, tried)[place])
        worth, reply = best_reply(tree, place, plans)
        assert worth == max(worths)
        tried = list(plans)
        tried[place] = reply
        assert expected_goals(tree, tried)[place] == worth


@settings(max_examples=60, deadline=None)
@given(
    st.integers(1, 4).flatmap(
        lambda n: st.lists(st.lists(st.integers(0, 9), min_size=n, max_size=n), min_size=1, max_size=4)
    )
)
def test_matrix_values_are_proved_by_both_mixes(rows):
    """The row mix gets at least the value against every column, the column mix allows no more."""
    payoff = [[Fraction(value) for value in row] for row in rows]
    value, mine, yours = matrix_value(payoff)
    assert sum(mine) == sum(yours) == 1
    assert min(*mine, *yours) >= 0
    columns = list(zip(*payoff, strict=True))
    assert min(sum(p * v for p, v in zip(mine, column, strict=True)) for column in columns) == value
    assert max(sum(p * v for p, v in zip(yours, row, strict=True)) for row in payoff) == value
