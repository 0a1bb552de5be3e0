"""Measure how many matches a manager can play at the same time, and the latency of moves.

    python benchmarks/matches.py [--game NAME] [--matches N] [--at-once N] [--remote] [--record DB] [--json]

Random players: in this process, or with `--remote` behind a `PlayerServer` for each role.
Latency is the time from the last byte of PLAY to the reply; it contains the waiting for the processor.
Matches with a late or replaced move are counted as lost; with `--record` so are those whose record does not
verify.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import resource
import sys
import time
from contextlib import AsyncExitStack, ExitStack
from typing import TYPE_CHECKING, Any

import herbrand
from herbrand.match.protocol.manager import Manager, MatchSettings, seats_for
from herbrand.match.protocol.seats import LocalSeat, RemoteSeat
from herbrand.match.protocol.server import PlayerServer
from herbrand.match.records import Store
from herbrand.match.records.recorder import Recorder
from herbrand.match.records.verifier import Verifier
from herbrand.play import make_player

if TYPE_CHECKING:
    from herbrand.match.protocol.events import Event
    from herbrand.match.protocol.manager import Match
    from herbrand.match.protocol.seats import Seat


async def measure(
    name: str, matches: int, at_once: int, *, remote: bool, store: Store | None = None
) -> dict[str, Any]:
    """Play the matches and return figures."""
    game = herbrand.load(name)
    latencies: list[float] = []
    recorder = None if store is None else Recorder(store)

    def listen(event: Event) -> None:
        if recorder is not None:
            recorder(event)
        if event.kind == "exchange" and event.data["message"] == "PLAY":
            latencies.append(event.data["seconds"])

    manager = Manager(game, MatchSettings(start_clock=60, play_clock=30), listener=listen)
    gate = asyncio.Semaphore(at_once)
    async with AsyncExitStack() as stack:
        servers = [
            await stack.enter_async_context(
                PlayerServer(
                    lambda: make_player("random"), port=0, matches=2 * at_once, connections=4 * at_once
                )
            )
            for _ in (game.players if remote else ())
        ]

        async def one(number: int) -> Match:
            async with gate:
                seats: list[Seat] = [RemoteSeat("127.0.0.1", server.port) for server in servers]
                if not remote:
                    seats = [LocalSeat(make_player("random"), name="random") for _ in game.players]
                return await manager.play(seats_for(game, seats), match_id=f"m{number}")

        started, cpu = time.perf_counter(), time.process_time()
        played = await asyncio.gather(*map(one, range(matches)))
        seconds, cpu = time.perf_counter() - started, time.process_time() - cpu
    latencies.sort()
    lost = sum(1 for match in played if not match.is_complete or match.problems)
    if store is not None:
        verifier = Verifier()
        assert len(store.ids()) == matches
        lost += sum(1 for match in store.ids() if verifier.verify(store.load(match)))
    return {
        "game": name,
        "players": "remote" if remote else "local",
        "recorded": store is not None,
        "cores": os.cpu_count(),
        "load_average": round(os.getloadavg()[0], 1),
        "matches": matches,
        "at_once": at_once,
        "lost": lost,
        "moves": len(latencies),
        "seconds": round(seconds, 2),
        "cpu_s": round(cpu, 2),
        "matches_per_s": round(matches / seconds, 1),
        "matches_per_cpu_s": round(matches / cpu, 1),
        "megabytes": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, 1),
        "latency_ms": {
            f"p{share}": round(1000 * latencies[min(len(latencies) - 1, len(latencies) * share // 100)], 2)
            for share in (50, 90, 99, 100)
        },
    }


def main() -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description="Measure matches played at the same time.")
    parser.add_argument("--game", default="ticTacToe")
    parser.add_argument("--matches", type=int, default=400)
    parser.add_argument("--at-once", type=int, default=200)
    parser.add_argument("--remote", action="store_true")
    parser.add_argument("--record", metavar="DB")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if min(options.matches, options.at_once) < 1:
        parser.error("there is at least one match")
    with ExitStack() as stack:
        store = stack.enter_context(Store(options.record)) if options.record else None
        row = asyncio.run(
            measure(options.game, options.matches, options.at_once, remote=options.remote, store=store)
        )
    if options.json:
        json.dump(row, sys.stdout, indent=1)
        print()
    else:
        print(
            f"{row['game']}: {row['matches']} matches of {row['players']} players, {row['at_once']} at once, "
            f"in {row['seconds']} s: {row['matches_per_s']} matches/s "
            f"({row['matches_per_cpu_s']} for each second of a processor), {row['lost']} lost; "
            f"latency ms {row['latency_ms']}"
        )
    return 1 if row["lost"] else 0


if __name__ == "__main__":
    sys.exit(main())
