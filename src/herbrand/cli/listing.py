"""The options --explore and --disk, for states in files, and tables of steps that were listed or counted."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import click

from herbrand.cli.options import FOLDER, POSITIVE, together
from herbrand.cli.output import spaced

if TYPE_CHECKING:
    from collections.abc import Callable

    from herbrand.analyse.counting.count import StepCount
    from herbrand.analyse.exploration.on_disk import DiskStep
    from herbrand.cli.options import Command

__all__ = ["counting", "explore_options", "listing"]


def explore_options(text: str) -> Callable[[Command], Command]:
    """Return the options --explore, of which `text` is the help, and --disk."""
    limit = "Limit for the files of --explore in megabytes.  [default: free space]"
    return together(
        click.option("--explore", metavar="FOLDER", type=FOLDER, help=text),
        click.option("--disk", metavar="MB", type=POSITIVE, default=math.inf, show_default=False, help=limit),
    )


def listing(show: Callable[[str], None]) -> Callable[[DiskStep], None]:
    """Show the head of a table; return a function that shows a step."""
    show(f"{'step':>5} {'states':>18} {'seconds':>9} {'states/s':>12} {'MB on disk':>12}")

    def report(step: DiskStep) -> None:
        rate = "" if step.rate is None else spaced(step.rate)
        show(f"{step.step:5} {spaced(step.states):>18} {step.seconds:9.1f} {rate:>12} {step.megabytes:12.1f}")

    return report


def counting(show: Callable[[str], None]) -> Callable[[StepCount], None]:
    """Return a function that shows a step that was counted, before the first one with the head of a table."""
    head = [f"{'step':>5} {'states':>24} {'nodes':>12} {'seconds':>9}"]

    def report(step: StepCount) -> None:
        if head:
            show(head.pop())
        show(f"{step.step:5} {spaced(step.states):>24} {spaced(step.nodes):>12} {step.seconds:9.1f}")

    return report
