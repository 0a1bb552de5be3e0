"""Reads match records from databases and JSON files for the commands."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from herbrand.cli.files import FILE, read_game

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from herbrand.match.records import MatchRecord

__all__ = ["OF_GAME", "SOURCE", "is_database", "records_in"]

SOURCE = click.Path(exists=True, dir_okay=False)
OF_GAME = click.option(
    "--game", metavar="FILE", type=FILE, help="The rules, for records of ggp-base, which do not contain them."
)


def is_database(path: str) -> bool:
    """Whether a file is an SQLite database."""
    with Path(path).open("rb") as file:
        return file.read(16) == b"SQLite format 3\0"


def records_in(path: str, ids: Sequence[str] = (), game: str | None = None) -> Iterator[MatchRecord]:
    """Yield the records of a file, all or those with the given ids.

    A JSON file has one record or a list of them; `game` is the rulesheet for records of ggp-base. Raises
    `RecordError` for invalid and damaged records, and for unknown ids.
    """
    from herbrand.match.records import RecordError, Store
    from herbrand.match.records.document import read_document

    if is_database(path):
        with Store(path, write=False) as store:
            for name in ids or store.ids():
                yield store.load_intact(name)
        return
    try:
        data = json.loads(Path(path).read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise RecordError(f"`{path}` is neither a database of records nor JSON ({error})") from error
    rules = None if game is None else read_game(game)
    missing = set(ids)
    for entry in data if isinstance(data, list) else [data]:
        try:
            record = read_document(entry, rules)
        except RecordError as error:
            raise RecordError(f"`{path}`: {error}") from error
        if ids and record.id not in ids:
            continue
        missing.discard(record.id)
        yield record
    if missing:
        raise RecordError(f"no match `{min(missing)}` in `{path}`")
