"""The command line: what each command prints, where, and how it ends."""

from __future__ import annotations

import importlib
import json
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click
import pytest
from click.testing import CliRunner, Result

import herbrand
from herbrand import errors, games
from herbrand.cli import main as main_module
from herbrand.cli.main import COMMANDS, cli
from herbrand.cli.output import columns, count, wants_color
from herbrand.cli.rewrite import rewrite
from herbrand.cli.targets import OPTIONS, TARGETS
from herbrand.machine.joint_text import read_joint, split_joints, split_terms

if TYPE_CHECKING:
    from collections.abc import Callable

GAME = """\
; two by two: who has two cells wins
(role white)
(role black)
(index 1)
(index 2)
(<= (base (cell ?x ?y ?c)) (index ?x) (index ?y) (content ?c))
(content b)
(content w)
(content k)
(<= (base (control ?r)) (role ?r))
(<= (input ?r (mark ?x ?y)) (role ?r) (index ?x) (index ?y))
(<= (input ?r noop) (role ?r))
(init (cell 1 1 b))
(init (cell 1 2 b))
(init (cell 2 1 b))
(init (cell 2 2 b))
(init (control white))
(<= (legal ?r (mark ?x ?y)) (true (control ?r)) (true (cell ?x ?y b)))
(<= (legal ?r noop) (role ?r) (not (true (control ?r))))
(<= (next (cell ?x ?y w)) (does white (mark ?x ?y)))
(<= (next (cell ?x ?y k)) (does black (mark ?x ?y)))
(<= (next (cell ?x ?y ?c)) (true (cell ?x ?y ?c)) (distinct ?c b))
(<= (next (cell ?x ?y b)) (true (cell ?x ?y b)) (does ?r (mark ?u ?v)) (or (distinct ?x ?u) (distinct ?y ?v)))
(<= (next (control white)) (true (control black)))
(<= (next (control black)) (true (control white)))
(<= (two ?c) (true (cell ?x ?y ?c)) (true (cell ?u ?v ?c)) (distinct ?c b) (or (distinct ?x ?u) (distinct ?y ?v)))
(<= terminal (two ?c))
(<= (goal white 100) (two w))
(<= (goal white 0) (not (two w)))
(<= (goal black 100) (two k))
(<= (goal black 0) (not (two k)))
"""

MATCHING = """\
(role left)
(role right)
(<= (base (played ?m)) (side ?m))
(side heads)
(side tails)
(<= (input ?r ?m) (role ?r) (side ?m))
(init (played heads))
(init (round 1))
(base (round 1))
(base done)
(<= (legal ?r ?m) (role ?r) (side ?m))
(<= (next done) (true (round 1)))
(<= (next (played ?m)) (does left ?m))
(<= (next same) (does left ?m) (does right ?m))
(base same)
(<= terminal (true done))
(<= (goal left 100) (true same))
(<= (goal left 0) (not (true same)))
(<= (goal right 0) (true same))
(<= (goal right 100) (not (true same)))
"""

FAULTY = GAME + "(<= (next (cell ?x ?z b)) (true (cell ?x 1 b)))\n"
"""`?z` is never bound: exactly one error."""


def run(*args: str, typed: str | bytes | None = None, env: dict[str, str] | None = None) -> Result:
    """Run a command as the console script would; an exception that gets out fails the test."""
    settings = {"COLUMNS": "80", "FORCE_COLOR": None, **(env or {})}
    return CliRunner().invoke(cli, args, input=typed, env=settings, catch_exceptions=False)


@pytest.fixture
def game(tmp_path: Path) -> str:
    """A small correct game."""
    return write(tmp_path / "squares.kif", GAME)


@pytest.fixture
def faulty(tmp_path: Path) -> str:
    """The same game with one error."""
    return write(tmp_path / "faulty.kif", FAULTY)


def write(path: Path, text: str) -> str:
    path.write_text(text, encoding="utf-8")
    return str(path)


# ---- the group ---------------------------------------------------------------------------------


def test_help_names_every_command() -> None:
    """`--help` lists all commands, without importing them, and ends well."""
    outcome = run("--help")
    assert outcome.exit_code == 0
    for name, line in COMMANDS.items():
        assert f"  {name}" in outcome.stdout
        assert line.split()[0] in outcome.stdout


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help(name: str) -> None:
    """`herbrand NAME --help` works for all of them."""
    outcome = run(name, "--help")
    assert outcome.exit_code == 0
    assert COMMANDS[name].split(":")[0] in " ".join(outcome.stdout.split())


def test_a_misspelt_command_is_wrong_use_with_a_suggestion() -> None:
    """The nearest command is offered."""
    outcome = run("chek")
    assert outcome.exit_code == 2
    assert "no command `chek` (did you mean `check`?)" in outcome.stderr
    assert outcome.stdout == ""


