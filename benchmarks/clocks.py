"""Measure how late players answer: every player in every game, each pair in a process of its own.

    python benchmarks/clocks.py [GAME...] [--players NAME...] [--clocks S...] [--start-clock S] [--steps N]
                                [--grace S] [--json FILE]

GAME `all` means every bundled game.
`herbrand.testing.check_player` runs the player: a start, a move with a clock of 0, joint moves at a clock,
and one move that is stopped.  The time that threads waited for a processor does not count, so that other
programs matter less; an idle machine is still better.  Prints a line for each pair, with the latest answer in
milliseconds after its clock, and at the end how many pairs were in time.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import herbrand
from herbrand import games
from herbrand.errors import HerbrandError
from herbrand.play import players
from herbrand.testing import check_player

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

GAMES = ("connectFour", "chess", "lightsOut", "breakthrough", "reversi", "hex", "kuhn")
EXIT_SECONDS = 30.0


def child(pipe: Connection, game: str, player: str, options: argparse.Namespace) -> None:
    """Check one pair and send what was found."""
    try:
        sheet = herbrand.load(game)
        checks = [
            check_player(
                player,
                sheet,
                start_clock=options.start_clock,
                clock=clock,
                steps=options.steps,
                grace=options.grace,
            )
            for clock in options.clocks
        ]
        pipe.send(
            {
                "latest_ms": round(1000 * max(check.latest for check in checks), 1),
                "answers": sum(check.moves for check in checks),
                "problems": [problem for check in checks for problem in check.problems],
            }
        )
    except HerbrandError as error:
        pipe.send({"problems": [str(error)]})


def measured(game: str, player: str, options: argparse.Namespace) -> dict[str, Any]:
    """Return what a process of its own found about a pair."""
    context = multiprocessing.get_context("spawn")
    mine, theirs = context.Pipe(duplex=False)
    process = context.Process(target=child, args=(theirs, game, player, options))
    process.start()
    theirs.close()
    outcome: dict[str, Any] = {"problems": ["the process ended without an answer"]}
    with suppress(EOFError):
        outcome = mine.recv()
    process.join(EXIT_SECONDS)
    if process.is_alive():
        process.kill()
        outcome["problems"].append(f"the process has not ended {EXIT_SECONDS:g} seconds after its answer")
    return {"game": game, "player": player, **outcome}


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description="Measure how late players answer.")
    parser.add_argument("games", nargs="*", default=GAMES)
    parser.add_argument("--players", nargs="+", default=sorted(players()))
    parser.add_argument("--clocks", nargs="+", type=float, default=[0.0, 0.2])
    parser.add_argument("--start-clock", type=float, default=1.0)
    parser.add_argument("--steps", type=int, default=3)
    parser.add_argument("--grace", type=float, default=0.05, help="seconds that count as in time")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    late = []
    for game in games.names() if options.games == ["all"] else options.games:
        for player in options.players:
            pair = measured(game, player, options)
            late.append(pair)
            verdict = "; ".join(pair["problems"]) or "in time"
            print(f"{game:<16} {player:<12} {pair.get('latest_ms', '-'):>8} ms  {verdict}", flush=True)
    report = {
        "clocks": options.clocks,
        "start_clock": options.start_clock,
        "steps": options.steps,
        "grace": options.grace,
        "load": round(os.getloadavg()[0], 1),
        "pairs": late,
    }
    fine = sum(not pair["problems"] for pair in late)
    print(f"{fine} of {len(late)} pairs in time, at load {report['load']}")
    if options.json:
        options.json.write_text(json.dumps(report, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
