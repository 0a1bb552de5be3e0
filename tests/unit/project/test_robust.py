"""What no author means and every tool meets: huge, broken and endless inputs on the command line.

Whatever the input, a command ends soon, with an exit code that says how and without a traceback.
"""

from __future__ import annotations

import gzip
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

import herbrand
from herbrand.cli.main import cli

if TYPE_CHECKING:
    from collections.abc import Callable

SECONDS = 60
"""More than ten times what any of these takes; machines that run tests are busy."""

BASE = """\
(role p)
(init (s 1))
(<= (legal p a) (true (s 1)))
(<= (next (s 2)) (does p a))
(<= terminal (true (s 2)))
(<= (goal p 100) (true (s 2)))
(<= (goal p 0) (true (s 1)))
"""
"""One role, one move, and the game is over."""

ENDLESS = """\
(role p)
(init (m 0))
(init go)
(legal p a)
(<= (next go) (true go))
(<= (next (m (f ?x))) (true (m ?x)))
(<= terminal (true stop))
(goal p 50)
"""
"""A term that grows in every state, and no end."""

Outcome = subprocess.CompletedProcess[bytes]


def start(*args: str, cwd: Path | None = None) -> subprocess.Popen[bytes]:
    source = str(Path(herbrand.__file__).resolve().parent.parent)
    path = os.pathsep.join(filter(None, (source, os.environ.get("PYTHONPATH"))))
    settings = {**os.environ, "PYTHONPATH": path, "NO_COLOR": "1"}
    settings.pop("PYTHONUNBUFFERED", None)  # unbuffered, Python itself forgets what a pipe did not take
    command = [sys.executable, "-m", "herbrand", *args]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, env=settings, cwd=cwd)


def run(*args: str, cwd: Path | None = None) -> Outcome:
    """Run a command in a process of its own; it must end in time and never show a traceback."""
    process = start(*args, cwd=cwd)
    try:
        out, err = process.communicate(b"", timeout=SECONDS)
    finally:
        process.kill()
    assert b"Traceback" not in out + err, err[-2000:].decode()
    return Outcome(args, process.returncode, out, err)


def run_here(*args: str) -> Outcome:
    """Run a command in this process, where that is as good."""
    outcome = CliRunner().invoke(cli, args, catch_exceptions=False)
    return Outcome(args, outcome.exit_code, outcome.stdout_bytes, outcome.stderr_bytes)


def checks(outcome: Outcome) -> set[str]:
    return {found["check"] for found in json.loads(outcome.stdout)}


@pytest.fixture
def sheet(tmp_path: Path) -> Callable[..., str]:
    """Write a text or bytes to a file and return its path."""

    def write(text: str | bytes, suffix: str = ".kif") -> str:
        path = tmp_path / f"sheet{suffix}"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return str(path)

    return write


MANY = 100_000
DEEP = {
    "opening": ("(" * MANY, ".kif"),
    "balanced": ("(" * MANY + ")" * MANY, ".kif"),
    "terms": (f"{BASE}(q {'(f ' * MANY}a{')' * MANY})", ".kif"),
    "infix opening": ("p :- " + "(" * MANY, ".hrf"),
    "infix balanced": ("p :- " + "(" * MANY + "q" + ")" * MANY, ".hrf"),
    "infix terms": ("p(" * MANY + "q" + ")" * MANY, ".hrf"),
    "infix negations": ("p :- " + "~" * MANY + "q", ".hrf"),
    "prolog": ("p :- " + "(" * MANY + "q" + ")" * MANY + ".", ".pl"),
}


@pytest.mark.slow_except("terms", "opening", "prolog", "infix opening", "infix negations")
@pytest.mark.parametrize("name", DEEP)
def test_deep_nesting_is_one_error(name: str, sheet: Callable[..., str]) -> None:
    """A hundred thousand parentheses are too deep, said once."""
    text, suffix = DEEP[name]
    outcome = run_here("check", sheet(text, suffix), "--json")
    assert outcome.returncode == 1
    assert "too-deep" in checks(outcome)
    assert len(json.loads(outcome.stdout)) < 10


