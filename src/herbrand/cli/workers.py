"""The options --jobs, --cluster and --results, and collections of rulesheets whose files are tasks."""

from __future__ import annotations

import math
import os
import re
import time
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from herbrand.cli.budget import given_limits, is_collection
from herbrand.cli.files import STDIN, GameFile, given_parameters, read_tree
from herbrand.cli.options import together
from herbrand.cli.output import count, progress_bar, remark, result, write_json
from herbrand.runtime.watchdog import watch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from concurrent.futures import Executor

    from herbrand.cli.options import Command
    from herbrand.cli.output import Progress
    from herbrand.runtime.cluster import TaskProgress, TaskResult
    from herbrand.runtime.cluster.results import ResultFile
    from herbrand.runtime.limits import Limits

__all__ = [
    "RESULTS",
    "SHEETS",
    "failures",
    "going_on",
    "is_collection",
    "numbered",
    "run_collection",
    "run_each",
    "sheets_of",
    "worker_options",
    "workers",
]

_LINE_SECONDS = 10.0
"""Least seconds between lines of progress without a terminal."""


class _Sheets(GameFile):
    """An argument that may also be a folder of rulesheets."""

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return a folder as it is, else what FILE stands for."""
        return value if Path(value).is_dir() else super().convert(value, param, ctx)


SHEETS = _Sheets()
RESULTS = click.option(
    "--results",
    metavar="DB",
    type=click.Path(dir_okay=False),
    help="Write results to this SQLite file as they come; what has one there is not computed again.",
)


def worker_options(jobs: str, *names: str) -> Callable[[Command], Command]:
    """Return the options --jobs and --cluster; `jobs` is the help of the first, which may have more names."""
    return together(
        click.option("--jobs", *names, "jobs", type=click.IntRange(1), metavar="N", help=jobs),
        click.option(
            "--cluster",
            metavar="ADDRESS",
            help="Use the workers of this Dask scheduler, tcp://HOST:PORT or a scheduler file.",
        ),
    )


@contextmanager
def workers(jobs: int | None, cluster: str | None) -> Iterator[Executor | None]:
    """Yield the executor of --jobs and --cluster; None without both, for this process.

    A process may take the memory of --memory.
    """
    from herbrand.runtime.pool import WorkerPool

    if jobs is not None and cluster is not None:
        raise click.UsageError("--jobs is for this machine, --cluster for others: give one of them")
    executor: Executor | None = None
    if cluster is not None:
        from herbrand.runtime.cluster import connect

        executor = connect(cluster)
        for worker, reason in executor.refused.items():
            remark(f"worker {worker} is not used: {reason}; install the same herbrand there")
    elif jobs is not None:
        memory = click.get_current_context().params.get("memory")
        executor = WorkerPool(jobs, **({} if memory is None else {"megabytes": memory}))
    try:
        yield executor
    finally:
        if executor is not None:
            executor.shutdown(wait=False, cancel_futures=True)


def sheets_of(files: Sequence[str]) -> list[str]:
    """Return the rulesheets in folders, by name, and the other files as they are."""
    from herbrand import games

    sheets: list[str] = []
    for file in files:
        if Path(file).is_dir():
            inside = sorted(one for one in Path(file).iterdir() if one.suffix in games.ENDINGS)
            if not inside:
                raise click.UsageError(f"no rulesheet in the folder `{file}` ({', '.join(games.ENDINGS)})")
            sheets += map(str, inside)
        else:
            sheets.append(file)
    return sheets


def run_collection(
    command: str,
    files: Sequence[str],
    notation: str,
    function: Callable[..., Any],
    options: dict[str, Any],
    *,
    show: Callable[[list[Any]], str],
    as_json: bool,
    is_whole: Callable[[Any], bool] = lambda _: True,
    seconds: float | None = None,
    **how: Any,
) -> NoReturn:
    """Call `function(game, **options)` for the game of each file, as `run_each` does, and report the values.

    Each file has at most `seconds`.  `show` makes the table of the values, or an empty text.  Ends the
    command with the exit status of `failures`, or 3 if nothing failed but some value is not whole.
    """
    parameters, limits = given_parameters(), given_limits()
    sheets = sheets_of(files)
    calls = [
        (_call, (function, _text(file), notation, parameters, limits, seconds, options)) for file in sheets
    ]
    labels = ["stdin" if file == STDIN else Path(file).stem for file in sheets]
    done = run_each(command, labels, calls, **how)
    rows = [each.value for each in done if not each.failed]
    if as_json:
        write_json(rows)
    elif text := show(rows):
        result(text)
    click.get_current_context().exit(failures(done) or (0 if all(map(is_whole, rows)) else 3))


def run_each(
    command: str,
    labels: Sequence[str],
    calls: Sequence[tuple[Callable[..., Any], tuple[Any, ...]]],
    *,
    jobs: int | None,
    cluster: str | None,
    results: str | None,
) -> list[TaskResult]:
    """Have each call made by a worker, with the options of this module; return the results in order.

    Without --jobs and --cluster there is a process for each core, so that a rulesheet that takes too much
    costs its own result only.
    """
    from herbrand.runtime.cluster import Task, run_tasks

    names = numbered(re.sub(r"[^A-Za-z0-9_.]+", "-", label) for label in labels)
    tasks = [Task(f"{command}-{name}", *call) for name, call in zip(names, calls, strict=True)]
    if cluster is None and jobs is None:
        jobs = min(os.cpu_count() or 1, len(tasks))
    with (
        workers(jobs, cluster) as executor,
        going_on(command, results, "--results DB lets the next call resume") as file,
        progress_bar(len(tasks), command) as bar,
    ):
        return run_tasks(tasks, executor=executor, results=file, progress=_progress(command, bar))


@contextmanager
def going_on(command: str, results: str | None, hint: str = "") -> Iterator[ResultFile | None]:
    """Yield the file of --results; if the work is stopped, report that the same command resumes it.

    Without --results None is yielded, and a `hint` given instead, if there is one.
    """
    from herbrand.errors import BudgetExceeded
    from herbrand.runtime.cluster.results import ResultFile

    with ExitStack() as stack:
        file = None if results is None else stack.enter_context(ResultFile(results, f"herbrand {command}"))
        try:
            yield file
        except (KeyboardInterrupt, BudgetExceeded):
            again = hint if results is None else f"the same command resumes from {results}"
            if again:
                remark(again)
            raise


def _text(file: str) -> tuple[str, str]:
    """Return the text and the name of a file."""
    from herbrand.syntax.files import open_source

    source = read_tree(file).source if file == STDIN else open_source(file)[0]
    return source.text, source.name


def _call(
    function: Callable[..., Any],
    text: tuple[str, str],
    notation: str,
    parameters: dict[str, Any],
    limits: Limits,
    seconds: float | None,
    options: dict[str, Any],
) -> Any:
    """Read a game and call a function with it, in a worker."""
    from herbrand.game import Game
    from herbrand.syntax import read

    with watch(seconds=math.inf if seconds is None else seconds):
        game = Game(read(text[0], notation, text[1], parameters), limits=limits)
        return function(game, **options)


def failures(results: Sequence[TaskResult]) -> int:
    """Report the tasks that failed, and return the exit status: 3 if all of them exceeded a budget."""
    failed = [each for each in results if each.failed]
    for each in failed:
        remark(f"error: {each.name}: {each.error}")
    if failed:
        remark(f"{len(failed)} of {count(len(results), 'task')} failed")
    if all(each.kind == "BudgetExceeded" for each in failed):
        return 3 if failed else 0
    return 1


def numbered(names: Iterable[str]) -> list[str]:
    """Number names that occur again.

    >>> numbered(["nim", "lamp", "nim"])
    ['nim', 'lamp', 'nim-2']
    """
    unique: list[str] = []
    for name in names:
        new, number = name, 2
        while new in unique:
            new, number = f"{name}-{number}", number + 1
        unique.append(new)
    return unique


def _progress(description: str, bar: Progress | None) -> Callable[[TaskProgress], None]:
    """Return a function that shows progress: in the bar on a terminal, else by a line from time to time."""
    last = time.monotonic()

    def show(now: TaskProgress) -> None:
        nonlocal last
        text = description if now.latest is None else now.latest.name
        if now.left is not None and now.done < now.of:
            text += f", {_time(now.left)} left"
        if bar is not None:
            bar(now.done, now.of, text)
        elif now.latest is not None and (time.monotonic() - last > _LINE_SECONDS):
            last = time.monotonic()
            remark(f"{now.done:>{len(str(now.of))}} of {now.of}  {text}")

    return show


def _time(seconds: float) -> str:
    """Return about how long that is in words."""
    if seconds < 90:
        return f"about {seconds:.0f} s"
    if seconds < 5400:
        return f"about {seconds / 60:.0f} min"
    return f"about {seconds / 3600:.1f} h"
