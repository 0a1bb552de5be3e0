"""Measure the cost of a game as its board grows: preparation time, memory, rules, gates, steps a second.

    python benchmarks/growth.py [--sizes N...] [--only NAME...] [--seconds S] [--budget S]
                                [--json FILE] [--page FILE] [--plot FILE]

Four games on boards of n by n, made from bundled ones: tic-tac-toe with n marks in a row, connect four,
breakthrough, hex.  Each board has a process of its own, forked from one that has loaded the library, so that
its memory can be measured; that of the grounder, a child, counts if it is larger.  Times are processor time.
`--plot` needs matplotlib.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import platform
from pathlib import Path
from typing import TYPE_CHECKING, Any

from costs import peak_megabytes, spent
from speed import processor

import herbrand
from herbrand import games
from herbrand.engine.speed import measure_network
from herbrand.errors import BudgetExceeded
from herbrand.runtime.limits import Limits

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

SIZES = (3, 5, 7, 9, 11, 13, 15, 17, 19)
COLUMNS = {
    "ready_s": "seconds to be ready",
    "peak_mb": "memory, MB",
    "ground_rules": "ground rules",
    "gates": "gates",
    "steps_per_s": "steps a second",
}


def numbers(size: int, name: str, follows: str) -> str:
    """Return facts that count to a size."""
    steps = (f"({name} {i})" for i in range(1, size + 1))
    return " ".join(steps) + " " + " ".join(f"({follows} {i} {i + 1})" for i in range(1, size))


def hexagons(size: int) -> str:
    """Return the bundled hex on another board."""
    rules = games.path("hex").read_text(encoding="utf-8")
    others = [line for line in rules.splitlines() if not line.startswith(("(number ", "(succ "))]
    text = "\n".join(others).replace("(rooted red ?x 9)", f"(rooted red ?x {size})")
    return text.replace("(rooted blue 9 ?y)", f"(rooted blue {size} ?y)") + numbers(size, "number", "succ")


def breakthrough(size: int) -> str:
    """Return the bundled breakthrough on another board, with numbers for files."""
    rules = games.path("breakthrough").read_text(encoding="utf-8")
    board = ("(file ", "(rank ", "(right_of ", "(up ", "(home ", "(goal_rank white ")
    others = [line for line in rules.splitlines() if not line.startswith(board)]
    homes = (("white", 1), ("white", 2), ("black", size - 1), ("black", size))
    facts = [f"(home {player} {rank})" for player, rank in homes] + [f"(goal_rank white {size})"]
    ranks, files = numbers(size, "rank", "up"), numbers(size, "file", "right_of")
    return "\n".join([*others, *facts, ranks, files])


def load(name: str, size: int) -> herbrand.Game:
    """Return a game on a board of so many by so many."""
    if name == "ticTacToe":
        return herbrand.load("mnk", M=size, N=size, K=size)
    if name == "connectFour":
        return herbrand.load(games.path("connectFour.ggd"), Columns=size, Rows=size, Length=min(size, 4))
    text = hexagons(size) if name == "hex" else breakthrough(size)
    return herbrand.loads(text, notation="prefix", name=name)


GAMES = {"ticTacToe": 3, "connectFour": 4, "breakthrough": 4, "hex": 3}
"""The games, and their smallest boards."""


def measure(result: Connection, name: str, size: int, seconds: float, budget: float) -> None:
    """Measure one board and send what was found."""
    from herbrand.ground import ground
    from herbrand.network import optimised, wire

    begun = spent()
    row: dict[str, Any] = {"game": name, "size": size}
    try:
        rules = load(name, size).rules
        program = ground(rules, limits=Limits(seconds=budget))
        row["ground_rules"] = program.rules
        network = optimised(wire(program, [program.terms.intern(role) for role in rules.roles]))
    except BudgetExceeded as error:
        result.send({**row, "note": str(error)})
        return
    row |= {"ready_s": round(spent() - begun, 2), "peak_mb": peak_megabytes(), "gates": network.gates}
    row["moves"] = len(network.moves)
    row["steps_per_s"] = round(measure_network(network, seconds=seconds).transitions_per_second)
    result.send(row)


def page(rows: list[dict[str, Any]]) -> str:
    """Return the table as Markdown."""
    lines = [f"| game | board | {' | '.join(COLUMNS.values())} |", "|---|---" + "|---:" * len(COLUMNS) + "|"]
    for row in rows:
        cells = [f"{row[key]:,}".replace(",", " ") if key in row else "–" for key in COLUMNS]
        lines.append(f"| {row['game']} | {row['size']}×{row['size']} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def plot(rows: list[dict[str, Any]], file: Path) -> None:
    """Draw what grows with the board, one picture a quantity, as SVG."""
    import matplotlib as mpl

    mpl.use("svg")
    mpl.rcParams |= {"svg.fonttype": "none", "svg.hashsalt": "growth", "font.size": 9}
    from matplotlib import pyplot as plt

    shown = ["ready_s", "peak_mb", "gates", "steps_per_s"]
    figure, axes = plt.subplots(1, len(shown), figsize=(11, 2.8), layout="constrained")
    for axis, key in zip(axes, shown, strict=True):
        for name in GAMES:
            points = [(row["size"], row[key]) for row in rows if row["game"] == name and key in row]
            if points:
                axis.plot(*zip(*points, strict=True), marker="o", markersize=3, label=name)
        axis.set(title=COLUMNS[key], xlabel="side of the board")
        if key in ("gates", "steps_per_s"):
            axis.set_yscale("log")
        else:
            axis.set_ylim(bottom=0)
        axis.grid(visible=True, alpha=0.3)
    axes[0].legend(frameon=False)
    figure.savefig(file, metadata={"Date": None})


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description="Measure what games cost on growing boards.")
    parser.add_argument("--sizes", nargs="+", type=int, default=list(SIZES), metavar="N")
    parser.add_argument("--only", nargs="+", choices=GAMES, default=list(GAMES))
    parser.add_argument("--seconds", type=float, default=0.5, help="processor seconds to play each")
    parser.add_argument("--budget", type=float, default=120.0, help="seconds for grounding each")
    parser.add_argument("--json", type=Path, metavar="FILE")
    parser.add_argument("--page", type=Path, metavar="FILE", help="write the table here")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="draw an SVG")
    options = parser.parse_args()
    forking = multiprocessing.get_context("fork")
    rows: list[dict[str, Any]] = []
    for name in options.only:
        for size in sorted(max(GAMES[name], size) for size in options.sizes):
            receiving, sending = forking.Pipe(duplex=False)
            child = forking.Process(
                target=measure, args=(sending, name, size, options.seconds, options.budget)
            )
            child.start()
            sending.close()
            try:
                row = receiving.recv()
            except EOFError:
                row = {"game": name, "size": size, "note": "the process ended without a result"}
            child.join()
            rows.append(row)
            print(row, flush=True)
    about = {"processor": processor(), "python": platform.python_version(), "herbrand": herbrand.__version__}
    if options.json:
        options.json.write_text(json.dumps({**about, "rows": rows}, indent=1) + "\n", encoding="utf-8")
    if options.page:
        options.page.write_text(page(rows), encoding="utf-8")
    if options.plot:
        plot(rows, options.plot)


if __name__ == "__main__":
    main()
