"""Games in the languages of other programs.

One file a target.  A writer takes a game, or a stage of it, and returns a text; what a target
cannot say is refused with a reason (`GameError`), never left out in silence.

| target    | file         | from                    |
|-----------|--------------|-------------------------|
| notations | `notation`   | the tree                |
| JSON      | `as_json`    | the tree                |
| Prolog    | `prolog/`    | the rules               |
| clingo    | `asp/`       | the rules               |
| PDDL      | `pddl`       | the rules and the initial state |
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from herbrand.runtime.exports import exports

if TYPE_CHECKING:
    from herbrand.convert.movereader import MoveReader as MoveReader

__all__, __getattr__, __dir__ = exports(
    __name__,
    {"movereader": ("MoveReader",)},
)
