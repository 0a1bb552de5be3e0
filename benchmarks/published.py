"""Compare the JavaScript module of each game with herbrand over random games, in Node.

    python benchmarks/published.py [GAME...] [--plays N] [--seed N] [--json FILE] [--table]

Every state of a random game, by the rules or by the network, which are the same, is summed up as a number:
its facts, legal moves, goals, and what each role saw before it.  The module replays the joint moves, half of
them interpreted and half as WebAssembly, and must come to the same numbers.  Without games, all bundled ones
are compared.  The sizes are those of the module and of the page that `herbrand publish --proving 0` writes.
Needs `node`, version 18 or later.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import time
import zlib
from pathlib import Path
from random import Random
from typing import Any

import herbrand
from herbrand import games
from herbrand.errors import HerbrandError
from herbrand.machine.trajectory import Trajectory
from herbrand.publish import game_page, javascript

REPLAY = """
import { readFileSync } from "node:fs";
const { game } = await import(process.argv[2]);
const plays = JSON.parse(readFileSync(process.argv[3], "utf8"));
const table = Uint32Array.from({ length: 256 }, (_, n) => {
  for (let k = 0; k < 8; k++) n = n & 1 ? 0xedb88320 ^ (n >>> 1) : n >>> 1;
  return n >>> 0;
});
const crc = (text) => {
  let sum = -1;
  for (const byte of new TextEncoder().encode(text)) sum = table[(sum ^ byte) & 255] ^ (sum >>> 8);
  return ~sum >>> 0;
};
const ordered = (texts) => [...texts].sort().join(" ");
let states = 0;
plays.forEach(({ joint, sums }, number) => {
  if (number === plays.length >> 1) game.engine; // from here on as WebAssembly
  let state = game.initialState;
  let seen = game.roles.map(() => []);
  for (let step = 0; ; step++) {
    const legal = game.roles.map((role) => ordered(state.legalMoves(role)));
    const goals = state.goals.map((goal) => (goal === null ? "-" : String(goal)));
    const parts = [ordered(state.facts), String(state.isTerminal), ...legal, ...goals, ...seen.map(ordered)];
    states++;
    if (crc(parts.join("\\n")) !== sums[step]) {
      console.log(JSON.stringify({ play: number, step, parts }));
      process.exit(1);
    }
    if (step === joint.length) break;
    seen = state.percepts(joint[step]);
    state = state.next(joint[step]);
  }
});
console.log(JSON.stringify({ states, engine: game.engine }));
"""
LONGEST = 300
"""Steps after which a random game is left."""


def summed(play: Trajectory) -> list[int]:
    """Return a number for each state of a play."""
    sums = []
    for step, state in enumerate(play.states):
        game = state.game
        legal = {} if state.is_terminal else state.legal_moves()
        seen = [play.percepts(step - 1, role) if step and game.has_percepts else () for role in game.roles]
        parts = [
            _ordered(state.facts),
            str(state.is_terminal).lower(),
            *(_ordered(map(str, legal.get(role, ()))) for role in game.roles),
            *("-" if goal is None else str(goal) for goal in state.goals.values()),
            *(_ordered(percepts) for percepts in seen),
        ]
        sums.append(zlib.crc32("\n".join(parts).encode()))
    return sums


def _ordered(texts: Any) -> str:
    return " ".join(sorted(map(str, texts)))


def compare(game: herbrand.Game, plays: int, seed: int = 0, engine: str = "network") -> dict[str, Any]:
    """Play random games with herbrand, and replay them in Node; return what was compared."""
    started = time.monotonic()
    source = javascript(game)
    chance = Random(f"{seed} {game.name}")
    played = []
    start = game.initial_state(engine)
    for _ in range(plays):
        play = Trajectory(start)
        play.finish(chance, max_steps=LONGEST)
        joint = [[str(move) for move in moves] for moves in play.joint_moves]
        played.append({"joint": joint, "sums": summed(play)})
    node = shutil.which("node")
    if node is None:
        raise SystemExit("this needs node")
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "game.mjs").write_text(source, encoding="utf-8")
        (Path(folder) / "replay.mjs").write_text(REPLAY, encoding="utf-8")
        (Path(folder) / "plays.json").write_text(json.dumps(played), encoding="utf-8")
        run = subprocess.run(  # noqa: S603  # our own program
            [node, "replay.mjs", "./game.mjs", "plays.json"],
            cwd=folder, capture_output=True, text=True, check=False,
        )  # fmt: skip
    try:
        outcome = json.loads(run.stdout.splitlines()[-1])
    except (IndexError, ValueError):
        outcome = {"error": run.stderr[-500:]}
    return {
        "plays": plays,
        "module_bytes": len(source.encode()),
        "page_bytes": len(game_page(game, proving=0).encode()),
        "agrees": run.returncode == 0,
        "seconds": round(time.monotonic() - started, 1),
        **outcome,
    }


def table(rows: list[dict[str, Any]]) -> str:
    """Return the table of `docs/reference/publish.md`."""
    lines = ["| game | page, kB | module, kB | states compared | agree |", "|---|---:|---:|---:|---|"]
    for row in rows:
        sizes = f"{row['page_bytes'] / 1000:.0f} | {row['module_bytes'] / 1000:.0f}"
        agree = "all" if row["agrees"] else f"**no**: game {row.get('play')}, step {row.get('step')}"
        lines.append(f"| `{row['game']}` | {sizes} | {row.get('states', 0):,} | {agree} |".replace(",", " "))
    return "\n".join(lines)


def main() -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("games", metavar="GAME", nargs="*")
    parser.add_argument("--plays", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--table", action="store_true", help="print a table in Markdown")
    options = parser.parse_args()
    rows = []
    for name in options.games or games.names():
        try:
            rows.append({"game": name, **compare(herbrand.load(name), options.plays, options.seed)})
        except HerbrandError as error:
            rows.append({"game": name, "error": str(error)})
        print(json.dumps(rows[-1]), file=sys.stderr, flush=True)
    text = json.dumps(rows, indent=1)
    if options.json is not None:
        options.json.write_text(text, encoding="utf-8")
    print(table(rows) if options.table else text)
    return 0 if all(row.get("agrees") for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
