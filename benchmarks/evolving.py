"""Measure the throughput of an evolutionary search: processor time by stage, on boards of one size.

    python benchmarks/evolving.py [--games 200] [--size 5] [--seed 0] [--json FILE]

Random designs are drawn, put on a board of that size (squares, hexagons, a torus), and evaluated as by
`herbrand evolve`, one after the other in this process, until so many games passed the filters and were
measured.
Times are processor time, including child processes.  Two cores have 1 200 such seconds in ten minutes.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

from costs import spent

from herbrand.evolve import BoardGame, Line, Lineage, Squares, Variant
from herbrand.evolve.blocks.grammar import draw_block
from herbrand.evolve.search import SearchSettings
from herbrand.evolve.search.candidate import EvaluationJob
from herbrand.evolve.search.evaluate import look_at

if TYPE_CHECKING:
    from collections.abc import Iterator

TEN_MINUTES = 1200.0
"""Processor seconds in ten minutes on two cores."""


def designs(size: int, chance: Random) -> Iterator[BoardGame]:
    """Draw designs on boards of one size, without end."""
    while True:
        design = draw_block(BoardGame, chance)
        board = Squares(size, size) if isinstance(design.board, Line | Squares) else type(design.board)(size)
        resized = replace(design, board=board)
        if not resized.problems():
            yield resized


def main() -> None:
    """Draw and measure games, and print the breakdown."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--games", type=int, default=200, help="stop after so many measured games")
    parser.add_argument("--size", type=int, default=5, help="columns and rows")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path, help="write every candidate to this file, one a line")
    given = parser.parse_args()
    chance = Random(given.seed)
    drawn = designs(given.size, chance)
    settings = SearchSettings()
    for number in range(4):  # imports, and reads what novelty is compared with
        look_at(
            Variant(next(drawn), Lineage("random", number)), EvaluationJob("random", number, (), settings)
        )
    stages: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    lines = []
    measured = candidates = 0
    began = spent()
    while measured < given.games:
        before = spent()
        design = next(drawn)
        stages["variation"] += spent() - before
        job = EvaluationJob("random", candidates, (), settings)
        candidate = look_at(Variant(design, Lineage("random", candidates)), job)
        candidates += 1
        measured += candidate.measured
        reasons[candidate.reason.split(":")[0] or "measured"] += 1
        stages.update(candidate.seconds)
        lines.append(json.dumps(candidate.as_json()))
    seconds = spent() - began
    if given.json:
        given.json.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"{candidates} candidates, {measured} measured, {seconds:.0f} s of processor time")
    print(f"{TEN_MINUTES * measured / seconds:.0f} measured in ten minutes on two cores")
    for stage, spent_there in stages.most_common():
        print(f"| {stage} | {1000 * spent_there / measured:.0f} ms | {spent_there / seconds:.0%} |")
    print(", ".join(f"{reason}: {n}" for reason, n in reasons.most_common()))


if __name__ == "__main__":
    main()
