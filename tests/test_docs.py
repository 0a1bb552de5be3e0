"""The documents tell the truth: their examples are run, their pages are complete.

Checked are docstrings (doctests), and in README.md and docs/ every `python` block that holds a
session and every `console` block.  In a `console` block the lines that begin with `$ herbrand`
are run, in a folder that holds the files of the blocks headed ```` ```kif file=NAME ````; what
follows must be what is printed (`...` stands for anything).
"""

from __future__ import annotations

import doctest
import importlib
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from click.testing import CliRunner

import herbrand
from herbrand.cli.main import COMMANDS, cli
from herbrand.cli.reference import reference

ROOT = Path(__file__).resolve().parent.parent
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
PACKAGE = Path(herbrand.__file__).parent


@dataclass(frozen=True)
class Block:
    """A fenced block of a page."""

    info: str
    text: str
    line: int


def blocks(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    found = re.finditer(r"^```(\S[^\n]*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return [Block(m[1], m[2], text.count("\n", 0, m.start()) + 1) for m in found]


def commands(block: Block) -> list[tuple[str, str]]:
    """The commands of a console block with what each should print."""
    parts = re.split(r"^\$ (.*)\n", block.text, flags=re.MULTILINE)
    return list(zip(parts[1::2], parts[2::2], strict=True))


PYTHON = [
    pytest.param(page, id=page.name)
    for page in PAGES
    if any(block.info == "python" and ">>>" in block.text for block in blocks(page))
]
CONSOLE = [
    pytest.param(page, id=page.name) for page in PAGES if any(b.info == "console" for b in blocks(page))
]


def test_examples_are_found() -> None:
    """The collections below are not empty by accident."""
    assert PYTHON
    assert len(CONSOLE) >= 3


@pytest.mark.parametrize("page", PYTHON)
def test_python_sessions_do_what_they_show(page: Path) -> None:
    """The sessions of a page, run one after another, print what the page says."""
    names: dict[str, object] = {}
    for block in blocks(page):
        if block.info == "python" and ">>>" in block.text:
            test = doctest.DocTestParser().get_doctest(block.text, names, page.name, str(page), block.line)
            messages: list[str] = []
            runner = doctest.DocTestRunner(optionflags=FLAGS)
            runner.run(test, out=messages.append, clear_globs=False)
            assert not runner.failures, "".join(messages)
            names.update(test.globs)


@pytest.mark.parametrize("page", CONSOLE)
def test_commands_print_what_they_show(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The commands of a page print what the page says, both streams together."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    checker = doctest.OutputChecker()
    for block in blocks(page):
        if file := re.fullmatch(r"\w+ file=(\S+)", block.info):
            Path(file[1]).write_text(block.text, encoding="utf-8")
        if block.info != "console":
            continue
        for command, expected in commands(block):
            words = shlex.split(command, comments=True)
            assert words[0] == "herbrand", f"{page.name}:{block.line}: only herbrand is run here: {command}"
            typed = None
            if "<<<" in words:  # what a person types, one answer after another
                at = words.index("<<<")
                typed = words[at + 1].replace("\\n", "\n") + "\n"
                words = words[:at]
            outcome = CliRunner().invoke(cli, words[1:], input=typed, catch_exceptions=False)
            got = "\n".join(line.rstrip() for line in outcome.output.splitlines()) + "\n"
            same = checker.check_output(expected, got, doctest.ELLIPSIS)
            assert same, f"{page.name}:{block.line}: $ {command}\nexpected:\n{expected}\ngot:\n{got}"


def test_docstrings_do_what_they_show() -> None:
    """Every doctest of the package passes, and there are some."""
    tried = 0
    for path in sorted(PACKAGE.rglob("*.py")):
        name = ".".join(("herbrand", *path.relative_to(PACKAGE).with_suffix("").parts))
        name = name.removesuffix(".__init__")
        if name == "herbrand.__main__" or ">>>" not in path.read_text(encoding="utf-8"):
            continue
        outcome = doctest.testmod(importlib.import_module(name), optionflags=FLAGS)
        assert not outcome.failed, f"{name}: {outcome.failed} examples fail; python -m doctest {path}"
        tried += outcome.attempted
    assert tried > 20


def test_the_page_of_the_command_line_is_up_to_date(update: bool) -> None:
    """docs/reference/cli.md says what the commands say of themselves."""
    page = ROOT / "docs" / "reference" / "cli.md"
    if update:
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(reference(), encoding="utf-8")
    assert page.read_text(encoding="utf-8") == reference()


def test_every_command_is_in_the_readme_and_in_the_help() -> None:
    """No command is without its paragraph, and the table of the group repeats each command's own words."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    group = CliRunner().invoke(cli, ["--help"]).output
    for name, line in COMMANDS.items():
        assert f"herbrand {name}" in readme, name
        assert name in group
        module = importlib.import_module(f"herbrand.cli.{name}")
        assert module.command.name == name
        assert module.command.help.splitlines()[0] == line


def test_pages_link_to_pages_that_are_there() -> None:
    """Every relative link of the documents leads somewhere."""
    documents = [*PAGES, *(ROOT / name for name in ("ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"))]
    linked = 0
    for page in documents:
        for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text(encoding="utf-8")):
            if "://" not in target:
                assert (page.parent / target).exists(), f"{page.name} links to {target}"
                linked += 1
    assert linked


def test_the_package_runs_as_a_module() -> None:
    """`python -m herbrand` is the command."""
    run = subprocess.run(
        [sys.executable, "-m", "herbrand", "--version"],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert run.stdout == f"herbrand {herbrand.__version__}\n"
