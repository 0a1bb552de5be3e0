"""`herbrand analyse`: prove properties of a game."""

from __future__ import annotations

import sys
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from herbrand.analyse.verdict import PROPERTIES
from herbrand.cli.files import NOTATION, read_game
from herbrand.cli.options import JSON, POSITIVE
from herbrand.cli.output import (
    count,
    progress_bar,
    remark,
    result,
    spaced,
    table,
    terminal_width,
    wants_color,
    write_json,
)
from herbrand.cli.workers import RESULTS, SHEETS, is_collection, run_collection, worker_options
from herbrand.runtime.limits import Limits, seconds_left

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from herbrand.analyse.knowledge import GameValue as HiddenSolution
    from herbrand.analyse.proofs.prove import Analysis
    from herbrand.analyse.solving.solve import Solution
    from herbrand.analyse.verdict import Verdict, Witness
    from herbrand.cli.output import Progress
    from herbrand.game import Game

__all__ = ["command"]

_SIGNS = {"proved": ("yes", "green"), "refuted": ("no", "red"), "unknown": ("?", "yellow")}
_TITLES = {
    "termination": "terminates",
    "playability": "playable",
    "weak_winnability": "weakly winnable",
    "strong_winnability": "strongly winnable",
    "goals": "goals at the end",
    "monotonicity": "goals monotonic",
    "well_formed": "well-formed",
}
_LONG_LINE = 40


@click.command("analyse")
@click.argument("files", metavar="FILE...", type=SHEETS, nargs=-1, required=True)
@NOTATION
@click.option(
    "--property",
    "properties",
    type=click.Choice(PROPERTIES),
    multiple=True,
    help="Decide only this property; may be repeated.",
)
@click.option("--budget", type=POSITIVE, default=60.0, metavar="SECONDS", help="Approximate time limit.")
@click.option(
    "--states",
    type=click.IntRange(min=1),
    default=20_000_000,
    metavar="N",
    help="Maximum number of states in memory.",
)
@click.option(
    "--win",
    type=click.IntRange(0, 100),
    default=100,
    metavar="VALUE",
    help="The goal value that counts as winning.",
)
@click.option("--no-values", is_flag=True, help="Do not solve the game.")
@click.option("--no-check", is_flag=True, help="Do not check certificates and witnesses.")
@worker_options("Number of processes, each of which analyses one game at a time.")
@RESULTS
@JSON
def command(
    files: tuple[str, ...],
    notation: str,
    properties: tuple[str, ...],
    budget: float,
    states: int,
    win: int,
    no_values: bool,
    no_check: bool,
    as_json: bool,
    **how: Any,
) -> None:
    """Decide whether a game terminates, is playable and winnable.

    Each property is proved, refuted or unknown, never guessed: a refutation comes with a line of play, a
    proof with a certificate that an independent checker has verified. The exit status is 0 even if a
    property is refuted or unknown. Several files, or a folder, are analysed at the same time, each within
    --budget, and become one table; one game is not divided.
    """
    options: dict[str, Any] = {
        "properties": properties,
        "states": states,
        "win": win,
        "values": not no_values,
        "check": not no_check,
    }
    if len(files) > 1 or is_collection(files, **how):
        run_collection(
            "analyse", files, notation, _as_data, {**options, "seconds": 0.95 * budget},
            show=_table, as_json=as_json, seconds=budget, **how,
        )  # fmt: skip
    (file,) = files
    game = read_game(file, notation)
    seconds = min(0.95 * budget, seconds_left())  # the rest is for writing the results
    with progress_bar(None, f"analysing {game.name}") as update:
        analysis, solution = _analysis(
            game,
            seconds=seconds,
            progress=None if update is None else _shown_by(update, game.name),
            **options,
        )
    if as_json:
        write_json(_data(analysis, solution))
        return
    from herbrand import games

    bundled = Path(file).parent == games.path("nim").parent
    result(_report(analysis, game.name if bundled else file))
    if solution is not None:
        result("\n".join(_hidden_solution(solution)))
    for note in analysis.notes:
        remark(f"note: {note}")


