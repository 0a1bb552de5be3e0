"""`herbrand certify`: verdicts as files that other programs check."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from herbrand.analyse.proofs.observation import KINDS
from herbrand.analyse.verdict import PROPERTIES
from herbrand.cli.files import FILE, NOTATION, read_game
from herbrand.cli.options import FOLDER, INPUT_FILE, JSON, POSITIVE
from herbrand.cli.output import count, result, table, write_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from herbrand.analyse.certification import CertifiedVerdict
    from herbrand.analyse.certification.folder import CertifiedRemark

__all__ = ["command"]

_SIGNS: Final = {True: "accepted", False: "REFUSED", None: "-"}


@click.command("certify")
@click.argument("file", metavar="FILE", type=FILE)
@NOTATION
@click.option(
    "--property",
    "name",
    type=click.Choice([name for name in PROPERTIES if name != "well_formed"]),
    help="The property to decide.",
)
@click.option(
    "--strategy",
    metavar="FILE",
    type=INPUT_FILE,
    help="Instead of a property: what the strategies in a file of `herbrand solve -o` prove.",
)
@click.option(
    "--remarks",
    metavar="KIND",
    type=click.Choice(["all", *KINDS]),
    help="Instead of a property: the remarks of one kind, as `herbrand check --deep` names it, or `all`.",
)
@click.option(
    "-o", "--output", "folder", metavar="FOLDER", type=FOLDER, help="A new or empty folder for the files."
)
@click.option(
    "--verify",
    "received",
    metavar="FOLDER",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Check a certificate of others against these rules.",
)
@click.option("--budget", type=POSITIVE, default=60.0, metavar="SECONDS", help="Approximate time limit.")
@click.option("--no-check", is_flag=True, help="Only write the files.")
@JSON
@click.pass_context
def command(
    ctx: click.Context,
    file: str,
    notation: str,
    name: str | None,
    strategy: Path | None,
    remarks: str | None,
    folder: Path | None,
    received: Path | None,
    budget: float,
    no_check: bool,
    as_json: bool,
) -> None:
    """Decide a property, and write files by which other programs check the verdict.

    Invariants and bounds become questions for clingo or a SAT solver, which they must find unsatisfiable;
    plays, strategies and claims about all states become data for a short program in SWI-Prolog. `sh
    FOLDER/check.sh` asks all of them without herbrand. Exits with 1 if some file is refused or the property
    is not decided.

    With `--remarks`, does the same for remarks, such as on rules that never fire: each is certified by one
    or more proofs, which have folders of their own. Remarks that cannot have a certificate, such as
    statistics of random games, are listed with the reason.

    With `--verify`, writes the files of a certificate anew, by your rules and its evidence, and has them
    checked if they are equal to those in its folder.
    """
    from herbrand.analyse.budget import Budget
    from herbrand.analyse.certification import certify, certify_remarks, certify_strategy, verify_certificate
    from herbrand.analyse.solving.strategy import read_strategy
    from herbrand.runtime.limits import seconds_left

    chosen = [option is not None for option in (name, strategy, remarks, received)]
    if sum(chosen) != 1 or (folder is None) != (received is not None):
        raise click.UsageError("give --output with --property, --strategy or --remarks, or else --verify")
    game = read_game(file, notation)
    seconds = min(0.95 * budget, seconds_left())
    limits = Budget(seconds, megabytes=game.limits.megabytes)
    out, check = Path(folder or ""), not no_check
    if received is not None:
        certified = verify_certificate(game, received, budget=limits)
    elif strategy is not None:
        certified = certify_strategy(game, read_strategy(strategy), out, budget=limits, check=check)
    elif remarks is not None:
        kind = None if remarks == "all" else remarks
        certified = certify_remarks(game, out, kind, budget=limits, check=check)
    else:
        certified = certify(game, str(name), out, budget=limits, check=check)
    if as_json:
        write_json(certified.as_json())
    else:
        result(_report(certified))
    ctx.exit(1 if certified.missing or certified.accepted is False else 0)


def _report(certified: CertifiedVerdict) -> str:
    verdict = certified.verdict
    lines = [" ".join(f"{certified.game}: {certified.name} {verdict.answer}".split())]
    if verdict.reason:
        lines.append(f"  {verdict.reason}")
    if certified.remarks:
        lines += ["", _remarks(certified.remarks)]
    if not certified.files:
        return "\n".join([*lines, certified.missing])
    rows = [
        (
            file.name,
            f"{file.program} {file.version}".strip(),
            _SIGNS[file.outcome.accepted] if file.outcome.accepted is not None else file.outcome.said,
            file.outcome.proof or "-",
            file.means,
        )
        for file in certified.files
    ]
    lines += ["", table(rows, ("file", "checked by", "answer", "proof", "conclusion"))]
    lines += ["", f"{count(len(rows), 'file')} in {certified.folder}; check.sh there asks again"]
    if certified.missing:
        lines.append(certified.missing)
    return "\n".join(lines)


def _remarks(remarks: Sequence[CertifiedRemark]) -> str:
    rows = []
    for one in remarks:
        proofs = ", ".join(dict.fromkeys(name.partition("/")[0] for name in one.files))
        rows.append((_SIGNS[one.accepted], proofs or one.missing, f"{one.kind}: {one.text}"))
    return table(rows, ("answer", "shown by", "remark"))
