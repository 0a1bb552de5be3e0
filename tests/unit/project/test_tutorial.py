"""Everything that docs/tutorial.md and docs/tutorial-ggdl.md show is true.

The pages are followed from top to bottom in an empty folder, by the kind of its code blocks:

    ```kif FILE, ```ggdl FILE   the text is added to the end of FILE
    ```diff FILE        the lines with - in FILE are replaced by those with +
    ```console          the commands after $ are run; what they print is compared
    ```python           a doctest

`...` in an expected output stands for anything on the line.  Lines such as `anna> 2` in it are typed
by the reader.  `pytest --update` rewrites the outputs that differ.
"""

from __future__ import annotations

import doctest
import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from herbrand.cli.main import cli

PAGE = Path(__file__).parents[3] / "docs" / "tutorial.md"
GGDL = PAGE.with_name("tutorial-ggdl.md")
BLOCK = re.compile(r"^```(\w+)(?: +(\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^\$ (herbrand .*)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)
INLINE = re.compile(r"`(herbrand \w+ [^`]*)`")
TYPED = re.compile(r"^\w+> (.*)$", re.MULTILINE)


def run(line, typed):
    """What a command prints, remarks included."""
    name, *arguments = shlex.split(line)
    assert name == "herbrand"
    result = CliRunner().invoke(cli, arguments, input=typed, env={"COLUMNS": "100", "NO_COLOR": "1"})
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    assert result.exit_code in (0, 1), result.output
    return "".join(f"{row.rstrip()}\n" for row in result.output.splitlines())


def agrees(expected, printed):
    """Whether an output is as expected, with `...` for anything on a line."""
    pattern = ".*".join(map(re.escape, expected.split("...")))
    return re.fullmatch(pattern, printed) is not None


def follow(text, update):
    """Do what the page says in the current folder; return the page with true outputs."""
    commands = 0

    def block(match):
        nonlocal commands
        kind, name, content = match.groups()
        if kind in {"kif", "ggdl"}:
            with Path(name).open("a", encoding="utf-8") as file:
                file.write(content + "\n")
        elif kind == "diff":
            rows = content.splitlines(keepends=True)
            old = "".join(row[1:] for row in rows if row[0] in "- ")
            new = "".join(row[1:] for row in rows if row[0] in "+ ")
            before = Path(name).read_text(encoding="utf-8")
            assert before.count(old) == 1, f"not once in {name}:\n{old}"
            Path(name).write_text(before.replace(old, new), encoding="utf-8")
        elif kind == "console":
            commands += len(COMMAND.findall(content))
            assert COMMAND.sub("", content) == "", f"no command: {content}"
            return match[0].replace(content, COMMAND.sub(command, content))
        elif kind == "python":
            test = doctest.DocTestParser().get_doctest(content, {}, "tutorial", str(PAGE), 0)
            assert test.examples
            assert doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test).failed == 0
        else:
            raise AssertionError(f"a block of an unknown kind: {kind}")
        return match[0]

    def command(match):
        line, expected = match.groups()
        printed = run(line, "".join(f"{typed}\n" for typed in TYPED.findall(expected)))
        if agrees(expected, printed):
            return match[0]
        assert update, f"$ {line}\nprints\n{printed}\nand not\n{expected}"
        return f"$ {line}\n{printed}"

    return BLOCK.sub(block, text), commands


@pytest.mark.parametrize(("page", "least"), [(PAGE, 10), (GGDL, 7)], ids=["gdl", "ggdl"])
def test_the_tutorial_is_true(tmp_path, monkeypatch, update, page, least):
    """Whoever follows the tutorial sees what it says, command by command."""
    monkeypatch.chdir(tmp_path)
    text = page.read_text(encoding="utf-8")
    written, commands = follow(text, update)
    assert commands >= least
    inline = INLINE.findall(text)
    assert len(inline) >= 3
    for line in inline:
        assert run(line, "").strip(), line
    if written != text:
        page.write_text(written, encoding="utf-8")


@pytest.mark.parametrize("missing", ["check", "show", "simulate", "play"])
def test_the_tutorial_uses_the_commands(missing):
    """The commands that a beginner needs are all on the page."""
    assert f"$ herbrand {missing} " in PAGE.read_text(encoding="utf-8")
