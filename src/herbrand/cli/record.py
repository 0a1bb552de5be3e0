"""`herbrand record`: list, verify, sign, purge, export and import match records."""

from __future__ import annotations

import json
import re
import time
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from herbrand.cli.options import JSON, OUTPUT_FILE, engine_option
from herbrand.cli.output import count, remark, result, table, write_json
from herbrand.cli.sources import OF_GAME, SOURCE, is_database, records_in

if TYPE_CHECKING:
    from herbrand.match.records import MatchRecord
    from herbrand.match.records.verifier import Verification

__all__ = ["command"]

_IDS = click.option("--id", "ids", metavar="ID", multiple=True, help="Only this match; may be repeated.")


@click.group("record")
def command() -> None:
    """List, verify, sign, purge, export and import match records.

    `herbrand match --record DB` and `herbrand tournament --record DB` create records; DB is an SQLite
    database.
    """


@command.command("list")
@click.argument("database", metavar="DB", type=SOURCE)
@JSON
def list_(database: str, *, as_json: bool) -> None:
    """List the matches of a database."""
    from herbrand.match.records import Store

    with Store(database, write=False) as store:
        rows = store.summaries()
    if as_json:
        write_json(rows)
        return
    head = ("match", "game", "started", "steps", "problems", "result")
    result(table(map(_summary, rows), head, right=(3, 4)))
    remark(count(len(rows), "match"))


def _summary(row: dict[str, Any]) -> tuple[object, ...]:
    seats = [seat for seat in row["seats"] if seat["player"] is not None]
    if row["status"] == "completed":
        ending = ", ".join(
            f"{seat['player']} ({seat['role']}) {'-' if seat['goal'] is None else seat['goal']}"
            for seat in seats
        )
    else:
        players = ", ".join(f"{seat['player']} ({seat['role']})" for seat in seats)
        ending = f"{'running' if row['status'] == 'running' else row['reason']}: {players}"
    started = "?"
    if isinstance(row["started"], int | float):
        started = time.strftime("%Y-%m-%d %H:%M", time.localtime(row["started"]))
    return row["id"], row["game"], started, row["steps"], row["problems"], ending


@command.command("verify")
@click.argument("sources", metavar="DB|JSON", type=SOURCE, nargs=-1, required=True)
@_IDS
@OF_GAME
@engine_option("auto", "rules", "network", "naive")
@click.option("--key", metavar="HEX", help="Require a signature with this public key.")
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
    """Replay matches by the rules and report inconsistencies.

    Checks legal moves, answers and their substitutes, chance, percepts, states, the end, goals, scrambled
    names and signatures, and in a database its pages, indexes and digests. Exit status 1 if a record is
    inconsistent or the database is damaged.
    """
    from herbrand.match.records.verifier import Verification, Verifier

    verifier = Verifier(engine=engine, public_key=key)
    rows: list[dict[str, Any]] = []
    matches = steps = without_digest = 0
    for source in sources:
        if is_database(source):
            verifications = verifier.verify_database(source, ids)
        else:
            records = records_in(source, ids, game)
            verifications = (Verification(record.id, verifier.verify(record), record) for record in records)
        for verification in verifications:
            rows.append(_verification_row(verification))
            matches += verification.record is not None
            without_digest += is_database(source) and not (verification.has_digest or verification.findings)
            steps += 0 if verification.record is None else len(verification.record.moves)
            if not as_json:
                for finding in verification.findings:
                    result(f"{verification.name}: {finding}")
    if without_digest:
        remark(
            f"{count(without_digest, 'match')} recorded before databases had digests: a changed time or"
            " message may go unnoticed"
        )
    bad = sum(1 for row in rows if row["findings"])
    if as_json:
        write_json(rows)
    elif bad:
        result(f"wrong: {bad} of {count(len(rows), 'record')}")
    else:
        result(f"ok: {count(matches, 'match')}, {count(steps, 'step')}")
    if bad:
        ctx.exit(1)


def _verification_row(verification: Verification) -> dict[str, Any]:
    record = verification.record
    return {
        "id": verification.name,
        "game": record and record.game,
        "status": record and record.status,
        "steps": len(record.moves) if record else 0,
        "digest": verification.has_digest,
        "signed": record is not None and record.signature is not None,
        "findings": [{"step": finding.step, "text": finding.text} for finding in verification.findings],
    }


