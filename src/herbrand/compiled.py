"""`compiled`: functions that numba translates to machine code, kept on disk where that is possible.

A user without a writable folder (a container, a read-only installation) has the functions
compiled in every process instead of an error.
"""

from __future__ import annotations

from typing import Any

from numba import njit

__all__ = ["compiled"]


def _probe() -> int:
    return 0


def can_cache() -> bool:
    """Return whether numba finds a folder in which it may keep what it compiled."""
    try:
        njit(cache=True)(_probe)
    except RuntimeError:
        return False
    return True


_CACHE = can_cache()


def compiled(function: Any) -> Any:
    """Compile a function when it is first called; it must not touch Python objects."""
    return njit(function, cache=_CACHE, nogil=True)
