"""Convert games to the languages of other programs.

One file for each target.  A writer takes a game, or a stage of it, and returns a text; constructs that a
target cannot express raise `GameError` with a reason.

| target    | file         | from                    |
|-----------|--------------|-------------------------|
| notations | `notation`   | the tree                |
| JSON      | `as_json`    | the tree                |
| Prolog    | `prolog/`    | the rules               |
| clingo    | `asp/`       | the rules               |
| PDDL      | `pddl`       | the rules and the initial state |

`scramble`, `restrict`, `joint_win`, `settled` and `cut_short` write rules of other games: the same under
other names; one in which roles prefer some of their moves; one that is won where two roles win together; one
in which nobody has a goal value where nobody wins; and one that ends early.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from herbrand.runtime.exports import exports

if TYPE_CHECKING:
    from herbrand.convert.movereader import MoveReader as MoveReader

__all__, __getattr__, __dir__ = exports(__name__, {"movereader": ("MoveReader",)})
