"""`herbrand solve`: the value of a game, its best moves, and strategies that prove it."""

from __future__ import annotations

import time
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

import click

from herbrand.analyse.budget import Budget
from herbrand.cli.files import NOTATION, read_game
from herbrand.cli.listing import counting, explore_options, listing
from herbrand.cli.options import INPUT_FILE, JSON, OUTPUT_FILE, time_limit
from herbrand.cli.output import count, progress_bar, remark, result, spaced, table, write_json
from herbrand.cli.workers import RESULTS, SHEETS, is_collection, run_collection, worker_options

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from herbrand.analyse.counting.backwards import StepAnswer
    from herbrand.analyse.solving.solved_value import SolvedValue
    from herbrand.cli.output import Progress
    from herbrand.game import Game

__all__ = ["command"]

_SHOWN_LINE = 12
_SHOWN_BEST = 3
"""Best moves that the table of several games lists."""


@click.command("solve")
@click.argument("files", metavar="FILE...", type=SHEETS, nargs=-1, required=True)
@NOTATION
@click.option("--moves", is_flag=True, help="Find the value of every first move.")
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    type=OUTPUT_FILE,
    help="Write the strategies that prove the value to this file (.npz).",
)
@click.option(
    "--check",
    metavar="FILE",
    type=INPUT_FILE,
    help="Replay the strategies in this file against every reply, by the rules alone.",
)
@click.option(
    "--diagrams",
    is_flag=True,
    help="Find the values of all states by decision diagrams, without listing states.",
)
@explore_options(
    "List all states in sorted files in this folder, from the last step back; resume from there."
)
@time_limit(600.0)
@worker_options("Number of processes, each of which solves one game at a time.")
@RESULTS
@JSON
@click.pass_context
def command(
    ctx: click.Context,
    /,
    files: tuple[str, ...],
    notation: str,
    moves: bool,
    output: str | None,
    check: Path | None,
    diagrams: bool,
    explore: Path | None,
    disk: float,
    seconds: float,
    as_json: bool,
    **how: Any,
) -> None:
    """Find the value of a game under best play, and its best moves.

    Games with few states are solved by listing them. Larger ones in which one role at a time chooses are
    solved by searching for the goal values that each role can force, and after a while by decision diagrams,
    if --diagrams applies. When time or memory runs out, the bounds proved up to then are printed (exit 3).
    `herbrand play FILE --opponent "solved(file='OUT.npz')"` plays by the strategies of --output.

    With --explore the states are in files on disk, eight bytes or more for each and one for its value, and
    the values of a step follow from those of the next one: for games in which no state is reached after two
    different numbers of steps.

    With --diagrams sets of states are decision diagrams, from the last step back: for games in which
    moreover the number of steps determines which role chooses. There may be billions of states, if the sets
    are regular. Without the option, a search of twenty seconds is tried first, and it continues if the
    diagrams get too large; diagrams give no strategies, so that --output only searches.

    Several files, or a folder, are solved at the same time, each within the limits; the search in one game
    is not divided.
    """
    from herbrand.runtime.limits import seconds_left

    modes = {"--output": output, "--check": check, "--explore": explore, "--diagrams": diagrams or None}
    alone = [name for name, value in modes.items() if value is not None]
    if len(alone) > 1:
        raise click.UsageError(f"{' and '.join(alone)} exclude each other: choose one")
    if len(files) > 1 or is_collection(files, **how):
        if alone:
            raise click.UsageError(f"{alone[0]} is for one game")
        run_collection(
            "solve", files, notation, _as_data, {"seconds": 0.97 * seconds, "moves": moves},
            show=_table, as_json=as_json, is_whole=lambda row: not row["stopped"], seconds=seconds, **how,
        )  # fmt: skip
    game = read_game(files[0], notation)
    budget = Budget(0.97 * min(seconds, seconds_left()), megabytes=game.limits.megabytes)
    with progress_bar(None, "solving") as update:
        show = None if update is None else _shown_by(update)
        if check is not None:
            _check(ctx, game, check, budget.seconds, show, as_json=as_json)
            return
        size = None
        if diagrams:
            value = _solve_by_diagrams(game, budget, moves=moves)
        elif explore is not None:
            value = _solve_on_disk(game, explore, disk, budget, moves=moves)
        else:
            value, size = _solve(game, budget, show, moves=moves, output=output)
    if as_json:
        strategy = None if size is None else {"file": output, "states": size}
        write_json({"game": game.name, **value.as_json(), "strategy": strategy})
    else:
        result(_report(value, moves=moves))
        if size is not None:
            remark(f"strategies for {count(size, 'state')} written to {output}; --check replays them")
    if value.stopped:
        more = "--seconds and --memory allow more" if explore is None else "the same command resumes"
        remark(f"over budget: {value.stopped}; {more}")
        ctx.exit(3)


def _shown_by(update: Progress) -> Callable[[int], None]:
    """Return a function that shows how many states there are, at most twice a second."""
    last = 0.0

    def show(states: int) -> None:
        nonlocal last
        if time.monotonic() - last > 0.5:
            last = time.monotonic()
            update(states, None, f"{spaced(states)} states")

    return show


