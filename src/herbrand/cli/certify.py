"""`herbrand certify`: verdicts as files that other programs check."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from herbrand.analyse.verdict import PROPERTIES
from herbrand.cli.files import FILE, NOTATION, read_game
from herbrand.cli.options import JSON, POSITIVE
from herbrand.cli.output import count, result, table, write_json

if TYPE_CHECKING:
    from herbrand.analyse.certification import CertifiedVerdict

__all__ = ["command"]


@click.command("certify")
@click.argument("file", metavar="FILE", type=FILE)
@NOTATION
@click.option(
    "--property",
    "name",
    type=click.Choice([name for name in PROPERTIES if name != "well_formed"]),
    required=True,
    help="The property to decide.",
)
@click.option(
    "-o",
    "--output",
    "folder",
    required=True,
    metavar="FOLDER",
    type=click.Path(file_okay=False, path_type=Path),
    help="A new or empty folder for the files.",
)
@click.option("--budget", type=POSITIVE, default=60.0, metavar="SECONDS", help="Approximate time limit.")
@click.option("--no-check", is_flag=True, help="Only write the files.")
@JSON
@click.pass_context
def command(
    ctx: click.Context,
    file: str,
    notation: str,
    name: str,
    folder: Path,
    budget: float,
    no_check: bool,
    as_json: bool,
) -> None:
    """Decide a property, and write files by which other programs check the verdict.

    Invariants and bounds become questions for clingo or a SAT solver, which they must find unsatisfiable;
    plays, strategies and claims about all states become data for a short program in SWI-Prolog. `sh
    FOLDER/check.sh` asks all of them without herbrand. Exits with 1 if some file is refused or the property
    is not decided.
    """
    from herbrand.analyse.budget import Budget
    from herbrand.analyse.certification import certify
    from herbrand.runtime.limits import seconds_left

    game = read_game(file, notation)
    seconds = min(0.95 * budget, seconds_left())
    certified = certify(
        game, name, folder, budget=Budget(seconds, megabytes=game.limits.megabytes), check=not no_check
    )
    if as_json:
        write_json(certified.as_json())
    else:
        result(_report(certified))
    ctx.exit(1 if certified.missing or certified.accepted is False else 0)


def _report(certified: CertifiedVerdict) -> str:
    verdict = certified.verdict
    lines = [f"{certified.game}: {certified.name} {verdict.answer}"]
    if verdict.reason:
        lines.append(f"  {verdict.reason}")
    if certified.missing:
        return "\n".join([*lines, certified.missing])
    signs = {True: "accepted", False: "REFUSED", None: "-"}
    rows = [
        (
            file.name,
            f"{file.program} {file.version}".strip(),
            signs[file.outcome.accepted] if file.outcome.accepted is not None else file.outcome.said,
            file.means,
        )
        for file in certified.files
    ]
    return "\n".join(
        [
            *lines,
            "",
            table(rows, ("file", "checked by", "answer", "what it shows")),
            "",
            f"{count(len(rows), 'file')} in {certified.folder}; check.sh there asks again",
        ]
    )