@pytest.mark.parametrize(
    "name", ["check", "format", "convert --to infix", "show", "simulate", "play", "verify"]
)
@pytest.mark.parametrize(
    ("file", "words"),
    [
        ("absent.kif", "no such file"),
        ("absent", "no file or bundled game `absent`"),
        ("folder", "`folder` is a directory"),
    ],
)
def test_a_file_that_is_not_there_is_one_line(
    name: str, file: str, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Missing files and directories are wrong use, said in a line, for every command that reads."""
    monkeypatch.chdir(tmp_path)
    Path("folder").mkdir()
    command, *options = name.split()
    outcome = run(command, file, *options)
    assert outcome.exit_code == 2
    assert words in outcome.stderr
    assert "Traceback" not in outcome.output


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything")
def test_an_unreadable_file_is_one_line(game: str) -> None:
    """A file without read permission is wrong use."""
    Path(game).chmod(0)
    outcome = run("check", game)
    assert outcome.exit_code == 2
    assert "permission denied" in outcome.stderr


def test_bundled_games_are_files_everywhere() -> None:
    """A bundled game can be named instead of a path, in any casing; a near miss is corrected."""
    assert run("check", "ticTacToe").exit_code == 0
    assert run("check", "tictactoe").exit_code == 0
    outcome = run("show", "ticTacTo")
    assert outcome.exit_code == 2
    assert "did you mean `ticTacToe`?" in outcome.stderr


@pytest.mark.parametrize(
    ("error", "code", "words"),
    [
        (
            errors.BudgetExceeded("3 seconds", "7 atoms derived"),
            3,
            "error: over budget: 3 seconds (7 atoms derived)",
        ),
        (errors.GameError("nothing to play"), 1, "error: nothing to play"),
        (errors.MissingExtra("the web page", "web"), 2, "pip install 'herbrand[web]'"),
        (errors.InternalError("odd"), 70, "please report it"),
        (MemoryError(), 3, "error: out of memory"),
        (KeyboardInterrupt(), 130, "interrupted"),
        (OSError(28, "No space left on device", "out.kif"), 2, "error: cannot use `out.kif`: no space left"),
        (BrokenPipeError(), 141, ""),
    ],
)
def test_failures_are_one_line_and_a_code(
    error: BaseException, code: int, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever a command raises on purpose becomes a line on standard error and its exit code."""

    @click.command("check")
    def broken() -> None:
        raise error

    monkeypatch.setattr(main_module.CommandGroup, "get_command", lambda *_: broken)
    monkeypatch.setattr(main_module, "_close_output", lambda: None)
    outcome = run("check")
    assert outcome.exit_code == code
    assert words in outcome.stderr
    assert len(outcome.stderr.splitlines()) == (1 if words else 0)
    assert outcome.stdout == ""


def test_colours_follow_the_environment(monkeypatch: pytest.MonkeyPatch, faulty: str) -> None:
    """NO_COLOR wins over FORCE_COLOR, which wins over what kind of stream it is."""
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    with Path(os.devnull).open(encoding="utf-8") as stream:
        assert not wants_color(stream)
        monkeypatch.setenv("FORCE_COLOR", "1")
        assert wants_color(stream)
        monkeypatch.setenv("NO_COLOR", "1")
        assert not wants_color(stream)
    assert "\x1b[" in run("check", faulty, env={"FORCE_COLOR": "1", "NO_COLOR": ""}).stdout
    assert "\x1b[" not in run("check", faulty, env={"FORCE_COLOR": "1", "NO_COLOR": "1"}).stdout
    assert "\x1b[" not in run("check", faulty).stdout


def test_numbers_and_columns_read_well() -> None:
    """Nouns follow their number, and columns run downward."""
    assert [count(n, "error") for n in (0, 1, 2)] == ["0 errors", "1 error", "2 errors"]
    assert columns([]) == ""
    assert columns(["a" * 30, "b" * 30, "c" * 30], indent="  ").splitlines()[0].split() == [
        "a" * 30,
        "c" * 30,
    ]


# ---- check -------------------------------------------------------------------------------------


def test_a_correct_game_has_no_findings(game: str) -> None:
    """Nothing on standard output, a remark on standard error, exit 0."""
    outcome = run("check", game)
    assert (outcome.exit_code, outcome.stdout) == (0, "")
    assert "no problems" in outcome.stderr or "hidden" in outcome.stderr


def test_an_error_is_shown_with_its_place_and_ends_with_1(faulty: str) -> None:
    """The report goes to standard output, the count to standard error."""
    outcome = run("check", faulty)
    assert outcome.exit_code == 1
    assert "error[unsafe-variable]" in outcome.stdout
    assert f"{faulty}:{len(FAULTY.splitlines())}:" in outcome.stdout
    assert "1 error" in outcome.stderr


def test_json_has_the_promised_keys(faulty: str) -> None:
    """--json is a list of objects that an editor can use; the remarks stay out of it."""
    outcome = run("check", faulty, "--json")
    findings = json.loads(outcome.stdout)
    keys = {"check", "severity", "message", "file", "line", "column", "end_line", "end_column", "help"}
    assert all(keys <= finding.keys() for finding in findings)
    wrong = [finding for finding in findings if finding["severity"] == "error"]
    assert [finding["check"] for finding in wrong] == ["unsafe-variable"]
    assert wrong[0]["line"] == len(FAULTY.splitlines())
    assert wrong[0]["file"] == faulty


def test_json_of_a_clean_game_is_an_empty_list(game: str) -> None:
    """A program can always read what --json prints."""
    assert [f for f in json.loads(run("check", game, "--json").stdout) if f["severity"] != "note"] == []


def test_one_line_a_finding(faulty: str) -> None:
    """--format line is for grep and editors."""
    lines = [
        line for line in run("check", faulty, "--format", "line").stdout.splitlines() if "note" not in line
    ]
    assert len(lines) == 1
    assert lines[0].startswith(f"{faulty}:{len(FAULTY.splitlines())}:")


def test_sarif_is_sarif(faulty: str) -> None:
    """--format sarif prints one run with the result in it."""
    log = json.loads(run("check", faulty, "--format", "sarif").stdout)
    assert log["version"] == "2.1.0"
    assert "unsafe-variable" in [result["ruleId"] for result in log["runs"][0]["results"]]


def test_standard_input_is_a_file() -> None:
    """`-` reads the rules from standard input, here broken UTF-8 too."""
    assert run("check", "-", typed=GAME).exit_code == 0
    outcome = run("check", "-", typed=GAME.encode() + b"; \xe9t\xe9\n")
    assert outcome.exit_code == 0
    assert "warning[not-utf-8]" in outcome.stdout


def test_several_files_are_all_checked(game: str, faulty: str, tmp_path: Path) -> None:
    """One that cannot be read does not stop the others; the worst ending counts."""
    outcome = run("check", str(tmp_path / "absent.kif"), faulty, game)
    assert outcome.exit_code == 2
    assert "unsafe-variable" in outcome.stdout
    assert "absent.kif" in outcome.stderr
    assert "in 3 files" in outcome.stderr


def test_findings_can_be_selected_and_ignored(faulty: str) -> None:
    """--select keeps, --ignore drops, an unknown name is wrong use with a suggestion."""
    assert run("check", faulty, "--ignore", "unsafe-variable").exit_code == 0
    assert run("check", faulty, "--select", "unsafe-variable").exit_code == 1
    assert run("check", faulty, "--select", "unsafe-negation").exit_code == 0
    outcome = run("check", faulty, "--select", "unsafe-variabel")
    assert outcome.exit_code == 2
    assert "did you mean `unsafe-variable`?" in outcome.stderr


def test_strict_makes_warnings_count(tmp_path: Path) -> None:
    """A warning ends with 0, with --strict with 1."""
    warned = write(tmp_path / "warned.kif", GAME.replace("(role black)", "(role black)\n(<= (extra 1))"))
    assert run("check", warned).exit_code == 0
    assert run("check", warned, "--strict").exit_code == 1


def test_the_rules_are_evaluated_unless_that_is_switched_off(tmp_path: Path) -> None:
    """A game that is over before it begins is found only by evaluating the rules."""
    over = write(tmp_path / "over.kif", GAME + "(<= terminal (true (control white)))\n")
    assert "initial-state-terminal" not in run("check", over, "--no-play").stdout
    assert "initial-state-terminal" in run("check", over).stdout
    assert "initial-state-terminal" in run("check", over, "--play").stdout


def test_the_rules_of_a_huge_sheet_are_evaluated_on_demand(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They take longer to prepare than a plain check may evaluate them."""
    over = write(tmp_path / "over.kif", GAME + "(<= terminal (true (control white)))\n")
    monkeypatch.setattr("herbrand.cli.check.LARGEST_BRIEF", 10)
    assert "initial-state-terminal" not in run("check", over).stdout
    assert "initial-state-terminal" in run("check", over, "--play").stdout


BROKEN = GAME.replace("(<= terminal (two ?c))", "(<= terminal (two ?c)")
"""A parenthesis is missing: something that --fix repairs."""


def test_fix_repairs_the_file_and_keeps_its_permissions(tmp_path: Path) -> None:
    """The repaired file is correct, nothing else is left in the folder, and what was done is said."""
    file = write(tmp_path / "broken.kif", BROKEN)
    Path(file).chmod(0o640)
    assert run("check", file).exit_code == 1
    outcome = run("check", file, "--fix")
    assert outcome.exit_code == 0, outcome.output
    assert "fixed" in outcome.stderr
    assert run("check", file).exit_code == 0
    assert stat.S_IMODE(Path(file).stat().st_mode) == 0o640
    assert [path.name for path in tmp_path.iterdir()] == ["broken.kif"]


def test_fix_with_diff_changes_nothing(tmp_path: Path) -> None:
    """--fix --diff shows a patch and leaves the file alone."""
    file = write(tmp_path / "broken.kif", BROKEN)
    outcome = run("check", file, "--fix", "--diff")
    assert "+(<= terminal (two ?c))" in outcome.stdout
    assert "would fix" in outcome.stderr
    assert Path(file).read_text(encoding="utf-8") == BROKEN


def test_fix_filters_standard_input() -> None:
    """`check --fix -` writes the repaired text."""
    outcome = run("check", "-", "--fix", typed=BROKEN)
    assert outcome.exit_code == 0
    assert "(<= terminal (two ?c))" in outcome.stdout


def test_diff_belongs_to_fix(game: str) -> None:
    """`--diff` alone would show nothing: it is wrong use."""
    assert run("check", game, "--diff").exit_code == 2


def test_a_bundled_game_is_never_changed() -> None:
    """What belongs to herbrand is refused before anything is written."""
    file = games.path("nim")
    before = file.read_bytes()
    with pytest.raises(click.UsageError, match="`nim` is a bundled game"):
        rewrite(str(file), "(role a)")
    assert file.read_bytes() == before


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    """Writing through a symbolic link changes the file that it leads to."""
    file = tmp_path / "file.kif"
    file.write_text("old", encoding="utf-8")
    link = tmp_path / "link.kif"
    link.symlink_to(file)
    rewrite(str(link), "new")
    assert link.is_symlink()
    assert file.read_text(encoding="utf-8") == "new"


# ---- format, convert, explain ------------------------------------------------------------------


def test_format_changes_the_file_once(tmp_path: Path) -> None:
    """After formatting there is nothing to format; --check said so before and after."""
    file = write(
        tmp_path / "wide.kif", GAME.replace("(role white)\n(role black)", "(role   white)(role black)")
    )
    assert run("format", file, "--check").exit_code == 1
    assert "-(role   white)(role black)" in run("format", file, "--diff").stdout
    assert run("format", file).exit_code == 0
    text = Path(file).read_text(encoding="utf-8")
    assert "; two by two: who has two cells wins" in text
    assert run("format", file, "--check").exit_code == 0
    assert run("format", "-", typed=text).stdout == text


def test_format_leaves_a_broken_text_alone(tmp_path: Path) -> None:
    """What cannot be read without repair is not rewritten."""
    file = write(tmp_path / "broken.kif", BROKEN)
    outcome = run("format", file)
    assert outcome.exit_code == 1
    assert "is unchanged" in outcome.stderr
    assert Path(file).read_text(encoding="utf-8") == BROKEN


@pytest.mark.parametrize("notation", ["prefix", "infix", "prolog"])
def test_convert_there_and_back_keeps_the_rules(notation: str, game: str, tmp_path: Path) -> None:
    """Every notation can be written to a file and read again; the rules come back the same."""
    ending = {"prefix": "kif", "infix": "hrf", "prolog": "pl"}[notation]
    other = tmp_path / f"other.{ending}"
    assert run("convert", game, "--to", notation, "-o", str(other)).exit_code == 0
    first = json.loads(run("convert", game, "--to", "json").stdout)["statements"]
    second = json.loads(run("convert", str(other), "--to", "json").stdout)["statements"]
    assert json.dumps(first).lower() == json.dumps(second).lower().replace('"_', '"')  # _X: used once


def test_convert_writes_the_sheet_that_is_meant() -> None:
    """Without what is ignored, and with what is added; `check --strict` accepts the result, not the original."""
    faulty = """(role red) (init on) (<= (legal ?r push) (true on)) (<= (next off) (true on)) (<= terminal (true off))
(goal red 00) (base lamp (x on off)) (<= (drawing (?x ?y)) (true ?x))
on(X) :- true(X).
"""
    written = run("convert", "-", "--to", "prefix", typed=faulty)
    assert written.exit_code == 0
    assert "(<= (legal ?r push) (role ?r) (true on))" in " ".join(written.stdout.split())
    assert not {"base", "drawing", "00", ":-"} & set(
        written.stdout.replace("(", " ").replace(")", " ").split()
    )
    assert run("check", "-", "--strict", typed=faulty).exit_code == 1
    assert run("check", "-", typed=faulty).exit_code == 0
    assert run("check", "-", "--strict", typed=written.stdout).exit_code == 0


def test_convert_to_json_shows_the_rules() -> None:
    """The JSON form has heads and bodies with relations, functions and variables told apart."""
    rule = "(<= (next (f ?x)) (true (f ?x)) (not (or (p ?x) (distinct ?x a))))"
    value = json.loads(run("convert", "-", "--to", "json", typed=f"(role a)\n{rule}\n").stdout)
    fluent = {"function": "f", "arguments": [{"variable": "x"}]}
    assert value["statements"][0] == {"head": {"relation": "role", "arguments": ["a"]}, "body": []}
    assert value["statements"][1] == {
        "head": {"relation": "next", "arguments": [fluent]},
        "body": [
            {"relation": "true", "arguments": [fluent]},
            {
                "not": {
                    "or": [
                        {"relation": "p", "arguments": [{"variable": "x"}]},
                        {"distinct": [{"variable": "x"}, "a"]},
                    ]
                }
            },
        ],
    }


def test_convert_to_dot_shows_the_dependencies(game: str) -> None:
    """The graph is one digraph and has the relations in it."""
    text = run("convert", game, "--to", "dot").stdout
    assert text.startswith("digraph")
    assert "terminal" in text
    assert "two" in text


def test_convert_reports_what_it_renamed(tmp_path: Path) -> None:
    """A name that infix notation cannot spell is mapped, on standard error."""
    file = write(tmp_path / "odd.kif", GAME.replace("content", "con-tent"))
    outcome = run("convert", file, "--to", "infix")
    assert outcome.exit_code == 0
    assert "`con-tent`" in outcome.stderr
    assert "con-tent(" not in outcome.stdout


def test_convert_refuses_broken_text(tmp_path: Path) -> None:
    """Nothing is written when the text has syntax errors."""
    outcome = run("convert", write(tmp_path / "broken.kif", BROKEN), "--to", "infix")
    assert (outcome.exit_code, outcome.stdout) == (1, "")
    assert "nothing was written" in outcome.stderr


@pytest.mark.parametrize("target", TARGETS)
def test_every_target_of_convert_is_named_and_imported(target: str) -> None:
    """The help lists it, its function can be imported, and its options exist."""
    entry = TARGETS[target]
    module, name = entry.function.split(":")
    assert callable(getattr(importlib.import_module(module), name))
    assert set(entry.options) <= set(OPTIONS)
    assert entry.help in " ".join(run("convert", "--help").stdout.split())


def test_every_option_of_convert_belongs_to_a_target(game: str) -> None:
    """No option is left over, and one that the target does not take is refused."""
    assert {name for entry in TARGETS.values() for name in entry.options} == set(OPTIONS)
    outcome = run("convert", game, "--to", "dot", "--portable")
    assert outcome.exit_code == 2
    assert "--portable needs --to prefix" in outcome.stderr


def test_explain_tells_about_a_check_and_lists_all() -> None:
    """A name gives its page, --list gives every name, a wrong name a suggestion."""
    page = run("explain", "unsafe-variable")
    assert page.exit_code == 0
    assert "unsafe-variable" in page.stdout
    assert len(page.stdout.splitlines()) > 5
    listed = run("explain", "--list").stdout
    assert "unsafe-variable" in listed
    assert "unstratified-negation" in listed
    outcome = run("explain", "unsafe-varable")
    assert outcome.exit_code == 2
    assert "unsafe-variable" in outcome.stderr
    assert run("explain").exit_code == 2
    assert json.loads(run("explain", "unsafe-variable", "--json").stdout)["name"] == "unsafe-variable"


# ---- show --------------------------------------------------------------------------------------


def test_show_draws_the_board_and_lists_the_moves(game: str) -> None:
    """The initial state: board, other facts, legal moves by role."""
    assert run("show", game).stdout == (
        "squares, initial state\n"
        "\n"
        "  1 2\n"
        "2 . .\n"
        "1 . .\n"
        "\n"
        "control  white\n"
        "\n"
        "white has 4 legal moves:\n"
        "  (mark 1 1)  (mark 1 2)  (mark 2 1)  (mark 2 2)\n"
        "black can only play noop\n"
    )


def test_show_after_moves_and_at_the_end(game: str) -> None:
    """Joint moves lead to a state; goals are shown when the game is over."""
    outcome = run("show", game, "--moves", "(mark 1 1); noop, (mark 1 2); (mark 2 1)")
    assert outcome.exit_code == 0
    assert "squares, 3 steps after the initial state" in outcome.stdout
    assert "2 k .\n1 w w" in outcome.stdout
    assert "the game is over" in outcome.stdout
    assert "goals: white 100, black 0" in outcome.stdout
    assert "legal" not in outcome.stdout


def test_show_json(game: str) -> None:
    """--json has the facts, the moves of every role and the goals."""
    value = json.loads(run("show", game, "--moves", "(mark 2 2)", "--json").stdout)
    assert value["facts"] == [
        "(cell 1 1 b)",
        "(cell 1 2 b)",
        "(cell 2 1 b)",
        "(cell 2 2 w)",
        "(control black)",
    ]
    assert value["legal"] == {"white": ["noop"], "black": ["(mark 1 1)", "(mark 1 2)", "(mark 2 1)"]}
    assert (value["terminal"], value["goals"]) == (False, {"white": 0, "black": 0})
    assert value["moves"] == [["(mark 2 2)", "noop"]]


def test_show_a_given_state(game: str) -> None:
    """--state starts anywhere."""
    outcome = run("show", game, "--state", "(true (cell 1 1 k)) (cell 2 2 k) (control black)")
    assert "squares, the state given" in outcome.stdout
    assert "goals: white 0, black 100" in outcome.stdout
    assert run("show", game, "--state", "(cell 1 1").exit_code == 2


def test_show_why_and_why_not(game: str) -> None:
    """Derivations are drawn; a wrong guess is remarked on, not refused."""
    why = run("show", game, "--why", "(legal white (mark 1 1))")
    assert why.exit_code == 0
    assert "(control white)" in why.stdout
    assert "true in this state" in why.stdout
    assert why.stderr == ""
    why_not = run("show", game, "--why-not", "terminal")
    assert why_not.exit_code == 0
    assert "two" in why_not.stdout
    assert "does not hold here" in run("show", game, "--why", "terminal").stderr


@pytest.mark.parametrize(
    ("moves", "words"),
    [
        ("(mark 3 3)", "joint move 1: no legal move `(mark 3 3)` (white: (mark 1 1), "),
        ("(mark 1 1); (mark 1 1)", "joint move 2: no legal move `(mark 1 1)` (black: (mark 1 2), "),
        ("(mark 1 1", "joint move 1: missing closing parenthesis"),
        ("mark 1 1)", "joint move 1: unexpected closing parenthesis"),
        ("(mark 1 1); (mark 1 2); (mark 2 1); (mark 2 2)", "the game is over before joint move 4"),
        ("noop", "joint move 1: `noop` must have one move for each of white"),
        (",", "joint move 1: an empty move"),
    ],
)
def test_wrong_moves_are_wrong_use(moves: str, words: str, game: str) -> None:
    """The message says which joint move cannot be made and what could be."""
    outcome = run("show", game, "--moves", moves)
    assert outcome.exit_code == 2
    assert words in " ".join(outcome.stderr.split())


def test_a_game_with_errors_cannot_be_shown(faulty: str) -> None:
    """Every command that plays shows the errors and ends with 1."""
    for command in ("show", "simulate", "play", "verify"):
        outcome = run(command, faulty)
        assert (outcome.exit_code, outcome.stdout) == (1, ""), command
        assert "unsafe-variable" in outcome.stderr


def test_joint_moves_can_be_written_in_several_ways(game: str) -> None:
    """Commas, blanks, one list, or only the move of the role that has a choice."""
    import herbrand

    state = herbrand.load(game).initial_state()
    for text in ("(mark 1 1), noop", "(mark 1 1) noop", "((mark 1 1) noop)", " ( mark 1  1 ) ", "(MARK 1 1)"):
        assert read_joint(state, text) == ("(mark 1 1)", "noop"), text
    assert split_joints("a; b ;") == ["a", "b"]
    assert split_terms("(f (g  a)b) c") == ["(f (g a) b)", "c"]
    both = herbrand.loads(MATCHING).initial_state()
    with pytest.raises(errors.IllegalMoveError, match="each of left, right"):
        read_joint(both, "heads")
    with pytest.raises(errors.IllegalMoveError, match="no legal move `edge`"):
        read_joint(both, "heads edge")
    assert read_joint(both, "tails heads") == ("tails", "heads")


# ---- simulate, verify, games, completion -------------------------------------------------------


def test_simulate_reports_and_is_repeatable(game: str) -> None:
    """The same seed gives the same numbers; the table names every role."""
    first = json.loads(run("simulate", game, "-n", "20", "--seed", "7", "--json").stdout)
    second = json.loads(run("simulate", game, "-n", "20", "--seed", "7", "--json").stdout)
    assert {"game", "playouts", "transitions", "length", "goals"} <= first.keys()
    assert first["goals"] == second["goals"]
    assert (first["length"]["min"], first["length"]["max"], first["transitions"]) == (3, 3, 60)
    assert first["goals"]["white"]["mean"] == 100
    outcome = run("simulate", game, "-n", "20", "--seed", "7")
    assert "squares: 20 playouts with 60 steps" in outcome.stdout
    assert "white  100.00 ± 0.00" in outcome.stdout
    assert outcome.stderr.startswith("note: fewer than 500 playouts")


def test_simulate_stops_at_its_budget() -> None:
    """When the time is up the exit status is 3."""
    outcome = run("simulate", "hex", "-n", "100000000", "--seconds", "0.05")
    assert outcome.exit_code == 3
    assert "over budget" in outcome.stderr


def test_simulate_cuts_long_games(game: str) -> None:
    """--max-steps ends a game early, and the report says how many were."""
    value = json.loads(run("simulate", game, "-n", "5", "--max-steps", "2", "--json").stdout)
    assert value["length"]["max"] == 2
    assert "truncated: 5 playouts" in run("simulate", game, "-n", "5", "--max-steps", "2").stdout


@pytest.mark.parametrize(
    "arguments", [["-n", "0"], ["-n", "many"], ["--engine", "steam"], ["--seconds", "0"]]
)
def test_simulate_refuses_wrong_numbers(arguments: list[str], game: str) -> None:
    """Counts and budgets are positive, engines exist."""
    assert run("simulate", game, *arguments).exit_code == 2


def test_verify_compares_engines(game: str) -> None:
    """Two engines agree, and the last line says on how many states."""
    outcome = run("verify", game, "--playouts", "3")
    assert outcome.exit_code == 0
    assert outcome.stdout.splitlines()[-1] == "ok: 12 states"
    assert run("verify", game, "--engines", "rules").exit_code == 2
    assert run("verify", game, "--engines", "rules,steam").exit_code == 2
    assert json.loads(run("verify", game, "--json").stdout)["ok"] is True


def trace(path: Path, *, goal: int) -> str:
    """A recorded match that stops in its initial state, with a goal of white as given."""
    initial = ["(cell 1 1 b)", "(cell 1 2 b)", "(cell 2 1 b)", "(cell 2 2 b)", "(control white)"]
    marks = [f"(mark {x} {y})" for x in (1, 2) for y in (1, 2)]
    records = [
        {"type": "game", "game": "squares", "roles": ["white", "black"]},
        {"type": "match", "match": 0, "seed": 1},
        {
            "type": "step",
            "match": 0,
            "step": 0,
            "terminal": False,
            "goals": [goal, 0],
            "move": None,
            "state_n": 5,
            "state": initial,
            "legal_n": [4, 1],
            "legal": [marks, ["noop"]],
        },
        {"type": "end", "status": "ok", "error": None},
    ]
    return write(path, "".join(json.dumps(record) + "\n" for record in records))


def test_verify_replays_a_trace(game: str, tmp_path: Path) -> None:
    """Agreement ends with `ok`, a difference with 1 and where it is, another file with one line."""
    good = run("verify", game, "--trace", trace(tmp_path / "good.jsonl", goal=0))
    assert (good.exit_code, good.stdout.splitlines()[-1]) == (0, "ok: 1 states")
    bad = run("verify", game, "--trace", trace(tmp_path / "bad.jsonl", goal=50))
    assert bad.exit_code == 1
    assert "match 0, step 0: goal white differs" in bad.stdout
    other = run("verify", game, "--trace", game)
    assert other.exit_code != 0
    assert "not a trace" in other.stderr
    assert run("verify", game, "--trace", str(tmp_path / "absent")).exit_code == 2


def test_games_lists_and_describes() -> None:
    """Every bundled game is in the list; a name gives its page, its JSON, or its rules."""
    listed = run("games")
    assert listed.exit_code == 0
    assert "ticTacToe " in listed.stdout
    values = json.loads(run("games", "--json").stdout)
    assert len(values) == len(listed.stdout.splitlines())
    page = run("games", "nim")
    assert page.exit_code == 0
    assert "roles     first, second" in page.stdout
    assert json.loads(run("games", "nim", "--json").stdout)["roles"] == ["first", "second"]
    assert "(role first)" in run("games", "nim", "--rules").stdout
    assert run("games", "nimm").exit_code == 2


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_prints_a_script(shell: str) -> None:
    """The script calls back through the variable that click listens to."""
    outcome = run("completion", shell)
    assert outcome.exit_code == 0
    assert "_HERBRAND_COMPLETE" in outcome.stdout


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("herbrand sh", ["plain,show"]),
        ("herbrand show ticTacToeI", ["plain,ticTacToeInfix", "file,ticTacToeI"]),
        ("herbrand explain unsafe-v", ["plain,unsafe-variable"]),
        ("herbrand check --form", ["plain,--format"]),
    ],
)
def test_completion_offers_what_fits(typed: str, offered: list[str]) -> None:
    """What the shell gets when a person presses tab."""
    words = {"COMP_WORDS": typed, "COMP_CWORD": str(typed.count(" "))}
    answer = subprocess.run(
        [sys.executable, "-m", "herbrand"],
        env={**os.environ, **words, "_HERBRAND_COMPLETE": "bash_complete"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert answer.stdout.splitlines() == offered


# ---- as a process ------------------------------------------------------------------------------


def start(*args: str, **options: object) -> subprocess.Popen[str]:
    return subprocess.Popen(  # type: ignore[call-overload, no-any-return]
        [sys.executable, "-m", "herbrand", *args],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        stdin=subprocess.PIPE,
        text=True,
        **options,
    )


def test_a_closed_pipe_is_not_an_error(tmp_path: Path) -> None:
    """`herbrand ... | head` says nothing on standard error."""
    many = write(tmp_path / "many.kif", GAME + "".join(f"(fact {i} {'x' * 50})\n" for i in range(5000)))
    process = start("convert", many, "--to", "prefix")
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.readline()
    process.stdout.close()
    message = process.stderr.read()
    process.wait(60)
    process.stderr.close()
    assert process.stdin is not None
    process.stdin.close()
    assert message == ""


@pytest.mark.skipif(os.name == "nt", reason="signals are sent another way there")
def test_an_interrupt_is_one_line(work_begins: Callable[[subprocess.Popen[str]], None]) -> None:
    """Ctrl-C ends with 130 and no traceback.

    Interrupted while it runs code made from text, Python ends itself by the signal, which shells show as 130.
    """
    process = start("simulate", "connectFour", "-n", "1000000000", "--engine", "rules")
    work_begins(process)
    process.send_signal(signal.SIGINT)
    try:
        out, message = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode in (130, -signal.SIGINT)
    assert (out, message) == ("", "interrupted\n")


def test_simulate_tells_of_ends_without_a_value(tmp_path: Path) -> None:
    """Games that end without exactly one goal value are shown as a share of their own."""
    sheet = tmp_path / "open.kif"
    sheet.write_text(
        "(role r) (init (s 0)) (legal r a) (legal r b) (<= (next (s 1)) (does r a)) (<= (next (s 2)) (does r b))"
        "(<= terminal (not (true (s 0)))) (<= (goal r 100) (true (s 1)))",
        encoding="utf-8",
    )
    result = CliRunner().invoke(cli, ["simulate", str(sheet), "-n", "40", "--seed", "1"])
    assert result.exit_code == 0
    assert "no single value: " in result.stdout


def test_version_says_what_it_runs_on() -> None:
    """`--version` is one line; with `--verbose`, in either order, also what the core makes of the processor."""
    from herbrand import core

    plain = run("--version").stdout
    assert plain == f"herbrand {herbrand.__version__}\n"
    for arguments in (["--version", "--verbose"], ["--verbose", "--version"]):
        result = run(*arguments)
        assert result.exit_code == 0
        first, *rows = result.stdout.splitlines()
        assert first + "\n" == plain
        told = {row[:16].strip(" :"): row[16:] for row in rows}
        assert set(told) == {"python", "platform", "cores", "kernels", "machine code", "compiler"}
        assert told["python"].endswith(".".join(map(str, sys.version_info[:3])))
        assert told["kernels"] == f"{core.level()} (available: {', '.join(core.levels())})"
        assert told["compiler"].startswith(("GCC ", "Clang "))
        assert told["machine code"].startswith("none" if core.why_no_code() else "encoder for AVX")


def test_version_says_why_programs_are_walked() -> None:
    """Where there is no machine code, the report says why."""
    from herbrand import core

    core.allow_code(False)
    try:
        assert (
            "none, programs are walked: machine code is switched off" in run("--version", "--verbose").stdout
        )
    finally:
        core.allow_code(True)


def test_verbose_alone_is_wrong_use() -> None:
    """`--verbose` before a command means nothing."""
    result = run("--verbose", "games")
    assert result.exit_code == 2
    assert "--verbose goes with --version" in result.stderr


@pytest.mark.parametrize("notation", ["infix", "prolog"])
def test_moves_and_atoms_may_be_written_as_in_the_sheet(tmp_path: Path, notation: str) -> None:
    """What an infix or Prolog sheet prints can be typed again."""
    sheet = str(tmp_path / "game.txt")
    assert run("convert", "ticTacToe", "--to", notation, "-o", sheet).exit_code == 0
    lines = ("mark(2,2), noop; noop, mark(1, 1)", "(mark 2 2); (mark 1 1)", "mark(2,2); mark(1,1).")
    shown = [run("show", sheet, "--moves", line) for line in lines]
    assert {one.exit_code for one in shown} == {0}
    assert len({one.stdout for one in shown}) == 1
    why = run("show", sheet, "--moves", "mark(2,2)", "--why", "true(cell(2,2,x))")
    assert why.stdout.startswith("(cell 2 2 x)   [true in this state]")
    assert why.exit_code == 0
    state = run("show", sheet, "--state", "control(xplayer) cell(1,1,b)")
    assert state.exit_code == 0, state.output


def test_parameters_are_set_on_each_side(tmp_path: Path) -> None:
    """`diff` compares a parameterised game with a plain sheet, and with itself under other values."""
    plain = str(tmp_path / "plain.kif")
    assert run("convert", "mnk", "--param", "N=4", "--to", "prefix", "-o", plain).exit_code == 0
    assert run("diff", "mnk", plain, "--param", "N=4").exit_code == 0
    assert run("diff", "mnk", plain, "--param", "A:N=4").exit_code == 0
    assert run("diff", "mnk", plain).exit_code == 1
    assert run("diff", "mnk", "mnk", "--param", "A:N=4", "--param", "B:N=4").exit_code == 0
    assert run("diff", "mnk", "mnk", "--param", "A:N=4").exit_code == 1
    wrong = run("diff", "mnk", plain, "--param", "B:N=4")
    assert wrong.exit_code == 2


def test_check_names_the_command_that_mends_play(tmp_path: Path) -> None:
    """A role that gets stuck is nothing that --fix repairs."""
    file = write(
        tmp_path / "stuck.kif",
        "(role r) (init p) (<= (legal r a) (true p)) (goal r 100) (<= terminal (true q))",
    )
    outcome = run("check", file)
    assert "role-without-legal-move" in outcome.stdout
    assert f"`herbrand repair {file}` looks for an edit that repairs this" in outcome.stderr
    assert "herbrand repair" not in run("check", "-", typed="(role r)").output


def test_deep_checks_say_what_is_proved(game: str, faulty: str, tmp_path: Path) -> None:
    """All states of a small game; a sheet with errors has no states; other formats have another command."""
    sheet = write(
        tmp_path / "trap.kif",
        "(role r) (init (at 1)) (to 1 2) (to 1 3) (to 3 3) (<= (legal r (go ?y)) (true (at ?x)) (to ?x ?y))"
        "(<= (next (at ?y)) (does r (go ?y))) (<= terminal (true (at 2)))"
        "(<= (goal r 100) (true (at 2))) (<= (goal r 0) (not (true (at 2))))",
    )
    text = run("check", sheet, "--deep").stdout
    assert "proved for all 3 states" in text
    assert "termination: refuted" in text
    assert "dead-end: in 1 of 2 states no play ends any more, the nearest after 1 step: (go 3)" in text
    text = run("check", game, "--deep").stdout
    assert "proved" in text
    assert f"certificate: herbrand certify {game} --property termination -o FOLDER" in text
    assert f"certificate: herbrand certify {game} --remarks " in text
    assert "proved" not in run("check", faulty, "--deep").stdout
    assert run("check", game, "--deep", "--json").exit_code == 2
