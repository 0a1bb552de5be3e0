"""Memory of processes: bounding it, measuring it, and returning it to the system.

glibc keeps what was freed, in an arena for each thread, for later: a server that runs for weeks would keep
what the largest rulesheet needed, several times over.  `malloc_trim` releases it; other systems do so by
themselves, or offer no such function.
"""

from __future__ import annotations

import ctypes
import re
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "keep_large_blocks_apart",
    "limit_memory",
    "limited_command",
    "limiting_script",
    "peak_megabytes",
    "release_memory",
    "resident_megabytes",
]

_MMAP_THRESHOLD = -3
"""`M_MMAP_THRESHOLD` of glibc."""
_BLOCK = 1 << 17
"""Bytes from which a block is large, as glibc has it at first."""


_LIMITS: Final = """
import resource
for kind, wanted in {limits}:
    most = resource.getrlimit(getattr(resource, kind))[1]
    if most != resource.RLIM_INFINITY:
        wanted = min(wanted, most)
    try:
        resource.setrlimit(getattr(resource, kind), (wanted, wanted + (kind == "RLIMIT_CPU")))
    except (ValueError, OSError):
        pass  # macOS has limits that cannot be set
"""
_EXECUTE: Final = "import os, sys; os.execvp(sys.argv[1], sys.argv[1:])"


def limit_memory(megabytes: int) -> None:
    """Bound the address space of this process and its children, where the system can; let it dump no core."""
    exec(limiting_script(megabytes, core=0), {})  # noqa: S102  # our own text


def limiting_script(megabytes: int, **others: int) -> str:
    """Return Python that bounds the address space of the process that executes it, for `python -c`.

    `others` are further limits, by the ends of their names in `resource`: `cpu=60` seconds, `core=0`.
    The text is empty where the system has no such limits.
    """
    try:
        import resource
    except ImportError:
        return ""
    wanted = {"as": megabytes << 20} | others
    limits = [(f"RLIMIT_{name.upper()}", value) for name, value in wanted.items()]
    return _LIMITS.format(limits=[(name, value) for name, value in limits if hasattr(resource, name)])


def limited_command(command: Sequence[str], megabytes: int) -> list[str]:
    """Return a command that bounds its address space, where the system can, and then executes another one."""
    script = limiting_script(megabytes)
    return [sys.executable, "-I", "-S", "-c", script + _EXECUTE, *command] if script else list(command)


def keep_large_blocks_apart() -> None:
    """Have large blocks taken from the system one by one, for good, so that they go back when they are freed.

    glibc does so at first, and stops as soon as one is freed: arrays of zeros, of which little is used, are
    then written to, and what lies between blocks in use stays.
    """
    tune = _c_function("mallopt")
    if tune is not None:
        tune(_MMAP_THRESHOLD, _BLOCK)


def release_memory() -> None:
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


def peak_megabytes() -> float:
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


def resident_megabytes() -> float:
    """Return the memory that this process has now, where the system tells; 0 elsewhere."""
    return _status("VmRSS") or 0.0


def _status(entry: str) -> float | None:
    """Return an entry of what Linux says of a process."""
    status = Path("/proc/self/status")
    if not status.is_file():
        return None
    found = re.search(rf"{entry}:\s+(\d+)", status.read_text(encoding="ascii", errors="replace"))
    return None if found is None else round(int(found[1]) / 1024, 1)
