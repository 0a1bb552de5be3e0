"""Playing in the terminal: what a person types, and what is shown."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner, Result

import herbrand
from herbrand.cli.main import cli
from herbrand.cli.play import matching_moves
from herbrand.machine.moves import Move

if TYPE_CHECKING:
    from collections.abc import Callable

RACE = """\
(role red)
(role blue)
(role random)
(init (at red 0))
(init (at blue 0))
(init (turn red))
(other red blue)
(other blue red)
(plus 0 1 1) (plus 0 2 2) (plus 1 1 2) (plus 1 2 3) (plus 2 1 3) (plus 2 2 4) (plus 3 1 4) (plus 3 2 5)
(<= (legal ?r (run ?n)) (true (turn ?r)) (true (at ?r ?x)) (plus ?x ?n ?y))
(<= (legal ?r wait) (role ?r) (not (true (turn ?r))))
(<= (next (at ?r ?y)) (does ?r (run ?n)) (true (at ?r ?x)) (plus ?x ?n ?y))
(<= (next (at ?r ?x)) (does ?r wait) (true (at ?r ?x)))
(<= (next (turn ?r)) (true (turn ?s)) (other ?s ?r))
(<= (far ?r) (true (at ?r 4)))
(<= (far ?r) (true (at ?r 5)))
(<= terminal (far ?r))
(<= (goal ?r 100) (far ?r))
(<= (goal ?r 0) (role ?r) (not (far ?r)))
"""

GUESS = """\
(role left)
(role right)
(init (round 1))
(<= (legal ?r ?m) (role ?r) (side ?m))
(side heads)
(side tails)
(<= (next (shown ?r ?m)) (does ?r ?m))
(<= terminal (true (shown left ?m)))
(<= (goal left 100) (true (shown left ?m)) (true (shown right ?m)))
(<= (goal left 0) (true (shown left ?m)) (not (true (shown right ?m))))
(<= (goal right 50) (role right))
"""


@pytest.fixture
def race(tmp_path: Path) -> str:
    file = tmp_path / "race.kif"
    file.write_text(RACE, encoding="utf-8")
    return str(file)


def play(file: str, *options: str, typed: str) -> Result:
    """Play with answers fed through a pipe, against random moves unless the options say otherwise."""
    if "--opponent" not in options:
        options = (*options, "--opponent", "random")
    return CliRunner().invoke(
        cli, ["play", file, *options], input=typed, env={"COLUMNS": "80"}, catch_exceptions=False
    )


def test_a_game_to_the_end_by_number_text_and_part(race: str) -> None:
    """A number, the whole text, and a part that only one move has all choose."""
    outcome = play(race, "--opponent", "human", typed="2\n(run 1)\nrun 2\n")
    assert outcome.exit_code == 0
    assert "race: you play red, blue; random chooses at random" in outcome.stdout
    assert [line for line in outcome.stdout.splitlines() if " plays " in line] == [
        "red plays (run 2)",
        "blue plays (run 1)",
        "red plays (run 2)",
    ]
    assert "the game is over after 3 steps: red 100, blue 0, random 0" in outcome.stdout
    assert outcome.stderr == ""


def test_chance_plays_the_other_roles_repeatably(race: str) -> None:
    """With one role the others choose at random, the same with the same seed."""
    first = play(race, "--as", "blue", "--seed", "3", typed="1\n1\n1\n1\n")
    second = play(race, "--as", "blue", "--seed", "3", typed="1\n1\n1\n1\n")
    assert first.exit_code == 0
    assert first.stdout == second.stdout
    assert "blue> " in first.stdout
    assert "red> " not in first.stdout


def test_what_is_not_clear_is_asked_again(race: str) -> None:
    """An ambiguous or unknown text changes nothing."""
    outcome = play(race, typed="run\nfly\n\n9\nquit\n")
    assert "which one?\n  (run 1)  (run 2)\n" in outcome.stdout
    assert "no legal move contains `fly`" in outcome.stdout
    assert "no legal move contains `9`" in outcome.stdout
    assert "left after 0 steps" in outcome.stdout
    assert outcome.exit_code == 0


def test_the_end_of_input_leaves(race: str) -> None:
    """A dumb pipe that runs dry ends the game, not the program with a traceback."""
    outcome = play(race, typed="")
    assert outcome.exit_code == 0
    assert outcome.stdout.endswith("left after 0 steps\n")


def test_commands_explain_and_take_back(race: str) -> None:
    """`?`, `moves`, `goals`, `state`, `why` and `undo` do what the help says."""
    answers = "?\nmoves\ngoals\nwhy (legal red (run 1))\nwhy (\nwhy-not terminal\nundo\n1\n2\nundo\n:quit\n"
    outcome = play(race, "--opponent", "human", typed=answers)
    text = outcome.stdout
    assert "take back your last move" in text
    assert "red 0, blue 0" in text
    assert "true in this state" in text.split("why (legal red")[1].split("why (")[0]
    assert "far" in text.split("why-not terminal")[1]
    assert "no move to take back" in text
    assert "taken back" in text
    assert "left after 1 step\n" in text


def test_moves_at_the_same_time_are_hidden_until_all_are_made(tmp_path: Path) -> None:
    """The second person does not see what the first one chose."""
    file = tmp_path / "guess.kif"
    file.write_text(GUESS, encoding="utf-8")
    outcome = play(str(file), "--opponent", "human", typed="tails\nheads\n")
    before, after = outcome.stdout.split("right> ")
    assert "left> ***\nleft has chosen" in before
    assert "left plays" not in before
    assert "left plays tails\nright plays heads" in after
    assert "over after 1 step: left 0, right 50" in after


def test_what_the_rules_hide_is_not_shown() -> None:
    """In Kuhn poker a player is told its card and the other's bets, and sees the rest when the game is over."""
    outcome = play("kuhn", "--as", "second", "--seed", "1", typed="goals\nstate\n1\n1\n1\n")
    assert outcome.exit_code == 0
    before, after = outcome.stdout.split("the complete state:")
    assert "step 1: second saw (dealt" in before
    assert "step 2: second saw (did first" in before
    assert "holds  second" in before
    assert "perhaps true\n  1/2 (holds first" in before
    assert "first plays" not in before
    assert "plays noop" not in before
    assert "`goals` could reveal hidden information" in before
    assert before.count("perhaps true") >= 2, "`state` shows it again"
    assert 'the play was --moves "noop, noop, (deal' in after
    assert "the game is over after" in after
    shown = play("kuhn", "--as", "second", "--seed", "1", "--open", typed="1\n1\n1\n").stdout
    assert "first plays" in shown
    assert "holds  first" in shown


