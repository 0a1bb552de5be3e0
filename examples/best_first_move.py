"""Rate the first moves of a game by random games.

usage: python examples/best_first_move.py [GAME] [PLAYOUTS]
"""

from __future__ import annotations

import random
import sys

import herbrand


def playout(state: herbrand.State, role: str, rng: random.Random) -> int:
    """Play random moves to the end; return the goal value of a role there."""
    while not state.is_terminal:
        state = state.next([rng.choice(moves) for moves in state.legal_moves().values()])
    return state.goal(role) or 0


def main(name: str = "ticTacToe", playouts: str = "100") -> None:
    """Print the mean goal of the first role after each of its first moves, best first."""
    state = herbrand.load(name).initial_state()
    role = state.roles[0]
    rng = random.Random(1)
    ratings = []
    for move in state.legal_moves(role):
        total = 0
        for _ in range(int(playouts)):
            others = {other: rng.choice(moves) for other, moves in state.legal_moves().items()}
            total += playout(state.next({**others, role: move}), role, rng)
        ratings.append((total / int(playouts), move))
    for mean, move in sorted(ratings, reverse=True):
        print(f"{mean:6.2f}  {move}")


if __name__ == "__main__":
    main(*sys.argv[1:])
