"""The bundled games in GGDL: the plain games of the same name, and what is known about the others."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import pytest

import herbrand
from herbrand import games
from herbrand.verify import verify_same

SHEETS = sorted(name for name in games.files() if name.endswith(".ggd"))
PLAIN = ("ticTacToe", "connectFour", "nim", "rockPaperScissors")


def test_the_games_are_there():
    """The sheets, each with its facts and at least one parameter that is documented."""
    assert SHEETS == [
        "connectFour.ggd", "higherLower.ggd", "mnk.ggd", "nim.ggd", "notakto.ggd",
        "rockPaperScissors.ggd", "ticTacToe.ggd",
    ]  # fmt: skip
    for name in SHEETS:
        game, facts = herbrand.load(name), games.info(name)
        assert [d.message for d in game.diagnostics if d.severity.value != "note"] == [], name
        assert list(game.roles) == facts["roles"]
        assert "parameters" in facts["features"]
        assert game.parameters
        assert all(p.doc and p.default is not None for p in game.parameters)
        assert ("GDL-II" in facts["features"]) == any(
            rule.head.name == "sees" for rule in game.tree.statements
        )


def test_a_name_without_ending_is_the_plain_game():
    """`ticTacToe` stays what it was; with the ending the other sheet is meant, in any case."""
    assert games.path("ticTacToe").name == "ticTacToe.kif"
    assert games.path("tictactoe.GGD").name == "ticTacToe.ggd"
    assert games.path("mnk").name == "mnk.ggd"
    assert {"ticTacToe", "ticTacToe.ggd", "mnk"} <= set(games.names())
    assert games.info("ticTacToe.ggd")["name"] == "ticTacToe.ggd"


@pytest.mark.slow_except("ticTacToe", "nim", "rockPaperScissors")
@pytest.mark.parametrize("name", PLAIN)
def test_the_defaults_are_the_plain_game(name):
    """States, moves, ends and goals agree in random play."""
    report = verify_same(herbrand.load(f"{name}.ggd"), herbrand.load(name), playouts=20, seed=5)
    assert report.ok, str(report.difference)


def test_tic_tac_toe_is_the_3_3_3_game():
    """As many joint-move sequences of each length as the plain game has, and as many endings."""
    one, two = herbrand.load("mnk"), herbrand.load("ticTacToe")
    first, second = one.simulate(2000, seed=1), two.simulate(2000, seed=1)
    assert abs(first.goals["x"].mean - second.goals["xplayer"].mean) < 4
    counts = [row["states"] for row in games.info("mnk")["perft"][:4]]
    frontier = [one.initial_state()]
    for expected in counts:
        frontier = [
            state.next((a, b))
            for state in frontier
            for a in state.legal_moves("x")
            for b in state.legal_moves("o")
            if not state.is_terminal
        ]
        assert len(frontier) == expected


@pytest.mark.parametrize(("m", "n", "k"), [(5, 3, 4), (1, 4, 2), (4, 4, 3), (2, 2, 5)])
def test_lines_are_found_in_every_direction(m, n, k):
    """The end and the goals of m,n,k-games agree with a plain count of lines."""
    game = herbrand.load("mnk", M=m, N=n, K=k)
    import random

    rng = random.Random(4)
    ends = 0
    for _ in range(6):
        state = game.initial_state()
        while not state.is_terminal:
            state = state.next([rng.choice(state.legal_moves(role)) for role in game.roles])
            cells = {}
            for fact in state.facts:
                word = fact.strip("()").split()
                if word[0] == "cell":
                    cells[int(word[1]), int(word[2])] = word[3]
            lines = {
                player
                for player in game.roles
                for (c, r) in cells
                for dc, dr in ((1, 0), (0, 1), (1, 1), (1, -1))
                if all(cells.get((c + i * dc, r + i * dr)) == player for i in range(k))
            }
            assert state.is_terminal == (bool(lines) or "b" not in cells.values())
        ends += 1
        for player in game.roles:
            wanted = 50 if not lines else 100 if player in lines else 0
            assert state.goals[player] == wanted
    assert ends == 6


def test_connect_four_of_another_size():
    """On two columns of three rows with lines of three, a column can be won."""
    game = herbrand.load("connectFour.ggd", Columns=2, Rows=3, Length=3)
    state = game.initial_state()
    for red, yellow in (("1", None), (None, "2"), ("1", None), (None, "2"), ("1", None)):
        moves = tuple(f"(drop {c})" if c else "noop" for c in (red, yellow))
        assert not state.is_terminal
        state = state.next(moves)
    assert state.is_terminal
    assert state.goals == {"red": 100, "yellow": 0}


def test_misere_nim_turns_the_payoffs_round():
    """With one stick left, who has to take it loses the misère game and wins the other."""
    for misere, winner in ((False, 100), (True, 0)):
        game = herbrand.load("nim.ggd", PileA=1, PileB=0, PileC=0, Misere=misere)
        state = game.initial_state().next(("(take a 1)", "noop"))
        assert state.is_terminal
        assert state.goals == {"first": winner, "second": 100 - winner}


def test_the_first_player_wins_notakto():
    """On one board of three by three, found by looking at all of them; the centre wins."""
    game = herbrand.load("notakto")

    @cache
    def wins(facts):
        """Whether the one in control wins."""
        state = game.state(facts)
        if state.is_terminal:
            return state.goals[next(r for r in game.roles if f"(control {r})" in facts)] == 100
        return any(not wins(state.next(joint).facts) for joint in joints(state))

    def joints(state):
        return [(a, b) for a in state.legal_moves("first") for b in state.legal_moves("second")]

    start = game.initial_state()
    winning = [str(joint[0]).lower() for joint in joints(start) if not wins(start.next(joint).facts)]
    assert winning == ["(mark board 2 2 cross)"]


def test_higher_or_lower_tells():
    """The guesser hears which way to go, never the number itself."""
    game = herbrand.load("higherLower", Numbers=7, Guesses=3)
    state = game.initial_state()
    assert state.percepts(("(hide 5)", "wait"), "guesser") == ()
    state = state.next(("(hide 5)", "wait"))
    assert state.percepts(("rest", "(guess 4)"), "guesser") == ("higher",)
    assert state.percepts(("rest", "(guess 6)"), "guesser") == ("lower",)
    assert state.percepts(("rest", "(guess 5)"), "guesser") == ("found",)
    over = state.next(("rest", "(guess 5)"))
    assert over.is_terminal
    assert over.goals["guesser"] == 100
    for guess in (1, 2, 3):
        assert not state.is_terminal
        state = state.next(("rest", f"(guess {guess})"))
    assert state.is_terminal
    assert state.goals["guesser"] == 0


def test_the_facts_are_well_formed():
    """Every key that other games have."""
    wanted = set(games.info("nim"))
    for name in SHEETS:
        path = Path(games.path(name))
        stem = games.info(name)["name"]
        assert set(json.loads((path.parent / f"{stem}.json").read_text(encoding="utf-8"))) == wanted
