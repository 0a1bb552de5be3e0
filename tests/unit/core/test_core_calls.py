"""Wrong arrays, and whatever else is wrong, are errors of every function of the core, never a crash."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest

from herbrand import core

CALLS = Path(__file__).resolve().parent.parent.parent / "core" / "wrong_calls.py"
STUB = Path(core.__file__).with_name("_core.pyi")


def run(*names: str) -> subprocess.CompletedProcess[str]:
    """Make the wrong calls of some functions in a process of their own."""
    return subprocess.run(
        [sys.executable, "-W", "ignore", str(CALLS), *names],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )


@cache
def names() -> list[str]:
    """Return which functions are called."""
    found: list[str] = json.loads(run("--list").stdout)
    return found


def declared() -> set[str]:
    """Return every function of the stub that takes something, and every attribute that is a function."""
    found = set()

    def look(prefix: str, node: ast.AST) -> None:
        if isinstance(node, ast.ClassDef):
            for inner in node.body:
                look(f"{node.name}.", inner)
        elif isinstance(node, ast.FunctionDef):
            is_attribute = any(isinstance(d, ast.Name) and d.id == "property" for d in node.decorator_list)
            takes = [*node.args.args, *node.args.kwonlyargs][bool(prefix) :]
            name = prefix + node.name
            if is_attribute:
                if node.returns is not None and "Callable" in ast.unparse(node.returns):
                    found.add(name)
            elif takes and not node.decorator_list:
                found.add(name.removesuffix(".__init__"))

    for node in ast.parse(STUB.read_text(encoding="utf-8")).body:
        look("", node)
    return found


def test_every_function_is_called() -> None:
    """What the stub declares is what is called wrongly below.

    But for `Watchdog`, which ends the process: see `test_watchdog`.
    """
    assert set(names()) - {"unmade", "views"} == declared() - {"Watchdog"}


@pytest.mark.parametrize("share", [6, pytest.param(1, marks=pytest.mark.slow)])
def test_wrong_calls_are_errors(share: int) -> None:
    """Other types, dimensions, layouts, lengths and numbers raise, or are of no harm, one or several at once."""
    chosen = names()
    done = run("--share", str(share), *chosen)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    last = next((line for line in reversed(lines) if line[0] == "call"), None)
    assert done.returncode == 0, f"crashed with {done.returncode} in {last}\n{done.stderr[-4000:]}"
    assert lines[-1] == ["done"]
    counts = dict.fromkeys(("refused", "right"), 0)
    for call, answer in pairwise(lines):
        assert answer[0] != "raised", f"{call}: {answer}"
        assert answer[0] != "accepted" or not answer[2], f"{call} was accepted"
        if answer[0] in counts:
            counts[answer[0]] += 1
    assert counts["right"] >= len(chosen) - 1  # `unmade` has nothing that is right
    assert counts["refused"] > 10 / share * len(chosen)
