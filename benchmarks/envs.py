"""Measure the speed of batched environments, and of Pgx on the same processor in the same run.

    python benchmarks/envs.py [--batch N] [--seconds S] [--only NAME...] [--no-pgx] [--json]

One step is: draw a random legal action for every game, move all games, begin ended ones anew, and
return observations, masks of legal actions, rewards and ends as arrays.  Pgx does all of it in
one function compiled by jax, warmed before it is measured.  Both are measured by turns, in rounds, by the
processor time of all their threads; the best round of each counts.  Needs `pgx` for the comparison.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import platform
import time
from typing import TYPE_CHECKING, Any

import herbrand
import herbrand.games
from herbrand.envs import BatchEnv

if TYPE_CHECKING:
    from collections.abc import Callable

PAIRS = {"ticTacToe": "tic_tac_toe", "connectFour": "connect_four", "reversi": "othello", "hex": "hex"}
"""Games that both have, and what they are called in Pgx."""
ROUNDS = 5


def load(name: str) -> herbrand.Game:
    """Return a bundled game, hex on the board of eleven by eleven that Pgx has."""
    if name != "hex":
        return herbrand.load(name)
    text = herbrand.games.path("hex").read_text(encoding="utf-8")
    text = text.replace("(rooted red ?x 9)", "(rooted red ?x 11)").replace(
        "(rooted blue 9 ?y)", "(rooted blue 11 ?y)"
    )
    return herbrand.loads(text + "(number 10) (number 11) (succ 9 10) (succ 10 11)", name="hex")


def ours(name: str, batch: int) -> Callable[[int], None]:
    """Return a function that makes so many steps of a batch."""
    env = BatchEnv(load(name), batch, seed=1)
    env.reset()

    def go(steps: int) -> None:
        for _ in range(steps):
            env.step(env.sample())

    go(100)
    return go


def theirs(name: str, batch: int) -> Callable[[int], None]:
    """Return a function that makes so many steps of a batch in Pgx."""
    import jax
    import jax.numpy as jnp
    import pgx
    from pgx.experimental.wrappers import auto_reset

    env = pgx.make(name)
    move = auto_reset(env.step, env.init)

    def one(state: Any, key: Any) -> tuple[Any, Any]:
        drawn, made, following = jax.random.split(key, 3)
        chances = jnp.log(state.legal_action_mask.astype(jnp.float32))
        actions = jax.random.categorical(drawn, chances, axis=1)
        return jax.vmap(move)(state, actions, jax.random.split(made, batch)), following

    step = jax.jit(one)
    held = [
        jax.jit(jax.vmap(env.init))(jax.random.split(jax.random.PRNGKey(1), batch)),
        jax.random.PRNGKey(2),
    ]

    def go(steps: int) -> None:
        state, key = held
        for _ in range(steps):
            state, key = step(state, key)
        jax.block_until_ready(state.observation)
        held[:] = state, key

    go(20)
    return go


def rate(go: Callable[[int], None], batch: int, seconds: float) -> float:
    """Return how many games are moved one step in a second of processor time."""
    steps, spent = 1, 0.0
    while True:
        before = time.process_time()
        go(steps)
        spent = time.process_time() - before
        if spent >= seconds:
            return batch * steps / spent
        steps = max(2 * steps, int(steps * 1.2 * seconds / max(spent, 1e-4)))


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description="Measure batched environments beside Pgx.")
    parser.add_argument("--batch", type=int, default=4096)
    parser.add_argument("--seconds", type=float, default=1.0, help="processor seconds of a round")
    parser.add_argument("--only", nargs="+", choices=PAIRS, default=list(PAIRS))
    parser.add_argument("--no-pgx", action="store_true")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with_pgx = not options.no_pgx and importlib.util.find_spec("pgx") is not None
    rows = []
    for name in options.only:
        runs = {"herbrand": ours(name, options.batch)}
        if with_pgx:
            runs["pgx"] = theirs(PAIRS[name], options.batch)
        best = dict.fromkeys(runs, 0.0)
        for _ in range(ROUNDS):
            for system, go in runs.items():
                best[system] = max(best[system], rate(go, options.batch, options.seconds))
        row: dict[str, Any] = {"game": name, "batch": options.batch}
        row |= {f"{system}_steps_per_s": round(value) for system, value in best.items()}
        if with_pgx:
            row["ratio"] = round(best["herbrand"] / best["pgx"], 1)
        rows.append(row)
        if not options.json:
            print(
                "  ".join(
                    f"{key} {value:,}" if key != "game" else f"{value:12}" for key, value in row.items()
                )
            )
    if options.json:
        about: dict[str, Any] = {
            "python": platform.python_version(), "machine": platform.machine(), "cores": os.cpu_count(),
            "herbrand": herbrand.__version__, "rounds": ROUNDS, "seconds": options.seconds,
        }  # fmt: skip
        if with_pgx:
            from importlib.metadata import version

            about |= {"pgx": version("pgx"), "jax": version("jax")}
        print(json.dumps({**about, "rows": rows}, indent=1))


if __name__ == "__main__":
    main()
