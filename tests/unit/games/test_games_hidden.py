"""The bundled games of hidden information do what their descriptions say.

Each trace below is a play written by hand from the rules in the head of the rulesheet: who does what, and
what everybody is told.  Numbers that are known from elsewhere are checked as well.
"""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import permutations
from pathlib import Path

import pytest

import herbrand
from herbrand.analyse.knowledge import history, possible_states, solve
from herbrand.analyse.trial.play import play_checks

GAMES = Path(herbrand.__file__).parent / "games"

NAMES = (
    *("battleships", "coinMatching", "hiddenHands", "hiddenTreasure", "kriegTicTacToe", "leduc"),
    *("liarsDice", "mastermind", "pairs", "village"),
)

# ---- traces: moves of those who have a choice, and what the players are told ---------------

TRACES = {
    "a bluff in leduc": (
        "leduc",
        [
            ({"random": "(deal jack 1 queen 2)"}, {"first": ["(dealt jack)"], "second": ["(dealt queen)"]}),
            ({"first": "raise"}, {"second": ["(did first raise)"]}),
            ({"second": "call"}, {"first": ["(did second call)"]}),
            ({"random": "(reveal king 1)"}, {"first": ["(revealed king)"], "second": ["(revealed king)"]}),
            ({"first": "raise"}, {"second": ["(did first raise)"]}),
            ({"second": "fold"}, {"first": ["(did second fold)"]}),
        ],
        {"first": 59, "second": 41},  # one chip, and two in the first round
    ),
    "a showdown with a pair in leduc": (
        "leduc",
        [
            ({"random": "(deal jack 1 king 2)"}, {"first": ["(dealt jack)"], "second": ["(dealt king)"]}),
            ({"first": "check"}, {"second": ["(did first check)"]}),
            ({"second": "raise"}, {"first": ["(did second raise)"]}),
            ({"first": "raise"}, {"second": ["(did first raise)"]}),
            ({"second": "call"}, {"first": ["(did second call)"]}),
            ({"random": "(reveal jack 1)"}, {"first": ["(revealed jack)"], "second": ["(revealed jack)"]}),
            ({"first": "raise"}, {"second": ["(did first raise)"]}),
            ({"second": "raise"}, {"first": ["(did second raise)"]}),
            (
                {"first": "call"},
                {"first": ["(shown king)"], "second": ["(did first call)", "(shown jack)"]},
            ),
        ],
        {"first": 89, "second": 11},  # thirteen chips: one, two raises of two, two raises of four
    ),
    "equal cards in leduc": (
        "leduc",
        [
            ({"random": "(deal jack 1 jack 2)"}, {"first": ["(dealt jack)"], "second": ["(dealt jack)"]}),
            ({"first": "check"}, {"second": ["(did first check)"]}),
            ({"second": "check"}, {"first": ["(did second check)"]}),
            ({"random": "(reveal king 2)"}, {"first": ["(revealed king)"], "second": ["(revealed king)"]}),
            ({"first": "check"}, {"second": ["(did first check)"]}),
            (
                {"second": "check"},
                {"first": ["(did second check)", "(shown jack)"], "second": ["(shown jack)"]},
            ),
        ],
        {"first": 50, "second": 50},
    ),
    "paper wraps rock": (
        "hiddenHands",
        [
            ({"left": "(choose rock)"}, {"right": ["ready"]}),
            ({"right": "(choose paper)"}, {"left": ["(shown right paper)"], "right": ["(shown left rock)"]}),
        ],
        {"left": 0, "right": 100},
    ),
    "twice the same hand": (
        "hiddenHands",
        [
            ({"left": "(choose rock)"}, {"right": ["ready"]}),
            ({"right": "(choose rock)"}, {"left": ["(shown right rock)"], "right": ["(shown left rock)"]}),
        ],
        {"left": 50, "right": 50},
    ),
    "two tails": (
        "coinMatching",
        [
            ({"even": "(lay tails)"}, {}),
            (
                {"odd": "(lay tails)"},
                {
                    "even": ["(coin even tails)", "(coin odd tails)"],
                    "odd": ["(coin even tails)", "(coin odd tails)"],
                },
            ),
        ],
        {"even": 60, "odd": 40},
    ),
    "a wild three makes a bid true": (
        "liarsDice",
        [
            ({"random": "(roll 2 3)"}, {"first": ["(rolled 2)"], "second": ["(rolled 3)"]}),
            ({"first": "(bid 1 2)"}, {"second": ["(did first (bid 1 2))"]}),
            ({"second": "(bid 2 2)"}, {"first": ["(did second (bid 2 2))"]}),
            ({"first": "liar"}, {"first": ["(shown 3)"], "second": ["(did first liar)", "(shown 2)"]}),
        ],
        {"first": 0, "second": 100},
    ),
    "a liar": (
        "liarsDice",
        [
            ({"random": "(roll 2 1)"}, {"first": ["(rolled 2)"], "second": ["(rolled 1)"]}),
            ({"first": "(bid 1 3)"}, {"second": ["(did first (bid 1 3))"]}),
            ({"second": "liar"}, {"first": ["(did second liar)", "(shown 1)"], "second": ["(shown 2)"]}),
        ],
        {"first": 0, "second": 100},
    ),
    "a code found with the third guess": (
        "mastermind",
        [
            ({"random": "(hide red green blue)"}, {}),
            ({"breaker": "(guess green red white)"}, {"breaker": ["(answer 0 2)"]}),
            ({"breaker": "(guess red blue green)"}, {"breaker": ["(answer 1 2)"]}),
            ({"breaker": "(guess red green blue)"}, {"breaker": ["(answer 3 0)"]}),
        ],
        {"breaker": 80},
    ),
    "a ship sunk with the third shot": (
        "battleships",
        [
            ({"red": "(hide 1 1 across)", "blue": "(hide 2 3 down)"}, {}),
            ({"red": "(shoot 2 2)"}, {"red": ["miss"], "blue": ["(shot_at 2 2)"]}),
            ({"blue": "(shoot 1 2)"}, {"blue": ["hit"], "red": ["(shot_at 1 2)"]}),
            ({"red": "(shoot 2 3)"}, {"red": ["hit"], "blue": ["(shot_at 2 3)"]}),
            ({"blue": "(shoot 2 1)"}, {"blue": ["miss"], "red": ["(shot_at 2 1)"]}),
            ({"red": "(shoot 3 3)"}, {"red": ["hit"], "blue": ["(shot_at 3 3)"]}),
        ],
        {"red": 100, "blue": 0},
    ),
    "a diagonal against a try that failed": (
        "kriegTicTacToe",
        [
            ({"x": "(try 2 2)"}, {"x": ["ok"], "o": ["your_turn"]}),
            ({"o": "(try 2 2)"}, {"o": ["taken"]}),
            ({"o": "(try 1 2)"}, {"o": ["ok"], "x": ["your_turn"]}),
            ({"x": "(try 1 1)"}, {"x": ["ok"], "o": ["your_turn"]}),
            ({"o": "(try 1 3)"}, {"o": ["ok"], "x": ["your_turn"]}),
            ({"x": "(try 3 3)"}, {"x": ["ok"], "o": ["your_turn"]}),
        ],
        {"x": 100, "o": 0},
    ),
    "ben finds all pairs": (
        "pairs",
        [
            ({"random": "(lay sun 1)"}, {}),
            ({"random": "(lay moon 1)"}, {}),
            ({"random": "(lay star 2)"}, {}),
            ({"random": "(lay star 1)"}, {}),
            ({"random": "(lay sun 2)"}, {}),
            ({}, {}),
            ({"ann": "(turn 1)"}, {"ann": ["(shows 1 sun)"], "ben": ["(shows 1 sun)"]}),
            ({"ann": "(turn 2)"}, {"ann": ["(shows 2 moon)"], "ben": ["(shows 2 moon)"]}),
            ({"ben": "(turn 5)"}, {"ann": ["(shows 5 sun)"], "ben": ["(shows 5 sun)"]}),
            ({"ben": "(turn 1)"}, {"ann": ["(shows 1 sun)"], "ben": ["(shows 1 sun)"]}),
            ({"ben": "(turn 3)"}, {"ann": ["(shows 3 star)"], "ben": ["(shows 3 star)"]}),
            ({"ben": "(turn 4)"}, {"ann": ["(shows 4 star)"], "ben": ["(shows 4 star)"]}),
            ({"ben": "(turn 6)"}, {"ann": ["(shows 6 moon)"], "ben": ["(shows 6 moon)"]}),
            ({}, {"ann": ["(shows 2 moon)"], "ben": ["(shows 2 moon)"]}),
        ],
        {"ann": 0, "ben": 100},
    ),
    "the treasure seen from afar": (
        "hiddenTreasure",
        [
            ({"random": "(hide 1 3)"}, {}),
            ({"explorer": "(go 2 3)"}, {"explorer": ["shine"]}),
            ({"explorer": "(go 3 3)"}, {"explorer": ["shine"]}),
            ({}, {"explorer": ["shine"]}),  # back, the only way
            ({"explorer": "(go 1 3)"}, {"explorer": ["found", "shine"]}),
        ],
        {"explorer": 70},
    ),
}


