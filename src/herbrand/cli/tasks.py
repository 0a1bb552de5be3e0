"""`herbrand tasks`: questions about games for language models, and grades of replies."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from herbrand.cli.budget import is_collection
from herbrand.cli.files import FILE, read_game
from herbrand.cli.listening import listening, serve_app
from herbrand.cli.options import FOLDER, OUTPUT_FILE, POSITIVE, json_option, together
from herbrand.cli.output import count, progress_bar, remark, result, table, write_json
from herbrand.cli.workers import RESULTS, failures, run_each, worker_options

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from herbrand.cli.options import Command
    from herbrand.game import Game

__all__ = ["command"]

QUICK_KINDS = ("legal", "next", "steps", "terminal", "goals")
OTHER_KINDS = ("best", "win", "knows", "bug", "same", "repair", "translate", "write")
LINES = click.Path(exists=True, dir_okay=False, allow_dash=True)


def _model_options(*, required: bool) -> Callable[[Command], Command]:
    """Return the options for a model behind an address."""
    return together(
        click.option(
            "--address",
            required=required,
            metavar="URL",
            help="Of the model, such as http://127.0.0.1:8000/v1.",
        ),
        click.option(
            "--model", required=required, metavar="NAME", help="The name of the model at that address."
        ),
        click.option(
            "--key-variable",
            metavar="NAME",
            default="OPENAI_API_KEY",
            help="The environment variable with the key, if one is needed.",
        ),
        click.option("--jobs", default=4, type=click.IntRange(1, 64), help="Requests at once."),
        click.option("--timeout", default=300.0, type=POSITIVE, metavar="SECONDS", help="For each reply."),
        click.option(
            "--temperature", type=click.FloatRange(0, 2), help="Of the model; its own if not given."
        ),
    )


@click.group("tasks")
def command() -> None:
    """Generate questions about games for language models, and grade replies.

    Tasks and replies are JSON lines.  A reply has the "id" of its task and "reply", the text of the model.
    """


@command.command("make")
@click.argument("files", metavar="[FILE]...", nargs=-1, type=FILE)
@click.option(
    "--evolved",
    default=0,
    type=click.IntRange(0),
    metavar="N",
    help="Also ask about N new games, composed by the seed.",
)
@click.option(
    "--kind",
    "kinds",
    metavar="KIND",
    multiple=True,
    type=click.Choice(QUICK_KINDS + OTHER_KINDS),
    help=f"Only this kind, of {', '.join(QUICK_KINDS)}, which fit every game and are the default, "
    f"{', '.join(OTHER_KINDS)}.",
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
@worker_options("Number of processes, each of which makes the tasks of one game at a time.")
@RESULTS
@click.pass_context
def make(
    ctx: click.Context,
    /,
    files: tuple[str, ...],
    kinds: tuple[str, ...],
    *,
    evolved: int,
    number: int,
    seed: int,
    steps: int,
    horizons: tuple[int, ...],
    scramble: bool,
    no_rules: bool,
    **how: Any,
) -> None:
    """Print tasks about games, with their answers.

    Exits with 1 if a game does not fit a kind; the other tasks are made nevertheless.
    """
    if not files and not evolved:
        raise click.UsageError("no games: name some, or give --evolved N")
    options = {
        "kinds": kinds or QUICK_KINDS,
        "count": number,
        "seed": seed,
        "steps": steps,
        "horizons": horizons,
        "scrambled": scramble,
        "rules": not no_rules,
    }
    games: list[Game | str] = [*map(read_game, files), *(f"{seed} {one}" for one in range(evolved))]
    total, status, missing = 0, 0, False
    about: Iterator[dict[str, Any]] = (_about(game, options) for game in games)
    if is_collection((), **how):
        labels = [game if isinstance(game, str) else game.name for game in games]
        done = run_each("tasks", labels, [(_about, (game, options)) for game in games], **how)
        about = (each.value for each in done if not each.failed)
        status = failures(done)
    for each in about:
        for kind, message in each["unfit"]:
            remark(f"{each['game']}: no task of the kind {kind}: {message}")
            missing = True
        for task in each["tasks"]:
            result(json.dumps(task))
        total += len(each["tasks"])
    remark(count(total, "task"))
    ctx.exit(status or int(missing))


def _about(game: Game | str, options: dict[str, Any]) -> dict[str, Any]:
    """Return tasks about a game, or about the new one of a seed, and the kinds that it does not fit."""
    from herbrand.envs.language import make_tasks
    from herbrand.oracle import evolved_game

    if isinstance(game, str):
        game = evolved_game(game)
    game.require_playable()
    unfit: list[tuple[str, str]] = []
    tasks = make_tasks(game, **options, unfit=lambda kind, error: unfit.append((kind, str(error))))
    return {"game": game.name, "tasks": tasks, "unfit": unfit}


@command.command("ask")
@click.argument("tasks", metavar="TASKS", type=LINES)
@click.option(
    "-o",
    "--output",
    required=True,
    type=OUTPUT_FILE,
    help="Append the replies to this file; tasks that have one there are not asked again.",
)
@_model_options(required=True)
def ask(tasks: str, *, output: str, **model: Any) -> None:
    """Send tasks to a language model, and store its replies.

    The model is reached at an address with the chat interface of OpenAI's servers, which most programs that
    serve models offer.
    """
    _ask(list(_lines(tasks, ("id", "prompt"))), Path(output), **model)


def _ask(tasks: list[dict[str, Any]], file: Path, *, key_variable: str, **model: Any) -> None:
    """Append the replies of a model to a file; tasks that have one there are not asked."""
    from herbrand.envs.language.asking import ask_model

    done = {line["id"] for line in _lines(str(file), ("id", "reply"))} if file.exists() else set()
    left = [task for task in tasks if task["id"] not in done]
    replies = ask_model(left, key=os.environ.get(key_variable, ""), **model)
    with progress_bar(len(left), "asking") as update, file.open("a", encoding="utf-8") as lines:
        for number, reply in enumerate(replies, 1):
            lines.write(json.dumps(reply) + "\n")
            lines.flush()
            if update is not None:
                update(number, len(left))
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
            *(row["game"], row["kind"], row["horizon"] or "", _names(row)),
            *(row["correct"], row["tasks"], f"{row['score']:.2f}"),
        )
        for row in rows
    ]
    result(table(cells, ("game", "kind", "moves", "names", "right", "of tasks", "score"), right=(2, 4, 5, 6)))


@command.command("study")
@click.argument("folder", metavar="FOLDER", type=FOLDER)
@click.option(
    "-n", "number", default=3, type=click.IntRange(1), help="Tasks of each game, question and choice."
)
@click.option("--seed", default=0, help="Makes the tasks reproducible.")
@_model_options(required=False)
@json_option("Print the tables as JSON.")
def study(
    folder: Path,
    *,
    number: int,
    seed: int,
    as_json: bool,
    **model: Any,
) -> None:
    """Repeat a study of models that simulate games.

    Asks for legal moves, next states and states after 1, 2, 3, 5 and 10 joint moves in 35 games, with their
    own names and with meaningless ones. FOLDER gets tasks.jsonl and features.json, and replies.jsonl when a
    model is given; an interrupted study is resumed. The tables show how often the model was right, by
    question and by game, and which features of games correlate with its score.
    """
    from herbrand.envs.language import grade, summary
    from herbrand.oracle.study import correlations

    if (model["address"] is None) != (model["model"] is None):
        raise click.UsageError("--address and --model are given together")
    folder.mkdir(parents=True, exist_ok=True)
    tasks = _study_tasks(folder, number, seed)
    replies = folder / "replies.jsonl"
    if model["address"] is not None:
        _ask(tasks, replies, **model)
    elif not replies.exists():
        remark(
            f"{count(len(tasks), 'task')} in {folder / 'tasks.jsonl'}; give --address and --model to ask one"
        )
        return
    by_id = {task["id"]: task for task in tasks}
    lines = _lines(str(replies), ("id", "reply"))
    grades = [grade(by_id[line["id"]], line["reply"]) for line in lines if line["id"] in by_id]
    questions = summary(tasks, grades, ("kind", "scrambled", "horizon"))
    questions.sort(key=lambda row: (row["kind"], row["scrambled"], row["horizon"] or 0))
    games = summary(tasks, grades, ("game",))
    features = json.loads((folder / "features.json").read_text(encoding="utf-8"))
    related = correlations({row["game"]: row["score"] for row in games}, features)
    if as_json:
        write_json({"questions": questions, "games": games, "features": dict(related)})
        return
    numbers = ("right", "of tasks", "share", "score")
    rows = [(row["kind"], row["horizon"] or "", _names(row), *_numbers(row)) for row in questions]
    result(table(rows, ("question", "moves", "names", *numbers), right=(1, 3, 4, 5, 6)))
    result("")
    result(table([(row["game"], *_numbers(row)) for row in games], ("game", *numbers), right=(1, 2, 3, 4)))
    if related:
        result("")
        shown = [(name, f"{value:+.2f}") for name, value in related[:10]]
        result(table(shown, ("feature", "rank correlation with the score"), right=(1,)))


def _study_tasks(folder: Path, number: int, seed: int) -> list[dict[str, Any]]:
    """Return the tasks of a study, which are made and written to its folder if they are not there."""
    from herbrand.game import load
    from herbrand.oracle.features import features
    from herbrand.oracle.study import GAMES, study_tasks
    from herbrand.runtime.files import write_atomically

    file = folder / "tasks.jsonl"
    if not file.exists():
        with progress_bar(len(GAMES), "making tasks") as update:
            tasks = list(study_tasks(games=GAMES, count=number, seed=seed, progress=update))
        measured = {name: features(load(name)) for name in GAMES}
        write_atomically(folder / "features.json", json.dumps(measured, indent=1) + "\n")
        write_atomically(file, "".join(json.dumps(task) + "\n" for task in tasks))
    return list(_lines(str(file), ("id", "prompt", "answer")))


def _names(row: dict[str, Any]) -> str:
    return "scrambled" if row["scrambled"] else "own"


def _numbers(row: dict[str, Any]) -> tuple[Any, ...]:
    return row["correct"], row["tasks"], f"{row['accuracy']:.3f}", f"{row['score']:.3f}"


@command.command("serve")
@click.argument("games", metavar="[FILE]...", nargs=-1)
@click.option("--play", is_flag=True, help="Serve matches against a program instead of questions.")
@click.option("--kind", "kinds", metavar="KIND", multiple=True, help="Only this kind of questions.")
@click.option("--opponent", metavar="PLAYER", default="random", help="The program of --play.")
@click.option("--scramble", is_flag=True, help="Replace names by meaningless ones in questions.")
@click.option("--no-rules", is_flag=True, help="Leave the rules out of what models are told.")
@click.option("--no-moves", is_flag=True, help="Leave the legal moves out of what --play tells.")
@click.option("--seed", default=0, help="Makes tasks and matches reproducible.")
@click.option("--port", type=click.IntRange(0, 65535), default=8000, help="Of 127.0.0.1; 0 for any free one.")
def serve(
    games: tuple[str, ...],
    *,
    play: bool,
    kinds: tuple[str, ...],
    opponent: str,
    scramble: bool,
    no_rules: bool,
    no_moves: bool,
    seed: int,
    port: int,
) -> None:
    """Serve tasks as an environment of OpenEnv.

    FILE are games; without any they are new ones, composed as they are needed. It serves until it is
    interrupted, and needs herbrand[openenv].
    """
    from herbrand.oracle.openenv import make_app
    from herbrand.oracle.stream import EVOLVED

    choices: dict[str, Any] = {"games": games or (EVOLVED,), "seed": seed, "rules": not no_rules}
    if play:
        choices |= {"opponent": opponent, "moves": not no_moves}
    else:
        choices |= {"scrambled": scramble} | ({"kinds": kinds} if kinds else {})
    app = make_app(play=play, **choices)
    with listening(port, "--port") as (listener, address):
        remark(f"serving {address} (Ctrl+C to stop)")
        serve_app(app, listener)


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
