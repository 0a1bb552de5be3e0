"""Measure which engine plays each rulesheet of a folder, the cost of preparation, and the speed.

    python benchmarks/rulesheets.py FOLDER [--seconds S] [--budget S] [--megabytes M] [--only NAME...]
                                      [--ways WAY...] [--json FILE] [--continue | --retry] [--markdown FILE]

Each sheet has a process of its own, forked from one that has the kernels loaded already, one
after the other.  Speeds are steps of random games for each second of processor time:

    batch    many games at once on the network, walked (no code of its own)
    single   one state after the other from Python by a `Walker` on the network
    rules    the same by an engine that evaluates the rules

The JSON is written after every sheet; `--continue` skips the sheets in it that were played in all the given
`--ways`, and keeps the results of others; `--retry` skips those without a remark.  Without a folder the JSON
of an earlier run is read, and `--markdown` writes its table.

Grounding has a budget of processor seconds, and four times as many seconds of wall-clock time.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import random
import resource
import select
import signal
import statistics
import sys
import time
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from costs import peak_megabytes, spent

import herbrand
from herbrand.engine import speed
from herbrand.errors import HerbrandError
from herbrand.runtime.limits import Limits

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from herbrand.network.network import Network

WAYS = ("batch", "single", "rules")
QUESTION = 10.0
"""Wall-clock seconds that the rule evaluator may spend on one question."""
PATIENCE = 6
"""Wall-clock seconds for a processor second of the budget."""
FEW = 5
"""Fewer steps than this are no measurement: it is repeated for `LONGER`."""
LONGER = 2.0
"""Processor seconds."""
MOST_STEPS = 1000
"""Longer games are left."""
GRACE = 30.0
"""Wall-clock seconds that a process may take beyond its budget and its measurements."""


def measure(
    file: Path, seconds: float, budget: float, megabytes: int, ways: list[str]
) -> Iterator[dict[str, Any]]:
    """Yield what becomes known about a sheet, a part at a time."""
    from herbrand.ground import ground
    from herbrand.network import optimised, wire
    from herbrand.rules.from_rules import RulesEngine

    started = time.monotonic()
    before = spent()
    game = herbrand.load(file)
    rules = game.rules
    if rules.errors:
        yield {"engine": None, "note": f"{len(rules.errors)} errors: {rules.errors[0].check}"}
        return
    yield {"roles": len(game.roles), "engine": "rules"}
    network = None
    try:
        limit_processor(budget)  # the grounder, a child, has a count of its own
        program = ground(rules, limits=Limits(seconds=budget), megabytes=megabytes)
        yield {"atoms": program.atoms, "ground_rules": program.rules}
        network = wire(program, [program.terms.intern(role) for role in rules.roles])
        del program
        yield {"gates_before": network.gates}
        network = optimised(network, megabytes=megabytes)
    except (HerbrandError, MemoryError) as caught:
        yield {"note": str(caught) or "out of memory"}
    else:
        yield {"engine": "network", **network.statistics()}
    limit_processor(2 * budget + 3 * QUESTION + 3 * seconds)
    yield {
        "ready_s": round(time.monotonic() - started, 3),
        "ready_cpu_s": round(spent() - before, 3),
        "peak_mb": peak_megabytes(),
    }

    def steps(run: Callable[[], speed.Speed]) -> dict[str, Any]:
        """Measure; say where some role has no legal move in some state."""
        try:
            measured = run()
        except (HerbrandError, MemoryError) as error:
            return {"failed": (str(error) or "out of memory")[:300]}
        stuck = (measured.stuck_in or "").split(" in the state:")[0]
        return {
            "steps_per_s": round(measured.transitions_per_second, 1),
            "steps": measured.transitions,
            "playouts": measured.playouts,
            "lanes": measured.lanes,
            **({"failed": f"some games get stuck: {stuck}"} if stuck else {}),
        }

    if network is not None and "batch" in ways:
        yield {"batch": steps(lambda: speed.measure_network(network, seconds=seconds))}
    if network is not None and "single" in ways:
        yield {"single": walk(network, seconds)}
    if "rules" in ways:
        evaluator = RulesEngine(rules, limits=Limits(seconds=QUESTION))
        steps(
            lambda: speed.measure_engine(evaluator, seconds=seconds, max_steps=2)
        )  # translates the rules to Python
        speeds = steps(lambda: speed.measure_engine(evaluator, seconds=seconds))
        if speeds.get("steps", FEW) < FEW:
            speeds = steps(lambda: speed.measure_engine(evaluator, seconds=LONGER))
        yield {"rules": speeds}
    yield {"peak_mb": peak_megabytes()}


def walk(network: Network, seconds: float) -> dict[str, Any]:
    """Play random games by a walker for so much processor time, as `peers.walking` does."""
    from herbrand.engine.walker import Walker

    walker, draw = Walker(network), random.Random(1).random
    steps = games = 0
    stuck: str | None = None
    started = time.process_time()
    until = started + seconds
    while time.process_time() < until:
        walker.reset()
        games += 1
        for step in range(MOST_STEPS):
            if walker.is_terminal or (step % 64 == 63 and time.process_time() > until):
                break
            legal = walker.legal()
            if not all(legal):
                stuck = network.terms.text(network.roles[legal.index([])])
                break
            walker.play([m[int(draw() * len(m))] if len(m) > 1 else m[0] for m in legal])
            steps += 1
    spent = time.process_time() - started
    speeds = {"steps_per_s": round(steps / spent, 1), "steps": steps, "playouts": games}
    return {**speeds, "failed": f"some games get stuck: {stuck} has no legal move"} if stuck else speeds


def limit_processor(seconds: float) -> None:
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(seconds), hard))


def in_process(
    file: Path, measuring: Callable[[], Iterator[dict[str, Any]]], megabytes: int, wall_clock: float
) -> dict[str, Any]:
    """Collect the parts that `measuring` yields about a sheet, in a forked process.

    The process has so many megabytes, and is killed after so many seconds.
    """
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            os.setpgid(0, 0)
            hard = resource.getrlimit(resource.RLIMIT_AS)[1]
            resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, hard))
            for part in measuring():
                os.write(writing, json.dumps(part).encode() + b"\n")
            status = 0
        except BaseException as error:  # noqa: BLE001  # whatever it is belongs into the report
            os.write(writing, json.dumps({"crashed": f"{type(error).__name__}: {error}"[:500]}).encode())
        finally:
            os._exit(status)
    os.close(writing)
    deadline = time.monotonic() + wall_clock
    text = b""
    row: dict[str, Any] = {"game": file.name.removesuffix(".kif")}
    while True:
        ready, _, _ = select.select([reading], [], [], max(0.0, deadline - time.monotonic()))
        if not ready:
            os.killpg(child, signal.SIGKILL)
            row["crashed"] = "killed: over time"
            break
        piece = os.read(reading, 65536)
        if not piece:
            break
        text += piece
    os.close(reading)
    _, status, _ = os.wait4(child, 0)
    with suppress(ProcessLookupError):  # programs that it called may outlive it
        os.killpg(child, signal.SIGKILL)
    for line in text.splitlines():
        row.update(json.loads(line))
    if os.WIFSIGNALED(status) and "crashed" not in row:
        row["crashed"] = f"signal {os.WTERMSIG(status)}"
    return row


HEAD = """\
# Which rulesheets have a network