def _solve(
    game: Game, budget: Budget, show: Callable[[int], None] | None, *, moves: bool, output: str | None
) -> tuple[SolvedValue, int | None]:
    """Return the value, and the number of states of the strategies that were written."""
    from herbrand.analyse.solving.strategy import make_strategy
    from herbrand.analyse.solving.value import value_of
    from herbrand.errors import BudgetExceeded, GameError

    value = value_of(game, budget=budget, moves=moves, search=output is not None, progress=show)
    if output is None:
        return value, None
    if value.forced is None or value.searched is None:
        raise GameError("strategies are written for games without chance in which one role at a time chooses")
    if value.stopped:
        return value, None
    try:
        strategy = make_strategy(value.forced, value.searched, progress=show)
    except BudgetExceeded as error:
        return replace(value, stopped=f"{error.spent}, with {error.reached}"), None
    strategy.write(output)
    return value, len(strategy)


def _solve_on_disk(game: Game, folder: Path, disk: float, budget: Budget, *, moves: bool) -> SolvedValue:
    from herbrand.analyse.solving.on_disk import solve_on_disk

    def solved(step: int, states: int) -> None:
        remark(f"{step:5} {spaced(states):>18} values")

    return solve_on_disk(
        game,
        folder,
        budget=budget,
        disk=disk,
        moves=moves,
        progress=listing(remark),
        solved=solved,
    )


def _solve_by_diagrams(game: Game, budget: Budget, *, moves: bool) -> SolvedValue:
    from herbrand.analyse.solving.by_diagrams import solve_by_diagrams

    def solved(question: str, step: StepAnswer) -> None:
        remark(f"{step.step:5} {spaced(step.states):>24} {spaced(step.nodes):>12} {'':9} {question}")

    return solve_by_diagrams(game, budget=budget, moves=moves, progress=counting(remark), solved=solved)


def _check(
    ctx: click.Context,
    game: Game,
    file: Path,
    seconds: float,
    show: Callable[[int], None] | None,
    *,
    as_json: bool,
) -> None:
    from herbrand.analyse.solving.strategy import check_strategy, read_strategy

    strategy = read_strategy(file)
    checked = check_strategy(game, strategy, seconds=seconds, progress=show)
    if as_json:
        write_json(
            {
                "game": game.name,
                "claims": [
                    {
                        "claim": str(one.claim),
                        **asdict(one.claim),
                        "accepted": one.accepted,
                        "reason": one.reason or None,
                        "states": one.states,
                    }
                    for one in checked
                ],
            }
        )
    else:
        rows = [
            (one.claim, "accepted" if one.accepted else f"REFUSED: {one.reason}", spaced(one.states))
            for one in checked
        ]
        result(table(rows, ("claim", "replayed by the rules", "states"), right=[2]))
    ctx.exit(0 if all(one.accepted for one in checked) else 1)


def _as_data(game: Game, seconds: float, moves: bool) -> dict[str, Any]:
    """Solve a game of a collection, in a worker."""
    from herbrand.analyse.solving.value import value_of

    budget = Budget(seconds, megabytes=game.limits.megabytes)
    return {"game": game.name, **value_of(game, budget=budget, moves=moves).as_json()}


def _table(rows: list[dict[str, Any]]) -> str:
    """Return one line for each game."""
    cells = [
        (
            row["game"],
            ", ".join(f"{role} {_number(pair)}" for role, pair in row["bounds"].items()),
            ", ".join(row["best"][:_SHOWN_BEST]) + ", ..." * (len(row["best"]) > _SHOWN_BEST),
            spaced(row["states"]),
            row["stopped"] or "",
        )
        for row in rows
    ]
    return table(cells, ("game", "can be forced", "best first moves", "states", "stopped by"), right=[3])


def _number(pair: Sequence[float]) -> str:
    low, high = pair
    return f"{low:g}" if low == high else f"{low:g} to {high:g}"


def _report(value: SolvedValue, *, moves: bool) -> str:
    bounds = ", ".join(f"{role} {_number(pair)}" for role, pair in value.bounds.items())
    lines = []
    if value.value is not None:
        shown = ", ".join(f"{role} {number:g}" for role, number in value.value.items())
        lines.append(f"{'value':18} {shown}")
    if value.value is None or any(value.value[role] != pair[0] for role, pair in value.bounds.items()):
        lines.append(f"{'can be forced':18} {bounds}")
    used = f", {count(value.symmetries, 'symmetry')}" if value.symmetries > 1 else ""
    lines.append(f"{'method':18} {value.method}, {count(value.states, 'state')}{used}, {value.seconds:.1f} s")
    lines += [f"{'':18} {note}" for note in value.notes]
    if value.moves and moves:
        order = sorted(value.moves.items(), key=lambda entry: (-entry[1][0], -entry[1][1]))
        lines.append(f"first moves of {value.chooser}")
        by_value: dict[tuple[float, float], list[str]] = {}
        for move, pair in order:
            by_value.setdefault(pair, []).append(move)
        lines += [f"    {_number(pair)}: {', '.join(some)}" for pair, some in by_value.items()]
    elif value.best:
        more = "" if value.searched is None or moves else " (known ones; --moves finds all)"
        lines.append(f"{'best first move':18} {value.chooser}: {', '.join(value.best)}{more}")
    if value.line:
        shown_line = "; ".join(", ".join(joint) for joint in value.line[:_SHOWN_LINE])
        rest = "; ..." if len(value.line) > _SHOWN_LINE else ""
        lines.append(f"{'best play':18} {count(len(value.line), 'step')}: {shown_line}{rest}")
    return "\n".join(lines)
