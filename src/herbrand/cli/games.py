"""`herbrand games`: the bundled games and those of a folder."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

import click

from herbrand import games
from herbrand.cli.files import BundledName
from herbrand.cli.options import JSON
from herbrand.cli.output import count, result, spaced, table, terminal_width, write_json
from herbrand.errors import HerbrandError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from herbrand.games.collection import Collection, Entry

__all__ = ["command"]


class _Name(BundledName):
    """The name of a bundled game, or of one in the folder given with --from."""

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the canonical name; with --from, any name."""
        if ctx is not None and ctx.params.get("origin") is not None:
            return value
        return super().convert(value, param, ctx)


NAME = _Name()


@click.command("games")
@click.argument("name", required=False, type=NAME)
@JSON
@click.option("--rules", is_flag=True, help="Write the rulesheet of NAME.")
@click.option(
    "--from",
    "origin",
    metavar="DIR",
    is_eager=True,
    help="Read this folder of games, with or without the METADATA of a game repository, or the rulesheet at "
    "this URL.",
)
def command(name: str | None, as_json: bool, rules: bool, origin: str | None) -> None:
    """List the bundled games, or describe one.

    Every command accepts the name of a bundled game as FILE.  In a folder of games NAME is the newest version
    and NAME/v1 a specific one.
    """
    if origin is not None:
        _external(origin, name, as_json=as_json, rules=rules)
    elif name is None:
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


def _external(origin: str, name: str | None, *, as_json: bool, rules: bool) -> None:
    """List or describe the games of a folder, or print the rulesheet at a URL."""
    from herbrand.games.collection import fetch, read_collection

    if "://" in origin:
        if name is not None:
            raise click.UsageError("--from URL allows no NAME")
        title, text = fetch(origin)
        if as_json:
            write_json({"name": title, "url": origin, "rules": text})
        else:
            result(text, newline=False)
        return
    collection = read_collection(origin)
    if name is None:
        if rules:
            raise click.UsageError("--rules needs the name of a game")
        if as_json:
            write_json([entry.as_json() for entry in collection.entries])
        else:
            result(_table(collection))
        return
    entry = collection.entry(name)
    if as_json:
        write_json(entry.as_json())
    elif rules:
        if entry.rulesheet is None:
            raise HerbrandError(f"`{entry.name}` has no rules: {entry.problem}")
        result(entry.rulesheet.read_text(encoding="utf-8", errors="replace"), newline=False)
    else:
        result("\n".join(_facts(entry, collection.versions(entry.name))))


def _table(collection: Collection) -> str:
    """Format a folder, one game per line: name, title, version, problem."""
    rows = []
    for entry in (collection.versions(name)[-1] for name in collection.names()):
        version = f"v{entry.version}" if entry.version else ""
        problem = f"({entry.problem})" if entry.problem else ""
        rows.append((entry.name, entry.title, version, problem))
    return table(rows)


def _facts(entry: Entry, versions: tuple[Entry, ...]) -> Iterator[str]:
    yield f"{entry.title} ({entry.name})"
    yield ""
    if entry.description is not None:
        text = entry.description.read_text(encoding="utf-8", errors="replace")
        yield from textwrap.wrap(" ".join(text.split()), min(terminal_width(), 100))
        yield ""
    yield f"rules       {entry.rulesheet or entry.problem}"
    if entry.stylesheet:
        yield f"stylesheet  {entry.stylesheet}"
    yield f"version     {entry.version} of {', '.join(str(other.version) for other in versions)}"


def _list(entries: list[dict[str, Any]]) -> str:
    """Format the bundled games, one per line: name, title, number of roles."""
    return table([(entry["name"], entry["title"], count(len(entry["roles"]), "role")) for entry in entries])


def _page(entry: dict[str, Any]) -> str:
    """Format the metadata of one game."""
    width = min(terminal_width(), 100)
    lines = [f"{entry['title']} ({entry['name']})", ""]
    lines += textwrap.wrap(entry["description"], width)
    lines += ["", f"roles     {', '.join(entry['roles'])}"]
    if entry["features"]:
        lines.append(f"features  {', '.join(entry['features'])}")
    lines += textwrap.wrap(f"rules     {entry['rules_source']}", width, subsequent_indent=" " * 10)
    if entry["perft"]:
        lines += ["", "joint move sequences by length:"]
        lines += [f"  {row['depth']:>2}  {spaced(row['states'])}" for row in entry["perft"]]
    if entry["known"]:
        lines += ["", "known values:"]
        for value in entry["known"]:
            lines += textwrap.wrap(f"  {value['fact']}: {value['value']}", width, subsequent_indent=" " * 4)
    return "\n".join(lines)
