"""Where records of matches come from on the command line: databases and JSON files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from herbrand.cli.files import FILE, read_game

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from herbrand.match.records import MatchRecord, RecordError

__all__ = ["OF_GAME", "SOURCE", "is_database", "records_in"]

SOURCE = click.Path(exists=True, dir_okay=False)
OF_GAME = click.option(
    "--game", metavar="FILE", type=FILE, help="The rules, which records of ggp-base do not hold."
)


def is_database(path: str) -> bool:
    """Whether a file is an SQLite database."""
    with Path(path).open("rb") as file:
        return file.read(16) == b"SQLite format 3\0"


def records_in(
    path: str,
    ids: Sequence[str] = (),
    game: str | None = None,
    *,
    damaged: Callable[[str, RecordError], None] | None = None,
) -> Iterator[MatchRecord]:
    """Read the records of a file one by one; only those with these ids if there are any.

    A JSON file has one record or a list of them; `game` is the rulesheet for those of ggp-base. Raises
    `RecordError` for what is none and for ids that are not there; with `damaged`, that is told of each match
    in a database that cannot be read, and the others follow.
    """
    from herbrand.match.records import RecordError, Store
    from herbrand.match.records.document import read_document

    if is_database(path):
        with Store(path, create=False) as store:
            known = store.ids()
            for name in ids or known:
                try:
                    record = store.load(name)
                except RecordError as error:
                    if damaged is None or name not in known:
                        raise
                    damaged(name, error)
                    continue
                yield record
        return
    try:
        data = json.loads(Path(path).read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise RecordError(f"`{path}` is neither a database of records nor JSON ({error})") from error
    played = None if game is None else read_game(game)
    missing = set(ids)
    for entry in data if isinstance(data, list) else [data]:
        try:
            record = read_document(entry, played)
        except RecordError as error:
            raise RecordError(f"`{path}`: {error}") from error
        if ids and record.id not in ids:
            continue
        missing.discard(record.id)
        yield record
    if missing:
        raise RecordError(f"no match `{min(missing)}` in `{path}`")
