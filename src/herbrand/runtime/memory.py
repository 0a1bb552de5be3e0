"""Bounds, measures and releases the memory of processes.

glibc keeps freed memory in an arena for each thread: a long-running server would retain the memory of the
largest rulesheet several times over.  `malloc_trim` releases it; other systems do so automatically or not at
all.
"""

from __future__ import annotations

import ctypes
import os
import re
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "EXCEEDED_STATUS",
    "free_megabytes",
    "keep_large_blocks_apart",
    "limit_memory",
    "limited_command",
    "limiting_script",
    "peak_megabytes",
    "release_memory",
    "resident_megabytes",
]

EXCEEDED_STATUS: Final = 3
"""Exit status of a process that ended because it exceeded its memory."""
_MMAP_THRESHOLD = -3
"""`M_MMAP_THRESHOLD` of glibc."""
_BLOCK = 1 << 17
"""Size of large blocks in bytes, the initial value of glibc."""
_LIMITS: Final = """
import resource
for kind, limit in {limits}:
    hard = resource.getrlimit(getattr(resource, kind))[1]
    if hard != resource.RLIM_INFINITY:
        limit = min(limit, hard)
    try:
        resource.setrlimit(getattr(resource, kind), (limit, limit + (kind == "RLIMIT_CPU")))
    except (ValueError, OSError):
        pass  # macOS has limits that cannot be set
"""
_EXECUTE: Final = "import os, sys; os.execvp(sys.argv[1], sys.argv[1:])"


def limit_memory(megabytes: int) -> None:
    """Limit the address space of this process and its children if the system can; disable core dumps."""
    exec(limiting_script(megabytes, core=0), {})  # noqa: S102  # a constant script


def limiting_script(megabytes: int, **others: int) -> str:
    """Return a Python script that limits the address space of the process that executes it.

    `others` are further limits by the last part of their names in `resource`: `cpu=60` seconds, `core=0`.
    The script is empty on systems without such limits.
    """
    try:
        import resource
    except ImportError:
        return ""
    values = {"as": megabytes << 20} | others
    limits = [(f"RLIMIT_{name.upper()}", value) for name, value in values.items()]
    return _LIMITS.format(limits=[(name, value) for name, value in limits if hasattr(resource, name)])


def limited_command(command: Sequence[str], megabytes: int, **others: int) -> list[str]:
    """Return a command that limits its address space, if the system can, and then executes another one.

    `others` are further limits as for `limiting_script`.
    """
    script = limiting_script(megabytes, **others)
    return [sys.executable, "-I", "-S", "-c", script + _EXECUTE, *command] if script else list(command)


def keep_large_blocks_apart() -> None:
    """Fix the threshold above which glibc maps blocks separately, so that freeing returns them to the system.

    By default glibc raises the threshold when such a block is freed; then mostly unused arrays of zeros
    occupy memory, and free space between blocks in use is retained.
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
    """Return a function of the C library on Linux; None on other systems or if it does not exist."""
    if not sys.platform.startswith("linux"):
        return None
    try:
        return getattr(ctypes.CDLL(None), name)
    except (OSError, AttributeError):  # another C library
        return None


def peak_megabytes() -> float:
    """Return the peak memory of this process; 0 if unknown."""
    peak = _entry(
        "/proc/self/status", "VmHWM"
    )  # unlike getrusage, without the memory that the parent used before
    if peak is not None:
        return round(peak, 1)
    try:
        import resource
    except ImportError:
        return 0.0
    maximum = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(maximum / (1 << 20 if sys.platform == "darwin" else 1 << 10), 1)


def resident_megabytes() -> float:
    """Return the current memory of this process; 0 if unknown."""
    return round(_entry("/proc/self/status", "VmRSS") or 0.0, 1)


def free_megabytes() -> float:
    """Return the memory that new programs could take on this machine without swapping; 0 if unknown.

    A limit of the control group of this process counts, too (Linux).
    """
    free = _entry("/proc/meminfo", "MemAvailable")
    if free is None:
        free = _free_pages()
    group = Path("/sys/fs/cgroup")
    try:
        most = int((group / "memory.max").read_text(encoding="ascii"))
        used = int((group / "memory.current").read_text(encoding="ascii"))
    except (OSError, ValueError):  # no such group, or `max`
        return free
    return max(0.0, min(free, (most - used) / (1 << 20)))


def _free_pages() -> float:
    """Return the megabytes of free pages; 0 if unknown."""
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / (1 << 20)
    except (AttributeError, OSError, ValueError):  # Windows; macOS does not know it
        return 0.0


def _entry(path: str, name: str) -> float | None:
    """Return an entry of a file about memory in megabytes; None on other systems."""
    if not Path(path).is_file():
        return None
    match = re.search(rf"{name}:\s+(\d+)", Path(path).read_text(encoding="ascii", errors="replace"))
    return None if match is None else int(match[1]) / 1024