@pytest.mark.parametrize("suffix", [".kif", ".hrf"])
def test_closing_parentheses_are_not_listed_for_ever(suffix: str, sheet: Callable[..., str]) -> None:
    """A hundred thousand closing parentheses on one line give a report one can read."""
    outcome = run_here("check", sheet(")" * MANY, suffix))
    assert outcome.returncode == 1
    assert b"error[extra-parenthesis]" in outcome.stdout
    assert len(outcome.stdout) < 200_000


def test_thousands_of_errors_on_one_line_are_shown_in_time(sheet: Callable[..., str]) -> None:
    """A very long line with an error every few characters: each is shown with its part of the line."""
    outcome = run_here("check", sheet("(<= (p ?x) (not (q ?x))) " * 3000))
    assert outcome.returncode == 1
    assert outcome.stdout.count(b"error[unsafe-variable]") >= 2900
    assert max(map(len, outcome.stdout.splitlines())) < 600


ODD_BYTES = {
    "binary": (bytes((i * 7919 + i * i % 251) % 256 for i in range(200_000)), "not-text", 1),
    "nul": (BASE.encode().replace(b"init", b"in\0it"), "not-text", 1),
    "utf-16": (BASE.encode("utf-16"), "not-utf-8", 0),
    "utf-16 without mark": (BASE.encode("utf-16-le"), "not-text", 1),
    "utf-32": (BASE.encode("utf-32"), "not-text", 1),
    "latin-1": (BASE.encode() + "; café\n".encode("latin-1"), "not-utf-8", 0),
    "shift-jis": (BASE.encode() + "; 日本\n".encode("shift-jis"), "not-utf-8", 0),
    "half a letter": (BASE.encode() + b"; \xe2\x82", "not-utf-8", 0),
    "lone surrogate": (BASE.encode() + b"; \xed\xa0\x80", "not-utf-8", 0),
    "empty": (b"", "missing-keyword", 1),
    "blank": (b" \n\n", "missing-keyword", 1),
}


@pytest.mark.parametrize("name", ODD_BYTES)
def test_odd_bytes_are_named(name: str, sheet: Callable[..., str]) -> None:
    """What is not text is refused; text in another encoding is read with a warning."""
    data, check, code = ODD_BYTES[name]
    file = sheet(data)
    outcome = run_here("check", file, "--json")
    assert outcome.returncode == code
    assert check in checks(outcome)
    assert run_here("simulate", file, "-n", "1").returncode == code


@pytest.mark.parametrize("command", [("check",), ("format",), ("show",), ("simulate", "-n", "1")])
def test_what_is_no_file_is_wrong_use(command: tuple[str, ...], tmp_path: Path) -> None:
    """A directory and a missing file are refused in a few lines that name them, with exit code 2."""
    for name in (str(tmp_path), str(tmp_path / "missing.kif")):
        outcome = run_here(*command, name)
        assert (outcome.returncode, outcome.stdout) == (2, b"")
        assert name.encode() in outcome.stderr.replace(b"\n", b"")
        assert len(outcome.stderr.splitlines()) <= 5


@pytest.mark.slow
def test_fifty_megabytes_are_refused_and_ten_are_read(sheet: Callable[..., str]) -> None:
    """A text over the limit of size is refused at once; one below is read to its end."""
    outcome = run("check", sheet("(p a b c)\n" * 5_000_000), "--json")
    assert outcome.returncode == 1
    assert "too-large" in checks(outcome)
    outcome = run("check", sheet("(" * 10_000_000), "--json")
    assert outcome.returncode == 1
    assert "too-deep" in checks(outcome)


def test_a_file_over_the_limit_stays_unread(tmp_path: Path) -> None:
    """A file larger than any rulesheet is refused by its size alone."""
    path = tmp_path / "large.kif"
    with path.open("wb") as stream:
        stream.truncate(100_000_000)
    outcome = run_here("check", str(path), "--json")
    assert outcome.returncode == 1
    assert "too-large" in checks(outcome)