def _shown_by(update: Progress, name: str) -> Callable[[str, int, int], None]:
    """Return a function that shows how far an analysis is; a number without an end has no bar."""
    shown = ""

    def progress(activity: str, done: int, of: int) -> None:
        nonlocal shown
        doing = None if activity == shown else f"{activity} {name}"
        shown = activity
        update(done, of or None, doing)

    return progress


def _analysis(
    game: Game,
    *,
    properties: Sequence[str],
    seconds: float,
    states: int,
    win: int,
    check: bool,
    values: bool,
    progress: Callable[[str, int, int], None] | None = None,
) -> tuple[Analysis, HiddenSolution | None]:
    """Analyse a game, and solve it where information is hidden."""
    from herbrand.analyse.budget import Budget
    from herbrand.analyse.proofs.prove import analyse

    hidden = game.has_percepts and not properties and values
    analysis = analyse(
        game,
        properties or PROPERTIES,
        budget=Budget(seconds / 2 if hidden else seconds, states, game.limits.megabytes),
        win=win,
        check=check,
        values=values,
        remarks=not properties,
        progress=progress,
    )
    if not hidden:
        return analysis, None
    from herbrand.analyse.knowledge import solve

    return analysis, solve(game, limits=Limits(seconds=min(seconds / 2, seconds_left())))


def _data(analysis: Analysis, solution: HiddenSolution | None) -> dict[str, Any]:
    data = analysis.as_json()
    if solution is not None:
        data["solution"] = solution.as_json()
        if solution.estimate is not None:
            data["value"] = data["solution"]["value"]
    return data


def _as_data(game: Game, **options: Any) -> dict[str, Any]:
    return _data(*_analysis(game, **options))


def _table(rows: list[dict[str, Any]]) -> str:
    """Return one line for each game: its verdicts, states and value."""
    names = list(rows[0]["properties"]) if rows else []
    cells = []
    for row in rows:
        verdicts = [_SIGNS[row["properties"][name]["verdict"]][0] for name in names]
        states = row.get("counts", {}).get("states")
        values = (f"{role} {value}" for role, value in (row.get("value") or {}).items())
        cells.append((row["game"], *verdicts, states and spaced(states), ", ".join(values) or None))
    head = ("game", *(_TITLES[name] for name in names), "states", "value")
    return table(cells, head, right=(len(names) + 1,))


def _hidden_solution(solution: HiddenSolution) -> list[str]:
    """Format the value under best play, or the reason why it is unknown."""
    lines = ["", f"{'value':18} {f'({solution.method})' if solution.bounds else '?'}"]
    if solution.value is not None:
        lines += [f"    {role}: {float(value):.6g} ({value})" for role, value in solution.value.items()]
    elif solution.estimate is not None:
        lines += [f"    {role}: {estimate:.9g}" for role, estimate in solution.estimate.items()]
    elif solution.bounds is not None:
        for role, (low, high) in solution.bounds.items():
            lines.append(f"    {role}: {float(low):.9g} to {float(high):.9g}")
    return lines + (_wrapped(solution.reason) if solution.reason else [])


def _report(analysis: Analysis, file: str) -> str:
    lines = [analysis.game.name, ""]
    for name, verdict in analysis.properties.items():
        lines += _property(_TITLES[name], verdict, file)
    counts = analysis.counts
    if counts is not None:
        lines += ["", *_counts(counts)]
    if analysis.solution is not None:
        lines += ["", *_solution(analysis.solution)]
    if analysis.observations:
        lines += ["", "remarks"]
        for observation in analysis.observations:
            lines += _wrapped(f"{observation.kind}: {observation.text}")
    return "\n".join(lines)