def test_people_at_one_keyboard_are_told_apart() -> None:
    """Each is told only what it sees, and what they type is covered."""
    outcome = play("kuhn", "--opponent", "human", "--seed", "1", typed="check\nundo\nbet\ncall\n")
    assert outcome.exit_code == 0
    assert outcome.stdout.count("for first only:") == 2
    assert outcome.stdout.count("for second only:") == 2
    assert "first> ***" in outcome.stdout
    assert "step 2: second saw (did first bet)" in outcome.stdout
    assert "second plays" not in outcome.stdout


def test_a_move_that_is_also_a_command_is_the_move(tmp_path: Path) -> None:
    """Only :quit leaves a game in which one can play quit."""
    file = tmp_path / "quit.kif"
    file.write_text(GUESS.replace("tails", "quit"), encoding="utf-8")
    assert "left plays quit" in play(str(file), typed="quit\n").stdout
    assert "left after 0 steps" in play(str(file), typed=":quit\n").stdout


def test_wrong_roles_are_wrong_use(race: str) -> None:
    """An unknown role is refused with those there are; nobody can be chance; rules come from a file."""
    outcome = play(race, "--as", "green", typed="")
    assert outcome.exit_code == 2
    assert "no role `green` (roles: red, blue)" in outcome.stderr
    assert play(race, "--as", "random", typed="").exit_code == 2
    assert play("-", typed=RACE).exit_code == 2


def test_a_role_without_moves_is_a_fault_of_the_game(race: str) -> None:
    """The rules are to blame, and the exit status says so."""
    Path(race).write_text(RACE.replace("(plus 0 1 1) (plus 0 2 2)", ""), encoding="utf-8")
    outcome = play(race, typed="")
    assert outcome.exit_code == 1
    assert "red has no legal move" in outcome.stderr


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2", ["(mark 1 10)"]),
        ("mark 1 1", ["(mark 1 1)"]),
        ("(MARK 1  1)", ["(mark 1 1)"]),
        ("mark 1", ["(mark 1 1)", "(mark 1 10)"]),
        ("10", ["(mark 1 10)"]),
        ("no", ["noop"]),
        ("4", ["4"]),
        ("op", ["noop"]),
        ("#1", ["(mark 1 1)"]),
        ("", []),
        ("(mark", ["(mark 1 1)", "(mark 1 10)"]),
    ],
)
def test_a_text_means_the_nearest_moves(text: str, expected: list[str]) -> None:
    """Whole texts come before numbers, numbers before beginnings, beginnings before parts."""
    moves = [Move(m) for m in ("(mark 1 1)", "(mark 1 10)", "noop", "4")]
    assert [str(move) for move in matching_moves(text, moves)] == expected


def test_bundled_games_can_be_played() -> None:
    """A bundled game starts with its board and a question."""
    outcome = play("ticTacToe", typed="5\nquit\n")
    assert outcome.exit_code == 0
    assert "  1 2 3\n1 . . .\n2 . . .\n3 . . .\n" in outcome.stdout
    assert f"{herbrand.load('ticTacToe').roles[0]} plays" in outcome.stdout


def test_on_a_terminal_the_tab_key_completes_and_choices_are_wiped(
    tmp_path: Path, terminal: Callable[..., Any]
) -> None:
    """With readline, `t<tab>` becomes `tails`; what a person chose in secret leaves the screen."""
    pytest.importorskip("readline")
    (tmp_path / "guess.kif").write_text(GUESS, encoding="utf-8")
    program = terminal("herbrand", "play", "guess.kif", "--opponent", "human", NO_COLOR="1")
    program.until("left> ")
    program.send("t\t")
    program.until("tails")
    program.send("\n")
    program.until("left has chosen")
    assert b"\x1b[2K" in program.seen
    program.until("right> ")
    program.send("1\n")
    text = program.until("the game is over after 1 step")
    assert "left plays tails" in text
    assert program.close() == 0