def _nested(number: int) -> str:
    text = "(true (s 1))"
    for i in range(number):
        text = f"(or (true (s {i + 5})) {text})"
    return text


def _numbers(number: int, pattern: str) -> str:
    return " ".join(pattern.format(i) for i in range(number))


LARGE = {
    "4 000 literals": f"{BASE}(<= big {_numbers(4000, '(true (s {}))')})(<= (next big) big)",
    "4 000 negations": f"{BASE}(<= big {_numbers(4000, '(not (true (t {})))')})(<= (next big) big)",
    "1 000 variables": f"{BASE}(q 1)(q 2)(<= (big ?v0) {_numbers(1000, '(q ?v{})')})(<= (next big) (big 1))",
    "2 000 disjuncts": f"{BASE}(<= big (or {_numbers(2000, '(true (s {}))')}))(<= (next big) big)",
    "nested or": f"{BASE}(<= big {_nested(150)})(<= (next big) big)",
    "40 disjunctions": f"{BASE}(<= big {_numbers(40, '(or (true (s 1)) (true (s {})))')})(<= (next big) big)",
    "500 arguments": f"{BASE}(init (w {_numbers(500, '{}')}))"
    f"(<= (next (w {_numbers(500, '?a{}')})) (true (w {_numbers(500, '?a{}')})))",
}


@pytest.mark.slow_except("4 000 literals", "1 000 variables", "nested or", "40 disjunctions", "500 arguments")
@pytest.mark.parametrize("name", LARGE)
def test_large_rules_are_checked_and_played(name: str, sheet: Callable[..., str]) -> None:
    """Rules of unheard-of size are correct rules all the same."""
    file = sheet(LARGE[name])
    assert run_here("check", file).returncode == 0
    outcome = run_here("simulate", file, "-n", "2", "--engine", "rules", "--json")
    assert outcome.returncode == 0
    assert json.loads(outcome.stdout)["transitions"] == 2


@pytest.mark.slow
def test_twenty_thousand_roles(sheet: Callable[..., str]) -> None:
    """A game for twenty thousand roles is checked and played."""
    rules = "(init (s 1))(<= (legal ?r a) (role ?r))(<= (next (s 2)) (true (s 1)))(<= terminal (true (s 2)))"
    file = sheet("".join(f"(role r{i})(<= (goal r{i} 100) (true (s 2)))" for i in range(20_000)) + rules)
    assert run_here("check", file).returncode == 0
    outcome = run_here("simulate", file, "-n", "2", "--engine", "rules", "--json")
    assert outcome.returncode == 0
    assert len(json.loads(outcome.stdout)["goals"]) == 20_000


def test_unbounded_terms_end_at_the_budget(sheet: Callable[..., str]) -> None:
    """A game whose states grow for ever ends with exit code 3 and a line that says what ran out."""
    outcome = run("simulate", sheet(ENDLESS), "-n", "5", "--engine", "rules")
    assert outcome.returncode == 3
    errors = [line for line in outcome.stderr.splitlines() if line.startswith(b"error:")]
    assert len(errors) == 1
    assert b"over budget" in errors[0]


def test_unbounded_recursion_is_refused_or_ends_at_the_budget(sheet: Callable[..., str]) -> None:
    """Rules that build ever deeper terms in one state are an error, and `show` says so."""
    text = f"{BASE}(n 0)(<= (n (f ?x)) (n ?x))(<= (next (m ?x)) (n ?x))"
    outcome = run_here("check", sheet(text), "--json")
    assert "unrestricted-recursion" in checks(outcome)
    for command in (("show",), ("simulate", "-n", "1")):
        outcome = run(*command, sheet(text))
        assert outcome.returncode in (1, 3)
        assert outcome.stderr.splitlines()[-1].startswith(b"error:")


