"""Measure the speed of random play in herbrand and other programs, all in one run by processor time.

    python benchmarks/peers.py [--seconds S] [--only GAME...] [--json FILE] [--page FILE]

The ways are: ours in batches; one game moved along (`Walker`); states as values (`State`); OpenSpiel's
games in C++ driven from Python, and random games that it plays in C++ itself (those of a search of two
simulations; its steps are games times the mean length); Pgx and Ludax in batches of 4 096 by JAX on the
processor, drawing an action, stepping, beginning anew, with masks and what a step returns besides, compiled
before; python-chess.  Whoever drives one game from Python draws in the same way, and only where there is
something to choose.  The ways are measured by turns in rounds; the best round of each counts.  Libraries that
are not installed are named and left out.  Compare two runs with `compare.py`, way by way.

With the defaults it takes some four minutes of a processor, much of it for compiling by JAX.  JSON and page
are written after every game, and hold what was measured so far.  `peers.json` beside this file is the
run of which the documentation has the table.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import platform
import random
import time
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import envs
from costs import spent
from speed import processor

import herbrand
from herbrand.engine.speed import measure_network

if TYPE_CHECKING:
    from collections.abc import Callable

    Play = Callable[[float], int]
    """Plays until a processor time; returns how many steps it made."""

BATCH = 4096
GAMES = {
    "ticTacToe": ("tic_tac_toe", "tic_tac_toe", "tic_tac_toe"),
    "connectFour": ("connect_four", "connect_four", "connect_four"),
    "breakthrough": ("breakthrough", None, None),
    "reversi": ("othello", "othello", "reversi"),
    "hex": ("hex", "hex", "hex"),
    "chess": ("chess", None, None),
}
"""Bundled games, and their names in OpenSpiel, Pgx and Ludax; hex has eleven by eleven cells in all."""
LIBRARIES = {
    "open_spiel": "pyspiel",
    "pgx": "pgx",
    "jax": "jax",
    "ludax": "ludax",
    "chess": "chess",
}
"""Distributions, and the module that tells whether one is there."""
WAYS = {
    "batch": "ours, batched",
    "pgx": "Pgx, batched",
    "ludax": "Ludax, batched",
    "loop": "OpenSpiel, loop in C++",
    "openspiel": "OpenSpiel from Python",
    "walker": "ours, `Walker`",
    "state": "ours, `State`",
    "python_chess": "python-chess",
}


def there(library: str) -> bool:
    """Whether a library is installed."""
    return importlib.util.find_spec(LIBRARIES[library]) is not None


def timed(play: Play, seconds: float) -> float:
    """Return how many steps a second of processor time are made."""
    begun = time.process_time()
    made = play(begun + seconds)
    return made / (time.process_time() - begun)


def walking(game: herbrand.Game) -> Play:
    """Play by a walker."""
    walker, draw = game.walker(), random.Random(1).random

    def play(until: float) -> int:
        steps = 0
        while time.process_time() < until:
            walker.reset()
            while not walker.is_terminal:
                walker.play([m[int(draw() * len(m))] if len(m) > 1 else m[0] for m in walker.legal()])
                steps += 1
        return steps

    return play


def stating(game: herbrand.Game) -> Play:
    """Play by states."""
    first, draw = game.initial_state(), random.Random(1).random

    def play(until: float) -> int:
        steps = 0
        while time.process_time() < until:
            state = first
            while not state.is_terminal:
                legal = state.legal_moves().values()
                state = state.next([m[int(draw() * len(m))] if len(m) > 1 else m[0] for m in legal])
                steps += 1
        return steps

    return play


def driving(name: str) -> Play:
    """Play OpenSpiel's game from Python."""
    import pyspiel

    game, draw = pyspiel.load_game(name), random.Random(1).random

    def play(until: float) -> int:
        steps = 0
        while time.process_time() < until:
            state = game.new_initial_state()
            while not state.is_terminal():
                legal = state.legal_actions()
                state.apply_action(legal[int(draw() * len(legal))] if len(legal) > 1 else legal[0])
                steps += 1
        return steps

    return play


def looping(name: str) -> Play:
    """Have OpenSpiel play in C++; the steps follow from the mean length of forty games."""
    import pyspiel

    game, chance = pyspiel.load_game(name), random.Random(1)
    plays, steps = 40, 0
    for _ in range(plays):
        state = game.new_initial_state()
        while not state.is_terminal():
            state.apply_action(chance.choice(state.legal_actions()))
            steps += 1
    # a search of two simulations is hardly more than the random games of its evaluations
    rollouts, first = pyspiel.RandomRolloutEvaluator(50, 1), game.new_initial_state()
    bot = pyspiel.MCTSBot(game, rollouts, 1.0, 2, 10, False, 1, False)

    def play(until: float) -> int:
        games = 0
        while time.process_time() < until:
            bot.mcts_search(first)
            games += 100
        return round(games * steps / plays)

    return play