def walk(game, steps):
    """Play the steps; check that exactly those who are named have a choice, and what the players are told."""
    state = game.initial_state()
    joints = []
    for number, (moves, told) in enumerate(steps, start=1):
        legal = state.legal_moves()
        assert {role for role, options in legal.items() if len(options) > 1} == set(moves), number
        joint = {role: moves.get(role, str(options[0])) for role, options in legal.items()}
        percepts = {role: list(terms) for role, terms in state.percepts(joint).items() if role != "random"}
        assert percepts == {role: told.get(role, []) for role in game.players}, number
        joints.append(joint)
        state = state.next(joint)
    return state, joints


@pytest.mark.parametrize("name", TRACES)
def test_traces(name):
    """What is told in each step, who has a choice, and the goals at the end are as written by hand."""
    file, steps, goals = TRACES[name]
    state, _ = walk(herbrand.load(file), steps)
    assert state.is_terminal
    assert {role: state.goal(role) for role in goals} == goals


def test_every_game_has_a_trace():
    """No game of this kind is without one; the longer one of the village is below."""
    assert {file for file, _, _ in TRACES.values()} | {"village"} == set(NAMES)


VILLAGE = [
    ({"random": "(deal ann penny 1)"}, {"ann": ["(drew penny)"]}),
    ({"random": "(deal ann penny 2)"}, {"ann": ["(drew penny)"]}),
    ({"ann": "(buy crown)"}, {"ann": ["(bought ann crown)"], "ben": ["(bought ann crown)"]}),
    ({}, {"ann": ["(ended ann)"], "ben": ["(ended ann)"]}),
    ({"random": "(deal ben house 1)"}, {"ben": ["(drew house)"]}),
    ({"random": "(deal ben penny 3)"}, {"ben": ["(drew penny)"]}),
    ({}, {"ann": ["(ended ben)"], "ben": ["(ended ben)"]}),
    ({"random": "(deal ann house 1)"}, {"ann": ["(drew house)"]}),
    ({}, {"ann": ["(drew penny)"]}),
    ({}, {"ann": ["(ended ann)"], "ben": ["(ended ann)"]}),
    ({"random": "(deal ben penny 1)"}, {"ben": ["(drew penny)"]}),
    ({}, {"ben": ["(drew penny)"]}),
    ({"ben": "end_turn"}, {"ann": ["(ended ben)"], "ben": ["(ended ben)"]}),
    ({}, {"ann": ["(shuffled ann)"], "ben": ["(shuffled ann)"]}),
    ({"random": "(deal ann crown 1)"}, {"ann": ["(drew crown)"]}),
    ({"random": "(deal ann penny 3)"}, {"ann": ["(drew penny)"]}),
    ({"ann": "(buy house)"}, {"ann": ["(bought ann house)"], "ben": ["(bought ann house)"]}),
]