@command.command("export")
@click.argument("database", metavar="DB", type=SOURCE)
@_IDS
@click.option(
    "--format",
    "form",
    type=click.Choice(["herbrand", "ggp-base"]),
    default="herbrand",
    help="The complete record, or the format of ggp-base.",
)
@click.option(
    "--to", "folder", metavar="FOLDER", type=click.Path(file_okay=False), help="Write a file for each match."
)
@click.option("--url", metavar="URL", help="The address of the game, for ggp-base.")
def export(database: str, ids: tuple[str, ...], form: str, folder: str | None, url: str | None) -> None:
    """Write matches as JSON: a single match as an object, several as a list."""
    from herbrand.match.records.document import write_document
    from herbrand.match.records.ggpbase import write_ggpbase
    from herbrand.runtime.files import write_atomically

    def document(record: MatchRecord) -> dict[str, Any]:
        return write_document(record) if form == "herbrand" else write_ggpbase(record, url=url)

    records = records_in(database, ids)
    if folder is None:
        documents = [document(record) for record in records]
        write_json(documents[0] if len(documents) == 1 and len(ids) <= 1 else documents)
        return
    Path(folder).mkdir(parents=True, exist_ok=True)
    written = 0
    for record in records:
        name = re.sub(r"[^A-Za-z0-9_.-]", "_", record.id).lstrip(".") or "match"
        text = json.dumps(document(record), indent=1, ensure_ascii=False)
        write_atomically(Path(folder, f"{name}.json"), text + "\n")
        written += 1
    remark(f"wrote {count(written, 'match')} to {folder}")


@command.command("import")
@click.argument("database", metavar="DB", type=OUTPUT_FILE)
@click.argument("sources", metavar="JSON|DB", type=SOURCE, nargs=-1, required=True)
@_IDS
@OF_GAME
@click.option("--unverified", is_flag=True, help="Import records without verification.")
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
    """Import matches from JSON files (of herbrand or ggp-base) and other databases.

    Records are verified; inconsistent ones are skipped, with exit status 1.
    """
    from herbrand.match.records import RecordError, Store
    from herbrand.match.records.verifier import Verifier

    verifier = Verifier()
    imported = skipped = 0
    with Store(database) as store:
        for source in sources:
            for record in records_in(source, ids, game):
                findings = [] if unverified else verifier.verify(record)
                problems = [f"{record.id}: {finding}" for finding in findings]
                if not problems:
                    try:
                        store.save(record)
                    except RecordError as error:
                        problems = [str(error)]
                for problem in problems:
                    remark(f"{source}: {problem}")
                imported += not problems
                skipped += bool(problems)
    result(f"imported {count(imported, 'match')}{f', skipped {skipped}' if skipped else ''}")
    if skipped:
        ctx.exit(1)


@command.command("workers")
@click.argument("database", metavar="DB", type=SOURCE)
@JSON
def workers(database: str, *, as_json: bool) -> None:
    """List who played the matches of tournaments: host and process."""
    from herbrand.match.records import Store
    from herbrand.match.records.workers import workers as results_of

    with Store(database, write=False) as store:
        results = results_of(store)
    if as_json:
        write_json([asdict(worker) for worker in results])
        return
    rows = [(worker.name, len(worker.matches), len(worker.purged)) for worker in results]
    result(table(rows, ("worker", "matches", "purged"), right=(1, 2)))


@command.command("purge")
@click.argument("database", metavar="DB", type=SOURCE)
@click.option(
    "--worker", metavar="NAME", required=True, help="HOST/PROCESS, or HOST for all workers of a computer."
)
@click.option("--reason", metavar="TEXT", default="purged", help="Kept with the records.")
def purge(database: str, worker: str, reason: str) -> None:
    """Take back all matches that a worker played.

    They no longer count, and `herbrand tournament --resume` plays them again; the database keeps their
    records apart.
    """
    from herbrand.match.records import RecordError, Store
    from herbrand.match.records.workers import purge as purge_results
    from herbrand.match.records.workers import workers as results_of

    with Store(database, create=False) as store:
        names = [one.name for one in results_of(store)]
        if not any(name == worker or name.startswith(f"{worker}/") for name in names):
            raise RecordError(f"no worker `{worker}` in `{database}` (`herbrand record workers` lists them)")
        matches = purge_results(store, worker, reason)
    result(f"purged {count(len(matches), 'match')} of {worker}")


@command.command("keygen")
@click.argument("file", metavar="KEY", type=OUTPUT_FILE)
def keygen(file: str) -> None:
    """Generate a key pair: write the private key to a file, print the public key."""
    from herbrand.match.keys import make_key

    result(make_key(file))


@command.command("sign")
@click.argument("database", metavar="DB", type=SOURCE)
@click.option("--key", "key", metavar="KEY", type=SOURCE, required=True, help="The file of the private key.")
@_IDS
def sign(database: str, key: str, ids: tuple[str, ...]) -> None:
    """Sign finished matches."""
    from herbrand.match.keys import PrivateKey
    from herbrand.match.records import Store
    from herbrand.match.records.signing import sign as sign_record

    with Store(database, create=False) as store:
        names = list(ids) or [name for name in store.ids() if name not in store.ids(status="running")]
        for name in names:
            store.sign(name, sign_record(store.load_intact(name), key))
    result(f"signed {count(len(names), 'match')} with {PrivateKey(key).public}")
