"""Text between statements that is none, and files whose ending is that of another notation."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from herbrand.check import check
from herbrand.diagnostic import apply_fixes
from herbrand.errors import GameError
from herbrand.syntax import detect, read, read_file
from herbrand.syntax.layout import format_text
from herbrand.syntax.printer import print_tree

if TYPE_CHECKING:
    from pathlib import Path

LEFT_OVER = [
    "moved(X,a):-does(X,M).",
    "moved(X) :-\n    does(X,a),\n    does(X,b).",
    "moved(A,B)<-does(A,B)",
    "moved(pair(X,Y)).",
    "terminal :- touch(x).",
    "terminal:-not_over()",
    "moved()",
    "moved(X):-",
    "this is where the goals begin",
    "moved(X) :- does(X, a)),",
]


@pytest.mark.parametrize("text", LEFT_OVER)
def test_left_over_text_is_skipped(text: str) -> None:
    """None of it is read as a fact; what stands before and behind it is read; the fix deletes it."""
    sheet = f"(role red)\n{text}\n\n  (role blue) ; last, so that not most of the text is left over"
    tree = read(sheet, "prefix")
    assert str(tree) == "(role red)\n(role blue)"
    found = [d for d in tree.diagnostics if d.check == "left-over-text"]
    assert [sheet[d.span.start : d.span.end] for d in found] == [text]
    assert not any(d.is_error for d in tree.diagnostics)
    assert "left-over-text" in {d.check for d in check(tree, strict=True).errors}
    clean, _ = apply_fixes(sheet, tuple(found))
    assert read(clean, "prefix").diagnostics == ()
    assert str(read(clean, "prefix")) == str(tree)
    with pytest.raises(GameError):
        format_text(tree.source)


def test_a_text_that_is_mostly_left_over_is_no_rulesheet() -> None:
    """Then each piece is an error."""
    text = "(role red)\n" + "then the match begins\nand some time later the match ends\n" * 2
    assert {(d.check, d.is_error) for d in read(text, "prefix").diagnostics} == {("left-over-text", True)}


def test_left_over_text_ends_at_comments() -> None:
    """Comments between the pieces of left-over text are kept."""
    tree = read("(role red)\np(X):-q(X). ; first\nr(Y).\n; second\n(role blue)", "prefix")
    assert [comment.text for comment in tree.comments] == ["; first", "; second"]
    assert [d.check for d in tree.diagnostics if d.check != "mixed-notation"] == ["left-over-text"] * 2
    assert str(tree) == "(role red)\n(role blue)"


def test_names_and_calls_are_not_left_over() -> None:
    """A name alone is a fact, and a call is repaired, as far as that is all."""
    assert str(read("(role red)\nopen\n(p a)", "prefix")) == "(role red)\nopen\n(p a)"
    tree = read("(role red) role(blue)\nclosed (p a)", "prefix")
    assert str(tree) == "(role red)\n(role blue)\nclosed\n(p a)"
    assert {d.check for d in tree.diagnostics if d.is_error} == {"infix-in-prefix"}


def test_different_names_are_distinct_anyway() -> None:
    """A fact that says so is skipped with a warning; one that says something else is an error."""
    tree = read("(role red) (distinct red blue)", "prefix")
    assert [(d.check, d.is_error) for d in tree.diagnostics] == [("misplaced-literal", False)]
    assert str(tree) == "(role red)"
    for fact in (
        "(distinct red red)",
        "(distinct ?x red)",
        "(distinct red)",
        "(not red)",
        "(distinct (f a) b)",
    ):
        assert any(d.is_error for d in read(f"(role red) {fact}", "prefix").diagnostics), fact


def test_the_text_overrules_the_ending() -> None:
    """Prefix text begins with a parenthesis, the other notations never do."""
    assert detect("; prefix\n(role red)", ".pl") == "prefix"
    assert detect("% prefix\n(role red)", ".hrf") == "prefix"
    assert detect("role(red).\n", ".pl") == "prolog"
    assert detect("role(red).\n", ".kif") == "prolog"
    assert detect("role(red)\n", ".gdl") == "infix"
    assert detect("title\n(role red)\n", ".kif") == "prefix"
    assert detect("", ".kif") == "prefix"
    assert detect("(role red)", ".ggd") == "ggdl"
    assert detect("%% (role red)\nnext(p) :- true(q).\n", ".pl") == "prefix"
    assert detect("%% (role red)\nrole(red).\n", ".pl") == "prolog"


def test_a_misnamed_file_is_reported(tmp_path: Path) -> None:
    """Its text is read, with a warning that names the right ending."""
    file = tmp_path / "game.pl"
    file.write_text("(role red)\n(legal red push)\n")
    tree = read_file(file)
    assert tree.notation == "prefix"
    assert [(d.check, d.help) for d in tree.diagnostics] == [
        ("misnamed-file", "let its name end in `.kif` or `.gdl`")
    ]
    file.rename(tmp_path / "game.kif")
    assert read_file(tmp_path / "game.kif").diagnostics == ()
    assert read("(role red)", "prefix", "game.pl").diagnostics == ()


COMMENTED = """%% ;;; A lamp
%% (role red)
%%   (legal red push)   ; always
%% (<= (next on)
%%     pushed
%% )
%% (<= pushed (does red push))