def test_two_turns_and_a_house_in_the_village():
    """Ann buys a crown with two pennies, draws it after the shuffle, and buys a house with three coins."""
    state, _ = walk(herbrand.load("village"), VILLAGE)
    assert not state.is_terminal
    assert {
        f
        for f in state.facts
        if f.split()[0] in ("(money", "(houses", "(turns", "(to_draw", "(table", "(control")
    } == {
        *("(money ann 0)", "(money ben 0)", "(houses ann 2)", "(houses ben 1)", "(turns 4)", "(to_draw 0)"),
        *("(table 3 crown)", "(table 3 house)", "(control ann)"),
    }
    assert {f for f in state.facts if " ann " in f and f.startswith(("(deck", "(hand", "(discard"))} == {
        *("(deck ann penny 2)", "(deck ann crown 0)", "(deck ann house 1)"),
        *("(hand ann penny 1)", "(hand ann crown 1)", "(hand ann house 0)"),
        *("(discard ann penny 0)", "(discard ann crown 0)", "(discard ann house 1)"),
    }
    assert [str(move) for move in state.legal_moves("ann")] == ["end_turn"]


def test_cards_of_the_village_are_never_lost():
    """Deck, hand and discard pile together have what was there at the start, and what was bought."""
    game = herbrand.load("village")
    state = game.initial_state("network")
    import random

    chance = random.Random(4)
    while not state.is_terminal:
        state = state.next({role: chance.choice(moves) for role, moves in state.legal_moves().items()})
        counts = {}
        for fact in state.facts:
            words = fact.strip("()").split()
            if words[0] in ("deck", "hand", "discard"):
                counts[words[2]] = counts.get(words[2], 0) + int(words[3])
        table = {
            fact.split()[2].rstrip(")"): int(fact.split()[1])
            for fact in state.facts
            if fact.startswith("(table")
        }
        assert counts["penny"] == 6
        assert counts["crown"] + table["crown"] == 4
        assert counts["house"] + table["house"] == 6
        houses = sum(int(f.rstrip(")").split()[2]) for f in state.facts if f.startswith("(houses"))
        assert houses == counts["house"]
    assert sorted(state.goals.values())[1:] in ([0, 100], [50, 50])


