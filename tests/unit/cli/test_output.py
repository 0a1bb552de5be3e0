"""Tables of the command line: lines for programs, wrapped cells on a terminal, and names that act on neither."""

from __future__ import annotations

import io
import re
import subprocess
import sys

import pytest

from herbrand.cli import output
from herbrand.cli.output import spaced, table

NASTY = "a\x1b[31mb\r\nc\td\u202e[bold]e[/bold]"
WORDS = "one two three four five six seven eight nine ten"
ROWS = [("nim", 1234, WORDS), (NASTY, None, "")]
HEAD = ("game", "number of roles", "about")


class Terminal(io.StringIO):
    """A standard output that says that it is a terminal."""

    def isatty(self) -> bool:
        return True


def use_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have a terminal of 40 columns, with colours; a fixture could not, as pytest exchanges the output later."""
    monkeypatch.setattr(sys, "stdout", Terminal())
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.delenv("NO_COLOR", raising=False)


def plain(text: str) -> str:
    """A text without the codes that make its head bold."""
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


def test_elsewhere_than_on_a_terminal_each_row_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is wrapped or coloured, however narrow; columns are two spaces apart; None is a dash."""
    monkeypatch.setenv("COLUMNS", "20")
    monkeypatch.setenv("FORCE_COLOR", "1")
    head, first, second = table(ROWS, HEAD, right=[1]).split("\n")
    assert re.split(r"  +", first) == ["nim", "1234", WORDS]
    assert head.index("roles") + len("roles") == first.index("1234") + 4 == second.index(" -") + 2
    assert table([]) == ""
    assert table([], ("a", "b")) == "a  b"


def test_a_terminal_wraps_text_but_no_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cells are continued in their column; all words are there; the head is bold."""
    use_terminal(monkeypatch)
    text = table(ROWS[:1], HEAD, right=[1])
    lines = plain(text).split("\n")
    assert "\x1b[1m" in text
    assert max(map(len, lines)) <= 40
    assert sum("1234" in line for line in lines) == 1
    assert " ".join(" ".join(line[20:].split()) for line in lines).split()[-10:] == WORDS.split()
    assert not set("─│┃━") & set(text)


def test_a_terminal_without_colours_gets_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """`NO_COLOR` removes the bold head, too."""
    use_terminal(monkeypatch)
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in table(ROWS, HEAD, right=[1])


@pytest.mark.parametrize("kind", [io.StringIO, Terminal])
def test_names_do_not_act_on_a_terminal(kind: type[io.StringIO], monkeypatch: pytest.MonkeyPatch) -> None:
    """Escapes, newlines and changes of direction become harmless, and square brackets are no styles."""
    monkeypatch.setattr(sys, "stdout", kind())
    monkeypatch.setattr(output, "terminal_width", lambda: 120)
    text = plain(table([(NASTY, "x")]))
    assert text.split("  ") == ["a\ufffd[31mb c", "", "d\ufffd[bold]e[/bold]", "x"]
    assert text.count("\n") == 0


def test_tables_in_pipes_do_without_rich() -> None:
    """A simulation in a pipe starts as fast as before there were templates and tables."""
    code = (
        "import sys; from herbrand.cli.main import cli; "
        "cli(['simulate', 'nim', '--playouts', '10'], standalone_mode=False); "
        "print({'rich', 'jinja2', 'markupsafe'} & set(sys.modules))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert run.stdout.splitlines()[-1] == "set()"


def test_digits_are_grouped() -> None:
    """Exactly, also where a float would not do."""
    assert (spaced(1234567), spaced(999.6), spaced(2**70)) == (
        "1 234 567",
        "1 000",
        "1 180 591 620 717 411 303 424",
    )
