"""`herbrand players`: list the available players."""

from __future__ import annotations

import click

from herbrand.cli.options import JSON
from herbrand.cli.output import remark, result, table, write_json

__all__ = ["command"]


@click.command("players")
@JSON
def command(*, as_json: bool) -> None:
    """List the available players.

    Packages add players by entry points in the group herbrand.players.
    """
    from herbrand.play import players
    from herbrand.play.registry import NoSuchPlayer

    rows = []
    for info in players().values():
        try:
            rows.append({"name": info.name, "about": info.about, "package": info.package})
        except NoSuchPlayer as error:
            remark(f"warning: {error}")
    if as_json:
        write_json(rows)
        return
    origins = ["" if row["package"] == "herbrand" else f" ({row['package']})" for row in rows]
    result(table([(row["name"], row["about"] + origin) for row, origin in zip(rows, origins, strict=True)]))