# ---- what is known ------------------------------------------------------------------------


@pytest.mark.slow_except("coinMatching", "liarsDice", "hiddenTreasure")
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("hiddenHands", [50, 50]),
        ("coinMatching", [Fraction(75, 2), Fraction(125, 2)]),
        ("liarsDice", [Fraction(500, 9), Fraction(400, 9)]),
        ("hiddenTreasure", [70]),
    ],
)
def test_values(name, value):
    """The exact values are those of the pages of facts."""
    pytest.importorskip("scipy")
    found = solve(herbrand.load(name))
    assert list(found.value.values()) == value
    assert not found.regret


def test_leduc_is_worth_what_the_literature_says():
    """The first player loses 0.0856 chips of three points each; the program proves it to many places."""
    pytest.importorskip("scipy")
    found = solve(herbrand.load("leduc"))
    assert found.sizes["information_sets"] == 288
    low, high = found.bounds["first"]
    assert high - low < Fraction(1, 10**6)
    assert found.value is None, "it is not proved exactly"
    assert found.as_json()["value"]["first"] == found.estimate["first"] == pytest.approx(49.7432, abs=1e-4)
    assert float((low - 50) / 3) == pytest.approx(-0.085606, abs=1e-5)


@pytest.mark.slow_except("kuhn")
@pytest.mark.parametrize(
    ("name", "other", "points"),
    [
        ("kuhn", "kuhn_poker", 25),
        ("leduc", "leduc_poker", 3),
        ("liarsDice", "liars_dice(numdice=1,dice_sides=3)", 50),
    ],
)
def test_values_are_those_of_openspiel(name, other, points):
    """Regret minimisation of OpenSpiel on its own game comes to the same value."""
    pyspiel = pytest.importorskip("pyspiel")
    pytest.importorskip("scipy")
    exploitability = pytest.importorskip("open_spiel.python.algorithms.exploitability")
    game = pyspiel.load_game(other)
    solver = pyspiel.CFRPlusSolver(game)
    for _ in range(150 if name != "leduc" else 30):
        solver.evaluate_and_update_policy()
    policy = solver.average_policy()
    theirs = pyspiel.expected_returns(game.new_initial_state(), policy, -1, True)[0]
    error = exploitability.nash_conv(
        game, policy
    )  # by how much best replies gain: the value is no further away
    assert error < (0.1 if name != "leduc" else 0.5)
    low, _ = solve(herbrand.load(name)).bounds["first"]
    assert (float(low) - 50) / points == pytest.approx(theirs, abs=error)


