"""Explore and solve games with published state counts and values, and compare.

    python benchmarks/known_values.py [--seconds S]

The numbers were counted by independent programs; `tests/unit/analyse/test_solve.py` has the small ones.
States of reversi are boards with whose turn it is; by the discs of who moves and those of the other there are
58 533.
Ends with status 1 when something differs.
"""

from __future__ import annotations

import argparse
import sys
import time

from strategies import resized

import herbrand
from herbrand.analyse.budget import Budget
from herbrand.analyse.exploration.explore import explore
from herbrand.analyse.solving.solve import solve_space

BOARDS = (
    # name, width, height, states, value of the first role
    ("hex", 2, 2, 32, 100),
    ("hex", 3, 3, 5514, 100),
    ("breakthrough", 2, 4, 646, 0),
    ("breakthrough", 2, 5, 11287, 0),
    ("breakthrough", 3, 4, 55152, 0),
    ("breakthrough", 2, 6, 71474, 100),
    ("breakthrough", 3, 5, 2418400, 0),
    ("reversi", 4, 4, 62789, 0),
    ("connectFour", 4, 4, 161029, 50),
    ("connectFour", 4, 5, 1706255, 50),
    ("connectFour", 5, 4, 3945711, 50),
)
BUNDLED = (("ticTacToe", 5478, 50), ("nim", 232, 100), ("hanoi", 2753, 100))


def main() -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description="Compare known numbers of states and values.")
    parser.add_argument("--seconds", type=float, default=120.0, help="for each board")
    options = parser.parse_args()
    rows = [(herbrand.load(name), states, value) for name, states, value in BUNDLED]
    rows += [
        (herbrand.loads(resized(name, width, height), name=f"{name} {width}x{height}"), states, value)
        for name, width, height, states, value in BOARDS
    ]
    wrong = 0
    for game, states, value in rows:
        _ = game.network
        began = time.process_time()
        space = explore(game.expander, budget=Budget(options.seconds, 30_000_000, 4000.0))
        explored = time.process_time() - began
        if not space.complete:
            print(f"{game.name:20} not finished: {space.stopped}")
            continue
        solution = solve_space(space, Budget(options.seconds))
        computed = next(iter((solution.value or {}).values()), None)
        same = len(space.states) == states and computed == value
        wrong += not same
        rate = space.transitions / explored / 1e6
        print(
            f"{game.name:20} {len(space.states):9} states, {space.transitions:9} transitions in "
            f"{explored:6.2f} s ({rate:.1f} M/s), value {computed}, solved in {solution.seconds:.2f} s"
            f"{'' if same else f'  WRONG: {states} states, value {value}'}",
            flush=True,
        )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
