"""Large arrays."""

from __future__ import annotations

import contextlib
import mmap
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["zeros"]

_LARGE = 1 << 22
"""Arrays of fewer bytes are made as any others."""


def zeros(shape: int | tuple[int, ...], kind: Any) -> NDArray[Any]:
    """Return zeros that take memory only where they are written to, in large pages where there are some.

    What is looked for in a hash table lies anywhere in it: with small pages much time goes into finding them.
    """
    size = int(np.prod(shape)) * np.dtype(kind).itemsize
    if size < _LARGE or not hasattr(mmap, "MADV_HUGEPAGE"):
        return np.zeros(shape, kind)
    memory = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    with contextlib.suppress(OSError):
        memory.madvise(mmap.MADV_HUGEPAGE)
    return np.frombuffer(memory, kind).reshape(shape)
