"""The examples of the five texts that the project has to satisfy: all are read, their mistakes are named."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import herbrand
from herbrand.analyse.trial.play import play_checks
from herbrand.check import check
from herbrand.diagnostic import apply_fixes
from herbrand.game import Game
from herbrand.syntax import read, read_file

SEEDS = Path(__file__).parent.parent.parent / "golden" / "seeds"
EXPECTED = json.loads((SEEDS / "expected.json").read_text(encoding="utf-8"))


def found(path: Path) -> dict[str, object]:
    tree = read_file(path)
    return {
        "notation": tree.notation,
        "statements": len(tree.statements),
        "findings": [
            [d.check, d.severity.value, tree.source.position(d.span.start).line] for d in tree.diagnostics
        ],
    }


def test_every_example_is_expected():
    """Each example has an expectation, and there is an example of each of the five texts."""
    files = {path.name for path in SEEDS.iterdir() if path.suffix != ".json"}
    assert files == set(EXPECTED)
    assert {name[:3] for name in files} == {"000", "001", "002", "003", "004"}


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_example(name):
    """Reading an example finds what is wrong in it, at its line, and nothing else."""
    assert found(SEEDS / name) == EXPECTED[name]


def test_the_book_sheet_is_repaired_by_its_fixes():
    """The fixes for the two missing and two dangling signs give the golden text, without findings."""
    tree = read_file(SEEDS / "000_tictactoe.hrf")
    text, applied = apply_fixes(tree.source.text, tree.diagnostics)
    assert text == (SEEDS / "000_tictactoe.fixed.hrf").read_text(encoding="utf-8")
    assert len(applied) == 4
    again = read(text, "infix")
    assert again.diagnostics == ()
    assert again.statements == tree.statements


@pytest.mark.parametrize(
    ("torn", "whole"),
    [
        ("002_stratification.hrf", "002_stratification.fixed.hrf"),
        ("003_deal.kif", "003_deal.fixed.kif"),
    ],
)
def test_fixing_again_and_again_gives_the_golden_text(torn, whole):
    """Repeated fixes take the stray parenthesis away, and make prefix terms of the card rules."""
    tree = read_file(SEEDS / torn)
    text = tree.source.text
    for _ in range(3):
        text, _ = apply_fixes(text, read(text, tree.notation).diagnostics)
    assert text == (SEEDS / whole).read_text(encoding="utf-8")
    assert read(text, tree.notation).diagnostics == ()


COMPLETE = {"missing-keyword", "no-init-or-next", "missing-base-or-input", "no-extreme-goal"}
"""What only complete games are asked for; most examples are fragments."""
CHECKED = {
    "000_tictactoe.fixed.hrf": [("unsafe-variable", "error", 80)],
    "000_tictactoe.playable.hrf": [],
    "001_tictactoe3.pl": [],
    "002_does.kif": [("unsafe-distinct", "error", 6), ("unsafe-distinct", "error", 8)],
    "002_goal.kif": [("undefined-relation", "warning", 2)],
    "002_init.kif": [],
    "002_next.kif": [],
    "002_roles.kif": [],
    "002_stratification.fixed.hrf": [
        ("undefined-relation", "warning", 2),
        ("unstratified-negation", "error", 2),
    ],
    "002_terminal.kif": [("undefined-relation", "warning", 3)],
    "003_buy.kif": [("undefined-relation", "warning", 4), ("undefined-relation", "warning", 6)],
    "003_deal.fixed.kif": [("keyword-as-function", "warning", 2), ("sees-in-body", "error", 8)],
    "003_deal.repaired.kif": [],
    "003_tictactoe.kif": [],
}


@pytest.mark.parametrize("name", sorted(CHECKED))
def test_checks_find_what_reading_cannot(name):
    """The faults that are no matter of spelling are found too, each at its line, and nothing else."""
    tree = read_file(SEEDS / name)
    assert [
        (d.check, d.severity.value, tree.source.position(d.span.start).line)
        for d in check(tree).diagnostics
        if d.check not in COMPLETE
    ] == CHECKED[name]


def test_the_unstratified_example_is_reported_although_it_is_torn():
    """The stray parenthesis does not hide that `q` depends on its own negation."""
    checks = {d.check for d in check(read_file(SEEDS / "002_stratification.hrf")).diagnostics if d.is_error}
    assert checks >= {"extra-parenthesis", "unstratified-negation"}


# -- the games, played -------------------------------------------------------------------------


def kif(text, notation="prolog"):
    """The facts of a list in infix or Prolog, as prefix text."""
    return {str(rule.head) for rule in read(text, notation).statements}


def test_the_book_sheet_is_over_before_it_begins():
    """A row of blanks counts as a line, so the first state is terminal; the check of played games says so."""
    text = (SEEDS / "000_tictactoe.fixed.hrf").read_text(encoding="utf-8")
    tree = read(text.replace("column(M,X) :-\n", "column(N,X) :-\n"), "infix")
    game = Game(tree)
    assert not game.rules.errors
    assert game.initial_state().is_terminal
    found = [(d.check, tree.source.position(d.span.start).line) for d in play_checks(game)]
    assert ("initial-state-terminal", 95) in found


def test_the_book_sheet_as_it_stands_is_not_played():
    """The variable that is never bound is an error, so nothing that needs play is claimed."""
    game = herbrand.load(SEEDS / "000_tictactoe.hrf")
    assert "unsafe-variable" in {d.check for d in game.rules.errors}
    with pytest.raises(herbrand.GameError):
        game.initial_state()
    assert play_checks(game) == ()


@pytest.fixture(scope="module")
def book():
    return herbrand.load(SEEDS / "000_tictactoe.playable.hrf")


@pytest.mark.parametrize("engine", ["rules", "naive", "network"])
def test_simulation_of_the_book(book, engine):
    """The example of section 4: first state, goals, legal moves, and the state after the first move."""
    state = book.initial_state(engine)
    cells = {f"(cell {m} {n} b)" for m in (1, 2, 3) for n in (1, 2, 3)}
    assert state.facts == cells | {"(control x)"}
    assert not state.is_terminal
    assert state.goals == {"x": 50, "o": 50}
    assert {role: [str(move) for move in moves] for role, moves in state.legal_moves().items()} == {
        "x": [f"(mark {m} {n})" for m in (1, 2, 3) for n in (1, 2, 3)],
        "o": ["noop"],
    }
    after = state.next({"x": "(mark 1 1)", "o": "noop"})
    assert after.facts == cells - {"(cell 1 1 b)"} | {"(cell 1 1 x)", "(control o)"}
    assert not after.is_terminal
    assert [str(move) for move in after.legal_moves("x")] == ["noop"]


def test_lists_of_the_book_are_what_its_rules_give(book):
    """Evaluation gives the 29 bases, the 20 inputs and the inits and legal moves that the book lists."""
    state = book.initial_state()
    bases = {f"(base {answer['p']})" for answer in state.ask("(base ?p)")}
    inputs = {f"(input {answer['r']} {answer['m']})" for answer in state.ask("(input ?r ?m)")}
    legal = {f"(legal {role} {move})" for role, moves in state.legal_moves().items() for move in moves}
    after = state.next({"x": "(mark 1 1)", "o": "noop"})
    for name, got in {
        "base": bases,
        "input": inputs,
        "init": {f"(init {fact})" for fact in state.facts},
        "legal": legal,
        "next": {f"(next {fact})" for fact in after.facts},
    }.items():
        assert got == {str(rule.head) for rule in read_file(SEEDS / f"000_{name}.hrf").statements}, name
    assert (len(bases), len(inputs)) == (29, 20)


def test_games_of_the_book_take_five_to_nine_steps(book):
    """Random play ends after five moves at the earliest and with a full board at the latest."""
    lengths = book.simulate(2000, seed=1).length
    assert (lengths["min"], lengths["max"]) == (5, 9)


def test_two_lines_have_no_goal_value(book):
    """The book's goal rules leave out that both sides have a line, which no play reaches."""
    rows = {f"(cell {m} {n} {mark})" for m, mark in ((1, "x"), (2, "o"), (3, "b")) for n in (1, 2, 3)}
    state = book.state({*rows, "(control x)"})
    assert state.goals == {"x": None, "o": None}
    assert [state.goal_values(role) for role in book.roles] == [(), ()]


