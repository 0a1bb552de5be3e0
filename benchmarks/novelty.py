"""Measure the effect of novelty in alpha-beta: matches with and without, with equal numbers of positions.

    python benchmarks/novelty.py [GAME...] [--games N] [--nodes N] [--opening N]

Prints JSON: for each game the score of the order of moves by novelty alone (values learned without), and
of novelty in the learned values as well, against neither.  Half of the games are played with colours
exchanged after the same drawn opening.  Nothing depends on a clock, so every run has the same result.
"""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING, Any

from strength import opening, wilson

import herbrand
from herbrand.analyse.solving.minimax.search import AlphaBetaSearch
from herbrand.play.learning import learn_judge

if TYPE_CHECKING:
    from herbrand.game import Game
    from herbrand.play.learning import LearnedJudge

ARMS = {"order": (True, False), "order and values": (True, True)}
"""Whether moves are ordered by novelty, and whether it is in the values."""


def played(
    game: Game, lessons: list[LearnedJudge], orders: list[bool], nodes: int, plies: int, seed: int
) -> float:
    """Return the goal of the first role after a match."""
    searches = [
        AlphaBetaSearch(game.network, role, memory=1 << 24, judge=lessons[role].judge, novelty=orders[role])
        for role in range(2)
    ]
    state = game.initial_state()
    drawn = opening(game, plies, seed)
    while not state.is_terminal:
        if drawn:
            state = state.next(drawn.pop(0))
            continue
        joint = [moves[0] for moves in state.legal_moves().values()]
        for role, moves in enumerate(state.legal_moves().values()):
            if len(moves) > 1:
                search = searches[role]
                search.move_to(game.expander.pack([state.facts]))
                search.run(nodes)
                text = search.move_text(search.choice).lower()
                joint[role] = next(move for move in moves if str(move).lower() == text)
        state = state.next(joint)
    return float(state.goal(game.roles[0]) or 0)


def compare(name: str, games: int, nodes: int, plies: int) -> list[dict[str, Any]]:
    """Return the scores of both kinds of novelty in one game."""
    game = herbrand.load(name)
    points = dict.fromkeys(ARMS, 0.0)
    explained: dict[bool, list[float]] = {False: [], True: []}
    for seed in range(games // 2):
        lessons = {
            novelty: [
                learn_judge(game.expander, role, seed=seed, novelty=novelty, threats=False)
                for role in range(2)
            ]
            for novelty in (False, True)
        }
        for novelty, both in lessons.items():
            explained[novelty] += [lesson.explained for lesson in both]
        for arm, (order, values) in ARMS.items():
            for role in range(2):
                taught = [lessons[values and r == role][r] for r in range(2)]
                goal = played(game, taught, [order and r == role for r in range(2)], nodes, plies, seed)
                points[arm] += (goal if role == 0 else 100 - goal) / 100
    count = games // 2 * 2
    return [
        {
            "game": name, "novelty in": arm, "nodes": nodes, "games": count,
            "score": round(points[arm] / count, 3), "interval": wilson(points[arm] / count, count),
            "explained": round(sum(explained[values]) / count, 3),
        }
        for arm, (_, values) in ARMS.items()
    ]  # fmt: skip


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("games_named", metavar="GAME", nargs="*", default=["breakthrough", "connectFour"])
    parser.add_argument("--games", type=int, default=16)
    parser.add_argument("--nodes", type=int, default=5000)
    parser.add_argument("--opening", type=int, default=2)
    given = parser.parse_args()
    rows = [
        row for name in given.games_named for row in compare(name, given.games, given.nodes, given.opening)
    ]
    print(json.dumps(rows, indent=2))


if __name__ == "__main__":
    main()
