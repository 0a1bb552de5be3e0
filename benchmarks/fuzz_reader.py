"""Fuzz the readers with atheris: no text, however broken, may make reading or checking raise.

    pip install atheris
    python benchmarks/fuzz_reader.py prefix|infix|prolog [CORPUS] [libFuzzer options]

for example `python benchmarks/fuzz_reader.py infix /tmp/infix -max_total_time=180`.  Begins with
the bundled games, written in the notation; CORPUS collects inputs that reach new code.  A text that
makes it fail is written to the current folder as `crash-...`.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import atheris  # type: ignore[import-untyped]  # installed where it is wanted

with atheris.instrument_imports(include=["herbrand.syntax"]):
    from herbrand import games
    from herbrand.syntax import read, read_bytes, read_file
    from herbrand.syntax.printer import print_tree

NOTATIONS = ("prefix", "infix", "prolog")


def seed(folder: Path, notation: str) -> None:
    """Write the bundled games into a folder, in a notation."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in games.names():
        tree = read_file(games.path(name))
        (folder / name).write_text(print_tree(tree, notation).text[:8192], encoding="utf-8")


def one(data: bytes, notation: str) -> None:
    """Read bytes; what was read without errors must print and read back as the same rules."""
    tree = read_bytes(data, notation)
    size = len(tree.source.text)
    for found in tree.diagnostics:
        assert 0 <= found.span.start <= found.span.end <= size + 1, found
        str(found)
    printed = print_tree(tree, notation).text
    if not any(found.severity.value == "error" for found in tree.diagnostics):
        again = read(printed, notation)
        wrong = [d.message for d in again.diagnostics if d.severity.value == "error"]
        assert not wrong, wrong


def main() -> None:
    """Run from the command line."""
    if len(sys.argv) < 2 or sys.argv[1] not in NOTATIONS:
        raise SystemExit(f"usage: fuzz_reader.py {'|'.join(NOTATIONS)} [CORPUS] [libFuzzer options]")
    notation = sys.argv.pop(1)
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        sys.argv.insert(1, tempfile.mkdtemp(prefix=f"herbrand-{notation}-"))
    seed(Path(sys.argv[1]), notation)
    atheris.Setup(sys.argv, lambda data: one(data, notation))
    atheris.Fuzz()


if __name__ == "__main__":
    main()