def test_a_state_without_legal_move_is_said(sheet: Callable[..., str]) -> None:
    """`simulate` names the role that cannot move, and the state; `show` shows it."""
    file = sheet(BASE.replace("terminal (true (s 2))", "terminal (true (s 3))"))
    outcome = run_here("simulate", file, "-n", "1", "--engine", "rules")
    assert outcome.returncode == 0
    assert b"stuck: 1 playout, the first as p has no legal move in the state: (s 2)" in outcome.stdout
    outcome = run_here("show", file, "--moves", "a")
    assert outcome.returncode == 0
    assert b"p has no legal move" in outcome.stdout


@pytest.mark.skipif(os.name == "nt", reason="signals are sent another way there")
def test_interrupting_simulate_is_one_line(
    sheet: Callable[..., str], work_begins: Callable[[subprocess.Popen[bytes]], None]
) -> None:
    """Ctrl-C in the middle of a playout that never ends: exit code 130, one line."""
    text = "(role p)(init (s 1))(legal p a)(<= (next (s 1)) (true (s 1)))(<= terminal (true stop))(goal p 50)"
    process = start("simulate", sheet(text), "-n", "1", "--max-steps", "1000000000", "--engine", "rules")
    work_begins(process)
    process.send_signal(signal.SIGINT)
    try:
        out, err = process.communicate(timeout=SECONDS)
    finally:
        process.kill()
    assert (process.returncode, out, err) == (130, b"", b"interrupted\n")


def test_a_closed_pipe_is_silent(sheet: Callable[..., str]) -> None:
    """When nobody reads the report any more, the command ends without a word."""
    process = start("check", sheet("(<= (p ?x) (not (q ?x)))\n" * 3000))
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdin.close()
    process.stdout.readline()
    process.stdout.close()
    err = process.stderr.read()
    assert process.wait(SECONDS) != 0
    process.stderr.close()
    assert b"Traceback" not in err
    assert b"Exception ignored" not in err
    assert not err


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may write everywhere")
@pytest.mark.parametrize("command", [("check", "--fix"), ("format",)])
def test_a_read_only_folder_is_left_as_it_is(command: tuple[str, ...], tmp_path: Path) -> None:
    """Where nothing can be written, nothing is half-written, and one line says why."""
    folder = tmp_path / "locked"
    folder.mkdir()
    path = folder / "a.kif"
    text = BASE.replace("(role p)", "(role    p))")
    path.write_text(text, encoding="utf-8")
    folder.chmod(0o555)
    try:
        outcome = run(*command, str(path))
        assert outcome.returncode in (1, 2)
        assert path.read_text(encoding="utf-8") == text
        assert list(folder.iterdir()) == [path]
    finally:
        folder.chmod(0o755)


@pytest.mark.parametrize("command", [("check", "--fix"), ("format",)])
def test_a_failed_write_leaves_the_file(
    command: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When the disk takes no new file, the old text stays, whole, and exit code 2 says why."""

    def refuse(*_args: object, **_options: object) -> None:
        raise PermissionError(13, "Permission denied", str(tmp_path))

    path = tmp_path / "a.kif"
    text = BASE.replace("(role p)", "(role    p))" if command[0] == "check" else "(role    p)")
    path.write_text(text, encoding="utf-8")
    monkeypatch.setattr("herbrand.runtime.files.os.fsync", refuse)
    outcome = CliRunner().invoke(cli, [*command, str(path)], catch_exceptions=False)
    assert outcome.exit_code == 2
    assert "permission denied" in outcome.stderr
    assert path.read_text(encoding="utf-8") == text
    assert list(tmp_path.iterdir()) == [path]


def test_a_truncated_trace_is_one_line(sheet: Callable[..., str], tmp_path: Path) -> None:
    """A gzip file that stops in the middle is no trace: one line, exit code 1."""
    whole = gzip.compress(json.dumps({"type": "game", "roles": ["p"]}).encode() * 1000)
    trace = tmp_path / "t.jsonl.gz"
    trace.write_bytes(whole[: len(whole) // 2])
    outcome = run_here("verify", sheet(BASE), "--trace", str(trace))
    assert (outcome.returncode, outcome.stdout) == (1, b"")
    assert len(outcome.stderr.splitlines()) == 1
    assert b"not a trace file" in outcome.stderr
