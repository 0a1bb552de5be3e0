"""How much memory there was, and how it goes back to the system.

glibc keeps what was freed, in an arena for each thread, for later: a program that listens for weeks
would keep what the largest rulesheet needed, several times over.  It can be told to give it back; other
systems do so by themselves, or do not offer it.
"""

from __future__ import annotations

import ctypes
import re
import sys
from functools import cache
from pathlib import Path
from typing import Any

__all__ = ["give_back", "keep_large_blocks_apart", "megabytes", "most_megabytes"]

_MMAP_THRESHOLD = -3
"""`M_MMAP_THRESHOLD` of glibc."""
_BLOCK = 1 << 17
"""Bytes from which a block is large, as glibc has it at first."""


def keep_large_blocks_apart() -> None:
    """Have large blocks taken from the system one by one, for good, so that they go back when they are freed.

    glibc does so at first, and stops as soon as one is freed: arrays of zeros, of which little is used, are
    then written to, and what lies between blocks in use stays.
    """
    tune = _c_function("mallopt")
    if tune is not None:
        tune(_MMAP_THRESHOLD, _BLOCK)


def give_back() -> None:
    """Return free memory to the system."""
    trim = _c_function("malloc_trim")
    if trim is not None:
        trim(0)


@cache
def _c_function(name: str) -> Any:
    """Return a function of the C library of Linux; None elsewhere, or where it has none of this name."""
    if not sys.platform.startswith("linux"):
        return None
    try:
        return getattr(ctypes.CDLL(None), name)
    except (OSError, AttributeError):  # another C library
        return None


def most_megabytes() -> float:
    """Return the most memory that this process has had, where the system tells; 0 elsewhere."""
    found = _status(
        "VmHWM"
    )  # counts from the start of this program; getrusage also what the parent had before
    if found is not None:
        return found
    try:
        import resource
    except ImportError:
        return 0.0
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(most / (1 << 20 if sys.platform == "darwin" else 1 << 10), 1)


def megabytes() -> float:
    """Return the memory that this process has now, where the system tells; 0 elsewhere."""
    return _status("VmRSS") or 0.0


def _status(entry: str) -> float | None:
    """Return an entry of what Linux says of a process."""
    status = Path("/proc/self/status")
    if not status.is_file():
        return None
    found = re.search(rf"{entry}:\s+(\d+)", status.read_text(encoding="ascii", errors="replace"))
    return None if found is None else round(int(found[1]) / 1024, 1)
