"""The compiled core: everything that loops over states, games and trees.

Arrays are numpy's, contiguous and of the types that are named; a wrong one is a `TypeError` or a
`ValueError`, never a crash.  Long calls let other threads run, and end when their `Stop` says so.
"""

from herbrand.core import _core
from herbrand.core._core import *  # noqa: F403  # the stub lists what other packages may use

LANES = 512
"""States or games that are evaluated together, one in each bit of a row."""
NO_VALUE = -1
"""In place of a goal value: none holds."""
SEVERAL_VALUES = -2
"""In place of a goal value: several hold, or one that is not a number from 0 to 100."""
STUCK = -3
"""In place of a goal value: a role has no legal move though the game is not over."""

__all__ = ["LANES", "NO_VALUE", "SEVERAL_VALUES", "STUCK"]
__all__ += [name for name in dir(_core) if not name.startswith("_")]
