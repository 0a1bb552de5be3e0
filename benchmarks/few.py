"""Measure everything that evaluates few or given states, compared with another version of herbrand.

    python benchmarks/few.py [--beside PYTHON:SRC] [--corpus FOLDER] [--only WORD...] [--json]

| job         | what is counted, for each second of processor time                                   |
|-------------|--------------------------------------------------------------------------------------|
| `alphabeta` | states expanded by alpha-beta with constant heuristic values                         |
| `judged`    | the same with values learned from the rules                                          |
| `rollouts`  | random games from the initial state (`one`) or 4096 different states (`many`)        |
| `env`       | games moved one step by `BatchEnv`, including drawing the actions                    |
| `mcts`      | playouts of the tree search of the player `mcts`                                     |
| `ismcts`    | playouts of the player `ismcts`                                                      |
| `explore`   | states expanded by exhaustive exploration                                            |
| `solve`     | solutions of a whole game                                                            |

Both versions run each job in turn, warmed up in a process of its own; the best of `--rounds` counts.
`--beside` names the interpreter of the other version and the folder of its package.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import platform
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from speed import processor

import herbrand

if TYPE_CHECKING:
    from collections.abc import Callable

PLACED = 200.0
"""The setting `amaf` of the player where pieces are only placed."""
TREE = 1 << 29
"""Bytes of a search tree."""


def load(name: str, corpus: Path | None) -> herbrand.Game:
    """Return a bundled game, or `corpus/NAME` from the folder of public rulesheets."""
    if not name.startswith("corpus/"):
        return herbrand.load(name)
    if corpus is None:
        raise SystemExit(f"{name} needs --corpus")
    return herbrand.load(corpus / f"{name.removeprefix('corpus/')}.kif")


def middle(game: herbrand.Game, count: int) -> Any:
    """Return so many states from the first half of random games, packed, each as likely as another."""
    expander = game.expander
    generator = np.random.default_rng(1)
    states, visited = np.repeat(expander.initial, count, axis=0), []
    for _ in range(12):
        legal = expander.legal(states)
        states = states[~legal.over]
        if not len(states):
            break
        visited.append(states)
        joint = np.zeros((len(states), len(expander.roles)), np.int32)
        for role in range(len(expander.roles)):
            mask = legal.mask(role)[~legal.over]
            joint[:, role] = np.where(mask, generator.random(mask.shape), -1.0).argmax(axis=1)
        states = expander.step(states, joint)
    every = np.concatenate(visited)
    return every[generator.choice(len(every), count, replace=False)]


# -- jobs ------------------------------------------------------------------------------------------


def alphabeta(game: herbrand.Game, *, judged: bool) -> Callable[[], int]:
    """Search from states of random games, a tenth of a second from each."""
    from herbrand.analyse.solving.minimax.search import AlphaBetaSearch

    judge = None
    if judged:
        from herbrand.play.learning import learn_judge

        judge = learn_judge(game.expander, 0, seed=1, deadline=time.monotonic() + 10, threats=False).judge
    search = AlphaBetaSearch(game.network, 0, memory=1 << 26, judge=judge)
    roots = itertools.cycle(middle(game, 64))

    def work() -> int:
        search.move_to(next(roots)[None, :])
        until = time.process_time() + 0.1
        while time.process_time() < until and not search.is_done:
            search.slice()
        return int(search.nodes)

    return work


def rollouts(game: herbrand.Game, *, many: bool) -> Callable[[], int]:
    """Play 4096 random games a call."""
    expander = game.expander
    states = middle(game, 4096) if many else expander.initial
    seeds = itertools.count(1)
    return lambda: len(expander.rollouts(states, seed=next(seeds), each=4096 // len(states)).lengths)


def env(game: herbrand.Game, *, batch: int, mode: Any) -> Callable[[], int]:
    """Move a batch of games some steps a call."""
    from herbrand.envs import BatchEnv

    games = BatchEnv(game, batch, seed=1, auto_reset=mode)
    games.reset()
    steps = max(1, 16384 // batch)

    def work() -> int:
        for _ in range(steps):
            games.step(games.sample())
        return steps * batch

    return work


def mcts(game: herbrand.Game, *, regret: bool = False) -> Callable[[], int]:
    """Grow a tree from the initial state for a quarter of a second a call."""
    from herbrand.play.search.features import is_placement_only
    from herbrand.play.search.tree import Search

    amaf = PLACED if is_placement_only(game.expander) else 0.0
    search: Any = Search(game.network, memory=TREE, seed=1, amaf=amaf, regret=regret)
    search.move_to(search.expander.initial)
    slices = {"seconds": 0.002}
    if hasattr(search, "straighten"):  # versions without a core compile the gates, which takes its time
        search.straighten(20.0)
        slices = {}

    def work() -> int:
        if search.is_solved or search.tree.is_full:
            (search.tree.clear if hasattr(search.tree, "clear") else search._clear)()
            search.move_to(search.expander.initial)
        before, until = search.playouts, time.process_time() + 0.25
        search.run(lambda: time.process_time() < until and not search.tree.is_full, **slices)
        return int(search.playouts - before)

    return work


def ismcts(game: herbrand.Game) -> Callable[[], int]:
    """Choose a first move by 500 games."""
    from herbrand.play.ismcts import IsMctsPlayer

    player = IsMctsPlayer(1, playouts=500)
    player.start(game, game.players[0], 60.0)
    state = game.initial_state()

    def work() -> int:
        player.select(state, 60.0)
        report = player.report()
        return 500 if report is not None else 0

    return work


def exploring(game: herbrand.Game, *, states: int) -> Callable[[], int]:
    """Explore so many states a call."""
    from herbrand.analyse.budget import Budget
    from herbrand.analyse.exploration.explore import explore

    return lambda: int(explore(game.expander, budget=Budget(seconds=600, states=states)).expanded)


def solving(game: herbrand.Game) -> Callable[[], int]:
    """Solve a game a call."""
    from herbrand.analyse.budget import Budget
    from herbrand.analyse.solving.solve import solve

    return lambda: len(solve(game, budget=Budget(seconds=600)).method[:1])


def jobs(corpus: Path | None) -> dict[str, Callable[[], Callable[[], int]]]:
    """Return what makes each job, by its name."""
    all_jobs: dict[str, Callable[[], Callable[[], int]]] = {}

    def add(name: str, sheet: str, make: Callable[..., Callable[[], int]], **more: Any) -> None:
        all_jobs[f"{name}:{sheet}"] = lambda: make(load(sheet, corpus), **more)

    boards = ("ticTacToe", "connectFour", "breakthrough", "reversi", "chess", "corpus/speedChess")
    for sheet in boards:
        add("alphabeta", sheet, alphabeta, judged=False)
    for sheet in ("connectFour", "breakthrough", "chess"):
        add("judged", sheet, alphabeta, judged=True)
    for sheet in ("ticTacToe", "connectFour", "breakthrough", "reversi", "hex", "corpus/speedChess"):
        add("rollouts-one", sheet, rollouts, many=False)
        add("rollouts-many", sheet, rollouts, many=True)
    for sheet in ("ticTacToe", "connectFour", "hex", "chess"):
        for batch in (64, 1024, 16384):
            add(f"env-{batch}", sheet, env, batch=batch, mode="next")
    for sheet in ("connectFour", "hex"):
        add("env-same-16384", sheet, env, batch=16384, mode="same")
    for sheet in ("connectFour", "breakthrough", "hex", "reversi", "checkers", "gomoku", "tron"):
        add("mcts", sheet, mcts)
    add("mcts-regret", "tron", mcts, regret=True)
    add("ismcts", "kriegTicTacToe", ismcts)
    add("explore", "ticTacToe", exploring, states=10_000)
    add("explore", "connectFour", exploring, states=500_000)
    add("explore", "breakthrough", exploring, states=200_000)
    add("explore", "eightPuzzle", exploring, states=200_000)
    for sheet in ("ticTacToe", "nim"):
        add("solve", sheet, solving)
    return all_jobs


def rate(work: Callable[[], int], seconds: float) -> float:
    """Do the work for so long; return the sum of its answers for each second of processor time."""
    work()  # compiles, and fills caches
    work()
    done, spent = 0, 0.0
    before = time.process_time()
    while spent < seconds:
        done += work()
        spent = time.process_time() - before
    return done / spent


# -- both versions ---------------------------------------------------------------------------------


def measured(command: str, source: str, job: str, options: argparse.Namespace) -> float | None:
    """Run a job with an interpreter; None where that fails."""
    call = [command, __file__, "--child", job, "--seconds", str(options.seconds)]
    if options.corpus is not None:
        call += ["--corpus", str(options.corpus)]
    environment = {**os.environ, "PYTHONPATH": source}
    done = subprocess.run(call, env=environment, capture_output=True, text=True, check=False)  # noqa: S603
    if done.returncode:
        print(f"{job}: {done.stderr.strip().splitlines()[-1:]}", file=sys.stderr)
        return None
    return float(done.stdout.split()[-1])


def main() -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description="Measure what evaluates few or given states.")
    parser.add_argument("--beside", metavar="PYTHON:SRC", help="another version to run the same jobs")
    parser.add_argument("--corpus", type=Path, metavar="FOLDER", help="folder with the public rulesheets")
    parser.add_argument("--seconds", type=float, default=2.0, help="processor seconds of a round")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", nargs="+", metavar="WORD", help="only jobs whose names contain a word")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--child", metavar="JOB", help=argparse.SUPPRESS)
    options = parser.parse_args()
    every = jobs(options.corpus)
    if options.child:
        print(rate(every[options.child](), options.seconds))
        return 0
    versions = {"this": (sys.executable, str(Path(herbrand.__file__).parents[1]))}
    if options.beside:
        python, _, folder = options.beside.partition(":")
        versions["other"] = (python, folder)
    rows: dict[str, dict[str, list[float]]] = {}
    for job in every:
        if "corpus/" in job and options.corpus is None:
            continue
        if options.only and not any(word in job for word in options.only):
            continue
        row = rows[job] = {name: [] for name in versions}
        for _, (name, (command, folder)) in itertools.product(range(options.rounds), versions.items()):
            results = measured(command, folder, job, options)
            if results is not None:
                row[name].append(round(results, 1))
        if not options.json:
            best = {name: max(results, default=0.0) for name, results in row.items()}
            ratio = f"  {best['this'] / best['other']:6.2f} x" if best.get("other") else ""
            print(f"{job:32}" + "".join(f"{value:16,.0f}" for value in best.values()) + ratio, flush=True)
    if options.json:
        about = {
            "processor": processor(),
            "python": platform.python_version(),
            "seconds": options.seconds,
            "rows": rows,
        }
        print(json.dumps(about, indent=1))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
