"""Fuzz the readers with atheris: no text, however broken, may make reading, checking or writing raise.

    pip install atheris
    python benchmarks/fuzz_reader.py prefix|infix|prolog|ggdl [CORPUS] [libFuzzer options]

for example `python benchmarks/fuzz_reader.py infix /tmp/infix -max_total_time=180`.  Begins with bundled
games in the notation; CORPUS collects inputs that reach new code.  A text that makes it fail is written to
the current folder as `crash-...`.  `fuzz_sheets.py` needs no atheris, but does not know what
code its texts reach.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import atheris  # type: ignore[import-untyped]  # installed where it is wanted

with atheris.instrument_imports(include=["herbrand.syntax", "herbrand.check"]):
    from fuzz_sheets import run_text, sheets

    from herbrand.syntax import NOTATIONS, read_bytes


def main() -> None:
    """Run from the command line."""
    if len(sys.argv) < 2 or sys.argv[1] not in NOTATIONS:
        raise SystemExit(f"usage: fuzz_reader.py {'|'.join(NOTATIONS)} [CORPUS] [libFuzzer options]")
    notation = sys.argv.pop(1)
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        sys.argv.insert(1, tempfile.mkdtemp(prefix=f"herbrand-{notation}-"))
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for number, (text, written_in) in enumerate(sheets()):
        if written_in == notation:
            (folder / f"sheet-{number}").write_text(text[:8192], encoding="utf-8")
    atheris.Setup(sys.argv, lambda data: run_text(read_bytes(data, notation).source.text, notation))
    atheris.Fuzz()


if __name__ == "__main__":
    main()
