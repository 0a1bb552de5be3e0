"""Compare the answers of all engines on every rulesheet of a folder.

    python benchmarks/agreement.py FOLDER [--only NAME...] [--playouts N] [--max-steps N] [--seconds S]
                                   [--question S] [--engines A,B,...] [--json FILE] [--continue | --retry]
                                   [--markdown FILE]

The rule evaluator plays random games, and every other engine evaluates the same states:

    network       the gates of the network
    prolog        SWI-Prolog proves the literal export
    prolog-state  SWI-Prolog proves the export that passes the state as a list
    asp           clingo grounds the exported answer set program
    scrambled     the rule evaluator on a scrambled copy, translated back

Each sheet has a process of its own, and each engine a budget: `--seconds` for all states of a sheet and
`--question` for each query.  An engine that exceeds it is listed as unsupported, with the reason.  The JSON
is written after every sheet; `--continue` skips the sheets that are in it, `--retry` those on which every
engine agreed.  Without a folder the JSON of an earlier run is read, and `--markdown` writes its table.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import herbrand
from herbrand.convert.scramble import scramble
from herbrand.errors import HerbrandError
from herbrand.game import Game
from herbrand.runtime.limits import Limits
from herbrand.verify import verify_playouts
from herbrand.verify.in_prolog import PrologEngine

ENGINES = ("network", "prolog", "prolog-state", "asp", "scrambled")
GRACE = 60.0
"""Wall-clock seconds that a sheet may take beyond its budgets."""


def one(file: Path, options: argparse.Namespace) -> None:
    """Compare the engines on one sheet; print a line of JSON after each."""
    limits = Limits(seconds=options.question)
    for engine in options.engines.split(","):
        game = herbrand.load(file, limits=limits)
        started = time.monotonic()
        try:
            if engine == "scrambled":
                verdict = _scrambled(game, options)
            else:
                verdict = _compared(game, engine, options)
        except (HerbrandError, MemoryError) as error:
            verdict = {"verdict": "unsupported", "reason": str(error) or type(error).__name__, "states": 0}
        verdict["seconds"] = round(time.monotonic() - started, 2)
        print(json.dumps({engine: verdict}), flush=True)


def _compared(game: Game, engine: str, options: argparse.Namespace) -> dict[str, Any]:
    name = engine
    if engine == "prolog-state":
        name = "prolog"
        game._engines["prolog"] = PrologEngine(game.rules, limits=game.limits, style="state")
    report = verify_playouts(
        game,
        engines=("rules", name),
        playouts=options.playouts,
        seed=1,
        max_steps=options.max_steps,
        seconds=options.seconds,
    )
    if report.difference is not None:
        return {"verdict": "differs", "reason": str(report.difference), "states": report.states}
    verdict: dict[str, Any] = {"verdict": "agrees", "states": report.compared[name]}
    if report.unsupported:
        verdict |= {"verdict": "unsupported", "reason": report.unsupported[name]}
    return verdict


def _scrambled(game: Game, options: argparse.Namespace) -> dict[str, Any]:
    """Play a scrambled copy beside the game; moves and answers are translated."""
    twin = scramble(game.tree, seed=1)
    other = Game(twin.tree, name="scrambled", limits=game.limits)
    chance = random.Random(1)
    deadline = time.monotonic() + options.seconds
    states = 0
    for _ in range(options.playouts):
        left, right = game.initial_state("rules"), other.initial_state("rules")
        for _ in range(options.max_steps):
            mine, theirs = _look(left, str.lower), _look(right, lambda text: twin.unscrambled(text).lower())
            if mine != theirs:
                return {"verdict": "differs", "reason": f"after {states} states", "states": states}
            states += 1
            legal = left.legal_moves()
            if left.is_terminal or not all(legal.values()) or time.monotonic() > deadline:
                break
            joint = [chance.choice(moves) for moves in legal.values()]
            left, right = left.next(joint), right.next([twin.scrambled(str(move)) for move in joint])
    return {"verdict": "agrees", "states": states}


def _look(state: herbrand.State, read: Any) -> tuple[Any, ...]:
    legal = [sorted(read(str(move)) for move in moves) for moves in state.legal_moves().values()]
    goals = [sorted(state.goal_values(role)) for role in state.roles]
    return sorted(map(read, state.facts)), legal, goals, state.is_terminal


def sheet(file: Path, options: argparse.Namespace) -> dict[str, Any]:
    """Compare the engines on one sheet in a process of its own."""
    command = [sys.executable, __file__, "--one", str(file)]
    for name in ("playouts", "max_steps", "seconds", "question", "engines"):
        command += [f"--{name.replace('_', '-')}", str(getattr(options, name))]
    engines = options.engines.split(",")
    allowed = GRACE + len(engines) * (options.seconds + 2 * options.question)
    child = subprocess.Popen(  # noqa: S603  # ourselves
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    try:
        output, errors = child.communicate(timeout=allowed)
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)
        output, errors = child.communicate()
        errors = f"stopped after {allowed:g} s"
    verdicts: dict[str, Any] = {}
    for line in output.splitlines():
        verdicts |= json.loads(line)
    for engine in engines:
        last = errors.strip().splitlines()[-1] if errors.strip() else "the process ended"
        verdicts.setdefault(engine, {"verdict": "unsupported", "reason": last, "states": 0})
    return verdicts


def run(folder: Path, options: argparse.Namespace) -> dict[str, Any]:
    """Go through the sheets of a folder."""
    path = Path(options.json)
    results: dict[str, Any] = {}
    if (options.carry_on or options.retry) and path.exists():
        results = json.loads(path.read_text(encoding="utf-8"))["sheets"]
    files = sorted(folder.glob("*.kif"))
    if options.only:
        files = [file for file in files if file.stem in options.only]
    for number, file in enumerate(files, 1):
        known = results.get(file.stem)
        wanted = options.engines
        if known is not None and options.retry:
            again = [e for e in wanted.split(",") if known.get(e, {}).get("verdict") != "agrees"]
            if not again:
                continue
            options.engines = ",".join(again)
        elif known is not None and options.carry_on:
            continue
        verdicts = sheet(file, options)
        options.engines = wanted
        results[file.stem] = {**(known or {}), **verdicts}
        summary = ", ".join(f"{engine} {one['verdict']} {one['states']}" for engine, one in verdicts.items())
        print(f"{number}/{len(files)} {file.stem}: {summary}", file=sys.stderr, flush=True)
        report = {"machine": platform.platform(), "herbrand": herbrand.__version__, "sheets": results}
        path.write_text(json.dumps(report, indent=1, sort_keys=True), encoding="utf-8")
    return json.loads(path.read_text(encoding="utf-8"))


def markdown(report: dict[str, Any]) -> str:
    """Return the table of a report."""
    sheets = report["sheets"]
    count = Counter(
        (engine, one["verdict"]) for engines in sheets.values() for engine, one in engines.items()
    )
    states = Counter[str]()
    for engines in sheets.values():
        for engine, one in engines.items():
            states[engine] += one["states"]
    total = len(sheets)
    agreeing = sum(
        all(one["verdict"] != "differs" for one in engines.values()) for engines in sheets.values()
    )
    lines = [
        "# Agreement of engines",
        "",
        "Written by `benchmarks/agreement.py`; do not edit.",
        "",
        "This page compares the answers of herbrand's engines with each other and with other programs. On",
        f"{total} rulesheets of the public collection ggp-org/ggp-repository, random games were played by",
        "evaluating the rules, and every other engine evaluated the same states: the facts, the legal moves",
        "of every role, the end, the goals, and percepts if there are any. At most two games of fifteen",
        f"steps a sheet were compared, for some seconds; **on {agreeing} of {total} sheets no difference was",
        "found.**",
        "",
        "| engine | what answers |",
        "|---|---|",
        "| network | the gates of the network |",
        "| prolog | SWI-Prolog, on `convert --to prolog` |",
        "| prolog-state | SWI-Prolog, on `convert --to prolog --style state` |",
        "| asp | clingo, on the rules of `convert --to asp` |",
        "| scrambled | the rules again, of a copy under other names and in another order |",
        "",
        "*Unsupported* means that an engine did not answer within its budget, on a busy two-core machine;",
        "the reasons are listed at the end. [Which rulesheets have a network](networks.md) was measured",
        "with other budgets.",
        "",
        "| engine | agrees | unsupported | differs | states compared |",
        "|---|---:|---:|---:|---:|",
    ]
    for engine in ENGINES:
        verdicts = " | ".join(str(count[engine, verdict]) for verdict in ("agrees", "unsupported", "differs"))
        lines.append(f"| {engine} | {verdicts} | {states[engine]:,} |".replace(",", " "))
    lines += [
        *("", "## Sheet by sheet", ""),
        "The number says how many states were compared; ⏱ stands where the engine gave up after them,",
        "✗ where it differs.",
        "",
    ]
    lines += ["| sheet | " + " | ".join(ENGINES) + " |", "|---|" + "---:|" * len(ENGINES)]
    signs = {"agrees": "", "unsupported": " ⏱", "differs": " ✗"}
    for name in sorted(sheets):
        cells = [f"{sheets[name][e]['states']}{signs[sheets[name][e]['verdict']]}" for e in ENGINES]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    lines += [
        "",
        "## Why engines gave up",
        "",
        "| sheet | engine | after states | reason |",
        "|---|---|---:|---|",
    ]
    for name in sorted(sheets):
        for engine in ENGINES:
            one = sheets[name][engine]
            if one["verdict"] != "agrees":
                reason = " ".join(one["reason"].split())[:160].replace("|", "\\|")
                lines.append(f"| {name} | {engine} | {one['states']} | {reason} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--one", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--playouts", type=int, default=2)
    parser.add_argument("--max-steps", type=int, default=15)
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--question", type=float, default=20.0)
    parser.add_argument("--engines", default=",".join(ENGINES))
    parser.add_argument("--json", default="agreement.json")
    parser.add_argument("--continue", dest="carry_on", action="store_true")
    parser.add_argument("--retry", action="store_true")
    parser.add_argument("--markdown", type=Path)
    options = parser.parse_args()
    if options.one is not None:
        one(options.one, options)
        return
    if options.folder is not None:
        report = run(options.folder, options)
    else:
        report = json.loads(Path(options.json).read_text(encoding="utf-8"))
    if options.markdown is not None:
        options.markdown.write_text(markdown(report), encoding="utf-8")


if __name__ == "__main__":
    main()
