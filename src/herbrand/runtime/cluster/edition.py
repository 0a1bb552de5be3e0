"""The edition of herbrand that a process runs: its version and a digest of its code."""

from __future__ import annotations

from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import Final

from herbrand import __version__

__all__ = ["edition"]

_COMPILED: Final = frozenset({".so", ".pyd", ".pyc"})
"""Endings of files that differ between platforms."""


@cache
def edition() -> str:
    """Return version and digest, such as `0.2.0 (1f2e3d4c)`; equal where tasks have equal results.

    The digest is of all files of the package but the compiled ones, so that two states of a version under
    development differ.
    """
    root = Path(__file__).parents[2]
    digest = blake2b(digest_size=4)
    for file in sorted(root.rglob("*")):
        if file.is_file() and file.suffix not in _COMPILED and "__pycache__" not in file.parts:
            digest.update(file.relative_to(root).as_posix().encode() + b"\0" + file.read_bytes() + b"\0")
    return f"{__version__} ({digest.hexdigest()})"
