"""Rewriting files in place, and diffs."""

from __future__ import annotations

import difflib
from pathlib import Path

import click

__all__ = ["rewrite", "unified"]


def rewrite(file: str, text: str) -> None:
    """Replace the text of a rulesheet; `click.UsageError` for a bundled game, `OSError` if that fails."""
    from herbrand import games
    from herbrand.runtime.files import write_atomically

    path = Path(file).resolve()
    if path.parent == Path(games.__file__).resolve().parent:
        raise click.UsageError(f"`{path.stem}` is a bundled game; copy it to change it")
    write_atomically(file, text)


def unified(before: str, after: str, name: str) -> str:
    """Return a unified diff of two texts."""
    lines = difflib.unified_diff(
        before.splitlines(keepends=True), after.splitlines(keepends=True), name, f"{name} (new)"
    )
    return "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines
    )