<!-- made by `python benchmarks/rulesheets.py --json FILE --markdown FILE` -->

This page shows, for every rulesheet of the public collection of General Game Playing, which engine
plays it, how large its ground rules and its network are, how long preparation takes, and how fast
random games are. *ground rules* is the number of ground rules, *gates* the size of the network as wired
and after its passes. *ready* is processor time for reading, checking, grounding and building, including
the grounder's process; *MB* the peak memory of a process. The speeds are steps of random games per
second of processor time: *batch* many games at once on the network, walked (without machine code);
*single* state by state from Python, by a walker on the network; *rules* the same by evaluating the
rules. They were measured for fractions of a second and show the order of magnitude; [how fast games
are](speed.md) has precise ones for a few games. [Rulesheets that were hard to ground](hard-sheets.md)
lists the causes and remedies.

"""
"""Of the page; the numbers follow."""


def markdown(result: dict[str, Any]) -> str:
    """Write the table and what it adds up to."""
    rows = result["rows"]
    on_network = [row for row in rows if row.get("engine") == "network"]
    ready = sorted(row["ready_cpu_s"] for row in rows if "ready_cpu_s" in row)
    lines = [
        *HEAD.splitlines(),
        f"Measured on {result.get('machine') or result['processor']} with Python {result['python']}.",
        f"Grounding had {result['budget']:g} s of processor time, each way to play {result['seconds']:g} s.",
        "",
        "| rulesheets | on the network | median ready | 95 % ready | most memory |",
        "|---|---|---|---|---|",
        (
            f"| {len(rows)} | {len(on_network)} ({100 * len(on_network) / len(rows):.1f} %) "
            f"| {statistics.median(ready):.2f} s | {ready[int(0.95 * (len(ready) - 1))]:.1f} s "
            f"| {_number(max(row.get('peak_mb', 0) for row in rows))} MB |"
        ),
        "",
        "| rulesheet | engine | ground rules | gates wired | after | ready s | MB | batch | single | rules |",
        "|---|---|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for row in rows:
        cells = [
            row["game"],
            row.get("engine") or "none",
            _number(row.get("ground_rules")),
            _number(row.get("gates_before")),
            _number(row.get("gates")),
            f"{row['ready_cpu_s']:.2f}" if "ready_cpu_s" in row else "-",
            _number(row.get("peak_mb")),
            *(_number((row.get(key) or {}).get("steps_per_s")) for key in WAYS),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    remarks = [(row["game"], "; ".join(dict.fromkeys(_remarks(row)))) for row in rows]
    lines += ["", "| rulesheet | what stands in the way |", "|---|---|"]
    lines += [f"| {game} | {why} |" for game, why in remarks if why]
    return "\n".join(lines) + "\n"


def _remarks(row: dict[str, Any]) -> Iterator[str]:
    for key in ("note", "crashed"):
        if row.get(key):
            yield row[key].splitlines()[0]
    for key in WAYS:
        failed = (row.get(key) or {}).get("failed")
        if failed:
            yield failed.splitlines()[0]


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:,.0f}".replace(",", " ")


def run(options: argparse.Namespace, earlier: list[dict[str, Any]]) -> dict[str, Any]:
    """Measure the sheets that are wanted, writing down what is known after each."""
    result: dict[str, Any] = {
        "processor": platform.processor() or platform.machine(),
        "python": platform.python_version(),
        "herbrand": herbrand.__version__,
        "seconds": options.seconds,
        "budget": options.budget,
        "machine": options.machine,
    }
    known = {row["game"]: row for row in earlier}
    for file in sorted(options.folder.glob("*.kif"), key=lambda file: file.name.lower()):
        row = known.get(file.stem)
        whole = row is not None and (
            row.get("engine") != "network" or all(way in row for way in options.ways)
        )
        skipped = whole if options.goes_on else row is not None and not any(_remarks(row))
        if skipped or (options.only and file.stem not in options.only):
            continue
        seconds, budget, megabytes = options.seconds, options.budget, options.megabytes
        measuring = partial(measure, file, seconds, budget, megabytes, options.ways)
        new = in_process(file, measuring, megabytes, PATIENCE * (budget + 3 * QUESTION + 3 * seconds) + GRACE)
        row = known[file.stem] = {**(row or {}), **new} if options.goes_on else new
        print(_line(row), file=sys.stderr, flush=True)
        result["rows"] = sorted(known.values(), key=lambda row: str(row["game"]).lower())
        if options.json:
            options.json.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    return {"rows": earlier, **result}


def main() -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description="Measure every rulesheet of a folder.")
    parser.add_argument("folder", type=Path, nargs="?", help="folder with .kif files")
    parser.add_argument("--seconds", type=float, default=1.0, help="processor seconds of a way of playing")
    parser.add_argument("--budget", type=float, default=60.0, help="seconds to get ready")
    parser.add_argument("--megabytes", type=int, default=6000)
    parser.add_argument("--only", nargs="+", metavar="NAME")
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=list(WAYS))
    parser.add_argument("--machine", metavar="TEXT", help="what the table calls the machine")
    parser.add_argument("--json", type=Path, metavar="FILE")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write the table to this file")
    parser.add_argument("--continue", action="store_true", dest="goes_on")
    parser.add_argument("--retry", action="store_true")
    options = parser.parse_args()
    earlier: dict[str, Any] = {"rows": []}
    if options.json and options.json.exists() and (options.goes_on or options.retry or not options.folder):
        earlier = json.loads(options.json.read_text(encoding="utf-8"))
    if options.folder is None:
        if not earlier["rows"]:
            parser.error("a folder, or the JSON of an earlier run, is needed")
        result = earlier
    else:
        if not any(options.folder.glob("*.kif")):
            parser.error(f"no .kif files in {options.folder}")
        result = run(options, earlier["rows"])
    if options.markdown:
        options.markdown.write_text(markdown(result), encoding="utf-8")
    if not options.json and not options.markdown:
        print(markdown(result), end="")
    return 0


def _line(row: dict[str, Any]) -> str:
    batch = row.get("batch") or {}
    what = batch.get("steps_per_s") or batch.get("failed") or row.get("note") or row.get("crashed")
    return f"{row['game']}: {row.get('engine')}, ready {row.get('ready_s')} s, {what}"


if __name__ == "__main__":
    raise SystemExit(main())
