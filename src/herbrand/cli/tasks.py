"""`herbrand tasks`: questions about games for language models, and grades of replies."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from herbrand.cli.files import FILE, read_game
from herbrand.cli.options import POSITIVE, json_option
from herbrand.cli.output import count, progress_bar, remark, result, table, write_json

if TYPE_CHECKING:
    from collections.abc import Iterator

    from herbrand.errors import GameError

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
            "write",
        ]
    ),
    help="Only this kind, of legal, next, steps, terminal, goals, which fit every game and are the default, "
    "best, win, knows, bug, same, repair, translate, write.",
)
@click.option("-n", "number", default=10, type=click.IntRange(1), help="Tasks of each kind.")
@click.option("--seed", default=0, help="Makes the tasks reproducible.")
@click.option("--steps", default=3, type=click.IntRange(1), help="Maximum number of joint moves to follow.")
@click.option(
    "--horizon",
    "horizons",
    metavar="N",
    multiple=True,
    type=click.IntRange(1, 200),
    help="Ask questions of the kind steps about exactly N joint moves; can be repeated.",
)
@click.option("--scramble", is_flag=True, help="Replace names by meaningless ones.")
@click.option("--no-rules", is_flag=True, help="Leave the rules out of the prompts.")
@click.pass_context
def make(
    ctx: click.Context,
    files: tuple[str, ...],
    kinds: tuple[str, ...],
    *,
    number: int,
    seed: int,
    steps: int,
    horizons: tuple[int, ...],
    scramble: bool,
    no_rules: bool,
) -> None:
    """Print tasks about games, with their answers.

    Exits with 1 if a game does not fit a kind; the other tasks are made nevertheless.
    """
    from herbrand.envs.language import QUICK_KINDS, make_tasks

    total, missing = 0, []
    for file in files:
        game = read_game(file)
        game.require_playable()

        def unfit(kind: str, error: GameError, name: str = game.name) -> None:
            remark(f"{name}: no task of the kind {kind}: {error}")
            missing.append(kind)

        tasks = make_tasks(
            game,
            kinds=kinds or QUICK_KINDS,
            count=number,
            seed=seed,
            steps=steps,
            horizons=horizons,
            scrambled=scramble,
            rules=not no_rules,
            unfit=unfit,
        )
        for task in tasks:
            result(json.dumps(task))
        total += len(tasks)
    remark(count(total, "task"))
    if missing:
        ctx.exit(1)


@command.command("ask")
@click.argument("tasks", metavar="TASKS", type=LINES)
@click.option(
    "--address", required=True, metavar="URL", help="Of the model, such as http://127.0.0.1:8000/v1."
)
@click.option("--model", required=True, metavar="NAME", help="The name of the model at that address.")
@click.option(
    "-o",
    "--output",
    required=True,
    type=click.Path(dir_okay=False),
    help="Append the replies to this file; tasks that have one there are not asked again.",
)
@click.option(
    "--key-variable",
    metavar="NAME",
    default="OPENAI_API_KEY",
    help="The environment variable with the key, if one is needed.",
)
@click.option("--jobs", default=4, type=click.IntRange(1, 64), help="Requests at once.")
@click.option("--timeout", default=300.0, type=POSITIVE, metavar="SECONDS", help="For each reply.")
@click.option("--temperature", type=click.FloatRange(0, 2), help="Of the model; its own if not given.")
def ask(
    tasks: str,
    *,
    address: str,
    model: str,
    output: str,
    key_variable: str,
    jobs: int,
    timeout: float,
    temperature: float | None,
) -> None:
    """Send tasks to a language model, and keep its replies.

    The model is behind an address that speaks the chat interface of OpenAI's servers, as that of most
    programs that run models.
    """
    from herbrand.envs.language.asking import ask_model

    file = Path(output)
    done = {line["id"] for line in _lines(output, ("id", "reply"))} if file.exists() else set()
    left = [task for task in _lines(tasks, ("id", "prompt")) if task["id"] not in done]
    replies = ask_model(
        left,
        address,
        model,
        key=os.environ.get(key_variable, ""),
        jobs=jobs,
        timeout=timeout,
        temperature=temperature,
    )
    bar = progress_bar(len(left), "asking")
    try:
        with file.open("a", encoding="utf-8") as lines:
            for number, reply in enumerate(replies, 1):
                lines.write(json.dumps(reply) + "\n")
                lines.flush()
                if bar is not None:
                    bar[0](number, len(left))
    finally:
        if bar is not None:
            bar[1]()
    remark(f"{count(len(left), 'reply')}" + (f", {len(done)} from before" if done else ""))


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
            *(row["game"], row["kind"], row["horizon"] or "", "scrambled" if row["scrambled"] else "own"),
            *(row["correct"], row["tasks"], f"{row['score']:.2f}"),
        )
        for row in rows
    ]
    result(table(cells, ("game", "kind", "moves", "names", "right", "of tasks", "score"), right=(2, 4, 5, 6)))


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
