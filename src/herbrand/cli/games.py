"""`herbrand games`: the games that come with herbrand."""

from __future__ import annotations

import textwrap
from typing import Any

import click

from herbrand import games
from herbrand.cli.files import BUNDLED
from herbrand.cli.output import as_json as write_json
from herbrand.cli.output import result, terminal_width

__all__ = ["command"]


@click.command("games")
@click.argument("name", required=False, type=BUNDLED)
@click.option("--json", "as_json", is_flag=True, help="Write JSON.")
@click.option("--rules", is_flag=True, help="Write the rulesheet of NAME itself.")
def command(name: str | None, as_json: bool, rules: bool) -> None:
    """List the bundled games, or describe one.

    Every command takes the name of a bundled game for FILE.
    """
    if name is None:
        if rules:
            raise click.UsageError("--rules needs the name of a game")
        entries = [games.info(each) for each in games.names()]
        if as_json:
            write_json(entries)
        else:
            result(_list(entries))
    elif rules:
        result(games.text(name), newline=False)
    elif as_json:
        write_json(games.info(name))
    else:
        result(_page(games.info(name)))


def _list(entries: list[dict[str, Any]]) -> str:
    """One game a line: name, title, how many play."""
    width = max(len(entry["name"]) for entry in entries)
    title = max(len(entry["title"]) for entry in entries)
    lines = []
    for entry in entries:
        number = len(entry["roles"])
        lines.append(
            f"{entry['name']:{width}}  {entry['title']:{title}}  {number} role{'s' if number > 1 else ''}"
        )
    return "\n".join(lines)


def _page(entry: dict[str, Any]) -> str:
    """Everything the manifest says about one game."""
    width = min(terminal_width(), 100)
    lines = [f"{entry['title']} ({entry['name']})", ""]
    lines += textwrap.wrap(entry["description"], width)
    lines += ["", f"roles     {', '.join(entry['roles'])}"]
    if entry["features"]:
        lines.append(f"features  {', '.join(entry['features'])}")
    lines += textwrap.wrap(f"rules     {entry['rules_source']}", width, subsequent_indent=" " * 10)
    if entry["perft"]:
        lines += ["", "joint move sequences by length:"]
        lines += [f"  {row['depth']:>2}  {row['states']:,}".replace(",", " ") for row in entry["perft"]]
    if entry["known"]:
        lines += ["", "known values:"]
        for known in entry["known"]:
            lines += textwrap.wrap(f"  {known['fact']}: {known['value']}", width, subsequent_indent=" " * 4)
    return "\n".join(lines)
