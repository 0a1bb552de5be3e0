"""Rewriting files in place, and diffs."""

from __future__ import annotations

import contextlib
import difflib
import os
import stat
import tempfile
from pathlib import Path

import click

__all__ = ["unified", "write_atomically"]


def write_atomically(file: str, text: str) -> None:
    """Replace the text of a file atomically, preserving permissions and symbolic links.

    Raises `click.UsageError` for a bundled game, `PermissionError` for a read-only file.
    """
    from herbrand import games

    path = Path(file).resolve()
    if path.parent == Path(games.__file__).resolve().parent:
        raise click.UsageError(f"`{path.stem}` is a bundled game; copy it to change it")
    mode = stat.S_IMODE(path.stat().st_mode)
    if not os.access(path, os.W_OK):
        raise PermissionError(13, "permission denied", file)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(text.encode())
        Path(name).chmod(mode)
        Path(name).replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(name).unlink()
        raise


def unified(before: str, after: str, name: str) -> str:
    """Return a unified diff of two texts."""
    lines = difflib.unified_diff(
        before.splitlines(keepends=True), after.splitlines(keepends=True), name, f"{name} (new)"
    )
    return "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines
    )