def _solution(solution: Solution) -> list[str]:
    """Format the values, the first moves and the best line."""

    def shown(values: dict[str, float]) -> str:
        return ", ".join(f"{role} {value:g}" for role, value in values.items())

    lines = []
    if solution.value is not None:
        lines.append(f"{'value':18} {shown(solution.value)} ({solution.method})")
    if solution.guaranteed and solution.guaranteed != solution.value:
        lines.append(f"{'can be forced':18} {shown(solution.guaranteed)} ({solution.method})")
    if solution.mixed:
        lines += _wrapped(f"in {count(solution.mixed, 'state')} a best choice has to be mixed")
    if solution.ties:
        lines += _wrapped(
            f"in {count(solution.ties, 'state')} another best move would change the goal values of others"
        )
    for note in solution.notes:
        lines += _wrapped(note)
    if solution.root:
        role = solution.root[0][0]
        by_value: dict[float, list[str]] = {}
        for _, move, value in solution.root:
            by_value.setdefault(value[role], []).append(move)
        lines.append(f"first moves of {role}")
        for number, moves in by_value.items():
            some = ", ".join(moves[:8]) + (f", ... {len(moves) - 8} more" if len(moves) > 8 else "")
            lines += _wrapped(f"{number:g}: {some}")
    if solution.line:
        lines.append(f"best play ({count(len(solution.line), 'step')})")
        chosen = "; ".join(", ".join(joint) for joint in solution.line[:_LONG_LINE])
        lines += _wrapped(chosen + ("; ..." if len(solution.line) > _LONG_LINE else ""))
    return lines


def _property(title: str, verdict: Verdict, file: str) -> list[str]:
    """Format one verdict: a line with the answer, then the evidence."""
    word, colour = _SIGNS[verdict.answer]
    sign = click.style(f"{word:4}", fg=colour, bold=True) if wants_color(sys.stdout) else f"{word:4}"
    method = verdict.method + (", checked by the rules" if verdict.checked else "")
    lines = [f"{title:18} {sign} {f'({method})' if verdict.is_known else ''}".rstrip()]
    if verdict.roles:
        if verdict.is_known and all(inner.answer != verdict.answer for inner in verdict.roles.values()):
            lines += _wrapped(verdict.reason)
        for role, inner in verdict.roles.items():
            lines += _wrapped(f"{role}: {_SIGNS[inner.answer][0]}, {inner.reason}")
            if inner.witness is not None:
                lines += _witness(inner.witness, file)
    else:
        lines += _wrapped(verdict.reason)
        if verdict.witness is not None:
            lines += _witness(verdict.witness, file)
    for role, reading in verdict.details.get("sequence", {}).items():
        if verdict.roles[role].answer == "proved" and reading["verdict"] != "unknown":
            lines += _wrapped(f"{role}, with actions fixed in advance: {reading['reason']}")
            if reading.get("actions"):
                lines += _wrapped("; ".join(reading["actions"]), indent=8)
    return lines


def _wrapped(text: str, indent: int = 4) -> list[str]:
    blank = " " * indent
    width = max(40, terminal_width())
    return textwrap.wrap(text, width, initial_indent=blank, subsequent_indent=blank + "  ")


def _witness(witness: Witness, file: str) -> list[str]:
    if len(witness.moves) > _LONG_LINE:
        return _wrapped(f"(a line of {len(witness.moves)} joint moves: see --json)", indent=6)
    if not witness.moves:
        return _wrapped("(in the initial state)", indent=6)
    return [f"      {witness.as_command(file)}"]


def _counts(counts: dict[str, object]) -> list[str]:
    def number(value: object) -> str:
        return spaced(value) if isinstance(value, int) else str(value)

    lines = [
        f"{'states':18} {number(counts['states'])}, {number(counts['terminal_states'])} of them terminal",
        f"{'transitions':18} {number(counts['transitions'])}",
    ]
    if "plays" in counts:
        lines.append(
            f"{'plays':18} {number(counts['plays'])}, of {number(counts['longest_play'])} steps at most"
        )
    profile = counts["by_depth"]
    assert isinstance(profile, list)
    shown = " ".join(map(str, profile[:24])) + (" ..." if len(profile) > 24 else "")
    lines += textwrap.wrap(
        f"{'states by depth':18} {shown}", max(40, terminal_width()), subsequent_indent=" " * 19
    )
    return lines
