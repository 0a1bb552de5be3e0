"""What commands show on a terminal: boards in colour, progress, and no pictures as text."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

from herbrand.cli.main import cli

if TYPE_CHECKING:
    from collections.abc import Callable

PLAY = ("herbrand", "play", "ticTacToe", "--opponent", "human")
TRUE = {"TERM": "xterm-256color", "COLORTERM": "truecolor"}
CROSS = "\x1b[38;2;255;255;255;48;2;47;111;176mx\x1b[0m"
ROLE = "48;2;47;111;176mxplayer"
LEFT = "\x1b[1m[\x1b[0m"


@pytest.fixture(autouse=True)
def colours_are_decided_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the variables of who runs the tests say."""
    for name in ("NO_COLOR", "FORCE_COLOR", "COLORTERM"):
        monkeypatch.delenv(name, raising=False)


def played(terminal: Callable[..., Any], **environment: str) -> str:
    """What a person sees who marks the middle."""
    program = terminal(*PLAY, **environment)
    program.until("xplayer> ")
    program.send("5\n")
    program.until("oplayer> ")
    return str(program.seen.decode())


def test_pieces_roles_and_the_last_move_have_colours(terminal: Callable[..., Any]) -> None:
    """They are those of the pictures; the last move stands in brackets."""
    text = played(terminal, **TRUE)
    assert CROSS in text
    assert ROLE in text
    assert LEFT + CROSS in text
    assert "\x1b[2m.\x1b[0m" in text


@pytest.mark.parametrize("environment", [{**TRUE, "NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_without_colours_the_last_move_still_has_brackets(
    terminal: Callable[..., Any], environment: dict[str, str]
) -> None:
    """NO_COLOR and terminals without colours are respected."""
    text = played(terminal, **environment)
    assert "2 .[x]." in text
    assert "\x1b[38" not in text
    assert "\x1b[2m" not in text


def test_sixteen_colours_are_enough(terminal: Callable[..., Any]) -> None:
    """A simple terminal gets the nearest of its colours."""
    text = played(terminal, TERM="xterm")
    assert "\x1b[97;46mx\x1b[0m" in text
    assert "38;2" not in text


def test_elsewhere_than_on_a_terminal_there_are_no_colours() -> None:
    """A pipe gets plain text, from `play` and from `show`."""
    for words, typed in ((PLAY[1:], "5\nquit\n"), (("show", "ticTacToe"), "")):
        outcome = CliRunner().invoke(cli, list(words), input=typed, catch_exceptions=False)
        assert "\x1b" not in outcome.output
        assert "1 . . ." in outcome.output


def test_a_terminal_gets_no_svg(terminal: Callable[..., Any]) -> None:
    """`herbrand draw` without a file shows text there, and says how to get the picture; a pipe gets SVG."""
    program = terminal("herbrand", "draw", "ticTacToe", "--moves", "(mark 2 2)")
    text = program.until("-o FILE.svg or -o FILE.png writes the picture")
    assert "2 .[x]." in text
    assert "<svg" not in text
    outcome = CliRunner().invoke(cli, ["draw", "ticTacToe"], catch_exceptions=False)
    assert outcome.stdout.startswith("<svg")


@pytest.mark.parametrize(
    ("words", "doing"),
    [
        pytest.param(
            ("bench", "nim", "--seconds", "0.2"), "nim: random games for 0.2 s", marks=pytest.mark.slow
        ),
        (("measure", "nim", "--only", "branching,balance"), "nim: random play"),
    ],
)
def test_long_commands_show_what_they_do(
    words: tuple[str, ...], doing: str, terminal: Callable[..., Any]
) -> None:
    """A bar on the terminal names the game and the step; a pipe gets none."""
    assert doing in terminal("herbrand", *words, COLUMNS="120").until(doing)
    assert doing not in CliRunner().invoke(cli, list(words), catch_exceptions=False).output
    assert os.environ.get("FORCE_COLOR") is None
