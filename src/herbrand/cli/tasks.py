"""`herbrand tasks`: questions about games for language models, and grades of replies."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from herbrand.cli.files import FILE, read_game
from herbrand.cli.options import json_option
from herbrand.cli.output import count, remark, result, table, write_json

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["command"]

LINES = click.Path(exists=True, dir_okay=False, allow_dash=True)


@click.group("tasks")
def command() -> None:
    """Generate questions about games for language models, and grade replies.

    Tasks and replies are JSON lines.  A reply has the "id" of its task and "reply", the text of the model.
    """


@command.command("make")
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=FILE)
@click.option(
    "--kind",
    "kinds",
    metavar="KIND",
    multiple=True,
    type=click.Choice(
        [
            "legal",
            "next",
            "steps",
            "terminal",
            "goals",
            "best",
            "win",
            "knows",
            "bug",
            "same",
            "repair",
            "translate",
        ]
    ),
    help="Only this kind; by default the first five of legal, next, steps, terminal, goals, best, win, "
    "knows, bug, same, repair, translate, which fit every game.",
)
@click.option("-n", "number", default=10, type=click.IntRange(1), help="Tasks of each kind.")
@click.option("--seed", default=0, help="Makes the tasks reproducible.")
@click.option("--steps", default=3, type=click.IntRange(1), help="Maximum number of joint moves to follow.")
@click.option("--scramble", is_flag=True, help="Replace names by meaningless ones.")
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
    from herbrand.envs.language import QUICK_KINDS, make_tasks

    total = 0
    for file in files:
        tasks = make_tasks(
            read_game(file),
            kinds=kinds or QUICK_KINDS,
            count=number,
            seed=seed,
            steps=steps,
            scrambled=scramble,
            rules=not no_rules,
        )
        for task in tasks:
            result(json.dumps(task))
        total += len(tasks)
    remark(count(total, "task"))


@command.command("grade")
@click.argument("tasks", metavar="TASKS", type=LINES)
@click.argument("replies", metavar="REPLIES", type=LINES)
@click.option("--each", is_flag=True, help="Print a JSON object for each reply instead of the table.")
@json_option("Print the table as JSON.")
def grade_(tasks: str, replies: str, *, each: bool, as_json: bool) -> None:
    """Compare replies with the answers of tasks."""
    from herbrand.envs.language import grade, summary

    by_id = {task["id"]: task for task in _lines(tasks, ("id", "answer", "game", "kind", "scrambled"))}
    grades, unmatched = [], 0
    for reply in _lines(replies, ("id", "reply")):
        if reply["id"] in by_id:
            grades.append(grade(by_id[reply["id"]], reply["reply"]))
        else:
            unmatched += 1
    if unmatched:
        remark(f"warning: {count(unmatched, 'line')} of {replies} with an unknown task id")
    if each:
        for graded in grades:
            result(json.dumps(graded.as_json()))
        return
    rows = summary(list(by_id.values()), grades)
    if as_json:
        write_json(rows)
        return
    cells = [
        (
            *(row["game"], row["kind"], "scrambled" if row["scrambled"] else "own"),
            *(row["correct"], row["tasks"], f"{row['score']:.2f}"),
        )
        for row in rows
    ]
    result(table(cells, ("game", "kind", "names", "right", "of tasks", "score"), right=(3, 4, 5)))


def _lines(file: str, keys: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    """Yield the objects of a JSON lines file; fail for invalid lines and missing keys."""
    text = sys.stdin.read() if file == "-" else Path(file).read_text(encoding="utf-8")
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        try:
            value = json.loads(line)
        except ValueError as error:
            raise click.UsageError(f"{file}:{number}: not JSON: {error}") from error
        missing = [key for key in keys if not isinstance(value, dict) or key not in value]
        if missing:
            raise click.UsageError(f'{file}:{number}: no "{missing[0]}" in this line')
        yield value
