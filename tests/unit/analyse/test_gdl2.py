"""From GDL to GDL-II and back: what everybody sees, and whether anything is hidden."""

from __future__ import annotations

from random import Random

import pytest
from click.testing import CliRunner

import herbrand
from herbrand.analyse.knowledge import perfect_information
from herbrand.cli.main import cli


def convert(file: str):
    return CliRunner().invoke(cli, ["convert", file, "--to", "gdl2"], catch_exceptions=False)


@pytest.mark.parametrize("name", ["ticTacToe", "rockPaperScissors", "ticTacToeInfix", "ticTacToe3"])
def test_a_converted_game_is_the_same_and_tells_the_same(name):
    """Its rules have one more, its plays and percepts are those of the game it was made from."""
    game = herbrand.load(name)
    made = herbrand.loads(convert(name).stdout, "prefix")
    assert made.has_percepts
    assert not made.rules.errors
    assert len(made.tree.statements) == len(game.tree.statements) + 1
    chance = Random(2)
    state, same = game.initial_state(), made.initial_state()
    while not state.is_terminal:
        assert {f.lower() for f in state.facts} == {f.lower() for f in same.facts}
        joint = tuple(chance.choice(moves) for moves in state.legal_moves().values())
        told = {
            role.lower(): {term.lower() for term in terms} for role, terms in state.percepts(joint).items()
        }
        assert told == {
            r.lower(): {term.lower() for term in terms} for r, terms in same.percepts(joint).items()
        }
        state, same = state.next(joint), same.next(joint)
    assert same.is_terminal
    assert perfect_information(made).answer == "proved"


def test_a_converted_game_says_so_once():
    """Converting twice adds nothing; the second time one is told that nothing is hidden."""
    once = convert("nim").stdout
    assert once.endswith(
        "\n; Every role sees every move\n\n(<= (sees ?p (did ?q ?m))\n    (role ?p)\n    (does ?q ?m))\n"
    )
    assert once.startswith(herbrand.load("nim").tree.source.text.rstrip())
    again = CliRunner().invoke(cli, ["convert", "-", "--to", "gdl2"], input=once).stdout
    assert again.startswith(once.rstrip())
    assert "; Nothing is hidden: every player knows the state in all 232 reachable states\n" in again


def test_what_was_found_out_is_said_where_the_text_goes_into_a_file(tmp_path):
    """A person who converts a game learns whether anything is hidden, without reading the file."""
    open_game = tmp_path / "open.kif"
    open_game.write_text(convert("nim").stdout, encoding="utf-8")
    words = ["convert", str(open_game), "--to", "gdl2", "-o", str(tmp_path / "again.kif")]
    assert "note: Nothing is hidden: every player knows the state" in CliRunner().invoke(cli, words).stderr
    words = ["convert", "coinMatching", "--to", "gdl2", "-o", str(tmp_path / "coins.kif")]
    assert (
        "note: Hidden information: odd does not always know the state"
        in CliRunner().invoke(cli, words).stderr
    )


def test_a_name_that_is_taken_is_not_used():
    """The percept does not speak of a relation of the game."""
    text = "(role a) (legal a go) (did a) (<= terminal (did a)) (goal a 0)"
    outcome = CliRunner().invoke(cli, ["convert", "-", "--to", "gdl2"], input=text)
    assert "(sees ?p (did_ ?q ?m))" in outcome.stdout


@pytest.mark.parametrize("name", ["kuhn", "montyHall", "battleships", "village"])
def test_hidden_information_is_shown_by_a_play(name):
    """The verdict names a role in doubt and a play; afterwards it holds more than one state possible."""
    from herbrand.analyse.knowledge import history, possible_states

    game = herbrand.load(name)
    verdict = perfect_information(game)
    assert verdict.answer == "refuted"
    role = verdict.witness.role
    moves = verdict.witness.moves
    known = possible_states(game, role, history(game, role, moves))
    assert len(known.weights) > 1
    before = possible_states(game, role, history(game, role, moves[:-1]))
    assert len(before.weights) == 1
    assert (
        f"; Hidden information: {role} does not always know the state, for one after\n;   "
        in convert(name).stdout
    )


def test_percepts_that_tell_enough_are_perfect_information():
    """Seeing the other's move is enough where one's own move is known; a budget leaves it open."""
    game = herbrand.loads("""(role a) (role b) (init (n 0)) (succ 0 1) (succ 1 2) (mark x) (mark y)
        (<= (legal ?r (put ?m)) (role ?r) (mark ?m)) (<= (sees ?r (other ?m)) (does ?s (put ?m)) (role ?r) (distinct ?r ?s))
        (<= (next (n ?j)) (true (n ?i)) (succ ?i ?j)) (<= (next (on ?r ?m)) (does ?r (put ?m)))
        (<= terminal (true (n 2))) (goal a 0) (goal b 0)""")
    assert perfect_information(game).answer == "proved"
    assert perfect_information(game, states=2).answer == "unknown"
    assert perfect_information(game, limits=herbrand.Limits(seconds=0)).answer == "unknown"
    assert perfect_information(herbrand.load("chess")).method == "no percepts"
