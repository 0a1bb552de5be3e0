"""`herbrand verify`: compare engines, traces and rulesheets; check plans."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from herbrand.cli.files import FILE, NOTATION, read_game
from herbrand.cli.options import JSON, engine_option, max_steps
from herbrand.cli.output import count, progress_bar, remark, result, write_json
from herbrand.engine.description import ENGINES

if TYPE_CHECKING:
    from herbrand.game import Game
    from herbrand.verify import Report

__all__ = ["command"]


@click.command("verify")
@click.argument("file", metavar="FILE", type=FILE)
@NOTATION
@click.option(
    "--trace",
    metavar="TRACE",
    type=click.Path(exists=True, dir_okay=False),
    help="Replay this recording (.jsonl or .jsonl.gz) instead of comparing engines.",
)
@engine_option(*ENGINES, text="With --trace: the engine that replays it.")
@click.option(
    "--engines",
    metavar="A,B,...",
    default="rules,naive",
    help="The engines to compare: the first with each of the others.",
)
@click.option("--against", metavar="OTHER", type=FILE, help="Compare the game with this rulesheet instead.")
@click.option(
    "--plan",
    metavar="PLAN",
    type=click.Path(exists=True, dir_okay=False, allow_dash=True),
    help="Check that this plan, the output of a planner for `convert --to pddl`, wins.",
)
@click.option("--playouts", type=click.IntRange(min=1), default=10, help="Number of games.")
@click.option("--seed", type=int, default=0, help="Determines the games.")
@max_steps(200, "Stop a game after this many steps.")
@click.option("--seconds", type=click.FloatRange(min=0), help="Stop comparing after this many seconds.")
@JSON
@click.pass_context
def command(
    ctx: click.Context,
    /,
    file: str,
    notation: str,
    trace: str | None,
    engine: str,
    engines: str,
    against: str | None,
    plan: str | None,
    seconds: float | None,
    as_json: bool,
    **playing: Any,
) -> None:
    """Compare engines with each other, with a recorded trace, or two rulesheets.

    In every state the facts, legal moves, termination, goals and percepts must be the same. Otherwise
    shows the first difference, with an explanation by the rules for each engine, and exits with 1. An engine
    that cannot evaluate the game is skipped with a note.
    """
    from herbrand.verify import verify_playouts, verify_same, verify_trace

    names = _engines(engines)
    game = read_game(file, notation)
    if plan is not None:
        _plan(ctx, game, plan, as_json=as_json)
        return
    with progress_bar(None, f"verifying {game.name}") as update:
        advance = None if update is None else lambda states: update(states, None)
        if trace is not None:
            report = verify_trace(game, trace, engine=engine, progress=advance)
        elif against is not None:
            report = verify_same(game, read_game(against, parameters=False), progress=advance, **playing)
        else:
            report = verify_playouts(game, engines=names, seconds=seconds, progress=advance, **playing)
    for text in report.remarks:
        remark(f"note: {text}")
    if as_json:
        write_json(_as_json(game, report))
    elif report.difference is not None:
        result(f"{report.engine}: {report.difference}")
    else:
        if len(report.compared) > 1:
            for name, states in report.compared.items():
                result(f"{name}: agrees with {names[0]} in {count(states, 'state')}")
        result(f"ok: {report.states} states")
    if not report.ok:
        ctx.exit(1)


def _plan(ctx: click.Context, game: Game, file: str, *, as_json: bool) -> None:
    """Check a plan and print whether it wins."""
    from herbrand.verify.plans import verify_plan

    with click.open_file(file, encoding="utf-8", errors="replace") as stream:
        report = verify_plan(game, stream.read())
    if as_json:
        write_json({"game": game.name, "ok": report.ok, **asdict(report)})
    elif report.ok:
        result(f"ok: {count(len(report.moves), 'move')}, which end the game with 100")
    else:
        result(f"the plan does not win: {report.wrong}")
    if not report.ok:
        ctx.exit(1)


def _engines(text: str) -> tuple[str, ...]:
    """Parse the names of the engines to compare."""
    names = tuple(name.strip() for name in text.split(",") if name.strip())
    unknown = [name for name in names if name not in ENGINES]
    if unknown:
        raise click.BadParameter(
            f"no engine `{unknown[0]}` (engines: {', '.join(ENGINES)})", param_hint="--engines"
        )
    if len(set(names)) < 2:
        raise click.BadParameter("needs two different engines", param_hint="--engines")
    return names


def _as_json(game: Game, report: Report) -> dict[str, object]:
    difference = report.difference
    return {
        "game": game.name,
        "engine": report.engine,
        "ok": report.ok,
        "states": report.states,
        "seconds": report.seconds,
        "remarks": list(report.remarks),
        "compared": dict(report.compared),
        "unsupported": dict(report.unsupported),
        "difference": difference and asdict(difference),
    }
