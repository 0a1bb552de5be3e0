"""Run the tests that each interface has for its games on every bundled game, and write the table of results.

    python benchmarks/interfaces.py [--only GAME...] [--interfaces NAME...] [--json FILE] [--page FILE]

OpenSpiel's, PettingZoo's and Gymnasium's tests are those that they ship; batches and games in JAX have
tests of our own (`environment_checks.py`).  If an interface refuses a game, the table has the reason.  Rows
of an existing --json file are kept unless they are measured again.  Exit status 1 when a test fails.
"""

from __future__ import annotations

import argparse
import json
import platform
import time
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import environment_checks

import herbrand
from herbrand import GameError, games

if TYPE_CHECKING:
    from collections.abc import Callable

    from herbrand.game import Game

LIBRARIES = ("open_spiel", "pettingzoo", "gymnasium", "jax")
STEPS = 120
"""Games that may last longer are cut off."""


def openspiel(game: Game, name: str) -> None:
    import pyspiel

    from herbrand.envs.openspiel import register

    short = register(name, name=f"tested_{name.replace('.', '_')}", max_steps=STEPS)
    environment_checks.check_openspiel(pyspiel.load_game(short), plays=2, states=150)
    del game


def in_turn(game: Game, name: str) -> None:
    environment_checks.check_pettingzoo(game, "aec", cycles=40, max_cycles=STEPS)
    del name


def together(game: Game, name: str) -> None:
    environment_checks.check_pettingzoo(game, "parallel", cycles=40, max_cycles=STEPS)
    del name


def solo(game: Game, name: str) -> None:
    environment_checks.check_gymnasium(game, max_steps=STEPS)
    del name


def vector(game: Game, name: str) -> None:
    """Masks, spaces, ends and resets of Gymnasium's batches; the library has no test of its own for these."""
    from herbrand.envs.gymnasium import make_batch

    for mode in ("next", "same", "off"):
        env = make_batch(game, 5, auto_reset=mode, max_steps=STEPS)
        seen, info = env.reset(seed=1)
        for _ in range(30):
            assert env.observation_space.contains(seen), name
            assert info["action_mask"].any(axis=1).all(), name
            seen, rewards, terminated, truncated, info = env.step(info["action_mask"].argmax(axis=1))
            assert not rewards[~terminated].any(), name
            assert not (terminated & truncated).any(), name
            if mode == "off" and env.batch.over.any():
                seen, info = env.reset(options={"reset_mask": env.batch.over})


def batch(game: Game, name: str) -> None:
    environment_checks.check_batch_env(game, max_steps=STEPS)
    del name


def in_jax(game: Game, name: str) -> None:
    from herbrand.envs.pgx import PgxEnv

    environment_checks.check_pgx_like(PgxEnv(game, max_steps=STEPS), games=1, max_steps=STEPS)
    del name


INTERFACES: dict[str, tuple[str, Callable[[Game, str], None]]] = {
    "openspiel": ("OpenSpiel", openspiel),
    "aec": ("PettingZoo in turn", in_turn),
    "parallel": ("PettingZoo together", together),
    "gymnasium": ("Gymnasium", solo),
    "vector": ("Gymnasium, batch", vector),
    "batch": ("`BatchEnv`", batch),
    "jax": ("JAX", in_jax),
}


def page(rows: list[dict[str, Any]], about: dict[str, Any]) -> str:
    """Return the page of the documentation."""
    names = [name for name in INTERFACES if any(name in row for row in rows)]
    reasons: list[str] = []
    lines = [
        "# Which games pass the tests of which interface",
        "",
        "This page shows on which bundled games the tests of each [interface](../howto/learn.md) pass;",
        "`benchmarks/interfaces.py` writes it. The tests are those that OpenSpiel (random simulation with",
        "serialisation, and its API test), PettingZoo (API, seeds, rendering, limit of cycles) and Gymnasium",
        "(`check_env`) ship for games of others; batches are compared with the rules step by step, and games",
        f"in JAX are checked by `benchmarks/environment_checks.py`. Plays are cut off after {STEPS} steps.",
        "`yes`: all pass. A number refers to the reason, below, why the interface refuses a game; `–`: not",
        "run.",
        "",
        ", ".join(f"{key} {about[key]}" for key in ("python", *LIBRARIES) if key in about) + ".",
        "",
        "| game | " + " | ".join(INTERFACES[name][0] for name in names) + " |",
        "|---" * (len(names) + 1) + "|",
    ]
    for row in rows:
        cells = []
        for name in names:
            result = row.get(name, {})
            if result.get("result") == "does not fit":
                if result["why"] not in reasons:
                    reasons.append(result["why"])
                cells.append(str(1 + reasons.index(result["why"])))
            else:
                cells.append({"passes": "yes", "fails": "**fails**"}.get(result.get("result", ""), "–"))
        lines.append(f"| {row['game']} | " + " | ".join(cells) + " |")
    lines += ["", *(f"{i}. {reason}" for i, reason in enumerate(reasons, 1))]
    return "\n".join(lines).rstrip() + "\n"


def main() -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description="Run the tests of all interfaces on bundled games.")
    parser.add_argument("--only", nargs="+", metavar="GAME", default=list(games.names()))
    parser.add_argument("--interfaces", nargs="+", choices=INTERFACES, default=list(INTERFACES))
    parser.add_argument("--json", type=Path, metavar="FILE")
    parser.add_argument("--page", type=Path, metavar="FILE")
    options = parser.parse_args()
    about: dict[str, Any] = {"python": platform.python_version(), "herbrand": herbrand.__version__}
    about |= {library: version(library) for library in LIBRARIES}
    rows: dict[str, dict[str, Any]] = {}
    if options.json and options.json.exists():
        rows = {row["game"]: row for row in json.loads(options.json.read_text(encoding="utf-8"))["rows"]}
    for name in options.only:
        game = herbrand.load(name)
        row = rows.setdefault(name, {"game": name})
        for interface in options.interfaces:
            began = time.process_time()
            result: dict[str, Any] = {"result": "passes"}
            try:
                INTERFACES[interface][1](game, name)
            except GameError as error:
                result = {"result": "does not fit", "why": str(error)}
            except Exception as error:  # noqa: BLE001 - whatever goes wrong is a failed test
                result = {"result": "fails", "why": f"{type(error).__name__}: {error}"[-2000:]}
            result["cpu_s"] = round(time.process_time() - began, 1)
            row[interface] = result
            summary = f"{result['result']} {result.get('why', '')}".rstrip()
            print(f"{name:20} {interface:10} {result['cpu_s']:6.1f} s  {summary}", flush=True)
        if options.json:
            options.json.write_text(
                json.dumps({**about, "rows": list(rows.values())}, indent=1) + "\n", encoding="utf-8"
            )
    if options.page:
        options.page.write_text(page(list(rows.values()), about), encoding="utf-8")
    return int(
        any(row[name]["result"] == "fails" for row in rows.values() for name in INTERFACES if name in row)
    )


if __name__ == "__main__":
    raise SystemExit(main())