def test_codes_that_fit_an_answer():
    """After one answer the possible codes are those of sixty that would have given it, all equally likely."""
    game = herbrand.load("mastermind")
    joints = [("noop", "(hide red green blue)"), ("(guess green red white)", "noop")]
    known = possible_states(game, "breaker", history(game, "breaker", joints))
    colours = ("red", "green", "blue", "yellow", "white")
    guess = ("green", "red", "white")

    def answer(code):
        blacks = sum(a == b for a, b in zip(code, guess, strict=True))
        return blacks, len(set(code) & set(guess)) - blacks

    fitting = {f"(code {' '.join(code)})" for code in permutations(colours, 3) if answer(code) == (0, 2)}
    assert set(known.open) == fitting
    assert set(known.open.values()) == {Fraction(1, len(fitting))}


def test_a_taken_square_is_known_to_be_the_others():
    """After a try that failed, o knows where x is; before it, x may be at nine squares."""
    game = herbrand.load("kriegTicTacToe")
    joints = [("(try 2 2)", "noop")]
    known = possible_states(game, "o", history(game, "o", joints))
    assert known.chance("(true (cell 2 2 x))") == Fraction(1, 9)
    joints.append(("noop", "(try 2 2)"))
    known = possible_states(game, "o", history(game, "o", joints))
    assert "(cell 2 2 x)" in known.sure
    assert len(known.legal_moves) == 8


def test_ships_are_known_by_the_shots():
    """A hit in a corner leaves two ways for the ship to lie, each with a chance that one can count."""
    game = herbrand.load("battleships")
    joints = [("(hide 1 1 across)", "(hide 1 1 down)"), ("(shoot 1 1)", "noop")]
    known = possible_states(game, "red", history(game, "red", joints))
    assert known.open["(ship blue 2 1)"] == known.open["(ship blue 1 2)"] == Fraction(1, 2)


# ---- every game -----------------------------------------------------------------------------


@pytest.mark.slow_except("coinMatching", "mastermind", "leduc", "battleships", "hiddenTreasure")
@pytest.mark.parametrize("name", NAMES)
def test_no_warning(name):
    """The checks find nothing, played ones included, but notes that are meant to be there."""
    game = herbrand.load(name)
    found = {d.check for d in (*game.diagnostics, *play_checks(game, playouts=1))}
    assert found <= {"random-goal", "next-in-body", "unknown-end"}, (
        "in krieg-tic-tac-toe the manager ends the game"
    )


@pytest.mark.parametrize("name", NAMES)
def test_random_games_end_with_goals(name):
    """Every random game ends, and everybody has a goal value."""
    report = herbrand.load(name).simulate(300, seed=1, engine="network")
    assert report.truncated == 0
    assert all(goal.undefined == 0 for goal in report.goals.values())
    assert all(len(goal.distribution) > 1 for role, goal in report.goals.items() if role != "random")


@pytest.mark.parametrize("name", NAMES)
def test_pages_of_facts(name):
    """The page has every field, and the roles of the sheet."""
    page = json.loads((GAMES / f"{name}.json").read_text(encoding="utf-8"))
    assert page["name"] == name
    assert tuple(page["roles"]) == herbrand.load(name).roles
    assert all(page[field].strip() for field in ("title", "rules_source", "description"))
    assert ("random" in page["features"]) == ("random" in page["roles"])
    assert {"GDL-II", "incomplete information"} <= set(page["features"])
    assert all(known["fact"] and "value" in known and known["source"] for known in page["known"])
