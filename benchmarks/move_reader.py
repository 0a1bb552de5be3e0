"""Measure the size, the construction time and the speed of move readers.

    python benchmarks/move_reader.py [FILE...] [--count N] [--seconds S] [--json]

Files are paths or names of bundled games; without any, all bundled games.  Times are seconds of
processor time except `inputs_s`, which is the clock: listing the possible moves may run a grounder
in a process of its own, for at most `--seconds`.  Speeds are moves a second of one role.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from typing import TYPE_CHECKING, Any

import herbrand
from herbrand import games
from herbrand.convert.movereader import emit
from herbrand.errors import HerbrandError

if TYPE_CHECKING:
    from collections.abc import Sequence


def speed(reader: herbrand.MoveReader, role: str, texts: Sequence[str]) -> float:
    """Moves a second of `find_many` on these texts, all of which are moves."""
    reader.find_many(role, texts[:1])
    started = time.process_time()
    moves = reader.find_many(role, texts)
    seconds = time.process_time() - started
    if None in moves:
        raise AssertionError(f"a spelling of a move was refused in {reader.game.name}")
    return len(texts) / max(seconds, 1e-9)


def measure(file: str, count: int, seconds: float) -> dict[str, Any]:
    """Measure one game."""
    game = herbrand.load(file, limits=herbrand.Limits(seconds=seconds, atoms=50_000_000))
    started = time.perf_counter()
    _ = game.inputs
    listed = time.perf_counter() - started
    started = time.process_time()
    reader = herbrand.MoveReader(game)
    built = time.process_time() - started
    role = max(reader.roles, key=reader.count)
    terms = reader.terms(role)
    started = time.process_time()
    terms.find_many(["noop"])
    tabled = time.process_time() - started
    size = len(terms)
    prefix = [terms.text(i % size) for i in range(min(size, count))]
    infix = [terms.text(i % size, "infix") for i in range(min(size, count))]
    prefix, infix = (many * (count // len(many) + 1) for many in (prefix, infix))
    prefix, infix = prefix[:count], infix[:count]
    spaced = [text.replace("(", "( ").replace(")", " )") for text in prefix]
    untidy = [f" {text} ".replace(" ", "  ") for text in prefix]
    return {
        "game": game.name,
        "role": role,
        "moves": size,
        "moves_of_all": sum(map(reader.count, reader.roles)),
        "states": len(terms.tables.states),
        "edges": terms.tables.edges,
        "inputs_s": round(listed, 3),
        "build_s": round(built, 4),
        "table_s": round(tabled, 4),
        "python_bytes": len(emit(reader, "python")) if listed < 30 else None,
        "canonical_per_s": round(speed(reader, role, prefix)),
        "spaced_per_s": round(speed(reader, role, spaced)),
        "upper_per_s": round(speed(reader, role, [text.upper() for text in prefix])),
        "infix_per_s": round(speed(reader, role, infix)),
        "untidy_per_s": round(speed(reader, role, untidy)),
    }


def main() -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description="Measure move readers on one core.")
    parser.add_argument("files", nargs="*", metavar="FILE")
    parser.add_argument("--count", type=int, default=300_000, help="moves to read in each spelling")
    parser.add_argument("--seconds", type=float, default=300.0, help="to list the moves of a game")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if options.count < 1:
        parser.error("--count must be positive")
    rows = []
    failed = False
    for file in options.files or games.names():
        try:
            row = measure(file, options.count, options.seconds)
        except HerbrandError as error:
            print(f"error: {file}: {error}", file=sys.stderr)
            failed = True
            continue
        rows.append(row)
        if not options.json:
            print(
                f"{row['game']:22} {row['moves']:>7} moves {row['states']:>6} states {row['edges']:>7} edges "
                f"build {row['build_s']:7.3f} s  M/s: canonical {row['canonical_per_s'] / 1e6:5.1f}"
                f"  spaced {row['spaced_per_s'] / 1e6:4.1f}  infix {row['infix_per_s'] / 1e6:4.1f}"
                f"  untidy {row['untidy_per_s'] / 1e6:4.1f}",
                flush=True,
            )
    if options.json:
        json.dump(rows, sys.stdout, indent=1)
        print()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
