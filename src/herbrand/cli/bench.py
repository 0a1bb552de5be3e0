"""`herbrand bench`: measure the speed of random games."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from herbrand.cli.files import NOTATION, read_game
from herbrand.cli.options import JSON, POSITIVE, engine_option
from herbrand.cli.output import progress_bar, remark, result, spaced, table, write_json
from herbrand.cli.workers import RESULTS, SHEETS, is_collection, run_collection, sheets_of, worker_options
from herbrand.core import playing_program
from herbrand.errors import BudgetExceeded, GameError
from herbrand.runtime.watchdog import watch

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from herbrand.game import Game

__all__ = ["bench", "command"]

CODES = ("auto", "walked", "straight")
_LEAST_PREPARATION = 5.0


@click.command("bench")
@click.argument("files", metavar="FILE...", type=SHEETS, nargs=-1, required=True)
@NOTATION
@engine_option("auto", "rules", "network", text="The engine: `auto` uses the network if there is one.")
@click.option(
    "--seconds",
    type=POSITIVE,
    default=5.0,
    help="Processor seconds for each game, after at most 5 or as many to prepare it.",
)
@click.option(
    "--code",
    type=click.Choice(CODES),
    default="auto",
    help="Walk the gates of a network or run machine code: `auto` uses machine code if there is an "
    "encoder for this processor.",
)
@click.option(
    "--reachable",
    type=POSITIVE,
    metavar="SECONDS",
    help="Spend at most so long on proving fluents mutually exclusive, and play on the smaller network that "
    "results.",
)
@worker_options("Number of processes, each of which measures one game at a time and so disturbs the others.")
@RESULTS
@JSON
@click.pass_context
def command(
    ctx: click.Context,
    /,
    files: tuple[str, ...],
    notation: str,
    engine: str,
    seconds: float,
    code: str,
    reachable: float | None,
    as_json: bool,
    **how: Any,
) -> None:
    """Measure the speed of random games.

    All roles choose uniformly among their legal moves; times are processor time of one core. Preparation
    (reading, checking, grounding, building the network) and compilation are reported separately. Games that
    cannot be measured are reported and skipped. FILE may be a folder. With --cluster the speed is that of the
    machines there.
    """
    files = tuple(sheets_of(files))
    options: dict[str, Any] = {"engine": engine, "seconds": seconds, "code": code, "reachable": reachable}
    limit = seconds + _preparation(seconds, reachable)
    if is_collection((), **how):
        run_collection(
            "bench", files, notation, bench, options,
            show=lambda measured: _table(measured) if measured else "", as_json=as_json, seconds=limit, **how,
        )  # fmt: skip
    rows: list[dict[str, Any]] = []
    status = 0
    with progress_bar(len(files), "") as update:
        for done, file in enumerate(files):

            def show(doing: str, done: int = done, name: str = Path(file).stem) -> None:
                if update is not None:
                    update(done, len(files), f"{name}: {doing}")

            started = time.monotonic()
            try:
                with watch(seconds=limit, time_hint="--seconds sets the limit"):
                    show("preparing")
                    rows.append(bench(read_game(file, notation), started=started, progress=show, **options))
            except (GameError, BudgetExceeded) as error:
                if len(files) == 1:
                    raise
                remark(f"error: {file}: {error}")
                status = max(status, 3 if isinstance(error, BudgetExceeded) else 1)
    if as_json:
        write_json(rows)
    elif rows:
        result(_table(rows))
    ctx.exit(status)


def bench(
    game: Game,
    *,
    engine: str,
    seconds: float,
    code: str = "auto",
    reachable: float | None = None,
    started: float | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> dict[str, Any]:
    """Measure one game; `started` is the `time.monotonic` at which reading it began, by default now.

    `progress` is called with what begins.

    Grounding it may take `seconds`, too, or 5; after that the engine "auto" evaluates the rules.
    Raises `BudgetExceeded` if the engine is "network" and the game has none, `GameError` for a game with
    errors.
    """
    from herbrand.engine.speed import efficiency, measure_engine, measure_network

    started = time.monotonic() if started is None else started
    compiling = 0.0
    note = network = None
    if engine != "rules":
        try:
            network = game.network_within(_preparation(seconds))
        except BudgetExceeded as error:
            if engine == "network":
                raise
            note = f"no network: {error}"
    if network is not None and reachable is not None:
        from herbrand.analyse.invariants.reachable import for_reachable_states

        try:
            network = for_reachable_states(network, seconds=reachable)
        except BudgetExceeded as error:
            note = f"using the network for all states: {error}"
    if network is not None:
        ready = time.monotonic() - started
        circuit = network.circuit
        before = time.thread_time()
        program = playing_program(circuit)
        compiling = time.thread_time() - before
        walk = code == "walked"
        if program.why_walked and not walk:
            note = f"walked: {program.why_walked}"
        progress(f"random games for {seconds:g} s")
        speed = measure_network(network, seconds=seconds, walk=walk)
        share = efficiency(network, speed)
    else:
        evaluator = game.engine_object("rules")
        ready = time.monotonic() - started
        share = None
        progress(f"random games for {seconds:g} s")
        speed = measure_engine(evaluator, seconds=seconds)
    return {
        "game": game.name,
        "engine": "rules" if network is None else "network",
        "lanes": speed.lanes,
        "nodes": None if network is None else network.inputs + network.gates,
        "ready_s": round(ready, 4),
        "compile_s": round(compiling, 4),
        "code": speed.code or None,
        "efficiency": None if share is None else round(share, 4),
        "cpu_s": round(speed.seconds, 6),
        "transitions": speed.transitions,
        "playouts": speed.playouts,
        "transitions_per_s": speed.transitions_per_second,
        "playouts_per_s": speed.playouts_per_second,
        "stuck": speed.stuck,
        "stuck_in": speed.stuck_in,
        "note": note,
    }


def _preparation(seconds: float, reachable: float | None = None) -> float:
    """Return how long a game may be prepared."""
    return max(seconds, _LEAST_PREPARATION) + (reachable or 0.0)


def _table(rows: Sequence[dict[str, Any]]) -> str:
    """Format the measurements as a table."""
    head = ("game", "engine", "lanes", "nodes", "ready s", "steps/s", "playouts/s", "of peak")
    cells = [
        (
            row["game"],
            row["engine"],
            spaced(row["lanes"]),
            None if row["nodes"] is None else spaced(row["nodes"]),
            f"{row['ready_s']:.2f}",
            spaced(row["transitions_per_s"]),
            spaced(row["playouts_per_s"]),
            None if row["efficiency"] is None else f"{row['efficiency']:.0%}",
        )
        for row in rows
    ]
    lines = [table(cells, head, right=range(2, 8))]
    lines += [f"{row['game']}: {row['note']}" for row in rows if row["note"]]
    for row in rows:
        if row["stuck"]:
            share = 100 * row["stuck"] / row["playouts"]
            reason = row["stuck_in"].split(" in the state:")[0]
            lines.append(f"{row['game']}: {share:.3g} % of the playouts got stuck: {reason}")
    return "\n".join(lines)
