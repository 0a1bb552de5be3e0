"""Solve games whose values are published, in a process each, and compare.

    python benchmarks/solving.py [--only NAME...] [--seconds S] [--memory MB] [--strategies] [--json FILE]
                                 [--markdown FILE]

The smallest come first.  After each game a line is added to the JSON Lines file; games that are in it already
are skipped; seconds in it are those of the processor.  With `--strategies` the strategies are written and
replayed by the rules, too, where that is possible in the same time.  `--markdown` writes the table of
`docs/reference/solved.md`.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from strategies import resized

from herbrand import games

CHOMP = """
(role first) (role second)
(init (control first))
(<= (init (square ?x ?y)) (column ?x) (row ?y))
(<= (base (square ?x ?y)) (column ?x) (row ?y)) (<= (base (control ?r)) (role ?r))
(<= (input ?r (eat ?x ?y)) (role ?r) (column ?x) (row ?y)) (<= (input ?r noop) (role ?r))
(<= (legal ?r (eat ?x ?y)) (true (control ?r)) (true (square ?x ?y)))
(<= (legal ?r noop) (role ?r) (not (true (control ?r))))
(<= (next (square ?x ?y)) (true (square ?x ?y)) (does ?r (eat ?u ?v)) (less ?x ?u))
(<= (next (square ?x ?y)) (true (square ?x ?y)) (does ?r (eat ?u ?v)) (less ?y ?v))
(<= (next (control first)) (true (control second)))
(<= (next (control second)) (true (control first)))
(<= terminal (not (true (square 1 1))))
(<= (goal ?r 100) (true (control ?r)) (not (true (square 1 1))))
(<= (goal ?r 0) (role ?r) (not (true (control ?r))) (not (true (square 1 1))))
(<= (goal ?r 50) (role ?r) (true (square 1 1)))
(<= (less ?x ?y) (succ ?x ?y))
(<= (less ?x ?z) (succ ?x ?y) (less ?y ?z))
"""
"""Whoever eats (1 1) loses; a move eats a square with all that are not left of it and not below it."""


@dataclass(frozen=True, slots=True)
class Case:
    """A game with its published value for the role that begins."""

    name: str
    text: str
    value: int | None
    source: str
    notation: str = "prefix"
    parameters: tuple[str, ...] = ()
    moves: bool = False
    seconds: float = 600.0


def chomp(width: int, height: int) -> str:
    """Return the rules of chomp on a board of a size."""
    numbers = range(1, max(width, height) + 1)
    facts = [f"(column {x})" for x in range(1, width + 1)] + [f"(row {y})" for y in range(1, height + 1)]
    facts += [f"(succ {n} {n + 1})" for n in numbers]
    return CHOMP + " ".join(facts)


def othello_by_discs(size: int) -> str:
    """Return the rules of reversi on a small board; a goal value is 50 and three for each disc ahead."""
    lines, goals = [], []
    text = resized("reversi", size, size)
    last = f"{chr(ord('a') + size - 1)} {size}"
    for difference in range(-size * size, size * size + 1):
        for role, sign in (("black", 1), ("white", -1)):
            value = max(0, min(100, 50 + 3 * sign * difference))
            goals.append(f"(<= (goal {role} {value}) (balance {last} {64 + difference}))")
    skipping = False
    for line in text.splitlines():
        if line.startswith("(<= (goal"):
            skipping = True
        elif skipping and not line.startswith(" "):
            skipping = False
        if not skipping:
            lines.append(line)
    return "\n".join([*lines, *goals])


def cases() -> list[Case]:
    """Return the games, roughly by the time that they take."""
    tromp, queenbee = "Tromp's table of board sizes", "Queenbee's openings"
    wins = {4: {4: 50, 5: 50, 6: 0, 7: 50}, 5: {4: 50, 5: 50, 6: 50}, 6: {4: 50, 5: 50, 6: 0}}
    return [
        *(
            Case(f"chomp {w} by {h}", chomp(w, h), 100, "strategy stealing", moves=True)
            for w, h in ((3, 2), (4, 3), (5, 4), (6, 5), (7, 6))
        ),
        *(
            Case(
                f"nim {a} {b} {c}{' misere' if m else ''}",
                games.text("nim.ggd"),
                100 if ((a ^ b ^ c) != 0) else 0,
                "Bouton 1901",
                "ggdl",
                (f"PileA={a}", f"PileB={b}", f"PileC={c}", f"Misere={'true' if m else 'false'}"),
                moves=True,
            )
            for a, b, c, m in ((3, 4, 5, False), (7, 9, 14, False), (20, 19, 18, False), (7, 9, 14, True))
        ),
        Case("othello 4 by 4", resized("reversi", 4, 4), 0, "second player wins", moves=True),
        Case("othello 4 by 4, by discs", othello_by_discs(4), 50 - 3 * 8, "second player wins by 8"),
        *(
            Case(
                f"hex {n} by {n}",
                resized("hex", n, n),
                100,
                "Queenbee's openings",
                moves=True,
            )
            for n in (3, 4, 5)
        ),
        *(
            Case(f"connect four {w} wide, {h} high", resized("connectFour", w, h), value, tromp)
            for h, row in wins.items()
            for w, value in row.items()
            if (w, h) != (6, 6)
        ),
        Case("breakthrough 4 by 5", resized("breakthrough", 4, 5), None, ""),
        Case("breakthrough 5 by 5", resized("breakthrough", 5, 5), 0, "second player wins", seconds=1800),
        Case("connect four 6 wide, 6 high", resized("connectFour", 6, 6), 0, tromp, seconds=3600),
        Case("hex 6 by 6", resized("hex", 6, 6), 100, queenbee, seconds=3600),
        Case("hex 6 by 6, all first moves", resized("hex", 6, 6), 100, queenbee, moves=True, seconds=3600),
    ]


def command(*arguments: str) -> tuple[int, str, float, float]:
    """Run a herbrand command; return its status, output, processor time and peak memory in megabytes."""
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(  # noqa: S603  # our own command
            [sys.executable, "-m", "herbrand", *arguments], stdout=output, stderr=subprocess.DEVNULL
        )
        _, status, used = os.wait4(process.pid, 0)
        output.seek(0)
        text = output.read().decode()
    return os.waitstatus_to_exitcode(status), text, used.ru_utime + used.ru_stime, used.ru_maxrss / 1000


def measure(case: Case, seconds: float | None, megabytes: int, *, strategies: bool) -> dict[str, Any]:
    """Solve a game in a process, and with `strategies` have the proof replayed in another one."""
    limit = case.seconds if seconds is None else seconds
    endings = {"prefix": ".kif", "ggdl": ".ggd"}
    with tempfile.TemporaryDirectory() as folder:
        sheet = Path(folder, f"game{endings[case.notation]}")
        sheet.write_text(case.text, encoding="utf-8")
        rules = [str(sheet), *(f"--param={parameter}" for parameter in case.parameters)]
        limits = ["--seconds", str(limit), "--memory", str(megabytes), "--json"]
        _, output, took, peak = command("solve", *rules, *limits, *(["--moves"] if case.moves else []))
        row: dict[str, Any] = {"game": case.name, "published": case.value, "source": case.source}
        try:
            answer = json.loads(output)
        except ValueError:
            return row | {"error": output[-300:], "seconds": round(took, 2)}
        first = next(iter(answer["bounds"]))
        low, high = answer["bounds"][first]
        row |= {
            "first": first,
            "value": low if low == high else [low, high],
            "agrees": None if case.value is None or low != high else low == case.value,
            "best": len(answer["best"]),
            "moves": answer["moves"],
            "method": answer["method"],
            "states": answer["states"],
            "symmetries": answer["symmetries"],
            "stopped": answer["stopped"],
            "seconds": round(took, 2),
            "megabytes": round(peak),
        }
        if strategies and not answer["stopped"]:
            file = str(Path(folder, "strategy.npz"))
            status, output, took, _ = command("solve", *rules, *limits, "-o", file)
            if status == 0:
                row["strategy"] = json.loads(output)["strategy"]["states"]
                row["strategy_bytes"] = Path(file).stat().st_size
                status, output, took, _ = command("solve", *rules, *limits, "--check", file)
                claims = json.loads(output)["claims"] if status in (0, 1) else []
                row["replayed"] = [claim["accepted"] for claim in claims] or None
                row["replay_seconds"] = round(took, 2)
    return row


def table(rows: list[dict[str, Any]]) -> str:
    """Return the results as a table."""
    lines = [
        "| game | value for the first role | published | states | seconds | MB | strategy | replayed |",
        "|---|---:|---:|---:|---:|---:|---:|---|",
    ]
    for row in rows:
        if "error" in row:
            continue
        value = row["value"] if not isinstance(row["value"], list) else "{:g} to {:g}".format(*row["value"])
        value = f"{value:g}" if isinstance(value, float) else value
        replayed = row.get("replayed")
        said = "-" if replayed is None else "accepted" if all(replayed) else "REFUSED"
        published = "-" if row["published"] is None else f"{row['published']} ({row['source']})"
        strategy = f"{row['strategy']:,}".replace(",", " ") if "strategy" in row else "-"
        states = f"{row['states']:,}".replace(",", " ")
        lines.append(
            f"| {row['game']} | {value} | {published} | {states} | {row['seconds']:.1f} "
            f"| {row['megabytes']} | {strategy} | {said} |"
        )
    return "\n".join(lines) + "\n"


def main() -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--only", nargs="+", help="names of games, or their beginnings")
    parser.add_argument("--seconds", type=float, help="for each game; by default 600 or more")
    parser.add_argument("--memory", type=int, default=4000)
    parser.add_argument("--strategies", action="store_true")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--markdown", type=Path)
    options = parser.parse_args()
    rows: list[dict[str, Any]] = []
    if options.json and options.json.exists():
        rows = [json.loads(line) for line in options.json.read_text(encoding="utf-8").splitlines()]
    done = {row["game"] for row in rows}
    for case in cases():
        if case.name in done or (
            options.only and not any(case.name.startswith(name) for name in options.only)
        ):
            continue
        row = measure(case, options.seconds, options.memory, strategies=options.strategies)
        rows.append(row)
        print(json.dumps({key: value for key, value in row.items() if key != "moves"}), flush=True)
        if options.json:
            with options.json.open("a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")
    if options.markdown:
        options.markdown.write_text(table(rows), encoding="utf-8")
    return 0 if all(row.get("agrees") is not False for row in rows) else 1


if __name__ == "__main__":
    raise SystemExit(main())
