"""`herbrand record`: list, verify, sign, export and import records of matches."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from herbrand.cli.options import JSON, engine_option
from herbrand.cli.output import count, remark, result, write_json
from herbrand.cli.sources import OF_GAME, SOURCE, records_in

if TYPE_CHECKING:
    from collections.abc import Sequence

    from herbrand.match.records import MatchRecord, RecordError
    from herbrand.match.records.verifier import Finding

__all__ = ["command"]

DATABASE = click.Path(dir_okay=False)
_IDS = click.option("--id", "ids", metavar="ID", multiple=True, help="Only this match; may be repeated.")


@click.group("record")
def command() -> None:
    """List, verify, sign, export and import records of matches.

    Records are made by `herbrand match --record DB` and `herbrand tournament --record DB`; DB is an SQLite
    database.
    """


@command.command("list")
@click.argument("database", metavar="DB", type=SOURCE)
@JSON
def list_(database: str, *, as_json: bool) -> None:
    """List the matches of a database."""
    from herbrand.match.records import Store

    with Store(database, create=False) as store:
        rows = store.summaries()
    if as_json:
        write_json(rows)
        return
    lines: list[tuple[str, ...]] = [("match", "game", "begun", "steps", "problems", "how it ended")]
    lines += [_summary(row) for row in rows]
    widths = [max(len(line[at]) for line in lines) for at in range(5)]
    for line in lines:
        start = "  ".join(
            f"{word:>{width}}" if at in (3, 4) else f"{word:{width}}"
            for at, (word, width) in enumerate(zip(line, widths, strict=False))
        )
        result(f"{start}  {line[5]}".rstrip())
    remark(count(len(rows), "match"))


def _summary(row: dict[str, Any]) -> tuple[str, ...]:
    seats = [seat for seat in row["seats"] if seat["player"] is not None]
    if row["status"] == "completed":
        ending = ", ".join(
            f"{seat['player']} ({seat['role']}) {'-' if seat['goal'] is None else seat['goal']}"
            for seat in seats
        )
    else:
        who = ", ".join(f"{seat['player']} ({seat['role']})" for seat in seats)
        ending = f"{'not ended' if row['status'] == 'running' else row['reason']}: {who}"
    begun = "?"
    if isinstance(row["started"], int | float):
        begun = time.strftime("%Y-%m-%d %H:%M", time.localtime(row["started"]))
    return row["id"], row["game"], begun, str(row["steps"]), str(row["problems"]), ending


@command.command("verify")
@click.argument("sources", metavar="DB|JSON", type=SOURCE, nargs=-1, required=True)
@_IDS
@OF_GAME
@engine_option("auto", "rules", "network", "naive")
@click.option("--key", metavar="HEX", help="Demand that each record is signed with this public key.")
@JSON
@click.pass_context
def verify(
    ctx: click.Context,
    sources: tuple[str, ...],
    ids: tuple[str, ...],
    game: str | None,
    engine: str,
    key: str | None,
    *,
    as_json: bool,
) -> None:
    """Play every move again by the rules and check that all that is recorded can be true.

    Checked are legal moves, what players answered and what replaced it, chance, percepts, states, the
    end, the goals, scrambled names and signatures. Exit status 1 when anything does not fit.
    """
    from herbrand.match.records.verifier import Finding, Verifier

    verifier = Verifier(engine=engine, public_key=key)
    rows: list[dict[str, Any]] = []
    steps = 0

    def tell(name: str, found: Sequence[Finding], record: MatchRecord | None = None) -> None:
        rows.append(
            {
                "id": name,
                "game": record and record.game,
                "status": record and record.status,
                "steps": len(record.moves) if record else 0,
                "signed": record is not None and record.signature is not None,
                "findings": [{"step": finding.step, "text": finding.text} for finding in found],
            }
        )
        if not as_json:
            for finding in found:
                result(f"{name}: {finding}")

    def damaged(name: str, error: RecordError) -> None:
        tell(name, [Finding(None, str(error))])

    for source in sources:
        for record in records_in(source, ids, game, damaged=damaged):
            steps += len(record.moves)
            tell(record.id, verifier.verify(record), record)
    bad = sum(1 for row in rows if row["findings"])
    if as_json:
        write_json(rows)
    elif bad:
        result(f"wrong: {bad} of {count(len(rows), 'match')}")
    else:
        result(f"ok: {count(len(rows), 'match')}, {count(steps, 'step')}")
    if bad:
        ctx.exit(1)


@command.command("export")
@click.argument("database", metavar="DB", type=SOURCE)
@_IDS
@click.option(
    "--format",
    "form",
    type=click.Choice(["herbrand", "ggp-base"]),
    default="herbrand",
    show_default=True,
    help="With everything, or as ggp-base writes matches.",
)
@click.option(
    "--to", "folder", metavar="FOLDER", type=click.Path(file_okay=False), help="A file for each match."
)
@click.option("--url", metavar="URL", help="The address of the game, for ggp-base.")
def export(database: str, ids: tuple[str, ...], form: str, folder: str | None, url: str | None) -> None:
    """Write matches as JSON: one match as itself, several as a list."""
    from herbrand.match.records.document import write_document
    from herbrand.match.records.ggpbase import write_ggpbase

    def document(record: MatchRecord) -> dict[str, Any]:
        return write_document(record) if form == "herbrand" else write_ggpbase(record, url=url)

    records = records_in(database, ids)
    if folder is None:
        found = [document(record) for record in records]
        write_json(found[0] if len(found) == 1 and len(ids) <= 1 else found)
        return
    Path(folder).mkdir(parents=True, exist_ok=True)
    written = 0
    for record in records:
        name = re.sub(r"[^A-Za-z0-9_.-]", "_", record.id).lstrip(".") or "match"
        text = json.dumps(document(record), indent=1, ensure_ascii=False)
        Path(folder, f"{name}.json").write_text(text + "\n", encoding="utf-8")
        written += 1
    remark(f"wrote {count(written, 'match')} to {folder}")


@command.command("import")
@click.argument("database", metavar="DB", type=DATABASE)
@click.argument("sources", metavar="JSON|DB", type=SOURCE, nargs=-1, required=True)
@_IDS
@OF_GAME
@click.option("--unverified", is_flag=True, help="Take also what does not fit the rules.")
@click.pass_context
def import_(
    ctx: click.Context,
    database: str,
    sources: tuple[str, ...],
    ids: tuple[str, ...],
    game: str | None,
    *,
    unverified: bool,
) -> None:
    """Take matches from JSON files, ours or those of ggp-base, and from other databases.

    Each is verified; what does not fit the rules is left out, and makes the exit status 1.
    """
    from herbrand.match.records import RecordError, Store
    from herbrand.match.records.verifier import Verifier

    verifier = Verifier()
    taken = refused = 0
    with Store(database) as store:
        for source in sources:
            for record in records_in(source, ids, game):
                found = [] if unverified else verifier.verify(record)
                for finding in found:
                    remark(f"{source}: {record.id}: {finding}")
                if not found:
                    try:
                        store.save(record)
                        taken += 1
                        continue
                    except RecordError as error:
                        remark(f"{source}: {error}")
                refused += 1
    result(f"took {count(taken, 'match')}{f', left out {refused}' if refused else ''}")
    if refused:
        ctx.exit(1)


@command.command("keygen")
@click.argument("file", metavar="KEY", type=DATABASE)
def keygen(file: str) -> None:
    """Make a key for signing: the private one goes into a file, the public one is printed."""
    from herbrand.match.records.signing import make_key

    result(make_key(file))


@command.command("sign")
@click.argument("database", metavar="DB", type=SOURCE)
@click.option("--key", "key", metavar="KEY", type=SOURCE, required=True, help="The file of the private key.")
@_IDS
def sign(database: str, key: str, ids: tuple[str, ...]) -> None:
    """Sign matches that have ended."""
    from herbrand.match.records import Store
    from herbrand.match.records.signing import public_key
    from herbrand.match.records.signing import sign as signed

    with Store(database, create=False) as store:
        names = list(ids) or [name for name in store.ids() if name not in store.ids(status="running")]
        for name in names:
            store.sign(name, signed(store.load(name), key))
    result(f"signed {count(len(names), 'match')} with {public_key(key)}")