next_on(X) :- does_push(X).
% on, and that is all: terminal :- on(X).
(<= terminal (true on))
%% (goal red 100)
"""


def test_rules_behind_comment_signs_are_read() -> None:
    """Where all rules stand behind `%`, as in a program in Prolog that was made from them."""
    tree = read(COMMENTED, "prefix", "lamp.kif")
    clean = "(role red) (legal red push) (<= (next on) pushed) (<= pushed (does red push)) (<= terminal (true on)) (goal red 100)"
    assert tree == read(clean)
    checks = [d.check for d in tree.diagnostics if d.check != "mixed-notation"]
    assert checks == ["commented-rules", "left-over-text"]
    assert all(d.source is tree.source for d in tree.diagnostics)
    assert [comment.text for comment in tree.comments][1:] == [
        "; always",
        "% on, and that is all: terminal :- on(X).",
    ]
    assert not any(d.is_error for d in tree.diagnostics)
    assert {"commented-rules", "left-over-text"} <= {d.check for d in check(tree, strict=True).errors}
    text, _ = apply_fixes(COMMENTED, tree.diagnostics)
    assert read(text, "prefix").diagnostics == ()
    assert read(text, "prefix") == tree
    with pytest.raises(GameError):
        format_text(tree.source)


def test_comment_signs_before_a_rule_or_two_stay_comments() -> None:
    """A sheet that has a role outside of comments is not looked for inside."""
    tree = read("(role red)\n; %% (role blue)\n(legal red push)", "prefix")
    assert str(tree) == "(role red)\n(legal red push)"
    assert tree.diagnostics == ()


SIGNS = """// a lamp (role blue)
(role red) # (role green)
/* (role one)
   (role two) */ (legal red push) %% (legal red pull)
(<= (next on) // whenever (legal red push)
    (does red push)) //
(<= terminal (true on))
(goal red 100)
/* (goal red 0)"""


def test_comments_of_other_languages_are_comments() -> None:
    """Nothing in them is read, inside of rules or between them; the fix writes `;` and changes nothing else."""
    clean = (
        "(role red) (legal red push) (<= (next on) (does red push)) (<= terminal (true on)) (goal red 100)"
    )
    tree = read(SIGNS, "prefix")
    assert tree == read(clean)
    assert [(d.check, d.is_error) for d in tree.diagnostics] == [("foreign-comment", False)]
    assert "foreign-comment" in {d.check for d in check(tree, strict=True).errors}
    text, _ = apply_fixes(SIGNS, tree.diagnostics)
    assert read(text, "prefix").diagnostics == ()
    assert read(text, "prefix") == tree
    assert [word for word in ("lamp", "green", "two", "pull", "whenever") if word not in text] == []
    assert text.startswith("; a lamp (role blue)\n(role red) ; (role green)\n")
    with pytest.raises(GameError):
        format_text(tree.source)


def test_comments_of_other_languages_are_kept() -> None:
    """As they are written, and with the sign of the notation into which a sheet is converted."""
    tree = read(SIGNS, "prefix")
    assert all(SIGNS[c.start : c.end] == c.text for c in tree.comments)
    assert [c.text for c in tree.comments][1:4] == [
        "# (role green)",
        "/* (role one)\n   (role two) */",
        "%% (legal red pull)",
    ]
    assert print_tree(tree, "prefix").text.startswith(
        "; a lamp (role blue)\n(role red)  ; (role green)\n; (role one)\n; (role two)\n(legal red push)  ;; (legal red pull)\n"
    )


@pytest.mark.parametrize("name", ["#", "%", "//", "##"])
def test_signs_may_be_names(name: str) -> None:
    """Inside of statements; `//` where a parenthesis is closed behind it."""
    text = f"(role {name})\n(<= (p {name}) (true {name}) (q {name} b))\n(row {'a' if name == '//' else name}\n {name})"
    tree = read(text, "prefix")
    assert not [d for d in tree.diagnostics if d.check == "foreign-comment"]
    assert str(tree) == text.replace("\n ", " ")
