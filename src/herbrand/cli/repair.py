"""`herbrand repair`: the smallest edit after which a game ends, is playable and can be won."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from herbrand.cli.files import FILE, NOTATION, read_game
from herbrand.cli.options import JSON
from herbrand.cli.output import count, progress_bar, remark, result, write_json
from herbrand.cli.rewrite import rewrite, unified

if TYPE_CHECKING:
    from herbrand.analyse.verdict import Verdict, Witness
    from herbrand.repair import Repair, RepairSearch

__all__ = ["command"]

_MOVES = 12
"""Steps of a play that are printed."""


@click.command("repair")
@click.argument("file", type=FILE)
@NOTATION
@click.option("--write", is_flag=True, help="Edit the file; else the edit is shown only.")
@click.option(
    "--property",
    "properties",
    multiple=True,
    type=click.Choice(("termination", "playability", "weak_winnability", "goals")),
    help="What the repaired game should have (repeatable; all of them if not given).",
)
@click.option("--win", type=click.IntRange(1, 100), default=100, help="Goal value that counts as winning.")
@click.option("--like", "reference", metavar="OTHER", type=FILE, help="A game that it should play like.")
@click.option(
    "--trace",
    "traces",
    multiple=True,
    type=click.Path(dir_okay=False, path_type=Path),
    help="A trace of recorded matches that it should have (repeatable).",
)
@click.option("--edits", type=click.IntRange(1, 2), default=2, help="Maximum number of edits.")
@click.option("--seconds", type=click.FloatRange(min=1), default=60.0, help="Time limit in seconds.")
@click.option("--seed", type=int, default=0, help="Determines the random games.")
@JSON
@click.pass_context
def command(
    ctx: click.Context,
    file: str,
    notation: str,
    write: bool,
    properties: tuple[str, ...],
    win: int,
    reference: str | None,
    traces: tuple[Path, ...],
    edits: int,
    seconds: float,
    seed: int,
    as_json: bool,
) -> None:
    """Look for the smallest edit that repairs a game.

    The edited game ends, leaves every role a legal move until it does, can be won by every role, and has one
    goal value for every role at each end; each of these is proved from the rules where the time allows it.
    With --like or --trace it also plays like another game, or has recorded matches. Among the smallest edits,
    one that restores a regularity of the rules is preferred: it is a suggestion, not necessarily what was
    meant.

    Exits with 0 if nothing is wrong or an edit repairs the game, 1 if none was found, and 2 if the game
    cannot be read.
    """
    from herbrand.repair import PROPERTIES, edited_text, plays_recorded, repair
    from herbrand.runtime.limits import seconds_left

    game = read_game(file, notation)
    if write and game.tree.notation == "ggdl":
        raise click.UsageError("a file in GGDL cannot be edited; --write needs another notation")
    with progress_bar(None, f"repairing {game.name}") as update:
        search = repair(
            game,
            properties=properties or PROPERTIES,
            win=win,
            reference=None if reference is None else read_game(reference, notation),
            plays=[play for path in traces for play in plays_recorded(path)],
            most_edits=edits,
            seconds=min(0.9 * seconds, seconds_left()),  # the rest is for writing the results
            seed=seed,
            progress=None if update is None else lambda _, done, of: update(done, of),
        )
    best = search.repairs[0] if search.repairs else None
    before = game.tree.source.text
    after = edited_text(game.tree, best.edits) if best is not None else before
    if as_json:
        write_json({**search.as_json(), "text": after if best is not None else None})
    else:
        _report(search, best, "" if write else unified(before, after, game.tree.source.name))
    if write and best is not None:
        rewrite(file, after)
        remark(f"{file}: changed")
    ctx.exit(0 if best is not None or not search.is_needed else 1)


def _report(search: RepairSearch, best: Repair | None, diff: str) -> None:
    from herbrand.repair import SENTENCES

    name = search.game.name
    if not search.is_needed:
        result(f"{name}: nothing to repair")
        return
    for check in search.errors:
        result(f"{name}: error {check}")
    for fault, verdict in search.faults.items():
        result(f"{name}: {SENTENCES[fault][0]}: {_shown(verdict)}")
    if search.difference is not None:
        result(f"{name}: it should play otherwise: {search.difference}")
    tried = f"{count(search.tried, 'edit')} of {search.edits} tried in {search.seconds:.0f} s"
    if best is None:
        result(f"no edit found that repairs it: {tried}")
        return
    result("")
    if diff:
        result(diff, newline=False)
    else:
        for edit in best.edits:
            result("\n".join(map(str, edit.rules)) or "a statement is removed")
    result("")
    for name, verdict in best.verdicts.items():
        how = f" ({verdict.method})" if verdict.answer == "proved" else ""
        result(f"{'proved' if how else 'not refuted':11}  {SENTENCES[name][1]}{how}")
    if len(best.edits) > 1:
        smaller = "no single edit repairs it" if search.is_minimal else "fewer may repair it as well"
        result(f"{count(len(best.edits), 'edit')}, {smaller}; {tried}")
    elif best.edits[0].kind == "limit":
        result(f"a limit of steps, since no small edit was found; {tried}")
    else:
        result(f"1 edit; {tried}")


def _shown(verdict: Verdict) -> str:
    witness: Witness | None = verdict.witness
    for of_role in verdict.roles.values():
        if of_role.answer == "refuted" and not verdict.reason:
            return of_role.reason
    if witness is None or not witness.moves:
        return verdict.reason
    moves = "; ".join(" ".join(joint) for joint in witness.moves[:_MOVES])
    more = f"; ... {len(witness.moves) - _MOVES} more" if len(witness.moves) > _MOVES else ""
    return f"{verdict.reason}\n  {moves}{more}"
