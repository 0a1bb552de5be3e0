"""Try what was installed: all kernels and back ends have to play the same games from one seed.

Run on every wheel, with nothing but the package and what it needs.
"""

from __future__ import annotations

import sys

import herbrand
from herbrand import core
from herbrand.cli.build_report import build_report
from herbrand.play import make_player


def main() -> int:
    """Play on all levels, with machine code and without."""
    print("\n".join(build_report()))
    circuit = herbrand.load("connectFour").network.circuit
    best, played = core.level(), []
    for level in core.levels():
        core.use_level(level)
        for walk in (False, True):
            games = core.Playouts(circuit, 2000, seed=1, max_steps=100, walk=walk)
            if not games.play(600.0, core.Stop()):
                sys.exit("games were not played to their end")
            played.append((games.transitions, games.goals.tolist(), games.lengths.tolist()))
    core.use_level(best)
    if any(games != played[0] for games in played):
        sys.exit("levels play different games")
    move = make_player("mcts", seed=1)
    game = herbrand.load("ticTacToe")
    move.start(game, game.roles[0], 1.0)
    print("a move of mcts:", move.select(game.initial_state(), 0.5))
    if "xplayer, oplayer" not in game._repr_html_():  # as notebooks do
        sys.exit("templates of pages are missing")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