def playing_chess() -> Play:
    """Play by python-chess."""
    import chess

    draw = random.Random(1).random

    def play(until: float) -> int:
        steps = 0
        while time.process_time() < until:
            board = chess.Board()
            while not board.is_game_over() and time.process_time() < until:
                legal = list(board.legal_moves)
                board.push(legal[int(draw() * len(legal))])
                steps += 1
        return steps

    return play


def ludax(name: str) -> Callable[[int], None]:
    """Return a function that makes so many steps of a batch in Ludax."""
    import jax
    import jax.numpy as jnp
    import ludax.games
    from ludax import LudaxEnvironment

    env = LudaxEnvironment(game_str=getattr(ludax.games, name))
    begin, move = jax.vmap(env.init), jax.vmap(env.step)

    def one(state: Any, key: Any) -> tuple[Any, Any]:
        drawn, fresh, following = jax.random.split(key, 3)
        chances = jnp.log(state.legal_action_mask.astype(jnp.float32))
        after = move(state, jax.random.categorical(drawn, chances, axis=1))
        over = after.terminated | after.truncated

        def anew(new: Any, old: Any) -> Any:
            return jnp.where(over.reshape((-1,) + (1,) * (old.ndim - 1)), new, old)

        return jax.tree.map(anew, begin(jax.random.split(fresh, BATCH)), after), following

    step = jax.jit(one)
    held = [jax.jit(begin)(jax.random.split(jax.random.PRNGKey(1), BATCH)), jax.random.PRNGKey(2)]

    def go(steps: int) -> None:
        state, key = held
        for _ in range(steps):
            state, key = step(state, key)
        jax.block_until_ready(state.legal_action_mask)
        held[:] = state, key

    go(5)
    return go


def ways(name: str) -> dict[str, Callable[[float], float]]:
    """Return by way a function from seconds to steps a second."""
    game = envs.load(name)
    spiel, pgx, ldx = GAMES[name]
    single = {"walker": walking(game), "state": stating(game)}
    if there("open_spiel"):
        single |= {"openspiel": driving(spiel), "loop": looping(spiel)}
    if name == "chess" and there("chess"):
        single["python_chess"] = playing_chess()
    batched = {}
    if pgx is not None and there("pgx"):
        batched["pgx"] = envs.theirs(pgx, BATCH)
    if ldx is not None and there("ludax"):
        batched["ludax"] = ludax(ldx)
    functions: dict[str, Callable[[float], float]] = {
        way: partial(timed, play) for way, play in single.items()
    }
    functions |= {way: partial(envs.rate, go, BATCH) for way, go in batched.items()}

    def batch(seconds: float) -> float:
        return measure_network(game.network, seconds=seconds).transitions_per_second

    return functions | {"batch": batch}


def page(measured: dict[str, dict[str, int]]) -> str:
    """Return the table of what was found by game and way as Markdown."""
    names = [way for way in WAYS if any(way in rates for rates in measured.values())]
    lines = ["| game | " + " | ".join(WAYS[way] for way in names) + " |", "|---" + "|---:" * len(names) + "|"]
    for game, rates in measured.items():
        cells = [f"{rates[way]:,}".replace(",", " ") if way in rates else "–" for way in names]
        lines.append(f"| {game} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description="Measure random play beside other programs.")
    parser.add_argument("--seconds", type=float, default=0.5, help="processor seconds of a round")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", nargs="+", choices=GAMES, default=list(GAMES))
    parser.add_argument("--json", type=Path, metavar="FILE")
    parser.add_argument("--page", type=Path, metavar="FILE", help="write the table here")
    options = parser.parse_args()
    missing = [library for library in LIBRARIES if not there(library)]
    if missing:
        print("not installed, left out:", ", ".join(missing))
    about: dict[str, Any] = {"processor": processor(), "python": platform.python_version()}
    about |= {"rounds": options.rounds, "seconds": options.seconds, "herbrand": herbrand.__version__}
    about |= {library: version(library) for library in LIBRARIES if library not in missing}
    about["not_installed"] = missing
    page_rates: dict[str, dict[str, int]] = {}
    for name in options.only:
        best: dict[str, float] = {}
        measured = ways(name)
        for _ in range(options.rounds):
            for way, rate in measured.items():
                best[way] = max(best.get(way, 0.0), rate(options.seconds))
        rates = page_rates[name] = {way: round(best[way]) for way in WAYS if way in best}
        print(name + ":", ", ".join(f"{WAYS[way]} {rate:,}" for way, rate in rates.items()), flush=True)
        if options.json:
            rows = [
                {"collection": way, "game": game, "engine": WAYS[way], "transitions_per_s": rate}
                for game, rates in page_rates.items()
                for way, rate in rates.items()
            ]
            about["processor_seconds"] = round(spent())
            options.json.write_text(json.dumps({**about, "rows": rows}, indent=1) + "\n", encoding="utf-8")
        if options.page:
            options.page.write_text(page(page_rates), encoding="utf-8")


if __name__ == "__main__":
    main()
