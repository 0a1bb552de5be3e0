"""How much best replies gain against a player in a game of hidden information: `strength.py hidden`."""

from __future__ import annotations

import sys
import time
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

import herbrand
from herbrand.analyse.knowledge import unfold
from herbrand.analyse.knowledge.histories import HistoryStep, history_key
from herbrand.analyse.knowledge.regrets import RegretMinimiser
from herbrand.play import make_player

if TYPE_CHECKING:
    from herbrand.analyse.knowledge.histories import History
    from herbrand.game import Game
    from herbrand.machine.state import State
    from herbrand.play import Player

POTS = {"kuhn": 50.0, "leduc": 6.0}
"""What is in the pot before the first bet, in goal points: a chip of each player, 25 or 3 points."""


def decisions(game: Game) -> dict[str, dict[bytes, tuple[History, State]]]:
    """Return the information sets of each role by key: the history, and one of the states."""
    found: dict[str, dict[bytes, tuple[History, State]]] = {role: {} for role in game.players}
    rest: list[tuple[State, dict[str, History]]] = [(game.initial_state(), dict.fromkeys(game.players, ()))]
    visited = set()
    while rest:
        state, histories = rest.pop()
        if state.is_terminal or (state, tuple(histories.values())) in visited:
            continue
        visited.add((state, tuple(histories.values())))
        legal = state.legal_moves()
        for role in game.players:
            if len(legal[role]) > 1:
                found[role].setdefault(history_key(histories[role]), (histories[role], state))
        for joint in product(*legal.values()):
            seen = state.percepts(joint)
            made = dict(zip(game.roles, joint, strict=True))
            after = {
                role: (*past, HistoryStep(made[role].gdl, frozenset(seen[role])))
                for role, past in histories.items()
            }
            rest.append((state.next(joint), after))
    return found


def chances_of(player: Player, state: State, clock: float) -> dict[str, float]:
    """Return the probabilities of moves, where the report of a player has them, or else its move."""
    move = player.select(state, clock)
    report = player.report()
    if report is not None and report.moves and all(one.chance is not None for one in report.moves):
        return {one.move.lower(): one.chance or 0.0 for one in report.moves}
    return {str(move).lower(): 1.0}


def against_best_replies(name: str, who: str, seeds: int, clock: float) -> dict[str, Any]:
    """Measure the exploitability of a player in a game of hidden information, exactly, over all plays.

    It is asked in every information set, so many times with different seeds, each time in a new match if what
    it does depends on what it was asked before.  Where its report has the probabilities of its moves, these
    count instead of the move.
    """
    game = herbrand.load(name)
    tree = unfold(game)
    minimiser = RegretMinimiser(tree)
    sets = decisions(game)
    chances: dict[tuple[str, bytes], dict[str, float]] = {}
    asked, spent = 0, 0.0
    for seed, role in product(range(seeds), game.players):
        player = make_player(who, seed=seed)
        player.start(game, role, 60)
        for key, (history, state) in sets[role].items():
            if who.startswith("ismcts"):
                player.start(game, role, 60)
            player.receive_history(history)
            began = time.process_time()
            sums = chances.setdefault((role, key), {})
            for move, chance in chances_of(player, state, clock).items():
                sums[move] = sums.get(move, 0.0) + chance
            spent += time.process_time() - began
            asked += 1
        player.stop()
        print(f"{name}: {who} with seed {seed} as {role}", file=sys.stderr)
    plans = []
    for decided, learner in zip(tree.players, minimiser.learners, strict=True):
        shares = np.ones(decided.sequences)
        for one in decided.sets:
            counted = chances[decided.role, one.key]
            for place, move in enumerate(one.moves):
                shares[one.first + place] = counted.get(move.lower(), 0.0) / sum(counted.values())
        plans.append(learner.plan(shares))
    gained = minimiser.exploitability(plans)
    goals = [goal for leaf in tree.leaves for goal in leaf.goals]
    return {
        "game": name,
        "player": who,
        "clock_s": clock,
        "seeds": seeds,
        "information_sets": sum(map(len, sets.values())),
        "exploitability": round(gained, 4),
        "share_of_pot": round(gained / POTS[name], 4) if name in POTS else None,
        "share_of_range": round(gained / (max(goals) - min(goals)), 5),
        "cpu_ms_per_move": round(1000 * spent / asked, 2),
    }
