"""What numbers in the arrays of a search tree (`herbrand.core.Tree`) mean."""

from __future__ import annotations

from typing import Final

__all__ = ["ALONE", "BUSY", "JOINT", "LEAF", "OVER"]

LEAF: Final = 0
"""In `Tree.kind`: a position that was valued but not expanded."""
ALONE: Final = 1
"""At most one role has a choice."""
JOINT: Final = 2
"""Several roles have a choice."""
OVER: Final = 3
"""The game is over, or stuck."""

BUSY: Final = 1 << 62
"""In `Tree.seen`: playouts from this position are under way, and it is not to be expanded."""
