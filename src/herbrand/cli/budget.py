"""The options --memory and --seconds of commands, whose limits hold for all rules of games."""

from __future__ import annotations

import functools
import math
import os
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from herbrand.cli.options import time_limit
from herbrand.runtime.watchdog import watch

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from herbrand.runtime.limits import Limits

__all__ = ["BUDGETS", "TABLE", "CommandBudget", "given_limits", "is_collection", "with_budget"]


@dataclass(frozen=True, slots=True)
class CommandBudget:
    """The limits of a command."""

    megabytes: int = 2000
    """Default of --memory."""
    seconds: float | None = None
    """Default of --seconds; None for no limit."""
    time: str = "seconds"
    """The parameter that limits the time of the whole command; empty if --seconds means something else."""
    unit: float = 1.0
    """Seconds that 1 stands for in this parameter."""
    each: bool = False
    """Whether the limits are for each process of --jobs, and for each file of a collection."""


TABLE: Final[dict[str, dict[str, Any]]] = tomllib.loads(
    Path(__file__).with_name("commands.toml").read_text(encoding="utf-8")
)
"""The commands by name: their first line of help, and their entry in `BUDGETS`."""

BUDGETS: Final = {
    name: CommandBudget(**entry["budget"]) for name, entry in TABLE.items() if "budget" in entry
}
"""The limits of commands by name.  Servers limit each request; the other commands read no rules."""

_MEMORY: Final = "memory"
_GROUNDING: Final = 0.75
"""Share of the memory for grounding and building a network."""


def with_budget(command: click.Command, budget: CommandBudget) -> click.Command:
    """Add the options of a budget that a command does not have, and hold it to them; return the command."""
    if isinstance(command, click.Group):
        for name, inner in command.commands.items():
            command.commands[name] = with_budget(inner, budget)
        return command
    names = {parameter.name for parameter in command.params}
    place = next((i for i, p in enumerate(command.params) if p.name == "as_json"), len(command.params))
    rest, command.params = command.params[place:], command.params[:place]
    if _MEMORY not in names:
        _memory_limit(budget)(command)
    if budget.time and budget.time not in names:
        time_limit(budget.seconds)(command)
    added = tuple(option.name or "" for option in command.params[place:])
    command.params += rest
    assert command.callback is not None
    command.callback = _limited(command.callback, budget, added)
    return command


def is_collection(files: Sequence[str], *, jobs: object, cluster: object, results: object) -> bool:
    """Whether files are a collection: with a folder, or one of --jobs, --cluster and --results."""
    return any(Path(file).is_dir() for file in files) or any(
        option is not None for option in (jobs, cluster, results)
    )


def _memory_limit(budget: CommandBudget) -> Callable[[click.Command], click.Command]:
    whose = "for each process, " if budget.each else ""
    return click.option(
        "--memory",
        type=click.IntRange(min=100),
        default=budget.megabytes,
        metavar="MB",
        help=f"Memory limit in megabytes, {whose}child processes included (exit 3).",
    )


def _limited(
    callback: Callable[..., Any], budget: CommandBudget, added: tuple[str, ...]
) -> Callable[..., Any]:
    @functools.wraps(callback)
    def limited(*args: Any, **options: Any) -> Any:
        units = options.get(budget.time) if budget.time else None
        seconds = None if units is None else budget.unit * units
        megabytes = options[_MEMORY]
        if budget.each:
            how = {name: options.get(name) for name in ("jobs", "cluster", "results")}
            files, jobs = options.get("files"), how["jobs"]
            if files and (len(files) > 1 or is_collection(files, **how)):
                seconds, jobs = None, jobs or os.cpu_count() or 1
            megabytes *= 1 + (jobs or 0)
        own = {name: value for name, value in options.items() if name not in added}
        with watch(
            megabytes=megabytes,
            seconds=math.inf if seconds is None else seconds,
            memory_hint="--memory sets the limit",
            time_hint=f"--{budget.time} sets the limit",
        ):
            return callback(*args, **own)

    return limited


def given_limits() -> Limits:
    """Return the limits of games in the running command, within what --memory allows."""
    from herbrand.runtime.limits import DEFAULT, Limits

    ctx = click.get_current_context(silent=True)
    megabytes = None if ctx is None else ctx.params.get(_MEMORY)
    return DEFAULT if megabytes is None else Limits(megabytes=int(_GROUNDING * megabytes))
