"""The command group `herbrand`: imports commands on demand and sets the exit code."""

from __future__ import annotations

import contextlib
import os
import sys
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

import click

from herbrand import __version__
from herbrand.cli.budget import BUDGETS, TABLE, with_budget
from herbrand.cli.output import remark
from herbrand.errors import (
    BudgetExceeded,
    GameError,
    HerbrandError,
    InternalError,
    MissingExtra,
    MissingProgram,
)
from herbrand.runtime.watchdog import has_overrun

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["COMMANDS", "CommandGroup", "failure", "main"]

COMMANDS: Final[dict[str, str]] = {name: entry["help"] for name, entry in TABLE.items()}
"""Each command and its first line of help: `herbrand --help` imports none of them."""

GAME_HAS_ERRORS: Final = 1
WRONG_USE: Final = 2
BUDGET_SPENT: Final = 3
BUG: Final = 70
INTERRUPTED: Final = 130
PIPE_CLOSED: Final = 141


class CommandGroup(click.Group):
    """A group whose commands are modules of `herbrand.cli`, imported on demand."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the commands in the order of the table."""
        del ctx
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the module of a command and return it."""
        del ctx
        if cmd_name not in COMMANDS:
            return None
        return _command(cmd_name)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command; for an unknown one, fail with similar names."""
        name = args[0] if args else ""
        if name and name not in COMMANDS and not name.startswith("-"):
            from difflib import get_close_matches

            near = get_close_matches(name, COMMANDS, n=2, cutoff=0.5)
            hint = f" (did you mean {' or '.join(f'`{n}`' for n in near)}?)" if near else ""
            ctx.fail(f"no command `{name}`{hint}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands from the table, so that help starts fast."""
        del ctx
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; turn an expected failure into one line and an exit code."""
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
        except KeyboardInterrupt:
            _remark("interrupted")
            ctx.exit(INTERRUPTED)
        except BrokenPipeError:
            _close_output()
            ctx.exit(PIPE_CLOSED)
        except (HerbrandError, MemoryError) as error:
            ctx.exit(failure(error))
        except OSError as error:
            _remark(f"error: {describe(error)}")
            ctx.exit(WRONG_USE)
        return result


@cache
def _command(name: str) -> click.Command:
    """Import a command, which is held to its budget."""
    command: click.Command = import_module(f"herbrand.cli.{name}").command
    return with_budget(command, BUDGETS[name]) if name in BUDGETS else command


def failure(error: HerbrandError | MemoryError) -> int:
    """Print the error and return the exit code."""
    if isinstance(error, MemoryError):
        _remark("error: out of memory")
        return BUDGET_SPENT
    if isinstance(error, InternalError):
        _remark(f"internal error: {error}")
        return BUG
    if isinstance(error, GameError) and error.diagnostics:
        from herbrand.cli.output import count, render

        remark(render(error.diagnostics, "text", err=True).rstrip("\n"))
        _remark(f"error: the game is not playable: {count(len(error.diagnostics), 'error')} in the rules")
    else:
        _remark(f"error: {error}")
    if isinstance(error, BudgetExceeded):
        return BUDGET_SPENT
    return WRONG_USE if isinstance(error, MissingExtra | MissingProgram) else GAME_HAS_ERRORS


def describe(error: OSError) -> str:
    """Return in one line which file could not be used and why."""
    reason = error.strerror.lower() if error.strerror else str(error)
    return f"cannot use `{error.filename}`: {reason}" if error.filename else reason


def _remark(line: str) -> None:
    with contextlib.suppress(OSError):  # standard error may be closed
        remark(line)


def _close_output() -> None:
    """Redirect standard output to the null device, so that the interpreter's last flush succeeds."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _version(context: click.Context, _: click.Parameter, value: bool) -> None:
    """Handle `--version`, which ends the program."""
    if not value or context.resilient_parsing:
        return
    lines = [f"herbrand {__version__}"]
    if context.params.get("verbose"):
        from herbrand.cli.build_report import build_report

        lines += build_report()
    click.echo("\n".join(lines))
    context.exit()


@click.group(
    cls=CommandGroup,
    name="herbrand",
    context_settings={"help_option_names": ["-h", "--help"], "show_default": True},
    epilog="FILE is a path, the name of a bundled game, or - for standard input. "
    "Exit status: 0 success, 1 errors in the game or a difference found, 2 wrong usage, 3 budget exceeded.",
)
@click.option("--verbose", is_flag=True, is_eager=True, help="With --version: describe the platform, too.")
@click.option(
    "--version", is_flag=True, expose_value=False, callback=_version, help="Show the version and exit."
)
def cli(verbose: bool) -> None:
    """Check, convert, simulate and play games written in the Game Description Language."""
    if verbose:
        raise click.UsageError("--verbose goes with --version")


def main(args: Sequence[str] | None = None, prog_name: str | None = None) -> None:
    """Run the command line (`args`: those of the process by default) and raise `SystemExit`."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")  # for terminals without Unicode
    try:
        cli.main(args=args, prog_name=prog_name)
    except SystemExit as end:
        if has_overrun():  # the end of Python would wait for threads, which may go on for ever
            for stream in (sys.stdout, sys.stderr):
                with contextlib.suppress(OSError, ValueError):
                    stream.flush()
            os._exit(end.code if isinstance(end.code, int) else BUDGET_SPENT)
        raise
    except KeyboardInterrupt:
        _remark("interrupted")
        sys.exit(INTERRUPTED)
