"""Check every rulesheet in a folder and count the diagnostics by check.

usage: python examples/check_folder.py FOLDER
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import herbrand


def main(folder: str) -> None:
    """Print the errors of each sheet, and the number of diagnostics of each check."""
    counts: Counter[str] = Counter()
    for path in sorted(Path(folder).glob("*.kif")):
        game = herbrand.load(path)
        counts.update(d.check for d in game.diagnostics)
        for error in game.rules.errors:
            line = error.source.position(error.span.start).line
            print(f"{path.name}:{line}: {error.message}")
    for check, count in counts.most_common():
        print(f"{count:6}  {check}")


if __name__ == "__main__":
    main(*sys.argv[1:])
