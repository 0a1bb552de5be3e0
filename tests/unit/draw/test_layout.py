"""The formatter of prefix text."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

import herbrand.games
from herbrand.cli.main import cli
from herbrand.diagnostic import Source
from herbrand.errors import GameError
from herbrand.syntax.layout import format_text
from herbrand.syntax.reader import read_prefix

GAMES = Path(herbrand.games.__file__).parent


def laid_out(text: str, width: int = 100) -> str:
    return format_text(Source(text), width=width)


CASES = {
    "nothing": ("", ""),
    "only space": (" \r\n\t", ""),
    "single spaces": ("( role   white )", "(role white)\n"),
    "one statement a line": ("(role a)(role b) open", "(role a)\n(role b)\nopen\n"),
    "arrow": ("(\n⇐ (P ?X)\n\t(q ?X))", "(<= (P ?X) (q ?X))\n"),
    "spelling kept": ("(NextRank A b)", "(NextRank A b)\n"),
    "line ends": ("(p a)\r\n\r\n(p b)\r", "(p a)\n\n(p b)\n"),
    "blank lines": ("\n\n(p a)\n\n\n\n(p b)\n(p c)\n\n", "(p a)\n\n(p b)\n(p c)\n"),
    "comments around": (
        "  ; head\n\n\n; kept with it\n(p a)   ; why  \n   ; tail",
        "; head\n\n; kept with it\n(p a) ; why\n; tail\n",
    ),
    "comment behind two statements": ("(p a) (p b) ; c", "(p a)\n(p b) ; c\n"),
    "comments inside": (
        "(<= (p ?x) ; c1\n; c2\n(q ?x) ; c3\n)",
        "(<= (p ?x) ; c1\n    ; c2\n    (q ?x) ; c3\n)\n",
    ),
    "comment before the name": ("(;c\n<= a b)", "(;c\n    <= a\n    b)\n"),
    "superfluous forms": ("(<= (p)) (q (f))", "(<= (p))\n(q (f))\n"),
    "wrapped sheet": ("((role a)\n(role b))", "((role a) (role b))\n"),
    "rules in a wrapped sheet": (
        "((role a) (⇐ (p) (q) (r)))",
        "((role a)\n    (<= (p)\n        (q)\n        (r)))\n",
    ),
    "byte-order mark": ("\ufeff(p a)", "(p a)\n"),
    "byte-order marks of joined files": ("\ufeff(p a)\n\ufeff(\ufeffp b)", "(p a)\n(p b)\n"),
    "one condition": ("(<= (p ?x)\n    (q ?x))", "(<= (p ?x) (q ?x))\n"),
    "two conditions": ("(<= (p ?x) (q ?x) r)", "(<= (p ?x)\n    (q ?x)\n    r)\n"),
    "connective of two conditions": ("(<= p (or (not q)\n r))", "(<= p (or (not q) r))\n"),
    "long fact": (f"(p {'a ' * 60})", "(p a\n" + "    a\n" * 58 + "    a)\n"),
}


@pytest.mark.parametrize(("text", "expected"), CASES.values(), ids=CASES)
def test_layout(text: str, expected: str) -> None:
    """Each text has its one layout, and formatting it again changes nothing."""
    assert laid_out(text) == expected
    assert laid_out(expected) == expected


def test_long_rule_is_broken_behind_its_head() -> None:
    """Conditions stand on lines of their own, four columns in; connectives break likewise."""
    text = "(<= (goal ?r 100) (line ?r) (or (distinct ?r ?s) (not (true (control ?s)))) (not (or a b c d e f g)))"
    assert laid_out(text, width=40) == (
        "(<= (goal ?r 100)\n"
        "    (line ?r)\n"
        "    (or (distinct ?r ?s)\n"
        "        (not (true (control ?s))))\n"
        "    (not (or a b c d e f g)))\n"
    )


def test_width_is_kept_where_it_can_be() -> None:
    """A statement of exactly the width stays on its line, one more column breaks it."""
    text = "(<= (p ?x) (q ?x a b c))"
    assert laid_out(text, width=len(text)) == text + "\n"
    assert laid_out(text, width=len(text) - 1) == "(<= (p ?x)\n    (q ?x a b c))\n"
    text = "(<= p\n    (or q r)\n    s)\n"
    assert laid_out(text, width=12) == text
    assert laid_out(text, width=11) == "(<= p\n    (or q\n        r)\n    s)\n"
    deep = laid_out("(<= (p ?x) (or (q ?x (f (g (h ?x)))) (not (r ?x))))", width=28)
    assert max(map(len, deep.splitlines())) <= 28


def test_bundled_games_are_laid_out() -> None:
    """`herbrand format --check` finds nothing to change in the games that come with the project."""
    files = sorted(map(str, GAMES.glob("*.kif")))
    assert len(files) > 20
    outcome = CliRunner().invoke(cli, ["format", "--check", *files])
    assert outcome.exit_code == 0, outcome.output


@pytest.mark.parametrize("text", ["(role a", "(role a))", "(p ?)", "(p a(b))", "(p a)\0"])
def test_text_with_errors_is_refused(text: str) -> None:
    """What is not understood is not moved: the errors come with the exception."""
    with pytest.raises(GameError, match="has syntax errors") as refused:
        laid_out(text)
    assert refused.value.diagnostics
    assert all(d.is_error for d in refused.value.diagnostics)


def agrees(text: str, width: int) -> None:
    """Formatting keeps tree, comments and words, and is done after one time."""
    formatted = laid_out(text, width)
    before, after = read_prefix(Source(text)), read_prefix(Source(formatted))
    assert after == before
    assert [c.text for c in after.comments] == [c.text.rstrip() for c in before.comments]
    assert laid_out(formatted, width) == formatted
    assert "\r" not in formatted
    assert "\n\n\n" not in formatted
    assert not any(line != line.rstrip() for line in formatted.split("\n"))


@pytest.mark.corpus
@pytest.mark.parametrize("width", [100, 30])
def test_corpus(corpus_dir: Path, width: int) -> None:
    """Real sheets keep their meaning and their comments."""
    files = sorted((corpus_dir / "rulesheets").glob("*.kif"))
    assert files
    for file in files:
        agrees(file.read_bytes().decode("utf-8", errors="replace"), width)


def test_some_of_the_corpus(corpus_dir: Path) -> None:
    """The same for every twentieth sheet, in every test run."""
    files = sorted((corpus_dir / "rulesheets").glob("*.kif"))[::20]
    assert files
    for file in files:
        agrees(file.read_bytes().decode("utf-8", errors="replace"), 80)
