"""`herbrand explain`: explain a check."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem

from herbrand.cli.options import JSON
from herbrand.cli.output import result, table, write_json

if TYPE_CHECKING:
    from herbrand.check.catalogue import Check

__all__ = ["command", "find_check"]


def _complete(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete the names of the checks with their titles."""
    del ctx, param
    from herbrand.check.catalogue import CHECKS

    return [CompletionItem(n, help=check.title) for n, check in CHECKS.items() if n.startswith(incomplete)]


def find_check(name: str, option: str) -> Check:
    """Return a check by its name in an option; fail for an unknown one."""
    from herbrand.check.catalogue import UnknownCheckError, find

    try:
        return find(name)
    except UnknownCheckError as error:
        raise click.BadParameter(
            f"{error} (`herbrand explain --list` lists them)", param_hint=option
        ) from error


@click.command("explain")
@click.argument("name", required=False, shell_complete=_complete)
@click.option("--list", "everything", is_flag=True, help="List all checks.")
@JSON
def command(name: str | None, everything: bool, as_json: bool) -> None:
    """Explain a check: what it flags, why, and what to write instead.

    NAME is the name in brackets in a diagnostic, such as error[unsafe-variable].
    """
    from herbrand.check.catalogue import CHECKS

    def as_data(check: Check) -> dict[str, object]:
        return {
            "name": check.name,
            "code": check.code,
            "severity": check.severity.value,
            "default": check.default,
            "title": check.title,
            "what": check.what,
            "why": check.why,
            "example": check.example,
            "instead": check.instead,
        }

    if everything:
        if as_json:
            write_json([as_data(check) for check in CHECKS.values()])
        else:
            result(table([(name, check.severity.value, check.title) for name, check in CHECKS.items()]))
        return
    if name is None:
        raise click.UsageError("give the name of a check or --list")
    check = find_check(name, "NAME")
    if as_json:
        write_json(as_data(check))
    else:
        result(check.explain().rstrip("\n"))