@pytest.fixture(scope="module")
def prolog():
    return herbrand.load(SEEDS / "001_tictactoe3.pl")


START = """cell(1, 1, x). cell(1, 2, x). cell(1, 3, o). cell(2, 1, b). cell(2, 2, o). cell(2, 3, b).
cell(3, 1, b). cell(3, 2, o). cell(3, 3, x). control(white)."""
SECOND = START.replace("2, 1, b", "2, 1, x").replace("white", "black")
O_WINS = SECOND.replace("3, 1, b", "3, 1, o").replace("black", "white")
STILL_OPEN = SECOND.replace("2, 3, b", "2, 3, o").replace("black", "white")


def test_the_prolog_game_begins_in_the_middle(prolog):
    """Its first state is the one of the text, and its lists of bases and inputs are complete."""
    state = prolog.initial_state()
    assert state.facts == kif(START)
    assert len(state.ask("(base ?p)")) == 29
    inputs = [(answer["r"], answer["m"]) for answer in state.ask("(input ?r ?m)")]
    moves = ["(mark 2 1)", "(mark 2 3)", "(mark 3 1)", "noop"]
    assert sorted(inputs) == [(role, move) for role in ("black", "white") for move in moves]


@pytest.mark.parametrize(
    ("facts", "white", "black"),
    [
        (START, ["(mark 2 1)", "(mark 2 3)", "(mark 3 1)"], ["noop"]),
        (SECOND, ["noop"], ["(mark 2 3)", "(mark 3 1)"]),
    ],
)
def test_actions(prolog, facts, white, black):
    """The two queries for `actions`: each move once, in order."""
    moves = prolog.state(kif(facts)).legal_moves()
    assert {role: list(map(str, moves[role])) for role in moves} == {"white": white, "black": black}


