"""Measure published games in Chromium: random games, the search, and the club level against random play.

    python benchmarks/published_speed.py [GAME...] [--seconds S] [--matches N] [--json FILE] [--table]

The module of a game, which is also in its page, is loaded into a page without an address.  Per game:

first     seconds from loading the module to the first opinions of a search, code written and compiled
steps     steps of random games from the initial state per second
games     random games per second within the search, from the initial state and from positions in the middle
          of random games, the median of them
club      matches of the level `club` against random moves, with sides that alternate: won, drawn, lost, and
          the longest time for a move in seconds, as the player says it

Speeds are by the clock, so nothing else should run.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from wasm_host import open_browser

import herbrand
from herbrand.publish import javascript

GAMES = ("connectFour", "breakthrough", "hex", "reversi", "ticTacToe", "chess")
MEASURE = """
async ([source, seconds, matches]) => {
  const begun = performance.now();
  const url = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
  const { game, Chance, LEVELS, RANDOM, Search, answer } = await import(url);
  const chance = new Chance(1);
  const joint = (state, role, move) =>
    game.roles.map((_, other) => {
      if (other === role) return move;
      const legal = state.legalNumbers(other);
      return legal[chance.below(legal.length)];
    });
  const searched = (state, time) => {
    const started = performance.now();
    const rounds = new Search(state, chance).run(1e9, time);
    return (8 * rounds * 1000) / (performance.now() - started);
  };
  new Search(game.initialState, chance).run(1, 0);
  const first = (performance.now() - begun) / 1000;

  game.playouts(game.initialState, 4096, chance);
  const started = performance.now();
  let played = 0;
  for (; performance.now() - started < 1000 * seconds; played += 4096) {
    game.playouts(game.initialState, 4096, chance);
  }
  const random = (played * 1000) / (performance.now() - started);

  const middles = [];
  while (middles.length < 11) {
    const states = [game.initialState];
    for (let last = states[0]; !last.isTerminal && states.length < 200; states.push(last)) {
      last = last.after(joint(last, -1));
    }
    middles.push(states[states.length >> 1]);
  }
  const speeds = middles.map((state) => searched(state, seconds / 4)).sort((a, b) => a - b);
  const result = {
    engine: game.engine,
    first,
    random_games_per_second: random,
    search_initial: searched(game.initialState, seconds),
    search_middle: speeds[5],
    search_middle_least: speeds[0],
  };

  const players = [...game.roles.keys()].filter((role) => game.roles[role].toLowerCase() !== RANDOM);
  const club = LEVELS.find((level) => level.name === "club");
  const results = { won: 0, drawn: 0, lost: 0 };
  let longest = 0;
  for (let match = 0; match < matches; match++) {
    const role = players[match % players.length];
    let state = game.initialState;
    for (let step = 0; !state.isTerminal && step < 500; step++) {
      const legal = state.legalNumbers(role);
      let move = legal[0];
      if (legal.length > 1) {
        const seed = chance.below(1 << 30);
        const said = answer(game, { id: 1, states: [state.bits], role, level: club, seed });
        longest = Math.max(longest, said.seconds);
        move = said.move;
      }
      state = state.after(joint(state, role, move));
    }
    const mine = state.goals[role] ?? 0;
    const others = players.filter((other) => other !== role).map((other) => state.goals[other] ?? 0);
    const best = Math.max(...others);
    results[mine > best ? "won" : mine === best ? "drawn" : "lost"]++;
  }
  return { ...result, club: { ...results, longest } };
}
"""


def measure(page: Any, name: str, seconds: float, matches: int) -> dict[str, Any]:
    """Measure a game."""
    game = herbrand.load(name)
    result = page.evaluate(MEASURE, [javascript(game), seconds, matches])
    length = game.simulate(playouts=20_000, seed=1).length["mean"]
    result["steps_per_second"] = result["random_games_per_second"] * length
    return {"game": name, **result}


def table(rows: list[dict[str, Any]]) -> str:
    """Return the table of `docs/reference/publish.md`."""
    head = "first opinion, s | million steps/s | search, games/s: at first | in the middle"
    lines = [f"| game | {head} | club: won, drawn, lost | longest move, s |", "|---|" + "---:|" * 6]
    for row in rows:
        club = row["club"]
        speeds = " | ".join(
            f"{row[key]:,.0f}".replace(",", " ") for key in ("search_initial", "search_middle")
        )
        lines.append(
            f"| `{row['game']}` | {row['first']:.2f} | {row['steps_per_second'] / 1e6:.1f} | {speeds} "
            f"| {club['won']}, {club['drawn']}, {club['lost']} | {club['longest']:.2f} |"
        )
    return "\n".join(lines)


def main() -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("games", metavar="GAME", nargs="*")
    parser.add_argument("--seconds", type=float, default=2.0, help="of each measurement")
    parser.add_argument("--matches", type=int, default=20)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--table", action="store_true", help="print a table in Markdown")
    options = parser.parse_args()
    rows: list[dict[str, Any]] = []
    with ExitStack() as stack:
        page, version = open_browser(stack)
        for name in options.games or GAMES:
            rows.append(measure(page, name, options.seconds, options.matches))
            print(json.dumps(rows[-1]), file=sys.stderr, flush=True)
    about = {"chromium": version, "processor": platform.processor() or platform.machine(), "games": rows}
    text = json.dumps(about, indent=1)
    if options.json is not None:
        options.json.write_text(text, encoding="utf-8")
    print(table(rows) if options.table else text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
