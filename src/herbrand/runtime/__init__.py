"""What a program needs from its operating system: processes, limits, clocks, memory.

Nothing here knows of games.  `limits` has budgets; `line_process` and `json_process` subprocesses that answer
lines, and objects of JSON; `pool` workers for many jobs; `memory` bounds, measures and releases memory;
`collector` suspends the cyclic garbage collector; `notebook` has pieces of HTML for `_repr_html_`.  Imports
`errors` only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from herbrand.runtime.exports import exports

if TYPE_CHECKING:
    from herbrand.runtime.json_process import JsonProcess as JsonProcess
    from herbrand.runtime.limits import Limits as Limits
    from herbrand.runtime.line_process import LineProcess as LineProcess

__all__, __getattr__, __dir__ = exports(
    __name__,
    {"limits": ("Limits",), "line_process": ("LineProcess",), "json_process": ("JsonProcess",)},
)
