"""The processor time and memory of this process and its children."""

from __future__ import annotations

import resource
import sys
import time

__all__ = ["peak_megabytes", "spent"]


def spent() -> float:
    """Return the processor seconds of this process and of its children that have ended."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def peak_megabytes() -> int:
    """Return the most memory that this process or a child of it held."""
    unit = 2**20 if sys.platform == "darwin" else 2**10
    whose = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return round(max(resource.getrusage(who).ru_maxrss for who in whose) / unit)
