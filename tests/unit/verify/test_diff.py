"""Games are told apart by what they mean, not by their texts."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

import herbrand
from herbrand import games
from herbrand.cli.main import cli
from herbrand.convert.scramble import scramble
from herbrand.errors import BudgetExceeded
from herbrand.game import Game
from herbrand.syntax.printer import print_tree
from herbrand.verify.diff import compare_play, diff, find_renaming

NIM = print_tree(herbrand.load("nim").tree).text
TICTACTOE = print_tree(herbrand.load("ticTacToe").tree).text


SMALL = [name for name in games.names() if len(games.text(name)) < 4000]


@pytest.mark.slow_except("ticTacToe", "hanoi", "montyHall")
@pytest.mark.parametrize("name", SMALL)
def test_a_scrambled_game_is_the_same_game(name):
    """Other names and another order are found out, and the renaming is one that works."""
    game = herbrand.load(name)
    scrambled = scramble(game.tree, seed=3)
    other = Game(scrambled.tree, name="scrambled")
    found = find_renaming(game.rules, other.rules, seconds=60)
    assert found.same
    assert len(found.names) == len(set(found.names.values()))
    # it need not be the scrambler's own: symmetric games have several
    assert compare_play(game, other, found.names, states=5, seconds=0.05).difference is None


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("(succ 3 4)", "(succ 3 5)"),
        ("(goal ?player 100)", "(goal ?player 99)"),
        ("(distinct ?taken 0)", "(distinct ?taken 1)"),
        ("(init (control first))", "(init (control second))"),
        ("(rivals first second)", ""),
    ],
)
def test_a_small_change_is_no_renaming(old, new):
    """One fact, one number, one argument more or less, and the rules are not the same."""
    assert old in NIM
    changed = herbrand.loads(NIM.replace(old, new, 1))
    assert not find_renaming(herbrand.loads(NIM).rules, changed.rules).same


def test_symmetry_does_not_make_different_graphs_equal():
    """Colours alone cannot tell two triangles from a hexagon; trying and checking can."""
    start = "(role r) (init a) (legal r x) (next a) (goal r 100) terminal "

    def graph(*pairs):
        return herbrand.loads(start + " ".join(f"(edge {a} {b})" for a, b in pairs))

    triangles = graph(*zip("defghi", "efdhig", strict=True))
    hexagon = graph(*zip("defghi", "efghid", strict=True))
    turned = graph(*zip("defghi", "gidfeh", strict=True))
    assert not find_renaming(triangles.rules, hexagon.rules).same
    cycles = diff(triangles, turned).verdict
    assert cycles in ("rules", "play")
    assert find_renaming(triangles.rules, graph(*zip("mnopqs", "omnspq", strict=True)).rules).same


def test_the_order_of_the_roles_matters():
    """It is the order of joint moves."""
    swapped = NIM.replace("(role first)\n(role second)", "(role second)\n(role first)")
    assert swapped != NIM
    found = find_renaming(herbrand.loads(NIM).rules, herbrand.loads(swapped).rules)
    assert not found.same


def test_the_shortest_way_to_a_difference_is_shown():
    """A changed rule shows at the first state where somebody could notice."""
    changed = TICTACTOE.replace(
        "(<= (line ?mark) (true (cell 1 1 ?mark)) (true (cell 2 2 ?mark)) (true (cell 3 3 ?mark)))\n", ""
    )
    assert changed != TICTACTOE
    found = diff(herbrand.loads(TICTACTOE), herbrand.loads(changed))
    assert found.verdict == "differs"
    difference = found.difference
    assert difference is not None
    assert difference.what == "terminal"
    assert len(difference.moves) == 5
    state = herbrand.loads(TICTACTOE).initial_state()
    for joint in difference.moves:
        words = joint[1:-1]
        state = state.next(
            (words[: words.rindex(")") + 1], "noop") if words.startswith("(") else ("noop", words[5:])
        )
    assert state.is_terminal
    assert {f"(cell {i} {i} x)" for i in (1, 2, 3)} <= state.facts


def test_a_difference_is_found_under_other_names():
    """A changed game is compared with a scrambled one through the names that could be guessed."""
    changed = herbrand.loads(NIM.replace("(size c 5)", "(size c 4)"))
    found = diff(herbrand.loads(NIM), Game(scramble(changed.tree, 2).tree))
    assert found.verdict == "differs"
    assert found.difference.what in ("legal first", "terminal")


def test_roles_are_paired_by_their_places():
    """Two sheets of one game, written apart and with other names for the roles, play the same."""
    found = diff(herbrand.load("ticTacToe"), herbrand.load("ticTacToeInfix"), states=50, seconds=1)
    assert not found.renaming.same
    assert found.verdict == "unknown"
    assert found.behaviour.states >= 50


def test_other_rules_may_play_the_same():
    """A rule that never fires changes nothing; all states of a small game are compared."""
    game = herbrand.load("ticTacToe3")
    text = (
        print_tree(game.tree).text + "(<= (legal white noop) (true (control white)) (true (control black)))\n"
    )
    found = diff(game, herbrand.loads(text))
    assert found.verdict == "play"
    assert found.behaviour.is_complete
    assert found.behaviour.states > 5


def test_random_games_look_beyond_the_states():
    """With few states allowed, a difference far down is still met; none at all is no proof."""
    changed = herbrand.loads(TICTACTOE.replace("(goal ?player 50)", "(goal ?player 49)"))
    assert diff(herbrand.loads(TICTACTOE), changed, states=5, seconds=20).verdict == "differs"
    same = herbrand.loads(TICTACTOE + "(extra 1)\n")
    assert diff(herbrand.loads(TICTACTOE), same, states=5, seconds=0.5).verdict == "unknown"


def test_percepts_are_part_of_play():
    """Who sees what is compared too."""
    text = print_tree(herbrand.load("montyHall").tree).text
    lines = [line for line in text.splitlines() if not line.startswith("(<= (sees")]
    assert len(lines) < len(text.splitlines())
    found = diff(herbrand.loads(text), herbrand.loads("\n".join(lines)))
    assert found.verdict == "differs"
    assert found.difference.what.startswith("percepts")


def test_too_many_ties_are_a_spent_budget():
    """Time for a renaming is limited."""
    rules = herbrand.load("chess").rules
    with pytest.raises(BudgetExceeded):
        find_renaming(rules, rules, seconds=0)


def run(*args):
    return CliRunner().invoke(cli, ["diff", *args])


def test_exit_codes_are_those_of_diff(tmp_path):
    """0 the same, 1 different, 2 trouble, 3 not decided; JSON says the same."""
    changed = tmp_path / "changed.kif"
    changed.write_text(TICTACTOE.replace("(index 3)", "(index 3)\n(index 4)"), encoding="utf-8")
    other = tmp_path / "scrambled.kif"
    other.write_text(scramble(herbrand.load("ticTacToe").tree, 1).text, encoding="utf-8")
    broken = tmp_path / "broken.kif"
    broken.write_text("(role a", encoding="utf-8")
    extra = tmp_path / "extra.kif"
    extra.write_text(TICTACTOE + "(extra 1)\n", encoding="utf-8")
    assert run("ticTacToe", "ticTacToe").output == "same rules\n"
    renamed = run("ticTacToe", str(other), "--names")
    assert renamed.exit_code == 0
    assert "same rules with other names" in renamed.output
    assert "cell/3 is " in renamed.output
    differs = run("ticTacToe", str(changed))
    assert differs.exit_code == 1
    assert "different in the initial state: legal xplayer" in differs.output
    assert "changed only: (mark 1 4)" in differs.output
    assert run("ticTacToe", str(broken)).exit_code == 2
    assert run("ticTacToe", "nothing-of-that-name").exit_code == 2
    assert run("ticTacToe", str(extra), "--states", "5", "--seconds", "0.3").exit_code == 3
    value = json.loads(run("ticTacToe", str(changed), "--json").output)
    assert value["verdict"] == "differs"
    assert value["same"] is False
    assert value["difference"]["moves"] == []
