"""Compare the WebAssembly module of each game with the interpreters, bit by bit, and measure random games.

    python benchmarks/wasm.py [GAME...] [--collection FOLDER] [--sheets N] [--gates N] [--chromium]
                              [--json FILE]

Without games, all bundled ones are compared, and N sheets of the folder, chosen at random; sheets without a
network within a minute, or with one of too many gates, for which the interpreters would need half an hour,
are replaced by others.  Per game: random games from the initial state, with the same seed as the core; all
stages on 128 random states; random games from given states, lane by lane.  All is done in Node, and with
`--chromium` in Chromium as well, driven by Playwright.  Speeds are steps of random games per second.
"""

from __future__ import annotations

import argparse
import json
import platform
import subprocess
import sys
import time
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

from wasm_host import NODE, ask_browser, ask_node, differences, open_browser

import herbrand
from herbrand import games
from herbrand.convert.wasm import wasm
from herbrand.errors import HerbrandError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def compared(
    game: herbrand.Game, name: str, hosts: dict[str, Callable[..., Any]], seconds: float
) -> dict[str, Any]:
    """Compare and measure a game in every host."""
    network = game.network
    started = time.monotonic()
    module = wasm(game)
    written = time.monotonic() - started
    result = {
        "game": name,
        "gates": network.gates,
        "bytes": len(module),
        "seconds_to_write": round(written, 2),
    }
    for host, ask in hosts.items():
        result[host] = {
            "differs": differences(network, module, ask, steps=100),
            "steps_per_second": _speed(ask, module, seconds),
        }
    return result


def _speed(ask: Callable[..., Any], module: bytes, seconds: float) -> int:
    """Return steps per second: the best of three runs, after one in which the code is compiled."""
    some = {"kind": "games", "seed": 1, "games": 10**12, "steps": 1000, "limit": seconds}
    _, *answers = ask(module, *[some] * 4)
    return round(max(answer["transitions"] / answer["seconds"] for answer in answers))


def sheets(folder: Path, count: int, gates: int) -> Iterator[tuple[str, herbrand.Game]]:
    """Yield random games of a collection that have a network of so many gates at most."""
    files = sorted((folder / "rulesheets").glob("*.*"))
    Random(1).shuffle(files)
    for file in files:
        if count == 0:
            return
        try:
            game = herbrand.load(str(file), limits=herbrand.Limits(seconds=60))
            if game.network.gates > gates:
                continue
        except HerbrandError:
            continue
        count -= 1
        yield file.stem, game


def main() -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("games", metavar="GAME", nargs="*")
    parser.add_argument("--collection", type=Path)
    parser.add_argument("--sheets", type=int, default=50)
    parser.add_argument("--gates", type=int, default=1_500_000)
    parser.add_argument("--chromium", action="store_true")
    parser.add_argument("--seconds", type=float, default=1.0, help="of each measurement")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    if NODE is None:
        raise SystemExit("this needs node")
    node = subprocess.run([NODE, "--version"], capture_output=True, text=True, check=True).stdout  # noqa: S603
    about = {"node": node.strip(), "processor": platform.processor() or platform.machine()}
    rows: list[dict[str, Any]] = []
    with ExitStack() as stack:
        hosts: dict[str, Callable[..., Any]] = {"node": ask_node}
        if options.chromium:
            page, about["chromium"] = open_browser(stack)
            hosts["chromium"] = partial(ask_browser, page)
        every: Iterator[tuple[str, herbrand.Game]] = (
            (name, herbrand.load(name)) for name in options.games or games.names()
        )
        for source, some in (("bundled", every), ("collection", _collection(options))):
            for name, game in some:
                try:
                    found = compared(game, name, hosts, options.seconds)
                except HerbrandError as error:
                    found = {"game": name, "error": str(error)}
                rows.append({"source": source, **found})
                print(json.dumps(rows[-1]), file=sys.stderr, flush=True)
                if options.json is not None:
                    options.json.write_text(json.dumps({**about, "games": rows}, indent=1), encoding="utf-8")
    print(json.dumps({**about, "games": rows}, indent=1))
    return int(any(one.get(host, {}).get("differs") for one in rows for host in ("node", "chromium")))


def _collection(options: argparse.Namespace) -> Iterator[tuple[str, herbrand.Game]]:
    return sheets(options.collection, options.sheets, options.gates) if options.collection else iter(())


if __name__ == "__main__":
    sys.exit(main())
