"""Measure how often each level of strength beats the one below it.

    python benchmarks/levels.py [GAME...] [--matches N] [--levels A,B,...] [--opening N] [--json FILE]

Neighbours in `--levels` (all from weak to strong by default) play N matches of each game, with colours
exchanged: the first moves are drawn, and the same ones are used for both colours.  Prints a table, and writes
JSON with --json.  Weak levels search by counts, so that their results hold on any machine; the strong ones by
the clock, which is stretched on a busy machine.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from strength import opening, wilson

import herbrand
from herbrand.play import make_player
from herbrand.play.levels import LEVELS, LevelPlayer
from herbrand.play.threads import SEARCH_THREADS, available_cores

if TYPE_CHECKING:
    from herbrand.game import Game
    from herbrand.machine.moves import Move
    from herbrand.machine.state import State

GAMES = ("connectFour", "breakthrough", "reversi", "checkers", "hex")
PREPARATION = 10.0
"""Seconds before a match for each player."""
MOST = 12.0
"""Factor by which the time of a level is extended on a busy machine, at most."""


class Clock:
    """Gives a level its time on a busy machine, too: as much processor time as it would have on an idle one.

    Levels that search by counts have as much time as they need.
    """

    def __init__(self) -> None:
        self.wall, self.processor = 1e-9, 1e-9

    def select(self, player: LevelPlayer, state: State) -> Move:
        """Let a player think."""
        level = type(player).level
        threads = min(SEARCH_THREADS, available_cores())
        stretch = 60.0 if level.playouts else max(1.0, min(MOST, threads * self.wall / self.processor))
        player.level = replace(level, seconds=stretch * level.seconds)
        began = time.monotonic(), time.process_time()
        move = player.select(state, math.inf)
        if level.playouts is None:
            self.wall += time.monotonic() - began[0]
            self.processor += time.process_time() - began[1]
        return move


def score(game: Game, upper: str, lower: str, number: int, plies: int) -> float:
    """Play one match; return the score of `upper`, from 0 to 1."""
    one, two = game.players if number % 2 == 0 else reversed(game.players)
    players: dict[str, Any] = {one: make_player(upper, seed=number), two: make_player(lower, seed=number)}
    for role, player in players.items():
        player.start(game, role, PREPARATION)
    state, clock = game.initial_state("rules"), Clock()
    for joint in opening(game, plies, number // 2):
        state = state.next(joint)
    while not state.is_terminal:
        legal = state.legal_moves()
        state = state.next({
            role: moves[0] if len(moves) == 1 else clock.select(players[role], state)
            for role, moves in legal.items()
        })  # fmt: skip
    for player in players.values():
        player.stop()
    return (100 + (state.goal(one) or 0) - (state.goal(two) or 0)) / 200


def compare(name: str, upper: str, lower: str, matches: int, plies: int) -> dict[str, Any]:
    """Let two levels play a game."""
    game = herbrand.load(name)
    began, points = time.monotonic(), []
    for number in range(matches):
        points.append(score(game, upper, lower, number, plies))
        print(f"{name}: {upper} {sum(points):g} of {len(points)} against {lower}", file=sys.stderr)
    return {
        "game": name, "level": upper, "below": lower, "matches": matches, "wins": points.count(1.0),
        "draws": points.count(0.5), "losses": points.count(0.0), "score": round(sum(points) / matches, 3),
        "interval": wilson(sum(points) / matches, matches), "seconds": round(time.monotonic() - began, 1),
    }  # fmt: skip


def total(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the result of a pair in all games."""
    matches = sum(row["matches"] for row in rows)
    mean = sum(row["matches"] * row["score"] for row in rows) / matches
    return {"level": rows[0]["level"], "below": rows[0]["below"], "matches": matches,
            "score": round(mean, 3), "interval": wilson(mean, matches)}  # fmt: skip


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("games", metavar="GAME", nargs="*")
    parser.add_argument("--matches", type=int, default=8)
    parser.add_argument("--levels", default=",".join(LEVELS))
    parser.add_argument("--opening", type=int, default=2)
    parser.add_argument("--json", dest="file", type=Path)
    given = parser.parse_args()
    pairs: list[dict[str, Any]] = []
    rows: list[dict[str, Any]] = []
    for lower, upper in pairwise(given.levels.split(",")):
        mine = [compare(name, upper, lower, given.matches, given.opening) for name in given.games or GAMES]
        rows += mine
        pairs.append(total(mine))
        if given.file is not None:
            given.file.write_text(json.dumps({"pairs": pairs, "games": rows}, indent=2), encoding="utf-8")
    for row in [*rows, *pairs]:
        print(f"{row.get('game', 'all'):14} {row['level']:>8} – {row['below']:8} {row['score']:.2f}"
              f" ({row['interval'][0]:.2f} – {row['interval'][1]:.2f}) in {row['matches']}")  # fmt: skip


if __name__ == "__main__":
    main()
