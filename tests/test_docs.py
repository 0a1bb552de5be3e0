"""The documents tell the truth: their examples are run, their pages are complete.

Checked are docstrings (doctests), and in README.md and docs/ every `python` block that holds a
session and every `console` block: the commands after `$` are run in an empty folder, in which the
blocks headed ```` ```kif NAME ```` are files.  In what they print `...` stands for anything, and lines
such as `white> 3` are typed.  `pytest --update` rewrites outputs that differ.  The tutorial has a
test of its own.
"""

from __future__ import annotations

import doctest
import importlib
import math
import re
import runpy
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

import herbrand
from herbrand.cli.main import COMMANDS, cli
from herbrand.errors import MissingExtra

ROOT = Path(__file__).resolve().parent.parent
PAGES = sorted(
    {ROOT / "README.md", *(ROOT / "docs").rglob("*.md")}
    - set((ROOT / "docs").glob("tutorial*.md"))
    - set((ROOT / "docs" / "generated").rglob("*.md"))  # what the site is made from
)
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
PACKAGE = Path(herbrand.__file__).parent


BLOCK = re.compile(r"^```(\w+)(?: (\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)
TYPED = re.compile(r"^\w+> (.*)$", re.MULTILINE)


def sessions(text: str) -> str:
    """The Python sessions of a page, one after another."""
    return "\n".join(m[3] for m in BLOCK.finditer(text) if m[1] == "python" and ">>>" in m[3])


PYTHON = [pytest.param(page, id=page.name) for page in PAGES if sessions(page.read_text(encoding="utf-8"))]
CONSOLE = [
    pytest.param(page, id=page.name) for page in PAGES if "\n```console\n" in page.read_text(encoding="utf-8")
]


def test_examples_are_found() -> None:
    """The collections below are not empty by accident."""
    assert PYTHON
    assert len(CONSOLE) >= 3


@pytest.mark.parametrize("page", PYTHON)
def test_python_sessions_do_what_they_show(page: Path) -> None:
    """The sessions of a page, run one after another, print what the page says."""
    session = sessions(page.read_text(encoding="utf-8"))
    test = doctest.DocTestParser().get_doctest(session, {}, page.name, str(page), 0)
    messages: list[str] = []
    outcome = doctest.DocTestRunner(optionflags=FLAGS).run(test, out=messages.append)
    assert outcome.attempted
    assert not outcome.failed, "".join(messages)


def printed(command: str, typed: str) -> str:
    """What a command prints, remarks included, after a person typed some lines."""
    words = shlex.split(command, comments=True)
    assert words[0] == "herbrand", f"only herbrand is run here, not {command}"
    settings = {"COLUMNS": "100", "NO_COLOR": "1"}
    outcome = CliRunner().invoke(cli, words[1:], input=typed, env=settings, catch_exceptions=False)
    lines = [line.rstrip() for line in outcome.output.splitlines()]
    return "".join(f"{line}\n" for line in lines)


def agrees(expected: str, got: str) -> bool:
    """Whether a text is as expected: `...` stands for anything on a line, alone for any lines."""
    lines = [
        r"(?:.*\n)*?" if line == "..." else ".*".join(map(re.escape, line.split("..."))) + "\n"
        for line in expected.splitlines()
    ]
    return re.fullmatch("".join(lines), got) is not None


@pytest.mark.parametrize("page", CONSOLE)
def test_commands_print_what_they_show(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, update: bool
) -> None:
    """The commands of a page print what the page says, both streams together."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(
        "herbrand.cli.workers._LINE_SECONDS", math.inf
    )  # on a busy machine progress has lines

    def run_block(block: re.Match[str]) -> str:
        kind, file, content = block.groups()
        if file:
            with Path(file).open("a", encoding="utf-8") as stream:
                stream.write(content)
        return f"```console\n{COMMAND.sub(run_command, content)}```" if kind == "console" else block[0]

    def run_command(shown: re.Match[str]) -> str:
        got = printed(shown[1], "".join(f"{line}\n" for line in TYPED.findall(shown[2])))
        if agrees(shown[2], got):
            return shown[0]
        assert update, f"{page.name}: $ {shown[1]}\nexpected:\n{shown[2]}\ngot:\n{got}"
        return f"$ {shown[1]}\n{got}"

    text = page.read_text(encoding="utf-8")
    followed = BLOCK.sub(run_block, text)
    if followed != text:
        page.write_text(followed, encoding="utf-8")


def test_docstrings_do_what_they_show() -> None:
    """Every doctest of the package passes, and there are some."""
    tried = 0
    for path in sorted(PACKAGE.rglob("*.py")):
        name = ".".join(("herbrand", *path.relative_to(PACKAGE).with_suffix("").parts))
        name = name.removesuffix(".__init__")
        if name == "herbrand.__main__" or ">>>" not in path.read_text(encoding="utf-8"):
            continue
        try:
            module = importlib.import_module(name)
        except MissingExtra:  # its library is not installed
            continue
        outcome = doctest.testmod(module, optionflags=FLAGS)
        assert not outcome.failed, f"{name}: {outcome.failed} examples fail; python -m doctest {path}"
        tried += outcome.attempted
    assert tried > 20


def test_the_page_of_the_command_line_is_up_to_date(update: bool) -> None:
    """docs/reference/cli.md says what the commands say of themselves."""
    page = ROOT / "docs" / "reference" / "cli.md"
    text = runpy.run_path(str(ROOT / "docs" / "site" / "commands.py"))["reference"]()
    if update:
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(text, encoding="utf-8")
    assert page.read_text(encoding="utf-8") == text


def test_every_command_is_in_the_tour_and_in_the_help() -> None:
    """No command is without its paragraph, and the table of the group repeats each command's own words."""
    tour = (ROOT / "docs" / "tour.md").read_text(encoding="utf-8")
    group = CliRunner().invoke(cli, ["--help"]).output
    for name, line in COMMANDS.items():
        assert f"herbrand {name}" in tour, name
        assert name in group
        module = importlib.import_module(f"herbrand.cli.{name}")
        assert module.command.name == name
        assert module.command.help.splitlines()[0] == line


def test_pages_link_to_pages_that_are_there() -> None:
    """Every relative link of the documents leads somewhere."""
    documents = [*PAGES, *ROOT.glob("*.md")]
    linked = 0
    for page in documents:
        for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text(encoding="utf-8")):
            if "://" not in target:
                assert (page.parent / target).exists(), f"{page.name} links to {target}"
                linked += 1
    assert linked


@pytest.mark.parametrize("page", ["selection-rule", "analysis", "back-end"])
def test_the_diffs_of_the_guides_apply(page: str) -> None:
    """What a page for contributors shows as a change fits the files as they are, or was applied to them."""
    if not (ROOT / ".git").exists():
        pytest.skip("not a checkout")
    text = (ROOT / "docs" / "contributing" / f"{page}.md").read_text(encoding="utf-8")
    (diff,) = re.findall(r"^```diff\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    runs = [
        subprocess.run(
            ["git", "apply", "--check", *direction, "-"],
            input=diff,
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        for direction in ([], ["--reverse"])
    ]
    assert any(run.returncode == 0 for run in runs), runs[0].stderr


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
