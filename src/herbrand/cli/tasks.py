"""`herbrand tasks`: questions about games for language models, and how good the replies are."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from herbrand.cli.files import FILE, read_game
from herbrand.cli.options import json_option
from herbrand.cli.output import count, remark, result, write_json

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["command"]

LINES = click.Path(exists=True, dir_okay=False, allow_dash=True)


@click.group("tasks")
def command() -> None:
    """Make questions about games for language models, and grade replies.

    Tasks and replies are JSON, one object a line.  A reply has the "id" of its task and "reply", the text
    that a model wrote.
    """


@command.command("make")
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=FILE)
@click.option(
    "--kind", "kinds", multiple=True, type=click.Choice(["legal", "next", "steps"]), help="Only this kind."
)
@click.option(
    "-n", "number", default=10, show_default=True, type=click.IntRange(1), help="Tasks of each kind."
)
@click.option("--seed", default=0, show_default=True, help="The same seed gives the same tasks.")
@click.option(
    "--steps", default=3, show_default=True, type=click.IntRange(1), help="Most joint moves to follow."
)
@click.option("--scramble", is_flag=True, help="Under names that say nothing.")
@click.option("--no-rules", is_flag=True, help="Leave the rules out of the prompts.")
def make(
    files: tuple[str, ...],
    kinds: tuple[str, ...],
    *,
    number: int,
    seed: int,
    steps: int,
    scramble: bool,
    no_rules: bool,
) -> None:
    """Print tasks about games, with their answers."""
    from herbrand.envs.language import KINDS, make_tasks

    made = 0
    for file in files:
        tasks = make_tasks(
            read_game(file),
            kinds=kinds or KINDS,
            count=number,
            seed=seed,
            steps=steps,
            scrambled=scramble,
            rules=not no_rules,
        )
        for task in tasks:
            result(json.dumps(task))
        made += len(tasks)
    remark(count(made, "task"))


@command.command("grade")
@click.argument("tasks", metavar="TASKS", type=LINES)
@click.argument("replies", metavar="REPLIES", type=LINES)
@click.option("--each", is_flag=True, help="Print a JSON object for each reply instead of the table.")
@json_option("Print the table as JSON.")
def grade_(tasks: str, replies: str, *, each: bool, as_json: bool) -> None:
    """Compare replies with the answers of tasks."""
    from herbrand.envs.language import grade, summary

    known = {task["id"]: task for task in _lines(tasks, ("id", "answer", "game", "kind", "scrambled"))}
    grades, strange = [], 0
    for reply in _lines(replies, ("id", "reply")):
        if reply["id"] in known:
            grades.append(grade(known[reply["id"]], reply["reply"]))
        else:
            strange += 1
    if strange:
        remark(f"warning: {count(strange, 'line')} of {replies} with an id that no task has")
    if each:
        for one in grades:
            result(json.dumps(one.as_json()))
        return
    rows = summary(list(known.values()), grades)
    if as_json:
        write_json(rows)
        return
    width = max([len(row["game"]) for row in rows], default=4)
    result(f"{'game':{width}}  kind   names      right  of tasks")
    for row in rows:
        names = "scrambled" if row["scrambled"] else "own"
        result(f"{row['game']:{width}}  {row['kind']:5}  {names:9} {row['correct']:>6} {row['tasks']:>9}")


def _lines(file: str, keys: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    """The objects of a file, one a line; a line that is none, or lacks a key, is refused."""
    text = sys.stdin.read() if file == "-" else Path(file).read_text(encoding="utf-8")
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        try:
            found = json.loads(line)
        except ValueError as error:
            raise click.UsageError(f"{file}:{number}: not JSON: {error}") from error
        missing = [key for key in keys if not isinstance(found, dict) or key not in found]
        if missing:
            raise click.UsageError(f'{file}:{number}: no "{missing[0]}" in this line')
        yield found
