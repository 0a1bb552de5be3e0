"""Measure how fast networks expand many states, and play random games from given states.

    python benchmarks/expanding.py [--seconds S] [FILE...]

FILE is a path or the name of a bundled game.  For each game a few thousand states are taken from
the levels of its game tree; then, on one core: successors of all of them in one call, of one
state a call, and random games from 64 of them a call, each a second of processor time.
"""

from __future__ import annotations

import argparse
import time
from typing import TYPE_CHECKING

import numpy as np

import herbrand

if TYPE_CHECKING:
    from collections.abc import Callable

GAMES = ("ticTacToe", "connectFour", "breakthrough", "reversi", "tron", "checkers")
MANY = 4096


def rate(work: Callable[[], int], seconds: float) -> float:
    """Repeat the work for so long; return the sum of its answers for each processor second."""
    work()  # makes the program of the network
    done, started = 0, time.process_time()
    while (spent := time.process_time() - started) < seconds:
        done += work()
    return done / spent


def measure(name: str, seconds: float) -> str:
    """Measure one game and return its row."""
    game = herbrand.load(name)
    expander = game.expander
    level = expander.initial
    while True:
        after = np.unique(expander.expand(level).states, axis=0)
        after = after[~expander.terminal(after)]
        if len(after) <= len(level):
            break
        level = after
        if len(level) >= MANY:
            level = level[np.random.default_rng(1).choice(len(level), MANY, replace=False)]
            break
    one, few, seed = level[:1], level[:64], iter(range(1 << 60))
    many = rate(lambda: sum(map(len, expander.expansions(level))), seconds)
    single = rate(lambda: bool(len(expander.expand(one))), seconds)
    games = rate(lambda: len(expander.rollouts(few, seed=next(seed), each=8).lengths), seconds)
    return (
        f"{game.name:16} {len(level):6} {many / 1e6:9.2f} M/s {1e6 / single:9.0f} us {games / 1e3:9.1f} k/s"
    )


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description="Measure expansion on the network.")
    parser.add_argument("files", nargs="*", metavar="FILE", default=GAMES)
    parser.add_argument("--seconds", type=float, default=1.0, help="processor seconds a measurement")
    options = parser.parse_args()
    print(f"{'game':16} {'states':>6} {'successors':>13} {'one state':>12} {'random games':>13}")
    for name in options.files:
        print(measure(name, options.seconds), flush=True)


if __name__ == "__main__":
    main()