def test_next(prolog):
    """The query for `next`: one state, where the text's own program gives the same answer twice."""
    after = prolog.state(kif(START)).next(("(mark 3 1)", "noop"))
    assert after.facts == kif(START.replace("3, 1, b", "3, 1, x").replace("white", "black"))
    assert len(after.facts) == 10


@pytest.mark.parametrize(
    ("facts", "white", "black", "is_over"), [(O_WINS, "0", "100", True), (STILL_OPEN, "50", "50", False)]
)
def test_values_and_terminal(prolog, facts, white, black, is_over):
    """The two queries for `values` and `terminal`: one value for each role."""
    state = prolog.state(kif(facts))
    assert (state.goal_values("white"), state.goal_values("black")) == ((white,), (black,))
    assert state.is_terminal is is_over


def test_the_annotated_game_is_played():
    """The game with run-together comments: nine moves at first, no goal before the end, right results."""
    game = herbrand.load(SEEDS / "003_tictactoe.kif")
    assert game.roles == ("xplayer", "oplayer")
    assert play_checks(game) == ()
    state = game.initial_state()
    assert not state.is_terminal
    assert state.goals == {"xplayer": None, "oplayer": None}
    assert len(state.legal_moves("xplayer")) == 9
    for move in ("(mark 1 1)", "(mark 2 1)", "(mark 1 2)", "(mark 2 2)", "(mark 1 3)"):
        is_x = "(control xplayer)" in state.facts
        assert not state.is_terminal
        state = state.next((move, "noop") if is_x else ("noop", move))
    assert state.is_terminal
    assert state.goals == {"xplayer": 100, "oplayer": 0}
    lengths = game.simulate(2000, seed=1).length
    assert (lengths["min"], lengths["max"]) == (5, 9)


CARD_GAME = """
(role alice) (role random)
(init (indeck queen)) (init (indeck king))
(<= (legal alice noop) (role alice))
(<= dealt (true (holds alice ?card)))
(<= terminal dealt)
(goal alice 100)
"""


def test_the_repaired_card_rules_can_be_played():
    """In a small game around the rules repaired by hand, the card that random deals is held afterwards."""
    game = herbrand.loads((SEEDS / "003_deal.repaired.kif").read_text(encoding="utf-8") + CARD_GAME, "prefix")
    assert not game.rules.errors
    state = game.initial_state()
    assert list(map(str, state.legal_moves("random"))) == ["(deal alice king)", "(deal alice queen)"]
    after = state.next({"alice": "noop", "random": "(deal alice king)"})
    assert after.facts == {"(holds alice king)"}
    assert after.is_terminal


def test_the_missing_signs_are_inserted_where_they_belong():
    """The repaired rule has the literal behind the missing sign as its own conjunct."""
    rules = [str(rule) for rule in read_file(SEEDS / "000_tictactoe.hrf").statements]
    assert "(<= (next (cell ?m ?n b)) (does ?w (mark ?j ?k)) (true (cell ?m ?n b)) (distinct ?m ?j))" in rules
    assert "(<= terminal (line ?w))" in rules
    assert "(<= terminal (not open))" in rules


def test_the_prolog_sheet_means_the_same_as_prefix():
    """Signs of SWI-Prolog become the connectives of GDL."""
    rules = [str(rule) for rule in read_file(SEEDS / "001_tictactoe3.pl").statements]
    assert (
        "(<= (next (cell ?m ?n b)) (does ?_w (mark ?j ?k)) (true (cell ?m ?n b))"
        " (or (distinct ?m ?j) (distinct ?n ?k)))" in rules
    )
    assert "(<= (goal white 50) (not (line x)) (not (line o)))" in rules


@pytest.mark.parametrize(("name", "count"), [("input", 20), ("base", 29), ("init", 10), ("legal", 10)])
def test_lists_of_the_book(name, count):
    """The book's lists of sentences are read as that many different facts."""
    statements = read_file(SEEDS / f"000_{name}.hrf").statements
    assert len(set(statements)) == count
    assert all(rule.is_fact and rule.head.name == name for rule in statements)


def test_the_buying_rule_is_played_in_the_village():
    """The bundled game of deck-building has the rule of the text, but for what its players need not be told."""
    (rule,) = read_file(SEEDS / "003_buy.kif").statements
    literals = {str(literal) for literal in rule.body}
    (bought,) = [
        r for r in herbrand.load("village").tree.statements if str(r.head) == "(legal ?player (buy ?card))"
    ]
    assert str(bought.head) == str(rule.head)
    assert literals - {str(literal) for literal in bought.body} == {"(distinct ?player random)"}
    assert {str(literal) for literal in bought.body} - literals == {"(not drawing)"}
